//! Addresses as the compiler's opt-in planner DSA_RP chooses them (`docs/reference/memory.md`, "DSA_RP").

mod greedy;
mod penalties;
mod shuffle;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::memory::AliasedKernel;
use crate::memory::addresses::{Layout, Range, sizes_of};
use crate::memory::bases::BaseId;
use crate::memory::lifetimes::Group;
use crate::memory::planners::input::half_open;
use crate::memory::sizes::aligned;
use greedy::{Node, Problem};
pub(in crate::memory) use penalties::{Tenant, recognize as between_pipes};

/// Buffers beyond which no placement is tried: the search compares them in pairs, seven times.
const MOST_BUFFERS: usize = 1024;

/// A placement.
pub(in crate::memory) struct Solution {
    pub layout: Layout,
    /// Pairs of groups in different stages of a pipeline that share memory for want of space, of so many pairs.
    pub sharing: Vec<(usize, usize)>,
    pub stages: usize,
}

pub(in crate::memory) enum PlacementResult {
    Placed(Solution),
    /// The search found nothing within the capacities.
    NoFit,
    TooMany,
}

/// Places the groups of a kernel whose yields were repaired.
pub(in crate::memory) fn place(aliased: &AliasedKernel) -> PlacementResult {
    let tenants = tenants(aliased);
    if tenants.len() > MOST_BUFFERS {
        return PlacementResult::TooMany;
    }
    let separations = Separations::of(aliased, &tenants);
    let strict = problem(aliased, &tenants, &separations);
    let offsets = greedy::solve(&strict).or_else(|| {
        let stages = &separations.stages;
        if stages.is_empty() { None } else { greedy::solve(&relaxed(&strict, stages)) }
    });
    let Some(offsets) = offsets else { return PlacementResult::NoFit };
    let share =
        |(a, b): &&(usize, usize)| greedy::overlap(offsets[*a], tenants[*a].bytes, offsets[*b], tenants[*b].bytes);
    let sharing = separations.stages.iter().filter(share).copied().collect();
    let mut layout = Layout::default();
    for (tenant, offset) in tenants.iter().zip(&offsets) {
        layout.placed.insert(tenant.base, Range { address: *offset, size: tenant.bytes });
        let used = layout.used.entry(tenant.space).or_insert(aliased.reserved.in_space(tenant.space));
        *used = (*used).max(aligned(offset.saturating_add(tenant.bytes)));
    }
    PlacementResult::Placed(Solution { layout, sharing, stages: separations.stages.len() })
}

fn tenants(aliased: &AliasedKernel) -> Vec<Tenant> {
    let members = aliased.groups.iter().flat_map(|group| &group.members);
    let sizes = sizes_of(&aliased.bases, members.filter_map(|var| aliased.bases.get(*var)));
    Tenant::of_groups(&aliased.groups, &aliased.bases, &sizes)
}

/// Pairs of groups that must not share, the smaller index first.
struct Separations {
    all: BTreeSet<(usize, usize)>,
    /// Those that only keep the stages of a pipeline apart.
    stages: Vec<(usize, usize)>,
}

impl Separations {
    fn of(aliased: &AliasedKernel, tenants: &[Tenant]) -> Separations {
        let index: FxHashMap<BaseId, usize> =
            tenants.iter().enumerate().map(|(index, tenant)| (tenant.base, index)).collect();
        let mut hard = BTreeSet::new();
        let mut stages = BTreeSet::new();
        for (a, left) in aliased.groups.iter().enumerate() {
            for operand in aliased.constraints.no_alias(a) {
                if let Some(b) = index.get(operand).filter(|b| **b != a && tenants[**b].space == tenants[a].space) {
                    hard.insert((a.min(*b), a.max(*b)));
                }
            }
            for (b, right) in aliased.groups.iter().enumerate().skip(a + 1) {
                if tenants[a].space != tenants[b].space {
                    continue;
                }
                let constraints = &aliased.constraints;
                if left.declared.is_some() || right.declared.is_some() {
                    hard.insert((a, b));
                }
                if constraints.stages_differ(a, b) {
                    stages.insert((a, b));
                }
            }
        }
        let apart = |(a, b): &(usize, usize)| {
            !half_open(aliased.groups[*a].live).meets(half_open(aliased.groups[*b].live)) && !hard.contains(&(*a, *b))
        };
        let only_stages = stages.iter().copied().filter(apart).collect();
        hard.extend(stages);
        Separations { all: hard, stages: only_stages }
    }
}

fn problem(aliased: &AliasedKernel, tenants: &[Tenant], separations: &Separations) -> Problem {
    let node = |(tenant, group): (&Tenant, &Group)| Node {
        space: tenant.space,
        bytes: tenant.bytes,
        life: half_open(group.live),
    };
    let separated: FxHashSet<(usize, usize)> = separations.all.iter().copied().collect();
    let pairs = penalties::recognize(aliased.kernel, aliased.machine.target, &aliased.bases, tenants, &separated);
    let spaces: BTreeSet<_> = tenants.iter().map(|tenant| tenant.space).collect();
    let limits = spaces.iter().filter_map(|space| Some((*space, aliased.machine.capacity(*space)?)));
    let reserved = spaces.iter().map(|space| (*space, aliased.reserved.in_space(*space))).filter(|(_, end)| *end > 0);
    Problem {
        nodes: tenants.iter().zip(&aliased.groups).map(node).collect(),
        separated: separations.all.clone(),
        penalties: pairs.into_iter().map(|pair| (pair, 1)).collect(),
        capacity: limits.collect(),
        reserved: reserved.collect(),
    }
}

/// Sharing between pipeline stages is allowed, at a price.
fn relaxed(strict: &Problem, stages: &[(usize, usize)]) -> Problem {
    let mut relaxed = strict.clone();
    let mut penalties: BTreeMap<(usize, usize), u64> = std::mem::take(&mut relaxed.penalties);
    for pair in stages {
        relaxed.separated.remove(pair);
        *penalties.entry(*pair).or_default() += 1;
    }
    relaxed.penalties = penalties;
    relaxed
}

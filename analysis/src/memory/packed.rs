//! Addresses by lifetime: each must-alias group at the lowest offset that is free for all of its life, so that freed memory is
//! divided again (`design.md` §4, planner `packed`).

use rustc_hash::FxHashMap;

use crate::ir::{Kernel, VarId};
use crate::memory::addresses::{Layout, Range, Reserved, sizes_of};
use crate::memory::bases::{BaseId, Bases};
use crate::memory::lifetimes::{Group, Lifetimes, Live};
use crate::memory::packing::{self, Budget, BufferIx, Goal, Interval, Lifetime, Problem, Spec};
use crate::memory::repairs::RepairMove;
use crate::memory::reuse::Constraints;
use crate::memory::sizes;
use crate::memory::verdict::Packing;
use crate::target::{Machine, Space};

/// Nodes of exact search that one space may cost, and those to say why it does not fit. Together they are at most 50 ms.
pub(super) const NODES: u64 = 16_000;
const NODES_TO_EXPLAIN: u64 = 4_000;

/// More groups than this in one space are kept apart only where their lifetimes meet.
const MOST_PAIRED: usize = 1024;

/// A placement of all spaces, and how each of them ended.
pub(super) struct Packed {
    pub layout: Layout,
    pub spaces: FxHashMap<Space, Packing>,
}

/// What is to be packed, in a kernel whose yields were repaired.
pub(super) struct Input<'a> {
    pub kernel: &'a Kernel,
    pub machine: Machine<'a>,
    pub bases: &'a Bases,
    pub lifetimes: &'a Lifetimes<'a>,
    pub groups: &'a [Group],
    pub(super) constraints: &'a Constraints,
    pub moves: &'a [RepairMove],
    pub reserved: Reserved,
    /// Nodes of exact search for each space.
    pub nodes: u64,
}

/// Packs every space. `None` where a problem is too large for the packer to state.
pub(super) fn pack(input: &Input) -> Option<Packed> {
    let mut packed = Packed { layout: Layout::default(), spaces: FxHashMap::default() };
    let lives = lives_of_bases(input);
    let named = tiles(input.kernel, input.bases, input.lifetimes);
    let memories = named.filter_map(|(var, _)| input.bases.get(var));
    let sizes = sizes_of(input.bases, memories);
    for space in Space::ON_CHIP {
        let mut bases: Vec<BaseId> =
            sizes.keys().copied().filter(|base| input.bases.base(*base).space == space).collect();
        bases.sort_unstable();
        if !bases.is_empty() {
            place(input, space, &bases, &sizes, &lives, &mut packed)?;
        }
    }
    Some(packed)
}

/// The tiles with memory that the kernel names, those that loops and branches carry too, and when each name is needed.
pub(super) fn tiles<'a>(
    kernel: &'a Kernel,
    bases: &'a Bases,
    lifetimes: &'a Lifetimes,
) -> impl Iterator<Item = (VarId, Live)> + 'a {
    let all = (0..kernel.vars.len() as u32).map(VarId);
    all.filter(|var| bases.of_tile(kernel, *var).is_some()).filter_map(|var| Some((var, lifetimes.seen(var)?)))
}

/// When each base holds a value.
fn lives_of_bases(input: &Input) -> FxHashMap<BaseId, Vec<Live>> {
    let mut lives: FxHashMap<BaseId, Vec<Live>> = FxHashMap::default();
    let mut needed = |base: BaseId, live: Live| lives.entry(base).or_default().push(live);
    for (var, live) in tiles(input.kernel, input.bases, input.lifetimes) {
        if let Some(memory) = input.bases.get(var) {
            needed(memory.base, live);
        }
    }
    for repair in input.moves {
        needed(repair.to.base, Live { def: repair.before, last: repair.before });
    }
    lives
}

fn place(
    input: &Input,
    space: Space,
    bases: &[BaseId],
    sizes: &FxHashMap<BaseId, u64>,
    lives: &FxHashMap<BaseId, Vec<Live>>,
    packed: &mut Packed,
) -> Option<()> {
    let buffers = bases.iter().map(|base| {
        let declared = input.bases.base(*base).declared.is_some();
        let whole = Interval::new(0, 2 * input.lifetimes.statements.len() as u64 + 2);
        let lifetime = match lives.get(base) {
            // A declared allocation is the author's alone.
            Some(lives) if !declared => Lifetime::union(lives.iter().map(|live| half_open(*live))),
            _ => Lifetime::union([whole]),
        };
        let size = sizes::aligned(sizes.get(base).copied().unwrap_or(0).max(1));
        packing::Buffer { id: base.0.to_string(), size, lifetime, align: sizes::ALIGNMENT, fixed: None }
    });
    let reserved = input.reserved.in_space(space);
    let capacity = input.machine.capacity(space);
    let spec = Spec {
        capacity: capacity.unwrap_or(1 << 40),
        buffers: buffers.collect(),
        reserved: if reserved > 0 { std::iter::once(0..reserved).collect() } else { Vec::new() },
        no_alias: kept_apart(input, bases),
    };
    let problem = Problem::new(spec).ok()?;
    let outcome = packing::pack(&problem, &Budget::new(Goal::Lowest, input.nodes));
    for (base, offset) in bases.iter().zip(&outcome.placement.offsets) {
        let size = sizes.get(base).copied().unwrap_or(0);
        packed.layout.placed.insert(*base, Range { address: *offset, size });
    }
    let packing = Packing::of(input, &problem, bases, &outcome, reserved, NODES_TO_EXPLAIN);
    packed.layout.used.insert(space, packing.best);
    packed.spaces.insert(space, packing);
    Some(())
}

/// Intervals that touch may share, also where one of them is a single statement.
pub(super) fn half_open(live: Live) -> Interval {
    let start = 2 * u64::from(live.def.0) + 1;
    Interval::new(start, (2 * u64::from(live.last.0) + 1).max(start + 1))
}

/// Pairs of positions in `bases` that must not share although they are never live together.
fn kept_apart(input: &Input, bases: &[BaseId]) -> Vec<(BufferIx, BufferIx)> {
    let position: FxHashMap<BaseId, u32> = bases.iter().copied().zip(0u32..).collect();
    let mut pairs = Vec::new();
    let mut apart = |a: BaseId, b: BaseId| {
        if let (Some(a), Some(b)) = (position.get(&a), position.get(&b))
            && a != b
        {
            pairs.push((BufferIx(*a.min(b)), BufferIx(*a.max(b))));
        }
    };
    for repair in input.moves {
        if let Some(source) = input.bases.get(repair.source) {
            apart(source.base, repair.to.base);
        }
    }
    for (writer, group) in input.groups.iter().enumerate() {
        for operand in input.constraints.no_alias(writer) {
            apart(group.base, *operand);
        }
    }
    if input.groups.len() <= MOST_PAIRED {
        for (a, left) in input.groups.iter().enumerate() {
            for (b, right) in input.groups.iter().enumerate().skip(a + 1) {
                let constraints = input.constraints;
                if constraints.stages_differ(a, b)
                    || constraints.endangers(left, right)
                    || constraints.endangers(right, left)
                {
                    apart(left.base, right.base);
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

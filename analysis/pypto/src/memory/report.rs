//! Writes a placement down as a [`Plan`].

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Finding, Related, Status, bytes};
use tilefit_python::finding::{Note, Origin, Reason};

use crate::ir::{For, Kernel, KernelKind, Operand, Role, Stmt, Var, VarId, While, Why, visit};
use crate::memory::addresses::Range;
use crate::memory::bases::{Base, BaseId, Bases, MemRef, Offset};
use crate::memory::check::{self, Checked};
use crate::memory::declared;
use crate::memory::labels::label;
use crate::memory::lifetimes::Live;
use crate::memory::limits::{self, Overflow, Peak};
use crate::memory::plan::{Buffer, BufferId, Fit, Order, Plan, PlannedTile, SpaceUse};
use crate::memory::planners::sequential::Degraded;
use crate::memory::repairs::RepairMove;
use crate::memory::{AliasedKernel, Placement, overwritten, sizes};
use crate::target::{Planner, Space, Target};

pub(super) fn plan(aliased: &AliasedKernel, placement: &Placement, planner: Planner) -> Plan {
    let mut plan = Plan::empty(aliased.kernel, aliased.machine.target, planner);
    plan.notes.extend(notes(aliased));
    let divided = divided_accumulators(aliased, placement);
    // Something that is not modelled may be what divides them.
    if planner == Planner::Packed || !plan.notes.is_empty() {
        plan.notes.extend(divided.map(|(at, what)| Note { at, reason: Reason::new(what) }));
    } else {
        plan.findings.extend(divided.map(no_copy));
    }
    let (nested, carried): (Vec<_>, Vec<_>) =
        carried_by_while(aliased.kernel).into_iter().partition(|carry| carry.is_nested);
    plan.notes.extend(nested.into_iter().map(WhileCarry::note));
    match planner {
        // What a packed plan would have to copy is not modelled.
        Planner::Packed | Planner::Auto => plan.notes.extend(carried.into_iter().map(WhileCarry::note)),
        Planner::Sequential => plan.findings.extend(carried.into_iter().map(WhileCarry::warning)),
        // A kernel that is modelled in part may carry something else.
        Planner::DsaRp if plan.notes.is_empty() => {
            let has_place = |carry: &WhileCarry| !has_no_place(aliased, placement, carry.result);
            let (placed, unplaced): (Vec<_>, Vec<_>) = carried.into_iter().partition(has_place);
            let (handed_on, last): (Vec<_>, Vec<_>) = unplaced.into_iter().partition(|carry| carry.is_handed_on);
            plan.findings.extend(placed.into_iter().map(WhileCarry::warning));
            plan.findings.extend(last.into_iter().next().map(WhileCarry::refusal));
            plan.notes.extend(handed_on.into_iter().map(WhileCarry::note));
        }
        Planner::DsaRp => {}
    }
    plan.findings.extend(missing_moves(aliased, placement, planner));
    plan.statements = aliased.lifetimes.statements.clone();
    plan.spaces = spaces(aliased, placement, planner);
    plan.open = placement.packed.as_ref().map(|packed| packed.open.clone()).unwrap_or_default();
    let mut writer = Writer { aliased, placement, plan: &mut plan, buffers: FxHashMap::default() };
    writer.buffers();
    writer.tiles();
    plan.findings.extend(declared::check(aliased.kernel, &aliased.bases, &aliased.lifetimes));
    let address = |var: VarId| {
        let memory = placement.bases.get(var)?;
        let Offset::Known(offset) = memory.offset else { return None };
        Some(placement.layout.placed.get(&memory.base)?.address + offset)
    };
    plan.findings.extend(overwritten::check(aliased.kernel, &placement.bases, &address));
    plan.findings.extend(degraded(aliased, placement));
    plan.findings.extend(no_placement(aliased, placement));
    plan.findings.extend(overflows(aliased, placement, &plan.spaces));
    let is_rejected = !aliased.kernel.rejections.is_empty() || plan.findings.iter().any(Finding::is_rejection);
    plan.status = Status::of(is_rejected, plan.notes.is_empty());
    let checked = Checked {
        tiles: placement.needed.tiles.clone(),
        groups: &placement.needed.groups,
        alternatives: placement.needed.alternatives.then_some(&aliased.lifetimes),
        bases: &placement.bases,
        layout: &placement.layout,
        spaces: &plan.spaces,
    };
    match check::check(&checked) {
        Ok(()) => plan,
        // The compiler stops before it gives addresses.
        Err(_) if !placement.repairs.failures.is_empty() => without_addresses(plan),
        // Of a kernel that is read in part, a tile may have no memory: what a loop carries that yields nothing, say.
        Err(check::Violation::NotPlaced(_)) if !aliased.kernel.notes.is_empty() => without_addresses(plan),
        // Where parts of a product are repaired, the compiler does not ask again who else is in the accumulator.
        Err(check::Violation::Overlap(a, b))
            if is_in_accumulator(&placement.bases, a) && planner != Planner::Packed =>
        {
            let [a, b] = [a, b].map(|var| &aliased.kernel.var(var).name);
            let why = format!("the compiler puts the accumulator of `{b}` where `{a}` is still needed");
            overlapping(plan, aliased.kernel, why)
        }
        Err(violation) => refused(plan, aliased.kernel, format!("the plan failed its check: {violation}")),
    }
}

/// By its memory: a name of the accumulator may say another one.
fn is_in_accumulator(bases: &Bases, var: VarId) -> bool {
    bases.get(var).is_some_and(|memory| bases.base(memory.base).space == Space::Acc)
}

/// A plan of the compiler's that does not keep apart what is live together.
fn overlapping(plan: Plan, kernel: &Kernel, why: String) -> Plan {
    let mut plan = without_addresses(plan);
    plan.status = Status::NotModelled;
    plan.findings.clear();
    plan.notes.push(Note { at: kernel.name_origin, reason: Reason::new(why) });
    plan
}

fn without_addresses(mut plan: Plan) -> Plan {
    for tile in &mut plan.tiles {
        (tile.address, tile.buffer) = (None, None);
    }
    plan.buffers.clear();
    plan.spaces.clear();
    plan
}

/// A plan whose addresses are not shown.
fn refused(plan: Plan, kernel: &Kernel, why: String) -> Plan {
    let mut plan = without_addresses(plan);
    plan.status = Status::NotModelled;
    plan.notes.push(Note { at: kernel.name_origin, reason: Reason::new(why.clone()) });
    let message = format!("{why}; please report it with this kernel");
    plan.findings = vec![Finding::new(Code::Internal, kernel.name_origin, message)];
    plan
}

pub(super) fn too_many(kernel: &Kernel, target: Target, planner: Planner, groups: usize) -> Plan {
    let why = format!("{groups} tiles in one kernel (at most {} are planned)", super::MOST_GROUPS);
    unplanned(kernel, target, planner, why)
}

pub(super) fn ill_formed(kernel: &Kernel, target: Target, planner: Planner) -> Plan {
    unplanned(kernel, target, planner, "this kernel (its IR names a variable that does not exist)".to_owned())
}

fn unplanned(kernel: &Kernel, target: Target, planner: Planner, why: String) -> Plan {
    let mut plan = Plan::empty(kernel, target, planner);
    plan.status = Status::NotModelled;
    plan.notes.push(Note { at: kernel.name_origin, reason: Reason::new(why) });
    plan
}

/// Why the plan may differ from the compiler's.
fn notes(aliased: &AliasedKernel) -> Vec<Note> {
    let unplaced = aliased.unplaced.iter();
    let note = |at: Origin, why: &str| Note { at, reason: Reason::new(why) };
    unplaced.map(|unplaced| note(aliased.kernel.var(unplaced.var).origin, &unplaced.why)).collect()
}

/// Values that end up in another accumulator than what they replace.
fn divided_accumulators<'d>(
    aliased: &'d AliasedKernel,
    placement: &'d Placement,
) -> impl Iterator<Item = (Origin, String)> {
    placement.repairs.failures.iter().map(|failure| {
        let name = &aliased.kernel.var(failure.source).name;
        let what = format!(
            "`{name}` is in another accumulator than the value that it replaces, and the compiler cannot copy one accumulator to another"
        );
        (failure.at, what)
    })
}

fn no_copy((at, what): (Origin, String)) -> Finding {
    let code = Code::Rejected;
    let message = format!(
        "{what} (\"cannot reconcile divergent L0C accumulator buffers with tile.move\"): read the first value only where the loop or branch passes it on, or store the one before the other is computed"
    );
    Finding::new(code, at, message)
}

/// A tile that a `while` carries. The compiler begins the loop where the first value is, and gives the next value and what stands
/// after the loop memory of their own, without a copy between the three.
struct WhileCarry {
    name: String,
    at: Origin,
    first: Origin,
    /// What stands after the loop.
    result: VarId,
    /// Another loop or branch gives what stands after the loop its memory.
    is_handed_on: bool,
    /// The loop begins with what another `while` carries.
    is_nested: bool,
}

impl WhileCarry {
    fn note(self) -> Note {
        let what =
            format!("`{}` is carried through a `while` loop, which the compiler's memory planning ignores", self.name);
        Note { at: self.at, reason: Reason::new(what) }
    }

    fn warning(self) -> Finding {
        let code = Code::WhileCarry;
        let message = format!(
            "`{0}` is carried through a `while` loop, but the compiler copies nothing: each iteration reads the first value again, and after the loop `{0}` is memory that was never written; write it in place, or use a `for` loop with an `if` around its body",
            self.name
        );
        self.finding(code, message)
    }

    /// The planner has no memory for what stands after the loop.
    fn refusal(self) -> Finding {
        let message = format!(
            "`{}` is carried through a `while` loop, and the memory of the tile after the loop is never written: the planner DSA-RP \"could not find allocation base\" for it; use a `for` loop with an `if` around its body",
            self.name
        );
        self.finding(Code::Rejected, message)
    }

    fn finding(&self, code: Code, message: String) -> Finding {
        let related = vec![Related { at: self.first, message: "its first value".to_owned() }];
        Finding::new(code, self.at, message).with_related(related)
    }
}

/// DSA-RP looks for no place where it has nothing to plan.
fn has_no_place(aliased: &AliasedKernel, placement: &Placement, var: VarId) -> bool {
    let base = aliased.bases.of_tile(aliased.kernel, var).filter(|_| !aliased.groups.is_empty());
    base.is_some_and(|base| !placement.layout.placed.contains_key(&base))
}

/// What the kernel of one core reads, and only the other core makes. The compiler gives it memory where it is first read; DSA-RP has
/// a place for what is in the memory of another tile only.
fn missing_moves(aliased: &AliasedKernel, placement: &Placement, planner: Planner) -> Vec<Finding> {
    let kernel = aliased.kernel;
    let (here, there) = match kernel.kind {
        KernelKind::Aic => ("cube", "vector"),
        _ => ("vector", "cube"),
    };
    let is_refused = |var: VarId| planner == Planner::DsaRp && has_no_place(aliased, placement, var);
    let vars = (0..kernel.vars.len() as u32).map(VarId).filter(|var| kernel.var(*var).role == Role::OtherCore);
    let read = vars.filter_map(|var| Some((var, aliased.lifetimes.seen(var)?.def)));
    let mut told: FxHashSet<(&str, Origin)> = FxHashSet::default();
    let mut findings = Vec::new();
    for (var, first) in read {
        let Var { name, origin, .. } = kernel.var(var);
        let at = aliased.lifetimes.statements.get(first.0 as usize).copied().unwrap_or(*origin);
        if !told.insert((name, *origin)) {
            continue;
        }
        let (code, outcome) = match is_refused(var) {
            true => (Code::Rejected, "the planner DSA-RP \"could not find allocation base\" for it"),
            false => (Code::MissingMove, "the compiler gives it memory that is never written"),
        };
        let message = format!(
            "the {here} core reads `{name}`, which only the {there} core writes, and nothing moves it: {outcome}; move it first, with `pl.move` or an operation of the {here} core"
        );
        let related = vec![Related { at: *origin, message: format!("written on the {there} core") }];
        findings.push(Finding::new(code, at, message).with_related(related));
    }
    findings
}

fn carried_by_while(kernel: &Kernel) -> Vec<WhileCarry> {
    let mut found = Vec::new();
    let mut handed_on: FxHashSet<VarId> = FxHashSet::default();
    let mut carried: FxHashSet<VarId> = FxHashSet::default();
    visit::statements(&kernel.body, &mut |stmt| match stmt {
        Stmt::For(For { carries, .. }) | Stmt::While(While { carries, .. }) => {
            handed_on.extend(carries.iter().filter_map(|carry| carry.init.var()));
            if let Stmt::While(_) = stmt {
                carried.extend(carries.iter().map(|carry| carry.iter));
            }
        }
        Stmt::Yield { values, .. } => handed_on.extend(values.iter().filter_map(Operand::var)),
        _ => {}
    });
    visit::statements(&kernel.body, &mut |stmt| {
        let Stmt::While(each) = stmt else { return };
        let next = visit::yielded(&each.body);
        for (slot, carry) in each.carries.iter().enumerate().filter(|(_, carry)| kernel.tile(carry.iter).is_some()) {
            let first = carry.init.var().unwrap_or(carry.iter);
            let next = next.get(slot).and_then(Operand::var).unwrap_or(carry.iter);
            let name = kernel.var(carry.iter).name.clone();
            let is_handed_on = handed_on.contains(&carry.result);
            let (at, first) = (kernel.var(next).origin, kernel.var(first).origin);
            let is_nested = carry.init.var().is_some_and(|init| carried.contains(&init));
            found.push(WhileCarry { name, at, first, result: carry.result, is_handed_on, is_nested });
        }
    });
    found
}

fn peak(aliased: &AliasedKernel, space: Space) -> Peak {
    limits::peak(&aliased.groups, |group| aliased.bases.base(group.base).space == space)
}

fn spaces(aliased: &AliasedKernel, placement: &Placement, planner: Planner) -> Vec<SpaceUse> {
    let in_use = |space: Space| {
        let reserved = aliased.reserved.in_space(space);
        let ring = (reserved > 0).then_some(reserved);
        let used = placement.layout.used.get(&space).copied().or(ring)?;
        let packed = placement.packed.as_ref().and_then(|packed| packed.spaces.get(&space));
        let mut space_use = limits::space_use(aliased.machine, space, used, reserved, &peak(aliased, space), packed);
        if planner == Planner::Packed {
            space_use.crossings = packed.and_then(|packed| packed.crossings);
        }
        if space_use.fit == Fit::Fits && placement.degraded.iter().any(|degraded| degraded.is_in(space)) {
            space_use.fit = Fit::Relaxed;
            space_use.searching = packed.is_some_and(|packed| packed.searching);
        }
        let sharing = placement.degraded.iter().flat_map(Degraded::sharing);
        space_use.relaxed = sharing.filter(|pair| pair.space == space).cloned().collect();
        Some(space_use)
    };
    Space::ON_CHIP.into_iter().filter_map(in_use).collect()
}

fn overflows(aliased: &AliasedKernel, placement: &Placement, spaces: &[SpaceUse]) -> Vec<Finding> {
    // The compiler stops at an operand that alone is too large, and no other tile is to blame then.
    if aliased.kernel.rejections.iter().any(|rejection| rejection.code == Code::OperandTooLarge) {
        return Vec::new();
    }
    // It allocates nothing in a space that holds a ring only, and does not look whether that fits.
    let allocated = spaces.iter().filter(|used| placement.layout.used.contains_key(&used.space));
    let over = allocated.filter(|used| used.capacity.is_some_and(|capacity| used.used > capacity));
    over.map(|used| overflow(aliased, placement, used.space, used.used).exceeded()).collect()
}

/// Where the compiler gives a pipeline fewer buffers than it has stages.
fn degraded(aliased: &AliasedKernel, placement: &Placement) -> impl Iterator<Item = Finding> {
    let mut found: Vec<ShallowPipeline> = Vec::new();
    for degraded in &placement.degraded {
        let &Degraded::Depth { space, pipeline, wanted, fits } = degraded else { continue };
        // Of the compiler's own loops, and of operands that it loads for the cube, in blocks of its choice, nobody can say otherwise.
        let Some(asked) = asked_stages(aliased.kernel, pipeline) else { continue };
        let stages = ShallowPipeline { space, asked, pipelines: vec![pipeline], wanted, fits };
        if stages.is_of_blocks(aliased) {
            continue;
        }
        // What a loop leaves over is copied as well.
        match found.iter_mut().find(|other| (other.space, other.asked) == (space, asked)) {
            Some(other) if other.wanted >= wanted => other.pipelines.push(pipeline),
            Some(other) => {
                *other = ShallowPipeline { pipelines: [&other.pipelines[..], &[pipeline]].concat(), ..stages }
            }
            None => found.push(stages),
        }
    }
    let together = placement.degraded.iter().filter_map(|degraded| stages_share(aliased, placement, degraded));
    found.into_iter().map(|pipeline| pipeline.finding(aliased, placement)).chain(together)
}

fn asked_stages(kernel: &Kernel, pipeline: i64) -> Option<Origin> {
    kernel.asked_stages.iter().find(|(group, _)| i64::from(*group) == pipeline).map(|(_, at)| *at)
}

/// Stages that the author asks for, and that do not all have buffers of their own.
struct ShallowPipeline {
    space: Space,
    /// The argument.
    asked: Origin,
    /// The copies of the loop, with those of what it leaves over.
    pipelines: Vec<i64>,
    wanted: u64,
    fits: u64,
}

/// Buffers that a finding names.
const MOST_NAMED: usize = 3;

impl ShallowPipeline {
    fn groups<'a>(&self, aliased: &'a AliasedKernel) -> impl Iterator<Item = usize> + use<'a, '_> {
        let is_here = |group: &usize| aliased.bases.base(aliased.groups[*group].base).space == self.space;
        (0..aliased.groups.len()).filter(move |group| is_here(group) && self.has(aliased, *group))
    }

    fn has(&self, aliased: &AliasedKernel, group: usize) -> bool {
        aliased.constraints.stages(group).iter().any(|stage| self.pipelines.contains(&stage.pipeline))
    }

    fn is_of_blocks(&self, aliased: &AliasedKernel) -> bool {
        use Space::{Bias, Left, LeftScale, Right, RightScale};
        let is_inserted = |group: usize| aliased.kernel.var(aliased.groups[group].first()).inserted.is_some();
        matches!(self.space, Left | Right | Bias | LeftScale | RightScale) && self.groups(aliased).all(is_inserted)
    }

    fn finding(self, aliased: &AliasedKernel, placement: &Placement) -> Finding {
        let ShallowPipeline { space, asked, wanted, fits, .. } = self;
        let capacity = aliased.machine.capacity(space).unwrap_or(u64::MAX);
        let room = capacity.saturating_sub(aliased.reserved.in_space(space));
        let (of_stage, others) = (self.of_stage(aliased), self.others(aliased, placement));
        let taken = others.iter().fold(0, |taken: u64, other| taken.saturating_add(other.size));
        let apart = if fits == 1 { "consecutive stages".to_owned() } else { format!("stages that are {fits} apart") };
        let rest = match taken {
            0 => format!("of {} in all", bytes(room)),
            taken => format!("and {} of the {} are taken by {}", bytes(taken), bytes(room), listed(&others)),
        };
        let largest = of_stage.iter().map(|tile| tile.size).max().unwrap_or(0);
        let help = match largest.saturating_mul(wanted) > room {
            true => format!("Make the tiles of a stage at most {}", bytes(room / wanted.max(1))),
            false => "Make some of these tiles smaller".to_owned(),
        };
        let message = format!(
            "{space} has buffers for only {fits} of the {wanted} stages, so {apart} wait for each other. A stage takes {}, {rest}. \
             {help}, or write `stage={fits}`",
            listed(&of_stage)
        );
        let related = others.iter().take(MOST_NAMED).map(|other| Related {
            at: aliased.kernel.var(other.tile).origin,
            message: format!("takes {} of {space}", bytes(other.size)),
        });
        Finding::new(Code::PipelineDepth, asked, message).with_related(related)
    }

    /// What one stage has here, the largest first.
    fn of_stage(&self, aliased: &AliasedKernel) -> Vec<Taken> {
        let numbers =
            |group: usize| aliased.constraints.stages(group).iter().filter(|it| it.pipeline == self.pipelines[0]);
        let first = self.groups(aliased).flat_map(numbers).map(|it| it.stage).min();
        let of_first = self.groups(aliased).filter(|&group| numbers(group).any(|it| Some(it.stage) == first));
        Taken::largest_first(of_first.map(|group| Taken::by(aliased, &[group])))
    }

    /// The buffers of nothing but others.
    fn others(&self, aliased: &AliasedKernel, placement: &Placement) -> Vec<Taken> {
        let is_here = |group: usize| aliased.bases.base(aliased.groups[group].base).space == self.space;
        let is_other = |buffer: &&Vec<usize>| buffer.iter().all(|&group| is_here(group) && !self.has(aliased, group));
        Taken::largest_first(placement.buffers.iter().filter(is_other).map(|buffer| Taken::by(aliased, buffer)))
    }
}

/// A buffer, by the first of its tiles.
struct Taken {
    /// As a sentence has it.
    name: String,
    tile: VarId,
    size: u64,
}

impl Taken {
    fn by(aliased: &AliasedKernel, groups: &[usize]) -> Taken {
        let size = groups.iter().map(|&group| aliased.groups[group].bytes()).max().unwrap_or(0);
        let tile = aliased.groups[groups[0]].first();
        let name = format!("`{}`", label(aliased.kernel, &aliased.lifetimes, tile));
        Taken { name, tile, size: sizes::aligned(size) }
    }

    fn largest_first(all: impl Iterator<Item = Taken>) -> Vec<Taken> {
        let mut all: Vec<Taken> = all.collect();
        all.sort_by(|a, b| (Reverse(a.size), &a.name, a.tile).cmp(&(Reverse(b.size), &b.name, b.tile)));
        all
    }
}

/// `` `a` (16 KiB), a temporary (8 KiB, 2 times) and 3 more ``
fn listed(all: &[Taken]) -> String {
    let alike: Vec<&[Taken]> = all.chunk_by(|a, b| (a.size, &a.name) == (b.size, &b.name)).collect();
    let shown = |alike: &&[Taken]| match alike {
        [one] => format!("{} ({})", one.name, bytes(one.size)),
        several => format!("{} ({}, {} times)", several[0].name, bytes(several[0].size), several.len()),
    };
    let named: Vec<String> = alike.iter().take(MOST_NAMED).map(shown).collect();
    match alike.iter().skip(MOST_NAMED).map(|alike| alike.len()).sum::<usize>() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn stages_share(aliased: &AliasedKernel, placement: &Placement, degraded: &Degraded) -> Option<Finding> {
    let Degraded::Stages { sharing, stages } = degraded else { return None };
    let is_searched = placement.packed.as_ref().is_some_and(|packed| !packed.open.is_empty());
    let message = format!(
        "{} of {stages} pairs of pipeline stages share memory and wait for each other, because the memory is not large enough for all of them: {}; use smaller tiles or fewer stages to keep them apart{}",
        sharing.len(),
        limits::pairs(sharing),
        if is_searched { "; the search for such a placement continues" } else { "" }
    );
    let related = sharing.iter().map(|pair| {
        let message = format!("share {}: {}", pair.space, limits::pairs(std::slice::from_ref(pair)));
        Related { at: pair.at, message }
    });
    let (code, at) = (Code::PipelineDepth, aliased.kernel.name_origin);
    Some(Finding::new(code, at, message).with_related(related))
}

/// The compiler's search gave up.
fn no_placement(aliased: &AliasedKernel, placement: &Placement) -> Option<Finding> {
    if !placement.refused {
        return None;
    }
    let why = if placement.fits(aliased.machine) {
        "a placement exists, but the planner's search does not find it; try the planner `sequential`, or declare allocations"
    } else {
        "see the memory spaces that are too small"
    };
    let message = format!(
        "DSA-RP could not find a placement for '{}' within the on-chip memory capacities: {why}",
        aliased.kernel.name
    );
    let (code, at) = (Code::CapacityExceeded, aliased.kernel.name_origin);
    Some(Finding::new(code, at, message))
}

/// A warning for every space that only fits packed.
pub(super) fn only_packed(aliased: &AliasedKernel, sequential: &Placement, packed: &Placement) -> Vec<Finding> {
    let warn = |space: Space| {
        let needs = *sequential.layout.used.get(&space)?;
        if needs <= aliased.machine.capacity(space)? {
            return None;
        }
        let fits = packed.layout.used.get(&space).copied().unwrap_or(0);
        Some(overflow(aliased, sequential, space, needs).fits_only_packed(fits))
    };
    Space::ON_CHIP.into_iter().filter_map(warn).collect()
}

fn overflow<'a>(aliased: &'a AliasedKernel, placement: &'a Placement, space: Space, used: u64) -> Overflow<'a> {
    Overflow {
        kernel: aliased.kernel,
        bases: &aliased.bases,
        groups: &aliased.groups,
        space,
        capacity: aliased.machine.capacity(space).unwrap_or(u64::MAX),
        used,
        reserved: aliased.reserved.in_space(space),
        ring: aliased.reserved.ring,
        lifetimes: &aliased.lifetimes,
        buffers: &placement.buffers,
        packing: placement.packed.as_ref().and_then(|packed| packed.spaces.get(&space)),
    }
}

struct Writer<'a, 'k> {
    aliased: &'a AliasedKernel<'k>,
    placement: &'a Placement,
    plan: &'a mut Plan,
    buffers: FxHashMap<BaseId, BufferId>,
}

impl Writer<'_, '_> {
    /// In order of space and address.
    fn buffers(&mut self) {
        let base = |id: BaseId| -> &Base { self.placement.bases.base(id) };
        let mut placed: Vec<(BaseId, Range)> =
            self.placement.layout.placed.iter().map(|(base, range)| (*base, *range)).collect();
        placed.sort_unstable_by_key(|(id, range)| (base(*id).space, range.address, *id));
        let mut live: FxHashMap<BaseId, Vec<(Order, Order)>> = FxHashMap::default();
        for group in &self.aliased.groups {
            if let Some(memory) = self.placement.bases.get(group.first()) {
                live.entry(memory.base).or_default().push((group.live.def, group.live.last));
            }
        }
        for (id, range) in placed {
            self.buffers.insert(id, BufferId(self.plan.buffers.len() as u32));
            self.plan.buffers.push(Buffer {
                name: base(id).name.clone(),
                space: base(id).space,
                size: range.size,
                address: Some(range.address),
                declared: base(id).declared.is_some(),
                live: live.remove(&id).unwrap_or_default(),
            });
        }
    }

    fn tiles(&mut self) {
        let mut moves = self.placement.repairs.moves.clone();
        moves.sort_by_key(|repair| repair.before);
        let mut moves = moves.into_iter().peekable();
        let mut order = 0;
        self.block(&self.aliased.kernel.body, &mut order, &mut moves);
    }

    fn block(
        &mut self,
        block: &[Stmt],
        order: &mut u32,
        moves: &mut std::iter::Peekable<std::vec::IntoIter<RepairMove>>,
    ) {
        for stmt in block {
            match stmt {
                Stmt::Let { var, .. } => {
                    self.tile(*var, Role::Def);
                    *order += 1;
                }
                Stmt::Eval { .. } | Stmt::Return { .. } => *order += 1,
                Stmt::Yield { .. } => {
                    while let Some(repair) = moves.next_if(|repair| repair.before.0 <= *order) {
                        self.repair(repair);
                    }
                    *order += 1;
                }
                Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) => {
                    carries.iter().for_each(|carry| self.tile(carry.iter, Role::IterArg));
                    self.block(body, order, moves);
                    carries.iter().for_each(|carry| self.tile(carry.result, Role::LoopResult));
                }
                Stmt::If(branch) => {
                    self.block(&branch.then, order, moves);
                    self.block(&branch.otherwise, order, moves);
                    branch.results.iter().for_each(|result| self.tile(*result, Role::IfResult));
                }
                Stmt::Break(_) | Stmt::Continue(_) => {}
            }
        }
    }

    /// `role` is how the variable comes about here: the compiler may assign what was the result of a loop.
    fn tile(&mut self, id: VarId, role: Role) {
        let aliased = self.aliased;
        let var = aliased.kernel.var(id);
        let Some(tile) = aliased.kernel.tile(id) else { return };
        let none = Live { def: Order(0), last: Order(0) };
        let live = aliased.lifetimes.live(id).or_else(|| aliased.lifetimes.seen(id)).unwrap_or(none);
        let op = aliased.lifetimes.call(id).filter(|_| role == Role::Def).map_or("", |call| call.op.op().name);
        let memory = self.placement.bases.get(id);
        // What a loop carries is where its first value is, of whatever type the author made it.
        let space = memory.map(|memory| self.placement.bases.base(memory.base).space).or(tile.space);
        let row = PlannedTile {
            var: aliased.shown_as(id),
            name: var.name.clone(),
            label: label(aliased.kernel, &aliased.lifetimes, id),
            op,
            role,
            inserted: var.inserted,
            origin: var.origin,
            space,
            shape: tile.shape.clone(),
            dtype: tile.dtype,
            bytes: space.and_then(|space| sizes::tile_bytes(tile, space, aliased.machine.target)).unwrap_or(0),
            buffer: None,
            address: None,
            dynamic_offset: false,
            first: live.def,
            last: live.last,
        };
        self.add(row, memory);
    }

    fn repair(&mut self, repair: RepairMove) {
        let source = self.aliased.kernel.var(repair.source);
        let Some(tile) = self.aliased.kernel.tile(repair.source) else { return };
        let space = self.placement.bases.base(repair.to.base).space;
        let row = PlannedTile {
            var: repair.source,
            name: format!("{}_mv", source.name),
            label: format!("{}:copy", label(self.aliased.kernel, &self.aliased.lifetimes, repair.source)),
            op: "tile.move",
            role: Role::Def,
            inserted: Some(Why::CarriedCopy),
            origin: repair.at,
            space: Some(space),
            shape: tile.shape.clone(),
            dtype: tile.dtype,
            bytes: sizes::tile_bytes(tile, space, self.aliased.machine.target).unwrap_or(0),
            buffer: None,
            address: None,
            dynamic_offset: false,
            first: repair.before,
            last: repair.before,
        };
        self.add(row, Some(repair.to));
    }

    fn add(&mut self, mut row: PlannedTile, memory: Option<MemRef>) {
        if let Some(memory) = memory
            && !self.placement.layout.placed.contains_key(&memory.base)
            && !self.plan.findings.iter().any(Finding::is_rejection)
        {
            let why = format!("`{}` names memory that is never written", row.name);
            self.plan.notes.push(Note { at: row.origin, reason: Reason::new(why) });
        }
        let placed = memory.and_then(|memory| Some((memory, *self.placement.layout.placed.get(&memory.base)?)));
        if let Some((memory, range)) = placed {
            row.buffer = self.buffers.get(&memory.base).copied();
            row.dynamic_offset = memory.offset == Offset::Dynamic;
            row.address = match memory.offset {
                Offset::Known(offset) => range.address.checked_add(offset),
                Offset::Dynamic => Some(range.address),
            };
        }
        self.plan.tiles.push(row);
    }
}

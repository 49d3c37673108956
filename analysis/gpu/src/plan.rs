//! The plan of a program: where each of its buffers lies, what the block takes, and how far that is known.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use tilefit_python::finding::Reason;
use tilefit_python::work;

use super::device::{Arch, Compiler, Space};
use super::language::Dtype;
use super::live_ranges::{Call, Hidden, Life, Lives, Scratched, lives};
use super::liveness::LiveRange;
use super::program::{BufferId, Bytes, Kind, Memory, Program, Site, TensorProduct, ValueId};
use super::shared_memory::{self, Buffer};
use super::tensor_memory;

/// Of [`Compiler::Earlier`].
pub const EARLIER: &str = "what Triton before 3.7 needs at most is not known";

/// Of the scratch of operations, bytes.
const SCRATCH_ALIGNMENT: u64 = 128;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPlan {
    /// What the kernel takes of each memory of its device, in its order: bytes, or columns as they are asked for.
    pub totals: Vec<(Space, Total)>,
    /// Of memories of which the compiler gives out less than the device has.
    pub limits: Vec<(Space, u64)>,
    /// In the order of the allocator.
    pub placed: Vec<Placed>,
}

/// Of a memory that the device does not have.
static NOTHING: Total = Total { low: 0, high: Some(0), reasons: Vec::new() };

impl MemoryPlan {
    pub fn of_gpu(shared: Total, tensor: Total, placed: Vec<Placed>) -> MemoryPlan {
        MemoryPlan { totals: vec![(Space::Shared, shared), (Space::Tensor, tensor)], limits: Vec::new(), placed }
    }

    /// A plan in which all is unknown, on a device. Tensor memory is asked for by name, and nothing asks.
    pub fn unknown(arch: Arch, reasons: &[Reason]) -> MemoryPlan {
        let total = |(space, _)| match space {
            Space::Tensor => (space, NOTHING.clone()),
            space => (space, Total { low: 0, high: None, reasons: reasons.to_vec() }),
        };
        MemoryPlan { totals: arch.memories().map(total).collect(), limits: Vec::new(), placed: Vec::new() }
    }

    pub fn total(&self, space: Space) -> &Total {
        self.totals.iter().find(|(of, _)| *of == space).map_or(&NOTHING, |(_, total)| total)
    }

    /// To change what is known of a memory.
    pub fn update(&mut self, space: Space, change: impl FnOnce(&mut Total)) {
        if let Some((_, total)) = self.totals.iter_mut().find(|(of, _)| *of == space) {
            change(total);
        }
    }

    /// Something bounds it in each memory.
    pub fn is_bounded(&self) -> bool {
        self.totals.iter().all(|(_, total)| total.high.is_some())
    }

    /// It is one number in each memory.
    pub fn is_exact(&self) -> bool {
        self.totals.iter().all(|(_, total)| total.exactly().is_some())
    }

    /// Why it is not.
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {
        self.totals.iter().flat_map(|(_, total)| &total.reasons)
    }
}

/// What a block takes of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Total {
    pub low: u64,
    /// `None` where nothing bounds it.
    pub high: Option<u64>,
    /// Why it is not one number.
    pub reasons: Vec<Reason>,
}

impl Total {
    pub fn exactly(&self) -> Option<u64> {
        self.high.filter(|&high| high == self.low)
    }

    /// As far as that is known.
    fn most(&self) -> u64 {
        self.high.unwrap_or(self.low)
    }
}

/// Something that has memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    pub what: Occupant,
    /// Bytes, or columns.
    pub low: u64,
    pub high: u64,
    /// Of the first byte, or the first column; `None` where it is not known.
    pub offset: Option<u64>,
    /// Of tensor memory: the first row.
    pub row: u32,
    /// In numbers of operations.
    pub live: LiveRange,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occupant {
    Buffer(BufferId),
    /// Scratch or captures: the nth that the program needs.
    Hidden(usize),
    /// The state of the warps that wait for tasks.
    WarpStates,
}

/// A plan, the scratch of [`Occupant::Hidden`], and where the operations of live ranges are.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    pub plan: MemoryPlan,
    pub hidden: Vec<Scratched>,
    pub sites: Vec<Site>,
}

/// The plan of a program, as far as it is known; `unknown` says what is not.
pub fn plan(program: &Program, unknown: &[Reason], compiler: Compiler) -> Planned {
    planned(program, lives(program, compiler), unknown, compiler)
}

/// Bytes at the start of shared memory, which anything may overwrite, that say where a block's part of tensor memory is.
const ADDRESS_OF_TENSOR_MEMORY: u64 = 4;

/// Columns of tensor memory that a block gets if it gets any.
pub const LEAST_COLUMNS: u64 = 32;

/// The plan of a function.
fn planned(program: &Program, lives: Lives, unknown: &[Reason], compiler: Compiler) -> Planned {
    let (mut placed, mut buffers) = shared_buffers(program, &lives, compiler);
    let callees = callees(program, &lives.calls, unknown, compiler);
    buffers.extend(callees.iter().map(|(callee, call)| callee.taken_by(call.life)));
    let mut reasons: Vec<Reason> = Vec::new();
    let mut note = |reason: &Reason| {
        if !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    };
    unknown.iter().for_each(&mut note);
    for (_, size) in &buffers {
        if let Bytes::Between(.., reason) = size {
            note(reason);
        }
    }
    let early = moved(&lives, &placed, &buffers);
    let (mut shared, offsets) = shared_total([&buffers, &early], unknown.is_empty(), reasons);
    let of_callees = callees.iter().map(|(callee, _)| callee.plan.total(Space::Shared).low).max();
    let in_any_case = held(program, &placed).max(of_callees.unwrap_or(0));
    for (placed, offset) in placed.iter_mut().zip(&offsets) {
        placed.offset = *offset;
    }
    let mut hidden: Vec<Scratched> = lives.scratch.iter().map(|(scratched, _)| scratched.clone()).collect();
    let bases = offsets.into_iter().skip(placed.len());
    for ((callee, call), base) in callees.into_iter().zip(bases) {
        let within = callee.plan.placed.into_iter().map(|inner| inner.within(call, base, hidden.len()));
        placed.extend(within);
        hidden.extend(callee.hidden);
    }
    let (in_tensor_memory, mut tensor) = tensor_buffers(program, &lives, unknown);
    placed.extend(in_tensor_memory);
    if tensor.low > 0 {
        shared.low = shared.low.max(ADDRESS_OF_TENSOR_MEMORY);
        shared.high = shared.high.map(|high| high.max(ADDRESS_OF_TENSOR_MEMORY));
    }
    if compiler == Compiler::Earlier {
        (shared.low, tensor.low) = (in_any_case, 0);
    }
    Planned { plan: MemoryPlan::of_gpu(shared, tensor, placed), hidden, sites: lives.sites }
}

/// The same buffers, with each conversion that the compiler may do earlier where most is beside it: the last of such places. Conversions are done one
/// after another, so that two of one place do not meet.
fn moved(lives: &Lives, placed: &[Placed], buffers: &[(Buffer, Bytes)]) -> Vec<(Buffer, Bytes)> {
    let elsewhere = |placed: &Placed| match placed.what {
        Occupant::Hidden(nth) => lives.scratch[nth].0.elsewhere.as_slice(),
        _ => &[],
    };
    let moving: Vec<usize> = (0..placed.len()).filter(|&nth| !elsewhere(&placed[nth]).is_empty()).collect();
    let is_scratch = |placed: &Placed| matches!(placed.what, Occupant::Hidden(_));
    let resting = placed.iter().zip(buffers).filter(|(placed, _)| !is_scratch(placed));
    let heights = Heights::of(resting.map(|(_, (buffer, size))| (buffer.live, size.high())));
    // Each operation takes so many steps: one for each conversion that may be done before it, and the last one itself.
    let steps = u32::try_from(moving.len()).unwrap_or(u32::MAX).saturating_add(1);
    let last = buffers.iter().map(|(buffer, _)| buffer.live.start).max().unwrap_or(0);
    let steps = if last.checked_add(1).and_then(|last| last.checked_mul(steps)).is_some() { steps } else { 1 };
    let mut early = buffers.to_vec();
    for (nth, (buffer, _)) in early.iter_mut().enumerate() {
        let LiveRange { start, end } = buffer.live;
        let itself = if placed.get(nth).is_none_or(is_scratch) { steps - 1 } else { 0 };
        buffer.live = LiveRange { start: start * steps + itself, end: end.saturating_mul(steps) };
    }
    for (step, &nth) in (0..steps).cycle().zip(&moving) {
        let places = elsewhere(&placed[nth]).iter().copied().chain([buffers[nth].0.live.start]);
        if let Some(worst) = places.max_by_key(|&at| (heights.at(at), at)) {
            let start = worst * steps + step;
            early[nth].0.live = LiveRange { start, end: start + 1 };
        }
    }
    early
}

/// The plans of the functions that are not inlined, where they take any memory.
fn callees<'l>(
    program: &Program,
    calls: &'l [Call],
    unknown: &[Reason],
    compiler: Compiler,
) -> Vec<(Planned, &'l Call)> {
    let plans = calls.iter().map(|call| (planned(program, call.lives.clone(), unknown, compiler), call));
    plans.filter(|(callee, _)| callee.plan.total(Space::Shared).most() > 0).collect()
}

impl Placed {
    /// A buffer of a called function, in the kernel that calls it.
    fn within(mut self, call: &Call, base: Option<u64>, hidden: usize) -> Placed {
        if let Occupant::Hidden(nth) = &mut self.what {
            *nth += hidden;
        }
        self.offset = base.zip(self.offset).map(|(base, offset)| base + offset);
        self.live = if self.live == LiveRange::ALWAYS {
            LiveRange { start: call.first, end: call.life.range.end }
        } else {
            LiveRange { start: self.live.start + call.first, end: self.live.end + call.first }
        };
        self
    }
}

impl Planned {
    /// The same where more is in tensor memory, from `least` to `most` columns of it for a `reason`; nothing at least where that is not sure.
    pub fn with_tensor_memory(mut self, (least, most): (u64, u64), reason: &str, is_sure: bool) -> Planned {
        let (columns, bytes) = if is_sure { (least, ADDRESS_OF_TENSOR_MEMORY) } else { (0, 0) };
        self.plan.update(Space::Tensor, |tensor| {
            tensor.low = tensor.low.max(columns);
            tensor.high = tensor.high.map(|high| high.max(most));
            if tensor.high != Some(tensor.low) {
                tensor.reasons.push(Reason::new(reason));
            }
        });
        self.plan.update(Space::Shared, |shared| {
            shared.low = shared.low.max(bytes);
            shared.high = shared.high.map(|high| high.max(ADDRESS_OF_TENSOR_MEMORY));
        });
        self
    }

    /// What a call of the function takes.
    fn taken_by(&self, life: Life) -> (Buffer, Bytes) {
        let total = self.plan.total(Space::Shared);
        let size = match (total.exactly(), total.reasons.first()) {
            (None, Some(reason)) => Bytes::Between(total.low, total.most(), reason.clone()),
            _ => Bytes::Exactly(total.low),
        };
        let of = Buffer { size: size.high(), alignment: SCRATCH_ALIGNMENT, live: life.range, task: life.task };
        (of, size)
    }

    /// Either of two plans, where it is not known which: addresses are known where both are the same.
    pub fn either(self, other: &Planned) -> Planned {
        self.or(
            other,
            "Triton 3.8 and Meta's fork of it give out memory by different rules; `# tilefit: triton=3.8` says which",
        )
    }

    /// The same for another reason.
    pub fn or(mut self, other: &Planned, reason: &str) -> Planned {
        let differs = self.plan != other.plan;
        for (space, total) in &mut self.plan.totals {
            let theirs = other.plan.total(*space);
            if total != theirs {
                let reason = Reason::new(reason);
                if total.low != theirs.low || total.high != theirs.high {
                    total.reasons.push(reason);
                }
                total.low = total.low.min(theirs.low);
                total.high = total.high.zip(theirs.high).map(|(one, two)| one.max(two));
            }
        }
        if differs {
            for placed in &mut self.plan.placed {
                let theirs = other.plan.placed.iter().find(|theirs| theirs.what == placed.what);
                if theirs.is_none_or(|theirs| theirs.offset != placed.offset) {
                    placed.offset = None;
                }
            }
        }
        self
    }
}

/// Bytes that each Triton from 3.2 on needs: the most that one loop keeps.
fn held(program: &Program, placed: &[Placed]) -> u64 {
    let mut by_loop: FxHashMap<ValueId, u64> = FxHashMap::default();
    for placed in placed {
        if let Occupant::Buffer(id) = placed.what
            && let Some(&(index, bytes)) = program.held.get(&id)
        {
            let all = by_loop.entry(index).or_default();
            *all = all.saturating_add(bytes);
        }
    }
    by_loop.into_values().max().unwrap_or(0)
}

/// Explicit buffers, then scratch: that of the function first. Calls come behind them.
fn shared_buffers(program: &Program, lives: &Lives, compiler: Compiler) -> (Vec<Placed>, Vec<(Buffer, Bytes)>) {
    let mut placed = Vec::new();
    let mut buffers = Vec::new();
    let mut add = |what: Occupant, size: Bytes, alignment: u64, life: Life| {
        let size = size.clamped();
        if size.high() == 0 {
            return;
        }
        placed.push(Placed { what, low: size.low(), high: size.high(), offset: None, row: 0, live: life.range });
        buffers.push((Buffer { size: size.high(), alignment, live: life.range, task: life.task }, size));
    };
    for &id in &lives.order {
        let buffer = &program.buffers[id.0 as usize];
        if let (Memory::Shared { size, alignment, fork }, Some(life)) = (&buffer.memory, lives.buffers[id.0 as usize]) {
            let size = match (size, compiler.is_fork()) {
                (Bytes::Exactly(_), true) => fork.clone(),
                _ => size.clone(),
            };
            // What is loaded through a pointer of any type may be converted before it is stored, or not be stored.
            let size = match buffer.dtype == Dtype::ANY.name {
                true => Bytes::Between(0, size.high(), Reason::new("the element types of pointers are not known")),
                false => size,
            };
            add(Occupant::Buffer(id), size, *alignment, life);
        }
    }
    if lives.warp_states > 0 {
        let life = Life { range: LiveRange::ALWAYS, task: None };
        add(Occupant::WarpStates, Bytes::Exactly(lives.warp_states.next_multiple_of(4)), 4, life);
    }
    for (i, (scratched, life)) in lives.scratch.iter().enumerate() {
        let (size, alignment) = match &scratched.what {
            Hidden::Scratch(scratch) => (program.scratch[scratch.0 as usize].size.clone(), SCRATCH_ALIGNMENT),
            Hidden::Captures(bytes) => (Bytes::Exactly(*bytes), 8),
        };
        add(Occupant::Hidden(i), size, alignment, *life);
    }
    (placed, buffers)
}

/// What the block takes, at least and at most, and the offset of each buffer that is known.
/// `early`: with the conversions that are not sure where they cost most.
fn shared_total(
    [buffers, early]: [&[(Buffer, Bytes)]; 2],
    is_complete: bool,
    reasons: Vec<Reason>,
) -> (Total, Vec<Option<u64>>) {
    let trials = trials(buffers);
    let is_known = trials.len() == 1;
    let mut results: Vec<(u64, Vec<Option<u64>>)> = trials.iter().map(|sizes| tried(buffers, sizes)).collect();
    if !is_known && buffers != early {
        results.extend(trials.iter().map(|sizes| tried(early, sizes)));
    }
    let totals = || results.iter().map(|(total, _)| *total);
    let low = if is_complete { totals().min().unwrap_or(0) } else { peak(buffers).min(results[0].0) };
    let mut high = totals().max().filter(|_| is_complete);
    if let Some(most) = high.filter(|&high| high > low) {
        // Behind a barrier an aligned buffer leaves a gap, and in which order they are placed is not known.
        let aligned = buffers.iter().map(|(buffer, _)| buffer.alignment).filter(|&alignment| alignment > OF_SCRATCH);
        high = Some(most.next_multiple_of(aligned.max().unwrap_or(1)));
    }
    let is_placed = is_complete && (is_known || Some(low) == high);
    let offset = |i: usize| {
        let first = results[0].1[i];
        first.filter(|_| is_placed && results.iter().all(|(_, offsets)| offsets[i] == first))
    };
    let offsets = (0..buffers.len()).map(offset).collect();
    (Total { low, high, reasons }, offsets)
}

/// What scratch is aligned to.
const OF_SCRATCH: u64 = 128;
/// Sizes between the least and the greatest that all buffers of unknown size are given at once.
const STEPS: usize = 8;
/// Buffers of unknown size that are tried one by one.
const MOST_APART: usize = 32;

/// The sizes that are tried where it is not known which there are: more memory for one buffer may be less for all.
fn trials(buffers: &[(Buffer, Bytes)]) -> Vec<Vec<u64>> {
    let unknown = buffers.iter().enumerate().filter(|(_, (_, size))| !matches!(size, Bytes::Exactly(_)));
    let unknown: Vec<(usize, (u64, u64))> = unknown.map(|(i, (_, size))| (i, (size.low(), size.high()))).collect();
    let by = |of: &dyn Fn(usize, &Bytes) -> u64| -> Vec<u64> {
        buffers.iter().enumerate().map(|(i, (_, size))| of(i, size)).collect()
    };
    let mut trials = vec![by(&|_, size| size.low())];
    if unknown.is_empty() {
        return trials;
    }
    // What the compiler chooses is mostly a power of two.
    trials.extend((0..STEPS).map(|nth| by(&|_, size| (size.high() >> nth).max(size.low()))));
    let mut apart = |is_apart: &dyn Fn(usize) -> bool| {
        trials.push(by(&|i, size| if is_apart(i) { size.high() } else { size.low() }));
        trials.push(by(&|i, size| if is_apart(i) { size.low() } else { size.high() }));
    };
    // What an operation needs is often known of all of its kind.
    let kinds: BTreeSet<(u64, u64)> = unknown.iter().map(|&(_, range)| range).collect();
    for kind in kinds.into_iter().take(MOST_APART) {
        apart(&|i| unknown.contains(&(i, kind)));
    }
    for &(nth, _) in unknown.iter().take(MOST_APART) {
        apart(&|i| i == nth);
    }
    trials
}

/// The total where buffers have these sizes, and the offset of each that has any.
fn tried(buffers: &[(Buffer, Bytes)], sizes: &[u64]) -> (u64, Vec<Option<u64>>) {
    let sized = buffers.iter().zip(sizes).filter(|&(_, &size)| size > 0);
    let sized: Vec<Buffer> = sized.map(|((buffer, _), &size)| Buffer { size, ..buffer.clone() }).collect();
    let allocation = shared_memory::allocate(&sized);
    let mut offsets = allocation.offsets.into_iter();
    (allocation.total, sizes.iter().map(|&size| if size > 0 { offsets.next() } else { None }).collect())
}

/// The most bytes that are live at once: no allocator takes less.
fn peak(buffers: &[(Buffer, Bytes)]) -> u64 {
    let sure = buffers.iter().map(|(buffer, size)| (buffer.live, size.low()));
    Heights::of(sure).0.values().copied().max().unwrap_or(0)
}

/// The bytes that are live, by the operations from which on it is so many.
struct Heights(BTreeMap<u32, u64>);

impl Heights {
    fn of(buffers: impl Iterator<Item = (LiveRange, u64)>) -> Heights {
        let mut changes: BTreeMap<u32, i128> = BTreeMap::new();
        for (live, bytes) in buffers.filter(|(live, _)| live.start < live.end) {
            work::spend(1);
            *changes.entry(live.start).or_default() += i128::from(bytes);
            *changes.entry(live.end).or_default() -= i128::from(bytes);
        }
        let mut height = 0_i128;
        let heights = changes.into_iter().map(|(at, change)| {
            height += change;
            (at, u64::try_from(height).unwrap_or(u64::MAX))
        });
        Heights(heights.collect())
    }

    /// At an operation.
    fn at(&self, at: u32) -> u64 {
        self.0.range(..=at).next_back().map_or(0, |(_, &height)| height)
    }
}

/// One buffer for all that are in one half of the rows: a left side of 64 rows, its accumulator, and whatever is with either.
fn halves(program: &Program) -> FxHashMap<BufferId, BufferId> {
    let mut products: Vec<[ValueId; 2]> = Vec::new();
    program.body.each(&mut |op| {
        if let Kind::TensorProduct(TensorProduct { accumulator, half: Some(half), .. }) = op.kind {
            products.push([op.operands[accumulator], op.operands[half]]);
        }
    });
    let mut halves: FxHashMap<BufferId, BufferId> = FxHashMap::default();
    if products.is_empty() {
        return halves;
    }
    let made_of = made_of(program);
    for sides in products {
        let all: Vec<BufferId> = sides.iter().filter_map(|side| made_of.get(side)).flatten().copied().collect();
        let Some(&first) = all.first() else { continue };
        let class = |halves: &FxHashMap<BufferId, BufferId>, id| halves.get(&id).copied().unwrap_or(id);
        let to = class(&halves, first);
        let from: Vec<BufferId> = all.iter().map(|&id| class(&halves, id)).collect();
        halves.extend(all.iter().map(|&id| (id, to)));
        halves.values_mut().filter(|class| from.contains(class)).for_each(|class| *class = to);
    }
    halves
}

/// The buffers of tensor memory that each value may be, by whichever way it got there.
fn made_of(program: &Program) -> FxHashMap<ValueId, BTreeSet<BufferId>> {
    let mut ties: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
    let mut made: Vec<(BufferId, ValueId)> = Vec::new();
    program.body.each(&mut |op| {
        if let (Kind::Allocation(id), Some(&result)) = (&op.kind, op.results.first()) {
            made.push((*id, result));
        }
        for (from, to) in super::live_ranges::ties(op) {
            ties.entry(from).or_default().push(to);
        }
    });
    let mut of: FxHashMap<ValueId, BTreeSet<BufferId>> = FxHashMap::default();
    for (id, value) in made {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            work::spend(1);
            if of.entry(value).or_default().insert(id) {
                open.extend(ties.get(&value).into_iter().flatten());
            }
        }
    }
    of
}

fn tensor_buffers(program: &Program, lives: &Lives, unknown: &[Reason]) -> (Vec<Placed>, Total) {
    let mut placed = Vec::new();
    let mut buffers: Vec<tensor_memory::Buffer> = Vec::new();
    let halves = halves(program);
    let mut first_of: FxHashMap<BufferId, usize> = FxHashMap::default();
    for &id in &lives.order {
        let (Memory::Tensor { columns, rows }, Some(life)) =
            (&program.buffers[id.0 as usize].memory, lives.buffers[id.0 as usize])
        else {
            continue;
        };
        let what = Occupant::Buffer(id);
        placed.push(Placed { what, low: *columns, high: *columns, offset: None, row: 0, live: life.range });
        buffers.push(tensor_memory::Buffer {
            columns: u32::try_from(*columns).unwrap_or(u32::MAX).min(1 << 16),
            rows: *rows,
            live: life.range,
            task: life.task,
            with: halves.get(&id).and_then(|class| first_of.get(class).copied()),
        });
        if let Some(&class) = halves.get(&id) {
            first_of.entry(class).or_insert(buffers.len() - 1);
        }
    }
    let allocation = tensor_memory::allocate(&buffers);
    let high = unknown.is_empty().then_some(allocation.columns);
    for (placed, place) in placed.iter_mut().zip(&allocation.places) {
        placed.offset = high.map(|_| u64::from(place.column));
        placed.row = place.half * 16;
    }
    (placed, Total { low: allocation.columns, high, reasons: unknown.to_vec() })
}

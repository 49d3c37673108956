//! What the compiler does to a program before memory is given out: values that a loop only carries around are what they were before it, what
//! was computed before is not computed again, and what is unused is not computed at all.

use rustc_hash::FxHashMap;
use tilefit_python::work;

use super::program::{Block, Effect, Kind, Op, Program, ValueId};

pub(crate) fn simplify(program: &mut Program) {
    let mut names = Names::new(program.types.len());
    unused(program);
    emptied(&mut program.body, &mut names);
    names.rename(&mut program.body);
    invariant(&mut program.body, &mut names);
    names.rename(&mut program.body);
    repeated(&mut program.body, &mut names, &mut Seen::default());
    names.rename(&mut program.body);
    decided(&mut program.body, &mut names, &mut Vec::new());
    names.rename(&mut program.body);
    combined(&mut program.body);
    invariant(&mut program.body, &mut names);
    names.rename(&mut program.body);
    unused(program);
}

/// What each value is the same as.
struct Names(Vec<ValueId>);

impl Names {
    fn new(values: usize) -> Names {
        Names((0..values as u32).map(ValueId).collect())
    }

    fn of(&self, mut value: ValueId) -> ValueId {
        while self.0[value.0 as usize] != value {
            value = self.0[value.0 as usize];
        }
        value
    }

    /// From now on the one is the other.
    fn replace(&mut self, value: ValueId, by: ValueId) {
        let (value, by) = (self.of(value), self.of(by));
        if value != by {
            self.0[value.0 as usize] = by;
        }
    }

    fn rename(&self, block: &mut Block) {
        for op in &mut block.ops {
            work::spend(1);
            for operand in &mut op.operands {
                *operand = self.of(*operand);
            }
            for block in op.kind.blocks_mut() {
                self.rename(block);
            }
        }
    }
}

/// What is yielded at the end of a block.
fn yielded(block: &Block) -> &[ValueId] {
    match block.ops.last() {
        Some(Op { kind: Kind::Yield, operands, .. }) => operands,
        _ => &[],
    }
}

/// Takes for the results of a loop in which nothing is left to do what it yields, where that is from outside of it.
fn emptied(block: &mut Block, names: &mut Names) {
    for op in &mut block.ops {
        work::spend(1);
        for inner in op.kind.blocks_mut() {
            emptied(inner, names);
        }
        let Kind::For { runs: true, body, .. } = &op.kind else { continue };
        let is_empty = body.ops.iter().all(|op| matches!(op.kind, Kind::Yield));
        if is_empty && yielded(body).iter().all(|value| !body.params.contains(value)) {
            same(names, &op.results, yielded(body));
        }
    }
}

/// Takes what a loop carries and never changes for what it was before the loop.
fn invariant(block: &mut Block, names: &mut Names) {
    for op in &mut block.ops {
        work::spend(1);
        let first = match &op.kind {
            Kind::For { bounds, .. } => *bounds,
            _ => 0,
        };
        for inner in op.kind.blocks_mut() {
            invariant(inner, names);
        }
        let (params, body) = match &op.kind {
            Kind::For { body, .. } => (body.params.get(1..).unwrap_or_default(), body),
            Kind::While { condition, body } => (condition.params.as_slice(), body),
            Kind::If { then, otherwise } => {
                let same = yielded(then).iter().zip(yielded(otherwise)).zip(&op.results);
                for ((one, other), &result) in same.collect::<Vec<_>>() {
                    if names.of(*one) == names.of(*other) {
                        names.replace(result, *one);
                    }
                }
                continue;
            }
            _ => continue,
        };
        for (i, (&param, &next)) in params.iter().zip(yielded(body)).enumerate() {
            let Some(&before) = op.operands.get(first + i) else { continue };
            let next = names.of(next);
            if next == names.of(param) || next == names.of(before) {
                names.replace(param, before);
                if let Some(&result) = op.results.get(i) {
                    names.replace(result, before);
                }
            }
        }
    }
}

/// Makes one branch of two that follow each other and depend on the same condition.
fn combined(block: &mut Block) {
    let mut ops: Vec<Op> = Vec::with_capacity(block.ops.len());
    for mut op in std::mem::take(&mut block.ops) {
        work::spend(1);
        for inner in op.kind.blocks_mut() {
            combined(inner);
        }
        // Constants stand elsewhere.
        let before = ops.iter().rposition(|op| !matches!(op.kind, Kind::Constant));
        match before.map(|at| &mut ops[at]) {
            Some(first) if is_same_branch(first, &op) => combine(first, op),
            _ => ops.push(op),
        }
    }
    block.ops = ops;
}

fn is_same_branch(first: &Op, second: &Op) -> bool {
    let are_branches = matches!((&first.kind, &second.kind), (Kind::If { .. }, Kind::If { .. }));
    are_branches && first.operands == second.operands
}

fn combine(first: &mut Op, second: Op) {
    let results = first.results.clone();
    let Op { kind: Kind::If { then, otherwise }, results: more, .. } = second else { return };
    if let Kind::If { then: first_then, otherwise: first_otherwise } = &mut first.kind {
        for (one, mut two) in [(first_then, then), (first_otherwise, otherwise)] {
            let mut yields = match one.ops.pop() {
                Some(Op { kind: Kind::Yield, operands, .. }) => operands,
                _ => Vec::new(),
            };
            let within: FxHashMap<ValueId, ValueId> = results.iter().copied().zip(yields.iter().copied()).collect();
            replaced(&mut two, &within);
            if let Some(last) = two.ops.last_mut().filter(|op| matches!(op.kind, Kind::Yield)) {
                yields.append(&mut last.operands);
                last.operands = yields;
            }
            one.ops.append(&mut two.ops);
        }
    }
    first.results.extend(more);
}

fn replaced(block: &mut Block, by: &FxHashMap<ValueId, ValueId>) {
    for op in &mut block.ops {
        for operand in &mut op.operands {
            *operand = by.get(operand).copied().unwrap_or(*operand);
        }
        for inner in op.kind.blocks_mut() {
            replaced(inner, by);
        }
    }
}

/// In a branch it is known what its condition was: branches on the same condition in it are no branches.
fn decided(block: &mut Block, names: &mut Names, known: &mut Vec<(ValueId, bool)>) {
    let mut ops = Vec::with_capacity(block.ops.len());
    for mut op in std::mem::take(&mut block.ops) {
        work::spend(1);
        let condition = op.operands.first().copied();
        let truth = known.iter().find(|(value, _)| Some(*value) == condition).map(|&(_, truth)| truth);
        match (&mut op.kind, condition, truth) {
            (Kind::If { then, otherwise }, _, Some(truth)) => {
                let taken = if truth { then } else { otherwise };
                decided(taken, names, known);
                same(names, &op.results, yielded(taken));
                ops.extend(taken.ops.drain(..).filter(|op| !matches!(op.kind, Kind::Yield)));
                continue;
            }
            (Kind::If { then, otherwise }, Some(condition), None) => {
                for (inner, truth) in [(then, true), (otherwise, false)] {
                    known.push((condition, truth));
                    decided(inner, names, known);
                    known.pop();
                }
            }
            (kind, ..) => {
                for inner in kind.blocks_mut() {
                    decided(inner, names, known);
                }
            }
        }
        ops.push(op);
    }
    block.ops = ops;
}

/// The memories that operations read and write (`MemoryEffects` in `TritonGPUOps.td` and its neighbours). What is read of one is still the same when
/// another has been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    Global,
    Shared,
    Tensor,
}

/// What reads one memory only.
const READS: [(&str, Space); 7] = [
    ("load", Space::Global),
    ("buffer_load", Space::Global),
    ("descriptor load", Space::Global),
    ("local_load", Space::Shared),
    ("local_gather", Space::Shared),
    ("tmem_load", Space::Tensor),
    ("tmem_load_reduced", Space::Tensor),
];

/// What writes one memory only. Of all others that write, the compiler takes it that they write each memory.
const WRITES: [(&str, Space); 43] = [
    ("store", Space::Global),
    ("atomic", Space::Global),
    ("buffer_store", Space::Global),
    ("device_print", Space::Global),
    ("descriptor store", Space::Global),
    // There is no buffer yet when the compiler looks for what it has computed before.
    ("staging", Space::Global),
    ("tma.async_store", Space::Global),
    ("tma.async_scatter", Space::Global),
    ("tma.async_copy_shared_to_global", Space::Global),
    ("tma.async_atomic_add", Space::Global),
    ("tma.async_atomic_min", Space::Global),
    ("tma.async_atomic_max", Space::Global),
    ("tma.async_atomic_and", Space::Global),
    ("tma.async_atomic_or", Space::Global),
    ("tma.async_atomic_xor", Space::Global),
    ("async_descriptor_store", Space::Global),
    ("allocate_shared_memory", Space::Shared),
    ("local_store", Space::Shared),
    ("local_scatter", Space::Shared),
    ("atomic_scatter", Space::Shared),
    ("init_barrier", Space::Shared),
    ("mbarrier.init", Space::Shared),
    ("mbarrier.invalidate", Space::Shared),
    ("mbarrier.wait", Space::Shared),
    ("mbarrier.expect", Space::Shared),
    ("mbarrier.arrive", Space::Shared),
    ("barrier_wait", Space::Shared),
    ("barrier_arrive", Space::Shared),
    ("barrier_expect_bytes", Space::Shared),
    ("tma.async_load", Space::Shared),
    ("tma.async_gather", Space::Shared),
    ("tma.async_copy_global_to_shared", Space::Shared),
    ("async_copy.async_load", Space::Shared),
    ("async_copy.async_copy_global_to_shared", Space::Shared),
    ("async_copy.mbarrier_arrive", Space::Shared),
    ("async_descriptor_load", Space::Shared),
    ("async_load", Space::Shared),
    ("tcgen05_commit", Space::Shared),
    ("allocate_tensor_memory", Space::Tensor),
    ("tmem_store", Space::Tensor),
    ("async_dot", Space::Tensor),
    ("tcgen05_mma", Space::Tensor),
    ("tcgen05_copy", Space::Tensor),
];

/// What is done for more than its results, and writes nothing.
const WRITES_NOTHING: [&str; 3] = ["convert_layout", "device_assert", "keep_alive"];

fn space_read(op: &Op) -> Option<Space> {
    READS.iter().find(|(name, _)| *name == op.name).map(|&(_, space)| space)
}

/// What an operation writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Nothing,
    Only(Space),
    /// It may be anything.
    All,
}

/// What an operation writes itself, beside what anything in it does.
pub(super) fn written(op: &Op) -> Written {
    let writes = match op.effect {
        Effect::Writes => {
            let is_leaf = op.kind.blocks().is_empty() || matches!(op.kind, Kind::Call { .. });
            is_leaf && !WRITES_NOTHING.contains(&op.name)
        }
        // It is given what it starts with.
        Effect::Allocates => !op.operands.is_empty(),
        Effect::None | Effect::Reads => false,
    };
    match WRITES.iter().find(|(name, _)| *name == op.name) {
        _ if !writes => Written::Nothing,
        Some(&(_, space)) => Written::Only(space),
        None => Written::All,
    }
}

/// What an operation, or anything in it, writes.
fn spaces_written(op: &Op, found: &mut Vec<Space>) {
    for block in op.kind.blocks() {
        block.ops.iter().for_each(|inner| spaces_written(inner, found));
    }
    match written(op) {
        Written::Nothing => {}
        Written::Only(space) => found.push(space),
        Written::All => found.extend([Space::Global, Space::Shared, Space::Tensor]),
    }
}

type Computed = (&'static str, u64, Vec<ValueId>);

/// What has been computed where control is.
#[derive(Default)]
struct Seen {
    /// Of the blocks around, innermost last.
    pure: Vec<FxHashMap<Computed, Vec<ValueId>>>,
}

/// Takes what is computed again for what was computed before.
fn repeated(block: &mut Block, names: &mut Names, seen: &mut Seen) {
    seen.pure.push(FxHashMap::default());
    let mut read: FxHashMap<Computed, (Option<Space>, Vec<ValueId>)> = FxHashMap::default();
    for op in &mut block.ops {
        work::spend(1);
        for operand in &mut op.operands {
            *operand = names.of(*operand);
        }
        let first_isolated = match op.kind {
            Kind::Specialize { .. } => 1,
            Kind::Call { .. } => 0,
            _ => usize::MAX,
        };
        for (i, inner) in op.kind.blocks_mut().into_iter().enumerate() {
            // A task or a function sees nothing but what it is given.
            let mut own = Seen::default();
            repeated(inner, names, if i >= first_isolated { &mut own } else { seen });
        }
        let key = || (op.name, op.identity, op.operands.clone());
        match op.effect {
            Effect::None if op.kind.blocks().is_empty() && !matches!(op.kind, Kind::Yield) => {
                let before = seen.pure.iter().find_map(|computed| computed.get(&key()));
                match before.cloned() {
                    Some(before) => same(names, &op.results, &before),
                    None => {
                        let results = op.results.clone();
                        seen.pure.last_mut().expect("pushed above").insert(key(), results);
                    }
                }
            }
            Effect::Reads => match read.get(&key()).cloned() {
                Some((_, before)) => same(names, &op.results, &before),
                None => {
                    read.insert(key(), (space_read(op), op.results.clone()));
                }
            },
            Effect::Writes | Effect::None | Effect::Allocates => {
                let mut written = Vec::new();
                spaces_written(op, &mut written);
                read.retain(|_, (space, _)| match space {
                    Some(space) => !written.contains(space),
                    None => written.is_empty(),
                });
            }
        }
    }
    seen.pure.pop();
}

fn same(names: &mut Names, results: &[ValueId], before: &[ValueId]) {
    for (&result, &before) in results.iter().zip(before) {
        names.replace(result, before);
    }
}

/// Whether the operation, or a nested one, has side effects.
fn writes(op: &Op) -> bool {
    op.effect == Effect::Writes || op.kind.blocks().iter().any(|block| block.ops.iter().any(writes))
}

/// Leaves out what is unused.
pub(super) fn unused(program: &mut Program) {
    let needed = needed(&program.body, program.types.len());
    sweep(&mut program.body, &needed);
}

/// Values that are live, by index.
pub(super) fn needed(body: &Block, values: usize) -> Vec<bool> {
    let mut needed = vec![false; values];
    // What a loop carries may need what comes later in the text.
    loop {
        let before = needed.iter().filter(|&&needed| needed).count();
        mark(body, &mut needed, &[]);
        if needed.iter().filter(|&&needed| needed).count() == before {
            return needed;
        }
    }
}

pub(super) fn is_needed(op: &Op, needed: &[bool]) -> bool {
    writes(op) || op.results.iter().any(|result| needed[result.0 as usize])
}

/// Marks what is needed in a block of which the `results` are, in the order of what it yields.
fn mark(block: &Block, needed: &mut [bool], results: &[bool]) {
    for op in block.ops.iter().rev() {
        work::spend(1);
        if matches!(op.kind, Kind::Yield) {
            for (operand, result) in op.operands.iter().zip(results) {
                needed[operand.0 as usize] |= result;
            }
            continue;
        }
        if !is_needed(op, needed) {
            continue;
        }
        let wants: Vec<bool> = op.results.iter().map(|result| needed[result.0 as usize]).collect();
        match &op.kind {
            Kind::For { bounds, body, .. } => {
                let carried = body.params.get(1..).unwrap_or_default();
                let wants = wanted(&wants, carried, needed);
                mark(body, needed, &wants);
                for (i, operand) in op.operands.iter().enumerate() {
                    needed[operand.0 as usize] |= i < *bounds || wants.get(i - bounds).copied().unwrap_or(true);
                }
            }
            Kind::While { condition, body } => {
                let wants = wanted(&wants, &condition.params, needed);
                // It yields whether to go on, and what the body is given.
                let of_condition: Vec<bool> = std::iter::once(true).chain(wants.iter().copied()).collect();
                mark(condition, needed, &of_condition);
                mark(body, needed, &wants);
                for (operand, want) in op.operands.iter().zip(wants.iter().chain(std::iter::repeat(&true))) {
                    needed[operand.0 as usize] |= want;
                }
            }
            Kind::If { then, otherwise } => {
                mark(then, needed, &wants);
                mark(otherwise, needed, &wants);
                for operand in &op.operands {
                    needed[operand.0 as usize] = true;
                }
            }
            Kind::Specialize { default, tasks } => {
                mark(default, needed, &wants);
                for task in tasks {
                    mark(&task.body, needed, &[]);
                    for (param, operand) in task.body.params.iter().zip(&op.operands) {
                        needed[operand.0 as usize] |= needed[param.0 as usize];
                    }
                }
            }
            Kind::Call { body } => {
                mark(body, needed, &vec![true; op.results.len()]);
                for operand in &op.operands {
                    needed[operand.0 as usize] = true;
                }
            }
            _ => {
                for operand in &op.operands {
                    needed[operand.0 as usize] = true;
                }
            }
        }
    }
}

/// What a loop carries is wanted after it or within it.
fn wanted(results: &[bool], params: &[ValueId], needed: &[bool]) -> Vec<bool> {
    let within = params.iter().map(|param| needed[param.0 as usize]);
    within.enumerate().map(|(i, within)| within || results.get(i).copied().unwrap_or(false)).collect()
}

fn sweep(block: &mut Block, needed: &[bool]) {
    block.ops.retain(|op| matches!(op.kind, Kind::Yield) || is_needed(op, needed));
    for op in &mut block.ops {
        for inner in op.kind.blocks_mut() {
            sweep(inner, needed);
        }
        // What is no longer carried has no life either.
        match &mut op.kind {
            Kind::For { bounds, body, .. } => {
                let keep: Vec<bool> = (0..body.params.len().saturating_sub(1))
                    .map(|i| {
                        needed[body.params[i + 1].0 as usize]
                            || op.results.get(i).is_some_and(|result| needed[result.0 as usize])
                    })
                    .collect();
                retain(&mut body.params, 1, &keep);
                if let Some(last) = body.ops.last_mut() {
                    retain(&mut last.operands, 0, &keep);
                }
                retain(&mut op.operands, *bounds, &keep);
                retain(&mut op.results, 0, &keep);
            }
            Kind::If { then, otherwise } => {
                let keep: Vec<bool> = op.results.iter().map(|result| needed[result.0 as usize]).collect();
                for block in [then, otherwise] {
                    if let Some(last) = block.ops.last_mut() {
                        retain(&mut last.operands, 0, &keep);
                    }
                }
                retain(&mut op.results, 0, &keep);
            }
            Kind::Specialize { tasks, .. } => {
                let of_operand = |i: usize| {
                    tasks.iter().any(|task| task.body.params.get(i).is_some_and(|param| needed[param.0 as usize]))
                };
                let keep: Vec<bool> = (0..op.operands.len()).map(of_operand).collect();
                for task in tasks.iter_mut() {
                    retain(&mut task.body.params, 0, &keep);
                }
                retain(&mut op.operands, 0, &keep);
            }
            _ => {}
        }
    }
}

/// Keeps those behind the `first` ones that are to be kept.
fn retain(values: &mut Vec<ValueId>, first: usize, keep: &[bool]) {
    let mut at = 0;
    values.retain(|_| {
        at += 1;
        at <= first || keep.get(at - 1 - first).copied().unwrap_or(true)
    });
}

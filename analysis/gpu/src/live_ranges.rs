//! When each buffer of a program is live: MLIR's liveness over operations numbered as `lib/Analysis/Allocation.cpp` numbers them.
//!
//! Control flow is branches between blocks there. A loop is a block before it that hands over what it starts with, a head whose parameters are
//! what it carries, and a body that ends by going back to the head.

use std::collections::BTreeSet;

use tilefit_python::work;

use super::device::Compiler;
use super::liveness::{LiveRange, Task};
use super::program::{Block, BufferId, Effect, Kind, Memory, Op, Program, ScratchId, Site, Type, Use, ValueId};

/// Tensors from which one is computed that are looked at to find where its conversion may be.
const MOST_PLACES: usize = 256;

/// The buffers of a program in the order of the allocator.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lives {
    /// By [`BufferId`]; `None` for those that are not made.
    pub buffers: Vec<Option<Life>>,
    /// Those that are made, in the order in which they are.
    pub order: Vec<BufferId>,
    /// In program order.
    pub scratch: Vec<(Scratched, Life)>,
    /// In program order.
    pub calls: Vec<Call>,
    /// Warps of the largest group of tasks, beside those of the kernel.
    pub warp_states: u64,
    /// Where each numbered operation stands.
    pub sites: Vec<Site>,
}

/// A call of a function that is not inlined, which has memory of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub lives: Lives,
    /// The number of its first operation.
    pub first: u32,
    pub life: Life,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Life {
    pub range: LiveRange,
    pub task: Option<Task>,
}

/// What needs shared memory without having been given any by the author.
#[derive(Debug, Clone, PartialEq)]
pub struct Scratched {
    pub what: Hidden,
    pub op: &'static str,
    pub at: Site,
    /// Where else it may be done.
    pub elsewhere: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Hidden {
    Scratch(ScratchId),
    /// Bytes of what tasks are given.
    Captures(u64),
}

/// How long buffers live. For the fork barriers live always, a buffer that is stored through a descriptor until somebody waits for that, and what is
/// live across tasks from the start.
pub fn lives(program: &Program, compiler: Compiler) -> Lives {
    lives_in(program, &program.body, compiler)
}

/// In the body of a function.
fn lives_in(program: &Program, body: &Block, compiler: Compiler) -> Lives {
    let values = program.types.len();
    let mut numbers = Numbers {
        program,
        groups: 0,
        defined: vec![None; values],
        ends: vec![0; values],
        nest: vec![Vec::new(); values],
        around: Vec::new(),
        task: None,
        lives: Lives { buffers: vec![None; program.buffers.len()], ..Lives::default() },
        made: Vec::new(),
        computed_from: vec![Vec::new(); values],
        behind_loop: vec![None; values],
        aliases: Vec::new(),
        constants: vec![false; values],
        used: used(program),
        compiler,
        specialized: Vec::new(),
        stored: Vec::new(),
        waits: Vec::new(),
    };
    numbers.block(body);
    numbers.finish()
}

/// Why one value is the memory of another. The allocator of tensor memory looks at views only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tie {
    View,
    /// Of tensor memory.
    Slice,
    /// It is carried by a loop, yielded by a branch, or given to a task.
    Argument,
}

/// Pairs of values of which the second is the memory of the first, because of an operation.
pub(super) fn ties(op: &Op) -> Vec<(ValueId, ValueId)> {
    let last = |block: &Block| block.ops.last().map(|last| last.operands.clone()).unwrap_or_default();
    let each = |from: &[ValueId], to: &[ValueId]| from.iter().copied().zip(to.iter().copied()).collect::<Vec<_>>();
    match &op.kind {
        Kind::View | Kind::ShortView => {
            op.results.iter().flat_map(|&result| op.operands.iter().map(move |&operand| (operand, result))).collect()
        }
        Kind::If { then, otherwise } => [each(&last(then), &op.results), each(&last(otherwise), &op.results)].concat(),
        Kind::For { bounds, body, .. } => {
            let carried = body.params.get(1..).unwrap_or_default();
            let starts = op.operands.get(*bounds..).unwrap_or_default();
            [each(starts, carried), each(&last(body), carried), each(carried, &op.results)].concat()
        }
        Kind::While { condition, body } => {
            let carried = &condition.params;
            [each(&op.operands, carried), each(&last(body), carried), each(carried, &op.results)].concat()
        }
        Kind::Specialize { tasks, .. } => tasks.iter().flat_map(|task| each(&op.operands, &task.body.params)).collect(),
        _ => Vec::new(),
    }
}

struct Numbers<'a> {
    program: &'a Program,
    groups: u32,
    /// The number of the operation that defines a value.
    defined: Vec<Option<u32>>,
    /// The last number at which it is used.
    ends: Vec<u32>,
    /// What is around its definition.
    nest: Vec<Vec<u32>>,
    around: Vec<Scope>,
    task: Option<Task>,
    lives: Lives,
    made: Vec<(BufferId, ValueId, Option<Task>)>,
    /// What values are computed from, by operations through which the compiler moves conversions.
    computed_from: Vec<Vec<ValueId>>,
    /// The last operation of the loop whose result a value is.
    behind_loop: Vec<Option<u32>>,
    /// The second is the memory of the first.
    aliases: Vec<(ValueId, ValueId, Tie)>,
    constants: Vec<bool>,
    /// Values that an operation is given.
    used: Vec<bool>,
    compiler: Compiler,
    /// Numbers of the operations that run tasks.
    specialized: Vec<u32>,
    /// What descriptors store from, and when.
    stored: Vec<(u32, ValueId)>,
    waits: Vec<u32>,
}

/// A loop or a group of tasks: what is live into it lives to its end.
struct Scope {
    id: u32,
    used: Vec<ValueId>,
}

/// Which values are given to an operation.
fn used(program: &Program) -> Vec<bool> {
    let mut used = vec![false; program.types.len()];
    program.body.each(&mut |op| {
        for operand in &op.operands {
            used[operand.0 as usize] = true;
        }
    });
    used
}

impl Numbers<'_> {
    fn used(&self, op: &Op) -> bool {
        op.results.iter().any(|result| self.used[result.0 as usize])
    }

    fn number(&mut self, at: Site) -> u32 {
        work::spend(1);
        self.lives.sites.push(at);
        self.lives.sites.len() as u32 - 1
    }

    /// The number of the operation that comes next.
    fn next(&self) -> u32 {
        self.lives.sites.len() as u32
    }

    fn define(&mut self, value: ValueId, at: u32) {
        let i = value.0 as usize;
        if self.defined[i].is_none() {
            self.defined[i] = Some(at);
            self.ends[i] = at;
            self.nest[i] = self.around.iter().map(|scope| scope.id).collect();
        }
    }

    fn use_(&mut self, value: ValueId, at: u32) {
        let i = value.0 as usize;
        self.ends[i] = self.ends[i].max(at);
        let nest = &self.nest[i];
        for scope in &mut self.around {
            if !nest.contains(&scope.id) {
                scope.used.push(value);
            }
        }
    }

    fn enter(&mut self) {
        let id = self.next();
        self.around.push(Scope { id, used: Vec::new() });
    }

    /// What was live into the innermost scope lives to `at`.
    fn leave(&mut self, at: u32) {
        let Some(scope) = self.around.pop() else { return };
        for value in scope.used {
            let end = &mut self.ends[value.0 as usize];
            *end = (*end).max(at);
        }
    }

    fn alias(&mut self, of: ValueId, is: ValueId) {
        self.aliases.push((of, is, Tie::Argument));
    }

    fn block(&mut self, block: &Block) {
        for op in &block.ops {
            self.op(op);
        }
    }

    /// Numbers a block whose last operation hands its operands on. Returns the number of that.
    fn ending(&mut self, block: &Block) -> u32 {
        self.block(block);
        self.next().saturating_sub(1)
    }

    fn op(&mut self, op: &Op) {
        match &op.kind {
            Kind::If { then, otherwise } => self.branch(op, then, otherwise),
            Kind::For { bounds, body, .. } => self.for_loop(op, *bounds, body),
            Kind::While { condition, body } => self.while_loop(op, condition, body),
            Kind::Specialize { default, tasks } => self.specialize(op, default, tasks),
            Kind::Call { body } => self.call(op, body),
            _ => {
                let at = self.number(op.at);
                for &operand in &op.operands {
                    self.use_(operand, at);
                }
                let is_passed = op.effect == Effect::None && matches!(op.kind, Kind::Plain | Kind::View);
                for &result in &op.results {
                    self.define(result, at);
                    if is_passed || op.name == "convert_layout" {
                        self.computed_from[result.0 as usize] = op.operands.clone();
                    }
                }
                self.leaf(op, at);
            }
        }
    }

    /// Where else a conversion may be done: behind anything that what it is given is computed from.
    fn elsewhere(&self, op: &Op, scratch: ScratchId) -> Vec<u32> {
        if !self.program.scratch[scratch.0 as usize].moves {
            return Vec::new();
        }
        let mut seen: Vec<ValueId> = op.operands.clone();
        let mut at = 0;
        while let Some(value) = seen.get(at).copied().filter(|_| seen.len() < MOST_PLACES) {
            work::spend(1);
            for &from in &self.computed_from[value.0 as usize] {
                if self.program.types[from.0 as usize] == Type::Tensor && !seen.contains(&from) {
                    seen.push(from);
                }
            }
            at += 1;
        }
        let behind = |value: &ValueId| {
            let at = self.behind_loop[value.0 as usize].or(self.defined[value.0 as usize])?;
            Some(at + 1)
        };
        let mut places: Vec<u32> = seen.iter().filter_map(behind).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    fn leaf(&mut self, op: &Op, at: u32) {
        match op.name {
            "async_descriptor_store" | "tma.async_store" => {
                self.stored.extend(op.operands.iter().map(|&value| (at, value)))
            }
            "async_descriptor_store_wait" | "tma.store_wait" => self.waits.push(at),
            _ => {}
        }
        match &op.kind {
            Kind::Constant => {
                for result in &op.results {
                    self.constants[result.0 as usize] = true;
                }
            }
            Kind::View | Kind::ShortView => {
                let tie = if matches!(op.kind, Kind::View) { Tie::View } else { Tie::Slice };
                for &result in &op.results {
                    for &operand in &op.operands {
                        self.aliases.push((operand, result, tie));
                    }
                }
            }
            Kind::Allocation(buffer) => {
                if let Some(&result) = op.results.first() {
                    self.lives.order.push(*buffer);
                    self.made.push((*buffer, result, self.task));
                }
            }
            Kind::Scratch(scratch) => {
                if self.program.scratch[scratch.0 as usize].only_if_used && !self.used(op) {
                    return;
                }
                let life = Life { range: LiveRange { start: at, end: at + 1 }, task: self.task };
                let what = Hidden::Scratch(*scratch);
                let elsewhere = self.elsewhere(op, *scratch);
                self.lives.scratch.push((Scratched { what, op: op.name, at: op.at, elsewhere }, life));
            }
            _ => {}
        }
    }

    fn branch(&mut self, op: &Op, then: &Block, otherwise: &Block) {
        let at = self.number(op.at);
        for &operand in &op.operands {
            self.use_(operand, at);
        }
        self.block(then);
        self.block(otherwise);
        let join = self.number(op.at);
        for (i, &result) in op.results.iter().enumerate() {
            self.define(result, join);
            for block in [then, otherwise] {
                if let Some(&value) = block.ops.last().and_then(|last| last.operands.get(i)) {
                    self.alias(value, result);
                }
            }
        }
    }

    fn for_loop(&mut self, op: &Op, bounds: usize, body: &Block) {
        let before = self.number(op.at);
        for &operand in &op.operands {
            self.use_(operand, before);
        }
        self.enter();
        // The bound and the step are looked at in each round.
        let head = self.number(op.at);
        for &bound in &op.operands[..bounds.min(op.operands.len())] {
            self.use_(bound, head);
        }
        for &param in &body.params {
            self.define(param, head);
        }
        let carried = body.params.get(1..).unwrap_or_default();
        for (&param, &start) in carried.iter().zip(op.operands.get(bounds..).unwrap_or_default()) {
            self.alias(start, param);
        }
        let last = self.ending(body);
        self.leave(last);
        self.carried(op, carried, body, head);
    }

    /// What comes out of a loop is what its head was given last.
    fn carried(&mut self, op: &Op, carried: &[ValueId], body: &Block, head: u32) {
        let last = self.next().saturating_sub(1);
        for &result in &op.results {
            self.behind_loop[result.0 as usize] = Some(last);
        }
        if let Some(last) = body.ops.last() {
            for (&param, &next) in carried.iter().zip(&last.operands) {
                self.alias(next, param);
            }
        }
        for (&param, &result) in carried.iter().zip(&op.results) {
            self.define(result, head);
            self.alias(param, result);
        }
    }

    fn while_loop(&mut self, op: &Op, condition: &Block, body: &Block) {
        let before = self.number(op.at);
        for &operand in &op.operands {
            self.use_(operand, before);
        }
        self.enter();
        let head = self.next();
        for &param in &condition.params {
            self.define(param, head);
        }
        for (&param, &start) in condition.params.iter().zip(&op.operands) {
            self.alias(start, param);
        }
        self.block(condition);
        let last = self.ending(body);
        self.leave(last);
        self.carried(op, &condition.params, body, head);
    }

    fn specialize(&mut self, op: &Op, default: &Block, tasks: &[super::program::Task]) {
        let group = self.groups;
        self.groups += 1;
        let around = self.task;
        // What several tasks are given is there once.
        let given: BTreeSet<ValueId> = op.operands.iter().copied().collect();
        let captured = given.iter().filter(|operand| !self.constants[operand.0 as usize]);
        let captured: u64 = captured.map(|operand| self.program.types[operand.0 as usize].captured_bytes()).sum();
        // It stands before what is in it, though it is numbered after that.
        let captures = self.lives.scratch.len();
        if captured > 0 {
            let what = Hidden::Captures(captured);
            let life = Life { range: LiveRange { start: 0, end: 0 }, task: around };
            self.lives.scratch.push((Scratched { what, op: op.name, at: op.at, elsewhere: Vec::new() }, life));
        }
        self.enter();
        self.task = Some(Task { group, region: 0 });
        self.block(default);
        for (i, task) in tasks.iter().enumerate() {
            self.task = Some(Task { group, region: i as u32 + 1 });
            let start = self.next();
            for &param in &task.body.params {
                self.define(param, start);
            }
            for (&operand, &param) in op.operands.iter().zip(&task.body.params) {
                self.alias(operand, param);
            }
            self.block(&task.body);
        }
        self.task = around;
        let at = self.number(op.at);
        self.specialized.push(at);
        self.leave(at);
        for &operand in &op.operands {
            self.use_(operand, at);
        }
        for &result in &op.results {
            self.define(result, at);
        }
        if captured > 0 {
            self.lives.scratch[captures].1.range = LiveRange { start: at, end: at + 1 };
        }
        let warps: u64 = tasks.iter().map(|task| task.warps).sum();
        self.lives.warp_states = self.lives.warp_states.max(warps);
    }

    fn call(&mut self, op: &Op, body: &Block) {
        let lives = lives_in(self.program, body, self.compiler);
        let first = self.next();
        self.lives.sites.extend(&lives.sites);
        let at = self.number(op.at);
        for &operand in &op.operands {
            self.use_(operand, at);
        }
        for &result in &op.results {
            self.define(result, at);
        }
        let life = Life { range: LiveRange { start: at, end: at + 1 }, task: self.task };
        self.lives.calls.push(Call { lives, first, life });
    }

    fn finish(mut self) -> Lives {
        let values = self.program.types.len();
        let mut of: Vec<Vec<(ValueId, Tie)>> = vec![Vec::new(); values];
        for &(base, view, tie) in &self.aliases {
            of[base.0 as usize].push((view, tie));
        }
        for (buffer, value, task) in std::mem::take(&mut self.made) {
            let is_shared = matches!(self.program.buffers[buffer.0 as usize].memory, Memory::Shared { .. });
            let mut seen = vec![value];
            let mut at = 0;
            while at < seen.len() {
                work::spend(1);
                for &(view, tie) in &of[seen[at].0 as usize] {
                    if (is_shared || tie == Tie::View) && !seen.contains(&view) {
                        seen.push(view);
                    }
                }
                at += 1;
            }
            let starts = seen.iter().filter_map(|value| self.defined[value.0 as usize]);
            let start = starts.min().unwrap_or(0);
            let end = seen.iter().map(|value| self.ends[value.0 as usize]).max().unwrap_or(0) + 1;
            let mut range = LiveRange { start, end };
            if self.compiler.is_fork() {
                range = self.prolonged(range, &seen, self.program.buffers[buffer.0 as usize].use_);
            }
            if let Some(life) = self.lives.buffers.get_mut(buffer.0 as usize) {
                *life = Some(Life { range, task });
            }
        }
        if self.compiler.is_fork() {
            for (scratched, life) in &mut self.lives.scratch {
                if matches!(scratched.what, Hidden::Captures(_)) {
                    life.range = LiveRange::ALWAYS;
                }
            }
            if self.specialized.len() < 2 {
                self.lives.warp_states = 0;
            }
        }
        self.lives
    }

    /// How long the fork keeps a buffer that has these values.
    fn prolonged(&self, range: LiveRange, values: &[ValueId], use_: Use) -> LiveRange {
        if use_ == Use::Barrier {
            return LiveRange::ALWAYS;
        }
        let mut range = range;
        for &(at, value) in &self.stored {
            if values.contains(&value) {
                let wait = self.waits.iter().copied().filter(|&wait| wait > at).min();
                range.end = range.end.max(wait.unwrap_or(self.next()) + 1);
            }
        }
        if self.specialized.iter().any(|&tasks| range.start < tasks && tasks < range.end) {
            range.start = 0;
        }
        range
    }
}

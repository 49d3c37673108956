//! First values of loops that are read after the loop has overwritten them.
//!
//! The compiler puts what a loop carries where its first value is, and writes each next value there: in place where it can, else by a
//! copy before the `yield`. It keeps the bytes for as long as either is read, but never asks whether the first value is needed once
//! the next one stands there (MaterializeSemanticAliases looks for readers only up to the end of the loop's body). No planner fixes that.
//!
//! What is found is certain where the loop runs: of two things that depend on conditions nothing is said.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;
use tilefit_python::finding::{Finding, Related};

use crate::ir::{Call, Carry, For, Kernel, Operand, Stmt, Value, VarId, visit};
use crate::memory::bases::{Bases, Offset};
use crate::memory::carried;
use crate::ops::{Effect, OpId};
use crate::target::Space;

pub(super) fn check(kernel: &Kernel, bases: &Bases, address: &dyn Fn(VarId) -> Option<u64>) -> Vec<Finding> {
    let mut carries_tiles = false;
    visit::statements(&kernel.body, &mut |stmt| {
        let is_tile = |carry: &Carry| kernel.tile(carry.iter).is_some();
        carries_tiles |= matches!(stmt, Stmt::For(node) if node.carries.iter().any(is_tile));
    });
    // This is an error: a statement that is not modelled may copy the first value, and then nothing is wrong.
    if !carries_tiles || !kernel.notes.is_empty() {
        return Vec::new();
    }
    let mut flow = DataFlow::default();
    flow.block(&kernel.body, 0);
    let check = Check { kernel, bases, address, flow };
    let carries = check.flow.loops.iter().flat_map(|at| at.node.carries.iter().enumerate().map(move |it| (at, it)));
    carries.filter_map(|(at, (slot, carry))| check.carry(at, slot, carry)).collect()
}

/// A list of statements.
struct Block {
    /// The list that its loop or branch stands in.
    parent: Option<usize>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Kernel,
    /// The body of a loop, and how often it runs where that is constant.
    Loop(Option<u64>),
    Branch,
}

struct At<'k> {
    node: &'k For,
    /// The list that it stands in.
    block: usize,
    body: usize,
    /// Numbers of the first statement and after the last one.
    start: usize,
    end: usize,
}

/// Of a tile: the statement, the list that it stands in, and the node.
#[derive(Clone, Copy)]
struct Read {
    var: VarId,
    number: usize,
    block: usize,
    at: Origin,
}

/// Where the statements of a kernel stand, and what they read.
#[derive(Default)]
struct DataFlow<'k> {
    blocks: Vec<Block>,
    loops: Vec<At<'k>>,
    values: FxHashMap<VarId, &'k Value>,
    /// The list in which a variable comes about.
    defining_blocks: FxHashMap<VarId, usize>,
    /// What a variable is another name or a view of.
    names: FxHashMap<VarId, VarId>,
    /// The other way round.
    named: FxHashMap<VarId, Vec<VarId>>,
    /// Reads of the data, those by names and views not counted.
    reads: FxHashMap<VarId, Vec<Read>>,
    /// The loop that begins with a variable, and with which of its carries.
    begins: FxHashMap<VarId, Vec<(usize, usize)>>,
    /// The loop, or the values of the branches, that a result is of.
    loop_results: FxHashMap<VarId, (usize, usize)>,
    branch_results: FxHashMap<VarId, [Option<VarId>; 2]>,
    /// Numbers grow in the order of the text, so those of a loop's body lie between its `start` and its `end`.
    next: usize,
}

impl<'k> DataFlow<'k> {
    fn enter(&mut self, parent: usize, kind: Kind) -> usize {
        self.blocks.push(Block { parent: Some(parent), kind });
        self.blocks.len() - 1
    }

    fn block(&mut self, stmts: &'k [Stmt], block: usize) {
        if self.blocks.is_empty() {
            self.blocks.push(Block { parent: None, kind: Kind::Kernel });
        }
        for stmt in stmts {
            let number = self.next;
            self.next += 1;
            match stmt {
                Stmt::Let { var, value, .. } => {
                    self.defining_blocks.insert(*var, block);
                    self.values.insert(*var, value);
                    match (name_of(value), value) {
                        (Some(of), _) => {
                            self.names.insert(*var, of);
                            self.named.entry(of).or_default().push(*var);
                        }
                        (None, Value::Call(call)) => self.call(call, block, number),
                        _ => {}
                    }
                }
                Stmt::Eval { call, .. } => self.call(call, block, number),
                Stmt::For(node) => self.repeat(node, block, number),
                // Nothing writes the carries of a `while` in place, so it is no loop to look at; reads in its body count.
                Stmt::While(node) => {
                    let body = self.enter(block, Kind::Loop(None));
                    node.carries.iter().for_each(|carry| {
                        self.defining_blocks.insert(carry.iter, body);
                        self.defining_blocks.insert(carry.result, block);
                    });
                    self.block(&node.body, body);
                }
                Stmt::If(node) => {
                    for stmts in [&node.then, &node.otherwise] {
                        let branch = self.enter(block, Kind::Branch);
                        self.block(stmts, branch);
                    }
                    for (slot, result) in node.results.iter().enumerate() {
                        self.defining_blocks.insert(*result, block);
                        self.branch_results.insert(*result, node.choices(slot));
                    }
                }
                Stmt::Yield { .. } | Stmt::Return { .. } | Stmt::Break(_) | Stmt::Continue(_) => {}
            }
        }
    }

    fn repeat(&mut self, node: &'k For, block: usize, start: usize) {
        let body = self.enter(block, Kind::Loop(node.trip_count().map(i64::unsigned_abs)));
        let index = self.loops.len();
        self.loops.push(At { node, block, body, start, end: start });
        for (slot, carry) in node.carries.iter().enumerate() {
            self.defining_blocks.insert(carry.iter, body);
            self.defining_blocks.insert(carry.result, block);
            self.loop_results.insert(carry.result, (index, slot));
            if let Some(init) = carry.init.var() {
                self.begins.entry(init).or_default().push((index, slot));
            }
        }
        self.block(&node.body, body);
        self.loops[index].end = self.next;
    }

    fn call(&mut self, call: &'k Call, block: usize, number: usize) {
        let op = call.op.op();
        for (index, operand) in call.args.iter().enumerate() {
            let is_written = |(operand, effect): &(u8, Effect)| *operand as usize == index && *effect == Effect::Write;
            // What an operation writes a part of may be read by it or not.
            let is_target = op.args.get(index) == Some(&"target") || op.effects.iter().any(is_written);
            if is_target || op.scratch.iter().any(|scratch| *scratch as usize == index) {
                continue;
            }
            if let Some(var) = operand.var() {
                self.reads.entry(var).or_default().push(Read { var, number, block, at: call.origin });
            }
        }
    }

    /// Whether control is in a list of statements whenever it is in `around`.
    fn is_certain(&self, mut block: usize, around: usize) -> bool {
        while block != around {
            match (self.blocks[block].kind, self.blocks[block].parent) {
                // A loop whose count is not known passes: what is found is certain where the loop runs.
                (Kind::Branch | Kind::Loop(Some(0)), _) | (_, None) => return false,
                (_, Some(parent)) => block = parent,
            }
        }
        true
    }

    fn is_within(&self, mut block: usize, around: usize) -> bool {
        while block != around {
            match self.blocks[block].parent {
                Some(parent) => block = parent,
                None => return false,
            }
        }
        true
    }

    /// The innermost list around both.
    fn common(&self, a: usize, b: usize) -> usize {
        let mut around = a;
        while !self.is_within(b, around) {
            around = self.blocks[around].parent.unwrap_or(0);
        }
        around
    }
}

/// What a value is another name or a view of, without bytes of its own.
fn name_of(value: &Value) -> Option<VarId> {
    match value {
        Value::Copy(var) => Some(*var),
        // `assemble` writes a part: its result is other data in the same bytes.
        Value::Call(call) if call.op != OpId::ASSEMBLE => call.args.get(call.op.op().view_of? as usize)?.var(),
        _ => None,
    }
}

/// What a call only repeats: the larger or smaller of a tile and itself.
fn unchanged(call: &Call) -> Option<VarId> {
    let [one, other] = call.args.as_slice() else { return None };
    let is_choice = matches!(call.op, OpId::MAXIMUM | OpId::MINIMUM);
    one.var().filter(|var| is_choice && other.var() == Some(*var))
}

struct Check<'a, 'k> {
    kernel: &'a Kernel,
    bases: &'a Bases,
    address: &'a dyn Fn(VarId) -> Option<u64>,
    flow: DataFlow<'k>,
}

impl Check<'_, '_> {
    fn carry(&self, at: &At, slot: usize, carry: &Carry) -> Option<Finding> {
        let trips = at.node.trip_count().map(i64::unsigned_abs);
        let init = carry.init.var().filter(|init| self.kernel.tile(*init).is_some())?;
        if trips == Some(0) || self.kernel.var(init).inserted.is_some() || !self.holds_data(init) {
            return None;
        }
        let memory = self.bases.get(init)?;
        if self.bases.get(carry.iter)?.base != memory.base {
            return None;
        }
        let same = self.same_bytes(init);
        let next = visit::yielded(&at.node.body).get(slot)?.var()?;
        // The next value reaches these bytes by a copy before the `yield`, or is made there.
        let is_copied = carried::own_var(self.kernel, Some(&carry.init)).is_some();
        let is_there = self.bases.get(next).is_some_and(|next| next.base == memory.base);
        if !(is_copied || is_there) || !self.is_new(next, &same, &self.same_bytes(carry.iter)) {
            return None;
        }
        let mut found: Vec<Read> = same.iter().flat_map(|var| self.reads_of(*var)).collect();
        found.retain(|read| self.comes_too_late(at, trips, init, read));
        // A read after the loop first: there the mistake is plainest.
        found.sort_by_key(|read| (read.number < at.end, read.number));
        self.finding(at, carry, init, found.first()?)
    }

    /// Whether what a tile holds was ever written: memory that was only created says nothing.
    fn holds_data(&self, var: VarId) -> bool {
        match self.flow.values.get(&self.root(var)) {
            Some(Value::Call(call)) => call.op != OpId::CREATE,
            _ => true,
        }
    }

    fn root(&self, mut var: VarId) -> VarId {
        for _ in 0..self.kernel.vars.len() {
            match self.flow.names.get(&var) {
                Some(of) => var = *of,
                None => break,
            }
        }
        var
    }

    /// The names and views of a tile's bytes. Those that only may be, are not among them.
    fn same_bytes(&self, var: VarId) -> FxHashSet<VarId> {
        let Some(memory) = self.bases.get(var) else { return FxHashSet::from_iter([var]) };
        let range = |var: VarId| match self.bases.get(var)? {
            at if at.base != memory.base => None,
            at => match at.offset {
                Offset::Known(from) => Some((from, from.saturating_add(at.size))),
                Offset::Dynamic => None,
            },
        };
        let Some((from, to)) = range(var) else { return FxHashSet::from_iter([var]) };
        let (mut all, mut open) = (FxHashSet::default(), vec![self.root(var)]);
        while let Some(next) = open.pop() {
            if all.insert(next) {
                open.extend(self.flow.named.get(&next).into_iter().flatten());
            }
        }
        all.retain(|other| *other == var || range(*other).is_some_and(|(start, end)| start < to && from < end));
        all
    }

    /// Whether a value is another one than its loop began the iteration with, whatever the branches on the way.
    fn is_new(&self, var: VarId, init: &FxHashSet<VarId>, iter: &FxHashSet<VarId>) -> bool {
        let mut open = vec![var];
        // Each is an inner statement's or an earlier one's.
        for _ in 0..self.kernel.vars.len() {
            let Some(var) = open.pop() else { return true };
            if init.contains(&var) || iter.contains(&var) {
                return false;
            }
            if let Some(of) = self.flow.names.get(&var) {
                open.push(*of);
            } else if let Some(values) = self.flow.branch_results.get(&var) {
                let [Some(then), Some(otherwise)] = values else { return false };
                open.extend([*then, *otherwise]);
            } else if let Some(&(inner, slot)) = self.flow.loop_results.get(&var) {
                let node = self.flow.loops[inner].node;
                let carry = &node.carries[slot];
                let next = visit::yielded(&node.body).get(slot).and_then(Operand::var);
                let Some(next) = next.filter(|_| node.trip_count() != Some(0)) else { return false };
                let (init, iter) = (carry.init.var().map(|init| self.same_bytes(init)), self.same_bytes(carry.iter));
                if !self.is_new(next, &init.unwrap_or_default(), &iter) {
                    return false;
                }
            } else {
                match self.flow.values.get(&var) {
                    Some(Value::Call(call)) if let Some(of) = unchanged(call) => open.push(of),
                    Some(_) => {}
                    None => return false,
                }
            }
        }
        open.is_empty()
    }

    /// Where the data of a variable is read, also by the loops that begin with it.
    fn reads_of(&self, var: VarId) -> Vec<Read> {
        let mut found = self.flow.reads.get(&var).cloned().unwrap_or_default();
        for &(index, slot) in self.flow.begins.get(&var).into_iter().flatten() {
            let at = &self.flow.loops[index];
            let iter = at.node.carries[slot].iter;
            // What begins with `iter` is a loop further inside, so this ends.
            let names = self.same_bytes(iter);
            if at.node.trip_count() == Some(0) {
                continue;
            }
            let reads = names.iter().flat_map(|name| self.reads_of(*name));
            let first = reads.filter(|read| self.flow.is_certain(read.block, at.body)).min_by_key(|read| read.number);
            found.extend(first.map(|read| Read { var: iter, number: at.start, block: at.block, at: read.at }));
        }
        found
    }

    /// Whether a read of the first value, wherever it stands, happens when the loop has overwritten it.
    fn comes_too_late(&self, at: &At, trips: Option<u64>, init: VarId, read: &Read) -> bool {
        let flow = &self.flow;
        if at.start < read.number && read.number < at.end {
            // In the next iteration.
            return trips != Some(1) && flow.is_certain(read.block, at.body);
        }
        let around = flow.common(at.block, read.block);
        if read.number >= at.end {
            // If both depend on conditions, these may exclude each other.
            return flow.is_certain(at.block, around) || flow.is_certain(read.block, around);
        }
        // Before the loop, or by the loop itself: in the next iteration of a loop around both.
        let defining_block = flow.defining_blocks.get(&init).copied().unwrap_or(0);
        let mut outer = around;
        while outer != defining_block {
            let Block { parent: Some(parent), kind } = flow.blocks[outer] else { return false };
            let repeats = matches!(kind, Kind::Loop(trips) if trips.is_none_or(|trips| trips > 1));
            if repeats && flow.is_certain(at.block, outer) && flow.is_certain(read.block, outer) {
                return true;
            }
            outer = parent;
        }
        false
    }

    fn finding(&self, at: &At, carry: &Carry, init: VarId, read: &Read) -> Option<Finding> {
        let memory = self.bases.get(init)?;
        let (first, carried) = (&self.kernel.var(init).name, &self.kernel.var(carry.iter).name);
        let space = self.bases.base(memory.base).space;
        let place = match (self.address)(init) {
            Some(from) => format!("at {space} {from:#x}..{:#x}", from.saturating_add(memory.size)),
            None => format!("in {space}"),
        };
        let when = if read.number >= at.end {
            "after the loop, which has overwritten it"
        } else if read.number > at.start {
            "in each iteration, but the first one overwrites it"
        } else {
            "again by the enclosing loop, after it was overwritten"
        };
        let copy = format!("pl.move({first}, target_memory=pl.Mem.{space})");
        let way_out = match (space, carry.explicit) {
            (Space::Vec, true) => format!("start the loop with a copy, `init_values=({copy},)`"),
            (Space::Vec, false) => format!("start the loop with a copy, `{carried} = {copy}`"),
            _ => "read it before the loop".to_owned(),
        };
        let named = match read.var == init {
            true => format!("`{first}`"),
            false => format!("`{first}`, as `{}`,", self.kernel.var(read.var).name),
        };
        let message =
            format!("{named} is read {when}: the compiler keeps `{carried}` in the same bytes ({place}); {way_out}");
        let code = Code::InitOverwritten;
        let related = vec![
            Related { at: self.kernel.var(init).origin, message: format!("`{first}` is written here") },
            Related {
                at: self.kernel.var(carry.iter).origin,
                message: format!("the loop starts with it as `{carried}`"),
            },
        ];
        Some(Finding::new(code, read.at, message).with_related(related))
    }
}

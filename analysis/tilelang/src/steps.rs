//! The statements of a launch as the passes move them about: each with what it touches, itself and all that it contains.

use std::collections::BTreeSet;
use std::rc::Rc;

use tilefit_python::finding::Origin;
use tilefit_python::work;

use crate::program::{Branch, BufferId, Extent, Kind, Launch, Loop, Op, Region, Scope, Statement};

pub(crate) type Steps<'p> = Vec<Rc<Step<'p>>>;

#[derive(Debug)]
pub(crate) struct Step<'p> {
    pub form: Form<'p>,
    pub touched: Touched,
}

#[derive(Debug)]
pub(crate) enum Form<'p> {
    Op(Numbered<'p>),
    Loop(Repeat<'p>),
    If(Guard<'p>),
    /// What two groups of warps do beside each other: the copies of a pipelined loop, and what uses them.
    Roles {
        producer: Steps<'p>,
        consumer: Steps<'p>,
    },
}

/// A statement that contains none. Copies of it keep its number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbered<'p> {
    pub number: usize,
    pub op: &'p Op,
}

#[derive(Debug, Clone)]
pub(crate) struct Repeat<'p> {
    /// Of the loop in the source.
    pub number: usize,
    pub of: &'p Loop,
    /// `num_stages`, unless a pass has dropped it.
    pub stages: u64,
    pub is_written: bool,
    /// Of the producer or the consumer: with barriers in its body.
    pub is_of_roles: bool,
    pub body: Steps<'p>,
}

#[derive(Debug, Clone)]
pub(crate) struct Guard<'p> {
    /// `None`: the one that lets only the consumers in.
    pub of: Option<&'p Branch>,
    pub then: Steps<'p>,
    pub otherwise: Steps<'p>,
}

/// Buffers of any memory that are read and written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    pub reads: BTreeSet<BufferId>,
    pub writes: BTreeSet<BufferId>,
    /// What the compiler takes for reads where it looks for single elements: also tiles that an operation writes, which are named by their
    /// first element.
    pub seen: BTreeSet<BufferId>,
}

impl Touched {
    pub(crate) fn all(&self) -> impl Iterator<Item = BufferId> + '_ {
        self.reads.union(&self.writes).copied()
    }

    pub(crate) fn has(&self, buffer: BufferId) -> bool {
        self.reads.contains(&buffer) || self.writes.contains(&buffer)
    }

    fn add(&mut self, steps: &[Rc<Step>]) {
        for step in steps {
            self.reads.extend(&step.touched.reads);
            self.writes.extend(&step.touched.writes);
            self.seen.extend(&step.touched.seen);
        }
    }
}

impl<'p> Step<'p> {
    pub(crate) fn new(form: Form<'p>) -> Rc<Step<'p>> {
        work::spend(1);
        let ids = |regions: &[Region]| -> BTreeSet<BufferId> { regions.iter().map(|region| region.buffer).collect() };
        let mut touched = Touched::default();
        match &form {
            Form::Op(Numbered { op, .. }) => {
                let (reads, writes) = (ids(&op.reads), ids(&op.writes));
                let seen = if op.is_by_element() { reads.clone() } else { &reads | &writes };
                touched = Touched { reads, writes, seen };
            }
            Form::Loop(repeat) => touched.add(&repeat.body),
            Form::If(guard) => {
                touched.reads = guard.of.map(|branch| ids(&branch.reads)).unwrap_or_default();
                touched.seen = touched.reads.clone();
                touched.add(&guard.then);
                touched.add(&guard.otherwise);
            }
            Form::Roles { producer, consumer } => {
                touched.add(producer);
                touched.add(consumer);
            }
        }
        Rc::new(Step { form, touched })
    }

    pub(crate) fn op(&self) -> Option<&'p Op> {
        match &self.form {
            Form::Op(numbered) => Some(numbered.op),
            _ => None,
        }
    }

    /// All statements in it that contain none, in source order.
    pub(crate) fn ops(&self) -> Vec<Numbered<'p>> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect(&self, found: &mut Vec<Numbered<'p>>) {
        work::spend(1);
        match &self.form {
            Form::Op(numbered) => found.push(*numbered),
            form => form.parts().into_iter().flatten().for_each(|step| step.collect(found)),
        }
    }

    /// Where a buffer is touched in it first and last.
    pub(crate) fn places(&self, buffer: BufferId) -> Option<(Origin, Origin)> {
        if !self.touched.has(buffer) {
            return None;
        }
        work::spend(1);
        if let Form::Op(Numbered { op, .. }) = &self.form {
            return Some((op.at, op.at));
        }
        let inside = self.form.parts().into_iter().flatten().filter_map(|step| step.places(buffer));
        let inside = inside.reduce(|first, last| (first.0, last.1));
        match &self.form {
            Form::If(Guard { of: Some(branch), .. }) => {
                let is_in_condition = branch.reads.iter().any(|region| region.buffer == buffer);
                let condition = is_in_condition.then_some((branch.at, branch.at));
                condition.into_iter().chain(inside).reduce(|first, last| (first.0, last.1))
            }
            _ => inside,
        }
    }
}

impl<'p> Form<'p> {
    /// The statements that it contains.
    pub(crate) fn parts(&self) -> [&[Rc<Step<'p>>]; 2] {
        match self {
            Form::Op(_) => [&[], &[]],
            Form::Loop(repeat) => [&repeat.body, &[]],
            Form::If(guard) => [&guard.then, &guard.otherwise],
            Form::Roles { producer, consumer } => [producer, consumer],
        }
    }
}

/// The statements of a launch.
pub(crate) fn steps(launch: &Launch) -> Steps<'_> {
    Numbering::default().steps(&launch.body)
}

#[derive(Default)]
struct Numbering {
    next: usize,
}

impl Numbering {
    fn number(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    fn steps<'p>(&mut self, body: &'p [Statement]) -> Steps<'p> {
        let mut steps = Vec::with_capacity(body.len());
        for statement in body {
            match statement {
                Statement::Op(op) => steps.push(Step::new(Form::Op(Numbered { number: self.number(), op }))),
                Statement::Branch(branch) => {
                    let (then, otherwise) = (self.steps(&branch.then), self.steps(&branch.otherwise));
                    steps.push(Step::new(Form::If(Guard { of: Some(branch), then, otherwise })));
                }
                Statement::Loop(of) => {
                    let number = self.number();
                    let body = self.steps(&of.body);
                    let is_written = of.written.is_some();
                    let repeat = Repeat { number, of, stages: of.stages, is_written, is_of_roles: false, body };
                    steps.push(Step::new(Form::Loop(repeat)));
                }
            }
        }
        steps
    }
}

impl Repeat<'_> {
    fn is_pipelined(&self) -> bool {
        self.stages > 0 || self.is_written
    }
}

/// A loop of one iteration is its body, and one of none is nothing (docs/reference/tilelang.md, "1. What a front end must evaluate"); explicitly
/// unrolled loops are copies of their bodies, and an `if` without `else` is one around each of its statements
/// (docs/reference/tilelang.md, "3. Versions (number of copies of a buffer)"). `most`: of statements that there may be, or the loop stays.
pub(crate) fn spread<'p>(steps: &[Rc<Step<'p>>], most: &mut Budget) -> Steps<'p> {
    let mut spread_out = Vec::with_capacity(steps.len());
    for step in steps {
        match &step.form {
            Form::Op(_) => spread_out.push(step.clone()),
            Form::Loop(repeat) => {
                let body = spread(&repeat.body, most);
                match repeat.of.extent {
                    Extent::Known(0) => {}
                    Extent::Known(1) if !repeat.is_pipelined() && !repeat.is_of_roles => spread_out.extend(body),
                    Extent::Known(times) if repeat.of.is_explicitly_unrolled && most.take(times, body.len()) => {
                        (0..times).for_each(|_| spread_out.extend(body.iter().cloned()));
                    }
                    _ => spread_out.push(Step::new(Form::Loop(Repeat { body, ..repeat.clone() }))),
                }
            }
            Form::If(guard) if guard.otherwise.is_empty() => {
                let each = spread(&guard.then, most).into_iter();
                spread_out.extend(
                    each.map(|step| {
                        Step::new(Form::If(Guard { of: guard.of, then: vec![step], otherwise: Vec::new() }))
                    }),
                );
            }
            Form::If(guard) => {
                let (then, otherwise) = (spread(&guard.then, most), spread(&guard.otherwise, most));
                spread_out.push(Step::new(Form::If(Guard { of: guard.of, then, otherwise })));
            }
            Form::Roles { producer, consumer } => {
                let (producer, consumer) = (spread(producer, most), spread(consumer, most));
                spread_out.push(Step::new(Form::Roles { producer, consumer }));
            }
        }
    }
    spread_out
}

/// Copies of statements that may still be made.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
    /// Some were not.
    pub is_spent: bool,
}

impl Budget {
    /// More than any kernel has that somebody means.
    pub(crate) const STATEMENTS: Budget = Budget { left: 16_384, is_spent: false };

    pub(crate) fn take(&mut self, times: u64, statements: usize) -> bool {
        let count = times.checked_mul(statements as u64).filter(|&count| count <= self.left && times <= self.left);
        match count {
            Some(count) => self.left -= count.max(times),
            None => self.is_spent = true,
        }
        count.is_some()
    }
}

/// In memory that the compiler places.
pub(crate) fn is_placed(launch: &Launch, buffer: BufferId) -> bool {
    launch.buffer(buffer).scope == Scope::Shared
}

/// In shared memory, placed or not.
pub(crate) fn is_shared(launch: &Launch, buffer: BufferId) -> bool {
    matches!(launch.buffer(buffer).scope, Scope::Shared | Scope::StaticShared)
}

pub(crate) fn is_global(launch: &Launch, buffer: BufferId) -> bool {
    launch.buffer(buffer).scope == Scope::Global
}

/// Of each thread, or of all together, in registers.
pub(crate) fn is_private(launch: &Launch, buffer: BufferId) -> bool {
    matches!(launch.buffer(buffer).scope, Scope::Fragment | Scope::Local)
}

impl Op {
    /// A copy of tiles, in whatever way.
    pub(crate) fn is_copy(&self) -> bool {
        matches!(self.kind, Kind::Copy | Kind::AsyncCopy | Kind::TmaCopy)
    }

    /// It stores elements, and calls no operation on tiles.
    pub(crate) fn is_by_element(&self) -> bool {
        matches!(self.kind, Kind::Parallel { .. } | Kind::Store { .. })
    }

    /// A name that is given a value.
    pub(crate) fn is_binding(&self) -> bool {
        matches!(&self.kind, Kind::Other(name) if &**name == "bind")
    }
}

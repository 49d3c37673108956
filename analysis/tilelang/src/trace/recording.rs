//! What is written down of the primitive function that is followed: buffers, launches, statements.

use std::rc::Rc;
use std::sync::Arc;

use tilefit_python::finding::{Origin, Reason};

use super::Tracer;
use super::value::{Expr, LaunchSpec, Touch, Value, View};
use crate::program::{
    Branch, Buffer, BufferId, Extent, Kind, Launch, Loop, Op, Options, Region, Scope, Statement, Threads,
};

#[derive(Debug, Default)]
pub(super) struct Recording {
    /// Innermost last.
    open: Vec<Open>,
    /// Of what stands in no primitive function.
    notes: Vec<Reason>,
}

/// A primitive function that is followed.
#[derive(Debug)]
struct Open {
    name: Arc<str>,
    /// Of all its launches, each with the launch that it is allocated in.
    buffers: Vec<(Buffer, Option<usize>)>,
    launches: Vec<Launch>,
    current: Option<Current>,
    notes: Vec<Reason>,
}

/// A launch that is followed.
#[derive(Debug)]
struct Current {
    threads: Result<Vec<u64>, Reason>,
    pub spec: std::rc::Rc<LaunchSpec>,
    /// Statements of each body, innermost last.
    bodies: Vec<Vec<Statement>>,
    nest: Option<Nest>,
    /// Depth of branches.
    branches: u32,
    notes: Vec<Reason>,
}

/// A nest of `T.Parallel`, which is one statement.
#[derive(Debug)]
struct Nest {
    reads: Vec<Region>,
    writes: Vec<Region>,
    stores: bool,
    is_copy: bool,
}

impl Recording {
    pub(super) fn notes_mut(&mut self) -> &mut Vec<Reason> {
        match self.open.last_mut() {
            Some(Open { current: Some(current), .. }) => &mut current.notes,
            Some(open) => &mut open.notes,
            None => &mut self.notes,
        }
    }

    pub(super) fn take_notes(&mut self) -> Vec<Reason> {
        std::mem::take(&mut self.notes)
    }

    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn is_launched(&self) -> bool {
        self.current().is_some()
    }

    fn current(&self) -> Option<&Current> {
        self.open.last()?.current.as_ref()
    }

    fn current_mut(&mut self) -> Option<&mut Current> {
        self.open.last_mut()?.current.as_mut()
    }

    pub(super) fn spec(&self) -> Option<std::rc::Rc<LaunchSpec>> {
        self.current().map(|current| current.spec.clone())
    }

    pub(super) fn is_in_nest(&self) -> bool {
        self.current().is_some_and(|current| current.nest.is_some())
    }

    pub(super) fn start_function(&mut self, name: &str) {
        let (buffers, launches, notes) = (Vec::new(), Vec::new(), Vec::new());
        self.open.push(Open { name: name.into(), buffers, launches, current: None, notes });
    }

    pub(super) fn start_launch(&mut self, spec: std::rc::Rc<LaunchSpec>) {
        self.end_launch();
        let Some(open) = self.open.last_mut() else { return };
        let threads = spec.threads.clone();
        let current = Current { threads, spec, bodies: vec![Vec::new()], nest: None, branches: 0, notes: Vec::new() };
        open.current = Some(current);
    }

    pub(super) fn end_launch(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        let Some(mut current) = open.current.take() else { return };
        let body = current.bodies.drain(..).next().unwrap_or_default();
        if let Err(reason) = &current.threads
            && !current.notes.contains(reason)
        {
            current.notes.push(reason.clone());
        }
        open.launches.push(Launch {
            function: open.name.clone(),
            threads: current.threads.ok().map(|threads| threads.iter().product()),
            buffers: Vec::new(),
            body,
            options: Options::default(),
            unknown: current.notes,
        });
    }

    /// The launches, each with the buffers that it sees.
    pub(super) fn end_function(&mut self) -> Vec<Launch> {
        self.end_launch();
        let Some(open) = self.open.pop() else { return Vec::new() };
        let of_launch = |(index, mut launch): (usize, Launch)| {
            let mut touched = Vec::new();
            each_region(&launch.body, &mut |region| touched.push(region.buffer));
            let mut places = vec![None; open.buffers.len()];
            for (at, (buffer, home)) in open.buffers.iter().enumerate() {
                let is_seen = home.is_none_or(|home| home == index) || touched.contains(&BufferId(at as u32));
                if is_seen {
                    places[at] = Some(BufferId(launch.buffers.len() as u32));
                    launch.buffers.push(buffer.clone());
                }
            }
            each_region_mut(&mut launch.body, &mut |region| {
                if let Some(place) = places.get(region.buffer.0 as usize).copied().flatten() {
                    region.buffer = place;
                }
            });
            let inherited = open.notes.iter().filter(|note| !launch.unknown.contains(note)).cloned();
            launch.unknown = inherited.collect::<Vec<_>>().into_iter().chain(launch.unknown).collect();
            launch
        };
        open.launches.into_iter().enumerate().map(of_launch).collect()
    }

    pub(super) fn add(&mut self, buffer: Buffer) -> Option<BufferId> {
        let open = self.open.last_mut()?;
        let home = open.current.as_ref().map(|_| open.launches.len());
        open.buffers.push((buffer, home));
        Some(BufferId(open.buffers.len() as u32 - 1))
    }

    pub(super) fn buffer(&self, id: BufferId) -> Option<&Buffer> {
        self.open.last()?.buffers.get(id.0 as usize).map(|(buffer, _)| buffer)
    }

    pub(super) fn buffer_mut(&mut self, id: BufferId) -> Option<&mut Buffer> {
        self.open.last_mut()?.buffers.get_mut(id.0 as usize).map(|(buffer, _)| buffer)
    }

    fn start_body(&mut self) {
        if let Some(current) = self.current_mut() {
            current.bodies.push(Vec::new());
        }
    }

    fn end_body(&mut self) -> Vec<Statement> {
        match self.current_mut() {
            Some(current) if current.bodies.len() > 1 => current.bodies.pop().unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn enter_branch(&mut self, by: i32) {
        if let Some(current) = self.current_mut() {
            current.branches = current.branches.saturating_add_signed(by);
        }
    }

    fn push(&mut self, statement: Statement) {
        let Some(current) = self.current_mut() else { return };
        match &mut current.nest {
            Some(nest) => nest.take(statement),
            None => {
                if let Some(body) = current.bodies.last_mut() {
                    body.push(statement);
                }
            }
        }
    }
}

impl Nest {
    fn take(&mut self, statement: Statement) {
        match statement {
            Statement::Op(op) => {
                match op.kind {
                    Kind::Store { is_copy } => {
                        self.stores = true;
                        self.is_copy &= is_copy;
                    }
                    Kind::Copy | Kind::Other(_) => {}
                    _ => self.is_copy = false,
                }
                op.reads.into_iter().for_each(|region| single(&mut self.reads, region.buffer));
                op.writes.into_iter().for_each(|region| single(&mut self.writes, region.buffer));
            }
            Statement::Loop(Loop { body, .. }) => body.into_iter().for_each(|statement| self.take(statement)),
            Statement::Branch(branch) => {
                branch.reads.into_iter().for_each(|region| single(&mut self.reads, region.buffer));
                branch.then.into_iter().chain(branch.otherwise).for_each(|statement| self.take(statement));
            }
        }
    }
}

fn single(regions: &mut Vec<Region>, buffer: BufferId) {
    if !regions.iter().any(|region| region.buffer == buffer) {
        regions.push(Region { buffer, extents: None, is_inside: None });
    }
}

fn each_region(body: &[Statement], see: &mut dyn FnMut(&Region)) {
    for statement in body {
        match statement {
            Statement::Op(op) => op.reads.iter().chain(&op.writes).for_each(&mut *see),
            Statement::Loop(inner) => each_region(&inner.body, see),
            Statement::Branch(branch) => {
                branch.reads.iter().for_each(&mut *see);
                each_region(&branch.then, see);
                each_region(&branch.otherwise, see);
            }
        }
    }
}

fn each_region_mut(body: &mut [Statement], see: &mut dyn FnMut(&mut Region)) {
    for statement in body {
        match statement {
            Statement::Op(op) => op.reads.iter_mut().chain(&mut op.writes).for_each(&mut *see),
            Statement::Loop(inner) => each_region_mut(&mut inner.body, see),
            Statement::Branch(branch) => {
                branch.reads.iter_mut().for_each(&mut *see);
                each_region_mut(&mut branch.then, see);
                each_region_mut(&mut branch.otherwise, see);
            }
        }
    }
}

/// Two lists of touches as one, without saying anything twice.
pub(super) fn joined<'a>(lists: impl IntoIterator<Item = &'a [Touch]>) -> Vec<Touch> {
    let mut all: Vec<Touch> = Vec::new();
    for touch in lists.into_iter().flatten() {
        match all.iter_mut().find(|known| known.buffer == touch.buffer) {
            Some(known) => {
                known.reads |= touch.reads;
                known.writes |= touch.writes;
            }
            None => all.push(*touch),
        }
    }
    all
}

impl Tracer<'_> {
    pub(super) fn emit(&mut self, mut statement: Statement) {
        self.step();
        if let Statement::Op(op) = &mut statement {
            op.threads = self.threads_here();
            if self.uncertain == 0 {
                for region in op.reads.iter().chain(&op.writes) {
                    self.out.buffer_mut(region.buffer).into_iter().for_each(|buffer| buffer.is_used = true);
                }
            }
        }
        self.out.push(statement);
    }

    pub(super) fn op(&mut self, kind: Kind, reads: Vec<Region>, writes: Vec<Region>, at: Origin) {
        self.emit(Statement::Op(Op { kind, reads, writes, threads: Threads::All, at }));
    }

    /// Single elements that are read.
    pub(super) fn read_of(touches: &[Touch]) -> Vec<Region> {
        let mut regions = Vec::new();
        touches.iter().filter(|touch| touch.reads).for_each(|touch| single(&mut regions, touch.buffer));
        regions
    }

    pub(super) fn written_of(touches: &[Touch]) -> Vec<Region> {
        let mut regions = Vec::new();
        touches.iter().filter(|touch| touch.writes).for_each(|touch| single(&mut regions, touch.buffer));
        regions
    }

    /// An operation that touches single elements.
    pub(super) fn other(&mut self, name: &str, touches: &[Touch], at: Origin) {
        let (reads, writes) = (Self::read_of(touches), Self::written_of(touches));
        self.op(Kind::Other(name.into()), reads, writes, at);
    }

    /// What a function of the language gives: a statement, where the call stands as one.
    pub(super) fn operation_of(kind: Kind, reads: Vec<Region>, writes: Vec<Region>, at: Origin) -> Value {
        Value::Operation(Rc::new(Op { kind, reads, writes, threads: Threads::All, at }))
    }

    /// `buffer[…] = value`
    pub(super) fn store(&mut self, view: &View, indices: &[Touch], value: &Expr, at: Origin) {
        self.stores += 1;
        let op = self.store_op(view, indices, value, at);
        self.emit(Statement::Op(op));
    }

    pub(super) fn store_op(&self, view: &View, indices: &[Touch], value: &Expr, at: Origin) -> Op {
        let touches = joined([&value.touches[..], indices]);
        let from_global = value.loaded.and_then(|id| self.out.buffer(id)).is_some_and(|it| it.scope == Scope::Global);
        let is_near = matches!(view.scope, Scope::Shared | Scope::StaticShared | Scope::Local);
        let kind = Kind::Store { is_copy: from_global && is_near };
        let mut writes = vec![Region { buffer: view.id, extents: None, is_inside: None }];
        Self::written_of(&touches).into_iter().for_each(|region| single(&mut writes, region.buffer));
        Op { kind, reads: Self::read_of(&touches), writes, threads: Threads::All, at }
    }

    /// Follows the body of a loop or a branch, and gives its statements.
    pub(super) fn body_of(&mut self, run: impl FnOnce(&mut Self)) -> Vec<Statement> {
        if self.out.is_in_nest() {
            run(self);
            return Vec::new();
        }
        self.out.start_body();
        run(self);
        self.out.end_body()
    }

    /// The same of a branch.
    pub(super) fn body_of_branch(&mut self, run: impl FnOnce(&mut Self)) -> Vec<Statement> {
        self.out.enter_branch(1);
        let body = self.body_of(run);
        self.out.enter_branch(-1);
        body
    }

    /// A loop of the kernel around what `run` records.
    pub(super) fn looped(&mut self, mut made: Loop, touches: &[Touch], run: impl FnOnce(&mut Self)) {
        made.body = self.body_of(run);
        self.bounds(touches, made.at);
        self.emit(Statement::Loop(made));
    }

    /// Touches of what lies in shared memory.
    pub(super) fn shared_among(&self, touches: &[Touch]) -> Vec<Touch> {
        let is_shared = |touch: &&Touch| {
            self.out.buffer(touch.buffer).is_some_and(|it| matches!(it.scope, Scope::Shared | Scope::StaticShared))
        };
        touches.iter().filter(is_shared).copied().collect()
    }

    /// Bounds of a loop that are read from shared memory, which no statement says.
    pub(super) fn bounds(&mut self, touches: &[Touch], at: Origin) {
        let touches = self.shared_among(touches);
        if !touches.is_empty() {
            self.note(Reason::new("the bounds of a loop are read from shared memory"));
            self.other("bind", &touches, at);
        }
    }

    /// What stands in a nest of parallel loops, as one statement.
    pub(super) fn nested(&mut self, at: Origin, touches: &[Touch], run: impl FnOnce(&mut Self)) {
        if self.out.is_in_nest() || !self.out.is_launched() {
            return run(self);
        }
        if let Some(current) = self.out.current_mut() {
            let (reads, writes) = (Self::read_of(touches), Vec::new());
            current.nest = Some(Nest { reads, writes, stores: false, is_copy: true });
        }
        run(self);
        let nest = self.out.current_mut().and_then(|current| current.nest.take());
        let Some(nest) = nest else { return };
        self.op(Kind::Parallel { is_copy: nest.stores && nest.is_copy }, nest.reads, nest.writes, at);
    }

    /// `condition`: what it touches, and whether it holds in single rounds.
    pub(super) fn branch(
        &mut self,
        (touches, in_rounds): (&[Touch], Vec<(u64, bool)>),
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
        at: Origin,
    ) {
        self.emit(Statement::Branch(Branch { reads: Self::read_of(touches), in_rounds, then, otherwise, at }));
    }
}

/// A loop of one kind without anything in it.
pub(super) fn empty_loop(extent: Extent, at: Origin) -> Loop {
    Loop { extent, least: 0, stages: 0, written: None, is_explicitly_unrolled: false, body: Vec::new(), at }
}

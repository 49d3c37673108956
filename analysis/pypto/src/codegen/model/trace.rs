//! The control flow of a kernel under one scenario: what its pipes are given, in order. None of it depends on the other core.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::work;

use super::{Kernel, Scenario, Suspects};
use crate::codegen::sequence::{Branches, Condition, Head, Instr, Lines, Loop, Pipe, Program, Step, Sync, TileId};
use crate::ir::VarId;
use crate::target::Space;

/// Bytes of a memory space, from and to, and the tile that they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bytes {
    pub(super) tile: TileId,
    pub(super) space: Space,
    pub(super) from: u64,
    pub(super) to: u64,
    /// What is touched of them, if not all.
    pub(super) lines: Option<Lines>,
}

pub(super) enum Event<'a> {
    Issue(Instance<'a>),
    /// An instruction that nothing asks about.
    Pass(Pipe),
    Sync(Sync),
}

/// An instruction in one iteration.
#[derive(Clone)]
pub(super) struct Instance<'a> {
    pub(super) instr: &'a Instr,
    pub(super) reads: Vec<Bytes>,
    pub(super) writes: Vec<Bytes>,
    /// Of its window in the tensor, where known.
    pub(super) offsets: Vec<Option<i64>>,
}

/// The traces of kernels that run side by side. A condition chooses alike in all of them, as often as each reaches it.
pub(super) fn traces<'a>(kernels: &[Kernel<'a>], scenario: Scenario, suspects: &Suspects) -> Vec<Vec<Event<'a>>> {
    let mut choices = Choices::default();
    let of_kernel = |kernel: &Kernel<'a>| {
        let program = kernel.program;
        let mut trace = Trace {
            program,
            unit: kernel.unit,
            scenario,
            suspects: suspects.included(),
            depth: 0,
            choices: &mut choices,
            reached: FxHashMap::default(),
            // A kernel by itself is the first unit's.
            variables: program.units.iter().map(|var| (*var, kernel.unit.unwrap_or(0))).collect(),
            handles: (0..program.tiles.len() as u32).map(TileId).collect(),
            events: Vec::new(),
        };
        trace.steps(&program.body);
        trace.events
    };
    kernels.iter().map(of_kernel).collect()
}

/// The number of each condition that was reached, by its text and how often it had been reached before.
#[derive(Default)]
struct Choices<'a>(FxHashMap<(&'a str, u32), u32>);

struct Trace<'a, 'c> {
    program: &'a Program,
    unit: Option<i64>,
    scenario: Scenario,
    /// The instructions that are asked about, if not all.
    suspects: Option<FxHashSet<u32>>,
    /// Loops around what is executed.
    depth: u32,
    choices: &'c mut Choices<'a>,
    /// How often each condition was reached.
    reached: FxHashMap<&'a str, u32>,
    handles: Vec<TileId>,
    variables: FxHashMap<VarId, i64>,
    events: Vec<Event<'a>>,
}

impl<'a> Trace<'a, '_> {
    fn steps(&mut self, steps: &'a [Step]) {
        for step in steps {
            work::spend(1);
            match step {
                Step::Instr(instr) => self.instr(instr),
                Step::Loop(node) => self.repeat(node),
                Step::If(node) => self.branch(node),
                Step::Sync(sync, _) => self.events.push(Event::Sync(*sync)),
                Step::Local { .. } | Step::Declare(_) | Step::Missing { .. } => {}
            }
        }
    }

    fn repeat(&mut self, node: &'a Loop) {
        for tile in node.carries.iter().filter_map(|carry| carry.tile) {
            self.point(tile.iter, tile.init);
        }
        for iteration in 0..node.trips().unwrap_or(self.scenario.trips).min(self.scenario.most) {
            if let Head::For { var, start, step, .. } = &node.head {
                let value = start.value.unwrap_or(0) + iteration as i64 * step.value.unwrap_or(1);
                self.variables.insert(*var, value);
            }
            self.depth += 1;
            self.steps(&node.body);
            self.depth -= 1;
            // The values are read before any of them is assigned.
            let moves: Vec<(TileId, TileId)> = node
                .carries
                .iter()
                .filter_map(|carry| carry.tile)
                .map(|tile| (tile.iter, self.handles[tile.next.0 as usize]))
                .collect();
            for (iter, next) in moves {
                self.handles[iter.0 as usize] = next;
            }
        }
    }

    fn branch(&mut self, node: &'a Branches) {
        let then = self.decided(&node.condition).unwrap_or_else(|| self.chosen(&node.condition.text));
        self.steps(if then { &node.then } else { node.otherwise.as_deref().unwrap_or_default() });
        for (result, of_then, of_otherwise) in node.results.iter().filter_map(|result| result.tiles) {
            self.point(result, if then { of_then } else { of_otherwise });
        }
    }

    /// What a condition on the number of the vector unit is, where that is known.
    fn decided(&self, condition: &Condition) -> Option<bool> {
        Some(condition.unit?.holds_on(self.unit?))
    }

    fn chosen(&mut self, condition: &'a str) -> bool {
        let reached = self.reached.entry(condition).or_default();
        let time = if self.depth == 0 { 0 } else { *reached };
        *reached += 1;
        let next = self.choices.0.len() as u32;
        let number = *self.choices.0.entry((condition, time)).or_insert(next);
        self.scenario.choices >> (number % 32) & 1 == 0
    }

    fn point(&mut self, handle: TileId, value: TileId) {
        self.handles[handle.0 as usize] = self.handles[value.0 as usize];
    }

    fn instr(&mut self, instr: &'a Instr) {
        if self.suspects.as_ref().is_some_and(|suspects| !suspects.contains(&instr.id)) {
            return self.events.push(Event::Pass(instr.pipe));
        }
        let bytes = |tiles: &[TileId]| tiles.iter().filter_map(|tile| self.bytes(*tile)).collect();
        let offsets = instr.access.iter().flat_map(|access| &access.offsets).map(|offset| {
            let affine = offset.affine.as_ref()?;
            affine
                .terms
                .iter()
                .try_fold(affine.constant, |sum, (var, factor)| Some(sum + self.variables.get(var)? * factor))
        });
        let instance =
            Instance { instr, reads: bytes(instr.uses()), writes: bytes(instr.changes()), offsets: offsets.collect() };
        self.events.push(Event::Issue(instance));
    }

    fn bytes(&self, tile: TileId) -> Option<Bytes> {
        let id = self.handles[tile.0 as usize];
        let tile = self.program.tile(id);
        let from = tile.address?;
        let to = from.saturating_add(tile.bytes);
        Some(Bytes { tile: id, space: tile.form.space, from, to, lines: tile.lines })
    }
}

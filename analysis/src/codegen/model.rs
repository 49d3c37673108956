//! Executes a sequence on a model of asynchronous pipes and reports every conflict that nothing orders.
//!
//! Each pipe works through its own instructions in order, pipes run side by side. A flag delivers all that its pipe has
//! begun and all that was known to be finished there; a wait makes that known to its pipe; a barrier does the same within
//! a pipe. On the compute pipes an instruction may overlap with its predecessor unless a barrier or a chain of flags
//! orders them. Loops run up to [`TRIPS`] times; branches and bounds that are not constant are tried with several values.
//!
//! Independent of [`super::sync`], which it checks.

use rustc_hash::FxHashMap;

use super::sequence::{Access, Branches, EVENTS, Head, Instr, Loop, Pipe, Program, Step, Sync, TileId};
use crate::ir::VarId;
use crate::target::Space;

/// Iterations that are enough to see what one hands to the next and to the one after it.
const TRIPS: u64 = 3;
const PIPES: usize = Pipe::ALL.len();

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// Instructions by number that touch the same bytes in no certain order.
    Unordered {
        earlier: u32,
        later: u32,
    },
    /// Set again before anything waited for it.
    SetTwice {
        src: Pipe,
        dst: Pipe,
        event: u8,
    },
    /// The kernel would hang.
    NeverSet {
        src: Pipe,
        dst: Pipe,
        event: u8,
    },
    NeverAwaited {
        src: Pipe,
        dst: Pipe,
        event: u8,
    },
    NoSuchEvent {
        event: u8,
    },
}

impl Problem {
    /// The flag that it is about.
    pub fn flag(&self) -> Option<(Pipe, Pipe, u8)> {
        match *self {
            Problem::SetTwice { src, dst, event }
            | Problem::NeverSet { src, dst, event }
            | Problem::NeverAwaited { src, dst, event } => Some((src, dst, event)),
            Problem::Unordered { .. } | Problem::NoSuchEvent { .. } => None,
        }
    }
}

/// What can go wrong when the program runs; empty if its synchronisation is sound.
pub fn problems(program: &Program) -> Vec<Problem> {
    let mut problems = Vec::new();
    for scenario in scenarios(&program.body) {
        let mut run = Run::new(program, scenario);
        run.steps(&program.body);
        run.end();
        problems.append(&mut run.problems);
    }
    problems.sort();
    problems.dedup();
    problems
}

/// The pairs of instructions, by number, that touch the same bytes in no certain order; the earlier first.
pub fn races(program: &Program) -> Vec<(u32, u32)> {
    let races = problems(program).into_iter().filter_map(|problem| match problem {
        Problem::Unordered { earlier, later } => Some((earlier, later)),
        _ => None,
    });
    races.collect()
}

/// How the run decides what is not constant.
#[derive(Debug, Clone, Copy)]
struct Scenario {
    trips: u64,
    /// Bit k: the choice at the k-th condition that is reached, repeating. Outside of loops equal conditions choose alike.
    choices: u32,
}

fn scenarios(steps: &[Step]) -> Vec<Scenario> {
    let (mut open_loops, mut branches) = (false, false);
    survey(steps, &mut open_loops, &mut branches);
    let trips: &[u64] = if open_loops { &[0, 1, 2, TRIPS] } else { &[TRIPS] };
    let choices: &[u32] =
        if branches { &[0, u32::MAX, 0x5555_5555, 0xaaaa_aaaa, 0x3333_3333, 0x1248_8421] } else { &[0] };
    trips.iter().flat_map(|trips| choices.iter().map(|choices| Scenario { trips: *trips, choices: *choices })).collect()
}

fn survey(steps: &[Step], open_loops: &mut bool, branches: &mut bool) {
    for step in steps {
        match step {
            Step::Loop(node) => {
                *open_loops |= node.trips().is_none();
                survey(&node.body, open_loops, branches);
            }
            Step::If(node) => {
                *branches = true;
                survey(&node.then, open_loops, branches);
                survey(node.otherwise.as_deref().unwrap_or_default(), open_loops, branches);
            }
            _ => {}
        }
    }
}

/// How many instructions of each pipe are finished.
type Clock = [u32; PIPES];

/// An instruction that was issued.
struct Instance<'a> {
    instr: &'a Instr,
    /// Number on its pipe, from 1.
    number: u32,
    reads: Vec<(Space, u64, u64)>,
    writes: Vec<(Space, u64, u64)>,
    offsets: Vec<Option<i64>>,
}

impl Instance<'_> {
    /// Whether it touches the same bytes.
    fn is_same(&self, other: &Instance) -> bool {
        self.reads == other.reads && self.writes == other.writes && self.offsets == other.offsets
    }
}

struct Run<'a> {
    program: &'a Program,
    scenario: Scenario,
    reached: u32,
    /// Loops around what is executed.
    depth: u32,
    /// The number of each condition that was reached.
    conditions: FxHashMap<&'a str, u32>,
    issued: Clock,
    /// What each pipe knows.
    known: [Clock; PIPES],
    flags: FxHashMap<(Pipe, Pipe, u8), Clock>,
    handles: Vec<TileId>,
    variables: FxHashMap<VarId, i64>,
    history: Vec<Instance<'a>>,
    /// The instances of each instruction.
    latest: FxHashMap<u32, Vec<usize>>,
    problems: Vec<Problem>,
}

impl<'a> Run<'a> {
    fn new(program: &'a Program, scenario: Scenario) -> Run<'a> {
        Run {
            program,
            scenario,
            reached: 0,
            depth: 0,
            conditions: FxHashMap::default(),
            issued: [0; PIPES],
            known: [[0; PIPES]; PIPES],
            flags: FxHashMap::default(),
            handles: (0..program.tiles.len() as u32).map(TileId).collect(),
            variables: FxHashMap::default(),
            history: Vec::new(),
            latest: FxHashMap::default(),
            problems: Vec::new(),
        }
    }

    fn steps(&mut self, steps: &'a [Step]) {
        for step in steps {
            match step {
                Step::Instr(instr) => self.issue(instr),
                Step::Loop(node) => self.repeat(node),
                Step::If(node) => self.branch(node),
                Step::Sync(sync, _) => self.sync(*sync),
                Step::Local { .. } | Step::Declare(_) | Step::Missing { .. } => {}
            }
        }
    }

    fn end(&mut self) {
        let pending = self.flags.keys().map(|&(src, dst, event)| Problem::NeverAwaited { src, dst, event });
        self.problems.extend(pending);
    }

    fn repeat(&mut self, node: &'a Loop) {
        for tile in node.carries.iter().filter_map(|carry| carry.tile) {
            self.point(tile.iter, tile.init);
        }
        for iteration in 0..node.trips().unwrap_or(self.scenario.trips).min(TRIPS) {
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
        let known = if self.depth == 0 { self.conditions.get(node.condition.as_str()).copied() } else { None };
        let condition = known.unwrap_or(self.reached);
        if known.is_none() {
            self.conditions.insert(&node.condition, condition);
            self.reached += 1;
        }
        let then = self.scenario.choices >> (condition % 32) & 1 == 0;
        self.steps(if then { &node.then } else { node.otherwise.as_deref().unwrap_or_default() });
        for (result, of_then, of_otherwise) in node.results.iter().filter_map(|result| result.tiles) {
            self.point(result, if then { of_then } else { of_otherwise });
        }
    }

    fn point(&mut self, handle: TileId, value: TileId) {
        self.handles[handle.0 as usize] = self.handles[value.0 as usize];
    }

    fn sync(&mut self, sync: Sync) {
        match sync {
            Sync::Barrier(Some(pipe)) => self.known[pipe as usize][pipe as usize] = self.issued[pipe as usize],
            Sync::Barrier(None) => self.known = [self.issued; PIPES],
            Sync::Set { src, dst, event } => {
                let mut delivered = self.known[src as usize];
                delivered[src as usize] = self.issued[src as usize];
                if event >= EVENTS {
                    self.problems.push(Problem::NoSuchEvent { event });
                }
                if self.flags.insert((src, dst, event), delivered).is_some() {
                    self.problems.push(Problem::SetTwice { src, dst, event });
                }
            }
            Sync::Wait { src, dst, event } => match self.flags.remove(&(src, dst, event)) {
                Some(delivered) => {
                    let known = &mut self.known[dst as usize];
                    known.iter_mut().zip(delivered).for_each(|(known, delivered)| *known = delivered.max(*known));
                }
                None => self.problems.push(Problem::NeverSet { src, dst, event }),
            },
        }
    }

    fn issue(&mut self, instr: &'a Instr) {
        let pipe = instr.pipe;
        let ranges = |tiles: &[TileId]| tiles.iter().filter_map(|tile| self.range(*tile)).collect::<Vec<_>>();
        let offsets = instr.access.iter().flat_map(|access| &access.offsets).map(|offset| {
            let affine = offset.affine.as_ref()?;
            affine
                .terms
                .iter()
                .try_fold(affine.constant, |sum, (var, factor)| Some(sum + self.variables.get(var)? * factor))
        });
        let instance = Instance {
            instr,
            number: self.issued[pipe as usize] + 1,
            reads: ranges(&instr.reads),
            writes: ranges(&instr.writes),
            offsets: offsets.collect(),
        };
        for earlier in &self.history {
            let of_pipe = earlier.instr.pipe;
            let ordered =
                of_pipe == pipe && pipe.in_order() || self.known[pipe as usize][of_pipe as usize] >= earlier.number;
            if !ordered && self.conflict(earlier, &instance) {
                self.problems.push(Problem::Unordered { earlier: earlier.instr.id, later: instr.id });
            }
        }
        self.issued[pipe as usize] += 1;
        // Whoever knows of the later one of two equal instances knows of both.
        let of_instr = self.latest.entry(instr.id).or_default();
        let same = of_instr.iter().copied().find(|at| self.history[*at].is_same(&instance));
        match same {
            Some(at) => self.history[at].number = instance.number,
            None => {
                of_instr.push(self.history.len());
                self.history.push(instance);
            }
        }
    }

    fn range(&self, tile: TileId) -> Option<(Space, u64, u64)> {
        let tile = self.program.tile(self.handles[tile.0 as usize]);
        tile.address.map(|address| (tile.form.space, address, address + tile.bytes))
    }

    fn conflict(&self, a: &Instance, b: &Instance) -> bool {
        let touch = |left: &[(Space, u64, u64)], right: &[(Space, u64, u64)]| {
            left.iter().any(|a| right.iter().any(|b| a.0 == b.0 && a.1 < b.2 && b.1 < a.2))
        };
        touch(&a.writes, &b.writes)
            || touch(&a.writes, &b.reads)
            || touch(&a.reads, &b.writes)
            || matches!((&a.instr.access, &b.instr.access), (Some(x), Some(y)) if self.windows_touch((x, a), (y, b)))
    }

    fn windows_touch(&self, (x, a): (&Access, &Instance), (y, b): (&Access, &Instance)) -> bool {
        if !x.store && !y.store || !x.tensors.iter().any(|tensor| y.tensors.contains(tensor)) {
            return false;
        }
        let (first, second) = (&self.program.wrappers[x.wrapper], &self.program.wrappers[y.wrapper]);
        if first.transposed || second.transposed {
            return true;
        }
        a.offsets.iter().zip(&first.window).zip(b.offsets.iter().zip(&second.window)).all(|((a, rows), (b, others))| {
            match (a, b) {
                (Some(a), Some(b)) => *a < b + *others as i64 && *b < a + *rows as i64,
                _ => true,
            }
        })
    }
}

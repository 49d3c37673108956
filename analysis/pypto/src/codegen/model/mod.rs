//! Executes kernels on a model of asynchronous pipes and reports every conflict that nothing orders.
//!
//! Each pipe works through its own instructions in order, pipes run side by side. A flag delivers all that its pipe has
//! begun and all that was known to be finished there; a wait makes that known to its pipe; a barrier does the same within
//! a pipe. On the compute pipes an instruction may overlap with its predecessor unless a barrier or a chain of flags
//! orders them. Loops run up to [`TRIPS`] times; branches and bounds that are not constant are tried with several values.
//!
//! Kernels of the two cores run side by side in the same way. A push waits until its ring has a free slot, a pop until it has a full
//! one; both tell the other core when their pipe is done with the slot.
//!
//! [`trace`] follows the control flow, [`run`] executes what comes of it. Independent of [`super::sync`], which it checks.

mod run;
mod trace;

use rustc_hash::{FxHashMap, FxHashSet};

use super::sequence::{Pipe, Program, Step};

/// Iterations that are enough to see what one hands to the next and to the one after it.
const TRIPS: u64 = 3;
/// Enough to use a slot of a queue again, of which there are mostly up to eight.
const TRIPS_OF_CORES: u64 = 9;
const PIPES: usize = Pipe::ALL.len();

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// Instructions by number that touch the same bytes in no certain order.
    Unordered {
        earlier: u32,
        later: u32,
    },
    /// The same of two cores, which come in no order at all: two kernels by their place, and instructions of them.
    BetweenCores {
        one: (usize, u32),
        other: (usize, u32),
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
    /// A pop that nothing is pushed for, or a push that no slot becomes free for: the kernel, by its place, would hang.
    Stuck {
        kernel: usize,
        instr: u32,
    },
    /// Tiles that are pushed and never popped, or slots that are popped and never freed, of a queue by its id.
    LeftInQueue {
        id: u8,
    },
}

impl Problem {
    /// The flag that it is about.
    pub fn flag(&self) -> Option<(Pipe, Pipe, u8)> {
        match *self {
            Problem::SetTwice { src, dst, event }
            | Problem::NeverSet { src, dst, event }
            | Problem::NeverAwaited { src, dst, event } => Some((src, dst, event)),
            Problem::Unordered { .. }
            | Problem::BetweenCores { .. }
            | Problem::NoSuchEvent { .. }
            | Problem::Stuck { .. }
            | Problem::LeftInQueue { .. } => None,
        }
    }
}

/// A kernel on one core. Tensors of the same name are the same.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    pub program: &'a Program,
    /// The number of the vector unit; `None` on the cube core.
    pub unit: Option<i64>,
}

/// What can go wrong when the program runs by itself; empty if its synchronisation is sound. The other core is taken to do its part.
pub fn problems(program: &Program) -> Vec<Problem> {
    problems_of_cores(&[Kernel { program, unit: None }])
}

/// Whether nothing can: as [`problems`], but no further than to the first one.
pub fn is_sound(program: &Program) -> bool {
    are_sound(&[Kernel { program, unit: None }])
}

/// The same of kernels that run side by side.
pub fn are_sound(kernels: &[Kernel]) -> bool {
    scenarios(kernels).into_iter().all(|scenario| executed(kernels, scenario, &Suspects::All).is_empty())
}

/// What can go wrong when kernels run side by side, on the cube core and on one vector unit or both.
pub fn problems_of_cores(kernels: &[Kernel]) -> Vec<Problem> {
    let of = |scenario| executed(kernels, scenario, &Suspects::All);
    let mut problems: Vec<Problem> = scenarios(kernels).into_iter().flat_map(of).collect();
    problems.sort();
    problems.dedup();
    problems
}

/// The pairs of instructions, the earlier first, that problems are about.
pub fn races(problems: &[Problem]) -> impl Iterator<Item = (u32, u32)> {
    problems.iter().filter_map(|problem| match problem {
        Problem::Unordered { earlier, later } => Some((*earlier, *later)),
        _ => None,
    })
}

/// Those of the pairs of instructions, the earlier first, that touch the same bytes in no certain order. Costs as much as the pairs, not
/// as the program.
pub fn races_among(program: &Program, pairs: impl Iterator<Item = (u32, u32)>) -> FxHashSet<(u32, u32)> {
    let mut suspects: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    pairs.for_each(|(earlier, later)| suspects.entry(later).or_default().push(earlier));
    let kernels = [Kernel { program, unit: None }];
    let mut found = FxHashSet::default();
    for scenario in scenarios(&kernels) {
        if suspects.is_empty() {
            break;
        }
        found.extend(races(&executed(&kernels, scenario, &Suspects::Among(&suspects))));
        suspects.retain(|later, earlier| {
            earlier.retain(|earlier| !found.contains(&(*earlier, *later)));
            !earlier.is_empty()
        });
    }
    found
}

/// The instructions that are looked at: all, or for the later of some pairs the earlier ones.
enum Suspects<'s> {
    All,
    Among(&'s FxHashMap<u32, Vec<u32>>),
}

impl Suspects<'_> {
    /// The instructions by number; `None` for all of them.
    fn included(&self) -> Option<FxHashSet<u32>> {
        let Suspects::Among(pairs) = self else { return None };
        Some(pairs.iter().flat_map(|(later, earlier)| earlier.iter().chain([later])).copied().collect())
    }
}

fn executed(kernels: &[Kernel], scenario: Scenario, suspects: &Suspects) -> Vec<Problem> {
    let traces = trace::traces(kernels, scenario, suspects);
    run::run(kernels, &traces, suspects)
}

/// How a run decides what is not constant.
#[derive(Debug, Clone, Copy)]
struct Scenario {
    trips: u64,
    /// Of loops with more iterations than that, which are known.
    most: u64,
    /// Bit k: the choice at the k-th condition that is reached, repeating. Outside of loops equal conditions choose alike.
    choices: u32,
}

fn scenarios(kernels: &[Kernel]) -> Vec<Scenario> {
    let (mut open_loops, mut branches) = (false, false);
    kernels.iter().for_each(|kernel| find_choices(&kernel.program.body, &mut open_loops, &mut branches));
    let trips: &[u64] = if open_loops { &[0, 1, 2, TRIPS] } else { &[TRIPS] };
    let choices: &[u32] =
        if branches { &[0, u32::MAX, 0x5555_5555, 0xaaaa_aaaa, 0x3333_3333, 0x1248_8421] } else { &[0] };
    let most = if kernels.len() > 1 { TRIPS_OF_CORES } else { TRIPS };
    let with = |trips: u64| choices.iter().map(move |choices| Scenario { trips, most, choices: *choices });
    trips.iter().flat_map(|trips| with(*trips)).collect()
}

fn find_choices(steps: &[Step], open_loops: &mut bool, branches: &mut bool) {
    for step in steps {
        match step {
            Step::Loop(node) => {
                *open_loops |= node.trips().is_none();
                find_choices(&node.body, open_loops, branches);
            }
            Step::If(node) => {
                *branches = true;
                find_choices(&node.then, open_loops, branches);
                find_choices(node.otherwise.as_deref().unwrap_or_default(), open_loops, branches);
            }
            _ => {}
        }
    }
}

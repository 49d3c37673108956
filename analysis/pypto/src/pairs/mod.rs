//! Kernels that an author wrote for both cores and launches together: whether each tile that one of them pushes is popped by
//! the other (`docs/reference/syntax.md`, "Functions").
//!
//! [`transfers`] is what one kernel does with the queues between the cores, by itself. [`check`] holds two of them together: it
//! counts, and [`step`] lets them run side by side where every count is known. Three-valued, like all else: what depends on a value
//! that is not constant is a range, and ranges that meet say nothing.

mod step;
mod transfers;

use crate::codegen::sequence::Action;
use crate::ir::KernelKind;
use crate::target::Target;

use tilefit_python::finding::Origin;
pub use transfers::Transfers;
use transfers::{End, Ring, Times};

/// What is wrong between two kernels, told of one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpaired {
    pub core: KernelKind,
    pub at: Origin,
    pub message: String,
    /// Places, each in the kernel of that core.
    pub related: Vec<(KernelKind, Origin, String)>,
}

/// Holds the kernel of the cube core beside that of the vector core, which runs on one vector unit or both: each has to keep step.
pub fn check(cube: &Transfers, vector: &Transfers, target: Target) -> Vec<Unpaired> {
    let pair = Pair { cube, vector };
    let mut found: Vec<Unpaired> = pair.rings().into_iter().filter_map(|ring| pair.counted(ring)).collect();
    if found.is_empty() {
        found.extend(pair.deadlock(target));
    }
    found
}

#[derive(Clone, Copy)]
struct Pair<'a> {
    cube: &'a Transfers,
    vector: &'a Transfers,
}

/// One end of a ring: what a kernel pushes into it or pops from it.
struct Side<'a> {
    kernel: &'a Transfers,
    end: End,
    times: Times,
}

impl<'a> Pair<'a> {
    fn rings(&self) -> Vec<Ring> {
        let ends = self.cube.ends().into_iter().chain(self.vector.ends());
        let mut rings: Vec<Ring> = ends.map(|end| end.ring).collect();
        rings.sort();
        rings.dedup();
        rings
    }

    fn side(&self, ring: Ring, action: Action) -> Side<'a> {
        let kernel = if ring.to_cube == (action == Action::Pop) { self.cube } else { self.vector };
        let end = End { ring, action };
        Side { kernel, end, times: kernel.times(end) }
    }

    fn counted(&self, ring: Ring) -> Option<Unpaired> {
        let (push, pop) = (self.side(ring, Action::Push), self.side(ring, Action::Pop));
        let (pushes, pops) = (push.times, pop.times);
        if !pop.happens() && push.happens() {
            let (name, elsewhere) = (&pop.kernel.kernel, self.elsewhere(&pop));
            let message =
                format!("pushes into {ring}, but `{name}` never pops from it: the tile stays in the queue{elsewhere}");
            return push.last(message, &pop);
        }
        if !push.happens() && pop.happens() {
            let (name, elsewhere) = (&push.kernel.kernel, self.elsewhere(&push));
            let message =
                format!("pops from {ring}, but `{name}` never pushes into it: the kernel would hang{elsewhere}");
            return pop.last(message, &push);
        }
        let (producer, consumer) = (&push.kernel.kernel, &pop.kernel.kernel);
        if pops.most.is_some_and(|most| pushes.least > most) {
            let message = format!(
                "`{producer}` pushes {pushes} into {ring}, but `{consumer}` pops {}: the last tiles stay in the queue; pop as many as are pushed",
                pops.number()
            );
            return push.last(message, &pop);
        }
        if pushes.most.is_some_and(|most| pops.least > most) {
            let message = format!(
                "`{consumer}` pops {pops} from {ring}, but `{producer}` pushes {}: the kernel would hang here; push as many as are popped",
                pushes.number()
            );
            return pop.last(message, &push);
        }
        None
    }

    /// Where the kernel of a missing end does the same with another queue, with which the other kernel does nothing: the likely slip.
    fn elsewhere(&self, missing: &Side) -> String {
        let kernel = missing.kernel;
        let is_lone = |end: &End| {
            let opposite = if end.action == Action::Push { Action::Pop } else { Action::Push };
            let alike = end.action == missing.end.action && end.ring.to_cube == missing.end.ring.to_cube;
            alike && !self.side(end.ring, opposite).happens()
        };
        match kernel.ends().into_iter().find(is_lone) {
            Some(End { ring, action: Action::Push }) => {
                format!("; `{}` pushes into {ring}, from which nothing is popped", kernel.kernel)
            }
            Some(End { ring, .. }) => format!("; `{}` pops from {ring}, into which nothing is pushed", kernel.kernel),
            None => String::new(),
        }
    }

    /// As many pushes as pops, in an order in which both kernels wait for each other. On 950 a wait holds up one pipe of the core and the
    /// others go on, so that nothing is certain.
    fn deadlock(&self, target: Target) -> Option<Unpaired> {
        if target != Target::Ascend910b {
            return None;
        }
        let [cube, vector] = step::stuck(self.cube, self.vector)?;
        let what = |at: step::Stuck| match at.end.action {
            Action::Pop => format!("tile {} of {}", at.number + 1, at.end.ring),
            _ => format!("a free slot of {}", at.end.ring),
        };
        let (waiting, partner) = (&self.cube.kernel, &self.vector.kernel);
        let way_out = match (cube.end.action, vector.end.action) {
            (Action::Push, Action::Push) => "pop in between",
            _ => "push before it pops",
        };
        let message = format!(
            "`{waiting}` waits here for {} while `{partner}` waits for {}: both hang; make one of them {way_out}",
            what(cube),
            what(vector)
        );
        let related = vec![(KernelKind::Aiv, vector.at, format!("`{partner}` waits here"))];
        Some(Unpaired { core: KernelKind::Aic, at: cube.at, message, related })
    }
}

impl Side<'_> {
    /// Whether it ever happens, on some way through the kernel.
    fn happens(&self) -> bool {
        self.times.most != Some(0)
    }

    /// Told at the last place in the text: tiles leave a queue in the order in which they enter it.
    fn last(&self, message: String, other: &Side) -> Option<Unpaired> {
        let (at, _) = *self.kernel.sites(self.end).last()?;
        let verb = if other.end.action == Action::Push { "pushes" } else { "pops" };
        let related = other.kernel.sites(other.end).into_iter().map(|(at, times)| {
            let message = format!("`{}` {verb} {times} here", other.kernel.kernel);
            (other.kernel.core, at, message)
        });
        Some(Unpaired { core: self.kernel.core, at, message, related: related.collect() })
    }
}

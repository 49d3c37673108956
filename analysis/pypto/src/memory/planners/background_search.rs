//! Packing problems that the quick search of a plan leaves open, and their answers by one that takes its time. The server
//! runs them on a thread to spare; a plan takes the answer up when it is handed back.

use std::sync::Arc;

use tilefit_packing::explain::{self, Core};
use tilefit_packing::{Budget, Goal, PackResult, Problem, Verdict, pack};

/// How long a search may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// A few seconds: somebody edits meanwhile, and does not wait.
    Background,
    /// Less than one, for a file may leave several questions open.
    CommandLine,
}

impl Patience {
    /// Nodes of exact search, and those to find out which buffers are in each other's way.
    fn nodes(self) -> (u64, u64) {
        match self {
            Patience::Background => (2_000_000, 500_000),
            Patience::CommandLine => (250_000, 60_000),
        }
    }
}

/// Buffers up to which a node costs about two microseconds; beyond, in proportion.
pub(in crate::memory) const SIZE: u64 = 100;

/// A question that a plan leaves open: whether the tiles of one memory space fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSearch(pub(in crate::memory) Arc<Problem>);

/// The answer, which is the same on every machine.
#[derive(Debug, PartialEq, Eq)]
pub struct Searched {
    problem: Arc<Problem>,
    pub(in crate::memory) outcome: PackResult,
    /// Buffers that cannot be placed even without the others.
    pub core: Option<Core>,
}

impl OpenSearch {
    /// Searches until all is decided or the budget spent; `None` when `cancel` says so before.
    pub fn run(&self, patience: Patience, cancel: &dyn Fn() -> bool) -> Option<Searched> {
        let problem = &self.0;
        let within = |nodes: u64| nodes * SIZE / SIZE.max(problem.buffers().len() as u64);
        let (nodes, nodes_to_explain) = patience.nodes();
        let outcome = pack(problem, &Budget { cancel: Some(cancel), ..Budget::new(Goal::Fit, within(nodes)) });
        let core = match outcome.verdict {
            Verdict::Fragmented => explain::irreducible(problem, within(nodes_to_explain), Some(cancel)),
            _ => None,
        };
        (!cancel()).then(|| Searched { problem: Arc::clone(problem), outcome, core })
    }
}

impl Searched {
    pub fn answers(&self, problem: &Problem) -> bool {
        *self.problem == *problem
    }
}

/// How hard a plan may try, and what is known already.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Nodes of exact search for the kernel; a large one gets fewer.
    pub nodes: u64,
    pub known: &'a dyn Fn(&Problem) -> Option<Arc<Searched>>,
}

impl Effort<'_> {
    /// What an edit can wait for: at most 50 ms.
    pub const INTERACTIVE: Effort<'static> = Effort { nodes: 24_000, known: &|_| None };
}

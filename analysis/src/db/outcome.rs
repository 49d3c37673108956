//! What planning a kernel of PyPTO comes to.

use std::sync::Arc;

use tilefit_pypto::coverage::Mark;
use tilefit_pypto::ir::Kernel;
use tilefit_pypto::memory::Plan;
use tilefit_python::diagnostics::Severity;
use tilefit_python::work::Failure;

/// A kernel with every tile made explicit, and its plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) kernel: Kernel,
    pub(crate) plan: Plan,
    /// What the kernel is made of, for comparisons with the compiler.
    pub(crate) marks: Vec<Mark>,
    /// The author wrote flags or barriers.
    pub(crate) is_synchronised: bool,
}

impl Planned {
    /// Whether all of it is modelled, and the compiler takes it.
    pub(crate) fn is_complete(&self) -> bool {
        let is_refused = self.plan.findings.iter().any(|finding| finding.severity == Severity::Error);
        self.kernel.rejections.is_empty() && self.plan.notes.is_empty() && !is_refused
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Planned(Arc<Planned>),
    /// Of IR that prints its own addresses.
    Printed(Box<Plan>),
    /// A stage has no result for this kernel.
    Failed(Box<Kernel>, Failure),
}

impl Outcome {
    pub(crate) fn kernel(&self) -> Option<&Kernel> {
        match self {
            Outcome::Planned(planned) => Some(&planned.kernel),
            Outcome::Printed(_) | Outcome::Failed(..) => None,
        }
    }

    pub(crate) fn plan(&self) -> Option<&Plan> {
        match self {
            Outcome::Planned(planned) => Some(&planned.plan),
            Outcome::Printed(plan) => Some(plan),
            Outcome::Failed(..) => None,
        }
    }
}

//! One thing that an editor offers to do.

use tilefit_pypto::target::Planner;
use tilefit_syntax::TextRange;

use super::diagnostic::Diagnostic;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeAction {
    pub title: String,
    pub effect: Effect,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Shows the IR after allocation of the kernel around this byte offset.
    ShowAllocatedIr(usize),
    /// Shows the MLIR of the TLX kernel around this byte offset.
    ShowLoweredIr(usize),
    Fix(Fix),
    /// Edits after which something is better that no diagnostic is about.
    Improve(Vec<(TextRange, String)>),
    /// The setting `planner`, under which the diagnostic is gone.
    SetPlanner {
        planner: Planner,
        fixes: Diagnostic,
    },
    /// Has the author's compiler asked about the file of this byte offset.
    Confirm(usize),
    /// A new document beside the file, by its name.
    Write {
        name: String,
        text: String,
        about: Diagnostic,
    },
    /// Edits after which the file is as right as before: bytes, and what is written there instead.
    Refactor(Vec<(TextRange, String)>),
}

/// Edits after which a diagnostic is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// Bytes, and what is written there instead.
    pub edits: Vec<(TextRange, String)>,
    pub fixes: Diagnostic,
    /// There is no other way as near.
    pub preferred: bool,
}

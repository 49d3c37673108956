//! What an analysis says of a kernel, whatever language it is written in: findings, what is not known and why, and how far the whole is.

use std::fmt;
use std::sync::Arc;

use tilefit_syntax::ast::{ExprId, StmtId};

use crate::diagnostics::{Code, Severity};

/// A node of the block's syntax tree that something stems from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    Expr(ExprId),
    Stmt(StmtId),
    /// A node of a function that is put in place of a call: by its number among those of the kernel. The
    /// outermost call is a node of the block.
    Inlined {
        call: ExprId,
        function: u32,
        node: Node,
    },
}

/// A node of a syntax tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    Expr(ExprId),
    Stmt(StmtId),
}

impl Origin {
    /// Where it is written, whichever of the calls within the outermost one leads there.
    pub fn written(self) -> (Option<ExprId>, Node) {
        match self {
            Origin::Inlined { call, node, .. } => (Some(call), node),
            at => (None, at.shown()),
        }
    }

    /// The node of the block that it is shown at.
    pub fn shown(self) -> Node {
        match self {
            Origin::Expr(expr) | Origin::Inlined { call: expr, .. } => Node::Expr(expr),
            Origin::Stmt(stmt) => Node::Stmt(stmt),
        }
    }
}

/// Why something is not modelled, for people: "calls `foo`, which is defined outside of the workspace".
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reason(Arc<Explanation>);

/// Apart from [`Reason`], which stands in scalars and operands: nearly all of those are known, and are moved often.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Explanation {
    what: String,
    remedy: Option<Remedy>,
}

/// What the author can write so that it is known: a comment above the function that speaks of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Remedy {
    /// `# tilefit: x=[rows, columns] bf16`
    Shape { param: String },
    /// `# tilefit: BLOCK=128`
    Value {
        param: String,
        example: Example,
        /// What is not known is a number, and no tensor or type that depends on one.
        is_number: bool,
    },
}

/// What is given for a parameter, as one value of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Example {
    Number,
    Truth,
    /// Of which one or two are usual.
    Small,
    /// Elements that are computed with, or their type.
    Elements,
    /// Integers that places are computed from.
    Indices,
    Descriptor,
}

impl Example {
    pub fn text(self) -> &'static str {
        match self {
            Example::Number => "128",
            Example::Truth => "True",
            Example::Small => "2",
            Example::Elements => "bf16",
            Example::Indices => "i32",
            Example::Descriptor => "fp16[64,64]",
        }
    }
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Reason {
    pub fn new(what: impl Into<String>) -> Reason {
        Reason(Arc::new(Explanation { what: what.into(), remedy: None }))
    }

    pub fn with_remedy(self, remedy: Option<Remedy>) -> Reason {
        Reason(Arc::new(Explanation { what: self.0.what.clone(), remedy }))
    }

    /// Why something larger is not known that this is a part of: `a list of buffers: …`.
    pub fn of(self, whole: &str) -> Reason {
        Reason(Arc::new(Explanation { what: format!("{whole}: {}", self.0.what), remedy: self.0.remedy.clone() }))
    }

    pub fn remedy(&self) -> Option<&Remedy> {
        self.0.remedy.as_ref()
    }
}

impl From<String> for Reason {
    fn from(what: String) -> Reason {
        Reason::new(what)
    }
}

impl From<&str> for Reason {
    fn from(what: &str) -> Reason {
        Reason::new(what)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0.what)?;
        match &self.0.remedy {
            None => Ok(()),
            Some(remedy @ Remedy::Shape { .. }) => write!(f, "; annotate it, or write `{remedy}` above the function"),
            Some(remedy @ Remedy::Value { .. }) => write!(f, "; add a comment `{remedy}` above the kernel"),
        }
    }
}

impl Remedy {
    pub fn param(&self) -> &str {
        let (Remedy::Shape { param } | Remedy::Value { param, .. }) = self;
        param
    }
}

/// The comment.
impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Remedy::Shape { param } => write!(f, "# tilefit: {param}=[rows, columns] bf16"),
            Remedy::Value { param, example, .. } => write!(f, "# tilefit: {param}={example}"),
        }
    }
}

/// Something that tilefit does not model, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Note {
    pub at: Origin,
    pub reason: Reason,
}

/// How far a plan is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// What the compiler assigns under the plan's planner, also where it then refuses it for being more than a memory holds. All that the
    /// kernel uses was compared with it.
    Exact,
    /// The same, as far as is known; but something in the kernel was never compared with the compiler, or the plan rests on something that
    /// the text leaves open.
    Predicted,
    /// What it uses lies between two numbers that are known; where each tile lies is not.
    Bounded,
    /// Some statements are not modelled; sizes are right, addresses may differ.
    Partial,
    /// The compiler refuses the kernel for what it says, not for its size: no planner assigns these addresses.
    Rejected,
    NotModelled,
}

impl Status {
    pub const ALL: [Status; 6] =
        [Status::Exact, Status::Predicted, Status::Bounded, Status::Partial, Status::Rejected, Status::NotModelled];

    pub fn of(is_rejected: bool, is_whole: bool) -> Status {
        match (is_rejected, is_whole) {
            (true, _) => Status::Rejected,
            (false, false) => Status::Partial,
            (false, true) => Status::Exact,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Status::Exact => "exact",
            Status::Predicted => "predicted",
            Status::Bounded => "bounded",
            Status::Partial => "partial",
            Status::Rejected => "rejected",
            Status::NotModelled => "not-modelled",
        }
    }
}

/// Something to tell the author, at a node of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    pub at: Origin,
    /// The memory that is too small; of other findings, and of a search over all memories, none.
    pub space: Option<&'static str>,
    pub message: String,
    pub related: Vec<Related>,
}

impl Finding {
    /// One as severe as its code.
    pub fn new(code: Code, at: Origin, message: impl Into<String>) -> Finding {
        let (severity, message) = (code.severity(), message.into());
        Finding { code, severity, at, space: None, message, related: Vec::new() }
    }

    pub fn with_related(self, related: impl IntoIterator<Item = Related>) -> Finding {
        Finding { related: related.into_iter().collect(), ..self }
    }

    /// The compiler refuses the kernel for what it says. That memory is too small it finds out with every address assigned, and indices of
    /// TLX buffers it does not check.
    pub fn is_rejection(&self) -> bool {
        self.severity == Severity::Error && !matches!(self.code, Code::CapacityExceeded | Code::IndexOutOfRange)
    }
}

/// Another place that a finding speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    pub at: Origin,
    pub message: String,
}

/// `16 KiB`, `29.1 KiB`, `96 B`: not less than it is.
pub fn rounded(bytes: u64) -> String {
    const KIB: u64 = 1024;
    if bytes < KIB || bytes.is_multiple_of(KIB / 4) {
        return self::bytes(bytes);
    }
    let tenths = (u128::from(bytes) * 10).div_ceil(u128::from(KIB));
    format!("{} KiB", tenths as f64 / 10.0)
}

/// `16 KiB`, `1.5 KiB`, `96 B`: exact, or in bytes.
pub fn bytes(bytes: u64) -> String {
    const KIB: u64 = 1024;
    match bytes {
        _ if bytes >= KIB && bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        _ if bytes >= KIB && bytes.is_multiple_of(KIB / 4) => format!("{} KiB", bytes as f64 / KIB as f64),
        _ => format!("{bytes} B"),
    }
}

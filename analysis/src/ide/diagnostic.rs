//! One thing that is said of a place in a file.

pub(super) mod elsewhere;

use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::finding::{Finding, Note};
use tilefit_syntax::TextRange;

use crate::db::FileId;

use super::{Context, PlacedUnit};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Bytes.
    pub range: TextRange,
    /// Where it is written, if that is in another file: `range` is of the call that leads there.
    pub elsewhere: Option<Elsewhere>,
    pub code: Code,
    pub severity: Severity,
    pub message: String,
    pub related: Vec<RelatedRange>,
}

/// A place in another file, in bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Elsewhere {
    pub file: FileId,
    pub range: TextRange,
}

impl std::fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:?} of another file", self.range)
    }
}

/// A further place that belongs to a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedRange {
    /// Bytes.
    pub range: TextRange,
    pub message: String,
    /// Where it is written, as of a diagnostic.
    pub elsewhere: Option<Elsewhere>,
}

impl RelatedRange {
    /// In the file that the diagnostic is of.
    pub(super) fn here(range: TextRange, message: impl Into<String>) -> RelatedRange {
        RelatedRange { range, message: message.into(), elsewhere: None }
    }
}

/// Gives a diagnostic the severity in force; false where its code is turned off.
pub(super) fn configured(context: &Context<'_>, diagnostic: &mut Diagnostic) -> bool {
    let severity = context.config().severity_of(diagnostic.code, diagnostic.severity);
    diagnostic.severity = severity.unwrap_or(diagnostic.severity);
    severity.is_some()
}

pub(super) fn plain(range: TextRange, code: Code, message: String) -> Diagnostic {
    Diagnostic { range, elsewhere: None, code, severity: code.severity(), message, related: Vec::new() }
}

pub(super) fn found(placed: &PlacedUnit<'_>, finding: &Finding) -> Diagnostic {
    let related = finding.related.iter();
    Diagnostic {
        range: placed.range(finding.at),
        elsewhere: None,
        code: finding.code,
        severity: finding.severity,
        message: finding.message.clone(),
        related: related.map(|r| RelatedRange::here(placed.range(r.at), &r.message)).collect(),
    }
}

pub(super) fn not_modelled(placed: &PlacedUnit<'_>, note: &Note) -> Diagnostic {
    plain(placed.range(note.at), Code::NotModelled, format!("not modelled: {}", note.reason))
}

//! Diagnostics of one version of one document, computed on a worker.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tilefit_analysis::memory::OpenSearch;
use tilefit_syntax::TextRange;
use tower_lsp::ls_types::{Diagnostic, DiagnosticSeverity, NumberOrString, Uri};

use super::convert;
use super::documents::Revision;
use super::guard::panic_message;
use super::query::View;

pub(super) struct Diagnosed {
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) revision: Revision,
    pub(super) outcome: Outcome,
    /// Candidates of each import that is not known yet.
    pub(super) imports: Vec<Vec<String>>,
    /// What its plans leave open.
    pub(super) open: Vec<OpenSearch>,
    /// Functions that an edit in one that they call concerns.
    pub(super) callers: usize,
}

pub(super) enum Outcome {
    Done(Vec<Diagnostic>),
    Cancelled,
}

pub(super) fn diagnose(view: View, revision: Revision) -> Diagnosed {
    let (mut open, mut callers) = (Vec::new(), 0);
    let outcome = match catch_unwind(AssertUnwindSafe(|| view.analysis.diagnosis(view.file))) {
        Ok(Ok(found)) => {
            (open, callers) = (found.open, found.callers);
            let found = found.diagnostics.into_iter();
            Outcome::Done(found.map(|diagnostic| convert::diagnostic(&view, diagnostic)).collect())
        }
        Ok(Err(_)) => Outcome::Cancelled,
        Err(panic) => Outcome::Done(vec![failure(panic_message(panic.as_ref()))]),
    };
    let imports = catch_unwind(AssertUnwindSafe(|| view.analysis.unknown_imports(view.file)));
    let imports = imports.ok().and_then(Result::ok).unwrap_or_default();
    Diagnosed { uri: view.uri, version: view.version, revision, outcome, imports, open, callers }
}

/// Does a part of the work of [`diagnose`]. What comes of it is in the database; what goes wrong shows there again.
pub(super) fn prepare(view: &View, range: TextRange) {
    let _ = catch_unwind(AssertUnwindSafe(|| view.analysis.prepare(view.file, range)));
}

/// As [`prepare`], for the functions that an edit may concern.
pub(super) fn prepare_callers(view: &View) {
    let _ = catch_unwind(AssertUnwindSafe(|| view.analysis.prepare_callers(view.file)));
}

/// Said at the top of the file: an empty list would read as "no problem".
fn failure(panic: &str) -> Diagnostic {
    Diagnostic {
        severity: Some(DiagnosticSeverity::INFORMATION),
        code: Some(NumberOrString::String("internal-error".to_owned())),
        source: Some("tilefit".to_owned()),
        message: format!("tilefit could not analyse this version of the file, which is a bug: {panic}"),
        ..Diagnostic::default()
    }
}

/// The name under which the analysis knows a document: its path, or its URI where it has no file. The cells of a notebook differ
/// after the path only.
pub(super) fn path_of(uri: &Uri) -> String {
    let is_file = uri.as_str().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let path = uri.to_file_path().filter(|_| is_file);
    path.map_or_else(|| uri.as_str().to_owned(), |path| path.to_string_lossy().into_owned())
}

//! Diagnostics of one version of one document, computed on a worker.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tilefit_answers::panics::panic_message;
use tilefit_answers::{self as answers, Cell, View};
use tilefit_pypto::memory::OpenSearch;
use tilefit_syntax::TextRange;
use tower_lsp::ls_types::{Diagnostic, Uri};

use crate::lsp::revision::Revision;

pub(crate) struct Diagnosed {
    pub(crate) uri: Uri,
    pub(crate) revision: Revision,
    pub(crate) outcome: DiagnosisResult,
    /// Candidates of each import that is not known yet.
    pub(crate) imports: Arc<Vec<Vec<String>>>,
    /// The files that it rests on.
    pub(crate) imported: Arc<Vec<String>>,
    /// The name of its module, where its kernels may be launched by others.
    pub(crate) launched_as: Option<String>,
    /// What its plans leave open.
    pub(crate) open: Vec<OpenSearch>,
    /// Functions that an edit in one that they call concerns.
    pub(crate) callers: usize,
}

pub(crate) enum DiagnosisResult {
    /// Of each document that it is: of a notebook the cells.
    Done(Vec<(Cell, Vec<Diagnostic>)>),
    Cancelled,
}

pub(crate) fn diagnose(view: View, revision: Revision) -> Diagnosed {
    let (mut open, mut callers) = (Vec::new(), 0);
    let outcome = match catch_unwind(AssertUnwindSafe(|| view.analysis.diagnosis(view.file))) {
        Ok(Ok(found)) => {
            (open, callers) = (found.open, found.callers);
            DiagnosisResult::Done(answers::by_document(&view, found.diagnostics))
        }
        Ok(Err(_)) => DiagnosisResult::Cancelled,
        Err(panic) => {
            let mut documents = answers::by_document(&view, Vec::new());
            let failed = answers::failed_diagnosis(panic_message(panic.as_ref()));
            documents.iter_mut().take(1).for_each(|(_, found)| found.push(failed.clone()));
            DiagnosisResult::Done(documents)
        }
    };
    let imports = catch_unwind(AssertUnwindSafe(|| view.analysis.unknown_imports(view.file)));
    let imports = imports.ok().and_then(Result::ok).unwrap_or_default();
    let imported = catch_unwind(AssertUnwindSafe(|| view.analysis.imported_paths(view.file)));
    let imported = imported.ok().and_then(Result::ok).unwrap_or_default();
    let launched_as = catch_unwind(AssertUnwindSafe(|| view.analysis.launched_as(view.file)));
    let launched_as = launched_as.ok().and_then(Result::ok).flatten();
    Diagnosed { uri: view.uri, revision, outcome, imports, imported, launched_as, open, callers }
}

/// Does a part of the work of [`diagnose`]. What comes of it is in the database; what goes wrong shows there again.
pub(crate) fn prepare(view: &View, range: TextRange) {
    let _ = catch_unwind(AssertUnwindSafe(|| view.analysis.prepare(view.file, range)));
}

/// As [`prepare`], for the functions that an edit may concern.
pub(crate) fn prepare_callers(view: &View) {
    let _ = catch_unwind(AssertUnwindSafe(|| view.analysis.prepare_callers(view.file)));
}

/// As [`prepare`], for all that [`diagnose`] asks.
pub(crate) fn warm(view: &View) {
    let _ = catch_unwind(AssertUnwindSafe(|| view.analysis.diagnosis(view.file)));
}

//! `workspace/diagnostic`: what is said of one file, open or not.

use std::sync::Arc;

use ls_types::{
    Diagnostic, FullDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport, Uri,
    WorkspaceDocumentDiagnosticReport, WorkspaceFullDocumentDiagnosticReport,
    WorkspaceUnchangedDocumentDiagnosticReport,
};
use tilefit_analysis::Cancellable;

use crate::diagnostic::{diagnostics, diagnostics_id};
use crate::view::View;

/// What is wrong in a file, whichever request asks for it.
#[derive(Debug, Clone)]
pub struct Report {
    id: String,
    items: Arc<Vec<Diagnostic>>,
    is_kernel_file: bool,
}

/// Of the document of a view.
pub fn report(view: &View) -> Cancellable<Report> {
    let items = diagnostics(view)?;
    let has_kernels = view.analysis.document_symbols(view.file).is_ok_and(|symbols| !symbols.is_empty());
    Ok(Report { id: diagnostics_id(&items), is_kernel_file: has_kernels || !items.is_empty(), items: Arc::new(items) })
}

impl Report {
    /// Of a file that is gone.
    pub fn empty() -> Report {
        Report { id: diagnostics_id(&[]), items: Arc::default(), is_kernel_file: false }
    }

    /// The same for the same diagnostics.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether there are kernels or findings in it; files without are not told of.
    pub fn is_kernel_file(&self) -> bool {
        self.is_kernel_file
    }

    /// As a part of the answer. `version`: of a document that is open; `known`: what the client has, by the id of an earlier report.
    pub fn of_document(self, uri: Uri, version: Option<i32>, known: Option<&str>) -> WorkspaceDocumentDiagnosticReport {
        let Report { id, items, .. } = self;
        let version = version.map(i64::from);
        if known == Some(id.as_str()) {
            let unchanged_document_diagnostic_report = UnchangedDocumentDiagnosticReport { result_id: id };
            let report =
                WorkspaceUnchangedDocumentDiagnosticReport { uri, version, unchanged_document_diagnostic_report };
            return WorkspaceDocumentDiagnosticReport::Unchanged(report);
        }
        let full_document_diagnostic_report =
            FullDocumentDiagnosticReport { result_id: Some(id), items: items.as_ref().clone() };
        let report = WorkspaceFullDocumentDiagnosticReport { uri, version, full_document_diagnostic_report };
        WorkspaceDocumentDiagnosticReport::Full(report)
    }
}

use std::hash::{DefaultHasher, Hash, Hasher};

use tilefit_analysis::Cancellable;
use tower_lsp::ls_types::{
    Diagnostic, DocumentDiagnosticReport, DocumentDiagnosticReportResult, FullDocumentDiagnosticReport,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport,
};

use crate::lsp::convert;
use crate::lsp::query::View;

/// `known`: what the client has, by the id of an earlier report.
pub(in crate::lsp) fn diagnostic(view: &View, known: Option<&str>) -> Cancellable<DocumentDiagnosticReportResult> {
    let items = diagnostics(view)?;
    let result_id = diagnostics_id(&items);
    let report = if known == Some(result_id.as_str()) {
        DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id },
        })
    } else {
        DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id: Some(result_id), items },
        })
    };
    Ok(DocumentDiagnosticReportResult::Report(report))
}

pub(in crate::lsp) fn diagnostics(view: &View) -> Cancellable<Vec<Diagnostic>> {
    let found = view.analysis.diagnostics(view.file)?;
    Ok(found.into_iter().map(|diagnostic| convert::diagnostic(view, diagnostic)).collect())
}

/// The same for the same diagnostics.
pub(in crate::lsp) fn diagnostics_id(items: &[Diagnostic]) -> String {
    let mut hasher = DefaultHasher::new();
    for item in items {
        // Strings and numbers only: always representable.
        serde_json::to_string(item).unwrap_or_default().hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

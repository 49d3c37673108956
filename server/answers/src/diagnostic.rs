//! `textDocument/diagnostic`, and what is published without being asked for.

use std::hash::{DefaultHasher, Hash, Hasher};

use ls_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, DocumentDiagnosticReport,
    DocumentDiagnosticReportResult, FullDocumentDiagnosticReport, Location, NumberOrString,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport,
};
use tilefit_analysis::ide::Elsewhere;
use tilefit_analysis::{Cancellable, ide};
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_syntax::TextRange;

use crate::notebook::Cell;
use crate::view::View;

/// `known`: what the client has, by the id of an earlier report.
pub fn diagnostic(view: &View, known: Option<&str>) -> Cancellable<DocumentDiagnosticReportResult> {
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

pub fn diagnostics(view: &View) -> Cancellable<Vec<Diagnostic>> {
    let mut found = view.analysis.diagnostics(view.file)?;
    found.retain(|diagnostic| view.has(diagnostic.range.start));
    Ok(found.into_iter().map(|diagnostic| lsp_diagnostic(view, diagnostic)).collect())
}

/// What is found in a file, by the documents of the client that it is: itself, or the cells of a notebook.
pub fn by_document(view: &View, found: Vec<ide::Diagnostic>) -> Vec<(Cell, Vec<Diagnostic>)> {
    let Some(cells) = view.notebooks.get(view.analysis.path(view.file)) else {
        let own = Cell { uri: view.uri.clone(), version: view.version };
        return vec![(own, found.into_iter().map(|diagnostic| lsp_diagnostic(view, diagnostic)).collect())];
    };
    let mut documents: Vec<_> = cells.iter().map(|cell| (cell.clone(), Vec::new())).collect();
    for diagnostic in found {
        let part = view.document.part_at(diagnostic.range.start);
        if let Some((_, of_cell)) = part.and_then(|part| documents.get_mut(part)) {
            of_cell.push(lsp_diagnostic(view, diagnostic));
        }
    }
    documents
}

/// The same for the same diagnostics.
pub(crate) fn diagnostics_id(items: &[Diagnostic]) -> String {
    let mut hasher = DefaultHasher::new();
    for item in items {
        // Strings and numbers only: always representable.
        serde_json::to_string(item).unwrap_or_default().hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// As editors show it.
pub fn lsp_diagnostic(view: &View, diagnostic: ide::Diagnostic) -> Diagnostic {
    let related = diagnostic.related.into_iter().map(|related| DiagnosticRelatedInformation {
        location: place(view, related.elsewhere, related.range),
        message: related.message,
    });
    let written = diagnostic.elsewhere.map(|elsewhere| DiagnosticRelatedInformation {
        location: place(view, Some(elsewhere), diagnostic.range),
        message: "written here".to_owned(),
    });
    Diagnostic {
        range: view.range(diagnostic.range),
        severity: Some(severity(diagnostic.severity)),
        code: Some(NumberOrString::String(diagnostic.code.name().to_owned())),
        source: Some("tilefit".to_owned()),
        message: match diagnostic.elsewhere {
            Some(elsewhere) => format!("{}, {}", named(view, elsewhere), diagnostic.message),
            None => diagnostic.message,
        },
        related_information: Some(written.into_iter().chain(related).collect()),
        tags: tag(diagnostic.code).map(|tag| vec![tag]),
        ..Diagnostic::default()
    }
}

fn place(view: &View, elsewhere: Option<Elsewhere>, here: TextRange) -> Location {
    let there = elsewhere.and_then(|elsewhere| view.location(elsewhere.file, elsewhere.range));
    let there = there.or_else(|| view.location(view.file, here));
    there.unwrap_or_else(|| Location::new(view.uri.clone(), view.range(here)))
}

/// `gate.py:215`
fn named(view: &View, Elsewhere { file, range }: Elsewhere) -> String {
    let path = view.analysis.path(file);
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    format!("{name}:{}", view.analysis.document(file).line(range.start))
}

/// How editors show what is not needed. None is deprecated: what allocates in an older form is needed, and editors strike it through.
fn tag(code: Code) -> Option<DiagnosticTag> {
    (code == Code::UnusedSpec).then_some(DiagnosticTag::UNNECESSARY)
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Info => DiagnosticSeverity::INFORMATION,
        Severity::Hint => DiagnosticSeverity::HINT,
    }
}

/// Said at the top of the file: an empty list would read as "no problem".
pub fn failed_diagnosis(panic: &str) -> Diagnostic {
    Diagnostic {
        severity: Some(DiagnosticSeverity::INFORMATION),
        code: Some(NumberOrString::String("internal-error".to_owned())),
        source: Some("tilefit".to_owned()),
        message: format!("tilefit could not analyse this version of the file. This is a bug in tilefit: {panic}"),
        ..Diagnostic::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_strikes_text_through() {
        assert_eq!(tag(Code::LegacyReuse), None);
        assert!(Code::ALL.iter().all(|&code| tag(code) != Some(DiagnosticTag::DEPRECATED)));
    }
}

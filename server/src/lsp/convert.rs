//! Plain data of the analysis, as LSP types.

use tilelens_analysis::diagnostics::Severity;
use tilelens_analysis::ide::Diagnostic;
use tilelens_syntax::{Document, PositionEncoding, TextRange};
use tower_lsp::ls_types as lsp;

use super::query::View;

pub(super) fn position(document: &Document, offset: usize, encoding: PositionEncoding) -> lsp::Position {
    let at = document.position(offset, encoding);
    lsp::Position::new(at.line, at.col)
}

pub(super) fn range(document: &Document, range: TextRange, encoding: PositionEncoding) -> lsp::Range {
    lsp::Range::new(position(document, range.start, encoding), position(document, range.end, encoding))
}

pub(super) fn diagnostic(view: &View, diagnostic: Diagnostic) -> lsp::Diagnostic {
    let related = diagnostic.related.into_iter().map(|related| lsp::DiagnosticRelatedInformation {
        location: lsp::Location::new(view.uri.clone(), view.range(related.range)),
        message: related.message,
    });
    let page = diagnostic.code.docs_url().parse().ok();
    lsp::Diagnostic {
        range: view.range(diagnostic.range),
        severity: Some(severity(diagnostic.severity)),
        code: Some(lsp::NumberOrString::String(diagnostic.code.name().to_owned())),
        code_description: page.map(|href| lsp::CodeDescription { href }),
        source: Some("tilelens".to_owned()),
        message: diagnostic.message,
        related_information: Some(related.collect()),
        ..lsp::Diagnostic::default()
    }
}

fn severity(severity: Severity) -> lsp::DiagnosticSeverity {
    match severity {
        Severity::Error => lsp::DiagnosticSeverity::ERROR,
        Severity::Warning => lsp::DiagnosticSeverity::WARNING,
        Severity::Info => lsp::DiagnosticSeverity::INFORMATION,
        Severity::Hint => lsp::DiagnosticSeverity::HINT,
    }
}

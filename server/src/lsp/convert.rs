//! Plain data of the analysis, as LSP types.

use std::path::Path;

use tilefit_analysis::diagnostics::{Code, Severity};
use tilefit_analysis::ide::Diagnostic;
use tilefit_syntax::{Document, PositionEncoding, TextRange};
use tower_lsp::ls_types as lsp;

use super::query::View;

pub(super) fn position(document: &Document, offset: usize, encoding: PositionEncoding) -> lsp::Position {
    let at = document.position(offset, encoding);
    lsp::Position::new(at.line, at.col)
}

pub(super) fn range(document: &Document, range: TextRange, encoding: PositionEncoding) -> lsp::Range {
    lsp::Range::new(position(document, range.start, encoding), position(document, range.end, encoding))
}

/// The URI of a file by the path that the analysis knows; of a document without a file the path is the URI.
pub(super) fn uri_of(path: &str) -> Option<lsp::Uri> {
    match Path::new(path).is_absolute() {
        true => lsp::Uri::from_file_path(path),
        false => path.parse().ok(),
    }
}

pub(super) fn diagnostic(view: &View, diagnostic: Diagnostic) -> lsp::Diagnostic {
    let related = diagnostic.related.into_iter().map(|related| lsp::DiagnosticRelatedInformation {
        location: lsp::Location::new(view.uri.clone(), view.range(related.range)),
        message: related.message,
    });
    lsp::Diagnostic {
        range: view.range(diagnostic.range),
        severity: Some(severity(diagnostic.severity)),
        code: Some(lsp::NumberOrString::String(diagnostic.code.name().to_owned())),
        source: Some("tilefit".to_owned()),
        message: diagnostic.message,
        related_information: Some(related.collect()),
        tags: tag(diagnostic.code).map(|tag| vec![tag]),
        ..lsp::Diagnostic::default()
    }
}

/// How editors show what is not needed, or not to be used any longer.
fn tag(code: Code) -> Option<lsp::DiagnosticTag> {
    match code {
        Code::UnusedSpec => Some(lsp::DiagnosticTag::UNNECESSARY),
        Code::LegacyReuse => Some(lsp::DiagnosticTag::DEPRECATED),
        _ => None,
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

/// Markdown for clients that show it, else the same as plain text.
pub(super) fn markup(markdown: String, is_shown: bool) -> lsp::MarkupContent {
    if is_shown {
        return lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: markdown };
    }
    lsp::MarkupContent { kind: lsp::MarkupKind::PlainText, value: plain(&markdown) }
}

/// Of Markdown what features write: fences, code, tables of two columns, rulers.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    for line in markdown.lines() {
        let cells: Vec<&str> = match line.strip_prefix('|').and_then(|row| row.strip_suffix('|')) {
            Some(row) => row.split('|').map(str::trim).collect(),
            None => Vec::new(),
        };
        let is_frame = !cells.is_empty() && cells.iter().all(|cell| cell.chars().all(|c| c == '-'));
        if is_frame || line.starts_with("```") {
            continue;
        }
        let line = if cells.is_empty() { line.to_owned() } else { cells.join(": ") };
        let line = line.replace('`', "").replace("**", "");
        if !(line.is_empty() && (text.is_empty() || text.ends_with("\n\n"))) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_as_plain_text() {
        let markdown =
            "```python\nx: pl.Tile[[4], pl.FP32]\n```\n\n| | |\n|---|---|\n| size | 16 bytes (`16 B`) |\n\nNote.\n";
        assert_eq!(plain(markdown), "x: pl.Tile[[4], pl.FP32]\n\nsize: 16 bytes (16 B)\n\nNote.");
    }
}

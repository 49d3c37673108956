//! A diagnostic with the source it is about.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use tilefit_analysis::diagnostics::Severity;
use tilefit_analysis::ide::Diagnostic;
use tilefit_syntax::{Document, LineCol, PositionEncoding, TextRange};

use crate::terminal::{plain, plain_in_place};

/// A code frame, in colour.
pub(super) fn render(path: &str, text: &str, document: &Document, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
        Severity::Hint => Level::HELP.with_name("hint"),
    };
    let (shown, first_line) = shown(text, document, diagnostic);
    let within = |range: TextRange| {
        let clamp = |offset: usize| floor_char_boundary(text, offset.clamp(shown.start, shown.end)) - shown.start;
        clamp(range.start)..clamp(range.end.max(range.start))
    };
    let primary = AnnotationKind::Primary.span(within(diagnostic.range));
    let related = diagnostic
        .related
        .iter()
        .map(|related| AnnotationKind::Context.span(within(related.range)).label(plain(&related.message)));
    let source = plain_in_place(text.get(shown.start..shown.end).unwrap_or_default());
    let snippet =
        Snippet::source(source).path(plain(path)).line_start(first_line).annotation(primary).annotations(related);
    let title = level.primary_title(plain(&diagnostic.message)).id(diagnostic.code.name());
    // What is only a hint takes one line, so that it hides no error.
    let is_hint = diagnostic.severity == Severity::Hint;
    let renderer = Renderer::styled().decor_style(DecorStyle::Unicode).short_message(is_hint);
    let gap = if is_hint { "\n" } else { "\n\n" };
    format!("{}{gap}", renderer.render(&[title.element(snippet)]))
}

/// The lines that the annotations stand in, and the number of the first. The renderer's cost follows the text it is
/// given, and a file may have thousands of diagnostics.
fn shown(text: &str, document: &Document, diagnostic: &Diagnostic) -> (TextRange, usize) {
    let ranges = || diagnostic.related.iter().map(|related| related.range).chain([diagnostic.range]);
    let start = ranges().map(|range| range.start).min().unwrap_or(0);
    let end = ranges().map(|range| range.end).max().unwrap_or(0);
    let line = |offset| document.position(offset, PositionEncoding::Utf8).line;
    let at = |line| document.offset(LineCol { line, col: 0 }, PositionEncoding::Utf8);
    let (first, last) = (line(start), line(end.max(start)));
    let end = at(last.saturating_add(1)).max(end).min(text.len());
    (TextRange { start: at(first), end }, first as usize + 1)
}

fn floor_char_boundary(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

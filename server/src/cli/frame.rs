//! A diagnostic with the source it is about.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use tilefit_analysis::ide::{Diagnostic, RelatedRange};
use tilefit_python::diagnostics::Severity;
use tilefit_syntax::{Document, LineCol, PositionEncoding, TextRange};

use crate::notebook::in_cell;
use crate::terminal::{plain, plain_in_place, wrapped};

/// A code frame in colour, of lines that have `width` characters. `elsewhere`: what is said of other files.
pub(super) fn render(
    path: &str,
    text: &str,
    document: &Document,
    diagnostic: &Diagnostic,
    elsewhere: &[String],
    width: usize,
) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
        Severity::Hint => Level::HELP.with_name("hint"),
    };
    let cell = document.part_at(diagnostic.range.start);
    let path = &in_cell(path, cell.map(|cell| cell + 1));
    let (shown, first_line) = shown(text, document, diagnostic);
    let within = |range: TextRange| {
        let clamp = |offset: usize| floor_char_boundary(text, offset.clamp(shown.start, shown.end)) - shown.start;
        let (start, end) = (clamp(range.start), clamp(range.end.max(range.start)));
        // The renderer cuts a line that is too long, but none of what is underlined.
        let line = &text[shown.start + start..shown.start + end];
        let longest = || line.char_indices().nth(width.saturating_sub(MARGINS)).map(|(at, _)| start + at);
        start..(if line.contains('\n') { None } else { longest() }).unwrap_or(end)
    };
    let primary = AnnotationKind::Primary.span(within(diagnostic.range));
    let source = plain_in_place(text.get(shown.start..shown.end).unwrap_or_default());
    let gutter = (first_line + source.lines().count()).to_string().len() + GUTTER;
    let (mut related, mut notes) = (Vec::new(), Vec::new());
    for RelatedRange { range, message, .. } in &diagnostic.related {
        let of_related = document.part_at(range.start);
        if of_related != cell {
            let (other, line) = (of_related.map_or(0, |cell| cell + 1), document.line(range.start));
            let text = format!("cell {other}, line {line}: {}", plain(message));
            notes.push(Level::NOTE.message(wrapped(&text, width.saturating_sub(gutter + "note: ".len()), "")));
            continue;
        }
        let place = document.position(range.end, PositionEncoding::Utf32);
        let annotation = AnnotationKind::Context.span(within(*range));
        if gutter + place.col as usize + message.chars().count() <= width {
            related.push(annotation.label(plain(message)));
        } else {
            // A label is one line, whatever the terminal holds.
            related.push(annotation);
            let text = format!("line {}: {}", place.line + 1, plain(message));
            notes.push(Level::NOTE.message(wrapped(&text, width.saturating_sub(gutter + "note: ".len()), "")));
        }
    }
    let wide = width.saturating_sub(gutter + "note: ".len());
    notes.extend(elsewhere.iter().map(|note| Level::NOTE.message(wrapped(&plain(note), wide, ""))));
    let snippet =
        Snippet::source(source).path(plain(path)).line_start(first_line).annotation(primary).annotations(related);
    let label = format!("{}[{}]: ", diagnostic.severity.name(), diagnostic.code).len();
    let message = wrapped(&plain(&diagnostic.message), width.saturating_sub(label).max(NARROWEST), "");
    let title = level.primary_title(message).id(diagnostic.code.name());
    let renderer = Renderer::styled().decor_style(DecorStyle::Unicode).term_width(width);
    format!("{}\n\n", renderer.render(&[title.element(snippet).elements(notes)]))
}

/// Numbers of lines, and the marks for the text that is cut away on both sides.
const MARGINS: usize = 14;

/// Around the numbers of lines: ` │ `, and the space after a label's span.
const GUTTER: usize = 4;

/// A message is not broken into less, however narrow the terminal is.
const NARROWEST: usize = 24;

/// The lines that the annotations stand in, and the number of the first. The renderer's cost follows the text it is
/// given, and a file may have thousands of diagnostics.
fn shown(text: &str, document: &Document, diagnostic: &Diagnostic) -> (TextRange, usize) {
    let own = document.part_at(diagnostic.range.start);
    let related = || diagnostic.related.iter().map(|related| related.range);
    let ranges = || related().filter(|range| document.part_at(range.start) == own).chain([diagnostic.range]);
    let start = ranges().map(|range| range.start).min().unwrap_or(0);
    let end = ranges().map(|range| range.end).max().unwrap_or(0);
    let rope = document.rope();
    let line = |offset: usize| rope.byte_to_line(offset.min(rope.len_bytes())) as u32;
    let at = |line| document.offset(LineCol { line, col: 0 }, PositionEncoding::Utf8);
    let (first, last) = (line(start), line(end.max(start)));
    let end = at(last.saturating_add(1)).max(end).min(text.len());
    (TextRange { start: at(first), end }, document.line(at(first)))
}

fn floor_char_boundary(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

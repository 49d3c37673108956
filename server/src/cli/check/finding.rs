//! A diagnostic with all that the formats write of it.

use tilefit_analysis::ide::{Diagnostic, Elsewhere, RelatedRange};
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_syntax::{Document, LineCol, PositionEncoding, TextRange};

use crate::cli::frame;
use crate::cli::source::Source;

pub(super) struct Finding {
    pub(super) code: Code,
    pub(super) severity: Severity,
    pub(super) message: String,
    pub(super) place: FileRange,
    pub(super) related: Vec<(FileRange, String)>,
    /// The first line that it is about, without indentation.
    pub(super) line_text: String,
    /// Empty where it was not asked for.
    pub(super) frame: String,
}

/// A half-open range in a file, whose path is [`portable`]. Lines and columns count from 1, columns in UTF-16 code units, as editors and SARIF do.
pub(super) struct FileRange {
    pub(super) path: String,
    /// Of a notebook, from 1; lines count in it.
    pub(super) cell: Option<usize>,
    pub(super) start: LineCol,
    pub(super) end: LineCol,
    /// The first and the last line of the file; `None` in a notebook of which the lines are not known.
    pub(super) lines: Option<[u32; 2]>,
}

impl Finding {
    pub(super) fn new(path: &str, source: &Source, diagnostic: &Diagnostic, width: Option<usize>) -> Finding {
        let here = |range: TextRange| {
            let TextRange { start, end } = source.document.within_part(range);
            let cell = source.cell(start);
            let (start, end) = (position(&source.document, start), position(&source.document, end));
            let line = |at: LineCol| cell.map_or(Some(at.line), |cell| source.lines.in_file(cell, at.line));
            let lines = line(start).zip(line(end)).map(<[u32; 2]>::from);
            FileRange { path: portable(path), cell, start, end, lines }
        };
        let there = |Elsewhere { file, range }: Elsewhere| {
            let (path, document) = source.other(path, file);
            let (start, end) = (position(document, range.start), position(document, range.end));
            FileRange { path: portable(&path), cell: None, start, end, lines: Some([start.line, end.line]) }
        };
        let place = |elsewhere: Option<Elsewhere>, range| elsewhere.map_or_else(|| here(range), there);
        let related: Vec<_> =
            diagnostic.related.iter().map(|it| (place(it.elsewhere, it.range), it.message.clone())).collect();
        let place = place(diagnostic.elsewhere, diagnostic.range);
        let (line_text, frame) = match diagnostic.elsewhere {
            None => (
                line_at(&source.text, diagnostic.range.start),
                width.map(|width| frame::render(path, &source.text, &source.document, diagnostic, &[], width)),
            ),
            Some(elsewhere) => {
                let document = source.other(path, elsewhere.file).1;
                let text = document.rope().to_string();
                let (shown, notes) = shown_in(elsewhere, diagnostic, &related);
                let frame = width.map(|width| frame::render(&place.path, &text, document, &shown, &notes, width));
                (line_at(&text, elsewhere.range.start), frame)
            }
        };
        Finding {
            code: diagnostic.code,
            severity: diagnostic.severity,
            message: diagnostic.message.clone(),
            place,
            related,
            line_text,
            frame: frame.unwrap_or_default(),
        }
    }
}

/// A diagnostic in the file where it is written, and what is to be said of other files.
fn shown_in(at: Elsewhere, diagnostic: &Diagnostic, related: &[(FileRange, String)]) -> (Diagnostic, Vec<String>) {
    let (mut there, mut notes) = (Vec::new(), Vec::new());
    for (it, (place, message)) in diagnostic.related.iter().zip(related) {
        match it.elsewhere.filter(|elsewhere| elsewhere.file == at.file) {
            Some(elsewhere) => there.push(RelatedRange { range: elsewhere.range, ..it.clone() }),
            None => notes.push(format!("{}:{}: {message}", place.path, place.start.line)),
        }
    }
    (Diagnostic { range: at.range, related: there, ..diagnostic.clone() }, notes)
}

fn line_at(text: &str, offset: usize) -> String {
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    text[start..].lines().next().unwrap_or_default().trim().to_owned()
}

impl Finding {
    /// With the place in a notebook, for readers that count in its JSON.
    pub(super) fn named_message(&self) -> String {
        let FileRange { cell, start, .. } = &self.place;
        cell.map_or_else(|| self.message.clone(), |cell| format!("cell {cell}, line {}: {}", start.line, self.message))
    }
}

fn position(document: &Document, offset: usize) -> LineCol {
    let from_zero = document.position(offset, PositionEncoding::Utf16);
    LineCol { line: from_zero.line + 1, col: from_zero.col + 1 }
}

/// A path as the same file has it on every machine, if it was named from the same directory.
pub(super) fn portable(path: &str) -> String {
    let path = path.replace(std::path::MAIN_SEPARATOR, "/");
    path.strip_prefix("./").unwrap_or(&path).to_owned()
}

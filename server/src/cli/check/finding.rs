//! A diagnostic with all that the formats write of it.

use tilefit_analysis::diagnostics::{Code, Severity};
use tilefit_analysis::ide::Diagnostic;
use tilefit_syntax::{LineCol, PositionEncoding, TextRange};

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
        let place = |range: TextRange| {
            let TextRange { start, end } = source.document.within_part(range);
            let cell = source.cell(start);
            let (start, end) = (position(source, start), position(source, end));
            let line = |at: LineCol| cell.map_or(Some(at.line), |cell| source.lines.in_file(cell, at.line));
            let lines = line(start).zip(line(end)).map(<[u32; 2]>::from);
            FileRange { path: portable(path), cell, start, end, lines }
        };
        let related = diagnostic.related.iter().map(|related| (place(related.range), related.message.clone()));
        let line_start = source.text[..diagnostic.range.start].rfind('\n').map_or(0, |at| at + 1);
        let line_text = source.text[line_start..].lines().next().unwrap_or_default().trim().to_owned();
        let frame = width.map(|width| frame::render(path, &source.text, &source.document, diagnostic, width));
        Finding {
            code: diagnostic.code,
            severity: diagnostic.severity,
            message: diagnostic.message.clone(),
            place: place(diagnostic.range),
            related: related.collect(),
            line_text,
            frame: frame.unwrap_or_default(),
        }
    }
}

impl Finding {
    /// With the place in a notebook, for readers that count in its JSON.
    pub(super) fn named_message(&self) -> String {
        let FileRange { cell, start, .. } = &self.place;
        cell.map_or_else(|| self.message.clone(), |cell| format!("cell {cell}, line {}: {}", start.line, self.message))
    }
}

fn position(source: &Source, offset: usize) -> LineCol {
    let from_zero = source.document.position(offset, PositionEncoding::Utf16);
    LineCol { line: from_zero.line + 1, col: from_zero.col + 1 }
}

/// A path as the same file has it on every machine, if it was named from the same directory.
pub(super) fn portable(path: &str) -> String {
    let path = path.replace(std::path::MAIN_SEPARATOR, "/");
    path.strip_prefix("./").unwrap_or(&path).to_owned()
}

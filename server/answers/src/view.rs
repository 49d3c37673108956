//! What every request is asked of.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use ls_types::{Location, Position, Range, Uri};
use tilefit_analysis::{Analysis, FileId};
use tilefit_syntax::{Document, LineCol, PositionEncoding, TextRange};

use crate::convert;
use crate::last_whole::LastWhole;
use crate::notebook::Notebooks;

/// One version of one document, with the analysis of exactly that version. Of a notebook it is one of the cells; the analysis is of all of them.
pub struct View {
    pub analysis: Analysis,
    pub file: FileId,
    pub uri: Uri,
    pub version: i32,
    pub document: Document,
    pub encoding: PositionEncoding,
    /// Where a setting of the project can be written; `None` where there is no such place, or the editor's own settings decide.
    pub settings_folder: Option<PathBuf>,
    /// Byte offset of the end of the newest edit since the document was opened or saved.
    pub edited: Option<usize>,
    /// What the lenses of the document said last of whole kernels.
    pub last_whole: Arc<LastWhole>,
    /// The part of the text that the document is, where it is the cell of a notebook.
    pub cell: Option<usize>,
    pub notebooks: Notebooks,
}

impl View {
    /// A file as the analysis has it.
    pub fn of_file(analysis: Analysis, file: FileId, uri: Uri, version: i32, encoding: PositionEncoding) -> View {
        let document = analysis.document(file).clone();
        View {
            analysis,
            file,
            uri,
            version,
            document,
            encoding,
            settings_folder: None,
            edited: None,
            last_whole: Arc::default(),
            cell: None,
            notebooks: Notebooks::default(),
        }
    }

    /// With the notebooks that are open; the document may be a cell of one.
    pub fn among(mut self, notebooks: Notebooks) -> View {
        let cells = notebooks.get(self.analysis.path(self.file));
        self.cell = cells.and_then(|cells| cells.iter().position(|cell| cell.uri == self.uri));
        if let (Some(cells), Some(cell)) = (cells, self.cell) {
            self.version = cells[cell].version;
        }
        self.notebooks = notebooks;
        self
    }

    /// Of the document, and of the cells of its notebook.
    pub fn versions(&self) -> HashMap<Uri, i32> {
        let cells = self.notebooks.get(self.analysis.path(self.file)).into_iter().flat_map(|cells| cells.iter());
        let cells = cells.map(|cell| (cell.uri.clone(), cell.version));
        cells.chain([(self.uri.clone(), self.version)]).collect()
    }

    /// Byte offset of a client's position, clamped to the document.
    pub fn offset(&self, position: Position) -> usize {
        let position = LineCol { line: position.line, col: position.character };
        match self.cell {
            Some(cell) => self.document.offset_in(cell, position, self.encoding),
            None => self.document.offset(position, self.encoding),
        }
    }

    /// Byte range of a client's range, clamped to the document.
    pub fn text_range(&self, range: Range) -> TextRange {
        let start = self.offset(range.start);
        TextRange { start, end: self.offset(range.end).max(start) }
    }

    pub fn position(&self, offset: usize) -> Position {
        convert::position(&self.document, offset, self.encoding)
    }

    pub fn range(&self, range: TextRange) -> Range {
        convert::range(&self.document, range, self.encoding)
    }

    /// Whether an offset is in the document: in a notebook not in another cell.
    pub fn has(&self, offset: usize) -> bool {
        self.cell.is_none() || self.cell == self.document.part_at(offset)
    }

    /// The offset of the document that is nearest to one of the text.
    pub fn nearest(&self, offset: usize) -> usize {
        let own = self.cell.map(|cell| self.document.part(cell));
        own.map_or(offset, |own| offset.clamp(own.start, own.end))
    }

    /// A place in this or another file of the analysis.
    pub fn location(&self, file: FileId, range: TextRange) -> Option<Location> {
        let (path, is_own) = (self.analysis.path(file), file == self.file);
        let document = if is_own { &self.document } else { self.analysis.document(file) };
        let cell = || self.notebooks.get(path)?.get(document.part_at(range.start)?);
        let uri = match cell() {
            Some(cell) => cell.uri.clone(),
            None if is_own => self.uri.clone(),
            None => convert::uri_of(path)?,
        };
        Some(Location::new(uri, convert::range(document, range, self.encoding)))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use tilefit_analysis::AnalysisHost;

    use super::*;
    use crate::Shows;

    const KERNEL: &str = "\
import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[128, 512], pl.FP32], out: pl.Out[pl.Tensor[[128, 512], pl.FP32]]):
    über = pl.load(a, [0, 0], [128, 512])
    out = pl.store(über, [0, 0], out)
    return out
";

    /// All that it takes to answer: an analysis, a file, and how the client counts columns.
    fn view(encoding: PositionEncoding) -> View {
        let uri: Uri = "memory:/k.py".parse().expect("a URI");
        let mut host = AnalysisHost::new();
        let file = host.file_id(&convert::path_of(&uri));
        host.set_document(file, Document::new(KERNEL));
        View::of_file(host.snapshot(), file, uri, 1, encoding)
    }

    #[test]
    fn a_request_is_answered_without_a_server() {
        let view = view(PositionEncoding::Utf16);
        let diagnostics = crate::diagnostics(&view).expect("no edit interrupts");
        let said: Vec<_> = diagnostics.iter().map(|it| (it.range.start.line, it.message.as_str())).collect();
        expect![[r#"
            [
                (
                    4,
                    "Vec overflow: `über` [128, 512] alone takes 256 KiB, 184 KiB available (72 KiB over). Split it into parts of at most 184 KiB. (compiler: \"Vec buffer usage (262144 bytes) exceeds platform limit (188416 bytes)\")",
                ),
            ]
        "#]].assert_debug_eq(&said);
        let hover = crate::hover(&view, Position::new(4, 4), Shows::default()).expect("no edit interrupts");
        assert_eq!(hover.and_then(|hover| hover.range), Some(Range::new(Position::new(4, 4), Position::new(4, 8))));
    }

    #[test]
    fn columns_are_those_of_the_client() {
        let at_load = KERNEL.find("pl.load").expect("it is there");
        for (encoding, column) in [(PositionEncoding::Utf8, 12), (PositionEncoding::Utf16, 11)] {
            let view = view(encoding);
            assert_eq!(view.position(at_load), Position::new(4, column));
            assert_eq!(view.offset(Position::new(4, column)), at_load);
        }
    }
}

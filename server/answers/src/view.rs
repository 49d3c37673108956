//! What every request is asked of.

use std::path::PathBuf;

use ls_types::{Location, Position, Range, Uri};
use tilefit_analysis::{Analysis, FileId};
use tilefit_syntax::{Document, LineCol, PositionEncoding, TextRange};

use crate::convert;

/// One version of one document, with the analysis of exactly that version.
pub struct View {
    pub analysis: Analysis,
    pub file: FileId,
    pub uri: Uri,
    pub version: i32,
    pub document: Document,
    pub encoding: PositionEncoding,
    /// Where a setting of the project can be written; `None` where there is no such place, or the editor's own settings decide.
    pub settings_folder: Option<PathBuf>,
}

impl View {
    /// Byte offset of a client's position, clamped to the document.
    pub fn offset(&self, position: Position) -> usize {
        self.document.offset(LineCol { line: position.line, col: position.character }, self.encoding)
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

    /// A place in this or another file of the analysis.
    pub fn location(&self, file: FileId, range: TextRange) -> Option<Location> {
        if file == self.file {
            return Some(Location::new(self.uri.clone(), self.range(range)));
        }
        let uri = convert::uri_of(self.analysis.path(file))?;
        Some(Location::new(uri, convert::range(self.analysis.document(file), range, self.encoding)))
    }
}

//! Where in a kernel a position is, in code that may be half typed: its dialect, and the names that are being written.

use tilefit_syntax::cursor::Cursor;
use tilefit_syntax::{BlockKind, TextRange};

use crate::db::{self, Unit};

use super::language::Dialect;
use super::{Context, languages};

/// A position inside of a kernel, or of a function that may hold kernels.
pub(super) struct CursorContext<'db> {
    pub(super) dialect: &'static Dialect,
    pub(super) unit: Unit<'db>,
    /// Byte offset of the block in the file.
    pub(super) start: usize,
    /// The text of the block.
    pub(super) text: &'db str,
    /// Within the block.
    pub(super) cursor: Cursor<'db>,
    context_file: db::SourceFile,
    db: &'db dyn salsa::Database,
}

impl<'db> CursorContext<'db> {
    /// `None` in plain Python, in comments and in strings.
    pub(super) fn at(context: &Context<'db>, offset: usize) -> Option<CursorContext<'db>> {
        if context.file.excluded(context.db) {
            return None;
        }
        let units = db::units(context.db, context.file);
        let mut blocks = units.iter().zip(context.document().blocks());
        // Where blocks meet, the position is at the end of the earlier one.
        let (&unit, block) = blocks.find(|(_, block)| block.start + block.source.text.len() >= offset)?;
        let text = block.source.text.as_str();
        if block.key.kind != BlockKind::Function || !text.contains('@') {
            return None;
        }
        let dialect = dialect(context.db, context.file, text)?;
        let within = offset.checked_sub(block.start)?;
        let cursor = Cursor::at(text, within)?;
        let place = CursorContext {
            dialect,
            unit,
            start: block.start,
            text,
            cursor,
            context_file: context.file,
            db: context.db,
        };
        (!is_behind(text, place.cursor.line, within)).then_some(place)
    }

    /// A dotted name under the usual names of its modules.
    pub(super) fn canonical(&self, path: &[&str]) -> Option<String> {
        (self.dialect.canonical)(self.db, self.context_file, path)
    }

    /// Bytes of the file that the word being typed takes.
    pub(super) fn word(&self) -> TextRange {
        self.cursor.word.shifted(self.start)
    }
}

/// What the decorators before a function make it.
pub(super) fn dialect(db: &dyn salsa::Database, file: db::SourceFile, text: &str) -> Option<&'static Dialect> {
    let header = &text[..definition(text)?];
    let mut decorators = header.split('@').skip(1);
    decorators.find_map(|decorator| {
        let path: Vec<&str> = dotted_name(decorator).split('.').collect();
        languages::dialects().find(|dialect| (dialect.is_decorator)(db, file, &path))
    })
}

/// The dotted name that a text starts with.
fn dotted_name(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| c != '.' && c != '_' && !c.is_alphanumeric()).unwrap_or(text.len());
    &text[..end]
}

/// Where the line of the block's `def` starts.
fn definition(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        let word = line.trim_start().split(char::is_whitespace).next();
        if matches!(word, Some("def" | "async")) {
            return Some(start);
        }
        start += line.len();
    }
    None
}

/// True after the body: on a line that is not indented further than the function.
fn is_behind(text: &str, line: usize, offset: usize) -> bool {
    let Some(definition) = definition(text) else { return true };
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t', '\u{feff}']).len();
    line > definition && indent(&text[line..offset]) <= indent(&text[definition..])
}

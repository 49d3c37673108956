//! Text, positions and Python trees. This crate knows Python, not kernels.
//!
//! * [`Document`]: a rope cut into top-level [`Block`]s, each with a tree-sitter tree that is edited in place.
//! * [`ast`]: an owned, span-free view of one block's tree; positions live beside it in [`ast::Spans`].
//! * [`tokens`], [`cursor`], [`names`], [`unparsed`]: what half-typed code mentions and lacks, without a tree.
//! * [`interrupt`]: ends what takes long where nobody waits for it.
//! * [`magics`]: what the cells of notebooks hold besides Python.
//! * [`position`]: LSP positions in UTF-8, UTF-16 and UTF-32.

pub mod ast;
pub mod cursor;
mod document;
pub mod interrupt;
pub mod magics;
pub mod names;
mod outline;
mod parser;
pub mod position;
pub mod tokens;
pub mod unparsed;

pub use document::{Block, BlockKey, BlockSource, Document};
pub use outline::BlockKind;
pub use position::{LineCol, PositionEncoding};

/// A half-open range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct TextRange {
    pub start: usize,
    pub end: usize,
}

impl TextRange {
    pub fn new(start: usize, end: usize) -> Self {
        TextRange { start, end }
    }

    pub fn empty(offset: usize) -> Self {
        TextRange { start: offset, end: offset }
    }

    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// True at both ends, so that a cursor after a name is still on it.
    pub fn touches(self, offset: usize) -> bool {
        self.start <= offset && offset <= self.end
    }

    pub fn intersects(self, other: TextRange) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    /// The same range, `by` bytes further on.
    pub fn shifted(self, by: usize) -> Self {
        TextRange { start: self.start + by, end: self.end + by }
    }
}

//! The open documents: text as the client has it, applied edit by edit.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tilefit_analysis::FileId;
use tilefit_answers::{self as answers, LastWhole};
use tilefit_syntax::{Document, PositionEncoding};
use tower_lsp::ls_types::{TextDocumentContentChangeEvent, Uri};

use super::notebooks::Notebook;
use crate::lsp::revision::Revision;

/// How far the analysis is behind an open document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pending {
    /// The analysis has not seen the newest text.
    Text,
    /// The analysis has the text, the client not its diagnostics.
    Diagnostics,
    /// Diagnostics are being computed or are published.
    Nothing,
}

pub(crate) struct OpenDocument {
    pub(crate) file: FileId,
    /// The client's version of the text.
    pub(crate) version: i32,
    pub(crate) document: Document,
    pub(crate) newest_edits: NewestEdits,
    pub(crate) revision: Revision,
    pub(crate) pending: Pending,
    /// Byte offset of what was edited last, or looked at.
    pub(crate) at: usize,
    /// None of its kernels is planned yet.
    pub(crate) is_new: bool,
    /// Functions that an edit in one that they call concerns, as of the newest diagnostics.
    pub(crate) callers: usize,
    /// Byte offset of the end of the newest edit since it was opened or saved.
    pub(crate) edited: Option<usize>,
    pub(crate) last_whole: Arc<LastWhole>,
    /// Paths of what the compiler wrote down about it.
    pub(crate) dumps: Vec<String>,
    /// Where it is one: the document is made of its cells.
    pub(crate) notebook: Option<Notebook>,
}

/// No client was seen to be late by more edits than these.
const MOST_EDITS: usize = 16;

/// The edits that a late one may belong before. Helix up to 25.01 sends each edit by a task of its own, so that they may overtake each
/// other; their versions tell the order.
#[derive(Default)]
pub(crate) struct NewestEdits(VecDeque<NumberedEdit>);

/// From version `from` to version `to`.
struct NumberedEdit {
    from: i32,
    to: i32,
    before: Document,
    changes: Vec<TextDocumentContentChangeEvent>,
}

impl NewestEdits {
    /// Applies an edit that leads from version `from` to `to`. Is it late, the text is what it would be if it had come in time, and the
    /// edit that `follow` hears of is what that changes. Returns whether it is.
    pub(crate) fn apply(
        &mut self,
        document: &mut Document,
        (from, to): (i32, i32),
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: PositionEncoding,
        mut follow: impl FnMut(&Range<usize>, usize),
    ) -> bool {
        let NewestEdits(edits) = self;
        let Some(late) = edits.iter().position(|newer| newer.from < to && to < newer.to) else {
            if to <= from {
                edits.clear(); // these versions tell no order
            }
            edits.drain(..(edits.len() + 1).saturating_sub(MOST_EDITS));
            edits.push_back(NumberedEdit { from, to, before: document.clone(), changes: changes.clone() });
            answers::apply_changes(document, changes, encoding, follow);
            return false;
        };
        let newer = &mut edits[late];
        let (from, mut text) = (std::mem::replace(&mut newer.from, to), newer.before.clone());
        edits.insert(late, NumberedEdit { from, to, before: text.clone(), changes });
        for edit in edits.range_mut(late..) {
            edit.before = text.clone();
            answers::apply_changes(&mut text, edit.changes.clone(), encoding, |_, _| {});
        }
        let (replaced, inserted) = document.set_text(&text.text());
        follow(&replaced, inserted);
        true
    }
}

pub(crate) type Documents = HashMap<Uri, OpenDocument>;

/// Readies a document for analysis. The text is right after this whatever the incremental parser does: a panic in it
/// costs one full parse.
pub(crate) fn settle(document: &mut Document) {
    if catch_unwind(AssertUnwindSafe(|| document.settle())).is_err() {
        *document = Document::new(&document.text());
    }
}

#[cfg(test)]
mod tests {
    use tower_lsp::ls_types::{Position, Range};

    use super::*;

    #[test]
    fn edits_that_are_always_late_are_kept_no_longer() {
        let (mut edits, mut document) = (NewestEdits::default(), Document::new(""));
        let mut known = 0;
        for version in 1..=100 {
            // Of each two the second one comes first.
            let to = if version % 2 == 0 { version - 1 } else { version + 1 };
            let at = Position::new(0, to as u32 - 1);
            let text = char::from(b'a' + (to % 26) as u8).to_string();
            let change = TextDocumentContentChangeEvent { range: Some(Range::new(at, at)), range_length: None, text };
            let is_late = edits.apply(&mut document, (known, to), vec![change], PositionEncoding::Utf16, |_, _| {});
            assert_eq!(is_late, version % 2 == 0);
            known = known.max(to);
        }
        assert_eq!(document.text(), (1..=100).map(|at| char::from(b'a' + (at % 26) as u8)).collect::<String>());
        assert!(edits.0.len() <= MOST_EDITS + 1);
    }
}

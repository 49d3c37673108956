//! The open documents: text as the client has it, applied edit by edit.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tilefit_analysis::FileId;
use tilefit_syntax::Document;
use tower_lsp::ls_types::Uri;

/// Counts every change of anything a result depends on (text, settings); never repeats within a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Revision(u64);

impl Revision {
    pub(super) fn next(self) -> Revision {
        Revision(self.0 + 1)
    }
}

/// How far the analysis is behind an open document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    /// The analysis has not seen the newest text.
    Text,
    /// The analysis has the text, the client not its diagnostics.
    Diagnostics,
    /// Diagnostics are being computed or are published.
    Nothing,
}

pub(super) struct OpenDocument {
    pub(super) file: FileId,
    /// The client's version of the text.
    pub(super) version: i32,
    pub(super) document: Document,
    pub(super) revision: Revision,
    pub(super) pending: Pending,
    /// None of its kernels is planned yet.
    pub(super) is_new: bool,
    /// Functions that an edit in one that they call concerns, as of the newest diagnostics.
    pub(super) callers: usize,
}

pub(super) type Documents = HashMap<Uri, OpenDocument>;

/// Readies a document for analysis. The text is right after this whatever the incremental parser does: a panic in it
/// costs one full parse.
pub(super) fn settle(document: &mut Document) {
    if catch_unwind(AssertUnwindSafe(|| document.settle())).is_err() {
        *document = Document::new(&document.text());
    }
}

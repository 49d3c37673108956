//! The open documents: text as the client has it, applied edit by edit.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tilefit_analysis::FileId;
use tilefit_answers::LastWhole;
use tilefit_syntax::Document;
use tower_lsp::ls_types::Uri;

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

pub(crate) type Documents = HashMap<Uri, OpenDocument>;

/// Readies a document for analysis. The text is right after this whatever the incremental parser does: a panic in it
/// costs one full parse.
pub(crate) fn settle(document: &mut Document) {
    if catch_unwind(AssertUnwindSafe(|| document.settle())).is_err() {
        *document = Document::new(&document.text());
    }
}

//! What happens to the server, as messages on one queue.

use serde_json::Value;
use tilefit_answers::ext::MapOptions;
use tilefit_pypto::memory::Searched;
use tilefit_syntax::PositionEncoding;
use tokio::sync::oneshot;
use tower_lsp::ls_types::{
    DidChangeNotebookDocumentParams, DidOpenNotebookDocumentParams, Position, TextDocumentContentChangeEvent, Uri,
};

use crate::lsp::tasks::confirmation::{Job, Replied};
use crate::lsp::tasks::diagnostics::Diagnosed;
use crate::lsp::tasks::preview::PreviewTarget;
use crate::lsp::tasks::query::Query;
use crate::lsp::tasks::workspace::Workspace;
use crate::settings::{Resolved, Settings};

/// Everything that reaches the main loop.
pub(crate) enum Event {
    Initialized {
        encoding: PositionEncoding,
        settings: Settings,
    },
    Opened {
        uri: Uri,
        version: i32,
        text: String,
    },
    Changed {
        uri: Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    },
    Saved {
        uri: Uri,
    },
    Closed {
        uri: Uri,
    },
    NotebookOpened(Box<DidOpenNotebookDocumentParams>),
    NotebookChanged(Box<DidChangeNotebookDocumentParams>),
    EditorSettings(Value),
    /// One that may hold settings, or that others import. `data`: where only tables of configurations and recorded launches have
    /// changed, in which folders and files.
    FilesChanged {
        data: Option<Vec<String>>,
    },
    Query(Box<dyn Query>),
    /// For what goes beyond the open documents.
    Workspace(oneshot::Sender<Workspace>),
    /// Without a position: no longer.
    WatchMemoryMap {
        uri: Uri,
        position: Option<Position>,
        options: MapOptions,
    },
    /// The client shows the C++ of a kernel of a source.
    Previewed {
        source: Uri,
        kernel: String,
        place: PreviewTarget,
        text: String,
    },
    /// The files of settings, by a disk that was slow to answer.
    SettingsRead {
        number: u64,
        resolved: Resolved,
    },
    /// By an edit, perhaps of another document.
    PreviewInterrupted {
        uri: Uri,
    },
    /// By an edit, perhaps of another document.
    MemoryMapInterrupted {
        uri: Uri,
    },
    Diagnosed(Diagnosed),
    /// A file that is not open, for its constants: its text, or why it is not read.
    Imported {
        path: String,
        text: Result<String, String>,
    },
    /// Files that may launch the kernels of an open one, with their texts.
    Launchers {
        files: Vec<(String, String)>,
    },
    /// A background search is over; `None` if it was cancelled.
    Searched(Option<Box<Searched>>),
    /// The user is at a place, as far as requests tell.
    LookedAt {
        uri: Uri,
        position: Position,
    },
    /// The author's compiler is to be asked about a document: because the user says so, or because it was saved.
    Confirm {
        uri: Uri,
        is_awaited: bool,
    },
    /// By an edit, perhaps of another document, before it was known what there is to ask.
    ConfirmationInterrupted {
        uri: Uri,
        version: i32,
        is_awaited: bool,
    },
    /// What there is to ask it.
    Questions(Box<Job>),
    /// What it said.
    Replied(Replied),
    /// By an edit, perhaps of another document.
    SummaryInterrupted {
        uri: Uri,
        version: i32,
    },
    /// The dumps of a document, newest first.
    Dumps {
        uri: Uri,
        dumps: Vec<(String, String)>,
    },
}

//! A request on its way: from the handler that received it, over the main loop, to a worker and back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use tilefit_analysis::{Analysis, Cancellable, FileId};
use tilefit_syntax::{Document, LineCol, PositionEncoding, TextRange};
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::{Location, Position, Range, Uri};

use super::convert;
use super::guard::internal_error;

/// One version of one open document, with the analysis of exactly that version.
pub(super) struct View {
    pub(super) analysis: Analysis,
    pub(super) file: FileId,
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) document: Document,
    pub(super) encoding: PositionEncoding,
    /// Where a setting of the project can be written; `None` where there is no such place, or the editor's own settings decide.
    pub(super) settings_folder: Option<PathBuf>,
}

impl View {
    /// Byte offset of a client's position, clamped to the document.
    pub(super) fn offset(&self, position: Position) -> usize {
        self.document.offset(LineCol { line: position.line, col: position.character }, self.encoding)
    }

    /// Byte range of a client's range, clamped to the document.
    pub(super) fn text_range(&self, range: Range) -> TextRange {
        let start = self.offset(range.start);
        TextRange { start, end: self.offset(range.end).max(start) }
    }

    pub(super) fn position(&self, offset: usize) -> Position {
        convert::position(&self.document, offset, self.encoding)
    }

    pub(super) fn range(&self, range: TextRange) -> Range {
        convert::range(&self.document, range, self.encoding)
    }
}

impl View {
    /// A place in this or another file of the analysis.
    pub(super) fn location(&self, file: FileId, range: TextRange) -> Option<Location> {
        if file == self.file {
            return Some(Location::new(self.uri.clone(), self.range(range)));
        }
        let uri = convert::uri_of(self.analysis.path(file))?;
        Some(Location::new(uri, convert::range(self.analysis.document(file), range, self.encoding)))
    }
}

/// What becomes of a request when an edit of its document overtakes it. Whatever else interrupts one, such as a setting or a file
/// that it imports, it is asked again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OnEdit {
    /// Ask again: the answer belongs to the document as a whole.
    AskAgain,
    /// Give up with `ContentModified`: the client's position means another place now.
    GiveUp,
}

/// A request without its types, as it waits on the queue.
pub(super) trait Query: Send {
    fn uri(&self) -> &Uri;

    /// True when no client waits for the answer any longer.
    fn is_abandoned(&self) -> bool;

    /// Computes and sends the answer. Returns the query when it was interrupted and is to be asked again.
    fn run(self: Box<Self>, view: View) -> Option<Box<dyn Query>>;

    fn refuse(self: Box<Self>, error: Error);
}

struct Question<T, F> {
    uri: Uri,
    on_edit: OnEdit,
    /// Of the document, when the question was first asked.
    version: Option<i32>,
    attempts_left: u32,
    compute: F,
    answer: oneshot::Sender<Result<T>>,
}

/// A fast typist can interrupt a slow query for ever.
const ATTEMPTS: u32 = 16;

/// A query, and the channel on which its answer arrives.
pub(super) fn question<T, F>(uri: Uri, on_edit: OnEdit, compute: F) -> (Box<dyn Query>, oneshot::Receiver<Result<T>>)
where
    T: Send + 'static,
    F: Fn(&View) -> Cancellable<T> + Send + 'static,
{
    let (answer, receiver) = oneshot::channel();
    (Box::new(Question { uri, on_edit, version: None, attempts_left: ATTEMPTS, compute, answer }), receiver)
}

impl<T, F> Query for Question<T, F>
where
    T: Send + 'static,
    F: Fn(&View) -> Cancellable<T> + Send + 'static,
{
    fn uri(&self) -> &Uri {
        &self.uri
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    fn run(mut self: Box<Self>, view: View) -> Option<Box<dyn Query>> {
        let is_edited = *self.version.get_or_insert(view.version) != view.version;
        if is_edited && self.on_edit == OnEdit::GiveUp {
            self.refuse(content_modified());
            return None;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.compute)(&view)));
        drop(view); // an edit waits for every snapshot
        let answer = match outcome {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(_)) if self.attempts_left > 0 => {
                self.attempts_left -= 1;
                return Some(self);
            }
            Ok(Err(_)) => Err(content_modified()),
            Err(panic) => Err(internal_error(panic.as_ref())),
        };
        // Fails only when the request was cancelled in the meantime; then it is already answered.
        let _ = self.answer.send(answer);
        None
    }

    fn refuse(self: Box<Self>, error: Error) {
        let _ = self.answer.send(Err(error));
    }
}

pub(super) fn content_modified() -> Error {
    Error { code: ErrorCode::ContentModified, message: "the document was edited meanwhile".into(), data: None }
}

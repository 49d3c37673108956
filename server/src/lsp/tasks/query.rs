//! A request on its way: from the handler that received it, over the main loop, to a worker and back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tilefit_analysis::Cancellable;
use tilefit_answers::View;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::Uri;

use crate::lsp::panics::internal_error;

/// What becomes of a request when an edit of its document overtakes it. Whatever else interrupts one, such as a setting or a file
/// that it imports, it is asked again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnEdit {
    /// Ask again: the answer belongs to the document as a whole.
    AskAgain,
    /// Give up with `ContentModified`: the client's position means another place now.
    GiveUp,
}

/// A request without its types, as it waits on the queue.
pub(crate) trait Query: Send {
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
pub(crate) fn question<T, F>(uri: Uri, on_edit: OnEdit, compute: F) -> (Box<dyn Query>, oneshot::Receiver<Result<T>>)
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

pub(crate) fn content_modified() -> Error {
    Error { code: ErrorCode::ContentModified, message: "the document was edited meanwhile".into(), data: None }
}

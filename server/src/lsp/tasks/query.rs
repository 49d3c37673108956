//! A request on its way: from the handler that received it, over the main loop, to a worker and back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use tilefit_analysis::{Cancellable, Canceller};
use tilefit_answers::View;
use tilefit_answers::requests::OnEdit;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::Uri;

use crate::lsp::panics::internal_error;

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
    running: Running,
}

/// What computes the answer at the moment.
type Running = Arc<Mutex<Option<Canceller>>>;

/// An answer that a client waits for. Dropped, which is how a request is cancelled, it stops what computes it.
pub(crate) struct Waiting<T> {
    answer: oneshot::Receiver<Result<T>>,
    running: Running,
}

impl<T> Waiting<T> {
    pub(crate) async fn answer(mut self) -> Result<T> {
        (&mut self.answer).await.unwrap_or_else(|_| Err(Error::internal_error()))
    }
}

impl<T> Drop for Waiting<T> {
    fn drop(&mut self) {
        self.answer.close();
        if let Some(canceller) = set_running(&self.running, None) {
            canceller.cancel();
        }
    }
}

/// Returns what was running before.
fn set_running(running: &Running, canceller: Option<Canceller>) -> Option<Canceller> {
    let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *running, canceller)
}

/// A fast typist can interrupt a slow query for ever.
const ATTEMPTS: u32 = 16;

/// A query, and its answer to come.
pub(crate) fn question<T, F>(uri: Uri, on_edit: OnEdit, compute: F) -> (Box<dyn Query>, Waiting<T>)
where
    T: Send + 'static,
    F: Fn(&View) -> Cancellable<T> + Send + 'static,
{
    let (sender, answer) = oneshot::channel();
    let waiting = Waiting { answer, running: Running::default() };
    let running = Arc::clone(&waiting.running);
    let question = Question { uri, on_edit, version: None, attempts_left: ATTEMPTS, compute, answer: sender, running };
    (Box::new(question), waiting)
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
        set_running(&self.running, Some(view.analysis.canceller()));
        if self.is_abandoned() {
            return None;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.compute)(&view)));
        set_running(&self.running, None);
        drop(view); // an edit waits for every snapshot
        let answer = match outcome {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(_)) if self.is_abandoned() => return None,
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

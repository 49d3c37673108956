//! Searches that go on after the diagnostics are published, one at a time and on a thread of its own.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tilefit_pypto::memory::{OpenSearch, Patience, Searched};
use tower_lsp::ls_types::Uri;

/// What is open in each document, and the search that runs. The caller that is given a [`Task`] runs it, and says when it has
/// [`ended`](BackgroundSearch::ended).
#[derive(Default)]
pub(crate) struct BackgroundSearch {
    open: HashMap<Uri, Vec<OpenSearch>>,
    running: Option<Running>,
}

#[derive(Clone)]
struct Running {
    search: OpenSearch,
    cancelled: Arc<AtomicBool>,
}

/// A search to run.
pub(crate) struct Task(Running);

impl BackgroundSearch {
    /// The newest plans of a document leave this open. A search that nothing asks for any longer is cancelled: an edit has changed
    /// its kernel.
    #[must_use = "the next search is to be run"]
    pub(crate) fn wanted(&mut self, uri: Uri, open: Vec<OpenSearch>) -> Option<Task> {
        if open.is_empty() {
            self.open.remove(&uri);
        } else {
            self.open.insert(uri, open);
        }
        let wanted = |search: &OpenSearch| self.open.values().flatten().any(|open| open == search);
        if let Some(running) = self.running.as_ref().filter(|running| !wanted(&running.search)) {
            running.cancelled.store(true, Ordering::Relaxed);
        }
        self.next()
    }

    /// The search that ran is over. If it was not cancelled, new diagnostics are on their way, without what it has answered; if it
    /// was, an undo may have brought its question back.
    #[must_use = "the next search is to be run"]
    pub(crate) fn ended(&mut self) -> Option<Task> {
        if let Some(Running { search, cancelled }) = self.running.take()
            && !cancelled.load(Ordering::Relaxed)
        {
            self.open.values_mut().for_each(|open| open.retain(|other| *other != search));
        }
        self.next()
    }

    fn next(&mut self) -> Option<Task> {
        if self.running.is_some() {
            return None;
        }
        let search = self.open.values().flatten().next()?.clone();
        let running = Running { search, cancelled: Arc::default() };
        self.running = Some(running.clone());
        Some(Task(running))
    }
}

impl Task {
    /// `None` if it was cancelled.
    pub(crate) fn run(self) -> Option<Searched> {
        let Task(Running { search, cancelled }) = self;
        let run = || search.run(Patience::Background, &|| cancelled.load(Ordering::Relaxed));
        catch_unwind(AssertUnwindSafe(run)).ok().flatten()
    }
}

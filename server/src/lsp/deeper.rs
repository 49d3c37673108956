//! Searches that go on after the diagnostics are published, one at a time and on a thread of its own.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use tilefit_analysis::memory::OpenSearch;
use tokio::runtime::Handle;
use tower_lsp::ls_types::Uri;

use super::main_loop::Event;

/// What is open in each document, and the search that runs.
pub(super) struct Deeper {
    open: HashMap<Uri, Vec<OpenSearch>>,
    running: Option<Running>,
    runtime: Handle,
    events: Sender<Event>,
}

struct Running {
    search: OpenSearch,
    cancelled: Arc<AtomicBool>,
}

impl Deeper {
    pub(super) fn new(runtime: Handle, events: Sender<Event>) -> Deeper {
        Deeper { open: HashMap::new(), running: None, runtime, events }
    }

    /// The newest plans of a document leave this open. A search that nothing asks for any longer is cancelled: an edit has changed
    /// its kernel.
    pub(super) fn wanted(&mut self, uri: Uri, open: Vec<OpenSearch>) {
        if open.is_empty() {
            self.open.remove(&uri);
        } else {
            self.open.insert(uri, open);
        }
        let wanted = |search: &OpenSearch| self.open.values().flatten().any(|open| open == search);
        if let Some(running) = self.running.as_ref().filter(|running| !wanted(&running.search)) {
            running.cancelled.store(true, Ordering::Relaxed);
        }
        self.start_next();
    }

    /// The search that ran is over. If it was not cancelled, new diagnostics are on their way, without what it has answered; if it
    /// was, an undo may have brought its question back.
    pub(super) fn ended(&mut self) {
        if let Some(Running { search, cancelled }) = self.running.take()
            && !cancelled.load(Ordering::Relaxed)
        {
            self.open.values_mut().for_each(|open| open.retain(|other| *other != search));
        }
        self.start_next();
    }

    fn start_next(&mut self) {
        if self.running.is_some() {
            return;
        }
        let Some(search) = self.open.values().flatten().next().cloned() else { return };
        let cancelled = Arc::new(AtomicBool::new(false));
        self.running = Some(Running { search: search.clone(), cancelled: Arc::clone(&cancelled) });
        let events = self.events.clone();
        self.runtime.spawn_blocking(move || {
            let run = || search.run(&|| cancelled.load(Ordering::Relaxed));
            let searched = catch_unwind(AssertUnwindSafe(run)).ok().flatten();
            let _ = events.send(Event::Searched(searched.map(Box::new))); // fails at the end of the session only
        });
    }
}

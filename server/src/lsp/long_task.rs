//! Something that takes so long that the user sees how far it is, and may end it.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

pub(crate) struct LongTask {
    pub(crate) title: String,
    /// Of what `done` and `of` count: `configurations`.
    pub(crate) unit: &'static str,
    stopped: AtomicBool,
    progress: watch::Sender<Progress>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Progress {
    pub(crate) done: usize,
    pub(crate) of: usize,
    /// There is nothing more to come.
    pub(crate) is_over: bool,
}

impl LongTask {
    pub(crate) fn new(title: String, unit: &'static str, of: usize) -> LongTask {
        let progress = watch::Sender::new(Progress { of, ..Progress::default() });
        LongTask { title, unit, stopped: AtomicBool::new(false), progress }
    }

    pub(crate) fn advance(&self) {
        self.progress.send_modify(|progress| progress.done += 1);
    }

    pub(crate) fn end(&self) {
        self.progress.send_modify(|progress| progress.is_over = true);
    }

    /// Nobody waits for its result any more.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.end();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// For whoever looks at nothing else.
    pub(crate) fn stopped(&self) -> &AtomicBool {
        &self.stopped
    }

    pub(crate) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }
}

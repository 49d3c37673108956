//! Progress bars that the client shows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use tower_lsp::ls_types::ProgressToken;
use tower_lsp::{Bounded, Cancellable, Client, OngoingProgress};

/// Files of which the analysis is worth a progress bar.
const MANY: usize = 16;

/// Those of a session.
pub(super) struct Progresses {
    client: Client,
    /// Begun by the server.
    begun: AtomicU32,
    /// Those that the user has cancelled.
    cancelled: Mutex<Vec<ProgressToken>>,
}

pub(super) struct Bar {
    /// `None` once it has ended.
    progress: Option<OngoingProgress<Bounded, Cancellable>>,
    token: ProgressToken,
    files: usize,
}

/// Also where the request is cancelled, for the client would show it for ever.
impl Drop for Bar {
    fn drop(&mut self) {
        if let (Some(progress), Ok(runtime)) = (self.progress.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(progress.finish());
        }
    }
}

impl Bar {
    pub(super) async fn report(&self, done: usize) {
        let Some(progress) = &self.progress else { return };
        let percent = (done * 100 / self.files.max(1)).min(100) as u32;
        progress.report_with_message(format!("{done} of {} files", self.files), percent, Some(true)).await;
    }
}

impl Progresses {
    pub(super) fn new(client: Client) -> Progresses {
        Progresses { client, begun: AtomicU32::new(0), cancelled: Mutex::default() }
    }

    /// With the client's token, else with one of ours where the client shows such and there is much to do.
    pub(super) async fn begin(&self, given: Option<ProgressToken>, files: usize, shows_ours: bool) -> Option<Bar> {
        let token = match given {
            Some(token) => token,
            None if files >= MANY && shows_ours => self.create().await?,
            None => return None,
        };
        let progress = self.client.progress(token.clone(), "tilefit: analysing kernels");
        let progress = Some(progress.with_percentage(0).with_cancel_button().begin().await);
        Some(Bar { progress, token, files })
    }

    /// `None` where the client does not want one.
    async fn create(&self) -> Option<ProgressToken> {
        let token = ProgressToken::String(format!("tilefit/{}", self.begun.fetch_add(1, Ordering::Relaxed)));
        self.client.create_work_done_progress(token.clone()).await.ok()?;
        Some(token)
    }

    pub(super) async fn end(&self, mut bar: Bar) {
        if let Ok(mut cancelled) = self.cancelled.lock() {
            cancelled.retain(|other| *other != bar.token);
        }
        if let Some(progress) = bar.progress.take() {
            progress.finish().await;
        }
    }

    /// The user has pressed its button.
    pub(super) fn cancel(&self, token: ProgressToken) {
        if let Ok(mut cancelled) = self.cancelled.lock() {
            cancelled.push(token);
        }
    }

    pub(super) fn is_cancelled(&self, bar: &Bar) -> bool {
        self.cancelled.lock().is_ok_and(|cancelled| cancelled.contains(&bar.token))
    }
}

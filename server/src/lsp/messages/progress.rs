//! Progress bars that the client shows.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::timeout;
use tower_lsp::ls_types::ProgressToken;
use tower_lsp::{Bounded, Cancellable, Client, OngoingProgress};

use crate::lsp::long_task::LongTask;

/// Files of which the analysis is worth a progress bar.
const MANY: usize = 16;

/// What is over sooner needs none.
const SHORT: Duration = Duration::from_secs(1);

/// Those of a session.
pub(super) struct Progresses {
    client: Client,
    /// Begun by the server.
    begun: AtomicU32,
    buttons: Mutex<Buttons>,
}

#[derive(Default)]
struct Buttons {
    /// What the buttons of those that are shown do.
    shown: Vec<(ProgressToken, Button)>,
    /// Pressed before the server knew that the bar is there: a client shows it first.
    early: Vec<ProgressToken>,
}

/// Of a client that presses what is never shown, the last ones count.
const MOST_EARLY: usize = 16;

type Button = Box<dyn Fn() + Send>;

pub(super) struct Bar {
    /// `None` once it has ended.
    progress: Option<OngoingProgress<Bounded, Cancellable>>,
    token: ProgressToken,
    progresses: Arc<Progresses>,
}

/// Also where the request is cancelled, for the client would show it for ever.
impl Drop for Bar {
    fn drop(&mut self) {
        self.progresses.buttons().shown.retain(|(token, _)| *token != self.token);
        if let (Some(progress), Ok(runtime)) = (self.progress.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(progress.finish());
        }
    }
}

impl Bar {
    pub(super) async fn report(&self, done: usize, of: usize, unit: &str) {
        let Some(progress) = &self.progress else { return };
        let percent = (done * 100 / of.max(1)).min(100) as u32;
        progress.report_with_message(format!("{done} of {of} {unit}"), percent, Some(true)).await;
    }

    pub(super) async fn end(mut self) {
        if let Some(progress) = self.progress.take() {
            progress.finish().await;
        }
    }
}

impl Progresses {
    pub(super) fn new(client: Client) -> Progresses {
        Progresses { client, begun: AtomicU32::new(0), buttons: Mutex::default() }
    }

    /// Of the analysis of files: with the client's token, else with one of ours where the client shows such and there is much to do.
    pub(super) async fn of_files(
        self: &Arc<Self>,
        given: Option<ProgressToken>,
        files: usize,
        shows_ours: bool,
        button: impl Fn() + Send + 'static,
    ) -> Option<Bar> {
        let token = match given {
            Some(token) => token,
            None if files >= MANY && shows_ours => self.create().await?,
            None => return None,
        };
        Some(self.begin(token, "tilefit: analysing kernels", button).await)
    }

    /// Shows how far a task is until it is over.
    pub(super) async fn follow(self: Arc<Self>, task: Arc<LongTask>) {
        let mut progress = task.progress();
        if timeout(SHORT, progress.wait_for(|it| it.is_over)).await.is_ok() {
            return;
        }
        let Some(token) = self.create().await else { return };
        let stopped = Arc::clone(&task);
        let bar = self.begin(token, &task.title, move || stopped.stop()).await;
        loop {
            let now = *progress.borrow_and_update();
            if now.is_over {
                break;
            }
            bar.report(now.done, now.of, task.unit).await;
            if progress.changed().await.is_err() {
                break;
            }
        }
        bar.end().await;
    }

    /// `None` where the client does not want one.
    async fn create(&self) -> Option<ProgressToken> {
        let token = ProgressToken::String(format!("tilefit/{}", self.begun.fetch_add(1, Ordering::Relaxed)));
        self.client.create_work_done_progress(token.clone()).await.ok()?;
        Some(token)
    }

    /// `button`: what the client's way to cancel it does.
    async fn begin(self: &Arc<Self>, token: ProgressToken, title: &str, button: impl Fn() + Send + 'static) -> Bar {
        {
            let mut buttons = self.buttons();
            if let Some(at) = buttons.early.iter().position(|early| *early == token) {
                buttons.early.remove(at);
                button();
            }
            buttons.shown.push((token.clone(), Box::new(button)));
        }
        let progress = self.client.progress(token.clone(), title);
        let progress = Some(progress.with_percentage(0).with_cancel_button().begin().await);
        Bar { progress, token, progresses: Arc::clone(self) }
    }

    /// The user has pressed a button.
    pub(super) fn cancel(&self, token: ProgressToken) {
        let mut buttons = self.buttons();
        match buttons.shown.iter().find(|(of, _)| *of == token) {
            Some((_, press)) => press(),
            None => {
                let surplus = (buttons.early.len() + 1).saturating_sub(MOST_EARLY);
                buttons.early.drain(..surplus);
                buttons.early.push(token);
            }
        }
    }

    fn buttons(&self) -> std::sync::MutexGuard<'_, Buttons> {
        self.buttons.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The way to the main loop.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;

use tilefit_analysis::Cancellable;
use tilefit_answers::View;
use tilefit_answers::requests::OnEdit;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::Uri;

use super::event::Event;
use crate::lsp::panics::internal_error;
use crate::lsp::tasks::query::question;
use crate::lsp::tasks::workspace::Workspace;

/// Its sending end. What is posted is on the queue before anything is waited for.
#[derive(Clone)]
pub(crate) struct Queue(Sender<Event>);

impl Queue {
    pub(crate) fn new(events: Sender<Event>) -> Queue {
        Queue(events)
    }

    pub(crate) fn post(&self, event: Event) {
        let _ = self.0.send(event); // the main loop lives as long as the process
    }

    pub(crate) async fn ask<T, F>(&self, uri: Uri, on_edit: OnEdit, compute: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(&View) -> Cancellable<T> + Send + 'static,
    {
        let (query, waiting) = question(uri, on_edit, compute);
        self.post(Event::Query(query));
        waiting.answer().await
    }

    /// All files at this moment.
    pub(crate) async fn workspace(&self) -> Result<Workspace> {
        let (answer, workspace) = oneshot::channel();
        self.post(Event::Workspace(answer));
        workspace.await.map_err(|_| Error::internal_error())
    }

    /// Computes what goes beyond the open documents, beside everything else.
    pub(crate) async fn search<T: Send + 'static>(
        &self,
        compute: impl FnOnce(&Workspace) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let workspace = self.workspace().await?;
        let guarded = move || catch_unwind(AssertUnwindSafe(|| compute(&workspace)));
        match tokio::task::spawn_blocking(guarded).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(panic)) => Err(internal_error(panic.as_ref())),
            Err(_) => Err(Error::internal_error()),
        }
    }
}

//! `workspace/diagnostic`: what is wrong in every file, open or not. An answer that would say nothing new waits for something to
//! change, as the protocol allows, so that a client that asks all the time costs nothing.

use std::collections::HashMap;
use std::mem::take;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tilefit_answers::ext::PartialResult;
use tokio::sync::mpsc::unbounded_channel;
use tower_lsp::Client;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::{
    ProgressToken, Uri, WorkspaceDiagnosticParams, WorkspaceDiagnosticReport, WorkspaceDiagnosticReportResult,
    WorkspaceDocumentDiagnosticReport,
};

use super::progress::Progresses;
use super::stop_on_drop::StopOnDrop;
use crate::lsp::main_loop::queue::Queue;
use crate::lsp::tasks::workspace::Workspace;
use crate::lsp::tasks::workspace_diagnostics::{Findings, Message, diagnose};

/// An edit is often followed by another one.
const CALM: Duration = Duration::from_millis(250);

/// Reports of a partial answer; each is a message.
const AT_ONCE: usize = 16;

/// What one request leaves to the next.
pub(super) struct WorkspaceDiagnostics {
    client: Client,
    queue: Queue,
    progresses: Arc<Progresses>,
    findings: Arc<Mutex<Findings>>,
}

struct Request {
    /// What the client has, by the ids of earlier reports.
    known: Arc<HashMap<Uri, String>>,
    /// It takes the answer in parts.
    partial: Option<ProgressToken>,
    /// Of a bar that the client shows; for the first request that has one.
    progress: Option<ProgressToken>,
    /// It shows bars that the server begins.
    shows_progress: bool,
}

/// What the diagnostics of a workspace came to, without the parts that are sent.
struct Diagnosed {
    items: Vec<WorkspaceDocumentDiagnosticReport>,
    /// Whether there is anything that the client does not have.
    news: bool,
}

impl WorkspaceDiagnostics {
    pub(super) fn new(client: Client, queue: Queue, progresses: Arc<Progresses>) -> WorkspaceDiagnostics {
        WorkspaceDiagnostics { progresses, client, queue, findings: Arc::default() }
    }

    pub(super) async fn answer(
        &self,
        params: WorkspaceDiagnosticParams,
        shows_progress: bool,
    ) -> Result<WorkspaceDiagnosticReportResult> {
        let known = params.previous_result_ids.into_iter().map(|it| (it.uri, it.value)).collect();
        let mut request = Request {
            known: Arc::new(known),
            partial: params.partial_result_params.partial_result_token,
            progress: params.work_done_progress_params.work_done_token,
            shows_progress,
        };
        loop {
            let workspace = self.queue.workspace().await?;
            let mut changes = workspace.changes.clone();
            let Diagnosed { mut items, news } = self.diagnose(workspace, &mut request).await?;
            if news || request.known.is_empty() {
                if let Some(token) = request.partial.as_ref().filter(|_| !items.is_empty()) {
                    self.send_part(token, take(&mut items)).await;
                }
                return Ok(WorkspaceDiagnosticReportResult::Report(WorkspaceDiagnosticReport { items }));
            }
            if changes.changed().await.is_err() {
                return Err(Error::internal_error()); // the main loop is gone, and with it the session
            }
            tokio::time::sleep(CALM).await;
        }
    }

    /// Looks at every file once, on a worker. Parts of the answer are sent from the first news on.
    async fn diagnose(&self, workspace: Workspace, request: &mut Request) -> Result<Diagnosed> {
        let stop = StopOnDrop(Arc::default());
        let (sender, mut messages) = unbounded_channel();
        let (stopped, known) = (Arc::clone(&stop.0), Arc::clone(&request.known));
        let findings = Arc::clone(&self.findings);
        tokio::task::spawn_blocking(move || diagnose(&workspace, &known, &findings, &stopped, &sender));

        let (mut bar, mut done, mut of) = (None, 0, 0);
        let (mut items, mut news) = (Vec::new(), false);
        let is_cancelled = Arc::new(AtomicBool::new(false));
        while let Some(message) = messages.recv().await {
            match message {
                Message::Begin { files } => {
                    let pressed = Arc::clone(&is_cancelled);
                    let button = move || pressed.store(true, Ordering::Relaxed);
                    let (given, shows_ours) = (request.progress.take(), request.shows_progress);
                    of = files;
                    bar = self.progresses.of_files(given, files, shows_ours, button).await;
                }
                Message::File(report) => {
                    done += 1;
                    if let Some(bar) = &bar {
                        bar.report(done, of, "files").await;
                    }
                    news |= matches!(report, Some(WorkspaceDocumentDiagnosticReport::Full(_)));
                    items.extend(report);
                }
            }
            if let Some(token) = request.partial.as_ref().filter(|_| news && items.len() >= AT_ONCE) {
                self.send_part(token, take(&mut items)).await;
            }
            if let Some(bar) = bar.take_if(|_| is_cancelled.load(Ordering::Relaxed)) {
                bar.end().await;
                return Err(cancelled_by_the_user());
            }
        }
        if let Some(bar) = bar {
            bar.end().await;
        }
        Ok(Diagnosed { items, news })
    }

    async fn send_part(&self, token: &ProgressToken, items: Vec<WorkspaceDocumentDiagnosticReport>) {
        let part = json!({ "token": token, "value": { "items": items } });
        self.client.send_notification::<PartialResult>(part).await;
    }
}

/// LSP 3.17, `ServerCancelled`; the client is not to ask again by itself.
fn cancelled_by_the_user() -> Error {
    let data = Some(json!({ "retriggerRequest": false }));
    Error { code: ErrorCode::ServerError(-32802), message: "cancelled by the user".into(), data }
}

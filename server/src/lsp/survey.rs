//! `workspace/diagnostic`: what is wrong in every file, open or not. An answer that would say nothing new waits for something to
//! change, as the protocol allows, so that a client that asks all the time costs nothing.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tilefit_analysis::project::Config;
use tilefit_syntax::Document;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::*;
use tower_lsp::{Bounded, Cancellable, Client, OngoingProgress};

use super::backend::Backend;
use super::ext::PartialResult;
use super::handlers;
use super::query::View;
use super::workspace::{self, Stamp, Workspace};
use crate::imports;

/// An edit is often followed by another one.
const CALM: Duration = Duration::from_millis(250);

/// Reports of a partial answer; each is a message.
const AT_ONCE: usize = 16;

/// Files of which the analysis is worth a progress bar.
const MANY: usize = 16;

/// What was found in files that are not open.
#[derive(Default)]
pub(super) struct Findings {
    /// All were found under this configuration, and when so many changes of files had been told.
    under: Option<(Config, u64)>,
    by_path: HashMap<String, Found>,
}

struct Found {
    /// Of the file and of what it imports.
    stamps: Vec<(String, Stamp)>,
    report: Report,
}

#[derive(Clone)]
struct Report {
    id: String,
    items: Arc<Vec<Diagnostic>>,
    /// Files without kernels and findings are not told of.
    is_kernel_file: bool,
}

/// What a survey says while it runs.
enum Message {
    Begin {
        files: usize,
    },
    /// Of one file; nothing where there is nothing to say.
    File(Option<WorkspaceDocumentDiagnosticReport>),
}

/// Stops what is done for a request when that is dropped, which is how it is cancelled.
pub(super) struct StopOnDrop(pub(super) Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) async fn workspace_diagnostic(
    backend: &Backend,
    params: WorkspaceDiagnosticParams,
) -> Result<WorkspaceDiagnosticReportResult> {
    let known: HashMap<Uri, String> = params.previous_result_ids.into_iter().map(|it| (it.uri, it.value)).collect();
    let known = Arc::new(known);
    let partial = params.partial_result_params.partial_result_token;
    let mut progress_token = params.work_done_progress_params.work_done_token;
    loop {
        let workspace = backend.workspace().await?;
        let mut changes = workspace.changes.clone();
        let stop = StopOnDrop(Arc::default());
        let (sender, mut messages) = unbounded_channel();
        let (stopped, ids) = (Arc::clone(&stop.0), Arc::clone(&known));
        let findings = Arc::clone(&backend.findings);
        tokio::task::spawn_blocking(move || survey(&workspace, &ids, &findings, &stopped, &sender));

        let mut progress = None;
        let (mut items, mut news, mut done, mut files) = (Vec::new(), false, 0, 0);
        while let Some(message) = messages.recv().await {
            match message {
                Message::Begin { files: count } => {
                    files = count;
                    progress = begin(backend, progress_token.take(), count).await;
                }
                Message::File(report) => {
                    done += 1;
                    if let Some(progress) = progress.as_ref().and_then(|bar: &Bar| bar.progress.as_ref()) {
                        let percent = (done * 100 / files.max(1)).min(100) as u32;
                        progress.report_with_message(format!("{done} of {files} files"), percent, Some(true)).await;
                    }
                    news |= matches!(report, Some(WorkspaceDocumentDiagnosticReport::Full(_)));
                    items.extend(report);
                }
            }
            if let Some(token) = partial.as_ref().filter(|_| news && items.len() >= AT_ONCE) {
                send_part(&backend.client, token, std::mem::take(&mut items)).await;
            }
            if progress.as_ref().is_some_and(|bar| backend.is_cancelled(bar)) {
                end(backend, progress).await;
                let data = Some(json!({ "retriggerRequest": false }));
                return Err(Error {
                    code: ErrorCode::ServerError(-32802),
                    message: "cancelled by the user".into(),
                    data,
                });
            }
        }
        end(backend, progress).await;
        if news || known.is_empty() {
            if let Some(token) = partial.as_ref().filter(|_| !items.is_empty()) {
                send_part(&backend.client, token, std::mem::take(&mut items)).await;
            }
            return Ok(WorkspaceDiagnosticReportResult::Report(WorkspaceDiagnosticReport { items }));
        }
        if changes.changed().await.is_err() {
            return Err(Error::internal_error()); // the main loop is gone, and with it the session
        }
        tokio::time::sleep(CALM).await;
    }
}

/// A progress bar that the client shows.
pub(super) struct Bar {
    /// `None` once it has ended.
    progress: Option<OngoingProgress<Bounded, Cancellable>>,
    pub(super) token: ProgressToken,
}

/// Also where the request is cancelled, for the client would show it for ever.
impl Drop for Bar {
    fn drop(&mut self) {
        if let (Some(progress), Ok(runtime)) = (self.progress.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(progress.finish());
        }
    }
}

/// With the client's token, else with one of ours where the client shows such and there is much to do.
async fn begin(backend: &Backend, given: Option<ProgressToken>, files: usize) -> Option<Bar> {
    let token = match given {
        Some(token) => token,
        None if files >= MANY && backend.shows_progress() => {
            let token = backend.new_progress_token();
            // An error means that there is to be none.
            backend.client.create_work_done_progress(token.clone()).await.ok()?;
            token
        }
        None => return None,
    };
    let progress = backend.client.progress(token.clone(), "tilefit: analysing kernels");
    Some(Bar { progress: Some(progress.with_percentage(0).with_cancel_button().begin().await), token })
}

async fn end(backend: &Backend, bar: Option<Bar>) {
    let Some(mut bar) = bar else { return };
    backend.forget_progress(&bar.token);
    if let Some(progress) = bar.progress.take() {
        progress.finish().await;
    }
}

async fn send_part(client: &Client, token: &ProgressToken, items: Vec<WorkspaceDocumentDiagnosticReport>) {
    client.send_notification::<PartialResult>(json!({ "token": token, "value": { "items": items } })).await;
}

fn survey(
    workspace: &Workspace,
    known: &HashMap<Uri, String>,
    findings: &Mutex<Findings>,
    stopped: &AtomicBool,
    sender: &UnboundedSender<Message>,
) {
    let old = |path: &String| {
        let mut findings = findings.lock().unwrap_or_else(PoisonError::into_inner);
        let under = (workspace.config.clone(), workspace.files);
        if findings.under.as_ref() != Some(&under) {
            *findings = Findings { under: Some(under), by_path: HashMap::new() };
        }
        let found = findings.by_path.get(path)?;
        let is_current = found.stamps.iter().all(|(path, stamp)| workspace.stamp(path) == *stamp);
        is_current.then(|| found.report.clone())
    };
    let (current, new): (Vec<_>, Vec<_>) =
        workspace.shown_paths().into_iter().map(|path| (old(&path), path)).partition(|it| it.0.is_some());
    if sender.send(Message::Begin { files: new.len() }).is_err() {
        return;
    }
    let mut told = HashSet::new();
    for (report, path) in current.into_iter().chain(new) {
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        let is_new = report.is_none();
        let Some(uri) = workspace.uri_of(&path) else { continue };
        // One file that tilefit fails on costs no others.
        let look = || catch_unwind(AssertUnwindSafe(|| look(workspace, &path, &uri, findings))).ok().flatten();
        let Some(report) = report.or_else(look) else { continue };
        told.insert(uri.clone());
        let said = (report.is_kernel_file || known.contains_key(&uri)).then(|| said(workspace, uri, report, known));
        if (is_new || said.is_some()) && sender.send(Message::File(said)).is_err() {
            return;
        }
    }
    for (uri, id) in known.iter().filter(|(uri, _)| !told.contains(uri)) {
        let gone = Report { id: handlers::diagnostics_id(&[]), items: Arc::default(), is_kernel_file: false };
        if *id != gone.id {
            let _ = sender.send(Message::File(Some(said(workspace, uri.clone(), gone, known)))); // fails when nothing waits
        }
    }
}

fn said(
    workspace: &Workspace,
    uri: Uri,
    Report { id, items, .. }: Report,
    known: &HashMap<Uri, String>,
) -> WorkspaceDocumentDiagnosticReport {
    let version = workspace.version_of(&uri).map(i64::from);
    if known.get(&uri) == Some(&id) {
        let unchanged_document_diagnostic_report = UnchangedDocumentDiagnosticReport { result_id: id };
        let report = WorkspaceUnchangedDocumentDiagnosticReport { uri, version, unchanged_document_diagnostic_report };
        return WorkspaceDocumentDiagnosticReport::Unchanged(report);
    }
    let full_document_diagnostic_report =
        FullDocumentDiagnosticReport { result_id: Some(id), items: items.as_ref().clone() };
    let report = WorkspaceFullDocumentDiagnosticReport { uri, version, full_document_diagnostic_report };
    WorkspaceDocumentDiagnosticReport::Full(report)
}

/// Analyses a file. `None` where it cannot be read.
fn look(workspace: &Workspace, path: &str, uri: &Uri, findings: &Mutex<Findings>) -> Option<Report> {
    let mut stamps = vec![(path.to_owned(), workspace.stamp(path))];
    let mut host = workspace.host();
    let file = match workspace.open_file(path) {
        Some(_) => host.file_id(path),
        None => workspace::hand_in(&mut host, path, Document::new(&workspace::read(path.as_ref())?)),
    };
    if let Some(root) = &workspace.root {
        imports::load(&mut host, file, root);
    }
    let analysis = host.snapshot();
    let others: Vec<_> = analysis.files().into_iter().filter(|&other| host.depends_on(file, other)).collect();
    stamps.extend(
        others.into_iter().map(|other| (analysis.path(other).to_owned(), workspace.stamp(analysis.path(other)))),
    );
    let document = analysis.document(file).clone();
    let version = workspace.open_file(path).map_or(0, |open| open.version);
    let view = View {
        analysis,
        file,
        uri: uri.clone(),
        version,
        document,
        encoding: workspace.encoding,
        settings_folder: None,
    };
    let items = handlers::diagnostics(&view).ok()?;
    let has_kernels = view.analysis.document_symbols(file).is_ok_and(|symbols| !symbols.is_empty());
    let report = Report {
        id: handlers::diagnostics_id(&items),
        is_kernel_file: has_kernels || !items.is_empty(),
        items: Arc::new(items),
    };
    let mut findings = findings.lock().unwrap_or_else(PoisonError::into_inner);
    findings.by_path.insert(path.to_owned(), Found { stamps, report: report.clone() });
    Some(report)
}

//! What is wrong in every file of the workspace, open or not.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tilefit_analysis::project::Config;
use tilefit_answers::{self as answers, Report, View};
use tilefit_syntax::Document;
use tokio::sync::mpsc::UnboundedSender;
use tower_lsp::ls_types::{Uri, WorkspaceDocumentDiagnosticReport};

use super::workspace::{self, Stamp, Workspace};
use crate::imports;

/// What was found in files that are not open.
#[derive(Default)]
pub(crate) struct Findings {
    /// All were found under this configuration, and when so many changes of files had been told.
    under: Option<(Config, u64)>,
    by_path: HashMap<String, Found>,
}

struct Found {
    /// Of the file and of what it imports.
    stamps: Vec<(String, Stamp)>,
    report: Report,
}

/// What a survey says while it runs.
pub(crate) enum Message {
    /// So many files have changed since they were last looked at.
    Begin { files: usize },
    /// Of one file; nothing where there is nothing to say.
    File(Option<WorkspaceDocumentDiagnosticReport>),
}

/// Says what the client is to hear of each file; `known`: what it has, by the ids of earlier reports.
pub(crate) fn survey(
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
    let say = |uri: Uri, report: Report| {
        let (version, known) = (workspace.version_of(&uri), known.get(&uri).map(String::as_str));
        report.of_document(uri, version, known)
    };
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
        let said = (report.is_kernel_file() || known.contains_key(&uri)).then(|| say(uri, report));
        if (is_new || said.is_some()) && sender.send(Message::File(said)).is_err() {
            return;
        }
    }
    for (uri, id) in known.iter().filter(|(uri, _)| !told.contains(uri)) {
        let gone = Report::empty();
        if id != gone.id() {
            let _ = sender.send(Message::File(Some(say(uri.clone(), gone)))); // fails when nobody waits
        }
    }
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
    let report = answers::report(&view).ok()?;
    let mut findings = findings.lock().unwrap_or_else(PoisonError::into_inner);
    findings.by_path.insert(path.to_owned(), Found { stamps, report: report.clone() });
    Some(report)
}

//! What is wrong in every file of the workspace, open or not.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tilefit_analysis::project::Config;
use tilefit_analysis::{AnalysisHost, FileId};
use tilefit_answers::{self as answers, Report, View};
use tokio::sync::mpsc::UnboundedSender;
use tower_lsp::ls_types::{Uri, WorkspaceDocumentDiagnosticReport};

use super::workspace::{Stamp, Workspace};
use crate::imports::Imports;
use crate::tree::OnDisk;

/// With so many, 161 files of GPU kernels that share a library take two thirds of the time that they take with 16, and 144 files of
/// models three quarters, in at most 230 MiB.
const FILES_A_DATABASE: usize = 64;

/// What was found in files that are not open.
#[derive(Default)]
pub(crate) struct Findings {
    /// All were found under this configuration, and when so many changes of files had been told.
    under: Option<(Config, u64)>,
    by_path: HashMap<String, FileReport>,
}

struct FileReport {
    /// Of the file and of what it imports.
    stamps: Vec<(String, Stamp)>,
    report: Report,
}

/// What is said while the workspace is diagnosed.
pub(crate) enum Message {
    /// So many files have changed since they were last looked at.
    Begin { files: usize },
    /// Of one file; nothing where there is nothing to say.
    File(Option<WorkspaceDocumentDiagnosticReport>),
}

/// Says what the client is to hear of each file; `known`: what it has, by the ids of earlier reports.
pub(crate) fn diagnose(
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
    // A client asks for the cells of a notebook one by one.
    let paths = workspace.shown_paths().into_iter().filter(|path| !workspace.notebooks.contains_key(path));
    let (current, new): (Vec<_>, Vec<_>) = paths.map(|path| (old(&path), path)).partition(|it| it.0.is_some());
    if sender.send(Message::Begin { files: new.len() }).is_err() {
        return;
    }
    let say = |uri: Uri, report: Report| {
        let (version, known) = (workspace.version_of(&uri), known.get(&uri).map(String::as_str));
        report.of_document(uri, version, known)
    };
    let mut told = HashSet::new();
    let mut tell = |uri: Uri, report: Report, is_new: bool| {
        told.insert(uri.clone());
        let said = (report.is_kernel_file() || known.contains_key(&uri)).then(|| say(uri, report));
        (!is_new && said.is_none()) || sender.send(Message::File(said)).is_ok()
    };
    for (report, path) in current {
        let (Some(report), Some(uri)) = (report, workspace.uri_of(&path)) else { continue };
        if !tell(uri, report, false) {
            return;
        }
    }
    let mut new: Vec<_> = new.iter().filter_map(|(_, path)| Some((path.as_str(), workspace.uri_of(path)?))).collect();
    while !new.is_empty() {
        let mut looks = Looks::at(workspace, &new);
        for (path, uri) in new.drain(..looks.files.len()) {
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            let Some(found) = looks.found(path, &uri) else { continue };
            let report = found.report.clone();
            findings.lock().unwrap_or_else(PoisonError::into_inner).by_path.insert(path.to_owned(), found);
            if !tell(uri, report, true) {
                return;
            }
        }
    }
    for (uri, id) in known.iter().filter(|(uri, _)| !told.contains(uri)) {
        let gone = Report::empty();
        if id != gone.id() {
            let _ = sender.send(Message::File(Some(say(uri.clone(), gone)))); // fails when no request waits
        }
    }
}

/// Looks at a few files in one database.
///
/// Neighbours import the same files, which are then looked up, read and evaluated once. A database frees little of what it was ever
/// asked, so that one for all would grow with the workspace; in the main loop's it would stay for the session, and every file would
/// interrupt what runs for the user.
struct Looks<'a> {
    workspace: &'a Workspace,
    host: AnalysisHost,
    /// Those that it looks at; `None`: one that cannot be read.
    files: HashMap<&'a str, Option<FileId>>,
    /// Of the files whose texts it has, from when they were read.
    stamps: HashMap<String, Stamp>,
}

impl<'a> Looks<'a> {
    /// At the first of these files: at one alone where tilefit fails on what several of them import.
    fn at(workspace: &'a Workspace, paths: &[(&'a str, Uri)]) -> Looks<'a> {
        let together = &paths[..paths.len().min(FILES_A_DATABASE)];
        let several = catch_unwind(|| Looks::loaded(workspace, together));
        let alone = || catch_unwind(|| Looks::loaded(workspace, &paths[..1]));
        let nothing = || Looks { files: HashMap::from([(paths[0].0, None)]), ..Looks::new(workspace) };
        several.or_else(|_| alone()).unwrap_or_else(|_| nothing())
    }

    fn new(workspace: &'a Workspace) -> Looks<'a> {
        Looks { workspace, host: workspace.host(), files: HashMap::new(), stamps: HashMap::new() }
    }

    fn loaded(workspace: &'a Workspace, paths: &[(&'a str, Uri)]) -> Looks<'a> {
        let mut looks = Looks::new(workspace);
        for &(path, _) in paths {
            let file = looks.hand_in(path);
            looks.files.insert(path, file);
        }
        if let Some(root) = &workspace.root {
            let files: Vec<_> = looks.files.values().flatten().map(|&file| (file, root.as_path())).collect();
            Imports::new(&OnDisk).load(&mut looks.host, &files);
        }
        let analysis = looks.host.snapshot();
        for file in analysis.files() {
            looks.stamp(analysis.path(file));
        }
        looks
    }

    /// `None` where the file cannot be read, or tilefit fails on it, which costs no others.
    fn found(&mut self, path: &str, uri: &Uri) -> Option<FileReport> {
        let file = self.files[path]?;
        catch_unwind(AssertUnwindSafe(|| self.look(file, path, uri))).ok()?
    }

    fn look(&mut self, file: FileId, path: &str, uri: &Uri) -> Option<FileReport> {
        let analysis = self.host.snapshot();
        let files = analysis.files().into_iter();
        let others: Vec<_> = files.filter(|&other| self.host.depends_on(file, other)).collect();
        let paths = others.into_iter().map(|other| analysis.path(other)).chain([path]);
        let stamps = paths.map(|path| (path.to_owned(), self.stamp(path))).collect();
        let version = self.workspace.open_file(path).map_or(0, |open| open.version);
        let view = View::of_file(analysis, file, uri.clone(), version, self.workspace.encoding);
        let report = answers::report(&view).ok()?;
        Some(FileReport { stamps, report })
    }

    fn hand_in(&mut self, path: &str) -> Option<FileId> {
        let stamp = self.workspace.stamp(path);
        let file = self.host.file_id(path);
        if self.workspace.open_file(path).is_none() {
            self.host.set_text(file, &self.workspace.read(path.as_ref())?);
        }
        self.stamps.insert(path.to_owned(), stamp);
        Some(file)
    }

    fn stamp(&mut self, path: &str) -> Stamp {
        let read = || self.workspace.stamp(path);
        *self.stamps.entry(path.to_owned()).or_insert_with(read)
    }
}

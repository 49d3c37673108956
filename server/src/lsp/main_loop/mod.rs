//! The single writer. One thread owns the documents and the analysis and takes messages in wire order; everything that
//! computes runs on snapshots elsewhere.

mod documents;
pub(crate) mod event;
mod importers;
mod notebooks;
pub(crate) mod queue;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{self, Receiver, SendError};
use std::time::{Duration, Instant};

use tilefit_analysis::confirm::{Answers, KernelsAsked};
use tilefit_analysis::project::{Config, Confirm};
use tilefit_analysis::{AnalysisHost, FileId};
use tilefit_answers::convert::path_of;
use tilefit_answers::ext::{MapOptions, SettingsInForce};
use tilefit_answers::panics::panic_message;
use tilefit_answers::{Cell, Notebooks, View, Watches};
use tilefit_syntax::{Document, PositionEncoding, TextRange};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tower_lsp::jsonrpc::Error;
use tower_lsp::ls_types::{
    DidChangeNotebookDocumentParams, DidOpenNotebookDocumentParams, Position, TextDocumentContentChangeEvent, Uri,
};

use self::documents::{Documents, NewestEdits, OpenDocument, Pending};
use self::event::Event;
use self::importers::Importers;
use self::notebooks::Notebook;
use self::queue::Queue;
use super::outbox::{Outbox, ToClient};
use super::revision::Revision;
use super::tasks::background_search::{self, BackgroundSearch};
use super::tasks::confirmation::{self, Asked, Confirmations, Job, News, Replied};
use super::tasks::diagnostics::{self, Diagnosed, DiagnosisResult};
use super::tasks::memory_map;
use super::tasks::preview::{self, Previews};
use super::tasks::query::Query;
use super::tasks::workspace::{OpenFile, Workspace};
use crate::confirm::{python, sha256};
use crate::selection::Selection;
use crate::settings::{Resolved, Settings};
use crate::tree::OnDisk;
use crate::{dumps, imports};

/// The candidates of the imports of a document that are not known, and the files that it rests on.
struct RestsOn {
    imports: Arc<Vec<Vec<String>>>,
    imported: Arc<Vec<String>>,
}

/// Messages that wait are taken together, so that a flood of edits costs one round of diagnostics; but no longer than this.
const LONGEST_TURN: Duration = Duration::from_millis(50);

/// A thread that has nothing to do ends after this. Starting one costs an edit after a pause less than a tenth of a millisecond.
pub(super) const IDLE_THREADS_END: Duration = Duration::from_secs(2);

/// Said to whoever asks for confirmation without having allowed it.
const NOT_CONFIRMED: &str = "confirming a plan runs the compiler, which imports this file; to allow that, set `confirm` to \"command\" or \"save\" in the settings of your editor";

/// Threads that share the work of a document that is new.
const MOST_PARTS: usize = 2;

pub(crate) struct MainLoop {
    host: AnalysisHost,
    documents: Documents,
    /// The cells of the open notebooks, and the notebooks that they are in.
    cells: HashMap<Uri, Uri>,
    notebooks: Notebooks,
    /// Those that the analysis or the client are behind, and perhaps others.
    behind: HashSet<Uri>,
    importers: Importers,
    watches: Watches,
    previews: Previews,
    revision: Revision,
    encoding: PositionEncoding,
    settings: Settings,
    /// Counts how often they were read; only the last time counts.
    settings_read: u64,
    /// What the settings came to; `None` before the first time.
    config: Option<Config>,
    selection: Arc<Selection>,
    /// Counts what the client told of changed files.
    files_changed: u64,
    /// Tells the revision to those that wait for a change.
    changes: watch::Sender<Revision>,
    /// Documents whose launchers were looked for.
    launched: HashSet<String>,
    /// Candidates of imports that were looked for, found or not.
    sought: HashSet<Vec<String>>,
    /// What each document imported when its diagnostics were passed on last.
    rests_on: HashMap<Uri, RestsOn>,
    /// Paths of files that are known because others import them.
    imported: HashSet<String>,
    /// Paths of files that diagnostics of others rested on once.
    depended_on: HashSet<String>,
    background_search: BackgroundSearch,
    confirmations: Confirmations,
    runtime: Handle,
    queue: Queue,
    outbox: Outbox,
}

/// Said to whoever asks for confirmation in a notebook.
const NOTEBOOK_NOT_CONFIRMED: &str = "kernels of a notebook cannot be confirmed, because the compiler imports Python files only; move the kernel to a `.py` file";

impl MainLoop {
    pub(crate) fn new(runtime: Handle, queue: Queue, outbox: Outbox) -> Self {
        MainLoop {
            host: AnalysisHost::new(),
            documents: Documents::new(),
            cells: HashMap::new(),
            notebooks: Notebooks::default(),
            behind: HashSet::new(),
            importers: Importers::default(),
            watches: Watches::default(),
            previews: Previews::default(),
            revision: Revision::default(),
            encoding: PositionEncoding::Utf16,
            settings: Settings::default(),
            settings_read: 0,
            config: None,
            selection: Arc::default(),
            files_changed: 0,
            changes: watch::Sender::new(Revision::default()),
            launched: HashSet::new(),
            sought: HashSet::new(),
            rests_on: HashMap::new(),
            imported: HashSet::new(),
            depended_on: HashSet::new(),
            background_search: BackgroundSearch::default(),
            confirmations: Confirmations::default(),
            runtime,
            queue,
            outbox,
        }
    }

    pub(crate) fn run(mut self, inbox: &Receiver<Event>) {
        while let Ok(event) = inbox.recv() {
            let turn = Instant::now();
            self.guarded(|this| this.handle(event));
            while turn.elapsed() < LONGEST_TURN
                && let Ok(event) = inbox.try_recv()
            {
                self.guarded(|this| this.handle(event));
            }
            self.guarded(Self::hand_texts_to_analysis);
            self.guarded(Self::start_diagnostics);
        }
    }

    /// The session outlives a bug in the handling of one message.
    fn guarded(&mut self, step: impl FnOnce(&mut Self)) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| step(self))) {
            self.outbox.send(ToClient::error(format!("a message was lost: {}", panic_message(panic.as_ref()))));
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Initialized { encoding, settings } => {
                self.encoding = encoding;
                self.settings = settings;
                self.read_settings();
            }
            // The client sends cells with their notebook.
            Event::Opened { uri, .. } | Event::Changed { uri, .. } | Event::Closed { uri }
                if self.cells.contains_key(&uri) => {}
            Event::Opened { uri, version, text } => self.open(uri, version, Document::new(&text), None),
            Event::Changed { uri, version, changes } => self.change(&uri, version, changes),
            Event::Saved { uri } => self.save(&uri),
            Event::Closed { uri } => self.close(uri),
            Event::NotebookOpened(params) => self.open_notebook(*params),
            Event::NotebookChanged(params) => self.change_notebook(*params),
            Event::EditorSettings(editor) => {
                self.settings.editor = editor;
                self.read_settings();
            }
            Event::SettingsRead { number, resolved } => {
                if number == self.settings_read {
                    self.apply_settings(resolved);
                }
            }
            // A project may write JSON all the time, for others.
            Event::FilesChanged { data: Some(data) } if !data.iter().any(|it| self.is_needed(it)) => {}
            Event::FilesChanged { .. } => {
                self.files_changed += 1;
                self.read_settings();
                self.forget_imports();
                self.documents.keys().for_each(|uri| self.look_for_dumps(uri));
            }
            Event::Query(query) => self.ask(query),
            Event::Workspace(answer) => {
                let _ = answer.send(self.workspace()); // fails when nothing waits any longer
            }
            Event::WatchMemoryMap { uri, position, options } => self.watch(uri, position, options),
            Event::Previewed { source, kernel, place, text } => {
                let source = self.document_of(source);
                if self.documents.contains_key(&source) {
                    self.previews.add(source.clone(), kernel, place, text);
                    self.refresh_previews(&source); // an edit may have been faster
                }
            }
            Event::PreviewInterrupted { uri } => self.refresh_previews(&uri),
            Event::MemoryMapInterrupted { uri } => self.draw_memory_map(&self.document_of(uri)),
            Event::Diagnosed(diagnosed) => {
                if !self.rests_on_the_same(&diagnosed) {
                    self.look_for(&diagnosed.imports, &diagnosed.uri);
                    self.depended_on.extend(diagnosed.imported.iter().cloned());
                }
                self.look_for_launchers(diagnosed.launched_as.as_deref(), &diagnosed.uri);
                self.publish(diagnosed);
            }
            Event::Searched(searched) => {
                if let Some(searched) = searched {
                    self.host.set_searched(*searched);
                    self.diagnose_all();
                    self.outbox.send(ToClient::Refresh);
                }
                let next = self.background_search.ended();
                self.search_in_background(next);
            }
            Event::Imported { path, text } => {
                self.import(&path, text);
                self.diagnose_all();
            }
            Event::Launchers { files } => {
                files.into_iter().for_each(|(path, text)| self.import(&path, Ok(text)));
                self.diagnose_all();
            }
            Event::LookedAt { uri, position } => self.look_at(&uri, position),
            Event::Confirm { uri, is_awaited } => self.confirm(uri, is_awaited),
            Event::ConfirmationInterrupted { uri, version, is_awaited } => {
                if self.documents.get(&uri).is_some_and(|open| open.version == version) {
                    self.confirm(uri, is_awaited);
                }
            }
            Event::Questions(job) => {
                if self.documents.get(&job.uri).is_some_and(|open| open.version == job.version) {
                    let queue = self.queue.clone();
                    self.outbox.send(ToClient::Progress(Arc::clone(&job.asked.task)));
                    self.confirmations.ask(*job, move |replied| queue.post(Event::Replied(replied)));
                }
            }
            Event::Replied(replied) => self.take_answers(replied),
            Event::SummaryInterrupted { uri, version } => self.tell_summary(uri, version),
            Event::Dumps { uri, dumps } => self.link(&uri, dumps),
        }
    }

    fn open(&mut self, uri: Uri, version: i32, document: Document, notebook: Option<Notebook>) {
        let path = path_of(&uri);
        let file = self.host.file_id(&path);
        self.host.set_excluded(file, self.selection.excludes(&path));
        let revision = self.next_revision();
        let pending = Pending::Text;
        let open = OpenDocument {
            file,
            version,
            document,
            newest_edits: NewestEdits::default(),
            revision,
            pending,
            at: 0,
            is_new: true,
            callers: 0,
            edited: None,
            last_whole: Arc::default(),
            dumps: Vec::new(),
            notebook,
        };
        self.documents.insert(uri.clone(), open);
        self.look_for_dumps(&uri);
        self.behind.insert(uri);
    }

    fn change(&mut self, uri: &Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        let revision = self.next_revision();
        let Some(open) = self.documents.get_mut(uri) else {
            self.outbox.send(ToClient::error(format!("an edit of a document that is not open: {}", uri.as_str())));
            return;
        };
        let watches = &mut self.watches;
        let at = &mut open.at;
        let mut edited = None;
        let follow = |replaced: &Range<usize>, inserted| {
            *at = replaced.start;
            edited = Some(replaced.start + inserted);
            watches.follow(uri, replaced, inserted);
        };
        let OpenDocument { document, newest_edits, version: known, .. } = open;
        let is_late = newest_edits.apply(document, (*known, version), changes, self.encoding, follow);
        if is_late {
            self.outbox.send(ToClient::Refresh); // answers about the newest version may be of another text
        } else {
            open.version = version;
        }
        open.edited = edited;
        open.revision = revision;
        open.pending = Pending::Text;
        self.behind.insert(uri.clone());
        self.confirmations.stop(uri);
    }

    fn open_notebook(&mut self, params: DidOpenNotebookDocumentParams) {
        let DidOpenNotebookDocumentParams { notebook_document: opened, cell_text_documents } = params;
        let notebook = Notebook::new(opened.cells, cell_text_documents);
        for cell in notebook.cells().iter() {
            self.close(cell.uri.clone()); // it may have been opened by itself
        }
        self.open(opened.uri.clone(), opened.version, notebook.document(), Some(notebook));
        self.list_cells(&opened.uri);
    }

    fn change_notebook(&mut self, params: DidChangeNotebookDocumentParams) {
        let DidChangeNotebookDocumentParams { notebook_document: changed, change } = params;
        let (uri, revision) = (changed.uri, self.next_revision());
        let notebook =
            self.documents.get_mut(&uri).and_then(|open| Some((&mut open.document, open.notebook.as_mut()?)));
        let Some((document, notebook)) = notebook else {
            self.outbox.send(ToClient::error(format!("an edit of a notebook that is not open: {}", uri.as_str())));
            return;
        };
        let Some(change) = change.cells else { return };
        let is_rearranged = change.structure.is_some();
        let (mut at, mut edited, watches) = (None, None, &mut self.watches);
        let follow = |replaced: &Range<usize>, inserted| {
            at = Some(replaced.start);
            edited = Some(replaced.start + inserted);
            watches.follow(&uri, replaced, inserted);
        };
        if let Err(problem) = notebook.change(document, change, self.encoding, follow) {
            self.outbox.send(ToClient::error(problem));
        }
        if let Some(open) = self.documents.get_mut(&uri) {
            open.version = changed.version;
            open.at = at.unwrap_or(open.at);
            open.edited = if is_rearranged { None } else { edited };
            open.revision = revision;
            open.pending = Pending::Text;
            if is_rearranged {
                open.last_whole = Arc::default(); // versions of other cells say nothing of it
            }
        }
        self.list_cells(&uri);
        self.behind.insert(uri);
    }

    /// Has the cells of a notebook answer for it, and those that are gone no longer.
    fn list_cells(&mut self, uri: &Uri) {
        let cells = self.documents.get(uri).and_then(|open| open.notebook.as_ref()).map(Notebook::cells);
        let (notebooks, path) = (Arc::make_mut(&mut self.notebooks), path_of(uri));
        let before = match &cells {
            Some(cells) => notebooks.insert(path, Arc::clone(cells)),
            None => notebooks.remove(&path),
        };
        let (before, cells) = (before.unwrap_or_default(), cells.unwrap_or_default());
        if before.iter().map(|cell| &cell.uri).eq(cells.iter().map(|cell| &cell.uri)) {
            return;
        }
        let now: HashSet<&Uri> = cells.iter().map(|cell| &cell.uri).collect();
        for gone in before.iter().filter(|cell| !now.contains(&cell.uri)) {
            self.cells.remove(&gone.uri);
            self.watches.stop_of(uri, &gone.uri);
            self.outbox.send(ToClient::Diagnostics { uri: gone.uri.clone(), version: None, diagnostics: Vec::new() });
        }
        self.cells.extend(now.into_iter().map(|cell| (cell.clone(), uri.clone())));
    }

    /// The document that a client's is: itself, or the notebook of a cell.
    fn document_of(&self, uri: Uri) -> Uri {
        self.cells.get(&uri).cloned().unwrap_or(uri)
    }

    /// What is saved is not being typed.
    fn save(&mut self, uri: &Uri) {
        let edited = self.documents.get_mut(uri).and_then(|open| open.edited.take());
        if edited.is_some() {
            self.outbox.send(ToClient::Refresh);
        }
    }

    fn close(&mut self, uri: Uri) {
        let Some(open) = self.documents.remove(&uri) else { return };
        self.importers.remove(&uri);
        self.rests_on.remove(&uri);
        self.launched.remove(&path_of(&uri));
        self.watches.stop(&uri);
        self.confirmations.stop(&uri);
        self.previews.close(&uri);
        self.host.remove_file(open.file);
        self.forget_dumps(&open.dumps);
        let next = self.background_search.wanted(uri.clone(), Vec::new());
        self.search_in_background(next);
        self.renew_database();
        let path = path_of(&uri);
        // What was looked for while the file was open was not taken from disk.
        if self.is_needed(&path) {
            self.forget_imports(); // its text is read from disk now
        }
        if dumps::is_dump(&path) {
            self.documents.keys().for_each(|uri| self.look_for_dumps(uri));
        }
        match open.notebook {
            Some(_) => self.list_cells(&uri),
            None => self.outbox.send(ToClient::Diagnostics { uri, version: None, diagnostics: Vec::new() }),
        }
    }

    /// Has the files of settings read by a worker: a disk may not answer. Nearly always it does at once, and then the next message finds the
    /// settings in force.
    fn read_settings(&mut self) {
        self.settings_read += 1;
        let (settings, queue, number) = (self.settings.clone(), self.queue.clone(), self.settings_read);
        let (sender, read) = mpsc::channel();
        self.runtime.spawn_blocking(move || {
            if let Err(SendError(resolved)) = sender.send(settings.resolve()) {
                queue.post(Event::SettingsRead { number, resolved });
            }
        });
        if let Ok(resolved) = read.recv_timeout(LONGEST_TURN) {
            self.apply_settings(resolved);
        }
    }

    fn apply_settings(&mut self, resolved: Resolved) {
        let Resolved { config, problems, folder } = resolved;
        let (selection, unreadable) = Selection::new(folder.as_deref().or(self.settings.root.as_deref()), &config);
        self.settings.folder = folder;
        for problem in problems.into_iter().chain(unreadable) {
            self.outbox.send(ToClient::Warning(problem));
        }
        if self.config.as_ref() == Some(&config) {
            return;
        }
        if self.config.is_some() {
            self.outbox.send(ToClient::Refresh);
        }
        self.outbox.send(ToClient::Settings(SettingsInForce::of(&config)));
        self.host.set_config(config.clone());
        self.config = Some(config);
        self.selection = Arc::new(selection);
        for (uri, open) in &self.documents {
            self.host.set_excluded(open.file, self.selection.excludes(&path_of(uri)));
        }
        for open in self.documents.values_mut() {
            open.is_new = true;
            open.last_whole = Arc::default();
        }
        self.diagnose_all();
    }

    fn search_in_background(&self, next: Option<background_search::Task>) {
        if let Some(task) = next {
            self.start(move || Some(Event::Searched(task.run().map(Box::new))));
        }
    }

    fn look_at(&mut self, uri: &Uri, position: Position) {
        let document = self.document_of(uri.clone());
        let Some(at) = self.documents.get(&document).map(|open| self.view(uri.clone(), open).offset(position)) else {
            return;
        };
        if let Some(open) = self.documents.get_mut(&document) {
            open.at = at;
        }
        self.confirmations.look_at(&document, at);
    }

    /// Has the author's compiler asked about a document, where the author allows it.
    fn confirm(&mut self, uri: Uri, is_awaited: bool) {
        let config = self.config.clone().unwrap_or_default();
        let is_wanted = match config.confirm {
            Confirm::Never => false,
            Confirm::Command => is_awaited,
            Confirm::Save => true,
        };
        if !is_wanted {
            if is_awaited {
                self.outbox.send(ToClient::Warning(NOT_CONFIRMED.to_owned()));
            }
            return;
        }
        self.hand_texts_to_analysis();
        let Some(open) = self.documents.get(&self.document_of(uri.clone())) else { return };
        if open.notebook.is_some() {
            self.outbox.send(ToClient::Warning(NOTEBOOK_NOT_CONFIRMED.to_owned()));
            return;
        }
        let (view, text) = (self.view(uri.clone(), open), open.document.clone());
        let (root, outbox) = (self.root_of(&uri), self.outbox.clone());
        let at = Arc::new(AtomicUsize::new(open.at));
        self.start(move || {
            let (version, questions) =
                (view.version, view.analysis.all_questions(view.file, KernelsAsked::EveryConfiguration));
            drop(view);
            let Ok(questions) = questions else {
                return Some(Event::ConfirmationInterrupted { uri, version, is_awaited });
            };
            if questions.is_empty() && !is_awaited {
                return None;
            }
            let python = match python::find(config.python.as_deref(), root.as_deref()) {
                Ok(python) => python,
                Err(why) => {
                    outbox.send(ToClient::Warning(why));
                    return None;
                }
            };
            let path = PathBuf::from(path_of(&uri));
            let sha256 = sha256(text.text().as_bytes());
            let asked = Asked { task: Arc::new(confirmation::task(&path, &questions)), at };
            let news = News::default();
            Some(Event::Questions(Box::new(Job {
                uri,
                version,
                path,
                sha256,
                python,
                questions,
                up_to: config.confirm_up_to,
                asked,
                is_awaited,
                news,
            })))
        });
    }

    /// Answers are of one text: for another one they say nothing.
    fn take_answers(&mut self, Replied { uri, version, answers, is_first, is_shown, is_awaited }: Replied) {
        let Some(open) = self.documents.get(&uri).filter(|open| open.version == version) else { return };
        if is_first {
            self.host.set_answers(open.file, Answers::default());
        }
        self.host.add_answers(open.file, answers);
        let revision = self.next_revision();
        if let Some(open) = self.documents.get_mut(&uri) {
            open.revision = revision;
            open.pending = Pending::Diagnostics;
            self.behind.insert(uri.clone());
        }
        self.outbox.send(ToClient::DiagnosticsChanged);
        self.outbox.send(ToClient::Refresh);
        if is_shown && is_awaited {
            self.tell_summary(uri, version);
        }
    }

    /// How a document was confirmed, for the user, who has asked.
    fn tell_summary(&self, uri: Uri, version: i32) {
        let Some(open) = self.documents.get(&uri).filter(|open| open.version == version) else { return };
        let (view, outbox) = (self.view(uri.clone(), open), self.outbox.clone());
        self.start(move || match confirmation::summary(&view) {
            Ok(summary) => {
                outbox.send(ToClient::Info(summary));
                None
            }
            Err(_) => Some(Event::SummaryInterrupted { uri, version }),
        });
    }

    /// Something that every document depends on has changed.
    fn diagnose_all(&mut self) {
        self.outbox.send(ToClient::DiagnosticsChanged);
        let revision = self.next_revision();
        for (uri, open) in &mut self.documents {
            open.revision = revision;
            if open.pending == Pending::Nothing {
                open.pending = Pending::Diagnostics;
                self.behind.insert(uri.clone());
            }
        }
    }

    fn next_revision(&mut self) -> Revision {
        self.revision = self.revision.next();
        self.changes.send_replace(self.revision);
        self.revision
    }

    /// A write: waits until every snapshot is dropped, after it has cancelled what runs on them.
    fn hand_texts_to_analysis(&mut self) {
        let mut changed = Vec::new();
        for uri in &self.behind {
            let Some(open) = self.documents.get_mut(uri).filter(|open| open.pending == Pending::Text) else { continue };
            documents::settle(&mut open.document);
            self.host.set_document(open.file, open.document.clone());
            open.pending = Pending::Diagnostics;
            changed.push((uri.clone(), open.file));
        }
        if !changed.is_empty() && self.documents.len() > 1 {
            self.diagnose_importers(&changed);
        }
    }

    /// Begins a new database when the old one is worn, unless the user waits for something. Returns whether it did.
    fn renew_database(&mut self) -> bool {
        if !self.host.is_worn() || !self.behind.is_empty() {
            return false;
        }
        self.forget_imports_of_none();
        self.host.renew();
        self.sought.clear();
        self.rests_on.clear();
        self.launched.clear();
        self.documents.shrink_to_fit();
        for (uri, open) in &mut self.documents {
            let path = path_of(uri);
            open.file = self.host.file_id(&path);
            self.host.set_excluded(open.file, self.selection.excludes(&path));
            open.is_new = true;
        }
        true
    }

    /// The open documents that take constants out of `changed`.
    fn diagnose_importers(&mut self, changed: &[(Uri, FileId)]) {
        let revision = self.next_revision();
        let mut found = false;
        for (changed, file) in changed {
            for uri in self.importers.that_may_import(&path_of(changed)) {
                let Some(open) = self.documents.get_mut(&uri).filter(|open| open.pending == Pending::Nothing) else {
                    continue;
                };
                if self.host.depends_on(open.file, *file) {
                    open.revision = revision;
                    open.pending = Pending::Diagnostics;
                    self.behind.insert(uri);
                    found = true;
                }
            }
        }
        if found {
            self.outbox.send(ToClient::DiagnosticsChanged);
        }
    }

    fn ask(&mut self, query: Box<dyn Query>) {
        if query.is_abandoned() {
            return;
        }
        self.hand_texts_to_analysis();
        let Some(open) = self.documents.get(&self.document_of(query.uri().clone())) else {
            let message = format!("{} is not open", query.uri().as_str());
            query.refuse(Error::invalid_params(message));
            return;
        };
        let view = self.view(query.uri().clone(), open);
        self.start(move || query.run(view).map(Event::Query));
    }

    /// Runs a task on a worker. Its result is the next message, if it has one.
    fn start(&self, task: impl FnOnce() -> Option<Event> + Send + 'static) {
        let queue = self.queue.clone();
        self.runtime.spawn_blocking(move || task().map(|event| queue.post(event)));
    }

    fn workspace(&mut self) -> Workspace {
        self.hand_texts_to_analysis(); // settled documents are cheap to copy
        let open = self.documents.iter().map(|(uri, open)| OpenFile {
            uri: uri.clone(),
            path: path_of(uri),
            version: open.version,
            revision: open.revision,
            document: open.document.clone(),
        });
        let mut open: Vec<OpenFile> = open.collect();
        open.sort_by(|a, b| a.path.cmp(&b.path));
        Workspace {
            root: self.settings.root.clone(),
            selection: Arc::clone(&self.selection),
            config: self.config.clone().unwrap_or_default(),
            open,
            notebooks: Arc::clone(&self.notebooks),
            encoding: self.encoding,
            files: self.files_changed,
            changes: self.changes.subscribe(),
        }
    }

    fn watch(&mut self, uri: Uri, position: Option<Position>, options: MapOptions) {
        let document = self.document_of(uri.clone());
        let (Some(open), Some(position)) = (self.documents.get(&document), position) else {
            self.watches.stop_of(&document, &uri);
            return;
        };
        let offset = self.view(uri.clone(), open).offset(position);
        self.watches.start(document.clone(), uri, offset, options);
        self.draw_memory_map(&document);
    }

    /// Unless diagnostics are still to come, which a map follows.
    fn draw_memory_map(&self, uri: &Uri) {
        let (Some(watch), Some(open)) = (self.watches.of(uri), self.documents.get(uri)) else { return };
        if open.pending != Pending::Nothing {
            return;
        }
        let (view, outbox) = (self.view(watch.uri.clone(), open), self.outbox.clone());
        self.start(move || memory_map::send(view, watch, &outbox).map(|uri| Event::MemoryMapInterrupted { uri }));
    }

    /// Of an open document as the client names it, or one of the cells that it is.
    fn view(&self, uri: Uri, open: &OpenDocument) -> View {
        View {
            analysis: self.host.snapshot(),
            file: open.file,
            uri,
            version: open.version,
            document: open.document.clone(),
            encoding: self.encoding,
            settings_folder: self.settings.folder_that_counts("planner"),
            edited: open.edited,
            last_whole: Arc::clone(&open.last_whole),
            cell: None,
            notebooks: Notebooks::default(),
        }
        .among(Arc::clone(&self.notebooks))
    }

    fn start_diagnostics(&mut self) {
        for uri in std::mem::take(&mut self.behind) {
            let Some(open) = self.documents.get(&uri).filter(|open| open.pending != Pending::Nothing) else { continue };
            if open.pending == Pending::Text {
                self.behind.insert(uri); // a panic kept its text from the analysis
                continue;
            }
            if open.is_new {
                self.share_work(&uri, open);
            } else if open.callers > 1 {
                let view = self.view(uri.clone(), open);
                self.runtime.spawn_blocking(move || diagnostics::prepare_callers(&view));
            }
            let (view, revision) = (self.view(uri.clone(), open), open.revision);
            self.start(move || Some(Event::Diagnosed(diagnostics::diagnose(view, revision))));
            self.importers.expect(uri.clone());
            if let Some(open) = self.documents.get_mut(&uri) {
                open.pending = Pending::Nothing;
                open.is_new = false;
            }
        }
    }

    /// Diagnostics go through a document from its start; meanwhile others plan the later parts of it.
    fn share_work(&self, uri: &Uri, open: &OpenDocument) {
        let parts = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_PARTS));
        let offset = |part| open.document.len() * part / parts;
        for part in 1..parts {
            let (view, range) = (self.view(uri.clone(), open), TextRange::new(offset(part), offset(part + 1)));
            self.runtime.spawn_blocking(move || diagnostics::prepare(&view, range));
        }
    }

    /// Computes what the next edit of a document needs, if that leaves the time.
    fn warm(&self, uri: &Uri) {
        let Some(open) = self.documents.get(uri) else { return };
        self.share_work(uri, open);
        let view = self.view(uri.clone(), open);
        self.runtime.spawn_blocking(move || diagnostics::warm(&view));
    }

    /// What may be read for a document: its workspace, or its folder if it was opened without one.
    fn root_of(&self, uri: &Uri) -> Option<PathBuf> {
        let folder = || PathBuf::from(path_of(uri)).parent().filter(|path| path.is_absolute()).map(Path::to_owned);
        self.settings.root.clone().or_else(folder)
    }

    /// Whether an open document depends on a file, or would if there were one.
    fn is_needed(&self, path: &str) -> bool {
        self.depended_on.contains(path)
            || self.sought.iter().any(|candidates| candidates.iter().any(|candidate| candidate == path))
    }

    /// Reads imports that are new, on a worker.
    fn look_for(&mut self, imports: &[Vec<String>], importer: &Uri) {
        let Some(root) = self.root_of(importer) else { return };
        for candidates in imports {
            if !self.sought.insert(candidates.clone()) {
                continue;
            }
            let (candidates, root) = (candidates.clone(), root.clone());
            self.start(move || {
                imports::read_first(&OnDisk, &candidates, &root).map(|(path, text)| Event::Imported { path, text })
            });
        }
    }

    /// Reads the files that may launch the kernels of a document, once, on a worker.
    fn look_for_launchers(&mut self, launched_as: Option<&str>, uri: &Uri) {
        let (Some(module), Some(root)) = (launched_as, self.root_of(uri)) else { return };
        let path = path_of(uri);
        if self.launched.insert(path.clone()) {
            let module = module.to_owned();
            self.start(move || {
                let files = imports::launchers(&OnDisk, Path::new(&path), &module, &root);
                (!files.is_empty()).then_some(Event::Launchers { files })
            });
        }
    }

    fn import(&mut self, path: &str, text: Result<String, String>) {
        let file = self.host.file_id(path);
        if self.documents.values().any(|open| open.file == file) {
            return;
        }
        match text {
            Ok(text) => self.host.set_document_at_rest(file, Document::new(&text)),
            Err(reason) => self.host.set_unreadable(file, reason),
        }
        self.imported.insert(path.to_owned());
    }

    /// Unless diagnostics are still to come, which previews follow.
    fn refresh_previews(&self, uri: &Uri) {
        let (previews, Some(open)) = (self.previews.of(uri).to_vec(), self.documents.get(uri)) else { return };
        if previews.is_empty() || open.pending != Pending::Nothing {
            return;
        }
        let (view, outbox) = (self.view(uri.clone(), open), self.outbox.clone());
        self.start(move || preview::refresh(view, &previews, &outbox).map(|uri| Event::PreviewInterrupted { uri }));
    }

    /// On a worker; most files have none.
    fn look_for_dumps(&self, uri: &Uri) {
        let (Some(open), Some(root)) = (self.documents.get(uri), self.root_of(uri)) else { return };
        let (uri, document) = (uri.clone(), open.document.clone());
        self.start(move || {
            let path = path_of(&uri);
            let dumps = dumps::find(Path::new(&path), &document.text(), &root);
            Some(Event::Dumps { uri, dumps })
        });
    }

    fn link(&mut self, uri: &Uri, dumps: Vec<(String, String)>) {
        if !self.documents.contains_key(uri) {
            return;
        }
        let mut files = Vec::new();
        let mut paths = Vec::new();
        let mut changed = false;
        for (path, text) in dumps {
            let file = self.host.file_id(&path);
            files.push(file);
            paths.push(path);
            // The text of an open document is the editor's.
            if !self.documents.values().any(|open| open.file == file) {
                changed |= self.host.set_text(file, &text);
            }
        }
        let Some(open) = self.documents.get_mut(uri) else { return };
        changed |= self.host.set_dumps(open.file, &files);
        let before = std::mem::replace(&mut open.dumps, paths);
        self.forget_dumps(&before);
        if changed {
            self.diagnose_all();
            self.outbox.send(ToClient::Refresh);
        }
    }

    /// Of a document that is closed, or has others now.
    fn forget_dumps(&mut self, dumps: &[String]) {
        for path in dumps {
            let file = self.host.file_id(path);
            if !self.documents.values().any(|open| open.file == file || open.dumps.contains(path)) {
                self.host.remove_file(file);
            }
        }
    }

    /// Forgets the imports of documents that are closed.
    fn forget_imports_of_none(&mut self) {
        let analysis = self.host.snapshot();
        let of_open = self.documents.values().filter_map(|open| analysis.imported_paths(open.file).ok());
        let needed: HashSet<String> = of_open.flat_map(|paths| paths.to_vec()).collect();
        drop(analysis);
        let open: HashSet<String> = self.documents.keys().map(path_of).collect();
        let (kept, gone) = std::mem::take(&mut self.imported).into_iter().partition(|path| needed.contains(path));
        self.imported = kept;
        let gone: HashSet<String> = gone;
        for path in gone.difference(&open) {
            let file = self.host.file_id(path);
            self.host.remove_file(file);
        }
    }

    /// They are read again by the next diagnostics.
    fn forget_imports(&mut self) {
        for path in std::mem::take(&mut self.imported) {
            let file = self.host.file_id(&path);
            if !self.documents.values().any(|open| open.file == file) {
                self.host.remove_file(file);
            }
        }
        self.sought.clear();
        self.rests_on.clear();
        self.launched.clear();
        self.diagnose_all();
    }

    /// Whether a document imports what it imported when its diagnostics were passed on last. In a repository that may be thousands of files, and an
    /// edit must not pay for them.
    fn rests_on_the_same(&self, diagnosed: &Diagnosed) -> bool {
        self.rests_on.get(&diagnosed.uri).is_some_and(|RestsOn { imports, imported }| {
            Arc::ptr_eq(imports, &diagnosed.imports) && Arc::ptr_eq(imported, &diagnosed.imported)
        })
    }

    /// Passes diagnostics on, unless they are older than the document.
    fn publish(&mut self, diagnosed: Diagnosed) {
        let rests_on_the_same = self.rests_on_the_same(&diagnosed);
        let Diagnosed { uri, revision, outcome, imports, open: searches, callers, imported, launched_as: _ } =
            diagnosed;
        let Some(open) = self.documents.get_mut(&uri).filter(|open| open.revision == revision) else { return };
        match outcome {
            DiagnosisResult::Done(mut documents) => {
                open.callers = callers;
                if rests_on_the_same {
                    self.importers.unexpect(&uri);
                } else {
                    self.importers.set(&uri, imports.iter().flatten().chain(imported.iter()));
                    self.rests_on.insert(uri.clone(), RestsOn { imports, imported });
                }
                if open.notebook.as_mut().is_some_and(|notebook| notebook.retain_news(&mut documents)) {
                    self.outbox.send(ToClient::DiagnosticsChanged);
                }
                for (Cell { uri, version }, diagnostics) in documents {
                    self.outbox.send(ToClient::Diagnostics { uri, version: Some(version), diagnostics });
                }
                self.draw_memory_map(&uri);
                self.refresh_previews(&uri);
                let next = self.background_search.wanted(uri.clone(), searches);
                self.search_in_background(next);
                if self.renew_database() {
                    self.warm(&uri);
                }
            }
            // An edit of another document interrupted this one.
            DiagnosisResult::Cancelled => {
                open.pending = Pending::Diagnostics;
                self.behind.insert(uri);
            }
        }
    }
}

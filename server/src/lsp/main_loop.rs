//! The single writer. One thread owns the documents and the analysis and takes messages in wire order; everything that
//! computes runs on snapshots elsewhere.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use serde_json::Value;
use tilelens_analysis::AnalysisHost;
use tilelens_analysis::project::Config;
use tilelens_syntax::{Document, PositionEncoding};
use tokio::runtime::Handle;
use tower_lsp::jsonrpc::Error;
use tower_lsp::ls_types::{TextDocumentContentChangeEvent, Uri};

use super::client::{Outbox, ToClient};
use super::diagnostics::{self, Diagnosed, Outcome};
use super::documents::{self, Documents, OpenDocument, Pending, Revision};
use super::guard::panic_message;
use super::query::{Query, View};
use crate::settings::Settings;

/// Everything that reaches the main loop.
pub(super) enum Event {
    Initialized {
        encoding: PositionEncoding,
        settings: Settings,
    },
    Opened {
        uri: Uri,
        version: i32,
        text: String,
    },
    Changed {
        uri: Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    },
    Closed {
        uri: Uri,
    },
    EditorSettings(Value),
    /// One that may hold settings.
    FilesChanged,
    Query(Box<dyn Query>),
    Diagnosed(Diagnosed),
}

/// Messages that wait are taken together, so that a flood of edits costs one round of diagnostics; but no longer than this.
const LONGEST_TURN: Duration = Duration::from_millis(50);

pub(super) struct MainLoop {
    host: AnalysisHost,
    documents: Documents,
    revision: Revision,
    encoding: PositionEncoding,
    settings: Settings,
    /// What the settings came to; `None` before the first time.
    config: Option<Config>,
    runtime: Handle,
    events: Sender<Event>,
    outbox: Outbox,
}

impl MainLoop {
    pub(super) fn new(runtime: Handle, events: Sender<Event>, outbox: Outbox) -> Self {
        MainLoop {
            host: AnalysisHost::new(),
            documents: Documents::new(),
            revision: Revision::default(),
            encoding: PositionEncoding::Utf16,
            settings: Settings::default(),
            config: None,
            runtime,
            events,
            outbox,
        }
    }

    pub(super) fn run(mut self, inbox: &Receiver<Event>) {
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
                self.apply_settings();
            }
            Event::Opened { uri, version, text } => self.open(uri, version, &text),
            Event::Changed { uri, version, changes } => self.change(&uri, version, changes),
            Event::Closed { uri } => self.close(uri),
            Event::EditorSettings(editor) => {
                self.settings.editor = editor;
                self.apply_settings();
            }
            Event::FilesChanged => self.apply_settings(),
            Event::Query(query) => self.ask(query),
            Event::Diagnosed(diagnosed) => self.publish(diagnosed),
        }
    }

    fn open(&mut self, uri: Uri, version: i32, text: &str) {
        let file = self.host.file_id(&diagnostics::path_of(&uri));
        let revision = self.next_revision();
        let document = Document::new(text);
        self.documents.insert(uri, OpenDocument { file, version, document, revision, pending: Pending::Text });
    }

    fn change(&mut self, uri: &Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        let revision = self.next_revision();
        let Some(open) = self.documents.get_mut(uri) else {
            self.outbox.send(ToClient::error(format!("an edit of a document that is not open: {}", uri.as_str())));
            return;
        };
        documents::apply(&mut open.document, changes, self.encoding);
        open.version = version;
        open.revision = revision;
        open.pending = Pending::Text;
    }

    fn close(&mut self, uri: Uri) {
        let Some(open) = self.documents.remove(&uri) else { return };
        self.host.remove_file(open.file);
        self.outbox.send(ToClient::Diagnostics { uri, version: None, diagnostics: Vec::new() });
    }

    fn apply_settings(&mut self) {
        let (config, problems) = self.settings.resolve();
        for problem in problems {
            self.outbox.send(ToClient::Warning(problem));
        }
        if self.config.as_ref() == Some(&config) {
            return;
        }
        if self.config.is_some() {
            self.outbox.send(ToClient::Refresh);
        }
        self.host.set_config(config.clone());
        self.config = Some(config);
        let revision = self.next_revision();
        for open in self.documents.values_mut() {
            open.revision = revision;
            if open.pending == Pending::Nothing {
                open.pending = Pending::Diagnostics;
            }
        }
    }

    fn next_revision(&mut self) -> Revision {
        self.revision = self.revision.next();
        self.revision
    }

    /// A write: waits until every snapshot is dropped, after it has cancelled what runs on them.
    fn hand_texts_to_analysis(&mut self) {
        for open in self.documents.values_mut().filter(|open| open.pending == Pending::Text) {
            documents::settle(&mut open.document);
            self.host.set_document(open.file, open.document.clone());
            open.pending = Pending::Diagnostics;
        }
    }

    fn ask(&mut self, query: Box<dyn Query>) {
        if query.is_abandoned() {
            return;
        }
        self.hand_texts_to_analysis();
        let Some(open) = self.documents.get(query.uri()) else {
            let message = format!("{} is not open", query.uri().as_str());
            query.refuse(Error::invalid_params(message));
            return;
        };
        let view = self.view(query.uri().clone(), open);
        let events = self.events.clone();
        self.runtime.spawn_blocking(move || {
            if let Some(query) = query.run(view) {
                let _ = events.send(Event::Query(query)); // fails at the end of the session only
            }
        });
    }

    fn view(&self, uri: Uri, open: &OpenDocument) -> View {
        View {
            analysis: self.host.snapshot(),
            file: open.file,
            uri,
            version: open.version,
            document: open.document.clone(),
            encoding: self.encoding,
        }
    }

    fn start_diagnostics(&mut self) {
        let waiting = self.documents.iter().filter(|(_, open)| open.pending == Pending::Diagnostics);
        for uri in waiting.map(|(uri, _)| uri.clone()).collect::<Vec<_>>() {
            let Some(open) = self.documents.get(&uri) else { continue };
            let (view, revision) = (self.view(uri.clone(), open), open.revision);
            let events = self.events.clone();
            self.runtime.spawn_blocking(move || {
                let _ = events.send(Event::Diagnosed(diagnostics::diagnose(view, revision)));
            });
            if let Some(open) = self.documents.get_mut(&uri) {
                open.pending = Pending::Nothing;
            }
        }
    }

    /// Passes diagnostics on, unless they are older than the document.
    fn publish(&mut self, Diagnosed { uri, version, revision, outcome }: Diagnosed) {
        let Some(open) = self.documents.get_mut(&uri).filter(|open| open.revision == revision) else { return };
        match outcome {
            Outcome::Done(diagnostics) => {
                self.outbox.send(ToClient::Diagnostics { uri, version: Some(version), diagnostics });
            }
            // An edit of another document interrupted this one.
            Outcome::Cancelled => open.pending = Pending::Diagnostics,
        }
    }
}

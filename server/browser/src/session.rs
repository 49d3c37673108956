//! One client and its documents.

mod files;
mod requests;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ls_types::notification::{Notification, PublishDiagnostics};
use ls_types::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, InitializeParams, InitializeResult, MessageType, PublishDiagnosticsParams,
    TextDocumentContentChangeEvent, Uri,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tilefit_analysis::{AnalysisHost, FileId};
use tilefit_answers::convert::path_of;
use tilefit_answers::ext::{MemoryMapNotification, MemoryMapParams, WATCH_MEMORY_MAP};
use tilefit_answers::panics::panic_message;
use tilefit_answers::{self as answers, Abilities, LastWhole, Notebooks, View, Watches, capabilities, editor_settings};
use tilefit_pypto::memory::{OpenSearch, Patience};
use tilefit_syntax::{Document, LineCol, PositionEncoding};

use files::Files;

/// Codes of JSON-RPC.
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;

/// Why a request has no answer.
struct Refusal {
    code: i64,
    message: String,
}

impl Refusal {
    fn of_params(why: impl ToString) -> Self {
        Refusal { code: INVALID_PARAMS, message: why.to_string() }
    }
}

#[derive(Deserialize)]
struct Message {
    /// Requests have one.
    id: Option<Value>,
    /// Answers have none.
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
}

struct OpenDocument {
    file: FileId,
    version: i32,
    document: Document,
    /// The analysis has not seen the newest text.
    is_unsettled: bool,
    /// The client has not seen the newest diagnostics.
    is_undiagnosed: bool,
    /// Byte offset of the end of the newest edit since it was opened or saved.
    edited: Option<usize>,
    last_whole: Arc<LastWhole>,
    /// What its plans leave open.
    open: Vec<OpenSearch>,
}

/// A language server for one client. Messages go in one by one; what it says comes out of the same call. It computes nothing but while it is
/// called.
pub struct Session {
    host: AnalysisHost,
    documents: HashMap<Uri, OpenDocument>,
    watches: Watches,
    encoding: PositionEncoding,
    abilities: Abilities,
    /// The editor's settings.
    editor: Value,
    files: Files,
    /// What is to be sent.
    outbox: Vec<String>,
}

impl Default for Session {
    fn default() -> Self {
        Session {
            host: AnalysisHost::new(),
            documents: HashMap::new(),
            watches: Watches::default(),
            encoding: PositionEncoding::Utf16,
            abilities: Abilities::default(),
            editor: Value::Null,
            files: Files::default(),
            outbox: Vec::new(),
        }
    }
}

impl Session {
    /// Takes a message of JSON-RPC, and answers it if it is a request.
    pub fn receive(&mut self, message: &str) -> Vec<String> {
        self.guarded(|this| match serde_json::from_str(message) {
            Ok(Message { id: Some(id), method: None, result, .. }) => this.hear(&id, result),
            Ok(message) => match &mut this.files.held {
                Some(held) => held.push(message),
                None => this.take(message),
            },
            Err(error) => this.complain(format!("a message is not understood: {error}")),
        })
    }

    fn take(&mut self, message: Message) {
        match message {
            Message { id: Some(id), method: Some(method), params, .. } => self.request(&id, &method, params),
            Message { id: None, method: Some(method), params, .. } => self.notification(&method, params),
            Message { method: None, .. } => {} // an answer to nothing
        }
    }

    /// Says what the newest texts come to. To be called when no message waits, so that a flood of edits costs one round of diagnostics.
    pub fn turn(&mut self) -> Vec<String> {
        self.guarded(|this| {
            this.hand_texts_to_analysis();
            let behind = this.documents.iter().filter(|(_, open)| open.is_undiagnosed);
            let behind: Vec<Uri> = behind.map(|(uri, _)| uri.clone()).collect();
            for uri in behind {
                this.diagnose(&uri);
                this.draw_memory_map(&uri);
            }
            if this.host.is_worn() {
                this.renew_database();
            }
        })
    }

    /// Answers one question that the plans leave open, and says what changes. To be called when nothing happens for a while, until it says
    /// nothing: nothing interrupts it, so it searches as long as the command line does, which takes less than a second where that is fast.
    pub fn rest(&mut self) -> Vec<String> {
        let Some(search) = self.documents.values_mut().find_map(|open| open.open.pop()) else { return Vec::new() };
        if let Ok(Some(searched)) = catch_unwind(|| search.run(Patience::CommandLine, &|| false)) {
            self.host.set_searched(searched);
            self.diagnose_all();
            self.refresh();
        }
        self.turn()
    }

    /// The session outlives a bug in the handling of one message.
    fn guarded(&mut self, step: impl FnOnce(&mut Self)) -> Vec<String> {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| step(self))) {
            self.complain(format!("a message was lost: {}", panic_message(panic.as_ref())));
        }
        std::mem::take(&mut self.outbox)
    }

    fn request(&mut self, id: &Value, method: &str, params: Value) {
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(method, params))).unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            let message = format!("tilefit failed on this request. This is a bug in tilefit: {message}");
            Err(Refusal { code: INTERNAL_ERROR, message })
        });
        self.outbox.push(match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string(),
            Err(Refusal { code, message }) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
            }
        });
    }

    fn notification(&mut self, method: &str, params: Value) {
        let done = match method {
            "textDocument/didOpen" => read(params).map(|params| self.open(params)),
            "textDocument/didChange" => read(params).map(|params| self.change(params)),
            "textDocument/didSave" => read(params).map(|params| self.save(&params)),
            "textDocument/didClose" => read(params).map(|params| self.close(params)),
            "workspace/didChangeConfiguration" => {
                read(params).map(|DidChangeConfigurationParams { settings }| self.configure(settings))
            }
            "workspace/didChangeWatchedFiles" => read(params).map(|params| self.files_changed(params)),
            "initialized" => {
                self.initialized();
                Ok(())
            }
            WATCH_MEMORY_MAP => read(params).and_then(|params| self.watch(params)),
            // `exit`, cancellations of what is answered already.
            _ => Ok(()),
        };
        if let Err(Refusal { message, .. }) = done {
            self.complain(format!("{method}: {message}"));
        }
    }

    fn initialize(&mut self, params: InitializeParams) -> InitializeResult {
        self.encoding = capabilities::negotiate_encoding(&params.capabilities);
        self.abilities = Abilities::of(&params.capabilities);
        self.files = Files::of(&params, self.abilities.files);
        self.editor = editor_settings::section(params.initialization_options.unwrap_or_default());
        let mut result = capabilities::initialize_result(self.encoding, false);
        // There are no folders to search, and nothing to run. The cells of a notebook would be documents by themselves.
        let offered = &mut result.capabilities;
        offered.notebook_document_sync = None;
        offered.workspace_symbol_provider = None;
        offered.call_hierarchy_provider = None;
        offered.execute_command_provider = None;
        result
    }

    fn configure(&mut self, settings: Value) {
        self.editor = editor_settings::section(settings);
        self.apply_settings();
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) {
        let item = params.text_document;
        let open = OpenDocument {
            file: self.host.file_id(&path_of(&item.uri)),
            version: item.version,
            document: Document::new(&item.text),
            is_unsettled: true,
            is_undiagnosed: true,
            edited: None,
            last_whole: Arc::default(),
            open: Vec::new(),
        };
        self.documents.insert(item.uri, open);
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
        let uri = params.text_document.uri;
        let Some(open) = self.documents.get_mut(&uri) else {
            self.complain(format!("an edit of a document that is not open: {}", uri.as_str()));
            return;
        };
        let changes: Vec<TextDocumentContentChangeEvent> = params.content_changes;
        let (watches, edited) = (&mut self.watches, &mut open.edited);
        let follow = |replaced: &Range<usize>, inserted| {
            *edited = Some(replaced.start + inserted);
            watches.follow(&uri, replaced, inserted);
        };
        answers::apply_changes(&mut open.document, changes, self.encoding, follow);
        open.version = params.text_document.version;
        open.is_unsettled = true;
        open.is_undiagnosed = true;
    }

    /// What is saved is not being typed.
    fn save(&mut self, params: &DidSaveTextDocumentParams) {
        if let Some(open) = self.documents.get_mut(&params.text_document.uri) {
            open.edited = None;
        }
    }

    fn close(&mut self, params: DidCloseTextDocumentParams) {
        let uri = params.text_document.uri;
        let Some(open) = self.documents.remove(&uri) else { return };
        self.watches.stop(&uri);
        self.diagnose_importers(&[open.file]);
        self.host.remove_file(open.file);
        self.forget_imports_of_none();
        self.notify::<PublishDiagnostics>(&PublishDiagnosticsParams::new(uri, Vec::new(), None));
    }

    fn watch(&mut self, params: MemoryMapParams) -> Result<(), Refusal> {
        let options = params.options().map_err(Refusal::of_params)?;
        let uri = params.text_document.uri;
        let (Some(open), Some(position)) = (self.documents.get(&uri), params.position) else {
            self.watches.stop(&uri);
            return Ok(());
        };
        let at = LineCol { line: position.line, col: position.character };
        self.watches.start(uri.clone(), uri.clone(), open.document.offset(at, self.encoding), options);
        if !open.is_undiagnosed {
            self.draw_memory_map(&uri);
        }
        Ok(())
    }

    /// Something that every document depends on has changed.
    fn diagnose_all(&mut self) {
        self.documents.values_mut().for_each(|open| open.is_undiagnosed = true);
    }

    fn hand_texts_to_analysis(&mut self) {
        let mut changed = Vec::new();
        for open in self.documents.values_mut().filter(|open| open.is_unsettled) {
            // The text is right after this whatever the incremental parser does.
            if catch_unwind(AssertUnwindSafe(|| open.document.settle())).is_err() {
                open.document = Document::new(&open.document.text());
            }
            self.host.set_document(open.file, open.document.clone());
            open.is_unsettled = false;
            changed.push(open.file);
        }
        self.diagnose_importers(&changed);
    }

    fn diagnose(&mut self, uri: &Uri) {
        let Some(view) = self.view(uri) else { return };
        let found = catch_unwind(AssertUnwindSafe(|| view.analysis.diagnosis(view.file)));
        let (diagnostics, open) = match found {
            Ok(Ok(found)) => {
                let diagnostics = found.diagnostics.into_iter();
                (diagnostics.map(|diagnostic| answers::lsp_diagnostic(&view, diagnostic)).collect(), found.open)
            }
            Ok(Err(_)) => return, // nothing is written while it runs
            Err(panic) => (vec![answers::failed_diagnosis(panic_message(panic.as_ref()))], Vec::new()),
        };
        let (version, file) = (Some(view.version), view.file);
        drop(view);
        self.notify::<PublishDiagnostics>(&PublishDiagnosticsParams::new(uri.clone(), diagnostics, version));
        if let Some(document) = self.documents.get_mut(uri) {
            document.is_undiagnosed = false;
            document.open = open;
        }
        self.look_for_imports(file);
    }

    fn draw_memory_map(&mut self, uri: &Uri) {
        let (Some(watch), Some(view)) = (self.watches.of(uri), self.view(uri)) else { return };
        let drawn = catch_unwind(AssertUnwindSafe(|| answers::memory_map_changed(&view, watch.offset, watch.options)));
        drop(view);
        match drawn {
            Ok(Ok(changed)) => self.notify::<MemoryMapNotification>(&json!(changed)),
            Ok(Err(_)) => {}
            Err(panic) => self.complain(format!("a memory map was lost: {}", panic_message(panic.as_ref()))),
        }
    }

    /// Begins a new database when the old one is worn.
    fn renew_database(&mut self) {
        self.host.renew();
        self.documents.shrink_to_fit();
        for (uri, open) in &mut self.documents {
            open.file = self.host.file_id(&path_of(uri));
        }
    }

    /// To be dropped before the next change.
    fn view(&self, uri: &Uri) -> Option<View> {
        let open = self.documents.get(uri)?;
        Some(View {
            analysis: self.host.snapshot(),
            file: open.file,
            uri: uri.clone(),
            version: open.version,
            document: open.document.clone(),
            encoding: self.encoding,
            settings_folder: None,
            edited: open.edited,
            last_whole: Arc::clone(&open.last_whole),
            cell: None,
            notebooks: Notebooks::default(),
        })
    }

    /// For the log: something is wrong with the client or with tilefit.
    fn complain(&mut self, message: String) {
        self.notify::<ls_types::notification::LogMessage>(&ls_types::LogMessageParams {
            typ: MessageType::ERROR,
            message,
        });
    }

    fn notify<N: Notification<Params: Serialize>>(&mut self, params: &N::Params) {
        self.outbox.push(json!({ "jsonrpc": "2.0", "method": N::METHOD, "params": params }).to_string());
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(Refusal::of_params)
}

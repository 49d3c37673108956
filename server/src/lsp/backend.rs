//! One method per message. A method puts a message on the queue before it first waits, and computes nothing.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, OnceLock};

use serde::Serialize;
use serde_json::Value;
use tilefit_analysis::Cancellable;
use tilefit_answers::ext::{
    FileText, GeneratedCode, KernelIr, MemoryMapAnswer, MemoryMapParams, TextDocumentContent,
    TextDocumentContentParams, ViewFileTextParams,
};
use tilefit_answers::{
    self as answers, Abilities, Command, Shows, UntoldHint, UntoldLens, View, capabilities, text_document_content,
};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::*;
use tower_lsp::{Client, LanguageServer};

use super::client::{self, Outbox, ToClient};
use super::guard::{Session, internal_error};
use super::main_loop::Event;
use super::preview::{self, Place};
use super::query::{OnEdit, content_modified, question};
use super::search;
use super::survey::{self, Bar, Findings, StopOnDrop};
use super::symbols::{self, KernelNames};
use super::workspace::Workspace;
use crate::setting_edit;
use crate::settings::{SECTION, Settings};

pub(super) struct Backend {
    pub(super) client: Client,
    events: Sender<Event>,
    outbox: Outbox,
    /// Taken by `initialized`, from when on the client may be spoken to.
    unsent: Mutex<Option<UnboundedReceiver<ToClient>>>,
    /// Told by `initialize`.
    abilities: OnceLock<Abilities>,
    session: Arc<Session>,
    /// What was found in the workspace.
    pub(super) findings: Arc<Mutex<Findings>>,
    /// Of the files of the workspace, for searches.
    kernels: Arc<Mutex<KernelNames>>,
    progresses: AtomicU32,
    /// Progresses that the user has cancelled.
    cancelled: Mutex<Vec<ProgressToken>>,
}

impl Backend {
    pub(super) fn new(
        client: Client,
        events: Sender<Event>,
        outbox: Outbox,
        unsent: UnboundedReceiver<ToClient>,
        session: Arc<Session>,
    ) -> Self {
        Backend {
            client,
            events,
            outbox,
            unsent: Mutex::new(Some(unsent)),
            abilities: OnceLock::new(),
            session,
            findings: Arc::default(),
            kernels: Arc::default(),
            progresses: AtomicU32::new(0),
            cancelled: Mutex::default(),
        }
    }

    fn post(&self, event: Event) {
        let _ = self.events.send(event); // the main loop lives as long as the process
    }

    fn shows(&self) -> Shows {
        self.abilities.get().map(|abilities| abilities.shows).unwrap_or_default()
    }

    pub(super) async fn ask<T, F>(&self, uri: Uri, on_edit: OnEdit, compute: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(&View) -> Cancellable<T> + Send + 'static,
    {
        let (query, answer) = question(uri, on_edit, compute);
        self.post(Event::Query(query));
        answer.await.unwrap_or_else(|_| Err(Error::internal_error()))
    }

    /// All files at this moment.
    pub(super) async fn workspace(&self) -> Result<Workspace> {
        let (answer, workspace) = oneshot::channel();
        self.post(Event::Workspace(answer));
        workspace.await.map_err(|_| Error::internal_error())
    }

    /// Computes what goes beyond the open documents, beside everything else.
    async fn search<T: Send + 'static>(
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

    pub(super) fn shows_progress(&self) -> bool {
        self.abilities.get().is_some_and(|abilities| abilities.progress)
    }

    pub(super) fn new_progress_token(&self) -> ProgressToken {
        ProgressToken::String(format!("tilefit/{}", self.progresses.fetch_add(1, Ordering::Relaxed)))
    }

    pub(super) async fn cancel_progress(&self, params: WorkDoneProgressCancelParams) {
        if let Ok(mut cancelled) = self.cancelled.lock() {
            cancelled.push(params.token);
        }
    }

    pub(super) fn is_cancelled(&self, bar: &Bar) -> bool {
        self.cancelled.lock().is_ok_and(|cancelled| cancelled.contains(&bar.token))
    }

    pub(super) fn forget_progress(&self, token: &ProgressToken) {
        if let Ok(mut cancelled) = self.cancelled.lock() {
            cancelled.retain(|other| other != token);
        }
    }

    pub(super) async fn view_file_text(&self, params: ViewFileTextParams) -> Result<FileText> {
        self.ask(params.text_document.uri, OnEdit::AskAgain, answers::view_file_text).await
    }

    pub(super) async fn generated_code(&self, params: TextDocumentPositionParams) -> Result<Option<GeneratedCode>> {
        let position = params.position;
        self.ask(params.text_document.uri, OnEdit::GiveUp, move |view| answers::generated_code(view, position)).await
    }

    /// The C++ of the kernel at a position as a document that follows the edits of its source.
    async fn open_generated_code(&self, params: TextDocumentPositionParams) -> Result<Option<Uri>> {
        let source = params.text_document.uri.clone();
        let Some(GeneratedCode { kernel, text, .. }) = self.generated_code(params).await? else { return Ok(None) };
        let (uri, place) = if self.session.asks_for_content() {
            let Some(uri) = text_document_content::uri_of(&source, &kernel) else { return Ok(None) };
            (uri.clone(), Place::Content(uri))
        } else {
            let path = preview::file_of(&source, &kernel);
            let failed = |error| Error::invalid_params(format!("{}: {error}", path.display()));
            preview::write(&path, &text).map_err(failed)?;
            let Some(uri) = Uri::from_file_path(&path) else { return Ok(None) };
            (uri, Place::File(path))
        };
        self.post(Event::Previewed { source, kernel, place, text });
        self.outbox.send(ToClient::Show(Location::new(uri.clone(), Range::default())));
        Ok(Some(uri))
    }

    pub(super) async fn text_document_content(&self, params: TextDocumentContentParams) -> Result<TextDocumentContent> {
        let Some((source, kernel)) = text_document_content::source_of(&params.uri) else {
            return Err(Error::invalid_params(format!("{} is no document of tilefit", params.uri.as_str())));
        };
        let name = kernel.clone();
        let code =
            self.ask(source.clone(), OnEdit::AskAgain, move |view| answers::generated_code_of(view, &name)).await?;
        let text = code.map_or_else(|| format!("// tilefit: there is no kernel {kernel}\n"), |code| code.text);
        self.post(Event::Previewed { source, kernel, place: Place::Content(params.uri), text: text.clone() });
        Ok(TextDocumentContent { text })
    }

    pub(super) async fn allocated_ir(&self, params: TextDocumentPositionParams) -> Result<Option<KernelIr>> {
        let position = params.position;
        self.ask(params.text_document.uri, OnEdit::GiveUp, move |view| answers::allocated_ir(view, position)).await
    }

    pub(super) async fn memory_map(&self, params: MemoryMapParams) -> Result<Option<MemoryMapAnswer>> {
        let wish = params.wish().map_err(Error::invalid_params)?;
        let position = params.position.ok_or_else(|| Error::invalid_params("a memory map needs a position"))?;
        self.ask(params.text_document.uri, OnEdit::GiveUp, move |view| answers::memory_map(view, position, wish)).await
    }

    pub(super) async fn watch_memory_map(&self, params: MemoryMapParams) {
        match params.wish() {
            Ok(wish) => {
                self.post(Event::WatchMemoryMap { uri: params.text_document.uri, position: params.position, wish });
            }
            Err(error) => self.outbox.send(ToClient::error(error)),
        }
    }

    pub(super) async fn lowered_ir(&self, params: TextDocumentPositionParams) -> Result<Option<KernelIr>> {
        let position = params.position;
        self.ask(params.text_document.uri, OnEdit::GiveUp, move |view| answers::lowered_ir(view, position)).await
    }
}

impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let encoding = capabilities::negotiate_encoding(&params.capabilities);
        // tower-lsp lets only one `initialize` through.
        let abilities = Abilities::of(&params.capabilities);
        let _ = self.abilities.set(abilities);
        let root = workspace_root(&params);
        let editor = section(params.initialization_options.unwrap_or_default());
        self.post(Event::Initialized { encoding, settings: Settings { root, editor } });
        Ok(capabilities::initialize_result(encoding, abilities.pulls_diagnostics))
    }

    async fn initialized(&self, _: InitializedParams) {
        let unsent = self.unsent.lock().ok().and_then(|mut unsent| unsent.take());
        let (Some(unsent), Some(&abilities)) = (unsent, self.abilities.get()) else { return };
        tokio::spawn(client::deliver(self.client.clone(), abilities, unsent, self.events.clone()));
        self.outbox.send(ToClient::WatchFiles);
        if self.session.asks_for_content() {
            self.outbox.send(ToClient::OfferContent(text_document_content::SCHEME));
        }
        self.outbox.send(ToClient::PullSettings);
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let TextDocumentItem { uri, version, text, .. } = params.text_document;
        self.post(Event::Opened { uri, version, text });
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let VersionedTextDocumentIdentifier { uri, version } = params.text_document;
        self.post(Event::Changed { uri, version, changes: params.content_changes });
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.post(Event::Closed { uri: params.text_document.uri });
    }

    async fn did_save(&self, _: DidSaveTextDocumentParams) {
        // The text is known already; what is on disk is not read.
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        if self.abilities.get().is_some_and(|abilities| abilities.configuration) {
            self.outbox.send(ToClient::PullSettings);
        } else {
            self.post(Event::EditorSettings(section(params.settings)));
        }
    }

    async fn did_change_watched_files(&self, _: DidChangeWatchedFilesParams) {
        self.post(Event::FilesChanged);
    }

    async fn diagnostic(&self, params: DocumentDiagnosticParams) -> Result<DocumentDiagnosticReportResult> {
        let known = params.previous_result_id;
        let compute = move |view: &View| answers::diagnostic(view, known.as_deref());
        self.ask(params.text_document.uri, OnEdit::AskAgain, compute).await
    }

    async fn workspace_diagnostic(&self, params: WorkspaceDiagnosticParams) -> Result<WorkspaceDiagnosticReportResult> {
        survey::workspace_diagnostic(self, params).await
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        let shows = self.shows();
        self.ask(text_document.uri, OnEdit::GiveUp, move |view| answers::hover(view, position, shows)).await
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let shows = self.shows();
        self.ask(text_document.uri, OnEdit::GiveUp, move |view| answers::completion(view, position, shows)).await
    }

    async fn completion_resolve(&self, item: CompletionItem) -> Result<CompletionItem> {
        Ok(answers::resolve_completion(item, self.shows()))
    }

    async fn signature_help(&self, params: SignatureHelpParams) -> Result<Option<SignatureHelp>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        let shows = self.shows();
        self.ask(text_document.uri, OnEdit::GiveUp, move |view| answers::signature_help(view, position, shows)).await
    }

    async fn goto_definition(&self, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        self.ask(text_document.uri, OnEdit::GiveUp, move |view| answers::definition(view, position)).await
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let all = params.context.include_declaration;
        let sought = move |view: &View| answers::exported(view, position);
        match self.ask(text_document.uri.clone(), OnEdit::GiveUp, sought).await? {
            Some(sought) => self.search(move |workspace| search::references(workspace, &sought, all)).await,
            None => {
                self.ask(text_document.uri, OnEdit::GiveUp, move |view| answers::references(view, position, all)).await
            }
        }
    }

    async fn document_highlight(&self, params: DocumentHighlightParams) -> Result<Option<Vec<DocumentHighlight>>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        self.ask(text_document.uri, OnEdit::GiveUp, move |view| answers::highlights(view, position)).await
    }

    async fn prepare_rename(&self, params: TextDocumentPositionParams) -> Result<Option<PrepareRenameResponse>> {
        let TextDocumentPositionParams { text_document, position } = params;
        let prepare = move |view: &View| answers::prepare_rename(view, position);
        let prepared = self.ask(text_document.uri.clone(), OnEdit::GiveUp, prepare).await?;
        if prepared.is_some() {
            return Ok(prepared);
        }
        // Kernels in files that are not open may use it.
        let sought = move |view: &View| answers::exported(view, position);
        match self.ask(text_document.uri, OnEdit::GiveUp, sought).await? {
            Some(sought) => self.search(move |workspace| search::prepare_rename(workspace, &sought)).await,
            None => Ok(None),
        }
    }

    async fn rename(&self, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let new = params.new_name;
        let with_versions = self.abilities.get().is_some_and(|abilities| abilities.document_changes);
        let sought = move |view: &View| answers::exported(view, position);
        let renamed = match self.ask(text_document.uri.clone(), OnEdit::GiveUp, sought).await? {
            Some(sought) => {
                self.search(move |workspace| search::rename(workspace, &sought, &new, with_versions)).await?
            }
            None => {
                let rename = move |view: &View| {
                    let versions = HashMap::from([(view.uri.clone(), view.version)]);
                    answers::rename(view, position, &new, with_versions.then_some(&versions))
                };
                self.ask(text_document.uri, OnEdit::GiveUp, rename).await?
            }
        };
        renamed.map_err(request_failed)
    }

    async fn folding_range(&self, params: FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>> {
        self.ask(params.text_document.uri, OnEdit::AskAgain, answers::folding_ranges).await
    }

    async fn selection_range(&self, params: SelectionRangeParams) -> Result<Option<Vec<SelectionRange>>> {
        let positions = params.positions;
        let compute = move |view: &View| answers::selection_ranges(view, &positions);
        self.ask(params.text_document.uri, OnEdit::GiveUp, compute).await
    }

    async fn prepare_call_hierarchy(
        &self,
        params: CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<CallHierarchyItem>>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        let compute = move |view: &View| answers::prepare_call_hierarchy(view, position);
        self.ask(text_document.uri, OnEdit::GiveUp, compute).await
    }

    async fn incoming_calls(
        &self,
        params: CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyIncomingCall>>> {
        let item = params.item;
        self.search(move |workspace| {
            let view = search::view_of_item(workspace, &item);
            answers::incoming_calls(&view, item.selection_range.start).map_err(|_| content_modified())
        })
        .await
    }

    async fn outgoing_calls(
        &self,
        params: CallHierarchyOutgoingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyOutgoingCall>>> {
        let item = params.item;
        self.search(move |workspace| {
            let view = search::view_of_item(workspace, &item);
            answers::outgoing_calls(&view, item.selection_range.start).map_err(|_| content_modified())
        })
        .await
    }

    async fn symbol(&self, params: WorkspaceSymbolParams) -> Result<Option<WorkspaceSymbolResponse>> {
        let (kernels, stop) = (Arc::clone(&self.kernels), StopOnDrop(Arc::default()));
        let stopped = Arc::clone(&stop.0);
        self.search(move |workspace| symbols::find(workspace, &params.query, &kernels, &stopped)).await.map(Some)
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let (range, shows) = (params.range, self.shows());
        self.ask(params.text_document.uri, OnEdit::AskAgain, move |view| answers::inlay_hints(view, range, shows)).await
    }

    async fn inlay_hint_resolve(&self, hint: InlayHint) -> Result<InlayHint> {
        let Some(untold) = UntoldHint::of(&hint) else { return Ok(hint) };
        let uri = untold.uri().clone();
        let compute = move |view: &View| answers::resolve_inlay_hint(view, hint.clone(), &untold);
        self.ask(uri, OnEdit::GiveUp, compute).await
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        self.ask(params.text_document.uri, OnEdit::AskAgain, answers::code_lenses).await
    }

    async fn code_lens_resolve(&self, lens: CodeLens) -> Result<CodeLens> {
        let Some(untold) = UntoldLens::of(&lens) else { return Ok(lens) };
        let (uri, range) = (untold.uri().clone(), lens.range);
        let compute = move |view: &View| answers::resolve_code_lens(view, range, &untold);
        Ok(self.ask(uri, OnEdit::GiveUp, compute).await?.unwrap_or(lens))
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let (range, only) = (params.range, params.context.only);
        let creates_files = self.abilities.get().is_some_and(|abilities| abilities.creates_files);
        let compute =
            move |view: &View| answers::code_actions(view, range, only.as_deref(), creates_files, &setting_edit::set);
        self.ask(params.text_document.uri, OnEdit::GiveUp, compute).await
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        self.ask(params.text_document.uri, OnEdit::AskAgain, answers::document_symbols).await
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        let (command, uri, position) = Command::of(params).map_err(Error::invalid_params)?;
        let params =
            TextDocumentPositionParams { text_document: TextDocumentIdentifier { uri: uri.clone() }, position };
        match command {
            Command::OpenGeneratedCode => to_value(self.open_generated_code(params).await?),
            Command::GeneratedCode => to_value(self.generated_code(params).await?),
            Command::AllocatedIr => to_value(self.allocated_ir(params).await?),
            Command::LoweredIr => to_value(self.lowered_ir(params).await?),
            Command::OpenDump => {
                let place = Location::new(uri, Range::new(position, position));
                self.outbox.send(ToClient::Show(place.clone()));
                to_value(Some(place))
            }
        }
    }
}

fn to_value(answer: Option<impl Serialize>) -> Result<Option<Value>> {
    answer.map(serde_json::to_value).transpose().map_err(|error| Error::invalid_params(error.to_string()))
}

/// For people: why what they asked for is not done (LSP 3.17, `RequestFailed`).
fn request_failed(why: String) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: why.into(), data: None }
}

/// The section `tilefit` of `settings`, or all of it for a client that sends the section alone.
fn section(mut settings: Value) -> Value {
    settings.get_mut(SECTION).map(Value::take).unwrap_or(settings)
}

#[expect(deprecated, reason = "clients older than LSP 3.6 know no workspace folders")]
fn workspace_root(params: &InitializeParams) -> Option<PathBuf> {
    let folder = params.workspace_folders.as_ref().and_then(|folders| folders.first()).map(|folder| &folder.uri);
    folder.or(params.root_uri.as_ref())?.to_file_path().map(|path| path.into_owned())
}

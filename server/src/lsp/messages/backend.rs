//! One method per message; what one document answers is in the table of [`requests`]. A method puts a message on the queue before it first waits, and computes nothing.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde::Serialize;
use serde_json::Value;
use tilefit_analysis::launch::RECORDS;
use tilefit_answers::convert::path_of;
use tilefit_answers::editor_settings::section;
use tilefit_answers::ext::{GeneratedCode, MemoryMapParams, TextDocumentContent, TextDocumentContentParams};
use tilefit_answers::requests::{self, Asker, OnEdit, Request};
use tilefit_answers::{
    self as answers, Abilities, Command, UnresolvedHint, UnresolvedLens, View, capabilities, text_document_content,
};
use tilefit_gpu::tuned_configurations;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::*;
use tower_lsp::{Client, LanguageServer};

use super::delivery::deliver;
use super::guard::Session;
use super::progress::Progresses;
use super::stop_on_drop::StopOnDrop;
use super::workspace_diagnostic::WorkspaceDiagnostics;
use crate::lsp::main_loop::event::Event;
use crate::lsp::main_loop::queue::Queue;
use crate::lsp::outbox::{Outbox, ToClient};
use crate::lsp::tasks::preview::{PreviewFolder, PreviewTarget};
use crate::lsp::tasks::query::content_modified;
use crate::lsp::tasks::search;
use crate::lsp::tasks::symbols::{self, KernelNames};
use crate::settings::Settings;
use crate::{disk, setting_edit};

pub(crate) struct Backend {
    client: Client,
    pub(crate) queue: Queue,
    outbox: Outbox,
    /// From `initialized` on the client may be spoken to.
    is_delivering: AtomicBool,
    /// Told by `initialize`.
    abilities: OnceLock<Abilities>,
    session: Arc<Session>,
    workspace_diagnostics: WorkspaceDiagnostics,
    progresses: Arc<Progresses>,
    previews: PreviewFolder,
    /// Of the files of the workspace, for searches.
    kernels: Arc<Mutex<KernelNames>>,
}

impl Backend {
    pub(crate) fn new(
        client: Client,
        queue: Queue,
        outbox: Outbox,
        session: Arc<Session>,
        previews: PreviewFolder,
    ) -> Self {
        let progresses = Arc::new(Progresses::new(client.clone()));
        Backend {
            workspace_diagnostics: WorkspaceDiagnostics::new(client.clone(), queue.clone(), Arc::clone(&progresses)),
            progresses,
            client,
            queue,
            outbox,
            is_delivering: AtomicBool::new(false),
            abilities: OnceLock::new(),
            session,
            previews,
            kernels: Arc::default(),
        }
    }

    fn abilities(&self) -> Abilities {
        self.abilities.get().copied().unwrap_or_default()
    }

    /// What one document answers.
    pub(crate) async fn ask<R: Request>(&self, params: R::Params) -> Result<R::Answer> {
        R::check(&params).map_err(Error::invalid_params)?;
        let (uri, asker) = (R::uri(&params).clone(), self.asker());
        let answer = self.queue.ask(uri, R::ON_EDIT, move |view| R::answer(view, &params, &asker)).await?;
        answer.map_err(request_failed)
    }

    fn asker(&self) -> Asker {
        Asker { abilities: self.abilities(), write_setting: Some(setting_edit::set) }
    }

    pub(crate) async fn cancel_progress(&self, params: WorkDoneProgressCancelParams) {
        self.progresses.cancel(params.token);
    }

    /// The C++ of the kernel at a position as a document that follows the edits of its source.
    async fn open_generated_code(&self, params: TextDocumentPositionParams) -> Result<Option<Uri>> {
        let source = params.text_document.uri.clone();
        let Some(GeneratedCode { kernel, text, .. }) = self.ask::<requests::GeneratedCode>(params).await? else {
            return Ok(None);
        };
        let (uri, place) = if self.session.asks_for_content() {
            let Some(uri) = text_document_content::uri_of(&source, &kernel) else { return Ok(None) };
            (uri.clone(), PreviewTarget::Content(uri))
        } else {
            let path =
                self.previews.file_of(&source, &kernel).map_err(|error| Error::invalid_params(error.to_string()))?;
            let failed = |error| Error::invalid_params(format!("{}: {error}", path.display()));
            disk::write_read_only(&path, &text).map_err(failed)?;
            let Some(uri) = Uri::from_file_path(&path) else { return Ok(None) };
            (uri, PreviewTarget::File(path))
        };
        self.queue.post(Event::Previewed { source, kernel, place, text });
        self.outbox.send(ToClient::Show(Location::new(uri.clone(), Range::default())));
        Ok(Some(uri))
    }

    pub(crate) async fn text_document_content(&self, params: TextDocumentContentParams) -> Result<TextDocumentContent> {
        let Some((source, kernel)) = text_document_content::source_of(&params.uri) else {
            return Err(Error::invalid_params(format!("{} is not a document of tilefit", params.uri.as_str())));
        };
        let name = kernel.clone();
        let code = self
            .queue
            .ask(source.clone(), OnEdit::AskAgain, move |view| answers::generated_code_of(view, &name))
            .await?;
        let text = code.map_or_else(|| format!("// tilefit: there is no kernel {kernel}\n"), |code| code.text);
        self.queue.post(Event::Previewed {
            source,
            kernel,
            place: PreviewTarget::Content(params.uri),
            text: text.clone(),
        });
        Ok(TextDocumentContent { text })
    }

    pub(crate) async fn watch_memory_map(&self, params: MemoryMapParams) {
        match params.options() {
            Ok(options) => {
                self.queue.post(Event::WatchMemoryMap {
                    uri: params.text_document.uri,
                    position: params.position,
                    options,
                });
            }
            Err(error) => self.outbox.send(ToClient::error(error)),
        }
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
        self.queue.post(Event::Initialized { encoding, settings: Settings { root, editor, folder: None } });
        Ok(capabilities::initialize_result(encoding, abilities.pulls_diagnostics))
    }

    async fn initialized(&self, _: InitializedParams) {
        let Some(&abilities) = self.abilities.get() else { return };
        if self.is_delivering.swap(true, Ordering::AcqRel) {
            return;
        }
        let progresses = Arc::clone(&self.progresses);
        tokio::spawn(deliver(self.client.clone(), abilities, self.outbox.clone(), self.queue.clone(), progresses));
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
        self.queue.post(Event::Opened { uri, version, text });
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let VersionedTextDocumentIdentifier { uri, version } = params.text_document;
        self.queue.post(Event::Changed { uri, version, changes: params.content_changes });
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.queue.post(Event::Closed { uri: params.text_document.uri });
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.queue.post(Event::Saved { uri: params.text_document.uri.clone() });
        // The text is known already. The compiler reads what is on disk.
        self.queue.post(Event::Confirm { uri: params.text_document.uri, is_awaited: false });
    }

    async fn notebook_did_open(&self, params: DidOpenNotebookDocumentParams) {
        self.queue.post(Event::NotebookOpened(Box::new(params)));
    }

    async fn notebook_did_change(&self, params: DidChangeNotebookDocumentParams) {
        self.queue.post(Event::NotebookChanged(Box::new(params)));
    }

    async fn notebook_did_save(&self, params: DidSaveNotebookDocumentParams) {
        self.queue.post(Event::Saved { uri: params.notebook_document.uri });
    }

    async fn notebook_did_close(&self, params: DidCloseNotebookDocumentParams) {
        self.queue.post(Event::Closed { uri: params.notebook_document.uri });
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        if self.abilities().configuration {
            self.outbox.send(ToClient::PullSettings);
        } else {
            self.queue.post(Event::EditorSettings(section(params.settings)));
        }
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        let data = |change: &FileEvent| {
            let path = path_of(&change.uri);
            if Path::new(&path).ends_with(RECORDS) {
                return Some(path);
            }
            let folder = Path::new(&path).parent().filter(|_| path.ends_with(".json"))?;
            Some(folder.join(tuned_configurations::TABLES).to_string_lossy().into_owned())
        };
        let data: Option<Vec<String>> = params.changes.iter().map(data).collect();
        self.queue.post(Event::FilesChanged { data: data.filter(|data| !data.is_empty()) });
    }

    async fn diagnostic(&self, params: DocumentDiagnosticParams) -> Result<DocumentDiagnosticReportResult> {
        let known = params.previous_result_id;
        let compute = move |view: &View| answers::diagnostic(view, known.as_deref());
        self.queue.ask(params.text_document.uri, OnEdit::AskAgain, compute).await
    }

    async fn workspace_diagnostic(&self, params: WorkspaceDiagnosticParams) -> Result<WorkspaceDiagnosticReportResult> {
        self.workspace_diagnostics.answer(params, self.abilities().progress).await
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        self.ask::<requests::HoverText>(params).await
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        self.ask::<requests::Completions>(params).await
    }

    async fn completion_resolve(&self, item: CompletionItem) -> Result<CompletionItem> {
        Ok(answers::resolve_completion(item, self.abilities().shows))
    }

    async fn signature_help(&self, params: SignatureHelpParams) -> Result<Option<SignatureHelp>> {
        self.ask::<requests::Signatures>(params).await
    }

    async fn goto_definition(&self, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
        self.ask::<requests::Definition>(params).await
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position.clone();
        let sought = move |view: &View| answers::exported(view, position);
        match self.queue.ask(text_document.uri, OnEdit::GiveUp, sought).await? {
            Some(sought) => {
                let all = params.context.include_declaration;
                self.queue.search(move |workspace| search::references(workspace, &sought, all)).await
            }
            None => self.ask::<requests::References>(params).await,
        }
    }

    async fn document_highlight(&self, params: DocumentHighlightParams) -> Result<Option<Vec<DocumentHighlight>>> {
        // Editors ask for it wherever the cursor goes.
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params.clone();
        self.queue.post(Event::LookedAt { uri: text_document.uri, position });
        self.ask::<requests::Highlights>(params).await
    }

    async fn prepare_rename(&self, params: TextDocumentPositionParams) -> Result<Option<PrepareRenameResponse>> {
        let TextDocumentPositionParams { text_document, position } = params.clone();
        let prepared = self.ask::<requests::PrepareRename>(params).await?;
        if prepared.is_some() {
            return Ok(prepared);
        }
        // Kernels in files that are not open may use it.
        let sought = move |view: &View| answers::exported(view, position);
        match self.queue.ask(text_document.uri, OnEdit::GiveUp, sought).await? {
            Some(sought) => self.queue.search(move |workspace| search::prepare_rename(workspace, &sought)).await,
            None => Ok(None),
        }
    }

    async fn rename(&self, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position.clone();
        let sought = move |view: &View| answers::exported(view, position);
        match self.queue.ask(text_document.uri, OnEdit::GiveUp, sought).await? {
            Some(sought) => {
                let (new, with_versions) = (params.new_name, self.abilities().document_changes);
                let search = move |workspace: &_| search::rename(workspace, &sought, &new, with_versions);
                self.queue.search(search).await?.map_err(request_failed)
            }
            None => self.ask::<requests::Rename>(params).await,
        }
    }

    async fn folding_range(&self, params: FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>> {
        self.ask::<requests::FoldingRanges>(params).await
    }

    async fn selection_range(&self, params: SelectionRangeParams) -> Result<Option<Vec<SelectionRange>>> {
        self.ask::<requests::SelectionRanges>(params).await
    }

    async fn prepare_call_hierarchy(
        &self,
        params: CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<CallHierarchyItem>>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        let compute = move |view: &View| answers::prepare_call_hierarchy(view, position);
        self.queue.ask(text_document.uri, OnEdit::GiveUp, compute).await
    }

    async fn incoming_calls(
        &self,
        params: CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyIncomingCall>>> {
        let item = params.item;
        self.queue
            .search(move |workspace| {
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
        self.queue
            .search(move |workspace| {
                let view = search::view_of_item(workspace, &item);
                answers::outgoing_calls(&view, item.selection_range.start).map_err(|_| content_modified())
            })
            .await
    }

    async fn symbol(&self, params: WorkspaceSymbolParams) -> Result<Option<WorkspaceSymbolResponse>> {
        let (kernels, stop) = (Arc::clone(&self.kernels), StopOnDrop(Arc::default()));
        let stopped = Arc::clone(&stop.0);
        self.queue.search(move |workspace| symbols::find(workspace, &params.query, &kernels, &stopped)).await.map(Some)
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        self.ask::<requests::InlayHints>(params).await
    }

    async fn inlay_hint_resolve(&self, hint: InlayHint) -> Result<InlayHint> {
        let Some(unresolved) = UnresolvedHint::of(&hint) else { return Ok(hint) };
        let uri = unresolved.uri().clone();
        let compute = move |view: &View| answers::resolve_inlay_hint(view, hint.clone(), &unresolved);
        self.queue.ask(uri, OnEdit::GiveUp, compute).await
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        self.ask::<requests::CodeLenses>(params).await
    }

    async fn code_lens_resolve(&self, lens: CodeLens) -> Result<CodeLens> {
        let Some(unresolved) = UnresolvedLens::of(&lens) else { return Ok(lens) };
        let (uri, range) = (unresolved.uri().clone(), lens.range);
        let compute = move |view: &View| answers::resolve_code_lens(view, range, &unresolved);
        Ok(self.queue.ask(uri, OnEdit::GiveUp, compute).await?.unwrap_or(lens))
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        self.queue.post(Event::LookedAt { uri: params.text_document.uri.clone(), position: params.range.start });
        self.ask::<requests::CodeActions>(params).await
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        self.ask::<requests::DocumentSymbols>(params).await
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        let (command, uri, position) = Command::of(params).map_err(Error::invalid_params)?;
        let params =
            TextDocumentPositionParams { text_document: TextDocumentIdentifier { uri: uri.clone() }, position };
        match command {
            Command::OpenGeneratedCode => to_value(self.open_generated_code(params).await?),
            Command::GeneratedCode => to_value(self.ask::<requests::GeneratedCode>(params).await?),
            Command::AllocatedIr => to_value(self.ask::<requests::AllocatedIr>(params).await?),
            Command::LoweredIr => to_value(self.ask::<requests::LoweredIr>(params).await?),
            Command::Confirm => {
                self.queue.post(Event::LookedAt { uri: uri.clone(), position: params.position });
                self.queue.post(Event::Confirm { uri, is_awaited: true });
                Ok(None)
            }
            Command::AddMissingValues => {
                let compute = move |view: &View| answers::missing_values(view, position);
                let edit = self.queue.ask(uri, OnEdit::GiveUp, compute).await?;
                if let Some(edit) = edit {
                    self.outbox.send(ToClient::Apply(edit));
                }
                Ok(None)
            }
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

#[expect(deprecated, reason = "clients older than LSP 3.6 know no workspace folders")]
fn workspace_root(params: &InitializeParams) -> Option<PathBuf> {
    let folder = params.workspace_folders.as_ref().and_then(|folders| folders.first()).map(|folder| &folder.uri);
    folder.or(params.root_uri.as_ref())?.to_file_path().map(|path| path.into_owned())
}

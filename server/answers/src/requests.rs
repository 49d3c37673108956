//! The table of requests that are answered of one document: method, parameters, answer, and what an edit meanwhile means. The server over stdio and the
//! page in a browser both take what they answer from here; a new request is a row, and the function that it names.

use ls_types::{
    CodeAction, CodeActionOrCommand, CodeActionParams, CodeActionResponse, CodeLens, CodeLensParams, CompletionParams,
    CompletionResponse, DocumentHighlight, DocumentHighlightParams, DocumentSymbolParams, DocumentSymbolResponse,
    FoldingRange, FoldingRangeParams, GotoDefinitionParams, GotoDefinitionResponse, Hover, HoverParams, InlayHint,
    InlayHintParams, Location, PrepareRenameResponse, ReferenceParams, RenameParams, SelectionRange,
    SelectionRangeParams, SignatureHelp, SignatureHelpParams, TextDocumentPositionParams, Uri, WorkspaceEdit,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tilefit_analysis::Cancellable;

use crate::capabilities::{ADD_MISSING_VALUES, COMMANDS, SHOW_MEMORY_MAP};
use crate::code_action::{ActionsAsked, WriteSetting, code_actions};
use crate::{Abilities, View, ext};

/// What becomes of a request when an edit of its document overtakes it. Whatever else interrupts one, such as a setting or a file
/// that it imports, it is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnEdit {
    /// Ask again: the answer belongs to the document as a whole.
    AskAgain,
    /// Give up with `ContentModified`: the client's position means another place now.
    GiveUp,
}

/// Who asks, and what can be done for them here.
#[derive(Clone, Copy)]
pub struct Asker {
    pub abilities: Abilities,
    /// How files of settings have to change. `None` where there are no files, and nothing runs commands.
    pub write_setting: Option<WriteSetting>,
}

/// A request that one document answers.
pub trait Request: 'static {
    const METHOD: &'static str;
    const ON_EDIT: OnEdit;
    type Params: DeserializeOwned + Send + Sync + 'static;
    type Answer: Serialize + Send + 'static;

    fn uri(params: &Self::Params) -> &Uri;

    /// What the parameters lack.
    fn check(_: &Self::Params) -> Result<(), String> {
        Ok(())
    }

    /// The error is for people: why what they asked for is not done.
    fn answer(view: &View, params: &Self::Params, asker: &Asker) -> Cancellable<Result<Self::Answer, String>>;
}

/// Who receives requests by their methods.
pub trait Receiver {
    type Answered;

    fn receive<R: Request>(&mut self, params: serde_json::Value) -> Self::Answered;
}

/// Whoever serves requests that LSP does not have.
pub trait Registry: Sized {
    fn register<R: Request>(self) -> Self;
}

/// Those of `tilefit/…`, for a service that takes them one by one.
pub fn register_own<R: Registry>(registry: R) -> R {
    registry
        .register::<AllocatedIr>()
        .register::<Configurations>()
        .register::<GeneratedCode>()
        .register::<LoweredIr>()
        .register::<MemoryMap>()
        .register::<PlannedFor>()
        .register::<ViewFileText>()
}

macro_rules! requests {
    ($($name:ident = $method:expr, $on_edit:ident, $params:ty => $answer:ty,
        $($uri:ident).+, |$view:ident, $asked:pat_param, $asker:pat_param| $body:expr;)*) => {
        $(
            pub struct $name;

            impl Request for $name {
                const METHOD: &'static str = $method;
                const ON_EDIT: OnEdit = OnEdit::$on_edit;
                type Params = $params;
                type Answer = $answer;

                fn uri(params: &Self::Params) -> &Uri {
                    &params.$($uri).+.uri
                }

                fn answer(
                    $view: &View,
                    $asked: &Self::Params,
                    $asker: &Asker,
                ) -> Cancellable<Result<Self::Answer, String>> {
                    let answer = || -> Cancellable<Self::Answer> { $body };
                    answer().map(Ok)
                }
            }
        )*

        /// Hands a request to who receives it; `None` where no document answers such a method.
        pub fn receive<R: Receiver>(receiver: &mut R, method: &str, params: serde_json::Value) -> Option<R::Answered> {
            Some(match method {
                $($name::METHOD => receiver.receive::<$name>(params),)*
                MemoryMap::METHOD => receiver.receive::<MemoryMap>(params),
                Rename::METHOD => receiver.receive::<Rename>(params),
                _ => return None,
            })
        }
    };
}

requests! {
    CodeActions = "textDocument/codeAction", GiveUp, CodeActionParams => Option<CodeActionResponse>,
        text_document, |view, asked, asker| {
            let creates_files = asker.abilities.creates_files && asker.write_setting.is_some();
            let write_setting = asker.write_setting.unwrap_or(|_, _, _| None);
            let actions = code_actions(view, &ActionsAsked::of(asked.clone()), creates_files, write_setting)?;
            let is_possible = |it: &CodeActionOrCommand| asker.write_setting.is_some() || !is_command_here(it);
            Ok(actions.map(|all| all.into_iter().filter(is_possible).collect()))
        };
    CodeLenses = "textDocument/codeLens", AskAgain, CodeLensParams => Option<Vec<CodeLens>>,
        text_document, |view, _, asker| {
            Ok(crate::code_lenses(view)?.map(|all| all.into_iter().map(|lens| asker.with_command(lens)).collect()))
        };
    Completions = "textDocument/completion", GiveUp, CompletionParams => Option<CompletionResponse>,
        text_document_position.text_document, |view, asked, asker| {
            crate::completion(view, asked.text_document_position.position, asker.abilities.shows)
        };
    Definition = "textDocument/definition", GiveUp, GotoDefinitionParams => Option<GotoDefinitionResponse>,
        text_document_position_params.text_document, |view, asked, _| {
            crate::definition(view, asked.text_document_position_params.position)
        };
    DocumentSymbols = "textDocument/documentSymbol", AskAgain, DocumentSymbolParams => Option<DocumentSymbolResponse>,
        text_document, |view, _, _| crate::document_symbols(view);
    FoldingRanges = "textDocument/foldingRange", AskAgain, FoldingRangeParams => Option<Vec<FoldingRange>>,
        text_document, |view, _, _| crate::folding_ranges(view);
    Highlights = "textDocument/documentHighlight", GiveUp, DocumentHighlightParams => Option<Vec<DocumentHighlight>>,
        text_document_position_params.text_document, |view, asked, _| {
            crate::highlights(view, asked.text_document_position_params.position)
        };
    HoverText = "textDocument/hover", GiveUp, HoverParams => Option<Hover>,
        text_document_position_params.text_document, |view, asked, asker| {
            crate::hover(view, asked.text_document_position_params.position, asker.abilities.shows)
        };
    InlayHints = "textDocument/inlayHint", AskAgain, InlayHintParams => Option<Vec<InlayHint>>,
        text_document, |view, asked, asker| crate::inlay_hints(view, asked.range, asker.abilities.shows);
    PrepareRename = "textDocument/prepareRename", GiveUp, TextDocumentPositionParams => Option<PrepareRenameResponse>,
        text_document, |view, asked, _| crate::prepare_rename(view, asked.position);
    References = "textDocument/references", GiveUp, ReferenceParams => Option<Vec<Location>>,
        text_document_position.text_document, |view, asked, _| {
            crate::references(view, asked.text_document_position.position, asked.context.include_declaration)
        };
    SelectionRanges = "textDocument/selectionRange", GiveUp, SelectionRangeParams => Option<Vec<SelectionRange>>,
        text_document, |view, asked, _| crate::selection_ranges(view, &asked.positions);
    Signatures = "textDocument/signatureHelp", GiveUp, SignatureHelpParams => Option<SignatureHelp>,
        text_document_position_params.text_document, |view, asked, asker| {
            crate::signature_help(view, asked.text_document_position_params.position, asker.abilities.shows)
        };

    AllocatedIr = ext::ALLOCATED_IR, GiveUp, TextDocumentPositionParams => Option<ext::KernelIr>,
        text_document, |view, asked, _| crate::allocated_ir(view, asked.position);
    Configurations = ext::CONFIGURATIONS, AskAgain, ext::ConfigurationsParams => ext::Configurations,
        text_document, |view, _, _| crate::configurations(view);
    GeneratedCode = ext::GENERATED_CODE, GiveUp, TextDocumentPositionParams => Option<ext::GeneratedCode>,
        text_document, |view, asked, _| crate::generated_code(view, asked.position);
    LoweredIr = ext::LOWERED_IR, GiveUp, TextDocumentPositionParams => Option<ext::KernelIr>,
        text_document, |view, asked, _| crate::lowered_ir(view, asked.position);
    PlannedFor = ext::PLANNED_FOR, AskAgain, ext::ConfigurationsParams => ext::PlannedFor,
        text_document, |view, _, _| crate::planned_for(view);
    ViewFileText = ext::VIEW_FILE_TEXT, AskAgain, ext::ViewFileTextParams => ext::FileText,
        text_document, |view, _, _| crate::view_file_text(view);
}

/// The only one that may be refused.
pub struct Rename;

impl Request for Rename {
    const METHOD: &'static str = "textDocument/rename";
    const ON_EDIT: OnEdit = OnEdit::GiveUp;
    type Params = RenameParams;
    type Answer = Option<WorkspaceEdit>;

    fn uri(params: &Self::Params) -> &Uri {
        &params.text_document_position.text_document.uri
    }

    fn answer(view: &View, params: &Self::Params, asker: &Asker) -> Cancellable<Result<Self::Answer, String>> {
        let versions = asker.abilities.document_changes.then(|| view.versions());
        crate::rename(view, params.text_document_position.position, &params.new_name, versions.as_ref())
    }
}

/// The only one whose parameters may lack something.
pub struct MemoryMap;

impl Request for MemoryMap {
    const METHOD: &'static str = ext::MEMORY_MAP;
    const ON_EDIT: OnEdit = OnEdit::GiveUp;
    type Params = ext::MemoryMapParams;
    type Answer = Option<ext::MemoryMapAnswer>;

    fn uri(params: &Self::Params) -> &Uri {
        &params.text_document.uri
    }

    fn check(params: &Self::Params) -> Result<(), String> {
        params.options()?;
        params.position.map(|_| ()).ok_or_else(|| "a memory map needs a position".to_owned())
    }

    fn answer(view: &View, params: &Self::Params, _: &Asker) -> Cancellable<Result<Self::Answer, String>> {
        let (Some(position), Ok(options)) = (params.position, params.options()) else { return Ok(Ok(None)) };
        crate::memory_map(view, position, options).map(Ok)
    }
}

impl Asker {
    /// Where no command is run, the quick fix writes missing values, and the lens that names them leads to the map as the others do.
    pub fn with_command(&self, mut lens: CodeLens) -> CodeLens {
        let is_run = self.write_setting.is_some();
        if let Some(command) = lens.command.as_mut().filter(|it| !is_run && it.command == ADD_MISSING_VALUES) {
            command.command = SHOW_MEMORY_MAP.to_owned();
        }
        lens
    }
}

/// Whether an action is a command that a server takes.
fn is_command_here(action: &CodeActionOrCommand) -> bool {
    let CodeActionOrCommand::CodeAction(CodeAction { command: Some(command), .. }) = action else { return false };
    COMMANDS.contains(&command.command.as_str())
}

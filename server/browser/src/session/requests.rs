//! Which answer belongs to which request.

use ls_types::{
    CodeAction, CodeActionOrCommand, CodeActionParams, CodeLens, CompletionItem, DocumentSymbolParams,
    FoldingRangeParams, InlayHint, InlayHintParams, Position, ReferenceParams, RenameParams, SelectionRangeParams,
    TextDocumentPositionParams, Uri,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tilefit_analysis::Cancellable;
use tilefit_answers::capabilities::{ADD_MISSING_VALUES, COMMANDS, SHOW_MEMORY_MAP};
use tilefit_answers::ext::{self, ConfigurationsParams, MemoryMapParams, ViewFileTextParams};
use tilefit_answers::{self as answers, ActionsAsked, UntoldHint, UntoldLens, View};

use super::{METHOD_NOT_FOUND, Refusal, Session, read};

impl Session {
    pub(super) fn answer(&mut self, method: &str, params: Value) -> Result<Value, Refusal> {
        let shows = self.abilities.shows;
        match method {
            "initialize" => to_value(self.initialize(read(params)?)),
            "shutdown" => Ok(Value::Null),
            "textDocument/hover" => self.at(params, |view, at| answers::hover(view, at, shows)),
            "textDocument/completion" => self.at(params, |view, at| answers::completion(view, at, shows)),
            "completionItem/resolve" => to_value(answers::resolve_completion(read::<CompletionItem>(params)?, shows)),
            "textDocument/signatureHelp" => self.at(params, |view, at| answers::signature_help(view, at, shows)),
            "textDocument/definition" => self.at(params, answers::definition),
            "textDocument/references" => self.of(
                params,
                |params: &ReferenceParams| &params.text_document_position.text_document.uri,
                |view, params| {
                    let position = params.text_document_position.position;
                    answers::references(view, position, params.context.include_declaration)
                },
            ),
            "textDocument/documentHighlight" => self.at(params, answers::highlights),
            "textDocument/prepareRename" => self.at(params, answers::prepare_rename),
            "textDocument/rename" => self.of(
                params,
                |params: &RenameParams| &params.text_document_position.text_document.uri,
                |view, params| answers::rename(view, params.text_document_position.position, &params.new_name, None),
            ),
            "textDocument/foldingRange" => self.of(
                params,
                |params: &FoldingRangeParams| &params.text_document.uri,
                |view, _| answers::folding_ranges(view),
            ),
            "textDocument/selectionRange" => self.of(
                params,
                |params: &SelectionRangeParams| &params.text_document.uri,
                |view, params| answers::selection_ranges(view, &params.positions),
            ),
            "textDocument/inlayHint" => self.of(
                params,
                |params: &InlayHintParams| &params.text_document.uri,
                |view, params| answers::inlay_hints(view, params.range, shows),
            ),
            "inlayHint/resolve" => self.resolve_hint(params),
            "textDocument/codeLens" => self.of(
                params,
                |params: &ls_types::CodeLensParams| &params.text_document.uri,
                |view, _| {
                    Ok(answers::code_lenses(view)?.map(|all| all.into_iter().map(with_command).collect::<Vec<_>>()))
                },
            ),
            "codeLens/resolve" => self.resolve_lens(params),
            "textDocument/codeAction" => self.of(
                params,
                |params: &CodeActionParams| &params.text_document.uri,
                |view, params| {
                    // No file is written, and no command run.
                    let asked = ActionsAsked::of(params.clone());
                    let actions = answers::code_actions(view, &asked, false, &|_, _, _| None)?;
                    Ok(actions.map(|all| all.into_iter().filter(|it| !is_run_here(it)).collect::<Vec<_>>()))
                },
            ),
            "textDocument/documentSymbol" => self.of(
                params,
                |params: &DocumentSymbolParams| &params.text_document.uri,
                |view, _| answers::document_symbols(view),
            ),
            ext::GENERATED_CODE => self.at(params, answers::generated_code),
            ext::ALLOCATED_IR => self.at(params, answers::allocated_ir),
            ext::LOWERED_IR => self.at(params, answers::lowered_ir),
            ext::CONFIGURATIONS => self.of(
                params,
                |params: &ConfigurationsParams| &params.text_document.uri,
                |view, _| answers::configurations(view),
            ),
            ext::PLANNED_FOR => self.of(
                params,
                |params: &ConfigurationsParams| &params.text_document.uri,
                |view, _| answers::planned_for(view),
            ),
            ext::MEMORY_MAP => {
                let asked: MemoryMapParams = read(params)?;
                let options = asked.options().map_err(Refusal::of_params)?;
                let position = asked.position.ok_or_else(|| Refusal::of_params("a memory map needs a position"))?;
                self.ask(&asked.text_document.uri, |view| answers::memory_map(view, position, options))
            }
            ext::VIEW_FILE_TEXT => self.of(
                params,
                |params: &ViewFileTextParams| &params.text_document.uri,
                |view, _| answers::view_file_text(view),
            ),
            _ => Err(Refusal { code: METHOD_NOT_FOUND, message: format!("there is no method {method} here") }),
        }
    }

    fn resolve_hint(&mut self, params: Value) -> Result<Value, Refusal> {
        let hint: InlayHint = read(params)?;
        match UntoldHint::of(&hint) {
            Some(untold) => self.ask(untold.uri(), |view| answers::resolve_inlay_hint(view, hint.clone(), &untold)),
            None => to_value(hint),
        }
    }

    fn resolve_lens(&mut self, params: Value) -> Result<Value, Refusal> {
        let lens: CodeLens = read(params)?;
        match UntoldLens::of(&lens) {
            Some(untold) => self
                .ask(untold.uri(), |view| Ok(answers::resolve_code_lens(view, lens.range, &untold)?.map(with_command))),
            None => to_value(lens),
        }
    }

    /// About a place.
    fn at<T: Serialize>(
        &mut self,
        params: Value,
        answer: impl FnOnce(&View, Position) -> Cancellable<T>,
    ) -> Result<Value, Refusal> {
        let TextDocumentPositionParams { text_document, position } = read(params)?;
        self.ask(&text_document.uri, |view| answer(view, position))
    }

    /// About a document.
    fn of<P: DeserializeOwned, T: Serialize>(
        &mut self,
        params: Value,
        uri: fn(&P) -> &Uri,
        answer: impl FnOnce(&View, &P) -> Cancellable<T>,
    ) -> Result<Value, Refusal> {
        let params: P = read(params)?;
        self.ask(uri(&params), |view| answer(view, &params))
    }

    /// Of the newest text.
    fn ask<T: Serialize>(&mut self, uri: &Uri, answer: impl FnOnce(&View) -> Cancellable<T>) -> Result<Value, Refusal> {
        const CONTENT_MODIFIED: i64 = -32801;
        self.hand_texts_to_analysis();
        let view = self.view(uri).ok_or_else(|| Refusal::of_params(format!("{} is not open", uri.as_str())))?;
        let overtaken = |_| Refusal { code: CONTENT_MODIFIED, message: "the document was edited meanwhile".to_owned() };
        to_value(answer(&view).map_err(overtaken)?)
    }
}

/// Whether an action is a command that a server takes.
fn is_run_here(action: &CodeActionOrCommand) -> bool {
    let CodeActionOrCommand::CodeAction(CodeAction { command: Some(command), .. }) = action else { return false };
    COMMANDS.contains(&command.command.as_str())
}

/// Nobody writes missing values here but the quick fix: the lens that names them leads to the map, as the others do.
fn with_command(mut lens: CodeLens) -> CodeLens {
    if let Some(command) = lens.command.as_mut().filter(|command| command.command == ADD_MISSING_VALUES) {
        command.command = SHOW_MEMORY_MAP.to_owned();
    }
    lens
}

fn to_value(answer: impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(answer).map_err(Refusal::of_params)
}

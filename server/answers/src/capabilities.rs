//! What this server offers.

use ls_types::{
    CallHierarchyServerCapability, ClientCapabilities, CodeActionKind, CodeActionOptions, CodeActionProviderCapability,
    CodeLensOptions, CompletionOptions, DiagnosticOptions, DiagnosticServerCapabilities, ExecuteCommandOptions,
    FoldingRangeProviderCapability, HoverProviderCapability, InitializeResult, InlayHintOptions,
    InlayHintServerCapabilities, Notebook, NotebookCellSelector, NotebookDocumentSyncOptions, NotebookSelector, OneOf,
    PositionEncodingKind, RenameOptions, SaveOptions, SelectionRangeProviderCapability, ServerCapabilities, ServerInfo,
    SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, WorkDoneProgressOptions,
};
use tilefit_syntax::PositionEncoding;

/// `workspace/executeCommand`: arguments `[uri, position]`, answers as the request `tilefit/generatedCode`.
pub const GENERATED_CODE: &str = "tilefit.generatedCode";

/// `workspace/executeCommand`: arguments `[uri, position]`, answers as the request `tilefit/allocatedIr`.
pub const ALLOCATED_IR: &str = "tilefit.allocatedIr";

/// `workspace/executeCommand`: arguments `[uri, position]`, asks the client to show that place; also answers it, as a `Location`.
pub const OPEN_DUMP: &str = "tilefit.openDump";

/// Has the author's compiler asked about a file.
pub const CONFIRM: &str = "tilefit.confirm";
/// `workspace/executeCommand`: arguments `[uri, position]`, answers as the request `tilefit/loweredIr`.
pub const LOWERED_IR: &str = "tilefit.loweredIr";

/// `workspace/executeCommand`: arguments `[uri, position]`, asks the client to show the C++ as a document of its own that follows
/// every edit; also answers the URI of that document.
pub const OPEN_GENERATED_CODE: &str = "tilefit.openGeneratedCode";

/// `workspace/executeCommand`: arguments `[uri, position]`, has the client write the values that the kernel there lacks into a comment above it; a
/// lens runs it.
pub const ADD_MISSING_VALUES: &str = "tilefit.addMissingValues";

/// What `workspace/executeCommand` takes.
pub const COMMANDS: [&str; 7] =
    [OPEN_GENERATED_CODE, GENERATED_CODE, ALLOCATED_IR, LOWERED_IR, OPEN_DUMP, CONFIRM, ADD_MISSING_VALUES];

/// A command that the editor's extension provides; a lens runs it with `[uri, position]`.
pub const SHOW_MEMORY_MAP: &str = "tilefit.showMemoryMap";

/// A command that the editor's extension provides; a lens runs it with `[uri, position]`.
pub const SHOW_GENERATED_CODE: &str = "tilefit.showGeneratedCode";

/// A command that the editor's extension provides; a code action runs it with `[uri, position]`.
pub const SHOW_ALLOCATED_IR: &str = "tilefit.showAllocatedIr";

/// The same for the MLIR of TLX kernels.
pub const SHOW_LOWERED_IR: &str = "tilefit.showLoweredIr";

/// The language of the cells of a notebook that are looked at.
pub const PYTHON: &str = "python";

/// The kind of the code action that fixes a whole file, for `editor.codeActionsOnSave`.
pub const FIX_ALL: &str = "source.fixAll.tilefit";

/// UTF-8 when the client offers it, since that is how the text is kept; else the client's first choice.
pub fn negotiate_encoding(capabilities: &ClientCapabilities) -> PositionEncoding {
    let offered = capabilities.general.as_ref().and_then(|general| general.position_encodings.as_deref());
    let mut known = offered.unwrap_or_default().iter().filter_map(|kind| match kind.as_str() {
        "utf-8" => Some(PositionEncoding::Utf8),
        "utf-16" => Some(PositionEncoding::Utf16),
        "utf-32" => Some(PositionEncoding::Utf32),
        _ => None,
    });
    let first = known.next().unwrap_or(PositionEncoding::Utf16);
    if known.any(|encoding| encoding == PositionEncoding::Utf8) { PositionEncoding::Utf8 } else { first }
}

/// `pulls`: the client asks for diagnostics, and takes none otherwise.
pub fn initialize_result(encoding: PositionEncoding, pulls: bool) -> InitializeResult {
    InitializeResult {
        capabilities: ServerCapabilities {
            position_encoding: Some(match encoding {
                PositionEncoding::Utf8 => PositionEncodingKind::UTF8,
                PositionEncoding::Utf16 => PositionEncodingKind::UTF16,
                PositionEncoding::Utf32 => PositionEncodingKind::UTF32,
            }),
            text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
                ..TextDocumentSyncOptions::default()
            })),
            notebook_document_sync: Some(OneOf::Left(NotebookDocumentSyncOptions {
                notebook_selector: vec![NotebookSelector::ByNotebook {
                    notebook: Notebook::String("jupyter-notebook".to_owned()),
                    cells: Some(vec![NotebookCellSelector { language: PYTHON.to_owned() }]),
                }],
                save: Some(true),
            })),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            completion_provider: Some(CompletionOptions {
                resolve_provider: Some(true),
                trigger_characters: Some([".", "=", "("].map(str::to_owned).to_vec()),
                ..CompletionOptions::default()
            }),
            signature_help_provider: Some(SignatureHelpOptions {
                trigger_characters: Some(["(", ","].map(str::to_owned).to_vec()),
                retrigger_characters: Some(["=", ")"].map(str::to_owned).to_vec()),
                ..SignatureHelpOptions::default()
            }),
            inlay_hint_provider: Some(OneOf::Right(InlayHintServerCapabilities::Options(InlayHintOptions {
                resolve_provider: Some(true),
                ..InlayHintOptions::default()
            }))),
            code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(true) }),
            code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
                code_action_kinds: Some(vec![
                    CodeActionKind::QUICKFIX,
                    CodeActionKind::SOURCE,
                    CodeActionKind::new(FIX_ALL),
                    CodeActionKind::REFACTOR_REWRITE,
                ]),
                ..CodeActionOptions::default()
            })),
            definition_provider: Some(OneOf::Left(true)),
            references_provider: Some(OneOf::Left(true)),
            document_highlight_provider: Some(OneOf::Left(true)),
            rename_provider: Some(OneOf::Right(RenameOptions {
                prepare_provider: Some(true),
                work_done_progress_options: WorkDoneProgressOptions::default(),
            })),
            folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
            selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
            call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
            workspace_symbol_provider: Some(OneOf::Left(true)),
            diagnostic_provider: pulls.then(|| {
                DiagnosticServerCapabilities::Options(DiagnosticOptions {
                    identifier: Some("tilefit".to_owned()),
                    inter_file_dependencies: true,
                    workspace_diagnostics: true,
                    work_done_progress_options: WorkDoneProgressOptions::default(),
                })
            }),
            document_symbol_provider: Some(OneOf::Left(true)),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands: COMMANDS.map(str::to_owned).to_vec(),
                ..ExecuteCommandOptions::default()
            }),
            ..ServerCapabilities::default()
        },
        server_info: Some(ServerInfo {
            name: "tilefit".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
        ..InitializeResult::default()
    }
}

#[cfg(test)]
mod tests {
    use ls_types::GeneralClientCapabilities;

    use super::*;

    #[test]
    fn utf_8_wins_then_the_client() {
        let negotiated = |offered: Option<&[&'static str]>| {
            let position_encodings =
                offered.map(|kinds| kinds.iter().map(|&kind| PositionEncodingKind::from(kind)).collect());
            let general = Some(GeneralClientCapabilities { position_encodings, ..Default::default() });
            negotiate_encoding(&ClientCapabilities { general, ..Default::default() })
        };
        assert_eq!(negotiated(None), PositionEncoding::Utf16);
        assert_eq!(negotiated(Some(&[])), PositionEncoding::Utf16);
        assert_eq!(negotiated(Some(&["utf-16", "utf-8"])), PositionEncoding::Utf8);
        assert_eq!(negotiated(Some(&["utf-8"])), PositionEncoding::Utf8);
        assert_eq!(negotiated(Some(&["utf-7", "utf-32", "utf-16"])), PositionEncoding::Utf32);
    }
}

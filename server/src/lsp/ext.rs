//! Requests and answers that LSP does not have.

use serde::{Deserialize, Serialize};
use tower_lsp::ls_types::{Range, TextDocumentIdentifier};

pub(super) const VIEW_FILE_TEXT: &str = "tilelens/viewFileText";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ViewFileTextParams {
    pub(super) text_document: TextDocumentIdentifier,
}

/// The server's own copy of a document.
#[derive(Serialize)]
pub(super) struct FileText {
    pub(super) text: String,
    pub(super) version: i32,
}

/// Takes `{textDocument, position}`.
pub(super) const GENERATED_CODE: &str = "tilelens/generatedCode";

/// The C++ of one kernel.
#[derive(Serialize)]
pub(super) struct GeneratedCode {
    pub(super) kernel: String,
    pub(super) language: &'static str,
    pub(super) text: String,
    /// The version of the document that it was generated from.
    pub(super) version: i32,
    pub(super) map: Vec<MappedLine>,
}

/// A line of the generated text, counted from 0, and the source that it comes from.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MappedLine {
    pub(super) generated_line: u32,
    pub(super) range: Range,
}

/// Takes `{textDocument, position}`.
pub(super) const ALLOCATED_IR: &str = "tilelens/allocatedIr";

/// The IR of one kernel after memory is allocated.
#[derive(Serialize)]
pub(super) struct AllocatedIr {
    pub(super) kernel: String,
    pub(super) language: &'static str,
    pub(super) text: String,
    /// The version of the document that it belongs to.
    pub(super) version: i32,
}

//! What a client can ask about a place or a document.

use serde_json::{Value, json};

use crate::lsp_client::range;

/// All take [`params`].
pub const METHODS: [&str; 24] = [
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/foldingRange",
    "textDocument/selectionRange",
    "textDocument/documentSymbol",
    "textDocument/prepareCallHierarchy",
    "textDocument/inlayHint",
    "textDocument/codeLens",
    "textDocument/codeAction",
    "textDocument/diagnostic",
    "tilefit/generatedCode",
    "tilefit/allocatedIr",
    "tilefit/loweredIr",
    "tilefit/memoryMap",
    "tilefit/plannedFor",
    "tilefit/viewFileText",
    "workspace/symbol",
    "workspace/diagnostic",
];

/// Parameters that fit every method.
pub fn params(uri: &str, line: u32, character: u32) -> Value {
    let position = json!({ "line": line, "character": character });
    json!({
        "textDocument": { "uri": uri },
        "position": position,
        "positions": [position],
        "range": range(line, 0, line.saturating_add(9), character),
        "context": { "diagnostics": [], "includeDeclaration": true },
        "newName": "renamed",
        "query": "k",
        "previousResultIds": [],
    })
}

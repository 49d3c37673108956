//! The language server end to end: the real binary, driven over its standard input and output.

mod bad_input;
#[cfg(target_os = "linux")]
mod confirm;
mod deeper;
mod diagnostics;
mod editing;
mod features;
mod memory_map;
mod navigation;
mod notebooks;
mod requests;
mod session;
mod settings;
mod stress;
mod sync;
mod workspace;

use serde_json::{Value, json};
use tilefit_tests::lsp_client::LspClient;

const URI: &str = "file:///work/kernel.py";

/// A client with [`URI`] open at version 1.
fn with_document(text: &str) -> LspClient {
    let mut client = LspClient::start();
    client.open(URI, 1, text);
    client
}

/// The same with a client that has these capabilities.
fn with_capabilities(text: &str, capabilities: Value) -> LspClient {
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": capabilities }));
    client.open(URI, 1, text);
    client
}

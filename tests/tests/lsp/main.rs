//! The language server end to end: the real binary, driven over its standard input and output.

mod bad_input;
mod memory_map;
mod requests;
mod session;
mod settings;
mod sync;

use tilelens_tests::lsp_client::LspClient;

const BINARY: &str = env!("CARGO_BIN_EXE_tilelens-e2e");

const URI: &str = "file:///work/kernel.py";

/// A client with [`URI`] open at version 1.
fn with_document(text: &str) -> LspClient {
    let mut client = LspClient::start(BINARY);
    client.open(URI, 1, text);
    client
}

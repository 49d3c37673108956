//! `docs/features.md`: what the server declares, beside other servers. `UPDATE_EXPECT=1` writes it anew.

use std::fmt::Write;

use expect_test::expect_file;
use serde_json::{Value, json};
use tilefit_tests::lsp_client::LspClient;

/// How far a server goes.
#[derive(Clone, Copy)]
enum Mark {
    Yes,
    Partly,
    No,
    /// Not looked at.
    Unknown,
}
use Mark::{No, Partly, Unknown, Yes};

/// What stands for a feature of ours.
enum Ours {
    /// A JSON pointer into the capabilities of the server.
    Declared(&'static str),
    /// The protocol has no capability for it; other tests hold it.
    Otherwise,
}
use Ours::{Declared, Otherwise};

/// Feature, ours, rust-analyzer (at d2e55da), ty (astral-sh/ruff at fca5c7c), clangd (its lists of features and extensions),
/// what ours shows.
const ROWS: &[(&str, Ours, Mark, Mark, Mark, &str)] = &[
    ("diagnostics, sent", Otherwise, Yes, Yes, Yes, "while typing, with the version they belong to"),
    ("diagnostics, asked for", Declared("/diagnosticProvider"), Yes, Yes, No, "for clients that only ask; result ids"),
    (
        "diagnostics of the workspace",
        Declared("/diagnosticProvider/workspaceDiagnostics"),
        No,
        Yes,
        No,
        "for clients that only ask; also for files that are not open; in parts, and an answer waits until something changes",
    ),
    ("related locations, code, page, tags", Otherwise, Yes, Yes, Yes, "every buffer that is live at the peak"),
    (
        "hover",
        Declared("/hoverProvider"),
        Yes,
        Yes,
        Yes,
        "address, bytes, live range and reuse group of a tile; operations",
    ),
    (
        "completion",
        Declared("/completionProvider"),
        Yes,
        Yes,
        Yes,
        "operations, element types, memories with their free bytes, tiles",
    ),
    ("signature help", Declared("/signatureHelpProvider"), Yes, Yes, Yes, "every form of an operation"),
    (
        "inlay hints",
        Declared("/inlayHintProvider"),
        Yes,
        Yes,
        Yes,
        "memory, address and size after each tile; links to the previous user of the memory",
    ),
    (
        "code lenses",
        Declared("/codeLensProvider"),
        Yes,
        No,
        No,
        "a bar for each memory; the C++; in large files computed when shown",
    ),
    (
        "quick fixes",
        Declared("/codeActionProvider"),
        Yes,
        Yes,
        Yes,
        "for findings with a safe fix; numbers that fit, of tiles, launches and configurations, tried before they are offered; on a constant, the largest value that fits",
    ),
    (
        "fix all",
        Declared("/codeActionProvider/codeActionKinds/2"),
        Unknown,
        Unknown,
        Unknown,
        "`source.fixAll.tilefit`, and `tilefit check --fix`",
    ),
    ("definition", Declared("/definitionProvider"), Yes, Yes, Yes, "the binding of a name, also in imported files"),
    (
        "references",
        Declared("/referencesProvider"),
        Yes,
        Yes,
        Yes,
        "tiles, kernels, constants, specs; also in files that are not open",
    ),
    (
        "rename",
        Declared("/renameProvider/prepareProvider"),
        Yes,
        Yes,
        Yes,
        "also in files that are not open; refused with a reason if it would change the meaning",
    ),
    (
        "highlights",
        Declared("/documentHighlightProvider"),
        Yes,
        Yes,
        Yes,
        "with a setting, all tiles that share the memory",
    ),
    (
        "symbols of a document",
        Declared("/documentSymbolProvider"),
        Yes,
        Yes,
        Yes,
        "kernels and their tiles with addresses",
    ),
    (
        "symbols of the workspace",
        Declared("/workspaceSymbolProvider"),
        Yes,
        Yes,
        Yes,
        "kernels of all files, open or not",
    ),
    ("folding", Declared("/foldingRangeProvider"), Yes, Yes, Yes, "inside kernels"),
    ("selection", Declared("/selectionRangeProvider"), Yes, Yes, Yes, "inside kernels"),
    ("call hierarchy", Declared("/callHierarchyProvider"), Yes, Yes, Yes, "hosts, kernels, helpers"),
    ("type hierarchy", Declared("/typeHierarchyProvider"), No, Yes, Yes, "kernels have no classes"),
    (
        "semantic tokens",
        Declared("/semanticTokensProvider"),
        Yes,
        Partly,
        Yes,
        "left to Python servers: editors use those of one server only",
    ),
    ("commands", Declared("/executeCommandProvider"), Yes, Yes, Yes, "the C++, the allocated IR, memory maps"),
    ("generated code next to the source", Otherwise, Partly, No, No, "C++, updated on every edit"),
    ("memory map", Otherwise, Partly, No, No, "updated on every edit"),
    (
        "notebooks",
        Declared("/notebookDocumentSync"),
        No,
        Yes,
        No,
        "all cells are one module; `.ipynb` files on the command line; those that are not open are not in the diagnostics of the workspace",
    ),
    (
        "agents",
        Otherwise,
        No,
        No,
        No,
        "`tilefit mcp`: what fits, over the Model Context Protocol, without writing a file",
    ),
];

fn sign(mark: Mark) -> &'static str {
    match mark {
        Yes => "●",
        Partly => "○",
        No => "–",
        Unknown => "?",
    }
}

fn declares(capabilities: &Value, pointer: &str) -> bool {
    !matches!(capabilities.pointer(pointer), None | Some(Value::Null | Value::Bool(false)))
}

#[test]
fn the_page_of_features_is_what_the_server_declares() {
    let mut client = LspClient::spawn();
    // A client that asks for diagnostics is offered all there is.
    let capabilities = client.initialize(json!({ "capabilities": { "textDocument": { "diagnostic": {} } } }));
    let mut page = "# Features\n\nThe features of tilefit as a language server, compared with servers for other languages. \
                    `tests/tests/lsp/features.rs` writes this page\nfrom the server's own capabilities. The columns of the others \
                    are from their sources of 2026-08. ● yes, ○ partly or as an extension,\n– no, ? unknown.\n\n\
                    | feature | tilefit | rust-analyzer | ty | clangd | in tilefit |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for (feature, ours, rust_analyzer, ty, clangd, shows) in ROWS {
        let mark = match ours {
            Declared(pointer) if declares(&capabilities, pointer) => Yes,
            Declared(_) => No,
            Otherwise => Yes,
        };
        let marks = [mark, *rust_analyzer, *ty, *clangd].map(sign).join(" | ");
        let _ = writeln!(page, "| {feature} | {marks} | {shows} |");
    }
    expect_file!["../../../docs/features.md"].assert_eq(&page);
}

#[test]
fn the_table_names_every_capability() {
    let mut client = LspClient::spawn();
    let capabilities = client.initialize(json!({ "capabilities": { "textDocument": { "diagnostic": {} } } }));
    for (key, _) in capabilities.as_object().expect("capabilities").iter().filter(|(key, _)| key.ends_with("Provider"))
    {
        let is_row = |ours: &Ours| matches!(ours, Declared(pointer) if pointer.split('/').nth(1) == Some(key));
        assert!(ROWS.iter().any(|(_, ours, ..)| is_row(ours)), "{key} is not in the table");
    }
}

//! Notebooks: one analysis over their cells, answers in the document of each.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};
use tilefit_tests::lsp_client::{LspClient, range, summary};

const NOTEBOOK: &str = "file:///work/tour.ipynb";

const KERNEL: &str = "\
# The constant is in another cell.
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[128, 512], pl.FP32], out: pl.Out[pl.Tensor[[128, 512], pl.FP32]]):
    t = pl.load(a, [0, 0], [ROWS, 512])
    out = pl.store(t, [0, 0], out)
    return out
";

/// The URI of a cell, as VS Code makes them.
fn uri(cell: &str) -> String {
    format!("vscode-notebook-cell:/work/tour.ipynb#{cell}")
}

fn cell(name: &str) -> Value {
    json!({ "kind": 2, "document": uri(name) })
}

fn text(name: &str, version: i32, text: &str) -> Value {
    json!({ "uri": uri(name), "languageId": "python", "version": version, "text": text })
}

/// Opens a notebook of these cells, each at version 1.
fn open(client: &mut LspClient, notebook: &str, cells: &[(&str, &str)]) {
    let list: Vec<_> = cells.iter().map(|(name, _)| cell(name)).collect();
    let texts: Vec<_> = cells.iter().map(|(name, it)| text(name, 1, it)).collect();
    let document = json!({ "uri": notebook, "notebookType": "jupyter-notebook", "version": 1, "cells": list });
    client.notify("notebookDocument/didOpen", json!({ "notebookDocument": document, "cellTextDocuments": texts }));
}

fn with_notebook(cells: &[(&str, &str)]) -> LspClient {
    let mut client = LspClient::start();
    open(&mut client, NOTEBOOK, cells);
    client
}

/// `cells`: LSP's changes to the cells of a notebook.
fn change(client: &mut LspClient, version: i32, cells: Value) {
    let document = json!({ "uri": NOTEBOOK, "version": version });
    client.notify("notebookDocument/didChange", json!({ "notebookDocument": document, "change": { "cells": cells } }));
}

fn set_text(client: &mut LspClient, name: &str, version: i32, text: &str) {
    let document = json!({ "uri": uri(name), "version": version });
    let changes = json!([{ "text": text }]);
    change(client, version, json!({ "textContent": [{ "document": document, "changes": changes }] }));
}

/// What is wrong in a cell when it is asked for.
fn pulled(client: &mut LspClient, cell: &str) -> Value {
    let report = client.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri(cell) } }));
    report.expect("a cell has diagnostics")["items"].take()
}

/// Their codes.
fn codes(client: &mut LspClient, cell: &str) -> Vec<String> {
    let found = pulled(client, cell);
    found.as_array().into_iter().flatten().map(|it| it["code"].as_str().unwrap_or_default().to_owned()).collect()
}

fn at(cell: &str, line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": uri(cell) }, "position": { "line": line, "character": character } })
}

#[track_caller]
fn check(answer: &Value, expected: Expect) {
    expected.assert_eq(&format!("{answer:#}\n"));
}

const TOUR: [(&str, &str); 4] = [
    ("imports", "%matplotlib inline\nimport pypto.language as pl"),
    ("rows", "ROWS = 128"),
    ("kernel", KERNEL),
    ("shell", "%%bash\npip list"),
];

#[test]
fn a_kernel_in_a_cell_is_answered_for_in_its_cell() {
    let mut client = with_notebook(&TOUR);
    let found = client.diagnostics(&uri("kernel"), 1);
    assert_eq!(found[0]["range"], range(3, 4, 3, 5));
    expect![[r#"
        3:4 1 capacity-exceeded Vec overflow: `t` [128, 512] alone takes 256 KiB, 184 KiB available (72 KiB over). Split it into parts of at most 184 KiB. (compiler: "Vec buffer usage (262144 bytes) exceeds platform limit (188416 bytes)")
    "#]].assert_eq(&summary(&found));
    for other in ["imports", "rows", "shell"] {
        assert_eq!(client.diagnostics(&uri(other), 1), Vec::<Value>::new(), "{other}");
    }

    let hover = client.request("textDocument/hover", at("kernel", 3, 4)).expect("an answer");
    assert_eq!(hover["range"], range(3, 4, 3, 5));
    let text = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(text.contains("lines 4 – 5"), "{text}");

    let definition = client.request("textDocument/definition", at("kernel", 3, 30)).expect("an answer");
    assert_eq!(definition, json!({ "uri": uri("rows"), "range": range(0, 0, 0, 4) }));
    let params = json!({ "textDocument": { "uri": uri("rows") }, "position": { "line": 0, "character": 0 },
        "context": { "includeDeclaration": true } });
    let references = client.request("textDocument/references", params).expect("an answer");
    let places: Vec<_> = references.as_array().into_iter().flatten().map(|it| (&it["uri"], &it["range"])).collect();
    let (rows, kernel) = (json!(uri("rows")), json!(uri("kernel")));
    assert_eq!(places, [(&rows, &range(0, 0, 0, 4)), (&kernel, &range(3, 28, 3, 32))]);
    let highlights = client.request("textDocument/documentHighlight", at("kernel", 3, 30)).expect("an answer");
    assert_eq!(highlights.as_array().map(Vec::len), Some(1), "{highlights}");

    let params = json!({ "textDocument": { "uri": uri("rows") }, "position": { "line": 0, "character": 1 }, "newName": "COUNT" });
    let renamed = client.request("textDocument/rename", params).expect("an answer");
    assert_eq!(renamed["changes"][uri("rows")][0]["range"], range(0, 0, 0, 4));
    assert_eq!(renamed["changes"][uri("kernel")][0]["range"], range(3, 28, 3, 32));
}

#[test]
fn lists_are_of_one_cell() {
    let mut client = with_notebook(&TOUR);
    let of = |cell: &str| json!({ "textDocument": { "uri": uri(cell) }, "range": range(0, 0, 99, 0) });
    let mut list = |method: &str, cell: &str| client.request(method, of(cell)).expect("an answer");
    for method in
        ["textDocument/inlayHint", "textDocument/codeLens", "textDocument/documentSymbol", "textDocument/foldingRange"]
    {
        assert_eq!(list(method, "rows"), json!([]), "{method}");
        assert_eq!(list(method, "shell"), json!([]), "{method}");
    }
    let hints = list("textDocument/inlayHint", "kernel");
    assert_eq!(hints[0]["position"], json!({ "line": 3, "character": 5 }));
    let lenses = list("textDocument/codeLens", "kernel");
    assert_eq!(lenses[0]["range"]["start"]["line"], 2);
    assert_eq!(lenses[0]["command"]["arguments"][0], uri("kernel"));
    let symbols = list("textDocument/documentSymbol", "kernel");
    assert_eq!(symbols[0]["selectionRange"], range(2, 4, 2, 5));
    let folds = list("textDocument/foldingRange", "kernel");
    assert_eq!((&folds[0]["startLine"], &folds[0]["endLine"]), (&json!(1), &json!(5)), "{folds}");
    let symbols = client.request("workspace/symbol", json!({ "query": "k" })).expect("an answer");
    assert_eq!(symbols[0]["location"], json!({ "uri": uri("kernel"), "range": range(2, 4, 2, 5) }));
}

#[test]
fn what_a_kernel_becomes_is_mapped_to_its_cell() {
    let mut client = with_notebook(&TOUR);
    set_text(&mut client, "rows", 2, "ROWS = 64");
    let code = client.request("tilefit/generatedCode", at("kernel", 3, 4)).expect("an answer");
    let lines: Vec<_> = code["map"].as_array().into_iter().flatten().map(|it| &it["range"]["start"]["line"]).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| line.as_u64().is_some_and(|line| line < 6)), "{lines:?}");
    let map = client.request("tilefit/memoryMap", at("kernel", 3, 4)).expect("an answer");
    check(
        &map["maps"][0]["line"],
        expect![[r#"
        3
    "#]],
    );
    for method in ["tilefit/generatedCode", "tilefit/memoryMap", "tilefit/allocatedIr"] {
        assert_eq!(client.request(method, at("rows", 0, 0)), Ok(Value::Null), "{method}");
    }
    let params = json!({ "textDocument": { "uri": uri("kernel") }, "position": { "line": 3, "character": 4 } });
    client.notify("tilefit/watchMemoryMap", params);
    let sent = client.notification("tilefit/memoryMapChanged");
    assert_eq!((&sent["uri"], &sent["version"]), (&json!(uri("kernel")), &json!(1)));
    set_text(&mut client, "rows", 3, "ROWS = 32");
    let used = |sent: &Value| sent["maps"][0]["spaces"][0]["used"].as_u64();
    let before = used(&sent);
    let sent = client.notification("tilefit/memoryMapChanged");
    assert!(used(&sent) < before, "{sent}");
    change(
        &mut client,
        4,
        json!({ "structure": { "array": { "start": 2, "deleteCount": 1 }, "didClose": [{ "uri": uri("kernel") }] } }),
    );
    assert!(client.request("tilefit/memoryMap", at("kernel", 3, 4)).is_err());
}

#[test]
fn an_edit_in_one_cell_is_seen_in_the_others() {
    let mut client = with_notebook(&TOUR);
    let found = TOUR.map(|(cell, _)| client.diagnostics(&uri(cell), 1).len());
    assert_eq!(found, [0, 0, 1, 0]);
    set_text(&mut client, "rows", 2, "ROWS = 64");
    // The version of the cell is the same, what is wrong in it is not.
    assert_eq!(client.diagnostics(&uri("kernel"), 1), Vec::<Value>::new());
    assert_eq!(client.diagnostics(&uri("rows"), 2), Vec::<Value>::new());
    // What has not changed is not told again.
    set_text(&mut client, "shell", 2, "%%bash\nls");
    client.diagnostics(&uri("shell"), 2);
    assert!(client.has_no_notification("textDocument/publishDiagnostics"));
}

#[test]
fn clients_that_pull_are_told_that_an_edit_concerns_other_cells() {
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": {
        "textDocument": { "diagnostic": {} },
        "workspace": { "diagnostics": { "refreshSupport": true } },
    } }));
    open(&mut client, NOTEBOOK, &TOUR);
    assert_eq!(pulled(&mut client, "kernel").as_array().map(Vec::len), Some(1));
    assert_eq!(pulled(&mut client, "rows"), json!([]));
    set_text(&mut client, "rows", 2, "ROWS = 64");
    client.server_request("workspace/diagnostic/refresh");
    assert_eq!(pulled(&mut client, "kernel"), json!([]));
}

#[test]
fn cells_come_go_and_move() {
    let mut client = with_notebook(&TOUR);
    assert_eq!(client.diagnostics(&uri("kernel"), 1).len(), 1);
    // Another value after the constant.
    let structure = json!({ "array": { "start": 2, "deleteCount": 0, "cells": [cell("new")] }, "didOpen": [text("new", 7, "COLS = 64")] });
    change(&mut client, 2, json!({ "structure": structure }));
    assert_eq!(client.diagnostics(&uri("new"), 7), Vec::<Value>::new());
    assert_eq!(codes(&mut client, "kernel"), ["capacity-exceeded"]);
    // It moves before the constant: its text stays open.
    change(
        &mut client,
        3,
        json!({ "structure": { "array": { "start": 1, "deleteCount": 2, "cells": [cell("new"), cell("rows")] } } }),
    );
    assert_eq!(client.text(&uri("new")), ("COLS = 64".to_owned(), 7));
    assert_eq!(codes(&mut client, "kernel"), ["capacity-exceeded"]);
    // The constant becomes prose, and another language.
    let kind = |kind: i32| json!({ "data": [{ "kind": kind, "document": uri("rows") }] });
    change(&mut client, 4, kind(1));
    assert_eq!(codes(&mut client, "kernel"), ["unknown-name"]);
    change(&mut client, 5, kind(2));
    assert_eq!(codes(&mut client, "kernel"), ["capacity-exceeded"]);
    let other = json!({ "uri": uri("rows"), "languageId": "julia", "version": 2, "text": "ROWS = 128" });
    let structure = json!({ "array": { "start": 2, "deleteCount": 1, "cells": [cell("rows")] },
        "didClose": [{ "uri": uri("rows") }], "didOpen": [other] });
    change(&mut client, 6, json!({ "structure": structure }));
    assert_eq!(codes(&mut client, "kernel"), ["unknown-name"]);
    // The kernel goes, and what was said of it.
    set_text(&mut client, "new", 8, "ROWS = 128");
    // What was published last may be the same, and is not published again then.
    assert_eq!(codes(&mut client, "kernel"), ["capacity-exceeded"]);
    change(
        &mut client,
        8,
        json!({ "structure": { "array": { "start": 3, "deleteCount": 1 }, "didClose": [{ "uri": uri("kernel") }] } }),
    );
    let cleared = json!({ "uri": uri("kernel"), "diagnostics": [] });
    while client.notification("textDocument/publishDiagnostics") != cleared {}
    // All of it.
    client.notify("notebookDocument/didSave", json!({ "notebookDocument": { "uri": NOTEBOOK } }));
    client.notify(
        "notebookDocument/didClose",
        json!({ "notebookDocument": { "uri": NOTEBOOK }, "cellTextDocuments": [] }),
    );
    assert!(client.request("textDocument/hover", at("rows", 0, 0)).is_err());
    assert!(client.request("tilefit/viewFileText", json!({ "textDocument": { "uri": NOTEBOOK } })).is_err());
    assert_eq!(client.shut_down().code(), Some(0));
}

#[test]
fn what_a_client_says_wrongly_spoils_nothing() {
    let mut client = with_notebook(&TOUR);
    set_text(&mut client, "nowhere", 2, "x");
    change(
        &mut client,
        3,
        json!({ "structure": { "array": { "start": 99, "deleteCount": 4_000_000_000_u32 }, "didClose": [{ "uri": uri("nowhere") }] } }),
    );
    change(
        &mut client,
        4,
        json!({ "structure": { "array": { "start": 4, "deleteCount": 0, "cells": [cell("kernel"), cell("untold")] } } }),
    );
    client.open(&uri("rows"), 9, "ROWS = 1");
    client.change(&uri("rows"), 10, json!([{ "text": "ROWS = 1" }]));
    assert_eq!(client.text(&uri("rows")), ("ROWS = 128".to_owned(), 1));
    assert_eq!(client.text(&uri("untold")), (String::new(), 0));
    client.close(&uri("rows"));
    assert_eq!(client.text(&uri("rows")), ("ROWS = 128".to_owned(), 1));
    client.notify(
        "notebookDocument/didChange",
        json!({ "notebookDocument": { "uri": "file:///no.ipynb", "version": 1 }, "change": {} }),
    );
    assert_eq!(client.shut_down().code(), Some(0));
}

#[test]
fn a_cell_that_was_opened_by_itself_belongs_to_its_notebook() {
    let mut client = LspClient::start();
    client.open(&uri("kernel"), 1, &format!("import pypto.language as pl\nROWS = 128\n{KERNEL}"));
    assert_eq!(client.diagnostics(&uri("kernel"), 1).len(), 1);
    open(&mut client, NOTEBOOK, &[("imports", "import pypto.language as pl\nROWS = 64"), ("kernel", KERNEL)]);
    assert_eq!(pulled(&mut client, "kernel"), json!([]));
}

#[test]
fn fixes_edit_the_cell() {
    let broken = KERNEL.replace("pl.store", "pl.stroe");
    let mut client = with_notebook(&[("imports", "import pypto.language as pl\nROWS = 64"), ("kernel", &broken)]);
    let params = json!({ "textDocument": { "uri": uri("kernel") }, "range": range(4, 10, 4, 18), "context": { "diagnostics": [] } });
    let actions = client.request("textDocument/codeAction", params).expect("an answer");
    let edits: Vec<_> =
        actions.as_array().into_iter().flatten().filter_map(|it| it["edit"]["changes"].as_object()).collect();
    assert_eq!(
        edits[0].get(&uri("kernel")),
        Some(&json!([{ "range": range(4, 13, 4, 18), "newText": "store" }])),
        "{actions}"
    );
}

#[test]
fn a_notebook_is_excluded_like_any_file() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("excluded-notebook");
    fs::create_dir_all(&folder).expect("the target directory is writable");
    fs::write(folder.join("tilefit.toml"), "exclude = [\"*.ipynb\"]\n").expect("a file");
    let mut client = LspClient::spawn();
    let root = format!("file://{}", folder.display());
    client.initialize(json!({ "capabilities": {}, "rootUri": root }));
    open(&mut client, &format!("{root}/tour.ipynb"), &TOUR);
    assert_eq!(client.diagnostics(&uri("kernel"), 1), Vec::<Value>::new());
}

/// What happens to a notebook.
#[derive(Debug, Clone)]
enum Change {
    /// Of the cell that is so far: where, as parts of its length, how much is replaced, by what.
    Edit(usize, f64, usize, String),
    Replace(usize, String),
    Insert(usize, String),
    Remove(usize),
    Move(usize, usize),
    Kind(usize, bool),
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "%%bash\n",
        "%time ",
        "!ls \\\n",
        "x = !ls\n",
        "\n",
        "\r\n",
        "    ",
        "(",
        ")",
        "\"\"\"",
        "#",
        "😀",
        "ROWS = 64\n",
        "ROWS = 512\n",
        "import pypto.language as pl\n",
        "@pl.function(type=pl.FunctionType.InCore)\n",
        "\\\n",
        "return x\n",
        "64",
        KERNEL,
        "%run x\n",
    ]);
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        4 => (0..9_usize, 0.0..1.0, 0..30_usize, pieces()).prop_map(|(cell, at, len, new)| Change::Edit(cell, at, len, new)),
        1 => (0..9_usize, pieces()).prop_map(|(cell, new)| Change::Replace(cell, new)),
        1 => (0..9_usize, pieces()).prop_map(|(at, new)| Change::Insert(at, new)),
        1 => (0..9_usize).prop_map(Change::Remove),
        1 => (0..9_usize, 0..9_usize).prop_map(|(from, to)| Change::Move(from, to)),
        1 => (0..9_usize, prop::bool::ANY).prop_map(|(cell, is_code)| Change::Kind(cell, is_code)),
    ];
    prop::collection::vec(change, 1..25)
}

/// A cell as the client has it.
#[derive(Debug, Clone)]
struct Cell {
    name: String,
    text: String,
    version: i32,
    is_code: bool,
}

impl Cell {
    fn json(&self) -> Value {
        json!({ "kind": if self.is_code { 2 } else { 1 }, "document": uri(&self.name) })
    }
}

/// In UTF-16; lines end at `\n`, `\r\n` and `\r`.
fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let lines = before.replace("\r\n", "\n").matches(['\n', '\r']).count();
    json!({ "line": lines, "character": before[start..].encode_utf16().count() })
}

fn boundary(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) || text[..offset].ends_with('\r') {
        offset -= 1;
    }
    offset
}

/// The change as LSP says it, made to the client's own cells.
fn told(cells: &mut Vec<Cell>, change: &Change, fresh: &mut usize) -> Option<Value> {
    let index = |at: usize, cells: &[Cell]| (!cells.is_empty()).then(|| at % cells.len());
    Some(match change {
        Change::Edit(at, start, len, new) => {
            let at = index(*at, cells)?;
            let cell = &mut cells[at];
            let start = boundary(&cell.text, (start * cell.text.len() as f64) as usize);
            let end = boundary(&cell.text, (start + len).min(cell.text.len())).max(start);
            let range = json!({ "start": position(&cell.text, start), "end": position(&cell.text, end) });
            cell.text.replace_range(start..end, new);
            cell.version += 1;
            let document = json!({ "uri": uri(&cell.name), "version": cell.version });
            json!({ "textContent": [{ "document": document, "changes": [{ "range": range, "text": new }] }] })
        }
        Change::Replace(at, new) => {
            let at = index(*at, cells)?;
            let cell = &mut cells[at];
            cell.text.clone_from(new);
            cell.version += 1;
            let document = json!({ "uri": uri(&cell.name), "version": cell.version });
            json!({ "textContent": [{ "document": document, "changes": [{ "text": new }] }] })
        }
        Change::Insert(at, new) => {
            let at = at % (cells.len() + 1);
            *fresh += 1;
            let cell = Cell { name: format!("c{fresh}"), text: new.clone(), version: 1, is_code: true };
            let opened = text(&cell.name, 1, new);
            let structure =
                json!({ "array": { "start": at, "deleteCount": 0, "cells": [cell.json()] }, "didOpen": [opened] });
            cells.insert(at, cell);
            json!({ "structure": structure })
        }
        Change::Remove(at) => {
            let at = index(*at, cells)?;
            let gone = cells.remove(at);
            json!({ "structure": { "array": { "start": at, "deleteCount": 1 }, "didClose": [{ "uri": uri(&gone.name) }] } })
        }
        Change::Move(from, to) => {
            let (from, to) = (index(*from, cells)?, index(*to, cells)?);
            let moved = cells.remove(from);
            cells.insert(to, moved);
            let (start, end) = (from.min(to), from.max(to) + 1);
            let list: Vec<_> = cells[start..end].iter().map(Cell::json).collect();
            json!({ "structure": { "array": { "start": start, "deleteCount": end - start, "cells": list } } })
        }
        Change::Kind(at, is_code) => {
            let at = index(*at, cells)?;
            cells[at].is_code = *is_code;
            json!({ "data": [cells[at].json()] })
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edited_notebook_equals_a_fresh_one(changes in changes()) {
        let mut cells: Vec<Cell> = TOUR.iter().map(|(name, text)| Cell {
            name: (*name).to_owned(), text: (*text).to_owned(), version: 1, is_code: true,
        }).collect();
        let mut client = with_notebook(&TOUR);
        let (mut version, mut fresh) = (1, 0);
        for made in &changes {
            if let Some(cells) = told(&mut cells, made, &mut fresh) {
                version += 1;
                change(&mut client, version, cells);
            }
        }
        let mut edited = HashMap::new();
        for cell in &cells {
            edited.insert(cell.name.clone(), (client.text(&uri(&cell.name)), pulled(&mut client, &cell.name)));
        }
        let whole = client.text(NOTEBOOK).0;
        let mut client = LspClient::start();
        let list: Vec<_> = cells.iter().map(Cell::json).collect();
        let texts: Vec<_> = cells.iter().map(|cell| text(&cell.name, cell.version, &cell.text)).collect();
        let document = json!({ "uri": NOTEBOOK, "notebookType": "jupyter-notebook", "version": 1, "cells": list });
        client.notify("notebookDocument/didOpen", json!({ "notebookDocument": document, "cellTextDocuments": texts }));
        prop_assert_eq!(client.text(NOTEBOOK).0, whole);
        for cell in &cells {
            let (text, found) = &edited[&cell.name];
            prop_assert_eq!(&client.text(&uri(&cell.name)), text);
            prop_assert_eq!(&pulled(&mut client, &cell.name), found);
        }
        prop_assert_eq!(client.shut_down().code(), Some(0));
    }
}

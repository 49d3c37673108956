//! From one name to other places, over the wire.

use serde_json::{Value, json};
use tilefit_tests::lsp_client::{LspClient, range};

use crate::lsp::{URI, with_document};

const KERNEL: &str = "\
import pypto.language as pl

ROWS = 64

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def exp(self, a: pl.Tensor[[ROWS, 64], pl.FP32], 値: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
        x = pl.load(a, [0, 0], [ROWS, 64])
        y = pl.exp(x)
        値 = pl.store(y, [0, 0], 値)
        return 値

    @pl.function
    def main(self, a: pl.Tensor[[ROWS, 64], pl.FP32], o: pl.Tensor[[ROWS, 64], pl.FP32]):
        o = self.exp(a, 値=o)
        return o
";

fn at(line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character } })
}

fn ask(client: &mut LspClient, method: &str, mut params: Value, more: Value) -> Value {
    for (key, value) in more.as_object().expect("an object") {
        params[key] = value.clone();
    }
    client.request(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
}

#[test]
fn definition_references_and_highlights_of_a_tile() {
    let mut client = with_document(KERNEL);
    let definition = ask(&mut client, "textDocument/definition", at(9, 19), json!({}));
    assert_eq!(definition, json!({ "uri": URI, "range": range(8, 8, 8, 9) }));
    let context = |all| json!({ "context": { "includeDeclaration": all } });
    let references = ask(&mut client, "textDocument/references", at(8, 8), context(false));
    assert_eq!(references, json!([{ "uri": URI, "range": range(9, 19, 9, 20) }]));
    assert_eq!(ask(&mut client, "textDocument/references", at(8, 8), context(true)).as_array().map(Vec::len), Some(2));
    let highlights = ask(&mut client, "textDocument/documentHighlight", at(9, 8), json!({}));
    assert_eq!(
        highlights,
        json!([{ "range": range(9, 8, 9, 9), "kind": 3 }, { "range": range(10, 21, 10, 22), "kind": 2 }])
    );
    assert_eq!(ask(&mut client, "textDocument/definition", at(0, 9), json!({})), Value::Null);
}

#[test]
fn rename_says_what_it_replaces_or_why_not() {
    let mut client = with_document(KERNEL);
    let name = ask(&mut client, "textDocument/prepareRename", at(10, 8), json!({}));
    assert_eq!(name, json!({ "range": range(10, 8, 10, 9), "placeholder": "値" }));
    let edit = ask(&mut client, "textDocument/rename", at(10, 8), json!({ "newName": "out" }));
    let edits = edit["changes"][URI].as_array().expect("edits");
    let lines: Vec<_> = edits.iter().map(|edit| edit["range"]["start"]["line"].as_u64()).collect();
    assert_eq!(lines, [Some(7), Some(10), Some(10), Some(11), Some(15)]);
    let mut params = at(8, 8);
    params["newName"] = json!("y");
    let refused = client.request("textDocument/rename", params).expect_err("`y` is taken");
    assert_eq!(refused["code"], -32803);
    assert_eq!(refused["message"], "`y` is already defined where `x` is used");
    assert_eq!(ask(&mut client, "textDocument/prepareRename", at(0, 9), json!({})), Value::Null);
}

#[test]
fn calls_of_a_kernel() {
    let mut client = with_document(KERNEL);
    let items = ask(&mut client, "textDocument/prepareCallHierarchy", at(15, 18), json!({}));
    let item = &items[0];
    assert_eq!((&item["name"], &item["selectionRange"]), (&json!("P.exp"), &range(7, 8, 7, 11)));
    let incoming = client.request("callHierarchy/incomingCalls", json!({ "item": item })).expect("an answer");
    assert_eq!(incoming[0]["from"]["name"], "P.main");
    assert_eq!(incoming[0]["fromRanges"], json!([range(15, 17, 15, 20)]));
    let caller = &incoming[0]["from"];
    let outgoing = client.request("callHierarchy/outgoingCalls", json!({ "item": caller })).expect("an answer");
    assert_eq!(outgoing[0]["to"], *item);
}

#[test]
fn structure_and_symbols_of_the_workspace() {
    let mut client = with_document(KERNEL);
    let document = json!({ "textDocument": { "uri": URI } });
    let folds = client.request("textDocument/foldingRange", document.clone()).expect("an answer");
    assert_eq!(folds, json!([{ "startLine": 6, "endLine": 11 }, { "startLine": 13, "endLine": 16 }]));
    let positions = json!([{ "line": 9, "character": 19 }, { "line": 0, "character": 1 }]);
    let selections = ask(&mut client, "textDocument/selectionRange", document, json!({ "positions": positions }));
    assert_eq!(selections[0]["range"], range(9, 19, 9, 20));
    assert_eq!(selections[0]["parent"]["range"], range(9, 18, 9, 21));
    assert_eq!(selections[1], json!({ "range": range(0, 1, 0, 1) }));
    let symbols = client.request("workspace/symbol", json!({ "query": "pex" })).expect("an answer");
    assert_eq!(symbols[0]["name"], "P.exp");
    assert_eq!(symbols[0]["location"], json!({ "uri": URI, "range": range(7, 8, 7, 11) }));
    assert_eq!(client.request("workspace/symbol", json!({ "query": "zzz" })), Ok(json!([])));
}

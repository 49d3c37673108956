//! What helps while a kernel is being typed: completion, signatures, hover on the words of the language.

use serde_json::{Value, json};
use tilefit_tests::lsp_client::{LspClient, range};

use crate::{URI, with_capabilities, with_document};

const KERNEL: &str = "\
import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    x = pl.load(a, [0, 0], [64, 64])
    y = 
    out = pl.store(x, [0, 0], out)
    return out
";

/// Line of the statement that is being typed.
const LINE: u32 = 5;

fn rich() -> Value {
    let markdown = json!(["markdown"]);
    json!({ "textDocument": {
        "completion": { "completionItem": { "snippetSupport": true, "documentationFormat": markdown } },
        "signatureHelp": { "signatureInformation": {
            "documentationFormat": markdown, "parameterInformation": { "labelOffsetSupport": true } } },
    } })
}

/// Types `text` at the end of the statement, character by character; asks at its end.
fn type_and_ask(client: &mut LspClient, text: &str, method: &str) -> Value {
    for (typed, c) in text.chars().enumerate() {
        let at = 8 + typed as u32;
        client.change(URI, typed as i32 + 2, json!([{ "range": range(LINE, at, LINE, at), "text": c.to_string() }]));
    }
    let position = json!({ "line": LINE, "character": 8 + text.len() });
    let params = json!({ "textDocument": { "uri": URI }, "position": position });
    client.request(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
}

fn item<'a>(completions: &'a Value, label: &str) -> &'a Value {
    let items = completions["items"].as_array().expect("a list");
    items.iter().find(|item| item["label"] == label).unwrap_or_else(|| panic!("no {label} in {completions}"))
}

#[test]
fn completion_while_the_statement_does_not_parse() {
    let mut client = with_capabilities(KERNEL, rich());
    let completions = type_and_ask(&mut client, "pl.tile.mu", "textDocument/completion");
    let mul = item(&completions, "mul");
    assert_eq!(mul["textEdit"], json!({ "range": range(LINE, 16, LINE, 18), "newText": "mul(${1:lhs}, ${2:rhs})$0" }));
    assert_eq!(mul["insertTextFormat"], 2);
    assert!(mul["documentation"].is_null(), "documentation comes when it is asked for");
    let resolved = client.request("completionItem/resolve", mul.clone()).expect("an item");
    assert_eq!(resolved["documentation"]["kind"], "markdown");
    let text = resolved["documentation"]["value"].as_str().expect("text");
    assert!(text.contains("pl.tile.mul(lhs, rhs) -> Tile") && text.contains("`pto.tmul`"), "{text}");
}

#[test]
fn a_client_without_snippets_gets_names() {
    let mut client = with_document(KERNEL);
    let completions = type_and_ask(&mut client, "pl.", "textDocument/completion");
    let exp = item(&completions, "exp");
    assert_eq!(exp["textEdit"]["newText"], "exp");
    assert!(exp["insertTextFormat"].is_null());
    let resolved = client.request("completionItem/resolve", exp.clone()).expect("an item");
    assert_eq!(resolved["documentation"]["kind"], "plaintext");
    assert!(!resolved["documentation"]["value"].as_str().expect("text").contains('`'));
}

#[test]
fn the_signature_of_a_call_that_is_not_closed() {
    let mut client = with_capabilities(KERNEL, rich());
    let help = type_and_ask(&mut client, "pl.load(a, [0, ", "textDocument/signatureHelp");
    let signature = &help["signatures"][0];
    assert_eq!(help["activeParameter"], 1);
    let label = signature["label"].as_str().expect("text");
    let [start, end] = [0, 1].map(|i| signature["parameters"][1]["label"][i].as_u64().expect("an offset") as usize);
    assert_eq!(&label[start..end], "offsets");
}

#[test]
fn hover_without_markdown_is_plain() {
    let mut client = with_document(KERNEL);
    let position = json!({ "line": 4, "character": 11 });
    let params = json!({ "textDocument": { "uri": URI }, "position": position });
    let hover = client.request("textDocument/hover", params).expect("an answer");
    assert_eq!(hover["contents"]["kind"], "plaintext");
    let text = hover["contents"]["value"].as_str().expect("text");
    assert!(text.starts_with("pl.load(tensor, offsets, shapes") && !text.contains("```"), "{text}");
}

//! What helps while a kernel is being typed: completion, signatures, hover on the words of the language.

use serde_json::{Value, json};
use tilefit_tests::lsp_client::{LspClient, range};

use crate::lsp::{URI, with_capabilities, with_document};

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

/// The title of the lens above the kernel.
fn lens(client: &mut LspClient) -> String {
    let params = json!({ "textDocument": { "uri": URI } });
    let lenses = client.request("textDocument/codeLens", params).unwrap_or_else(|error| panic!("{error}"));
    lenses[0]["command"]["title"].as_str().expect("it is told").to_owned()
}

/// While a statement is typed, with the closing brackets that an editor adds, the lens keeps what it said and marks it.
#[test]
fn a_lens_keeps_its_last_whole_answer_while_a_statement_is_typed() {
    let text = KERNEL.replace("    y = \n", "    \n");
    let mut client = with_document(&text);
    let whole = lens(&mut client);
    assert_eq!(whole, "Vec █░░░░░░░ 9 %");
    let mut titles = vec![whole.clone()];
    let mut version = 1;
    let mut typed = String::from("    ");
    for (c, closed) in
        [("y", ""), (" = ", ""), ("pl", ""), (".", ""), ("a", ""), ("dd", ""), ("(", ")"), ("x, ", ""), ("x", "")]
    {
        version += 1;
        let at = typed.len() as u32;
        client.change(URI, version, json!([{ "range": range(LINE, at, LINE, at), "text": format!("{c}{closed}") }]));
        typed.push_str(c);
        titles.push(lens(&mut client));
    }
    titles.dedup();
    expect_test::expect![[r#"
        Vec █░░░░░░░ 9 %
        Vec █░░░░░░░ 9 % · stale: line 6 is being edited
        Vec █░░░░░░░ 9 %
        Vec █░░░░░░░ 9 % · stale: line 6 is being edited
        Vec █░░░░░░░ 18 %"#]]
    .assert_eq(&titles.join("\n"));

    // What is saved is meant.
    version += 1;
    client.change(URI, version, json!([{ "range": range(LINE, 11, LINE, 14), "text": "adt" }]));
    assert_eq!(lens(&mut client), "Vec █░░░░░░░ 18 % · stale: line 6 is being edited");
    client.notify("textDocument/didSave", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(lens(&mut client), "Vec █░░░░░░░ ≥ 9 % · partly modelled");
    // So is what is left for another line.
    client.change(URI, version + 1, json!([{ "range": range(LINE, 11, LINE, 14), "text": "ad" }]));
    client.change(URI, version + 2, json!([{ "range": range(LINE + 1, 0, LINE + 1, 0), "text": "\n" }]));
    assert_eq!(lens(&mut client), "Vec █░░░░░░░ ≥ 9 % · partly modelled");
}

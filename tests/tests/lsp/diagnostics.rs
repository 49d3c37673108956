//! Diagnostics that depend on other documents, that are asked for, and that are fixed all at once.

use serde_json::{Value, json};
use tilefit_tests::lsp_client::{range, summary};

use crate::lsp::{URI, with_capabilities, with_document};

const KERNEL: &str = "\
import pypto.language as pl
from sizes import COLS

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, COLS], pl.FP32], out: pl.Out[pl.Tensor[[64, COLS], pl.FP32]]):
    x = pl.load(a, [0, 0], [64, COLS])
    y = x + x
    y += x
    out = pl.store(y, [0, 0], out)
    return out
";

const SIZES: &str = "file:///work/sizes.py";

fn codes(diagnostics: &[Value]) -> Vec<&str> {
    diagnostics.iter().filter_map(|diagnostic| diagnostic["code"].as_str()).collect()
}

#[test]
fn an_edit_of_a_constant_reaches_the_documents_that_import_it() {
    let mut client = with_document(&KERNEL.replace("    y = x + x\n    y += x\n", "    y = pl.exp(x)\n"));
    assert_eq!(codes(&client.diagnostics(URI, 1)), ["not-modelled"], "before its import is there");
    client.open(SIZES, 1, "COLS = 64\n");
    assert_eq!(codes(&client.diagnostics(URI, 1)), [""; 0]);
    client.change(SIZES, 2, json!([{ "range": range(0, 7, 0, 9), "text": "4096" }]));
    let found = client.diagnostics(URI, 1);
    assert!(codes(&found).contains(&"capacity-exceeded"), "{}", summary(&found));
}

#[test]
fn a_client_that_only_pulls_is_sent_nothing() {
    let mut client = with_capabilities(KERNEL, json!({ "textDocument": { "diagnostic": {} } }));
    let document = json!({ "uri": URI });
    let report = client.request("textDocument/diagnostic", json!({ "textDocument": document })).expect("a report");
    assert_eq!(report["kind"], "full");
    assert!(codes(report["items"].as_array().expect("items")).contains(&"rejected"));
    let known = &report["resultId"];
    let again = json!({ "textDocument": document, "previousResultId": known });
    let report = client.request("textDocument/diagnostic", again.clone()).expect("a report");
    assert_eq!(report, json!({ "kind": "unchanged", "resultId": known }));
    client.change(URI, 2, json!([{ "range": range(7, 0, 8, 0), "text": "" }]));
    let report = client.request("textDocument/diagnostic", again).expect("a report");
    assert_eq!(report["kind"], "full");
    assert!(client.has_no_notification("textDocument/publishDiagnostics"));
}

#[test]
fn all_obvious_fixes_at_once() {
    let mut client =
        with_document(&KERNEL.replace("from sizes import COLS", "COLS = 64").replace("y += x", "y = x * 2.0"));
    let ask = |kinds: Value| json!({ "textDocument": { "uri": URI }, "range": range(0, 0, 0, 0), "context": { "diagnostics": [], "only": kinds } });
    let actions = client.request("textDocument/codeAction", ask(json!(["source.fixAll"]))).expect("actions");
    assert_eq!(actions[0]["kind"], "source.fixAll.tilefit");
    let edits = actions[0]["edit"]["changes"][URI].as_array().expect("edits").clone();
    let new: Vec<_> = edits.iter().map(|edit| edit["newText"].clone()).collect();
    assert_eq!(new, ["pl.add(x, x)", "pl.mul(x, 2.0)"]);
    client.change(
        URI,
        2,
        json!(
            edits
                .iter()
                .rev()
                .map(|edit| json!({ "range": edit["range"], "text": edit["newText"] }))
                .collect::<Vec<_>>()
        ),
    );
    assert!(!codes(&client.diagnostics(URI, 2)).contains(&"rejected"));
    assert_eq!(client.request("textDocument/codeAction", ask(json!(["source.fixAll"]))), Ok(json!([])));
}

//! Files that no kernel author would write.

use serde_json::{Value, json};
use tilefit_tests::kernels::{Layout, source};
use tilefit_tests::lsp_client::range;

use crate::lsp::{URI, with_document};

/// Every feature answers, and the text is kept as it is.
#[track_caller]
fn check(text: &str) {
    let mut client = with_document(text);
    client.diagnostics(URI, 1);
    let document = json!({ "uri": URI });
    let all = range(0, 0, 1_000_000, 0);
    let position = json!({ "line": text.lines().count() / 2, "character": 9 });
    for (method, params) in [
        ("textDocument/hover", json!({ "textDocument": document, "position": position })),
        ("textDocument/inlayHint", json!({ "textDocument": document, "range": all })),
        ("textDocument/codeLens", json!({ "textDocument": document })),
        ("textDocument/documentSymbol", json!({ "textDocument": document })),
        ("tilefit/generatedCode", json!({ "textDocument": document, "position": position })),
        ("tilefit/memoryMap", json!({ "textDocument": document, "position": position })),
    ] {
        if let Err(error) = client.request(method, params) {
            panic!("{method}: {error}");
        }
    }
    assert!(client.text(URI).0 == text, "the text is not what was opened");
    assert_eq!(client.shut_down().code(), Some(0));
}

#[test]
fn no_python() {
    check("");
    check("\u{feff}");
    check("%PDF-1.4 \0\u{1}\u{2} ]]]) ((( \u{fffd}\r\r\n\n\r");
    check("<html><body class='x'>@pl.function</body></html>");
    check("#include <stdio.h>\nint main() { return pl.load(x, [0], [1]); }\n");
}

#[test]
fn deep_nesting() {
    check(&"(".repeat(20_000));
    check(&format!("import pypto.language as pl\nN = {}1{}\n", "(".repeat(5_000), ")".repeat(5_000)));
    check(&format!("import pypto.language as pl\nN = {}1\n", "1 + ".repeat(20_000)));
    check(&(0..500).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect::<String>());
}

#[test]
fn half_typed_code() {
    let whole = source(2, Layout::ClassPerKernel);
    let mut client = with_document("");
    for (version, end) in (2..).zip((0..whole.len()).step_by(97).filter(|&end| whole.is_char_boundary(end))) {
        client.change(URI, version, json!([{ "text": &whole[..end] }]));
        for diagnostic in client.diagnostics(URI, version) {
            assert_ne!(diagnostic["code"], "internal", "{diagnostic}");
        }
    }
}

#[test]
fn fifty_megabytes() {
    let line = "x = [1, 2, 3]  # 0123456789 0123456789 0123456789\n";
    let text = line.repeat(50 * 1024 * 1024 / line.len());
    let mut client = with_document(&text);
    client.change(URI, 2, json!([{ "range": range(1000, 0, 1000, 1), "text": "y" }]));
    client.diagnostics(URI, 2);
    let document = json!({ "textDocument": { "uri": URI } });
    let symbols = client.request("textDocument/documentSymbol", document).expect("symbols are answered");
    assert_eq!(symbols, Value::Array(vec![]));
}

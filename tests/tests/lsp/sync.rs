//! The server's copy of a document is the client's, whatever happens to it.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use tilefit_tests::kernels::{Layout, source};
use tilefit_tests::lsp_client::{LspClient, range};

use crate::lsp::{URI, with_document};

#[test]
fn a_flood_of_edits_leaves_the_right_text() {
    let mut client = with_document("");
    let mut expected = String::new();
    for version in 2..3_002 {
        // Each edit depends on all before it: a lost or swapped one shows.
        let letter = char::from(b'a' + (version % 26) as u8);
        if version % 3 == 0 {
            expected.pop();
            let end = expected.len() as u32;
            client.change(URI, version, json!([{ "range": range(0, end, 0, end + 1), "text": "" }]));
        } else {
            let end = expected.len() as u32;
            expected.push(letter);
            client.change(URI, version, json!([{ "range": range(0, end, 0, end), "text": letter.to_string() }]));
        }
    }
    assert_eq!(client.text(URI), (expected, 3_001));
    client.diagnostics(URI, 3_001);
}

/// Helix up to 25.01 sends each edit by a task of its own.
#[test]
fn edits_that_overtake_each_other_are_applied_by_their_versions() {
    const TEXT: &str = "ROWS = 256\n";
    let edits = [(7, 10, ""), (7, 7, "1"), (8, 8, "9"), (9, 9, "2")];
    let orders = [[0, 1, 2, 3], [1, 2, 0, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 0, 3, 2]];
    for order in orders {
        let mut client = with_document(TEXT);
        for at in order {
            let (start, end, text) = edits[at];
            client.change(URI, at as i32 + 2, json!([{ "range": range(0, start, 0, end), "text": text }]));
        }
        assert_eq!(client.text(URI), ("ROWS = 192\n".to_owned(), 5), "{order:?}");
        client.change(URI, 6, json!([{ "range": range(0, 10, 0, 10), "text": "0" }]));
        assert_eq!(client.text(URI), ("ROWS = 1920\n".to_owned(), 6), "{order:?}");
        client.diagnostics(URI, 6);
    }
}

/// The protocol has versions rise. Of a client whose versions do not, the order is that of the wire.
#[test]
fn versions_that_do_not_rise_tell_no_order() {
    let mut client = with_document("");
    for (at, version) in [7, 7, 3, 3, 2].into_iter().enumerate() {
        let at = at as u32;
        client.change(URI, version, json!([{ "range": range(0, at, 0, at), "text": at.to_string() }]));
    }
    assert_eq!(client.text(URI).0, "01234");
}

#[test]
fn a_request_sees_exactly_the_edits_before_it() {
    let mut client = with_document(&source(3, Layout::OneClass));
    let asked: Vec<_> = (2..202)
        .map(|version| {
            client.change(URI, version, json!([{ "range": range(0, 0, 1, 0), "text": format!("# {version}\n") }]));
            (version, client.ask("tilefit/viewFileText", json!({ "textDocument": { "uri": URI } })))
        })
        .collect();
    for (version, id) in asked {
        let answer = client.answer(id).expect("an open document has a text");
        assert_eq!(answer["version"], version);
        assert!(answer["text"].as_str().is_some_and(|text| text.starts_with(&format!("# {version}\n"))));
    }
}

#[test]
fn an_edit_of_one_document_loses_no_diagnostics_of_another() {
    let mut client = LspClient::start();
    let text = source(30, Layout::ClassPerKernel);
    let uris: Vec<_> = (0..8).map(|index| format!("file:///work/{index}.py")).collect();
    for uri in &uris {
        client.open(uri, 1, &text);
    }
    for version in 2..30 {
        client.change(&uris[0], version, json!([{ "range": range(0, 0, 0, 0), "text": "#\n" }]));
    }
    for uri in &uris[1..] {
        client.diagnostics(uri, 1);
    }
    client.diagnostics(&uris[0], 29);
}

#[test]
fn full_and_incremental_changes_mix() {
    let mut client = with_document("one\n");
    client.change(URI, 2, json!([{ "text": "a = 1\r\nb = 2\r\n" }, { "range": range(1, 4, 1, 5), "text": "33" }]));
    assert_eq!(client.text(URI), ("a = 1\r\nb = 33\r\n".to_owned(), 2));
    client.change(URI, 3, json!([]));
    assert_eq!(client.text(URI), ("a = 1\r\nb = 33\r\n".to_owned(), 3));
    client.diagnostics(URI, 3);
}

#[test]
fn positions_outside_of_the_document_clamp() {
    const FAR: u32 = i32::MAX as u32;
    let mut client = with_document("ab\n😀");
    client.change(URI, 2, json!([{ "range": range(0, FAR, 0, FAR), "text": "1" }]));
    client.change(URI, 3, json!([{ "range": range(FAR, 0, FAR, FAR), "text": "2" }]));
    client.change(URI, 4, json!([{ "range": range(1, 1, 1, 1), "text": "3" }])); // between two surrogates
    let (text, _) = client.text(URI);
    assert!(["ab1\n3😀2", "ab1\n😀32"].contains(&text.as_str()), "{text}");
    client.change(URI, 5, json!([{ "range": range(FAR, FAR, 0, 0), "text": "" }])); // runs backwards
    for method in ["textDocument/hover", "tilefit/generatedCode"] {
        let position = json!({ "line": FAR, "character": FAR });
        let params = json!({ "textDocument": { "uri": URI }, "position": position });
        assert_eq!(client.request(method, params), Ok(Value::Null), "{method}");
    }
    let hints = json!({ "textDocument": { "uri": URI }, "range": range(FAR, FAR, 0, 0) });
    assert!(client.request("textDocument/inlayHint", hints).is_ok());
}

#[test]
fn encodings_are_negotiated() {
    for (offered, chosen, column) in [
        (json!(["utf-16", "utf-8"]), "utf-8", 6),
        (json!(["utf-16"]), "utf-16", 4),
        (json!(["utf-32", "utf-16"]), "utf-32", 3),
        (Value::Null, "utf-16", 4),
    ] {
        let mut client = LspClient::spawn();
        let general = json!({ "positionEncodings": offered });
        let capabilities = client.initialize(json!({ "capabilities": { "general": general } }));
        assert_eq!(capabilities["positionEncoding"], chosen);
        client.open(URI, 1, "'😀'x\n");
        client.change(URI, 2, json!([{ "range": range(0, column, 0, column + 1), "text": "y" }]));
        assert_eq!(client.text(URI).0, "'😀'y\n", "{chosen}");
    }
}

#[test]
fn closing_clears_diagnostics_and_opening_again_starts_over() {
    let mut client = with_document("x = 1\n");
    client.diagnostics(URI, 1);
    client.close(URI);
    let cleared = client.notification("textDocument/publishDiagnostics");
    assert_eq!((&cleared["uri"], &cleared["diagnostics"]), (&json!(URI), &json!([])));
    let document = json!({ "textDocument": { "uri": URI } });
    assert!(client.request("tilefit/viewFileText", document).is_err());
    client.change(URI, 2, json!([{ "text": "lost" }]));
    client.open(URI, 1, "y = 2\n");
    assert_eq!(client.text(URI), ("y = 2\n".to_owned(), 1));
    client.diagnostics(URI, 1);
}

#[test]
fn saving_changes_nothing() {
    let mut client = with_document("x = 1\n");
    client.notify("textDocument/didSave", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(client.text(URI), ("x = 1\n".to_owned(), 1));
}

/// An edit in terms that fit every text: where, as parts of its length, and what.
#[derive(Debug, Clone)]
struct Edit {
    start: f64,
    length: usize,
    text: String,
    /// Send the whole text instead of the change.
    full: bool,
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let snippet = prop_oneof![
        4 => prop::sample::select(vec![
            "", "\n", "\r\n", "\r", "    ", "(", ")", "[", "]", "\"", "'''", "#", ":", "😀", "é", "漢", "1", "64", ", ",
            "pl.", "@pl.function(type=pl.FunctionType.InCore)\n", "    def k(self):\n", "t = pl.load(x, [0, 0], [512, 512])\n",
            "        t1 = pl.create_tile([512, 512], dtype=pl.FP32)\n", "class A:\n", "if n:\n", "\u{feff}", "\u{2028}",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,8}",
    ];
    let edit = (0.0..1.0, 0..40_usize, snippet, prop::bool::weighted(0.1))
        .prop_map(|(start, length, text, full)| Edit { start, length, text, full });
    vec(edit, 1..40)
}

/// The client's own arithmetic: lines end at `\n`, `\r\n` and `\r`, columns count in the given unit.
fn position(text: &str, offset: usize, unit: fn(char) -> usize) -> Value {
    let before = &text[..offset];
    let (mut line, mut line_start) = (0, 0);
    for (at, byte) in before.bytes().enumerate() {
        if byte == b'\n' || byte == b'\r' && text.as_bytes().get(at + 1) != Some(&b'\n') {
            (line, line_start) = (line + 1, at + 1);
        }
    }
    json!({ "line": line, "character": before[line_start..].chars().map(unit).sum::<usize>() })
}

fn boundary(text: &str, mut offset: usize) -> usize {
    // A client cannot point between `\r` and `\n`, nor into a character.
    while !text.is_char_boundary(offset)
        || text.as_bytes().get(offset) == Some(&b'\n') && offset > 0 && text.as_bytes()[offset - 1] == b'\r'
    {
        offset -= 1;
    }
    offset
}

type Encoding = (&'static str, fn(char) -> usize);

const ENCODINGS: [Encoding; 3] = [("utf-8", char::len_utf8), ("utf-16", char::len_utf16), ("utf-32", |_| 1)];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edited_document_equals_a_fresh_one(edits in edits(), encoding in 0..ENCODINGS.len()) {
        let (name, unit) = ENCODINGS[encoding];
        let mut client = LspClient::spawn();
        client.initialize(json!({ "capabilities": { "general": { "positionEncodings": [name] } } }));
        let mut text = source(2, Layout::OneClass);
        client.open(URI, 0, &text);
        let mut version = 0;
        for edit in &edits {
            let start = boundary(&text, (edit.start * text.len() as f64) as usize);
            let end = boundary(&text, (start + edit.length).min(text.len())).max(start);
            let range = json!({ "start": position(&text, start, unit), "end": position(&text, end, unit) });
            text.replace_range(start..end, &edit.text);
            version += 1;
            let change = if edit.full { json!({ "text": text }) } else { json!({ "range": range, "text": edit.text }) };
            client.change(URI, version, json!([change]));
        }
        prop_assert_eq!(client.text(URI), (text.clone(), i64::from(version)));
        const FRESH: &str = "file:///work/fresh.py";
        client.open(FRESH, 1, &text);
        let fresh = Value::Array(client.diagnostics(FRESH, 1)).to_string().replace(FRESH, URI);
        client.close(FRESH);
        client.change(URI, version + 1, json!([]));
        let edited = Value::Array(client.diagnostics(URI, version + 1)).to_string();
        prop_assert_eq!(edited, fresh);
        prop_assert_eq!(client.shut_down().code(), Some(0));
    }
}

/// Each of a thousand documents that is closed would have all others looked at again.
#[test]
fn closing_a_document_is_none_of_the_business_of_others() {
    let mut client = with_document("ROWS = 64\n");
    const OTHER: &str = "file:///work/other.py";
    client.open(OTHER, 1, "x = 1\n");
    client.diagnostics(URI, 1);
    client.diagnostics(OTHER, 1);
    client.close(OTHER);
    let closed = client.notification("textDocument/publishDiagnostics");
    assert_eq!((&closed["uri"], closed["version"].as_i64()), (&json!(OTHER), None));
    assert!(client.has_no_notification("textDocument/publishDiagnostics"));
}

#[test]
fn closing_a_document_that_another_imports_is_seen_there() {
    const KERNEL: &str = "
import pypto.language as pl
from sizes import ROWS

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32]):
    t = pl.load(a, [0, 0], [ROWS, 64])
";
    let mut client = with_document(KERNEL);
    client.diagnostics(URI, 1);
    const SIZES: &str = "file:///work/sizes.py";
    client.open(SIZES, 1, "ROWS = 64\n");
    client.diagnostics(SIZES, 1);
    while !client.diagnostics(URI, 1).is_empty() {}
    client.close(SIZES);
    while client.diagnostics(URI, 1).is_empty() {}
}

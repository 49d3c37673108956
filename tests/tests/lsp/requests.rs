//! The features, over the wire, on a kernel that is over capacity: what an author sees and does.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tilefit_tests::lsp_client::{LspClient, range, summary};

use crate::lsp::{URI, with_capabilities, with_document};

const KERNEL: &str = "\
import pypto.language as pl

COLS = 256

@pl.program
class Gate:
    # 値 😀
    @pl.function(type=pl.FunctionType.InCore)
    def gate(self, x: pl.Tensor[[64, COLS], pl.FP32], out: pl.Out[pl.Tensor[[64, COLS], pl.FP32]]) -> pl.Tensor[[64, COLS], pl.FP32]:
        a = pl.load(x, [0, 0], [64, COLS])
        b = pl.exp(a)
        c = pl.mul(a, b)
        out = pl.store(pl.add(c, a), [0, 0], out)
        return out
";

/// Line (from 0) of the definition of `a`.
const A: u32 = 9;

fn document() -> Value {
    json!({ "uri": URI })
}

fn at(line: u32, character: u32) -> Value {
    json!({ "textDocument": document(), "position": { "line": line, "character": character } })
}

fn result(client: &mut LspClient, method: &str, params: Value) -> Value {
    client.request(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
}

/// What is after 100 characters of a line is prose that may change.
#[track_caller]
fn check(actual: &str, expected: &Expect) {
    let lines: Vec<String> = actual.lines().map(|line| line.chars().take(100).collect()).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

/// Replaces the value of `COLS`.
fn set_columns(client: &mut LspClient, version: i32, old: &str, new: &str) {
    let end = 7 + old.len() as u32;
    client.change(URI, version, json!([{ "range": range(2, 7, 2, end), "text": new }]));
}

#[test]
fn an_overflow_appears_and_disappears_while_typing() {
    let mut client = with_document(KERNEL);
    assert_eq!(summary(&client.diagnostics(URI, 1)), "");
    set_columns(&mut client, 2, "256", "512");
    let found = client.diagnostics(URI, 2);
    check(
        &summary(&found),
        &expect![[r#"
            10:8 1 capacity-exceeded Vec overflow: 256 KiB live at once, 184 KiB available (72 KiB over). Any on
        "#]],
    );
    let error = &found[0];
    assert_eq!(error["source"], "tilefit");
    let live = error["relatedInformation"].as_array().expect("the buffers at the peak");
    let names: Vec<_> = live.iter().filter_map(|it| it["message"].as_str()?.split(' ').next()).collect();
    assert_eq!(names, ["`a`", "`b`"]);
    assert!(live.iter().all(|related| related["location"]["uri"] == URI));
    set_columns(&mut client, 3, "512", "128");
    assert_eq!(summary(&client.diagnostics(URI, 3)), "");
}

#[test]
fn hover_on_a_tile_tells_where_it_lies() {
    let formats = json!({ "textDocument": { "hover": { "contentFormat": ["markdown", "plaintext"] } } });
    let mut client = with_capabilities(KERNEL, formats);
    let hover = result(&mut client, "textDocument/hover", at(A, 8));
    assert_eq!(hover["range"], range(A, 8, A, 9));
    assert_eq!(hover["contents"]["kind"], "markdown");
    let text = hover["contents"]["value"].as_str().expect("markdown");
    for part in ["Vec", "0x0", "65536 bytes", "ascend910b"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    assert_eq!(result(&mut client, "textDocument/hover", at(0, 3)), Value::Null);
}

#[test]
fn hints_stand_behind_the_tiles_of_the_visible_range() {
    let mut client = with_document(KERNEL);
    let mut hints = |start, end| {
        let params = json!({ "textDocument": document(), "range": range(start, 0, end, 0) });
        let hints = result(&mut client, "textDocument/inlayHint", params);
        let line =
            |hint: &Value| format!("{}:{} {}", hint["position"]["line"], hint["position"]["character"], hint["label"]);
        hints.as_array().expect("hints").iter().map(line).collect::<Vec<_>>()
    };
    // Three tiles with a name, and the value of `pl.add` without one.
    let all = hints(0, 100);
    assert_eq!(all.len(), 4, "{all:?}");
    assert_eq!(all[3], r#"12:35 "→ Vec 0x0 64 KiB""#);
    assert_eq!(hints(A, A + 1), [r#"9:9 "Vec 0x0 64 KiB""#]);
    assert!(hints(0, 3).is_empty());
}

/// With more lenses than are told at once, what they say is asked for.
#[test]
fn lenses_of_a_large_file_say_what_those_of_small_ones_say() {
    let small = tilefit_tests::kernels::source(2, tilefit_tests::kernels::Layout::ClassPerKernel);
    let large = tilefit_tests::kernels::source(60, tilefit_tests::kernels::Layout::ClassPerKernel);
    let mut client = with_document(&small);
    let lenses =
        |client: &mut LspClient| match client.request("textDocument/codeLens", json!({ "textDocument": document() })) {
            Ok(Value::Array(lenses)) => lenses,
            other => panic!("{other:?}"),
        };
    let told = lenses(&mut client);
    client.change(URI, 2, json!([{ "text": large }]));
    let unresolved = lenses(&mut client);
    assert!(unresolved.len() > told.len() && unresolved.iter().all(|lens| lens["command"].is_null()), "{unresolved:?}");
    for (told, unresolved) in told.iter().zip(&unresolved) {
        assert_eq!(Ok(told), client.request("codeLens/resolve", unresolved.clone()).as_ref());
        assert_eq!(Ok(told), client.request("codeLens/resolve", told.clone()).as_ref(), "there is no more to it");
    }
    let mut gone = unresolved[0].clone();
    gone["range"] = range(0, 0, 0, 1);
    assert_eq!(client.request("codeLens/resolve", gone.clone()), Ok(gone));
    client.change(URI, 3, json!([{ "range": range(0, 0, 0, 0), "text": "\n" }]));
    let overtaken = client.request("codeLens/resolve", unresolved[0].clone()).expect_err("it is of another version");
    assert_eq!(overtaken["code"], -32801);
}

#[test]
fn there_is_more_to_a_hint() {
    let hint = json!({ "resolveSupport": { "properties": ["tooltip", "label.location"] } });
    let mut client = with_capabilities(KERNEL, json!({ "textDocument": { "inlayHint": hint } }));
    let params = json!({ "textDocument": document(), "range": range(0, 0, 100, 0) });
    let hints = result(&mut client, "textDocument/inlayHint", params);
    let resolved: Vec<Value> = hints
        .as_array()
        .expect("hints")
        .iter()
        .map(|hint| client.request("inlayHint/resolve", hint.clone()).expect("the hint"))
        .collect();
    for hint in &resolved {
        assert_eq!(hint["tooltip"]["kind"], "markdown", "{hint}");
        assert!(hint["tooltip"]["value"].as_str().is_some_and(|text| text.contains("| memory space |")), "{hint}");
    }
    let links = resolved.iter().flat_map(|hint| hint["label"].as_array().expect("parts"));
    let mut links = links.filter(|part| !part["location"].is_null());
    let link = links.next().expect("some tile lies where another one lay");
    assert!(link["value"].as_str().is_some_and(|value| value.starts_with("0x")), "{link}");
    assert_eq!(link["location"]["uri"], URI);
}

/// A product whose sizes are open: its lens has what usual ones take and names all values that are missing, a flag not among them, and what it runs has
/// the client write them.
#[test]
fn a_lens_writes_the_values_that_are_missing() {
    const PRODUCT: &str = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef k(a, b, c, M: tl.constexpr, N: tl.constexpr, FLAG: tl.constexpr):\n    m, n = tl.arange(0, M), tl.arange(0, N)\n    x = tl.load(a + m[:, None] * N + n[None, :])\n    if FLAG:\n        x = x * 2\n    y = tl.load(b + n[:, None] * M + m[None, :])\n    tl.store(c + m[:, None] * M + m[None, :], tl.dot(x, y))\n";
    let mut client = with_document(PRODUCT);
    let lenses = result(&mut client, "textDocument/codeLens", json!({ "textDocument": document() }));
    let command = &lenses[0]["command"];
    let title = "10 ways tried: 1–3 KiB (FLAG=False, M=16, N=16) to 32–192 KiB (FLAG=True, M=128, N=128) of 227 KiB · give M and N for more · \
                 assumes sm_100, 4 warps, 3 stages";
    assert_eq!(command["title"], title);
    let run = json!({ "command": command["command"], "arguments": command["arguments"] });
    assert_eq!(result(&mut client, "workspace/executeCommand", run), Value::Null);
    let asked = client.server_request("workspace/applyEdit");
    let edit = &asked["edit"]["changes"][URI][0];
    assert_eq!(edit["newText"], "# tilefit: M=128 N=128\n");
    client.change(URI, 2, json!([{ "range": edit["range"], "text": edit["newText"] }]));
    let lenses = result(&mut client, "textDocument/codeLens", json!({ "textDocument": document() }));
    assert_eq!(lenses[0]["command"]["command"], "tilefit.showMemoryMap", "{lenses}");
}

#[test]
fn a_lens_leads_to_the_generated_code() {
    let mut client = with_document(KERNEL);
    let lenses = result(&mut client, "textDocument/codeLens", json!({ "textDocument": document() }));
    let lenses = lenses.as_array().expect("lenses");
    let show = lenses.iter().find(|lens| lens["command"]["command"] == "tilefit.showGeneratedCode").expect("the lens");
    let arguments = show["command"]["arguments"].clone();
    assert_eq!(arguments[0], URI);
    let command = json!({ "command": "tilefit.generatedCode", "arguments": arguments });
    let by_command = result(&mut client, "workspace/executeCommand", command);
    let by_request = result(&mut client, "tilefit/generatedCode", at(A, 8));
    assert_eq!(by_command, by_request);
    assert_eq!((&by_request["kernel"], &by_request["language"]), (&json!("Gate.gate"), &json!("cpp")));
    assert_eq!(by_request["version"], 1);
    let text = by_request["text"].as_str().expect("text");
    assert!(text.contains("TASSIGN(a, 0x0)"), "{text}");
    let lines = text.lines().count() as u64;
    let map = by_request["map"].as_array().expect("a map");
    assert!(map.iter().all(|entry| entry["generatedLine"].as_u64().is_some_and(|line| line < lines)));
    assert!(map.iter().any(|entry| entry["range"]["start"]["line"] == A));
    assert_eq!(result(&mut client, "tilefit/generatedCode", at(0, 0)), by_request);
    assert_eq!(result(&mut client, "tilefit/loweredIr", at(A, 8)), Value::Null);
}

fn open_generated_code(client: &mut LspClient) -> String {
    let command = json!({ "command": "tilefit.openGeneratedCode", "arguments": [URI, { "line": A, "character": 8 }] });
    let uri = result(client, "workspace/executeCommand", command);
    let uri = uri.as_str().expect("the URI of a document").to_owned();
    assert_eq!(client.server_request("window/showDocument")["uri"], uri);
    uri
}

#[test]
fn generated_code_is_a_document_that_asks_to_be_read_again() {
    let capabilities = json!({
        "workspace": { "textDocumentContent": { "dynamicRegistration": true } },
        "window": { "showDocument": { "support": true } },
    });
    let mut client = with_capabilities(KERNEL, capabilities);
    let registration = client.server_request("client/registerCapability");
    assert_eq!(registration["registrations"][0]["method"], "workspace/textDocumentContent");
    let schemes = registration["registrations"][0]["registerOptions"]["schemes"].clone();
    let uri = open_generated_code(&mut client);
    assert!(uri.starts_with(schemes[0].as_str().expect("a scheme")) && uri.contains("Gate"), "{uri}");
    let read = |client: &mut LspClient| {
        let text = result(client, "workspace/textDocumentContent", json!({ "uri": uri }));
        text["text"].as_str().expect("a text").to_owned()
    };
    assert!(read(&mut client).contains("TEXP(b, a)"));
    client.diagnostics(URI, 1);
    client.change(URI, 2, json!([{ "range": range(A + 1, 15, A + 1, 18), "text": "abs" }]));
    client.diagnostics(URI, 2);
    assert_eq!(client.server_request("workspace/textDocumentContent/refresh")["uri"], uri);
    assert!(read(&mut client).contains("TABS(b, a)"));
    let other = json!({ "uri": "tilefit-cpp:///nothing" });
    assert!(client.request("workspace/textDocumentContent", other).is_err());
}

#[test]
fn generated_code_is_a_read_only_file_as_the_last_resort() {
    let mut client = with_capabilities(KERNEL, json!({ "window": { "showDocument": { "support": true } } }));
    let uri = open_generated_code(&mut client);
    let path = percent_decoded(uri.strip_prefix("file://").expect("a file"));
    let text = || std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text().contains("TEXP(b, a)"), "{path}");
    assert!(std::fs::metadata(&path).expect("the file").permissions().readonly());
    client.diagnostics(URI, 1);
    client.change(URI, 2, json!([{ "range": range(A + 1, 15, A + 1, 18), "text": "abs" }]));
    client.diagnostics(URI, 2);
    eventually(|| text().contains("TABS(b, a)"), "the file follows the edit");
    client.close(URI);
    eventually(|| !std::path::Path::new(&path).exists(), "the file goes with its source");
}

#[cfg(unix)]
#[test]
fn the_files_of_generated_code_are_the_users_own_and_go_with_the_session() {
    use std::os::unix::fs::PermissionsExt as _;

    let mut client = with_capabilities(KERNEL, json!({ "window": { "showDocument": { "support": true } } }));
    let uri = open_generated_code(&mut client);
    let path = percent_decoded(uri.strip_prefix("file://").expect("a file"));
    let folder = std::path::Path::new(&path).ancestors().nth(2).expect("the folder of the session").to_owned();
    assert_eq!(std::fs::metadata(&folder).expect("a folder").permissions().mode() & 0o777, 0o700, "{path}");
    client.shut_down();
    assert!(!folder.exists(), "{path}");
}

#[track_caller]
fn eventually(is_so: impl Fn() -> bool, what: &str) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed().as_secs() < 20, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let hex = |digits: [u8; 2]| u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok();
        bytes.push(match byte {
            b'%' => hex([rest.next().unwrap_or(0), rest.next().unwrap_or(0)]).expect("two digits"),
            byte => byte,
        });
    }
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn what_generated_code_lacks_is_told_with_it() {
    let text = "import pypto.language as pl\n\n@pl.function(type=pl.FunctionType.InCore)\ndef f(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n    x = pl.load(a, [0, 0], [64, 64])\n    z = pl.create_tile([64, 64], dtype=pl.FP8E4M3FN)\n    z = pl.tile.full([64, 64], dtype=pl.FP8E4M3FN, value=0.0)\n    out = pl.store(x, [0, 0], out)\n    return out\n";
    let mut client = with_document(text);
    assert_eq!(summary(&client.diagnostics(URI, 1)), "", "the source is fine");
    let code = result(&mut client, "tilefit/generatedCode", at(4, 8));
    let gaps = code["gaps"].as_array().expect("gaps");
    assert!(!gaps.is_empty() && gaps.iter().all(|gap| gap["code"] == "no-instruction"), "{code}");
    assert_eq!(gaps[0]["range"]["start"]["line"], 6, "{code}");
    let settings = json!({ "tilefit": { "severity": { "no-instruction": "hint" } } });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    assert!(summary(&client.diagnostics(URI, 1)).contains("no-instruction"));
    assert_eq!(result(&mut client, "tilefit/generatedCode", at(4, 8))["gaps"], json!([]));
}

#[test]
fn the_form_of_generated_code_is_a_setting() {
    let mut client = LspClient::spawn();
    let form = json!({ "externC": true, "drain": true, "alwaysAssign": true, "insertSync": false });
    let options = json!({ "codegen": form, "inlayHints": { "sync": true, "enable": false } });
    client.initialize(json!({ "capabilities": {}, "initializationOptions": options }));
    client.open(URI, 1, KERNEL);
    assert!(summary(&client.diagnostics(URI, 1)).contains("missing-sync"));
    let code = result(&mut client, "tilefit/generatedCode", at(A, 8));
    let text = code["text"].as_str().expect("text");
    for part in ["extern \"C\" ", "TASSIGN(xGlobal, x + 0", "EVENT_ID7"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    assert!(!text.contains("PIPE_MTE2, PIPE_V"), "{text}");
    let hints = json!({ "textDocument": document(), "range": range(0, 0, 100, 0) });
    let hints = result(&mut client, "textDocument/inlayHint", hints);
    let load = hints.as_array().expect("hints").iter().find(|hint| hint["label"] == "set MTE2 → V, EVENT_ID0");
    assert_eq!(load.expect("the hint")["position"]["line"], A);
}

#[test]
fn the_allocated_ir_is_an_action_away() {
    let mut client = with_document(KERNEL);
    let params = json!({ "textDocument": document(), "range": range(A, 8, A, 8), "context": { "diagnostics": [] } });
    let actions = result(&mut client, "textDocument/codeAction", params);
    let action = &actions[0];
    assert_eq!((&action["title"], &action["kind"]), (&json!("Show allocated IR"), &json!("source")));
    assert_eq!(action["command"]["command"], "tilefit.showAllocatedIr");
    let command = json!({ "command": "tilefit.allocatedIr", "arguments": action["command"]["arguments"] });
    let by_command = result(&mut client, "workspace/executeCommand", command);
    let by_request = result(&mut client, "tilefit/allocatedIr", at(A, 8));
    assert_eq!(by_command, by_request);
    assert_eq!((&by_request["kernel"], &by_request["language"]), (&json!("Gate.gate"), &json!("python")));
    assert_eq!(by_request["version"], 1);
    assert!(by_request["text"].as_str().is_some_and(|text| text.contains("tile.alloc(Vec, 65536)")), "{by_request}");
    assert_eq!(result(&mut client, "tilefit/allocatedIr", at(0, 0)), by_request);
}

#[test]
fn the_lowered_ir_of_a_tlx_kernel_is_an_action_away() {
    let mut client = with_document(
        "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n\n@triton.jit\ndef kernel():\n    a = tlx.local_alloc((64, 64), tl.float16, 2)\n    view = a[1]\n",
    );
    let params = json!({ "textDocument": document(), "range": range(6, 8, 6, 8), "context": { "diagnostics": [] } });
    let actions = result(&mut client, "textDocument/codeAction", params);
    let actions = actions.as_array().expect("actions");
    let action = actions.iter().find(|action| action["title"] == "Show lowered IR").expect("the action");
    assert_eq!(action["command"]["command"], "tilefit.showLoweredIr");
    let command = json!({ "command": "tilefit.loweredIr", "arguments": action["command"]["arguments"] });
    let by_command = result(&mut client, "workspace/executeCommand", command);
    assert_eq!(by_command, result(&mut client, "tilefit/loweredIr", at(6, 8)));
    assert_eq!((&by_command["kernel"], &by_command["language"]), (&json!("kernel"), &json!("mlir")));
    assert!(by_command["text"].as_str().is_some_and(|text| text.contains("2x64x64xf16")), "{by_command}");
    assert_eq!(result(&mut client, "tilefit/loweredIr", at(0, 0)), by_command);
    assert_eq!(result(&mut client, "tilefit/allocatedIr", at(6, 8)), Value::Null);
}

#[test]
fn a_configuration_that_is_too_large_can_be_reduced_or_removed() {
    let text = include_str!("../../../editors/vscode/e2e/autotuned.py");
    let line = text.lines().position(|line| line.contains("num_stages=6")).expect("the large one") as u32;
    let fixes = |client: &mut LspClient| {
        let context = json!({ "diagnostics": [], "only": ["quickfix"] });
        let params = json!({ "textDocument": document(), "range": range(line, 20, line, 20), "context": context });
        result(client, "textDocument/codeAction", params)
    };
    for (nth, title, left) in [
        (0, "Reduce `num_stages` to 4, which fits sm_90 (192 KiB)", 4),
        (1, "Reduce `BLOCK_N` to 128, which fits sm_90 (192 KiB)", 4),
        (4, "Remove this configuration, which does not fit sm_90", 3),
    ] {
        let mut client = with_document(text);
        let fix = fixes(&mut client)[nth].take();
        assert_eq!((&fix["title"], &fix["kind"]), (&json!(title), &json!("quickfix")));
        let edits = fix["edit"]["changes"][URI].as_array().expect("edits").clone();
        let changes: Vec<Value> =
            edits.iter().map(|edit| json!({ "range": edit["range"], "text": edit["newText"] })).collect();
        client.change(URI, 2, json!(changes));
        client.diagnostics(URI, 2);
        let table = result(&mut client, "tilefit/configurations", json!({ "textDocument": document() }));
        let rows = table["kernels"][0]["configurations"].as_array().expect("rows");
        let fit = rows.iter().filter(|row| row["on"][0]["verdict"] == "fits").count();
        assert_eq!((rows.len(), fit), (left, left), "{table}");
        assert_eq!(fixes(&mut client), json!([]), "nothing is too large any more");
    }
}

#[test]
fn a_quick_fix_fixes_what_it_names() {
    let wrong = KERNEL.replace("pl.mul(a, b)", "a * b");
    let mut client = with_document(&wrong);
    let found = client.diagnostics(URI, 1);
    assert!(summary(&found).contains("rejected"));
    let mut actions = |only: Value| {
        let context = json!({ "diagnostics": [], "only": only });
        let params = json!({ "textDocument": document(), "range": range(A + 2, 12, A + 2, 12), "context": context });
        result(&mut client, "textDocument/codeAction", params)
    };
    assert_eq!(actions(json!(["refactor"])), json!([]));
    assert_eq!(actions(json!(["source"]))[0]["kind"], "source");
    let action = actions(json!(["quickfix"]))[0].clone();
    assert_eq!((&action["title"], &action["isPreferred"]), (&json!("Write `pl.mul(a, b)`"), &json!(true)));
    assert!(found.contains(&action["diagnostics"][0]), "{action}");
    let edits = action["edit"]["changes"][URI].as_array().expect("edits");
    let changes = edits.iter().map(|edit| json!({ "range": edit["range"], "text": edit["newText"] }));
    client.change(URI, 2, changes.collect());
    assert_eq!(summary(&client.diagnostics(URI, 2)), "");
}

#[test]
fn the_outline_has_kernels_with_their_tiles() {
    let mut client = with_document(KERNEL);
    let symbols = result(&mut client, "textDocument/documentSymbol", json!({ "textDocument": document() }));
    let names = |symbols: &Value| -> Vec<String> {
        let symbols = symbols.as_array().expect("symbols").iter();
        symbols.filter_map(|symbol| symbol["name"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(names(&symbols), ["Gate.gate"]);
    assert_eq!(names(&symbols[0]["children"])[..3], ["a", "b", "c"]);
}

#[test]
fn settings_change_what_is_shown() {
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": {}, "initializationOptions": { "target": "ascend950" } }));
    client.open(URI, 1, &KERNEL.replace("256", "384")); // 192 KiB
    assert_eq!(summary(&client.diagnostics(URI, 1)), "");
    let settings = json!({ "tilefit": { "target": "ascend910b", "inlayHints": { "enable": false }, "codeLens": { "enable": false } } });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    assert!(summary(&client.diagnostics(URI, 1)).contains("capacity-exceeded"));
    let hints = json!({ "textDocument": document(), "range": range(0, 0, 100, 0) });
    assert_eq!(result(&mut client, "textDocument/inlayHint", hints), json!([]));
    assert_eq!(result(&mut client, "textDocument/codeLens", json!({ "textDocument": document() })), json!([]));
}

/// Columns in the answers count in the negotiated unit: the tile stands after `值` and an emoji.
#[test]
fn answers_use_the_negotiated_encoding() {
    for (encoding, columns) in
        [("utf-8", 8 + 3 + 2 + 4 + 2), ("utf-16", 8 + 1 + 2 + 2 + 2), ("utf-32", 8 + 1 + 2 + 1 + 2)]
    {
        let mut client = LspClient::spawn();
        client.initialize(json!({ "capabilities": { "general": { "positionEncodings": [encoding] } } }));
        client.open(URI, 1, &KERNEL.replace("        b = pl.exp(a)\n", "        '值😀'; b = pl.exp(a)\n"));
        let hover = result(&mut client, "textDocument/hover", at(A + 1, columns));
        assert_eq!(hover["range"], range(A + 1, columns, A + 1, columns + 1), "{encoding}");
    }
}

#[test]
fn a_constant_can_be_set_to_the_largest_value_that_fits() {
    let text = KERNEL
        .replace("COLS = 256", "COLS = 512")
        .replace("pl.load(x, [0, 0], [64, COLS])", "pl.load(x, [0, 0], [ROWS, COLS])");
    let text = text.replace("COLS = 512\n", "COLS = 512\nROWS = 64\n");
    const ROWS: u32 = 3;
    let actions = |client: &mut LspClient, trigger: Value, line: u32, character: u32| {
        let context = json!({ "diagnostics": [], "only": ["quickfix"], "triggerKind": trigger });
        let place = range(line, character, line, character);
        let params = json!({ "textDocument": document(), "range": place, "context": context });
        let actions = result(client, "textDocument/codeAction", params);
        let is_it = |action: &&Value| action["title"].as_str().is_some_and(|title| title.starts_with("Set `"));
        actions.as_array().expect("actions").iter().find(is_it).cloned()
    };
    let mut client = with_document(&text);
    let found = client.diagnostics(URI, 1);
    assert!(summary(&found).contains("capacity-exceeded"), "{found:?}");
    // By the number, and by its name in the kernel.
    let action = actions(&mut client, json!(1), ROWS, 8).expect("a smaller value");
    assert_eq!(actions(&mut client, json!(1), A + 1, 33).as_ref(), Some(&action));
    let title = "Set `ROWS` to 32, the largest value that fits (64 takes 256 KiB of 184 KiB Vec of ascend910b)";
    assert_eq!((&action["title"], &action["kind"]), (&json!(title), &json!("quickfix")));
    assert!(found.contains(&action["diagnostics"][0]), "{action}");
    // Not where an editor asks by itself, wherever the cursor comes.
    assert_eq!(actions(&mut client, json!(2), ROWS, 8), None);
    let edits = action["edit"]["changes"][URI].as_array().expect("edits").clone();
    let changes = edits.iter().map(|edit| json!({ "range": edit["range"], "text": edit["newText"] }));
    client.change(URI, 2, changes.collect());
    assert_eq!(summary(&client.diagnostics(URI, 2)), "");
    // It is the largest; and with less, it is offered again.
    assert_eq!(actions(&mut client, json!(1), ROWS, 8), None);
    client.change(URI, 3, json!([{ "range": range(ROWS, 7, ROWS, 9), "text": "8" }]));
    client.diagnostics(URI, 3);
    let action = actions(&mut client, json!(1), ROWS, 7).expect("a greater value");
    assert!(action["diagnostics"].is_null(), "{action}");
}

//! What goes beyond the open documents: diagnostics of the workspace, and names that files import which are not open.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tilefit_tests::lsp_client::{LspClient, range};

const SIZES: &str = "COLS = 512\n";

/// Too large with the columns of [`SIZES`].
const KERNEL: &str = "\
import pypto.language as pl
from sizes import COLS

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[128, COLS], pl.FP32], out: pl.Out[pl.Tensor[[128, COLS], pl.FP32]]):
    x = pl.load(a, [0, 0], [128, COLS])
    out = pl.store(x, [0, 0], out)
    return out
";

/// A workspace of its own with these files.
fn workspace(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workspaces").join(name);
    let _ = fs::remove_dir_all(&root); // of an earlier run
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("it lies in the workspace")).expect("the workspace is writable");
        fs::write(path, text).expect("the workspace is writable");
    }
    root
}

fn start(root: &Path, capabilities: Value) -> LspClient {
    let folders = json!([{ "uri": uri(root, ""), "name": "w" }]);
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": capabilities, "workspaceFolders": folders }));
    client
}

fn uri(root: &Path, path: &str) -> String {
    format!("file://{}", root.join(path).display()).trim_end_matches('/').to_owned()
}

fn pulling() -> Value {
    json!({ "textDocument": { "diagnostic": {} }, "window": { "workDoneProgress": true } })
}

/// `file code code …` of each report, in the order of the files.
fn reports(answer: &Value) -> Vec<String> {
    let items = answer["items"].as_array().expect("items").iter();
    let mut all: Vec<String> = items
        .map(|report| {
            let file = report["uri"].as_str().and_then(|uri| uri.rsplit('/').next()).unwrap_or_default();
            let codes = report["items"].as_array().into_iter().flatten();
            let codes: Vec<_> = codes.filter_map(|diagnostic| diagnostic["code"].as_str()).collect();
            format!("{file} {} {}", report["kind"].as_str().unwrap_or_default(), codes.join(" ")).trim().to_owned()
        })
        .collect();
    all.sort();
    all
}

/// The ids of the reports, as the next request gives them.
fn ids(answer: &Value) -> Value {
    let items = answer["items"].as_array().expect("items").iter();
    json!(items.map(|report| json!({ "uri": report["uri"], "value": report["resultId"] })).collect::<Vec<_>>())
}

#[test]
fn diagnostics_of_files_that_are_not_open() {
    let fitting = KERNEL.replace("128, COLS", "16, 64");
    let root = workspace(
        "pulled",
        &[
            ("sizes.py", SIZES),
            ("big.py", KERNEL),
            ("fits.py", &fitting),
            ("plain.py", "x = 1\n"),
            ("old/k.py", KERNEL),
            ("tilefit.toml", "exclude = [\"old/\"]\n"),
        ],
    );
    let mut client = start(&root, pulling());
    let ask = |ids: &Value| json!({ "previousResultIds": ids });
    client.open(&uri(&root, "old/k.py"), 1, KERNEL);
    let answer = client.request("workspace/diagnostic", ask(&json!([]))).expect("a report");
    assert_eq!(reports(&answer), ["big.py full capacity-exceeded", "fits.py full"]);
    let known = ids(&answer);

    // Nothing is new: the answer waits, until the text of an import is edited, on screen only.
    let waiting = client.ask("workspace/diagnostic", ask(&known));
    assert!(client.request("workspace/symbol", json!({ "query": "" })).is_ok());
    assert!(!client.is_answered(waiting));
    client.open(&uri(&root, "sizes.py"), 7, "COLS = 64\n");
    let answer = client.answer(waiting).expect("a report");
    assert_eq!(reports(&answer), ["big.py full", "fits.py unchanged"]);

    // Or until a file is another one, or gone.
    let waiting = client.ask("workspace/diagnostic", ask(&ids(&answer)));
    assert!(client.request("workspace/symbol", json!({ "query": "" })).is_ok());
    // First, so that no look at the files finds this one as it was and the other as it is now.
    fs::remove_file(root.join("big.py")).expect("it is there");
    fs::write(root.join("fits.py"), KERNEL.replace("[0, 0], out", "[0, 0], pl.nothing(out)")).expect("writable");
    let change = json!({ "uri": uri(&root, "fits.py"), "type": 2 });
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    let answer = client.answer(waiting).expect("a report");
    assert!(reports(&answer)[0].starts_with("fits.py full "), "{answer}");
    assert_eq!(reports(&answer).len(), 1, "what is gone had nothing wrong with it any longer: {answer}");

    let waiting = client.ask("workspace/diagnostic", ask(&ids(&answer)));
    client.notify("$/cancelRequest", json!({ "id": waiting }));
    assert_eq!(client.answer(waiting).expect_err("it is cancelled")["code"], -32800);
    assert!(client.request("workspace/diagnostic", ask(&json!([]))).is_ok(), "the session goes on");
}

#[test]
fn another_planner_is_set_where_the_settings_come_from() {
    let page = include_str!("../../../docs/diagnostics/fits-only-packed.md");
    let text = page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let at = text.lines().position(|line| line.contains("# warning")).expect("it says where") as u32;
    let edits = json!({ "documentChanges": true, "resourceOperations": ["create"] });
    let offered = |name: &str, files: &[(&str, &str)], settings: Value, capabilities: Value| {
        let root = workspace(name, files);
        let folders = json!([{ "uri": uri(&root, ""), "name": "w" }]);
        let mut client = LspClient::spawn();
        client.initialize(json!({
            "capabilities": capabilities, "workspaceFolders": folders, "initializationOptions": settings,
        }));
        let file = uri(&root, "k.py");
        client.open(&file, 1, text);
        client.diagnostics(&file, 1);
        let context = json!({ "diagnostics": [] });
        let params = json!({ "textDocument": { "uri": file }, "range": range(at, 8, at, 8), "context": context });
        let actions = client.request("textDocument/codeAction", params).expect("actions");
        let mut actions = actions.as_array().expect("a list").iter();
        let action =
            actions.find(|action| action["title"] == "Plan with `dsa-rp`, with which this kernel fits").cloned();
        (action.map(|action| action["edit"].clone()), uri(&root, "tilefit.toml"))
    };
    let editing = json!({ "workspace": { "workspaceEdit": edits } });
    let (edit, toml) = offered("planner-set", &[("tilefit.toml", "planner = \"auto\"\n")], json!({}), json!({}));
    let written = json!({ toml: [{ "range": range(0, 10, 0, 16), "newText": "\"dsa-rp\"" }] });
    assert_eq!(edit, Some(json!({ "changes": written })));

    let (edit, toml) = offered("planner-new", &[], json!({}), editing.clone());
    let write = json!([{ "range": range(0, 0, 0, 0), "newText": "planner = \"dsa-rp\"\n" }]);
    let document = json!({ "uri": toml, "version": null });
    let operations = json!([{ "kind": "create", "uri": toml }, { "textDocument": document, "edits": write }]);
    assert_eq!(edit, Some(json!({ "documentChanges": operations })));

    assert_eq!(offered("planner-no-files", &[], json!({}), json!({})).0, None, "the client cannot create files");
    let of_editor = json!({ "planner": "sequential" });
    assert_eq!(offered("planner-of-editor", &[], of_editor, editing).0, None, "a file would change nothing");
}

/// The names of the answer, each with its file.
fn named(answer: &Value) -> Vec<String> {
    let symbols = answer.as_array().expect("symbols").iter();
    symbols
        .map(|symbol| {
            let file = symbol["location"]["uri"].as_str().and_then(|uri| uri.rsplit('/').next()).unwrap_or_default();
            format!("{} in {file}", symbol["name"].as_str().unwrap_or_default())
        })
        .collect()
}

#[test]
fn kernels_of_files_that_are_not_open() {
    let other = KERNEL.replace("def k(", "def scale_rows(");
    let root = workspace(
        "symbols",
        &[
            ("a.py", KERNEL),
            ("deep/er/b.py", &other),
            ("plain.py", "def scale(): pass\n"),
            ("old/k.py", KERNEL),
            ("tilefit.toml", "exclude = [\"old/\"]\n"),
        ],
    );
    let mut client = start(&root, pulling());
    let find = |client: &mut LspClient, query: &str| {
        named(&client.request("workspace/symbol", json!({ "query": query })).expect("symbols"))
    };
    assert_eq!(find(&mut client, ""), ["k in a.py", "scale_rows in b.py"]);
    assert_eq!(find(&mut client, "SRow"), ["scale_rows in b.py"]);
    let found = client.request("workspace/symbol", json!({ "query": "srow" })).expect("symbols");
    assert_eq!(found[0]["location"], json!({ "uri": uri(&root, "deep/er/b.py"), "range": range(4, 4, 4, 14) }));

    // What is on screen counts, and then what is on disk.
    let opened = uri(&root, "deep/er/b.py");
    client.open(&opened, 1, &KERNEL.replace("def k(", "def unsaved("));
    assert_eq!(find(&mut client, ""), ["k in a.py", "unsaved in b.py"]);
    client.change(&opened, 2, json!([{ "range": range(4, 4, 4, 11), "text": "typed" }]));
    assert_eq!(find(&mut client, "typed"), ["typed in b.py"]);
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": opened } }));
    assert_eq!(find(&mut client, "s"), ["scale_rows in b.py"]);
    fs::remove_file(root.join("a.py")).expect("it is there");
    assert_eq!(find(&mut client, ""), ["scale_rows in b.py"]);
}

#[test]
fn a_survey_of_many_files_comes_in_parts_and_shows_how_far_it_is() {
    let names: Vec<String> = (0..40).map(|i| format!("k{i}.py")).collect();
    let kernel = KERNEL.replace("from sizes import COLS", "COLS = 512");
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), kernel.as_str())).collect();
    let root = workspace("many", &files);
    let mut client = start(&root, pulling());
    let params = json!({ "previousResultIds": [], "partialResultToken": "parts", "workDoneToken": 5 });
    let asked = client.ask("workspace/diagnostic", params);
    let (mut told, mut steps) = (0, Vec::new());
    while steps.last().is_none_or(|kind| kind != "end") || told < 40 {
        let progress = client.notification("$/progress");
        if progress["token"] == "parts" {
            told += progress["value"]["items"].as_array().expect("reports").len();
        } else {
            assert_eq!(progress["token"], 5);
            steps.push(progress["value"]["kind"].clone());
        }
    }
    assert_eq!(reports(&client.answer(asked).expect("the rest")), [""; 0]);
    assert_eq!(told, 40);
    assert_eq!((&steps[0], steps.iter().filter(|kind| *kind == "report").count()), (&json!("begin"), 40));

    // Without a token of the client the server asks for a bar, of which the user presses the button.
    let mut client = start(&root, pulling());
    client.notify("window/workDoneProgress/cancel", json!({ "token": "tilefit/0" }));
    let asked = client.ask("workspace/diagnostic", json!({ "previousResultIds": [] }));
    assert_eq!(client.server_request("window/workDoneProgress/create")["token"], "tilefit/0");
    assert_eq!(client.answer(asked).expect_err("it is cancelled")["code"], -32802);
    let mut kinds = vec![];
    while kinds.last().is_none_or(|kind| kind != "end") {
        kinds.push(client.notification("$/progress")["value"]["kind"].clone());
    }

    // A client that shows no progress gets none.
    let mut client = start(&root, json!({ "textDocument": { "diagnostic": {} } }));
    let answer = client.request("workspace/diagnostic", json!({ "previousResultIds": [] })).expect("a report");
    assert_eq!(reports(&answer).len(), 40);
    assert!(client.has_no_notification("$/progress"));
}

#[test]
fn many_files_that_are_not_open_follow_what_all_of_them_import() {
    let names: Vec<String> = (0..20).map(|i| format!("k{i:02}.py")).collect();
    let mut files = vec![("sizes.py", SIZES)];
    files.extend(names.iter().map(|name| (name.as_str(), KERNEL)));
    let root = workspace("shared", &files);
    let mut client = start(&root, pulling());
    let all = |said: &str| names.iter().map(|name| format!("{name} full {said}").trim().to_owned()).collect::<Vec<_>>();
    let answer = client.request("workspace/diagnostic", json!({ "previousResultIds": [] })).expect("a report");
    assert_eq!(reports(&answer), all("capacity-exceeded"));

    let waiting = client.ask("workspace/diagnostic", json!({ "previousResultIds": ids(&answer) }));
    client.open(&uri(&root, "sizes.py"), 1, "COLS = 64\n");
    assert_eq!(reports(&client.answer(waiting).expect("a report")), all(""));
}

#[test]
fn a_file_without_a_workspace_imports_what_lies_beside_it() {
    let root = workspace("no-workspace", &[("sizes.py", SIZES), ("k.py", KERNEL)]);
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": {} }));
    let uri = uri(&root, "k.py");
    client.open(&uri, 1, KERNEL);
    // The import is read after the first diagnostics, which cannot tell yet; without it there are no others.
    let mut codes = Value::Null;
    while codes != "capacity-exceeded" {
        codes = client.diagnostics(&uri, 1)[0]["code"].clone();
    }
}

#[test]
fn calls_lead_through_files_that_are_not_open() {
    let helper = "import pypto.language as pl\n\n@pl.jit.inline\ndef helper(x: pl.Tensor):\n    return inner(x)\n\n@pl.jit.inline\ndef inner(x: pl.Tensor):\n    return pl.exp(x)\n";
    let caller = |name: &str| {
        format!(
            "import pypto.language as pl\nfrom helpers import helper\n\n@pl.jit\ndef {name}(x: pl.Tensor):\n    y = helper(x)\n    return y\n"
        )
    };
    let (first, second) = (caller("first"), caller("second"));
    let root = workspace("calls", &[("helpers.py", helper), ("a.py", &first), ("b.py", &second)]);
    let mut client = start(&root, json!({}));
    let open = uri(&root, "a.py");
    client.open(&open, 1, &first);
    let at = json!({ "textDocument": { "uri": open }, "position": { "line": 5, "character": 10 } });
    // The import is read after the document was opened.
    let mut items = Value::Null;
    while items[0]["name"] != "helper" {
        items = client.request("textDocument/prepareCallHierarchy", at.clone()).expect("an answer");
    }
    let item = &items[0];
    assert_eq!(item["uri"], uri(&root, "helpers.py"));
    let names = |calls: Value, end: &str| {
        let calls = calls.as_array().expect("calls").iter().map(|call| call[end]["name"].clone());
        calls.collect::<Vec<_>>()
    };
    let outgoing = client.request("callHierarchy/outgoingCalls", json!({ "item": item })).expect("calls");
    assert_eq!(names(outgoing, "to"), ["inner"]);
    let incoming = client.request("callHierarchy/incomingCalls", json!({ "item": item })).expect("calls");
    assert_eq!(names(incoming, "from"), ["first", "second"]);
}

#[test]
fn names_are_found_and_renamed_in_importers_that_are_not_open() {
    let root = workspace(
        "importers",
        &[
            ("sizes.py", SIZES),
            ("a/k.py", KERNEL),
            ("b/k.py", KERNEL),
            // Here the name is of another module.
            ("b/sizes.py", "COLS = 64\n"),
            ("by_module.py", "import sizes\n\nprint(sizes.COLS)\n"),
            ("plain.py", "COLS = 3\n"),
        ],
    );
    let edits = json!({ "workspace": { "workspaceEdit": { "documentChanges": true } } });
    let mut client = start(&root, edits);
    let sizes = uri(&root, "sizes.py");
    client.open(&sizes, 3, SIZES);
    client.open(&uri(&root, "a/k.py"), 8, KERNEL);
    let position = json!({ "line": 0, "character": 1 });
    let at = json!({ "textDocument": { "uri": sizes }, "position": position });
    let mut params = at.clone();
    params["context"] = json!({ "includeDeclaration": true });
    let places = |answer: &Value| {
        let mut places: Vec<String> = answer
            .as_array()
            .expect("places")
            .iter()
            .map(|it| {
                let file = it["uri"].as_str().and_then(|it| it.strip_prefix(&uri(&root, ""))).unwrap_or_default();
                format!("{file}:{}", it["range"]["start"]["line"])
            })
            .collect();
        places.dedup();
        places.sort();
        places
    };
    client.close(&uri(&root, "a/k.py"));
    let found = client.request("textDocument/references", params).expect("references");
    assert_eq!(places(&found), ["/a/k.py:1", "/a/k.py:4", "/a/k.py:5", "/by_module.py:2", "/sizes.py:0"]);

    let name = client.request("textDocument/prepareRename", at.clone()).expect("a name");
    assert_eq!(name, json!({ "range": range(0, 0, 0, 4), "placeholder": "COLS" }));
    let mut rename = at;
    rename["newName"] = json!("WIDTH");
    let edit = client.request("textDocument/rename", rename.clone()).expect("an edit");
    let mut versions: Vec<_> = edit["documentChanges"]
        .as_array()
        .expect("edits of documents")
        .iter()
        .map(|edit| {
            let file = edit["textDocument"]["uri"].as_str().and_then(|uri| uri.rsplit_once("importers/"));
            (file.map_or("", |(_, file)| file).to_owned(), edit["textDocument"]["version"].clone())
        })
        .collect();
    versions.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [("a/k.py", Value::Null), ("by_module.py", Value::Null), ("sizes.py", json!(3))];
    assert_eq!(versions, expected.map(|(file, version)| (file.to_owned(), version)));
    let plain = edit["documentChanges"].as_array().expect("edits").iter();
    let by_module = plain.into_iter().find(|edit| edit["textDocument"]["uri"] == uri(&root, "by_module.py"));
    assert_eq!(by_module.expect("its edit")["edits"][0]["range"], range(2, 12, 2, 16));

    fs::write(root.join("a/k.py"), KERNEL.replace("x = ", "WIDTH = x = ")).expect("writable");
    let refused = client.request("textDocument/rename", rename).expect_err("the name is taken there");
    assert!(refused["message"].as_str().is_some_and(|why| why.contains("a/k.py")), "{refused}");
}

/// Rows of JSON near the code are read again where they change; JSON of other folders concerns nobody.
/// Waits until a lens of a file has these words.
fn lens_says(client: &mut LspClient, file: &str, words: &str) {
    let mut last = Value::Null;
    for _ in 0..200 {
        last = client.request("textDocument/codeLens", json!({ "textDocument": { "uri": file } })).unwrap_or_default();
        if last.to_string().contains(words) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{words} is not in {last}");
}

/// Tests run while the editor is open: the first run makes the file, and a link that leads out of the workspace is not followed.
#[test]
fn what_a_run_records_is_shown_at_once() {
    const KERNEL: &str = "import triton
import triton.language as tl


@triton.jit
def turned(x, y, A: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(y + at, tl.trans(tl.trans(tl.load(x + at)) + 1.0))
";
    let record = |rows: u32| {
        let launch = json!({
            "v": 1, "file": "turned.py", "kernel": "turned", "target": "cuda:90",
            "signature": { "x": "*fp32", "y": "*fp32" }, "constexprs": { "A": rows.to_string(), "B": "64" },
            "divisible": ["x", "y"], "options": { "num_warps": 4, "num_ctas": 1, "num_stages": 3 },
            "by": { "name": "triton", "version": "3.9.0" }, "shared": 1, "tests": ["tests/test_turned.py::test_it"], "runs": 1,
        });
        format!("{launch}\n")
    };
    let root = workspace("records", &[("turned.py", KERNEL)]);
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": {}, "workspaceFolders": [{ "uri": uri(&root, ""), "name": "w" }] }));
    let file = uri(&root, "turned.py");
    client.open(&file, 1, KERNEL);
    client.diagnostics(&file, 1);
    lens_says(&mut client, &file, "assumes sm_100");
    for (rows, words) in [(64, "at most 16 KiB"), (128, "at most 32 KiB")] {
        fs::create_dir_all(root.join(".tilefit")).expect("writable");
        fs::write(root.join(".tilefit/launches.jsonl"), record(rows)).expect("writable");
        let change = json!({ "uri": uri(&root, ".tilefit/launches.jsonl"), "type": 1 });
        client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
        lens_says(&mut client, &file, words);
    }
}

#[test]
fn a_table_that_changes_changes_the_lens() {
    const HOST: &str = "import json
import os
import triton
import triton.language as tl


@triton.jit
def turned(x, y, A: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(y + at, tl.trans(tl.trans(tl.load(x + at)) + 1.0))


def run(x, y):
    with open(os.path.join(os.path.dirname(__file__), 'configs', 'rows.json')) as file:
        rows = json.load(file)
    turned[(1,)](x, y, **rows['small'])
";
    let root = workspace("tables", &[("turned.py", HOST), ("configs/rows.json", r#"{"small": {"A": 16, "B": 32}}"#)]);
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": {}, "workspaceFolders": [{ "uri": uri(&root, ""), "name": "w" }] }));
    let file = uri(&root, "turned.py");
    client.open(&file, 1, HOST);
    client.diagnostics(&file, 1);
    let says = |client: &mut LspClient, size: &str| lens_says(client, &file, size);
    says(&mut client, "at most 4 KiB");
    fs::write(root.join("configs/rows.json"), r#"{"small": {"A": 64, "B": 64}}"#).expect("writable");
    for changed in ["other/rows.json", "configs/rows.json"] {
        let change = json!({ "uri": uri(&root, changed), "type": 2 });
        client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    }
    says(&mut client, "at most 32 KiB");
}

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::Session;

const URI: &str = "tilefit:/kernel.py";

const KERNEL: &str = "\
import pypto.language as pl

COLS = 256

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[128, COLS], pl.FP32], out: pl.Out[pl.Tensor[[128, COLS], pl.FP32]]):
    x = pl.load(a, [0, 0], [128, COLS])
    out = pl.store(x, [0, 0], out)
    return out
";

/// A client that has opened a document.
struct Client(Session, String);

impl Client {
    fn new(text: &str) -> Self {
        let mut client = Client(Session::default(), text.to_owned());
        let capabilities = json!({ "experimental": { "tilefitSettings": true } });
        client.request("initialize", json!({ "capabilities": capabilities }));
        client.notify("initialized", json!({}));
        client.open(URI, text);
        client
    }

    /// One that reads files, with a workspace. What it is asked at once is the answer.
    fn with_files(text: &str) -> (Self, Vec<Value>) {
        let mut client = Client(Session::default(), text.to_owned());
        let workspace = json!({ "didChangeWatchedFiles": { "dynamicRegistration": true } });
        let capabilities = json!({ "workspace": workspace, "experimental": { "tilefitFiles": true } });
        let folders = json!([{ "uri": "tilefit:/", "name": "w" }]);
        client.request("initialize", json!({ "capabilities": capabilities, "workspaceFolders": folders }));
        let asked = client.notify("initialized", json!({}));
        client.open(URI, text);
        (client, asked)
    }

    /// Answers the question for a file.
    fn answer(&mut self, asked: &Value, found: Option<(&str, &str)>) -> Vec<Value> {
        let file = found.map(|(uri, text)| json!({ "uri": uri, "text": text }));
        self.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": file }))
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "python", "version": 0, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn send(&mut self, message: &Value) -> Vec<Value> {
        parsed(self.0.receive(&message.to_string()))
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let said = self.send(&message);
        let answer = said.into_iter().find(|said| said["id"] == 7);
        answer.unwrap_or_else(|| panic!("no answer to {method}"))
    }

    fn notify(&mut self, method: &str, params: Value) -> Vec<Value> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    fn replace(&mut self, version: i32, old: &str, new: &str) {
        let at = self.1.find(old).expect("it is there");
        let line = self.1[..at].matches('\n').count();
        let column = at - self.1[..at].rfind('\n').map_or(0, |newline| newline + 1);
        self.1.replace_range(at..at + old.len(), new);
        let start = json!({ "line": line, "character": column });
        let end = json!({ "line": line, "character": column + old.len() });
        let change = json!({ "range": { "start": start, "end": end }, "text": new });
        let document = json!({ "uri": URI, "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }

    fn turn(&mut self) -> Vec<Value> {
        parsed(self.0.turn())
    }

    fn at(line: u32, character: u32) -> Value {
        json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character } })
    }
}

fn parsed(said: Vec<String>) -> Vec<Value> {
    said.iter().map(|said| serde_json::from_str(said).expect("JSON")).collect()
}

/// Versions and messages of the diagnostics, and the methods of all else.
fn check(said: &[Value], expected: Expect) {
    let lines = said.iter().map(|said| match said["method"].as_str() {
        Some("textDocument/publishDiagnostics") => {
            let messages = said["params"]["diagnostics"].as_array().expect("a list").iter();
            let codes: Vec<_> = messages.map(|found| found["code"].as_str().unwrap_or_default()).collect();
            format!("diagnostics of {}: {}", said["params"]["version"], codes.join(" "))
        }
        Some("tilefit/firstFile") => format!("which of {}", said["params"]["uris"]),
        method => method.unwrap_or("an answer").to_owned(),
    });
    expected.assert_eq(&lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn edits_are_diagnosed_together() {
    let mut client = Client::new(KERNEL);
    check(&client.turn(), expect![[r#"diagnostics of 0: "#]]);
    client.replace(1, "256", "512");
    client.replace(2, "= 512", "= 511");
    client.replace(3, "= 511", "= 512");
    check(&client.turn(), expect![[r#"diagnostics of 3: capacity-exceeded"#]]);
    check(&client.turn(), expect![""]);
}

#[test]
fn a_request_is_answered_of_the_newest_text() {
    let mut client = Client::new(KERNEL);
    client.replace(1, "256", "128");
    let hover = client.request("textDocument/hover", Client::at(6, 4));
    let text = hover["result"]["contents"]["value"].as_str().expect("a hover");
    assert!(text.contains("64 KiB"), "{text}");
    let code = client.request("tilefit/generatedCode", Client::at(6, 4));
    assert_eq!((&code["result"]["kernel"], &code["result"]["version"]), (&json!("k"), &json!(1)));
}

#[test]
fn a_watched_map_follows_the_diagnostics() {
    let mut client = Client::new(KERNEL);
    client.turn();
    check(&client.notify("tilefit/watchMemoryMap", Client::at(6, 4)), expect![[r#"tilefit/memoryMapChanged"#]]);
    client.replace(1, "256", "512");
    check(
        &client.turn(),
        expect![[r#"
        diagnostics of 1: capacity-exceeded
        tilefit/memoryMapChanged"#]],
    );
}

#[test]
fn settings_count_at_once() {
    let mut client = Client::new(KERNEL);
    client.replace(1, "256", "400"); // 200 KiB
    check(&client.turn(), expect![[r#"diagnostics of 1: capacity-exceeded"#]]);
    let settings = json!({ "settings": { "tilefit": { "target": "ascend950" } } });
    check(&client.notify("workspace/didChangeConfiguration", settings), expect![[r#"tilefit/settings"#]]);
    check(&client.turn(), expect![[r#"diagnostics of 1: "#]]);
    let settings = json!({ "settings": { "tarjet": "ascend950" } });
    check(
        &client.notify("workspace/didChangeConfiguration", settings),
        expect![[r#"
            window/showMessage
            tilefit/settings"#]],
    );
}

#[test]
fn what_is_not_understood_is_refused() {
    let mut client = Client::new(KERNEL);
    assert_eq!(client.request("textDocument/moniker", Client::at(0, 0))["error"]["code"], -32601);
    assert_eq!(client.request("textDocument/hover", json!({}))["error"]["code"], -32602);
    let elsewhere =
        json!({ "textDocument": { "uri": "tilefit:/other.py" }, "position": { "line": 0, "character": 0 } });
    assert_eq!(client.request("textDocument/hover", elsewhere)["error"]["code"], -32602);
    check(&parsed(client.0.receive("{")), expect![[r#"window/logMessage"#]]);
    check(&client.notify("textDocument/didChange", json!({ "version": 1 })), expect![[r#"window/logMessage"#]]);
}

#[test]
fn nothing_is_offered_that_is_refused() {
    let mut session = Session::default();
    let initialize = json!({ "id": 1, "method": "initialize", "params": { "capabilities": {} } });
    let said = parsed(session.receive(&initialize.to_string()));
    let offered = &said.last().expect("an answer")["result"]["capabilities"];
    for absent in [
        "workspaceSymbolProvider",
        "callHierarchyProvider",
        "executeCommandProvider",
        "diagnosticProvider",
        "notebookDocumentSync",
    ] {
        assert!(offered.get(absent).is_none(), "{absent}: {offered}");
    }
}

#[test]
fn nothing_is_answered_before_the_settings_of_the_workspace_are_known() {
    let (mut client, asked) = Client::with_files(&KERNEL.replace("256", "400"));
    check(
        &asked,
        expect![[r#"
        which of ["tilefit:/tilefit.toml","tilefit:/pyproject.toml"]
        client/registerCapability"#]],
    );
    check(&client.turn(), expect![""]);
    let held = json!({ "jsonrpc": "2.0", "id": 3, "method": "textDocument/hover", "params": Client::at(6, 4) });
    check(&client.send(&held), expect![""]);
    let settings = ("tilefit:/tilefit.toml", "target = \"ascend950\"\n");
    check(&client.answer(&asked[0], Some(settings)), expect!["an answer"]);
    check(&client.turn(), expect!["diagnostics of 0: "]);

    let changed = json!({ "changes": [{ "uri": "tilefit:/tilefit.toml", "type": 3 }] });
    let asked = client.notify("workspace/didChangeWatchedFiles", changed);
    check(&client.turn(), expect!["diagnostics of 0: "]);
    client.answer(&asked[0], None);
    check(&client.turn(), expect!["diagnostics of 0: capacity-exceeded"]);
}

#[test]
fn an_answer_that_a_newer_one_has_overtaken_is_dropped() {
    let (mut client, asked) = Client::with_files(&KERNEL.replace("256", "400"));
    client.answer(&asked[0], None);
    client.turn();
    let changed = json!({ "changes": [{ "uri": "tilefit:/tilefit.toml", "type": 2 }] });
    let older = client.notify("workspace/didChangeWatchedFiles", changed.clone());
    let newer = client.notify("workspace/didChangeWatchedFiles", changed);
    let settings = |target: &str| format!("target = \"{target}\"\n");
    client.answer(&newer[0], Some(("tilefit:/tilefit.toml", &settings("ascend950"))));
    client.answer(&older[0], Some(("tilefit:/tilefit.toml", &settings("ascend910b"))));
    check(&client.turn(), expect!["diagnostics of 0: "]);
}

#[test]
fn a_settings_file_that_is_not_understood_is_complained_about() {
    let (mut client, asked) = Client::with_files(KERNEL);
    let said = client.answer(&asked[0], Some(("tilefit:/tilefit.toml", "tarjet = 1")));
    assert!(
        said[0]["params"]["message"].as_str().expect("a message").starts_with("tilefit.toml: there is no setting"),
        "{said:?}"
    );
    let (mut client, asked) = Client::with_files(KERNEL);
    check(&client.answer(&asked[0], Some(("tilefit:/pyproject.toml", "[tool.other]\nx = 1"))), expect![""]);
}

#[test]
fn what_is_imported_is_asked_for() {
    let (mut client, asked) = Client::with_files(&KERNEL.replace("COLS = 256\n", "from deep.sizes import COLS\n"));
    client.answer(&asked[0], None);
    let asked = client.turn();
    check(
        &asked,
        expect![[r#"
        diagnostics of 0: not-modelled
        which of ["tilefit:/deep/sizes.py","tilefit:/deep/sizes/__init__.py"]"#]],
    );
    check(&client.turn(), expect![""]);
    let sizes = "tilefit:/deep/sizes.py";
    client.answer(&asked[1], Some((sizes, "COLS = 512\n")));
    check(&client.turn(), expect!["diagnostics of 0: capacity-exceeded"]);

    // On disk it changes, and goes.
    let changed = json!({ "changes": [{ "uri": sizes, "type": 2 }] });
    let asked = client.notify("workspace/didChangeWatchedFiles", changed.clone());
    client.answer(&asked[0], Some((sizes, "COLS = 256\n")));
    check(&client.turn(), expect!["diagnostics of 0: "]);
    let asked = client.notify("workspace/didChangeWatchedFiles", changed);
    client.answer(&asked[0], None);
    check(
        &client.turn(),
        expect![[r#"
        diagnostics of 0: not-modelled
        which of ["tilefit:/deep/sizes.py","tilefit:/deep/sizes/__init__.py"]"#]],
    );
}

#[test]
fn an_edit_concerns_the_documents_that_import_it() {
    let (mut client, asked) = Client::with_files(&KERNEL.replace("COLS = 256\n", "from sizes import COLS\n"));
    client.answer(&asked[0], None);
    let sizes = "tilefit:/sizes.py";
    client.open(sizes, "COLS = 256\n");
    client.turn();
    let document = json!({ "uri": sizes, "version": 1 });
    let change = json!({ "textDocument": document, "contentChanges": [{ "text": "COLS = 512\n" }] });
    client.notify("textDocument/didChange", change);
    let mut said = client.turn();
    said.sort_by_key(|said| said["params"]["uri"].to_string());
    check(
        &said,
        expect![[r#"
        diagnostics of 0: capacity-exceeded
        diagnostics of 1: "#]],
    );
    // Its text is the file's again.
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": sizes } }));
    let asked = client.turn();
    check(
        &asked,
        expect![[r#"
        diagnostics of 0: not-modelled
        which of ["tilefit:/sizes.py","tilefit:/sizes/__init__.py"]"#]],
    );
    client.answer(asked.last().expect("a question"), Some((sizes, "COLS = 512\n")));
    check(&client.turn(), expect!["diagnostics of 0: capacity-exceeded"]);
}

//! Settings reach the analysis, from whichever place they come.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tilefit_tests::kernels::{self, Layout};
use tilefit_tests::lsp_client::LspClient;

use crate::lsp::URI;

/// An empty workspace of its own for each test.
fn workspace(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&root); // absent on the first run
    fs::create_dir_all(&root).expect("the target directory is writable");
    root
}

fn folder(root: &Path) -> Value {
    json!([{ "uri": format!("file://{}", root.display()), "name": "workspace" }])
}

/// The message that the user gets to see, which names what is in force.
fn warning(client: &mut LspClient) -> String {
    client.notification("window/showMessage")["message"].as_str().expect("a message").to_owned()
}

#[test]
fn the_file_in_the_workspace_counts_and_mistakes_in_it_are_told() {
    for (name, text) in [
        ("tilefit.toml", "planer = \"packed\"\n"),
        ("pyproject.toml", "[project]\nname = \"x\"\n[tool.tilefit]\nplaner = \"packed\"\n"),
    ] {
        let root = workspace(name);
        fs::write(root.join(name), text).expect("the workspace is writable");
        let mut client = LspClient::spawn();
        client.initialize(json!({ "capabilities": {}, "workspaceFolders": folder(&root) }));
        let message = warning(&mut client);
        assert!(message.contains(name) && message.contains("did you mean `planner`?"), "{message}");
    }
}

#[test]
fn a_changed_file_is_read_again_and_documents_are_diagnosed_again() {
    let root = workspace("watched");
    let mut client = LspClient::spawn();
    let watching = json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    client.initialize(json!({ "capabilities": watching, "workspaceFolders": folder(&root) }));
    let registration = client.server_request("client/registerCapability");
    assert!(registration.to_string().contains("**/tilefit.toml"), "{registration}");
    client.open(URI, 1, "x = 1\n");
    client.diagnostics(URI, 1);
    fs::write(root.join("tilefit.toml"), "target = \"ascend950\"\nplanner = 1\n").expect("the workspace is writable");
    let change = json!({ "uri": format!("file://{}/tilefit.toml", root.display()), "type": 1 });
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    assert!(warning(&mut client).contains("`planner` takes"));
    client.diagnostics(URI, 1);
}

#[test]
fn the_editor_is_asked_for_its_section_at_the_start_and_after_each_change() {
    let mut client = LspClient::spawn();
    client.settings = json!({ "target": "ascend2" });
    let capabilities = json!({
        "workspace": { "configuration": true, "inlayHint": { "refreshSupport": true }, "codeLens": { "refreshSupport": true } },
    });
    client.initialize(json!({ "capabilities": capabilities }));
    assert_eq!(client.server_request("workspace/configuration")["items"][0]["section"], "tilefit");
    assert!(warning(&mut client).contains("\"ascend2\""));
    client.settings = json!({ "target": "ascend950", "planner": "ascend3" });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    assert!(warning(&mut client).contains("\"ascend3\""));
    client.server_request("workspace/inlayHint/refresh");
    client.server_request("workspace/codeLens/refresh");
}

#[test]
fn an_editor_that_cannot_be_asked_sends_its_settings() {
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": {}, "initializationOptions": { "target": "ascend4" } }));
    assert!(warning(&mut client).contains("\"ascend4\""));
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "tilefit": { "target": "ascend5" } } }));
    assert!(warning(&mut client).contains("\"ascend5\""));
    for nonsense in [Value::Null, json!(1), json!([]), json!({ "tilefit": "x" })] {
        client.notify("workspace/didChangeConfiguration", json!({ "settings": nonsense }));
    }
    client.open(URI, 1, "x = 1\n");
    client.diagnostics(URI, 1);
}

#[test]
fn an_editor_that_wants_to_know_is_told_what_is_in_force() {
    let root = workspace("in-force");
    fs::write(root.join("tilefit.toml"), "target = \"ascend950\"\n").expect("the workspace is writable");
    let start = |capabilities: Value| {
        let mut client = LspClient::spawn();
        client.initialize(json!({ "capabilities": capabilities, "workspaceFolders": folder(&root) }));
        client
    };
    let mut client = start(json!({ "experimental": { "tilefitSettings": true } }));
    let from = json!({ "target": "tilefit.toml", "planner": "default", "arch": "default" });
    let expected = json!({ "target": "ascend950", "planner": "auto", "arch": "sm_100", "from": from });
    assert_eq!(client.notification("tilefit/settings"), expected);
    client
        .notify("workspace/didChangeConfiguration", json!({ "settings": { "planner": "packed", "target": "sm_90" } }));
    let told = client.notification("tilefit/settings");
    assert_eq!(
        (&told["planner"], &told["arch"], &told["target"]),
        (&json!("packed"), &json!("sm_90"), &json!("ascend950"))
    );
    let from = json!({ "target": "tilefit.toml", "planner": "settings", "arch": "settings" });
    assert_eq!(told["from"], from);
    fs::remove_file(root.join("tilefit.toml")).expect("the workspace is writable");
    fs::write(root.join("pyproject.toml"), "[tool.tilefit]\ntarget = \"ascend910b\"\n")
        .expect("the workspace is writable");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    assert_eq!(client.notification("tilefit/settings")["from"]["target"], "pyproject.toml");
    let mut other = start(json!({}));
    other.open(URI, 1, "x = 1\n");
    other.diagnostics(URI, 1);
    assert!(!other.has_notification("tilefit/settings"));
}

#[test]
fn a_workspace_below_the_settings_has_them_and_patterns_count_from_their_folder() {
    let root = workspace("settings-above");
    fs::create_dir_all(root.join("repository/.git")).expect("the workspace is writable");
    fs::create_dir_all(root.join("repository/kernels/old")).expect("the workspace is writable");
    fs::write(root.join("tilefit.toml"), "planner = \"packed\"\n").expect("the workspace is writable");
    let settings = "target = \"ascend950\"\nexclude = [\"/kernels/old/\"]\n";
    fs::write(root.join("repository/tilefit.toml"), settings).expect("the workspace is writable");
    let kernel = "import pypto.language as pl\n\n@pl.function(type=pl.FunctionType.InCore)\ndef k(x: pl.Tensor[[16, 16], pl.FP32]):\n    t = pl.nosuch(x)\n";
    let start = |folder_of: &Path| {
        let mut client = LspClient::spawn();
        let capabilities = json!({ "experimental": { "tilefitSettings": true } });
        client.initialize(json!({ "capabilities": capabilities, "workspaceFolders": folder(folder_of) }));
        client
    };
    let below = root.join("repository/kernels");
    let mut client = start(&below);
    let from = json!({ "target": "tilefit.toml", "planner": "default", "arch": "default" });
    let expected = json!({ "target": "ascend950", "planner": "auto", "arch": "sm_100", "from": from });
    assert_eq!(client.notification("tilefit/settings"), expected);
    for (file, is_shown) in [("k.py", true), ("old/k.py", false)] {
        let uri = format!("file://{}", below.join(file).display());
        client.open(&uri, 1, kernel);
        assert_eq!(!client.diagnostics(&uri, 1).is_empty(), is_shown, "{file}");
    }
    // What lies above the repository has no say.
    fs::remove_file(root.join("repository/tilefit.toml")).expect("removed");
    let from = json!({ "target": "default", "planner": "default", "arch": "default" });
    let expected = json!({ "target": "ascend910b", "planner": "auto", "arch": "sm_100", "from": from });
    assert_eq!(start(&below).notification("tilefit/settings"), expected);
}

#[test]
fn a_request_outlives_a_change_of_settings() {
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": {} }));
    client.open(URI, 1, &kernels::source(100, Layout::ClassPerKernel));
    let at = json!({ "textDocument": { "uri": URI }, "position": { "line": 6, "character": 8 } });
    for round in 0..20 {
        let asked = client.ask("textDocument/hover", at.clone());
        let planner = ["packed", "auto"][round % 2];
        client.notify("workspace/didChangeConfiguration", json!({ "settings": { "planner": planner } }));
        client.answer(asked).expect("no edit of the document came between");
    }
}

#[test]
fn completion_can_be_left_to_another_server() {
    let text = "import pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(self, a: pl.Tensor[[16, 64], pl.FP32]):\n        x = pl.\n";
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": {} }));
    client.open(URI, 1, text);
    let params = json!({ "textDocument": { "uri": URI }, "position": { "line": 6, "character": 15 } });
    let offered = client.request("textDocument/completion", params.clone()).expect("an answer");
    assert!(offered["items"].as_array().is_some_and(|items| !items.is_empty()), "{offered}");
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "completion": { "enable": false } } }));
    client.diagnostics(URI, 1);
    assert_eq!(client.request("textDocument/completion", params), Ok(Value::Null));
}

#[test]
fn constants_of_imported_files_count_and_follow_the_disk() {
    let root = workspace("imports");
    let write = |text| fs::write(root.join("config.py"), text).expect("the workspace is writable");
    write("ROWS = 256\n");
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": {}, "workspaceFolders": folder(&root) }));
    let uri = format!("file://{}/k.py", root.display());
    let text = "import pypto.language as pl\nfrom config import ROWS\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(self, a: pl.Tensor[[512, 256], pl.FP32], out: pl.Out[pl.Tensor[[512, 256], pl.FP32]]) -> pl.Tensor[[512, 256], pl.FP32]:\n        x = pl.load(a, [0, 0], [ROWS, 256])\n        out = pl.store(x, [0, 0], out)\n        return out\n";
    client.open(&uri, 1, text);
    let codes =
        |client: &mut LspClient| client.notification("textDocument/publishDiagnostics")["diagnostics"].to_string();
    // The first answer comes before the import is read.
    while !codes(&mut client).contains("capacity-exceeded") {}
    write("ROWS = 128\n");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 2 }] }));
    while codes(&mut client) != "[]" {}
}

#[test]
fn an_excluded_file_shows_nothing_and_follows_the_settings() {
    let root = workspace("excluded");
    fs::write(root.join("tilefit.toml"), "exclude = [\"old/\"]\n").expect("the workspace is writable");
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": {}, "workspaceFolders": folder(&root) }));
    let text = "import pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(self, a: pl.Tensor[[512, 256], pl.FP32], out: pl.Out[pl.Tensor[[512, 256], pl.FP32]]) -> pl.Tensor[[512, 256], pl.FP32]:\n        x = pl.load(a, [0, 0], [256, 256])\n        out = pl.store(x, [0, 0], out)\n        return out\n";
    let [old, new] = ["old/k.py", "k.py"].map(|name| format!("file://{}/{name}", root.display()));
    client.open(&new, 1, text);
    let is_exceeded = |diagnostics: Vec<Value>| json!(diagnostics).to_string().contains("capacity-exceeded");
    assert!(is_exceeded(client.diagnostics(&new, 1)));
    client.open(&old, 1, text);
    assert_eq!(client.diagnostics(&old, 1), [] as [Value; 0]);
    let lenses = client.request("textDocument/codeLens", json!({ "textDocument": { "uri": old } }));
    assert_eq!(lenses, Ok(json!([])));
    fs::write(root.join("tilefit.toml"), "exclude = []\n").expect("the workspace is writable");
    let change = json!({ "uri": format!("file://{}/tilefit.toml", root.display()), "type": 2 });
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    while !is_exceeded(client.diagnostics(&old, 1)) {}
}

/// The code blocks of a page, the dump last.
fn of_page(page: &str) -> [String; 2] {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/diagnostics").join(page));
    let page = page.expect("the page is there");
    ["```python\n", "```python dump\n"].map(|fence| {
        let (_, behind) = page.split_once(fence).expect("the page has this block");
        behind.split("```").next().unwrap_or_default().to_owned()
    })
}

#[test]
fn the_dump_of_a_kernel_is_linked_and_compared_and_followed_on_disk() {
    let root = workspace("dumps");
    let [source, dump] = of_page("dump-differs.md");
    let folder_of_dump = root.join("build_output/P_20261121/passes_dump");
    fs::create_dir_all(&folder_of_dump).expect("the workspace is writable");
    let path = folder_of_dump.join("32_after_AllocateMemoryAddr.py");
    fs::write(&path, &dump).expect("the workspace is writable");
    let mut client = LspClient::spawn();
    let capabilities = json!({ "window": { "showDocument": { "support": true } } });
    client.initialize(json!({ "capabilities": capabilities, "workspaceFolders": folder(&root) }));
    let uri = format!("file://{}/kernels/copy.py", root.display());
    client.open(&uri, 1, &source);
    let said = |client: &mut LspClient| json!(client.diagnostics(&uri, 1)).to_string();
    while !said(&mut client).contains("`x` is at 0x1000 in the compiler's dump") {}
    let lenses = |client: &mut LspClient| {
        let lenses = client.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
        let Ok(Value::Array(lenses)) = lenses else { panic!("{lenses:?}") };
        lenses.into_iter().map(|mut lens| lens["command"].take()).find(|it| it["command"] == "tilefit.openDump")
    };
    let command = lenses(&mut client).expect("the lens is there");
    assert_eq!(command["title"], "open dump");
    let shown = client.request(
        "workspace/executeCommand",
        json!({ "command": command["command"], "arguments": command["arguments"] }),
    );
    assert_eq!(client.server_request("window/showDocument")["uri"], format!("file://{}", path.display()));
    // The line of the decorator.
    assert_eq!(shown.expect("a place")["range"]["start"]["line"], 5);

    let changed = json!({ "changes": [{ "uri": format!("file://{}", path.display()), "type": 2 }] });
    fs::write(&path, dump.replace("4096", "0")).expect("the workspace is writable");
    client.notify("workspace/didChangeWatchedFiles", changed.clone());
    while said(&mut client) != "[]" {}
    fs::write(&path, dump.replace("[64, 64]", "[32, 64]")).expect("the workspace is writable");
    client.notify("workspace/didChangeWatchedFiles", changed.clone());
    while lenses(&mut client).expect("the lens is there")["title"] != "open dump (of other text)" {}
    fs::remove_file(&path).expect("it is there");
    client.notify("workspace/didChangeWatchedFiles", changed);
    while lenses(&mut client).is_some() {}
}

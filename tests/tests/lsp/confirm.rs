//! The author's compiler is asked where the author allows it, and nothing that it does reaches the server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tilefit_tests::binary;
use tilefit_tests::lsp_client::LspClient;
use tilefit_tests::scripted_python::{KERNEL, OTHER, SAME, package, python};

/// A server in a workspace of its own, with [`KERNEL`] open and on disk, and an interpreter that does `answer` when it is asked.
struct Session {
    client: LspClient,
    root: PathBuf,
    uri: String,
    version: i32,
}

impl Session {
    fn new(name: &str, confirm: &str, answer: &str) -> Session {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("confirm").join(name);
        let _ = fs::remove_dir_all(&root); // absent on the first run
        fs::create_dir_all(&root).expect("the target directory is writable");
        let file = root.join("kernel.py");
        fs::write(&file, KERNEL).expect("written");
        let python = python(&root, answer);
        let mut command = Command::new(binary::tilefit());
        let mut client = LspClient::spawn_command(command.arg("server").env("XDG_CACHE_HOME", root.join("cache")));
        client.initialize(json!({
            "capabilities": {},
            "workspaceFolders": [{ "uri": format!("file://{}", root.display()), "name": "workspace" }],
            "initializationOptions": { "confirm": confirm, "python": python },
        }));
        let uri = format!("file://{}", file.display());
        client.open(&uri, 1, KERNEL);
        client.diagnostics(&uri, 1);
        Session { client, root, uri, version: 1 }
    }

    fn command(&mut self) {
        let position = json!({ "line": 7, "character": 4 });
        let params = json!({ "command": "tilefit.confirm", "arguments": [self.uri, position] });
        self.client.request("workspace/executeCommand", params).expect("the command is known");
    }

    fn save(&mut self) {
        self.client.notify("textDocument/didSave", json!({ "textDocument": { "uri": self.uri } }));
    }

    /// What the user is told.
    fn told(&mut self) -> String {
        self.client.notification("window/showMessage")["message"].as_str().expect("a message").to_owned()
    }

    fn hover(&mut self) -> String {
        let params = json!({ "textDocument": { "uri": self.uri }, "position": { "line": 7, "character": 4 } });
        self.client.request("textDocument/hover", params).expect("answered").to_string()
    }

    /// Waits until the hover says it.
    fn hovers(&mut self, words: &str) {
        let until = Instant::now() + Duration::from_secs(30);
        while !self.hover().contains(words) {
            assert!(Instant::now() < until, "{}", self.hover());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Another comment at the end.
    fn edit(&mut self) {
        self.version += 1;
        let end = json!({ "line": 15, "character": 0 });
        let change = json!([{ "range": { "start": end, "end": end }, "text": "# x\n" }]);
        self.client.change(&self.uri, self.version, change);
    }

    /// The number of the process that was started last.
    fn pid(&self) -> String {
        fs::read_to_string(self.root.join("pid")).expect("it was started")
    }

    fn is_running(&self) -> bool {
        Path::new("/proc").join(self.pid()).exists()
    }
}

fn codes(diagnostics: &[Value]) -> Vec<(u64, String)> {
    let code =
        |it: &Value| (it["range"]["start"]["line"].as_u64().unwrap_or(0), it["code"].as_str().unwrap_or("").to_owned());
    diagnostics.iter().map(code).collect()
}

#[test]
fn nothing_runs_where_the_author_has_not_allowed_it() {
    let mut session = Session::new("never", "never", SAME);
    session.save();
    session.command();
    assert!(session.told().contains("set `confirm`"));
    assert!(!session.root.join("pid").exists());
}

#[test]
fn what_the_compiler_confirms_is_shown_until_an_edit() {
    let mut session = Session::new("same", "command", SAME);
    session.save();
    session.command();
    assert_eq!(session.told(), "`copy`: confirmed by triton 3.9.0 on sm_90");
    session.hovers("confirmed by triton 3.9.0 on sm_90");
    let lens = json!({ "textDocument": { "uri": session.uri } });
    let lenses = session.client.request("textDocument/codeLens", lens).expect("answered");
    let lens = session.client.request("codeLens/resolve", lenses[0].clone()).expect("answered");
    assert_eq!(lens["command"]["title"], "SMEM 256/232448 · confirmed");
    session.edit();
    assert!(!session.hover().contains("confirmed"));
}

#[test]
fn a_compiler_that_is_upgraded_is_asked_anew() {
    let mut session = Session::new("upgraded", "command", SAME);
    session.command();
    session.told();
    let first = session.pid();
    session.edit();
    session.command();
    session.told();
    assert_eq!(session.pid(), first);
    fs::write(package(&session.root).join("new.py"), "").expect("written");
    session.command();
    session.told();
    assert_ne!(session.pid(), first);
}

#[test]
fn a_saved_file_is_confirmed_and_what_differs_is_marked() {
    let mut session = Session::new("other", "save", OTHER);
    session.save();
    session.hovers("triton 3.9.0 differs on sm_90");
    let mut found = Vec::new();
    while found.is_empty() {
        found = codes(&session.client.diagnostics(&session.uri, 1));
    }
    assert_eq!(found, [(12, "compiler-differs".to_owned())]);
    session.edit();
    assert!(session.client.diagnostics(&session.uri, 2).is_empty());
}

/// Whatever the interpreter does, the author is told, and the server serves.
#[test]
fn a_compiler_that_fails_costs_its_own_answer() {
    for (name, answer, words) in [
        ("exits", "sys.exit(3)", "has ended (exit status: 3)"),
        ("killed", "os.kill(os.getpid(), 9)", "has ended (signal: 9"),
        ("garbage", "print('garbage', flush=True)", "the answer of the compiler's process is invalid"),
        (
            "unknown",
            "say({'id': asked['id'], 'error': {'kind': 'new', 'message': ''}})",
            "the answer of the compiler's process is invalid",
        ),
        ("shape", "say({'id': asked['id'], 'shared': 'much'})", "the answer of the compiler's process is invalid"),
        ("flood", "while True: sys.stdout.write('x' * 65536)", "has ended"),
        ("closes", "os.close(1); time.sleep(1000)", "has closed its output"),
    ] {
        let mut session = Session::new(name, "command", answer);
        session.command();
        let told = session.told();
        assert!(told.contains("not confirmed") && told.contains(words), "{name}: {told}");
        assert!(!session.is_running(), "{name}");
        python(&session.root, SAME);
        session.command();
        assert_eq!(session.told(), "`copy`: confirmed by triton 3.9.0 on sm_90", "{name}");
    }
}

#[test]
fn an_edit_ends_what_it_makes_pointless() {
    let mut session = Session::new("slow", "command", "time.sleep(1000)");
    session.command();
    let until = Instant::now() + Duration::from_secs(30);
    while !session.root.join("pid").exists() {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(10));
    }
    session.edit();
    assert!(session.client.diagnostics(&session.uri, 2).is_empty());
    while session.is_running() {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!session.hover().contains("confirmed"));
}

#[test]
fn without_python_the_author_is_told() {
    let mut session = Session::new("none", "command", SAME);
    fs::remove_file(session.root.join("python")).expect("it is there");
    session.command();
    assert!(session.told().contains("where there is no Python"));
}

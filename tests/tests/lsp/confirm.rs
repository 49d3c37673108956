//! The author's compiler is asked where the author allows it, and nothing that it does reaches the server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tilefit_tests::binary;
use tilefit_tests::lsp_client::LspClient;
use tilefit_tests::scripted_python::{KERNEL, OTHER, SAME, SPILLING, package, python};

/// A server in a workspace of its own, with [`KERNEL`] open and on disk, and an interpreter that does `answer` when it is asked.
struct Session {
    client: LspClient,
    root: PathBuf,
    uri: String,
    version: i32,
}

impl Session {
    fn new(name: &str, confirm: &str, answer: &str) -> Session {
        Session::of(name, confirm, answer, KERNEL, json!({}))
    }

    /// With a text, and what the editor can do.
    fn of(name: &str, confirm: &str, answer: &str, text: &str, capabilities: Value) -> Session {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("confirm").join(name);
        let _ = fs::remove_dir_all(&root); // absent on the first run
        fs::create_dir_all(&root).expect("the target directory is writable");
        let file = root.join("kernel.py");
        fs::write(&file, text).expect("written");
        let python = python(&root, answer);
        fs::create_dir(root.join("temporary")).expect("the target directory is writable");
        let mut command = Command::new(binary::tilefit());
        command.arg("server").env("XDG_CACHE_HOME", root.join("cache")).env("TMPDIR", root.join("temporary"));
        let mut client = LspClient::spawn_command(&mut command);
        client.initialize(json!({
            "capabilities": capabilities,
            "workspaceFolders": [{ "uri": format!("file://{}", root.display()), "name": "workspace" }],
            "initializationOptions": { "confirm": confirm, "confirmFull": answer == SPILLING, "python": python },
        }));
        let uri = format!("file://{}", file.display());
        client.open(&uri, 1, text);
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

    /// Of which kernels the interpreter was asked so far, for [`LOGGED`].
    fn asked(&self) -> Vec<String> {
        let asked = fs::read_to_string(self.root.join("asked")).unwrap_or_default();
        asked.lines().map(str::to_owned).collect()
    }

    /// Waits until it was asked so often.
    fn waits_for(&self, questions: usize) -> Vec<String> {
        let until = Instant::now() + Duration::from_secs(30);
        while self.asked().len() < questions {
            assert!(Instant::now() < until, "{:?}", self.asked());
            std::thread::sleep(Duration::from_millis(10));
        }
        self.asked()
    }

    /// The next word about the progress that the server began.
    fn progress(&mut self) -> Value {
        self.client.notification("$/progress")["value"].take()
    }

    fn progress_ends(&mut self) {
        while self.progress()["kind"] != "end" {}
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
    assert_eq!(lens["command"]["title"], "256 B of 227 KiB (sm_90) · confirmed");
    session.edit();
    assert!(!session.hover().contains("confirmed"));
}

#[test]
fn machine_code_is_told_where_the_setting_asks_for_it() {
    let mut session = Session::new("full", "command", SPILLING);
    session.command();
    assert!(session.told().ends_with(
        "on sm_90; 255 registers, 1792 bytes of spill stores and 1280 of spill loads, 720 bytes of stack by ptxas 13.4.59; 2 blocks/SM \
         (registers) by NVIDIA's occupancy rules"
    ));
    let lens = json!({ "textDocument": { "uri": session.uri } });
    let lenses = session.client.request("textDocument/codeLens", lens).expect("answered");
    let lens = session.client.request("codeLens/resolve", lenses[0].clone()).expect("answered");
    let said = "256 B of 227 KiB (sm_90) · confirmed · 255 registers, 1792 B spilled · 2 blocks/SM (registers)";
    assert_eq!(lens["command"]["title"], said);
    let mut found = Vec::new();
    while found.is_empty() {
        found = codes(&session.client.diagnostics(&session.uri, 1));
    }
    assert_eq!(found, [(7, "register-spills".to_owned())]);
    session.edit();
    assert!(session.client.diagnostics(&session.uri, 2).is_empty());
}

#[test]
fn nothing_is_left_in_the_temporary_folder() {
    let mut session = Session::new("temporary", "command", SAME);
    session.command();
    session.told();
    let temporary = session.root.join("temporary");
    let left = || fs::read_dir(&temporary).expect("a folder").count();
    assert_eq!(left(), 1, "the driver");
    assert!(session.client.shut_down().success());
    assert_eq!(left(), 0);
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

/// What is started in its place may be anything.
#[test]
fn what_is_no_python_costs_its_own_answer() {
    for (name, script, words) in [
        ("not-python", "#!/bin/sh\necho no\n", "the answer of the compiler's process is invalid"),
        (
            "of-another-time",
            "#!/bin/sh\necho '{\"hello\": 2}'\nsleep 9\n",
            "the answer of the compiler's process is invalid",
        ),
        ("ends-at-once", "#!/bin/sh\nexit 3\n", "has ended (exit status: 3)"),
        ("cannot-run", "#!/nowhere/python\n", "cannot be started"),
    ] {
        let mut session = Session::new(name, "command", SAME);
        fs::write(session.root.join("python"), script).expect("written");
        session.command();
        let told = session.told();
        assert!(told.contains("not confirmed") && told.contains(words), "{name}: {told}");
        python(&session.root, SAME);
        session.command();
        assert_eq!(session.told(), "`copy`: confirmed by triton 3.9.0 on sm_90", "{name}");
    }
}

/// CANN's tensor framework has the name of the compiler of kernels.
#[test]
fn a_file_for_the_other_pypto_gets_a_sentence_and_nothing_runs() {
    let text =
        "import pypto\n\n\n@pypto.frontend.jit\ndef softmax(x: pypto.Tensor):\n    return pypto.softmax(x, -1)\n";
    let mut session = Session::of("other-pypto", "command", SAME, text, json!({}));
    session.command();
    let told = session.told();
    assert!(told.starts_with("this file is written for CANN's tensor framework"), "{told}");
    assert!(!session.root.join("pid").exists());
    session.save();
    assert!(session.client.has_no_notification("window/showMessage"));
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

/// Three kernels of four configurations.
fn tuned() -> String {
    let kernel = |name: &str| {
        format!(
            "\n\n# tilefit: x=fp16 y=fp16 arch=sm_90\n\
             @triton.autotune([triton.Config({{\"N\": n}}) for n in (64, 128, 256, 512)], key=[])\n@triton.jit\n\
             def {name}(x, y, N: tl.constexpr):\n    at = tl.arange(0, N)\n    tl.store(y + at, tl.load(x + at))\n"
        )
    };
    let head = "import triton\nimport triton.language as tl\n";
    [head.to_owned(), kernel("a"), kernel("b"), kernel("c")].concat()
}

/// Takes a third of a second for an answer, and writes down what it was asked.
const LOGGED: &str = r#"
open(os.path.join(here, "asked"), "a").write(asked["kernel"] + "\n")
time.sleep(0.3)
say({"id": asked["id"], "by": {"name": "triton", "version": "3.9.0"}, "shared": 0, "buffers": []})
"#;

fn tuned_session(name: &str) -> Session {
    Session::of(name, "save", LOGGED, &tuned(), json!({ "window": { "workDoneProgress": true } }))
}

#[test]
fn many_questions_show_how_far_they_are() {
    let mut session = tuned_session("progress");
    session.command();
    session.client.server_request("window/workDoneProgress/create");
    let begin = session.progress();
    assert_eq!(begin["title"], "tilefit: confirming kernel.py");
    assert_eq!((&begin["kind"], &begin["cancellable"]), (&json!("begin"), &json!(true)));
    let mut percentages = Vec::new();
    loop {
        let word = session.progress();
        if word["kind"] == "end" {
            break;
        }
        let message = word["message"].as_str().expect("a message").to_owned();
        let done: u64 = message.split(' ').next().and_then(|it| it.parse().ok()).expect("a number");
        assert_eq!(message, format!("{done} of 12 configurations"));
        assert_eq!(word["percentage"], done * 100 / 12);
        percentages.push(done);
    }
    assert!(percentages.len() > 3 && percentages.is_sorted(), "{percentages:?}");
    assert_eq!(session.asked().len(), 12);
    let said = "`a`: confirmed by triton 3.9.0 on sm_90\n`b`: confirmed by triton 3.9.0 on sm_90\n\
                `c`: confirmed by triton 3.9.0 on sm_90";
    assert_eq!(session.told(), said);
}

#[test]
fn a_client_without_progress_is_not_asked_for_it() {
    let mut session = Session::of("no-progress", "save", LOGGED, &tuned(), json!({}));
    session.command();
    session.told();
    session.waits_for(12);
    assert!(session.client.server_requests.iter().all(|it| it["method"] != "window/workDoneProgress/create"));
    assert!(session.client.has_no_notification("$/progress"));
}

#[test]
fn its_button_ends_the_asking() {
    let mut session = tuned_session("button");
    session.save();
    let token = session.client.server_request("window/workDoneProgress/create")["token"].take();
    session.progress();
    session.client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    session.progress_ends();
    std::thread::sleep(Duration::from_secs(1));
    assert!(session.asked().len() < 10, "{:?}", session.asked());
    session.command();
    assert!(session.told().contains("`c`: confirmed by triton 3.9.0"));
}

#[test]
fn edits_and_closing_end_the_progress() {
    let mut session = tuned_session("edit-ends");
    session.save();
    session.progress();
    session.edit();
    session.progress_ends();
    fs::write(Path::new(&session.root).join("kernel.py"), session.client.text(&session.uri).0).expect("written");
    session.save();
    session.progress();
    let uri = session.uri.clone();
    session.client.close(&uri);
    session.progress_ends();
    let asked = session.asked().len();
    std::thread::sleep(Duration::from_secs(1));
    assert!(session.asked().len() <= asked + 1, "one may have been asked already");
}

#[test]
fn the_kernel_that_the_user_is_at_comes_first() {
    let mut session = tuned_session("recent");
    let line_of =
        |name: &str| tuned().lines().position(|line| line.starts_with(&format!("def {name}("))).expect("it is there");
    let end = json!({ "line": line_of("c") + 2, "character": 0 });
    session.client.change(&session.uri, 2, json!([{ "range": { "start": end, "end": end }, "text": "    # x\n" }]));
    session.save();
    session.waits_for(2);
    let position = json!({ "line": line_of("b") + 1, "character": 6 });
    let params = json!({ "textDocument": { "uri": session.uri }, "position": position });
    session.client.request("textDocument/documentHighlight", params).expect("answered");
    let asked = session.waits_for(12).concat();
    // Another question of the first kernel may have been on its way.
    assert!(["ccbbbbaaaacc", "cccbbbbaaaac"].contains(&asked.as_str()), "{asked}");
}

#[test]
fn a_file_that_is_asked_about_later_waits_for_none() {
    let mut session = tuned_session("two-files");
    session.save();
    session.waits_for(1);
    let other = session.root.join("other.py");
    fs::write(&other, tuned().replace("def a", "def other")).expect("written");
    let uri = format!("file://{}", other.display());
    session.client.open(&uri, 1, &tuned().replace("def a", "def other"));
    session.client.diagnostics(&uri, 1);
    let params = json!({ "command": "tilefit.confirm", "arguments": [uri, { "line": 6, "character": 4 }] });
    session.client.request("workspace/executeCommand", params).expect("the command is known");
    assert!(session.told().contains("`other`: confirmed"));
    assert!(session.asked().len() < 20, "{:?}", session.asked());
    assert_eq!(session.waits_for(24).len(), 24);
}

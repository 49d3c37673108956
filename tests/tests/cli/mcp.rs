//! `tilefit mcp` as an agent sees it. The official client library asks the same in `tests/mcp`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::*;

/// Far more than any answer takes, also on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(120);

struct Agent {
    server: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    asked: u64,
}

impl Agent {
    fn start(root: &Path, arguments: &[&str]) -> Agent {
        let mut server = Command::new(tilefit_tests::binary::tilefit())
            .arg("mcp")
            .args(arguments)
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stdin = server.stdin.take().expect("a pipe");
        let stdout = BufReader::new(server.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut agent = Agent { server, stdin, lines, asked: 0 };
        let version = json!({ "name": "test", "version": "0" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": version });
        agent.request("initialize", params).expect("it initializes");
        agent.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        agent
    }

    fn send(&mut self, message: Value) {
        writeln!(self.stdin, "{message}").expect("the server reads");
    }

    fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        self.send(json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        self.asked
    }

    /// The next answer, whosever it is.
    fn answer(&mut self) -> (u64, Result<Value, Value>) {
        let line = self.lines.recv_timeout(PATIENCE).expect("an answer");
        let mut answer: Value = serde_json::from_str(&line).expect("JSON");
        let id = answer["id"].as_u64().expect("an id");
        let error = answer.get_mut("error").map(Value::take);
        (id, error.map_or_else(|| Ok(answer["result"].take()), Err))
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let asked = self.ask(method, params);
        let (id, answer) = self.answer();
        assert_eq!(id, asked);
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Value> {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The text of an answer, and what comes with it.
    #[track_caller]
    fn told(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let mut result = self.call(tool, arguments).expect("the tool is there");
        assert_ne!(result["isError"], true, "{result}");
        (result["content"][0]["text"].as_str().expect("text").to_owned(), result["structuredContent"].take())
    }

    #[track_caller]
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).expect("the tool is there");
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().expect("text").to_owned()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

const KERNEL: &str = "
import pypto.language as pl
from sizes import ROWS

TILE = 64

@pl.function(type=pl.FunctionType.InCore)
def gate(x: pl.Tensor[[ROWS, 256], pl.FP32], out: pl.Out[pl.Tensor[[ROWS, 256], pl.FP32]]):
    for i in pl.range(ROWS // TILE):
        a = pl.load(x, [i * TILE, 0], [TILE, 256])
        b = pl.exp(a)
        out = pl.store(pl.mul(a, b), [i * TILE, 0], out)
    return out
";

fn workspace(name: &str) -> PathBuf {
    directory(name, &[("kernels/gate.py", KERNEL.as_bytes()), ("kernels/sizes.py", b"ROWS = 1024\n")])
}

/// Everything below a folder: paths, sizes and times.
fn everything(folder: &Path) -> Vec<(PathBuf, u64, std::time::SystemTime)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let about = entry.metadata().expect("it is there");
        all.push((entry.path(), about.len(), about.modified().expect("a time")));
        if about.is_dir() {
            all.extend(everything(&entry.path()));
        }
    }
    all.sort();
    all
}

#[test]
fn an_edit_is_tried_and_nothing_is_written() {
    let root = workspace("mcp/what_if");
    let before = everything(&root);
    let mut agent = Agent::start(&root, &[]);
    let edit = |old: &str, new: &str| json!({ "file": "kernels/gate.py", "old_text": old, "new_text": new });
    let (text, structured) = agent.told("what_if", json!({ "edits": [edit("TILE = 64", "TILE = 128")] }));
    assert!(text.starts_with("after the edits: 0 of 1 kernels fit, 1 do not fit"), "{text}");
    assert_eq!(structured["fits"], false);
    let kernel = &structured["kernels"][0];
    assert_eq!((&kernel["left"]["Vec"], &kernel["spaces"]["Vec"]["delta"]), (&json!(-73728), &json!(131072)));
    assert_eq!(kernel["buffers"][0], json!({ "name": "a", "memory": "Vec", "before": 65536, "after": 131072 }));
    assert_eq!(kernel["peaks"][0]["peak"], 262144);
    assert_eq!(kernel["new_findings"][0]["code"], "capacity-exceeded");
    // Both the kernel and what it imports, each edit after the one before it.
    let sizes = json!({ "file": "kernels/sizes.py", "new_text": "ROWS = 2048\n" });
    let edits = json!([edit("TILE = 64", "TILE = 128"), edit("TILE = 128", "TILE = 32"), sizes]);
    let (text, structured) = agent.told("what_if", json!({ "edits": edits }));
    assert_eq!(structured["fits"], true, "{text}");
    assert_eq!(structured["kernels"][0]["spaces"]["Vec"]["after"]["used"], 65536);
    // Only what is imported.
    let sizes = json!({ "file": "kernels/sizes.py", "old_text": "1024", "new_text": "ROW" });
    let why = agent.refused("what_if", json!({ "edits": [sizes] }));
    assert_eq!(why, "no kernels in these files; list the files with the kernels in `files`");
    let asked = json!({ "edits": [sizes], "files": ["kernels/gate.py"] });
    assert_eq!(agent.told("what_if", asked).1["fits"], Value::Null);
    // A file that is not there yet.
    let new = json!({ "file": "new/kernel.py", "new_text": KERNEL.replace("from sizes import ROWS", "ROWS = 512") });
    let (text, structured) = agent.told("what_if", json!({ "edits": [new] }));
    assert!(text.contains("\nnew: new/kernel.py:8 `gate`"), "{text}");
    assert_eq!(structured["kernels"][0]["before"], Value::Null);
    assert_eq!(everything(&root), before);
}

#[test]
fn the_largest_value_and_the_next_one() {
    let root = workspace("mcp/largest_fit");
    let mut agent = Agent::start(&root, &[]);
    let asked = json!({ "file": "kernels/gate.py", "name": "TILE" });
    let (text, structured) = agent.told("largest_fit", asked);
    assert!(
        text.starts_with("`TILE` = 64 is already the largest value that fits\nthe next value, 128, does not fit"),
        "{text}"
    );
    assert_eq!((&structured["best"]["value"], &structured["best"]["is_largest"]), (&json!(64), &json!(true)));
    assert_eq!(structured["next"]["value"], 128);
    let next = json!({ "kernel": "gate", "memory": "Vec", "used": 262144, "capacity": 188416 });
    assert_eq!(structured["next"]["verdict"], json!({ "kind": "exceeds", "memory": next }));
    // What is stated is what the plan says.
    for (value, fits) in [(64, true), (128, false)] {
        let edit = json!({ "file": "kernels/gate.py", "old_text": "TILE = 64", "new_text": format!("TILE = {value}") });
        assert_eq!(agent.told("what_if", json!({ "edits": [edit] })).1["fits"], fits);
    }
    let why = agent.refused("largest_fit", json!({ "file": "kernels/gate.py", "name": "TILES" }));
    assert_eq!(why, "kernels/gate.py: no integer constant `TILES`; did you mean `TILE`?");
}

/// Of each sentence, whether it is more than that the value fits.
#[test]
fn a_value_is_not_the_largest_where_the_next_one_is_not_known() {
    let root = workspace("mcp/known_to_fit");
    let size = |size: &str| {
        KERNEL.replace("TILE = 64", &format!("import os\nSIZE = {size}\nTILE = SIZE if SIZE < 64 else os.cpu_count()"))
    };
    let wide = |columns: &str| KERNEL.replace("256]", columns);
    for (file, text) in
        [("present.py", size("64")), ("next.py", size("32")), ("none.py", wide("65536]")), ("whole.py", wide("16]"))]
    {
        fs::write(root.join("kernels").join(file), text).expect("writable");
    }
    let mut agent = Agent::start(&root, &[]);
    let mut said = String::new();
    for (file, name) in [("present.py", "SIZE"), ("next.py", "SIZE"), ("none.py", "TILE"), ("whole.py", "TILE")] {
        let asked = json!({ "file": format!("kernels/{file}"), "name": name });
        let result = agent.call("largest_fit", asked).expect("the tool is there");
        let text = result["content"][0]["text"].as_str().expect("text");
        said += &format!("{file} {}\n{text}\n\n", result["structuredContent"]["best"]["is_largest"]);
    }
    expect![[r#"
        present.py false
        the largest value of `SIZE` known to fit is 32 (now 64, which may or may not fit: calls `os.cpu_count`, which tilefit does not evaluate)
        the next value, 64, may or may not fit: calls `os.cpu_count`, which tilefit does not evaluate
        with 32, `gate` uses at most 64 KiB of 184 KiB Vec
        tried 4 values (multiples of 32 and halves of 64); kernels that change: gate (ascend910b)

        next.py false
        `SIZE` = 32 is already the largest value known to fit
        the next value, 64, may or may not fit: not modelled: calls `os.cpu_count`, which tilefit does not evaluate
        with 32, `gate` uses at most 64 KiB of 184 KiB Vec
        tried 4 values (multiples of 32 and halves of 32); kernels that change: gate (ascend910b)

        none.py null
        found no value of `TILE` that fits (now 64, which does not fit: `gate` needs 32768 KiB of Vec, 184 KiB available)
        tried 5 values (multiples of 32 and halves of 64, those that divide 1024); kernels that change: gate (ascend910b)

        whole.py false
        `TILE` = 1024 fits, and there is no greater value to try (now 64, which fits)
        with 1024, `gate` uses at most 128 KiB of 184 KiB Vec
        tried 5 values (multiples of 32 and halves of 64, those that divide 1024); kernels that change: gate (ascend910b)

    "#]].assert_eq(&said);
}

#[test]
fn what_agents_get_wrong_is_told_in_words() {
    let root = workspace("mcp/errors");
    let mut agent = Agent::start(&root, &[]);
    for (tool, arguments, words) in [
        (
            "plan",
            json!({ "file": "kernels/gat.py" }),
            "there is no `kernels/gat.py` in the workspace; did you mean `kernels/gate.py`?",
        ),
        (
            "plan",
            json!({ "file": "gate.py" }),
            "there is no `gate.py` in the workspace; did you mean `kernels/gate.py`?",
        ),
        (
            "plan",
            json!({ "file": "kernels/gate.py", "kernel": "gat" }),
            "kernels/gate.py: no kernel `gat`; did you mean `gate`?",
        ),
        (
            "plan",
            json!({ "file": "kernels/gate.py", "target": "ascend95" }),
            "there is no target `ascend95`; did you mean `ascend950`?",
        ),
        ("plan", json!({ "file": "kernels" }), "kernels: is a directory"),
        ("plan", json!({}), "the arguments are not valid: missing field `file`"),
        ("plan", json!({ "file": "kernels/sizes.py" }), "kernels/sizes.py: there are no kernels in this file"),
        (
            "explain",
            json!({ "code": "capacity-exceded" }),
            "there is no diagnostic code `capacity-exceded`; did you mean `capacity-exceeded`?",
        ),
        ("what_if", json!({ "edits": [] }), "`edits` has 0 entries"),
        (
            "what_if",
            json!({ "edits": [{ "file": "kernels/gate.py", "old_text": "TILE, 0]", "new_text": "" }] }),
            "kernels/gate.py: `old_text` occurs 2 times, in lines 10, 12; ",
        ),
        (
            "what_if",
            json!({ "edits": [{ "file": "kernels/gate.py", "old_text": "TILE  = 64", "new_text": "" }] }),
            "kernels/gate.py: `old_text` is not in the file; its first line matches line 5 ",
        ),
    ] {
        let said = agent.refused(tool, arguments.clone());
        assert!(said.starts_with(words), "{tool} {arguments}: {said}");
    }
    let unknown = agent.call("plans", json!({})).expect_err("no such tool");
    assert_eq!(unknown["message"], "there is no tool `plans`; did you mean `plan`?");
}

#[cfg(unix)]
#[test]
fn nothing_outside_the_workspace_is_read() {
    let root = workspace("mcp/confined");
    let outside = directory("mcp/outside", &[("secret.py", KERNEL.as_bytes()), ("sizes.py", b"ROWS = 64\n")]);
    for (link, target) in [("link.py", outside.join("secret.py")), ("folder", outside.clone())] {
        std::os::unix::fs::symlink(target, root.join(link)).expect("a link");
    }
    let outside = outside.display();
    let mut agent = Agent::start(&root, &[]);
    let is_outside =
        |said: String| said.contains("outside the workspace") || said.contains("leads out of the workspace");
    for file in ["../outside/secret.py", &format!("{outside}/secret.py"), "link.py", "folder/secret.py", "/etc/passwd"]
    {
        let edit = json!({ "file": file, "old_text": "TILE", "new_text": "" });
        let (edits, whole) = (json!({ "edits": [edit] }), json!({ "edits": [{ "file": file, "new_text": "" }] }));
        for (tool, arguments) in [
            ("check", json!({ "paths": [file] })),
            ("plan", json!({ "file": file })),
            ("codegen", json!({ "file": file })),
            ("largest_fit", json!({ "file": file, "name": "TILE" })),
            ("what_if", edits),
            ("what_if", whole),
        ] {
            let said = agent.refused(tool, arguments.clone());
            assert!(is_outside(said.clone()), "{tool} {arguments}: {said}");
        }
    }
    let (text, all) = agent.told("check", json!({}));
    assert_eq!(all["summary"]["files"], 2, "{text}");
    // Further roots are for whoever starts the server to name.
    let mut agent = Agent::start(&root, &[".", &outside.to_string()]);
    assert_eq!(agent.told("plan", json!({ "file": format!("{outside}/secret.py") })).1["kernels"][0]["name"], "gate");
    assert_eq!(agent.told("check", json!({})).1["summary"]["files"], 4);
}

#[test]
fn a_call_that_takes_long_keeps_no_other_waiting() {
    let root = workspace("mcp/endless");
    // The order of the instructions is checked in every iteration, of which there are four million.
    let page = include_str!("../../../docs/diagnostics/kernel-too-large.md");
    let kernel = page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).expect("its example");
    for nth in 0..8 {
        fs::write(root.join(format!("kernels/endless{nth}.py")), kernel).expect("writable");
    }
    let mut agent = Agent::start(&root, &[]);
    let slow = agent.ask("tools/call", json!({ "name": "check", "arguments": { "hints": true } }));
    let quick = agent.ask("tools/call", json!({ "name": "explain", "arguments": { "code": "rejected" } }));
    let (first, answer) = agent.answer();
    assert_eq!(first, quick, "{answer:?}");
    let (second, answer) = agent.answer();
    assert_eq!(second, slow);
    let answer = answer.expect("it ends");
    assert!(answer.to_string().contains("[kernel-too-large]"), "{answer}");
}

#[test]
fn answers_have_a_largest_size() {
    let root = workspace("mcp/large");
    let kernel = KERNEL.split_once("@pl").expect("a kernel").1;
    let many: String = (0..100).map(|nth| format!("@pl{}", kernel.replace("gate", &format!("gate{nth}")))).collect();
    let head = KERNEL.split_once("@pl").expect("a kernel").0.replace("64", "256");
    fs::write(root.join("kernels/many.py"), head + &many).expect("writable");
    let mut agent = Agent::start(&root, &[]);
    for (tool, arguments) in [
        ("check", json!({})),
        ("plan", json!({ "file": "kernels/many.py" })),
        ("codegen", json!({ "file": "kernels/many.py" })),
        ("largest_fit", json!({ "file": "kernels/many.py", "name": "TILE" })),
        (
            "what_if",
            json!({ "edits": [{ "file": "kernels/many.py", "old_text": "TILE = 256", "new_text": "TILE = 32" }] }),
        ),
    ] {
        let (text, structured) = agent.told(tool, arguments);
        let size = text.len() + structured.to_string().len();
        assert!(size < 130_000, "{tool}: {size}");
    }
    let (text, checked) = agent.told("check", json!({}));
    assert!(text.starts_with("100 errors and 0 warnings in 101 kernels of 3 files"), "{text}");
    assert_eq!((&checked["diagnostics_left_out"], &checked["kernels_left_out"]), (&json!(60), &json!(101)));
}

/// `docs/guide/agents.md`: each call of it is made, in the folder of the examples. `UPDATE_EXPECT=1` writes what is answered.
#[test]
fn the_page_for_agents_shows_what_they_are_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = root.join("docs/guide/agents.md");
    let page = fs::read_to_string(&path).expect("the page");
    let mut agent = Agent::start(&root.join("docs/examples"), &[]);
    let (mut written, mut rest, mut calls) = (String::new(), page.as_str(), 0);
    while let Some((before, after)) = rest.split_once("```json call\n") {
        let (call, after) = after.split_once("```").expect("the end of a call");
        let (between, after) = after.split_once("```text\n").expect("the answer of a call");
        let (_, after) = after.split_once("```").expect("the end of an answer");
        let asked: Value = serde_json::from_str(call).expect("a call");
        let (text, _) = agent.told(asked["name"].as_str().expect("a tool"), asked["arguments"].clone());
        written += &format!("{before}```json call\n{call}```{between}```text\n{text}\n```");
        (rest, calls) = (after, calls + 1);
    }
    written += rest;
    assert!(calls > 3, "{calls}");
    if std::env::var_os("UPDATE_EXPECT").is_some() && written != page {
        fs::write(&path, &written).expect("writable");
    }
    assert_eq!(written, fs::read_to_string(&path).expect("the page"));
    // Each tool is there with what it takes.
    let tools = agent.request("tools/list", json!({})).expect("tools");
    for tool in tools["tools"].as_array().expect("a list") {
        let name = tool["name"].as_str().expect("a name");
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("no row for `{name}`"));
        for argument in tool["inputSchema"]["properties"].as_object().expect("arguments").keys() {
            assert!(
                row.contains(&format!("`{argument}`")) || ["target", "planner"].contains(&argument.as_str()),
                "{name}: {argument}"
            );
        }
    }
}

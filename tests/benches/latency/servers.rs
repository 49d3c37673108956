//! One table of tilefit beside the Python servers that are installed, over the same client, texts and edits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use tilefit_tests::lsp_client::{LspClient, PATIENCE, range};
use tilefit_tests::process::load;
use tilefit_tests::{binary, corpus};

use super::{kernels, percentile};

/// The servers, and the variants of each program's `server` command.
const OTHERS: [&str; 2] = ["ty", "ruff"];

const WARM_UP: usize = 10;
const OPENINGS: usize = 5;

/// How long a server may take to say something unasked, before it is asked.
const UNASKED: Duration = Duration::from_secs(10);

/// A file, which is edited in the editor only.
struct Text {
    path: PathBuf,
    /// What the editor has open.
    workspace: PathBuf,
    text: String,
}

/// Generated files, written to `folder`, and the longest of those below the `given` one, where they are: they see what they import.
fn texts(folder: &Path, given: Option<&Path>, longest: usize) -> Vec<Text> {
    let generated = [3, 30, 300].map(|count| {
        let text = kernels::source(count, kernels::Layout::ClassPerKernel);
        let path = folder.join(format!("generated_{count}.py"));
        fs::write(&path, &text).expect("the folder can be written");
        Text { path, workspace: folder.to_owned(), text }
    });
    let mut texts = Vec::new();
    if let Some(given) = given {
        let given = given.canonicalize().expect("the folder of `--files`");
        let mut paths = Vec::new();
        corpus::collect(&given, &mut paths);
        let read = |path: PathBuf| Some(Text { text: fs::read_to_string(&path).ok()?, workspace: given.clone(), path });
        texts.extend(paths.into_iter().filter_map(read));
        texts.sort_by_key(|text| std::cmp::Reverse(text.text.lines().count()));
        texts.truncate(longest);
    }
    generated.into_iter().chain(texts).collect()
}

/// Digits of numbers in the code of a text, as lines and columns, up to `count` of them from all over it.
fn digits(text: &str, count: usize) -> Vec<(u32, u32, char)> {
    let mut found = Vec::new();
    for (line, at) in text.lines().zip(0..) {
        let code = line.split('#').next().unwrap_or_default();
        let is_code = code.contains("pl.") && !code.trim_start().starts_with(['"', 'r', 'f']) && code.is_ascii();
        let number = code.char_indices().find(|&(column, c)| {
            c.is_ascii_digit() && c != '0' && column > 0 && matches!(code.as_bytes()[column - 1], b' ' | b'[' | b'(')
        });
        if let Some((column, digit)) = number.filter(|_| is_code) {
            found.push((at, column as u32, digit));
        }
    }
    let step = found.len().div_ceil(count.max(1)).max(1);
    found.into_iter().step_by(step).collect()
}

struct Session {
    client: LspClient,
    uri: String,
    version: i32,
    /// It has to be asked for diagnostics.
    is_asked: bool,
}

impl Session {
    fn start(server: &str, file: &Text) -> Session {
        let mut command = match server {
            "tilefit" => Command::new(binary::tilefit()),
            other => Command::new(other),
        };
        let mut client = LspClient::spawn_command(command.arg("server"));
        let root = format!("file://{}", file.workspace.display());
        let folders = json!([{ "uri": root, "name": "bench" }]);
        client.initialize(json!({ "capabilities": {}, "rootUri": root, "workspaceFolders": folders }));
        Session { client, uri: format!("file://{}", file.path.display()), version: 1, is_asked: false }
    }

    /// From the text to the first diagnostics of it; the process has started before.
    fn open(&mut self, text: &str) -> Duration {
        let start = Instant::now();
        self.client.open(&self.uri, 1, text);
        match self.said_before(start + UNASKED) {
            Some(came) => came - start,
            None => {
                self.is_asked = true;
                let start = Instant::now();
                self.ask();
                start.elapsed()
            }
        }
    }

    fn edit(&mut self, line: u32, column: u32, digit: char) -> Duration {
        self.version += 1;
        let change = json!([{ "range": range(line, column, line, column + 1), "text": digit }]);
        let start = Instant::now();
        self.client.change(&self.uri, self.version, change);
        if self.is_asked {
            self.ask();
            return start.elapsed();
        }
        let came = self.said_before(start + PATIENCE).expect("diagnostics of the edited text");
        came - start
    }

    fn ask(&mut self) {
        let answer = self.client.request("textDocument/diagnostic", json!({ "textDocument": { "uri": self.uri } }));
        answer.unwrap_or_else(|error| panic!("textDocument/diagnostic: {error}"));
    }

    /// When the diagnostics of this version came.
    fn said_before(&mut self, deadline: Instant) -> Option<Instant> {
        loop {
            for (came, message) in self.client.take_notifications() {
                let said = &message["params"];
                let is_it = message["method"] == "textDocument/publishDiagnostics" && said["uri"] == *self.uri;
                if is_it && said["version"].as_i64().is_none_or(|version| version == i64::from(self.version)) {
                    return Some(came);
                }
            }
            self.client.hear_before(deadline).ok()?;
        }
    }
}

/// Milliseconds: p50 and p95 of a digit, and of the opening.
fn measure(server: &str, file: &Text, edits: usize) -> [f64; 3] {
    let mut openings: Vec<Duration> = (0..OPENINGS).map(|_| Session::start(server, file).open(&file.text)).collect();
    let mut session = Session::start(server, file);
    session.open(&file.text);
    let mut times = Vec::new();
    let digits = digits(&file.text, edits / 2 + WARM_UP);
    for (turn, &(line, column, digit)) in digits.iter().cycle().take(edits / 2 + WARM_UP).enumerate() {
        let other = if digit == '8' { '4' } else { '8' };
        let pair = [session.edit(line, column, other), session.edit(line, column, digit)];
        if turn >= WARM_UP {
            times.extend(pair);
        }
    }
    [percentile(&mut times, 50), percentile(&mut times, 95), percentile(&mut openings, 50)]
}

/// Of a server that is installed.
fn version(server: &str) -> Option<String> {
    let output = Command::new(server).arg("--version").output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Prints the table.
pub(super) fn compare(given: Option<&Path>, longest: usize, edits: usize) {
    let others: Vec<(&str, String)> = OTHERS.iter().filter_map(|server| Some((*server, version(server)?))).collect();
    let servers: Vec<&str> = std::iter::once("tilefit").chain(others.iter().map(|(server, _)| *server)).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("latency");
    fs::create_dir_all(&folder).expect("the folder can be made");
    println!(
        "A digit typed: milliseconds from the edit to the diagnostics of that version, p50 and p95 of {edits}. Opened: from the text to the"
    );
    println!("first diagnostics in a new process, p50 of {OPENINGS}. Load {}.", load());
    match others.as_slice() {
        [] => println!("Neither {} is on the PATH.", OTHERS.join(" nor ")),
        others => {
            let versions: Vec<&str> = others.iter().map(|(_, version)| version.as_str()).collect();
            println!(
                "{} say other things than tilefit: they check Python (ty types, ruff style), and nothing of tiles and memory. They stand here as",
                versions.join(" and ")
            );
            println!("what editors wait for anyway.");
        }
    }
    let columns: Vec<String> = servers.iter().map(|server| format!("{server} p50 | p95 | opened")).collect();
    println!("\n| file | lines | {} |", columns.join(" | "));
    println!("|---|---|{}", "---|".repeat(3 * servers.len()));
    for file in texts(&folder, given, longest) {
        let cells = servers.iter().map(|server| {
            let [p50, p95, opened] = measure(server, &file, edits);
            format!("{p50:.1} | {p95:.1} | {opened:.0}")
        });
        let cells: Vec<String> = cells.collect();
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        println!("| {name} | {} | {} |", file.text.lines().count(), cells.join(" | "));
    }
}

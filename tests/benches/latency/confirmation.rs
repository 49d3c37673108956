//! Keystrokes while the compiler that is installed is asked about every configuration of a large file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tilefit_tests::lsp_client::{LspClient, range};
use tilefit_tests::process::{load, rss_mib};
use tilefit_tests::{binary, triton_kernels};

use super::{URI, percentile};

const WARM_UP: usize = 10;

/// Between a save and the next keystroke: the compiler is at work by then.
const PAUSE: Duration = Duration::from_millis(300);

/// A file on disk and in the editor. The other one is [`URI`].
struct Session {
    client: LspClient,
    path: PathBuf,
    uri: String,
    /// Of both files.
    version: i32,
    lines: Vec<String>,
    /// Lines with the number of stages of a kernel's first configuration.
    stages: Vec<u32>,
    turn: usize,
}

impl Session {
    fn start(folder: &Path, python: &Path, kernels: usize) -> Session {
        let _ = fs::remove_dir_all(folder); // absent on the first run
        fs::create_dir_all(folder).expect("the target directory is writable");
        let (path, text) = (folder.join("kernels.py"), triton_kernels::source(kernels));
        fs::write(&path, &text).expect("written");
        let mut command = Command::new(binary::tilefit());
        let mut client = LspClient::spawn_command(command.arg("server").env("XDG_CACHE_HOME", folder.join("cache")));
        client.initialize(json!({
            "capabilities": { "window": { "workDoneProgress": true } },
            "workspaceFolders": [{ "uri": format!("file://{}", folder.display()), "name": "bench" }],
            "initializationOptions": { "confirm": "save", "python": python },
        }));
        let uri = format!("file://{}", path.display());
        client.open(&uri, 1, &text);
        client.diagnostics(&uri, 1);
        client.open(URI, 1, &triton_kernels::source(kernels / 10));
        client.diagnostics(URI, 1);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let is_first = |at: usize| at > 0 && lines[at - 1].ends_with("configs=[");
        let stages = (0..lines.len()).filter(|&at| is_first(at)).map(|at| at as u32).collect();
        Session { client, path, uri, version: 1, lines, stages, turn: 0 }
    }

    /// Types another number of stages into a kernel of a file.
    fn digit(&mut self, uri: &str, kernels: usize) -> Duration {
        self.turn += 1;
        let line = self.stages[(self.turn / 2) * 7919 % kernels];
        let column = self.lines[line as usize].find("num_stages=").expect("they have some") as u32 + 11;
        let digit = if self.turn.is_multiple_of(2) { "3" } else { "2" };
        self.version += 1;
        let change = json!([{ "range": range(line, column, line, column + 1), "text": digit }]);
        let start = Instant::now();
        self.client.change(uri, self.version, change);
        self.client.diagnostics(uri, self.version);
        let time = start.elapsed();
        if uri == self.uri {
            self.lines[line as usize].replace_range(column as usize..column as usize + 1, digit);
        }
        time
    }

    fn save(&mut self) {
        fs::write(&self.path, self.lines.join("\n") + "\n").expect("written");
        self.client.notify("textDocument/didSave", json!({ "textDocument": { "uri": self.uri } }));
    }

    /// `12 of 96 configurations`, as the last word about it says; `None` once it has ended.
    fn progress(&mut self) -> Option<String> {
        let value: Value = self.client.notification("$/progress")["value"].take();
        (value["kind"] != "end").then(|| value["message"].as_str().unwrap_or_default().to_owned())
    }

    fn memory(&self) -> f64 {
        rss_mib(self.client.id()).unwrap_or(f64::NAN)
    }
}

fn row(what: &str, mut times: Vec<Duration>) {
    let count = times.len();
    let mut percentile = |percent: usize| percentile(&mut times, percent);
    let [p50, p95, max] = [50, 95, 100].map(&mut percentile);
    println!("{what:48} {count:>5} {p50:8.2} {p95:8.2} {max:8.2}");
}

/// Prints the table.
pub(super) fn measure(python: &Path, kernels: usize, edits: usize) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("latency-confirmation");
    let mut session = Session::start(&folder, python, kernels);
    let (uri, all) = (session.uri.clone(), kernels * triton_kernels::CONFIGURATIONS);
    println!(
        "a digit -> publishDiagnostics of that version, milliseconds; {kernels} kernels of {} configurations, {} lines; load {}",
        triton_kernels::CONFIGURATIONS,
        session.lines.len(),
        load()
    );
    println!("{:48} {:>5} {:>8} {:>8} {:>8}", "", "edits", "p50", "p95", "max");
    let small = kernels / 10;
    for _ in 0..WARM_UP {
        session.digit(&uri, kernels);
        session.digit(URI, small);
    }
    let quiet = |session: &mut Session, uri: &str, kernels: usize| {
        let edit = |_| {
            thread::sleep(PAUSE / 10);
            session.digit(uri, kernels)
        };
        (0..edits).map(edit).collect()
    };
    row("nothing is asked", quiet(&mut session, &uri, kernels));
    row("nothing is asked, in a smaller file", quiet(&mut session, URI, small));
    let before = session.memory();
    let busy = (0..edits).map(|_| {
        session.save();
        thread::sleep(PAUSE);
        session.digit(&uri, kernels)
    });
    let busy = busy.collect();
    row("saved, and the compiler is asked", busy);

    session.save();
    let start = Instant::now();
    while session.progress().is_none_or(|message| !message.ends_with("configurations")) {} // the last of an earlier one
    let beside = quiet(&mut session, URI, small);
    row("in the smaller file, while answers come", beside);
    let mut most = session.memory();
    let mut message = String::new();
    while let Some(next) = session.progress() {
        message = next;
        most = most.max(session.memory());
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{all} answers ({message} were shown last) in {seconds:.0} s, {:.0} ms each", seconds * 1e3 / all as f64);
    println!(
        "memory of the server: {before:.1} MiB before, {most:.1} MiB at most, {:.1} MiB with all answers",
        session.memory()
    );
    session.save();
    let again = Instant::now();
    let told = |session: &mut Session| {
        session.client.request("tilefit/configurations", json!({ "textDocument": { "uri": session.uri } }))
    };
    let confirmed = |answer: &Value| answer.to_string().matches("\"confirmed\":true").count();
    while confirmed(&told(&mut session).expect("answered")) < all {
        thread::sleep(PAUSE);
    }
    println!("the same again, from the cache: {:.1} s", again.elapsed().as_secs_f64());
    row("with all answers there, in the smaller file", quiet(&mut session, URI, small));
    row("with all answers there", quiet(&mut session, &uri, kernels));
}

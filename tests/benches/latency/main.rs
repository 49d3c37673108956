//! Time from a keystroke to its diagnostics, measured at the pipes of the real server.
//!
//! `cargo bench -p tilefit-tests --bench latency -- [--edits 300] [--soak] [--only TLX]`, or one table of generated and real files, beside the
//! Python servers that are installed: `-- --servers [--files DIR] [--longest 5]`. `-- --confirm PYTHON [--kernels 200]`: while the Triton of an
//! interpreter is asked about every configuration.

mod confirmation;
mod servers;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tilefit_tests::binary;
use tilefit_tests::kernels::{self, Layout};
use tilefit_tests::lsp_client::{LspClient, range};
use tilefit_tests::process::{load, rss_mib};
use tilefit_tests::tensor_kernels;
use tilefit_tests::tlx_kernels;

const URI: &str = "file:///work/kernel.py";

/// Files of one kind, in several sizes.
struct Corpus {
    name: &'static str,
    source: fn(usize) -> String,
    /// Kernels of each file.
    sizes: &'static [usize],
    /// Kernels of 500 lines, about.
    pasted: usize,
}

const CORPORA: [Corpus; 4] = [
    Corpus {
        name: "a class per kernel",
        source: |count| kernels::source(count, Layout::ClassPerKernel),
        sizes: &[3, 30, 300],
        pasted: 15,
    },
    Corpus {
        name: "one class",
        source: |count| kernels::source(count, Layout::OneClass),
        sizes: &[3, 30, 300],
        pasted: 15,
    },
    // Scopes; each is a kernel of both entries. The bar for an edit in one of a file of 1,500 lines is 10 ms.
    Corpus { name: "scopes on tensors", source: tensor_kernels::source, sizes: &[6, 24, 75], pasted: 24 },
    Corpus { name: "TLX", source: tlx_kernels::source, sizes: &[13, 27], pasted: 6 },
];
const WARM_UP: usize = 20;
const SOAK_EDITS: usize = 10_000;

struct Options {
    edits: usize,
    /// Also measure memory after [`SOAK_EDITS`] edits.
    soak: bool,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |name: &str| arguments.iter().any(|it| it == name);
    let value = |name: &str| arguments.iter().position(|it| it == name).and_then(|at| arguments.get(at + 1));
    let number = |name: &str| value(name).and_then(|value| value.parse().ok());
    let options = Options { edits: number("--edits").unwrap_or(300), soak: has("--soak") };
    binary::tilefit(); // before anything is timed
    if has("--servers") || has("--files") {
        return servers::compare(value("--files").map(Path::new), number("--longest").unwrap_or(5), options.edits);
    }
    if let Some(python) = value("--confirm") {
        return confirmation::measure(Path::new(python), number("--kernels").unwrap_or(200), options.edits);
    }
    println!("edit -> publishDiagnostics of that version, milliseconds; load {}", load());
    let only = value("--only");
    for corpus in CORPORA.iter().filter(|corpus| only.is_none_or(|only| only == corpus.name)) {
        println!("\n{}", corpus.name);
        println!("{:>6} {:>8}  {:14} {:>8} {:>8} {:>8} {:>8}", "lines", "kernels", "edit", "p50", "p95", "p99", "max");
        for &kernels in corpus.sizes {
            measure(kernels, corpus, &options);
        }
    }
}

fn measure(kernels: usize, corpus: &Corpus, options: &Options) {
    let text = (corpus.source)(kernels);
    let pasted = (corpus.source)(corpus.pasted);
    let lines = text.lines().count();
    let cold_starts = (0..5).map(|_| cold_start(&text)).collect();
    let mut driver = Driver::start(&text);
    let rss = memory(&driver);
    let (mut all, mut keys) = (Vec::new(), Vec::new());
    let mut by_kind: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    for edit in 0..WARM_UP + options.edits {
        for (kind, time) in driver.round(&pasted) {
            if edit >= WARM_UP {
                by_kind.entry(kind).or_default().push(time);
                all.push(time);
                if !kind.contains("paste") {
                    keys.push(time);
                }
            }
        }
        if all.len() >= options.edits {
            break;
        }
    }
    for (kind, times) in by_kind {
        row(lines, kernels, kind, times);
    }
    row(lines, kernels, "keystrokes", keys);
    row(lines, kernels, "all", all);
    row(lines, kernels, "first diagnost.", cold_starts);
    row(lines, kernels, "burst of 3,000", vec![driver.burst()]);
    if corpus.name != "TLX" {
        row(lines, kernels, "refresh of C++", (0..options.edits / 4).map(|_| driver.preview()).collect());
        let (keys, maps) = driver.with_map(options.edits);
        row(lines, kernels, "keys, map open", keys);
        row(lines, kernels, "map drawn", maps);
    }
    for (request, times) in driver.requests() {
        row(lines, kernels, request, times);
    }
    println!("{lines:>6} {kernels:>8}  memory {rss:.1} MiB, after the edits {:.1} MiB", memory(&driver));
    if options.soak {
        let mut driver = Driver::start(&text);
        for edits in [SOAK_EDITS / 10, SOAK_EDITS] {
            while driver.version < edits as i32 {
                driver.digit();
            }
            let memory = memory(&driver);
            println!("{lines:>6} {kernels:>8}  memory {memory:.1} MiB after {edits} digits typed");
        }
    }
}

/// From the start of the process to the first diagnostics.
fn cold_start(text: &str) -> Duration {
    let start = Instant::now();
    Driver::start(text);
    start.elapsed()
}

fn row(lines: usize, kernels: usize, what: &str, mut times: Vec<Duration>) {
    let mut percentile = |percent: usize| percentile(&mut times, percent);
    println!(
        "{lines:>6} {kernels:>8}  {what:14} {:8.2} {:8.2} {:8.2} {:8.2}",
        percentile(50),
        percentile(95),
        percentile(99),
        percentile(100)
    );
}

/// Milliseconds.
fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort();
    let index = (times.len() * percent).div_ceil(100).max(1) - 1;
    times.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}

/// MiB.
fn memory(driver: &Driver) -> f64 {
    rss_mib(driver.client.id()).unwrap_or(f64::NAN)
}

struct Driver {
    client: LspClient,
    version: i32,
    lines: Vec<String>,
    /// Lines with a shape whose last digit is typed over.
    shapes: Vec<u32>,
    turn: usize,
}

impl Driver {
    fn start(text: &str) -> Driver {
        let mut client = LspClient::start();
        client.open(URI, 1, text);
        client.diagnostics(URI, 1);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let shapes = lines.iter().zip(0..).filter(|(line, _)| line.ends_with("[64, 64])")).map(|(_, at)| at).collect();
        Driver { client, version: 1, lines, shapes, turn: 0 }
    }

    /// Sends one change and waits for its diagnostics.
    fn edit(&mut self, range: Value, text: &str) -> Duration {
        self.version += 1;
        let start = Instant::now();
        self.client.change(URI, self.version, json!([{ "range": range, "text": text }]));
        self.client.diagnostics(URI, self.version);
        start.elapsed()
    }

    /// A line with a shape, another one each time.
    fn shape_line(&mut self) -> u32 {
        self.turn += 1;
        self.shapes[self.turn * 7919 % self.shapes.len()]
    }

    /// Types a digit over the `64` of a shape, then the old one again.
    fn digit(&mut self) -> [Duration; 2] {
        let line = self.shape_line();
        let end = self.lines[line as usize].len() as u32 - 2;
        let digit = range(line, end - 2, line, end);
        [self.edit(digit.clone(), "32"), self.edit(digit, "64")]
    }

    /// From an edit to the C++ of the edited kernel, as a view beside the source asks for it: right after the edit.
    fn preview(&mut self) -> Duration {
        let line = self.shape_line();
        let end = self.lines[line as usize].len() as u32 - 2;
        let mut time = Duration::ZERO;
        for text in ["32", "64"] {
            self.version += 1;
            let start = Instant::now();
            let change = json!([{ "range": range(line, end - 2, line, end), "text": text }]);
            self.client.change(URI, self.version, change);
            let position = json!({ "line": line, "character": 9 });
            let params = json!({ "textDocument": { "uri": URI }, "position": position });
            let code = self.client.request("tilefit/generatedCode", params).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(code["version"], self.version);
            time = start.elapsed();
            self.client.diagnostics(URI, self.version);
        }
        time
    }

    /// With the map of the edited kernel open: from an edit to its diagnostics, and to its map.
    fn with_map(&mut self, edits: usize) -> (Vec<Duration>, Vec<Duration>) {
        let line = self.shape_line();
        let end = self.lines[line as usize].len() as u32 - 2;
        let document = json!({ "uri": URI });
        let position = json!({ "line": line, "character": 9 });
        let picture = json!({ "kind": "html", "width": 800 });
        let watch = json!({ "textDocument": document, "position": position, "picture": picture });
        self.client.notify("tilefit/watchMemoryMap", watch);
        let (mut keys, mut maps) = (Vec::new(), Vec::new());
        for edit in 0..edits {
            let start = Instant::now();
            keys.push(self.edit(range(line, end - 2, line, end), if edit % 2 == 0 { "32" } else { "64" }));
            while self.client.notification("tilefit/memoryMapChanged")["version"] != self.version {}
            maps.push(start.elapsed());
        }
        if edits % 2 == 1 {
            self.edit(range(line, end - 2, line, end), "64");
        }
        self.client.notify("tilefit/watchMemoryMap", json!({ "textDocument": document }));
        (keys, maps)
    }

    /// One edit of each kind, and its undo.
    fn round(&mut self, pasted: &str) -> Vec<(&'static str, Duration)> {
        let mut times = Vec::new();
        // Frees what the paste of the round before left.
        let end = self.lines[0].len() as u32;
        times.push(("comment", self.edit(range(0, end, 0, end), "  # all")));
        times.push(("undo comment", self.edit(range(0, end, 0, end + 7), "")));

        let [typed, undone] = self.digit();
        times.extend([("digit", typed), ("undo digit", undone)]);

        times.push(("newline at top", self.edit(range(0, 0, 0, 0), "\n")));
        times.push(("undo newline", self.edit(range(0, 0, 1, 0), "")));

        let line = self.shape_line();
        let end = self.lines[line as usize].len() as u32;
        times.push(("open bracket", self.edit(range(line, end - 1, line, end), "")));
        times.push(("close bracket", self.edit(range(line, end - 1, line, end - 1), ")")));

        let count = pasted.lines().count() as u32;
        let bottom = self.lines.len() as u32;
        times.push(("paste 500", self.edit(range(bottom, 0, bottom, 0), pasted)));
        times.push(("undo paste", self.edit(range(bottom, 0, bottom + count, 0), "")));
        times
    }

    /// 3,000 edits written without waiting; the time until the diagnostics of the last one.
    fn burst(&mut self) -> Duration {
        let line = self.shape_line();
        let end = self.lines[line as usize].len() as u32 - 2;
        let start = Instant::now();
        for _ in 0..1_500 {
            for text in ["32", "64"] {
                self.version += 1;
                let change = json!([{ "range": range(line, end - 2, line, end), "text": text }]);
                self.client.change(URI, self.version, change);
            }
        }
        self.client.diagnostics(URI, self.version);
        start.elapsed()
    }

    /// Hover, hints and lenses on a file that is analysed already.
    fn requests(&mut self) -> Vec<(&'static str, Vec<Duration>)> {
        let document = json!({ "uri": URI });
        let line = self.shapes[self.shapes.len() / 2];
        let view = range(line.saturating_sub(30), 0, line + 30, 0);
        let position = json!({ "line": line, "character": 9 });
        // After the bracket of the call on that line.
        let bracket = self.lines[line as usize].find('(').map_or(0, |at| at + 1);
        let argument = json!({ "line": line, "character": bracket });
        [
            ("hover", "textDocument/hover", json!({ "textDocument": document, "position": position })),
            ("inlay hints", "textDocument/inlayHint", json!({ "textDocument": document, "range": view })),
            ("completion", "textDocument/completion", json!({ "textDocument": document, "position": argument })),
            ("code lenses", "textDocument/codeLens", json!({ "textDocument": document })),
            ("generated C++", "tilefit/generatedCode", json!({ "textDocument": document, "position": position })),
        ]
        .into_iter()
        .map(|(name, method, params)| {
            let time = |_| {
                let start = Instant::now();
                self.client.request(method, params.clone()).unwrap_or_else(|error| panic!("{method}: {error}"));
                start.elapsed()
            };
            (name, (0..100).map(time).collect())
        })
        .collect()
    }
}

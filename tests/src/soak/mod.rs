//! A long session with the real server: an author types, asks, opens and closes, and now and then a fresh server is asked about the same texts.
//!
//! `cargo xtask soak --minutes 60 --files DIR --report FILE` runs it, and then the fuzz targets for the rest of the time.

mod editor;
mod findings;
mod fresh;
mod report;
mod sources;
mod timings;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use editor::Editor;
use findings::Finding;
pub use report::Report;

use crate::choices::Choices;
use crate::fuzz;
use crate::lsp_client::Silence;
use crate::questions::METHODS;
use crate::random::Random;
use crate::typing;

pub struct Options {
    pub time: Duration,
    pub seed: u64,
    /// Files and folders of Python, beside those that are generated.
    pub files: Vec<PathBuf>,
    /// Bytes of the largest text that is edited.
    pub largest: usize,
    /// Where texts go that were slow, or show something wrong.
    pub found: PathBuf,
}

/// Of the time, in percent, that the session has; fuzz targets have the rest.
const SESSION: u32 = 80;

/// Documents that are open at a time.
const OPEN: usize = 4;

/// Steps between two looks at a fresh server.
const BETWEEN_LOOKS: usize = 400;

/// What is typed until all of it is undone, so that a text stays one that an author may have.
const MOST_UNDO: usize = 30;

const WAITING_AT_MOST: usize = 8;

/// Of a fuzz target, until it is another one's.
const TURN: Duration = Duration::from_millis(200);

/// What an author's settings may become.
const SETTINGS: [&str; 5] = [
    "{}",
    r#"{ "target": "ascend950" }"#,
    r#"{ "planner": "packed", "inlayHints": { "sync": true } }"#,
    r#"{ "planner": "dsa-rp", "highlight": { "reuseGroup": true } }"#,
    r#"{ "planner": "sequential", "tlx": { "rules": "seed" }, "nonsense": 3 }"#,
];

pub fn run(options: &Options) -> Report {
    let start = Instant::now();
    let sources = sources::all(options);
    let mut report = Report::new(options, sources.len());
    let end = start + options.time * SESSION / 100;
    let mut random = Random::new(options.seed, 0);
    // Another server after one that is silent.
    while Instant::now() < end {
        let mut session =
            Session { editor: Editor::start(&sources, options, start, &mut report), random: &mut random, steps: 0 };
        let outcome = session.run(end);
        session.editor.finish(outcome);
    }
    fuzz_for_the_rest(options, start + options.time, &mut report);
    report.took(start.elapsed());
    report
}

struct Session<'r> {
    editor: Editor<'r>,
    random: &'r mut Random,
    steps: usize,
}

impl Session<'_> {
    fn run(&mut self, end: Instant) -> Result<(), Silence> {
        for _ in 0..OPEN {
            self.open();
        }
        while Instant::now() < end {
            self.steps += 1;
            self.step()?;
            if self.steps.is_multiple_of(BETWEEN_LOOKS) {
                self.editor.compare_with_fresh(self.random)?;
            }
        }
        self.editor.compare_with_fresh(self.random)
    }

    fn step(&mut self) -> Result<(), Silence> {
        match self.random.below(1000) {
            0..=9 => {
                let document = self.random.below(OPEN);
                self.editor.close(document);
                self.open();
            }
            10..=12 => self.editor.settings(self.random.of(&SETTINGS)),
            13..=15 => self.editor.watch_map(self.random),
            16..=18 => (0..50).for_each(|_| self.edit()),
            19..=419 => self.ask()?,
            _ => {
                self.edit();
                if self.random.percent(50) {
                    self.editor.wait_for_diagnostics()?;
                }
            }
        }
        self.editor.listen();
        Ok(())
    }

    fn open(&mut self) {
        let large = if self.random.percent(30) { self.editor.closed(true) } else { Vec::new() };
        let free = if large.is_empty() { self.editor.closed(false) } else { large };
        let source = self.random.of(&free);
        self.editor.open(source);
    }

    fn edit(&mut self) {
        if self.random.percent(5) {
            self.editor.focus = self.random.below(OPEN);
        }
        let document = self.editor.focused();
        if document.undo.len() >= MOST_UNDO {
            while self.editor.undo() {}
        } else if self.random.percent(45) && self.editor.undo() {
            // One less.
        } else {
            let pasted = self.editor.other_text(self.random);
            let bytes = self.random.bytes(64);
            let (kind, changes) = typing::next(&self.editor.focused().text, pasted, &mut Choices::new(&bytes));
            self.editor.edit(kind, &changes);
        }
    }

    fn ask(&mut self) -> Result<(), Silence> {
        for _ in 0..1 + self.random.below(3) {
            let mut method = self.random.of(&METHODS);
            // It looks at every file of the workspace.
            if method == "workspace/diagnostic" && !self.random.percent(5) {
                method = "textDocument/hover";
            }
            let place = self.random.below(self.editor.focused().text.len() + 1);
            let is_cancelled = self.random.percent(10);
            self.editor.ask(method, place, is_cancelled);
        }
        if self.editor.waiting() > WAITING_AT_MOST || self.random.percent(50) {
            self.editor.wait_for_answers(false)?;
        }
        Ok(())
    }
}

fn fuzz_for_the_rest(options: &Options, end: Instant, report: &mut Report) {
    let corpora = fuzz::TARGETS.map(|target| (target.corpus(), target));
    // Each has as much time as the others.
    for (turn, (corpus, target)) in corpora.iter().enumerate().cycle() {
        let stop = end.min(Instant::now() + TURN);
        while Instant::now() < stop {
            let index = report.fuzzed(target.name);
            let input = target.input(corpus, &mut Random::new(options.seed, index));
            if let Err(problem) = target.try_input(&input) {
                let what = format!("{}: {}", target.name, problem.lines().next().unwrap_or_default());
                let name = format!("{}-{}-{index}", target.name, options.seed);
                report.found(Finding { kind: "input that breaks a fuzz target", what, texts: vec![(name, input)] });
            }
        }
        if Instant::now() >= end && turn + 1 == corpora.len() {
            return;
        }
    }
}

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::{env, fs, thread};

use ignore::{DirEntry, WalkBuilder};
use tilelens_analysis::diagnostics::Severity;
use tilelens_analysis::project::Config;

use super::source::Source;
use super::{FAILURE, Planning, complain, frame, print, usage};
use crate::STACK_BYTES;
use crate::selection::Selection;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Files, and directories to look for Python files in
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Exit with 0 even when there are errors
    #[arg(long)]
    exit_zero: bool,
    #[command(flatten)]
    planning: Planning,
}

/// More bring little: a file takes less time to analyse than a thread to start.
const THREADS: usize = 2;

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let config = arguments.planning.config();
    let (selection, problems) = Selection::new(env::current_dir().ok().as_deref(), &config);
    for problem in problems {
        complain(&problem);
    }
    let (files, mut failures) = find(&arguments.paths, &Arc::new(selection));
    let mut total = Report::default();
    in_order(
        &files,
        |path| check_isolated(path, &config),
        |report: Result<Report, String>| match report {
            Ok(report) => {
                print(&report.text);
                total.add(&report);
            }
            Err(message) => failures.push(message),
        },
    );
    print(&summary(files.len(), &total, failures.len()));
    for failure in &failures {
        complain(failure);
    }
    match (failures.is_empty(), total.errors) {
        (false, _) => ExitCode::from(FAILURE),
        (true, 1..) if !arguments.exit_zero => ExitCode::FAILURE,
        (true, _) => ExitCode::SUCCESS,
    }
}

/// The files to check in a fixed order, and what cannot be looked at. A file that is named is checked whatever its name and the
/// selection.
fn find(paths: &[PathBuf], selection: &Arc<Selection>) -> (Vec<PathBuf>, Vec<String>) {
    let mut files = Vec::new();
    let mut failures = Vec::new();
    for path in paths {
        if let Err(error) = fs::metadata(path) {
            failures.push(format!("{}: {error}", path.display()));
            continue;
        }
        let entered = Arc::clone(selection);
        let enters = move |entry: &DirEntry| entry.depth() == 0 || !is_directory(entry) || entered.enters(entry.path());
        for entry in WalkBuilder::new(path).sort_by_file_path(Path::cmp).filter_entry(enters).build() {
            match entry {
                Err(error) => failures.push(error.to_string()),
                Ok(entry) if is_directory(&entry) => {}
                Ok(entry) if entry.depth() == 0 => files.push(entry.into_path()),
                Ok(entry) => {
                    let is_python = entry.path().extension().is_some_and(|it| it == "py");
                    files.extend((is_python && selection.selects(entry.path())).then(|| entry.into_path()));
                }
            }
        }
    }
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    (files, failures)
}

fn is_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// Works on a few threads, takes the results in the order of the items.
fn in_order<I: Sync, R: Send>(items: &[I], work: impl Fn(&I) -> R + Sync, mut take: impl FnMut(R)) {
    let next = AtomicUsize::new(0);
    let (sender, results) = channel();
    let worker = |sender: Sender<(usize, R)>| {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            if sender.send((index, work(item))).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let (sender, on_this_thread) = (sender.clone(), sender.clone());
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            if thread.spawn_scoped(scope, || worker(sender)).is_err() {
                worker(on_this_thread);
            }
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut due = 0;
        for (index, result) in results {
            early.insert(index, result);
            while let Some(result) = early.remove(&due) {
                take(result);
                due += 1;
            }
        }
    });
}

#[derive(Default)]
struct Report {
    text: String,
    kernels: usize,
    exact: usize,
    errors: usize,
    warnings: usize,
    hints: usize,
}

impl Report {
    fn add(&mut self, other: &Report) {
        self.kernels += other.kernels;
        self.exact += other.exact;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.hints += other.hints;
    }
}

/// A bug that one file brings out does not keep the others from being checked.
fn check_isolated(path: &Path, config: &Config) -> Result<Report, String> {
    catch_unwind(|| check(path, config)).unwrap_or_else(|_| {
        Err(format!("{}: tilelens failed on this file, which is a bug; please report it", path.display()))
    })
}

/// The text is empty for a file without kernels that nothing is wrong with.
fn check(path: &Path, config: &Config) -> Result<Report, String> {
    let source = Source::read(path, config)?;
    let shown_path = path.display().to_string();
    let mut report = Report::default();
    for diagnostic in source.ask(|analysis, file| analysis.diagnostics(file)) {
        match diagnostic.severity {
            Severity::Error => report.errors += 1,
            Severity::Warning => report.warnings += 1,
            Severity::Info => {}
            Severity::Hint => report.hints += 1,
        }
        report.text.push_str(&frame::render(&shown_path, &source.text, &source.document, &diagnostic));
    }
    for kernel in source.ask(|analysis, file| analysis.plans(file)) {
        report.kernels += 1;
        report.exact += usize::from(kernel.status == "exact");
        let _ = write!(report.text, "{}{}", usage::heading(&shown_path, &kernel), usage::bars(&kernel));
    }
    if !report.text.is_empty() {
        report.text.push('\n');
    }
    Ok(report)
}

fn summary(files: usize, total: &Report, failures: usize) -> String {
    let unreadable = match failures {
        0 => String::new(),
        failures => format!(", {} that cannot be read", plural(failures, "path")),
    };
    format!(
        "{}, {} ({} exact): {}, {}, {}{unreadable}\n",
        plural(files, "file"),
        plural(total.kernels, "kernel"),
        total.exact,
        plural(total.errors, "error"),
        plural(total.warnings, "warning"),
        plural(total.hints, "hint"),
    )
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

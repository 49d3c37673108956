//! `tilefit check`: what does not fit, for people and for the machines of CI.

mod baseline;
mod finding;
mod fix;
mod github;
mod human;
mod json;
mod sarif;
mod watch;

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use tilefit_analysis::diagnostics::{Code, Severity};
use tilefit_analysis::ide::KernelSummary;

use self::baseline::Baseline;
use self::finding::Finding;
use super::Planning;
use super::source::{self, Source};
use super::workers;
use crate::files;
use crate::selection::Selection;
use crate::terminal::{FAILURE, complain, fail, print, print_styled};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Files, and directories to look for Python files in
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Exit with 0 even when there are errors
    #[arg(long)]
    exit_zero: bool,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Fix in the files what has one obvious fix, then report the rest
    #[arg(long)]
    fix: bool,
    /// Check again whenever a file changes
    #[arg(long, conflicts_with_all = ["write_baseline", "fix"])]
    watch: bool,
    /// Leave out what this file lists
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// List all that is found in the file of --baseline, instead of reporting it
    #[arg(long, requires = "baseline")]
    write_baseline: bool,
    /// Ask the compiler that is installed whether it plans the same, and exit with 1 where it does not. Imports the files
    #[arg(long)]
    confirm: bool,
    #[command(flatten)]
    asking: source::Python,
    #[command(flatten)]
    planning: Planning,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The source of each finding, and a bar for each memory
    Human,
    /// One object
    Json,
    /// The Static Analysis Results Interchange Format, for code scanning
    Sarif,
    /// Commands that annotate a pull request from within a workflow of GitHub
    Github,
}

/// Files that are analysed together: what they import is analysed once, and all of it is in memory.
const FILES_TOGETHER: usize = 64;

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    if arguments.watch {
        return match watch::watch(&arguments.paths, || drop(check_once(arguments))) {
            Ok(never) => match never {},
            Err(error) => fail(&format!("the files cannot be watched: {error}")),
        };
    }
    match check_once(arguments) {
        Ok(code) => code,
        Err(message) => fail(&message),
    }
}

/// The error is a sentence for the user.
fn check_once(arguments: &Arguments) -> Result<ExitCode, String> {
    let config = arguments.planning.config();
    let (selection, problems) = Selection::new(env::current_dir().ok().as_deref(), &config);
    for problem in problems {
        complain(&problem);
    }
    let mut baseline = match &arguments.baseline {
        Some(path) if !arguments.write_baseline => Baseline::read(path)?,
        _ => Baseline::default(),
    };
    let (files, failures) = files::find(&arguments.paths, &Arc::new(selection));
    let mut run = Run { found: files.len(), failures, ..Run::default() };
    let framed = arguments.format == Format::Human && !arguments.write_baseline;
    let progress = progress(files.len());
    if arguments.fix {
        // What is fixed in one file may be imported by the others.
        let fix = |path: &PathBuf| isolated(path, || fix::fix(path, &config));
        workers::in_order(&files, fix, |fixed| fixed.unwrap_or_else(|message| run.fail(message)));
    }
    let mut take = |checked: Result<Checked, String>| {
        progress.inc(1);
        match checked {
            Err(message) => run.fail(message),
            Ok(mut checked) => {
                run.known += baseline.take_from(&mut checked.findings);
                if framed {
                    progress.suspend(|| print_styled(&human::file(&checked)));
                }
                run.files.push(checked);
            }
        }
    };
    let mut asking = if arguments.confirm { Some(arguments.asking.of(&config)?) } else { None };
    for together in files.chunks(FILES_TOGETHER) {
        let sources = Source::read_all_and_confirm(together, &config, asking.as_mut());
        let each = together.iter().zip(sources);
        workers::in_order(each, |(path, source)| isolated(path, || Ok(check(path, &source?, framed))), &mut take);
    }
    progress.finish_and_clear();
    if arguments.write_baseline {
        baseline.extend(run.findings());
        baseline.write(arguments.baseline.as_deref().unwrap_or(Path::new("")))?;
    } else {
        print(&match arguments.format {
            Format::Human => human::summary(&run),
            Format::Json => json::report(&run),
            Format::Sarif => sarif::report(&run),
            Format::Github => github::report(&run),
        });
    }
    for failure in &run.failures {
        complain(failure);
    }
    let is_wrong =
        run.count(Severity::Error) > 0 || run.findings().any(|finding| finding.code == Code::CompilerDiffers);
    let fails = is_wrong && !arguments.exit_zero && !arguments.write_baseline;
    Ok(match (run.failures.is_empty(), fails) {
        (false, _) => ExitCode::from(FAILURE),
        (true, true) => ExitCode::FAILURE,
        (true, false) => ExitCode::SUCCESS,
    })
}

/// A bar on a terminal, nothing elsewhere.
fn progress(files: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} files");
    ProgressBar::new(files as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// What has come out of all files.
#[derive(Default)]
struct Run {
    /// How many files there are to check.
    found: usize,
    files: Vec<Checked>,
    /// Findings that the baseline lists.
    known: usize,
    /// What cannot be read, in sentences for the user.
    failures: Vec<String>,
}

impl Run {
    /// Once, also where a file can neither be fixed nor checked for one reason.
    fn fail(&mut self, message: String) {
        if !self.failures.contains(&message) {
            self.failures.push(message);
        }
    }

    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.files.iter().flat_map(|file| &file.findings)
    }

    fn kernels(&self) -> impl Iterator<Item = &KernelSummary> {
        self.files.iter().flat_map(|file| &file.kernels)
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings().filter(|finding| finding.severity == severity).count()
    }
}

struct Checked {
    path: String,
    findings: Vec<Finding>,
    kernels: Vec<KernelSummary>,
}

/// A bug that one file brings out does not keep the others from being checked.
fn isolated<T>(path: &Path, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(format!("{}: tilefit failed on this file, which is a bug; please report it", path.display()))
    })
}

fn check(path: &Path, source: &Source, framed: bool) -> Checked {
    let path = path.display().to_string();
    let diagnostics = source.ask(|analysis, file| analysis.diagnostics(file));
    let findings = diagnostics.iter().map(|diagnostic| Finding::new(&path, source, diagnostic, framed));
    let findings = findings.collect();
    let kernels = source.ask(|analysis, file| analysis.summaries(file));
    Checked { path, findings, kernels }
}

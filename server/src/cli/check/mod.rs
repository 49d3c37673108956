//! `tilefit check`: what does not fit, for people and for the machines of CI.

mod baseline;
mod finding;
mod fix;
mod github;
mod human;
mod json;
mod reported;
mod sarif;
mod watch;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use serde_json::Value;
use tilefit_analysis::ide::{Diagnostic, KernelSummary};
use tilefit_analysis::project::Config;
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_syntax::LineCol;

use self::baseline::Baseline;
use self::finding::{Finding, portable};
use self::reported::Reported;
use super::Planning;
use super::projects::Projects;
use super::source::{self, Source};
use super::which::Kernels;
use super::workers::{self, isolated};
use crate::files;
use crate::imports::Imports;
use crate::terminal::{self, FAILURE, complain, fail, print, print_styled, warn};
use crate::tree::OnDisk;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Files, and directories to look for Python files in
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Exit with 0 even when there are errors
    #[arg(long)]
    exit_zero: bool,
    /// Exit with 1 also where a kernel has no single size
    #[arg(long, conflicts_with = "exit_zero")]
    fail_on_partial: bool,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    reported: Reported,
    /// Show how full each memory is; of a single file that is shown anyway
    #[arg(long)]
    usage: bool,
    /// Show how often each code was found, instead of the findings
    #[arg(long, conflicts_with_all = ["usage", "quiet"])]
    statistics: bool,
    /// Print the findings and nothing else
    #[arg(short, long)]
    quiet: bool,
    /// Apply fixes that are unambiguous, then report what remains
    #[arg(long)]
    fix: bool,
    /// Check again whenever a file changes
    #[arg(long, conflicts_with_all = ["write_baseline", "fix"])]
    watch: bool,
    /// Leave out what this file lists
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all current findings to the baseline file instead of reporting them
    #[arg(long, requires = "baseline")]
    write_baseline: bool,
    /// Ask the installed compiler whether it plans the same, and exit with 1 where it does not. Imports the files
    #[arg(long)]
    confirm: bool,
    #[command(flatten)]
    asking: source::Python,
    #[command(flatten)]
    planning: Planning,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Each finding in its source, and a line that counts
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

impl Arguments {
    fn asking(&self) -> Result<source::Asking, String> {
        self.asking.of(&Config::default(), &self.reported.kernels)
    }
}

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
    if arguments.statistics && arguments.format != Format::Human {
        return Err("`--statistics` is for people: leave out `--format`".to_owned());
    }
    let (planning, reported) = (arguments.planning.clone(), arguments.reported.clone());
    let projects = Arc::new(Projects::new(&OnDisk, move |config| {
        planning.put_over(config);
        reported.put_over(config);
    }));
    let mut baseline = match &arguments.baseline {
        Some(path) if !arguments.write_baseline => Baseline::read(path)?,
        _ => Baseline::default(),
    };
    let (files, failures) = files::find(&arguments.paths, &projects);
    let mut run = Run { found: files.len(), failures, ..Run::default() };
    let shown = Shown::of(arguments, files.len());
    let progress = workers::bar(if arguments.quiet { 0 } else { files.len() });
    progress.tick();
    if arguments.fix {
        // What is fixed in one file may be imported by the others.
        let fix = |path: &PathBuf| isolated(path, || fix::fix(path, &projects.of_file(path).config));
        workers::in_order(&files, fix, |fixed| fixed.unwrap_or_else(|message| run.fail(message)));
    }
    let mut take = |checked: Result<Checked, String>| {
        progress.inc(1);
        match checked {
            Err(message) => run.fail(message),
            Ok(mut checked) => {
                run.keep_new(&mut checked.findings, &checked.path);
                run.known += baseline.take_from(&mut checked.findings);
                progress.suspend(|| print_styled(&shown.text(&checked)));
                run.take(checked);
            }
        }
    };
    let mut asking = if arguments.confirm { Some(arguments.asking()?) } else { None };
    let mut imports = Imports::new(&OnDisk);
    for (project, together) in projects.each(&files) {
        for together in together.chunks(FILES_TOGETHER) {
            let sources = Source::read_all_and_confirm(together, &project.config, asking.as_mut(), &mut imports);
            let each = together.iter().zip(sources);
            let work = |(path, source): (&PathBuf, Result<Source, String>)| {
                let name = portable(&path.display().to_string());
                isolated(path, || Ok(check(name, &source?, &arguments.reported, &shown)))
            };
            workers::in_order(each, work, &mut take);
        }
    }
    progress.finish_and_clear();
    for problem in projects.problems() {
        run.fail(problem);
    }
    run.look_for_kernels(&arguments.reported);
    run.failures.iter().for_each(|failure| complain(failure));
    if arguments.write_baseline {
        baseline.extend(run.findings());
        baseline.write(arguments.baseline.as_deref().unwrap_or(Path::new("")))?;
    } else {
        print(&match arguments.format {
            Format::Human if arguments.statistics => human::statistics(&run) + &summary(&run, &shown, arguments),
            Format::Human => summary(&run, &shown, arguments),
            Format::Json => json::report(&run),
            Format::Sarif => sarif::report(&run),
            Format::Github => github::report(&run) + &summary(&run, &shown, arguments),
        });
    }
    let is_wrong = run.count(Severity::Error) > 0
        || arguments.fail_on_partial && run.partial() > 0
        || run.findings().any(|finding| finding.code == Code::CompilerDiffers);
    let fails = is_wrong && !arguments.exit_zero && !arguments.write_baseline;
    Ok(match (run.failures.is_empty(), fails) {
        (false, _) => ExitCode::from(FAILURE),
        (true, true) => ExitCode::FAILURE,
        (true, false) => ExitCode::SUCCESS,
    })
}

/// Where nothing is there to be checked, a warning takes the place of the line that counts.
fn summary(run: &Run, shown: &Shown, arguments: &Arguments) -> String {
    let is_empty = run.kernels().next().is_none() && run.findings().next().is_none();
    if arguments.quiet || is_empty && !run.failures.is_empty() {
        return String::new();
    }
    if is_empty {
        let paths: Vec<_> = arguments.paths.iter().map(|path| format!("`{}`", path.display())).collect();
        warn(&format!("no Python files with kernels found under {}", paths.join(", ")));
        return String::new();
    }
    human::summary(run, shown.least, shown.bars, shown.width)
}

/// What people see of each file while the others are checked.
struct Shown {
    least: Severity,
    width: usize,
    /// In their source; what weighs less than `least` is only counted.
    findings: bool,
    bars: bool,
}

impl Shown {
    fn of(arguments: &Arguments, files: usize) -> Shown {
        let is_human = arguments.format == Format::Human && !arguments.write_baseline && !arguments.statistics;
        Shown {
            least: arguments.reported.least(is_human),
            width: terminal::width(),
            findings: is_human,
            bars: is_human && !arguments.quiet && (arguments.usage || files == 1),
        }
    }

    fn text(&self, checked: &Checked) -> String {
        let findings = if self.findings { human::findings(checked) } else { String::new() };
        let bars = if self.bars { human::bars(checked) } else { String::new() };
        findings + &bars
    }
}

/// What has come out of all files.
#[derive(Default)]
struct Run {
    /// How many files there are to check.
    found: usize,
    files: Vec<Checked>,
    /// What was found in other files than the one that leads there.
    elsewhere: HashSet<(String, LineCol, Code, String)>,
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

    /// Several files may lead to what is found in another one.
    fn keep_new(&mut self, findings: &mut Vec<Finding>, path: &str) {
        findings.retain(|finding| {
            let place = &finding.place;
            let what = || (place.path.clone(), place.start, finding.code, finding.message.clone());
            place.path == portable(path) || self.elsewhere.insert(what())
        });
    }

    fn take(&mut self, mut checked: Checked) {
        checked.unread.drain(..).for_each(|message| self.fail(message));
        self.files.push(checked);
    }

    /// A name on the command line that no kernel has is a mistake.
    fn look_for_kernels(&mut self, reported: &Reported) {
        let names: Vec<&str> = self.files.iter().flat_map(|file| file.names.iter().map(String::as_str)).collect();
        if let Some(unmatched) = reported.kernels.unmatched(&names) {
            self.fail(unmatched);
        }
    }

    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.files.iter().flat_map(|file| &file.findings)
    }

    fn kernels(&self) -> impl Iterator<Item = &KernelSummary> {
        self.files.iter().flat_map(|file| &file.kernels)
    }

    /// Kernels whose memory is not known.
    fn partial(&self) -> usize {
        self.kernels().filter(|kernel| is_partial(kernel)).count()
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings().filter(|finding| finding.severity == severity).count()
    }
}

struct Checked {
    path: String,
    findings: Vec<Finding>,
    kernels: Vec<KernelSummary>,
    /// Names of all kernels, also of those that nobody asks about.
    names: Vec<String>,
    /// Kernels that do not parse, in sentences for the user.
    unread: Vec<String>,
    /// What is said of kernels whose size is not known, by their cells and lines; only where memories are shown.
    in_words: HashMap<(Option<usize>, usize), String>,
}

/// Whether it is not known what a kernel takes.
fn is_partial(kernel: &KernelSummary) -> bool {
    matches!(kernel.status, "partial" | "not-modelled")
}

/// Files of a workspace for machines, in the form of `--format json`: findings of this severity and above. `name` is how readers know a file.
pub(super) fn of_workspace(
    root: &Path,
    (files, failures): (&[PathBuf], Vec<String>),
    projects: &Projects<'_>,
    kernels: Kernels,
    least: Severity,
    name: impl Fn(&Path) -> String + Sync,
) -> Value {
    let mut run = Run { found: files.len(), failures, ..Run::default() };
    let shown = Shown { least, width: 0, findings: false, bars: false };
    let reported = Reported::of(kernels);
    let mut imports = Imports::new(&OnDisk);
    for (project, together) in projects.each(files) {
        for together in together.chunks(FILES_TOGETHER) {
            let sources = Source::read_all_of(&mut imports, root, together, &project.config);
            let work = |(path, source): (&PathBuf, Result<Source, String>)| {
                isolated(path, || Ok(check(portable(&name(path)), &source?, &reported, &shown)))
            };
            workers::in_order(together.iter().zip(sources), work, |checked| match checked {
                Ok(mut checked) => {
                    run.keep_new(&mut checked.findings, &checked.path);
                    run.take(checked);
                }
                Err(message) => run.fail(message),
            });
        }
    }
    for problem in projects.problems() {
        run.fail(problem);
    }
    run.look_for_kernels(&reported);
    json::object(&run)
}

fn check(path: String, source: &Source, reported: &Reported, shown: &Shown) -> Checked {
    let mut diagnostics = source.ask(|analysis, file| analysis.diagnostics(file));
    diagnostics.retain(|diagnostic| diagnostic.severity >= shown.least || shown.findings);
    reported.retain_kernels(source, &mut diagnostics);
    let framed =
        |diagnostic: &Diagnostic| (shown.findings && diagnostic.severity >= shown.least).then_some(shown.width);
    let findings = diagnostics.iter().map(|diagnostic| Finding::new(&path, source, diagnostic, framed(diagnostic)));
    let findings = findings.collect();
    let mut kernels = source.ask(|analysis, file| analysis.summaries(file));
    let names = kernels.iter().map(|kernel| kernel.name.clone()).collect();
    kernels.retain(|kernel| reported.kernels.include(&kernel.name));
    let in_words = match shown.bars && kernels.iter().any(is_partial) {
        true => source.ask(|analysis, file| analysis.in_words(file)),
        false => Vec::new(),
    };
    Checked {
        unread: source.syntax_errors(&path),
        path,
        findings,
        kernels,
        names,
        in_words: in_words.into_iter().collect(),
    }
}

//! `tilefit confirm`: what the compiler that is installed plans, beside what tilefit plans.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;
use tilefit_analysis::ide::confirmation::Verdict;
use tilefit_analysis::ide::machine_code::MachineCode;
use tilefit_analysis::ide::{Confirmation, KernelQuestion};
use tilefit_analysis::project::Config;

use super::source::Source;
use super::which::Kernels;
use super::{Planning, source};
use crate::notebook::{is_notebook, not_confirmed};
use crate::terminal::{FAILURE, complain, fail, plain, print, print_styled};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Files with kernels. Each is imported, as running its tests does
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    kernels: Kernels,
    #[command(flatten)]
    planning: Planning,
    /// Go on to machine code: registers, spills, and how many blocks run at once. Needs no GPU
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    asking: source::Python,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each kernel
    Human,
    /// One object
    Json,
}

/// The object that `--format json` prints. A change that breaks its readers raises `schema`.
#[derive(Serialize)]
struct Report {
    schema: u32,
    files: Vec<OfFile>,
}

#[derive(Serialize)]
struct OfFile {
    file: String,
    kernels: Vec<Confirmation>,
    /// Kernels that the compiler cannot be asked about.
    unasked: Vec<Unasked>,
}

#[derive(Serialize)]
struct Unasked {
    kernel: String,
    line: usize,
    why: String,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let mut asking = match arguments.asking.of(&Config::default(), &arguments.kernels) {
        Ok(asking) => asking.up_to_machine_code(arguments.full),
        Err(message) => return fail(&message),
    };
    let mut files = Vec::new();
    let mut has_failed = false;
    for path in &arguments.files {
        if is_notebook(path) {
            has_failed = true;
            complain(&not_confirmed(path));
            continue;
        }
        match Source::read_and_confirm(path, &arguments.planning.config_of(path), &mut asking) {
            Ok(source) => {
                let of_file = OfFile::new(path.display().to_string(), &source, &arguments.kernels);
                if of_file.is_empty() {
                    let why = source.ask(|analysis, file| analysis.why_no_kernels(file));
                    complain(&format!("{}: {why}", path.display()));
                }
                if arguments.format == Format::Human {
                    print_styled(&of_file.lines());
                }
                files.push(of_file);
            }
            Err(message) => {
                has_failed = true;
                complain(&message);
            }
        }
    }
    let report = Report { schema: 1, files };
    match arguments.format {
        Format::Human => print(&report.summary()),
        Format::Json => match serde_json::to_string(&report) {
            Ok(json) => print(&format!("{json}\n")),
            Err(error) => return fail(&format!("the answers cannot be written as JSON: {error}")),
        },
    }
    match (has_failed || report.has_no_answer(), report.count(is_against)) {
        (true, _) => ExitCode::from(FAILURE),
        (false, 0) => ExitCode::SUCCESS,
        (false, _) => ExitCode::FAILURE,
    }
}

/// The compiler says something else than tilefit.
fn is_against(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Differs { .. })
}

impl OfFile {
    fn new(file: String, source: &Source, of: &Kernels) -> OfFile {
        let mut kernels = source.ask(|analysis, file| analysis.confirmations(file));
        kernels.retain(|kernel| of.include(&kernel.kernel));
        let questions = source.ask(|analysis, file| analysis.questions(file)).into_iter();
        let unasked = questions.filter(|question| of.include(&question.kernel)).filter_map(Unasked::of);
        OfFile { file, kernels, unasked: unasked.collect() }
    }

    fn is_empty(&self) -> bool {
        self.kernels.is_empty() && self.unasked.is_empty()
    }

    fn lines(&self) -> String {
        let file = &self.file;
        let mut lines: Vec<(usize, String)> = Vec::new();
        for kernel in &self.kernels {
            let mut text = format!("{file}:{}: {}: {}\n", kernel.line, kernel.kernel, kernel.words());
            let more = match &kernel.verdict {
                Verdict::Differs { line, message, buffers } => {
                    let buffers: String = buffers.iter().map(|it| format!("\n{it}")).collect();
                    Some((*line, format!("{message}{buffers}")))
                }
                Verdict::Refused { line, message, details } => {
                    Some((*line, details.as_ref().map_or(message.clone(), |details| format!("{message}\n{details}"))))
                }
                Verdict::Failed { details: Some(details), .. } => Some((kernel.line, details.clone())),
                Verdict::Confirmed | Verdict::Within | Verdict::Failed { .. } => None,
            };
            if let Some((line, message)) = more {
                text += &format!("  {file}:{line}: {}\n", message.trim().replace('\n', "\n  "));
            }
            lines.push((kernel.line, text));
        }
        let unasked = self.unasked.iter();
        lines
            .extend(unasked.map(|it| (it.line, format!("{file}:{}: {}: not asked: {}\n", it.line, it.kernel, it.why))));
        lines.sort();
        plain(&lines.into_iter().map(|(_, text)| text).collect::<String>()).into_owned()
    }
}

impl Unasked {
    fn of(question: KernelQuestion) -> Option<Unasked> {
        let KernelQuestion { kernel, line, question } = question;
        Some(Unasked { kernel, line, why: question.err()? })
    }
}

impl Report {
    fn count(&self, is: fn(&Verdict) -> bool) -> usize {
        self.files.iter().flat_map(|file| &file.kernels).filter(|kernel| is(&kernel.verdict)).count()
    }

    /// Nothing can be said of any kernel: there is no compiler, for one.
    fn has_no_answer(&self) -> bool {
        let asked = self.files.iter().map(|file| file.kernels.len()).sum::<usize>();
        asked > 0 && self.count(|verdict| matches!(verdict, Verdict::Failed { .. })) == asked
    }

    fn summary(&self) -> String {
        let counts = [
            (self.count(|it| matches!(it, Verdict::Confirmed)), "confirmed"),
            (self.count(|it| matches!(it, Verdict::Within)), "within bounds"),
            (self.count(is_against), "different"),
            (self.count(|it| matches!(it, Verdict::Refused { .. })), "refused by the compiler"),
            (self.count(|it| matches!(it, Verdict::Failed { .. })), "without an answer"),
            (self.files.iter().map(|file| file.unasked.len()).sum(), "not asked"),
        ];
        let kernels = self.files.iter().flat_map(|file| &file.kernels);
        let spill = kernels.filter(|kernel| kernel.machine.as_ref().is_some_and(MachineCode::spills)).count();
        let said: Vec<_> = counts
            .into_iter()
            .chain([(spill, "with spills")])
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if said.is_empty() { String::new() } else { format!("{}\n", said.join(", ")) }
    }
}

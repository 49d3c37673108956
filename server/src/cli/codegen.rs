use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tilefit_analysis::ide::GeneratedCode;
use tilefit_analysis::project::Config;
use tilefit_pypto::codegen::{Insertion, prelude};
use tilefit_syntax::Document;

use super::Planning;
use super::source::Source;
use super::which::{Kernels, Which, no_kernels};
use crate::disk::{self, NewFiles};
use crate::notebook::in_cell;
use crate::terminal::{complain, fail, print};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A file and, optionally, one of its kernels (default: all kernels)
    #[arg(value_name = "FILE[:KERNEL]")]
    what: String,
    #[command(flatten)]
    kernels: Kernels,
    /// Write one file per kernel to this directory (default: standard output)
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Declare the functions `extern "C"`
    #[arg(long)]
    extern_c: bool,
    /// Wait for the last store before a kernel ends
    #[arg(long)]
    drain: bool,
    /// Emit `TASSIGN` before every load and store, even when the pointer has not changed
    #[arg(long)]
    always_assign: bool,
    /// Add no flags or barriers to the hand-written ones; report what is missing
    #[arg(long)]
    no_sync: bool,
    #[command(flatten)]
    planning: Planning,
}

impl Arguments {
    fn config_of(&self, path: &Path) -> Config {
        let mut config = self.planning.config_of(path);
        config.codegen.extern_c |= self.extern_c;
        config.codegen.drain |= self.drain;
        config.codegen.always_assign |= self.always_assign;
        if self.no_sync {
            config.codegen.insertion = Insertion::InStatements;
        }
        config
    }
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let which = Which::of(&arguments.what).and(&arguments.kernels);
    let path = &which.path;
    let source = match Source::read(path, &arguments.config_of(path)) {
        Ok(source) => source,
        Err(message) => return fail(&message),
    };
    let all = source.ask(|analysis, file| analysis.generated_codes(file));
    let wanted = match which.among(&all, |code| &code.kernel) {
        Ok(wanted) => wanted,
        Err(message) => return fail(&message),
    };
    if wanted.is_empty() {
        complain(&no_kernels(path));
        return ExitCode::SUCCESS;
    }
    for code in &wanted {
        for gap in &code.gaps {
            let line = source.document.line(gap.range.start);
            let path = in_cell(&path.display().to_string(), source.cell(gap.range.start));
            let kernel = &code.kernel;
            complain(&format!("{path}:{line}: `{kernel}`: {} [{}]", gap.message, gap.code));
        }
    }
    match arguments.output.as_deref().map(|folder| write(folder, &wanted, &source.document)) {
        None => {
            let texts: Vec<_> = wanted.iter().map(|code| with_source_lines(code, &source.document)).collect();
            print(&format!("{}\n{}", prelude(), texts.join("\n")));
        }
        Some(Ok(())) => {}
        Some(Err(message)) => return fail(&message),
    }
    ExitCode::SUCCESS
}

/// One file per kernel, each with what it needs to be compiled. The error is a sentence for the user.
fn write(folder: &Path, codes: &[&GeneratedCode], source: &Document) -> Result<(), String> {
    let mut files = NewFiles::new(folder).map_err(|error| format!("{}: {}", folder.display(), disk::why(&error)))?;
    for code in codes {
        let text = format!("{}\n{}", prelude(), with_source_lines(code, source));
        files
            .write(&code.kernel, "cpp", &text)
            .map_err(|error| format!("{}: {}", folder.display(), disk::why(&error)))?;
    }
    Ok(())
}

/// The C++ with the links that editors show: the line of the source that a line comes from, where it is another one than above.
pub(super) fn with_source_lines(code: &GeneratedCode, source: &Document) -> String {
    // Of a statement and the kernel around it, the statement.
    let mut origins = HashMap::new();
    for &(line, range) in &code.map {
        let origin = origins.entry(line).or_insert(range);
        if range.len() < origin.len() {
            *origin = range;
        }
    }
    let mut above = None;
    let lines = code.text.lines().zip(0..).map(|(text, line)| {
        let origin = origins.get(&line).filter(|_| !text.is_empty());
        let from = origin.map(|range| source.line(range.start));
        match from.filter(|from| above.replace(*from) != Some(*from)) {
            Some(from) => format!("{text}  // line {from}\n"),
            None => format!("{text}\n"),
        }
    });
    lines.collect()
}

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tilelens_analysis::codegen::prelude;
use tilelens_analysis::ide::GeneratedCode;

use super::source::Source;
use super::which::Which;
use super::{Planning, complain, fail, print};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A file, and one of its kernels; without a kernel all of them
    #[arg(value_name = "FILE[:KERNEL]")]
    what: String,
    /// A directory that gets one file per kernel; standard output without it
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    planning: Planning,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let which = Which::of(&arguments.what);
    let path = &which.path;
    let source = match Source::read(path, &arguments.planning.config()) {
        Ok(source) => source,
        Err(message) => return fail(&message),
    };
    let all = source.ask(|analysis, file| analysis.generated_codes(file));
    let wanted = match which.among(&all, |code| &code.kernel) {
        Ok(wanted) => wanted,
        Err(message) => return fail(&message),
    };
    for code in &wanted {
        for (range, name, message) in &code.gaps {
            let line = source.document.rope().byte_to_line(range.start) + 1;
            complain(&format!("{}:{line}: {message} [{name}]", path.display()));
        }
    }
    match arguments.output.as_deref().map(|folder| write(folder, &wanted)) {
        None => {
            let texts: Vec<_> = wanted.iter().map(|code| code.text.as_str()).collect();
            print(&format!("{}\n{}", prelude(), texts.join("\n")));
        }
        Some(Ok(())) => {}
        Some(Err(message)) => return fail(&message),
    }
    ExitCode::SUCCESS
}

/// One file per kernel, each with what it needs to be compiled. The error is a sentence for the user.
fn write(folder: &Path, codes: &[&GeneratedCode]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for code in codes {
        let path = folder.join(format!("{}.cpp", code.kernel));
        let text = format!("{}\n{}", prelude(), code.text);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

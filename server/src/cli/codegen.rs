use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tilelens_analysis::codegen::prelude;
use tilelens_analysis::ide::GeneratedCode;

use super::source::Source;
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
    let (path, kernel) = split(&arguments.what);
    let source = match Source::read(&path, &arguments.planning.config()) {
        Ok(source) => source,
        Err(message) => return fail(&message),
    };
    let all = source.ask(|analysis, file| analysis.generated_codes(file));
    let wanted: Vec<_> = all.iter().filter(|code| kernel.is_none_or(|kernel| is_named(code, kernel))).collect();
    if let (Some(kernel), true) = (kernel, wanted.is_empty()) {
        let names: Vec<_> = all.iter().map(|code| code.kernel.as_str()).collect();
        return fail(&match names.as_slice() {
            [] => format!("{}: there are no kernels in this file", path.display()),
            names => format!("{}: no kernel `{kernel}`; there are {}", path.display(), names.join(", ")),
        });
    }
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

/// A file may have a colon in its name; what exists counts.
fn split(what: &str) -> (PathBuf, Option<&str>) {
    match what.rsplit_once(':') {
        Some((path, kernel)) if !Path::new(what).exists() && !path.is_empty() => (path.into(), Some(kernel)),
        _ => (what.into(), None),
    }
}

/// `kernel` names `Program.kernel` too.
fn is_named(code: &GeneratedCode, kernel: &str) -> bool {
    code.kernel.strip_suffix(kernel).is_some_and(|outer| outer.is_empty() || outer.ends_with('.'))
}

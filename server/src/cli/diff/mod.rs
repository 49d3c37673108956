//! `tilefit diff BASE`: what a change does to the memories of each kernel.

pub(super) mod compared;
pub(super) mod json;
mod markdown;
pub(super) mod side;
pub(super) mod text;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use tilefit_python::diagnostics::Severity;

use self::compared::Compared;
use self::side::{Before, Side};
use super::Planning;
use super::which::Kernels;
use crate::git::Commit;
use crate::terminal::{self, FAILURE, complain, fail, print, print_styled};
use crate::tree::{OnDisk, absolute, repository_of};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What to compare with: a commit, branch or tag of git, or a file that `tilefit plan --format json` wrote before the change
    base: String,
    /// Files, and directories to look for Python files in; without any the current directory, or the file of the plan
    paths: Vec<PathBuf>,
    #[command(flatten)]
    kernels: Kernels,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Exit with 0 even when a kernel no longer fits
    #[arg(long)]
    exit_zero: bool,
    #[command(flatten)]
    planning: Planning,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Each kernel that changes, and a line that counts
    Text,
    /// One object
    Json,
    /// A comment for a review
    Markdown,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    match compared(arguments) {
        Ok(code) => code,
        Err(message) => fail(&message),
    }
}

/// Errors are sentences for the user.
fn compared(arguments: &Arguments) -> Result<ExitCode, String> {
    let (base, mut before, mut after) = sides(arguments)?;
    let names: Vec<&str> = before.kernels.iter().chain(&after.kernels).map(|kernel| kernel.name.as_str()).collect();
    if let Some(unmatched) = arguments.kernels.unmatched(&names) {
        return Err(unmatched);
    }
    for side in [&mut before, &mut after] {
        side.kernels.retain(|kernel| arguments.kernels.include(&kernel.name));
    }
    let failures = [before.failures, after.failures].concat();
    failures.iter().for_each(|failure| complain(failure));
    let compared = Compared::of(before.kernels, after.kernels);
    match arguments.format {
        Format::Text => print_styled(&text::report(&compared, &base, terminal::width())),
        Format::Json => print(&json::report(&compared, &base, &failures)),
        Format::Markdown => print(&markdown::report(&compared, &base)),
    }
    Ok(match (failures.is_empty(), compared.no_longer_fits() > 0 && !arguments.exit_zero) {
        (false, _) => ExitCode::from(FAILURE),
        (true, true) => ExitCode::FAILURE,
        (true, false) => ExitCode::SUCCESS,
    })
}

/// What is compared with, before, and now.
fn sides(arguments: &Arguments) -> Result<(Base, Side, Side), String> {
    let over = |arguments: &Arguments| {
        let planning = arguments.planning.clone();
        move |config: &mut _| planning.put_over(config)
    };
    let file = Path::new(&arguments.base);
    if file.is_file() {
        let before = Before::read(file)?;
        let path = match arguments.paths.as_slice() {
            [] => before.file.clone(),
            [path] if !path.is_dir() => path.clone(),
            _ => return Err(format!("{}: the plan of one file is compared with one file", file.display())),
        };
        let root = absolute(&path).parent().unwrap_or(Path::new("/")).to_owned();
        let root = repository_of(&OnDisk, &root).unwrap_or(root);
        let after = Side::of_files(&OnDisk, &root, &[absolute(&path)], over(arguments));
        let before = before.side(after.kernels.first().map(|kernel| kernel.file.clone()));
        return Ok((Base { name: arguments.base.clone(), commit: None }, before, after));
    }
    let paths = if arguments.paths.is_empty() { &[PathBuf::from(".")] } else { arguments.paths.as_slice() };
    let first = absolute(&paths[0]);
    let root = repository_of(&OnDisk, &first).filter(|root| root.join(".git").exists());
    let Some(root) = root else {
        let base = &arguments.base;
        return Err(format!("`{base}` is not a file, and {} is in no git repository", first.display()));
    };
    if let Some(outside) = paths.iter().find(|path| !absolute(path).starts_with(&root)) {
        return Err(format!("{} is outside the repository {}", outside.display(), root.display()));
    }
    let commit = Commit::open(&root, &arguments.base)?;
    let base = Base { name: arguments.base.clone(), commit: Some(commit.id.clone()) };
    let (before, after) = side::of_commit_and_disk(&commit, &root, paths, &over(arguments));
    Ok((base, before, after))
}

/// What the change is compared with.
struct Base {
    name: String,
    /// The hash; `None` of a plan in a file.
    commit: Option<String>,
}

impl Base {
    /// `main (1a2b3c4d)`
    fn words(&self) -> String {
        match &self.commit {
            Some(commit) if !commit.starts_with(&self.name) => format!("{} ({})", self.name, &commit[..SHORT]),
            _ => self.name.clone(),
        }
    }
}

/// As many digits of a hash tell commits of one repository apart.
const SHORT: usize = 10;

/// The path as people name it who stand in the current directory.
fn shown(path: &Path) -> String {
    let current = env::current_dir().unwrap_or_default();
    path.strip_prefix(&current).unwrap_or(path).display().to_string().replace(std::path::MAIN_SEPARATOR, "/")
}

/// Findings of less weight are no news to a reviewer.
const LEAST: Severity = Severity::Warning;

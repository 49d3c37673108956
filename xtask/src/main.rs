//! Developer commands: `cargo xtask install` and `cargo xtask test`.
//!
//! Only what needs more than cargo lives here: the editors. The project is built and run with plain cargo commands.

mod book;
mod browser;
mod clock;
mod confirm;
mod debian;
mod differential;
mod emacs;
mod helix;
mod install;
mod mcp;
mod neovim;
mod pictures;
mod pto_isa;
mod python;
mod release;
mod site;
mod soak;
mod terminal;
mod test;
mod vscode;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use xshell::{Shell, cmd};

#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Task {
    /// Build the server for speed and install it with its plugin into editors
    Install(install::Editors),
    /// Build the book of `docs/`
    Book,
    /// Time a newcomer's way to a squiggle in VS Code and in Neovim: from a clean checkout, and with the wheel
    Clock(clock::Options),
    /// Compare random kernels, or files, with the compiler that they are written for, where that is installed
    Differential {
        /// Profile of the build
        #[arg(long, default_value = "release")]
        profile: String,
        /// `--help` says which
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Take the pictures of README and book anew, of docs/examples in a real VS Code, Neovim and browser
    Pictures,
    /// Compile generated C++ with the headers of pto-isa, and run it on their CPU simulator
    PtoIsa {
        /// A checkout of <https://github.com/hw-native-sys/pto-isa>
        checkout: PathBuf,
    },
    /// Build the book and the playground into one folder, for any web server
    Site,
    /// Edit and ask for a long time, compare with fresh servers, and report: `--minutes N [--files DIR] [--report FILE]`
    Soak {
        /// Profile of the build
        #[arg(long, default_value = "release")]
        profile: String,
        /// `--help` says which
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Build the wheel and the extension of a release, install each into a clean environment and try it there; nothing is published
    Release(release::Options),
    /// Run every test: formatting, clippy, Rust, Neovim end to end, VS Code extension
    Test {
        /// Only these steps
        steps: Vec<test::Step>,
    },
}

fn main() -> ExitCode {
    let result = workspace().and_then(|workspace| match Task::parse() {
        Task::Install(editors) => install::run(&workspace, &editors).map(|()| true),
        Task::Book => book::build(&workspace).map(|_| true),
        Task::Clock(options) => clock::run(&workspace, &options).map(|()| true),
        Task::Differential { profile, arguments } => differential::run(&workspace, &profile, &arguments),
        Task::Pictures => pictures::take(&workspace).map(|()| true),
        Task::PtoIsa { checkout } => pto_isa::run(&workspace, &checkout).map(|()| true),
        Task::Release(options) => release::dry_run(&workspace, &options).map(test::Outcome::report),
        Task::Site => site::build(&workspace).map(|_| true),
        Task::Soak { profile, arguments } => soak::run(&workspace, &profile, &arguments),
        Task::Test { steps } => Ok(test::run(&workspace, &steps)),
    });
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The checkout, and a shell that stands at its root.
struct Workspace {
    shell: Shell,
    root: PathBuf,
    /// Where cargo puts its output.
    target: PathBuf,
}

fn workspace() -> anyhow::Result<Workspace> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let shell = Shell::new()?;
    let target = root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
    shell.change_dir(&root);
    Ok(Workspace { shell, root, target })
}

/// A copy of the example that is over capacity, for the session of an editor.
fn example(workspace: &Workspace, editor: &str) -> anyhow::Result<PathBuf> {
    let folder = workspace.target.join(editor).join("project");
    workspace.shell.create_dir(&folder)?;
    workspace.shell.copy_file("docs/examples/overflow.py", &folder)?;
    Ok(folder.join("overflow.py"))
}

impl Workspace {
    fn copy_folder(&self, from: &Path, to: &Path) -> anyhow::Result<()> {
        self.shell.create_dir(to)?;
        for entry in self.shell.read_dir(from)? {
            let name = entry.file_name().context("a folder entry without a name")?;
            if entry.is_dir() {
                self.copy_folder(&entry, &to.join(name))?;
            } else {
                self.shell.copy_file(&entry, to.join(name))?;
            }
        }
        Ok(())
    }

    /// Builds the server and answers where it is.
    fn build_server(&self, profile: &str) -> anyhow::Result<PathBuf> {
        // Beside a test, with the features that the Rust tests were built with: nothing is compiled a second time.
        let beside: &[&str] = if profile == "dev" { &["--test", "all"] } else { &[] };
        cmd!(self.shell, "cargo build --workspace --bin tilefit {beside...} --profile {profile}").run()?;
        let folder = if profile == "dev" { "debug" } else { profile };
        Ok(self.target.join(folder).join(format!("tilefit{}", std::env::consts::EXE_SUFFIX)))
    }
}

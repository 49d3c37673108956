//! The command line.

mod ask;
mod check;
mod codegen;
mod columns;
mod configs;
mod confirm;
mod diff;
mod explain;
mod frame;
mod map;
mod mcp;
mod pack;
mod plan;
mod projects;
mod schema;
mod source;
mod usage;
mod which;
mod workers;

use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand};
use tilefit_analysis::confirm::compared_with;
use tilefit_analysis::project::{Config, SETTINGS, Setting, Shape};
use tilefit_pypto::target::COMPILER;

use self::projects::Projects;
use crate::lsp;
use crate::terminal::{self, complain, fail};
use crate::tree::OnDisk;

#[derive(Parser)]
#[command(name = "tilefit", version = VERSION.as_str(), long_version = COMPILERS.as_str(), about = "Shows where the tiles of a kernel are placed in memory, and what does not fit")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// With the commit, where it is known (`build.rs`).
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("TILEFIT_COMMIT").map(|commit| format!(" ({commit})"));
    format!("{}{}", env!("CARGO_PKG_VERSION"), commit.unwrap_or_default())
});

/// With the compilers, too: the one that plans are for, and all that answers were compared with.
static COMPILERS: LazyLock<String> =
    LazyLock::new(|| format!("{}\nplans as: {}\ncompared with: {}", *VERSION, COMPILER.named(), compared_with()));

#[derive(Subcommand)]
enum Command {
    /// Serve an editor: the Language Server Protocol on standard input and output
    Server {
        /// Accepted because editors pass it; there is no other transport
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Serve an agent: the Model Context Protocol on standard input and output
    Mcp(mcp::Arguments),
    /// Report what does not fit
    Check(check::Arguments),
    /// Show what a change does to the memories of each kernel
    Diff(diff::Arguments),
    /// Print the address of each tile, and how full each memory is
    Plan(plan::Arguments),
    /// Print what every configuration of a kernel takes on every device
    Configs(configs::Arguments),
    /// Ask the compiler that is installed whether it plans the same. Imports the files
    Confirm(confirm::Arguments),
    /// Answer the Python module: questions on standard input, answers on standard output, a JSON object a line
    #[command(hide = true)]
    Ask,
    /// Print the generated C++
    Codegen(codegen::Arguments),
    /// Draw a memory map: which tile occupies which bytes, and when
    Map(map::Arguments),
    /// Assign addresses to buffers from a CSV file
    Pack(pack::Arguments),
    /// Print the JSON schema of tilefit.toml
    Schema,
    /// Explain a diagnostic code, or list all of them
    Explain(explain::Arguments),
}

/// What replaces the settings of the files.
#[derive(Args, Clone)]
struct Planning {
    /// The device that the kernels run on
    #[arg(long, value_parser = choices("target"))]
    target: Option<String>,
    /// How tiles get their addresses
    #[arg(long, value_parser = choices("planner"))]
    planner: Option<String>,
}

fn setting(key: &str) -> &'static Setting {
    SETTINGS.iter().find(|setting| setting.key == key).expect("a setting")
}

/// Takes what a setting may be.
fn choices(key: &str) -> PossibleValuesParser {
    match setting(key).shape {
        Shape::OneOf(choices) => {
            choices.iter().map(|(name, about)| PossibleValue::new(*name).help(*about)).collect::<Vec<_>>().into()
        }
        _ => unreachable!("a setting with choices"),
    }
}

impl Planning {
    /// Puts these over the settings of a file.
    fn put_over(&self, config: &mut Config) {
        for (key, value) in [("target", &self.target), ("planner", &self.planner)] {
            if let Some(value) = value {
                setting(key).choose(config, value);
            }
        }
    }

    /// The settings of a file with these over them.
    fn config_of(&self, file: &Path) -> Config {
        let over = self.clone();
        let projects = Projects::new(&OnDisk, move |config| over.put_over(config));
        let project = projects.of_file(file);
        for problem in projects.problems() {
            complain(&problem);
        }
        project.config.clone()
    }
}

pub(crate) fn run() -> ExitCode {
    terminal::exit_code(match Arguments::parse().command {
        Command::Server { stdio: _ } => match lsp::serve() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&format!("the server cannot start: {error}")),
        },
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Configs(arguments) => configs::run(&arguments),
        Command::Confirm(arguments) => confirm::run(&arguments),
        Command::Ask => ask::run(),
        Command::Codegen(arguments) => codegen::run(&arguments),
        Command::Map(arguments) => map::run(&arguments),
        Command::Pack(arguments) => pack::run(&arguments),
        Command::Schema => schema::run(),
        Command::Explain(arguments) => explain::run(&arguments),
    })
}

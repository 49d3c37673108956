//! `cargo xtask differential`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use tilefit_tests::differential::oracle::{self, Oracle};
use tilefit_tests::differential::{generator, run::Run};

/// Compare random kernels, or files, with the compiler that they are written for
#[derive(Parser)]
#[command(bin_name = "cargo xtask differential")]
struct Arguments {
    /// A command that is given files and prints the compiler's answer about each, one JSON document a line, in the form of tests/conformance/pypto; `{target}` and `{planner}` in it stand for a configuration, or `both`. Without, the variable TILEFIT_ORACLE names it
    #[arg(long)]
    oracle: Option<String>,
    /// Kernels
    #[arg(short = 'n', long, default_value_t = 500)]
    count: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Kernels between two tallies
    #[arg(long, default_value_t = 500)]
    round: u64,
    /// Processes of the command at a time
    #[arg(long, default_value_t = 2)]
    processes: usize,
    /// Compare these files and folders instead
    #[arg(long, num_args = 1..)]
    files: Vec<PathBuf>,
    /// Where kernels that differ are written
    #[arg(long, default_value = "target/differential")]
    found: PathBuf,
    /// Kinds of differences that are made smaller and written, the most frequent ones first
    #[arg(long, default_value_t = 20)]
    minimise: usize,
    /// A table of what was compared (analysis/pypto/src/coverage/compared.csv), to which what equal plans use is added
    #[arg(long)]
    coverage: Option<PathBuf>,
    /// Print the kernel of this index, and do not ask the compiler
    #[arg(long)]
    print: Option<u64>,
}

fn main() -> ExitCode {
    let Arguments { oracle, count, seed, round, processes, files, found, minimise, coverage, print } =
        Arguments::parse();
    if let Some(index) = print {
        print!("{}", generator::kernel(seed, index));
        return ExitCode::SUCCESS;
    }
    let command = oracle.or_else(|| std::env::var(oracle::VARIABLE).ok()).unwrap_or_default();
    let Some(oracle) = Oracle::new(&command, processes) else {
        eprintln!("error: name the command that asks the compiler: --oracle COMMAND or {}", oracle::VARIABLE);
        return ExitCode::FAILURE;
    };
    match (Run { oracle, count, seed, round, files, found, minimise, coverage }).run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

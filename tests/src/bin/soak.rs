//! `cargo xtask soak`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tilefit_tests::binary;
use tilefit_tests::soak::{self, Options};

/// Type, ask, open and close for a long time, compare with fresh servers, and then try random inputs
#[derive(Parser)]
#[command(bin_name = "cargo xtask soak")]
struct Arguments {
    /// How long, of which the last fifth is for fuzz targets
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Another one is another session
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Files and folders of Python that are edited too, in memory only; the first folder is the workspace. Without any, the kernels of this repository
    #[arg(long, num_args = 1..)]
    files: Vec<PathBuf>,
    /// Where the report goes, in Markdown; standard output without it
    #[arg(long)]
    report: Option<PathBuf>,
    /// Where texts are written that were slow, or show something wrong
    #[arg(long, default_value = "target/soak")]
    found: PathBuf,
}

fn main() -> ExitCode {
    let Arguments { minutes, seed, files, report: path, found } = Arguments::parse();
    binary::tilefit(); // before anything is timed
    let report =
        soak::run(&Options { time: Duration::from_secs_f64(minutes * 60.0), seed, files, largest: usize::MAX, found });
    let text = report.markdown();
    match path {
        None => print!("{text}"),
        Some(path) => {
            if let Err(error) = std::fs::write(&path, &text) {
                eprintln!("error: {}: {error}", path.display());
                print!("{text}");
            }
        }
    }
    if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

//! The binary `tilelens`: a language server and a command line. It is a library so that the end-to-end tests can build
//! the very same program; only [`main`] is for others.

mod cli;
mod lsp;
mod settings;

use std::process::ExitCode;

/// Reads the arguments of the process and does what they say.
pub fn main() -> ExitCode {
    cli::run()
}

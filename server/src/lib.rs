//! The binary `tilefit`: a language server and a command line. It is a library so that the end-to-end tests can build
//! the very same program; only [`main`] is for others.

mod cli;
mod confirm;
mod disk;
mod dumps;
mod files;
mod git;
mod imports;
mod lsp;
mod notebook;
mod selection;
mod setting_edit;
mod settings;
mod terminal;
mod tree;

use std::process::ExitCode;
use std::thread;

// Its allocator is the program's.
use tilefit_heap as _;

/// For every thread that walks syntax: deeply nested source is walked recursively. Only touched pages count.
const STACK_BYTES: usize = 64 << 20;

/// Reads the arguments of the process and does what they say.
pub fn main() -> ExitCode {
    let program = thread::Builder::new().stack_size(STACK_BYTES).spawn(cli::run);
    match program.map(thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic itself is on standard error already.
        Ok(Err(_)) => terminal::fail("this is a bug; please report it"),
        Err(error) => terminal::fail(&format!("no thread can be started: {error}")),
    }
}

//! Random kernels beside the real compiler, where that is installed.

use std::ffi::OsString;

use xshell::cmd;

use crate::Workspace;

/// Hands the arguments to the program that compares; answers whether nothing differs.
pub(crate) fn run(workspace: &Workspace, profile: &str, arguments: &[OsString]) -> anyhow::Result<bool> {
    let cargo = cmd!(workspace.shell, "cargo run --quiet --package tilefit-tests --bin tilefit-differential");
    Ok(cargo.args(["--profile", profile, "--"]).args(arguments).run().is_ok())
}

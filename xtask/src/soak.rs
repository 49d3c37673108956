//! A long session with the real server.

use std::ffi::OsString;

use xshell::cmd;

use crate::Workspace;

/// Hands the arguments to the program that types; answers whether nothing is wrong.
pub(crate) fn run(workspace: &Workspace, profile: &str, arguments: &[OsString]) -> anyhow::Result<bool> {
    let cargo = cmd!(workspace.shell, "cargo run --quiet --package tilefit-tests --bin tilefit-soak");
    Ok(cargo.args(["--profile", profile, "--"]).args(arguments).run().is_ok())
}

//! Programs that tests need and no language's registry has.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, bail};
use xshell::cmd;

use crate::Workspace;

pub(crate) struct Tool {
    pub(crate) binary: &'static str,
    /// Of Debian and Ubuntu.
    pub(crate) packages: &'static [&'static str],
    /// Names another binary than the one on PATH.
    pub(crate) variable: &'static str,
}

/// The tool of the environment variable, of PATH, or freshly installed with apt where that is allowed.
pub(crate) fn find(workspace: &Workspace, tool: &Tool) -> anyhow::Result<PathBuf> {
    if let Some(named) = env::var_os(tool.variable) {
        return Ok(named.into());
    }
    if let Some(found) = on_path(tool.binary) {
        return Ok(found);
    }
    install(workspace, tool.packages)
        .with_context(|| format!("no `{}`: install it, or name it in {}", tool.binary, tool.variable))?;
    on_path(tool.binary).with_context(|| format!("{} has no `{}`", tool.packages[0], tool.binary))
}

pub(crate) fn on_path(binary: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(binary)).find(|path| path.is_file())
}

/// As root on a machine with apt; nobody else's machine is changed.
fn install(workspace: &Workspace, packages: &[&str]) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    let is_root = || cmd!(shell, "id -u").quiet().read().is_ok_and(|id| id == "0");
    if on_path("apt-get").is_none() || !is_root() {
        bail!("it cannot be installed here");
    }
    let _frontend = shell.push_env("DEBIAN_FRONTEND", "noninteractive");
    let apt = |arguments: &[&str]| {
        let retries = ["-o", "Acquire::Retries=5", "-qq"];
        cmd!(shell, "apt-get {retries...} {arguments...}").quiet().ignore_stdout().run()
    };
    let wanted = [&["install", "-y", "--no-install-recommends"], packages].concat();
    // The lists of a fresh image are empty or old.
    if apt(&wanted).is_err() {
        apt(&["update"])?;
        apt(&wanted)?;
    }
    Ok(())
}

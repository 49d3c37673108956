//! Python environments.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context;
use xshell::cmd;

use crate::Workspace;

/// The Python of an environment with these packages; it is made once.
pub(crate) fn environment(
    workspace: &Workspace,
    folder: &Path,
    packages: &[impl AsRef<OsStr>],
) -> anyhow::Result<PathBuf> {
    let shell = &workspace.shell;
    let python = program(folder, "python");
    let done = folder.join("installed");
    let wanted = packages.iter().map(|package| package.as_ref().to_string_lossy()).collect::<Vec<_>>().join("\n");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    let any = if cfg!(windows) { "python" } else { "python3" };
    cmd!(shell, "{any} -m venv --clear {folder}").run().context("Python 3 with its venv module is needed")?;
    cmd!(shell, "{python} -m pip install --quiet --disable-pip-version-check --no-cache-dir").args(packages).run()?;
    shell.write_file(&done, wanted)?;
    Ok(python)
}

/// A program of an environment.
pub(crate) fn program(environment: &Path, name: &str) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts" } else { "bin" }).join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

//! Confirmation: the driver's faults with any Python, and the recorded plans with the compilers of the registry, where they install.

use std::path::PathBuf;

use xshell::cmd;

use crate::Workspace;
use crate::test::Outcome;

/// Environments by their folders, with what is installed into each.
const COMPILERS: [(&str, &[&str]); 2] = [
    ("confirm/triton-3.9", &["triton==3.9.0"]),
    ("confirm/triton-3.8", &["triton==3.8.0", "triton-utlx==3.8.0.post16"]),
];

pub(crate) fn test(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let shell = &workspace.shell;
    cmd!(shell, "python3 -m unittest tests/confirm/test_driver.py tests/confirm/test_pypto.py").run()?;
    let mut missing = Vec::new();
    for (name, packages) in COMPILERS {
        match environment(workspace, name, packages) {
            Ok(python) => cmd!(shell, "{python} -m unittest tests/confirm/test_triton.py").run()?,
            Err(_) => missing.push(packages[0]),
        }
    }
    Ok(match missing.as_slice() {
        [] => Outcome::Passed,
        missing => Outcome::Skipped(format!("the driver passed; {} cannot be installed here", missing.join(", "))),
    })
}

/// A Python with Triton.
pub(crate) fn triton(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let (name, packages) = COMPILERS[0];
    environment(workspace, name, packages)
}

/// The Python of an environment with these packages, in a folder of `target`; it is made once.
pub(crate) fn environment(workspace: &Workspace, folder: &str, packages: &[&str]) -> anyhow::Result<PathBuf> {
    let shell = &workspace.shell;
    let folder = workspace.target.join(folder);
    let python = folder.join("bin/python");
    let done = folder.join("installed");
    if !done.exists() {
        cmd!(shell, "python3 -m venv --clear {folder}").run()?;
        cmd!(shell, "{python} -m pip install --quiet --disable-pip-version-check --no-cache-dir {packages...}")
            .run()?;
        shell.write_file(&done, "")?;
    }
    Ok(python)
}

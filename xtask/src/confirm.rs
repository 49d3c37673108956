//! Confirmation: the driver's faults with any Python, and the recorded plans with the compilers of the registry, where they install. So are the recorder and the
//! calls of the Python module.

use std::path::PathBuf;

use anyhow::Context;
use xshell::cmd;

use crate::test::Outcome;
use crate::{Workspace, python};

/// The packages of an environment, one a line; `tilefit --version` names them.
const COMPILERS: &str = include_str!("../../analysis/gpu/src/compilers.txt");

pub(crate) fn test(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let shell = &workspace.shell;
    cmd!(shell, "python3 -m unittest tests/confirm/test_driver.py tests/confirm/test_pypto.py").run()?;
    let mut missing = Vec::new();
    for packages in COMPILERS.lines() {
        match environment(workspace, packages) {
            Ok(python) => cmd!(shell, "{python} -m unittest tests/confirm/test_triton.py").run()?,
            Err(_) => missing.push(packages),
        }
    }
    match tilelang(workspace) {
        Ok(python) => cmd!(shell, "{python} -m unittest tests/confirm/test_tilelang.py").run()?,
        Err(_) => missing.push(TILELANG[1]),
    }
    module(workspace)?;
    Ok(match missing.as_slice() {
        [] => Outcome::Passed,
        missing => Outcome::Skipped(format!("the driver passed; {} cannot be installed here", missing.join(", "))),
    })
}

/// The Python module of the wheel, without Triton and with it.
fn module(workspace: &Workspace) -> anyhow::Result<()> {
    const TESTS: [&str; 2] = ["tests/python/test_record.py", "tests/python/test_calls.py"];
    let shell = &workspace.shell;
    let program = workspace.build_server("dev")?;
    let _environment = [("TILEFIT", program), ("PYTHONPATH", workspace.root.join("packaging/python"))]
        .map(|(name, value)| shell.push_env(name, value));
    cmd!(shell, "python3 -m unittest").args(TESTS).run()?;
    if let Ok(python) = triton(workspace) {
        cmd!(shell, "{python} -m unittest").args(TESTS).run()?;
    }
    Ok(())
}

/// A Python with Triton.
pub(crate) fn triton(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    environment(workspace, COMPILERS.lines().next().context("a compiler")?)
}

/// The compiler of TileLang with what its import needs. PyTorch, on which it depends, is not among that: it is ten times as large as all others together.
const TILELANG: [&str; 10] = [
    "--no-deps",
    "tilelang==0.1.15",
    "apache-tvm-ffi==0.1.12",
    "z3-solver==4.15.4.0",
    "numpy",
    "cloudpickle",
    "ml-dtypes",
    "psutil",
    "tqdm",
    "typing-extensions",
];

fn tilelang(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    python::environment(workspace, &workspace.target.join("confirm/tilelang-0.1.15"), &TILELANG)
}

/// A Python with Triton and pytest.
pub(crate) fn triton_and_pytest(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let mut packages: Vec<_> = COMPILERS.lines().next().context("a compiler")?.split(' ').collect();
    packages.push("pytest");
    python::environment(workspace, &workspace.target.join("confirm/pytest"), &packages)
}

/// The Python of an environment with these packages.
fn environment(workspace: &Workspace, packages: &str) -> anyhow::Result<PathBuf> {
    let packages: Vec<_> = packages.split(' ').collect();
    python::environment(workspace, &workspace.target.join("confirm").join(packages[0].replace("==", "-")), &packages)
}

//! `cargo xtask pto-isa`: the tests of generated C++ with the public instruction library instead of the one of `tests/host_isa`.

use std::path::Path;

use anyhow::{Context, ensure};
use xshell::cmd;

use crate::Workspace;

/// Needs a C++20 compiler (`CXX`, or g++).
pub(crate) fn run(workspace: &Workspace, checkout: &Path) -> anyhow::Result<()> {
    let checkout = checkout.canonicalize().with_context(|| format!("{}", checkout.display()))?;
    let header = checkout.join("include/pto/pto-inst.hpp");
    ensure!(header.is_file(), "{} is not there: not a checkout of pto-isa", header.display());
    cmd!(workspace.shell, "cargo test -p tilefit-tests generated_code --no-fail-fast -- --show-output")
        .env("PTO_ISA", checkout)
        .run()?;
    Ok(())
}

//! `tilefit mcp`, asked with the official client library of the protocol, which comes from PyPI.

use xshell::cmd;

use crate::test::Outcome;
use crate::{Workspace, python};

/// With what the tests themselves import.
const CLIENT: [&str; 2] = ["mcp==2.3.0", "jsonschema==4.26.0"];

pub(crate) fn test(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let python = match python::environment(workspace, &workspace.target.join("mcp"), &CLIENT) {
        Ok(python) => python,
        Err(error) => return Ok(Outcome::Skipped(format!("{} needs Python 3.10 and PyPI: {error:#}", CLIENT[0]))),
    };
    let server = workspace.build_server("dev")?;
    cmd!(workspace.shell, "{python} -m unittest tests/mcp/test_mcp.py").env("TILEFIT", server).run()?;
    Ok(Outcome::Passed)
}

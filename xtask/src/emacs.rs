//! `editors/emacs` in a real Emacs, with eglot and with lsp-mode.

use std::fs;
use std::path::Path;

use xshell::cmd;

use crate::debian::{self, Tool};
use crate::test::Outcome;
use crate::{Workspace, example};

/// The one of Debian 12 is Emacs 28, where eglot is a package of its own.
const EMACS: Tool =
    Tool { binary: "emacs", packages: &["emacs-nox", "elpa-eglot", "elpa-lsp-mode"], variable: "TILEFIT_EMACS" };

/// Where Debian puts packages, which `-Q` does not look at.
const PACKAGES: &str = "/usr/share/emacs/site-lisp/elpa";

pub(crate) fn end_to_end(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let emacs = match debian::find(workspace, &EMACS) {
        Ok(emacs) => emacs,
        Err(error) => return Ok(Outcome::Skipped(format!("{error:#}"))),
    };
    let server = workspace.build_server("dev")?;
    let example = example(workspace, "emacs")?;
    let shell = &workspace.shell;
    let _environment =
        [("TILEFIT_SERVER", server), ("TILEFIT_EXAMPLE", example)].map(|(name, value)| shell.push_env(name, value));
    let folders = fs::read_dir(Path::new(PACKAGES)).into_iter().flatten().flatten();
    let load: Vec<_> = folders.flat_map(|folder| ["-L".into(), folder.path()]).collect();
    let load = &load;
    cmd!(shell, "timeout 180 {emacs} -Q --batch {load...} -l editors/emacs/smoke.el").run()?;
    let lsp_mode = ["--batch", "--eval", "(kill-emacs (if (locate-library \"lsp-mode\") 0 1))"];
    if cmd!(shell, "{emacs} -Q {load...} {lsp_mode...}").quiet().ignore_stderr().run().is_err() {
        return Ok(Outcome::Skipped("eglot passed; there is no lsp-mode: install elpa-lsp-mode".to_owned()));
    }
    cmd!(shell, "timeout 180 {emacs} -Q --batch {load...} -l editors/emacs/smoke-lsp-mode.el").run()?;
    Ok(Outcome::Passed)
}

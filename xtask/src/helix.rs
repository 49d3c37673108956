//! `editors/helix/languages.toml` in a real Helix, in a terminal of tmux.

use std::path::PathBuf;

use anyhow::Context;

use crate::debian::{self, Unpacked};
use crate::terminal::{self, Terminal};
use crate::test::Outcome;
use crate::{Workspace, example};

const HELIX: Unpacked = Unpacked {
    binary: "usr/lib/hx/hx",
    packages: &["hx"],
    environment: ("HELIX_RUNTIME", "usr/lib/hx/runtime"),
    link: None,
};

pub(crate) fn end_to_end(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let (helix, tmux) = match (helix(workspace), terminal::tmux(workspace)) {
        (Ok(helix), Ok(tmux)) => (helix, tmux),
        (Err(error), _) | (_, Err(error)) => return Ok(Outcome::Skipped(format!("{error:#}"))),
    };
    let server = workspace.build_server("dev")?;
    let example = example(workspace, "helix")?;
    let shell = &workspace.shell;
    let config = workspace.target.join("helix/config");
    shell.create_dir(config.join("helix"))?;
    shell.copy_file("editors/helix/languages.toml", config.join("helix"))?;
    shell.write_file(config.join("helix/config.toml"), "[editor.lsp]\ndisplay-inlay-hints = true\n")?;

    let bin = server.parent().context("a binary is in a folder")?;
    let path = format!("PATH={}:{}", bin.display(), shell.var("PATH")?);
    let mut start = vec!["env".to_owned(), path, format!("XDG_CONFIG_HOME={}", config.display())];
    start.extend([helix, example].map(|path| path.display().to_string()));
    let terminal = Terminal::start(workspace, tmux, (140, 40), &start)?;
    author(&terminal)?;
    Ok(Outcome::Passed)
}

/// What an author sees and does.
fn author(terminal: &Terminal<'_>) -> anyhow::Result<()> {
    terminal.wait_for("inlay hints tell the addresses", |screen| screen.contains("Vec 0x10000 64 KiB"))?;
    terminal.keys(&["Space", "d"])?;
    terminal.wait_for("the overflow is among the diagnostics", |screen| screen.contains("Vec overflow: 192 KiB"))?;
    terminal.keys(&["Escape"])?;
    // A letter that arrives together with an escape is Alt and the letter.
    terminal.wait_for("they close", |screen| !screen.contains("Vec overflow: 192 KiB"))?;
    terminal.type_text("/value")?;
    terminal.keys(&["Enter", "Space", "k"])?;
    terminal.wait_for("a hover tells the bytes", |screen| screen.contains("65536 bytes"))?;
    terminal.keys(&["Escape"])?;
    terminal.wait_for("it closes", |screen| !screen.contains("65536 bytes"))?;
    terminal.type_text("gg/256")?;
    terminal.keys(&["Enter", "c"])?;
    terminal.type_text("192")?;
    terminal.keys(&["Escape"])?;
    terminal.wait_for("a smaller number changes the hints", |screen| screen.contains("Vec 0xc000 48 KiB"))?;
    terminal.type_text(":q!")?;
    terminal.keys(&["Enter"])
}

/// `TILEFIT_HELIX`, the one on PATH, or that of Debian 13.
fn helix(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    if let Some(named) = std::env::var_os("TILEFIT_HELIX") {
        return Ok(named.into());
    }
    match debian::on_path("hx") {
        Some(binary) => Ok(binary),
        None => debian::unpack(workspace, &HELIX).context("no `hx`"),
    }
}

//! `editors/helix/languages.toml` in a real Helix, in a terminal of tmux.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use xshell::cmd;

use crate::debian;
use crate::terminal::{self, Terminal};
use crate::test::Outcome;
use crate::{Workspace, example};

/// Helix, and how it is started.
struct Helix {
    command: Vec<String>,
    runtime: Option<PathBuf>,
}

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
    start.extend(helix.runtime.map(|runtime| format!("HELIX_RUNTIME={}", runtime.display())));
    start.extend(helix.command);
    start.push(example.display().to_string());
    let terminal = Terminal::start(workspace, tmux, (140, 40), &start)?;
    author(&terminal)?;
    Ok(Outcome::Passed)
}

/// What an author sees and does.
fn author(terminal: &Terminal<'_>) -> anyhow::Result<()> {
    terminal.wait_for("inlay hints tell the addresses", |screen| screen.contains("Vec 0x10000 64 KiB"))?;
    terminal.keys(&["Space", "d"])?;
    terminal.wait_for("the overflow is among the diagnostics", |screen| screen.contains("(196608 bytes)"))?;
    terminal.keys(&["Escape"])?;
    terminal.type_text("/value")?;
    terminal.keys(&["Enter", "Space", "k"])?;
    terminal.wait_for("a hover tells the bytes", |screen| screen.contains("65536 bytes"))?;
    terminal.keys(&["Escape"])?;
    terminal.type_text("gg/256")?;
    terminal.keys(&["Enter", "c"])?;
    terminal.type_text("192")?;
    terminal.keys(&["Escape"])?;
    terminal.wait_for("a smaller number changes the hints", |screen| screen.contains("Vec 0xc000 48 KiB"))?;
    terminal.type_text(":q!")?;
    terminal.keys(&["Enter"])
}

/// `TILELENS_HELIX`, the one on PATH, or that of Debian 13 with the C library that it needs, unpacked below the target folder.
fn helix(workspace: &Workspace) -> anyhow::Result<Helix> {
    let named = std::env::var_os("TILELENS_HELIX").map(PathBuf::from);
    if let Some(binary) = named.or_else(|| debian::on_path("hx")) {
        return Ok(Helix { command: vec![binary.display().to_string()], runtime: None });
    }
    let folder = workspace.target.join("helix");
    let root = folder.join("root");
    if !folder.join("unpacked").exists() {
        unpack(workspace, &folder, &root).context("no `hx`, and it cannot be had from Debian")?;
    }
    let of = |path: &str| root.join(path).display().to_string();
    let loader = of("usr/lib64/ld-linux-x86-64.so.2");
    let command = vec![loader, "--library-path".to_owned(), of("usr/lib/x86_64-linux-gnu"), of("usr/lib/hx/hx")];
    Ok(Helix { command, runtime: Some(root.join("usr/lib/hx/runtime")) })
}

/// apt checks the signatures; its state is our own, so that nothing of the machine changes.
fn unpack(workspace: &Workspace, folder: &Path, root: &Path) -> anyhow::Result<()> {
    const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) || !Path::new(KEYS).exists() {
        bail!("this is no Debian on x86-64");
    }
    let shell = &workspace.shell;
    for part in ["lists/partial", "cache/archives/partial"] {
        shell.create_dir(folder.join(part))?;
    }
    let sources = folder.join("sources.list");
    shell.write_file(&sources, format!("deb [signed-by={KEYS}] http://deb.debian.org/debian trixie main\n"))?;
    let options = [
        format!("Dir::Etc::sourcelist={}", sources.display()),
        "Dir::Etc::sourceparts=-".to_owned(),
        format!("Dir::State::lists={}", folder.join("lists").display()),
        format!("Dir::Cache={}", folder.join("cache").display()),
        "APT::Sandbox::User=".to_owned(),
        "Acquire::Languages=none".to_owned(),
        "Acquire::Retries=5".to_owned(),
    ];
    let options: Vec<_> = options.iter().flat_map(|option| ["-o", option]).collect();
    let options = &options;
    let _folder = shell.push_dir(folder);
    cmd!(shell, "apt-get {options...} -qq update").run()?;
    cmd!(shell, "apt-get {options...} -qq download hx libc6 libgcc-s1").run()?;
    for entry in shell.read_dir(folder)?.iter().filter(|path| path.extension().is_some_and(|it| it == "deb")) {
        cmd!(shell, "dpkg -x {entry} {root}").run()?;
    }
    shell.remove_path(folder.join("lists"))?;
    shell.write_file(folder.join("unpacked"), "")?;
    Ok(())
}

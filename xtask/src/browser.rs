//! The VS Code extension in a real VS Code (code-server) and a real browser, through `editors/vscode/e2e`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use xshell::cmd;

use crate::debian::Tool;
use crate::test::Outcome;
use crate::vscode::NPM;
use crate::{Workspace, debian, vscode};

/// The last one that runs on Node 20: VS Code 1.100.3.
const CODE_SERVER: &str = "code-server@4.100.3";

/// Drives the browser.
const PLAYWRIGHT: &str = "playwright-core@1.65.1";

const CHROMIUM: Tool =
    Tool { binary: "chromium", packages: &["chromium", "fonts-dejavu-core"], variable: "TILELENS_CHROMIUM" };
const RIPGREP: Tool = Tool { binary: "rg", packages: &["ripgrep"], variable: "TILELENS_RG" };

/// Packages the extension with the server of the dev profile, installs it as a user would, and plays an author's session.
pub(crate) fn end_to_end(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let (chromium, ripgrep) = match (debian::find(workspace, &CHROMIUM), debian::find(workspace, &RIPGREP)) {
        (Ok(chromium), Ok(ripgrep)) => (chromium, ripgrep),
        (Err(error), _) | (_, Err(error)) => return Ok(Outcome::Skipped(format!("{error:#}"))),
    };
    let modules = code_server(workspace, &ripgrep)?;
    let server = workspace.build_server("dev")?;
    let vsix = vscode::package(workspace, &server)?;
    let shell = &workspace.shell;
    let _environment = [
        ("TILELENS_CODE_SERVER", modules),
        ("TILELENS_VSIX", vsix),
        ("TILELENS_CHROMIUM", chromium),
        ("TILELENS_EXAMPLES", workspace.root.join("docs/examples")),
        ("TILELENS_OUT", workspace.target.join("e2e")),
    ]
    .map(|(name, value)| shell.push_env(name, value));
    cmd!(shell, "node editors/vscode/e2e/run.mjs").run()?;
    Ok(Outcome::Passed)
}

/// Screenshots of the session, and their names in `docs/images`. The drawings there are made by tests/tests/book.rs.
const PICTURES: [(&str, &str); 2] = [("1-overflow", "vscode-overflow"), ("3-map", "vscode-map")];

pub(crate) fn pictures(workspace: &Workspace) -> anyhow::Result<()> {
    if let Outcome::Skipped(why) = end_to_end(workspace)? {
        bail!("{why}");
    }
    for (shot, picture) in PICTURES {
        let from = workspace.target.join(format!("e2e/{shot}.png"));
        workspace.shell.copy_file(from, format!("docs/images/{picture}.png"))?;
    }
    Ok(())
}

/// A picture of a page.
pub(crate) fn screenshot(
    workspace: &Workspace,
    page: &Path,
    to: &Path,
    (width, height): (u16, u16),
) -> anyhow::Result<()> {
    let chromium = debian::find(workspace, &CHROMIUM)?;
    let flags = [
        "--headless".to_owned(),
        "--no-sandbox".to_owned(),
        "--disable-gpu".to_owned(),
        format!("--window-size={width},{height}"),
        format!("--screenshot={}", to.display()),
        format!("file://{}", page.display()),
    ];
    cmd!(workspace.shell, "{chromium} {flags...}").quiet().ignore_stderr().run()?;
    Ok(())
}

/// The `node_modules` with code-server in it, below the target folder; installed the first time.
fn code_server(workspace: &Workspace, ripgrep: &Path) -> anyhow::Result<PathBuf> {
    let folder = workspace.target.join("code-server");
    let modules = folder.join("node_modules");
    let done = folder.join(format!("installed-{CODE_SERVER}-{PLAYWRIGHT}").replace('@', "-"));
    if done.exists() {
        return Ok(modules);
    }
    if cfg!(windows) {
        bail!("code-server does not run on Windows");
    }
    let shell = &workspace.shell;
    shell.create_dir(&folder)?;
    let _folder = shell.push_dir(&folder);
    shell.write_file("package.json", "{ \"private\": true }\n")?;
    // Some install scripts fetch what is not in the registry; those that are needed run one by one below.
    npm_install(workspace, &[CODE_SERVER, PLAYWRIGHT])?;
    cmd!(shell, "{NPM} rebuild argon2").run()?;
    let _folder = shell.push_dir(modules.join("code-server/lib/vscode"));
    npm_install(workspace, &["--omit=dev"])?;
    cmd!(shell, "{NPM} rebuild @vscode/spdlog native-watchdog @parcel/watcher").run()?;
    // The module is built; what its script does after that fails, and is not needed.
    let _ = cmd!(shell, "{NPM} rebuild node-pty").ignore_stdout().ignore_stderr().run();
    link(ripgrep, Path::new("node_modules/@vscode/ripgrep/bin/rg"), workspace)?;
    link(Path::new("node_modules"), Path::new("node_modules.asar"), workspace)?;
    let _folder = shell.push_dir("extensions");
    npm_install(workspace, &["--omit=dev"])?;
    shell.write_file(&done, "")?;
    Ok(modules)
}

fn npm_install(workspace: &Workspace, what: &[&str]) -> anyhow::Result<()> {
    let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=5"];
    let shell = &workspace.shell;
    cmd!(shell, "{NPM} install {what...} {quiet...}").run().context("code-server cannot be installed")?;
    Ok(())
}

#[cfg(unix)]
fn link(to: &Path, at: &Path, workspace: &Workspace) -> anyhow::Result<()> {
    let at = workspace.shell.current_dir().join(at);
    workspace.shell.create_dir(at.parent().context("a path without a folder")?)?;
    let _ = std::fs::remove_file(&at); // of an installation that was interrupted
    std::os::unix::fs::symlink(to, at)?;
    Ok(())
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path, _: &Workspace) -> anyhow::Result<()> {
    bail!("links are made on Unix only")
}

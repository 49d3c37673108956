//! The VS Code extension: dependencies, type check, bundle, package.

use std::path::{Path, PathBuf};
use std::{env, fs};

use xshell::cmd;

use crate::{Workspace, release};

pub(crate) const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };
/// Stands for where the project is published.
const REPOSITORY: &str = "https://github.com/tilefit/tilefit";

const CODE: &str = if cfg!(windows) { "code.cmd" } else { "code" };

/// Type check, unit tests, bundle and package, without a server inside.
pub(crate) fn test(workspace: &Workspace) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    let _folder = shell.push_dir(workspace.root.join("editors/vscode"));
    install_dependencies(workspace)?;
    cmd!(shell, "{NPM} run --silent check").run()?;
    cmd!(shell, "{NPM} test --silent").run()?;
    package(workspace, &workspace.target.join("tilefit.vsix"), None, None)
}

/// Packages the extension with a server inside, for the platform that VS Code has this name for; without one, the extension looks for a server
/// in the Python environment and on PATH.
pub(crate) fn package(
    workspace: &Workspace,
    vsix: &Path,
    platform: Option<&str>,
    server: Option<&Path>,
) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    let _folder = shell.push_dir(workspace.root.join("editors/vscode"));
    install_dependencies(workspace)?;
    shell.copy_file("../../CHANGELOG.md", ".")?;
    shell.remove_path("server")?;
    if let Some(server) = server {
        shell.create_dir("server")?;
        shell.copy_file(server, format!("server/tilefit{}", env::consts::EXE_SUFFIX))?;
    }
    // VS Code refuses a server for another platform, rather than failing to start it.
    let target = platform.into_iter().flat_map(|platform| ["--target", platform]);
    let [pages, images] = addresses();
    let links = ["--baseContentUrl", &pages, "--baseImagesUrl", &images];
    let packaged = cmd!(shell, "{NPM} run --silent package -- --out {vsix} {links...}").args(target).run();
    for made in ["server", "CHANGELOG.md"] {
        shell.remove_path(made)?;
    }
    Ok(packaged?)
}

/// Packages the extension for a VS Code without a machine behind it. `module` is the server as WebAssembly.
pub(crate) fn package_web(workspace: &Workspace, vsix: &Path, module: &Path) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    let _folder = shell.push_dir(workspace.root.join("editors/vscode"));
    install_dependencies(workspace)?;
    cmd!(shell, "{NPM} run --silent bundle:browser").run()?;
    let [pages, images] = addresses();
    cmd!(shell, "node web.mjs {vsix} {module} {pages} {images}").run()?;
    Ok(())
}

/// Of what the README names, and of its pictures: the gallery shows it, and needs whole addresses in it.
fn addresses() -> [String; 2] {
    ["blob", "raw"].map(|kind| format!("{REPOSITORY}/{kind}/v{}/editors/vscode", env!("CARGO_PKG_VERSION")))
}

/// Packages the extension with a server of this machine; answers where the `.vsix` is.
pub(crate) fn package_here(workspace: &Workspace, server: &Path) -> anyhow::Result<PathBuf> {
    let vsix = workspace.target.join("tilefit.vsix");
    package(workspace, &vsix, release::vscode_platform(workspace)?, Some(server))?;
    Ok(vsix)
}

/// Installs the `.vsix` with VS Code's own command; false when there is no such command on PATH.
pub(crate) fn install(workspace: &Workspace, vsix: &Path) -> anyhow::Result<bool> {
    let shell = &workspace.shell;
    if cmd!(shell, "{CODE} --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        return Ok(false);
    }
    cmd!(shell, "{CODE} --install-extension {vsix} --force").run()?;
    Ok(true)
}

/// Of the package in the current folder. No install script is needed, and some of them reach for servers outside of the registry. What is installed already stays.
pub(crate) fn install_dependencies(workspace: &Workspace) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    let written = |path: &str| fs::metadata(shell.current_dir().join(path)).and_then(|file| file.modified()).ok();
    if written("node_modules/.package-lock.json") > written("package-lock.json") {
        return Ok(());
    }
    cmd!(shell, "{NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error").run()?;
    Ok(())
}

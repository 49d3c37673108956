//! The VS Code extension: dependencies, type check, bundle, package.

use std::path::{Path, PathBuf};
use std::{env, fs};

use xshell::cmd;

use crate::Workspace;

pub(crate) const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };
const CODE: &str = if cfg!(windows) { "code.cmd" } else { "code" };

/// Type check, unit tests, bundle and package, without a server inside.
pub(crate) fn test(workspace: &Workspace) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    let _folder = shell.push_dir("editors/vscode");
    install_dependencies(workspace)?;
    cmd!(shell, "{NPM} run --silent check").run()?;
    cmd!(shell, "{NPM} test --silent").run()?;
    cmd!(shell, "{NPM} run --silent package").run()?;
    Ok(())
}

/// Packages the extension with `server` inside; answers where the `.vsix` is.
pub(crate) fn package(workspace: &Workspace, server: &Path) -> anyhow::Result<PathBuf> {
    let shell = &workspace.shell;
    let _folder = shell.push_dir("editors/vscode");
    install_dependencies(workspace)?;
    shell.create_dir("server")?;
    shell.copy_file(server, format!("server/tilefit{}", env::consts::EXE_SUFFIX))?;
    // VS Code refuses a server for another platform, rather than failing to start it.
    let target = platform().map(|platform| ["--target", platform]).into_iter().flatten();
    let packaged = cmd!(shell, "{NPM} run --silent package --").args(target).run();
    shell.remove_path("server")?;
    packaged?;
    Ok(shell.current_dir().join("tilefit.vsix"))
}

/// The name that VS Code has for this platform.
fn platform() -> Option<&'static str> {
    let musl = cfg!(target_env = "musl");
    Some(match (env::consts::OS, env::consts::ARCH) {
        ("linux", "x86_64") if musl => "alpine-x64",
        ("linux", "aarch64") if musl => "alpine-arm64",
        ("linux", "x86_64") => "linux-x64",
        ("linux", "aarch64") => "linux-arm64",
        ("linux", "arm") => "linux-armhf",
        ("macos", "x86_64") => "darwin-x64",
        ("macos", "aarch64") => "darwin-arm64",
        ("windows", "x86_64") => "win32-x64",
        ("windows", "aarch64") => "win32-arm64",
        _ => return None,
    })
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

//! Programs that tests need and no language's registry has.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, bail};
use xshell::cmd;

use crate::Workspace;

pub(crate) struct Tool {
    pub(crate) binary: &'static str,
    /// Of Debian and Ubuntu.
    pub(crate) packages: &'static [&'static str],
    /// Names another binary than the one on PATH.
    pub(crate) variable: &'static str,
}

/// The tool of the environment variable, of PATH, or freshly installed with apt where that is allowed.
pub(crate) fn find(workspace: &Workspace, tool: &Tool) -> anyhow::Result<PathBuf> {
    if let Some(named) = env::var_os(tool.variable) {
        return Ok(named.into());
    }
    if let Some(found) = on_path(tool.binary) {
        return Ok(found);
    }
    install(workspace, tool.packages)
        .with_context(|| format!("no `{}`: install it, or name it in {}", tool.binary, tool.variable))?;
    on_path(tool.binary).with_context(|| format!("{} has no `{}`", tool.packages[0], tool.binary))
}

pub(crate) fn on_path(binary: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(binary)).find(|path| path.is_file())
}

/// As root on a machine with apt; no other machine is changed.
pub(crate) fn install(workspace: &Workspace, packages: &[&str]) -> anyhow::Result<()> {
    // The lists of a fresh image are empty or old.
    install_of_lists(workspace, packages).or_else(|_| install_newest(workspace, packages))
}

/// As [`install`], of lists that are fetched now. It brings what is installed already to its newest version.
pub(crate) fn install_newest(workspace: &Workspace, packages: &[&str]) -> anyhow::Result<()> {
    apt(workspace, &["update"])?;
    install_of_lists(workspace, packages)
}

fn install_of_lists(workspace: &Workspace, packages: &[&str]) -> anyhow::Result<()> {
    apt(workspace, &[&["install", "-y", "--no-install-recommends"], packages].concat())
}

fn apt(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    let is_root = || cmd!(shell, "id -u").quiet().read().is_ok_and(|id| id == "0");
    if on_path("apt-get").is_none() || !is_root() {
        bail!("it cannot be installed here");
    }
    let _frontend = shell.push_env("DEBIAN_FRONTEND", "noninteractive");
    let retries = ["-o", "Acquire::Retries=5", "-qq"];
    Ok(cmd!(shell, "apt-get {retries...} {arguments...}").quiet().ignore_stdout().run()?)
}

/// A program that only a newer Debian has.
pub(crate) struct Unpacked {
    /// In its package.
    pub(crate) binary: &'static str,
    /// It and what it needs, but for the C library.
    pub(crate) packages: &'static [&'static str],
    /// A variable that it looks for its files with, and where they are in the package.
    pub(crate) environment: (&'static str, &'static str),
    /// A link, and where it leads: the program is run by the loader, and looks for some files beside that.
    pub(crate) link: Option<(&'static str, &'static str)>,
}

/// Unpacks a program of Debian 13, with the C library that it needs, below the target folder, and answers a script that runs
/// it. apt checks the signatures; its state is our own, so that nothing of the machine changes.
pub(crate) fn unpack(workspace: &Workspace, program: &Unpacked) -> anyhow::Result<PathBuf> {
    const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let folder = workspace.target.join("trixie").join(program.packages[0]);
    let script = folder.join("run");
    if script.exists() {
        return Ok(script);
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) || !Path::new(KEYS).exists() {
        bail!("it can be had from Debian 13 on a Debian on x86-64 only");
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
    let packages = [program.packages, &["libc6", "libgcc-s1"]].concat();
    let _folder = shell.push_dir(&folder);
    cmd!(shell, "apt-get {options...} -qq update").quiet().run()?;
    cmd!(shell, "apt-get {options...} -qq download {packages...}").quiet().run()?;
    let root = folder.join("root");
    for entry in shell.read_dir(&folder)?.iter().filter(|path| path.extension().is_some_and(|it| it == "deb")) {
        cmd!(shell, "dpkg -x {entry} {root}").quiet().run()?;
    }
    for part in ["lists", "cache"] {
        shell.remove_path(folder.join(part))?;
    }
    if let Some((at, to)) = program.link {
        let at = root.join(at);
        cmd!(shell, "ln -sfn {to} {at}").quiet().run()?;
    }
    let (variable, files) = program.environment;
    let of = |path: &str| format!("'{}'", root.join(path).display());
    let start = format!(
        "#!/bin/sh\n{variable}={} exec {} --library-path {} {} \"$@\"\n",
        of(files),
        of("usr/lib64/ld-linux-x86-64.so.2"),
        of("usr/lib/x86_64-linux-gnu"),
        of(program.binary)
    );
    // Last: a script that is there means that everything is.
    let fresh = folder.join("fresh");
    fs::write(&fresh, start)?;
    cmd!(shell, "chmod +x {fresh}").quiet().run()?;
    fs::rename(&fresh, &script)?;
    Ok(script)
}

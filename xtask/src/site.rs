//! The analysis in a browser. `cargo xtask site`: the book and, in `playground/`, the page with the analysis in it, as one folder for any web server.
//! The same module is in the VS Code extension for browsers.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use serde_json::Value;
use xshell::cmd;

use crate::debian::{self, Tool};
use crate::test::Outcome;
use crate::vscode::NPM;
use crate::{Workspace, book, browser, release, vscode};

const TARGET: &str = "wasm32-unknown-unknown";
/// The profile of what is published.
const PROFILE: &str = "wasm";

/// Where the source of Rust's library is, below the folder of a compiler.
const LIBRARY: &str = "lib/rustlib/src/rust/library";

const CLANG: Tool = Tool { binary: "clang", packages: &["clang"], variable: "TILEFIT_CLANG" };
const AR: Tool = Tool { binary: "llvm-ar", packages: &["llvm"], variable: "TILEFIT_LLVM_AR" };

/// A compiler of Rust that comes with the source of its library, and what makes C into WebAssembly. The library that there is for
/// WebAssembly aborts where a kernel that is too large has to be given up, so it is built anew, to unwind.
struct Toolchain {
    cargo: PathBuf,
    rustc: PathBuf,
    clang: PathBuf,
    ar: PathBuf,
    /// `None` where the compiler brings its own.
    linker: Option<PathBuf>,
}

/// Answers where the site is.
pub(crate) fn build(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let module = module(workspace, &toolchain(workspace)?, PROFILE)?;
    make(workspace, &module, SMALL)
}

/// Builds the site and the extension, and uses both in a real browser.
pub(crate) fn test(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let prepared = toolchain(workspace).and_then(|toolchain| Ok((toolchain, browser::chromium(workspace)?)));
    let (toolchain, chromium) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return Ok(Outcome::Skipped(format!("{error:#}"))),
    };
    let module = module(workspace, &toolchain, release::QUICK)?;
    let site = make(workspace, &module, FAST)?;
    let shell = &workspace.shell;
    let _folder = shell.push_dir("editors/playground");
    cmd!(shell, "{NPM} run --silent check").run()?;
    cmd!(shell, "{NPM} test --silent").run()?;
    script(workspace, "run.mjs", &site, &chromium, &workspace.target.join("e2e/playground"))?;
    let vsix = workspace.target.join("tilefit-web.vsix");
    vscode::package_web(workspace, &vsix, &module)?;
    browser::without_a_machine(workspace, &vsix)?;
    Ok(Outcome::Passed)
}

/// Screenshots into `folder`, in light and dark.
pub(crate) fn pictures(workspace: &Workspace, folder: &Path) -> anyhow::Result<()> {
    let site = make(workspace, &module(workspace, &toolchain(workspace)?, release::QUICK)?, FAST)?;
    script(workspace, "pictures.mjs", &site, &browser::chromium(workspace)?, folder)
}

/// Runs a script that uses the page in a browser.
fn script(workspace: &Workspace, name: &str, site: &Path, chromium: &Path, out: &Path) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    let _environment = [("TILEFIT_SITE", site), ("TILEFIT_CHROMIUM", chromium), ("TILEFIT_OUT", out)]
        .map(|(name, value)| shell.push_env(name, value));
    let path = workspace.root.join("editors/playground/e2e").join(name);
    cmd!(shell, "node {path}").run()?;
    Ok(())
}

/// Makes the module small.
const XZ: Tool = Tool { binary: "xz", packages: &["xz-utils"], variable: "TILEFIT_XZ" };

/// What is published is as small as it can be.
const SMALL: &str = "-9e";
/// What is built for speed of building is large, and would take minutes.
const FAST: &str = "-1";

fn make(workspace: &Workspace, module: &Path, preset: &str) -> anyhow::Result<PathBuf> {
    let html = book::build(workspace)?;
    let shell = &workspace.shell;
    let site = workspace.target.join("site");
    shell.remove_path(&site)?;
    workspace.copy_folder(&html, &site)?;
    let playground = site.join(book::PLAYGROUND);
    let _folder = shell.push_dir("editors/playground");
    vscode::install_dependencies(workspace)?;
    let xz = debian::find(workspace, &XZ)?;
    cmd!(shell, "node build.mjs {playground} {module} {xz} {preset}").run()?;
    println!("site: {}", site.join("index.html").display());
    Ok(site)
}

/// The server as WebAssembly.
fn module(workspace: &Workspace, toolchain: &Toolchain, profile: &str) -> anyhow::Result<PathBuf> {
    let Toolchain { cargo, rustc, clang, ar, linker } = toolchain;
    let target = workspace.target.join("wasm");
    let headers = c_headers(workspace)?;
    let mut build =
        cmd!(workspace.shell, "{cargo} build --package tilefit-browser --profile {profile} --target {TARGET}")
            .args(["-Z", "build-std=std,panic_unwind", "--target-dir"])
            .arg(&target)
            .env("RUSTC", rustc)
            // `build-std` and the flags below are not in stable releases.
            .env("RUSTC_BOOTSTRAP", "1")
            // A panic of a kernel is caught. Where in the sources it was is not worth its bytes.
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-C panic=unwind -Z location-detail=none")
            .env("CC_wasm32_unknown_unknown", clang)
            .env("AR_wasm32_unknown_unknown", ar)
            .env("CFLAGS_wasm32_unknown_unknown", format!("-I{}", headers.display()))
            // Of the cargo that runs this.
            .env_remove("LD_LIBRARY_PATH");
    if let Some(linker) = linker {
        build = build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    }
    build.run()?;
    Ok(target.join(TARGET).join(profile).join("tilefit_browser.wasm"))
}

/// Those of a C library for WebAssembly, as far as the parser needs one; a crate of tree-sitter has them.
fn c_headers(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let metadata =
        cmd!(workspace.shell, "cargo metadata --format-version 1 --filter-platform {TARGET}").quiet().read()?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let language = packages.iter().find(|package| package["name"] == "tree-sitter-language");
    let manifest = language.and_then(|package| package["manifest_path"].as_str());
    let manifest = Path::new(manifest.context("there is no crate tree-sitter-language")?);
    let headers = manifest.with_file_name("wasm").join("include");
    ensure!(headers.is_dir(), "{} has no headers of C", manifest.display());
    Ok(headers)
}

/// rustup's where it has the source of the library, else Debian's, which is installed where that is allowed.
fn toolchain(workspace: &Workspace) -> anyhow::Result<Toolchain> {
    let shell = &workspace.shell;
    let sysroot = cmd!(shell, "rustc --print sysroot").quiet().read()?;
    if Path::new(&sysroot).join(LIBRARY).is_dir() {
        return Ok(Toolchain {
            cargo: "cargo".into(),
            rustc: "rustc".into(),
            clang: debian::find(workspace, &CLANG)?,
            ar: debian::find(workspace, &AR)?,
            linker: None,
        });
    }
    debians(workspace).context("`rustup component add rust-src` installs what WebAssembly needs")
}

/// The packages that Debian builds its browsers with, which are newer than the others.
fn debians(workspace: &Workspace) -> anyhow::Result<Toolchain> {
    const PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];
    const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");
    let rustc = PathBuf::from("/usr/bin/rustc");
    let has_source = || Path::new("/usr").join(LIBRARY).is_dir();
    if !has_source() {
        ensure!(!rustc.exists(), "Debian's rustc has no source of its library");
        debian::install(workspace, &PACKAGES)?;
    }
    let verbose = || cmd!(workspace.shell, "{rustc} -vV").quiet().env_remove("LD_LIBRARY_PATH").read();
    let is_old = |verbose: &str| {
        let numbers = |version: &str| version.split('.').map_while(|it| it.parse().ok()).collect::<Vec<u32>>();
        numbers(of_version(verbose, "release: ").unwrap_or_default()) < numbers(OLDEST)
    };
    let mut version = verbose()?;
    // The lists that were there may be older than the last release of the browsers.
    if is_old(&version) {
        debian::install_newest(workspace, &PACKAGES)?;
        version = verbose()?;
        ensure!(!is_old(&version), "Debian's rustc is older than {OLDEST}");
    }
    // Its objects are of its own LLVM.
    let llvm = of_version(&version, "LLVM version: ").and_then(|llvm| llvm.split('.').next());
    let Some(llvm) = llvm else { bail!("{} does not say of which LLVM it is", rustc.display()) };
    let names = ["clang", "wasm-ld", "llvm-ar"].map(|name| format!("{name}-{llvm}"));
    if names.iter().any(|name| debian::on_path(name).is_none()) {
        let packages = ["clang", "lld", "llvm"].map(|name| format!("{name}-{llvm}"));
        debian::install(workspace, &packages.each_ref().map(String::as_str))?;
    }
    let [clang, linker, ar] = names.map(PathBuf::from);
    Ok(Toolchain { cargo: "/usr/bin/cargo".into(), rustc, clang, ar, linker: Some(linker) })
}

/// A value of `rustc -vV`.
fn of_version<'a>(verbose: &'a str, name: &str) -> Option<&'a str> {
    verbose.lines().find_map(|line| line.strip_prefix(name))
}

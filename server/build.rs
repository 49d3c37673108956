//! The commit of a release, for `tilefit --version`: `1a2b3c4d5`, or `1a2b3c4d5+` if files differ from it. A development build does not say, so that
//! a commit builds nothing anew; nor does an archive of the sources.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let root = Path::new("..");
    // Not the repository that an archive was unpacked in.
    if env::var("PROFILE").as_deref() != Ok("release") || !root.join(".git").exists() {
        return;
    }
    for part in ["Cargo.toml", "Cargo.lock", "syntax", "analysis", "server", "docs/diagnostics"] {
        println!("cargo:rerun-if-changed=../{part}");
    }
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]).filter(|path| fs::exists(path).unwrap_or(false)) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    if let Some(commit) = git(&["describe", "--always", "--abbrev=9", "--exclude=*", "--dirty=+"]) {
        println!("cargo:rustc-env=TILEFIT_COMMIT={commit}");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

//! The book: `docs/` as mdBook makes it, into `target/book/html`.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use xshell::cmd;

use crate::Workspace;

const MDBOOK: &str = "0.5.4";

/// The line of the summary that the pages of the diagnostics take the place of.
const MARKER: &str = "<!-- diagnostics:";

pub(crate) fn build(workspace: &Workspace) -> anyhow::Result<()> {
    let mdbook = mdbook(workspace)?;
    let shell = &workspace.shell;
    let book = workspace.target.join("book");
    shell.remove_path(&book)?;
    // Beside the editors, which pages include files of.
    workspace.copy_folder(&workspace.root.join("docs"), &book.join("docs"))?;
    workspace.copy_folder(&workspace.root.join("editors/helix"), &book.join("editors/helix"))?;
    let summary = book.join("docs/SUMMARY.md");
    let text = fs::read_to_string(&summary)?;
    let lines = text.lines().map(|line| match line.starts_with(MARKER) {
        true => diagnostics(workspace),
        false => Ok(line.to_owned()),
    });
    fs::write(&summary, lines.collect::<anyhow::Result<Vec<_>>>()?.join("\n") + "\n")?;
    let (docs, html) = (book.join("docs"), book.join("html"));
    cmd!(shell, "{mdbook} build {docs} --dest-dir {html}").run()?;
    println!("book: {}", html.join("index.html").display());
    Ok(())
}

fn diagnostics(workspace: &Workspace) -> anyhow::Result<String> {
    let mut codes = Vec::new();
    for entry in fs::read_dir(workspace.root.join("docs/diagnostics"))? {
        let path = entry?.path();
        let code = path.file_stem().context("a page has a name")?.to_string_lossy().into_owned();
        codes.push(format!("  - [{code}](diagnostics/{code}.md)"));
    }
    codes.sort();
    Ok(codes.join("\n"))
}

/// Built below the target folder the first time. As a dependency, every `cargo xtask` would wait for it.
fn mdbook(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let root = workspace.target.join("mdbook");
    let binary = root.join("bin").join(format!("mdbook{}", std::env::consts::EXE_SUFFIX));
    if !binary.exists() {
        let build = root.join("build");
        cmd!(workspace.shell, "cargo install mdbook --version {MDBOOK} --locked --quiet --debug")
            .args(["--no-default-features", "--features", "search"])
            .arg("--root")
            .arg(&root)
            .arg("--target-dir")
            .arg(&build)
            .run()?;
        workspace.shell.remove_path(&build)?;
    }
    Ok(binary)
}

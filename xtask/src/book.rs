//! The book: `docs/` as mdBook makes it, into `target/book/html`.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, ensure};
use xshell::cmd;

use crate::Workspace;

const MDBOOK: &str = "0.5.4";

/// A folder of the site that is made elsewhere.
pub(crate) const PLAYGROUND: &str = "playground";

/// The line of the summary that the pages of the diagnostics take the place of.
const MARKER: &str = "<!-- diagnostics:";

/// Answers where it is.
pub(crate) fn build(workspace: &Workspace) -> anyhow::Result<PathBuf> {
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
    check_links(workspace, &html)?;
    println!("book: {}", html.join("index.html").display());
    Ok(html)
}

/// Every link within the book leads to a page, and to a place on it that is there.
fn check_links(workspace: &Workspace, html: &Path) -> anyhow::Result<()> {
    let mut pages = HashMap::new();
    collect(workspace, html, &mut pages)?;
    let (mut broken, mut count) = (Vec::new(), 0);
    // The page for printing has all of the others in it, with links as they were.
    for (path, text) in pages.iter().filter(|(path, _)| !path.ends_with("print.html") && !path.ends_with("404.html")) {
        for link in attributes(text, &["href", "src", "srcset"]).filter(|link| !link.contains(':')) {
            count += 1;
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => normal(&path.parent().context("a page is in a folder")?.join(file)),
            };
            let is_there = match pages.get(&target) {
                Some(page) => place.is_empty() || attributes(page, &["id"]).any(|id| id == place),
                None => target.is_file() || target.starts_with(html.join(PLAYGROUND)),
            };
            if !is_there {
                broken.push(format!("{}: {link}", path.strip_prefix(html)?.display()));
            }
        }
    }
    broken.sort();
    ensure!(broken.is_empty() && count > 0, "links that lead nowhere:\n{}", broken.join("\n"));
    println!("{count} links of {} pages lead somewhere", pages.len());
    Ok(())
}

fn collect(workspace: &Workspace, folder: &Path, pages: &mut HashMap<PathBuf, String>) -> anyhow::Result<()> {
    for path in workspace.shell.read_dir(folder)? {
        if path.is_dir() {
            collect(workspace, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let text = fs::read_to_string(&path)?;
            pages.insert(path, text);
        }
    }
    Ok(())
}

/// The values of attributes in HTML.
fn attributes<'t>(text: &'t str, names: &[&str]) -> impl Iterator<Item = &'t str> {
    let starts: Vec<_> = names.iter().map(|name| format!(" {name}=\"")).collect();
    starts.into_iter().flat_map(move |start| {
        let values: Vec<_> = text.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect();
        values
    })
}

/// Without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = normal.pop(),
            part => normal.push(part),
        }
    }
    normal
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

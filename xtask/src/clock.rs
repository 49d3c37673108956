//! `cargo xtask clock`: the way of a person who has never seen the project, timed: from the sources, and with the wheel, to a squiggle in VS Code
//! and in Neovim. Nothing that is built, downloaded or set up here is used, but Rust, Node, Python, the editors, and the wheel where that is
//! installed.

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};

use anyhow::Context;
use clap::{Args, ValueEnum};
use xshell::{PushEnv, cmd};

use crate::{Workspace, browser, neovim, python, release};

#[derive(Args)]
pub(crate) struct Options {
    /// Only these ways
    ways: Vec<Way>,
    /// Run every test of the checkout, too, as the README says
    #[arg(long)]
    tests: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Way {
    /// A clean checkout, and the README's commands
    Source,
    /// `pip install` of the wheel
    Wheel,
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let asked = |way| options.ways.is_empty() || options.ways.contains(&way);
    let shell = &workspace.shell;
    // Before the clock runs: the editors are there already, and so are the wheel and the extension in their registries.
    let stranger = Stranger { workspace, modules: browser::prepared(workspace)?, nvim: neovim::pinned(workspace)? };
    let published = if asked(Way::Wheel) { Some(release::published(workspace)?) } else { None };
    let mut clock = Clock::default();
    if let Some((wheel, extension)) = published {
        let home = workspace.target.join("clock/wheel");
        shell.remove_path(&home)?;
        stranger.wheel(&home, &wheel, &extension, &mut clock)?;
    }
    if asked(Way::Source) {
        let home = workspace.target.join("clock/source");
        shell.remove_path(&home)?;
        stranger.source(&home, options.tests, &mut clock)?;
    }
    clock.tell();
    Ok(())
}

#[derive(Default)]
struct Clock {
    times: Vec<(String, f64)>,
}

impl Clock {
    fn time(&mut self, what: &str, step: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
        println!("\n== {what}");
        let start = Instant::now();
        step()?;
        self.times.push((what.to_owned(), start.elapsed().as_secs_f64()));
        Ok(())
    }

    fn tell(&self) {
        println!();
        for (what, seconds) in &self.times {
            println!("{seconds:>8.1} s  {what}");
        }
    }
}

struct Stranger<'w> {
    workspace: &'w Workspace,
    modules: PathBuf,
    nvim: PathBuf,
}

impl Stranger<'_> {
    fn wheel(&self, home: &Path, wheel: &Path, extension: &Path, clock: &mut Clock) -> anyhow::Result<()> {
        let shell = &self.workspace.shell;
        let project = home.join("project");
        self.workspace.copy_folder(&self.workspace.root.join("docs/examples"), &project)?;
        let environment = project.join(".venv");
        let _environment = self.move_in(home, &python::program(&environment, "tilefit"))?;
        let _project = shell.push_dir(&project);
        clock.time("python3 -m venv .venv", || Ok(cmd!(shell, "python3 -m venv .venv").run()?))?;
        clock.time("pip install tilefit", || {
            let pip = python::program(&environment, "pip");
            Ok(cmd!(shell, "{pip} install --quiet --disable-pip-version-check {wheel}").run()?)
        })?;
        clock.time("tilefit check --exit-zero .", || Ok(cmd!(shell, "tilefit check --exit-zero .").run()?))?;
        neovim::install_entry(self.workspace, &home.join(".config"))?;
        let overflow = project.join("overflow.py");
        clock.time("Neovim, from its start to the squiggle", || {
            neovim::squiggle(self.workspace, &self.nvim, &overflow)
        })?;
        clock.time("code --install-extension tilefit", || {
            Ok(cmd!(shell, "code --install-extension {extension}").ignore_stdout().run()?)
        })?;
        clock.time("VS Code, with its own start, to the squiggle", || self.in_vscode(&project))
    }

    fn source(&self, home: &Path, tests: bool, clock: &mut Clock) -> anyhow::Result<()> {
        let (shell, root, checkout) = (&self.workspace.shell, &self.workspace.root, home.join("checkout"));
        let _environment = self.move_in(home, &home.join(".cargo/bin/tilefit"))?;
        let _target = shell.push_env("CARGO_TARGET_DIR", checkout.join("target"));
        clock.time("git clone", || Ok(cmd!(shell, "git clone --quiet {root} {checkout}").run()?))?;
        let _checkout = shell.push_dir(&checkout);
        clock.time("cargo run --release -- check --exit-zero docs/examples", || {
            Ok(cmd!(shell, "cargo run --quiet --release -- check --exit-zero docs/examples").run()?)
        })?;
        clock.time("cargo xtask install --nvim", || Ok(cmd!(shell, "cargo xtask install --nvim").run()?))?;
        let examples = checkout.join("docs/examples");
        clock.time("Neovim, from its start to the squiggle", || {
            neovim::squiggle(self.workspace, &self.nvim, &examples.join("overflow.py"))
        })?;
        clock.time("cargo xtask install --vscode", || Ok(cmd!(shell, "cargo xtask install --vscode").run()?))?;
        clock.time("VS Code, with its own start, to the squiggle", || self.in_vscode(&examples))?;
        if tests {
            clock.time("cargo xtask test", || Ok(cmd!(shell, "cargo xtask test").run()?))?;
        }
        Ok(())
    }

    /// A home of its own, with `code` on PATH, and the folder of the program.
    fn move_in(&self, home: &Path, program: &Path) -> anyhow::Result<Vec<PushEnv<'_>>> {
        let shell = &self.workspace.shell;
        let bin = home.join("bin");
        let (code, state) = (bin.join("code"), home.join("code"));
        let entry = self.modules.join("code-server/out/node/entry.js");
        let (user, extensions) = (state.join("user"), state.join("extensions"));
        // code-server makes neither itself.
        shell.create_dir(user.join("User"))?;
        shell.create_dir(&extensions)?;
        let flags = format!("--user-data-dir '{}' --extensions-dir '{}'", user.display(), extensions.display());
        let start = format!("#!/bin/sh\nexec node '{}' {flags} --config /dev/null \"$@\"\n", entry.display());
        shell.write_file(&code, start)?;
        cmd!(shell, "chmod +x {code}").quiet().run()?;

        let rustup = env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".rustup")));
        let program = program.parent().context("a program is in a folder")?.to_owned();
        let path = env::var_os("PATH").unwrap_or_default();
        let paths = [bin, program].into_iter().chain(env::split_paths(&path));
        let environment = [
            ("PATH", env::join_paths(paths)?.into()),
            ("HOME", home.to_owned()),
            ("CARGO_HOME", home.join(".cargo")),
            ("RUSTUP_HOME", rustup.context("there is no home folder")?),
            ("XDG_CONFIG_HOME", home.join(".config")),
            ("XDG_DATA_HOME", home.join(".local/share")),
            ("XDG_STATE_HOME", home.join(".local/state")),
            ("XDG_CACHE_HOME", home.join(".cache")),
            ("TILEFIT_EXTENSIONS", extensions),
            ("TILEFIT_OUT", state),
        ];
        Ok(environment.into_iter().map(|(name, value): (&str, PathBuf)| shell.push_env(name, value)).collect())
    }

    fn in_vscode(&self, project: &Path) -> anyhow::Result<()> {
        let _project = self.workspace.shell.push_env("TILEFIT_PROJECT", project);
        let script = fs::canonicalize(self.workspace.root.join("editors/vscode/e2e/squiggle.mjs"))?;
        browser::script(self.workspace, &script, &self.modules)
    }
}

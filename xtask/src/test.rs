//! `cargo xtask test`: every step runs, whatever became of the one before it.

use std::time::Instant;

use clap::ValueEnum;
use xshell::cmd;

use crate::{Workspace, book, browser, confirm, emacs, helix, mcp, neovim, release, site, vscode};

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Step {
    Format,
    Clippy,
    Dependencies,
    Rust,
    Confirm,
    Mcp,
    Neovim,
    Vscode,
    Browser,
    Emacs,
    Helix,
    Release,
    Book,
    Site,
}

/// Of a step that did not fail.
pub(crate) enum Outcome {
    Passed,
    /// For want of a tool; why.
    Skipped(String),
}

impl Outcome {
    /// For a command by itself: true, and says what was skipped.
    pub(crate) fn report(self) -> bool {
        if let Outcome::Skipped(why) = self {
            println!("SKIPPED: {why}");
        }
        true
    }
}

impl Step {
    fn title(self) -> &'static str {
        match self {
            Step::Format => "formatting",
            Step::Clippy => "clippy",
            Step::Dependencies => "dependencies",
            Step::Rust => "Rust tests",
            Step::Confirm => "confirmation",
            Step::Mcp => "agents over MCP",
            Step::Neovim => "Neovim end to end",
            Step::Vscode => "VS Code extension",
            Step::Browser => "VS Code in a browser",
            Step::Emacs => "Emacs",
            Step::Helix => "Helix",
            Step::Release => "release",
            Step::Book => "the book",
            Step::Site => "the playground",
        }
    }

    fn run(self, workspace: &Workspace) -> anyhow::Result<Outcome> {
        let shell = &workspace.shell;
        match self {
            Step::Format => cmd!(shell, "cargo fmt --all --check").run()?,
            Step::Clippy => cmd!(shell, "cargo clippy --workspace --all-targets -- -D warnings").run()?,
            Step::Dependencies => return dependencies(workspace),
            Step::Rust => cmd!(shell, "cargo test --workspace --no-fail-fast").run()?,
            Step::Confirm => return confirm::test(workspace),
            Step::Mcp => return mcp::test(workspace),
            Step::Neovim => neovim::end_to_end(workspace)?,
            Step::Vscode => vscode::test(workspace)?,
            Step::Browser => return browser::end_to_end(workspace),
            Step::Book => _ = book::build(workspace)?,
            Step::Site => return site::test(workspace),
            Step::Emacs => return emacs::end_to_end(workspace),
            Step::Helix => return helix::end_to_end(workspace),
            Step::Release => return release::dry_run(workspace, &release::Options::quick()),
        }
        Ok(Outcome::Passed)
    }
}

/// Licences, versions and origins of what is linked into the program (`deny.toml`).
fn dependencies(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let shell = &workspace.shell;
    if cmd!(shell, "cargo deny --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        return Ok(Outcome::Skipped("needs cargo-deny: cargo install --locked cargo-deny".to_owned()));
    }
    // Advisories come from the network; the release asks for them.
    cmd!(shell, "cargo deny check licenses bans sources").run()?;
    Ok(Outcome::Passed)
}

/// Runs the steps that are asked for, or all; true when every one passed.
pub(crate) fn run(workspace: &Workspace, only: &[Step]) -> bool {
    let mut report = Vec::new();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for &step in Step::value_variants() {
        if !only.is_empty() && !only.contains(&step) {
            continue;
        }
        println!("\n== {}", step.title());
        let start = Instant::now();
        let result = step.run(workspace);
        let seconds = start.elapsed().as_secs_f32();
        match result {
            Ok(Outcome::Passed) => {
                passed += 1;
                report.push(format!("ok      {:<20}{seconds:>8.1} s", step.title()));
            }
            Ok(Outcome::Skipped(why)) => {
                skipped += 1;
                report.push(format!("SKIPPED {:<20}{seconds:>8.1} s  {why}", step.title()));
            }
            Err(error) => {
                failed += 1;
                report.push(format!("FAILED  {:<20}{seconds:>8.1} s  {error:#}", step.title()));
            }
        }
    }
    println!();
    for line in &report {
        println!("{line}");
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    failed == 0
}

//! A terminal without a person: tmux.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;
use xshell::cmd;

use crate::debian::{self, Tool};
use crate::{Workspace, browser};

const TMUX: Tool = Tool { binary: "tmux", packages: &["tmux"], variable: "TILEFIT_TMUX" };

/// Makes HTML of what a terminal shows.
const AHA: Tool = Tool { binary: "aha", packages: &["aha"], variable: "TILEFIT_AHA" };

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn tmux(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    debian::find(workspace, &TMUX)
}

pub(crate) struct Terminal<'w> {
    workspace: &'w Workspace,
    tmux: PathBuf,
    socket: String,
    columns: u16,
    rows: u16,
}

impl<'w> Terminal<'w> {
    /// Runs a command in columns and rows.
    pub(crate) fn start(
        workspace: &'w Workspace,
        tmux: PathBuf,
        (columns, rows): (u16, u16),
        command: &[String],
    ) -> anyhow::Result<Self> {
        let terminal = Terminal { workspace, tmux, socket: format!("tilefit-{}", std::process::id()), columns, rows };
        let Terminal { tmux, socket, .. } = &terminal;
        let (x, y) = (columns.to_string(), rows.to_string());
        let start = cmd!(workspace.shell, "{tmux} -L {socket} -f /dev/null new-session -d -x {x} -y {y} {command...}");
        start.env("LANG", "C.UTF-8").quiet().run()?;
        Ok(terminal)
    }

    /// Names of keys, such as `Enter`.
    pub(crate) fn keys(&self, keys: &[&str]) -> anyhow::Result<()> {
        let Terminal { workspace, tmux, socket, .. } = self;
        Ok(cmd!(workspace.shell, "{tmux} -L {socket} send-keys {keys...}").quiet().run()?)
    }

    pub(crate) fn type_text(&self, text: &str) -> anyhow::Result<()> {
        let Terminal { workspace, tmux, socket, .. } = self;
        Ok(cmd!(workspace.shell, "{tmux} -L {socket} send-keys -l {text}").quiet().run()?)
    }

    pub(crate) fn wait_for(&self, what: &str, is_there: impl Fn(&str) -> bool) -> anyhow::Result<()> {
        let Terminal { workspace, tmux, socket, .. } = self;
        let start = Instant::now();
        loop {
            let screen = cmd!(workspace.shell, "{tmux} -L {socket} capture-pane -p").quiet().read()?;
            if is_there(&screen) {
                println!("ok - {what}");
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                bail!("{what}: not on the screen:\n{screen}");
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// A picture of the screen.
    pub(crate) fn picture(&self, path: &Path) -> anyhow::Result<()> {
        /// Of a letter in pixels, and of the edge.
        const SIZE: (f64, f64, f64) = (8.43, 18.0, 10.0);
        let Terminal { workspace, tmux, socket, columns, rows } = self;
        let shell = &workspace.shell;
        let aha = debian::find(workspace, &AHA)?;
        let screen = cmd!(shell, "{tmux} -L {socket} capture-pane -pe").quiet().read()?;
        let (width, height, edge) = SIZE;
        let html = cmd!(shell, "{aha} --no-header").stdin(screen).quiet().read()?;
        let page = workspace.target.join("terminal.html");
        let style = format!(
            "body {{ margin: {edge}px; color: #e0e2ea; background: #14161b }} pre {{ margin: 0; font: 14px/{height}px 'DejaVu Sans Mono' }}"
        );
        shell
            .write_file(&page, format!("<!doctype html><meta charset=utf-8><style>{style}</style><pre>{html}</pre>"))?;
        let size = |cells: u16, of: f64| (f64::from(cells) * of + 2.0 * edge).ceil() as u16;
        browser::screenshot(workspace, &page, path, (size(*columns, width), size(*rows, height)))
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let Terminal { workspace, tmux, socket, .. } = self;
        // It has ended by itself where the program has.
        let _ = cmd!(workspace.shell, "{tmux} -L {socket} kill-server").quiet().ignore_stderr().run();
    }
}

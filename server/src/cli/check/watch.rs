//! Checks again whenever a file that matters changes.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use notify::event::EventKind;
use notify::{Event, RecursiveMode, Watcher};

use crate::terminal;
use crate::tree::is_source;

/// Editors save in several steps.
const SETTLES: Duration = Duration::from_millis(50);

/// The files of the workspace that are read beside kernels.
const SETTINGS: [&str; 2] = ["tilefit.toml", "pyproject.toml"];

pub(super) fn watch(paths: &[PathBuf], check: impl Fn()) -> notify::Result<Infallible> {
    let (sender, events) = channel();
    let mut watcher = notify::recommended_watcher(sender)?;
    for path in paths {
        // An editor may replace a file by another one, so its directory is watched.
        match path.parent() {
            Some(directory) if path.is_file() => watcher.watch(or_current(directory), RecursiveMode::NonRecursive)?,
            _ => watcher.watch(path, RecursiveMode::Recursive)?,
        }
    }
    loop {
        terminal::clear();
        check();
        wait(&events)?;
    }
}

fn or_current(directory: &Path) -> &Path {
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}

fn wait(events: &Receiver<notify::Result<Event>>) -> notify::Result<()> {
    loop {
        let event = events.recv().map_err(|error| notify::Error::generic(&error.to_string()))??;
        if matters(&event) {
            while events.recv_timeout(SETTLES).is_ok() {}
            return Ok(());
        }
    }
}

fn matters(event: &Event) -> bool {
    let is_read = |path: &PathBuf| {
        let is_settings = path.file_name().and_then(OsStr::to_str).is_some_and(|name| SETTINGS.contains(&name));
        is_settings || is_source(path)
    };
    !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(is_read)
}

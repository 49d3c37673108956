//! `FILE[:KERNEL]`: some kernels of a file.

use std::path::{Path, PathBuf};

pub(super) struct Which<'a> {
    pub(super) path: PathBuf,
    /// All of them without it.
    kernel: Option<&'a str>,
}

impl<'a> Which<'a> {
    /// A file may have a colon in its name; what exists counts.
    pub(super) fn of(what: &'a str) -> Which<'a> {
        match what.rsplit_once(':') {
            Some((path, kernel)) if !Path::new(what).exists() && !path.is_empty() => {
                Which { path: path.into(), kernel: Some(kernel) }
            }
            _ => Which { path: what.into(), kernel: None },
        }
    }

    /// Those of `all` that are meant. The error is a sentence for the user.
    pub(super) fn among<'t, T>(&self, all: &'t [T], name: impl Fn(&T) -> &str) -> Result<Vec<&'t T>, String> {
        let Some(kernel) = self.kernel else { return Ok(all.iter().collect()) };
        let wanted: Vec<_> = all.iter().filter(|item| is_named(name(item), kernel)).collect();
        if !wanted.is_empty() {
            return Ok(wanted);
        }
        let names: Vec<_> = all.iter().map(name).collect();
        Err(match names.as_slice() {
            [] => no_kernels(&self.path),
            names => format!("{}: no kernel `{kernel}`; there are {}", self.path.display(), names.join(", ")),
        })
    }
}

/// What commands that show kernels say of a file that has none.
pub(super) fn no_kernels(path: &Path) -> String {
    format!("{}: there are no kernels in this file", path.display())
}

/// `kernel` names `Program.kernel` too.
fn is_named(full: &str, kernel: &str) -> bool {
    full.strip_suffix(kernel).is_some_and(|outer| outer.is_empty() || outer.ends_with('.'))
}

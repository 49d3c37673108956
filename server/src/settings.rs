//! Settings: the nearest `tilefit.toml` or `pyproject.toml` at or above a folder, and over it those of the editor.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tilefit_analysis::project::{Config, SETTINGS_FILES};
use tilefit_answers::editor_settings;

use crate::tree::{OnDisk, Tree, repository_of};

/// Names of the files that may hold settings.
pub(crate) fn file_names() -> impl Iterator<Item = &'static str> {
    SETTINGS_FILES.iter().map(|file| file.name)
}

/// Where the settings come from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// The workspace. Files of settings are looked for in it and above it, as far as its repository goes.
    pub(crate) root: Option<PathBuf>,
    /// The editor's settings, in the keys of `tilefit.toml`.
    pub(crate) editor: Value,
    /// Where the file is that counted when they were read last.
    pub(crate) folder: Option<PathBuf>,
}

/// What settings come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Resolved {
    pub(crate) config: Config,
    /// What was not understood, in words for the user.
    pub(crate) problems: Vec<String>,
    /// Where the file is that counts. Patterns count from there.
    pub(crate) folder: Option<PathBuf>,
}

impl Settings {
    /// Where a file can give a setting its value: nowhere if the editor's settings do.
    pub(crate) fn folder_that_counts(&self, key: &str) -> Option<PathBuf> {
        let is_editors = self.editor.get(key).is_some_and(|value| !value.is_null());
        self.folder.as_ref().or(self.root.as_ref()).filter(|_| !is_editors).cloned()
    }

    /// Reads the files anew.
    pub(crate) fn resolve(&self) -> Resolved {
        let mut resolved = self.root.as_ref().map_or_else(Resolved::default, |root| nearest(&OnDisk, root));
        resolved.problems.extend(editor_settings::apply(&mut resolved.config, &self.editor));
        resolved
    }
}

/// The settings of a folder: of the nearest file in it and above it, up to the root of its repository. A nearer file replaces one further
/// up as a whole.
fn nearest(tree: &dyn Tree, start: &Path) -> Resolved {
    let repository = repository_of(tree, start);
    let mut unread = Vec::new();
    for folder in start.ancestors() {
        let mut here = at(tree, folder, repository.as_deref());
        if here.folder.is_some() {
            here.problems.splice(..0, unread);
            return here;
        }
        unread.append(&mut here.problems);
        if repository.as_deref() == Some(folder) {
            break;
        }
    }
    Resolved { problems: unread, ..Resolved::default() }
}

/// The settings of the file in a folder that counts. A link that leads out of the repository is not read, or without one out of the folder.
pub(crate) fn at(tree: &dyn Tree, folder: &Path, repository: Option<&Path>) -> Resolved {
    let mut resolved = Resolved::default();
    for file in &SETTINGS_FILES {
        let path = folder.join(file.name);
        match tree.read_within(repository.unwrap_or(folder), &path) {
            Ok(text) if (file.counts)(&text) => {
                let found = (file.apply)(&mut resolved.config, &text).into_iter();
                resolved.problems.extend(found.map(|problem| format!("{}: {}", path.display(), problem.message)));
                resolved.folder = Some(folder.to_owned());
                return resolved;
            }
            Ok(_) => {}
            Err(error) if error.is_missing() => {}
            Err(error) => resolved.problems.push(format!("{}: {error}", path.display())),
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tilefit_pypto::target::{Planner, Target};

    use super::*;

    #[test]
    fn the_editor_overrides_and_its_nulls_do_not_count() {
        let editor = json!({ "target": "ascend950", "planner": null, "inlayHints": { "enable": false }, "tarjet": 1 });
        let Resolved { config, problems, .. } = Settings { editor, ..Settings::default() }.resolve();
        assert_eq!((config.target, config.planner, config.inlay_hints), (Target::Ascend950, Planner::Auto, false));
        assert_eq!(problems, ["tilefit settings: there is no setting `tarjet`; did you mean `target`?"]);
    }

    #[test]
    fn no_settings_are_the_defaults() {
        assert_eq!(Settings::default().resolve(), Resolved::default());
    }
}

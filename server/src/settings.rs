//! Settings: `tilefit.toml` or `pyproject.toml` in the workspace, and over it those of the editor.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tilefit_analysis::project::{Config, ConfigProblem};
use toml::Table;

use crate::disk;

/// The section of an editor's settings that is ours.
pub(crate) const SECTION: &str = "tilefit";

/// A file with settings, by its name in the workspace's root, and how it is read.
struct Format {
    name: &'static str,
    apply: fn(&mut Config, &str) -> Vec<ConfigProblem>,
}

/// The first one that exists counts.
const FORMATS: [Format; 2] = [
    Format { name: "tilefit.toml", apply: Config::apply_tilefit_toml },
    Format { name: "pyproject.toml", apply: Config::apply_pyproject_toml },
];

/// Names of the files that may hold settings.
pub(crate) fn file_names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name)
}

/// Where the settings come from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// The workspace; files are looked for nowhere else.
    pub(crate) root: Option<PathBuf>,
    /// The editor's settings, in the keys of `tilefit.toml`.
    pub(crate) editor: Value,
}

impl Settings {
    /// Where a file can give a setting its value: nowhere if the editor's settings do.
    pub(crate) fn folder_that_counts(&self, key: &str) -> Option<PathBuf> {
        let is_editors = self.editor.get(key).is_some_and(|value| !value.is_null());
        self.root.clone().filter(|_| !is_editors)
    }

    /// Reads the files anew. Returns the configuration, and what was not understood, in words for the user.
    pub(crate) fn resolve(&self) -> (Config, Vec<String>) {
        let mut config = Config::default();
        let mut problems = Vec::new();
        if let Some(root) = &self.root {
            apply_file(&mut config, root, &mut problems);
        }
        let editor = config.apply(&table(&self.editor));
        problems.extend(editor.into_iter().map(|problem| format!("tilefit settings: {}", problem.message)));
        (config, problems)
    }
}

fn apply_file(config: &mut Config, root: &Path, problems: &mut Vec<String>) {
    for format in &FORMATS {
        let path = root.join(format.name);
        match disk::read_within(root, &path) {
            Ok(text) => {
                let found = (format.apply)(config, &text).into_iter();
                problems.extend(found.map(|problem| format!("{}: {}", path.display(), problem.message)));
                return;
            }
            Err(error) if error.is_missing() => {}
            Err(error) => problems.push(format!("{}: {error}", path.display())),
        }
    }
}

/// Editors send `null` for what is not set, which TOML does not have.
fn table(editor: &Value) -> Table {
    match to_toml(editor) {
        Some(toml::Value::Table(table)) => table,
        _ => Table::new(),
    }
}

fn to_toml(value: &Value) -> Option<toml::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(it) => toml::Value::Boolean(*it),
        Value::Number(it) => it.as_i64().map(toml::Value::Integer).or_else(|| it.as_f64().map(toml::Value::Float))?,
        Value::String(it) => toml::Value::String(it.clone()),
        Value::Array(items) => toml::Value::Array(items.iter().filter_map(to_toml).collect()),
        Value::Object(entries) => {
            let entries = entries.iter().filter_map(|(key, value)| Some((key.clone(), to_toml(value)?)));
            toml::Value::Table(entries.collect())
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tilefit_analysis::target::{Planner, Target};

    use super::*;

    #[test]
    fn the_editor_overrides_and_its_nulls_do_not_count() {
        let editor = json!({ "target": "ascend950", "planner": null, "inlayHints": { "enable": false }, "tarjet": 1 });
        let (config, problems) = Settings { root: None, editor }.resolve();
        assert_eq!((config.target, config.planner, config.inlay_hints), (Target::Ascend950, Planner::Auto, false));
        assert_eq!(problems, ["tilefit settings: there is no setting `tarjet`; did you mean `target`?"]);
    }

    #[test]
    fn no_settings_are_the_defaults() {
        assert_eq!(Settings::default().resolve(), (Config::default(), Vec::new()));
    }
}

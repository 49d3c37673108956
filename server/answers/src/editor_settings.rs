//! The settings of an editor, in the keys of `tilefit.toml`.

use serde_json::Value;
use tilefit_analysis::project::Config;
use toml::Table;

/// The section of an editor's settings that is ours.
pub const SECTION: &str = "tilefit";

/// The section `tilefit` of `settings`, or all of it for a client that sends the section alone.
pub fn section(mut settings: Value) -> Value {
    settings.get_mut(SECTION).map(Value::take).unwrap_or(settings)
}

/// Puts the section over what the configuration has. Answers with what was not understood, in words for the user.
pub fn apply(config: &mut Config, section: &Value) -> Vec<String> {
    let problems = config.apply(&table(section)).into_iter();
    problems.map(|problem| format!("tilefit settings: {}", problem.message)).collect()
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

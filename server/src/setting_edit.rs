//! How a setting is written into the file of settings that counts.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A change to a file of settings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SettingEdit {
    pub(crate) path: PathBuf,
    /// `None` where there is no such file yet.
    pub(crate) text: Option<String>,
    /// Bytes of the text.
    pub(crate) range: Range<usize>,
    pub(crate) new: String,
}

/// Gives a setting of the workspace a string as its value: in `tilefit.toml`, else in `pyproject.toml` if that has settings of tilefit,
/// else in a new `tilefit.toml`. `None` where the file is not understood.
pub(crate) fn set(root: &Path, key: &str, value: &str) -> Option<SettingEdit> {
    let own = root.join("tilefit.toml");
    if let Ok(text) = fs::read_to_string(&own) {
        let (range, new) = edit_within(DeTable::parse(&text).ok()?.get_ref(), 0, &text, key, value);
        return Some(SettingEdit { path: own, text: Some(text), range, new });
    }
    let project = root.join("pyproject.toml");
    if let Ok(text) = fs::read_to_string(&project)
        && let Some(head) = section_head(&text, "[tool.tilefit]")
    {
        let tables = DeTable::parse(&text).ok()?;
        let section = table(table(tables.get_ref(), "tool")?, "tilefit")?;
        let (range, new) = edit_within(section, head, &text, key, value);
        return Some(SettingEdit { path: project, text: Some(text), range, new });
    }
    Some(SettingEdit { path: own, text: None, range: 0..0, new: line(key, value) })
}

fn table<'a, 'i>(outer: &'a DeTable<'i>, name: &str) -> Option<&'a DeTable<'i>> {
    outer.iter().find(|(key, _)| key.get_ref() == name).and_then(|(_, value)| value.get_ref().as_table())
}

fn line(key: &str, value: &str) -> String {
    format!("{key} = \"{value}\"\n")
}

/// Where the first line below the head of a section begins.
fn section_head(text: &str, head: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        start += line.len();
        if line.split('#').next().unwrap_or_default().trim() == head {
            return Some(start);
        }
    }
    None
}

/// Replaces the value, or adds a line behind the last of those that the section has, else where it begins.
fn edit_within(section: &DeTable<'_>, head: usize, text: &str, key: &str, value: &str) -> (Range<usize>, String) {
    if let Some((_, old)) = section.iter().find(|(known, _)| known.get_ref() == key) {
        return (old.span(), format!("\"{value}\""));
    }
    let is_line = |value: &&Spanned<DeValue<'_>>| !holds_table(value.get_ref());
    let last = section.values().filter(is_line).map(|value| value.span().end).max();
    let at = match last {
        Some(end) => text[end..].find('\n').map_or(text.len(), |behind| end + behind + 1),
        None => head,
    };
    let missing = if at == 0 || text[..at].ends_with('\n') { "" } else { "\n" };
    (at..at, format!("{missing}{}", line(key, value)))
}

/// Whether a value may stand below a head of its own, behind the lines of the section.
fn holds_table(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Table(_) => true,
        DeValue::Array(items) => items.iter().any(|item| item.get_ref().is_table()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a file after its planner has been set.
    fn check(name: &str, text: &str, expected: &str) {
        let root = std::env::temp_dir().join(format!("tilefit-settings-{}-{:p}", std::process::id(), text));
        fs::create_dir_all(&root).expect("the folder can be made");
        fs::write(root.join(name), text).expect("the file can be written");
        let edit = set(&root, "planner", "dsa-rp");
        fs::remove_dir_all(&root).expect("the folder can be removed");
        let shown = edit.map_or_else(
            || "none".to_owned(),
            |edit| {
                let file = edit.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let mut text = edit.text.unwrap_or_default();
                text.replace_range(edit.range, &edit.new);
                format!("{file}\n{text}")
            },
        );
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_setting_is_replaced_or_added_where_it_counts() {
        check(
            "tilefit.toml",
            "# ours\nplanner = 'auto' # still\ntarget = \"ascend950\"\n",
            "tilefit.toml\n# ours\nplanner = \"dsa-rp\" # still\ntarget = \"ascend950\"\n",
        );
        check(
            "tilefit.toml",
            "target = \"ascend950\" # new\n\n[capacity]\nVec = 4096\n",
            "tilefit.toml\ntarget = \"ascend950\" # new\nplanner = \"dsa-rp\"\n\n[capacity]\nVec = 4096\n",
        );
        check("tilefit.toml", "[capacity]\nVec = 4096", "tilefit.toml\nplanner = \"dsa-rp\"\n[capacity]\nVec = 4096");
        check("tilefit.toml", "target = 'x'", "tilefit.toml\ntarget = 'x'\nplanner = \"dsa-rp\"\n");
        check("tilefit.toml", "target = ", "none");
        check(
            "pyproject.toml",
            "[project]\nname = 'x'\n\n[tool.tilefit] # kernels\n[tool.ruff]\nplanner = 1\n",
            "pyproject.toml\n[project]\nname = 'x'\n\n[tool.tilefit] # kernels\nplanner = \"dsa-rp\"\n[tool.ruff]\nplanner = 1\n",
        );
        check("pyproject.toml", "[project]\nname = 'x'\n", "tilefit.toml\nplanner = \"dsa-rp\"\n");
    }
}

//! How a setting is written into the file of settings that counts.

use std::ops::Range;
use std::path::Path;

use tilefit_answers::SettingEdit;
use toml_edit::{Document, Item, TableLike, Value};

use crate::disk;

/// Gives a setting of the workspace a string as its value: in `tilefit.toml`, else in `pyproject.toml` if that has settings of tilefit,
/// else in a new `tilefit.toml`. `None` where the file is not understood.
pub(crate) fn set(root: &Path, key: &str, value: &str) -> Option<SettingEdit> {
    let own = root.join("tilefit.toml");
    if let Ok(text) = disk::read_within(root, &own) {
        let (range, new) = edit(&text, &[], key, value)?;
        return Some(SettingEdit { path: own, text: Some(text), range, new });
    }
    let project = root.join("pyproject.toml");
    if let Ok(text) = disk::read_within(root, &project)
        && let Some((range, new)) = edit(&text, &["tool", "tilefit"], key, value)
    {
        return Some(SettingEdit { path: project, text: Some(text), range, new });
    }
    let (range, new) = edit("", &[], key, value)?;
    Some(SettingEdit { path: own, text: None, range, new })
}

/// Replaces the value of a setting, or adds a line; `None` where the file has no such section.
fn edit(text: &str, section: &[&str], key: &str, value: &str) -> Option<(Range<usize>, String)> {
    let document = Document::parse(text).ok()?;
    let mut table: &dyn TableLike = document.as_table();
    for name in section {
        table = table.get(name)?.as_table_like()?;
    }
    // A table by that name, whose header or keys lie elsewhere, is written anew.
    let old =
        table.get(key).and_then(Item::as_value).filter(|old| !old.as_inline_table().is_some_and(|it| it.is_dotted()));
    if let Some(old) = old {
        return Some((old.span()?, Value::from(value).to_string()));
    }
    let mut document = document.into_mut();
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for name in section {
        table = table.get_mut(name)?.as_table_like_mut()?;
    }
    table.insert(key, toml_edit::value(value));
    let new = document.to_string();
    Some(changed(text, &if text.contains("\r\n") { new.replace('\n', "\r\n") } else { new }))
}

/// The bytes that differ, and what stands there in the new text.
fn changed(old: &str, new: &str) -> (Range<usize>, String) {
    let same = |pair: &(char, char)| pair.0 == pair.1;
    let bytes = |pairs: &mut dyn Iterator<Item = (char, char)>| pairs.take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let start: usize = bytes(&mut old.chars().zip(new.chars()));
    let end: usize = bytes(&mut old[start..].chars().rev().zip(new[start..].chars().rev()));
    (start..old.len() - end, new[start..new.len() - end].to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

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

    /// Also where the setting is no value but a table, which it cannot be.
    #[test]
    fn afterwards_the_setting_has_its_value() {
        for text in [
            "",
            "\u{feff}target = 'x'\n",
            "planner = [\n  1, # one\n]\n",
            "planner = { x = 1 }\n",
            "[planner]\nx = 1\n",
            "[planner.x]\ny = 1\n[target]\n",
            "[[planner]]\nx = 1\n[[planner]]\n",
            "planner.x = 1\nplanner.y = 2\ntarget = 'x'\n",
            "'planner' = 'auto'\n",
            "target = 'x' # last",
            "# only a comment",
            "[a]\n\n[b]\n",
        ] {
            let (range, new) = edit(text, &[], "planner", "packed").unwrap_or_else(|| panic!("no edit of:\n{text}"));
            let mut edited = text.to_owned();
            edited.replace_range(range, &new);
            let table = edited.parse::<toml::Table>().unwrap_or_else(|error| panic!("{error}:\n{edited}"));
            assert_eq!(
                table.get("planner").and_then(toml::Value::as_str),
                Some("packed"),
                "of:\n{text}\ncame:\n{edited}"
            );
        }
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
        check("tilefit.toml", "[capacity]\nVec = 4096", "tilefit.toml\nplanner = \"dsa-rp\"\n[capacity]\nVec = 4096\n");
        check("tilefit.toml", "target = 'x'", "tilefit.toml\ntarget = 'x'\nplanner = \"dsa-rp\"\n");
        check("tilefit.toml", "target = ", "none");
        check(
            "tilefit.toml",
            "# ours\r\nplanner = 'auto' # still\r\ntarget = 'x'\r\n",
            "tilefit.toml\n# ours\r\nplanner = \"dsa-rp\" # still\r\ntarget = 'x'\r\n",
        );
        check(
            "pyproject.toml",
            "tool.tilefit.planner = 'auto'\n[project]\n",
            "pyproject.toml\ntool.tilefit.planner = \"dsa-rp\"\n[project]\n",
        );
        check(
            "pyproject.toml",
            "[tool]\ntilefit = { target = 'x' } # both\n",
            "pyproject.toml\n[tool]\ntilefit = { target = 'x' , planner = \"dsa-rp\" } # both\n",
        );
        check(
            "pyproject.toml",
            "[project]\nname = 'x'\n\n[tool.tilefit] # kernels\n[tool.ruff]\nplanner = 1\n",
            "pyproject.toml\n[project]\nname = 'x'\n\n[tool.tilefit] # kernels\nplanner = \"dsa-rp\"\n[tool.ruff]\nplanner = 1\n",
        );
        check("pyproject.toml", "[project]\nname = 'x'\n", "tilefit.toml\nplanner = \"dsa-rp\"\n");
    }
}

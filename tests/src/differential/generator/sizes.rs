//! Extents by name: a file of constants that kernels import, so that values are followed through files.

use std::fmt::Write as _;

/// The name of the module that [`text`] is the text of.
pub const MODULE: &str = "sizes";

const NAMED: &[(&str, u64)] =
    &[("ROWS", 16), ("LANES", 32), ("COLUMNS", 64), ("WIDTH", 128), ("DEPTH", 256), ("WHOLE", 4096)];

/// An inlined function of that file, which takes two tensors of [`HELPER_SHAPE`].
pub(super) const HELPER: &str = "doubled";

pub(super) const HELPER_SHAPE: [u64; 2] = [128, 64];

/// The file that kernels import.
pub fn text() -> String {
    let mut text = "import pypto.language as pl\n\n".to_owned();
    for (at, (name, value)) in NAMED.iter().enumerate() {
        let _ = match at {
            0 | 5 => writeln!(text, "{name} = {value}"),
            3 => writeln!(text, "{name} = {} + {}", value - 64, NAMED[2].0),
            _ => writeln!(text, "{name} = {} * {}", value / 16, NAMED[0].0),
        };
    }
    let typed = format!("pl.Tensor[[WIDTH, {}], pl.FP32]", HELPER_SHAPE[1]);
    let _ = write!(
        text,
        "\n\n@pl.jit.inline\ndef {HELPER}(x: {typed}, o: pl.Out[{typed}]):\n    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"{HELPER}\"):\n        for i in pl.range(4):\n            w = x[i * LANES:i * LANES + LANES, 0:COLUMNS]\n            w = pl.add(w, w)\n            o[i * LANES:i * LANES + LANES, 0:COLUMNS] = w\n    return o\n"
    );
    text
}

/// The import of the names that a text mentions.
pub(super) fn import(text: &str) -> String {
    let mentions = |name: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).filter(|name| mentions(name)).collect();
    if names.is_empty() { String::new() } else { format!("from {MODULE} import {}\n", names.join(", ")) }
}

/// Whether a file imports the constants.
pub fn are_imported(text: &str) -> bool {
    text.contains("from sizes import")
}

/// A statement with the names of its extents.
pub(super) fn named(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_alphanumeric() || c == '_' || c == '.' {
            word.push(c);
            continue;
        }
        let name = NAMED.iter().find(|(_, value)| word == value.to_string()).map(|(name, _)| *name);
        out.push_str(name.unwrap_or(&word));
        word.clear();
        out.push(c);
    }
    out.pop();
    out
}

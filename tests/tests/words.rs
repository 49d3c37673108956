//! What completion, hover and signature help know of both languages is what kernels are written in: every name of the languages in the
//! recorded kernels and the examples is documented, and so is every keyword of a call.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tilefit_analysis::Fixture;
use tilefit_analysis::ide::documentation;
use tilefit_syntax::cursor::Cursor;

/// Names of values, which have no documentation of their own: `pl.FP32.get_byte()` and what dumps of old versions say.
const NOT_WORDS: [&str; 2] = ["pl.tile.sum", "pl.tile.alloc"];

fn sources(folder: &Path, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            found.extend(fs::read_to_string(&path));
        }
    }
}

fn all_sources() -> Vec<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["conformance", "../docs/examples"] {
        sources(&here.join(folder), &mut found);
    }
    assert!(found.len() > 300, "only {} kernels were found", found.len());
    found
}

/// The dotted names that start with a module of a language, each with where it ends.
fn paths<'t>(text: &'t str, module: &str) -> Vec<(&'t str, usize)> {
    let is_part = |c: char| c == '_' || c == '.' || c.is_alphanumeric();
    let starts = text.match_indices(module).filter(|(at, _)| !text[..*at].ends_with(is_part));
    let ends = starts.map(|(at, _)| {
        let len = text[at..].find(|c| !is_part(c)).unwrap_or(text.len() - at);
        (text[at..at + len].trim_end_matches('.'), at + len)
    });
    // Not in comments and strings.
    ends.filter(|(_, end)| Cursor::at(text, *end).is_some_and(|cursor| cursor.path.len() > 1)).collect()
}

/// A hover knows element types and memory spaces as well, inside of a kernel.
fn is_value(path: &str) -> bool {
    let text = format!(
        "import pypto.language as pl\n\n@pl.function(type=pl.FunctionType.InCore)\ndef k(a: pl.Tensor[[64, 64], pl.FP32]):\n    x = f({path})\n"
    );
    let end = text.rfind(')').expect("in the text");
    Fixture::new(&text).hover(end).is_some()
}

#[test]
fn every_name_in_the_recorded_kernels_is_documented() {
    let mut unknown = BTreeSet::new();
    for text in all_sources() {
        for (path, _) in ["pl.", "tlx."].into_iter().flat_map(|module| paths(&text, module)) {
            let is_known = documentation(path).is_some() || path.ends_with(".get_byte") || NOT_WORDS.contains(&path);
            if !is_known && !unknown.contains(path) && !is_value(path) {
                unknown.insert(path.to_owned());
            }
        }
    }
    assert_eq!(unknown, BTreeSet::new());
}

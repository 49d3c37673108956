//! Messages, settings, help texts and pages are plain technical English. What nobody would say aloud does not come back: phrases that
//! were replaced everywhere, looked for in the string literals of the sources and in the prose of the pages.

use std::fs;
use std::path::{Path, PathBuf};

/// A phrase, in lower case, and what to write instead.
const INSTEAD: [(&str, &str); 30] = [
    ("something that is", "name the thing: the operand, the argument `x`, the return value"),
    ("what is given back", "the freed value, the return value"),
    (" stands ", "is, is shown, is before"),
    (" stands.", "is, is shown"),
    (" stood ", "was"),
    (" behind ", "after, next to"),
    (" in front of ", "before"),
    (" mend ", "fix"),
    (" mended", "fixed"),
    ("way out", "how to fix it"),
    ("what helps", "how to fix it"),
    (" is said", "is reported, is shown"),
    (" says so", "is reported, is shown"),
    (" is told", "is reported, is shown"),
    (" by turns", "one after the other"),
    (" all the same", "still, the same"),
    ("whichever way", "in both cases"),
    ("the author", "you, your code, the source"),
    (" an author", "you, your code, the source"),
    (" inside of ", "inside"),
    (" outside of ", "outside"),
    (" hangs on ", "depends on"),
    ("than there is", "than is available"),
    ("what there is", "name the thing"),
    ("nothing tells", "name what is missing"),
    ("nothing says", "name what is missing"),
    ("what is enough", "any one of these fixes it"),
    ("what is tried", "the trial"),
    ("as the project says", "name where the value comes from"),
    (" beside ", "next to, in addition to"),
];

/// Of comments, which speak to other authors, fewer.
const IN_COMMENTS: [(&str, &str); 9] = [
    (" hangs on ", "depends on"),
    (" hang on ", "depend on"),
    (" in front of ", "before"),
    (" that there is not", "that does not exist, unknown"),
    ("of which nobody says", "without a type, without a value"),
    ("of which nothing is known", "unknown, untyped"),
    ("of which it is not known", "that may, unknown"),
    ("a name stands for", "a name means, refers to"),
    (" comes to under ", "the memory of, takes under"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Files below `folder` that end in one of `endings`, without what is built, downloaded, or a test.
fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the checkout").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            let is_source = !matches!(name.as_str(), "target" | "node_modules" | "dist" | "tests" | "benches");
            if is_source && !name.starts_with('.') {
                files(&path, endings, found);
            }
        } else if name != "tests.rs" && endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
}

/// The string literals of a source, with their lines.
fn literals(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(hashes) = raw(source, at) {
            let (open, close) = (hashes + 2, format!("\"{}", "#".repeat(hashes)));
            let len = rest[open..].find(&close).expect("a raw string ends");
            found.push((line, rest[open..open + len].to_owned()));
            open + len + close.len()
        } else if let Some(text) = rest.strip_prefix('"') {
            let len = quoted(text);
            found.push((line, continued(&text[..len])));
            len + 2
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            rest[1..].find('\'').map_or(1, |end| end + 2)
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        line += rest[..skipped].matches('\n').count();
        at += skipped;
    }
    found
}

/// The number of `#` of a raw string that begins here.
fn raw(source: &str, at: usize) -> Option<usize> {
    let is_name = source[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let rest = source[at..].strip_prefix('r').filter(|_| !is_name)?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    rest[hashes..].starts_with('"').then_some(hashes)
}

/// The length of a string up to its closing quote.
fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    let end = rest.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.expect("a string ends")
}

/// A literal that goes on in the next line, as one line.
fn continued(literal: &str) -> String {
    let mut parts = literal.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start())
}

/// The paragraphs of a page, without code.
fn paragraphs(page: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut is_code, mut is_open) = (false, false);
    for (line, text) in page.lines().enumerate() {
        let is_fence = text.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || text.trim().is_empty() {
            is_open = false;
            continue;
        }
        // Of code spans nothing is said aloud.
        let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join("`");
        match found.last_mut().filter(|_| is_open) {
            Some((_, paragraph)) => *paragraph += &format!(" {prose}"),
            None => found.push((line + 1, prose)),
        }
        is_open = true;
    }
    found
}

/// The comments of a source, those of lines that follow each other as one, without code.
fn comments(source: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (line, text) in source.lines().enumerate() {
        let Some(comment) = text.trim_start().strip_prefix("//") else {
            is_open = false;
            continue;
        };
        let prose: String = comment.trim_start_matches(['/', '!']).split('`').step_by(2).collect::<Vec<_>>().join("`");
        match found.last_mut().filter(|_| is_open) {
            Some((_, all)) => *all += &format!(" {prose}"),
            None => found.push((line + 1, prose)),
        }
        is_open = true;
    }
    found
}

/// The phrases of a text that are not plain.
fn phrases(text: &str, of: &[(&str, &str)]) -> Vec<String> {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = format!(" {} ", words.to_lowercase());
    let phrases = of.iter().filter(|(phrase, _)| text.contains(phrase));
    phrases.map(|(phrase, instead)| format!("`{phrase}`: {instead}")).collect()
}

/// Why a text is not plain.
fn objections(text: &str) -> Vec<String> {
    let mut found = phrases(text, &INSTEAD);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = format!(" {} ", words.to_lowercase());
    for verb in [" is no ", " are no "] {
        for (at, _) in text.match_indices(verb) {
            let (before, after) = (&text[..at], &text[at + verb.len()..]);
            let is_fine = before.ends_with("there") || after.starts_with("longer") || after.starts_with("more");
            if !is_fine {
                found.push(format!("`{}`: is not a", verb.trim()));
            }
        }
    }
    found
}

#[test]
fn messages_and_pages_are_plain() {
    let root = root();
    let mut all = Vec::new();
    for folder in ["analysis", "server", "syntax/src", "docs", "editors"] {
        files(&root.join(folder), &[".rs", ".md", ".txt"], &mut all);
    }
    all.push(root.join("README.md"));
    let mut wrong = Vec::new();
    let mut texts = 0;
    for path in all {
        let name = path.strip_prefix(&root).expect("below the root").to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&path).expect("text");
        let found = if name.ends_with(".rs") {
            // What the tests in a file say is their own.
            literals(text.split("#[cfg(test)]").next().unwrap_or_default())
        } else {
            paragraphs(&text)
        };
        texts += found.len();
        if name.ends_with(".rs") {
            for (line, text) in comments(&text) {
                let objections = phrases(&text, &IN_COMMENTS);
                wrong.extend(objections.iter().map(|objection| format!("{name}:{line}: {objection}")));
            }
        }
        for (line, text) in found {
            wrong.extend(objections(&text).iter().map(|objection| format!("{name}:{line}: {objection}")));
        }
    }
    assert!(texts > 5000, "only {texts} texts were found");
    assert!(wrong.is_empty(), "write instead of\n{}", wrong.join("\n"));
}

#[test]
fn what_is_not_plain_is_found() {
    let source =
        "let a = r#\"`x` is no \"tile\"\"#; // is no comment\nlet b = \"this stands \\\n    behind it\"; let c = '\"';";
    let found = literals(source);
    assert_eq!(found, [(1, "`x` is no \"tile\"".to_owned()), (2, "this stands behind it".to_owned())]);
    let counts: Vec<usize> = found.iter().map(|(_, text)| objections(text).len()).collect();
    assert_eq!(counts, [1, 2]);
    let page = "It says so.\nThere is no `way out`.\n\n```text\nbehind it\n```\n\nA mend and\na fix\n";
    let found = paragraphs(page);
    assert_eq!(found.iter().map(|(line, text)| (*line, objections(text).len())).collect::<Vec<_>>(), [(1, 1), (8, 1)]);
}

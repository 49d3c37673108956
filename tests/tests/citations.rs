//! Comments and pages cite the book by page and heading, `docs/packing.md`, "Verdicts": both exist. What is not in the repository is
//! cited by its public place, `owner/name@commit:path`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const EXTENSIONS: [&str; 8] = ["rs", "md", "toml", "py", "ts", "mjs", "lua", "el"];

/// What starts a comment in one of these languages, the longer ones first.
const LEADERS: [&str; 7] = ["//!", "///", "//", "#", "--", ";;;", ";;"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The sources and pages of the repository, without what is built or downloaded.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the checkout").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            if !matches!(name.as_str(), "target" | "node_modules" | "dist") && !name.starts_with('.') {
                files(&path, found);
            }
        } else if path.extension().is_some_and(|is| EXTENSIONS.iter().any(|extension| is == *extension)) {
            found.push(path);
        }
    }
}

/// The text in one line, so that a citation may begin on one line of a comment and end on the next.
fn joined(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.trim();
        LEADERS.iter().find_map(|leader| line.strip_prefix(leader)).unwrap_or(line).trim()
    });
    lines.collect::<Vec<_>>().join(" ")
}

/// A path in a text that names a page or a table, and what is around it.
struct Cited<'t> {
    path: &'t str,
    before: &'t str,
    after: &'t str,
}

fn cited(text: &str) -> impl Iterator<Item = Cited<'_>> {
    let ends = [".md", ".csv"].into_iter().flat_map(|end| text.match_indices(end).map(move |(at, _)| at + end.len()));
    ends.filter(|end| !text[*end..].starts_with(|c: char| c.is_alphanumeric())).map(|end| {
        let is_of_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        let start = text[..end].rfind(|c: char| !is_of_path(c)).map_or(0, |at| at + 1);
        // The character found may take several bytes.
        let start = (start..end).find(|at| text.is_char_boundary(*at)).unwrap_or(end);
        Cited { path: &text[start..end], before: &text[..start], after: &text[end..] }
    })
}

/// The headings that follow a page: `, "Reuse", "Repairs"`.
fn headings(after: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = after.strip_prefix('`').unwrap_or(after);
    while let Some((heading, behind)) = rest.strip_prefix(", \"").and_then(|quoted| quoted.split_once('"')) {
        found.push(heading);
        rest = behind;
    }
    found
}

fn has_heading(page: &str, heading: &str) -> bool {
    let titles = page.lines().filter(|line| line.starts_with('#'));
    titles.map(|line| line.trim_start_matches('#').trim()).any(|title| title == heading)
}

/// What is wrong with the citations of one file.
fn wrong(text: &str, is_page: bool, in_book: &BTreeSet<String>) -> Vec<String> {
    let text = joined(text);
    let mut wrong = Vec::new();
    for Cited { path, before, after } in cited(&text) {
        let local = path.trim_start_matches("../");
        let name = path.rsplit('/').next().unwrap_or(path);
        let first = local.split('/').next().unwrap_or(local);
        // A path in another repository, and a link of a page: the test of the book follows those.
        if before.ends_with(':') || is_page && before.ends_with("](") {
            continue;
        }
        if first == "docs" {
            match fs::read_to_string(root().join(local)) {
                Err(_) => wrong.push(format!("{path} does not exist")),
                Ok(page) => {
                    let missing = headings(after).into_iter().filter(|heading| !has_heading(&page, heading));
                    wrong.extend(missing.map(|heading| format!("{path} has no heading \"{heading}\"")));
                    if after.trim_start_matches(['`', ' ']).starts_with('§') {
                        wrong.push(format!("{path} is cited by number, not by heading"));
                    }
                }
            }
        } else if matches!(first, "reference" | "seeds")
            || path == name && ["design", "style"].iter().any(|stem| name.strip_suffix(".md") == Some(*stem))
            || path == name && in_book.contains(name)
        {
            wrong.push(format!("{path}: not the path of a file of the repository"));
        }
    }
    let is_number = |at: usize| text[at..].starts_with(|c: char| c.is_ascii_digit());
    if text.match_indices("seeds/").any(|(at, word)| is_number(at + word.len())) {
        wrong.push("cites a document that is not in the repository, by number".to_owned());
    }
    wrong
}

/// Names of the pages with rules, which say nothing without their folder.
fn names_in_book() -> BTreeSet<String> {
    let entries = fs::read_dir(root().join("docs/reference")).expect("the book has rules").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_citation_leads_to_a_page_and_a_heading() {
    let (mut paths, names) = (Vec::new(), names_in_book());
    files(&root(), &mut paths);
    assert!(paths.len() > 500, "only {} files were found", paths.len());
    let mut found = Vec::new();
    for path in paths {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        found.extend(wrong(&text, is_page, &names).into_iter().map(|what| format!("{}: {what}", path.display())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_leads_nowhere_is_found() {
    let names = names_in_book();
    let count = |text: &str| wrong(text, false, &names).len();
    let page = |folder: &str, name: &str, rest: &str| format!("//! Rules (`{folder}{name}.md`{rest}).\n");
    assert_eq!(count(&page("docs/", "packing", ", \"Verdicts\"")), 0);
    assert_eq!(count(&page("docs/", "packing", ",\n//! \"Verdicts\", \"Planners\"")), 0);
    assert_eq!(count(&page("docs/", "packing", ", \"Verdicts\", \"No such heading\"")), 1);
    assert_eq!(count(&page("docs/", "packing", " §4")), 1);
    assert_eq!(count(&page("docs/", "no-such-page", "")), 1);
    assert_eq!(count(&page("owner/name@0123abcd:docs/", "no-such-page", "")), 0);
    assert_eq!(count(&page("reference/", "memory", " §9")), 1);
    assert_eq!(count(&page("", "memory", "")), 1);
    assert_eq!(count(&page("", "design", "")), 1);
    assert_eq!(count(&format!("/// `{}/003`", "seeds")), 1);
}

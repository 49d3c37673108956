//! The book: its links lead somewhere, its pages are in it, its drawings are what tilefit draws today.
//!
//! `UPDATE_EXPECT=1 cargo test -p tilefit-tests book` draws them anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// Pages below `folder`, with their text.
fn pages(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder).expect("a folder of the book").map(|entry| entry.expect("an entry").path());
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&path).expect("a page is text");
            found.push((path, text));
        }
    }
    found
}

/// What `[…](…)` and pictures lead to within the checkout, without the part after `#`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let marked = |start: &'static str, end: char| {
        text.split(start).skip(1).filter_map(move |rest| rest.split_once(end)).map(|(target, _)| target)
    };
    let targets = marked("](", ')').chain(marked(" src=\"", '"')).chain(marked(" srcset=\"", '"'));
    let targets = targets.map(|target| target.split('#').next().unwrap_or_default());
    targets.filter(|target| !target.is_empty() && !target.contains("://") && !target.contains([' ', '\n', '$']))
}

#[test]
fn links_lead_somewhere() {
    let readme = docs().join("../README.md");
    let text = fs::read_to_string(&readme).expect("the checkout has a README");
    for (path, text) in pages(&docs()).into_iter().chain([(readme, text)]) {
        for link in links(&text).filter(|link| link.ends_with(".md") || link.contains("images/")) {
            let target = path.parent().expect("a page is in a folder").join(link);
            assert!(target.exists(), "{}: {link} leads nowhere", path.display());
        }
    }
}

#[test]
fn every_page_is_in_the_book() {
    let summary = fs::read_to_string(docs().join("SUMMARY.md")).expect("the book has a summary");
    for (path, _) in pages(&docs()) {
        let name = path.strip_prefix(docs()).expect("a page of the book").to_string_lossy().replace('\\', "/");
        // Diagnostics are put in when the book is built.
        let is_in = summary.contains(&format!("({name})")) || name.starts_with("diagnostics/") || name == "SUMMARY.md";
        assert!(is_in, "{name} is not in docs/SUMMARY.md");
    }
}

#[test]
fn drawings_are_up_to_date() {
    for example in ["overflow", "chained_matmul", "rmsnorm"] {
        let output = Command::new(tilefit_tests::binary::tilefit())
            .args(["map", "--format", "svg"])
            .arg(format!("examples/{example}.py"))
            .current_dir(docs())
            .output()
            .expect("the binary starts");
        let drawn = String::from_utf8(output.stdout).expect("a drawing is text");
        assert!(drawn.starts_with("<svg "), "{}", String::from_utf8_lossy(&output.stderr));
        let path = docs().join(format!("images/map-{example}.svg"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, &drawn).expect("the checkout is writable");
        }
        let there = fs::read_to_string(&path).unwrap_or_default();
        assert!(there == drawn, "{} is not what tilefit draws: run this with UPDATE_EXPECT=1", path.display());
    }
}

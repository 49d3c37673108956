//! Repositories are not trusted, so that there is one door to the disk and one to the terminal. This refuses any other.

use std::fs;
use std::path::{Path, PathBuf};

/// What only the file named beside it may say.
const DOORS: [(&str, &[&str]); 2] = [
    (
        "server/src/disk.rs",
        &[
            "fs::read(",
            "fs::read_to_string",
            "fs::write",
            "fs::copy",
            "fs::rename",
            "fs::remove",
            " File::",
            "OpenOptions",
            "tempfile::",
            "temp_dir",
        ],
    ),
    (
        "server/src/terminal.rs",
        &["print!(", "println!(", "anstream::stdout", "anstream::stderr", "stderr().write", "stdout().write"],
    ),
];

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !matches!(name.as_str(), "tests" | "target" | "benches") {
            sources(&path, into);
        // `build.rs` runs where the product is built.
        } else if name.ends_with(".rs") && !matches!(name.as_str(), "tests.rs" | "build.rs") {
            into.push(path);
        }
    }
}

#[test]
fn the_product_has_one_door_to_the_disk_and_one_to_the_terminal() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut files = Vec::new();
    ["server", "analysis", "syntax"].iter().for_each(|room| sources(&root.join(room), &mut files));
    assert!(files.len() > 200, "{} files", files.len());
    let mut others = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source");
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (door, words) in DOORS {
            if file.ends_with(door) {
                continue;
            }
            let lines = product.lines().filter(|line| words.iter().any(|word| line.contains(word)));
            others.extend(lines.map(|line| format!("{}: {}", file.display(), line.trim())));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

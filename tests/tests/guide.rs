//! The commands of the guide, run as a reader runs them: in a folder with the examples, with the built binary. A `console` block shows
//! what they print, a `sh` block only has to run. A `python NAME.py` block is a file that the commands of its page can name.
//!
//! `UPDATE_EXPECT=1 cargo test -p tilefit-tests guide` writes into the pages what is printed today.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Files that a page names as the reader's own, and the examples that take their place.
const STAND_INS: [(&str, &str); 5] = [
    ("attention.py", "tlx_attention.py"),
    ("kernels/attention.py", "tlx_attention.py"),
    ("kernels.py", "tlx_attention.py"),
    ("kernels/matmul.py", "tuned_matmul.py"),
    ("kernels/rmsnorm.py", "rmsnorm.py"),
];

/// Buffers of any origin for `tilefit pack`.
const BUFFERS: &str = "id,lower,upper,size\na,1,3,4\nb,5,6,3\nc,4,6,4\nd,3,5,2\ne,1,2,4\nf,2,5,2\ng,2,4,1\n";

/// What a test cannot run: it builds and installs, needs a compiler or a commit that is not here, or does not end.
const NOT_RUN: [&str; 7] =
    ["cargo xtask", "cargo install", "cargo bench", "tilefit confirm", "tilefit diff", "tilefit server", "--confirm"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn pages() -> Vec<PathBuf> {
    let mut found = vec![root().join("README.md")];
    for folder in ["docs", "docs/guide"] {
        let entries = fs::read_dir(root().join(folder)).expect("a folder of the book");
        found.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found.sort();
    found
}

/// A folder as the reader's: the examples where the pages name them, and the files that this page shows.
fn folder(page: &Path, text: &str) -> PathBuf {
    let name = page.file_stem().expect("a page has a name");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide").join(name);
    let _ = fs::remove_dir_all(&folder); // absent on the first run
    let examples = root().join("docs/examples");
    let copy = |from: &Path, to: &str| {
        let to = folder.join(to);
        fs::create_dir_all(to.parent().expect("a file has a folder")).expect("writable");
        fs::copy(from, to).expect("an example");
    };
    for example in fs::read_dir(&examples).expect("the examples").flatten() {
        copy(&example.path(), &format!("docs/examples/{}", example.file_name().to_string_lossy()));
    }
    for (named, example) in STAND_INS {
        copy(&examples.join(example), named);
    }
    fs::write(folder.join("buffers.csv"), BUFFERS).expect("writable");
    let blocks = text.split("```python ").skip(1).filter_map(|block| block.split("```").next()?.split_once('\n'));
    for (name, content) in blocks {
        fs::write(folder.join(name), content).expect("writable");
    }
    folder
}

/// A command of a page: its last line in the page, and what the page shows below it.
struct Shown<'p> {
    line: usize,
    command: &'p str,
    output: Option<Vec<&'p str>>,
}

fn commands(page: &str) -> Vec<Shown<'_>> {
    let mut found: Vec<Shown<'_>> = Vec::new();
    let mut block = None;
    for (line, text) in page.lines().enumerate() {
        match (block, text.strip_prefix("```")) {
            (None, Some(language)) => block = Some(language),
            (Some(_), Some(_)) => block = None,
            (Some("console"), None) => match text.strip_prefix("$ ") {
                Some(command) => found.push(Shown { line, command, output: Some(Vec::new()) }),
                None => {
                    let last = found.last_mut().and_then(|shown| shown.output.as_mut());
                    last.expect("a `console` block begins with `$ `").push(text);
                }
            },
            (Some("sh"), None) if !text.trim().is_empty() => {
                let command = text.split(" #").next().unwrap_or(text).trim_end();
                found.push(Shown { line, command, output: None });
            }
            _ => {}
        }
    }
    found.retain(|shown| !NOT_RUN.iter().any(|part| shown.command.contains(part)));
    found.retain(|shown| ["tilefit ", "cargo run ", "cat "].iter().any(|start| shown.command.starts_with(start)));
    found
}

/// What a shell prints, standard error first, since that is where an empty output is explained.
fn run(command: &str, folder: &Path) -> (Option<i32>, String) {
    let command = command.replace("cargo run --release -- ", "tilefit ");
    let binary = tilefit_tests::binary::tilefit().parent().expect("the binary is in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(binary.to_path_buf()).chain(std::env::split_paths(&path));
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(paths).expect("paths"))
        .env_remove("CLICOLOR_FORCE")
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = [output.stderr, output.stdout].concat();
    (output.status.code(), String::from_utf8(text).expect("messages are UTF-8"))
}

#[test]
fn the_commands_of_the_guide_print_what_it_shows() {
    let mut ran = 0;
    let mut wrong = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).expect("a page is text");
        let commands = commands(&page);
        if commands.is_empty() {
            continue;
        }
        let folder = folder(&path, &page);
        let printed: Vec<String> = commands
            .iter()
            .map(|shown| {
                let (code, printed) = run(shown.command, &folder);
                // 1 is a finding, as in the overflow that a page is about; 2 a command that is wrong.
                assert!(matches!(code, Some(0 | 1)), "{}: `{}`\n{printed}", path.display(), shown.command);
                printed
            })
            .collect();
        ran += commands.len();
        // From below, so that lines above stay where they are.
        let mut lines: Vec<&str> = page.lines().collect();
        for (shown, printed) in commands.iter().zip(&printed).rev() {
            let Some(output) = &shown.output else { continue };
            if !output.iter().copied().eq(printed.lines()) {
                wrong.push(format!("{}:{}: `{}` prints\n{printed}", path.display(), shown.line + 1, shown.command));
                let below = shown.line + 1;
                lines.splice(below..below + output.len(), printed.lines());
            }
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, lines.join("\n") + "\n").expect("the checkout is writable");
        }
    }
    assert!(ran > 8, "only {ran} commands were found");
    assert!(wrong.is_empty() || std::env::var_os("UPDATE_EXPECT").is_some(), "{}", wrong.join("\n"));
}

//! The command line end to end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use expect_test::{Expect, expect};
use serde_json::Value;

/// What a run leaves behind.
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn tilelens(directory: &Path, arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_tilelens-e2e"))
        .args(arguments)
        .current_dir(directory)
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).expect("messages are UTF-8");
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A directory with these files, of its own for each test.
fn directory(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    let _ = fs::remove_dir_all(&root); // absent on the first run
    fs::create_dir_all(&root).expect("the target directory is writable");
    for (file, content) in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("a file has a directory")).expect("writable");
        fs::write(path, content).expect("writable");
    }
    root
}

/// Standard output, then standard error, then the exit code.
#[track_caller]
fn check(directory: &Path, arguments: &[&str], expected: &Expect) {
    let Run { code, stdout, stderr } = tilelens(directory, arguments);
    expected.assert_eq(&format!("{stdout}{stderr}exit {}\n", code.expect("no signal")));
}

#[test]
fn files_without_kernels_print_nothing() {
    let root = directory("plain", &[("a.py", b"print('hello')\n"), ("b/c.py", b""), ("b/d.txt", b"pl.load(")]);
    check(
        &root,
        &["check", "."],
        &expect![[r#"
            2 files, 0 kernels (0 exact): 0 errors, 0 warnings, 0 hints
            exit 0
        "#]],
    );
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_checked() {
    let root = directory("unreadable", &[("a.py", b"x = 1\n"), ("latin1.py", b"# caf\xe9\n"), ("z.py", b"\0\0\0")]);
    check(
        &root,
        &["check", "--exit-zero", ".", "nosuch.py"],
        &expect![[r#"
            3 files, 0 kernels (0 exact): 0 errors, 0 warnings, 0 hints, 2 paths that cannot be read
            tilelens: nosuch.py: No such file or directory (os error 2)
            tilelens: ./latin1.py: not UTF-8 text: byte 5 cannot be read; save the file as UTF-8
            exit 2
        "#]],
    );
}

#[test]
fn ignored_files_are_passed_over_unless_named() {
    let root = directory("ignored", &[(".ignore", b"out\n"), ("out/a.py", b""), (".hidden/b.py", b""), ("noext", b"")]);
    let checked = |arguments: &[&str]| tilelens(&root, arguments).stdout;
    assert!(checked(&["check", "."]).starts_with("0 files"));
    assert!(checked(&["check", "out/a.py", "noext", "./noext"]).starts_with("3 files"));
    assert!(checked(&["check", "noext", "noext"]).starts_with("1 file,"));
}

#[test]
fn wrong_arguments_exit_with_2() {
    let root = directory("usage", &[("a.py", b"")]);
    for arguments in [
        &["check"][..],
        &["check", "--target", "ascend1", "a.py"],
        &["plan", "a.py", "--planner", "best"],
        &["plan", "nosuch.py"],
        &["plan", "."],
        &["plan", "a.py", "--format", "xml"],
        &["codegen", "a.py:kernel"],
        &["codegen", "nosuch.py:kernel"],
        &["explain", "E1"],
        &["frobnicate"],
        &[],
    ] {
        let run = tilelens(&root, arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{arguments:?}");
        assert!(!run.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn every_code_is_explained() {
    let root = directory("explain", &[]);
    let codes = tilelens(&root, &["explain", "?"]).stderr;
    let codes: Vec<_> = codes.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(codes.contains(&"capacity-exceeded"), "{codes:?}");
    for code in codes {
        let run = tilelens(&root, &["explain", code]);
        assert_eq!(run.code, Some(0));
        assert!(run.stdout.starts_with("# "), "{code}: {}", run.stdout);
    }
}

#[test]
fn the_version_is_printed() {
    let run = tilelens(&directory("version", &[]), &["--version"]);
    assert_eq!((run.code, run.stdout.trim_end()), (Some(0), concat!("tilelens ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn plans_are_one_json_object() {
    let root = directory("json", &[("a.py", b"x = 1\n")]);
    let run = tilelens(&root, &["plan", "a.py", "--format", "json"]);
    assert_eq!(run.code, Some(0));
    let plan: Value = serde_json::from_str(&run.stdout).expect("one JSON object");
    assert_eq!(plan, serde_json::json!({ "schema": 1, "file": "a.py", "kernels": [] }));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut process = Command::new(env!("CARGO_BIN_EXE_tilelens-e2e"))
        .args(["explain", "capacity-exceeded"])
        .current_dir(directory("pipe", &[]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(process.stdout.take());
    let output = process.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn mistakes_in_the_settings_file_are_told() {
    let root = directory("settings", &[("tilelens.toml", b"planer = \"auto\"\n"), ("a.py", b"")]);
    let run = tilelens(&root, &["check", "a.py"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stderr.contains("did you mean `planner`?"), "{}", run.stderr);
}

const IMPORTING: &str = "import pypto.language as pl
from .config import ROWS

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[512, 256], pl.FP32], out: pl.Out[pl.Tensor[[512, 256], pl.FP32]]) -> pl.Tensor[[512, 256], pl.FP32]:
        x = pl.load(a, [0, 0], [ROWS, 256])
        out = pl.store(x, [0, 0], out)
        return out
";

#[test]
fn constants_are_read_from_other_files() {
    let files = [
        ("k.py", IMPORTING),
        ("config.py", "from limits import HALF\nROWS = HALF * 2\n"),
        ("limits.py", "HALF = 128\n"),
    ];
    let root = directory("imports", &files.map(|(name, text)| (name, text.as_bytes())));
    check(&root, &["check", "k.py"], &expect![[r#"
        error[capacity-exceeded]: Vec buffer usage (262144 bytes) exceeds platform limit (188416 bytes). `x` alone has 262144 bytes; split it into parts of at most 188416 bytes
          ╭▸ k.py:8:9
          │
        8 │         x = pl.load(a, [0, 0], [ROWS, 256])
          │         ━
          │         │
          ╰╴        `x` takes 262144 bytes of Vec at the peak

        k.py: P.k line 7 (ascend910b, sequential)
          Vec        ████████████████████   262144 / 188416    140 %

        1 file, 1 kernel (1 exact): 1 error, 0 warnings, 0 hints
        exit 1
    "#]]);
}

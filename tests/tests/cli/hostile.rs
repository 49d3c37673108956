//! Repositories that somebody else filled: nothing is written, read or printed that their author chose.

use super::*;

/// A kernel for each of `names`, which a `name_hint` may spell as it likes.
fn kernels(names: &[&str]) -> String {
    let scope = |(index, name): (usize, &&str)| {
        format!(
            "
@pl.jit
def host{index}(x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"{name}\"):
        y = pl.exp(x)
        o = pl.assemble(o, y, [0, 0])
    return o
"
        )
    };
    "import pypto.language as pl\n".to_owned() + &names.iter().enumerate().map(scope).collect::<String>()
}

/// A kernel whose rows are imported from `sizes.py`.
const IMPORTING: &str = "
import pypto.language as pl
from sizes import ROWS

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32]):
    t = pl.load(a, [0, 0], [ROWS, 64])
";

fn names_of_files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn generated_code_stays_in_its_folder() {
    let text = kernels(&["../../escaped", "/absolute/kernel", "twice", "twice", "TWICE", "..", "a:b"]);
    let root = directory("traversal", &[("a/k.py", text.as_bytes())]);
    let run = tilefit(&root, &["codegen", "a/k.py", "-o", "out/deep"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(names_of_files(&root), ["a", "out"]);
    let expected = [
        "%2E.%2F..%2Fescaped.cpp",
        "%2E..cpp",
        "%2Fabsolute%2Fkernel.cpp",
        "TWICE-3.cpp",
        "a%3Ab.cpp",
        "twice-2.cpp",
        "twice.cpp",
    ];
    assert_eq!(names_of_files(&root.join("out/deep")), expected);
}

#[test]
fn terminals_get_no_control_character_of_a_repository() {
    let evil = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{202e}";
    let text = kernels(&[evil]) + "    # \u{1b}[2J\u{9b}31m\u{202e}\n";
    let text = text.replace("y = pl.exp(x)", "y = pl.exp(x) # \u{1b}[2J\u{9b}31m\u{202e}\n        z = pl.cast(y, x)");
    let root = directory("escapes", &[("e\u{1b}[2J.py", text.as_bytes()), ("e/\u{202e}k.py", text.as_bytes())]);
    let file = "e\u{1b}[2J.py";
    for arguments in [
        &["check", "."][..],
        &["check", "--format", "json", "."],
        &["check", "--format", "sarif", "."],
        &["check", "--format", "github", "."],
        &["plan", file],
        &["plan", "--format", "python", file],
        &["map", file],
        &["map", "--format", "html", file],
        &["codegen", file],
        &["codegen", "e\u{1b}[2J.py:no_such"],
        &["plan", "\u{1b}[2J/missing.py"],
    ] {
        let output = Command::new(tilefit_tests::binary::tilefit())
            .args(arguments)
            .current_dir(&root)
            .env("CLICOLOR_FORCE", "1")
            .output()
            .expect("the binary starts");
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).expect("messages are UTF-8");
        assert!(!printed.is_empty(), "{arguments:?}");
        let evil = printed.chars().find(|&c| "\u{7}\u{9b}\u{202e}".contains(c));
        assert_eq!(evil, None, "{arguments:?} {printed:?}");
        let mut sequences = printed.split('\u{1b}').skip(1);
        let is_colour = |text: &str| {
            let rest =
                text.strip_prefix('[').unwrap_or("J").trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
            rest.starts_with('m')
        };
        assert!(sequences.all(is_colour), "{arguments:?} {printed:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_devices_and_pipes_are_not_read() {
    use std::os::unix::fs::symlink;

    let root = directory("special", &[("w/k.py", IMPORTING.as_bytes()), ("secret.py", b"ROWS = 64\n")]);
    let workspace = root.join("w");
    let reason = || {
        let run = tilefit(&workspace, &["check", "--format", "github", "k.py"]);
        run.stdout.lines().find(|line| line.contains("not modelled")).unwrap_or_default().to_owned()
    };
    let sizes = workspace.join("sizes.py");

    symlink("/dev/zero", &sizes).expect("a link");
    assert!(
        reason().contains("which tilefit does not read: a link that leads out of the workspace, to /dev/zero"),
        "{}",
        reason()
    );
    fs::remove_file(&sizes).expect("removed");

    symlink("../secret.py", &sizes).expect("a link");
    assert!(
        reason().contains("which tilefit does not read: a link that leads out of the workspace, to "),
        "{}",
        reason()
    );
    let run = tilefit(&workspace, &["check", "."]);
    assert!(run.stderr.contains("sizes.py: a link that leads out of the workspace, to "), "{}", run.stderr);
    assert_eq!(run.code, Some(2));
    fs::remove_file(&sizes).expect("removed");

    assert!(Command::new("mkfifo").arg(&sizes).status().is_ok_and(|status| status.success()));
    assert!(reason().contains("which tilefit does not read: not a regular file"), "{}", reason());
    let run = tilefit(&workspace, &["check", "sizes.py"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(2), "tilefit: sizes.py: not a regular file\n"));
    fs::rename(&sizes, workspace.join("tilefit.toml")).expect("renamed");
    let run = tilefit(&workspace, &["check", "k.py"]);
    assert!(run.stderr.contains("tilefit.toml: not a regular file"), "{}", run.stderr);
    fs::remove_file(workspace.join("tilefit.toml")).expect("removed");

    symlink("/dev/zero", workspace.join("tilefit.toml")).expect("a link");
    let run = tilefit(&workspace, &["check", "k.py"]);
    assert!(
        run.stderr.contains("tilefit.toml: a link that leads out of the workspace, to /dev/zero"),
        "{}",
        run.stderr
    );

    let file = fs::File::create(&sizes).expect("a file");
    file.set_len(1 << 32).expect("a file with a hole");
    assert!(reason().contains("which tilefit does not read: larger than 4 MiB"), "{}", reason());
}

#[cfg(unix)]
#[test]
fn a_fix_keeps_the_link_and_the_rights() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let text = "import pypto.language as pl\n\n@pl.function(type=pl.FunctionType.InCore)\ndef k(a: pl.Tensor[[64, 64], pl.FP32]):\n    t = pl.load(a, [0, 0], [64, 64])\n    u = pl.expp(t)\n";
    let root = directory("fixed", &[("real.py", text.as_bytes())]);
    let real = root.join("real.py");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("rights");
    symlink("real.py", root.join("link.py")).expect("a link");
    tilefit(&root, &["check", "--fix", "link.py"]);
    assert!(fs::read_to_string(&real).expect("text").contains("u = pl.exp(t)"));
    assert!(fs::symlink_metadata(root.join("link.py")).expect("metadata").is_symlink());
    assert_eq!(fs::metadata(&real).expect("metadata").permissions().mode() & 0o777, 0o640);
    assert_eq!(names_of_files(&root), ["link.py", "real.py"]);
}

/// A link that waits where a file goes is replaced.
#[cfg(unix)]
#[test]
fn a_planted_link_is_not_followed() {
    let root = directory("planted", &[("k.py", kernels(&["k"]).as_bytes()), ("precious", b"mine")]);
    fs::create_dir(root.join("out")).expect("a folder");
    std::os::unix::fs::symlink("../precious", root.join("out/k.cpp")).expect("a link");
    assert_eq!(tilefit(&root, &["codegen", "k.py", "-o", "out"]).code, Some(0));
    assert_eq!(fs::read(root.join("precious")).expect("text"), b"mine");
    assert!(fs::read_to_string(root.join("out/k.cpp")).expect("text").contains("pto"));
}

/// `/dev/full` is Linux's.
#[cfg(target_os = "linux")]
#[test]
fn output_that_is_lost_is_a_failure() {
    let root = directory("full", &[("k.py", kernels(&["k"]).as_bytes())]);
    for arguments in [&["check", "k.py"][..], &["plan", "--format", "json", "k.py"], &["codegen", "k.py"], &["schema"]]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("the device");
        let mut command = Command::new(tilefit_tests::binary::tilefit());
        let output = command.args(arguments).current_dir(&root).stdout(full).output().expect("the binary starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {said}");
        assert_eq!(said.matches("standard output: ").count(), 1, "{said}");
    }
    let run = tilefit(&root, &["codegen", "k.py", "-o", "/proc/no_such"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

/// Texts about which one could go on for ever, or until the memory or the stack is used up.
#[cfg(target_os = "linux")]
#[test]
fn texts_without_end_come_to_one() {
    let head = "import triton\nimport triton.language as tl\n";
    let kernel = "\n@triton.jit\ndef k(p, B: tl.constexpr):\n    tl.store(p + tl.arange(0, B), 1)\n";
    let texts = [
        ("own.py", format!("{head}class Cfg:\n    BLOCK = Cfg.BLOCK\n{kernel}\nk[(1,)](1, B=Cfg.BLOCK)\n")),
        ("cycle.py", format!("{head}class C:\n    N = D.N\nclass D:\n    N = C.N\n{kernel}\nk[(1,)](1, B=C.N)\n")),
        ("base.py", "class Cfg:\n    BLOCK = 64\n".to_owned()),
        (
            "shadow.py",
            format!(
                "{head}from base import Cfg\nclass Cfg(Cfg):\n    BLOCK = Cfg.BLOCK * 2\n{kernel}\nk[(1,)](1, B=Cfg.BLOCK)\n"
            ),
        ),
        (
            "doubled.py",
            format!(
                "{head}\n@triton.jit\ndef k(p):\n    x = (p, p)\n{}    tl.store(x[0][0], 1)\n",
                "    x = (x, x)\n".repeat(60)
            ),
        ),
        ("list.py", format!("{head}L = [{}]\n{kernel}\nk[(1,)](1, B=L[0])\n", "1, ".repeat(200_000))),
        ("nested.py", format!("{head}L = {}1{}\n{kernel}\nk[(1,)](1, B=L)\n", "(".repeat(50_000), ")".repeat(50_000))),
    ];
    let texts: Vec<(&str, &[u8])> = texts.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let root = directory("endless", &texts);
    for (name, _) in &texts {
        // Of the address space: what is resident is far less.
        let limited = format!("ulimit -v 2000000 && exec {} check {name}", tilefit_tests::binary::tilefit().display());
        let output = Command::new("sh").args(["-c", &limited]).current_dir(&root).output().expect("the shell starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{name}: {:?} {said}", output.status);
    }
}

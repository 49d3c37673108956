//! `tilefit confirm` and `check --confirm`.

use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect;
use tilefit_tests::scripted_python::{KERNEL, OTHER, SAME, python};

use crate::directory;

/// A directory with [`KERNEL`], another that cannot be asked about, and an interpreter that answers like this.
fn asked(name: &str, answer: &str) -> PathBuf {
    let unsaid = KERNEL.replace("# tilefit: x=fp16 arch=sm_90\n", "");
    let root = directory(name, &[("kernel.py", KERNEL.as_bytes()), ("unsaid.py", unsaid.as_bytes())]);
    python(&root, answer);
    root
}

/// Standard output and standard error, and the exit code.
fn run(root: &Path, arguments: &[&str]) -> String {
    let output = Command::new(tilefit_tests::binary::tilefit())
        .args(arguments)
        .args(["--python", "./python"])
        .current_dir(root)
        .env("XDG_CACHE_HOME", root.join("cache"))
        .output()
        .expect("the binary starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}exit {}\n", text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1))
}

#[test]
fn a_plan_is_confirmed() {
    let root = asked("confirm-same", SAME);
    expect![[r#"
        kernel.py:8: copy: confirmed by triton 3.9.0 on sm_90
        unsaid.py:7: copy: not asked: nothing says what `x` is; for example: `# tilefit: x=bf16`
        1 confirmed, 1 not asked
        exit 0
    "#]]
    .assert_eq(&run(&root, &["confirm", "kernel.py", "unsaid.py"]));
    // The answer is known now.
    python(&root, "sys.exit(1)");
    assert!(run(&root, &["confirm", "kernel.py"]).starts_with("kernel.py:8: copy: confirmed by"));
}

#[test]
fn a_plan_that_differs_is_a_failure() {
    let root = asked("confirm-other", OTHER);
    expect![[r#"
        kernel.py:8: copy: triton 3.9.0 differs on sm_90
          kernel.py:13: 512 bytes of shared memory, tilefit says 256
          line 13 has `ttg.local_alloc` at smem 0x100, 256 bytes, tilefit says `tile` at smem 0x0, 256 bytes
        1 different
        exit 1
    "#]]
    .assert_eq(&run(&root, &["confirm", "kernel.py"]));
    let checked = run(&root, &["check", "--confirm", "kernel.py"]);
    assert!(checked.contains("warning[compiler-differs]") && checked.ends_with("exit 1\n"), "{checked}");
    let json = run(&root, &["confirm", "kernel.py", "--format", "json"]);
    assert!(json.contains(r#""verdict":{"is":"differs","line":13"#), "{json}");
}

#[test]
fn a_compiler_that_refuses_is_quoted() {
    let answer = r#"
say({"id": asked["id"], "by": {"name": "triton", "version": "3.9.0"},
     "error": {"kind": "refused", "message": "no", "line": 14, "details": "at 14:4: no"}})
"#;
    expect![[r#"
        kernel.py:8: copy: triton 3.9.0 refuses it on sm_90
          kernel.py:14: no
          at 14:4: no
        1 refused by the compiler
        exit 0
    "#]]
    .assert_eq(&run(&asked("confirm-refused", answer), &["confirm", "kernel.py"]));
}

#[test]
fn without_a_compiler_there_is_no_answer() {
    let root = asked("confirm-none", "sys.exit(1)");
    expect![[r#"
        kernel.py:8: copy: not confirmed: the process that asks the compiler has ended (exit status: 1)
        1 without an answer
        exit 2
    "#]]
    .assert_eq(&run(&root, &["confirm", "kernel.py"]));
}

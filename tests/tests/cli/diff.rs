//! `tilefit diff`: what a change does to each kernel's memories.

use super::*;

/// Runs git as nobody's user, whatever the machine's settings are.
fn git(root: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@e",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with these files in its first commit, on `main`.
fn repository(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let root = directory(name, &files);
    git(&root, &["init", "-q"]);
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-q", "-m", "before"]);
    root
}

fn write(root: &Path, file: &str, text: &str) {
    fs::write(root.join(file), text).expect("writable");
}

/// A kernel whose tile has `rows` rows of a KiB, which may be an expression.
fn kernel(name: &str, rows: &str) -> String {
    format!(
        "import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def {name}(x: pl.Tensor[[512, 256], pl.FP32], o: pl.Out[pl.Tensor[[512, 256], pl.FP32]]):
    t = pl.load(x, [0, 0], [{rows}, 256])
    o = pl.store(t, [0, 0], o)
    return o
"
    )
}

fn json(root: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let run = tilefit(root, &[&["diff", "--format", "json"], arguments].concat());
    (run.code, serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr)))
}

#[test]
fn a_change_is_shown_by_memory() {
    let root = repository(
        "diff-text",
        &[("k.py", &kernel("grows", "168")), ("l.py", &kernel("stays", "16")), ("m.py", &kernel("goes", "8"))],
    );
    let unchanged = tilefit(&root, &["diff", "HEAD"]);
    assert_eq!(unchanged.code, Some(0), "{}", unchanged.stderr);
    assert!(unchanged.stdout.starts_with("Compared with HEAD ("), "{}", unchanged.stdout);
    assert!(unchanged.stdout.ends_with("kernels: 3 unchanged.\n"), "{}", unchanged.stdout);

    write(&root, "k.py", &format!("# moved\n\n{}", kernel("grows", "192")));
    write(&root, "n.py", &kernel("comes", "32"));
    fs::remove_file(root.join("m.py")).expect("removed");
    let run = tilefit(&root, &["diff", "main"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let text: Vec<&str> =
        run.stdout.lines().map(str::trim_end).filter(|line| !line.starts_with("  new: error")).collect();
    let text = text.join("\n");
    for part in [
        "k.py:6: grows\n  Vec  +24 KiB  92 → 105 %  168 KiB → 192 KiB of 184 KiB  no longer fits, 8 KiB over\n",
        "m.py:4: goes is gone\n  Vec  -8 KiB  5 %  8 KiB of 184 KiB\n",
        "n.py:4: comes is new\n  Vec  +32 KiB  18 %  32 KiB of 184 KiB\n",
        "kernels: 1 changed, 1 new, 1 gone, 1 unchanged.\n1 kernel newly does not fit.",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(run.stdout.contains("  new: error[capacity-exceeded]: line 7: "), "{}", run.stdout);
    assert_eq!(tilefit(&root, &["diff", "main", "--exit-zero"]).code, Some(0));
    // The index and the files are as they were.
    let status = Command::new("git").args(["status", "--porcelain"]).current_dir(&root).output().expect("git starts");
    assert_eq!(String::from_utf8_lossy(&status.stdout), " M k.py\n D m.py\n?? n.py\n");
}

#[test]
fn machines_and_reviewers_get_the_same() {
    let root = repository("diff-formats", &[("a/k.py", &kernel("k", "168"))]);
    write(&root, "a/k.py", &kernel("k", "192"));
    let (code, report) = json(&root, &["HEAD"]);
    assert_eq!(code, Some(1));
    let kernel = &report["kernels"][0];
    assert_eq!(kernel["spaces"]["Vec"]["delta"], 24 * 1024);
    assert_eq!(kernel["spaces"]["Vec"]["before"], serde_json::json!({ "used": 168 * 1024, "capacity": 184 * 1024 }));
    assert_eq!(kernel["spaces"]["Vec"]["no_longer_fits"], true);
    assert_eq!(kernel["new_findings"][0]["code"], "capacity-exceeded");
    assert_eq!(
        report["summary"],
        serde_json::json!({ "changed": 1, "new": 0, "gone": 0, "unchanged": 0, "no_longer_fit": 1 })
    );
    assert_eq!(report["base"]["commit"].as_str().map(str::len), Some(40));

    let page = tilefit(&root, &["diff", "HEAD", "--format", "markdown"]);
    assert_eq!(page.code, Some(1));
    let row =
        "| `k` at `a/k.py:4` | Vec | 168 KiB | 192 KiB | +24 KiB | 92 → 105 % | ⚠ **no longer fits, 8 KiB over** |";
    assert!(page.stdout.contains(row), "{}", page.stdout);
    assert!(page.stdout.contains("* New `error[capacity-exceeded]` at `a/k.py:5`: "), "{}", page.stdout);
}

#[test]
fn constants_and_settings_of_the_base_are_those_of_the_base() {
    let importing = format!("from sizes import ROWS\n{}", kernel("k", "ROWS"));
    let files = [
        ("k.py", importing.as_str()),
        ("sizes.py", "from deep.more import HALF\nROWS = HALF * 2\n"),
        ("deep/more.py", "HALF = 84\n"),
    ];
    let root = repository("diff-imports", &files);
    write(&root, "deep/more.py", "HALF = 96\n");
    let run = tilefit(&root, &["diff", "HEAD"]);
    assert!(run.stdout.contains("+24 KiB  92 → 105 %"), "{}{}", run.stdout, run.stderr);
    // From another folder, and of that file alone.
    let run = tilefit(&root.join("deep"), &["diff", "HEAD", "../k.py"]);
    assert!(run.stdout.contains("+24 KiB  92 → 105 %"), "{}{}", run.stdout, run.stderr);
    // What is imported is gone: the kernel is not known any more, which is no claim about its memory.
    fs::remove_file(root.join("sizes.py")).expect("removed");
    let run = tilefit(&root, &["diff", "HEAD"]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(run.stdout.contains("  status: exact → "), "{}", run.stdout);

    let root =
        repository("diff-settings", &[("tilefit.toml", "target = \"ascend950\"\n"), ("k.py", &kernel("k", "192"))]);
    write(&root, "tilefit.toml", "");
    let run = tilefit(&root, &["diff", "HEAD"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stdout.contains("80 → 105 %") && run.stdout.contains("target: ascend950 → ascend910b"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_plan_of_before_takes_the_place_of_a_commit() {
    let root = directory("diff-plan", &[("k.py", kernel("k", "168").as_bytes())]);
    let before = tilefit(&root, &["plan", "--format", "json", "k.py"]).stdout;
    write(&root, "before.json", &before);
    write(&root, "k.py", &kernel("k", "184"));
    let run = tilefit(&root, &["diff", "before.json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("+16 KiB  92 → 100 %"), "{}", run.stdout);
    fs::rename(root.join("k.py"), root.join("other.py")).expect("renamed");
    let run = tilefit(&root, &["diff", "before.json", "other.py"]);
    assert!(run.stdout.contains("+16 KiB  92 → 100 %"), "{}", run.stdout);
    write(&root, "before.json", "{}");
    let run = tilefit(&root, &["diff", "before.json", "other.py"]);
    assert!(
        run.code == Some(2) && run.stderr.contains("not what `tilefit plan --format json` writes"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_is_no_file_of_the_repository_is_left_out_on_both_sides() {
    let files = [("k.py", kernel("k", "16")), (".hidden/h.py", kernel("h", "16")), ("built/b.py", kernel("b", "16"))];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let root = repository("diff-left-out", &files);
    // Of git all of these are, but nobody looks at them; and one is of another repository.
    write(&root, ".gitignore", "built/\n");
    fs::create_dir_all(root.join("inner/.git")).expect("a folder");
    write(&root, "inner/i.py", &kernel("i", "16"));
    let run = tilefit(&root, &["diff", "HEAD"]);
    assert!(run.stdout.ends_with("kernels: 1 unchanged.\n"), "{}{}", run.stdout, run.stderr);
}

#[test]
fn what_cannot_be_compared_is_told() {
    let root = repository("diff-wrong", &[("k.py", &kernel("k", "16"))]);
    let outside = directory("diff-outside", &[("inner/.hg/x", b"")]).join("inner");
    for (from, arguments, said) in [
        (&root, &["diff", "nosuch"][..], "`nosuch` is neither a commit of "),
        (&root, &["diff", "HEAD", "nosuch.py"], "nosuch.py: No such file or directory"),
        (&root, &["diff", "HEAD", "k.py", ".."], ".. is outside the repository"),
        (&root, &["diff", "HEAD", "--kernel", "j"], "no kernel `j`; did you mean `k`?"),
        (&outside, &["diff", "HEAD"], "is in no git repository"),
    ] {
        let run = tilefit(from, arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
    }
    let output = Command::new(tilefit_tests::binary::tilefit())
        .args(["diff", "HEAD"])
        .current_dir(&root)
        .env("PATH", "")
        .output()
        .expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("`git` is not installed"), "{said}");
}

/// A repository that came as an archive has a configuration of its own.
#[cfg(unix)]
#[test]
fn nothing_that_a_repository_names_is_run() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let attributes = "*.py filter=evil diff=evil\n";
    let root = repository(
        "diff-evil",
        &[("k.py", &kernel("k", "168")), (".gitattributes", attributes), ("sizes.py", "ROWS = 1\n")],
    );
    let evil = root.join(".git/evil");
    write(&root, ".git/evil", "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\ncat\n");
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).expect("rights");
    fs::create_dir_all(root.join(".git/hooks")).expect("a folder");
    for hook in ["post-checkout", "post-index-change", "fsmonitor-watchman", "reference-transaction"] {
        let _ = fs::remove_file(root.join(".git/hooks").join(hook)); // a sample, perhaps
        symlink(&evil, root.join(".git/hooks").join(hook)).expect("a link");
    }
    let run = evil.to_string_lossy().into_owned();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "core.askPass",
        "core.gitProxy",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "gpg.program",
        "credential.helper",
        "uploadpack.packObjectsHook",
        "pager.cat-file",
        "pager.ls-tree",
        "alias.ls-tree",
        "alias.cat-file",
    ] {
        git(&root, &["config", key, &run]);
    }
    git(&root, &["config", "remote.origin.url", &format!("ext::{run}")]);
    git(&root, &["config", "remote.origin.promisor", "true"]);
    git(&root, &["config", "extensions.partialClone", "origin"]);
    git(&root, &["config", "protocol.allow", "always"]);
    fs::write(root.join("k.py"), kernel("k", "184")).expect("writable");
    // An object that is not in this clone would be fetched from its remote.
    let id = Command::new("git").args(["rev-parse", "HEAD:sizes.py"]).current_dir(&root).output().expect("git starts");
    let id = String::from_utf8_lossy(&id.stdout).trim().to_owned();
    fs::remove_file(root.join(format!(".git/objects/{}/{}", &id[..2], &id[2..]))).expect("removed");
    let run = tilefit(&root, &["diff", "HEAD", "k.py"]);
    assert!(run.stdout.contains("+16 KiB  92 → 100 %"), "{}{}", run.stdout, run.stderr);
    assert_eq!(tilefit(&root, &["diff", "HEAD"]).code, Some(0));
    assert!(!root.join(".git/ran").exists());
}

#[test]
fn names_of_a_repository_are_plain_text() {
    let evil = "a` <img src=x> | [l](u) \u{1b}[2J";
    let scope = |rows: u32| {
        format!(
            "import pypto.language as pl

@pl.jit
def host(x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"{evil}\"):
        y = pl.exp(x[:{rows}, :])
        o = pl.assemble(o, y, [0, 0])
    return o
"
        )
    };
    let root = repository("diff-names", &[("k.py", &scope(64))]);
    write(&root, "k.py", &scope(32));
    for format in ["text", "json", "markdown"] {
        let run = tilefit(&root, &["diff", "HEAD", "--format", format]);
        assert!(!run.stdout.contains(|c: char| c.is_control() && c != '\n'), "{}", run.stdout);
        assert!(run.stdout.contains("img"), "{}{}", run.stdout, run.stderr);
        if format == "markdown" {
            assert!(run.stdout.contains("| `a· <img src=x> · [l](u) ·[2J` at `k.py:"), "{}", run.stdout);
        }
    }
}

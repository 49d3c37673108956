//! Where settings come from: the file that lies nearest above each kernel, wherever the command is started.

use serde_json::Value;

use super::*;

/// The target that a file is planned for, from a folder.
fn target(directory: &Path, file: &str) -> String {
    let run = tilefit(directory, &["plan", "--format", "json", file]);
    let plan: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr));
    plan["kernels"][0]["target"].as_str().expect("a target").to_owned()
}

const A5: &[u8] = b"target = \"ascend950\"\n";

#[test]
fn the_same_file_has_the_same_settings_from_every_folder() {
    let files: [(&str, &[u8]); 4] = [
        ("tilefit.toml", A5),
        ("a/b/k.py", OVERFLOW),
        ("pyproject.toml", b"[tool.tilefit]\nplanner = \"packed\"\n"),
        ("c/x.py", b""),
    ];
    let root = directory("upwards", &files);
    let above = root.parent().expect("a folder");
    assert_eq!(target(&root, "a/b/k.py"), "ascend950");
    assert_eq!(target(&root.join("a/b"), "k.py"), "ascend950");
    assert_eq!(target(&root.join("c"), "../a/b/k.py"), "ascend950");
    assert_eq!(target(above, "upwards/a/b/k.py"), "ascend950");
    assert_eq!(target(Path::new("/"), &root.join("a/b/k.py").to_string_lossy()), "ascend950");
    assert_eq!(tilefit(&root.join("a"), &["check", "."]).code, Some(0));
}

#[test]
fn the_nearest_file_counts_as_a_whole_and_each_kernel_has_its_own() {
    let files: [(&str, &[u8]); 5] = [
        ("tilefit.toml", b"target = \"ascend950\"\nexclude = [\"old/\"]\n"),
        ("k.py", OVERFLOW),
        ("old/k.py", OVERFLOW),
        ("near/pyproject.toml", b"[tool.tilefit]\nplanner = \"packed\"\n"),
        ("near/k.py", OVERFLOW),
    ];
    let root = directory("nearest", &files);
    let run = tilefit(&root, &["check", "--format", "json", "."]);
    let report: Value = serde_json::from_str(&run.stdout).expect("one object");
    let kernels = report["kernels"].as_array().expect("kernels").iter();
    let planned: Vec<_> =
        kernels.map(|it| [&it["file"], &it["target"]].map(|it| it.as_str().unwrap_or_default())).collect();
    assert_eq!(planned, [["k.py", "ascend950"], ["near/k.py", "ascend910b"]]);
    assert_eq!(run.code, Some(1), "it fits the one target only");
}

#[test]
fn a_pyproject_without_the_section_and_what_lies_above_the_repository_do_not_count() {
    let files: [(&str, &[u8]); 5] = [
        ("tilefit.toml", A5),
        ("with/pyproject.toml", b"[tool.ruff]\nline-length = 120\n"),
        ("with/k.py", OVERFLOW),
        ("repository/.git/HEAD", b"ref: refs/heads/main\n"),
        ("repository/a/k.py", OVERFLOW),
    ];
    let root = directory("boundary", &files);
    assert_eq!(target(&root, "with/k.py"), "ascend950");
    assert_eq!(target(&root, "repository/a/k.py"), "ascend910b");
    assert_eq!(target(&root.join("repository/a"), "k.py"), "ascend910b");
}

#[test]
fn check_fails_on_settings_that_are_wrong_and_still_reports() {
    for (settings, said) in [
        ("planer = \"auto\"\n", "tilefit.toml: there is no setting `planer`; did you mean `planner`?"),
        ("target = \n", "tilefit.toml: "),
        (
            "[severity]\ncapacity-exceded = \"off\"\n",
            "unknown diagnostic code `capacity-exceded` in [severity]; did you mean `capacity-exceeded`?",
        ),
        ("exclude = [\"a{b\"]\n", "`exclude`: "),
        ("confirm = \"save\"\n", "`confirm` is allowed only in the settings of your editor"),
    ] {
        let root = directory("wrong-settings", &[("tilefit.toml", settings.as_bytes()), ("k.py", OVERFLOW)]);
        for arguments in [&["check", "k.py"][..], &["check", "--exit-zero", "k.py"]] {
            let run = tilefit(&root, arguments);
            assert_eq!(run.code, Some(2), "{settings}: {}", run.stderr);
            assert!(run.stderr.contains(said), "{settings}: {}", run.stderr);
            assert!(run.stdout.contains("error[capacity-exceeded]"), "{settings}: {}", run.stdout);
        }
    }
}

//! `tilefit check` for machines: formats, baselines, watching.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use expect_test::{Expect, expect};
use serde_json::Value;

use super::{directory, tilefit};

const HEAD: &str =
    "import pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n";

/// A kernel that needs `rows` kilobytes of Vec.
fn kernel(rows: u32) -> String {
    let shape = format!("[{rows}, 256]");
    format!(
        "{HEAD}    def k(self, x: pl.Tensor[{shape}, pl.FP32], o: pl.Out[pl.Tensor[{shape}, pl.FP32]]):\n        \
         t = pl.load(x, [0, 0], {shape})\n        o = pl.store(t, [0, 0], o)\n        return o\n"
    )
}

fn json(root: &Path, arguments: &[&str]) -> Value {
    let run = tilefit(root, arguments);
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", run.stdout, run.stderr))
}

fn check(format: &str, expected: &Expect) {
    let root = directory(format, &[("a b.py", kernel(256).as_bytes())]);
    expected.assert_eq(&tilefit(&root, &["check", "--format", format, "."]).stdout);
}

#[test]
fn github_annotates_lines() {
    check(
        "github",
        &expect![[r#"
            ::error file=a b.py,line=7,col=9,endColumn=10,title=capacity-exceeded::Vec overflow: `t` [256, 256] alone takes 256 KiB, 184 KiB available (72 KiB over). Split it into parts of at most 184 KiB. (compiler: "Vec buffer usage (262144 bytes) exceeds platform limit (188416 bytes)")
            Checked 1 kernel in 1 file: 1 error.
        "#]],
    );
}

#[test]
fn json_is_one_object() {
    check(
        "json",
        &expect![[r#"
            {
              "diagnostics": [
                {
                  "code": "capacity-exceeded",
                  "message": "Vec overflow: `t` [256, 256] alone takes 256 KiB, 184 KiB available (72 KiB over). Split it into parts of at most 184 KiB. (compiler: \"Vec buffer usage (262144 bytes) exceeds platform limit (188416 bytes)\")",
                  "place": {
                    "column": 9,
                    "end_column": 10,
                    "end_line": 7,
                    "file": "a b.py",
                    "line": 7
                  },
                  "related": [
                    {
                      "message": "`t` takes 256 KiB of Vec at the peak",
                      "place": {
                        "column": 9,
                        "end_column": 10,
                        "end_line": 7,
                        "file": "a b.py",
                        "line": 7
                      }
                    }
                  ],
                  "severity": "error"
                }
              ],
              "failures": [],
              "kernels": [
                {
                  "file": "a b.py",
                  "line": 6,
                  "name": "P.k",
                  "planner": "sequential",
                  "spaces": {
                    "Vec": {
                      "best": 262144,
                      "bound": 262144,
                      "capacity": 188416,
                      "fixes": {
                        "end_earlier": [],
                        "halve": [
                          "t"
                        ],
                        "remove": []
                      },
                      "floor": 262144,
                      "further_peaks": [],
                      "overshoot": 73728,
                      "peak": 262144,
                      "peak_at": {
                        "bytes": 262144,
                        "line": 7,
                        "op": "tile.load"
                      },
                      "used": 262144,
                      "verdict": "over-capacity",
                      "witness": [
                        {
                          "bytes": 262144,
                          "line": 7,
                          "name": "t"
                        }
                      ]
                    }
                  },
                  "status": "exact",
                  "target": "ascend910b"
                }
              ],
              "schema": 1,
              "summary": {
                "errors": 1,
                "files": 1,
                "hints": 0,
                "in_baseline": 0,
                "warnings": 0
              }
            }
        "#]],
    );
}

#[test]
fn sarif_names_the_rule_and_the_place() {
    let root = directory("sarif", &[("a b.py", kernel(256).as_bytes())]);
    let report = json(&root, &["check", "--format", "sarif", "."]);
    let run = &report["runs"][0];
    assert_eq!(report["version"], "2.1.0");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "capacity-exceeded");
    expect![[r#"
        [
          {
            "level": "error",
            "locations": [
              {
                "physicalLocation": {
                  "artifactLocation": {
                    "uri": "a%20b.py"
                  },
                  "region": {
                    "endColumn": 10,
                    "endLine": 7,
                    "startColumn": 9,
                    "startLine": 7
                  }
                }
              }
            ],
            "message": {
              "text": "Vec overflow: `t` [256, 256] alone takes 256 KiB, 184 KiB available (72 KiB over). Split it into parts of at most 184 KiB. (compiler: \"Vec buffer usage (262144 bytes) exceeds platform limit (188416 bytes)\")"
            },
            "relatedLocations": [
              {
                "message": {
                  "text": "`t` takes 256 KiB of Vec at the peak"
                },
                "physicalLocation": {
                  "artifactLocation": {
                    "uri": "a%20b.py"
                  },
                  "region": {
                    "endColumn": 10,
                    "endLine": 7,
                    "startColumn": 9,
                    "startLine": 7
                  }
                }
              }
            ],
            "ruleId": "capacity-exceeded"
          }
        ]
    "#]]
    .assert_eq(&format!("{:#}\n", run["results"]));
}

#[test]
fn what_cannot_be_read_stands_in_the_report() {
    let root = directory("failures", &[("a.py", b"\xff")]);
    let report = json(&root, &["check", "--format", "sarif", "."]);
    assert_eq!(report["runs"][0]["invocations"][0]["executionSuccessful"], false);
    let report = json(&root, &["check", "--format", "json", "."]);
    assert_eq!(report["failures"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_baseline_hides_what_is_known_and_nothing_else() {
    let root = directory("baseline", &[("a.py", kernel(256).as_bytes())]);
    let run = |arguments: &[&str]| tilefit(&root, &[&["check", "--baseline", "known.json"], arguments].concat());
    assert_eq!(run(&["."]).code, Some(2), "there is no such file yet");
    assert_eq!(run(&["--write-baseline", "."]).code, Some(0));
    let quiet = run(&["."]);
    assert_eq!(quiet.code, Some(0), "{}", quiet.stdout);
    assert!(quiet.stdout.ends_with("no errors or warnings, 1 in the baseline.\n"), "{}", quiet.stdout);
    // Lines above it change nothing.
    fs::write(root.join("a.py"), format!("# moved\n\n{}", kernel(256))).expect("writable");
    assert_eq!(run(&["./a.py"]).code, Some(0));
    fs::write(root.join("b.py"), kernel(512)).expect("writable");
    assert_eq!(run(&["."]).code, Some(1));
    fs::write(root.join("known.json"), "{}").expect("writable");
    assert_eq!(run(&["."]).code, Some(2));
}

/// What a file imports from its package is found from any directory.
#[test]
fn a_package_is_read_from_elsewhere() {
    let importing = format!("from parts.sizes import ROWS\n{}", kernel(256).replace("256", "ROWS"));
    let package = [
        ("lib/parts/__init__.py", &b""[..]),
        ("lib/parts/sizes.py", b"ROWS = 256\n"),
        ("lib/parts/ops/__init__.py", b""),
        ("lib/parts/ops/k.py", importing.as_bytes()),
    ];
    let root = directory("package", &package);
    let elsewhere = directory("package_elsewhere", &[]);
    let file = root.join("lib/parts/ops/k.py");
    let checked = tilefit(&elsewhere, &["check", file.to_str().expect("a path")]);
    assert_eq!(checked.code, Some(1), "{}", checked.stdout);
    assert!(checked.stdout.contains("capacity-exceeded"), "{}", checked.stdout);
}

#[test]
fn what_calls_lead_to_is_reported_once_where_it_is_written() {
    let part = "import pypto.language as pl\n\n@pl.jit.inline\ndef part(x: pl.Tensor[[128, 416], pl.FP32], o: pl.Tensor[[128, 416], pl.FP32]):\n    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"fill\"):\n        o[:, :] = pl.full([128, 416], dtype=pl.FP32, value=0.0)\n    return o\n";
    let entry = |name: &str| {
        format!(
            "import pypto.language as pl\nfrom part import part\n\n@pl.jit\ndef {name}(x: pl.Tensor[[128, 416], pl.FP32], o: pl.Out[pl.Tensor[[128, 416], pl.FP32]]):\n    part(x, o)\n    part(o, o)\n    return o\n"
        )
    };
    let (a, b) = (entry("a"), entry("b"));
    let root = directory("elsewhere", &[("a.py", a.as_bytes()), ("b.py", b.as_bytes()), ("part.py", part.as_bytes())]);
    expect![[r#"
        ::error file=part.py,line=6,col=19,endColumn=64,title=capacity-exceeded::scope `fill`: Vec overflow: `o:full` [128, 416] alone takes 208 KiB, 184 KiB available (24 KiB over). Split it into parts of at most 184 KiB. (compiler: "Vec buffer usage (212992 bytes) exceeds platform limit (188416 bytes)")
        Checked 4 kernels in 3 files: 1 error.
    "#]]
    .assert_eq(&tilefit(&root, &["check", "--format", "github", "."]).stdout);
    assert_eq!(tilefit(&root, &["check", "--baseline", "known.json", "--write-baseline", "."]).code, Some(0));
    expect![[r#"
        {
          "schema": 1,
          "findings": [
            {
              "file": "part.py",
              "code": "capacity-exceeded",
              "line_text": "o[:, :] = pl.full([128, 416], dtype=pl.FP32, value=0.0)",
              "count": 1
            }
          ]
        }
    "#]]
    .assert_eq(&fs::read_to_string(root.join("known.json")).expect("a baseline"));
    assert_eq!(tilefit(&root, &["check", "--baseline", "known.json", "."]).code, Some(0));
}

#[test]
fn watching_checks_again_when_a_file_changes() {
    let root = directory("watch", &[("a.py", kernel(256).as_bytes())]);
    let mut child = Command::new(tilefit_tests::binary::tilefit())
        .args(["check", "--watch", "--format", "github", "."])
        .current_dir(&root)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut summaries = output.lines().map_while(Result::ok).filter(|line| line.contains("1 kernel "));
    assert!(summaries.next().is_some_and(|line| line.contains("1 error")));
    fs::write(root.join("a.py"), kernel(16)).expect("writable");
    assert!(summaries.next().is_some_and(|line| line.contains("no errors")));
    child.kill().expect("it runs until it is stopped");
    let _ = child.wait();
}

#[test]
fn fix_fixes_the_files_and_reports_the_rest() {
    let body = "        t = pl.load(x, [0, 0], [64, 64])\n        u = t + t\n        u += t\n        u = t @ u\n";
    let text = format!(
        "{HEAD}    def k(self, x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n{body}        o = pl.store(u, [0, 0], o)\n        return o\n"
    );
    let root = directory("fix", &[("k.py", text.as_bytes()), ("plain.py", b"x = 1 +\n")]);
    let run = tilefit(&root, &["check", "--fix", "--format", "github", "."]);
    let fixed = fs::read_to_string(root.join("k.py")).expect("the file is there");
    assert!(fixed.contains("        u = pl.add(t, t)\n        u = pl.add(u, t)\n        u = t @ u\n"), "{fixed}");
    assert_eq!(run.stdout.matches("::error").count(), 1, "{}", run.stdout);
    assert_eq!(fs::read_to_string(root.join("plain.py")).expect("the file is there"), "x = 1 +\n");
}

//! What `tilefit check` prints for people, and when it fails.

use super::*;

/// A kernel with a warning, under [`NARROW`] a hint, and with `rows` of 256 an error.
fn kernel(rows: u32) -> String {
    format!(
        "import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[{rows}, 256], pl.FP32], o: pl.Out[pl.Tensor[[{rows}, 256], pl.FP32]]):
        t = pl.load(x, [0, 0], [{rows}, 256])
        u = pl.nosuch(t)
        w = pl.load(x, [0, 0], [16, 8])
        o = pl.store(w, [0, 0], o)
        o = pl.store(t, [0, 0], o)
        return o
"
    )
}

const NARROW: &[u8] = b"[severity]\nnarrow-transfer = \"hint\"\n";

const CLEAN: &str = "import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(x: pl.Tensor[[16, 256], pl.FP32], o: pl.Out[pl.Tensor[[16, 256], pl.FP32]]):
    t = pl.load(x, [0, 0], [16, 256])
    o = pl.store(t, [0, 0], o)
    return o
";

#[test]
fn of_files_without_findings_there_is_one_line() {
    let root = directory("one-line", &[("a.py", CLEAN.as_bytes()), ("b.py", CLEAN.as_bytes())]);
    let run = tilefit(&root, &["check", "."]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "Checked 2 kernels in 2 files: no errors or warnings.\n"));
    let usage = tilefit(&root, &["check", "--usage", "."]).stdout;
    assert_eq!(usage.matches("16 KiB of 184 KiB").count(), 2, "{usage}");
    let single = tilefit(&root, &["check", "a.py"]).stdout;
    assert_eq!(single.matches("16 KiB of 184 KiB").count(), 1, "{single}");
    let quiet = tilefit(&root, &["check", "--quiet", "a.py"]);
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (Some(0), "", ""));
}

/// A text in one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Codes in brackets, in the order of the output.
fn codes(run: &Run) -> Vec<&str> {
    let heads = run.stdout.lines().filter_map(|line| line.split_once("]: ")?.0.split_once('['));
    heads.filter(|(severity, _)| ["error", "warning", "hint"].contains(severity)).map(|(_, code)| code).collect()
}

#[test]
fn findings_are_chosen_by_severity_and_code() {
    let files = [("k.py", kernel(256)), ("b.py", CLEAN.to_owned())];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_bytes()));
    let root = directory("chosen", &[files.as_slice(), &[("tilefit.toml", NARROW)]].concat());
    let all = tilefit(&root, &["check", "--severity", "hint", "."]);
    let of = |severity: &str| all.stdout.lines().filter(|line| line.starts_with(&format!("{severity}["))).count();
    assert!(of("error") == 1 && of("warning") >= 1 && of("hint") >= 1, "{}", all.stdout);
    let default = tilefit(&root, &["check", "."]);
    assert!(!default.stdout.contains("hint["), "{}", default.stdout);
    assert!(words(&default.stdout).contains("Not shown: 2 hints (--severity hint shows them)."), "{}", default.stdout);
    let errors = tilefit(&root, &["check", "--severity", "error", "."]);
    assert_eq!(codes(&errors), ["capacity-exceeded"]);
    assert_eq!(errors.code, Some(1));
    assert_eq!(
        codes(&tilefit(&root, &["check", "--select", "capacity-exceeded,rejected", "."])),
        ["capacity-exceeded"]
    );
    let ignored = tilefit(&root, &["check", "--ignore", "capacity-exceeded", "."]);
    assert_eq!((ignored.code, codes(&ignored).contains(&"capacity-exceeded")), (Some(0), false), "{}", ignored.stdout);
    // What is off is reported where it is selected.
    let off = tilefit(&root, &["check", "--select", "no-instruction", "--format", "json", "."]);
    let report: Value = serde_json::from_str(&off.stdout).expect("one object");
    let codes: Vec<_> = report["diagnostics"].as_array().expect("findings").iter().map(|it| &it["code"]).collect();
    assert!(codes.iter().all(|code| *code == "no-instruction"), "{report}");
    // Machines get all of it.
    let report: Value = serde_json::from_str(&tilefit(&root, &["check", "--format", "json", "."]).stdout).expect("one");
    assert!(report["summary"]["hints"].as_u64() >= Some(1), "{report}");
    let report = tilefit(&root, &["check", "--format", "json", "--severity", "error", "."]).stdout;
    let report: Value = serde_json::from_str(&report).expect("one object");
    assert_eq!(report["diagnostics"].as_array().map(Vec::len), Some(1), "{report}");
}

#[test]
fn statistics_count_codes() {
    let root = directory("statistics", &[("k.py", kernel(256).as_bytes()), ("l.py", kernel(256).as_bytes())]);
    let run = tilefit(&root, &["check", "--statistics", "."]);
    let row = run.stdout.lines().find(|line| line.contains("capacity-exceeded")).unwrap_or_default();
    assert_eq!(
        row.split_whitespace().take(3).collect::<Vec<_>>(),
        ["2", "error", "capacity-exceeded"],
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("▸"), "{}", run.stdout);
    assert_eq!(run.code, Some(1));
    assert_eq!(tilefit(&root, &["check", "--statistics", "--format", "json", "."]).code, Some(2));
}

#[test]
fn every_finding_has_its_source_and_lines_are_broken_between_words() {
    let root = directory("frames", &[("k.py", kernel(256).as_bytes()), ("tilefit.toml", NARROW)]);
    let run = tilefit(&root, &["check", "--severity", "hint", "k.py"]);
    let heads = run.stdout.lines().filter(|line| ["error[", "warning[", "hint["].iter().any(|it| line.starts_with(it)));
    let heads = heads.count();
    assert!(heads >= 3 && heads == run.stdout.matches("▸ k.py:").count(), "{}", run.stdout);
    // A pipe has 80 columns. Lines of source are cut, words are not.
    let long: Vec<_> = run.stdout.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:#?}");
    let report = tilefit(&root, &["check", "--format", "json", "k.py"]).stdout;
    let report: Value = serde_json::from_str(&report).expect("one object");
    for finding in report["diagnostics"].as_array().expect("findings") {
        let message = finding["message"].as_str().expect("a text");
        assert!(words(&run.stdout).contains(message), "{message}\n{}", run.stdout);
    }
}

#[test]
fn a_kernel_that_does_not_parse_is_a_failure() {
    let broken = |from: &str, to: &str| CLEAN.replacen(from, to, 1);
    for (text, place) in [
        (broken("[16, 256])\n    o", "[16, 256]\n    o"), "k.py:5:5"),
        (broken("]):\n", "])\n"), "k.py:3:1"),
        (broken("InCore)", "InCore"), "k.py:3:1"),
    ] {
        assert_ne!(text, CLEAN);
        let root = directory("syntax", &[("k.py", text.as_bytes()), ("l.py", CLEAN.as_bytes())]);
        let run = tilefit(&root, &["check", "--exit-zero", "."]);
        assert_eq!(run.code, Some(2), "{}{}", run.stdout, run.stderr);
        assert_eq!(run.stderr, format!("tilefit: {place}: syntax error: the kernel cannot be read\n"));
        assert!(run.stdout.contains("Checked ") && run.stdout.contains("1 failure"), "{}", run.stdout);
        let report: Value =
            serde_json::from_str(&tilefit(&root, &["check", "--format", "json", "."]).stdout).expect("one");
        assert_eq!(report["failures"].as_array().map(Vec::len), Some(1));
    }
    // What is broken elsewhere is the business of other tools.
    let root = directory("syntax-elsewhere", &[("plain.py", b"x = 1 +\n"), ("l.py", CLEAN.as_bytes())]);
    assert_eq!(tilefit(&root, &["check", "."]).code, Some(0));
}

#[test]
fn a_path_without_python_files_is_a_failure_and_one_without_kernels_a_warning() {
    let root = directory("nothing", &[("docs/a.txt", b""), ("plain/a.py", b"x = 1\n"), ("k/k.py", CLEAN.as_bytes())]);
    let run = tilefit(&root, &["check", "docs", "k"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(2), "tilefit: no Python files found under `docs`\n"));
    assert!(run.stdout.contains("Checked 1 kernel in 1 file"), "{}", run.stdout);
    let run = tilefit(&root, &["check", "plain"]);
    let said = (run.code, run.stdout.as_str(), run.stderr.as_str());
    assert_eq!(said, (Some(0), "", "warning: no Python files with kernels found under `plain`\n"));
}

/// Runs a command in a terminal of so many columns.
#[cfg(unix)]
const TERMINAL: &str = "
import fcntl, os, pty, struct, sys, termios
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(sys.argv[1]), 0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.execv(sys.argv[2], sys.argv[2:])
while True:
    try:
        text = os.read(terminal, 65536)
    except OSError:
        break
    if not text:
        break
    sys.stdout.buffer.write(text)
";

#[cfg(unix)]
#[test]
fn lines_are_as_long_as_the_terminal_is_wide() {
    let root = directory("terminal", &[("k.py", kernel(256).as_bytes())]);
    let longest = |columns: &str| {
        let output = Command::new("python3")
            .args(["-c", TERMINAL, columns])
            .arg(tilefit_tests::binary::tilefit())
            .args(["check", "--quiet", "k.py"])
            .current_dir(&root)
            .env("NO_COLOR", "1")
            .env("COLUMNS", "200")
            .output()
            .expect("Python starts");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.contains("capacity-exceeded"), "{text}");
        text.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or(0)
    };
    let (narrow, wide) = (longest("64"), longest("110"));
    assert!(narrow <= 64 && (81..=110).contains(&wide), "{narrow} {wide}");
}

//! Which kernels a command is about, and what it says of names that there are not.

use super::*;

const TWO: &str = "
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def gate(self, x: pl.Tensor[[256, 256], pl.FP32], o: pl.Out[pl.Tensor[[256, 256], pl.FP32]]):
        t = pl.load(x, [0, 0], [256, 256])
        o = pl.store(t, [0, 0], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def norm(self, x: pl.Tensor[[16, 256], pl.FP32], o: pl.Out[pl.Tensor[[16, 256], pl.FP32]]):
        t = pl.load(x, [0, 0], [16, 256])
        o = pl.store(t, [0, 0], o)
        return o
";

fn names(directory: &Path, arguments: &[&str]) -> Vec<String> {
    let run = tilefit(directory, arguments);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr));
    let kernels = report["kernels"].as_array().expect("kernels").iter();
    kernels.map(|kernel| kernel["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn kernels_are_named_after_the_file_or_by_a_pattern() {
    let root = directory("named", &[("k.py", TWO.as_bytes())]);
    let plan = |what: &[&str]| names(&root, &[&["plan", "--format", "json"], what].concat());
    assert_eq!(plan(&["k.py"]), ["P.gate", "P.norm"]);
    assert_eq!(plan(&["k.py:gate"]), ["P.gate"]);
    assert_eq!(plan(&["k.py:P.n*"]), ["P.norm"]);
    assert_eq!(plan(&["k.py", "--kernel", "?ate"]), ["P.gate"]);
    assert_eq!(plan(&["k.py", "--kernel", "gate", "--kernel", "norm"]), ["P.gate", "P.norm"]);
    assert_eq!(names(&root, &["check", "--format", "json", "--kernel", "norm", "."]), ["P.norm"]);
    let code = |what: &[&str]| tilefit(&root, &[&["codegen"], what].concat()).stdout;
    assert_eq!(code(&["k.py", "--kernel", "norm"]), code(&["k.py:norm"]));
    assert_ne!(code(&["k.py:norm"]), code(&["k.py:gate"]));
    let map = tilefit(&root, &["map", "k.py", "--kernel", "n*"]).stdout;
    assert!(map.contains("P.norm") && !map.contains("P.gate"), "{map}");
    let python = tilefit(&root, &["plan", "--format", "python", "k.py:norm"]).stdout;
    assert!(python.contains("norm") && !python.contains("gate"), "{python}");
}

#[test]
fn findings_of_other_kernels_are_left_out() {
    let root = directory("others", &[("k.py", TWO.as_bytes())]);
    assert_eq!(tilefit(&root, &["check", "--kernel", "gate", "k.py"]).code, Some(1));
    let run = tilefit(&root, &["check", "--kernel", "norm", "k.py"]);
    assert_eq!((run.code, run.stdout.contains("error")), (Some(0), true), "{}", run.stdout);
    assert!(run.stdout.ends_with("Checked 1 kernel in 1 file: no errors or warnings.\n"), "{}", run.stdout);
}

#[test]
fn a_slip_in_a_name_is_seen() {
    let root = directory("slips", &[("k.py", TWO.as_bytes()), ("docs/examples/k.py", TWO.as_bytes())]);
    for (arguments, said) in [
        (&["plan", "k.py:gaet"][..], "tilefit: k.py: no kernel `gaet`; did you mean `gate`?"),
        (&["codegen", "k.py:softmax"], "tilefit: k.py: no kernel `softmax`; there are P.gate, P.norm"),
        (&["map", "k.py", "--kernel", "nrom"], "tilefit: k.py: no kernel `nrom`; did you mean `norm`?"),
        (&["check", ".", "--kernel", "gtae"], "tilefit: no kernel `gtae`; did you mean `gate`?"),
        (
            &["explain", "capacity-exceded"],
            "tilefit: unknown diagnostic code `capacity-exceded`; did you mean `capacity-exceeded`?",
        ),
        (&["check", "k.py", "--select", "rejcted"], "did you mean `rejected`?"),
        (&["check", "k.py", "--statistic"], "'--statistics'"),
        (&["chekc", "k.py"], "'check'"),
        (
            &["plan", "docs/examples"],
            "`docs/examples` is a directory, and this command takes one file. Did you mean `tilefit check docs/examples`?",
        ),
        (&["map", "docs/examples"], "Did you mean `tilefit check docs/examples`?"),
        (&["plan", "nosuch.py"], "tilefit: nosuch.py: No such file or directory"),
        (&["check", "nosuch.py"], "tilefit: nosuch.py: No such file or directory"),
        (&["codegen", "k.py", "-o", "k.py/out"], "k.py/out: Not a directory"),
    ] {
        let run = tilefit(&root, arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
        assert!(!run.stderr.contains("os error"), "{arguments:?}: {}", run.stderr);
    }
}

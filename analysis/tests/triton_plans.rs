//! Kernels of Gluon, TLX and plain Triton, each under the scenario of a comment, beside what the compiler answered for them (`tests/conformance/triton`): totals, and the
//! offsets of what the author allocates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tilefit_analysis::AnalysisHost;
use tilefit_analysis::ide::KernelPlan;
use tilefit_syntax::Document;

/// How the answers for a kernel compare with its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// The total and each offset.
    Exact,
    /// The compiler's total is between two numbers.
    Bounded,
}

fn sources(language: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/triton").join(language);
    let files = std::fs::read_dir(folder).expect("the folder").flatten();
    let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    paths.sort();
    paths
}

/// The comment that says what a case was compiled with.
fn comment(case: &Value, compiler: &str) -> String {
    let quoted = |value: &Value| match value {
        Value::String(text) => format!("\"{text}\""),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        value => value.to_string(),
    };
    let pairs = |key: &str| case[key].as_object().cloned().unwrap_or_default();
    let constexprs = pairs("constexprs");
    let mut words: Vec<String> = constexprs.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
    for (name, kind) in pairs("signature") {
        if !constexprs.contains_key(&name) && kind != "constexpr" {
            words.push(format!("{name}={}", quoted(&kind)));
        }
    }
    let target = case["target"].as_str().expect("a target");
    let (vendor, arch) = target.split_once(':').expect("cuda:90");
    words.push(if vendor == "cuda" { format!("arch=sm_{arch}") } else { format!("arch={arch}") });
    for (name, value) in pairs("options") {
        words.push(format!("{name}={value}"));
    }
    let divisible: Vec<&str> = case["divisible"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !divisible.is_empty() {
        words.push(format!("divisible={}", divisible.join(",")));
    }
    let version = compiler.split_once("triton ").map_or(compiler, |(_, version)| version);
    words.push(format!("triton={}", version.split('.').take(2).collect::<Vec<_>>().join(".")));
    format!("# tilefit: {}\n", words.join(" "))
}

/// The kernel of a source with a comment above it. Returns the plan, and the line from which lines have moved.
fn planned(source: &str, comment: &str) -> (KernelPlan, usize) {
    let definition = source.find("def kernel(").expect("a kernel");
    let decorator = source[..definition].rfind('@').expect("a decorator");
    let text = format!("{}{comment}{}", &source[..decorator], &source[decorator..]);
    let mut host = AnalysisHost::new();
    let file = host.file_id("kernels.py");
    host.set_document(file, Document::new(&text));
    let plans = host.snapshot().plans(file).expect("no edit");
    let plan = plans.into_iter().find(|plan| plan.name == "kernel").expect("the kernel");
    (plan, source[..decorator].lines().count())
}

/// Lines, bytes and offsets of what the author allocates, each as often as it is there.
type Offsets = BTreeMap<(u64, u64, u64), usize>;

fn counted(all: impl Iterator<Item = (u64, u64, u64)>) -> Offsets {
    let mut offsets = Offsets::new();
    for one in all {
        *offsets.entry(one).or_default() += 1;
    }
    offsets
}

fn verdict(name: &str, case: &Value, plan: &KernelPlan, moved_from: usize) -> Verdict {
    let is_refused = plan.diagnostics.iter().any(|diagnostic| diagnostic.severity == "error");
    if !case["error"].is_null() {
        assert!(is_refused, "{name}: the compiler says {}", case["error"]);
        return Verdict::Exact;
    }
    let (shared, limit) = (case["shared"].as_u64().expect("bytes"), case["limit"].as_u64().expect("bytes"));
    assert!(!is_refused || shared > limit, "{name}: the compiler takes it, and not {:?}", plan.diagnostics);
    let bounds = plan.spaces["smem"].bounds.expect("bounds of shared memory");
    assert!(
        bounds.low <= shared && bounds.high.is_none_or(|high| shared <= high),
        "{name}: {bounds:?}, compiler {shared}"
    );
    if bounds.high != Some(bounds.low) {
        return Verdict::Bounded;
    }
    let buffers = case["buffers"].as_array().into_iter().flatten();
    let explicit = buffers.filter(|row| matches!(row["kind"].as_str(), Some("explicit" | "barrier")));
    let number = |row: &Value, key: &str| row[key].as_u64().expect("a number");
    let theirs = counted(explicit.map(|row| (number(row, "line"), number(row, "size"), number(row, "offset"))));
    let here = plan.tiles.iter().filter(|tile| tile.space == Some("smem"));
    let here = here.filter(|tile| !matches!(tile.kind, "scratch" | "captures" | "warp states" | "view" | "unused"));
    // A total may be known, and not where something small lies.
    let here: Vec<_> = here.collect();
    if here.iter().any(|tile| tile.address.is_none()) {
        return Verdict::Bounded;
    }
    let line = |line: usize| if line > moved_from { line - 1 } else { line } as u64;
    let ours = counted(here.iter().map(|tile| (line(tile.line), tile.bytes, tile.address.expect("an offset"))));
    assert_eq!(ours, theirs, "{name}");
    Verdict::Exact
}

/// How many cases of a language are exact, and how many are bounded.
fn compared(language: &str) -> (usize, usize) {
    let mut verdicts = Vec::new();
    for path in sources(language) {
        let source = std::fs::read_to_string(&path).expect("a kernel");
        let answers = std::fs::read_to_string(path.with_extension("json")).expect("its answers");
        let answers: Value = serde_json::from_str(&answers).expect("JSON");
        for (nth, case) in answers["cases"].as_array().into_iter().flatten().enumerate() {
            let compiler = case["compiler"].as_str().or(answers["compiler"].as_str()).expect("a compiler");
            let (plan, moved_from) = planned(&source, &comment(case, compiler));
            let name = format!("{} {nth}", path.file_stem().unwrap_or_default().to_string_lossy());
            verdicts.push(verdict(&name, case, &plan, moved_from));
        }
    }
    let count = |verdict| verdicts.iter().filter(|&&it| it == verdict).count();
    (count(Verdict::Exact), count(Verdict::Bounded))
}

/// How many cases of plain Triton have a total that is known and right, how many are between two numbers, and how many have no upper one.
/// Where a buffer lies is not compared: the order in which the compiler makes them is not followed.
fn bounded(language: &str) -> (usize, usize, usize) {
    let (mut exact, mut bounded, mut open) = (0, 0, 0);
    for path in sources(language) {
        let source = std::fs::read_to_string(&path).expect("a kernel");
        let answers = std::fs::read_to_string(path.with_extension("json")).expect("its answers");
        let answers: Value = serde_json::from_str(&answers).expect("JSON");
        let compiler = answers["compiler"].as_str().expect("a compiler");
        for (nth, case) in answers["cases"].as_array().into_iter().flatten().enumerate() {
            let (plan, _) = planned(&source, &comment(case, compiler));
            let name = format!("{} {nth}", path.file_stem().unwrap_or_default().to_string_lossy());
            let shared = case["shared"].as_u64().expect("bytes");
            let bounds = plan.spaces["smem"].bounds.expect("bounds of shared memory");
            assert!(
                bounds.low <= shared && bounds.high.is_none_or(|high| shared <= high),
                "{name}: {bounds:?}, compiler {shared}"
            );
            let count = match bounds.high {
                Some(high) if high == bounds.low => &mut exact,
                Some(_) => &mut bounded,
                None => &mut open,
            };
            *count += 1;
        }
    }
    (exact, bounded, open)
}

#[test]
fn kernels_of_plain_triton_take_what_the_compiler_gives_them() {
    assert_eq!(bounded("triton"), (161, 57, 0));
}

#[test]
fn random_kernels_of_plain_triton_take_what_the_compiler_gives_them() {
    assert_eq!(bounded("random/triton"), (139, 163, 0));
}

#[test]
fn gluon_kernels_are_laid_out_as_the_compiler_lays_them_out() {
    assert_eq!(compared("gluon"), (77, 0));
}

#[test]
fn tlx_kernels_are_laid_out_as_the_compiler_lays_them_out() {
    assert_eq!(compared("tlx"), (51, 4));
}

/// Kernels made at random, a sample of thousands.
#[test]
fn random_gluon_kernels_are_laid_out_as_the_compiler_lays_them_out() {
    assert_eq!(compared("random/gluon"), (60, 0));
}

#[test]
fn random_tlx_kernels_are_laid_out_as_the_compiler_lays_them_out() {
    assert_eq!(compared("random/tlx"), (37, 23));
}

/// Numbers that no kernel is compiled with.
const ABSURD: [&str; 5] = ["0", "-1", "4294967292", "2147483648", "4611686018427387904"];

#[test]
fn no_number_of_a_comment_is_too_much() {
    for path in ["gluon", "tlx", "triton"].into_iter().flat_map(sources) {
        let source = std::fs::read_to_string(&path).expect("a kernel");
        let answers = std::fs::read_to_string(path.with_extension("json")).expect("its answers");
        let answers: Value = serde_json::from_str(&answers).expect("JSON");
        let case = &answers["cases"][0];
        let compiler = case["compiler"].as_str().or(answers["compiler"].as_str()).expect("a compiler");
        let comment = comment(case, compiler);
        let words: Vec<&str> = comment.split_whitespace().filter(|word| !word.starts_with("num_warps=")).collect();
        for absurd in ABSURD {
            let is_number = |word: &&str| word.rsplit_once('=').is_some_and(|(_, value)| value.parse::<i64>().is_ok());
            let numbers = words.iter().copied().filter(is_number).chain(["num_warps=4"]);
            for number in numbers {
                let (name, _) = number.split_once('=').expect("a number");
                let others = words.iter().copied().filter(|&word| word != number);
                let comment = format!("{} {name}={absurd}\n", others.collect::<Vec<_>>().join(" "));
                let (plan, _) = planned(&source, &comment);
                let internal = plan.diagnostics.iter().find(|diagnostic| diagnostic.code == "internal");
                assert!(internal.is_none(), "{}: {comment}", path.display());
            }
        }
    }
}

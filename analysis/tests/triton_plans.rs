//! Kernels of Gluon, TLX and plain Triton, each under the scenario of a comment, beside what the compiler answered for them (`tests/conformance/triton`): totals, and the
//! offsets of what the author allocates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tilefit_analysis::Fixture;
use tilefit_analysis::confirm::{Answer, Answered, Answers};
use tilefit_analysis::ide::{KernelPlan, confirmation};

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
    let (fixture, moved_from) = open(source, comment);
    let plans = fixture.plans();
    (plans.into_iter().find(|plan| plan.name == "kernel").expect("the kernel"), moved_from)
}

/// A source with a comment above its kernel, and the line from which lines have moved.
fn open(source: &str, comment: &str) -> (Fixture, usize) {
    let definition = source.find("def kernel(").expect("a kernel");
    let decorator = source[..definition].rfind('@').expect("a decorator");
    let text = format!("{}{comment}{}", &source[..decorator], &source[decorator..]);
    (Fixture::new(&text), source[..decorator].lines().count())
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
            let columns = case["tmem_columns"].as_u64().unwrap_or_default();
            if let Some(bounds) = plan.spaces.get("tmem").and_then(|space| space.bounds) {
                let is_within = bounds.low <= columns && bounds.high.is_none_or(|high| columns <= high);
                assert!(is_within, "{name}: {bounds:?}, compiler {columns} columns");
            }
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
    assert_eq!(bounded("triton"), (160, 58, 0));
}

/// Products that share tiles, that are made of others, or that are computed as several; loops with copies of their bodies; tensor memory.
#[test]
fn products_take_what_the_compiler_gives_them() {
    assert_eq!(bounded("causes/products"), (360, 563, 2));
}

#[test]
fn random_kernels_of_plain_triton_take_what_the_compiler_gives_them() {
    assert_eq!(bounded("random/triton"), (176, 273, 0));
}

#[test]
fn gluon_kernels_are_laid_out_as_the_compiler_lays_them_out() {
    assert_eq!(compared("gluon"), (77, 0));
}

#[test]
fn tlx_kernels_are_laid_out_as_the_compiler_lays_them_out() {
    assert_eq!(compared("tlx"), (52, 3));
}

/// Kernels made at random, a sample of thousands.
#[test]
fn random_gluon_kernels_are_laid_out_as_the_compiler_lays_them_out() {
    assert_eq!(compared("random/gluon"), (60, 0));
}

#[test]
fn random_tlx_kernels_are_laid_out_as_the_compiler_lays_them_out() {
    assert_eq!(compared("random/tlx"), (38, 22));
}

/// Each of a kind that was wrong: loops of TLX whose rounds overlap, equal loads and specs, both sides of a product in one half of tensor memory, copies
/// that the compiler refuses.
#[test]
fn causes_of_wrong_numbers_are_laid_out_as_the_compiler_lays_them_out() {
    assert_eq!(compared("causes/tlx"), (74, 44));
    assert_eq!(compared("causes/gluon"), (26, 0));
}

/// How the kernels on which something was wrong once are: exact, between two numbers, and refused as by the compiler.
fn of_causes() -> (usize, usize, usize) {
    let (mut exact, mut bounded, mut refused) = (0, 0, 0);
    for path in sources("causes") {
        let source = std::fs::read_to_string(&path).expect("a kernel");
        let answers = std::fs::read_to_string(path.with_extension("json")).expect("its answers");
        let answers: Value = serde_json::from_str(&answers).expect("JSON");
        for (nth, case) in answers["cases"].as_array().into_iter().flatten().enumerate() {
            let compiler = answers["compiler"].as_str().expect("a compiler");
            let (plan, _) = planned(&source, &comment(case, compiler));
            let name = format!("{} {nth}", path.file_stem().unwrap_or_default().to_string_lossy());
            let errors = plan.diagnostics.iter().filter(|it| it.severity == "error").count();
            if !case["error"].is_null() {
                assert!(errors > 0, "{name}: the compiler says {}", case["error"]);
                refused += 1;
                continue;
            }
            let shared = case["shared"].as_u64().expect("bytes");
            let is_too_much = Some(shared) > case["limit"].as_u64();
            assert_eq!(errors, usize::from(is_too_much), "{name}: {:?}", plan.diagnostics);
            let bounds = plan.spaces["smem"].bounds.expect("bounds of shared memory");
            let high = bounds.high.expect("an upper bound");
            assert!(bounds.low <= shared && shared <= high, "{name}: {bounds:?}, compiler {shared}");
            *(if bounds.low == high { &mut exact } else { &mut bounded }) += 1;
        }
    }
    (exact, bounded, refused)
}

#[test]
fn kernels_on_which_something_was_wrong_once_take_what_the_compiler_gives_them() {
    assert_eq!(of_causes(), (12, 10, 1));
}

/// What the compiler answered, as its driver says it, with the lines of the text that has a comment more.
fn answer(case: &Value, moved_from: usize) -> Answer {
    let mut case = case.clone();
    case["tensor_columns"] = case["tmem_columns"].take();
    for key in ["buffers", "tensor_memory"] {
        for row in case[key].as_array_mut().into_iter().flatten() {
            if let Some(line) = row["line"].as_u64() {
                row["line"] = (line + u64::from(line > moved_from as u64)).into();
            }
        }
    }
    if let Some(message) = case["error"].as_str() {
        case = json!({ "error": { "kind": "refused", "message": message } });
    } else {
        case["error"].take();
        case.as_object_mut().expect("a case").remove("error");
    }
    serde_json::from_value(case).expect("an answer")
}

/// How the answers about the kernels of a language are taken: how many plans are confirmed, lie within bounds, are refused, or cannot be asked
/// about; and where the two differ.
fn confirmed(language: &str) -> String {
    let (mut same, mut within, mut refused, mut unasked) = (0, 0, 0, 0);
    let mut differ = String::new();
    for path in sources(language) {
        let source = std::fs::read_to_string(&path).expect("a kernel");
        let answers = std::fs::read_to_string(path.with_extension("json")).expect("its answers");
        let answers: Value = serde_json::from_str(&answers).expect("JSON");
        for (nth, case) in answers["cases"].as_array().into_iter().flatten().enumerate() {
            let compiler = case["compiler"].as_str().or(answers["compiler"].as_str()).expect("a compiler");
            let (mut fixture, moved_from) = open(&source, &comment(case, compiler));
            let questions = fixture.questions();
            let Some(Ok(question)) = questions.into_iter().find(|it| it.kernel == "kernel").map(|it| it.question)
            else {
                unasked += 1;
                continue;
            };
            let answered = Answered { question, answer: answer(case, moved_from) };
            fixture.host.set_answers(fixture.file, Answers::from_iter([answered]));
            match &fixture.confirmations()[0].verdict {
                confirmation::Verdict::Confirmed => same += 1,
                confirmation::Verdict::Within => within += 1,
                confirmation::Verdict::Refused { .. } => refused += 1,
                confirmation::Verdict::Failed { message, .. } => panic!("{}: {message}", path.display()),
                confirmation::Verdict::Differs { buffers, .. } => {
                    let name = path.file_stem().unwrap_or_default().to_string_lossy();
                    let buffers = buffers.iter().map(|it| format!("\n    {it}")).collect::<String>();
                    differ += &format!("\n  {name} {nth}:{buffers}");
                }
            }
        }
    }
    format!("{language}: {same} the same, {within} within, {refused} refused, {unasked} not asked{differ}")
}

/// Every buffer, also those that the compiler adds. Where they differ only such do: the totals are the same.
#[test]
fn what_the_compiler_said_of_the_kernels_is_confirmed_buffer_by_buffer() {
    let languages = ["gluon", "tlx", "triton", "random/gluon", "random/tlx"];
    let all: Vec<_> = languages.into_iter().map(confirmed).collect();
    expect_test::expect![[r#"
        gluon: 73 the same, 0 within, 4 refused, 0 not asked
        tlx: 43 the same, 3 within, 9 refused, 0 not asked
        triton: 148 the same, 66 within, 0 refused, 0 not asked
          attention_fp16 0:
            line 18 has `ttg.convert_layout` at smem 0x4000, 2048 bytes, tilefit says nothing is there
          attention_fp16 3:
            line 18 has `ttg.convert_layout` at smem 0x4000, 2048 bytes, tilefit says nothing is there
          matmul_persistent 0:
            line 15 has `ttg.local_alloc` at smem 0x0, 32768 bytes, tilefit says nothing is there
          matmul_persistent 2:
            line 15 has `ttg.local_alloc` at smem 0x10000, 32768 bytes, tilefit says nothing is there
        random/gluon: 60 the same, 0 within, 0 refused, 0 not asked
        random/tlx: 42 the same, 17 within, 0 refused, 0 not asked
          tlx_41 0:
            line 38 has nothing, tilefit says `scratch of `convert_layout` in line 38` at smem 0x0, 2048 bytes"#]]
    .assert_eq(&all.join("\n"));
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

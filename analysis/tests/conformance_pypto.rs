//! The plan of every kernel that the PyPTO compiler was run on, compared with what it decided: kernels of tiles
//! (`tests/conformance/pypto`) and of tensors (`tests/conformance/pypto-tensor`), and minimal kernels of rules that were once
//! missed (`tests/conformance/pypto-causes`).
//!
//! A kernel is exact when every tile that the author wrote agrees in name, space, bytes and address, in the order of
//! definition, each space's use agrees, and so does the verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tilefit_analysis::Fixture;
use tilefit_analysis::ide::KernelPlan;
use tilefit_analysis::project::Config;
use tilefit_pypto::coverage::{self, Form, Mark, Setting, Table};
use tilefit_pypto::ops;
use tilefit_pypto::target::{COMPILER, Planner, Target};
use tilefit_python::diagnostics::{Code, Severity};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

const RECORDED: [&str; 3] =
    ["tests/conformance/pypto", "tests/conformance/pypto-tensor", "tests/conformance/pypto-causes"];

fn programs() -> Vec<PathBuf> {
    programs_of("tests/conformance/pypto")
}

fn programs_of(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository(folder)).expect("the conformance kernels");
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    paths.sort();
    paths
}

fn plans(text: &str, target: Target, planner: Planner) -> Vec<KernelPlan> {
    plans_with(text, Config { target, planner, ..Config::default() })
}

fn plans_with(text: &str, config: Config) -> Vec<KernelPlan> {
    Fixture::new(text).with(config).plans()
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Exact,
    NotModelled(String),
    MissedError(String),
    FalseError(String),
    Wrong(String),
}

impl Verdict {
    fn name(&self) -> &'static str {
        match self {
            Verdict::Exact => "exact",
            Verdict::NotModelled(_) => "not modelled",
            Verdict::MissedError(_) => "missed error",
            Verdict::FalseError(_) => "false error",
            Verdict::Wrong(_) => "wrong",
        }
    }

    fn why(&self) -> &str {
        match self {
            Verdict::Exact => "",
            Verdict::NotModelled(why) | Verdict::MissedError(why) | Verdict::FalseError(why) | Verdict::Wrong(why) => {
                why
            }
        }
    }
}

/// Name, space, bytes and address.
type Row = (String, Option<String>, Option<u64>, Option<u64>);

fn judge(expected: &Value, plans: &[KernelPlan]) -> Verdict {
    let errors = || plans.iter().flat_map(|plan| &plan.diagnostics).filter(|d| d.severity == "error");
    let unsure = plans.iter().find(|plan| !is_whole(plan));
    let reason = |plan: &KernelPlan| plan.reasons.first().cloned().unwrap_or_default();
    if expected["ok"] != true {
        if errors().next().is_some() {
            return Verdict::Exact;
        }
        return match unsure {
            Some(plan) => Verdict::NotModelled(reason(plan)),
            None => Verdict::MissedError(expected["error"].as_str().unwrap_or_default().to_owned()),
        };
    }
    if let Some(error) = errors().next() {
        return Verdict::FalseError(error.message.clone());
    }
    let by_name: BTreeMap<&str, &KernelPlan> =
        plans.iter().map(|plan| (plan.name.rsplit('.').next().unwrap_or_default(), plan)).collect();
    let functions = expected["functions"].as_object().into_iter().flatten();
    for (name, wanted) in functions {
        let verdict = judge_function(name, wanted, by_name.get(name.as_str()).copied(), unsure.map(reason));
        if verdict != Verdict::Exact {
            return verdict;
        }
    }
    Verdict::Exact
}

/// All of it is modelled. That it was compared is what these tests find out.
fn is_whole(plan: &KernelPlan) -> bool {
    matches!(plan.status, "exact" | "predicted")
}

fn judge_function(name: &str, wanted: &Value, plan: Option<&KernelPlan>, unsure: Option<String>) -> Verdict {
    let tiles = wanted["tiles"].as_array().map_or(&[][..], Vec::as_slice);
    if tiles.is_empty() {
        return Verdict::Exact;
    }
    let Some(plan) = plan else {
        return unsure.map_or_else(|| Verdict::Wrong(format!("no kernel {name}")), Verdict::NotModelled);
    };
    if !is_whole(plan) {
        return Verdict::NotModelled(plan.reasons.first().cloned().unwrap_or_default());
    }
    let ours: Vec<Row> = plan
        .tiles
        .iter()
        .filter(|tile| !tile.inserted && tile.kind == "def")
        .map(|tile| (tile.name.clone(), tile.space.map(str::to_owned), Some(tile.bytes), tile.address))
        .collect();
    let compiler: Vec<Row> =
        tiles.iter().filter(|tile| tile["kind"] == "def").filter_map(|tile| authored(tile, &ours)).collect();
    let differs = (0..compiler.len().max(ours.len())).find(|index| compiler.get(*index) != ours.get(*index));
    if let Some(index) = differs {
        let (theirs, ours) = (compiler.get(index), ours.get(index));
        return Verdict::Wrong(format!("{name}: tile {index}: compiler {theirs:?}, tilefit {ours:?}"));
    }
    for (space, wanted) in wanted["spaces"].as_object().into_iter().flatten() {
        let used = plan.spaces.get(space.as_str()).and_then(|space| space.used);
        if used != wanted["used"].as_u64() {
            return Verdict::Wrong(format!("{name}: {space} uses {}, tilefit {used:?}", wanted["used"]));
        }
    }
    Verdict::Exact
}

/// `None` for what the compiler adds. It calls a name that is assigned again in a `@pl.jit` function `x_v1`, which is also the name of
/// a copy before a loop.
fn authored(tile: &Value, ours: &[Row]) -> Option<Row> {
    let (name, space, bytes, address) = row(tile);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let again = name.rsplit_once("_v").filter(|(_, number)| is_number(number)).map(|(stem, _)| stem.to_owned());
    let again = again.filter(|stem| !name.contains("__") && ours.iter().any(|one| one.0 == *stem));
    match again {
        Some(stem) => tile["op"].is_string().then_some((stem, space, bytes, address)),
        None => (tile["inserted"] != true).then_some((name, space, bytes, address)),
    }
}

fn row(tile: &Value) -> Row {
    let text = |key: &str| tile[key].as_str().map(str::to_owned);
    (text("name").unwrap_or_default(), text("space"), tile["bytes"].as_u64(), tile["address"].as_u64())
}

#[test]
fn sequential_plans_are_those_of_the_compiler() {
    compare("PYPTO", Planner::Sequential, 300, "tests/conformance/pypto-inexact.txt");
}

#[test]
fn dsa_rp_plans_are_those_of_the_compiler() {
    compare("DSA_RP", Planner::DsaRp, 90, "tests/conformance/pypto-dsa-rp-inexact.txt");
}

/// A rule that was missed once is not missed again, on any target and under any planner.
#[test]
fn known_causes_are_right() {
    let mut wrong = String::new();
    for path in programs_of("tests/conformance/pypto-causes") {
        let text = std::fs::read_to_string(&path).unwrap();
        let answers = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let answers: Value = serde_json::from_str(&answers).unwrap();
        for expected in answers["results"].as_array().unwrap() {
            let target = if expected["backend"] == "950" { Target::Ascend950 } else { Target::Ascend910b };
            let planner = if expected["planner"] == "DSA_RP" { Planner::DsaRp } else { Planner::Sequential };
            let verdict = judge(expected, &plans(&text, target, planner));
            if verdict != Verdict::Exact {
                let name = path.file_stem().unwrap().to_string_lossy();
                wrong.push_str(&format!("{name} {target} {}: {}, {}\n", planner.name(), verdict.name(), verdict.why()));
            }
        }
    }
    assert_eq!(wrong, "");
}

/// Says a rate on the terminal also where the test passes: only what is printed with macros is captured.
fn report(rate: &str) {
    let _ = writeln!(std::io::stderr(), "{rate}");
}

/// `inexact` lists the kernels that are not exact yet, `NAME BACKEND` a line; it may only become shorter.
fn compare(compiler: &str, planner: Planner, at_least: usize, inexact: &str) {
    let only = std::env::var("KERNEL").ok();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = String::new();
    for path in programs() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let answers = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let answers: Value = serde_json::from_str(&answers).unwrap();
        for expected in answers["results"].as_array().unwrap().iter().filter(|result| result["planner"] == compiler) {
            let backend = expected["backend"].as_str().unwrap();
            let target = if backend == "950" { Target::Ascend950 } else { Target::Ascend910b };
            let plans = plans(&text, target, planner);
            let verdict = judge(expected, &plans);
            *counts.entry(verdict.name()).or_default() += 1;
            if verdict != Verdict::Exact {
                println!("{:13} {name} {backend}: {}", verdict.name(), verdict.why());
                found.push_str(&format!("{name} {backend}\n"));
            }
            if only.is_some() {
                show(expected, &plans);
            }
        }
    }
    let total: usize = counts.values().sum();
    report(&format!("{compiler}: exact {} of {total}; {counts:?}", counts.get("exact").unwrap_or(&0)));
    if only.is_some() {
        return;
    }
    assert!(total >= at_least, "{total} kernels");
    assert!(!counts.contains_key("false error"), "the compiler accepts what tilefit calls an error");
    expect_test::expect_file![repository(inexact)].assert_eq(&found);
}

/// Kernels that were once judged otherwise than by the compiler.
#[test]
fn causes_are_judged_as_by_the_compiler() {
    let mut otherwise = String::new();
    for path in programs_of("tests/conformance/pypto-causes") {
        let text = std::fs::read_to_string(&path).unwrap();
        let answers = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let all: Value = serde_json::from_str(&answers).unwrap();
        for expected in all["results"].as_array().unwrap() {
            let target = if expected["backend"] == "950" { Target::Ascend950 } else { Target::Ascend910b };
            let planner = if expected["planner"] == "DSA_RP" { Planner::DsaRp } else { Planner::Sequential };
            let verdict = judge(expected, &plans(&text, target, planner));
            if verdict != Verdict::Exact {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                otherwise += &format!("{name} on {target}, {}: {} {}\n", planner.name(), verdict.name(), verdict.why());
            }
        }
    }
    expect_test::expect![""].assert_eq(&otherwise);
}

/// What the recorded answers show to be compared, and what the documents say of that, is what the program takes for compared.
#[test]
fn compared_marks_are_those_of_recorded_answers() {
    let mut table = coverage::read(coverage::COMPARED);
    table.values_mut().flatten().for_each(|by| by.vectors = false);
    for path in RECORDED.into_iter().flat_map(programs_of) {
        let text = std::fs::read_to_string(&path).unwrap();
        let answers = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let answers: Value = serde_json::from_str(&answers).unwrap();
        for expected in answers["results"].as_array().unwrap().iter().filter(|result| result["ok"] == true) {
            let target = if expected["backend"] == "950" { Target::Ascend950 } else { Target::Ascend910b };
            let planner = if expected["planner"] == "DSA_RP" { Planner::DsaRp } else { Planner::Sequential };
            let plans = plans(&text, target, planner);
            if judge(expected, &plans) == Verdict::Exact {
                let setting = Setting::of(target, planner);
                plans.iter().for_each(|plan| coverage::add(&mut table, &plan.marks, setting, |by| by.vectors = true));
            }
        }
    }
    table.retain(|_, by| by.iter().any(|by| !by.is_empty()));
    expect_test::expect_file![repository("analysis/pypto/src/coverage/compared.csv")]
        .assert_eq(&coverage::write(&table));
    expect_test::expect_file![repository("docs/coverage.md")].assert_eq(&document(&table));
}

/// `docs/coverage.md`
fn document(table: &Table) -> String {
    let row = |mark: &Mark| {
        let by = table.get(mark).copied().unwrap_or_default();
        let columns = by.map(|by| if by.is_empty() { "-".to_owned() } else { by.letters() });
        format!("| {mark} | {} |\n", columns.join(" | "))
    };
    let is_op = |mark: &&Mark| matches!(mark, Mark::Op(..));
    let is_pair = |mark: &&Mark| matches!(mark, Mark::Passes(..));
    let of_op = |mark: &Mark| match mark {
        Mark::Op(op, _) => Some(op.op().name),
        _ => None,
    };
    let operations: String = table.keys().filter(is_op).map(row).collect();
    let forms: String = Form::ALL.iter().map(|form| row(&Mark::Form(*form))).collect();
    let passes: String = table.keys().filter(is_pair).map(row).collect();
    let known: BTreeSet<&str> = table.keys().filter_map(of_op).collect();
    let never = ops::OPS.iter().map(|op| op.name).filter(|name| !known.contains(name));
    let never: Vec<String> = never.map(|name| format!("`{name}`")).collect();
    let columns = "| 910B | 910B, DSA-RP | 950 | 950, DSA-RP |\n|---|---|---|---|---|\n";
    format!(
        "# What is compared\n\n\
        A plan is *exact* if everything that its kernel uses was compared with the compiler. \"Compared\" means: for at least one kernel that uses it,\n\
        tilefit's plan is the compiler's plan to the byte, for the same target and planner. A kernel that uses anything else is *predicted*, and its\n\
        hover lists what was never compared. The test `conformance_pypto` writes this page from the table that tilefit itself reads.\n\n\
        What it was compared with: *v*: recorded answers of the compiler (`tests/conformance`). *r*: random kernels. *p*: kernels of public\n\
        repositories. *-*: nothing. The compiler is {}.\n\n\
        ## Operations\n\n| operation {columns}{operations}\nNever compared: {}.\n\n\
        ## Statements and scopes\n\n| form {columns}{forms}\n\
        ## Passes that change one kernel together\n\n| passes {columns}{passes}",
        COMPILER.named(),
        never.join(", "),
    )
}

/// What a kernel on tensors calls for, by what its text names; a kernel may call for several.
const RULES: [(&str, &[&str]); 9] = [
    ("loops and branches", &["pl.range", "if "]),
    ("row reductions", &["pl.row_sum", "pl.row_max", "pl.row_min"]),
    ("products", &["pl.matmul"]),
    ("pipelines", &["pl.pipeline"]),
    ("both cores", &["_aic\""]),
    ("casts", &["pl.cast"]),
    ("sort and gather", &["pl.gather", "sort"]),
    ("comparison, transpose, padding", &["pl.cmp", "pl.transpose", "pl.fillpad"]),
    ("spmd", &["pl.spmd"]),
];

/// Every plan is exact.
#[test]
fn plans_of_tensors_are_those_of_the_compiler() {
    let only = std::env::var("KERNEL").ok();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_rule: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut inexact = String::new();
    for path in programs_of("tests/conformance/pypto-tensor") {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let answers = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let all: Value = serde_json::from_str(&answers).unwrap();
        for expected in all["results"].as_array().unwrap() {
            let backend = expected["backend"].as_str().unwrap();
            let target = if backend == "950" { Target::Ascend950 } else { Target::Ascend910b };
            let plans = plans(&text, target, Planner::Sequential);
            let verdict = judge(expected, &plans);
            *counts.entry(verdict.name()).or_default() += 1;
            let is_exact = verdict == Verdict::Exact;
            for (rule, words) in RULES {
                if words.iter().any(|word| text.contains(word) || answers.contains(&format!("{word}:"))) {
                    let (exact, total) = by_rule.entry(rule).or_default();
                    *exact += usize::from(is_exact);
                    *total += 1;
                }
            }
            if !is_exact {
                inexact.push_str(&format!("{name} {backend}: {}, {}\n", verdict.name(), verdict.why()));
            }
            if only.is_some() {
                show(expected, &plans);
            }
        }
    }
    let total: usize = counts.values().sum();
    report(&format!("tensors: exact {} of {total}; {counts:?}", counts.get("exact").unwrap_or(&0)));
    println!("{inexact}");
    for (rule, (exact, total)) in by_rule {
        println!("{rule:32} {exact:3} of {total:3}");
    }
    if only.is_some() {
        return;
    }
    assert!(total >= 250, "{total} kernels");
    for wrong in ["false error", "missed error", "wrong"] {
        assert!(!counts.contains_key(wrong), "{wrong}:\n{inexact}");
    }
    assert_eq!(inexact, "");
}

/// The lines of narrow transfers are those of the compiler's hint PH001.
#[test]
fn narrow_transfers_are_those_of_the_compiler() {
    let (mut same, mut total, mut differences) = (0, 0, Vec::new());
    for path in programs() {
        let text = std::fs::read_to_string(&path).unwrap();
        let answers = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let answers: Value = serde_json::from_str(&answers).unwrap();
        let accepted = |result: &&Value| result["planner"] == "PYPTO" && result["ok"] == true;
        for expected in answers["results"].as_array().unwrap().iter().filter(accepted) {
            let target = if expected["backend"] == "950" { Target::Ascend950 } else { Target::Ascend910b };
            let severity = BTreeMap::from([(Code::NarrowTransfer, Some(Severity::Hint))]);
            let config = Config { target, planner: Planner::Sequential, severity, ..Config::default() };
            let plans = plans_with(&text, config);
            let found = plans.iter().flat_map(|plan| &plan.diagnostics).filter(|d| d.code == "narrow-transfer");
            let found: BTreeSet<u64> = found.map(|diagnostic| diagnostic.line as u64).collect();
            let warnings = expected["warnings"].as_array().into_iter().flatten().filter(|w| w["code"] == "PH001");
            let wanted: BTreeSet<u64> = warnings.filter_map(|warning| warning["line"].as_u64()).collect();
            total += 1;
            same += usize::from(found == wanted);
            if found != wanted {
                let name = path.file_stem().unwrap().to_string_lossy();
                let (missed, extra) = (wanted.difference(&found), found.difference(&wanted));
                let (missed, extra): (Vec<_>, Vec<_>) = (missed.collect(), extra.collect());
                differences.push(format!("{name} {}: missed {missed:?}, extra {extra:?}", expected["backend"]));
            }
        }
    }
    println!("PH001: the same lines in {same} of {total}");
    assert!(total >= 250, "{total} kernels");
    assert_eq!(differences, Vec::<String>::new());
}

/// Both plans side by side, for `KERNEL=name cargo test -p tilefit-analysis conformance_pypto -- --nocapture`.
fn show(expected: &Value, plans: &[KernelPlan]) {
    let wanted = if expected["functions"].is_object() { &expected["functions"] } else { &expected["overflowed_plan"] };
    println!("compiler: {}", expected["error"]);
    for (name, function) in wanted.as_object().into_iter().flatten() {
        println!("  {name} {} {}", function["type"], function["spaces"]);
        for tile in function["tiles"].as_array().into_iter().flatten() {
            let mark = if tile["inserted"] == true { '+' } else { ' ' };
            let (kind, op) = (tile["kind"].as_str().unwrap_or_default(), tile["op"].as_str().unwrap_or_default());
            let (name, space) = (tile["name"].as_str().unwrap_or_default(), tile["space"].as_str().unwrap_or_default());
            println!(
                "   {mark}{name:16} {space:5} {:>7} +{:<7} {:14} {op} {kind}",
                tile["address"], tile["bytes"], tile["buffer"]
            );
        }
    }
    println!("tilefit:");
    for plan in plans {
        println!("  {} {} {:?}", plan.name, plan.status, plan.reasons);
        for tile in &plan.tiles {
            let mark = if tile.inserted { '+' } else { ' ' };
            let (address, buffer) =
                (tile.address.map_or(-1, |address| address as i64), tile.buffer.as_deref().unwrap_or("-"));
            let space = tile.space.unwrap_or("?");
            println!("   {mark}{:16} {space:5} {address:>7} +{:<7} {buffer:14} {}", tile.name, tile.bytes, tile.kind);
        }
        for diagnostic in &plan.diagnostics {
            println!("   {}[{}] {}: {}", diagnostic.severity, diagnostic.code, diagnostic.line, diagnostic.message);
        }
    }
}

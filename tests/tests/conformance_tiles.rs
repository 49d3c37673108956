//! The tiles that the passes leave, against those that the compiler left: names, kinds, spaces, shapes and order.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tilefit_pypto::ir::{Kernel, KernelKind, Role, Stmt, Value, VarId};
use tilefit_pypto::lower::Module;
use tilefit_pypto::passes;
use tilefit_pypto::target::{Planner, Target};

/// Kernels whose tiles differ from the compiler's, and why. The list only shrinks.
const DIFFERENT: &[(&str, &str)] = &[];

#[test]
fn tiles_are_those_of_the_compiler() {
    let (mut equal, mut compared, mut report) = (0, 0, String::new());
    for file in kernel_files() {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).expect("a kernel of the conformance set");
        let answers: Json =
            serde_json::from_str(&fs::read_to_string(file.with_extension("json")).expect("its answers"))
                .expect("answers are JSON");
        for result in answers["results"].as_array().into_iter().flatten().filter(|result| concerns_passes(result)) {
            let target = if result["backend"] == "950" { Target::Ascend950 } else { Target::Ascend910b };
            let kernels = prepared(&text, target);
            let (ours, theirs) = (ours(&kernels), theirs(result));
            compared += 1;
            let known = DIFFERENT.iter().any(|(known, _)| *known == name);
            match (ours == theirs, known) {
                (true, false) => equal += 1,
                (true, true) => writeln!(report, "{name} on {target}: equal, take it off the list").unwrap(),
                (false, true) => {}
                (false, false) => writeln!(report, "{name} on {target}:\n{}", difference(&ours, &theirs)).unwrap(),
            }
        }
    }
    println!("tiles: {equal} of {compared} runs as the compiler has them");
    assert!(report.is_empty(), "{report}");
    assert!(compared > 250, "the conformance set is there");
}

/// Errors of the memory stage leave no tiles to compare.
fn concerns_passes(result: &Json) -> bool {
    let has_tiles = result["functions"].is_object() || result["overflowed_plan"].is_object();
    result["planner"] == "PYPTO" && (has_tiles || result["error_pass"] != "MemoryReuse")
}

fn kernel_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/pypto");
    let entries = fs::read_dir(folder).expect("the conformance set").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|ext| ext == "py")).collect();
    files.sort();
    files
}

fn prepared(text: &str, target: Target) -> Vec<Kernel> {
    let kernels = Module::new(text).kernels().into_iter();
    let mut prepared: Vec<Kernel> =
        kernels.flat_map(|kernel| passes::prepare(kernel, target.into(), Planner::Sequential)).collect();
    prepared.sort_by(|a, b| a.name.cmp(&b.name));
    prepared
}

/// One line a kernel and one line a tile.
fn ours(kernels: &[Kernel]) -> Vec<String> {
    let mut lines = Vec::new();
    for kernel in kernels {
        if !kernel.rejections.is_empty() {
            return vec!["rejected".into()];
        }
        let kind = match kernel.kind {
            KernelKind::InCore => "InCore",
            KernelKind::Aic => "AIC",
            KernelKind::Aiv => "AIV",
        };
        lines.push(format!("{} {kind}", kernel.name));
        tiles(kernel, &kernel.body, &mut lines);
    }
    lines
}

fn tiles(kernel: &Kernel, body: &[Stmt], lines: &mut Vec<String>) {
    for stmt in body {
        match stmt {
            Stmt::Let { var, value, .. } => tile(kernel, *var, value_name(value), lines),
            Stmt::For(inner) => {
                inner.carries.iter().for_each(|carry| tile(kernel, carry.iter, "", lines));
                tiles(kernel, &inner.body, lines);
                inner.carries.iter().for_each(|carry| tile(kernel, carry.result, "", lines));
            }
            Stmt::While(inner) => {
                inner.carries.iter().for_each(|carry| tile(kernel, carry.iter, "", lines));
                tiles(kernel, &inner.body, lines);
                inner.carries.iter().for_each(|carry| tile(kernel, carry.result, "", lines));
            }
            Stmt::If(inner) => {
                tiles(kernel, &inner.then, lines);
                tiles(kernel, &inner.otherwise, lines);
                inner.results.iter().for_each(|result| tile(kernel, *result, "", lines));
            }
            _ => {}
        }
    }
}

fn value_name(value: &Value) -> &'static str {
    match value {
        Value::Call(call) => call.op.op().name,
        _ => "",
    }
}

fn tile(kernel: &Kernel, var: VarId, op: &str, lines: &mut Vec<String>) {
    let (var, Some(tile)) = (kernel.var(var), kernel.tile(var)) else { return };
    let name = if var.inserted.is_some() { "+" } else { var.name.as_str() };
    let kind = match var.role {
        Role::IterArg => "iter_arg",
        Role::LoopResult => "loop_result",
        Role::IfResult => "if_result",
        Role::Param | Role::Def | Role::LoopIndex | Role::OtherCore => "def",
    };
    let space = tile.space.map_or("?", |space| space.name());
    lines.push(format!("    {name} {kind} {op} {space} {:?} {}", tile.shape, tile.dtype));
}

fn theirs(result: &Json) -> Vec<String> {
    let functions = if result["functions"].is_object() { &result["functions"] } else { &result["overflowed_plan"] };
    let Some(functions) = functions.as_object() else { return vec!["rejected".into()] };
    let mut lines = Vec::new();
    let mut names: Vec<&String> = functions.keys().collect();
    names.sort();
    for name in names {
        let function = &functions[name];
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        lines.push(format!("{name} {}", text(&function["type"])));
        for tile in function["tiles"].as_array().into_iter().flatten() {
            // Copies that the memory stage makes, after these passes.
            if tile["inserted"] == true && text(&tile["ssa"]).ends_with("_mv") {
                continue;
            }
            let name = if tile["inserted"] == true { "+".into() } else { text(&tile["name"]) };
            let shape: Vec<u64> = tile["shape"].as_array().into_iter().flatten().filter_map(Json::as_u64).collect();
            let (kind, op) = (text(&tile["kind"]), text(&tile["op"]));
            lines.push(format!("    {name} {kind} {op} {} {shape:?} {}", text(&tile["space"]), text(&tile["dtype"])));
        }
    }
    lines
}

/// The first lines that differ.
fn difference(ours: &[String], theirs: &[String]) -> String {
    let at = ours.iter().zip(theirs).position(|(a, b)| a != b).unwrap_or(ours.len().min(theirs.len()));
    let show = |lines: &[String]| lines.iter().skip(at).take(4).cloned().collect::<Vec<_>>().join("\n");
    format!("  from line {at}, ours:\n{}\n  theirs:\n{}", show(ours), show(theirs))
}

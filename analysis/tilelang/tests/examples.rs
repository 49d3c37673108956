//! Kernels by others, against what the front end of the wheel recorded of them: a folder of lines of JSON, which `TILELANG_RECORDED` names.
//!
//! A line: `file`, `function`, `args`, `params` and `written` (name, scope, type and shape of buffers), `ops` (tile operations and loops, what is
//! inside first).

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};
use tilefit_tilelang::program::{Extent, Kind, Launch, Region, Scope, Statement};

use crate::module::Module;
use crate::{recorded, statements};

#[test]
fn kernels_by_others_are_followed_as_the_compiler_does() {
    let Ok(folder) = std::env::var("TILELANG_RECORDED") else { return };
    let mut counts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut report = String::new();
    let mut files: Vec<_> =
        folder.split(':').flat_map(|it| std::fs::read_dir(it).unwrap()).map(|it| it.unwrap().path()).collect();
    files.sort();
    for path in files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let recorded: Value = serde_json::from_str(line).unwrap();
            let function = recorded["function"].as_str().unwrap();
            let Ok(text) = std::fs::read_to_string(recorded["file"].as_str().unwrap()) else { continue };
            let module = Module::new(&text);
            if !module.functions().any(|name| name == function) {
                continue;
            }
            let traced = module.follow(function, &recorded::arguments(&recorded["args"]));
            let short = recorded["file"].as_str().unwrap().rsplit('/').next().unwrap();
            let title = format!("{short} {function} {}", recorded["args"]);
            let outcome = if let Some(error) = recorded["error"].as_str() {
                let is_seen = !traced.mistakes.is_empty();
                writeln!(report, "{title}\n  REFUSED {error}\n  {:?}", traced.mistakes).unwrap();
                if is_seen { "refused, said" } else { "refused, not said" }
            } else {
                let mut wrong = differences(&traced.launches, &recorded);
                if recorded["statements"].as_array().is_some_and(|all| !all.is_empty()) {
                    let (ours, theirs) = (statements::ours(&traced.launches), statements::theirs(&recorded));
                    let (ours, theirs) = (alike(&ours), alike(&theirs));
                    let pairs = ours.lines().zip(theirs.lines());
                    let first = pairs.enumerate().find(|(_, (one, two))| one != two);
                    if let Some((at, (one, two))) = first {
                        writeln!(wrong, "  line {at}: ours {one}\n         theirs {two}").unwrap();
                    } else if ours.lines().count() != theirs.lines().count() {
                        writeln!(wrong, "  {} lines, theirs {}", ours.lines().count(), theirs.lines().count()).unwrap();
                    }
                }
                let unknown: Vec<String> =
                    traced.launches.iter().flat_map(|it| &it.unknown).map(ToString::to_string).collect();
                let has_more = !unknown.is_empty() || !traced.unknown.is_empty();
                let has_unknown = has_more || wrong.contains('<');
                if !wrong.is_empty() || has_more || !traced.mistakes.is_empty() {
                    writeln!(report, "{title}\n{wrong}  {unknown:?} {:?}", traced.unknown).unwrap();
                }
                for mistake in &traced.mistakes {
                    writeln!(report, "  MISTAKE {} {mistake:?}", module.line(function, mistake.at)).unwrap();
                }
                match (wrong.is_empty(), has_unknown, traced.mistakes.is_empty()) {
                    (_, _, false) => "false mistake",
                    (true, false, _) => "agree",
                    (true, true, _) => "agree, with reasons",
                    (false, true, _) => "unknown",
                    (false, false, _) => "wrong",
                }
            };
            counts.entry(outcome).or_default().push(format!("{short} {function}"));
        }
    }
    println!("{report}");
    for (outcome, mut all) in counts {
        let count = all.len();
        all.sort();
        all.dedup();
        println!("{outcome}: {count} of {} functions", all.len());
    }
}

fn extent(extent: &Extent) -> Value {
    match extent {
        Extent::Known(extent) => json!(extent),
        Extent::Symbolic(text) => json!(text.to_string()),
        Extent::Unknown(reason) => json!(format!("<{reason}>")),
    }
}

fn region(launch: &Launch, region: &Region, access: u8) -> Option<Value> {
    let extents: Vec<Value> = region.extents.as_ref()?.iter().map(extent).collect();
    Some(json!([launch.buffer(region.buffer).name.to_string(), access, extents]))
}

fn operations(launch: &Launch, body: &[Statement], all: &mut Vec<Value>) {
    for statement in body {
        match statement {
            Statement::Op(op) => {
                let name = match &op.kind {
                    Kind::Copy => "copy",
                    Kind::AsyncCopy => "async_copy",
                    Kind::TmaCopy => "tma_copy",
                    Kind::Gemm(gemm) if gemm.is_tcgen05 => "tcgen05_gemm",
                    Kind::Gemm(_) => "gemm",
                    Kind::Fill => "fill",
                    Kind::CumulativeSum => "cumsum",
                    Kind::Reduce(_) => "reduce",
                    _ => continue,
                };
                let mut regions: Vec<Value> = op.reads.iter().filter_map(|it| region(launch, it, 1)).collect();
                for written in &op.writes {
                    let name = launch.buffer(written.buffer).name.to_string();
                    let both = matches!(op.kind, Kind::Gemm(_)) && regions.len() > 2 && regions[2][0] == json!(name);
                    match both {
                        true => regions[2][1] = json!(3),
                        false => regions.extend(region(launch, written, 2)),
                    }
                }
                all.push(json!([name, regions]));
            }
            Statement::Loop(inner) => {
                operations(launch, &inner.body, all);
                all.push(json!(["for", extent(&inner.extent), inner.stages]));
            }
            Statement::Branch(branch) => {
                operations(launch, &branch.then, all);
                operations(launch, &branch.otherwise, all);
            }
        }
    }
}

fn differences(launches: &[Launch], recorded: &Value) -> String {
    let scope = |scope: Scope| match scope {
        Scope::Global => "global",
        Scope::Shared => "shared.dyn",
        Scope::StaticShared => "shared",
        Scope::Barrier => "shared.barrier",
        Scope::TensorMemory => "shared.tmem",
        Scope::Fragment => "local.fragment",
        Scope::Local | Scope::OfCore(_) => "local",
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for (i, launch) in launches.iter().enumerate() {
        for buffer in launch.buffers.iter().filter(|buffer| i == 0 || buffer.scope != Scope::Global) {
            let shape: Vec<Value> = buffer.shape.iter().map(extent).collect();
            ours.push(format!("{} {} {} {}", buffer.name, scope(buffer.scope), buffer.dtype.name, json!(shape)));
        }
    }
    let list = |key: &str| recorded[key].as_array().cloned().unwrap_or_default();
    if recorded["params"].is_null() {
        ours.retain(|buffer| !buffer.contains(" global "));
    }
    for (buffer, of_param) in
        list("params").iter().map(|it| (it, true)).chain(list("written").iter().map(|it| (it, false)))
    {
        let scope = if of_param { "global" } else { buffer["scope"].as_str().unwrap() };
        let scope = match scope {
            "shared.cluster_barrier" => "shared.barrier",
            "local.reducer" => "local.fragment",
            scope if scope.starts_with("local.") && scope != "local.fragment" => "local",
            scope => scope,
        };
        let (name, dtype) = (buffer["name"].as_str().unwrap(), buffer["dtype"].as_str().unwrap());
        theirs.push(format!("{name} {scope} {dtype} {}", buffer["shape"]));
    }
    let (ours, theirs) =
        (ours.iter().map(|it| alike(it)).collect::<Vec<_>>(), theirs.iter().map(|it| alike(it)).collect::<Vec<_>>());
    let mut wrong = String::new();
    let mut rest = theirs.clone();
    for buffer in &ours {
        match rest.iter().position(|it| it == buffer) {
            Some(at) => {
                rest.remove(at);
            }
            None => write!(wrong, "  ours   {buffer}").unwrap(),
        }
    }
    rest.iter().for_each(|buffer| write!(wrong, "  theirs {buffer}").unwrap());
    let mut ops = Vec::new();
    launches.iter().for_each(|launch| operations(launch, &launch.body, &mut ops));
    let known = ["copy", "async_copy", "tma_copy", "gemm", "fill", "cumsum", "reduce", "tcgen05_gemm"];
    let theirs: Vec<Value> = list("ops")
        .into_iter()
        .filter_map(|op| match op[0].as_str().unwrap() {
            // Parallel, vectorized and bound loops are no loops of ours.
            "for" if op[2] == 0 || op[2] == 3 => Some(json!(["for", op[1], op[3].as_u64().unwrap_or(0)])),
            "for" => None,
            "wgmma_gemm" | "gemm_sp" => Some(json!(["gemm", op[1]])),
            "cummax" => Some(json!(["cumsum", op[1]])),
            name if known.contains(&name) => Some(op.clone()),
            _ => None,
        })
        .collect();
    let plain = |ops: &[Value]| -> Vec<Value> {
        // A loop with a symbolic extent is the same whatever its text.
        let one = |op: &Value| match op[0] == "for" && op[1].is_string() {
            true => json!(["for", "…", op[2]]),
            false => op.clone(),
        };
        ops.iter().filter(|op| op[0] != "for" || op[2] != 0).map(one).collect()
    };
    let (one, two) = (plain(&ops), plain(&theirs));
    if !recorded["ops"].is_null() && one != two {
        for i in 0..one.len().max(two.len()) {
            let (a, b) = (one.get(i).unwrap_or(&Value::Null), two.get(i).unwrap_or(&Value::Null));
            if a != b {
                writeln!(wrong, "  op {i}: ours {a} theirs {b}").unwrap();
                break;
            }
        }
    }
    wrong
}

/// Texts of statements without what is only a name: of symbolic sizes, and of pointers that are both read and written where they are taken.
fn alike(text: &str) -> String {
    let is_size = |word: &str| word.chars().all(|letter| letter.is_ascii_digit());
    let line = |line: &str| {
        let line = line.replace("wgmma_gemm", "gemm");
        let loops = line.trim_start().strip_prefix("for ").and_then(|rest| rest.split_once(" stages"));
        if let Some((extent, rest)) = loops {
            let indent = &line[..line.len() - line.trim_start().len()];
            return format!("{indent}for {} stages{rest}", if is_size(extent) { extent } else { "…" });
        }
        let mut made = String::new();
        for (i, part) in line.split('[').enumerate() {
            match part.split_once(']') {
                Some((sizes, rest)) if i > 0 => {
                    let sizes: Vec<&str> = sizes.split([',', ' ']).filter(|it| !it.is_empty()).collect();
                    let all_known = sizes.iter().all(|it| is_size(it));
                    made += &format!("[{}]{rest}", if all_known { sizes.join(", ") } else { "…".to_owned() });
                }
                _ => made += part,
            }
        }
        let pointer = made.trim_start().starts_with("tl.ptx_") || made.trim_start().starts_with("tirx.call_extern");
        if pointer { made.split(" (").next().unwrap_or_default().to_owned() } else { made }
    };
    text.lines().map(|it| line(it) + "\n").collect()
}

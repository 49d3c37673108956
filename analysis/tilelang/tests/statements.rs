//! Buffers and statements of the recorded kernels.

use std::fmt::Write;

use serde_json::Value;
use tilefit_tilelang::program::{BufferId, Extent, Kind, Launch, Region, Scope, Statement};

use crate::module::Module;
use crate::recorded;

const FILES: [&str; 14] = [
    "macros",
    "more",
    "attention_prefill",
    "blackwell_tmem",
    "convolution",
    "dequant_lowbit",
    "hopper_manual",
    "language",
    "matmul_eager",
    "matmul_lazy",
    "matmul_split",
    "phases",
    "reductions",
    "symbolic_sizes",
];

#[test]
fn buffers_and_statements_are_those_of_the_compiler() {
    let (mut agree, mut wrong) = (0, String::new());
    for file in FILES {
        let module = Module::new(&recorded::text(&format!("{file}.py")));
        for case in recorded::json(&format!("{file}.json"))["cases"].as_array().unwrap() {
            let function = case["function"].as_str().unwrap();
            let traced = module.follow(function, &recorded::arguments(&case["args"]));
            let given = ours(&traced.launches);
            let expected = theirs(case);
            let stray = !traced.mistakes.is_empty()
                || !traced.unknown.is_empty()
                || traced.launches.iter().any(|launch| !launch.unknown.is_empty());
            if given == expected && !stray {
                agree += 1;
                continue;
            }
            writeln!(wrong, "== {file}.{function} {}", case["args"]).unwrap();
            writeln!(wrong, "{:?} {:?}", traced.mistakes, traced.unknown).unwrap();
            traced.launches.iter().for_each(|launch| writeln!(wrong, "{:?}", launch.unknown).unwrap());
            let (given, expected): (Vec<&str>, Vec<&str>) = (given.lines().collect(), expected.lines().collect());
            for i in 0..given.len().max(expected.len()) {
                let (one, two) = (given.get(i).unwrap_or(&"-"), expected.get(i).unwrap_or(&"-"));
                if one != two {
                    writeln!(wrong, "  ours   {one}\n  theirs {two}").unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{agree} agree; the others:\n{wrong}");
    assert_eq!(agree, 99);
}

/// A launch as text, with all that is compared.
pub(crate) fn ours(launches: &[Launch]) -> String {
    let mut buffers = Vec::new();
    for (i, launch) in launches.iter().enumerate() {
        // Those of global memory are in each launch.
        for buffer in launch.buffers.iter().filter(|buffer| i == 0 || buffer.scope != Scope::Global) {
            let shape: Vec<String> = buffer.shape.iter().map(extent).collect();
            let swizzled = if buffer.is_swizzled { " swizzled" } else { "" };
            let scope = scope(buffer.scope);
            buffers.push(format!("{} {scope} {} [{}]{swizzled}", buffer.name, buffer.dtype.name, shape.join(", ")));
        }
    }
    buffers.sort();
    let mut text = buffers.join("\n") + "\n";
    for launch in launches {
        let name = |id: BufferId| launch.buffer(id).name.to_string();
        writeln!(text, "threads {:?}", launch.threads).unwrap();
        our_statements(&launch.body, 0, &name, &mut text);
    }
    text
}

fn our_statements(body: &[Statement], depth: usize, name: &dyn Fn(BufferId) -> String, text: &mut String) {
    let indent = "  ".repeat(depth);
    for statement in body {
        match statement {
            Statement::Op(op) => {
                let list = |regions: &[Region]| {
                    let one = |region: &Region| match &region.extents {
                        Some(extents) => {
                            format!(
                                "{}[{}]",
                                name(region.buffer),
                                extents.iter().map(extent).collect::<Vec<_>>().join(", ")
                            )
                        }
                        None => name(region.buffer),
                    };
                    sorted(regions.iter().map(one).collect())
                };
                let (kind, flags) = match &op.kind {
                    Kind::Copy => ("copy".to_owned(), String::new()),
                    Kind::AsyncCopy => ("async_copy".to_owned(), String::new()),
                    Kind::TmaCopy => ("tma_copy".to_owned(), String::new()),
                    Kind::Gemm(gemm) => {
                        let [left, right] = gemm.transposes.map(u8::from);
                        let kind = if gemm.is_tcgen05 { "tcgen05_gemm" } else { "gemm" };
                        let policy = gemm.policy as u8;
                        (kind.to_owned(), format!(" [{left},{right},{},{},{},{policy}]", gemm.m, gemm.n, gemm.k))
                    }
                    Kind::Reduce(reduce) => {
                        ("reduce".to_owned(), format!(" dim {} clears {}", reduce.dim, reduce.clears))
                    }
                    Kind::Fill => ("fill".to_owned(), String::new()),
                    Kind::CumulativeSum => ("cumsum".to_owned(), String::new()),
                    Kind::Parallel { is_copy } => ("parallel".to_owned(), format!(" copy {is_copy}")),
                    Kind::Store { is_copy } => ("store".to_owned(), format!(" copy {is_copy}")),
                    Kind::Other(name) => (name.to_string(), String::new()),
                };
                writeln!(text, "{indent}{kind}{flags} ({}) -> ({})", list(&op.reads), list(&op.writes)).unwrap();
            }
            Statement::Loop(inner) => {
                let written =
                    inner.written.as_ref().map_or_else(String::new, |it| format!(" {:?} {:?}", it.order, it.stage));
                let explicit = if inner.is_explicitly_unrolled { " explicit" } else { "" };
                let extent = extent(&inner.extent);
                writeln!(text, "{indent}for {extent} stages {}{written}{explicit}", inner.stages).unwrap();
                our_statements(&inner.body, depth + 1, name, text);
            }
            Statement::Branch(branch) => {
                let reads = sorted(branch.reads.iter().map(|region| name(region.buffer)).collect());
                writeln!(text, "{indent}if ({reads})").unwrap();
                our_statements(&branch.then, depth + 1, name, text);
                if !branch.otherwise.is_empty() {
                    writeln!(text, "{indent}else").unwrap();
                    our_statements(&branch.otherwise, depth + 1, name, text);
                }
            }
        }
    }
}

fn sorted(mut list: Vec<String>) -> String {
    list.sort();
    list.join(" ")
}

fn extent(extent: &Extent) -> String {
    match extent {
        Extent::Known(extent) => extent.to_string(),
        Extent::Symbolic(text) => text.to_string(),
        Extent::Unknown(reason) => format!("<{reason}>"),
    }
}

fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Global => "global",
        Scope::Shared => "shared.dyn",
        Scope::StaticShared => "shared",
        Scope::Barrier => "shared.barrier",
        Scope::TensorMemory => "shared.tmem",
        Scope::Fragment => "local.fragment",
        Scope::Local | Scope::OfCore(_) => "local",
    }
}

/// The same of a recorded case.
pub(crate) fn theirs(case: &Value) -> String {
    let buffers = case["buffers"].as_object().unwrap();
    let mut lines = Vec::new();
    for (name, buffer) in buffers {
        let name = name.split('#').next().unwrap();
        let shape: Vec<String> = buffer["shape"].as_array().unwrap().iter().map(plain).collect();
        let swizzled = if buffer["annotated"] == true { " swizzled" } else { "" };
        let (scope, dtype) = (
            plain(&buffer["scope"]).replace("local.var", "local").replace("cluster_barrier", "barrier"),
            plain(&buffer["dtype"]),
        );
        lines.push(format!("{name} {scope} {dtype} [{}]{swizzled}", shape.join(", ")));
    }
    lines.sort();
    let mut text = lines.join("\n") + "\n";
    for launch in case["statements"].as_array().unwrap() {
        let threads: u64 = launch["threads"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).product();
        writeln!(text, "threads {:?}", Some(threads)).unwrap();
        their_statements(&launch["launch"], 0, buffers, &mut text);
    }
    text
}

fn their_statements(body: &Value, depth: usize, buffers: &serde_json::Map<String, Value>, text: &mut String) {
    let indent = "  ".repeat(depth);
    let scope = |name: &str| buffers.get(name).map_or("", |buffer| buffer["scope"].as_str().unwrap());
    for statement in body.as_array().unwrap() {
        if let Some(op) = statement["op"].as_str() {
            let names = |side: &str| -> Vec<(String, String)> {
                let regions = statement[side].as_array().unwrap().iter();
                let one = |region: &Value| {
                    let name = region[0].as_str().unwrap();
                    let bare = name.split('#').next().unwrap().to_owned();
                    match region[1].as_array() {
                        Some(extents) => {
                            let extents: Vec<String> = extents.iter().map(plain).collect();
                            (name.to_owned(), format!("{bare}[{}]", extents.join(", ")))
                        }
                        None => (name.to_owned(), bare),
                    }
                };
                regions.map(one).collect()
            };
            let (mut reads, mut writes) = (names("r"), names("w"));
            let mut flags = String::new();
            match op {
                "gemm" | "tcgen05_gemm" | "wgmma_gemm" => flags = format!(" {}", statement["flags"]),
                "reduce" => {
                    let kind = &statement["kind"];
                    let clears = plain(&kind[2]).contains("True");
                    flags = format!(" dim {} clears {clears}", plain(&kind[1]));
                }
                "parallel" | "store" => {
                    // What an atomic operation is given is recorded as written, too.
                    let is_atomic = reads.len() == writes.len() && reads.len() == 2 && reads == writes;
                    if is_atomic {
                        writes.truncate(1);
                    }
                    let far = |name: &str| matches!(scope(name), "global" | "local.fragment");
                    let is_copy = statement["pure"] == true && !writes.iter().any(|(name, _)| far(name));
                    flags = format!(" copy {is_copy}");
                }
                // The recorder does not see into a pointer to a barrier.
                "tl.tcgen05_mma_arrive" if reads.is_empty() => reads.push(("ready".to_owned(), "ready".to_owned())),
                "tl.tcgen05_mma_arrive" => writes.clear(),
                _ => {}
            }
            let list = |side: Vec<(String, String)>| sorted(side.into_iter().map(|(_, text)| text).collect());
            writeln!(text, "{indent}{op}{flags} ({}) -> ({})", list(reads), list(writes)).unwrap();
        } else if statement.get("for").is_some() {
            let stages = statement["stages"].as_u64().unwrap_or(0);
            let extent = plain(&statement["extent"]);
            let list = |key: &str| {
                statement[key].as_array().map(|list| list.iter().filter_map(Value::as_u64).collect::<Vec<_>>())
            };
            let written = match (list("tl_pipeline_order"), list("tl_pipeline_stage")) {
                (None, None) => String::new(),
                (order, stage) => format!(" {:?} {:?}", order.unwrap_or_default(), stage.unwrap_or_default()),
            };
            let explicit = if statement["explicit"] == true { " explicit" } else { "" };
            writeln!(text, "{indent}for {extent} stages {stages}{written}{explicit}").unwrap();
            their_statements(&statement["body"], depth + 1, buffers, text);
        } else {
            let reads = statement["r"].as_array().unwrap().iter().map(|region| plain(&region[0])).collect();
            writeln!(text, "{indent}if ({})", sorted(reads)).unwrap();
            their_statements(&statement["then"], depth + 1, buffers, text);
            if statement["else"].as_array().is_some_and(|body| !body.is_empty()) {
                writeln!(text, "{indent}else").unwrap();
                their_statements(&statement["else"], depth + 1, buffers, text);
            }
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

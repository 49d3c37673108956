//! The cases that one kernel can express, written as that kernel.

use std::fmt::Write as _;

use serde_json::Value;
use tilefit_analysis::Fixture;

use super::cases;

/// Cases that source can express.
const EXPRESSIBLE: usize = 55;

fn dtype(short: &str) -> Option<&'static str> {
    Some(match short {
        "f64" => "float64",
        "f32" => "float32",
        "f16" => "float16",
        "bf16" => "bfloat16",
        "i64" => "int64",
        "i32" => "int32",
        "i16" => "int16",
        "i8" => "int8",
        "u8" => "uint8",
        "f8" | "fp8" | "f8e4nv" => "float8e4nv",
        "f8e5" => "float8e5",
        _ => return None,
    })
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn is_expressible(case: &Value) -> bool {
    let has_answer = case.get("derived").is_some() || case["expect"].get("error").is_some();
    let by_source = |alloc: &Value| {
        let encoding = &alloc["tmem_encoding"];
        alloc["num"].as_u64().is_some_and(|num| num > 0)
            && alloc["dtype"].as_str().and_then(dtype).is_some()
            && matches!(encoding["kind"].as_str(), None | Some("tm"))
            && matches!(encoding["mode"].as_str(), None | Some("DEFAULT"))
            && matches!(encoding["colStride"].as_u64(), None | Some(1))
    };
    has_answer
        && !list(&case["specs"]).is_empty()
        && case["kind"] != "pytest-api"
        && list(&case["allocs"]).iter().all(by_source)
}

fn tree(node: &Value) -> String {
    if let Some(name) = node.as_str() {
        return name.to_owned();
    }
    let elements: Vec<_> = list(&node["elems"]).iter().map(tree).collect();
    let size = match node["group_size"].as_u64() {
        None | Some(1) => String::new(),
        Some(size) => format!(", group_size={size}"),
    };
    let kind = node["group"].as_str().expect("a kind");
    format!("tlx.reuse_group({}, group_type=tlx.reuse_group_type.{kind}{size})", elements.join(", "))
}

/// The case as a kernel.
fn source(case: &Value) -> String {
    let mut text = "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n\n\n@triton.jit\ndef kernel(out_ptr):\n".to_owned();
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    for spec in list(&case["specs"]) {
        let size = spec["size"].as_u64().map_or(String::new(), |size| format!(", buffer_size_bytes={size}"));
        let storage = spec["storage"].as_str().expect("a storage");
        let _ = writeln!(text, "    {} = tlx.storage_alias_spec(storage=tlx.storage_kind.{storage}{size})", name(spec));
    }
    let storage_of = |spec: &Value| {
        let found = list(&case["specs"]).iter().find(|candidate| candidate["name"] == *spec);
        found.and_then(|spec| spec["storage"].as_str()).unwrap_or("smem").to_owned()
    };
    for alloc in list(&case["allocs"]) {
        let extents: Vec<_> = list(&alloc["shape"]).iter().map(Value::to_string).collect();
        let comma = if extents.len() == 1 { "," } else { "" };
        let reuse = alloc["spec"].as_str().map_or(String::new(), |spec| format!(", reuse={spec}"));
        let _ = writeln!(
            text,
            "    {} = tlx.local_alloc(({}{comma}), tl.{}, {}, tlx.storage_kind.{}{reuse})",
            name(alloc),
            extents.join(", "),
            alloc["dtype"].as_str().and_then(dtype).expect("an element type"),
            alloc["num"],
            storage_of(&alloc["spec"]),
        );
    }
    let overlap = case["overlap"].as_object().expect("overlaps");
    let mut calls: Vec<(String, &Value)> = overlap.iter().map(|(spec, tree)| (spec.clone(), tree)).collect();
    calls.extend(list(&case["overlap_calls"]).iter().map(|tree| (name(&case["specs"][0]), tree)));
    for (spec, definition) in calls {
        let _ = writeln!(text, "    {spec}.set_buffer_overlap({})", tree(definition));
    }
    for alloc in list(&case["allocs"]) {
        let _ = writeln!(text, "    view_{0} = {0}[0]", name(alloc));
    }
    text
}

/// The plan of the kernel, as `tilefit plan --format json` prints it.
fn plan(text: &str) -> Value {
    serde_json::to_value(Fixture::new(text).plans()).expect("plans are JSON")
}

fn wanted_message(case: &Value) -> Option<String> {
    let expected = case["expect"]["error"].as_str();
    let derived = case["derived"].as_object().into_iter().flatten().find_map(|(_, spec)| spec["error"].as_str());
    expected.or(derived).map(|message| message.replace("WARN ", ""))
}

/// Where the plan differs from the answer.
fn difference(case: &Value, plan: &Value) -> Option<String> {
    let kernels = list(plan);
    if let Some(wanted) = wanted_message(case) {
        let said = kernels.iter().flat_map(|kernel| list(&kernel["diagnostics"]));
        let mut said =
            said.filter(|diagnostic| diagnostic["severity"] == "error" || diagnostic["severity"] == "warning");
        let is_said =
            said.any(|diagnostic| diagnostic["message"].as_str().is_some_and(|message| message.contains(&wanted)));
        return (!is_said).then(|| format!("nothing says `{wanted}`"));
    }
    let specs: Vec<&Value> = kernels.iter().flat_map(|kernel| list(&kernel["specs"])).collect();
    for (name, want) in case["derived"].as_object()? {
        let Some(have) = specs.iter().find(|spec| spec["name"] == name.as_str()) else {
            return Some(format!("there is no spec `{name}`"));
        };
        let mut pairs = vec![
            (format!("{name}.size"), &want["step1_total_bytes"], &have["size"]),
            (format!("{name}.extent"), &want["physical_extent"], &have["extent"]),
        ];
        for (name, want) in want["allocs"].as_object()? {
            let Some(have) = list(&have["allocations"]).iter().find(|alloc| alloc["name"] == name.as_str()) else {
                return Some(format!("there is no allocation `{name}`"));
            };
            let mut compare = |key: &str, want| pairs.push((format!("{name}.{key}"), want, &have[key]));
            compare("unit_size", &want["unit"]);
            compare("new_num", &want["final_shape"][0]);
            compare("ranges", &want["ranges"]);
            if want.get("offset").is_some() {
                compare("offset", &want["offset"]);
                compare("stride", &want["between"]);
                compare("scale", &want["scale"]);
                compare("offset_slots", &want["offset_slots"]);
            }
        }
        if let Some((what, want, have)) = pairs.into_iter().find(|(_, want, have)| !want.is_null() && want != have) {
            return Some(format!("{what}: wants {want}, has {have}"));
        }
    }
    None
}

#[test]
fn every_expressible_case_has_the_recorded_answer() {
    let cases: Vec<_> = cases().into_iter().filter(is_expressible).collect();
    assert_eq!(cases.len(), EXPRESSIBLE);
    let differences: Vec<_> = cases
        .iter()
        .filter_map(|case| {
            let text = source(case);
            Some(format!("{}: {}\n{text}", case["id"], difference(case, &plan(&text))?))
        })
        .collect();
    assert!(differences.is_empty(), "{} cases differ:\n{}", differences.len(), differences.join("\n"));
}

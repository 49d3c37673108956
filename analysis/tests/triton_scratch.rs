//! What follows from register layouts beside what the compiler answered (`tests/conformance/triton`: `scratch.json`, `layouts.json`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use tilefit_gpu::device::Compiler;
use tilefit_gpu::layouts::{
    Hardware, Layout, Vendor, atomic_bytes, conversion_bytes, gather_between_bytes, histogram_bytes, inference,
    reduction_bytes, scan_bytes, tensor_memory_register_layout,
};

fn number(value: &Value) -> u32 {
    value.as_u64().unwrap_or_else(|| panic!("a number: {value}")) as u32
}

fn numbers(value: &Value) -> Vec<u32> {
    value.as_array().unwrap_or_else(|| panic!("numbers: {value}")).iter().map(number).collect()
}

fn bases(value: &Value) -> Vec<Vec<u32>> {
    value.as_array().unwrap_or_else(|| panic!("bases: {value}")).iter().map(numbers).collect()
}

/// `{"blocked": [size_per_thread, threads_per_warp, warps_per_cta, order]}` and so on, fields in their order.
fn layout(value: &Value) -> Layout {
    let (kind, fields) = value.as_object().and_then(|object| object.iter().next()).expect("a layout");
    match kind.as_str() {
        "blocked" => Layout::Blocked {
            size_per_thread: numbers(&fields[0]),
            threads_per_warp: numbers(&fields[1]),
            warps_per_cta: numbers(&fields[2]),
            order: numbers(&fields[3]),
        },
        "slice" => Layout::Slice { dim: number(&fields[0]), parent: Arc::new(layout(&fields[1])) },
        "linear" => Layout::Linear { register: bases(&fields[0]), lane: bases(&fields[1]), warp: bases(&fields[2]) },
        "mma" => Layout::Mma {
            version: (number(&fields[0]), 0),
            warps_per_cta: numbers(&fields[1]),
            instr_shape: numbers(&fields[2]),
        },
        "operand" => Layout::DotOperand {
            operand: number(&fields[0]),
            parent: Arc::new(layout(&fields[1])),
            k_width: number(&fields[2]),
        },
        "mfma" => Layout::Mfma {
            version: number(&fields[0]),
            instr_shape: numbers(&fields[1]),
            transposed: fields[2].as_bool().expect("a flag"),
            warps_per_cta: numbers(&fields[3]),
            tiles_per_warp: numbers(&fields[4]),
            element_bits: number(&fields[5]),
        },
        kind => panic!("a layout `{kind}`"),
    }
}

fn hardware(entry: &Value) -> Hardware {
    let target = entry["target"].as_str().expect("a target");
    let (vendor, capability) = match target.strip_prefix("cuda:") {
        Some(rest) => (Vendor::Nvidia, rest),
        None => (Vendor::Amd, target.trim_start_matches("hip:gfx")),
    };
    let compiler = if entry["compiler"] == "3.8" { Compiler::V3_8 } else { Compiler::V3_9 };
    Hardware { vendor, capability: capability.parse().expect("a capability"), compiler }
}

fn computed(entry: &Value) -> Result<u64, String> {
    let hardware = hardware(entry);
    let shape = |key: &str| numbers(&entry[key]);
    let axis = || number(&entry["axis"]) as usize;
    let bits = || number(&entry["bits"]);
    let element_bits = || numbers(&entry["element_bits"]);
    let layout = |key: &str| layout(&entry[key]);
    let bytes = match op(entry) {
        "convert" => conversion_bytes(&shape("shape"), bits(), &layout("from"), &layout("to"), &hardware),
        "reduce" => reduction_bytes(&shape("shape"), axis(), &element_bits(), &layout("layout"), &hardware),
        "scan" => scan_bytes(&shape("shape"), axis(), &element_bits(), &layout("layout"), &hardware),
        "gather" => {
            let (source, index) = (layout("from"), layout("layout"));
            gather_between_bytes((&shape("source"), &source), (&shape("index"), &index), axis(), bits(), &hardware)
        }
        "histogram" => Ok(histogram_bytes(number(&entry["bins"]), bits(), number(&entry["warps"]), &hardware)),
        "atomic" => atomic_bytes(&shape("shape"), bits(), &layout("layout"), &hardware),
        op => panic!("an operation `{op}`"),
    };
    bytes.map_err(|reason| reason.to_string())
}

fn entries(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/triton").join(file);
    serde_json::from_str(&std::fs::read_to_string(path).expect("the answers")).expect("JSON")
}

fn op(entry: &Value) -> &str {
    entry["op"].as_str().expect("an operation")
}

/// How many answers there are of each operation.
fn counts(entries: &[Value]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    entries.iter().for_each(|entry| *counts.entry(op(entry)).or_default() += 1);
    counts
}

#[test]
fn scratch_takes_the_bytes_that_the_compiler_says() {
    let entries = entries("scratch.json");
    for entry in &entries {
        assert_eq!(computed(entry), Ok(entry["bytes"].as_u64().expect("bytes")), "{entry}");
    }
    let expected = [("atomic", 40), ("convert", 220), ("gather", 30), ("histogram", 12), ("reduce", 115), ("scan", 30)];
    assert_eq!(counts(&entries), BTreeMap::from(expected));
}

fn inferred(entry: &Value) -> Result<Layout, String> {
    let shape = numbers(&entry["shape"]);
    let layout = || layout(&entry["layout"]);
    let hardware = || hardware(entry);
    let inferred = match op(entry) {
        "linear" => layout().linear(&shape, &hardware()).map(Layout::from),
        "reshape" => inference::reshape(&shape, &layout(), &numbers(&entry["new"]), &hardware()),
        "transpose" => {
            let order: Vec<usize> = numbers(&entry["order"]).into_iter().map(|dim| dim as usize).collect();
            inference::transpose(&shape, &layout(), &order, &hardware())
        }
        "join" => inference::join(&shape, &layout(), &hardware()),
        "split" => inference::split(&shape, &layout(), &hardware()),
        "tensor memory" => tensor_memory_register_layout(
            &shape,
            [number(&entry["block"][0]), number(&entry["block"][1])],
            number(&entry["col_stride"]),
            number(&entry["bits"]),
            number(&entry["warps"]),
            entry["variant"].as_str().expect("a variant"),
            false,
        ),
        op => panic!("an operation `{op}`"),
    };
    inferred.map_err(|reason| reason.to_string())
}

#[test]
fn layouts_are_inferred_as_the_compiler_infers_them() {
    let entries = entries("layouts.json");
    for entry in &entries {
        assert_eq!(inferred(entry), Ok(layout(&entry["result"])), "{entry}");
    }
    let expected =
        [("join", 15), ("linear", 25), ("reshape", 40), ("split", 15), ("tensor memory", 50), ("transpose", 15)];
    assert_eq!(counts(&entries), BTreeMap::from(expected));
}

/// Also numbers that no layout has.
fn any_numbers() -> impl Strategy<Value = Vec<u32>> {
    let number =
        prop_oneof![6 => (0..6_u32).prop_map(|bit| 1 << bit), 1 => Just(0), 1 => Just(1 << 31), 1 => any::<u32>()];
    vec(number, 0..4)
}

fn any_layout() -> impl Strategy<Value = Layout> {
    let blocked = (any_numbers(), any_numbers(), any_numbers(), vec(0..3_u32, 0..4)).prop_map(
        |(size_per_thread, threads_per_warp, warps_per_cta, order)| Layout::Blocked {
            size_per_thread,
            threads_per_warp,
            warps_per_cta,
            order,
        },
    );
    let bases = || vec(any_numbers(), 0..6);
    let linear = (bases(), bases(), bases()).prop_map(|(register, lane, warp)| Layout::Linear { register, lane, warp });
    let mma = (0..4_u32, any_numbers(), any_numbers()).prop_map(|(version, warps_per_cta, instr_shape)| Layout::Mma {
        version: (version, 0),
        warps_per_cta,
        instr_shape,
    });
    let outermost = prop_oneof![blocked, linear, mma];
    outermost.prop_recursive(4, 8, 1, |parent| {
        let slice =
            (0..4_u32, parent.clone()).prop_map(|(dim, parent)| Layout::Slice { dim, parent: Arc::new(parent) });
        let operand = (0..3_u32, parent, any::<u32>()).prop_map(|(operand, parent, k_width)| Layout::DotOperand {
            operand,
            parent: Arc::new(parent),
            k_width,
        });
        prop_oneof![slice, operand]
    })
}

proptest! {
    #[test]
    fn no_layout_is_too_odd(shape in any_numbers(), other in any_numbers(), one in any_layout(), two in any_layout(), bits in 0..70_u32, axis in 0..4_usize) {
        let hardware = Hardware { vendor: Vendor::Nvidia, capability: 90, compiler: Compiler::V3_9 };
        let _ = conversion_bytes(&shape, bits, &one, &two, &hardware);
        let _ = reduction_bytes(&shape, axis, &[bits, 32], &one, &hardware);
        let _ = scan_bytes(&shape, axis, &[bits], &one, &hardware);
        let _ = gather_between_bytes((&shape, &one), (&other, &two), axis, bits, &hardware);
        let _ = atomic_bytes(&shape, bits, &one, &hardware);
        let _ = inference::reshape(&shape, &one, &other, &hardware);
        let _ = inference::join(&shape, &one, &hardware);
        let _ = inference::split(&shape, &one, &hardware);
    }
}

//! The other cases: tests of the Python interface, IR without a kernel, encodings that no source gives. Each in the form that shows it: what
//! is said of a kernel, its MLIR, its hover, or the stages themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use tilefit_analysis::Fixture;
use tilefit_analysis::ide::{Diagnostic, KernelPlan};
use tilefit_gpu::device::Compiler;
use tilefit_gpu::layouts::{Hardware, Vendor};
use tilefit_gpu::tlx::kernel::{GroupId, Pair};
use tilefit_gpu::tlx::language::{self, Dtype, Storage};
use tilefit_gpu::tlx::rewriting::Rewriting;
use tilefit_gpu::tlx::sizes::Sized;
use tilefit_gpu::tlx::spec_size::spec_size;
use tilefit_gpu::tlx::tree::Tree;
use tilefit_gpu::tlx::{BufferId, Rules, offsets};
use tilefit_gpu::trace::{Definition, Dialect, Environment, Home, Launch, trace};
use tilefit_python::diagnostics::Severity;
use tilefit_python::eval::Constant;
use tilefit_python::eval::Imports;
use tilefit_syntax::Document;

use super::cases;
use super::from_source::{is_expressible, list};

const OTHERS: usize = 48;

struct Kernel(Fixture);

/// A kernel with that body.
fn kernel(body: &str) -> Kernel {
    let lines: String = body.lines().map(|line| format!("    {line}\n")).collect();
    Kernel(Fixture::new(&format!(
        "
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx

# tilefit: arch=sm_100 num_warps=4
@triton.jit
def kernel():
{lines}"
    )))
}

impl Kernel {
    /// The steps of the compiler, in order.
    fn mlir(&self) -> Vec<String> {
        let all = self.0.lowered_ir();
        all[0].text.split("// -----// IR after").skip(1).map(str::to_owned).collect()
    }

    fn plan(&self) -> KernelPlan {
        self.0.plans().remove(0)
    }

    fn errors(&self) -> Vec<Diagnostic> {
        let mut all = self.0.diagnostics();
        all.retain(|diagnostic| diagnostic.severity == Severity::Error);
        all
    }

    fn says(&self, message: &str) -> bool {
        let all = self.0.diagnostics();
        all.iter().any(|diagnostic| diagnostic.message.contains(message))
    }

    fn hover(&self, name: &str) -> String {
        self.0.hover(self.0.find(&format!("{name} ="))).expect("something is known").markdown
    }
}

fn spec(storage: &str, size: Option<u64>) -> Kernel {
    let size = size.map_or(String::new(), |size| format!(", buffer_size_bytes={size}"));
    kernel(&format!("S = tlx.storage_alias_spec(storage=tlx.storage_kind.{storage}{size})"))
}

/// The type of the spec in the MLIR of the front end.
fn spec_type(kernel: &Kernel) -> String {
    let text = kernel.mlir().remove(0);
    let line = text.lines().find(|line| line.contains("tlx.storage_alias_spec storage")).expect("the spec");
    line.rsplit_once(" : ").expect("a type").1.to_owned()
}

/// `storage` and `size` of an answer, read back from the type.
fn has_type(case: &Value, kernel: &Kernel) {
    let storage = case["expect"]["storage"].as_str().expect("a storage");
    let size = case["expect"]["size"].as_u64().map_or(String::new(), |size| format!(", {size}"));
    assert_eq!(spec_type(kernel), format!("!tlx.storage_alias_spec<{storage}{size}>"));
}

/// Buffers in one spec under that definition, without any error.
fn accepted(names: &[&str], definition: &str) -> Kernel {
    let mut body = "spec = tlx.storage_alias_spec()\n".to_owned();
    for name in names {
        body += &format!("{name} = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)\n");
    }
    let definition = definition.replace("shared", "group_type=tlx.reuse_group_type.shared");
    let definition = definition
        .replace("distinct", "group_type=tlx.reuse_group_type.distinct")
        .replace("group(", "tlx.reuse_group(");
    body += &format!("spec.set_buffer_overlap({definition})\nviews = {}[0]\n", names.join("[0], "));
    let kernel = kernel(&body);
    assert_eq!(kernel.errors(), [], "{}", kernel.0.text);
    assert_eq!(kernel.plan().status, "exact");
    kernel
}

/// A pointer type takes 8 bytes.
fn pointers(case: &Value) {
    let alloc = &case["allocs"][0];
    let shape: Vec<String> = list(&alloc["shape"]).iter().map(Value::to_string).collect();
    let kernel = kernel(&format!(
        "
S = tlx.storage_alias_spec()
a = tlx.local_alloc(({}), tl.pointer_type(tl.float32), {}, reuse=S)
view = a[0]",
        shape.join(", "),
        alloc["num"]
    ));
    assert_eq!(kernel.errors(), []);
    let derived = &case["derived"]["S"];
    let spec = serde_json::to_value(&kernel.plan().specs[0]).expect("a spec is JSON");
    assert_eq!(spec["size"], derived["step1_total_bytes"]);
    assert_eq!(spec["extent"], derived["physical_extent"]);
    assert_eq!(spec["allocations"][0]["unit_size"], derived["allocs"]["a"]["unit"]);
    assert_eq!(spec["allocations"][0]["ranges"], derived["allocs"]["a"]["ranges"]);
    assert!(kernel.mlir()[0].contains("x!tt.ptr<f32>, "));
}

/// The IR of the case has no dimension for the number of buffers. The front end always has one; the backing is the same.
fn backing_in_tensor_memory(case: &Value) {
    let size = case["specs"][0]["size"].as_u64().map_or(String::new(), |size| format!(", buffer_size_bytes={size}"));
    let kernel = kernel(&format!(
        "
S = tlx.storage_alias_spec(tlx.storage_kind.tmem{size})
a = tlx.local_alloc((128, 64), tl.float16, 1, tlx.storage_kind.tmem, reuse=S)
view = a[0]"
    ));
    let steps = kernel.mlir();
    let shape: Vec<String> = list(&case["expect"]["buffer_shape"]["S"]).iter().map(Value::to_string).collect();
    assert!(steps[1].contains(&format!("buffer_shape = array<i64: {}>", shape.join(", "))), "{}", steps[1]);
    let backing = case["expect"]["backing"]["S"].as_str().expect("a type");
    assert!(steps[3].contains(&format!("ttng.tmem_alloc : () -> !ttg.memdesc<{backing}, ")), "{}", steps[3]);
    assert_eq!(kernel.plan().specs[0].size, case["derived"]["S"]["step1_total_bytes"].as_u64());
}

/// Four-byte elements in the placeholder layout, which the front end gives to 8-bit integers only: through the stages themselves.
fn placeholders(case: &Value) {
    let mut names: Vec<&str> = Vec::new();
    let mut users = Vec::new();
    for (id, alloc) in list(&case["allocs"]).iter().enumerate() {
        names.push(alloc["name"].as_str().expect("a name"));
        let shape: Vec<u64> = list(&alloc["shape"]).iter().filter_map(Value::as_u64).collect();
        let dtype = alloc["dtype"].as_str().and_then(Dtype::from_name).expect("an element type");
        let unit = shape[0].div_ceil(32) * shape[1].div_ceil(4);
        let num = alloc["num"].as_u64().expect("a number");
        let sized = Sized { storage: Storage::Tmem, shape, dtype, num, pair: Pair::None, unit };
        users.push((BufferId(id as u32), sized));
    }
    // The tree of the case is read from a kernel with the same names.
    let body: String = names
        .iter()
        .map(|name| format!("    {name} = tlx.local_alloc((32, 8), tl.uint8, 4, tlx.storage_kind.tmem, reuse=S)\n"))
        .collect();
    let text = format!(
        "
def kernel():
    S = tlx.storage_alias_spec(tlx.storage_kind.tmem)
{body}    S.set_buffer_overlap(tlx.reuse_group(tlx.reuse_group(A, tlx.reuse_group(B, C, group_type=tlx.reuse_group_type.distinct)), D, group_type=tlx.reuse_group_type.distinct))
"
    );
    let read = read(&text);
    let root = GroupId(read.groups.len() as u32 - 1);
    let tree = Tree::of(&read, root, &users, Storage::Tmem, Rules::Compiler).expect("everything is known");
    let derived = &case["derived"]["S"];
    let stride = offsets::stride(&tree);
    assert_eq!(derived["between"], stride);
    let sized: Vec<&Sized> = users.iter().map(|(_, sized)| sized).collect();
    let size = spec_size(&sized, Some(&tree), None, Storage::Tmem, Rules::Compiler);
    assert_eq!(derived["step1_total_bytes"], size.bytes);
    assert_eq!(derived["buffer_shape"], serde_json::json!(size.shape));
    let mut extent = size.units();
    for placement in offsets::place(&tree, stride).expect("there is space") {
        let (index, (_, sized)) = (placement.buffer.0 as usize, &users[placement.buffer.0 as usize]);
        let want = &derived["allocs"][names[index]];
        let rewriting = Rewriting::of(&placement, sized.unit, sized.num, Rules::Compiler).expect("it divides");
        assert_eq!(want["unit"], sized.unit);
        assert_eq!(want["offset"], placement.offset);
        assert_eq!(want["scale"], rewriting.scale);
        assert_eq!(want["offset_slots"], rewriting.offset_slots);
        assert_eq!(want["final_shape"][0], rewriting.new_num);
        let range = |at: u64| [rewriting.slot(at) * sized.unit, rewriting.slot(at) * sized.unit + sized.unit];
        assert_eq!(want["ranges"], serde_json::json!((0..sized.num).map(range).collect::<Vec<_>>()));
        extent = extent.max(rewriting.new_num * sized.unit);
    }
    assert_eq!(derived["physical_extent"], extent);
}

/// What a kernel says of its memory.
fn read(text: &str) -> tilefit_gpu::tlx::Kernel {
    let ast = Arc::new(tilefit_syntax::ast::parse(&Document::new(text).blocks()[0].source).0);
    let launch = Launch {
        hardware: Hardware { vendor: Vendor::Nvidia, capability: 100, compiler: Compiler::V3_8 },
        warps: 4,
        ctas: 1,
        arguments: BTreeMap::new(),
        dialect: Dialect::Tlx,
        is_compiler_told: false,
        kernel: tilefit_gpu::tlx::Kernel::empty(&ast).expect("a function"),
        merges_specs: None,
        divisible: None,
        open_loops: Vec::new(),
    };
    let mut imports = Imports::default();
    imports.bind("tl", "triton.language".to_owned());
    imports.bind("tlx", "triton.language.extra.tlx".to_owned());
    trace(&ast, &Names(imports), &launch).kernel
}

/// The names of Triton, and no others.
struct Names(Imports);

impl Environment for Names {
    fn constant(&self, _: Home, _: &str) -> Option<Constant> {
        None
    }

    fn definition(&self, _: Home, _: &str) -> Option<Definition> {
        None
    }

    fn member(&self, _: Home, _: &str, _: &str) -> Option<Definition> {
        None
    }

    fn canonical(&self, _: Home, path: &[&str]) -> Option<String> {
        language::canonical(&self.0, path)
    }
}

/// The older form: which type of an alias class is allocated in the end.
fn largest_alias(case: &Value) {
    let kernel = kernel(
        "
s = tlx.local_alloc((64, 16), tl.float16, 1)
t = tlx.local_alloc((32, 32), tl.float16, 1, reuse=s)
u = tlx.local_alloc((64, 32), tl.float16, 1, tlx.storage_kind.tmem)
v = tlx.local_alloc((64, 32), tl.float32, 1, tlx.storage_kind.tmem, reuse=u)
bars = tlx.alloc_barriers(3)
views = s[0], t[0], u[0], v[0], bars[0]",
    );
    let last = kernel.mlir().pop().expect("a step");
    for legacy in list(&case["expect"]["legacy"]) {
        let wanted = legacy["final_alloc"].as_str().expect("a type");
        assert!(
            last.lines().any(|line| line.contains("_alloc : () -> ") && line.contains(&format!("memdesc<{wanted},"))),
            "{last}"
        );
    }
    assert!(last.contains("%bars = ttg.local_alloc : () -> !ttg.memdesc<3xi64, "), "{last}");
    assert_eq!(last.matches("_alloc : () -> ").count(), 3, "{last}");
}

/// Padding is in layouts, which the total counts: 65536 bytes, and 16 after each row but the last.
fn padded(case: &Value) {
    assert!(case["expect"].is_object());
    let kernel = kernel(
        "
make: tl.constexpr = tlx.padded_shared_layout_encoding.with_identity_for([[128, 8]], [256, 128])
a = tlx.local_alloc((256, 128), tl.bfloat16, 1, layout=make)
b = tlx.local_alloc((256, 16), tl.bfloat16, 2, layout=make, reuse=a)
tlx.local_store(a[0], tlx.local_load(a[0]))
tlx.local_store(b[0], tlx.local_load(b[0]))",
    );
    assert_eq!(kernel.errors(), []);
    let plan = kernel.plan();
    assert_eq!(plan.reasons, [] as [&str; 0]);
    assert_eq!(plan.spaces["smem"].used, Some(69616));
}

#[test]
fn every_other_case_is_shown() {
    let others: Vec<_> = cases().into_iter().filter(|case| !is_expressible(case)).collect();
    assert_eq!(others.len(), OTHERS);
    for case in &others {
        let id = case["id"].as_str().expect("an id");
        println!("{id}");
        let name = id.strip_prefix("py-test_").unwrap_or(id);
        match name {
            "sas-smem-unsized" | "sas-tmem-unsized" | "sas-smem-sized" | "sas-tmem-sized" => {
                let of = &case["specs"][0];
                let kernel = spec(of["storage"].as_str().expect("a storage"), of["size"].as_u64());
                assert_eq!(spec_type(&kernel), case["expect"]["prints"]);
                if let Some(warning) = case["expect"]["warning_if_lowered"].as_str() {
                    assert!(kernel.says(warning));
                }
            }
            "sas-multiple" => {
                let kernel = kernel(
                    "
S0 = tlx.storage_alias_spec()
S1 = tlx.storage_alias_spec(tlx.storage_kind.tmem, buffer_size_bytes=8192)",
                );
                let text = kernel.mlir().remove(0);
                for printed in list(&case["expect"]["prints"]) {
                    assert!(text.contains(printed.as_str().expect("a type")), "{text}");
                }
            }
            "sas-alloc-ptr" | "alloc-alloc_pointer_buffer" => pointers(case),
            "alloc-tmem-f16" | "alloc-tmem-explicit" => backing_in_tensor_memory(case),
            "align-tmem" => placeholders(case),
            "rla-fa" => largest_alias(case),
            "rla-padded-multi" | "rla-padded-span" => padded(case),
            "py-kind-values" => {
                for kind in list(&case["expect"]["values"]) {
                    let kind = kind.as_str().expect("a kind");
                    let kernel = kernel(&format!(
                        "a = tlx.local_alloc((128, 64), tl.float32, 1, tlx.storage_kind.{kind})\nview = a[0]"
                    ));
                    assert_eq!(kernel.errors().is_empty(), kind != "smemCluster", "{kind}");
                }
            }
            "type_smem_unsized" | "type_smem_sized" => has_type(case, &spec("smem", case["expect"]["size"].as_u64())),
            "type_tmem_unsized" | "type_tmem_sized" => has_type(case, &spec("tmem", case["expect"]["size"].as_u64())),
            "class_smem_unsized" => has_type(case, &spec("smem", None)),
            "class_tmem_sized" => has_type(case, &spec("tmem", Some(32768))),
            "class_type_attribute" => has_type(case, &spec("smem", Some(4096))),
            "type_equality_same" => {
                assert_eq!(spec_type(&spec("smem", Some(16384))), spec_type(&spec("smem", Some(16384))))
            }
            "type_equality_different_storage" => {
                assert_ne!(spec_type(&spec("smem", None)), spec_type(&spec("tmem", None)))
            }
            "type_equality_different_size" => {
                assert_ne!(spec_type(&spec("smem", Some(16384))), spec_type(&spec("smem", Some(32768))));
            }
            "type_equality_sized_vs_unsized" => {
                assert_ne!(spec_type(&spec("smem", None)), spec_type(&spec("smem", Some(16384))))
            }
            "type_repr_unsized"
            | "type_repr_sized"
            | "class_repr_unsized"
            | "class_repr_sized"
            | "type_mangle_unsized"
            | "type_mangle_sized" => {
                let wanted = list(&case["expect"]["contains"]);
                let storage = if wanted.iter().any(|word| word == "tmem") { "tmem" } else { "smem" };
                let size = wanted.iter().find_map(|word| word.as_str()?.parse().ok());
                let kernel = spec(storage, size);
                let shown = if name.starts_with("class") { kernel.hover("S") } else { spec_type(&kernel) };
                for word in wanted {
                    assert!(shown.contains(word.as_str().expect("a word")), "{shown} lacks {word}");
                }
                for word in list(&case["expect"]["lacks"]) {
                    assert!(!shown.contains(word.as_str().expect("a word")), "{shown} has {word}");
                }
            }
            "class_rejects_smem_cluster" => {
                let kernel = spec("smemCluster", None);
                let wanted = case["expect"]["error"].as_str().expect("a message");
                assert!(kernel.errors().iter().any(|error| error.message.contains(wanted)));
            }
            "class_immutability_storage" | "class_immutability_buffer_size" => {
                let attribute = if name.ends_with("storage") { "storage" } else { "buffer_size_bytes" };
                let kernel = kernel(&format!("S = tlx.storage_alias_spec()\nS.{attribute} = None"));
                let wanted = case["expect"]["error_type"].as_str().expect("a type");
                assert!(kernel.errors().iter().any(|error| error.message.starts_with(wanted)));
            }
            "local_alloc_reuse_type_check_buffered_tensor" => {
                let kernel = kernel(
                    "
a = tlx.local_alloc((64, 64), tl.float32, 1)
b = tlx.local_alloc((64, 64), tl.float32, 1, reuse=a)
view = b[0]",
                );
                assert_eq!(kernel.errors(), []);
            }
            "local_alloc_reuse_type_check_storage_alias_spec" | "reuse_storage_mismatch_error_message" => {
                let kernel = kernel(
                    "
S = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=S)
view = a[0]",
                );
                assert_eq!(kernel.errors(), []);
                assert!(kernel.hover("S").contains("storage_alias_spec in smem"));
            }
            "reuse_group_type_values" => {
                for kind in list(&case["expect"]["values"]) {
                    let kind = kind.as_str().expect("a kind");
                    let text = accepted(&["a", "b"], &format!("group(a, b, {kind})")).mlir().remove(0);
                    assert!(text.contains(&format!("group_kind = {kind} : ")), "{text}");
                }
            }
            "reuse_group_type_enum_members" => {
                let is_known = |kind: &str| {
                    let body = format!(
                        "
S = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=S)
S.set_buffer_overlap(tlx.reuse_group(a, group_type=tlx.reuse_group_type.{kind}))
view = a[0]"
                    );
                    kernel(&body).plan().status == "exact"
                };
                let known = ["shared", "distinct", "other", "none"].into_iter().filter(|kind| is_known(kind)).count();
                assert_eq!(case["expect"]["count"], known);
            }
            "reuse_group_basic_shared" => drop(accepted(&["a", "b"], "group(a, b, shared)")),
            "reuse_group_basic_distinct" => drop(accepted(&["a", "b"], "group(a, b, distinct)")),
            "reuse_group_single_element" => drop(accepted(&["a"], "group(a, shared)")),
            "reuse_group_multiple_elements" => drop(accepted(&["a", "b", "c", "d"], "group(a, b, c, d, shared)")),
            "reuse_group_nested" => {
                drop(accepted(&["qk", "p", "alpha"], "group(qk, group(p, alpha, distinct), shared)"))
            }
            "reuse_group_deeply_nested" => {
                drop(accepted(&["a", "b", "c", "d"], "group(a, group(b, group(c, d, shared), distinct), shared)"));
            }
            "reuse_group_empty_args_raises_error" | "reuse_group_invalid_element_type_raises_error" => {
                let elements = if name.contains("empty") { "" } else { "'not a buffer'" };
                let kernel = kernel(&format!("S = tlx.storage_alias_spec()\ngroup = tlx.reuse_group({elements})"));
                let wanted = case["expect"]["error"].as_str().expect("a message");
                assert!(kernel.errors().iter().any(|error| error.message.contains(wanted)));
            }
            "probe-tmem-rank1" => {
                let kernel = kernel(
                    "
S = tlx.storage_alias_spec(tlx.storage_kind.tmem)
a = tlx.local_alloc((128,), tl.float32, 1, tlx.storage_kind.tmem, reuse=S)
view = a[0]",
                );
                let wanted = case["expect"]["error"].as_str().expect("a message");
                assert!(kernel.errors().iter().any(|error| error.message.contains(wanted)));
            }
            other => panic!("nothing shows `{other}`"),
        }
    }
}

//! Every error and warning of the compiler that can be known from the text, by its number in `docs/reference/tlx.md`,
//! "Errors and warnings", and the checks that the compiler does not make. Not in the table, because no text leads there: V1, V5,
//! V6 (the front end says it first), V7, V8, V10, P4b, P6, P7, P10, P12 (the compiler's own mistakes), V9 (a group that is chosen at
//! run time is not known here), P14 (layouts after propagation are not modelled), S1 and S2 (attributes that no longer exist).

use tilefit_python::diagnostics::{Code, Severity};

use super::{IMPORTS, open};

struct Row {
    number: &'static str,
    code: Code,
    severity: Severity,
    message: &'static str,
    /// The body of a kernel, with « » around what the message is about; without them it is about the kernel's name.
    body: &'static str,
    settings: &'static str,
    /// Before the kernel.
    before: &'static str,
}

const fn row(number: &'static str, code: Code, severity: Severity, message: &'static str, body: &'static str) -> Row {
    Row { number, code, severity, message, body, settings: "", before: "" }
}

const SEED: &str = r#"
[tlx]
rules = "seed"
"#;

const ROWS: &[Row] = &[
    row(
        "F1",
        Code::Rejected,
        Severity::Error,
        "storage must be a tlx.storage_kind, got str",
        "spec = tlx.storage_alias_spec(storage=«\"smem\"»)",
    ),
    row(
        "F2",
        Code::Rejected,
        Severity::Error,
        "smemCluster storage is not supported for storage_alias_spec",
        "spec = tlx.storage_alias_spec(«tlx.storage_kind.smemCluster»)",
    ),
    row(
        "F3",
        Code::Rejected,
        Severity::Error,
        "buffer_size_bytes must be positive, got 0",
        "spec = tlx.storage_alias_spec(buffer_size_bytes=«0»)",
    ),
    Row {
        settings: SEED,
        before: "",
        ..row(
            "F4",
            Code::Rejected,
            Severity::Error,
            "buffer_size_bytes must be a compile-time constant",
            "
n = 16384
spec = tlx.storage_alias_spec(buffer_size_bytes=«n»)
a = tlx.local_alloc((64,), tl.float32, 1, reuse=spec)
view = a[0]",
        )
    },
    row(
        "F5",
        Code::Rejected,
        Severity::Error,
        "AttributeError: `buffer_size_bytes` of a storage_alias_spec",
        "
spec = tlx.storage_alias_spec()
«spec.buffer_size_bytes» = 3",
    ),
    Row {
        settings: "",
        before: "# tilefit: arch=sm_90\n",
        ..row(
            "F6",
            Code::UnsupportedTarget,
            Severity::Error,
            "tmem is only available on Blackwell",
            "
a = «tlx.local_alloc((128, 64), tl.float32, 1, tlx.storage_kind.tmem)»
view = a[0]",
        )
    },
    row(
        "F7",
        Code::Rejected,
        Severity::Error,
        "`num` must be a constexpr without introducing any `ast.Assign` nodes",
        "
n = 2
a = tlx.local_alloc((64, 64), tl.float32, «n»)
view = a[0]",
    ),
    row(
        "F7, not known",
        Code::Rejected,
        Severity::Error,
        "`num` must be a constexpr without introducing any `ast.Assign` nodes: a number that is assigned",
        "
n = len(out)
a = tlx.local_alloc((64, 64), tl.float32, «n»)
view = a[0]",
    ),
    row(
        "F7, read",
        Code::Rejected,
        Severity::Error,
        "`num` must be a constexpr without introducing any `ast.Assign` nodes: a value computed at run time is a tensor",
        "
a = tlx.local_alloc((64, 64), tl.float32, «tl.program_id(0)»)
view = a[0]",
    ),
    row(
        "F7, changed",
        Code::Rejected,
        Severity::Error,
        "`num` must be a constexpr",
        "
n: tl.constexpr = 1
n += 1
a = tlx.local_alloc((64, 64), tl.float32, «n»)
view = a[0]",
    ),
    row(
        "F7, in a loop",
        Code::Rejected,
        Severity::Error,
        "`num` must be a constexpr",
        "
for n in range(1, 2):
    a = tlx.local_alloc((64, 64), tl.float32, «n»)
    view = a[0]",
    ),
    row(
        "F7 of barriers",
        Code::Rejected,
        Severity::Error,
        "the number of barriers must be a constexpr: a number that is assigned to a plain name is a tensor",
        "
n = 2
bars = tlx.alloc_barriers(«n»)
view = bars[0]",
    ),
    row(
        "F7 of arrivals",
        Code::Rejected,
        Severity::Error,
        "a number of arrivals must be a constexpr",
        "
n = 2
bars = tlx.alloc_barriers(2, «n»)
view = bars[0]",
    ),
    row(
        "F7 of an argument",
        Code::NotModelled,
        Severity::Hint,
        "`out` is an argument without `tl.constexpr`, and is one only where 1 or a constexpr is passed",
        "
a = tlx.local_alloc((64, 64), tl.float32, «out»)
view = a[0]",
    ),
    row(
        "F8",
        Code::StorageMismatch,
        Severity::Error,
        "reuse tensor has different storage",
        "
a = tlx.local_alloc((128, 64), tl.float32, 1)
b = tlx.local_alloc((128, 64), tl.float32, 1, tlx.storage_kind.tmem, reuse=«a»)",
    ),
    row(
        "F9",
        Code::StorageMismatch,
        Severity::Error,
        "storage_alias_spec storage (tmem) doesn't match local_alloc storage (smem)",
        "
spec = tlx.storage_alias_spec(tlx.storage_kind.tmem)
a = tlx.local_alloc((128, 64), tl.float32, 1, reuse=«spec»)",
    ),
    row(
        "F10",
        Code::Rejected,
        Severity::Error,
        "reuse must be a buffered_tensor or storage_alias_spec, got int",
        "a = tlx.local_alloc((128, 64), tl.float32, 1, reuse=«3»)",
    ),
    row(
        "F11",
        Code::Rejected,
        Severity::Error,
        "User-specified layout encoding is only supported for shared memory (smem)",
        "a = tlx.local_alloc((128, 64), tl.float32, 1, tlx.storage_kind.tmem, layout=«make()»)",
    ),
    row(
        "F12",
        Code::Rejected,
        Severity::Error,
        "`layout` must be a tlx.shared_layout_encoding, got int",
        "a = tlx.local_alloc((128, 64), tl.float32, 1, layout=«3»)",
    ),
    row(
        "F13",
        Code::Rejected,
        Severity::Error,
        "reuse_group requires at least one element",
        "
spec = tlx.storage_alias_spec()
spec.set_buffer_overlap(«tlx.reuse_group()»)",
    ),
    row(
        "F14",
        Code::Rejected,
        Severity::Error,
        "group_size must be a positive integer, got 0",
        "
a = tlx.local_alloc((64, 64), tl.float32, 1)
group = tlx.reuse_group(a, group_size=«0»)",
    ),
    row(
        "F15",
        Code::Rejected,
        Severity::Error,
        "reuse_group elements must be buffered_tensor or reuse_group, got storage_alias_spec",
        "
spec = tlx.storage_alias_spec()
group = tlx.reuse_group(«spec»)",
    ),
    Row {
        settings: SEED,
        before: "",
        ..row(
            "group_type of the seed",
            Code::Rejected,
            Severity::Error,
            "reuse_group() missing 1 required argument: 'group_type'",
            "
a = tlx.local_alloc((64, 64), tl.float32, 1)
group = «tlx.reuse_group(a)»",
        )
    },
    Row {
        settings: SEED,
        before: "",
        ..row(
            "F16",
            Code::InvalidOverlap,
            Severity::Error,
            "a nested reuse_group must have another group_type",
            "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
spec.set_buffer_overlap(tlx.reuse_group(«tlx.reuse_group(a)»))
view = a[0]",
        )
    },
    row(
        "F17",
        Code::Rejected,
        Severity::Error,
        "overlap_def must be a reuse_group, got buffered_tensor",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
spec.set_buffer_overlap(«a»)",
    ),
    row(
        "V2",
        Code::Rejected,
        Severity::Error,
        "buffer_size_bytes must be positive, got -1",
        "spec = tlx.storage_alias_spec(buffer_size_bytes=«-1»)",
    ),
    row(
        "V3",
        Code::StorageMismatch,
        Severity::Error,
        "storage_alias_spec storage (smem) doesn't match local_alloc storage (tmem)",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((128, 64), tl.float32, 1, tlx.storage_kind.tmem, reuse=«spec»)",
    ),
    row(
        "V4",
        Code::StorageMismatch,
        Severity::Error,
        "doesn't match local_alloc storage (smemCluster)",
        "
spec = tlx.storage_alias_spec(tlx.storage_kind.tmem)
a = tlx.local_alloc((128, 64), tl.float32, 1, tlx.storage_kind.smemCluster, reuse=«spec»)",
    ),
    row(
        "V11",
        Code::InvalidOverlap,
        Severity::Error,
        "reuse_group tree contains duplicate elements; each allocation can only appear once in the tree",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
spec.set_buffer_overlap(tlx.reuse_group(a, tlx.reuse_group(«a»)))
view = a[0]",
    ),
    row(
        "V12 plain",
        Code::InvalidOverlap,
        Severity::Error,
        "all elements in the reuse_group tree must be allocated via tlx.storage_alias_local_alloc, but found an element that is not",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
b = tlx.local_alloc((64, 64), tl.float32, 1)
spec.set_buffer_overlap(tlx.reuse_group(a, «b»))
view = a[0]",
    ),
    row(
        "V12 alias",
        Code::InvalidOverlap,
        Severity::Error,
        "all elements in the reuse_group tree must be allocated via tlx.storage_alias_local_alloc, but found an element that is not",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
b = tlx.local_alloc((64, 64), tl.float32, 1, reuse=a)
spec.set_buffer_overlap(tlx.reuse_group(a, «b»))
view = a[0]",
    ),
    row(
        "V12 view",
        Code::InvalidOverlap,
        Severity::Error,
        "all elements in the reuse_group tree must be allocated via tlx.storage_alias_local_alloc, but found an element that is not",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
spec.set_buffer_overlap(tlx.reuse_group(«a[0]»))",
    ),
    row(
        "V13",
        Code::InvalidOverlap,
        Severity::Error,
        "all allocations in the reuse_group must reference the same storage_alias_spec, but found an allocation that uses a different spec",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
other = tlx.storage_alias_spec()
b = tlx.local_alloc((64, 64), tl.float32, 1, reuse=other)
spec.set_buffer_overlap(tlx.reuse_group(a, «b»))
views = a[0], b[0]",
    ),
    row(
        "W1 and P5",
        Code::UnusedSpec,
        Severity::Warning,
        "storage_alias_spec has no referencing storage_alias_local_alloc operations",
        "
spec = «tlx.storage_alias_spec()»
a = tlx.local_alloc((64, 64), tl.float32, 1)",
    ),
    row(
        "P1",
        Code::InvalidShape,
        Severity::Error,
        "TMEM allocations must be at least 2D, got rank 1",
        "
spec = tlx.storage_alias_spec(tlx.storage_kind.tmem)
a = «tlx.local_alloc((128,), tl.float32, 1, tlx.storage_kind.tmem, reuse=spec)»
view = a[0]",
    ),
    row(
        "P2",
        Code::SpecTooSmall,
        Severity::Error,
        "storage_alias_spec buffer_size_bytes 128 is too small for computed shape, requires at least 16384 bytes",
        "
spec = «tlx.storage_alias_spec(buffer_size_bytes=128)»
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
view = a[0]",
    ),
    Row {
        settings: SEED,
        before: "",
        ..row(
            "P2 of the seed",
            Code::SpecTooSmall,
            Severity::Error,
            "shared_buffer_def size 128 is too small, requires at least 16384 bytes",
            "
spec = «tlx.storage_alias_spec(buffer_size_bytes=128)»
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
view = a[0]",
        )
    },
    row(
        "P3",
        Code::InvalidOverlap,
        Severity::Error,
        "storage_alias_spec already has a set_buffer_overlap defined; each spec can only have one overlap definition",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
spec.set_buffer_overlap(tlx.reuse_group(a))
«spec.set_buffer_overlap(tlx.reuse_group(a))»
view = a[0]",
    ),
    Row {
        settings: SEED,
        before: "",
        ..row(
            "P4",
            Code::SpecTooSmall,
            Severity::Error,
            "not enough space for distinct allocations: need 32768 bytes, have 16384 bytes",
            "
spec = tlx.storage_alias_spec(buffer_size_bytes=16384)
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
b = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
«spec.set_buffer_overlap(tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.distinct))»
views = a[0], b[0]",
        )
    },
    row(
        "P8",
        Code::NotDivisible,
        Severity::Error,
        "units_between_buffer_groups (24576) must be a multiple of the original buffer size (16384)",
        "
spec = tlx.storage_alias_spec()
a = «tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)»
b = tlx.local_alloc((64, 64), tl.float16, 1, reuse=spec)
spec.set_buffer_overlap(tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.distinct))
views = a[0], b[0]",
    ),
    row(
        "P9",
        Code::NotDivisible,
        Severity::Error,
        "buffer_offset (8192) must be a multiple of the original buffer size (16384)",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float16, 1, reuse=spec)
b = «tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)»
c = tlx.local_alloc((64, 64), tl.float16, 1, reuse=spec)
spec.set_buffer_overlap(tlx.reuse_group(a, b, c, group_type=tlx.reuse_group_type.distinct))
views = a[0], b[0], c[0]",
    ),
    Row {
        settings: SEED,
        before: "",
        ..row(
            "P8 of the seed",
            Code::NotDivisible,
            Severity::Error,
            "bytes_between_buffers must be multiple of buffer size",
            "
spec = tlx.storage_alias_spec(buffer_size_bytes=24576)
a = «tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)»
b = tlx.local_alloc((64, 64), tl.float16, 1, reuse=spec)
spec.set_buffer_overlap(tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.distinct))
views = a[0], b[0]",
        )
    },
    row(
        "P11",
        Code::Rejected,
        Severity::Error,
        "LocalAliasOp must refer to a local_alloc or local_alias op",
        "
a = tlx.local_alloc((64, 64), tl.float32, 2)
b = tlx.local_alloc((64, 64), tl.float32, 1, reuse=«a[0]»)",
    ),
    row(
        "P13",
        Code::InvalidShape,
        Severity::Warning,
        "DummyTMEMLayoutAttr was not resolved during layout propagation",
        "
a = «tlx.local_alloc((128, 4), tl.uint8, 1, tlx.storage_kind.tmem)»
view = a[0]",
    ),
    row(
        "zero columns",
        Code::NotDivisible,
        Severity::Error,
        "divides by its 0 columns",
        "
spec = tlx.storage_alias_spec(tlx.storage_kind.tmem)
a = «tlx.local_alloc((128, 1), tl.bfloat16, 1, tlx.storage_kind.tmem, reuse=spec)»
spec.set_buffer_overlap(tlx.reuse_group(a))
view = a[0]",
    ),
    Row {
        settings: "",
        before: "# tilefit: arch=sm_100 num_warps=4\n",
        ..row(
            "launch smem",
            Code::CapacityExceeded,
            Severity::Error,
            "out of resource: shared memory, Required: 262144, Hardware limit: 232448. Reducing block sizes or `num_stages` may help.",
            r#"
a = tlx.local_alloc((128, 128), tl.float16, 8)
with tlx.async_tasks():
    with tlx.async_task("default"):
        tlx.local_store(a[0], tlx.local_load(a[1]))"#,
        )
    },
    Row {
        settings: "",
        before: "# tilefit: num_warps=4\n",
        ..row(
            "launch tmem",
            Code::CapacityExceeded,
            Severity::Error,
            "out of resource: tensor memory, Required: 768, Hardware limit: 512. Reducing block sizes or `num_stages` may help.",
            r#"
a = tlx.local_alloc((128, 256), tl.float32, 3, tlx.storage_kind.tmem)
with tlx.async_tasks():
    with tlx.async_task("default"):
        tlx.local_store(a[0], tlx.local_load(a[1]))"#,
        )
    },
    row(
        "index bounds",
        Code::IndexOutOfRange,
        Severity::Error,
        "index 2 is outside `a`, which has 2 buffers",
        "
a = tlx.local_alloc((64, 64), tl.float32, 2)
view = «a[2]»",
    ),
    row(
        "index bounds of a view",
        Code::IndexOutOfRange,
        Severity::Error,
        "index -1 is outside",
        "
a = tlx.local_alloc((64, 64), tl.float32, 2)
view = «tlx.local_view(a, -1)»",
    ),
    row(
        "num agreement",
        Code::CountMismatch,
        Severity::Warning,
        "has 3 buffers per tree of `spec`, `a` has 1",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
b = «tlx.local_alloc((64, 64), tl.float32, 3, reuse=spec)»
spec.set_buffer_overlap(tlx.reuse_group(a, b))
views = a[0], b[0]",
    ),
    row(
        "num and group_size",
        Code::CountMismatch,
        Severity::Warning,
        "`b` has 3 buffers, which do not make whole groups of 2",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
b = «tlx.local_alloc((64, 32), tl.float32, 3, reuse=spec)»
spec.set_buffer_overlap(tlx.reuse_group(a, tlx.reuse_group(b, group_size=2)))
views = a[0], b[0]",
    ),
    row(
        "group_size of distinct",
        Code::CountMismatch,
        Severity::Warning,
        "the compiler ignores group_size=2 of a distinct group",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
spec.set_buffer_overlap(«tlx.reuse_group(a, group_type=tlx.reuse_group_type.distinct, group_size=2)»)
view = a[0]",
    ),
    row(
        "leaf missing",
        Code::MissingLeaf,
        Severity::Warning,
        "`b` is allocated from `spec` but is not in its overlap definition",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
b = «tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)»
spec.set_buffer_overlap(tlx.reuse_group(a))
views = a[0], b[0]",
    ),
    row(
        "physical overlap",
        Code::OverlappingBuffers,
        Severity::Error,
        "although they are meant to be distinct",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float16, 2, reuse=spec)
p = «tlx.local_alloc((32, 64), tl.float16, 4, reuse=spec)»
spec.set_buffer_overlap(tlx.reuse_group(a, tlx.reuse_group(p, group_size=2), group_type=tlx.reuse_group_type.distinct))
views = a[0], p[0]",
    ),
    row(
        "rows of a buffer",
        Code::InvalidShape,
        Severity::Error,
        "64 or 128 rows",
        "
a = «tlx.local_alloc((32, 64), tl.float32, 1, tlx.storage_kind.tmem)»
view = a[0]",
    ),
    row(
        "rows of an alias",
        Code::RowMismatch,
        Severity::Warning,
        "`a` has 128 rows, but the allocation that it shares has 64",
        "
a = «tlx.local_alloc((128, 64), tl.float32, 1, tlx.storage_kind.tmem)»
b = tlx.local_alloc((64, 128), tl.float32, 1, tlx.storage_kind.tmem, reuse=a)
views = a[0], b[0]",
    ),
    row(
        "rows of a spec",
        Code::RowMismatch,
        Severity::Warning,
        "`a` has 128 rows",
        "
spec = tlx.storage_alias_spec(tlx.storage_kind.tmem)
a = «tlx.local_alloc((128, 64), tl.float32, 1, tlx.storage_kind.tmem, reuse=spec)»
b = tlx.local_alloc((64, 64), tl.float32, 1, tlx.storage_kind.tmem, reuse=spec)
spec.set_buffer_overlap(tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.distinct))
views = a[0], b[0]",
    ),
    row(
        "columns of a buffer",
        Code::InvalidShape,
        Severity::Error,
        "at most 512 columns",
        "
a = «tlx.local_alloc((128, 1024), tl.float16, 1, tlx.storage_kind.tmem)»
view = a[0]",
    ),
    row(
        "elements of tensor memory",
        Code::InvalidShape,
        Severity::Error,
        "columns of 32 bits",
        "
a = «tlx.local_alloc((128, 64), tl.float64, 1, tlx.storage_kind.tmem)»
view = a[0]",
    ),
    row(
        "dimensions of tensor memory",
        Code::InvalidShape,
        Severity::Error,
        "has 3 dimensions",
        "
a = «tlx.local_alloc((2, 128, 64), tl.float32, 1, tlx.storage_kind.tmem)»
view = a[0]",
    ),
    row(
        "bits of shared memory",
        Code::InvalidShape,
        Severity::Error,
        "shared memory holds whole bytes",
        "
a = «tlx.local_alloc((64, 64), tl.int1, 1)»
view = a[0]",
    ),
    row(
        "power of two",
        Code::InvalidShape,
        Severity::Error,
        "shape must have power-of-2 and non-zero dimensions; got [64, 48]",
        "
a = «tlx.local_alloc((64, 48), tl.float32, 1)»
view = a[0]",
    ),
    row(
        "no buffers",
        Code::InvalidShape,
        Severity::Error,
        "shape must have power-of-2 and non-zero dimensions; there are 0 buffers",
        "
a = tlx.local_alloc((64, 64), tl.float32, «0»)
view = a[0]",
    ),
    row(
        "smemCluster allocation",
        Code::Rejected,
        Severity::Error,
        "an allocation cannot live in smemCluster",
        "a = tlx.local_alloc((64, 64), tl.float32, 1, «tlx.storage_kind.smemCluster»)",
    ),
    row(
        "backing of shared memory",
        Code::BackingShape,
        Severity::Warning,
        "49152 bytes, which is not a power of two",
        "
spec = «tlx.storage_alias_spec()»
a = tlx.local_alloc((64, 64), tl.float32, 3, reuse=spec)
view = a[0]",
    ),
    row(
        "backing of tensor memory",
        Code::BackingShape,
        Severity::Warning,
        "spans 384 columns",
        "
spec = «tlx.storage_alias_spec(tlx.storage_kind.tmem)»
a = tlx.local_alloc((128, 128), tl.float32, 3, tlx.storage_kind.tmem, reuse=spec)
view = a[0]",
    ),
    Row {
        settings: "",
        before: "# tilefit: arch=gfx950\n",
        ..row(
            "spec on AMD",
            Code::UnsupportedTarget,
            Severity::Error,
            "never lowers storage alias specs",
            "
spec = «tlx.storage_alias_spec()»
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
view = a[0]",
        )
    },
    Row {
        settings: r#"
[tlx]
arch = "gfx942"
"#,
        before: "",
        ..row(
            "spec on AMD by the setting",
            Code::UnsupportedTarget,
            Severity::Error,
            "never lowers storage alias specs",
            "
spec = «tlx.storage_alias_spec()»
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
view = a[0]",
        )
    },
    row(
        "phase 7",
        Code::ReuseAdvice,
        Severity::Hint,
        "would fit next to each other",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
b = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
«spec.set_buffer_overlap(tlx.reuse_group(a, b))»
views = a[0], b[0]",
    ),
    row(
        "phase 7 waste",
        Code::ReuseAdvice,
        Severity::Hint,
        "belong to no buffer",
        "
spec = «tlx.storage_alias_spec(buffer_size_bytes=65536)»
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
spec.set_buffer_overlap(tlx.reuse_group(a))
view = a[0]",
    ),
    row(
        "phase 8",
        Code::LegacyReuse,
        Severity::Hint,
        "a `tlx.storage_alias_spec` that both reuse",
        "
a = tlx.local_alloc((64, 64), tl.float32, 1)
b = «tlx.local_alloc((64, 64), tl.float16, 1, reuse=a)»
views = a[0], b[0]",
    ),
];

#[test]
fn every_error_is_said_at_its_place() {
    for row in ROWS {
        let body: String = row.body.lines().map(|line| format!("    {line}\n")).collect();
        let marked = format!("{IMPORTS}{}@triton.jit\ndef kernel(out):\n{body}", row.before);
        let wanted = match marked.split_once('«').zip(marked.split_once('»')) {
            Some(((before, _), (until, _))) => before.len()..until.len() - '«'.len_utf8(),
            None => {
                let start = marked.find("kernel(out)").expect("the kernel");
                start..start + "kernel".len()
            }
        };
        let text = marked.replace(['«', '»'], "");
        let found = open(&text[IMPORTS.len()..], row.settings).diagnostics();
        let hit =
            found.iter().find(|diagnostic| diagnostic.code == row.code && diagnostic.message.contains(row.message));
        let hit = hit.unwrap_or_else(|| panic!("{}: nothing says `{}`:\n{text}\n{found:#?}", row.number, row.message));
        assert_eq!(hit.severity, row.severity, "{}", row.number);
        let at = hit.range.start..hit.range.end;
        assert_eq!(&text[at], &text[wanted], "{}:\n{text}", row.number);
    }
}

/// What is right in each of these is near to what is wrong in the table.
#[test]
fn nothing_is_said_of_what_is_right() {
    let kernels = [
        r#"
a = tlx.local_alloc((128, 4), tl.uint8, 1, tlx.storage_kind.tmem)
b = tlx.local_alloc((128, 4), tl.uint8, 1, tlx.storage_kind.tmem)
tlx.async_dot_scaled(x, y, z, a[0], "e4m3", b[0], "e4m3")"#,
        "
a = tlx.local_alloc((128, 4), tl.uint8, 1, tlx.storage_kind.tmem)
elsewhere(a)
view = a[0]",
        "
a = tlx.local_alloc((64,), tl.float32, 1)
total = tl.zeros((1,), tl.float32)
for i in range(0, 64):
    total += tlx.local_load(a[0][i])
tlx.local_store(a[x], tlx.local_load(a[y]))",
        "
a = tlx.local_alloc((64, 64), tl.float32, 2)
views = a[0], a[1], tlx.local_view(a, 1)",
        "
n: tl.constexpr = 2
a = tlx.local_alloc((64, 64), tl.float32, n, layout=tlx.swizzled_layout(3, 4, 3), reuse=None)
view = a[0]",
        "
a = tlx.local_alloc((128, 64), tl.float32, 1, tlx.storage_kind.tmem)
view = a[0]",
        "
n: tl.constexpr = tl.cdiv(8, 4)
a = tlx.local_alloc((64, 64), tl.float32, n)
bars = tlx.alloc_barriers(n, n)
views = a[0], bars[0]",
        "
spec = tlx.storage_alias_spec()
a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
b = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
spec.set_buffer_overlap(tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.distinct))
views = a[0], b[0]",
    ];
    for kernel in kernels {
        let body: String = kernel.lines().map(|line| format!("    {line}\n")).collect();
        let fixture = open(
            &format!("from helpers import elsewhere\n\n@triton.jit\ndef kernel(x, y, z):\n{body}"),
            r#"
[tlx]
arch = "sm_90"
"#,
        );
        assert_eq!(fixture.diagnostics(), [], "{}", fixture.text);
    }
}

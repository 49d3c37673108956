//! From text to plan: what authors write, and what is refused.

use std::fmt::Write;

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;
use tilefit_analysis::ide::plan_view::SpacePlan;
use tilefit_python::diagnostics::Code;

use super::seed::PHASE_5;
use super::{IMPORTS, open};

/// Specs with their members, other buffers, and what there is to say; lines count from the first after the imports.
pub(super) fn describe(text: &str, settings: &str) -> String {
    let fixture = open(text, settings);
    let mut out = String::new();
    for kernel in fixture.plans() {
        let spaces: Vec<_> = kernel.spaces.iter().map(|(name, space)| format!("{name} {}", amount(space))).collect();
        let _ = writeln!(out, "{} on {}: {}, {}", kernel.name, kernel.target, kernel.status, spaces.join(", "));
        for spec in &kernel.specs {
            let _ = writeln!(out, "  {}: size {:?}, extent {:?}", spec.name, spec.size, spec.extent);
        }
        for tile in &kernel.tiles {
            let _ = write!(out, "  {} {:?} {} in {}", tile.name, tile.shape, tile.dtype, tile.space.unwrap_or("?"));
            let member = kernel.specs.iter().flat_map(|spec| &spec.allocations).find(|member| member.name == tile.name);
            if let Some(member) = member {
                let _ = write!(out, " at {:?} of {:?}: {:?}", member.offset, member.new_num, member.ranges);
            }
            out.push('\n');
        }
        for diagnostic in &kernel.diagnostics {
            let line = diagnostic.line - IMPORTS.lines().count();
            let _ =
                writeln!(out, "  line {line}: {} [{}] {}", diagnostic.severity, diagnostic.code, diagnostic.message);
        }
    }
    out
}

#[track_caller]
/// `1024`, `1024–2048`, `1024–`
fn amount(space: &SpacePlan) -> String {
    match (space.used, space.bounds) {
        (Some(used), _) => used.to_string(),
        (None, Some(bounds)) => {
            format!("{}–{}", bounds.low, bounds.high.map_or(String::new(), |high| high.to_string()))
        }
        (None, None) => "?".to_owned(),
    }
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&describe(text, ""));
}

/// As the compiler says: 16,384 bytes.
#[test]
fn a_spec_that_a_helper_makes_has_a_size() {
    check(
        "
@triton.jit
def two_in_one(M: tl.constexpr, N: tl.constexpr):
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    wide = tlx.local_alloc((M, N), tl.float32, 1, tlx.storage_kind.smem, reuse=spec)
    half = tlx.local_alloc((M, N), tl.float16, 2, tlx.storage_kind.smem, reuse=spec)
    return wide, half

# tilefit: x=fp32 out=fp32 M=64 N=64 arch=sm_90 triton=3.8 divisible=x,out
@triton.jit
def kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    wide, half = two_in_one(M, N)
    tlx.local_store(wide[0], tl.load(x + i))
    value = tlx.local_load(wide[0])
    tlx.local_store(half[1], value.to(tl.float16))
    tl.store(out + i, tlx.local_load(half[1]).to(tl.float32))
",
        expect![[r#"
            two_in_one on sm_90: predicted, smem 0
              spec: size Some(16384), extent Some(16384)
              wide [1, 64, 64] float32 in smem at None of Some(1): [[0, 16384]]
              half [2, 64, 64] float16 in smem at None of Some(2): [[0, 8192], [8192, 16384]]
            kernel on sm_90: predicted, smem 16384
              spec: size Some(16384), extent Some(16384)
              wide [1, 64, 64] float32 in smem at None of Some(1): [[0, 16384]]
              half [2, 64, 64] float16 in smem at None of Some(2): [[0, 8192], [8192, 16384]]
              spec [16384] int8 in smem
        "#]],
    );
}

#[test]
fn what_the_front_end_refuses() {
    check(
        "
@triton.jit
def kernel(n: tl.constexpr = 2):
    cluster = tlx.storage_alias_spec(storage=tlx.storage_kind.smemCluster)
    negative = tlx.storage_alias_spec(buffer_size_bytes=tl.constexpr(-100))
    word = tlx.storage_alias_spec(storage=\"smem\")
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem)
    spec.storage = tlx.storage_kind.smem
    count = 2
    a = tlx.local_alloc((64, 64), tl.float32, count)
    b = tlx.local_alloc((64, 64), tl.float32, n, reuse=spec)
    c = tlx.local_alloc((64, 64), tl.float32, n, reuse=7)
    d = tlx.local_alloc((64, 64), tl.float32, n, tlx.storage_kind.tmem, reuse=spec, layout=tl.float32)
    spec.set_buffer_overlap(tlx.reuse_group())
    spec.set_buffer_overlap(tlx.reuse_group(spec, d, group_size=0))
    spec.set_buffer_overlap(d)
    e = tlx.local_alloc((64, 64), tl.float32, n, reuse=a[0])
    view = spec[0]
",
        expect![[r#"
            kernel on sm_100: rejected, smem 0–, tmem 0–
              cluster: size None, extent None
              negative: size None, extent None
              word: size None, extent None
              spec: size None, extent None
              a [2, 64, 64] float32 in smem
              b [2, 64, 64] float32 in tmem at None of Some(2): [[0, 64], [64, 128]]
              c [2, 64, 64] float32 in smem
              d [2, 64, 64] float32 in tmem at None of Some(2): [[0, 64], [64, 128]]
              e [2, 64, 64] float32 in smem
              line 4: error [rejected] smemCluster storage is not supported for storage_alias_spec
              line 5: error [rejected] buffer_size_bytes must be positive, got -100
              line 6: error [rejected] storage must be a tlx.storage_kind, got str
              line 8: error [rejected] AttributeError: `storage` of a storage_alias_spec cannot be changed; give it to the constructor
              line 10: error [rejected] `num` must be a constexpr without introducing any `ast.Assign` nodes: a number that is assigned to a plain name is a tensor; annotate the name with `tl.constexpr`
              line 11: error [storage-mismatch] storage_alias_spec storage (tmem) doesn't match local_alloc storage (smem); pass `storage=tlx.storage_kind.tmem`
              line 12: error [rejected] reuse must be a buffered_tensor or storage_alias_spec, got int
              line 13: error [rejected] User-specified layout encoding is only supported for shared memory (smem)
              line 14: error [rejected] reuse_group requires at least one element
              line 15: error [rejected] reuse_group elements must be buffered_tensor or reuse_group, got storage_alias_spec
              line 15: error [rejected] group_size must be a positive integer, got 0
              line 16: error [rejected] overlap_def must be a reuse_group, got buffered_tensor
              line 17: error [rejected] LocalAliasOp must refer to a local_alloc or local_alias op: this is a view; reuse `a` itself
              line 18: error [rejected] a storage_alias_spec cannot be indexed; index the buffers that use it
              line 15: error [invalid-overlap] storage_alias_spec already has a set_buffer_overlap defined; each spec can only have one overlap definition
              line 11: warning [missing-leaf] `b` is allocated from `spec` but is not in its overlap definition, so it is at offset 0 and overlaps the others; add it to the reuse group
              line 13: warning [missing-leaf] `d` is allocated from `spec` but is not in its overlap definition, so it is at offset 0 and overlaps the others; add it to the reuse group
              line 3: hint [not-modelled] some sizes are unknown: `reuse` is not a buffer (2 more unknown)
        "#]],
    );
}

#[test]
fn values_come_from_everywhere_in_order() {
    check(
        "
BLOCK_K = tl.constexpr(64)

def configs():
    return [triton.Config({\"BLOCK_M\": m, \"STAGES\": s}, num_warps=4) for m in [64, 128] for s in [2, 3]]

@triton.autotune(configs=configs(), key=[])
@triton.jit
def outer(desc, BLOCK_M: tl.constexpr, STAGES: tl.constexpr, D: tl.constexpr):
    inner(desc, BLOCK_M, STAGES=STAGES, D=D)

# tilefit: desc=bf16 arch=sm_90
@triton.jit
def inner(desc, BLOCK_M: tl.constexpr, STAGES: tl.constexpr, D: tl.constexpr, EXTRA: tl.constexpr = 1):
    tl.static_assert(BLOCK_M == 128)
    a = tlx.local_alloc((BLOCK_M, BLOCK_K), tlx.dtype_of(desc), STAGES + EXTRA)
    b = tlx.local_alloc((BLOCK_K, D), desc.dtype, STAGES)
    bars = tlx.alloc_barriers(num_barriers=STAGES)
    with tlx.async_tasks():
        with tlx.async_task(\"default\"):
            views = a[0], b[0]

def launch(x):
    width = 32
    outer[(1,)](x, D=width)
",
        expect![[r#"
            inner on sm_90: exact, smem 16
              a [3, 128, 64] bfloat16 in smem
              b [2, 64, 32] bfloat16 in smem
              bars [2, 1] int64 in smem
              line 15: hint [static-assert] this `static_assert` fails for configuration 1 of 4 (and 1 more), which is never compiled; the memory shown is of configuration 3
        "#]],
    );
}

#[test]
fn branches_and_helpers() {
    check(
        "
@triton.jit
def stage(n: tl.constexpr):
    first = tlx.local_alloc((32, 32), tl.float16, n)
    return first, [tlx.local_alloc((16, 16), tl.float16, 1) for _ in range(n)]

@triton.jit
def kernel(FLAG: tl.constexpr, KNOWN: tl.constexpr = True):
    if KNOWN:
        a = tlx.local_alloc((64, 64), tl.float16, 2)
    else:
        a = tlx.local_alloc((64, 64), tl.float32, 2)
    if FLAG:
        b = tlx.local_alloc((128, 64), tl.float16, 2)
    else:
        b = tlx.local_alloc((128, 64), tl.float32, 2)
    c, rest = stage(3)
    d = tlx.local_alloc((64, 64), tlx.dtype_of(a), 1, reuse=a)
    for i in range(10):
        view = b[i]
        other = rest[1][5]
    last = a[2], c[-1]
",
        expect![[r#"
            stage on sm_100: predicted, smem 0, tmem 0
              first [3, 32, 32] float16 in smem
              (unnamed) [1, 16, 16] float16 in smem
              (unnamed) [1, 16, 16] float16 in smem
              (unnamed) [1, 16, 16] float16 in smem
            kernel on sm_100: partial, smem 0–, tmem 0–
              a [2, 64, 64] float16 in smem
              b [2, 128, 64] float16 in smem
              b [2, 128, 64] float32 in smem
              first [3, 32, 32] float16 in smem
              (unnamed) [1, 16, 16] float16 in smem
              (unnamed) [1, 16, 16] float16 in smem
              (unnamed) [1, 16, 16] float16 in smem
              d [1, 64, 64] float16 in smem
              line 21: error [index-out-of-range] index 5 is outside `(unnamed)`, which has 1 buffer; nothing checks this at run time
              line 22: error [index-out-of-range] index 2 is outside `a`, which has 2 buffers; nothing checks this at run time
              line 22: error [index-out-of-range] index -1 is outside `first`, which has 3 buffers; nothing checks this at run time
        "#]],
    );
}

#[test]
fn a_launch_that_cannot_succeed() {
    check(
        "
@triton.jit
def kernel():
    acc = tlx.local_alloc((128, 256), tl.float32, 3, tlx.storage_kind.tmem)
    tiles = tlx.local_alloc((128, 128), tl.float16, 8)
    with tlx.async_tasks():
        with tlx.async_task(\"default\"):
            tlx.local_store(acc[0], tlx.local_load(acc[1]))
            tlx.local_store(tiles[0], tlx.local_load(tiles[1]))
",
        expect![[r#"
            kernel on sm_100: predicted, smem 262144, tmem 768
              tiles [8, 128, 128] float16 in smem
              acc [3, 128, 256] float32 in tmem
              line 3: error [capacity-exceeded] the kernel needs 262144 bytes of shared memory, 29696 too many; sm_100 has 232448 per block
              line 3: error [capacity-exceeded] the kernel needs 768 columns of tensor memory, 256 too many; sm_100 has 512 per block
        "#]],
    );
}

/// The compiler removes allocations that nothing reads.
#[test]
fn unused_buffers_prove_nothing() {
    check(
        "
@triton.jit
def kernel():
    tiles = tlx.local_alloc((128, 128), tl.float16, 8)
    with tlx.async_tasks():
        pass
",
        expect![[r#"
            kernel on sm_100: predicted, smem 0, tmem 0
              tiles [8, 128, 128] float16 in smem
        "#]],
    );
}

#[test]
fn two_ctas_halve_the_accumulator() {
    check(
        "
@triton.jit
def kernel():
    a = tlx.local_alloc((64, 64), tl.bfloat16, 1, tlx.storage_kind.tmem)
    b = tlx.local_alloc((64, 64), tl.bfloat16, 1)
    acc = tlx.local_alloc((64, 128), tl.float32, 1, tlx.storage_kind.tmem)
    tlx.async_dot(a[0], b[0], acc[0], two_ctas=True)
",
        expect![[r#"
            kernel on sm_100: bounded, smem 8200, tmem 128–256
              b [1, 64, 64] bfloat16 in smem
              barrier of `async_dot` [1] int64 in smem
              a [1, 64, 64] bfloat16 in tmem
              acc [1, 64, 128] float32 in tmem
        "#]],
    );
}

#[test]
fn editor_features_of_a_kernel() {
    let text = "
@triton.autotune(configs=[triton.Config({\"N\": n}) for n in [1, 2, 4]], key=[])
@triton.jit
def kernel(N: tl.constexpr):
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem)
    qk = tlx.local_alloc((128, 128), tl.float32, N, tlx.storage_kind.tmem, reuse=spec)
    p = tlx.local_alloc((128, 64), tl.float16, N, tlx.storage_kind.tmem, reuse=spec)
    spec.set_buffer_overlap(tlx.reuse_group(qk, p, group_type=tlx.reuse_group_type.distinct))
    tiles = tlx.local_alloc((128, 128), tl.float16, N)
    with tlx.async_tasks():
        with tlx.async_task(\"default\"):
            views = qk[0], p[0], tiles[0]
";
    let fixture = open(text, "");
    let mut out = String::new();
    for lens in fixture.code_lenses() {
        let text = fixture.code_lens(lens).expect("it is there");
        let _ = writeln!(out, "lens: {}", text.title);
    }
    for hint in fixture.inlay_hints(fixture.whole()) {
        let start = fixture.text[..hint.offset].rfind([' ', '\n']).map_or(0, |at| at + 1);
        let _ = writeln!(out, "hint: {} {}", &fixture.text[start..hint.offset], hint.label);
    }
    for symbol in fixture.document_symbols() {
        let children: Vec<_> = symbol.children.iter().map(|child| child.name.as_str()).collect();
        let _ = writeln!(out, "symbol: {} ({}): {}", symbol.name, symbol.detail, children.join(", "));
    }
    for name in ["N: tl", "spec =", "p ="] {
        let hover = fixture.hover(fixture.find(name)).expect("there is something to say");
        let _ = writeln!(out, "\n{}", hover.markdown);
    }
    expect![[r#"
        lens: 3 configurations · 0 B of 227 KiB (sm_100) · all fit
        hint: spec 160 cols unused
        hint: qk @0 +128 cols
        hint: p @128 +32 cols
        hint: tiles 32 KiB unused
        symbol: kernel (sm_100 kernel): spec, qk, p, tiles

        `N = 1`, from autotune configuration 1 of 3

        ```python
        spec: storage_alias_spec in tmem
        ```

        | | |
        |---|---|
        | size | 65536 bytes |
        | size | 160 columns |
        | unused | nothing reads or writes it, so the compiler leaves it out |
        | allocated in the end | 160 columns |
        | unused by buffers | 0 columns |
        | one buffer of all | 256 columns |
        | `qk` | 1 × 128 columns, from 0 |
        | `p` | 1 × 32 columns, from 128 |
        | of the kernel | SMEM 0/232448 |


        ```python
        p: 1 buffers of (128, 64) tl.float16
        ```

        | | |
        |---|---|
        | storage | tmem |
        | one buffer | 32 columns |
        | spec | `spec` |
        | offset, stride | 128, 256 columns |
        | slot of `p[i]` | 8 · i + 4 of 5 |
        | columns | `[0]` 128–160 |
        | of the kernel | SMEM 0/232448 |

    "#]]
    .assert_eq(&out);
}

#[test]
fn files_without_tlx_are_not_looked_at() {
    let text = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef kernel(x):\n    tlx.local_alloc((3,), tl.float32, 1)\n";
    // They are plain Triton, in which nothing is allocated.
    let plans = Fixture::new(text).plans();
    assert!(plans.iter().all(|plan| plan.tiles.is_empty()));
}

/// Asks for everything; nothing panics, and no stage has failed.
#[track_caller]
fn ask_everything(text: &str) {
    let fixture = Fixture::new(text);
    let diagnostics = fixture.diagnostics();
    let failed = diagnostics.iter().find(|diagnostic| diagnostic.code == Code::Internal);
    assert!(failed.is_none(), "{failed:?}\n{text}");
    fixture.code_lenses();
    fixture.plans();
    fixture.lowered_ir();
    fixture.memory_maps();
    fixture.inlay_hints(fixture.whole());
    fixture.code_actions(fixture.whole());
    for at in (0..text.len()).step_by(29) {
        fixture.hover(at);
        fixture.highlights(at);
    }
}

#[test]
fn half_typed_kernels_never_fail() {
    let text = format!("{IMPORTS}{PHASE_5}");
    for from in (0..text.len()).step_by(3) {
        for len in [1, 7, 40] {
            let mut broken = text.clone();
            broken.replace_range(from..(from + len).min(text.len()), "");
            ask_everything(&broken);
        }
    }
}

/// Each argument replaced by what does not belong there, or is out of all bounds.
#[test]
fn strange_arguments_never_fail() {
    let strange = [
        "0",
        "-1",
        "9223372036854775807",
        "None",
        "qk",
        "spec",
        "()",
        "(0,)",
        "[qk] * 3",
        "tl.float32",
        "n",
        "1.5",
        "'x'",
        "(64, 64, 64)",
        "(9223372036854775807, 2)",
    ];
    let places = [
        "(64, 64)",
        "(64,)",
        "tl.float32",
        "2, reuse",
        "reuse=spec",
        "32768",
        "p, alpha",
        "qk[0]",
        "tlx.storage_kind.smem",
        "tlx.reuse_group_type.distinct",
        "0]",
    ];
    let ways = [
        PHASE_5.to_owned(),
        PHASE_5.replace("smem", "tmem"),
        PHASE_5.replace(", reuse=spec", "").replace("(64,)", "(64, 64)"),
    ];
    for text in ways {
        for place in places {
            for value in strange {
                let value = match place {
                    "2, reuse" => format!("{value}, reuse"),
                    "reuse=spec" => format!("reuse={value}"),
                    "0]" => format!("{value}]"),
                    _ => value.to_owned(),
                };
                ask_everything(&format!("{IMPORTS}{}", text.replace(place, &value)));
            }
        }
    }
}

#[test]
fn what_shares_memory_is_highlighted() {
    let text = "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec()
    a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
    b = tlx.local_alloc((64, 64), tl.float16, 1, reuse=spec)
    alias = tlx.local_alloc((64, 64), tl.float16, 1, reuse=b)
    other = tlx.local_alloc((64, 64), tl.float16, 1)
    views = a[0], b[0], alias[0], other[0]
";
    let fixture = open(text, "[highlight]\nreuseGroup = true\n");
    let highlighted = |name: &str| {
        let mut found = fixture.highlights(fixture.find(name));
        found.sort_by_key(|mention| mention.range.start);
        let line = |start: usize| fixture.text[..start].lines().count() - IMPORTS.lines().count();
        let found = found.iter().map(|m| format!("{}:{}", line(m.range.start), fixture.at(m.range)));
        found.collect::<Vec<_>>().join(" ")
    };
    expect!["4:spec 5:a 5:spec 6:b 6:spec 7:alias"].assert_eq(&highlighted("spec ="));
    expect!["4:spec 5:a 6:b 7:alias 9:alias"].assert_eq(&highlighted("alias[0]"));
    expect!["8:other 9:other"].assert_eq(&highlighted("other ="));
}

#[test]
fn a_helper_of_another_file_sees_that_file() {
    let plans = open(
        "from helpers import allocate\n
@triton.jit
def kernel(n):
    buffers = allocate(2)
    view = tlx.local_view(buffers, 0)
    wide = allocate(3, columns=128)
# file: /w/helpers.py
from triton import jit
import triton.language as language
from triton.language.extra import tlx as extra

ROWS = 32

@jit
def allocate(count, columns: language.constexpr = ROWS * 2):
    return extra.local_alloc((ROWS, columns), language.float32, count)
",
        "",
    )
    .plans();
    let tiles: Vec<_> =
        plans[0].tiles.iter().map(|tile| format!("{} {:?} {}", tile.name, tile.shape, tile.dtype)).collect();
    assert_eq!(tiles, ["(unnamed) [2, 32, 64] float32", "(unnamed) [3, 32, 128] float32"]);
}

#[test]
fn a_pointer_that_moves_points_to_the_same_elements() {
    check(
        "
# tilefit: a_ptr=bf16 b_ptr=fp32
@triton.jit
def kernel(a_ptr, b_ptr, n):
    a_ptr += n * 64
    b_ptrs = b_ptr + tl.arange(0, 64)
    for k in range(n):
        a_ptr += 64
        b_ptrs = b_ptrs - 64
    a = tlx.local_alloc((64, 64), tlx.dtype_of(a_ptr), 1)
    b = tlx.local_alloc((64, 64), tlx.dtype_of(b_ptrs), 1)
    c = tlx.local_alloc((64, 64), tlx.dtype_of(a_ptr + 4), 1)
    views = a[0], b[0], c[0]
",
        expect![[r#"
            kernel on sm_100: predicted, smem 0, tmem 0
              a [1, 64, 64] bfloat16 in smem
              b [1, 64, 64] float32 in smem
              c [1, 64, 64] bfloat16 in smem
        "#]],
    );
}

#[test]
fn a_pointer_of_unknown_type_is_asked_for_when_it_moves() {
    check(
        "
@triton.jit
def kernel(a_ptr, n):
    a_ptr += n * 64
    for k in range(n):
        a_ptr += 64
    a = tlx.local_alloc((64, 64), tlx.dtype_of(a_ptr), 1)
    view = a[0]
",
        expect![[r#"
            kernel on sm_100: partial, smem 0–, tmem 0–
              line 3: hint [not-modelled] some sizes are unknown: `a_ptr` has no value here; add a comment `# tilefit: a_ptr=bf16` above the kernel
        "#]],
    );
}

#[test]
fn what_is_multiplied_is_no_pointer_any_more() {
    check(
        "
# tilefit: a_ptr=bf16
@triton.jit
def kernel(a_ptr, n):
    a_ptr *= 2
    a = tlx.local_alloc((64, 64), tlx.dtype_of(a_ptr), 1)
    view = a[0]
",
        expect![[r#"
            kernel on sm_100: partial, smem 0–, tmem 0–
              line 4: hint [not-modelled] some sizes are unknown: the compiler adds to a pointer, and computes nothing else from one
        "#]],
    );
}

#[test]
fn members_of_triton_that_are_not_known_are_named() {
    check(
        "
@triton.jit
def kernel():
    a = tlx.local_alloc((64, 64), tl.float99, 1)
    view = a[0]
",
        expect![[r#"
            kernel on sm_100: partial, smem 0–, tmem 0–
              line 4: hint [not-modelled] not modelled: `tl` has no `float99`
              line 3: hint [not-modelled] some sizes are unknown: `tl.float99` is not a constant that tilefit knows
        "#]],
    );
}

#[test]
fn a_spec_without_a_size_is_not_rounded_up() {
    check(
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec()
    a = tlx.local_alloc((0, 64), tl.bfloat16, 1, reuse=spec)
    view = a[0]
",
        expect![[r#"
            kernel on sm_100: rejected, smem 0, tmem 0
              spec: size Some(0), extent Some(0)
              a [1, 0, 64] bfloat16 in smem at None of Some(1): [[0, 0]]
              line 5: error [invalid-shape] shape must have power-of-2 and non-zero dimensions; got [0, 64]. Only the number of buffers of `a` may be any number
        "#]],
    );
}

#[test]
fn a_number_that_may_be_a_constexpr_is_not_refused() {
    check(
        "
@triton.jit
def kernel(z):
    if z:
        m: tl.constexpr = 1
    else:
        m: tl.constexpr = 2
    bars = tlx.alloc_barriers(m)
    for n in tl.static_range(1, 2):
        a = tlx.local_alloc((64, 64), tl.float32, n)
        view = a[0]
",
        expect![[r#"
            kernel on sm_100: partial, smem 0–, tmem 0–
              a [1, 64, 64] float32 in smem
              line 3: hint [not-modelled] some sizes are unknown: `m` depends on a condition: `z` has no value here; add a comment `# tilefit: z=True` above the kernel
        "#]],
    );
}

/// Triton 3.8 takes 16384 bytes more: each is loaded in a layout of its own.
#[test]
fn tensors_of_two_layouts_may_be_converted() {
    check(
        "
# tilefit: x_ptr=fp32 n=i32 arch=sm_90 num_warps=4 divisible=x_ptr triton=3.8
@triton.jit
def kernel(x_ptr, n):
    tile = tlx.local_alloc((64, 64), tl.float32, 1)
    rows = tl.arange(0, 64)[:, None]
    columns = tl.arange(0, 64)[None, :]
    a = tl.load(x_ptr + rows * 64 + columns)
    b = tl.load(x_ptr + rows + columns * 64)
    tlx.local_store(tile[0], a if n > 3 else b)
",
        expect![[r#"
            kernel on sm_90: bounded, smem 16384–32768
              tile [1, 64, 64] float32 in smem
              scratch of `convert_layout` in line 14 [16384] int8 in smem
              scratch of `convert_layout` in line 14 [16384] int8 in smem
        "#]],
    );
}

/// Triton 3.8 takes 8192 bytes more.
#[test]
fn what_a_loop_carries_may_be_converted() {
    check(
        "
# tilefit: x_ptr=fp32 n=i32 arch=sm_90 num_warps=4 divisible=x_ptr triton=3.8
@triton.jit
def kernel(x_ptr, n):
    tile = tlx.local_alloc((64, 64), tl.float32, 1)
    rows = tl.arange(0, 64)[:, None]
    columns = tl.arange(0, 64)[None, :]
    a = tl.load(x_ptr + rows * 64 + columns)
    for i in range(n):
        a += tl.load(x_ptr + i + rows + columns * 64)
    tlx.local_store(tile[0], a)
",
        expect![[r#"
            kernel on sm_90: bounded, smem 16384–32768
              tile [1, 64, 64] float32 in smem
              scratch of `convert_layout` in line 13 [16384] int8 in smem
              scratch of `convert_layout` in line 14 [16384] int8 in smem
              scratch of `convert_layout` in line 14 [16384] int8 in smem
              scratch of `convert_layout` in line 13 [16384] int8 in smem
        "#]],
    );
}

/// Triton 3.8 takes 256 bytes more: a vector that is loaded is no column of a tile that is.
#[test]
fn vectors_become_slices() {
    check(
        "
# tilefit: x_ptr=fp32 n=i32 arch=sm_90 num_warps=2 divisible=x_ptr triton=3.8
@triton.jit
def kernel(x_ptr, n):
    tile = tlx.local_alloc((64, 64), tl.float32, 1)
    rows = tl.arange(0, 64)[:, None]
    columns = tl.arange(0, 64)[None, :]
    a = tl.load(x_ptr + tl.arange(0, 64))
    b = tl.load(x_ptr + rows * 64 + columns)
    tlx.local_store(tile[0], a[:, None] + b)
",
        expect![[r#"
            kernel on sm_90: bounded, smem 16384–32768
              tile [1, 64, 64] float32 in smem
              scratch of `convert_layout` in line 14 [256] int8 in smem
              scratch of `convert_layout` in line 14 [256] int8 in smem
              scratch of `convert_layout` in line 14 [16384] int8 in smem
        "#]],
    );
}

/// What the compiler computes again in each layout, and what it converts: for the second, Triton 3.8 takes 8192 bytes more.
#[test]
fn what_costs_more_than_a_conversion_is_converted() {
    check(
        "
# tilefit: x_ptr=fp32 n=i32 arch=sm_90 num_warps=4 divisible=x_ptr triton=3.8
@triton.jit
def kernel(x_ptr, n):
    tile = tlx.local_alloc((64, 64), tl.float32, 1)
    rows = tl.arange(0, 64)[:, None]
    columns = tl.arange(0, 64)[None, :]
    cheap = tl.exp(tlx.local_load(tile[0]))
    tl.store(x_ptr + rows * 64 + columns, cheap)
    tl.store(x_ptr + rows + columns * 64, cheap)

# tilefit: x_ptr=fp32 n=i32 arch=sm_90 num_warps=4 divisible=x_ptr triton=3.8
@triton.jit
def dear(x_ptr, n):
    tile = tlx.local_alloc((64, 64), tl.float32, 1)
    rows = tl.arange(0, 64)[:, None]
    columns = tl.arange(0, 64)[None, :]
    other = tlx.local_alloc((64, 64), tl.float32, 1)
    dear = tl.sqrt(tl.exp(tl.log(tl.exp(tl.sin(tlx.local_load(tile[0]))))))
    tl.store(x_ptr + rows * 64 + columns, dear)
    tl.store(x_ptr + rows + columns * 64, dear)
    tlx.local_store(other[0], dear)
    tl.store(x_ptr + rows * 64 + columns, tlx.local_load(tile[0]) + tlx.local_load(other[0]))
",
        expect![[r#"
            kernel on sm_90: exact, smem 16384
              tile [1, 64, 64] float32 in smem
            dear on sm_90: bounded, smem 32768–49152
              tile [1, 64, 64] float32 in smem
              other [1, 64, 64] float32 in smem
              scratch of `convert_layout` in line 24 [16384] int8 in smem
              scratch of `convert_layout` in line 24 [16384] int8 in smem
              scratch of `convert_layout` in line 25 [16384] int8 in smem
              scratch of `convert_layout` in line 25 [16384] int8 in smem
        "#]],
    );
}

/// Its size is not known, but nobody asks for it: the compiler removes both.
#[test]
fn what_is_not_modelled_keeps_nothing_alive() {
    check(
        "
# tilefit: x_ptr=fp32 n=i32 arch=sm_90 num_warps=4 divisible=x_ptr triton=3.8
@triton.jit
def kernel(x_ptr, n):
    tile = tlx.local_alloc((64, 64), tl.float32, 1)
    rows = tl.arange(0, 64)[:, None]
    columns = tl.arange(0, 64)[None, :]
    flipped = tl.flip(tlx.local_load(tile[0]), 1)
",
        expect![[r#"
            kernel on sm_90: exact, smem 0
              tile [1, 64, 64] float32 in smem
        "#]],
    );
}

/// The buffer that a descriptor stores from is made where what it holds is known. In Triton 3.8 that is where `half` is computed, by way of `float32`:
/// it takes 16400 bytes, and not 16384.
#[test]
fn numbers_of_sixteen_bits_become_others_by_way_of_more() {
    check(
        "
# tilefit: x_ptr=fp32 d=fp32[64,64] n=i32 arch=sm_90 num_warps=4 divisible=x_ptr triton=3.8
@triton.jit
def kernel(x_ptr, d, n):
    x = tl.load(x_ptr + tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]).to(tl.bfloat16)
    tl.store(x_ptr + tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :], x.to(tl.float16))
    bars = tlx.alloc_barriers(2)
    tlx.barrier_wait(bars[0], 0)
    d.store([0, 0], x.to(tl.float32))
",
        expect![[r#"
            kernel on sm_90: exact, smem 16400
              staging of desc.store [64, 64] float32 in smem
              bars [2, 1] int64 in smem
        "#]],
    );
}

/// Triton 3.8 converts what is gathered, and its result: anywhere from where it is loaded on.
#[test]
fn what_is_gathered_may_be_converted() {
    check(
        "
# tilefit: x_ptr=bf16 n=i32 arch=sm_90 num_warps=4 divisible=x_ptr triton=3.8
@triton.jit
def kernel(x_ptr, n):
    tile = tlx.local_alloc((64, 32), tl.float32, 1)
    rows = tl.arange(0, 16)[:, None]
    columns = tl.arange(0, 128)[None, :]
    x = tl.load(x_ptr + rows * 128 + columns)
    tlx.local_store(tile[0], tl.zeros((64, 32), tl.float32))
    tl.store(x_ptr + rows * 128 + columns, tl.gather(x, rows * 0 + columns, axis=1))
",
        expect![[r#"
            kernel on sm_90: bounded, smem 8192–12288
              tile [1, 64, 32] float32 in smem
              scratch of `convert_layout` in line 14 [4096] int8 in smem
              scratch of `gather` in line 14 [4096] int8 in smem
              scratch of `convert_layout` in line 14 [4096] int8 in smem
              scratch of `convert_layout` in line 14 [4096] int8 in smem
        "#]],
    );
}

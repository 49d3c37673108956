//! Kernels of TileLang for Ascend NPUs: which they are, and what they take of the memories of a core.

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;

/// A kernel of the fork with a body, under some pass configurations.
fn kernel(configs: &str, body: &str) -> String {
    let body: String = body.lines().map(|line| format!("            {line}\n")).collect();
    format!(
        r#"import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1], pass_configs={{{configs}}})
def kernel(rows=64, cols=1024, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((4096, 4096), dtype), B: T.Tensor((4096, 4096), dtype)):
        with T.Kernel(24, is_npu=True) as (cid, vid):
{body}
    return main
"#
    )
}

const PLANNED: &str = "tilelang.PassConfigKey.TL_ASCEND_MEMORY_PLANNING: True";

/// What stands above and in a kernel, how far it is known, and what is wrong with it.
fn said(fixture: &Fixture) -> String {
    let lenses = fixture.code_lenses().into_iter().filter_map(|lens| fixture.code_lens(lens)).map(|lens| lens.title);
    let hints = fixture
        .inlay_hints(fixture.whole())
        .into_iter()
        .map(|it| format!("{}: {}", line(fixture, it.offset), it.label));
    let plans =
        fixture.plans().into_iter().map(|plan| format!("{} for {} by {}", plan.status, plan.target, plan.planner));
    let wrong = fixture.diagnostics().into_iter().map(|it| {
        let related: String = it.related.iter().map(|related| format!("\n    {}", related.message)).collect();
        format!("{}: {}[{}] {}{related}", line(fixture, it.range.start), it.severity.name(), it.code.name(), it.message)
    });
    lenses.chain(hints).chain(plans).chain(wrong).fold(String::new(), |all, one| all + &one + "\n")
}

fn line(fixture: &Fixture, offset: usize) -> usize {
    fixture.at(tilefit_syntax::TextRange::new(0, offset)).matches('\n').count() + 1
}

#[track_caller]
fn check(text: &str, settings: &str, expected: Expect) {
    expected.assert_eq(&said(&Fixture::new(text).with_settings(settings)));
}

const ADD: &str = "a = T.alloc_ub((rows, cols), dtype)
b = T.alloc_ub((rows // 2, cols), dtype)
with T.Scope(\"V\"):
    T.copy(A[cid * rows, 0], a)
    T.barrier_all()
    T.tile.add(b, a, a)
    T.copy(b, B[cid * rows, 0])";

/// Without the planner, one buffer after the other, and nothing checks how far that goes.
#[test]
fn buffers_of_ub_lie_one_after_the_other() {
    check(
        &kernel("", ADD),
        "",
        expect![[r#"
        UB 384 KiB of 192 KiB ⚠ 192 KiB over (ascend910b)
        10: UB 0x0 256 KiB
        11: UB 0x40000 128 KiB
        predicted for ascend910b by tilelang-ascend 95acbd7
        6: error[capacity-exceeded] the kernel needs 393216 bytes of UB, 196608 too many; ascend910b has 196608 per core
            `a` takes 262144 bytes
            `b` takes 131072 bytes
    "#]],
    );
    check(
        &kernel("", &ADD.replace("rows,", "rows * 2 // 5,")),
        "",
        expect![[r#"
        UB 228 KiB of 192 KiB ⚠ 36 KiB over (ascend910b)
        10: UB 0x0 100 KiB
        11: UB 0x19000 128 KiB
        predicted for ascend910b by tilelang-ascend 95acbd7
        6: error[capacity-exceeded] the kernel needs 233472 bytes of UB, 36864 too many; ascend910b has 196608 per core
            `b` takes 131072 bytes
            `a` takes 102400 bytes
    "#]],
    );
}

/// 950 has more of it.
#[test]
fn the_setting_says_which_npu_it_is() {
    check(
        &kernel("", &ADD.replace("rows,", "rows * 9 // 20,")),
        "target = \"ascend910b\"",
        expect![[r#"
        UB 240 KiB of 192 KiB ⚠ 48 KiB over (ascend910b)
        10: UB 0x0 112 KiB
        11: UB 0x1c000 128 KiB
        predicted for ascend910b by tilelang-ascend 95acbd7
        6: error[capacity-exceeded] the kernel needs 245760 bytes of UB, 49152 too many; ascend910b has 196608 per core
            `b` takes 131072 bytes
            `a` takes 114688 bytes
    "#]],
    );
    check(
        &kernel("", &ADD.replace("rows,", "rows * 9 // 20,")),
        "target = \"ascend950\"",
        expect![[r#"
        UB 240 KiB of 248 KiB (ascend950)
        10: UB 0x0 112 KiB
        11: UB 0x1c000 128 KiB
        predicted for ascend950 by tilelang-ascend 95acbd7
    "#]],
    );
    check(
        &kernel("", ADD),
        "target = \"sm_90\"",
        expect![[r#"
        UB 384 KiB of 192 KiB ⚠ 192 KiB over (ascend910b)
        10: UB 0x0 256 KiB
        11: UB 0x40000 128 KiB
        predicted for ascend910b by tilelang-ascend 95acbd7
        6: error[capacity-exceeded] the kernel needs 393216 bytes of UB, 196608 too many; ascend910b has 196608 per core
            `a` takes 262144 bytes
            `b` takes 131072 bytes
    "#]],
    );
}

/// A comment that names a GPU is no reason for an error of a GPU.
#[test]
fn a_kernel_of_the_fork_is_for_no_gpu() {
    let text = kernel("", ADD).replace("@tilelang.jit", "# tilefit: target=sm_90\n@tilelang.jit");
    check(
        &text,
        "",
        expect![[r#"
            memory not known: the kernel is for Ascend NPUs, and sm_90 is a GPU
            partial for sm_90 by tilelang 0.1.15
            7: hint[not-modelled] not modelled: the kernel is for Ascend NPUs, and sm_90 is a GPU
        "#]],
    );
    let text = "import tilelang.language as T\n\n\n# tilefit: target=ascend910b\ndef plain(n=4):\n    @T.prim_func\n    def main(A: T.Tensor((64,), \"float32\")):\n        with T.Kernel(n, threads=128) as bx:\n            a = T.alloc_shared((64,), \"float32\")\n            T.copy(A, a)\n\n    return main\n";
    check(
        text,
        "",
        expect![[r#"
            memory not known: the kernel is for GPUs, and ascend910b is an NPU
            partial for ascend910b by tilelang 0.1.15
            5: hint[not-modelled] not modelled: the kernel is for GPUs, and ascend910b is an NPU
        "#]],
    );
}

/// Where the compiler adds something, the total is what is known.
#[test]
fn temporaries_of_the_compiler_are_not_counted() {
    check(
        &kernel("", &ADD.replace("T.tile.add(b, a, a)", "T.tile.sigmoid(b, a)")),
        "",
        expect![[r#"
        UB ≥ 384 KiB of 192 KiB ⚠ 192 KiB over (ascend910b)
        10: UB 256 KiB
        11: UB 128 KiB
        partial for ascend910b by tilelang-ascend 95acbd7
        6: error[capacity-exceeded] the kernel needs ≥ 393216 bytes of UB, at least 196608 too many; ascend910b has 196608 per core
            `a` takes 262144 bytes
            `b` takes 131072 bytes
    "#]],
    );
}

const PRODUCT: &str = "a = T.alloc_L1((128, 256), \"float16\")
b = T.alloc_L1((256, 128), \"float16\")
c = T.alloc_L0C((128, 128), \"float32\")
with T.Scope(\"C\"):
    for k in T.serial(16):
        T.copy(A[cid * 128, k * 256], a)
        T.copy(B[k * 256, 0], b)
        T.gemm_v0(a, b, c, init=(k == 0))
    T.copy(c, B[cid * 128, 0])";

#[test]
fn memories_of_the_cube_core_have_totals_of_their_own() {
    check(
        &kernel("", PRODUCT),
        "",
        expect![[r#"
        L1 128 KiB of 512 KiB · L0C 64 KiB of 128 KiB (ascend910b)
        10: L1 0x0 64 KiB
        11: L1 0x10000 64 KiB
        12: L0C 0x0 64 KiB
        partial for ascend910b by tilelang-ascend 95acbd7
    "#]],
    );
    check(
        &kernel("", &PRODUCT.replace("T.serial(16)", "T.Pipelined(16, num_stages=2)")),
        "",
        expect![[r#"
        L1 ≥ 128 KiB of 512 KiB · L0C ≥ 64 KiB of 128 KiB (ascend910b)
        10: L1 64 KiB
        11: L1 64 KiB
        12: L0C 64 KiB
        partial for ascend910b by tilelang-ascend 95acbd7
    "#]],
    );
    let wide = PRODUCT.replace("(128, 128), \"float32\"", "(128, 264), \"float32\"");
    check(
        &kernel("", &wide),
        "",
        expect![[r#"
        L1 128 KiB of 512 KiB · L0C 132 KiB of 128 KiB ⚠ 4 KiB over (ascend910b)
        10: L1 0x0 64 KiB
        11: L1 0x10000 64 KiB
        12: L0C 0x0 132 KiB
        partial for ascend910b by tilelang-ascend 95acbd7
        6: error[capacity-exceeded] the kernel needs 135168 bytes of L0C, 4096 too many; ascend910b has 131072 per core
            `c` takes 135168 bytes
    "#]],
    );
}

/// It gives out less of UB than there is, and takes memory again where there is no more.
#[test]
fn the_planner_has_limits_of_its_own() {
    let one_after_the_other = "a = T.alloc_ub((24, 1024), dtype)
b = T.alloc_ub((25, 1024), dtype)
T.copy(A[cid * rows, 0], a)
T.copy(a, B[cid * rows, 0])
T.copy(A[cid * rows, 0], b)
T.copy(b, B[cid * rows, 0])";
    check(
        &kernel(PLANNED, one_after_the_other),
        "",
        expect![[r#"
        UB ≥ 100 KiB of 191.75 KiB (ascend910b)
        10: UB 96 KiB
        11: UB 100 KiB
        partial for ascend910b by tilelang-ascend 95acbd7
    "#]],
    );
    check(
        &kernel("", one_after_the_other),
        "",
        expect![[r#"
        UB 196 KiB of 192 KiB ⚠ 4 KiB over (ascend910b)
        10: UB 0x0 96 KiB
        11: UB 0x18000 100 KiB
        predicted for ascend910b by tilelang-ascend 95acbd7
        6: error[capacity-exceeded] the kernel needs 200704 bytes of UB, 4096 too many; ascend910b has 196608 per core
            `b` takes 102400 bytes
            `a` takes 98304 bytes
    "#]],
    );
    check(
        &kernel(PLANNED, &one_after_the_other.replace("24,", "48,")),
        "",
        expect![[r#"
            UB ≥ 192 KiB of 191.75 KiB ⚠ 256 B over (ascend910b)
            10: UB 192 KiB
            11: UB 100 KiB
            partial for ascend910b by tilelang-ascend 95acbd7
            6: error[capacity-exceeded] the kernel needs ≥ 196608 bytes of UB, at least 256 too many; tilelang-ascend 95acbd7 gives out 196352 per core
                `a` takes 196608 bytes
        "#]],
    );
    let at_once = ADD.replace("rows,", "25,").replace("rows // 2,", "25,");
    check(
        &kernel(PLANNED, &at_once),
        "",
        expect![[r#"
            UB ≥ 200 KiB of 191.75 KiB ⚠ 8.25 KiB over (ascend910b)
            10: UB 100 KiB
            11: UB 100 KiB
            partial for ascend910b by tilelang-ascend 95acbd7
            6: error[capacity-exceeded] the kernel needs ≥ 204800 bytes of UB, at least 8448 too many; tilelang-ascend 95acbd7 gives out 196352 per core
                `a` takes 102400 bytes
                `b` takes 102400 bytes
        "#]],
    );
}

/// With two threads each vector core may have half of the rows.
#[test]
fn threads_may_halve_what_is_in_ub() {
    let text = kernel("", ADD).replace("is_npu=True) as (cid, vid)", "threads=2, is_npu=True) as cid");
    check(
        &text,
        "",
        expect![[r#"
        UB ≥ 192 KiB of 192 KiB (ascend910b)
        10: UB 256 KiB
        11: UB 128 KiB
        partial for ascend910b by tilelang-ascend 95acbd7
    "#]],
    );
}

#[test]
fn a_given_address_is_kept() {
    let text =
        ADD.replace("with T.Scope", "T.annotate_address({a: 0, b: 65536})\nwith T.Scope").replace("rows,", "16,");
    check(
        &kernel("", &text),
        "",
        expect![[r#"
        UB 192 KiB of 192 KiB (ascend910b)
        10: UB 0x0 64 KiB
        11: UB 0x10000 128 KiB
        predicted for ascend910b by tilelang-ascend 95acbd7
    "#]],
    );
}

#[test]
fn hover_and_map_show_each_memory() {
    let text = kernel("", &PRODUCT.replace("c = T", "$0c = T"));
    let fixture = Fixture::new(&text);
    expect![[r#"
        ```python
        c: [128, 128] T.float32
        ```

        | | |
        |---|---|
        | size | 65536 bytes |
        | bytes | 0–65536 |
        | live | lines 15–18 |
        | of the kernel | L1 131072/524288 · L0A not known · L0B not known · L0C 65536/131072 |
    "#]]
    .assert_eq(&fixture.hover(fixture.cursor()).expect("a buffer").markdown);
    let name = fixture.text.find("kernel(rows").expect("the kernel");
    expect![[r#"
        `kernel` on ascend910b: L1 131072/524288 · L0A not known · L0B not known · L0C 65536/131072

        | live at the peak of L1 | bytes | at |
        |---|---|---|
        | a | 65536 | 0 |
        | b | 65536 | 65536 |

        | live at the peak of L0C | bytes | at |
        |---|---|---|
        | c | 65536 | 0 |


        * not exact: what `T.gemm_v0` takes itself is not modelled
    "#]]
    .assert_eq(&fixture.hover(name).expect("a kernel").markdown);
    let maps = fixture.memory_maps();
    let map = maps.first().expect("a map");
    let spaces = map.spaces.iter().map(|space| {
        let buffers: Vec<String> = space.buffers.iter().map(|it| format!("{} at {}", it.name, it.address)).collect();
        format!("{} {} of {:?}: {}", space.name, space.used, space.capacity, buffers.join(", "))
    });
    expect![[r#"
        L1 131072 of Some(524288): a at 0, b at 65536
        L0C 65536 of Some(131072): c at 0"#]]
    .assert_eq(&spaces.collect::<Vec<_>>().join("\n"));
}

/// A buffer that no statement touches is not allocated.
#[test]
fn an_unused_buffer_takes_nothing() {
    check(
        &kernel("", "a = T.alloc_ub((4096, 4096), dtype)\nT.barrier_all()"),
        "",
        expect![[r#"

        predicted for ascend910b by tilelang-ascend 95acbd7
    "#]],
    );
}

/// The same for one that an `if` on something unknown may use.
#[test]
fn what_may_not_be_there_does_not_count() {
    let text = kernel(
        "",
        &ADD.replace("    T.copy(b", "    if unknown():\n        T.copy(b")
            .replace("T.tile.add(b, a, a)", "T.tile.add(a, a, a)"),
    )
    .replace("import tilelang\n", "import tilelang\nfrom elsewhere import unknown\n");
    check(
        &text,
        "",
        expect![[r#"
            UB ≥ 256 KiB of 192 KiB ⚠ 64 KiB over (ascend910b)
            11: UB 256 KiB
            12: UB 128 KiB
            partial for ascend910b by tilelang-ascend 95acbd7
            7: error[capacity-exceeded] the kernel needs ≥ 262144 bytes of UB, at least 65536 too many; ascend910b has 196608 per core
                `a` takes 262144 bytes
                `b` takes 131072 bytes
            7: hint[not-modelled] not modelled: which branch is taken is not known: `elsewhere.unknown` is not followed
        "#]],
    );
}

/// TileLang's own compiler for Ascend 950 has other rules.
#[test]
fn tilelang_has_a_compiler_for_ascend_of_its_own() {
    let text = r#"import tilelang
import tilelang.ascend.language as T


@tilelang.jit(target="ascend")
def kernel(rows=64):
    @T.prim_func
    def main(A: T.Tensor((4096, 4096), "float32")):
        with T.Kernel(32) as bx:
            a = T.alloc_l1((rows, 256), "float32")
            T.copy(A[bx * rows, 0], a)

    return main
"#;
    check(
        text,
        "",
        expect![[r#"
            L1 ≥ 64 KiB of 512 KiB (ascend950)
            10: L1 64 KiB
            partial for ascend950 by tilelang 0.1.15
        "#]],
    );
}

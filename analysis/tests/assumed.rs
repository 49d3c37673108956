//! What a plan of a kernel of a GPU rests on that nothing says: it is named with the numbers, makes them predicted at most, and carries no error.

use std::fmt::Write;

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;

const HEAD: &str = "import torch\nimport triton\nimport triton.language as tl\n\n\n";

/// Of each kernel of a file: device, status, shared memory, what is assumed, and what is wrong.
fn check_in(path: &str, text: &str, expect: Expect) {
    let mut out = String::new();
    for plan in Fixture::new(&format!("# file: {path}\n{HEAD}{text}")).plans() {
        let smem = &plan.spaces["smem"];
        let used = match (smem.used, smem.bounds) {
            (Some(used), _) => used.to_string(),
            (None, Some(bounds)) => {
                format!("{}..{}", bounds.low, bounds.high.map_or(String::new(), |it| it.to_string()))
            }
            _ => "?".to_owned(),
        };
        let _ = writeln!(out, "{} on {}: {used}, {}", plan.name, plan.target, plan.status);
        for assumed in &plan.assumes {
            let _ = writeln!(out, "  assumes: {assumed}");
        }
        for diagnostic in plan.diagnostics.iter().filter(|diagnostic| diagnostic.severity != "hint") {
            let _ = writeln!(out, "  {} [{}] {}", diagnostic.severity, diagnostic.code, diagnostic.message);
        }
    }
    expect.assert_eq(&out);
}

fn check(text: &str, expect: Expect) {
    check_in("/w/kernels.py", text, expect);
}

const PRODUCT: &str = "@triton.jit
def product(a, b, c, N: tl.constexpr, K: tl.constexpr, ROUNDS: tl.constexpr):
    at = tl.arange(0, N)
    k = tl.arange(0, K)
    total = tl.zeros((N, N), tl.float32)
    for i in range(ROUNDS):
        x = tl.load(a + at[:, None] * K + k[None, :] + i * K * N)
        y = tl.load(b + k[:, None] * N + at[None, :] + i * K * N)
        total = tl.dot(x, y, total)
    tl.store(c + at[:, None] * N + at[None, :], total)
";

/// What says it all is the comment; where it says less, that is assumed.
#[test]
fn options_that_nothing_gives_are_named() {
    let of = |comment: &str| {
        format!("# tilefit: a=fp16 b=fp16 c=fp32 N=64 K=64 ROUNDS=4 divisible=a,b,c {comment}\n{PRODUCT}")
    };
    check(
        &of("arch=sm_90 num_warps=4 num_stages=3"),
        expect![[r#"
        product on sm_90: 49152, exact
    "#]],
    );
    check(
        &of("arch=sm_90 num_warps=4"),
        expect![[r#"
        product on sm_90: 49152, predicted
          assumes: loops have 3 stages (no number is given)
    "#]],
    );
    check(
        &of(""),
        expect![[r#"
            product on sm_100: 49168, predicted
              assumes: the device is sm_100 (none is named)
              assumes: the kernel has 4 warps (no number is given)
              assumes: loops have 3 stages (no number is given)
        "#]],
    );
}

/// Whatever launches the kernel without options takes those of the compiler: nothing is assumed.
#[test]
fn a_launch_leaves_the_options_to_the_compiler() {
    let host = "
def run():
    a = torch.empty((64, 64), dtype=torch.float16)
    c = torch.empty((64, 64), dtype=torch.float32)
    product[(1,)](a, a, c, N=64, K=64, ROUNDS=4OPTIONS)
";
    check(
        &format!("{PRODUCT}\n{}", host.replace("OPTIONS", "")),
        expect![[r#"
            product on sm_100: 49168, predicted
              assumes: the device is sm_100 (none is named)
        "#]],
    );
    check(
        &format!("{PRODUCT}\n{}", host.replace("OPTIONS", ", **read()")),
        expect![[r#"
            product on sm_100: 49168, predicted
              assumes: the device is sm_100 (none is named)
              assumes: the kernel has 4 warps (no number is given)
              assumes: loops have 3 stages (no number is given)
        "#]],
    );
}

/// A kernel that is too large with three stages, and fits with one, is no error; one that never fits is.
#[test]
fn no_error_rests_on_an_assumption() {
    let of = |size: &str| {
        format!("# tilefit: a=fp16 b=fp16 c=fp32 {size} divisible=a,b,c num_warps=8 arch=sm_86\n{PRODUCT}")
    };
    check(
        &of("N=128 K=128 ROUNDS=8"),
        expect![[r#"
            product on sm_86: 131072, predicted
              assumes: loops have 3 stages (no number is given)
              warning [may-not-fit] the kernel may not fit: it needs 131072 bytes of shared memory with 3 stages, which nothing gives; sm_86 has 101376 per block
        "#]],
    );
    check(
        &of("N=128 K=256 ROUNDS=8"),
        expect![[r#"
            product on sm_86: 262144, predicted
              assumes: loops have 3 stages (no number is given)
              error [capacity-exceeded] the kernel needs 262144 bytes of shared memory, 160768 too many; sm_86 has 101376 per block
        "#]],
    );
    // Without a device: a warning that names the one that is assumed.
    check(
        &of("N=128 K=128 ROUNDS=8").replace(" arch=sm_86", " num_stages=4"),
        expect![[r#"
            product on sm_100: 262160, predicted
              assumes: the device is sm_100 (none is named)
              warning [capacity-exceeded] the kernel needs 262160 bytes of shared memory, 29712 too many; sm_100, which is assumed, has 232448 per block: `# tilefit: target=sm_100` says which it is
        "#]],
    );
}

/// Which layout a descriptor has that the launch makes is assumed, and a copy of it refused only where it is told.
#[test]
fn no_copy_is_refused_for_a_layout_that_is_assumed() {
    let of = |layout: &str| {
        format!(
            "from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

# tilefit: source={layout} arch=sm_90 num_warps=4
@gluon.jit
def copy(source):
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], gl.NVMMASharedLayout(64, 16, 2))
    ready = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(ready, count=1)
    tma.async_load(source, [0, 0], ready, tile)
    mbarrier.wait(ready, 0)
"
        )
    };
    check(
        &of("fp16[64,64]"),
        expect![[r#"
        copy on sm_90: 8200, exact
    "#]],
    );
    check(
        &of("\"tensordesc<fp16[64,64],NVMMASharedLayout(128, 16, 2)>\""),
        expect![[r#"
        copy on sm_90: 8200, rejected
          error [invalid-operand] the descriptor has a swizzle of 128 bytes, and the buffer a swizzle of 64 bytes; allocate it with the `layout` of the descriptor
    "#]],
    );
}

/// The element type of a descriptor that the kernel makes of a pointer is that of the pointer, which nothing names.
#[test]
fn a_descriptor_of_any_type_has_no_size() {
    let kernel = "@triton.jit
def copy(x, y, N: tl.constexpr):
    of_x = tl.make_tensor_descriptor(x, shape=[N, N], strides=[N, 1], block_shape=[N, N])
    of_y = tl.make_tensor_descriptor(y, shape=[N, N], strides=[N, 1], block_shape=[N, N])
    of_y.store([0, 0], of_x.load([0, 0]))
";
    check(
        &format!("# tilefit: N=128 num_warps=4 arch=sm_90\n{kernel}"),
        expect![[r#"
        copy on sm_90: 0.., partial
    "#]],
    );
    check(
        &format!("# tilefit: N=128 x=fp8 y=fp8 num_warps=4 arch=sm_90\n{kernel}"),
        expect![[r#"
        copy on sm_90: 16392, exact
    "#]],
    );
}

/// Every way in which a file names the device.
#[test]
fn the_file_names_the_device() {
    let kernel = "@triton.jit\ndef one(x):\n    tl.store(x, 1)\n";
    let said = |head: &str, after: &str| format!("{head}\n{kernel}\n{after}");
    check(
        &said("# tilefit: target=hip:gfx942", ""),
        expect![[r#"
        one on gfx942: 0, predicted
          assumes: the kernel has 4 warps (no number is given)
    "#]],
    );
    check(
        &said("# tilefit: target=cuda:86\n\nSIZE = 4\n", ""),
        expect![[r#"
        one on sm_86: 0, predicted
          assumes: the kernel has 4 warps (no number is given)
    "#]],
    );
    check(
        &said(
            "",
            "\ndef compiled():\n    src = triton.compiler.ASTSource(fn=one, signature={\"x\": \"*fp16\"})\n    return triton.compile(src, target=GPUTarget(\"hip\", \"gfx942\", 64))\n",
        ),
        expect![[r#"
            one on gfx942: 0, predicted
              assumes: the kernel has 4 warps (no number is given)
        "#]],
    );
    check(
        &said("TARGET = GPUTarget(\"cuda\", 90, 32)\n", ""),
        expect![[r#"
        one on sm_90: 0, predicted
          assumes: the kernel has 4 warps (no number is given)
    "#]],
    );
    check(
        &said("ARCH = \"gfx950\"\n", ""),
        expect![[r#"
        one on gfx950: 0, predicted
          assumes: the device is gfx950 (the only one that the file speaks of)
          assumes: the kernel has 4 warps (no number is given)
    "#]],
    );
    check_in(
        "/w/amd_gemm_gfx942.py",
        kernel,
        expect![[r#"
        one on gfx942: 0, predicted
          assumes: the device is gfx942 (the only one that the file speaks of)
          assumes: the kernel has 4 warps (no number is given)
    "#]],
    );
    check_in(
        "/w/sm90_or_sm100.py",
        kernel,
        expect![[r#"
        one on sm_100: 0, predicted
          assumes: the device is sm_100 (none is named)
          assumes: the kernel has 4 warps (no number is given)
    "#]],
    );
}

/// The bytes of an argument of unknown type are those of an i32.
#[test]
fn numbers_in_shared_memory_are_named() {
    let kernel = "# tilefit: x=i64 num_warps=4 arch=sm_90
@triton.jit
def sums(x, n):
    tl.store(x + tl.arange(0, 256), tl.cumsum(n + tl.arange(0, 256), 0))
";
    check(
        kernel,
        expect![[r#"
        sums on sm_90: 0..1024, bounded
          assumes: `n` is an i32 (no type is given)
    "#]],
    );
    check(
        &kernel.replace("x=i64", "x=i64 n=\"i64\""),
        expect![[r#"
        sums on sm_90: 0..2048, bounded
    "#]],
    );
}

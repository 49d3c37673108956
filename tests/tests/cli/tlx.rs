//! What the command line shows of TLX kernels.

use expect_test::expect;

use super::{check, directory};

const KERNEL: &[u8] = b"import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n\n@triton.autotune(configs=[triton.Config({'N': n}) for n in [2, 16]], key=[])\n@triton.jit\ndef kernel(desc, N: tl.constexpr):\n    a = tlx.local_alloc((64, 128), tlx.dtype_of(desc), N)\n    with tlx.async_tasks():\n        tlx.local_store(a[0], tlx.local_load(a[1]))\n";

#[test]
fn a_plan_lists_the_scenarios() {
    let settings = b"[tlx.scenarios.kernel]\ndesc = \"bf16\"\n";
    let root = directory("scenarios", &[("kernel.py", KERNEL), ("tilefit.toml", settings)]);
    check(
        &root,
        &["plan", "kernel.py"],
        &expect![[r#"
            kernel.py:7: kernel (sm_100, compiler, predicted)
              tile  space  address  bytes  shape         dtype     buffer  lines
              a     smem   0x0      32768  [2, 64, 128]  bfloat16          8-10
              smem       ██░░░░░░░░░░░░░░░░░░    32 KiB of 227 KiB     15 %
              tmem       ░░░░░░░░░░░░░░░░░░░░         0 of 512 columns    0 %
              scenario  N   smem (bytes)  tmem (columns)
              1         16  262144        0               exceeds
              2 *       2   32768         0               fits
              assumes: the device is sm_100 (none is named)
            exit 0
        "#]],
    );
}

#[test]
fn a_plan_may_be_mlir() {
    let settings = b"[tlx.scenarios.kernel]\ndesc = \"bf16\"\n";
    let root = directory("mlir", &[("kernel.py", KERNEL), ("tilefit.toml", settings)]);
    check(
        &root,
        &["plan", "kernel.py", "--format", "mlir"],
        &expect![[r#"
            // -----// IR after the front end //----- //
            #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %a = ttg.local_alloc : () -> !ttg.memdesc<2x64x128xbf16, #shared, #smem, mutable>
              %c0_i32 = arith.constant 0 : i32
              %0 = ttg.memdesc_index %a[%c0_i32] : !ttg.memdesc<2x64x128xbf16, #shared, #smem, mutable
              %c1_i32 = arith.constant 1 : i32
              %1 = ttg.memdesc_index %a[%c1_i32] : !ttg.memdesc<2x64x128xbf16, #shared, #smem, mutable
              tt.return
            }
            exit 0
        "#]],
    );
    let root = directory("no_mlir", &[("plain.py", b"x = 1\n")]);
    check(
        &root,
        &["plan", "plain.py", "--format", "mlir"],
        &expect![[r#"
        tilefit: plain.py: there are no kernels in this file
        exit 0
    "#]],
    );
}

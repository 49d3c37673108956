//! Instructions that run on another unit than their memories say, or on none.

use expect_test::{Expect, expect};

use super::source::planned;
use crate::codegen::{generate, model, program};
use crate::target::Target;

/// The body of the C++ of a kernel: `a` and `out` are tensors of 16 x 64, FP32 unless `dtype` is another.
fn check_for(target: Target, dtype: &str, lines: &str, expected: &Expect) {
    let body: String = lines.lines().map(|line| format!("    {}\n", line.trim())).collect();
    let text = format!(
        "import pypto.language as pl\n\n\n@pl.function(type=pl.FunctionType.InCore)\n\
         def kernel(a: pl.Tensor[[16, 64], pl.{dtype}], out: pl.Out[pl.Tensor[[16, 64], pl.{dtype}]]):\n{body}    return out\n"
    );
    let kernels = planned(&text, target);
    let (kernel, plan) = kernels.first().expect("a kernel");
    assert!(kernel.notes.is_empty() && kernel.rejections.is_empty(), "{:?} {:?}", kernel.notes, kernel.rejections);
    let (sequenced, _) = program(kernel, plan);
    assert_eq!(model::problems(&sequenced), []);
    let generated = generate(kernel, plan);
    let body = generated.text.split("// Function body\n").nth(1).unwrap_or_default();
    let mut said: String = body.lines().map(|line| format!("{}\n", line.trim())).collect();
    generated.findings.iter().for_each(|finding| said.push_str(&format!("{}: {}\n", finding.code, finding.message)));
    expected.assert_eq(&said);
}

pub(super) fn check(lines: &str, expected: Expect) {
    check_for(Target::Ascend910b, "FP32", lines, &expected);
}

/// Without scratch it is a loop over the elements: the vector unit must not read them before.
#[test]
fn numbers_in_a_row_are_counted_by_the_scalar_unit() {
    let text = "n = pl.tile.ci(0, [1, 64], dtype=pl.INT32)
         m = pl.tile.add(n, n)
         out = pl.store(m, [0, 0], out)";
    let counted = expect![[r#"
        TCI<nType, int32_t, 0>(n, 0);
        set_flag(PIPE_S, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_S, PIPE_V, EVENT_ID0);
        TADD(m, n, n);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(outGlobal, m);
        }
    "#]];
    check_for(Target::Ascend910b, "INT32", text, &counted);
    check_for(Target::Ascend950, "INT32", text, &counted);
}

#[test]
fn a_reshape_is_no_instruction() {
    check(
        "x = pl.load(a, [0, 0], [16, 64])
         y = pl.tile.exp(x)
         z = pl.tile.reshape(y, [32, 32])
         w = pl.tile.exp(z)
         v = pl.tile.reshape(w, [16, 64])
         out = pl.store(v, [0, 0], out)",
        expect![[r#"
            TLOAD(x, aGlobal);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            TEXP(y, x);
            TRESHAPE(z, y);
            pipe_barrier(PIPE_V);
            TEXP(w, z);
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            TRESHAPE(v, w);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            TSTORE(outGlobal, v);
            }
        "#]],
    );
}

/// After columns that end within a block of 32 bytes the scalar unit copies on 910B, and nothing in the instruction waits for it.
#[test]
fn columns_within_a_block_are_appended_by_the_scalar_unit() {
    let text = "x = pl.load(a, [0, 0], [16, 16], valid_shapes=[16, 12])
         y = pl.load(a, [0, 16], [16, 16])
         z = pl.tile.concat(x, y)
         out = pl.store(z, [0, 0], out)";
    check(
        text,
        expect![[r#"
        TLOAD(x, aGlobal);
        TASSIGN(aGlobal_1, a + 0 * 64 + 16);
        TLOAD(y, aGlobal_1);
        pipe_barrier(PIPE_ALL);
        TCONCAT(z, x, y);
        pipe_barrier(PIPE_ALL);
        TSTORE(outGlobal, z);
        }
    "#]],
    );
    check_for(
        Target::Ascend950,
        "FP32",
        text,
        &expect![[r#"
        TLOAD(x, aGlobal);
        TASSIGN(aGlobal_1, a + 0 * 64 + 16);
        TLOAD(y, aGlobal_1);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TCONCAT(z, x, y);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(outGlobal, z);
        }
    "#]],
    );
    check(
        &text.replace("12]", "16]"),
        expect![[r#"
        TLOAD(x, aGlobal);
        TASSIGN(aGlobal, a + 0 * 64 + 16);
        TLOAD(y, aGlobal);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TCONCAT(z, x, y);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(outGlobal, z);
        }
    "#]],
    );
}

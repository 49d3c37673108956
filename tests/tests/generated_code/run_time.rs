//! Kernels whose offsets, extents and valid parts are known when they run: compared with the reference.

use crate::generated_code::host::{compiled, written};
use crate::generated_code::numerics::Program;

const HEAD: &str = "import pypto.language as pl\n\nT = pl.dynamic(\"T\")\n\n";

/// Adds every kernel of the text.
fn add(program: &mut Program, name: &str, text: &str) {
    let authors = written(&format!("{HEAD}{text}"));
    assert!(!authors.is_empty(), "{name} has no kernel");
    for (index, author) in authors.into_iter().enumerate() {
        let kernels = compiled(author.clone());
        assert!(author.notes.is_empty() && author.rejections.is_empty(), "{name}: {:?}", author.notes);
        program.add(&format!("{name}_{index}"), &author, &kernels).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

#[test]
fn values_that_are_known_at_run_time_reach_the_instructions() {
    let mut program = Program::default();
    add(
        &mut program,
        "cast_offset",
        "@pl.jit
def kernel(rows: pl.Tensor[[16], pl.INT32], x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(16):
            row = pl.cast(pl.read(rows, [i]) % 16, target_type=pl.INDEX)
            out[i : i + 1, :] = pl.add(x[row : row + 1, :], 1.0)
    return out
",
    );
    // What is valid of a column is valid of it as a row.
    add(
        &mut program,
        "reshaped_tail",
        "@pl.jit
def kernel(
    rows: pl.Tensor[[4], pl.INT32], x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[4, 16], pl.FP32]]
):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(4):
            valid = pl.cast(pl.read(rows, [i]) % 8 + 1, target_type=pl.INDEX)
            part = pl.slice(x, [16, 64], [i * 16, 0], valid_shape=[valid, 64])
            sums = pl.reshape(pl.row_sum(part), [1, 16])
            out = pl.assemble(out, pl.mul(sums, 2.0), [i, 0])
    return out
",
    );
    add(
        &mut program,
        "reshaped_prefix",
        "@pl.jit
def kernel(x: pl.Tensor[[4, 16, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        part = pl.slice(x, [4, 16, 64], [0, 0, 0], valid_shape=[3, 16, 64])
        flat = pl.reshape(part, [64, 64])
        out = pl.assemble(out, pl.add(flat, 1.0), [0, 0])
    return out
",
    );
    // The rows of `part` are as far apart as the function around the scope says.
    add(
        &mut program,
        "host_extents",
        "@pl.jit
def kernel(x: pl.Tensor[[T, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    t_dim = pl.tensor.dim(x, 0)
    padded = (t_dim + 63) // 64 * 64
    part = pl.create_tensor([8, padded], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"sums\"):
        for i in pl.range(8):
            sums = pl.reshape(pl.row_sum(x[i * 8 : i * 8 + 8, :]), [1, 8])
            part = pl.assemble(part, sums, [i, 8])
    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"scale\"):
        for i in pl.range(8):
            out[i : i + 1, :] = pl.mul(part[i : i + 1, 0:64], 3.0)
    return out
",
    );
    // Windows of an accumulator, which lies in boxes, at names for constants.
    add(
        &mut program,
        "accumulator_windows",
        "@pl.jit
def kernel(
    a: pl.Tensor[[32, 64], pl.FP16], b: pl.Tensor[[64, 32], pl.FP16], out: pl.Out[pl.Tensor[[64, 32], pl.FP32]]
):
    with pl.at(level=pl.Level.CORE_GROUP):
        product = pl.matmul(a, b, out_dtype=pl.FP32)
        for half in pl.unroll(2):
            row = half * 16
            target = 48 - half * 32
            out[target : target + 16, :] = product[row : row + 16, :]
    return out
",
    );
    // Where they begin is known at run time only, and always at a box.
    add(
        &mut program,
        "accumulator_rows",
        "@pl.jit
def kernel(
    a: pl.Tensor[[64, 64], pl.FP16], b: pl.Tensor[[64, 32], pl.FP16], out: pl.Out[pl.Tensor[[64, 32], pl.FP32]]
):
    with pl.at(level=pl.Level.CORE_GROUP):
        product = pl.matmul(a, b, out_dtype=pl.FP32)
        for row in pl.range(0, 64, 16):
            out[48 - row : 64 - row, :] = product[row : row + 16, :]
    return out
",
    );
    // Counted, and read back in another order; one array, whatever loops and branches it passes.
    add(
        &mut program,
        "arrays",
        "@pl.jit
def kernel(
    keys: pl.Tensor[[16], pl.INT32], x: pl.Tensor[[16, 64], pl.FP32], counts: pl.Out[pl.Tensor[[4], pl.INT32]],
    out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
):
    with pl.at(level=pl.Level.CORE_GROUP):
        count = pl.array.create(4, pl.INT32)
        last = pl.array.create(4, pl.INT32)
        for i in pl.range(4):
            last[i] = 15 - i
        for i in pl.range(16):
            key = pl.read(keys, [i]) % 4
            count[key] = count[key] + 1
            if key != 2:
                last[key] = i
        for i in pl.range(4):
            pl.write(counts, [i], count[i])
            row = pl.cast(last[i], target_type=pl.INDEX)
            out[i : i + 1, :] = pl.mul(x[row : row + 1, :], 2.0)
    return out
",
    );
    assert_eq!(program.run("run_time"), Vec::<String>::new());
}

//! The listings of PyPTO's design of its generator (`docs/reference/codegen.md`).

use expect_test::{Expect, expect};
use tilefit_python::element::Dtype;

use super::fixture::{Fixture, sizes, tensor_type, tile_type, zero};
use crate::codegen::{Insertion, Options, generate, generate_as};
use crate::ir::{Attr, AttrName, Carry, If, Operand, Role, Scalar, ScalarBinary, Stmt, Type, Value};
use crate::ops::Pipe;
use crate::target::Space;

fn check(fixture: &Fixture, expected: Expect) {
    let generated = generate(&fixture.kernel, &fixture.plan);
    let mut text = generated.text;
    for finding in generated.findings {
        text.push_str(&format!("{}: {}\n", finding.code, finding.message));
    }
    expected.assert_eq(&text);
}

fn simple_add() -> Fixture {
    let mut f = Fixture::new("simple_add");
    let [x, y, output] = ["x", "y", "output"].map(|name| f.tensor(name, &[128, 64], Dtype::Fp32));
    let tile_x = f.vec("tile_x", &[128, 64], 0);
    let tile_y = f.vec("tile_y", &[128, 64], 0x10000);
    let tile_z = f.vec("tile_z", &[128, 64], 0x20000);
    f.kernel.body = vec![
        f.load(tile_x, x, zero(), &[128, 64]),
        f.load(tile_y, y, zero(), &[128, 64]),
        f.set(tile_z, "block.add", vec![Operand::Var(tile_x), Operand::Var(tile_y)]),
        f.store(tile_z, zero(), output),
    ];
    f
}

/// Phase 1 to 3 of the seed in one; its synchronisation is what the kernel needs and is inserted.
#[test]
fn simple_add_is_the_text_of_the_seed() {
    check(
        &simple_add(),
        expect![[r#"
        __aicore__ __attribute__((always_inline)) void runSimpleAdd(__gm__ int64_t* args)
        {
            // Unpack arguments
            __gm__ float* x = reinterpret_cast<__gm__ float*>(args[0]);
            __gm__ float* y = reinterpret_cast<__gm__ float*>(args[1]);
            __gm__ float* output = reinterpret_cast<__gm__ float*>(args[2]);

            // Global tensor declarations
            using xShapeDim5 = Shape<1, 1, 1, 128, 64>;
            using xStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using xGlobalType = GlobalTensor<float, xShapeDim5, xStrideDim5>;
            xGlobalType xGlobal(x);

            using yShapeDim5 = Shape<1, 1, 1, 128, 64>;
            using yStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using yGlobalType = GlobalTensor<float, yShapeDim5, yStrideDim5>;
            yGlobalType yGlobal(y);

            using outputShapeDim5 = Shape<1, 1, 1, 128, 64>;
            using outputStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using outputGlobalType = GlobalTensor<float, outputShapeDim5, outputStrideDim5>;
            outputGlobalType outputGlobal(output);

            // Tile type definitions and allocations
            using tile_xType = Tile<TileType::Vec, float, 128, 64, BLayout::RowMajor, -1, -1>;
            tile_xType tile_x(128, 64);
            TASSIGN(tile_x, 0x0);

            using tile_yType = Tile<TileType::Vec, float, 128, 64, BLayout::RowMajor, -1, -1>;
            tile_yType tile_y(128, 64);
            TASSIGN(tile_y, 0x10000);

            using tile_zType = Tile<TileType::Vec, float, 128, 64, BLayout::RowMajor, -1, -1>;
            tile_zType tile_z(128, 64);
            TASSIGN(tile_z, 0x20000);

            // Function body
            TLOAD(tile_x, xGlobal);
            TLOAD(tile_y, yGlobal);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            TADD(tile_z, tile_x, tile_y);
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            TSTORE(outputGlobal, tile_z);
        }
    "#]],
    );
}

/// `TASSIGN` with the offset, in the form of the seed's section on memory operations, before every access.
#[test]
fn loads_and_stores_can_always_move_their_wrapper() {
    let f = simple_add();
    let text = generate_as(&f.kernel, &f.plan, Options { always_assign: true, ..Options::default() }).text;
    let body: Vec<&str> = text.lines().skip_while(|line| !line.contains("// Function body")).collect();
    expect![[r#"
            // Function body
            TASSIGN(xGlobal, x + 0 * 64 + 0);
            TLOAD(tile_x, xGlobal);
            TASSIGN(yGlobal, y + 0 * 64 + 0);
            TLOAD(tile_y, yGlobal);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            TADD(tile_z, tile_x, tile_y);
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            TASSIGN(outputGlobal, output + 0 * 64 + 0);
            TSTORE(outputGlobal, tile_z);
        }"#]]
    .assert_eq(&body.join("\n"));
}

fn body(f: &Fixture, options: Options) -> String {
    let text = generate_as(&f.kernel, &f.plan, options).text;
    let body = text.lines().skip_while(|line| !line.contains("// Function body")).skip(1);
    body.filter_map(|line| line.strip_prefix("    ")).map(|line| format!("{line}\n")).collect()
}

/// The listings of the section on operations, under the names that the operations had then.
#[test]
fn operations_are_the_text_of_the_seed() {
    let mut f = Fixture::new("operations");
    let [input, output] = ["input", "output"].map(|name| f.tensor(name, &[256, 128], Dtype::Fp32));
    let mut at = (0..).step_by(0x4000);
    let [tile_x, tile_y, tile_z, columns, tmp] = ["tile_x", "tile_y", "tile_z", "columns", "tmp"].map(|name| {
        let shape = if name == "columns" { [1, 128] } else { [32, 128] };
        f.vec(name, &shape, at.next().unwrap())
    });
    let rows = f.vec("rows", &[32, 1], 0x14000);
    let flag = || {
        vec![
            (AttrName::SetPipe, Attr::Pipe(Pipe::Mte2)),
            (AttrName::WaitPipe, Attr::Pipe(Pipe::V)),
            (AttrName::EventId, Attr::Int(0)),
        ]
    };
    let eval =
        |f: &Fixture, op: &str, attrs| Stmt::Eval { call: f.call(op, Vec::new(), attrs), origin: f.kernel.origin };
    let var = Operand::Var;
    let window = || sizes(&[32, 128]);
    let load = vec![var(input), Operand::List(zero()), window()];
    let store = f.call("block.store", vec![var(tile_z), Operand::List(zero()), var(output)], Vec::new());
    f.kernel.body = vec![
        f.set(tile_x, "block.load", load.clone()),
        f.set(tile_y, "block.load", load),
        eval(&f, "system.sync_src", flag()),
        eval(&f, "system.sync_dst", flag()),
        f.set(tile_z, "block.add", vec![var(tile_x), var(tile_y)]),
        f.set(tile_z, "block.mul", vec![var(tile_x), var(tile_y)]),
        eval(&f, "system.bar_v", Vec::new()),
        f.set(tile_y, "block.sqrt", vec![var(tile_x)]),
        f.set(columns, "tile.col_sum", vec![var(tile_x)]),
        f.set(rows, "tile.row_sum", vec![var(tile_x), var(tmp)]),
        eval(&f, "system.bar_m", Vec::new()),
        eval(&f, "system.bar_all", Vec::new()),
        Stmt::Eval { call: store, origin: f.kernel.origin },
    ];
    let options = Options { always_assign: true, insertion: Insertion::Unasked, ..Options::default() };
    expect![[r#"
            TASSIGN(inputGlobal, input + 0 * 128 + 0);
            TLOAD(tile_x, inputGlobal);
            TASSIGN(inputGlobal, input + 0 * 128 + 0);
            TLOAD(tile_y, inputGlobal);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            TADD(tile_z, tile_x, tile_y);
            pipe_barrier(PIPE_V);
            TMUL(tile_z, tile_x, tile_y);
            pipe_barrier(PIPE_V);
            TSQRT(tile_y, tile_x);
            TCOLSUM(columns, tile_x);
            TROWSUM(rows, tile_x, tmp);
            pipe_barrier(PIPE_M);
            pipe_barrier(PIPE_ALL);
            TASSIGN(outputGlobal, output + 0 * 128 + 0);
            TSTORE(outputGlobal, tile_z);
    "#]]
    .assert_eq(&body(&f, options));
}

/// `output_iter` and `output_final` of the section on pointers stand for `output`, and need no object of their own.
#[test]
fn tensors_keep_their_pointer_through_loops_and_branches() {
    let mut f = Fixture::new("pointers");
    let output = f.tensor("output", &[1024, 128], Dtype::Fp32);
    let has_tail = f.scalar("has_tail", Dtype::Bool);
    let ty = || tensor_type(&[1024, 128], Dtype::Fp32);
    let tile_idx = f.var("tile_idx", Type::Scalar(Dtype::Index), Role::LoopIndex);
    let output_iter = f.var("output_iter", ty(), Role::IterArg);
    let output_updated = f.var("output_updated", ty(), Role::LoopResult);
    let [output_new, output_with_tail] = ["output_new", "output_with_tail"].map(|name| f.var(name, ty(), Role::Def));
    let output_final = f.var("output_final", ty(), Role::IfResult);
    let tile = f.vec("tile", &[1, 128], 0);
    let origin = f.kernel.origin;
    let store = |f: &Fixture, var, offset: Scalar, tensor| {
        let offsets = Operand::List(vec![offset, Scalar::Int(0)]);
        f.set(var, "tile.store", vec![Operand::Var(tile), offsets, Operand::Var(tensor)])
    };
    let steps = vec![
        store(&f, output_new, Scalar::Var(tile_idx), output_iter),
        Stmt::Yield { values: vec![Operand::Var(output_new)], origin },
    ];
    let mut tiles = f.repeat(tile_idx, [0, 4, 1], steps);
    tiles.carries =
        vec![Carry { init: Operand::Var(output), iter: output_iter, result: output_updated, explicit: true }];
    let tail = If {
        condition: Scalar::Var(has_tail),
        then: vec![
            store(&f, output_with_tail, Scalar::Int(4), output_updated),
            Stmt::Yield { values: vec![Operand::Var(output_with_tail)], origin },
        ],
        otherwise: vec![Stmt::Yield { values: vec![Operand::Var(output_updated)], origin }],
        has_else: true,
        results: vec![output_final],
        origin,
    };
    f.kernel.body =
        vec![Stmt::For(tiles), Stmt::If(tail), f.store(tile, vec![Scalar::Int(5), Scalar::Int(0)], output_final)];
    expect![[r#"
            for (int64_t tile_idx = 0; tile_idx < 4; tile_idx += 1) {
                TASSIGN(outputGlobal, output + tile_idx * 128 + 0);
                TSTORE(outputGlobal, tile);
            }
            if (has_tail) {
                TASSIGN(outputGlobal, output + 4 * 128 + 0);
                TSTORE(outputGlobal, tile);
            } else {
            }
            TASSIGN(outputGlobal, output + 5 * 128 + 0);
            TSTORE(outputGlobal, tile);
    "#]]
    .assert_eq(&body(&f, Options::default()));
}

/// The seed's wrappers have the shape of the whole tensor; the instruction library wants that of the window.
#[test]
fn wrappers_have_the_shape_of_the_window() {
    let mut f = Fixture::new("tiles");
    let x = f.tensor("x", &[256, 64], Dtype::Fp32);
    let out = f.tensor("out", &[256, 64], Dtype::Fp32);
    let i = f.var("i", Type::Scalar(Dtype::Index), Role::LoopIndex);
    let a = f.vec("a", &[64, 64], 0);
    let b = f.vec("b", &[64, 64], 0x4000);
    let whole = f.vec("whole", &[256, 64], 0x8000);
    let row = Scalar::Binary(ScalarBinary::Mul, Box::new(Scalar::Var(i)), Box::new(Scalar::Int(64)));
    let body = vec![
        f.load(a, x, vec![row.clone(), Scalar::Int(0)], &[64, 64]),
        f.set(b, "tile.exp", vec![Operand::Var(a)]),
        f.store(b, vec![row, Scalar::Int(0)], out),
    ];
    let tiles = f.repeat(i, [0, 4, 1], body);
    f.kernel.body = vec![Stmt::For(tiles), f.load(whole, x, zero(), &[256, 64])];
    check(
        &f,
        expect![[r#"
        __aicore__ __attribute__((always_inline)) void runTiles(__gm__ int64_t* args)
        {
            // Unpack arguments
            __gm__ float* x = reinterpret_cast<__gm__ float*>(args[0]);
            __gm__ float* out = reinterpret_cast<__gm__ float*>(args[1]);

            // Global tensor declarations
            using xShapeDim5 = Shape<1, 1, 1, 64, 64>;
            using xStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using xGlobalType = GlobalTensor<float, xShapeDim5, xStrideDim5>;
            xGlobalType xGlobal(x);

            using xShapeDim5_1 = Shape<1, 1, 1, 256, 64>;
            using xStrideDim5_1 = Stride<1, 1, 1, 64, 1>;
            using xGlobalType_1 = GlobalTensor<float, xShapeDim5_1, xStrideDim5_1>;
            xGlobalType_1 xGlobal_1(x);

            using outShapeDim5 = Shape<1, 1, 1, 64, 64>;
            using outStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using outGlobalType = GlobalTensor<float, outShapeDim5, outStrideDim5>;
            outGlobalType outGlobal(out);

            // Tile type definitions and allocations
            using aType = Tile<TileType::Vec, float, 64, 64, BLayout::RowMajor, -1, -1>;
            aType a(64, 64);
            TASSIGN(a, 0x0);

            using bType = Tile<TileType::Vec, float, 64, 64, BLayout::RowMajor, -1, -1>;
            bType b(64, 64);
            TASSIGN(b, 0x4000);

            using wholeType = Tile<TileType::Vec, float, 256, 64, BLayout::RowMajor, -1, -1>;
            wholeType whole(256, 64);
            TASSIGN(whole, 0x8000);

            // Function body
            for (int64_t i = 0; i < 4; i += 1) {
                TASSIGN(xGlobal, x + (i * 64) * 64 + 0);
                TLOAD(a, xGlobal);
                set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
                wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
                TEXP(b, a);
                set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
                set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
                wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
                TASSIGN(outGlobal, out + (i * 64) * 64 + 0);
                TSTORE(outGlobal, b);
                set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
                wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
                wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
            }
            TLOAD(whole, xGlobal_1);
        }
    "#]],
    );
}

/// The seed writes `sum = init_value;` without a declaration, which is no C++.
#[test]
fn loops_carry_values() {
    let mut f = Fixture::new("running_sum");
    let x = f.tensor("x", &[64, 64], Dtype::Fp32);
    let out = f.tensor("out", &[64, 64], Dtype::Fp32);
    let i = f.var("i", Type::Scalar(Dtype::Index), Role::LoopIndex);
    let first = f.vec("first", &[64, 64], 0);
    let next = f.vec("next", &[64, 64], 0);
    let sum = f.tile("sum", tile_type(Space::Vec, &[64, 64], Dtype::Fp32), Some(0), Role::IterArg);
    let total = f.tile("total", tile_type(Space::Vec, &[64, 64], Dtype::Fp32), Some(0), Role::LoopResult);
    let scale = f.var("scale", Type::Scalar(Dtype::Fp32), Role::IterArg);
    let scaled = f.var("scaled", Type::Scalar(Dtype::Fp32), Role::LoopResult);
    let half = Scalar::Binary(ScalarBinary::Mul, Box::new(Scalar::Var(scale)), Box::new(Scalar::Float(float(0.5))));
    let body = vec![
        f.set(next, "tile.muls", vec![Operand::Var(sum), Operand::Var(scale)]),
        Stmt::Yield { values: vec![Operand::Var(next), Operand::Scalar(half)], origin: f.kernel.origin },
    ];
    let mut tiles = f.repeat(i, [0, 4, 1], body);
    tiles.carries = vec![
        Carry { init: Operand::Var(first), iter: sum, result: total, explicit: true },
        Carry { init: Operand::Scalar(Scalar::Float(float(1.0))), iter: scale, result: scaled, explicit: true },
    ];
    f.kernel.body = vec![f.load(first, x, zero(), &[64, 64]), Stmt::For(tiles), f.store(total, zero(), out)];
    check(
        &f,
        expect![[r#"
        __aicore__ __attribute__((always_inline)) void runRunningSum(__gm__ int64_t* args)
        {
            // Unpack arguments
            __gm__ float* x = reinterpret_cast<__gm__ float*>(args[0]);
            __gm__ float* out = reinterpret_cast<__gm__ float*>(args[1]);

            // Global tensor declarations
            using xShapeDim5 = Shape<1, 1, 1, 64, 64>;
            using xStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using xGlobalType = GlobalTensor<float, xShapeDim5, xStrideDim5>;
            xGlobalType xGlobal(x);

            using outShapeDim5 = Shape<1, 1, 1, 64, 64>;
            using outStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using outGlobalType = GlobalTensor<float, outShapeDim5, outStrideDim5>;
            outGlobalType outGlobal(out);

            // Tile type definitions and allocations
            using firstType = Tile<TileType::Vec, float, 64, 64, BLayout::RowMajor, -1, -1>;
            firstType first(64, 64);
            TASSIGN(first, 0x0);

            using nextType = Tile<TileType::Vec, float, 64, 64, BLayout::RowMajor, -1, -1>;
            nextType next(64, 64);
            TASSIGN(next, 0x0);

            // Function body
            TLOAD(first, xGlobal);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            auto sum = first;
            float scale = 1.0f;
            for (int64_t i = 0; i < 4; i += 1) {
                TMULS(next, sum, scale);
                pipe_barrier(PIPE_V);
                sum = next;
                scale = (scale * 0.5f);
            }
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            TSTORE(outGlobal, sum);
        }
    "#]],
    );
}

/// Carried tiles that only change places swap their handles, through a temporary.
#[test]
fn carried_values_change_places() {
    let mut f = Fixture::new("swap");
    let x = f.tensor("x", &[64, 64], Dtype::Fp32);
    let i = f.var("i", Type::Scalar(Dtype::Index), Role::LoopIndex);
    let ty = || tile_type(Space::Vec, &[64, 64], Dtype::Fp32);
    let (p0, q0) = (f.vec("p0", &[64, 64], 0), f.vec("q0", &[64, 64], 0x4000));
    let [p, q] = [("p", 0), ("q", 0x4000)].map(|(name, at)| f.tile(name, ty(), Some(at), Role::IterArg));
    let [pr, qr] = [("pr", 0), ("qr", 0x4000)].map(|(name, at)| f.tile(name, ty(), Some(at), Role::LoopResult));
    let body = vec![Stmt::Yield { values: vec![Operand::Var(q), Operand::Var(p)], origin: f.kernel.origin }];
    let mut tiles = f.repeat(i, [0, 3, 1], body);
    tiles.carries = vec![
        Carry { init: Operand::Var(p0), iter: p, result: pr, explicit: true },
        Carry { init: Operand::Var(q0), iter: q, result: qr, explicit: true },
    ];
    f.kernel.body = vec![
        f.load(p0, x, zero(), &[64, 64]),
        f.load(q0, x, zero(), &[64, 64]),
        Stmt::For(tiles),
        f.store(pr, zero(), x),
        f.store(qr, zero(), x),
    ];
    check(
        &f,
        expect![[r#"
        __aicore__ __attribute__((always_inline)) void runSwap(__gm__ int64_t* args)
        {
            // Unpack arguments
            __gm__ float* x = reinterpret_cast<__gm__ float*>(args[0]);

            // Global tensor declarations
            using xShapeDim5 = Shape<1, 1, 1, 64, 64>;
            using xStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using xGlobalType = GlobalTensor<float, xShapeDim5, xStrideDim5>;
            xGlobalType xGlobal(x);

            // Tile type definitions and allocations
            using p0Type = Tile<TileType::Vec, float, 64, 64, BLayout::RowMajor, -1, -1>;
            p0Type p0(64, 64);
            TASSIGN(p0, 0x0);

            using q0Type = Tile<TileType::Vec, float, 64, 64, BLayout::RowMajor, -1, -1>;
            q0Type q0(64, 64);
            TASSIGN(q0, 0x4000);

            // Function body
            TLOAD(p0, xGlobal);
            TLOAD(q0, xGlobal);
            set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
            auto p = p0;
            auto q = q0;
            for (int64_t i = 0; i < 3; i += 1) {
                auto q_next = p;
                p = q;
                q = q_next;
            }
            wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
            TSTORE(xGlobal, p);
            TSTORE(xGlobal, q);
        }
    "#]],
    );
}

/// Results are declared before the branches; a value that is elsewhere is copied to the result's buffer.
#[test]
fn branches_have_results() {
    let mut f = Fixture::new("branches");
    let x = f.tensor("x", &[128, 64], Dtype::Fp32);
    let [left, right] = ["left", "right"].map(|name| f.tensor(name, &[128, 64], Dtype::Fp32));
    let has_tail = f.scalar("has_tail", Dtype::Bool);
    let n = f.scalar("n", Dtype::Int64);
    let input = f.vec("input", &[128, 64], 0x10000);
    let with_tail = f.vec("output_with_tail", &[128, 64], 0x20000);
    let updated = f.vec("output_updated", &[128, 64], 0x8000);
    let ty = tile_type(Space::Vec, &[128, 64], Dtype::Fp32);
    let output_final = f.tile("output_final", ty, Some(0x20000), Role::IfResult);
    let target = f.var("target", tensor_type(&[128, 64], Dtype::Fp32), Role::IfResult);
    let row = f.var("row", Type::Scalar(Dtype::Int64), Role::IfResult);
    let local = f.var("local", Type::Scalar(Dtype::Int64), Role::Def);
    let origin = f.kernel.origin;
    let less = |by| Scalar::Binary(ScalarBinary::FloorDiv, Box::new(Scalar::Var(n)), Box::new(Scalar::Int(by)));
    let node = If {
        condition: Scalar::Var(has_tail),
        then: vec![
            f.set(with_tail, "tile.exp", vec![Operand::Var(input)]),
            Stmt::Yield {
                values: vec![Operand::Var(with_tail), Operand::Var(left), Operand::Scalar(Scalar::Int(0))],
                origin,
            },
        ],
        otherwise: vec![
            f.set(updated, "tile.neg", vec![Operand::Var(input)]),
            Stmt::Let { var: local, value: Value::Scalar(less(2)), origin },
            Stmt::Yield { values: vec![Operand::Var(updated), Operand::Var(right), Operand::Var(local)], origin },
        ],
        has_else: true,
        results: vec![output_final, target, row],
        origin,
    };
    f.kernel.body = vec![
        f.load(input, x, zero(), &[128, 64]),
        Stmt::If(node),
        f.store(output_final, vec![Scalar::Var(row), Scalar::Int(0)], target),
    ];
    check(
        &f,
        expect![[r#"
        __aicore__ __attribute__((always_inline)) void runBranches(__gm__ int64_t* args)
        {
            // Unpack arguments
            __gm__ float* x = reinterpret_cast<__gm__ float*>(args[0]);
            __gm__ float* left = reinterpret_cast<__gm__ float*>(args[1]);
            __gm__ float* right = reinterpret_cast<__gm__ float*>(args[2]);
            bool has_tail = *reinterpret_cast<__gm__ bool*>(&args[3]);
            int64_t n = *reinterpret_cast<__gm__ int64_t*>(&args[4]);

            // Global tensor declarations
            using xShapeDim5 = Shape<1, 1, 1, 128, 64>;
            using xStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using xGlobalType = GlobalTensor<float, xShapeDim5, xStrideDim5>;
            xGlobalType xGlobal(x);

            using leftShapeDim5 = Shape<1, 1, 1, 128, 64>;
            using leftStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using leftGlobalType = GlobalTensor<float, leftShapeDim5, leftStrideDim5>;
            leftGlobalType leftGlobal(left);

            using rightShapeDim5 = Shape<1, 1, 1, 128, 64>;
            using rightStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using rightGlobalType = GlobalTensor<float, rightShapeDim5, rightStrideDim5>;
            rightGlobalType rightGlobal(right);

            // Tile type definitions and allocations
            using inputType = Tile<TileType::Vec, float, 128, 64, BLayout::RowMajor, -1, -1>;
            inputType input(128, 64);
            TASSIGN(input, 0x10000);

            using output_with_tailType = Tile<TileType::Vec, float, 128, 64, BLayout::RowMajor, -1, -1>;
            output_with_tailType output_with_tail(128, 64);
            TASSIGN(output_with_tail, 0x20000);

            using output_updatedType = Tile<TileType::Vec, float, 128, 64, BLayout::RowMajor, -1, -1>;
            output_updatedType output_updated(128, 64);
            TASSIGN(output_updated, 0x8000);

            using output_updated_mvType = Tile<TileType::Vec, float, 128, 64, BLayout::RowMajor, -1, -1>;
            output_updated_mvType output_updated_mv(128, 64);
            TASSIGN(output_updated_mv, 0x20000);

            // Function body
            TLOAD(input, xGlobal);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            using output_finalType = Tile<TileType::Vec, float, 128, 64, BLayout::RowMajor, -1, -1>;
            output_finalType output_final(128, 64);
            TASSIGN(output_final, 0x20000);
            __gm__ float* target_ptr;
            int64_t row;

            if (has_tail) {
                TEXP(output_with_tail, input);
                output_final = output_with_tail;
                target_ptr = left;
                row = 0;
            } else {
                TNEG(output_updated, input);
                auto local = floor_div(n, 2);
                pipe_barrier(PIPE_V);
                TMOV(output_updated_mv, output_updated);
                output_final = output_updated_mv;
                target_ptr = right;
                row = local;
            }
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            TASSIGN(leftGlobal, target_ptr + row * 64 + 0);
            TSTORE(leftGlobal, output_final);
        }
    "#]],
    );
}

#[test]
fn what_has_no_instruction_or_address_is_said() {
    let mut f = Fixture::new("gaps");
    let x = f.tensor("x", &[64, 64], Dtype::Fp32);
    let a = f.tile("a", tile_type(Space::Vec, &[64, 64], Dtype::Fp32), None, Role::Def);
    let b = f.vec("b", &[64, 64], 0);
    f.kernel.body = vec![f.load(a, x, zero(), &[64, 64]), f.set(b, "tile.sin", vec![Operand::Var(a)])];
    check(
        &f,
        expect![[r#"
        __aicore__ __attribute__((always_inline)) void runGaps(__gm__ int64_t* args)
        {
            // Unpack arguments
            __gm__ float* x = reinterpret_cast<__gm__ float*>(args[0]);

            // Global tensor declarations
            using xShapeDim5 = Shape<1, 1, 1, 64, 64>;
            using xStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using xGlobalType = GlobalTensor<float, xShapeDim5, xStrideDim5>;
            xGlobalType xGlobal(x);

            // Tile type definitions and allocations
            using aType = Tile<TileType::Vec, float, 64, 64, BLayout::RowMajor, -1, -1>;
            aType a(64, 64);

            // Function body
            TLOAD(a, xGlobal);
            // Not generated: tile.sin
        }
        no-address: `a` has no address in the memory plan, so it cannot be loaded
        no-instruction: no instruction for `tile.sin` in generated code
    "#]],
    );
}

/// Instructions with a scalar refuse column-major tiles: they get the same bytes as one row.
#[test]
fn columns_are_passed_as_rows() {
    let mut f = Fixture::new("columns");
    let x = f.tensor("x", &[32, 64], Dtype::Fp32);
    let a = f.vec("a", &[32, 64], 0);
    let tmp = f.vec("tmp", &[32, 64], 0x2000);
    let s = f.vec("s", &[32, 1], 0x4000);
    let m = f.vec("m", &[32, 1], 0x4000);
    f.kernel.body = vec![
        f.load(a, x, zero(), &[32, 64]),
        f.set(s, "tile.row_sum", vec![Operand::Var(a), Operand::Var(tmp)]),
        f.set(m, "tile.muls", vec![Operand::Var(s), Operand::Scalar(Scalar::Float(float(0.5)))]),
    ];
    check(
        &f,
        expect![[r#"
        __aicore__ __attribute__((always_inline)) void runColumns(__gm__ int64_t* args)
        {
            // Unpack arguments
            __gm__ float* x = reinterpret_cast<__gm__ float*>(args[0]);

            // Global tensor declarations
            using xShapeDim5 = Shape<1, 1, 1, 32, 64>;
            using xStrideDim5 = Stride<1, 1, 1, 64, 1>;
            using xGlobalType = GlobalTensor<float, xShapeDim5, xStrideDim5>;
            xGlobalType xGlobal(x);

            // Tile type definitions and allocations
            using aType = Tile<TileType::Vec, float, 32, 64, BLayout::RowMajor, -1, -1>;
            aType a(32, 64);
            TASSIGN(a, 0x0);

            using tmpType = Tile<TileType::Vec, float, 32, 64, BLayout::RowMajor, -1, -1>;
            tmpType tmp(32, 64);
            TASSIGN(tmp, 0x2000);

            using sType = Tile<TileType::Vec, float, 32, 1, BLayout::ColMajor, -1, -1>;
            sType s(32, 1);
            TASSIGN(s, 0x4000);

            using mType = Tile<TileType::Vec, float, 32, 1, BLayout::ColMajor, -1, -1>;
            mType m(32, 1);
            TASSIGN(m, 0x4000);

            using m_rowType = Tile<TileType::Vec, float, 1, 32, BLayout::RowMajor, -1, -1>;
            m_rowType m_row(1, 32);
            TASSIGN(m_row, 0x4000);

            using s_rowType = Tile<TileType::Vec, float, 1, 32, BLayout::RowMajor, -1, -1>;
            s_rowType s_row(1, 32);
            TASSIGN(s_row, 0x4000);

            // Function body
            TLOAD(a, xGlobal);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            TROWSUM(s, a, tmp);
            pipe_barrier(PIPE_V);
            TMULS(m_row, s_row, 0.5f);
        }
    "#]],
    );
}

fn float(value: f64) -> tilefit_syntax::ast::FloatBits {
    tilefit_syntax::ast::FloatBits::new(value)
}

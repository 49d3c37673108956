//! The reference pages of `docs/reference/` are made by running tilefit; `UPDATE_EXPECT=1` writes them anew.

use std::fmt::Write;

use expect_test::expect_file;
use tilefit_analysis::Fixture;
use tilefit_analysis::ide::KernelPlan;
use tilefit_pypto::ops;

/// A construct, and statements that show it. They stand in a kernel with a tensor `a` of 64 × 64, `c` of 64 × 1024, `d` of
/// 1024 × 64 and `line` of 64, a scalar `n`, an output `out`, and a loaded tile `x`; their result is `y`. With `pl.split_aiv` they stand
/// in a scope of host code instead.
const CONSTRUCTS: &[(&str, &str)] = &[
    ("assignment", "y = pl.exp(x)"),
    ("annotated assignment", "y: pl.Tile[[64, 64], pl.FP32] = pl.exp(x)"),
    ("nested calls", "y = pl.exp(pl.neg(x))"),
    (
        "rebinding a name",
        "
y = pl.exp(x)
y = pl.neg(y)",
    ),
    ("a constant of the module in a shape", "y = pl.load(a, [0, 0], [ROWS, 64])"),
    ("arithmetic on constants", "y = pl.load(a, [0, 0], [ROWS // 2 * 2, 64])"),
    ("a shape as one name", "y = pl.load(a, [0, 0], SHAPE)"),
    ("scalar expressions in offsets", "y = pl.load(a, [n * 2 + 1, 0], [64, 64])"),
    (
        "`for … in pl.range` that rebinds",
        "
y = x
for i in pl.range(0, 4):
    y = pl.add(y, x)",
    ),
    (
        "`for … in pl.range(init_values=)`",
        "
for i, (acc,) in pl.range(0, 4, 1, init_values=(x,)):
    s = pl.add(acc, acc)
    y = pl.yield_(s)",
    ),
    (
        "`pl.parallel`",
        "
y = pl.exp(x)
for i in pl.parallel(0, 4):
    t = pl.exp(x)",
    ),
    (
        "`pl.unroll`",
        "
y = x
for i in pl.unroll(2):
    y = pl.add(y, x)",
    ),
    (
        "`pl.pipeline(stage=)`",
        "
y = pl.exp(x)
for i in pl.pipeline(0, 4, 1, stage=2):
    t = pl.load(a, [i, 0], [16, 64])
    u = pl.exp(t)",
    ),
    (
        "`while`",
        "
y = x
k = n
while k < 4:
    k = k + 1",
    ),
    (
        "`if` / `else` that rebinds",
        "
if n > 0:
    y = pl.exp(x)
else:
    y = pl.neg(x)",
    ),
    (
        "`if` without `else`",
        "
y = pl.exp(x)
if n > 0:
    y = pl.neg(y)",
    ),
    (
        "`pl.yield_` in branches",
        "
if n > 0:
    t = pl.exp(x)
    y = pl.yield_(t)
else:
    u = pl.neg(x)
    y = pl.yield_(u)",
    ),
    (
        "`break`",
        "
y = pl.exp(x)
for i in pl.range(0, 4):
    if n > 2:
        break
    t = pl.exp(x)",
    ),
    (
        "`continue`",
        "
y = pl.exp(x)
for i in pl.range(0, 4):
    if n > 2:
        continue
    t = pl.exp(x)",
    ),
    (
        "`break` out of a loop that rebinds a tile",
        "
y = pl.exp(x)
for i in pl.range(0, 4):
    if n > 2:
        break
    y = pl.add(y, x)",
    ),
    (
        "a tile carried through `while`",
        "
y = x
k = n
while k < 4:
    y = pl.add(y, x)
    k = k + 1",
    ),
    (
        "`pl.while_(init_values=)`",
        "
y = pl.exp(x)
for (k,) in pl.while_(init_values=(n,)):
    pl.cond(k < 4)
    t = pl.exp(x)
    k = pl.yield_(k + 1)",
    ),
    (
        "an accumulator through a `pl.range` of products",
        "
l = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
y = pl.matmul(l, l)
for i in pl.range(0, 4):
    y = pl.matmul_acc(y, l, l)",
    ),
    (
        "`pl.split_aiv`, divided by hand",
        "
l = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
p = pl.matmul(l, l)
for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
    h = pl.aiv_shard(p)
    y = pl.exp(h)",
    ),
    (
        "vector work next to `pl.split_aiv`",
        "
for unit in pl.split_aiv(2, mode=pl.SplitMode.NONE):
    t = pl.exp(x)
y = pl.neg(x)",
    ),
    (
        "`pl.split_aiv(mode=pl.SplitMode.NONE)`",
        "
for unit in pl.split_aiv(2, mode=pl.SplitMode.NONE):
    t = pl.load(a, [unit * 32, 0], [32, 64])
    y = pl.exp(t)",
    ),
    (
        "`pl.split_aiv` around whole tiles",
        "
for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
    y = pl.exp(x)",
    ),
    ("subscript of a tile", "y = x[0:32, 0:64]"),
    (
        "reading an element",
        "
s = x[0, 0]
y = pl.add(x, s)",
    ),
    (
        "writing a part of a tile",
        "
y = pl.exp(x)
y[0:32, 0:64] = pl.load(a, [0, 0], [32, 64])",
    ),
    ("a tuple as a result", "y, cnt = pl.tile.gather_compare(x, x, x, cmp_mode=0, out_cols=64)"),
    ("`pl.min` and `pl.max` of scalars", "y = pl.load(a, [0, 0], [64, 64], valid_shape=[pl.min(n, 64), 64])"),
    ("`pl.const` and `get_byte()`", "y = pl.load(a, [pl.FP32.get_byte() - 4, 0], [64, 64])"),
    (
        "`pl.cast` of a tile",
        "
z = pl.cast(x, pl.FP16)
y = pl.cast(z, pl.FP32)",
    ),
    ("`pl.transpose`", "y = pl.transpose(x, 0, 1)"),
    (
        "a tile of three axes",
        "
t = pl.tile.create([2, 32, 64], dtype=pl.FP32)
y = pl.reshape(pl.exp(t), [64, 64])",
    ),
    (
        "a reshape to three axes",
        "
t = pl.reshape(x, [2, 32, 64])
y = pl.reshape(t, [64, 64])",
    ),
    (
        "a load of one axis",
        "
z = pl.load(line, [0], [64])
y = x",
    ),
    (
        "a barrier",
        "
pl.system.bar_v()
y = pl.exp(x)",
    ),
    ("`pl.slice`", "y = pl.slice(x, [32, 64], [0, 0])"),
    (
        "`pl.reshape`",
        "
z = pl.reshape(x, [32, 128])
y = pl.reshape(z, [64, 64])",
    ),
    ("a declared allocation", "y: pl.Tile[[64, 64], pl.FP32, BUFFER, pl.Mem.Vec] = pl.exp(x)"),
    (
        "slots of a declared allocation",
        "
y = pl.exp(x)
for i in pl.range(0, 4):
    t: pl.Tile[[16, 64], pl.FP32, SLOTS[i % 2], pl.Mem.Vec] = pl.load(a, [i, 0], [16, 64])",
    ),
    (
        "matrix product from Mat",
        "
l = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
y = pl.matmul(l, l)",
    ),
    (
        "vector work on a product",
        "
l = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
p = pl.matmul(l, l)
v = pl.move(p, target_memory=pl.Mem.Vec)
y = pl.exp(v)",
    ),
    (
        "a product that is computed in blocks of K",
        "
l = pl.load(c, [0, 0], [64, 1024], target_memory=pl.Mem.Mat)
r = pl.load(d, [0, 0], [1024, 64], target_memory=pl.Mem.Mat)
y = pl.matmul(l, r)",
    ),
    (
        "a product with a bias",
        "
l = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
s = pl.load(a, [0, 0], [1, 64], target_memory=pl.Mem.Mat)
y = pl.matmul_bias(l, l, s)",
    ),
    (
        "a product with a bias that is computed in blocks of K",
        "
l = pl.load(c, [0, 0], [64, 1024], target_memory=pl.Mem.Mat)
r = pl.load(d, [0, 0], [1024, 64], target_memory=pl.Mem.Mat)
s = pl.load(a, [0, 0], [1, 64], target_memory=pl.Mem.Mat)
y = pl.matmul_bias(l, r, s)",
    ),
    (
        "a pipeline around products",
        "
l = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
z = pl.move(l, target_memory=pl.Mem.Left)
y = pl.matmul(z, pl.move(l, target_memory=pl.Mem.Right))
for i, (o,) in pl.pipeline(0, 4, 1, stage=2, init_values=(out,)):
    r = pl.load(a, [i, 0], [64, 64], target_memory=pl.Mem.Mat)
    m = pl.move(r, target_memory=pl.Mem.Right)
    p = pl.matmul(z, m)
    s = pl.store(p, [i, 0], o)
    out = pl.yield_(s)",
    ),
    (
        "a pipeline around both cores",
        "
y = pl.exp(x)
for i in pl.pipeline(0, 4, 1, stage=2):
    l = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
    p = pl.matmul(l, l)
    v = pl.move(p, target_memory=pl.Mem.Vec)
    w = pl.exp(v)",
    ),
    (
        "`pl.gather` by rows: `pl.mgather`",
        "
k = pl.tile.create([1, 64], dtype=pl.INT32)
y = pl.mgather(a, k)",
    ),
    ("an operation that tilefit does not know", "y = pl.no_such_operation(x)"),
    (
        "augmented assignment",
        "
y = x
y += x",
    ),
    ("operators on tiles", "y = x + x"),
    ("a comprehension", "y = [x for i in range(2)][0]"),
    ("`**`", "y = pl.load(a, [n ** 2, 0], [64, 64])"),
    (
        "`with` of something else",
        "
y = x
with open('f') as f:
    y = pl.exp(x)",
    ),
    (
        "`for` over something else",
        "
y = x
for i in range(4):
    y = pl.exp(x)",
    ),
    (
        "`try`",
        "
y = x
try:
    y = pl.exp(x)
except ValueError:
    y = x",
    ),
    (
        "`assert`",
        "
y = x
assert n > 0",
    ),
    (
        "a function inside",
        "
y = x
def f():
    return 1",
    ),
    (
        "chained comparison",
        "
y = x
if 0 < n < 4:
    y = pl.exp(x)",
    ),
    ("chained assignment", "y = z = pl.exp(x)"),
    ("a load into Left", "y = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Left)"),
    (
        "another shape under the same name",
        "
y = pl.exp(x)
y = pl.load(a, [0, 0], [32, 64])",
    ),
    (
        "a name with `__`",
        "
my__name = pl.exp(x)
y = my__name",
    ),
    (
        "`pl.pipeline` without `stage=`",
        "
y = x
for i in pl.pipeline(0, 4):
    t = pl.exp(x)",
    ),
    ("conditional expression", "y = x if n > 0 else x"),
];

fn plan_of(statements: &str) -> Vec<KernelPlan> {
    let lines = ["x = pl.load(a, [0, 0], [64, 64])"].into_iter().chain(statements.trim_start().lines());
    let lines = lines.chain(["out = pl.store(y, [0, 0], out)"]);
    // Only a scope can be divided.
    let (kind, scope, indent) = match statements.contains("split_aiv") {
        true => ("Opaque", "        with pl.at(level=pl.Level.CORE_GROUP):\n", "            "),
        false => ("InCore", "", "        "),
    };
    let body: String = lines.map(|line| format!("{indent}{line}\n")).collect();
    let text = format!(
        "
import pypto.language as pl

ROWS = 64
SHAPE = [64, 64]
BUFFER = pl.MemRef()
SLOTS = pl.MemRef(slots=2)

@pl.program
class P:
    @pl.function(type=pl.FunctionType.{kind})
    def k(self, a: pl.Tensor[[64, 64], pl.FP32], c: pl.Tensor[[64, 1024], pl.FP32], d: pl.Tensor[[1024, 64], pl.FP32], line: pl.Tensor[[64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
{scope}{body}        return out
"
    );
    Fixture::new(&text).plans()
}

/// What tilefit makes of a construct, in a word and a reason.
fn modelled(plans: &[KernelPlan]) -> (&'static str, String) {
    let rejected = plans.iter().flat_map(|plan| &plan.diagnostics).find(|diagnostic| diagnostic.severity == "error");
    if let Some(rejected) = rejected {
        return ("refused, as by the compiler", rejected.message.clone());
    }
    let reason = plans.iter().flat_map(|plan| &plan.reasons).next().cloned().unwrap_or_default();
    let all = |statuses: &[&str]| plans.iter().all(|plan| statuses.contains(&plan.status));
    match () {
        () if all(&["exact"]) => ("exact", reason),
        () if all(&["exact", "predicted"]) => ("predicted", reason),
        () => ("partly", reason),
    }
}

#[test]
fn the_language_page_is_what_tilefit_does() {
    let mut page = "# The language, as tilefit reads it\n\n`tests/tests/reference.rs` runs tilefit on each example and writes this page. *exact*: the addresses are the compiler's. *predicted*: the same\nrules, but a part was [never compared](../coverage.md) with the compiler. *partly*: a hint names what is not modelled, and the rest of the kernel is\nanalysed.\n\n| construct | example | modelled | message |\n|---|---|---|---|\n".to_owned();
    for (construct, statements) in CONSTRUCTS {
        let (word, reason) = modelled(&plan_of(statements));
        let example = statements.trim_start().replace('\n', "` <br> `").replace('|', "\\|");
        let _ = writeln!(page, "| {construct} | `{example}` | {word} | {} |", reason.replace('|', "\\|"));
    }
    expect_file!["../../docs/reference/language.md"].assert_eq(&page);
}

#[test]
fn the_operations_page_is_the_table() {
    let mut page = "# Operations\n\nThe operation table of tilefit (`analysis/pypto/src/ops/`). `tests/tests/reference.rs` writes this page.\n\n| operation | written as | operands | instruction | what the compiler requires |\n|---|---|---|---|---|\n".to_owned();
    for op in ops::OPS.iter() {
        let names: Vec<_> =
            op.names.iter().map(|(name, _)| format!("`pl.{}`", name.trim_start_matches("pl."))).collect();
        let cells = [
            format!("`{}`", op.name),
            names.join(" "),
            op.args.join(", "),
            op.pto.to_owned(),
            op.constraints.to_owned(),
        ];
        let _ = writeln!(page, "| {} |", cells.map(|cell| cell.replace('|', "\\|").replace('<', "&lt;")).join(" | "));
    }
    expect_file!["../../docs/reference/operations.md"].assert_eq(&page);
}

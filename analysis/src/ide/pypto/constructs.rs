//! What PyPTO kernels are made of.

use super::super::tests::growth::Arranged::{Beside, Within};
use super::super::tests::growth::Construct;

const LOAD: &str = "x = pl.load(a, [0, 0], [16, 16])";
const STORE: &str = "out = pl.store(x, [0, 0], out)";
const FLAGS: &str = "\
pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=3)
pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=3)
x = pl.add(x, x)";

pub(super) fn constructs() -> Vec<Construct> {
    let construct = |name, arranged, text| Construct { name, arranged, text };
    vec![
        construct("operations", Beside, |n| on_tiles(&around(&lines(n, |_| "x = pl.add(x, x)".to_owned())))),
        construct("tiles that are live together", Beside, |n| {
            let loads = lines(n, |i| format!("x{i} = pl.load(a, [0, 0], [1, 8])"));
            let stores = lines(n, |i| format!("out = pl.store(x{i}, [0, 0], out)"));
            on_tiles(&format!("{loads}\n{stores}"))
        }),
        construct("parts of a tile", Beside, |n| {
            on_tiles(&around(&lines(n, |i| format!("y{i} = pl.slice(x, [8, 8], [0, 0])\nz{i} = pl.add(y{i}, y{i})"))))
        }),
        construct("shapes of a tile", Beside, |n| {
            on_tiles(&around(&lines(n, |_| "x = pl.reshape(x, [16, 16])".to_owned())))
        }),
        construct("names of a tile", Beside, |n| {
            on_tiles(&around(&lines(n, |i| {
                format!("y{i} = {}", if i == 0 { "x".into() } else { format!("y{}", i - 1) })
            })))
        }),
        construct("operands", Within, |n| on_tiles(&around(&format!("x = {}x{}", "pl.exp(".repeat(n), ")".repeat(n))))),
        construct("index expressions", Beside, |n| {
            on_tiles(&format!("x = pl.load(a, [0, {}], [16, 16])\n{STORE}", vec!["n"; n].join(" + ")))
        }),
        construct("scalars of scalars", Beside, |n| {
            let scalars = lines(n, |_| "m = m + m".to_owned());
            on_tiles(&format!("m = n\n{scalars}\nx = pl.load(a, [0, m], [16, 16])\n{STORE}"))
        }),
        construct("parameters", Beside, |n| {
            let params = (0..n).map(|i| format!("p{i}: pl.Tensor[[64, 64], pl.FP32], "));
            with_params(&params.collect::<String>(), &around("x = pl.add(x, x)"))
        }),
        construct("branches", Beside, |n| {
            on_tiles(&around(&lines(n, |i| format!("if n > {i}:\n    x = pl.add(x, x)\nelse:\n    x = pl.exp(x)"))))
        }),
        construct("branches in branches", Within, |n| {
            on_tiles(&around(&nest(n, |i| format!("if n > {i}:"), "x = pl.add(x, x)")))
        }),
        construct("alternatives", Beside, |n| {
            let others = lines(n, |i| format!("elif n > {i}:\n    x = pl.exp(x)"));
            on_tiles(&around(&format!("if n > 0:\n    x = pl.add(x, x)\n{others}")))
        }),
        construct("loops", Beside, |n| {
            on_tiles(&around(&lines(n, |i| format!("for i{i} in pl.range(0, 4, 1):\n    x = pl.add(x, x)"))))
        }),
        construct("loops in loops", Within, |n| on_tiles(&around(&loops(n, "pl.range(0, 4, 1)", "x = pl.add(x, x)")))),
        construct("loops with open bounds", Within, |n| {
            on_tiles(&around(&loops(n, "pl.range(0, n, 1)", "x = pl.add(x, x)")))
        }),
        construct("parallel loops", Within, |n| {
            on_tiles(&loops(n, "pl.parallel(0, 4, 1)", &around("x = pl.add(x, x)")))
        }),
        construct("pipelines in pipelines", Within, |n| {
            on_tiles(&loops(n, "pl.pipeline(0, 4, 1, stage=2)", &around("x = pl.add(x, x)")))
        }),
        construct("copies by unrolling", Within, |n| on_tiles(&loops(n, "pl.unroll(2)", &around("x = pl.add(x, x)")))),
        construct("values that a loop carries", Beside, |n| {
            let loads = lines(n, |i| format!("x{i} = pl.load(a, [0, 0], [1, 8])"));
            let body = lines(n, |i| format!("    x{i} = pl.add(x{i}, x{})", (i + 1) % n));
            let stores = lines(n, |i| format!("out = pl.store(x{i}, [0, 0], out)"));
            on_tiles(&format!("{loads}\nfor i in pl.range(0, 4, 1):\n{body}\n{stores}"))
        }),
        construct("flags", Beside, |n| {
            on_tiles(&around(&lines(n, |i| FLAGS.replace("event_id=3", &format!("event_id={}", i % 8)))))
        }),
        construct("flags in loops", Within, |n| on_tiles(&around(&loops(n, "pl.range(0, 4, 1)", FLAGS)))),
        construct("scopes", Beside, |n| {
            on_tensors(&lines(n, |i| {
                format!(
                    "with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"s{i}\"):\n    out = pl.assemble(out, pl.add(a, a), [0, 0])"
                )
            }))
        }),
        construct("scopes with one name", Beside, |n| {
            on_tensors(&lines(n, |i| {
                format!(
                    "with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"s\"):\n    out = pl.assemble(out, pl.add(a, a), [{i}, 0])"
                )
            }))
        }),
        construct("operations on tensors", Beside, |n| in_scope(&lines(n, |_| "x = pl.mul(x, a)".to_owned()))),
        construct("matrix products", Beside, |n| {
            in_scope(&lines(n, |i| {
                format!("m{i} = pl.matmul(a, a, out_dtype=pl.FP32)\nout = pl.assemble(out, m{i}, [0, 0])")
            }))
        }),
        construct("products for the vector core", Beside, |n| {
            in_scope(&lines(n, |i| {
                format!("m{i} = pl.exp(pl.matmul(a, a, out_dtype=pl.FP32))\nout = pl.assemble(out, m{i}, [0, 0])")
            }))
        }),
        construct("functions in functions", Within, |n| {
            let function = |i: usize| {
                let body = if i + 1 < n { format!("f{}(x)", i + 1) } else { "pl.add(x, x)".to_owned() };
                format!(
                    "@pl.function(type=pl.FunctionType.Inline)\ndef f{i}(x: pl.Tensor[[64, 64], pl.FP32]) -> pl.Tensor[[64, 64], pl.FP32]:\n    y = {body}\n    return y\n"
                )
            };
            let scope = in_scope("x = f0(x)");
            scope.replacen("@pl.program", &format!("{}\n@pl.program", lines(n, function)), 1)
        }),
        construct("kernels", Beside, |n| {
            let kernel = on_tiles(&around("x = pl.add(x, x)"));
            let (head, function) = kernel.split_at(kernel.find("    @pl.function").unwrap_or(0));
            head.to_owned() + &lines(n, |i| function.replace("def k(", &format!("def k{i}(")))
        }),
        construct("constants of constants", Beside, |n| {
            let constants = lines(n, |i| match i {
                0 => "C0 = 1".to_owned(),
                _ => format!("C{i} = C{} + 1", i - 1),
            });
            let last = format!("[C{}, 16]", n - 1);
            on_tiles(&around("x = pl.add(x, x)")).replace("[16, 16]", &last).replacen(
                "@pl.program",
                &format!("{constants}\n\n@pl.program"),
                1,
            )
        }),
        construct("entries of a dictionary", Beside, |n| {
            let entries: String = (0..n).map(|i| format!("{i}: {i}, ")).collect();
            on_tiles(&around("x = pl.add(x, x)")).replace("[16, 16]", "[D[16], 16]").replacen(
                "@pl.program",
                &format!("D = {{{entries}}}\n\n@pl.program"),
                1,
            )
        }),
        construct("mentions of a name", Beside, |n| {
            let sum = vec!["C"; n].join(" + ");
            on_tiles(&around("x = pl.add(x, x)")).replace("[16, 16]", "[S, 16]").replacen(
                "@pl.program",
                &format!("C = 1\nS = {sum}\n\n@pl.program"),
                1,
            )
        }),
    ]
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

fn indented(text: &str, depth: usize) -> String {
    text.lines().map(|line| format!("{}{line}\n", "    ".repeat(depth))).collect()
}

fn nest(depth: usize, head: impl Fn(usize) -> String, inner: &str) -> String {
    let heads: String = (0..depth).map(|i| indented(&head(i), i)).collect();
    heads + &indented(inner, depth)
}

fn loops(depth: usize, range: &str, inner: &str) -> String {
    nest(depth, |i| format!("for i{i} in {range}:"), inner)
}

fn around(body: &str) -> String {
    format!("{LOAD}\n{body}\n{STORE}")
}

fn on_tiles(body: &str) -> String {
    with_params("", body)
}

fn with_params(params: &str, body: &str) -> String {
    let body = indented(body, 2);
    format!(
        "\
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[64, 64], pl.FP32], {params}n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
{body}        return out
"
    )
}

fn on_tensors(body: &str) -> String {
    let body = indented(body, 2);
    format!(
        "\
import pypto.language as pl

@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
{body}        return out
"
    )
}

fn in_scope(body: &str) -> String {
    let body = format!("x = pl.add(a, a)\n{body}\nout = pl.assemble(out, x, [0, 0])");
    on_tensors(&format!("with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"s\"):\n{}", indented(&body, 1)))
}

//! Time of code generation by itself, on kernels of 300 statements: selection, synchronisation, text.

use std::fmt::Write;
use std::time::Instant;

use tilefit_pypto::codegen;
use tilefit_pypto::lower::Module;
use tilefit_pypto::memory;
use tilefit_pypto::passes;
use tilefit_pypto::target::{Planner, Target};

const STATEMENTS: usize = 300;

/// Rounds of load, load, add, exp, store; in one loop if `repeated`. What is synchronised `by_hand` is checked as well, and its loop has
/// a branch and ends when the kernel is told to.
fn source(repeated: bool, by_hand: bool) -> String {
    let mut text = String::from(
        "import pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n    \
         def kernel(self, a: pl.Tensor[[8192, 64], pl.FP32], b: pl.Tensor[[8192, 64], pl.FP32], \
         n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[8192, 64], pl.FP32]]) -> pl.Tensor[[8192, 64], pl.FP32]:\n",
    );
    let mut indent = "        ";
    if by_hand {
        text.push_str("        pl.system.bar_all()\n");
    }
    if repeated {
        text.push_str(if by_hand { "        for i in pl.range(n):\n" } else { "        for i in pl.range(4):\n" });
        indent = "            ";
        if by_hand {
            text.push_str("            if i > 2:\n                pl.system.bar_v()\n");
        }
    }
    for round in 0..STATEMENTS / 5 {
        let row = round * 32;
        let _ = writeln!(text, "{indent}x{round} = pl.load(a, [{row}, 0], [32, 64])");
        let _ = writeln!(text, "{indent}y{round} = pl.load(b, [{row}, 0], [32, 64])");
        let _ = writeln!(text, "{indent}s{round} = pl.add(x{round}, y{round})");
        let _ = writeln!(text, "{indent}e{round} = pl.exp(s{round})");
        let _ = writeln!(text, "{indent}out = pl.store(e{round}, [{row}, 0], out)");
    }
    text.push_str("        return out\n");
    text
}

fn main() {
    for (name, repeated, by_hand) in [
        ("straight line", false, false),
        ("one loop", true, false),
        ("straight line, synchronised by hand", false, true),
        ("one loop, synchronised by hand", true, true),
    ] {
        let kernel = Module::new(&source(repeated, by_hand)).kernels().into_iter().next();
        let Some(kernel) = kernel
            .and_then(|kernel| passes::prepare(kernel, Target::Ascend910b.into(), Planner::Auto).into_iter().next())
        else {
            println!("{name}: no kernel");
            continue;
        };
        let plan = memory::plan(&kernel, Target::Ascend910b, Planner::Auto);
        let mut times: Vec<f64> = (0..50)
            .map(|_| {
                let start = Instant::now();
                std::hint::black_box(codegen::generate(&kernel, &plan));
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let lines = codegen::generate(&kernel, &plan).text.lines().count();
        println!(
            "{name}: {STATEMENTS} statements, {lines} lines, median {:.2} ms, fastest {:.2} ms",
            times[25], times[0]
        );
    }
}

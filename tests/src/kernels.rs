//! PyPTO source of any size for benchmarks and floods.

use std::fmt::Write as _;

/// Where the kernels of a generated file stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One top-level class for each kernel.
    ClassPerKernel,
    /// All kernels in one class.
    OneClass,
}

/// Statements of a kernel; 33 lines with its class and blank lines, as long as a kernel usually is.
const STEPS: [&str; 26] = [
    "a = pl.load(x, [0, 0], [64, 64])",
    "b = pl.load(y, [0, 0], [64, 64])",
    "s0 = pl.add(a, b)",
    "s1 = pl.mul(s0, a)",
    "# a softmax over the rows",
    "tmp = pl.create_tile([64, 64], dtype=pl.FP32)",
    "m = pl.row_max(s1, tmp)",
    "c = pl.row_expand_sub(s1, m)",
    "e = pl.exp(c)",
    "tmp2 = pl.create_tile([64, 64], dtype=pl.FP32)",
    "d = pl.row_sum(e, tmp2)",
    "p = pl.row_expand_div(e, d)",
    "out = pl.store(p, [0, 0], out)",
    "for i in pl.range(0, 8):",
    "    u = pl.load(x, [i * 64, 0], [64, 64])",
    "    v = pl.load(y, [i * 64, 0], [64, 64])",
    "    w = pl.mul(u, v)",
    "    n = pl.neg(w)",
    "    q = pl.exp(n)",
    "    out = pl.store(q, [i * 64, 0], out)",
    "h = pl.cast(p, pl.FP16)",
    "g = pl.cast(h, pl.FP32)",
    "r = pl.sub(g, b)",
    "# scaled",
    "z = pl.mul(r, 0.5)",
    "out = pl.store(z, [0, 64], out)",
];

const TENSOR: &str = "pl.Tensor[[65536, 4096], pl.FP32]";

/// A file with `count` kernels that fit into the memory of every target.
pub fn source(count: usize, layout: Layout) -> String {
    let mut text = String::from("import pypto.language as pl\n");
    if layout == Layout::OneClass {
        text.push_str("\n\n@pl.program\nclass Kernels:\n");
    }
    for index in 0..count {
        if layout == Layout::ClassPerKernel {
            let _ = write!(text, "\n\n@pl.program\nclass Program{index}:\n");
        } else if index > 0 {
            text.push('\n');
        }
        kernel(&mut text, index);
    }
    text
}

fn kernel(text: &mut String, index: usize) {
    let _ = writeln!(text, "    @pl.function(type=pl.FunctionType.InCore)");
    let _ = writeln!(text, "    def kernel{index}(self, x: {TENSOR}, y: {TENSOR}, out: pl.Out[{TENSOR}]) -> {TENSOR}:");
    for step in STEPS {
        let _ = writeln!(text, "        {step}");
    }
    let _ = writeln!(text, "        return out");
}

/// A kernel whose tiles have the sizes (multiples of 32 bytes) and lifetimes of a packing problem in MiniMalloc's format.
pub fn of_problem(csv: &str) -> String {
    let rows = csv.lines().skip(1).map(|row| row.split(',').map(|cell| cell.parse().expect("a number")).collect());
    let buffers: Vec<Vec<u64>> = rows.collect();
    // At the same time uses come before definitions: lifetimes that touch do not meet.
    let mut events: Vec<(u64, bool, &[u64])> = Vec::new();
    for buffer in &buffers {
        let &[_, lower, upper, _] = buffer.as_slice() else { panic!("id,lower,upper,size: {buffer:?}") };
        events.extend([(lower, true, buffer.as_slice()), (upper, false, buffer.as_slice())]);
    }
    events.sort_unstable();
    let mut text = format!(
        "import pypto.language as pl\n\n@pl.program\nclass Packed:\n    @pl.function(type=pl.FunctionType.InCore)\n    def kernel(self, x: {TENSOR}, out: pl.Out[{TENSOR}]) -> {TENSOR}:\n"
    );
    for (_, defined, buffer) in events {
        let (id, rows) = (buffer[0], buffer[3] / 32);
        let _ = match defined {
            true => writeln!(text, "        t{id} = pl.load(x, [0, 0], [{rows}, 8])"),
            false => writeln!(text, "        out = pl.store(t{id}, [0, 0], out)"),
        };
    }
    text.push_str("        return out\n");
    text
}

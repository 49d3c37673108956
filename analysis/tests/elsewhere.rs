//! Kernels whose names, shapes or functions come from elsewhere: other files, factories, helpers of host code.

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;

/// Prints the kernels of the first file with the bytes that they take of Vec.
#[track_caller]
fn check(files: &str, expect: Expect) {
    let plans = Fixture::new(files).plans();
    let shown = plans.iter().map(|plan| {
        let used =
            plan.spaces.iter().find(|(space, _)| **space == "Vec").map_or(0, |(_, used)| used.used.unwrap_or_default());
        format!("{}: {used} {:?}\n", plan.name, plan.reasons)
    });
    expect.assert_eq(&shown.collect::<String>());
}

const FACTORY: &str = "import pypto.language as pl

IMPL = \"plus\"

def _bind():
    \"\"\"Which one is used.\"\"\"
    if IMPL == \"plus\":
        @pl.jit.inline
        def part(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Tensor[[16, 512], pl.FP32]):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"plus\"):
                o[:, :] = pl.add(x[:, :], 1.0)
            return o
    else:
        @pl.jit.inline
        def part(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Tensor[[16, 512], pl.FP32]):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"times\"):
                o[:, :] = pl.mul(x[:, :], 2.0)
            return o
    return part

part = _bind()
";

const ENTRY: &str = "
@pl.jit
def entry(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Out[pl.Tensor[[16, 512], pl.FP32]]):
    part(x, o)
    return o
";

#[test]
fn a_factory_chooses_among_functions() {
    let here = format!("{FACTORY}{ENTRY}");
    check(
        &here,
        expect![[r#"
        _bind.plus: 32768 []
    "#]],
    );
    check(
        &here.replace("IMPL = \"plus\"", "IMPL = \"times\""),
        expect![[r#"
        _bind.times: 32768 []
    "#]],
    );
    let imported = format!("import pypto.language as pl\nfrom part import part\n{ENTRY}");
    check(
        &format!("{imported}# file: /w/part.py\n{FACTORY}"),
        expect![[r#"
        plus: 32768 []
    "#]],
    );
    // What it depends on is not known.
    check(&here.replace("IMPL = \"plus\"", "IMPL = choose()"), expect![[""]]);
}

const PART: &str = "# file: /w/part.py
import pypto.language as pl
from config import ROWS

@pl.jit.inline
def part(o: pl.Tensor[[ROWS, 64], pl.FP32]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"fill\"):
        o[:, :] = pl.full([ROWS, 64], dtype=pl.FP32, value=0.0)
    return o
# file: /w/config.py
ROWS = 8
";

const CALLER: &str = "
@pl.jit
def entry(o: pl.Out[pl.Tensor[[config.ROWS, 64], pl.FP32]]):
    part(o)
    return o
";

#[test]
fn a_module_is_patched_before_another_reads_it() {
    let with = |lines: &str| format!("import config\nimport pypto.language as pl\n{lines}{CALLER}{PART}");
    check(
        &with("config.ROWS = 128\nfrom part import part\n"),
        expect![[r#"
        fill: 32768 []
    "#]],
    );
    check(
        &with("config.ROWS = config.ROWS * 2\nfrom part import part\n"),
        expect![[r#"
        fill: 4096 []
    "#]],
    );
    // What reads it first has what it was.
    let late = with("from part import part\nconfig.ROWS = 128\n").replace("config.ROWS, 64", "8, 64");
    check(
        &late,
        expect![[r#"
        fill: 2048 []
    "#]],
    );
    // By the module that the entry imports.
    let patching = "# file: /w/patching.py\nimport config\nconfig.ROWS = 32\n";
    check(
        &(with("import patching\nfrom part import part\n") + patching),
        expect![[r#"
        fill: 8192 []
    "#]],
    );
    check(
        &with("if FAST:\n    config.ROWS = 32\nfrom part import part\n"),
        expect![[r#"
            fill: 0 ["`ROWS` of a module is assigned under a condition"]
        "#]],
    );
}

#[test]
fn a_helper_of_host_code_reads_its_own_file() {
    let files = "import pypto.language as pl
from helper import operands

ROWS = 8

@pl.jit
def double(x: pl.Tensor, o: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"double\"):
        o[:, :] = pl.mul(x[:, :], 2.0)
    return o

x, o = operands()
double(x, o)
# file: /w/helper.py
import torch

ROWS = 32

def operands():
    return torch.zeros(ROWS, 64), torch.zeros(ROWS, 64)
";
    check(
        files,
        expect![[r#"
        double: 8192 []
    "#]],
    );
}

#[test]
fn a_function_of_another_file_calls_what_it_is_given() {
    let runner = "import torch

def double(x, o):
    pass

def run(kernel, rows):
    double(rows, rows)
    kernel(torch.zeros(rows, 64), torch.zeros(rows, 64))

def run_all(kernels, rows):
    for kernel in kernels.values():
        run(kernel, rows)
";
    for call in ["run(double, 32)", "runner.run(double, 32)", "runner.run_all({'double': double}, 32)"] {
        let host = format!(
            "import pypto.language as pl
import runner
from runner import run

@pl.jit
def double(x: pl.Tensor, o: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"double\"):
        o[:, :] = pl.mul(x[:, :], 2.0)
    return o

{call}
"
        );
        check(
            &format!("{host}# file: /w/runner.py\n{runner}"),
            expect![[r#"
                double: 8192 []
            "#]],
        );
    }
}

#[test]
fn spmd_is_named_after_its_kernel() {
    let text = "import pypto.language as pl

@pl.jit
def entry(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Out[pl.Tensor[[16, 512], pl.FP32]]):
    for i in pl.spmd(2, name_hint=\"plus_spmd\"):
        o[:, i * 256 : i * 256 + 256] = pl.add(x[:, i * 256 : i * 256 + 256], 1.0)
    with pl.spmd(2, name_hint=\"twice\"):
        k0 = pl.tile.get_block_idx() * 256
        o[:, k0 : k0 + 256] = pl.add(x[:, k0 : k0 + 256], 1.0)
    with pl.spmd(2, name_hint=\"outer\"):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"inner\"):
            k0 = pl.tile.get_block_idx() * 256
            o[:, k0 : k0 + 256] = pl.add(x[:, k0 : k0 + 256], 1.0)
    return o
";
    check(
        text,
        expect![[r#"
        plus: 16384 []
        twice: 16384 []
        inner: 16384 []
    "#]],
    );
}

#[test]
fn host_unroll_copies_the_scopes_of_functions() {
    let text = "import pypto.language as pl

@pl.jit.inline
def part(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Tensor[[16, 512], pl.FP32], at: pl.Scalar[pl.INDEX]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"plus\"):
        o[:, at : at + 64] = pl.add(x[:, at : at + 64], 1.0)
    return o

@pl.jit
def entry(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Out[pl.Tensor[[16, 512], pl.FP32]]):
    for i in pl.unroll(3):
        o = part(x, o, i * 64)
    return o
";
    check(
        text,
        expect![[r#"
        plus: 4096 []
        plus_0: 4096 []
        plus_1: 4096 []
    "#]],
    );
}

/// Each statement of such a function stands for the call, so that it is not told which of them are in the region.
#[test]
fn what_a_function_of_another_file_divides_is_not_judged_here() {
    let files = "import pypto.language as pl
from part import part

@pl.jit
def entry(x: pl.Tensor[[64, 128], pl.BF16], y: pl.Tensor[[128, 64], pl.BF16], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    o = part(x, y, o)
    return o
# file: /w/part.py
import pypto.language as pl

@pl.jit.inline
def part(x: pl.Tensor[[64, 128], pl.BF16], y: pl.Tensor[[128, 64], pl.BF16], o: pl.Tensor[[64, 64], pl.FP32]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"product\"):
        p = pl.matmul(x, y, out_dtype=pl.FP32)
        for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            o[unit * 32 : unit * 32 + 32, :] = pl.exp(pl.aiv_shard(p))
    return o
";
    let plans = Fixture::new(files).plans();
    let said: Vec<_> = plans.iter().flat_map(|plan| &plan.diagnostics).collect();
    assert_eq!((plans.len(), said.as_slice()), (2, [].as_slice()));
}

/// Prints the TLX kernels of the first file with the bytes that they take of shared memory.
#[track_caller]
fn check_tlx(files: &str, expect: Expect) {
    let plans = Fixture::new(files).plans();
    let shown = plans.iter().map(|plan| {
        let used = plan
            .spaces
            .iter()
            .find(|(space, _)| **space == "smem")
            .map_or(0, |(_, used)| used.used.unwrap_or_default());
        format!("{}: {} {used} {:?}\n", plan.name, plan.status, plan.reasons)
    });
    expect.assert_eq(&shown.collect::<String>());
}

const BUFFERS: &str = "# file: /w/buffers.py
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx

@triton.jit
def make(COUNT: tl.constexpr):
    return tlx.local_alloc((64, 64), tl.float16, COUNT)

@triton.jit
def slip(COUNT: tl.constexpr):
    return tlx.local_alloc((64, 64), tl.float16, CUONT)
";

#[test]
fn all_that_a_kernel_allocates_stands_in_another_file() {
    for (import, call) in [
        ("from buffers import make", "make(3)"),
        ("from buffers import make as fresh", "fresh(3)"),
        ("import buffers", "buffers.make(3)"),
    ] {
        let text = format!(
            "import triton\nimport triton.language.extra.tlx as tlx\n{import}\n\n@triton.jit\ndef kernel(x):\n    tiles = {call}\n    tlx.local_store(tiles[0], tlx.local_load(tiles[1]))\n\n@triton.jit\ndef launcher():\n    {call}\n"
        );
        check_tlx(
            &(text + BUFFERS),
            expect![[r#"
            kernel: predicted 24576 []
        "#]],
        );
    }
}

#[test]
fn what_another_file_misspells_is_noted() {
    let kernel = "import triton\nimport buffers\n\n@triton.jit\ndef kernel():\n    tiles = buffers.slip(3)\n";
    check_tlx(
        &format!("{kernel}{BUFFERS}"),
        expect![[r#"
            kernel: partial 0 ["`CUONT` is not defined here in `slip`", "`CUONT` is not defined", "the shape of a buffer is not known: `CUONT` is not defined"]
        "#]],
    );
}

/// The same function of one or another library, through another module; but not where a branch defines one of its own.
#[test]
fn a_function_of_a_branch_is_that_of_tritons_libraries() {
    let kernel = "import triton\nimport triton.language as tl\nfrom compat import tanh\n\n\n@triton.jit\ndef kernel(x, N: tl.constexpr):\n    at = x + tl.arange(0, N)\n    tl.store(at, tanh(tl.load(at)))\n\n\nkernel[(1,)](x, N=64)\n";
    let compat = "# file: /w/compat.py\nimport triton\nimport triton.language as tl\nfrom packaging.version import Version\n\nif Version(triton.__version__) >= Version('3.0.0'):\n    from triton.language.extra import libdevice\n    tanh = libdevice.tanh\nelse:\n    ";
    check_tlx(
        &format!("{kernel}{compat}tanh = tl.math.tanh\n"),
        expect![[r#"
        kernel: bounded 0 ["the compiler chooses the layouts of registers, and may convert one into another through shared memory"]
    "#]],
    );
    check_tlx(
        &format!("{kernel}{compat}@triton.jit\n    def tanh(x):\n        return x - tl.sum(x, axis=0)\n"),
        expect![[r#"
            kernel: bounded 0 ["the compiler chooses the layouts of registers", "the compiler chooses the layouts of registers, and may convert one into another through shared memory"]
        "#]],
    );
}

#[test]
fn other_modules_pass_on_the_names_of_triton() {
    const TRITON: &str = "import triton\nimport triton.language as tl\n";
    let guarded = TRITON.replace("import", "    import").replace(" as tl", " as tl\nelse:\n    triton = tl = None");
    let guarded = format!("HAVE = True\nif HAVE:\n{guarded}");
    let aliased = "import triton as t\nimport triton.language as language\n";
    let kernel =
        "@triton.jit\ndef kernel(x, N: tl.constexpr):\n    tl.store(x, tl.sum(tl.load(x + tl.arange(0, N)), 0))\n";
    for (imports, compat, more) in [
        ("from compat import tl, triton", TRITON, ""),
        ("from .compat import tl, triton", TRITON, ""),
        ("from compat import tl, triton", &guarded, ""),
        ("from compat import *", TRITON, ""),
        ("from compat import *", "from more import *\n", TRITON),
        ("from compat import triton, tl", "from more import t as triton, language as tl\n", aliased),
        ("from compat import t as triton, language as tl", aliased, ""),
        // Each imports from the other.
        ("from compat import *\nimport triton\nfrom more import tl", "from more import *\n", "from compat import *\n"),
        (
            "from compat import other\nimport triton\nimport triton.language as tl",
            "from kernel import kernel, tl\nother = tl",
            "",
        ),
        // Nothing is known of these modules.
        ("from elsewhere.triton_utils import tl, triton", "", ""),
        ("from ...elsewhere import *", "", ""),
    ] {
        let text = format!("{imports}\n\n{kernel}\nkernel[(1,)](x, N=64)\n");
        check_tlx(
            &format!("{text}# file: /w/compat.py\n{compat}# file: /w/more.py\n{more}"),
            expect![[r#"
                kernel: bounded 0 ["the compiler chooses the layouts of registers"]
            "#]],
        );
    }
}

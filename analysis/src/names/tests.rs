use expect_test::{Expect, expect};
use tilefit_python::diagnostics::Code;

use crate::Fixture;

/// Prints what is said of names in the first of the files, and whether its kernels are exact.
#[track_caller]
fn check_files(files: &str, expect: Expect) {
    check_code(Code::UnknownName, files, expect);
}

/// As [`check_files`], for another diagnostic.
#[track_caller]
fn check_code(code: Code, files: &str, expect: Expect) {
    let fixture = Fixture::new(files);
    let mut said = String::new();
    for diagnostic in fixture.diagnostics() {
        if diagnostic.code == code {
            said.push_str(&format!("{}: {}\n", fixture.at(diagnostic.range), diagnostic.message));
        }
    }
    for plan in fixture.plans() {
        said.push_str(&format!("{} is {}\n", plan.name, plan.status));
    }
    expect.assert_eq(&said);
}

/// A kernel with these statements, after these lines.
fn kernel(before: &str, body: &str) -> String {
    let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "
import pypto.language as pl
{before}
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        value = pl.load(a, [0, 0], [64, 64])
{body}        out = pl.store(value, [0, 0], out)
        return out
"
    )
}

#[track_caller]
fn check(before: &str, body: &str, expect: Expect) {
    check_files(&kernel(before, body), expect);
}

#[test]
fn variables() {
    check(
        "",
        "
squashed = pl.exp(value)
value = pl.mul(value, squahsed)",
        expect![[r#"
        squahsed: `squahsed` is not defined here; did you mean `squashed`?
        P.k is partial
    "#]],
    );
    check(
        "",
        "value = pl.exp(vaule)",
        expect![[r#"
        vaule: `vaule` is not defined here; did you mean `value`?
        P.k is partial
    "#]],
    );
    check(
        "",
        "
for i in pl.range(m):
    value = pl.exp(value)",
        expect![[r#"
        m: `m` is not defined here
        P.k is partial
    "#]],
    );
}

#[test]
fn the_order_of_statements() {
    check(
        "later = 2",
        "
value = pl.mul(value, squashed)
squashed = pl.exp(value)",
        expect![[r#"
            squashed: `squashed` is read before it is assigned
            P.k is partial
        "#]],
    );
    check(
        "",
        "
if n > 2:
    value = pl.mul(value, other)
for i in pl.range(n):
    other = pl.exp(value)
    value = pl.mul(other, index)
    index = i",
        expect![[r#"
            other: `other` is read before it is assigned
            index: `index` is read before it is assigned
            P.k is partial
        "#]],
    );
    check(
        "LIMIT = 2",
        "
parts = [each for each in (1, 2)]
if n > LIMIT:
    squashed = pl.exp(value)
else:
    value = pl.mul(value, squashed)
LIMIT = 3
each = 2",
        expect![[r#"
            P.k is rejected
        "#]],
    );
}

#[test]
fn members_and_keywords_of_the_language() {
    check(
        "",
        "value = pl.exq(value)",
        expect![[r#"
        exq: `pl` has no `exq`; did you mean `exp`?
        P.k is partial
    "#]],
    );
    check(
        "",
        "value = pl.cast(value, pl.FP61, mode=\"rint\")",
        expect![[r#"
            P.k is rejected
        "#]],
    );
    check(
        "",
        "value = pl.move(value, target_memory=pl.Mem.Vce)",
        expect![[r#"
        Vce: `pl.Mem` has no `Vce`; did you mean `Vec`?
        P.k is partial
    "#]],
    );
    check(
        "",
        "value = pl.cast(value, pl.FP16, moed=\"rint\")",
        expect![[r#"
        moed: `pl.cast` has no parameter `moed`; did you mean `mode`?
        P.k is rejected
    "#]],
    );
    check(
        "",
        "value = pl.fillpad(value, pad_value=pl.PadValue.zreo)",
        expect![[r#"
        zreo: `pl.PadValue` has no `zreo`; did you mean `zero`?
        P.k is partial
    "#]],
    );
}

#[test]
fn what_python_could_find_is_defined() {
    check(
        "
from elsewhere import FACTOR
if FACTOR:
    ROWS = 64
try:
    import fast
except ImportError as error:
    fast = None
",
        "
value = pl.mul(value, abs(ROWS) + LATER)
if fast:
    value = pl.exp(value)",
        expect![[r#"
            LATER: `LATER` is not defined here
            P.k is partial
        "#]],
    );
    check(
        "from elsewhere import *",
        "value = pl.adds(value, ANYTHING)",
        expect![[r#"
        adds: `pl` has no `adds`; did you mean `add`?
        P.k is partial
    "#]],
    );
    check(
        "",
        "x = [row for row in range(4)]",
        expect![[r#"
        P.k is rejected
    "#]],
    );
}

#[test]
fn modules_whose_file_is_known() {
    let sizes = "# file: /w/sizes.py\nROWS = 64\n";
    let text = kernel(
        "
import sizes
from sizes import *",
        "value = pl.load(a, [0, 0], [sizes.RWOS, ROSW])",
    );
    check_files(
        &(text + sizes),
        expect![[r#"
            RWOS: `sizes` has no `RWOS`; did you mean `ROWS`?
            ROSW: `ROSW` is not defined here
            P.k is partial
        "#]],
    );
    let text = kernel("import sizes", "value = pl.load(a, [0, 0], [sizes.ROWS, 64])");
    check_files(
        &(text + sizes),
        expect![[r#"
            P.k is exact
        "#]],
    );
}

#[test]
fn functions_that_are_put_in_place_of_calls() {
    let text = "
import pypto.language as pl

@pl.inline
def helper(x, factor=2.0):
    return pl.mul(x, fcator)
";
    let text = format!("{text}{}", kernel("", "value = helper(value, fatcor=3.0)"));
    check_files(
        &text,
        expect![[r#"
        fcator: `fcator` is not defined here; did you mean `factor`?
        fatcor: `helper` has no parameter `fatcor`; did you mean `factor`?
        P.k is partial
    "#]],
    );
}

#[test]
fn decorators() {
    let text = kernel("", "").replace("@pl.function", "@pl.fucntion");
    check_files(
        &text,
        expect![[r#"
        fucntion: `pl` has no `fucntion`; did you mean `function`?
    "#]],
    );
    let text = kernel("", "").replace("InCore", "InCroe");
    check_files(
        &text,
        expect![[r#"
        InCroe: `pl.FunctionType` has no `InCroe`; did you mean `InCore`?
    "#]],
    );
    let text = kernel("", "").replace("@pl.program", "@lp.program");
    check_files(
        &text,
        expect![[r#"
        lp: `lp` is not defined here; did you mean `pl`?
        P.k is exact
    "#]],
    );
}

#[test]
fn scopes_of_host_code() {
    let text = r#"
import pypto.language as pl

@pl.jit
def entry(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    rows = 32
    with pl.at(level=pl.Level.CORE_GROPU):
        out[0:64, :] = pl.exp(a[0:64, :])
    with pl.at(level=pl.Level.CORE_GROUP, name_hnit="x"):
        out[0:rwos, :] = pl.exp(a[0:64, :])
    return out
"#;
    check_files(
        text,
        expect![[r#"
            CORE_GROPU: `pl.Level` has no `CORE_GROPU`; did you mean `CORE_GROUP`?
            name_hnit: `pl.at` has no parameter `name_hnit`; did you mean `name_hint`?
            rwos: `rwos` is not defined here; did you mean `rows`?
            entry_incore_0 is rejected
        "#]],
    );
}

#[test]
fn functions_that_are_no_operations() {
    check(
        "",
        "
n.bidn_dynamic(0, 1)
done = pl.system.task_dummy(desp=[value])
spread = pl.tensor.scatter(value, masa_pkttern=1, dst=value)",
        expect![[r#"
            bidn_dynamic: `n` has no `bidn_dynamic`; did you mean `bind_dynamic`?
            desp: `pl.system.task_dummy` has no parameter `desp`; did you mean `deps`?
            masa_pkttern: `pl.tensor.scatter` has no parameter `masa_pkttern`; did you mean `mask_pattern`?
            P.k is partial
        "#]],
    );
}

/// Prints all that is said of a kernel.
#[track_caller]
fn check_all(body: &str, expect: Expect) {
    let text = kernel("", body);
    let diagnostics = Fixture::new(&text).diagnostics();
    let lines = diagnostics.iter().map(|it| format!("{} {}: {}\n", it.severity.name(), it.code, it.message));
    expect.assert_eq(&lines.collect::<String>());
}

#[test]
fn a_misspelt_keyword_is_said_once() {
    check_all(
        "value = pl.load(a, [0, 0], [64, 64], valid_shapse=[16, 32])",
        expect![[r#"
            error unknown-name: `pl.load` has no parameter `valid_shapse`; did you mean `valid_shape`?
        "#]],
    );
    check_all(
        "zeros = pl.create_tile([16, 64], dtpye=pl.FP32)",
        expect![[r#"
        error unknown-name: `pl.create_tile` has no parameter `dtpye`; did you mean `dtype`?
    "#]],
    );
    check_all(
        "value = pl.cast(value, target_tpye=pl.FP16)",
        expect![[r#"
        error unknown-name: `pl.cast` has no parameter `target_tpye`; did you mean `target_type`?
    "#]],
    );
    check_all(
        "value = pl.cast(value, pl.FP16, roundings=1)",
        expect![[r#"
        error unknown-name: `pl.cast` has no parameter `roundings`; it has tile, target_type, mode
    "#]],
    );
    check_all(
        "
for i in pl.pipeline(0, 4, stgae=2):
    value = pl.exp(value)",
        expect![[r#"
        error unknown-name: `pl.pipeline` has no parameter `stgae`; did you mean `stage`?
    "#]],
    );
    check_all(
        "value = pl.load(a, [0, 0], [640, 64], valid_shapse=[16, 32])",
        expect![[r#"
        error unknown-name: `pl.load` has no parameter `valid_shapse`; did you mean `valid_shape`?
    "#]],
    );
}

#[test]
fn host_code_that_does_not_parse() {
    let text = "
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64]) -> pl.Tensor[[64, 64], pl.FP32]:
        first = n + 0p
        for i in pl.range(2) 3:
            a = self.k(a, 4n)
        return a
";
    check_code(
        Code::SyntaxError,
        text,
        expect![[r#"
            first = n + 0p: this is not valid Python; the kernel is analysed without this statement
            for i in pl.range(2) 3:: this is not valid Python; the kernel is analysed without this statement
            a = self.k(a, 4n): this is not valid Python; the kernel is analysed without this statement
        "#]],
    );
}

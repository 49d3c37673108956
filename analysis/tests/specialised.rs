//! Functions that `@pl.jit` specialises: for which tensors it finds shapes, and what a number changes that it is called with.

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;

/// A line for each kernel: its status, what is refused, and why it is not exact.
fn check_files(files: &str, expect: Expect) {
    let mut said = String::new();
    for plan in Fixture::new(files).plans() {
        said += &format!("{} {}\n", plan.name, plan.status);
        let errors = plan.diagnostics.iter().filter(|diagnostic| diagnostic.severity == "error");
        errors.for_each(|error| said += &format!("    error: {}\n", error.message));
        plan.reasons.iter().for_each(|reason| said += &format!("    {reason}\n"));
        plan.assumes.iter().for_each(|assumed| said += &format!("    assumes: {assumed}\n"));
    }
    expect.assert_eq(&said);
}

fn check(text: &str, expect: Expect) {
    check_files(&format!("import pypto.language as pl\n\n{text}"), expect);
}

const TWICE: &str = "@pl.jit.inline
def twice(t: pl.Tensor[[8, 64], pl.FP32]):
    return pl.add(t, t)

";

/// The body of a scope of an entry that has `x` and `y` of 32 rows and may call `twice`.
fn check_scope(body: &str, expect: Expect) {
    let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
    let entry = "@pl.jit
def entry(x: pl.Tensor[[32, 64], pl.FP32], y: pl.Tensor[[8, 64], pl.FP32], n: pl.Scalar[pl.INDEX], o: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='scope'):
";
    check(&format!("ROWS = 8\n\n{TWICE}{entry}{body}    return o\n"), expect);
}

#[test]
fn parameters_of_the_caller_and_windows_with_constant_ends_have_shapes() {
    check_scope(
        "o[0:8, :] = twice(y)",
        expect![[r#"
        scope exact
    "#]],
    );
    check_scope(
        "row = x[0:8, :]\no[0:8, :] = twice(row)",
        expect![[r#"
        scope exact
    "#]],
    );
    check_scope(
        "row = x[ROWS : 2 * ROWS, :]\no[0:8, :] = twice(row)",
        expect![[r#"
        scope exact
    "#]],
    );
    check_scope(
        "row = pl.slice(x, [8, 64], [n, 0])\no[0:8, :] = twice(row)",
        expect![[r#"
        scope exact
    "#]],
    );
}

#[test]
fn what_is_computed_has_no_shape() {
    check_scope(
        "e = pl.exp(y)\no[0:8, :] = twice(e)",
        expect![[r#"
        scope rejected
            error: `@pl.jit` finds no shape for the parameter `t` of `twice`: in its first call pass a parameter of the caller, or a name that is given by `pl.create_tensor`, `pl.slice`, `pl.reshape`, or a window; what is computed has no shape there, whatever `t` is annotated with
    "#]],
    );
    check_scope(
        "o[0:8, :] = twice(pl.exp(y))",
        expect![[r#"
        scope rejected
            error: `@pl.jit` finds no shape for the parameter `t` of `twice`: in its first call pass a parameter of the caller, or a name that is given by `pl.create_tensor`, `pl.slice`, `pl.reshape`, or a window; what is computed has no shape there, whatever `t` is annotated with
    "#]],
    );
    check_scope(
        "o[0:8, :] = twice(x[0:8, :])",
        expect![[r#"
        scope rejected
            error: `@pl.jit` finds no shape for the parameter `t` of `twice`: in its first call pass a parameter of the caller, or a name that is given by `pl.create_tensor`, `pl.slice`, `pl.reshape`, or a window; what is computed has no shape there, whatever `t` is annotated with
    "#]],
    );
    // A name keeps the shape that it had as a parameter; later calls are not looked at.
    check_scope(
        "y = pl.exp(y)\no[0:8, :] = twice(y)",
        expect![[r#"
        scope exact
    "#]],
    );
    check_scope(
        "a = twice(y)\no[0:8, :] = twice(pl.exp(a))",
        expect![[r#"
        scope exact
    "#]],
    );
}

#[test]
fn a_window_with_other_ends_counts_as_the_whole() {
    check_scope(
        "
for j in pl.range(4):
    row = x[j * 8 : j * 8 + 8, :]
    u = twice(row)
    o[j * 8 : j * 8 + 8, :] = pl.maximum(u, x[j * 8 : j * 8 + 8, :])",
        expect![[r#"
            scope rejected
                error: `tensor.maximum` requires `lhs` (`u`) and `rhs` to have compatible shapes, equal or 1 in every axis, but got [32, 64] and [8, 64]
                `twice`, which `@pl.jit` makes for another shape of `t` than it gets here
                `tensor.maximum` requires `lhs` (`u`) and `rhs` to have compatible shapes, equal or 1 in every axis, but got [32, 64] and [8, 64]
        "#]],
    );
    check_scope(
        "rows = 8\nrow = x[0:rows, :]\no[0:8, :] = twice(row)",
        expect![[r#"
        scope rejected
            error: the value has 32 elements along axis 0, but the part has 8; write a part of 32, or a slice with 8
    "#]],
    );
}

#[test]
fn functions_are_found_by_their_own_names() {
    let entry = |import: &str, call: &str| {
        format!(
            "import pypto.language as pl
from helper import {import}

@pl.jit
def entry(x: pl.Tensor[[8, 64], pl.FP32], o: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    o = {call}(x, o)
    return o
# file: /w/helper.py
import pypto.language as pl

@pl.jit.inline
def twice(x: pl.Tensor[[8, 64], pl.FP32], o: pl.Tensor[[8, 64], pl.FP32]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='twice'):
        o[:, :] = pl.add(x, x)
    return o
"
        )
    };
    check_files(
        &entry("twice", "twice"),
        expect![[r#"
        twice exact
    "#]],
    );
    check_files(
        &entry("twice as double", "double"),
        expect![[r#"
        twice rejected
            error: `double` is `twice` under another name, and `@pl.jit` finds the functions that it calls by their own names only; call it `twice`
    "#]],
    );
}

/// The text cannot be imported, whatever the compiler would make of the kernel.
#[test]
fn a_misspelt_annotation_of_a_helper_is_not_exact() {
    let text = |dtype: &str| {
        format!(
            "@pl.jit.inline
def helper(x: pl.Tensor[[8, 64], pl.{dtype}], o: pl.Tensor[[8, 64], pl.FP32]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='helper'):
        o[:, :] = pl.add(x, 1.0)
    return o

@pl.jit
def entry(x: pl.Tensor[[8, 64], pl.FP32], o: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    o = helper(x, o)
    return o
"
        )
    };
    check(
        &text("FP32"),
        expect![[r#"
        helper exact
    "#]],
    );
    check(
        &text("FP23"),
        expect![[r#"
        helper partial
            `pl` has no `FP23`
    "#]],
    );
}

/// A number that `@pl.jit` is called with leaves a branch out, and with it what only that branch reads.
#[test]
fn a_branch_on_a_scalar_of_the_entry_may_change_the_plan() {
    let text = |body: &str| {
        format!(
            "@pl.jit
def entry(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Tensor[[8, 64], pl.FP32], n: pl.Scalar[pl.INT32], o: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='scope'):
{body}
    return o
"
        )
    };
    check(
        &text(
            "        early = pl.exp(y[:, :])
        e = pl.add(x[:, :], 1.0)
        o[:, :] = e
        if n >= 3:
            o[:, :] = pl.mul(e, early)",
        ),
        expect![[r#"
            scope predicted
                assumes: `n` is not known before run time; called with a number for which `n >= 3` is false, `@pl.jit` compiles another kernel (Vec 2048 B)
        "#]],
    );
    check(
        &text(
            "        e = pl.add(x[:, :], 1.0)
        if n >= 3:
            e = pl.mul(e, 2.0)
        o[:, :] = e",
        ),
        expect![[r#"
            scope predicted
                assumes: `n` is not known before run time; called with a number for which `n >= 3` is false, `@pl.jit` compiles another kernel (Vec 2048 B)
                assumes: `n` is not known before run time; called with a number for which `n >= 3` is true, `@pl.jit` compiles another kernel (Vec 2048 B)
        "#]],
    );
}

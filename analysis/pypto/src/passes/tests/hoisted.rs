//! Operands of products that a loop does not change.

use std::fmt::Write;

use expect_test::{Expect, expect};

use crate::ir::{AttrName, Kernel, Stmt, Value, visit};
use crate::lower::Module;
use crate::ops::OpId;
use crate::passes::prepare;
use crate::target::{Planner, Target};

/// Where each operand of the scope `product` is loaded and brought to the cube: the loops around it.
fn check(host: &str, expect: Expect) {
    let host: String = host.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!(
        "@pl.jit\ndef main(x: pl.Tensor[[16, 128], pl.BF16], w: pl.Tensor[[128, 256], pl.BF16], n: pl.Scalar[pl.INDEX], o: pl.Out[pl.Tensor[[16, 256], pl.FP32]]):\n{host}    return o\n"
    );
    let kernels = Module::new(&text).kernels().into_iter();
    let kernels = kernels.filter(|kernel| kernel.name == "product");
    let mut text = String::new();
    for kernel in kernels.flat_map(|kernel| prepare(kernel, Target::Ascend910b.into(), Planner::Sequential)) {
        say(&kernel, &kernel.body, 0, &mut text);
        for note in &kernel.notes {
            writeln!(text, "note: {}", note.reason).unwrap();
        }
    }
    expect.assert_eq(&text);
}

fn say(kernel: &Kernel, body: &[Stmt], depth: u32, text: &mut String) {
    for stmt in body {
        match stmt {
            Stmt::For(inner) => say(kernel, &inner.body, depth + 1, text),
            Stmt::Let { var, value: Value::Call(call), .. }
                if matches!(call.op, OpId::LOAD | OpId::MOVE | OpId::EXTRACT) =>
            {
                assert!(visit::call_of(stmt).is_some_and(|call| call.attr(AttrName::OperandLoad).is_none()));
                writeln!(text, "{} in {depth} loops", kernel.var(*var).name).unwrap();
            }
            _ => stmt.blocks().for_each(|block| say(kernel, block, depth, text)),
        }
    }
}

const FILL: &str = "hid = pl.create_tensor([16, 128], dtype=pl.BF16)
with pl.at(level=pl.Level.CORE_GROUP, name_hint='fill'):
    hid[:, :] = pl.cast(pl.exp(pl.cast(x, pl.FP32)), pl.BF16)
";

fn product(scope: &str, operand: &str, iterator: &str) -> String {
    format!(
        "{scope}
    for i in {iterator}:
        o[:, i * 64:i * 64 + 64] = pl.matmul({operand}, w[:, i * 64:i * 64 + 64], out_dtype=pl.FP32)
"
    )
}

const SCOPE: &str = "with pl.at(level=pl.Level.CORE_GROUP, name_hint='product'):";

#[test]
fn what_the_host_made_is_loaded_once() {
    check(
        &format!("{FILL}{}", product(SCOPE, "hid", "pl.range(4)")),
        expect![[r#"
            hid_mat in 0 loops
            hid_mat_Left in 0 loops
            t__tmp_v0 in 1 loops
            t__tmp_v0_Right in 1 loops
        "#]],
    );
}

#[test]
fn what_another_scope_returns_is_loaded_once() {
    let make = "with pl.at(level=pl.Level.CORE_GROUP, name_hint='make'):\n    hid = pl.exp(x)\n";
    check(
        &format!("{make}{}", product(SCOPE, "hid", "pl.range(4)")),
        expect![[r#"
            hid_mat in 0 loops
            hid_mat_Left in 0 loops
            t__tmp_v0 in 1 loops
            t__tmp_v0_Right in 1 loops
        "#]],
    );
}

#[test]
fn what_the_host_is_given_is_loaded_each_time() {
    check(
        &product(SCOPE, "x", "pl.range(4)"),
        expect![[r#"
            t__tmp_v0 in 1 loops
            x_mat in 1 loops
            x_mat_Left in 1 loops
            t__tmp_v0_Right in 1 loops
        "#]],
    );
}

#[test]
fn a_task_of_its_own_loads_each_time() {
    let scope = "with pl.at(level=pl.Level.CORE_GROUP, name_hint='product') as task:";
    check(
        &format!("{FILL}{}", product(scope, "hid", "pl.range(4)")),
        expect![[r#"
            t__tmp_v0 in 1 loops
            hid_mat in 1 loops
            hid_mat_Left in 1 loops
            t__tmp_v0_Right in 1 loops
        "#]],
    );
}

#[test]
fn a_loop_that_may_not_run_keeps_its_loads() {
    for iterator in ["pl.range(n)", "pl.parallel(4)"] {
        check(
            &format!("{FILL}{}", product(SCOPE, "hid", iterator)),
            expect![[r#"
                t__tmp_v0 in 1 loops
                hid_mat in 1 loops
                hid_mat_Left in 1 loops
                t__tmp_v0_Right in 1 loops
            "#]],
        );
    }
}

#[test]
fn stages_of_a_pipeline_load_each_for_itself() {
    check(
        &format!("{FILL}{}", product(SCOPE, "hid", "pl.pipeline(4, stage=2)")),
        expect![[r#"
            t__tmp_v0 in 1 loops
            hid_mat in 1 loops
            t__tmp_v0 in 1 loops
            hid_mat in 1 loops
            hid_mat_Left in 1 loops
            t__tmp_v0_Right in 1 loops
            hid_mat_Left in 1 loops
            t__tmp_v0_Right in 1 loops
        "#]],
    );
}

#[test]
fn what_loops_of_the_host_make_is_not_clear() {
    let make = "hid = pl.create_tensor([16, 128], dtype=pl.BF16)
for i in pl.range(2):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='make'):
        hid = pl.exp(x)
";
    check(
        &format!("{make}{}", product(SCOPE, "hid", "pl.range(4)")),
        expect![[r#"
            t__tmp_v0 in 1 loops
            hid_mat in 1 loops
            hid_mat_Left in 1 loops
            t__tmp_v0_Right in 1 loops
            note: the load of `hid`, which the compiler may move out of the loop
        "#]],
    );
}

//! Where the results of scopes are stored: in tensors of their own, or in the place of an operand.

use std::fmt::Write;

use expect_test::{Expect, expect};

use crate::ir::{Operand, visit};
use crate::lower::Module;
use crate::ops::OpId;
use crate::passes::prepare;
use crate::target::{Planner, Target};

/// The parameters of the scope `part`, and those that it stores to.
fn check(host: &str, expect: Expect) {
    let host: String = host.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!(
        "@pl.jit\ndef main(x: pl.Tensor[[64, 128], pl.FP32], n: pl.Scalar[pl.INDEX], o: pl.Out[pl.Tensor[[64, 128], pl.FP32]]):\n{host}"
    );
    let kernels = Module::new(&text).kernels().into_iter();
    let kernels = kernels.filter(|kernel| kernel.name == "part");
    let mut text = String::new();
    for kernel in kernels.flat_map(|kernel| prepare(kernel, Target::Ascend910b.into(), Planner::Sequential)) {
        let params: Vec<&str> = kernel.params.iter().map(|param| kernel.var(*param).name.as_str()).collect();
        writeln!(text, "takes {}", params.join(", ")).unwrap();
        visit::statements(&kernel.body, &mut |stmt| {
            let store = visit::call_of(stmt).filter(|call| call.op == OpId::STORE);
            if let Some(target) = store.and_then(|call| call.args.get(2)).and_then(Operand::var) {
                writeln!(text, "stores to {}", kernel.var(target).name).unwrap();
            }
        });
        kernel.notes.iter().for_each(|note| writeln!(text, "note: {}", note.reason).unwrap());
    }
    expect.assert_eq(&text);
}

const MADE: &str = "acc = pl.create_tensor([64, 128], dtype=pl.FP32)
with pl.at(level=pl.Level.CORE_GROUP, name_hint='seed'):
    acc = pl.full([64, 128], dtype=pl.FP32, value=0.0)
";

const LOOP: &str = "with pl.at(level=pl.Level.CORE_GROUP, name_hint='part'):
    for i in pl.range(4):
        acc = pl.add(acc, x)
";

const END: &str = "with pl.at(level=pl.Level.CORE_GROUP, name_hint='end'):
    o[:, :] = pl.exp(acc)
";

#[test]
fn what_the_loop_around_carries_back_replaces_what_it_came_from() {
    let host = "for b in pl.range(4):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='part'):
        acc = pl.add(acc, x)
";
    check(
        &format!("{MADE}{host}{END}"),
        expect![[r#"
            takes acc, x
            stores to acc
        "#]],
    );
}

#[test]
fn a_loop_that_runs_once_carries_nothing() {
    let host = "for b in pl.range(1):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='part'):
        acc = pl.add(acc, x)
";
    check(
        &format!("{MADE}{host}{END}"),
        expect![[r#"
            takes acc, x, ret0__out
            stores to ret0__out
        "#]],
    );
}

#[test]
fn an_accumulator_without_another_reader_is_written_in_its_place() {
    check(
        &format!(
            "{MADE}{}{END}",
            LOOP.replace("    for", "    sum = acc[:, :]\n    for").replace("acc = pl.add(acc", "sum = pl.add(sum")
        )
        .replace("pl.exp(acc)", "pl.exp(sum)"),
        expect![[r#"
            takes acc, x
            stores to acc
        "#]],
    );
}

#[test]
fn an_accumulator_that_another_scope_reads_stays_as_it_was() {
    check(
        &format!("{MADE}{END}{LOOP}{END}"),
        expect![[r#"
            takes acc, x, ret0__out
            stores to ret0__out
        "#]],
    );
}

#[test]
fn a_sum_without_a_loop_gets_a_tensor_of_its_own() {
    let host = "with pl.at(level=pl.Level.CORE_GROUP, name_hint='part'):
    acc = pl.add(acc, x)
";
    check(
        &format!("{MADE}{host}{END}"),
        expect![[r#"
            takes acc, x, ret0__out
            stores to ret0__out
        "#]],
    );
}

#[test]
fn what_a_branch_of_the_host_binds_and_nothing_reads_does_not_leave() {
    let host = "if n < 3:
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='part'):
        acc = pl.add(x, 1.0)
        o[:, :] = pl.exp(acc)
return o
";
    check(
        &format!("{MADE}{host}"),
        expect![[r#"
            takes x, o
            stores to o
        "#]],
    );
}

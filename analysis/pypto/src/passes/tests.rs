//! Bodies of kernels as authors write them, and what the passes make of them.

mod barriers;
mod both_cores;
mod halves;
mod handed_over;
mod hoisted;
mod loops;
mod operands;
mod products;
mod random;
mod scattered;

use std::collections::HashSet;
use std::fmt::Write;

use expect_test::Expect;

use super::prepare;
use crate::ir::{Kernel, Operand, Role, Stmt, VarId, visit};
use crate::lower::Module;
use crate::target::{Planner, Target};

const TENSORS: &str = "a: pl.Tensor[[512, 512], pl.FP32], b: pl.Tensor[[512, 512], pl.FP16], q: pl.Tensor[[512, 512], pl.INT8], \
    n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]";

fn kernels(body: &str, target: Target) -> Vec<Kernel> {
    kernels_for(body, target, Planner::Sequential)
}

fn kernels_for(body: &str, target: Target, planner: Planner) -> Vec<Kernel> {
    kernels_declared("type=pl.FunctionType.InCore", body, target, planner)
}

fn kernels_declared(as_what: &str, body: &str, target: Target, planner: Planner) -> Vec<Kernel> {
    let body: String = body.lines().map(|line| format!("        {}\n", line.trim_end())).collect();
    let text = format!("class P:\n    @pl.function({as_what})\n    def k({TENSORS}):\n{body}        return out\n");
    let kernels = Module::new(&text).kernels().into_iter();
    kernels.flat_map(|kernel| prepare(kernel, target.into(), planner)).collect()
}

/// The statements after the passes; of loads and stores only the names.
fn check_on(target: Target, body: &str, expect: Expect) {
    check_kernels(&kernels(body, target), expect);
}

fn check_kernels(kernels: &[Kernel], expect: Expect) {
    let mut text = String::new();
    for kernel in kernels {
        assert_defined(kernel);
        for line in
            kernel.to_string().lines().filter(|line| !line.starts_with("    param") && !line.contains(" return "))
        {
            let line = line.split(" = tile.load(").next().unwrap_or(line);
            writeln!(text, "{}", line.strip_prefix("    ").unwrap_or(line)).unwrap();
        }
    }
    expect.assert_eq(&text);
}

fn check(body: &str, expect: Expect) {
    check_on(Target::Ascend910b, body, expect);
}

/// Every variable that a statement reads is defined before it, in this list of statements or one around it, or made on the other core.
fn assert_defined(kernel: &Kernel) {
    let strays = kernel.strays.iter().map(|stray| stray.var);
    let mut defined: HashSet<VarId> = kernel.params.iter().copied().chain(strays).collect();
    assert_body(kernel, &kernel.body, &mut defined);
}

fn assert_body(kernel: &Kernel, body: &[Stmt], defined: &mut HashSet<VarId>) {
    for stmt in body {
        let check = |used: VarId| {
            let is_known = defined.contains(&used) || kernel.var(used).role == Role::OtherCore;
            assert!(is_known, "`{}` is read where it is not defined:\n{kernel}", kernel.var(used).name)
        };
        match stmt {
            Stmt::For(inner) => {
                visit::header_uses(stmt, &mut { check });
                let mut inside = defined.clone();
                inside.insert(inner.index);
                inside.extend(inner.carries.iter().map(|carry| carry.iter));
                assert_body(kernel, &inner.body, &mut inside);
                assert_eq!(visit::yielded(&inner.body).len(), inner.carries.len(), "{kernel}");
                defined.extend(inner.carries.iter().map(|carry| carry.result));
            }
            Stmt::While(inner) => {
                inner.carries.iter().filter_map(|carry| carry.init.var()).for_each(check);
                let mut inside = defined.clone();
                inside.extend(inner.carries.iter().map(|carry| carry.iter));
                assert_body(kernel, &inner.body, &mut inside);
                defined.extend(inner.carries.iter().map(|carry| carry.result));
            }
            Stmt::If(inner) => {
                visit::header_uses(stmt, &mut { check });
                for branch in [&inner.then, &inner.otherwise] {
                    assert_body(kernel, branch, &mut defined.clone());
                    let ends: &[Operand] = visit::yielded(branch);
                    assert!(inner.results.is_empty() || ends.len() == inner.results.len(), "{kernel}");
                }
                defined.extend(&inner.results);
            }
            leaf => {
                visit::uses(leaf, &mut { check });
                if let Stmt::Let { var, .. } = leaf {
                    // A split assigns the first values of loops again.
                    let is_new = defined.insert(*var) || kernel.name.ends_with("_aic") || kernel.name.ends_with("_aiv");
                    assert!(is_new, "`{}` is defined twice:\n{kernel}", kernel.var(*var).name);
                }
            }
        }
    }
}

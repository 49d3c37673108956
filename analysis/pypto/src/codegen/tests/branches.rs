//! What branches ask, as text and as data.

use tilefit_python::element::Dtype;

use super::fixture::Fixture;
use crate::codegen::sequence::{Condition, Step};
use crate::codegen::{generate, program};
use crate::ir::{If, Role, Scalar, ScalarBinary, Stmt, Type, Value, VarId};

fn compared(var: VarId, operator: ScalarBinary, number: i64) -> Scalar {
    Scalar::Binary(operator, Box::new(Scalar::Var(var)), Box::new(Scalar::Int(number)))
}

fn asks(f: &mut Fixture, condition: Scalar) {
    let origin = f.kernel.origin;
    let (then, otherwise, results) = (Vec::new(), Vec::new(), Vec::new());
    f.kernel.body.push(Stmt::If(If { condition, then, otherwise, has_else: false, results, origin }));
}

fn conditions(f: &Fixture) -> Vec<Condition> {
    let steps = program(&f.kernel, &f.plan).0.body.into_iter();
    let condition = |step| match step {
        Step::If(node) => Some(node.condition),
        _ => None,
    };
    steps.filter_map(condition).collect()
}

#[test]
fn a_condition_has_one_pair_of_parentheses() {
    let mut f = Fixture::new("branches");
    let x = f.scalar("x", Dtype::Int32);
    asks(&mut f, Scalar::Var(x));
    asks(&mut f, compared(x, ScalarBinary::Lt, 2));
    asks(&mut f, compared(x, ScalarBinary::Min, 2));
    asks(&mut f, Scalar::Cast(Dtype::Int64, Box::new(Scalar::Var(x))));
    let text = generate(&f.kernel, &f.plan).text;
    let printed: Vec<&str> = text.lines().map(str::trim).filter(|line| line.starts_with("if")).collect();
    assert_eq!(printed, ["if (x) {", "if (x < 2) {", "if (min(x, 2)) {", "if ((int64_t)x) {"]);
}

/// Under whatever name: a copy is the same number, what is computed of it is not.
#[test]
fn a_condition_says_what_it_asks_of_the_vector_unit() {
    let mut f = Fixture::new("branches");
    let origin = f.kernel.origin;
    let [unit, copy, next] = ["unit", "copy", "next"].map(|name| f.var(name, Type::Scalar(Dtype::Index), Role::Def));
    let copied = Stmt::Let { var: copy, value: Value::Copy(unit), origin };
    let value = Value::Scalar(compared(unit, ScalarBinary::Add, 1));
    f.kernel.body = vec![f.set(unit, "tile.get_subblock_idx", Vec::new()), copied];
    f.kernel.body.push(Stmt::Let { var: next, value, origin });
    asks(&mut f, compared(unit, ScalarBinary::Eq, 0));
    asks(&mut f, compared(copy, ScalarBinary::Gt, 0));
    asks(&mut f, compared(next, ScalarBinary::Eq, 1));
    asks(&mut f, compared(unit, ScalarBinary::FloorMod, 2));
    let holds =
        conditions(&f).into_iter().map(|condition| condition.unit.map(|test| [0, 1].map(|unit| test.holds_on(unit))));
    assert_eq!(holds.collect::<Vec<_>>(), [Some([true, false]), Some([false, true]), None, None]);
}

//! What a plan rests on where the author leaves open how `@pl.jit` is called. A scalar that a call gives as a number stands in the text
//! that the compiler makes (`specializer.py`, `visit_Name`), so that a branch which it decides is there for that number or it is not; a
//! scalar that is `pl.RUNTIME` leaves both. A plan is exact only if it is the same in each case.

use std::collections::BTreeSet;

use tilefit_pypto::ir::{If, Kernel, Scalar, Stmt, VarId, visit};
use tilefit_pypto::memory::Plan;
use tilefit_pypto::typing::notation;
use tilefit_python::finding::Status;
use tilefit_python::work;

/// Conditions of one kernel whose cases are tried: each doubles the plans.
const MOST_CONDITIONS: usize = 2;

/// A condition that the entry's scalars decide.
struct Decided {
    condition: Scalar,
    by: VarId,
}

/// Names what plans rest on that another call of the entry would change. `plan` makes those of a kernel.
pub(super) fn name_assumptions(kernel: &Kernel, plans: &mut [&mut Plan], plan: impl Fn(Kernel) -> Vec<Plan>) {
    let decided = decided(kernel);
    if decided.is_empty() {
        return;
    }
    if decided.len() > MOST_CONDITIONS {
        let scalars: BTreeSet<&str> = decided.iter().map(|decided| kernel.var(decided.by).name.as_str()).collect();
        let scalars: Vec<String> = scalars.into_iter().map(|name| format!("`{name}`")).collect();
        let what = format!("{} decide branches and are not numbers where `@pl.jit` is called", scalars.join(", "));
        return plans.iter_mut().for_each(|plan| assume(plan, what.clone()));
    }
    for case in 0..1_u32 << decided.len() {
        let taken: Vec<bool> = (0..decided.len()).map(|index| case >> index & 1 == 1).collect();
        let mut variant = kernel.clone();
        settle(&mut variant.body, &decided, &taken);
        let variants = plan(variant);
        let other = differing(plans, &variants);
        if let Some(first) = decided.first().filter(|_| !other.is_empty()) {
            let name = &kernel.var(first.by).name;
            let condition = notation::scalar(&first.condition, &kernel.vars);
            let what = format!(
                "`{name}` is not known before run time; called with a number for which `{condition}` is {}, `@pl.jit` compiles another kernel{}",
                taken[0],
                shown(variants.get(other[0]))
            );
            other.into_iter().for_each(|nth| assume(plans[nth], what.clone()));
        }
    }
}

/// Which of the plans are others in a variant: all of them where it has a kernel more or less.
fn differing(plans: &[&mut Plan], variants: &[Plan]) -> Vec<usize> {
    let is_other = |nth: &usize| variants.len() != plans.len() || !agrees(plans[*nth], &variants[*nth]);
    (0..plans.len()).filter(is_other).collect()
}

fn shown(plan: Option<&Plan>) -> String {
    let spaces = plan.into_iter().flat_map(|plan| &plan.spaces);
    let used: Vec<String> = spaces.map(|space| format!("{} {} B", space.space, space.used)).collect();
    if used.is_empty() { String::new() } else { format!(" ({})", used.join(", ")) }
}

fn assume(plan: &mut Plan, what: String) {
    if matches!(plan.status, Status::Exact | Status::Predicted) && !plan.assumed.contains(&what) {
        plan.status = Status::Predicted;
        plan.assumed.push(what);
    }
}

/// The conditions that read scalars of the entry and nothing else, each once.
fn decided(kernel: &Kernel) -> Vec<Decided> {
    let mut found: Vec<Decided> = Vec::new();
    if kernel.called_with.is_empty() {
        return found;
    }
    visit::statements(&kernel.body, &mut |stmt| {
        let Stmt::If(If { condition, .. }) = stmt else { return };
        let mut by = None;
        let mut is_decided = is_closed(condition);
        visit::scalar_uses(condition, &mut |var| {
            is_decided &= kernel.called_with.contains(&var);
            by = by.or(Some(var));
        });
        if let Some(by) = by.filter(|_| is_decided)
            && found.iter().all(|known| known.condition != *condition)
        {
            found.push(Decided { condition: condition.clone(), by });
        }
    });
    found
}

/// Whether a number comes of it once its variables are numbers.
fn is_closed(scalar: &Scalar) -> bool {
    match scalar {
        Scalar::Unknown(_) | Scalar::Call(_) | Scalar::Dim { .. } | Scalar::Dynamic(_) => false,
        Scalar::Unary(_, operand) | Scalar::Cast(_, operand) | Scalar::Const(_, operand) => is_closed(operand),
        Scalar::Binary(_, left, right) => is_closed(left) && is_closed(right),
        Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_) | Scalar::Var(_) => true,
    }
}

fn settle(body: &mut [Stmt], decided: &[Decided], taken: &[bool]) {
    for stmt in body {
        work::spend(1);
        if let Stmt::If(inner) = stmt
            && let Some(case) = decided.iter().position(|decided| decided.condition == inner.condition)
        {
            inner.condition = Scalar::Bool(taken[case]);
        }
        stmt.blocks_mut().for_each(|body| settle(body, decided, taken));
    }
}

/// Whether what is left of the kernel lies where it lay, and nothing is used that was not, or no longer.
fn agrees(plan: &Plan, variant: &Plan) -> bool {
    let uses = |plan: &Plan| plan.spaces.iter().map(|space| (space.space, space.used)).collect::<Vec<_>>();
    let of = |plan: &Plan| -> Vec<_> {
        let tiles = plan.tiles.iter().filter(|tile| tile.inserted.is_none());
        tiles.map(|tile| (tile.name.clone(), tile.origin, tile.space, tile.bytes, tile.address)).collect()
    };
    let whole = of(plan);
    uses(plan) == uses(variant) && of(variant).iter().all(|tile| whole.contains(tile))
}

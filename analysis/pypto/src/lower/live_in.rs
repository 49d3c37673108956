//! Live-in variables: which of the author's variables statements read before they assign them. SSA conversion asks it of the statements after
//! a loop.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::pre_ssa::{ExplicitCarry, Statement};
use crate::ir::{Scalar, VarId, visit};

/// What the statements after each one of a list read before they assign it.
pub(super) struct LiveInAfter {
    /// The first statement last. `None` where no loop asks.
    rows: Vec<Option<Rc<FxHashSet<VarId>>>>,
}

impl LiveInAfter {
    pub(super) fn of(statements: &[Statement]) -> LiveInAfter {
        let Some(first) = statements.iter().position(holds_loop) else { return LiveInAfter { rows: Vec::new() } };
        let mut needed = FxHashSet::default();
        let mut rows = Vec::with_capacity(statements.len());
        for statement in statements[first..].iter().rev() {
            rows.push(holds_loop(statement).then(|| Rc::new(needed.clone())));
            let mut live_in = LiveIn::default();
            live_in.statement(statement);
            needed.retain(|var| !live_in.assigned.contains(var));
            needed.extend(live_in.read);
        }
        rows.extend(std::iter::repeat_n(None, first));
        LiveInAfter { rows }
    }

    /// What is needed after the next statement, if that holds a loop.
    pub(super) fn next(&mut self) -> Option<Rc<FxHashSet<VarId>>> {
        self.rows.pop().flatten()
    }
}

fn holds_loop(statement: &Statement) -> bool {
    match statement {
        Statement::For { .. } | Statement::While { .. } => true,
        Statement::If { then, otherwise, .. } => {
            then.iter().chain(otherwise.as_deref().unwrap_or_default()).any(holds_loop)
        }
        Statement::Region(region) => region.body.iter().any(holds_loop),
        _ => false,
    }
}

/// The author's variables that a statement assigns, at any depth.
pub(super) fn collect_assigned(statements: &[Statement], assigned: &mut FxHashSet<VarId>) {
    for statement in statements {
        match statement {
            Statement::Let { var, .. } => {
                assigned.insert(*var);
            }
            Statement::For { carries, body, .. } | Statement::While { carries, body, .. } => {
                collect_assigned(body, assigned);
                assigned.extend(carries.iter().map(|carry| carry.result));
            }
            Statement::If { then, otherwise, results, .. } => {
                collect_assigned(then, assigned);
                collect_assigned(otherwise.as_deref().unwrap_or_default(), assigned);
                assigned.extend(results);
            }
            Statement::Region(region) => collect_assigned(&region.body, assigned),
            _ => {}
        }
    }
}

/// One pass over statements in their order.
#[derive(Default)]
struct LiveIn {
    /// Before it is assigned.
    read: FxHashSet<VarId>,
    /// On the way to here.
    assigned: FxHashSet<VarId>,
    /// The same in order, to forget those of a branch.
    journal: Vec<VarId>,
}

impl LiveIn {
    fn sees(&mut self, uses: impl FnOnce(&mut &mut dyn FnMut(VarId))) {
        let mut see = |var| {
            if !self.assigned.contains(&var) {
                self.read.insert(var);
            }
        };
        uses(&mut (&mut see as &mut dyn FnMut(VarId)));
    }

    fn assign(&mut self, var: VarId) {
        if self.assigned.insert(var) {
            self.journal.push(var);
        }
    }

    /// Walks statements that may not run, and returns what they assign.
    fn aside(&mut self, names: impl IntoIterator<Item = VarId>, walk: impl FnOnce(&mut Self)) -> Vec<VarId> {
        let mark = self.journal.len();
        names.into_iter().for_each(|name| self.assign(name));
        walk(self);
        let assigned = self.journal.split_off(mark);
        assigned.iter().for_each(|var| {
            self.assigned.remove(var);
        });
        assigned
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Let { var, value, .. } => {
                self.sees(|used| visit::value_uses(value, used));
                self.assign(*var);
            }
            Statement::Eval { call, .. } => self.sees(|used| visit::call_uses(call, used)),
            Statement::Yield { values, .. } | Statement::Return { values, .. } => {
                self.sees(|used| values.iter().for_each(|value| visit::operand_uses(value, used)));
            }
            Statement::For { index, bounds, carries, body, .. } => {
                self.sees(|used| bounds.iter().for_each(|bound| visit::scalar_uses(bound, used)));
                self.loop_body(Some(*index), None, carries, body);
            }
            Statement::While { condition, carries, body, .. } => self.loop_body(None, Some(condition), carries, body),
            Statement::If { condition, then, otherwise, results, .. } => {
                self.sees(|used| visit::scalar_uses(condition, used));
                let mut assigned = self.aside([], |this| then.iter().for_each(|stmt| this.statement(stmt)));
                let otherwise = otherwise.as_deref().unwrap_or_default();
                assigned.extend(self.aside([], |this| otherwise.iter().for_each(|stmt| this.statement(stmt))));
                assigned.into_iter().chain(results.iter().copied()).for_each(|var| self.assign(var));
            }
            Statement::Region(region) => region.body.iter().for_each(|stmt| self.statement(stmt)),
            Statement::Break(_) | Statement::Continue(_) => {}
        }
    }

    fn loop_body(
        &mut self,
        index: Option<VarId>,
        condition: Option<&Scalar>,
        carries: &[ExplicitCarry],
        body: &[Statement],
    ) {
        self.sees(|used| carries.iter().for_each(|carry| visit::operand_uses(&carry.init, used)));
        let inside = index.into_iter().chain(carries.iter().map(|carry| carry.iter));
        let assigned = self.aside(inside, |this| {
            this.sees(|used| condition.into_iter().for_each(|condition| visit::scalar_uses(condition, used)));
            body.iter().for_each(|stmt| this.statement(stmt));
        });
        let is_inside = |var: &VarId| Some(*var) == index || carries.iter().any(|carry| carry.iter == *var);
        let assigned = assigned.into_iter().filter(|var| !is_inside(var));
        let results = carries.iter().map(|carry| carry.result);
        assigned.chain(results).collect::<Vec<_>>().into_iter().for_each(|var| self.assign(var));
    }
}

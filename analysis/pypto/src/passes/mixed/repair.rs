//! What is left of a kernel's values when the statements of one core are gone.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Call, For, If, Kernel, Operand, Role, Stmt, VarId, While, rewrite, visit};
use crate::ops::OpId;

pub(super) fn definitions(params: &[VarId], body: &[Stmt]) -> FxHashSet<VarId> {
    let mut defined: FxHashSet<VarId> = params.iter().copied().collect();
    body.iter().for_each(|stmt| {
        visit::definitions(stmt, &mut |var| {
            defined.insert(var);
        })
    });
    defined
}

/// What the repair of one core's statements has to know of the rest of the kernel.
pub(super) struct Whole<'a> {
    /// The assignments of both cores.
    pub(super) assigned: &'a FxHashMap<VarId, &'a Stmt>,
    /// What is taken from the queue here, and what it replaces.
    pub(super) arriving: &'a FxHashSet<VarId>,
}

impl Whole<'_> {
    /// To the compiler, what is taken from the queue is another variable than the one that is read, until all of this is done.
    fn visit_definitions(&self, stmt: &Stmt, see: &mut impl FnMut(VarId)) {
        visit::definitions(stmt, &mut |var| {
            if !self.arriving.contains(&var) {
                see(var);
            }
        });
    }
}

/// The assignments of a kernel, by variable.
pub(super) fn assignments(body: &[Stmt]) -> FxHashMap<VarId, &Stmt> {
    let mut assigned = FxHashMap::default();
    visit::statements(body, &mut |stmt| {
        if let Stmt::Let { var, .. } = stmt {
            assigned.insert(*var, stmt);
        }
    });
    assigned
}

/// What is left of one core's statements.
pub(super) struct Repaired {
    pub(super) body: Vec<Stmt>,
    /// A first value that was assigned again needs several others, which the compiler puts down in no fixed order.
    pub(super) unclear: Option<VarId>,
}

/// Takes out of loops and branches what only the other core carries.
pub(super) fn repair(kernel: &Kernel, mut body: Vec<Stmt>, whole: &Whole) -> Repaired {
    drop_unread_carries(&mut body);
    let mut first_values = FirstValues { whole, unclear: None };
    let mut body = first_values.assign(body);
    keep_carried(kernel, whole, &mut body);
    let mut defined = Defined { vars: whole.arriving.clone(), trail: Vec::new() };
    drop_undefined_results(&mut body, &mut defined);
    let mut body = drop_dead(body);
    drop_unread_carries(&mut body);
    Repaired { body: drop_dead(body), unclear: first_values.unclear }
}

/// Assigns again, before a loop, what its carries begin with and the same list of statements does not define: what the other
/// core alone had, and with it what stands before the loop or branch around.
struct FirstValues<'a> {
    whole: &'a Whole<'a>,
    unclear: Option<VarId>,
}

impl FirstValues<'_> {
    fn assign(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut defined: FxHashSet<VarId> = FxHashSet::default();
        let mut out = Vec::with_capacity(body.len());
        for stmt in body {
            if let Stmt::For(For { carries, .. }) | Stmt::While(While { carries, .. }) = &stmt {
                for init in carries.iter().filter_map(|carry| carry.init.var()) {
                    self.pull(init, &mut defined, &mut out);
                }
            }
            self.whole.visit_definitions(&stmt, &mut |var| {
                defined.insert(var);
            });
            out.push(stmt.map_blocks(|block| self.assign(block)));
        }
        out
    }

    /// The assignment of `var`, after those of what it needs.
    fn pull(&mut self, var: VarId, defined: &mut FxHashSet<VarId>, out: &mut Vec<Stmt>) {
        let mut open = vec![(var, false)];
        while let Some((var, needs_are_there)) = open.pop() {
            let Some(stmt) = self.whole.assigned.get(&var) else { continue };
            if needs_are_there {
                out.push((*stmt).clone());
                continue;
            }
            if !defined.insert(var) {
                continue;
            }
            open.push((var, true));
            let mut uses: Vec<VarId> = Vec::new();
            visit::uses(stmt, &mut |used| {
                if !uses.contains(&used) {
                    uses.push(used);
                }
            });
            let is_needed = |used: &&VarId| !defined.contains(used) && self.whole.assigned.contains_key(used);
            let needs: Vec<(VarId, bool)> = uses.iter().filter(is_needed).map(|used| (*used, false)).collect();
            // The compiler keeps them in a hashed set: of two, the later one is first for certain.
            if needs.len() > 1 && uses.len() > 2 {
                self.unclear = self.unclear.or(Some(var));
            }
            open.extend(needs);
        }
    }
}

/// Carries that neither the body nor what follows the loop reads.
fn drop_unread_carries(body: &mut [Stmt]) {
    let mut read_later: FxHashSet<VarId> = FxHashSet::default();
    for stmt in body.iter_mut().rev() {
        let mut read_here = Vec::new();
        visit::uses(stmt, &mut |var| read_here.push(var));
        stmt.blocks_mut().for_each(|block| drop_unread_carries(block));
        match stmt {
            Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) => {
                let mut read_inside = FxHashSet::default();
                body.iter().filter(|stmt| !matches!(stmt, Stmt::Yield { .. })).for_each(|stmt| {
                    visit::uses(stmt, &mut |var| {
                        read_inside.insert(var);
                    })
                });
                let keep: Vec<bool> = carries
                    .iter()
                    .map(|carry| read_inside.contains(&carry.iter) || read_later.contains(&carry.result))
                    .collect();
                keep_slots(body, &keep);
                let mut kept = keep.iter();
                carries.retain(|_| kept.next().copied().unwrap_or(true));
            }
            _ => {}
        }
        read_later.extend(read_here);
    }
}

/// Drops values from the yield at the end of a body; one without values goes.
fn keep_slots(body: &mut Vec<Stmt>, keep: &[bool]) {
    let Some(Stmt::Yield { values, .. }) = body.last_mut() else { return };
    let mut kept = keep.iter();
    values.retain(|_| kept.next().copied().unwrap_or(true));
    if values.is_empty() {
        body.pop();
    }
}

/// A carry whose next value is not made here keeps the one that it has.
fn keep_carried(kernel: &Kernel, whole: &Whole, body: &mut [Stmt]) {
    let mut defined: FxHashSet<VarId> = FxHashSet::default();
    for stmt in body {
        match stmt {
            Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) if !carries.is_empty() => {
                let iters: Vec<Option<VarId>> = carries.iter().map(|carry| Some(carry.iter)).collect();
                defined.extend(iters.iter().flatten());
                body.iter().for_each(|stmt| {
                    whole.visit_definitions(stmt, &mut |var| {
                        defined.insert(var);
                    })
                });
                keep_carried(kernel, whole, body);
                yield_carried(kernel, body, &iters, &defined);
            }
            // What lies within loops that carry nothing is left alone.
            Stmt::For(_) | Stmt::While(_) => {}
            _ => stmt.blocks_mut().for_each(|block| keep_carried(kernel, whole, block)),
        }
        whole.visit_definitions(stmt, &mut |var| {
            defined.insert(var);
        });
    }
}

/// Yields what the loop carries in place of what is not defined, also from branches in its body.
fn yield_carried(kernel: &Kernel, body: &mut [Stmt], carried: &[Option<VarId>], defined: &FxHashSet<VarId>) {
    for stmt in body {
        match stmt {
            Stmt::If(inner) => {
                let carried = carried_by_branches(kernel, inner);
                yield_carried(kernel, &mut inner.then, &carried, defined);
                yield_carried(kernel, &mut inner.otherwise, &carried, defined);
            }
            Stmt::Yield { values, .. } => {
                for (value, carried) in values.iter_mut().zip(carried) {
                    if let Some(carried) = carried
                        && value.var().is_some_and(|var| !defined.contains(&var))
                    {
                        *value = Operand::Var(*carried);
                    }
                }
            }
            _ => {}
        }
    }
}

/// By result of a branch: what a loop carries that one side hands on, unless the other hands on what another one carries.
fn carried_by_branches(kernel: &Kernel, branch: &If) -> Vec<Option<VarId>> {
    let carried = |var: Option<VarId>| var.filter(|var| kernel.var(*var).role == Role::IterArg);
    (0..branch.results.len())
        .map(|slot| match branch.choices(slot).map(carried) {
            [Some(one), Some(other)] if one != other => None,
            [one, other] => one.or(other),
        })
        .collect()
}

/// The variables that are defined at a place, and how to get back to what was defined earlier.
struct Defined {
    vars: FxHashSet<VarId>,
    trail: Vec<VarId>,
}

impl Defined {
    fn insert(&mut self, var: VarId) {
        if self.vars.insert(var) {
            self.trail.push(var);
        }
    }

    fn back_to(&mut self, length: usize) {
        for var in self.trail.drain(length..) {
            self.vars.remove(&var);
        }
    }
}

/// Results of branches of which one side hands on what is not defined there. Parameters do not count as defined.
fn drop_undefined_results(body: &mut [Stmt], defined: &mut Defined) {
    for stmt in body {
        let before = defined.trail.len();
        match stmt {
            Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) => {
                carries.iter().for_each(|carry| defined.insert(carry.iter));
                // The index of the loop, if it has one, is no value of a branch.
                drop_undefined_results(body, defined);
            }
            Stmt::If(inner) => {
                let (then, otherwise) = (&mut inner.then, &mut inner.otherwise);
                let mut keep = vec![true; inner.results.len()];
                for side in [&mut *then, &mut *otherwise] {
                    drop_undefined_results(side, defined);
                    defined.back_to(before);
                    side.iter().flat_map(Stmt::results).for_each(|var| defined.insert(var));
                    for (keep, value) in keep.iter_mut().zip(visit::yielded(side)) {
                        *keep &= value.var().is_none_or(|var| defined.vars.contains(&var));
                    }
                    defined.back_to(before);
                }
                keep_slots(then, &keep);
                keep_slots(otherwise, &keep);
                let mut kept = keep.iter();
                inner.results.retain(|_| kept.next().copied().unwrap_or(true));
            }
            _ => {}
        }
        defined.back_to(before);
        visit::definitions(stmt, &mut |var| defined.insert(var));
    }
}

/// Removes definitions that nothing with an effect needs.
fn drop_dead(body: Vec<Stmt>) -> Vec<Stmt> {
    let mut live: FxHashSet<VarId> = FxHashSet::default();
    let mut needs: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
    visit::statements(&body, &mut |stmt| match stmt {
        Stmt::Let { var, .. } if !has_effect(stmt) => {
            let uses = needs.entry(*var).or_default();
            visit::uses(stmt, &mut |used| uses.push(used));
        }
        _ => visit::own_uses(stmt, &mut |used| {
            live.insert(used);
        }),
    });
    let mut open: Vec<VarId> = live.iter().copied().collect();
    while let Some(var) = open.pop() {
        for used in needs.remove(&var).unwrap_or_default() {
            if live.insert(used) {
                open.push(used);
            }
        }
    }
    rewrite::expand_leaves(body, &mut |stmt, out| match &stmt {
        Stmt::Let { var, .. } if !has_effect(&stmt) && !live.contains(var) => {}
        _ => out.push(stmt),
    })
}

fn has_effect(stmt: &Stmt) -> bool {
    let effect = |call: &Call| {
        matches!(
            call.op,
            OpId::STORE | OpId::ASSEMBLE | OpId::TPOP_FROM_AIC | OpId::TPOP_FROM_AIV | OpId::RESERVE_BUFFER
        )
    };
    visit::call_of(stmt).is_some_and(effect)
}

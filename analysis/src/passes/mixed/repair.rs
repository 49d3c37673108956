//! What is left of a kernel's values when the statements of one core are gone.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::walk;
use crate::ir::{Call, For, Kernel, Operand, Stmt, VarId, While};
use crate::ops::OpId;
pub(super) fn definitions(params: &[VarId], body: &[Stmt]) -> FxHashSet<VarId> {
    let mut defined: FxHashSet<VarId> = params.iter().copied().collect();
    body.iter().for_each(|stmt| {
        walk::visit_definitions(stmt, &mut |var| {
            defined.insert(var);
        })
    });
    defined
}

pub(super) fn reads_undefined(kernel: &Kernel) -> bool {
    let mut defined: FxHashSet<VarId> = kernel.params.iter().copied().collect();
    body_reads_undefined(&kernel.body, &mut defined)
}

/// Leaves in `defined` what was there before.
fn body_reads_undefined(body: &[Stmt], defined: &mut FxHashSet<VarId>) -> bool {
    let mut here: Vec<VarId> = Vec::new();
    let mut undefined = false;
    for stmt in body {
        let mut check = |used: VarId| undefined |= !defined.contains(&used);
        match stmt {
            // The condition reads what the loop carries, too.
            Stmt::While(inner) => inner.carries.iter().filter_map(|carry| carry.init.var()).for_each(check),
            Stmt::For(_) | Stmt::If(_) => walk::visit_header_uses(stmt, &mut check),
            leaf => walk::visit_uses(leaf, &mut check),
        }
        let made: Vec<VarId> = match stmt {
            Stmt::For(For { index, carries, body, .. }) => {
                let inside: Vec<VarId> = carries.iter().map(|carry| carry.iter).chain([*index]).collect();
                undefined |= inner_reads_undefined(body, &inside, defined);
                carries.iter().map(|carry| carry.result).collect()
            }
            Stmt::While(While { carries, body, .. }) => {
                let inside: Vec<VarId> = carries.iter().map(|carry| carry.iter).collect();
                undefined |= inner_reads_undefined(body, &inside, defined);
                carries.iter().map(|carry| carry.result).collect()
            }
            Stmt::If(inner) => {
                undefined |= body_reads_undefined(&inner.then, defined);
                undefined |= body_reads_undefined(&inner.otherwise, defined);
                inner.results.clone()
            }
            Stmt::Let { var, .. } => vec![*var],
            _ => Vec::new(),
        };
        defined.extend(&made);
        here.extend(made);
    }
    here.iter().for_each(|var| {
        defined.remove(var);
    });
    undefined
}

fn inner_reads_undefined(body: &[Stmt], inside: &[VarId], defined: &mut FxHashSet<VarId>) -> bool {
    defined.extend(inside);
    let undefined = body_reads_undefined(body, defined);
    inside.iter().for_each(|var| {
        defined.remove(var);
    });
    undefined
}

/// Takes out of loops and branches what only the other core carries.
pub(super) fn repair(params: &[VarId], body: Vec<Stmt>) -> Vec<Stmt> {
    let mut body = body;
    drop_unread_carries(&mut body);
    let defined = definitions(params, &body);
    keep_carried(&mut body, &defined);
    let defined = definitions(params, &body);
    drop_undefined_results(&mut body, &defined);
    let mut body = drop_dead(body);
    drop_unread_carries(&mut body);
    drop_dead(body)
}

/// Carries that neither the body nor what follows the loop reads.
fn drop_unread_carries(body: &mut [Stmt]) {
    let mut read_later: FxHashSet<VarId> = FxHashSet::default();
    for stmt in body.iter_mut().rev() {
        let mut read_here = Vec::new();
        walk::visit_uses(stmt, &mut |var| read_here.push(var));
        match stmt {
            Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) => {
                drop_unread_carries(body);
                let mut read_inside = FxHashSet::default();
                body.iter().filter(|stmt| !matches!(stmt, Stmt::Yield { .. })).for_each(|stmt| {
                    walk::visit_uses(stmt, &mut |var| {
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
            Stmt::If(inner) => {
                drop_unread_carries(&mut inner.then);
                drop_unread_carries(&mut inner.otherwise);
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

/// A carry whose next value the other core makes keeps the one that it has.
fn keep_carried(body: &mut [Stmt], defined: &FxHashSet<VarId>) {
    for stmt in body {
        match stmt {
            Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) => {
                keep_carried(body, defined);
                if let Some(Stmt::Yield { values, .. }) = body.last_mut() {
                    for (value, carry) in values.iter_mut().zip(carries) {
                        if value.var().is_some_and(|var| !defined.contains(&var)) {
                            *value = Operand::Var(carry.iter);
                        }
                    }
                }
            }
            Stmt::If(inner) => {
                keep_carried(&mut inner.then, defined);
                keep_carried(&mut inner.otherwise, defined);
            }
            _ => {}
        }
    }
}

/// Results of branches that the other core makes.
fn drop_undefined_results(body: &mut [Stmt], defined: &FxHashSet<VarId>) {
    for stmt in body {
        match stmt {
            Stmt::For(For { body, .. }) | Stmt::While(While { body, .. }) => drop_undefined_results(body, defined),
            Stmt::If(inner) => {
                drop_undefined_results(&mut inner.then, defined);
                drop_undefined_results(&mut inner.otherwise, defined);
                let is_defined = |branch: &[Stmt], slot: usize| {
                    walk::yielded(branch)
                        .get(slot)
                        .is_none_or(|value| value.var().is_none_or(|var| defined.contains(&var)))
                };
                let keep: Vec<bool> = (0..inner.results.len())
                    .map(|slot| is_defined(&inner.then, slot) && is_defined(&inner.otherwise, slot))
                    .collect();
                keep_slots(&mut inner.then, &keep);
                keep_slots(&mut inner.otherwise, &keep);
                let mut kept = keep.iter();
                inner.results.retain(|_| kept.next().copied().unwrap_or(true));
            }
            _ => {}
        }
    }
}

/// Removes definitions that nothing with an effect needs.
fn drop_dead(body: Vec<Stmt>) -> Vec<Stmt> {
    let mut live: FxHashSet<VarId> = FxHashSet::default();
    let mut needs: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
    walk::visit(&body, &mut |stmt| match stmt {
        Stmt::Let { var, .. } if !has_effect(stmt) => {
            let uses = needs.entry(*var).or_default();
            walk::visit_uses(stmt, &mut |used| uses.push(used));
        }
        Stmt::For(_) | Stmt::While(_) | Stmt::If(_) => walk::visit_header_uses(stmt, &mut |used| {
            live.insert(used);
        }),
        _ => walk::visit_uses(stmt, &mut |used| {
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
    walk::expand_leaves(body, &mut |stmt, out| match &stmt {
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
    walk::call_of(stmt).is_some_and(effect)
}

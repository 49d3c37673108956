//! Which parameter a tensor is.

use rustc_hash::FxHashMap;

use crate::ir::{For, Operand, Stmt, Value, VarId, While, visit};
use crate::ops::OpId;

/// Parameters, by what has become of them through stores, loops and branches. What branches make of two of them is none.
pub(super) struct Given {
    params: FxHashMap<VarId, VarId>,
    by: Lineage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lineage {
    /// What is handed on at the end of a loop or branch (ExpandMixedKernel).
    Yields,
    /// What a loop begins with; what a branch hands on is no parameter (the outliner of scopes, for what they return).
    Inits,
}

impl Given {
    pub(super) fn of(params: &[VarId], body: &[Stmt]) -> Given {
        Given::by(Lineage::Yields, params, body)
    }

    /// As what a scope returns is told.
    pub(super) fn back(params: &[VarId], body: &[Stmt]) -> Given {
        Given::by(Lineage::Inits, params, body)
    }

    fn by(by: Lineage, params: &[VarId], body: &[Stmt]) -> Given {
        let mut given = Given { params: params.iter().map(|param| (*param, *param)).collect(), by };
        given.body(body);
        given
    }

    pub(super) fn param(&self, value: &Operand) -> Option<VarId> {
        self.params.get(&value.var()?).copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (VarId, VarId)> + '_ {
        self.params.iter().map(|(var, param)| (*var, *param))
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Let { var, value, .. } => {
                    let source = match value {
                        Value::Call(call) if call.op == OpId::STORE => call.args.get(2).cloned(),
                        Value::Copy(source) => Some(Operand::Var(*source)),
                        _ => None,
                    };
                    self.set(*var, source.and_then(|source| self.param(&source)));
                }
                Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) => {
                    carries.iter().for_each(|carry| self.set(carry.iter, self.param(&carry.init)));
                    self.body(body);
                    for (carry, value) in carries.iter().zip(visit::yielded(body)) {
                        let from = if self.by == Lineage::Inits { &carry.init } else { value };
                        self.set(carry.result, self.param(from));
                    }
                }
                Stmt::If(inner) => {
                    self.body(&inner.then);
                    self.body(&inner.otherwise);
                    if self.by == Lineage::Inits {
                        continue;
                    }
                    let sides = visit::yielded(&inner.then).iter().zip(visit::yielded(&inner.otherwise));
                    for (result, (then, otherwise)) in inner.results.iter().zip(sides) {
                        let param = self.param(then).filter(|param| self.param(otherwise) == Some(*param));
                        self.set(*result, param);
                    }
                }
                _ => {}
            }
        }
    }

    fn set(&mut self, var: VarId, param: Option<VarId>) {
        self.params.extend(param.map(|param| (var, param)));
    }
}

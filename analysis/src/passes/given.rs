//! Which parameter a tensor is.

use rustc_hash::FxHashMap;

use super::walk;
use crate::ir::{For, Operand, Stmt, Value, VarId, While};
use crate::ops::OpId;

/// Parameters, by what has become of them through stores, loops and branches. What branches make of two of them is none.
pub(super) struct Given(FxHashMap<VarId, VarId>);

impl Given {
    pub(super) fn of(params: &[VarId], body: &[Stmt]) -> Given {
        let mut given = Given(params.iter().map(|param| (*param, *param)).collect());
        given.body(body);
        given
    }

    pub(super) fn param(&self, value: &Operand) -> Option<VarId> {
        self.0.get(&value.var()?).copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (VarId, VarId)> + '_ {
        self.0.iter().map(|(var, param)| (*var, *param))
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
                    for (carry, value) in carries.iter().zip(walk::yielded(body)) {
                        self.set(carry.result, self.param(value));
                    }
                }
                Stmt::If(inner) => {
                    self.body(&inner.then);
                    self.body(&inner.otherwise);
                    let sides = walk::yielded(&inner.then).iter().zip(walk::yielded(&inner.otherwise));
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
        self.0.extend(param.map(|param| (var, param)));
    }
}

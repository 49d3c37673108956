//! Tensors that a loop carries: which of them are another tensor from one iteration to the next, and so need a pointer of
//! their own (`docs/reference/codegen.md`, "Loads, stores, pointers").

use rustc_hash::FxHashMap;

use crate::ir::{self, Carry, Kernel, Stmt, Type, Value, VarId};
use crate::ops::OpId;

/// The carried tensors that change, each with the parameters that it may be: indices in the parameter list, the one
/// that it starts as first.
pub(super) fn changing(kernel: &Kernel) -> FxHashMap<VarId, Vec<usize>> {
    let mut tensors = Tensors { kernel, of: FxHashMap::default(), choices: FxHashMap::default() };
    for (slot, param) in kernel.params.iter().enumerate() {
        if kernel.tensor(*param).is_some() {
            tensors.of.insert(*param, Named::Param(slot));
        }
    }
    // Each round adds a choice or a parameter to one; without either it was the last.
    while tensors.block(&kernel.body) {}
    tensors.choices
}

/// What a tensor variable is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Param(usize),
    /// A variable of which a branch or an iteration decides what it is.
    Choice(VarId),
}

struct Tensors<'k> {
    kernel: &'k Kernel,
    of: FxHashMap<VarId, Named>,
    choices: FxHashMap<VarId, Vec<usize>>,
}

impl Tensors<'_> {
    /// Whether anything was learnt.
    fn block(&mut self, stmts: &[Stmt]) -> bool {
        let mut learnt = false;
        for stmt in stmts {
            learnt |= match stmt {
                Stmt::Let { var, value, .. } => {
                    if let Some(named) = source(value).and_then(|source| self.of.get(&source)).copied() {
                        self.of.insert(*var, named);
                    }
                    false
                }
                Stmt::For(node) => self.repeat(&node.carries, &node.body),
                Stmt::While(node) => self.repeat(&node.carries, &node.body),
                Stmt::If(node) => self.branches(node),
                _ => false,
            };
        }
        learnt
    }

    fn repeat(&mut self, carries: &[Carry], body: &[Stmt]) -> bool {
        let mut learnt = false;
        for carry in carries {
            let Some(init) = self.named(Some(&carry.init)) else { continue };
            let known = self.choices.contains_key(&carry.iter);
            if known {
                learnt |= self.adds(carry.iter, init);
            }
            let named = if known { Named::Choice(carry.iter) } else { init };
            self.of.extend([(carry.iter, named), (carry.result, named)]);
        }
        learnt |= self.block(body);
        for (at, carry) in carries.iter().enumerate() {
            let Some(iter) = self.of.get(&carry.iter).copied() else { continue };
            let Some(next) = self.named(yielded(body, at)).filter(|next| *next != iter) else { continue };
            if !self.choices.contains_key(&carry.iter) {
                self.choices.insert(carry.iter, self.params(iter));
                learnt = true;
            }
            learnt |= self.adds(carry.iter, next);
        }
        learnt
    }

    fn branches(&mut self, node: &ir::If) -> bool {
        let mut learnt = self.block(&node.then) | self.block(&node.otherwise);
        for (at, result) in node.results.iter().enumerate() {
            let named = [&node.then, &node.otherwise].map(|body| self.named(yielded(body, at)));
            let [Some(then), Some(otherwise)] = named else { continue };
            if then == otherwise {
                self.of.insert(*result, then);
                continue;
            }
            self.of.insert(*result, Named::Choice(*result));
            learnt |= self.adds(*result, then) | self.adds(*result, otherwise);
        }
        learnt
    }

    fn named(&self, operand: Option<&ir::Operand>) -> Option<Named> {
        let var = operand?.var().filter(|var| matches!(self.kernel.var(*var).ty, Type::Tensor(_)))?;
        self.of.get(&var).copied()
    }

    fn params(&self, named: Named) -> Vec<usize> {
        match named {
            Named::Param(slot) => vec![slot],
            Named::Choice(var) => self.choices.get(&var).cloned().unwrap_or_default(),
        }
    }

    /// Adds what `named` can be to what `choice` can be. Whether that was more.
    fn adds(&mut self, choice: VarId, named: Named) -> bool {
        let more = self.params(named);
        let known = self.choices.entry(choice).or_default();
        let before = known.len();
        for slot in more {
            if !known.contains(&slot) {
                known.push(slot);
            }
        }
        known.len() > before
    }
}

/// The tensor that a value is, or writes to.
fn source(value: &Value) -> Option<VarId> {
    match value {
        Value::Copy(source) => Some(*source),
        Value::Call(call) => {
            let target = match call.op {
                OpId::STORE | OpId::MSCATTER => 2,
                OpId::TENSOR_WRITE | OpId::TENSOR_VIEW => 0,
                _ => return None,
            };
            call.args.get(target)?.var()
        }
        _ => None,
    }
}

fn yielded(body: &[Stmt], at: usize) -> Option<&ir::Operand> {
    match body.last()? {
        Stmt::Yield { values, .. } => values.get(at),
        _ => None,
    }
}

//! Which memory the tensors are that host code gives to its scopes, as the compiler's BufferRootCollector and what builds on it
//! follow them. What stands in loops and branches of the host is not followed: the compiler moves allocations there.

use rustc_hash::{FxHashMap, FxHashSet};

use super::pre_ssa;
use crate::ir::{Carry, For, Operand, Role, Stmt, Storage, Value, Var, VarId, While, visit};
use crate::ops::OpId;

/// How a tensor of the host, or of one of its scopes, comes about.
#[derive(Debug, Clone, Copy)]
enum Definition {
    Made,
    Same(VarId),
    /// On chip in a scope: it leaves through a tensor that the compiler adds for it.
    OnChip,
}

pub(super) struct Storages<'a> {
    vars: &'a [Var],
    definitions: FxHashMap<VarId, Definition>,
}

/// How a scope stands in its host.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launch {
    /// By a plain call: its tensors are complete before whatever comes after it.
    pub(super) is_plain: bool,
    /// Inside of a loop or branch.
    pub(super) is_nested: bool,
    /// In a scope of its own inside of the loop around.
    pub(super) is_apart: bool,
}

impl<'a> Storages<'a> {
    /// Of a host and its scopes, whose bodies end with what leaves them.
    pub(super) fn of(vars: &'a [Var], host: &[Stmt], regions: &[Vec<Stmt>], launches: &[Launch]) -> Self {
        let mut storages = Storages { vars, definitions: FxHashMap::default() };
        for stmt in host {
            if let Stmt::Let { var, value, .. } = stmt {
                let definition = match value {
                    Value::Call(call) if call.op == OpId::TENSOR_CREATE => Some(Definition::Made),
                    Value::Copy(source) => Some(Definition::Same(*source)),
                    _ => None,
                };
                storages.definitions.extend(definition.map(|definition| (*var, definition)));
            }
        }
        for (body, _) in regions.iter().zip(launches).filter(|(_, launch)| !launch.is_nested) {
            storages.region(body);
        }
        storages
    }

    fn region(&mut self, body: &[Stmt]) {
        let mut written: Vec<VarId> = Vec::new();
        let mut defined = Vec::new();
        visit::statements(body, &mut |stmt| {
            let target = visit::call_of(stmt).and_then(|call| match call.op {
                OpId::TENSOR_ASSEMBLE => call.args.first(),
                OpId::STORE | OpId::MSCATTER => call.args.get(2),
                _ => None,
            });
            written.extend(target.and_then(Operand::var));
            match stmt {
                Stmt::Let { var, value: Value::Copy(source), .. } => defined.push((*var, Definition::Same(*source))),
                Stmt::Let { var, value: Value::Call(_), .. } => {
                    let target = target.and_then(Operand::var);
                    defined.push((*var, target.map_or(Definition::OnChip, Definition::Same)));
                }
                Stmt::For(For { carries, .. }) | Stmt::While(While { carries, .. }) => {
                    defined.extend(carries.iter().flat_map(carried));
                }
                _ => {}
            }
        });
        self.definitions.extend(defined.iter().copied());
        let leaving: Vec<VarId> = match body.last() {
            Some(Stmt::Return { values, .. }) => values.iter().filter_map(Operand::var).collect(),
            _ => Vec::new(),
        };
        let is_local = |storage: &Storage| match storage {
            Storage::Made(of) => defined.iter().any(|(var, _)| var == of),
            Storage::Given(_) | Storage::Unclear => false,
        };
        let around = written.iter().map(|&var| self.memory_of(var)).filter(|storage| !is_local(storage));
        let outputs: FxHashSet<Storage> = around.chain(leaving.iter().map(|&var| self.memory_of(var))).collect();
        // Which of several outputs a result is depends on their order and types.
        if outputs.len() > 1 {
            leaving.iter().for_each(|var| {
                self.definitions.remove(var);
            });
        }
    }

    /// The memory of a tensor, named by the variable that has it first.
    pub(super) fn memory_of(&self, mut tensor: VarId) -> Storage {
        for _ in 0..=self.definitions.len() {
            match self.definitions.get(&tensor) {
                Some(Definition::Same(source)) => tensor = *source,
                Some(Definition::Made | Definition::OnChip) => return Storage::Made(tensor),
                None if self.vars.get(tensor.0 as usize).is_some_and(|var| var.role == Role::Param) => {
                    return Storage::Given(tensor);
                }
                None => return Storage::Unclear,
            }
        }
        Storage::Unclear
    }

    /// The provenance of what a scope takes, which are `taken` around it and `params` in it.
    pub(super) fn provenance(&self, taken: &[VarId], params: &[VarId]) -> Vec<(VarId, Storage)> {
        let mut first: FxHashMap<VarId, VarId> = FxHashMap::default();
        let storages = taken.iter().zip(params).map(|(&tensor, &param)| {
            let mut named_here = |of: VarId| *first.entry(of).or_insert(param);
            let storage = match self.memory_of(tensor) {
                Storage::Given(of) => Storage::Given(named_here(of)),
                Storage::Made(of) => Storage::Made(named_here(of)),
                Storage::Unclear => Storage::Unclear,
            };
            (param, storage)
        });
        storages.collect()
    }
}

fn carried(carry: &Carry) -> impl Iterator<Item = (VarId, Definition)> {
    let init = carry.init.var();
    let names = [carry.iter, carry.result].into_iter();
    names.filter_map(move |name| Some((name, Definition::Same(init?))))
}

/// The scopes of a body in the order in which SSA conversion meets them, and how each stands there.
pub(super) fn regions(body: Vec<pre_ssa::Statement>) -> Vec<(pre_ssa::Region, Launch)> {
    fn collect(body: Vec<pre_ssa::Statement>, is_nested: bool, regions: &mut Vec<(pre_ssa::Region, Launch)>) {
        for statement in body {
            match statement {
                pre_ssa::Statement::Region(region) => {
                    let launch = Launch { is_plain: region.is_called, is_nested, is_apart: region.is_apart };
                    regions.push((region, launch));
                }
                pre_ssa::Statement::For { body, .. } | pre_ssa::Statement::While { body, .. } => {
                    collect(body, true, regions);
                }
                pre_ssa::Statement::If { then, otherwise, .. } => {
                    collect(then, true, regions);
                    collect(otherwise.unwrap_or_default(), true, regions);
                }
                _ => {}
            }
        }
    }
    let mut regions = Vec::new();
    collect(body, false, &mut regions);
    regions
}

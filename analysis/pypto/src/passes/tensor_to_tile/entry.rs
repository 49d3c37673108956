//! Which parameters are tiles from the start, and which windows belong where a product reads.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Conversion, Site, shaped_operands};
use crate::ir::{AttrName, Call, Kernel, Operand, Role, Stmt, Type, Value, Var, VarId, Why, visit};
use crate::ops::OpId;
use crate::target::Space;

/// Operations that load for themselves what they need.
fn loads_itself(op: OpId) -> bool {
    matches!(
        op,
        OpId::TENSOR_SLICE | OpId::TENSOR_ASSEMBLE | OpId::TENSOR_READ | OpId::TENSOR_WRITE | OpId::TENSOR_GATHER
    )
}

/// The operands that the compiler brings to a space of their own, so that no load at the start is for them.
fn brought_to(call: &Call) -> &'static [(usize, Space)] {
    match call.op {
        OpId::TENSOR_MATMUL => &[(0, Space::Mat), (1, Space::Mat)],
        OpId::TENSOR_MATMUL_ACC => &[(1, Space::Mat), (2, Space::Mat)],
        OpId::SCATTER_UPDATE => &[(0, Space::Vec), (1, Space::Vec), (2, Space::Vec)],
        OpId::TENSOR_MRGSORT if call.args.len() < 5 => {
            &[(0, Space::Vec), (1, Space::Vec), (2, Space::Vec), (3, Space::Vec)]
        }
        _ => &[],
    }
}

fn is_tensor(kernel: &Kernel, var: VarId) -> bool {
    matches!(kernel.var(var).ty, Type::Tensor(_))
}

/// The parameters that some operation reads whole, in their order.
pub(super) fn loaded(kernel: &Kernel, body: &[Stmt]) -> Vec<VarId> {
    let mut used: FxHashSet<VarId> = FxHashSet::default();
    let mut inits: Vec<(VarId, VarId)> = Vec::new();
    visit::statements(body, &mut |stmt| match stmt {
        Stmt::Let { value: Value::Call(call), .. } if !self_sufficient(call) => {
            let brought = brought_to(call);
            let whole = shaped_operands(call).filter(|(index, _)| !brought.iter().any(|(other, _)| other == index));
            used.extend(whole.map(|(_, var)| var).filter(|var| is_tensor(kernel, *var)));
        }
        Stmt::For(inner) => {
            inits.extend(inner.carries.iter().filter_map(|carry| Some((carry.iter, carry.init.var()?))))
        }
        Stmt::While(inner) => {
            inits.extend(inner.carries.iter().filter_map(|carry| Some((carry.iter, carry.init.var()?))));
        }
        _ => {}
    });
    // What a loop carries into an operation is what goes into the loop. The compiler stops there where that is carried by a loop around it:
    // its cast to a variable misses what loops carry (`convert_tensor_to_tile_ops_pass.cpp`, `TraceIterArgInitValues`).
    let is_carried = |var: VarId| kernel.var(var).role == Role::IterArg;
    for (iter, init) in inits {
        if used.contains(&iter) && !is_carried(init) {
            used.insert(init);
        }
    }
    kernel.params.iter().copied().filter(|param| used.contains(param) && is_tensor(kernel, *param)).collect()
}

fn self_sufficient(call: &Call) -> bool {
    match call.op {
        // By mask it is an operation like others.
        OpId::TENSOR_GATHER => call.attr(AttrName::MaskPattern).is_none(),
        op => loads_itself(op),
    }
}

/// The space that the users of each value ask for, traced back through views and aliases.
pub(super) fn demands(kernel: &Kernel, body: &[Stmt]) -> FxHashMap<VarId, Space> {
    let mut demands: FxHashMap<VarId, Space> = FxHashMap::default();
    let mut edges: Vec<(VarId, VarId)> = Vec::new();
    let ask = |demands: &mut FxHashMap<VarId, Space>, var: VarId, space: Space| {
        let known = demands.entry(var).or_insert(space);
        if *known == Space::Vec {
            *known = space;
        }
    };
    let is_shaped = |var: &VarId| matches!(kernel.var(*var).ty, Type::Tensor(_) | Type::Tile(_));
    visit::statements(body, &mut |stmt| {
        let Stmt::Let { var, value, .. } = stmt else { return };
        match value {
            Value::Copy(source) => edges.push((*var, *source)),
            Value::Call(call) => {
                if inherits(call.op) {
                    let source = call.args.iter().filter_map(Operand::var).find(is_shaped);
                    edges.extend(source.map(|source| (*var, source)));
                }
                for (index, space) in brought_to(call) {
                    if let Some(operand) = call.args.get(*index).and_then(Operand::var) {
                        ask(&mut demands, operand, *space);
                    }
                }
            }
            Value::Scalar(_) | Value::Element { .. } => {}
        }
    });
    for (result, source) in edges.into_iter().rev() {
        if let Some(space) = demands.get(&result).copied() {
            ask(&mut demands, source, space);
        }
    }
    demands
}

/// Operations on tensors whose result lies where the operand does.
fn inherits(op: OpId) -> bool {
    matches!(op, OpId::TENSOR_SLICE | OpId::RESHAPE | OpId::SET_VALIDSHAPE | OpId::REINTERPRET_VIEW)
}

impl Conversion<'_> {
    pub(super) fn entry_loads(&mut self, params: &[VarId]) {
        for &param in params {
            let origin = self.kernel.var(param).origin;
            let site = Site::of(None, origin, origin);
            let name = self.kernel.var(param).name.clone();
            match self.load_whole(site, &name, param, Space::Vec) {
                Some(tile) => {
                    // What the author computed in another scope is the author's value here, too.
                    let of_author = self.kernel.var(param).inserted.is_some();
                    self.kernel.var_mut(tile).inserted = Some(Why::WholeParameter).filter(|_| !of_author);
                    self.stands_for.set(param, Operand::Var(tile));
                }
                None => {
                    let reason = self.kernel.var(param).lack_of_shape();
                    let ty = Type::Unknown(reason.clone());
                    let var = Var { name, ty, role: Role::Def, inserted: Some(Why::Intermediate), origin };
                    let unknown = self.kernel.add_var(var);
                    let value = Value::Scalar(crate::ir::Scalar::Unknown(reason));
                    self.out.push(Stmt::Let { var: unknown, value, origin });
                    self.stands_for.set(param, Operand::Var(unknown));
                }
            }
        }
    }
}

//! What leaves a kernel: values on chip are stored to parameters that the compiler adds, or to the parameter whose place they take in
//! the code around the kernel (OptimizeOrchTensors).

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Conversion, Site, typing};
use crate::ir::{
    Call, For, Kernel, Operand, Role, Scalar, Stmt, TensorType, Type, Value, Var, VarId, While, Why, visit,
};
use crate::ops::OpId;
use crate::passes::given::Given;

impl Conversion<'_> {
    /// Gives every value on chip that the kernel returns a parameter to be stored to, after those that it has.
    pub(super) fn stores_at_exit(&mut self) {
        let Some(Stmt::Return { values, origin }) = self.out.pop_if(|stmt| matches!(stmt, Stmt::Return { .. })) else {
            return;
        };
        let mut merging = Merging::of(self.kernel, &self.out);
        // Of a loop that begins with the parameter itself the compiler's outliner returns the parameter, so that nothing leads to it.
        merging.loads.retain(|tile, param| self.stands_for.var_of(*param) != Some(*tile));
        // What a scope has written to, it returns as the parameter that it is.
        let given = Given::back(if self.kernel.is_scope { &self.kernel.params } else { &[] }, &self.out);
        let mut added = 0;
        let mut returned = Vec::with_capacity(values.len());
        for (at, value) in values.into_iter().enumerate() {
            let Some((var, tile)) = self.tile(Some(&value)) else {
                returned.push(given.param(&value).map_or(value, Operand::Var));
                continue;
            };
            let ty = match self.types.get(var.0 as usize) {
                Some(Type::Tensor(tensor)) => Type::Tensor(TensorType { is_output: true, ..tensor.clone() }),
                _ => typing::tensor_like(&tile, tile.dtype),
            };
            let out = match self.merged(&mut merging, at, var, &ty) {
                Some(param) => param,
                None => {
                    let name = format!("ret{added}__out");
                    let out = self.kernel.add_var(Var {
                        name,
                        ty,
                        role: Role::Param,
                        inserted: Some(Why::Intermediate),
                        origin,
                    });
                    self.kernel.params.push(out);
                    out
                }
            };
            if let Some(result) = self.store_in_the_loop(var, out) {
                returned.push(Operand::Var(result));
            } else {
                let site = Site::of(None, origin, origin);
                let zeros = Operand::List(vec![Scalar::Int(0); tile.shape.len()]);
                let args = vec![Operand::Var(var), zeros, Operand::Var(out)];
                let stored = self.insert(site, &format!("ret{added}__store"), OpId::STORE, args, Vec::new());
                returned.push(Operand::Var(stored));
            }
            added += 1;
        }
        self.out.push(Stmt::Return { values: returned, origin });
    }

    /// The parameter that a result is stored to instead of a tensor of its own.
    fn merged(&mut self, merging: &mut Merging, at: usize, value: VarId, ty: &Type) -> Option<VarId> {
        let handover = &self.kernel.handover;
        let param = match handover.carried_back.is_empty() {
            false => {
                let back = handover.carried_back.iter().find(|(result, _)| *result == at);
                back.map(|(_, param)| *param).filter(|param| !merging.written.contains(param))?
            }
            true => {
                let param = merging.loaded_for(value).filter(|param| self.is_like(*param, ty))?;
                if handover.unclear.contains(&param) {
                    let what = format!(
                        "`{}`, which a result may only be stored to if nothing else reads it",
                        self.kernel.var(param).name
                    );
                    self.note(self.kernel.origin, what);
                    return None;
                }
                if !handover.consumed.contains(&param) || !merging.taken.insert(param) {
                    return None;
                }
                param
            }
        };
        if let Type::Tensor(tensor) = &mut self.kernel.var_mut(param).ty {
            tensor.is_output = true;
        }
        Some(param)
    }

    /// Whether a parameter has constant extents and those of `ty`, and its element type.
    fn is_like(&self, param: VarId, ty: &Type) -> bool {
        let (Some(param), Type::Tensor(other)) = (self.kernel.tensor(param), ty) else { return false };
        let shape = typing::constant_shape(param);
        param.dtype == other.dtype && shape.is_some() && shape == typing::constant_shape(other)
    }

    /// A local tensor that only a loop fills is not kept: each part is stored where the loop makes it.
    fn store_in_the_loop(&mut self, returned: VarId, out: VarId) -> Option<VarId> {
        let at = self.out.iter().position(|stmt| match stmt {
            Stmt::For(inner) => matches!(inner.carries.as_slice(), [carry] if carry.result == returned),
            _ => false,
        })?;
        let Stmt::For(inner) = &self.out[at] else { return None };
        let place = only_assembled(self.kernel, inner)?;
        let init = inner.carries[0].init.var();
        let out_type = self.kernel.var(out).ty.clone();
        let Stmt::For(inner) = &mut self.out[at] else { return None };
        let carry = &mut inner.carries[0];
        carry.init = Operand::Var(out);
        let (iter, result) = (carry.iter, carry.result);
        let mut stored = None;
        if let Some(Stmt::Let { var, value: Value::Call(call), .. }) = inner.body.get_mut(place)
            && let [target, source, offset] = call.args.as_slice()
        {
            let args = vec![source.clone(), offset.clone(), target.clone()];
            *call = Call { op: OpId::STORE, args, attrs: Vec::new(), origin: call.origin };
            stored = Some(*var);
        }
        for var in [Some(iter), Some(result), stored].into_iter().flatten() {
            self.kernel.var_mut(var).ty = out_type.clone();
        }
        self.drop_unread_init(init);
        Some(result)
    }

    fn drop_unread_init(&mut self, init: Option<VarId>) {
        let Some(init) = init else { return };
        let mut read = false;
        self.out.iter().for_each(|stmt| visit::uses(stmt, &mut |var| read |= var == init));
        if !read {
            self.out.retain(|stmt| !matches!(stmt, Stmt::Let { var, .. } if *var == init));
        }
    }
}

/// What decides whether a result may be stored to a parameter that the kernel reads.
struct Merging {
    /// Parameters that the kernel writes.
    written: FxHashSet<VarId>,
    /// Parameters that a result is stored to already.
    taken: FxHashSet<VarId>,
    /// What goes into a loop, by what comes out.
    inits: FxHashMap<VarId, VarId>,
    /// Parameters by the tiles that they are loaded to as a whole.
    loads: FxHashMap<VarId, VarId>,
}

impl Merging {
    fn of(kernel: &Kernel, body: &[Stmt]) -> Merging {
        let mut merging = Merging {
            written: FxHashSet::default(),
            taken: FxHashSet::default(),
            inits: FxHashMap::default(),
            loads: FxHashMap::default(),
        };
        let handover = &kernel.handover;
        if handover.carried_back.is_empty() && handover.consumed.is_empty() && handover.unclear.is_empty() {
            return merging;
        }
        let mut same: FxHashMap<VarId, VarId> = FxHashMap::default();
        visit::statements(body, &mut |stmt| merging.see(kernel, stmt, &mut same));
        merging
    }

    /// `same` are the names of a tensor by later names of it.
    fn see(&mut self, kernel: &Kernel, stmt: &Stmt, same: &mut FxHashMap<VarId, VarId>) {
        let first = |var: VarId, same: &FxHashMap<VarId, VarId>| same.get(&var).copied().unwrap_or(var);
        if let Stmt::For(For { carries, .. }) | Stmt::While(While { carries, .. }) = stmt {
            for carry in carries {
                let Some(init) = carry.init.var() else { continue };
                let name = first(init, same);
                same.extend([(carry.iter, name), (carry.result, name)]);
                self.inits.insert(carry.result, init);
            }
        }
        if let Stmt::Let { var, value: Value::Copy(source), .. } = stmt {
            let name = first(*source, same);
            same.insert(*var, name);
        }
        let Some(call) = visit::call_of(stmt) else { return };
        if let Some(target) = written_by(call) {
            let target = first(target, same);
            self.written.insert(target);
            if let Stmt::Let { var, .. } = stmt {
                same.insert(*var, target);
            }
        }
        if let (Stmt::Let { var, .. }, Some(param)) = (stmt, loaded_whole(kernel, call)) {
            self.loads.insert(*var, param);
        }
    }

    /// The parameter that is loaded as a whole into what a loop makes a result of, if the kernel does not write it.
    fn loaded_for(&self, result: VarId) -> Option<VarId> {
        let mut value = *self.inits.get(&result)?;
        for _ in 1..MOST_LOOPS {
            match self.inits.get(&value) {
                Some(init) => value = *init,
                None => break,
            }
        }
        self.loads.get(&value).copied().filter(|param| !self.written.contains(param))
    }
}

/// The compiler follows a result no further.
const MOST_LOOPS: u32 = 16;

/// The tensor that a call writes.
fn written_by(call: &Call) -> Option<VarId> {
    let target = match call.op {
        OpId::STORE | OpId::MSCATTER => call.args.get(2),
        OpId::TENSOR_WRITE | OpId::TILE_PUT | OpId::TILE_GET => call.args.first(),
        OpId::REMOTE_STORE => call.args.get(1),
        _ => None,
    };
    target.and_then(Operand::var)
}

/// The parameter that a call loads from the first element to the last.
fn loaded_whole(kernel: &Kernel, call: &Call) -> Option<VarId> {
    let [tensor, Operand::List(offsets), Operand::List(shape), Operand::List(valid)] = call.args.as_slice() else {
        return None;
    };
    let param = tensor.var().filter(|param| call.op == OpId::LOAD && kernel.params.contains(param))?;
    let extents = &kernel.tensor(param)?.shape;
    let is_start = offsets.iter().all(|offset| offset.as_int() == Some(0));
    (is_start && shape == extents && valid == extents).then_some(param)
}

/// The statement of a loop's body that writes a part of what the loop carries, if nothing else touches it.
fn only_assembled(kernel: &Kernel, inner: &For) -> Option<usize> {
    let carried = inner.carries.first()?.iter;
    kernel.tile(carried)?;
    let mut found: Option<(usize, VarId)> = None;
    for (index, stmt) in inner.body.iter().enumerate() {
        match stmt {
            Stmt::Let { var, value: Value::Call(call), .. }
                if call.op == OpId::ASSEMBLE && call.args.first().and_then(Operand::var) == Some(carried) =>
            {
                let rest = call.args.iter().skip(1).any(|arg| arg.var() == Some(carried));
                if found.is_some() || rest {
                    return None;
                }
                found = Some((index, *var));
            }
            Stmt::Yield { values, .. } => {
                let (_, assembled) = found?;
                if values.first().and_then(Operand::var) != Some(assembled) {
                    return None;
                }
            }
            other => {
                let mut read = false;
                visit::uses(other, &mut |var| read |= var == carried);
                if read {
                    return None;
                }
            }
        }
    }
    found.map(|(index, _)| index)
}

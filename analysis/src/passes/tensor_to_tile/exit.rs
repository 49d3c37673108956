//! What leaves a kernel: values on chip are stored to parameters that the compiler adds.

use super::{Conversion, Site, typing};
use crate::ir::{Call, For, Kernel, Operand, Role, Scalar, Stmt, TensorType, Type, Value, Var, VarId};
use crate::ops::OpId;
use crate::passes::walk;

impl Conversion<'_> {
    /// Gives every value on chip that the kernel returns a parameter to be stored to, behind those that it has.
    pub(super) fn stores_at_exit(&mut self) {
        let Some(Stmt::Return { values, origin }) = self.out.pop_if(|stmt| matches!(stmt, Stmt::Return { .. })) else {
            return;
        };
        let mut added = 0;
        let mut returned = Vec::with_capacity(values.len());
        for value in values {
            let Some((var, tile)) = self.tile(Some(&value)) else {
                returned.push(value);
                continue;
            };
            let ty = match self.types.get(var.0 as usize) {
                Some(Type::Tensor(tensor)) => Type::Tensor(TensorType { is_output: true, ..tensor.clone() }),
                _ => typing::tensor_like(&tile, tile.dtype),
            };
            let name = format!("ret{added}__out");
            let out = self.kernel.add_var(Var { name, ty, role: Role::Param, inserted: true, origin });
            self.kernel.params.push(out);
            if let Some(result) = self.store_in_the_loop(var, out) {
                returned.push(Operand::Var(result));
            } else {
                let site = Site { result: None, at: origin, origin };
                let zeros = Operand::List(vec![Scalar::Int(0); tile.shape.len()]);
                let args = vec![Operand::Var(var), zeros, Operand::Var(out)];
                let stored = self.insert(site, &format!("ret{added}__store"), OpId::STORE, args, Vec::new());
                returned.push(Operand::Var(stored));
            }
            added += 1;
        }
        self.out.push(Stmt::Return { values: returned, origin });
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
        self.out.iter().for_each(|stmt| walk::visit_uses(stmt, &mut |var| read |= var == init));
        if !read {
            self.out.retain(|stmt| !matches!(stmt, Stmt::Let { var, .. } if *var == init));
        }
    }
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
                walk::visit_uses(other, &mut |var| read |= var == carried);
                if read {
                    return None;
                }
            }
        }
    }
    found.map(|(index, _)| index)
}

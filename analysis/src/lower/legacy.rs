//! Legacy syntax: what authors could write in earlier versions of the language: sketches and older kernels do
//! (`docs/reference/syntax.md`, "Earlier notations").

use tilefit_syntax::ast::{Arg, ExprId, last_name};

use super::body::{Lowering, Rhs, Term, keyword};
use super::call::unknown;
use crate::diagnostics::Code;
use crate::ir::{AttrName, Operand, Scalar, Type};
use crate::ops::{self, OpId};

impl Lowering<'_> {
    /// An operation under the name that it had before `pl.`, as sketches write it; transfers take rows and columns one by one.
    pub(super) fn block_call(&mut self, expr: ExprId, name: &str, args: &[Arg]) -> Rhs {
        let legacy = format!("block.{name}");
        let outer = std::mem::replace(&mut self.state.sketch, true);
        let value = self.sketched(expr, name, &legacy, args);
        self.state.sketch = outer;
        value
    }

    fn sketched(&mut self, expr: ExprId, name: &str, legacy: &str, args: &[Arg]) -> Rhs {
        if matches!(name, "sum" | "max" | "min") {
            return self.reduction_of_axis(expr, legacy, args);
        }
        let Some(op) = ops::OPS.iter().find(|op| op.legacy == Some(legacy)) else {
            return self.not_modelled(expr, &["block", name]);
        };
        let is_positional = args.iter().all(|arg| arg.keyword.is_none());
        let window = match (name, args.len()) {
            ("load", 5) if is_positional => OpId::LOAD,
            ("store", 6) if is_positional => OpId::STORE,
            _ => return self.operation(expr, op.name, ops::candidates(op.name), args),
        };
        let mut terms: Vec<Term> = args.iter().map(|arg| self.expression(arg.value)).collect();
        let tensor = terms.split_off(5);
        let extents = Term::List(terms.split_off(3));
        let offsets = Term::List(terms.split_off(1));
        terms.push(offsets);
        terms.extend(if window == OpId::LOAD { vec![extents] } else { tensor });
        match self.arrange(expr, window, terms, Vec::new()) {
            Some(call) => self.deduced(call, expr),
            None => unknown(format!("the arguments of `{legacy}`")),
        }
    }

    /// `tile.sum(x, axis=0)`: each column to one element, along axis 1 each row, which takes scratch
    /// (`docs/reference/codegen.md`, "Operations"). Without `keepdim=True` the axis is dropped.
    pub(super) fn reduction_of_axis(&mut self, expr: ExprId, what: &str, args: &[Arg]) -> Rhs {
        let mut positional: Vec<ExprId> =
            args.iter().filter(|arg| arg.keyword.is_none()).map(|arg| arg.value).rev().collect();
        let Some(tile) = positional.pop().or_else(|| keyword(args, "tile")) else {
            self.reject(expr, Code::InvalidOperand, format!("`{what}` needs a tile"));
            return unknown(format!("the arguments of `{what}`"));
        };
        let tile = self.expression(tile);
        let shape = match self.term_type(&tile) {
            Type::Tile(ty) => ty.shape,
            Type::Unknown(reason) => return Rhs::Term(Term::Unknown(reason)),
            _ => return self.not_modelled(expr, &[what]),
        };
        let mut operands = vec![self.operand(tile)];
        let mut next = positional.pop().map(|argument| self.expression(argument));
        if let Some(scratch) = next.take_if(|term| matches!(self.term_type(term), Type::Tile(_))) {
            operands.push(self.operand(scratch));
            next = positional.pop().map(|argument| self.expression(argument));
        }
        let axis = next.or_else(|| keyword(args, "axis").map(|axis| self.expression(axis)));
        let keeps = positional.pop().or_else(|| keyword(args, "keepdim")).map(|keeps| self.expression(keeps));
        // What is reduced has rows and columns; sketches store it as such.
        let keeps = match keeps {
            Some(Term::Scalar(Scalar::Bool(keeps))) => keeps,
            _ => what.starts_with("block."),
        };
        let rank = shape.len() as i64;
        let axis = match axis {
            Some(Term::Scalar(Scalar::Int(axis))) if (-rank..rank).contains(&axis) && rank == 2 => {
                axis.rem_euclid(rank)
            }
            Some(Term::Unknown(reason)) => return Rhs::Term(Term::Unknown(reason)),
            _ => {
                let message = format!(
                    "`{what}` needs a constant `axis` of a tile with rows and columns: 0 reduces each column, 1 each row"
                );
                self.reject(expr, Code::InvalidOperand, message);
                return unknown(format!("the axis of `{what}`"));
            }
        };
        let operation = last_name(what);
        let today = format!("tile.{}_{operation}", if axis == 0 { "col" } else { "row" });
        let Some(op) = OpId::from_name(&today) else { return self.not_modelled(expr, &[what]) };
        if axis == 0 {
            operands.truncate(1);
        }
        if !what.starts_with("block.") {
            self.note(expr, format!("`{what}` is of an earlier version, and read as `pl.{today}`"));
        }
        let call = self.make_call(op, operands, Vec::new(), expr);
        let reduced = self.deduced(call, expr);
        match reduced {
            Rhs::Call(call, ty) if !keeps => {
                let reduced = self.temporary(call, ty);
                let kept = shape.get(1 - axis as usize).copied().unwrap_or(1);
                let shape = Operand::List(vec![Scalar::Int(kept as i64)]);
                let call = self.make_call(OpId::RESHAPE, vec![Operand::Var(reduced), shape], Vec::new(), expr);
                self.deduced(call, expr)
            }
            reduced => reduced,
        }
    }
}

/// Parameters that had another name.
pub(super) fn renamed(op: &str, name: &str) -> Option<&'static str> {
    match (op, name) {
        (_, "valid_shapes") => Some("valid_shape"),
        ("tile.load" | "tile.create" | "tile.move" | "tile.extract", "memory_space" | "target_space") => {
            Some("target_memory")
        }
        _ => None,
    }
}

/// Parameters that are gone, and what they meant.
pub(super) fn removed(op: OpId, name: &str) -> Option<(AttrName, &'static str)> {
    (op == OpId::LOAD && name == "transpose").then_some((AttrName::Transpose, "rows and columns are exchanged"))
}

//! Legacy syntax: what authors could write in earlier versions of the language: sketches and older kernels do
//! (`docs/reference/syntax.md`, "Earlier notations").

use tilefit_python::diagnostics::Code;
use tilefit_syntax::ast::{Arg, ExprId};

use super::body::{Lowering, Rhs, Term, keyword, unknown};
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
        let reduction = match name {
            "sum" => Some(Reduction::Sum),
            "max" => Some(Reduction::Max),
            "min" => Some(Reduction::Min),
            _ => None,
        };
        if let Some(reduction) = reduction {
            return self.reduction_of_axis(expr, (reduction, Notation::Sketch), args);
        }
        let Some(op) = OpId::all().find(|op| op.op().legacy == Some(legacy)) else {
            return self.not_modelled(expr, &["block", name]);
        };
        let is_positional = args.iter().all(|arg| arg.keyword.is_none());
        let window = match (op, args.len()) {
            (OpId::LOAD, 5) | (OpId::STORE, 6) if is_positional => op,
            _ => return self.operation(expr, op.op().name, ops::candidates(op.op().name), args),
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
    pub(super) fn reduction_of_axis(
        &mut self,
        expr: ExprId,
        (reduction, notation): (Reduction, Notation),
        args: &[Arg],
    ) -> Rhs {
        let what = &format!("{}.{}", notation.module(), reduction.name());
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
            _ => notation == Notation::Sketch,
        };
        let rank = shape.len() as i64;
        let axis = match axis {
            Some(Term::Scalar(Scalar::Int(axis))) if (-rank..rank).contains(&axis) && rank == 2 => {
                axis.rem_euclid(rank)
            }
            Some(Term::Unknown(reason)) => return Rhs::Term(Term::Unknown(reason)),
            _ => {
                let message = format!(
                    "`{what}` needs a tile with rows and columns and a constant `axis`: 0 reduces each column, 1 each row"
                );
                self.reject(expr, Code::InvalidOperand, message);
                return unknown(format!("the axis of `{what}`"));
            }
        };
        let op = if axis == 0 { reduction.of_columns() } else { reduction.of_rows() };
        if axis == 0 {
            operands.truncate(1);
        }
        if notation == Notation::Tile {
            self.note(expr, format!("`{what}` belongs to an earlier version and is read as `pl.{}`", op.op().name));
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

/// A reduction along an axis that is an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reduction {
    Sum,
    Max,
    Min,
}

impl Reduction {
    fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Max => "max",
            Reduction::Min => "min",
        }
    }

    fn of_rows(self) -> OpId {
        match self {
            Reduction::Sum => OpId::ROW_SUM,
            Reduction::Max => OpId::ROW_MAX,
            Reduction::Min => OpId::ROW_MIN,
        }
    }

    fn of_columns(self) -> OpId {
        match self {
            Reduction::Sum => OpId::COL_SUM,
            Reduction::Max => OpId::COL_MAX,
            Reduction::Min => OpId::COL_MIN,
        }
    }
}

/// Where a reduction along an axis was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// `block.sum` of a sketch.
    Sketch,
    /// `pl.tile.sum`
    Tile,
}

impl Notation {
    fn module(self) -> &'static str {
        match self {
            Notation::Sketch => "block",
            Notation::Tile => "tile",
        }
    }
}

/// Parameters that had another name.
pub(super) fn renamed(op: OpId, name: &str) -> Option<&'static str> {
    match (op, name) {
        (_, "valid_shapes") => Some("valid_shape"),
        (OpId::LOAD | OpId::CREATE | OpId::MOVE | OpId::EXTRACT, "memory_space" | "target_space") => {
            Some("target_memory")
        }
        _ => None,
    }
}

/// Parameters that are gone, and what they meant.
pub(super) fn removed(op: OpId, name: &str) -> Option<(AttrName, &'static str)> {
    (op == OpId::LOAD && name == "transpose").then_some((AttrName::Transpose, "rows and columns are exchanged"))
}

//! What each operation becomes, with the tiles that its instruction needs beside its operands
//! (`docs/reference/tensor-level.md`, "Operations", "Scratch").

use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;

use super::{Conversion, Site, extents};
use crate::ir::{Attr, AttrName, Call, Operand, Rejection, Role, Scalar, TileType, Type, Why};
use crate::memory::sizes::tile_bytes;
use crate::ops::OpId;
use crate::target::Space;
use crate::typing::{broadcast, scalar};

/// Columns of the scratch of a row reduction, at least.
const REDUCTION_COLUMNS: u64 = 128;

/// Who names the scratch tile of an operation, and how large it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scratch {
    /// As the operand, at least [`REDUCTION_COLUMNS`] wide.
    Widened,
    /// As the operand.
    Same(&'static str),
}

/// Operations with a scratch tile, by the operation that they become.
const WITH_SCRATCH: [(OpId, OpId, Scratch); 10] = [
    (OpId::TENSOR_ROW_SUM, OpId::ROW_SUM, Scratch::Widened),
    (OpId::TENSOR_ROW_MAX, OpId::ROW_MAX, Scratch::Widened),
    (OpId::TENSOR_ROW_MIN, OpId::ROW_MIN, Scratch::Widened),
    (OpId::TENSOR_ROW_PROD, OpId::ROW_PROD, Scratch::Widened),
    (OpId::TENSOR_ROW_ARGMAX, OpId::ROW_ARGMAX, Scratch::Same("tmp_tile")),
    (OpId::TENSOR_ROW_ARGMIN, OpId::ROW_ARGMIN, Scratch::Same("tmp_tile")),
    (OpId::TENSOR_COL_ARGMAX, OpId::COL_ARGMAX, Scratch::Same("tmp_tile")),
    (OpId::TENSOR_COL_ARGMIN, OpId::COL_ARGMIN, Scratch::Same("tmp_tile")),
    (OpId::TENSOR_XOR, OpId::XOR, Scratch::Same("xor_tmp")),
    (OpId::TENSOR_XORS, OpId::XORS, Scratch::Same("xor_tmp")),
];

/// Arithmetic that has a form of its own for a column against a matrix.
const ROW_BROADCAST: [(OpId, OpId); 4] = [
    (OpId::ADD, OpId::ROW_EXPAND_ADD),
    (OpId::SUB, OpId::ROW_EXPAND_SUB),
    (OpId::MUL, OpId::ROW_EXPAND_MUL),
    (OpId::DIV, OpId::ROW_EXPAND_DIV),
];

impl Conversion<'_> {
    /// Appends what the compiler makes of a call on tensors.
    pub(super) fn recipe(&mut self, site: Site, call: Call) {
        match call.op {
            OpId::TENSOR_SLICE => self.slice(site, call),
            OpId::TENSOR_ASSEMBLE => self.assemble(site, call),
            OpId::TENSOR_READ | OpId::TENSOR_WRITE => self.element(site, call),
            OpId::TENSOR_MATMUL | OpId::TENSOR_MATMUL_ACC => self.product(site, call),
            OpId::TENSOR_GATHER => self.gather(site, call),
            OpId::TENSOR_CREATE => self.create_local(site, call),
            OpId::TENSOR_CREATE_L1 => self.create_in_l1(site, call),
            OpId::GATHER_ROW => self.gather_row(site, call),
            OpId::TENSOR_FULL => self.finish(site, OpId::FULL, call.args, call.attrs),
            OpId::TENSOR_CI => self.finish(site, OpId::CI, call.args, call.attrs),
            OpId::TENSOR_RANDOM => self.finish(site, OpId::RANDOM, call.args, call.attrs),
            OpId::TENSOR_RSQRT => self.rsqrt(site, call),
            OpId::TENSOR_CMP => self.compare(site, call),
            OpId::TENSOR_MRGSORT => self.merge_sort(site, call),
            op => match WITH_SCRATCH.iter().find(|(tensor, ..)| *tensor == op) {
                Some((_, op, scratch)) => self.with_scratch(site, *op, *scratch, call),
                None => self.one_to_one(site, call),
            },
        }
    }

    /// The operation of the same name on tiles.
    fn one_to_one(&mut self, site: Site, call: Call) {
        if let Some(what) = self.not_on_chip(&call) {
            return self.not_modelled(site, what);
        }
        if let Some((_, row_form)) = ROW_BROADCAST.iter().find(|(op, _)| *op == call.op) {
            return self.arithmetic(site, *row_form, call);
        }
        if call.op == OpId::GATHER_COMPARE {
            return self.not_modelled(site, format!("`{}` on tensors", call.op.op().name));
        }
        self.finish(site, call.op, call.args, call.attrs);
    }

    /// What keeps an operation from being one on tiles, if something does.
    fn not_on_chip(&mut self, call: &Call) -> Option<String> {
        let operands = call.args.iter().filter_map(Operand::var);
        let in_memory = operands.into_iter().find(|var| self.kernel.tensor(*var).is_some())?;
        let name = self.kernel.var(in_memory).name.clone();
        if self.written.contains(&in_memory) {
            let message = format!(
                "`{name}` was written in parts and is in global memory, but `{}` takes values on chip; use a window of it: `{name}[...]`",
                call.op.op().name
            );
            self.kernel.rejections.push(Rejection::new(call.origin, Code::InvalidOperand, message));
        } else if self.kernel.var(in_memory).role == Role::IterArg {
            let message = format!(
                "`{name}` is handed from loop to loop and stays in global memory, but `{}` takes values on chip: the compiler loads what comes from outside for one loop only; load it before the loops, with `{name} = {name}[...]`",
                call.op.op().name
            );
            self.kernel.rejections.push(Rejection::new(call.origin, Code::InvalidOperand, message));
        }
        Some(format!("`{name}`, which is in global memory here, as a whole; use a window of it: `{name}[...]`"))
    }

    fn arithmetic(&mut self, site: Site, row_form: OpId, mut call: Call) {
        let mut operands = Vec::new();
        for arg in &call.args {
            let Some((_, tile)) = self.tile(Some(arg)) else {
                return self.finish(site, call.op, call.args, call.attrs);
            };
            operands.push(tile);
        }
        if call.op == OpId::DIV
            && let [lhs, rhs] = operands.as_mut_slice()
        {
            let wide = scalar::promoted(lhs.dtype, rhs.dtype);
            for (index, (tile, name)) in [(lhs, "div_lhs_cast"), (rhs, "div_rhs_cast")].into_iter().enumerate() {
                if tile.dtype != wide {
                    let attrs = vec![(AttrName::TargetType, Attr::Dtype(wide)), (AttrName::Mode, Attr::Int(2))];
                    let cast = self.insert(
                        site.inserting(Why::DivisionOperand),
                        name,
                        OpId::CAST,
                        vec![call.args[index].clone()],
                        attrs,
                    );
                    call.args[index] = Operand::Var(cast);
                    tile.dtype = wide;
                }
            }
        }
        let is_column = |tile: &TileType| matches!(tile.shape.as_slice(), [_, 1]);
        let is_matrix = |tile: &TileType| matches!(tile.shape.as_slice(), [_, columns] if *columns != 1);
        match operands.as_slice() {
            [lhs, rhs] if is_matrix(lhs) && is_column(rhs) => self.finish(site, row_form, call.args, Vec::new()),
            [lhs, rhs] if is_column(lhs) && is_matrix(rhs) && call.op == OpId::DIV => {
                self.not_modelled(site, "a column divided by a matrix, which the vector unit cannot do".to_owned());
            }
            [lhs, rhs] if is_column(lhs) && is_matrix(rhs) => {
                call.args.swap(0, 1);
                self.finish(site, row_form, call.args, Vec::new());
            }
            _ => self.finish(site, call.op, call.args, call.attrs),
        }
    }

    fn with_scratch(&mut self, site: Site, op: OpId, scratch: Scratch, mut call: Call) {
        if let Some(what) = self.not_on_chip(&call) {
            return self.not_modelled(site, what);
        }
        let Some((_, source)) = self.tile(call.args.first()) else {
            return self.not_modelled(site, format!("`{}` of an unknown operand", op.op().name));
        };
        let (name, why) = match scratch {
            Scratch::Widened => ("tmp_tile", Why::ReductionScratch),
            Scratch::Same(name) => (name, Why::Scratch),
        };
        let mut shape = source.shape.clone();
        if scratch == Scratch::Widened
            && let [_, .., last] = shape.as_mut_slice()
        {
            *last = (*last).max(REDUCTION_COLUMNS);
        }
        let scratch = self.create(site.inserting(why), name, &shape, source.dtype);
        call.args.push(Operand::Var(scratch));
        self.finish(site, op, call.args, Vec::new());
    }

    fn rsqrt(&mut self, site: Site, call: Call) {
        let precise = call.flag(AttrName::HighPrecision);
        if precise {
            return self.with_scratch(site, OpId::RSQRT, Scratch::Same("rsqrt_tmp"), call);
        }
        match self.not_on_chip(&call) {
            Some(what) => self.not_modelled(site, what),
            None => self.finish(site, OpId::RSQRT, call.args, Vec::new()),
        }
    }

    /// A comparison yields bits; the author's value is made of them by a selection between ones and zeros.
    fn compare(&mut self, site: Site, call: Call) {
        if let Some(what) = self.not_on_chip(&call) {
            return self.not_modelled(site, what);
        }
        let (Some((_, lhs)), Some(rhs)) = (self.tile(call.args.first()), call.args.get(1)) else {
            return self.not_modelled(site, "a comparison of an unknown operand".to_owned());
        };
        let (op, shape, dtype) = match (self.tile(Some(rhs)), rhs) {
            (Some((_, rhs)), _) => {
                // Shapes that do not fit are refused where the mask gets its type.
                let shape = broadcast(&lhs.shape, &rhs.shape).unwrap_or_else(|| lhs.shape.clone());
                (OpId::CMP, shape, scalar::promoted(lhs.dtype, rhs.dtype))
            }
            (None, Operand::Scalar(value)) => {
                // A written integer takes the type of what it is compared with.
                let scalar = match value {
                    Scalar::Int(_) => lhs.dtype,
                    value => scalar::dtype(value, &self.kernel.vars).unwrap_or(lhs.dtype),
                };
                (OpId::CMPS, lhs.shape.clone(), scalar::promoted(lhs.dtype, scalar))
            }
            (None, Operand::Var(var)) if matches!(self.kernel.var(*var).ty, Type::Scalar(_)) => {
                (OpId::CMPS, lhs.shape.clone(), lhs.dtype)
            }
            _ => return self.not_modelled(site, "a comparison with an unknown operand".to_owned()),
        };
        let mask = self.insert(site.inserting(Why::ComparisonMask), "cmp_mask", op, call.args, call.attrs);
        let [one, zero] = [("cmp_one", 1.0), ("cmp_zero", 0.0)].map(|(name, value)| {
            let value = if dtype.is_float() {
                Scalar::Float(tilefit_syntax::ast::FloatBits::new(value))
            } else {
                Scalar::Int(value as i64)
            };
            let args = vec![extents(&shape), Operand::Scalar(value)];
            self.insert(
                site.inserting(Why::ComparisonValue),
                name,
                OpId::FULL,
                args,
                vec![(AttrName::Dtype, Attr::Dtype(dtype))],
            )
        });
        let scratch = self.create(site, "cmp_tmp", &[1, 32], Dtype::Uint8);
        let args = [mask, one, zero, scratch].map(Operand::Var).to_vec();
        self.finish(site, OpId::SEL, args, Vec::new());
    }

    /// Sorted runs in one tile, or two to four sorted tiles, become one.
    fn merge_sort(&mut self, site: Site, call: Call) {
        if let Some(block) = call.args.get(4) {
            let args = vec![call.args[0].clone(), block.clone()];
            return self.finish(site, OpId::MRGSORT_FORMAT1, args, Vec::new());
        }
        let mut args = Vec::new();
        let mut tiles: Vec<TileType> = Vec::new();
        for arg in call.args {
            let Some(var) = arg.var() else { continue };
            let Some(var) = self.on_vector(site, var) else { return };
            let Some(tile) = self.kernel.tile(var).cloned() else {
                return self.not_modelled(site, "a merge of an unknown operand".to_owned());
            };
            args.push(Operand::Var(var));
            tiles.push(tile);
        }
        let Some(first) = tiles.first().cloned() else { return };
        let mut shape = first.shape;
        if let Some(last) = shape.last_mut() {
            *last = tiles.iter().filter_map(|tile| tile.shape.last()).sum();
        }
        let scratch = self.create(site, "mrgsort2_tmp", &shape, first.dtype);
        args.push(Operand::Var(scratch));
        self.finish(site, OpId::MRGSORT_FORMAT2, args, vec![(AttrName::Exhausted, Attr::Bool(false))]);
    }

    /// What rows are gathered into, where a product reads it.
    fn create_in_l1(&mut self, site: Site, call: Call) {
        if call.flag(AttrName::Transpose) {
            return self.not_modelled(site, "`pl.create_l1` of the transposed layout".to_owned());
        }
        let mut attrs = call.attrs;
        attrs.retain(|(name, _)| *name == AttrName::Dtype);
        attrs.push((AttrName::TargetMemory, Attr::Space(Space::Mat)));
        self.finish(site, OpId::CREATE, call.args, attrs);
    }

    /// Rows out of global memory, into a part of what is on chip.
    fn gather_row(&mut self, site: Site, call: Call) {
        match self.tile(call.args.first()) {
            Some(_) => self.finish(site, OpId::GATHER_ROW, call.args, call.attrs),
            None => self.not_modelled(site, "rows gathered into a destination that is not on chip".to_owned()),
        }
    }

    /// A tensor that lives in the scope. The compiler measures it against the unified buffer, wherever it ends up.
    fn create_local(&mut self, site: Site, call: Call) {
        let mut attrs: Vec<_> = call.attrs.iter().filter(|(name, _)| *name == AttrName::Dtype).cloned().collect();
        attrs.push((AttrName::TargetMemory, Attr::Space(Space::Vec)));
        self.finish(site, OpId::CREATE, call.args, attrs);
        let Some((_, tile)) = site.result.and_then(|var| self.tile(Some(&Operand::Var(var)))) else { return };
        let bytes = tile_bytes(&tile, Space::Vec, self.target);
        if let (Some(bytes), Some(capacity)) = (bytes, self.target.capacity(Space::Vec))
            && bytes > capacity
        {
            let shape = &tile.shape;
            let message = format!(
                "a local tensor of {shape:?} {} takes {bytes} bytes; the compiler refuses tensors larger than the unified buffer of {} ({capacity} bytes), even as an accumulator; make it smaller, or create it outside the scope",
                tile.dtype, self.target,
            );
            self.kernel.rejections.push(Rejection::new(site.at, Code::OperandTooLarge, message));
        }
    }
}

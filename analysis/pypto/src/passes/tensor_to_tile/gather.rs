//! Gathering along the last axis: 910B takes a row at a time, 950 all at once by flat indices.

use tilefit_python::element::Dtype;

use super::{Conversion, Site, extents};
use crate::ir::{
    Attr, AttrName, Call, Carry, For, LoopKind, Operand, Role, Scalar, Stmt, Type, Value, Var, VarId, Why,
};
use crate::ops::OpId;
use crate::target::{Space, Target};

/// Columns of INT32 that fill whole blocks of 32 bytes.
const WHOLE_ROWS: u64 = 8;
/// Elements that an index of 16 bits tells apart.
const NARROW_INDICES: u64 = 32768;

/// A source or an index: where it is, and its extents.
struct Gathered {
    var: VarId,
    on_chip: bool,
    shape: [u64; 2],
    dtype: Dtype,
}

impl Conversion<'_> {
    pub(super) fn gather(&mut self, site: Site, call: Call) {
        let site = site.inserting(Why::Gathering);
        if call.attr(AttrName::MaskPattern).is_some() {
            let attrs = call
                .attrs
                .into_iter()
                .filter(|(name, _)| matches!(name, AttrName::MaskPattern | AttrName::OutputDtype));
            let (args, attrs) = (call.args.into_iter().take(1).collect(), attrs.collect());
            return self.finish(site, OpId::GATHER_MASK, args, attrs);
        }
        let (Some(source), Some(index)) = (self.gathered(call.args.first()), self.gathered(call.args.get(1))) else {
            return self.not_modelled(site, "`pl.gather` other than by an index of two axes or by a mask".to_owned());
        };
        if !matches!(call.int(AttrName::Dim), Some(-1 | 1)) || call.args.len() != 2 {
            return self.not_modelled(site, "`pl.gather` along an axis other than the last".to_owned());
        }
        match self.target {
            Target::Ascend910b => self.gather_rows(site, &source, &index),
            Target::Ascend950 => self.gather_flat(site, &source, &index),
        }
    }

    fn gathered(&self, operand: Option<&Operand>) -> Option<Gathered> {
        if let Some((var, tile)) = self.tile(operand) {
            let shape = <[u64; 2]>::try_from(tile.shape).ok()?;
            return Some(Gathered { var, on_chip: true, shape, dtype: tile.dtype });
        }
        let (var, tensor) = self.tensor(operand)?;
        let shape = <[u64; 2]>::try_from(super::typing::constant_shape(&tensor)?).ok()?;
        Some(Gathered { var, on_chip: false, shape, dtype: tensor.dtype? })
    }

    /// Part of a source or index: a load, or a view of what is on chip.
    fn part(&mut self, site: Site, name: &str, of: &Gathered, row: Scalar, shape: [u64; 2]) -> VarId {
        let offsets = vec![row, Scalar::Int(0)];
        let shape = extents(&shape);
        if of.on_chip {
            let args = vec![Operand::Var(of.var), shape.clone(), Operand::List(offsets), shape];
            return self.insert(site, name, OpId::SLICE, args, Vec::new());
        }
        let (op, args, attrs) = self.load(of.var, offsets, shape.clone(), shape, Space::Vec);
        self.insert(site, name, op, args, attrs)
    }

    /// A loop over the rows of the index, each gathered from its row of the source.
    fn gather_rows(&mut self, site: Site, source: &Gathered, index: &Gathered) {
        let [rows, columns] = index.shape;
        let init = self.create(site, "gather_acc_init", &[rows, columns], source.dtype);
        let at = site.at;
        let tile = self.kernel.var(init).ty.clone();
        let mut add = |name: &str, ty: Type, role: Role| {
            self.kernel.add_var(Var { name: name.to_owned(), ty, role, inserted: Some(Why::Gathering), origin: at })
        };
        let row = add("gather_lv", Type::Scalar(Dtype::Index), Role::LoopIndex);
        let iter = add("gather_ia", tile.clone(), Role::IterArg);
        let result = add("gather_rv", tile, Role::LoopResult);

        let outer = std::mem::take(&mut self.out);
        let from = self.part(site, "gather_inp_row", source, Scalar::Var(row), [1, source.shape[1]]);
        let by = self.part(site, "gather_idx_row", index, Scalar::Var(row), [1, columns]);
        let scratch = self.create(site, "gather_row_tmp", &[1, columns], Dtype::Int32);
        let args = [from, by, scratch].map(Operand::Var).to_vec();
        let gathered = self.insert(site, "gather_row", OpId::GATHER, args, Vec::new());
        let place = Operand::List(vec![Scalar::Var(row), Scalar::Int(0)]);
        let args = vec![Operand::Var(iter), Operand::Var(gathered), place];
        let assembled = self.insert(site, "gather_asmbl", OpId::ASSEMBLE, args, Vec::new());
        self.out.push(Stmt::Yield { values: vec![Operand::Var(assembled)], origin: site.origin });
        let body = std::mem::replace(&mut self.out, outer);

        self.out.push(Stmt::For(For {
            kind: LoopKind::Range,
            index: row,
            start: Scalar::Int(0),
            stop: Scalar::Int(i64::try_from(rows).unwrap_or(i64::MAX)),
            step: Scalar::Int(1),
            carries: vec![Carry { init: Operand::Var(init), iter, result, explicit: true }],
            body,
            origin: site.origin,
        }));
        self.named(site, result);
    }

    fn gather_flat(&mut self, site: Site, source: &Gathered, index: &Gathered) {
        let [rows, columns] = index.shape;
        if index.dtype == Dtype::Int16 && rows > NARROW_INDICES / source.shape[1].max(1) {
            let message = format!(
                "`pl.gather` with INT16 indices: rows({rows}) * src_cols({}) exceeds the INT16 index range ({NARROW_INDICES} elements); \
                 use INT32 indices, or gather fewer rows at a time",
                source.shape[1]
            );
            self.refused(site.at, message);
        }
        let mut from = self.part(site, "gather_inp", source, Scalar::Int(0), [rows, source.shape[1]]);
        if source.on_chip {
            let copy = self.create(site, "gather_src_alloc", &[rows, source.shape[1]], source.dtype);
            let args = vec![Operand::Var(copy), Operand::Var(from), Operand::List(vec![Scalar::Int(0); 2])];
            from = self.insert(site, "gather_src_copy", OpId::ASSEMBLE, args, Vec::new());
        }
        let by = self.part(site, "gather_idx", index, Scalar::Int(0), [rows, columns]);
        let wide = match index.dtype {
            Dtype::Int32 => by,
            _ => self.converted(site, "gather_idx_i32", by, Dtype::Int32),
        };
        let flat = if rows == 1 { wide } else { self.flat_indices(site, wide, source.shape[1], index.shape) };
        let flat = match index.dtype {
            Dtype::Int32 => flat,
            dtype => self.converted(site, "gather_flat_cast", flat, dtype),
        };
        let scratch = self.create(site, "gather_tmp", &[rows, columns], Dtype::Int32);
        let args = [from, flat, scratch].map(Operand::Var).to_vec();
        let gathered = self.insert(site, "gather", OpId::GATHER, args, Vec::new());
        self.named(site, gathered);
    }

    /// The author's value is another name of a tile.
    fn named(&mut self, site: Site, made: VarId) {
        let Some(var) = site.result else { return };
        self.retype(var, made);
        self.out.push(Stmt::Let { var, value: Value::Copy(made), origin: site.origin });
    }

    /// `row * source_columns + index`
    fn flat_indices(&mut self, site: Site, by: VarId, source_columns: u64, [rows, columns]: [u64; 2]) -> VarId {
        let int = |value: u64| Operand::Scalar(Scalar::Int(i64::try_from(value).unwrap_or(i64::MAX)));
        let attrs = vec![(AttrName::Dtype, Attr::Dtype(Dtype::Int32)), (AttrName::Descending, Attr::Bool(false))];
        if columns % WHOLE_ROWS != 0 {
            let line = self.insert(site, "gather_ci_rows", OpId::CI, vec![int(0), extents(&[1, rows])], attrs);
            let args = vec![Operand::Var(line), extents(&[rows, 1])];
            let ids = self.insert(site, "gather_row_arange", OpId::RESHAPE, args, Vec::new());
            let args = vec![Operand::Var(ids), int(source_columns)];
            let base = self.insert(site, "gather_row_base", OpId::MULS, args, Vec::new());
            let args = [by, base].map(Operand::Var).to_vec();
            return self.insert(site, "gather_flat_idx", OpId::ROW_EXPAND_ADD, args, Vec::new());
        }
        let count = vec![int(0), extents(&[1, rows.saturating_mul(columns)])];
        let line = self.insert(site, "gather_lin", OpId::CI, count, attrs);
        let shape = extents(&[rows, columns]);
        let line = self.insert(site, "gather_lin2d", OpId::RESHAPE, vec![Operand::Var(line), shape], Vec::new());
        let ids = self.insert(site, "gather_row_ids", OpId::DIVS, vec![Operand::Var(line), int(columns)], Vec::new());
        let args = vec![Operand::Var(ids), int(source_columns)];
        let base = self.insert(site, "gather_row_base", OpId::MULS, args, Vec::new());
        self.insert(site, "gather_flat_idx", OpId::ADD, [by, base].map(Operand::Var).to_vec(), Vec::new())
    }
}

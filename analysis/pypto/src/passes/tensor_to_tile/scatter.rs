//! Rows written where an index says: one scatter by flat indices into zeros, one of ones that marks what it hit, and a choice
//! between what was scattered and what was there.

use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_syntax::ast::FloatBits;

use super::{Conversion, Site, extents};
use crate::ir::{Attr, AttrName, Call, Operand, Rejection, Scalar, TileType, VarId};
use crate::ops::OpId;

/// The largest place that an index of 16 bits names.
const LARGEST_NARROW_INDEX: u64 = 32767;
/// `pl.cmps` with it is "not equal".
const NOT_EQUAL: i64 = 1;
const NOT_ROUNDED: i64 = 0;

impl Conversion<'_> {
    /// `tile.scatter_update`, of tiles or tensors.
    pub(super) fn scatter_update(&mut self, site: Site, call: Call) {
        let Some([input, index, source]) = self.on_chip(site, &call) else { return };
        let ([rows, columns], [count, _]) = (input.shape, source.shape);
        if let Some(message) = refused(&input, &index, &source) {
            self.kernel.rejections.push(Rejection::new(site.at, Code::InvalidOperand, message));
            return self.not_modelled(site, "`tile.scatter_update` that the compiler refuses".to_owned());
        }
        let places = self.flat_places(site, &index, [count, columns], input.dtype);
        let zeros = self.filled(site, "su_v0", [rows, columns], input.dtype, 0);
        let scattered = self.scatter(site, "su_vals", [zeros, source.var, places]);
        let marked = match bytes_of(input.dtype) {
            4 => Dtype::Fp32,
            2 => Dtype::Fp16,
            _ => Dtype::Int8,
        };
        let unmarked = self.filled(site, "su_m0", [rows, columns], marked, 0);
        let ones = self.filled(site, "su_ones", [count, columns], marked, 1);
        let mask = self.scatter(site, "su_mask", [unmarked, ones, places]);
        let args = vec![Operand::Var(mask), Operand::Scalar(number(marked, 0))];
        let hit = self.insert(site, "su_pred", OpId::CMPS, args, vec![(AttrName::CmpType, Attr::Int(NOT_EQUAL))]);
        let scratch = self.create(site, "su_tmp", &[1, 32], Dtype::Uint8);
        let args = [hit, scattered, input.var, scratch].map(Operand::Var).to_vec();
        self.finish(site, OpId::SEL, args, Vec::new());
    }

    /// The operands, loaded where they are in global memory.
    fn on_chip(&mut self, site: Site, call: &Call) -> Option<[Matrix; 3]> {
        let mut placed = Vec::new();
        for operand in call.args.iter().take(3).filter_map(Operand::var) {
            let var = self.on_vector(site, operand)?;
            placed.extend(self.kernel.tile(var).and_then(|tile| Matrix::of(var, tile)));
        }
        let placed = <[Matrix; 3]>::try_from(placed).ok();
        if placed.is_none() {
            self.not_modelled(site, "`tile.scatter_update` other than of matrices".to_owned());
        }
        placed
    }

    /// For each element of the source its place in the flattened result: `index[row] * columns + column`.
    fn flat_places(&mut self, site: Site, index: &Matrix, [count, columns]: [u64; 2], dtype: Dtype) -> VarId {
        let int = |value: u64| Operand::Scalar(Scalar::Int(i64::try_from(value).unwrap_or(i64::MAX)));
        let attrs = vec![(AttrName::Dtype, Attr::Dtype(Dtype::Int32)), (AttrName::Descending, Attr::Bool(false))];
        let line = self.insert(site, "su_col", OpId::CI, vec![int(0), extents(&[1, columns])], attrs);
        let template = self.filled(site, "su_tmpl", [count, columns], Dtype::Int32, 0);
        let args = [template, line].map(Operand::Var).to_vec();
        let columns_of = self.insert(site, "su_col_nd", OpId::COL_EXPAND, args, Vec::new());
        let index = match index.dtype {
            Dtype::Int32 => index.var,
            _ => self.converted(site, "su_idx_i32", index.var, Dtype::Int32),
        };
        let args = vec![Operand::Var(index), extents(&[count, 1])];
        let flat = self.insert(site, "su_idx_flat", OpId::RESHAPE, args, Vec::new());
        let base = self.insert(site, "su_row_base", OpId::MULS, vec![Operand::Var(flat), int(columns)], Vec::new());
        let args = [columns_of, base].map(Operand::Var).to_vec();
        let places = self.insert(site, "su_flat_idx", OpId::ROW_EXPAND_ADD, args, Vec::new());
        match is_wide(dtype) {
            true => places,
            false => self.converted(site, "su_flat_idx_cast", places, Dtype::Int16),
        }
    }

    pub(super) fn converted(&mut self, site: Site, name: &str, of: VarId, dtype: Dtype) -> VarId {
        let attrs = vec![(AttrName::TargetType, Attr::Dtype(dtype)), (AttrName::Mode, Attr::Int(NOT_ROUNDED))];
        self.insert(site, name, OpId::CAST, vec![Operand::Var(of)], attrs)
    }

    fn filled(&mut self, site: Site, name: &str, shape: [u64; 2], dtype: Dtype, value: i64) -> VarId {
        let args = vec![extents(&shape), Operand::Scalar(number(dtype, value))];
        self.insert(site, name, OpId::FULL, args, vec![(AttrName::Dtype, Attr::Dtype(dtype))])
    }

    fn scatter(&mut self, site: Site, name: &str, operands: [VarId; 3]) -> VarId {
        self.insert(site, name, OpId::SCATTER, operands.map(Operand::Var).to_vec(), Vec::new())
    }
}

/// A tile of two axes.
struct Matrix {
    var: VarId,
    shape: [u64; 2],
    dtype: Dtype,
}

impl Matrix {
    fn of(var: VarId, tile: &TileType) -> Option<Matrix> {
        Some(Matrix { var, shape: <[u64; 2]>::try_from(tile.shape.as_slice()).ok()?, dtype: tile.dtype })
    }
}

fn refused(input: &Matrix, index: &Matrix, source: &Matrix) -> Option<String> {
    let [rows, columns] = input.shape;
    let indices = index.shape[0].saturating_mul(index.shape[1]);
    if source.shape[0] != indices {
        return Some(format!(
            "`scatter_update` writes a row of `src` for each index: `src` has {} rows, `index` {indices} elements",
            source.shape[0]
        ));
    }
    let elements = rows.saturating_mul(columns);
    (!is_wide(input.dtype) && elements > LARGEST_NARROW_INDEX).then(|| {
        format!(
            "`scatter_update`: {} dst has m*d = {elements} elements, exceeding the i16 flat-index limit ({LARGEST_NARROW_INDEX}); reduce its rows or columns, or use a dtype of 4 bytes",
            input.dtype
        )
    })
}

fn bytes_of(dtype: Dtype) -> u64 {
    dtype.storage_bits() / 8
}

/// Whether indices are as wide as the data.
fn is_wide(dtype: Dtype) -> bool {
    bytes_of(dtype) == 4
}

fn number(dtype: Dtype, value: i64) -> Scalar {
    match dtype.is_float() {
        true => Scalar::Float(FloatBits::new(value as f64)),
        false => Scalar::Int(value),
    }
}

//! Tiles: declared where they are first needed, at the addresses of the plan.

use crate::diagnostics::Code;
use crate::ir::{self, Origin, Scalar, TileType, Type, VarId};

use super::{Refusal, Selected, Selector};
use crate::codegen::expr;
use crate::codegen::sequence::{Declared, Instr, Operand, Tile, TileId, pipe_of};
use crate::codegen::types::TileForm;

impl Selector<'_> {
    /// The tile of a variable, declared when it is first needed.
    pub(super) fn tile(&mut self, var: VarId) -> Selected<TileId> {
        if let Some(tile) = self.tiles.get(&var) {
            return Ok(*tile);
        }
        self.declare(var, Declared::Prologue)
    }

    pub(super) fn declare(&mut self, var: VarId, declared: Declared) -> Selected<TileId> {
        let source = self.kernel.var(var);
        let Type::Tile(ty) = &source.ty else {
            return Err(format!("`{}` is no tile", source.name).into());
        };
        let form = TileForm::new(ty).map_err(|reason| format!("`{}`: {reason}", source.name))?;
        if let Some(refusal) = form.refusal() {
            self.report(source.origin, format!("`{}`: {refusal}", source.name).into());
        }
        let valid = self.valid(ty, form).map_err(|reason| format!("valid shape of `{}`: {reason}", source.name))?;
        let (address, bytes) = self.places.get(&var).copied().unwrap_or((None, size(form)));
        if address.is_none() && declared == Declared::Prologue {
            let message =
                format!("`{}` has no address in the memory plan, so nothing can be loaded into it", source.name);
            self.report(source.origin, Refusal { code: Code::NoAddress, message });
        }
        let name = self.context.register_tile(var, &source.name);
        let tile =
            Tile { name, form, valid, address, bytes, declared, inserted: source.inserted, origin: source.origin };
        let id = self.add_tile(tile);
        self.tiles.insert(var, id);
        Ok(id)
    }

    pub(super) fn add_tile(&mut self, tile: Tile) -> TileId {
        self.program.tiles.push(tile);
        TileId(self.program.tiles.len() as u32 - 1)
    }

    /// Arguments of the constructor: valid rows and columns.
    pub(super) fn valid(&self, ty: &TileType, form: TileForm) -> Result<(String, String), String> {
        let Some(valid) = &ty.view.valid_shape else { return Ok((form.rows.to_string(), form.cols.to_string())) };
        let extent = |scalar: &Scalar| match scalar.as_int() {
            Some(value) => Ok(value.to_string()),
            None if self.is_fixed(scalar) => expr::text(scalar, self.kernel, &self.context),
            None => Err("it changes while the kernel runs, and tiles are constructed once".to_string()),
        };
        match valid.as_slice() {
            [] => Ok((form.rows.to_string(), form.cols.to_string())),
            [cols] => Ok(("1".to_string(), extent(cols)?)),
            [rows, cols] => Ok((extent(rows)?, extent(cols)?)),
            _ => Err(format!("it has {} dimensions", valid.len())),
        }
    }

    /// Whether the expression has its value before the body starts.
    pub(super) fn is_fixed(&self, scalar: &Scalar) -> bool {
        match scalar {
            Scalar::Var(var) => self.kernel.var(*var).role == ir::Role::Param,
            Scalar::Unary(_, operand) | Scalar::Cast(_, operand) => self.is_fixed(operand),
            Scalar::Binary(_, left, right) => self.is_fixed(left) && self.is_fixed(right),
            Scalar::Call(_) | Scalar::Unknown(_) | Scalar::Dynamic(_) => false,
            _ => true,
        }
    }

    /// A tile of the compiler's own at a given place.
    pub(super) fn own_tile(&mut self, name: &str, form: TileForm, address: Option<u64>, origin: Origin) -> TileId {
        let name = self.context.fresh_tile(name);
        let valid = (form.rows.to_string(), form.cols.to_string());
        let bytes = size(form);
        let declared = Declared::Prologue;
        self.add_tile(Tile { name, form, valid, address, bytes, declared, inserted: true, origin })
    }

    /// The same bytes as `column`, as one row.
    pub(super) fn as_row(&mut self, column: TileId, origin: Origin) -> TileId {
        if let Some(row) = self.rows.get(&column) {
            return *row;
        }
        let tile = self.program.tile(column).clone();
        let row = self.own_tile(&format!("{}_row", tile.name), tile.form.as_row(), tile.address, origin);
        self.rows.insert(column, row);
        row
    }

    /// A copy of a tile into the buffer that a carried value or a result lives in.
    pub(super) fn copy_tile(&mut self, source: TileId, form: TileForm, home: Option<u64>, origin: Origin) -> TileId {
        let name = format!("{}_mv", self.program.tile(source).name);
        let valid = self.program.tile(source).valid.clone();
        let copy = self.own_tile(&name, form, home, origin);
        self.program.tiles[copy.0 as usize].valid = valid;
        let space = self.program.tile(source).form.space;
        self.push(Instr {
            id: 0,
            name: "TMOV",
            operands: vec![Operand::Tile(copy), Operand::Tile(source)],
            pipe: pipe_of("tile.move", Some(space), &[space]),
            reads: vec![source],
            writes: vec![copy],
            access: None,
            text: None,
            inserted: true,
            origin,
        });
        copy
    }

    pub(super) fn overlap(&self, a: TileId, b: TileId) -> bool {
        let (a, b) = (self.program.tile(a), self.program.tile(b));
        let (Some(start_a), Some(start_b)) = (a.address, b.address) else { return true };
        a.form.space == b.form.space && start_a < start_b + b.bytes && start_b < start_a + a.bytes
    }
}

/// Bytes of a tile type.
pub(super) fn size(form: TileForm) -> u64 {
    (form.rows * form.cols * form.dtype.storage_bits()).div_ceil(8)
}

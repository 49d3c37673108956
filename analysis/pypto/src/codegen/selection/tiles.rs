//! Tiles: declared where they are first needed, at the addresses of the plan.

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;

use crate::ir::{self, Scalar, TileType, Type, VarId};

use super::{Placed, Refusal, Selected, Selector};
use crate::codegen::expr;
use crate::codegen::sequence::{
    Addressing, Declared, Elements, Instr, Operand, Pipe, Step, Tile, TileId, pipe_of_move,
};
use crate::codegen::types::{self, TileForm};
use crate::target::Target;

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
        let form = self.form(var)?;
        let placed = self.places.get(&var).copied().unwrap_or(Placed { bytes: size(form), ..Placed::default() });
        let place =
            if placed.selected { Addressing::Computed(self.slot_address(var, placed)?) } else { Addressing::Planned };
        if placed.address.is_none() && declared == Declared::Prologue {
            let message = format!("`{}` has no address in the memory plan, so it cannot be loaded", source.name);
            self.report(source.origin, Refusal { code: Code::NoAddress, message });
        }
        self.declare_as(var, form, (placed.address, placed.bytes), place, declared)
    }

    /// The C++ type of a tile; what the instruction library refuses is reported.
    pub(super) fn form(&mut self, var: VarId) -> Selected<TileForm> {
        let source = self.kernel.var(var);
        let Type::Tile(ty) = &source.ty else {
            return Err(no_tile(source).into());
        };
        let form = TileForm::new(ty).map_err(|reason| format!("`{}`: {reason}", source.name))?;
        if let Some(refusal) = self.dtype_refused(form.dtype).or_else(|| form.refusal()) {
            self.report(source.origin, format!("`{}`: {refusal}", source.name).into());
        }
        Ok(form)
    }

    /// Why an element type has no form in C++ for this machine.
    pub(super) fn dtype_refused(&self, dtype: tilefit_python::element::Dtype) -> Option<String> {
        if types::dtype(dtype).is_none() {
            return Some(types::without_form(dtype));
        }
        let newer = types::is_of_950(dtype) && self.target != Target::Ascend950;
        newer.then(|| format!("{dtype} is a type of ascend950, which {} does not have", self.target))
    }

    /// Declares a tile of that C++ type on these bytes; before its definition where the prologue knows too little.
    pub(super) fn declare_as(
        &mut self,
        var: VarId,
        form: TileForm,
        (address, bytes): (Option<u64>, u64),
        place: Addressing,
        declared: Declared,
    ) -> Selected<TileId> {
        let source = self.kernel.var(var);
        let Type::Tile(ty) = &source.ty else {
            return Err(no_tile(source).into());
        };
        let (valid, fixed) = self.valid(ty).map_err(|reason| format!("valid shape of `{}`: {reason}", source.name))?;
        let in_body = declared == Declared::Prologue && (!fixed || matches!(place, Addressing::Computed(_)));
        let declared = if in_body { Declared::Body } else { declared };
        let moves = matches!(place, Addressing::Computed(_) | Addressing::View);
        let (inserted, origin) = (source.inserted.is_some(), source.origin);
        let name = self.context.register_tile(var, &source.name);
        let id =
            self.add_tile(Tile { name, form, valid, address, bytes, lines: None, place, declared, inserted, origin });
        self.tiles.insert(var, id);
        if moves {
            self.moving.insert(id);
        }
        if in_body {
            self.steps.push(Step::Declare(id));
        }
        Ok(id)
    }

    /// `0x0 + (i % 2) * 32768`: the slot of a declared allocation that is selected at run time.
    fn slot_address(&self, var: VarId, placed: Placed) -> Selected<String> {
        let name = &self.kernel.var(var).name;
        let binding = self.kernel.tile(var).and_then(|tile| tile.binding.as_ref());
        let (Some(address), Some(binding)) = (placed.address, binding) else {
            return Err(format!("the address of `{name}` is selected at run time in a way that has no C++ form").into());
        };
        let slot = expr::text(&binding.slot, self.kernel, &self.context)?;
        let bound = self.kernel.vars.iter().filter_map(|var| match &var.ty {
            Type::Tile(tile) if tile.binding.as_ref().is_some_and(|of| of.allocation == binding.allocation) => {
                TileForm::new(tile).ok().map(size)
            }
            _ => None,
        });
        let bytes = bound.max().unwrap_or(placed.bytes);
        Ok(format!("{address:#x} + {slot} * {bytes}"))
    }

    pub(super) fn add_tile(&mut self, tile: Tile) -> TileId {
        self.program.tiles.push(tile);
        TileId(self.program.tiles.len() as u32 - 1)
    }

    /// Arguments of the constructor: valid rows and columns.
    /// Whether they are known before the body starts.
    fn valid(&self, ty: &TileType) -> Result<((Elements, Elements), bool), String> {
        let whole: Vec<Scalar> = ty.shape.iter().map(|extent| Scalar::Int(*extent as i64)).collect();
        let extents = ty.view.valid_shape.as_ref().filter(|valid| !valid.is_empty()).unwrap_or(&whole);
        let fixed = extents.iter().all(|extent| self.is_fixed(extent));
        let elements = |extent: &Scalar| expr::elements(extent, self.kernel, &self.context);
        match extents.as_slice() {
            [cols] => Ok(((Elements::Known(1), elements(cols)?), fixed)),
            [rows, cols] => Ok(((elements(rows)?, elements(cols)?), fixed)),
            _ => Err(format!("it has {} dimensions", extents.len())),
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
        let valid = (Elements::Known(form.rows), Elements::Known(form.cols));
        let bytes = size(form);
        let (place, declared) = (Addressing::Planned, Declared::Prologue);
        self.add_tile(Tile { name, form, valid, address, bytes, lines: None, place, declared, inserted: true, origin })
    }

    /// The same bytes as `column`, as one row.
    pub(super) fn as_row(&mut self, column: TileId, origin: Origin) -> TileId {
        if let Some(row) = self.rows.get(&column) {
            return *row;
        }
        let tile = self.program.tile(column).clone();
        let row = self.own_tile(&format!("{}_row", tile.name), tile.form.as_row(), tile.address, origin);
        if self.moving.contains(&column) {
            let view = &mut self.program.tiles[row.0 as usize];
            (view.place, view.bytes) = (Addressing::View, tile.bytes);
            self.point("TRESHAPE", vec![Operand::Tile(row), Operand::Tile(column)], origin);
        } else {
            self.rows.insert(column, row);
        }
        row
    }

    /// An instruction that only points its first operand into the second.
    pub(super) fn point(&mut self, name: &'static str, operands: Vec<Operand>, origin: Origin) {
        self.push(Instr { inserted: true, ..Instr::new(name, operands, Pipe::S, origin) });
    }

    /// A copy of a tile into the buffer that a carried value or a result lives in.
    pub(super) fn copy_tile(&mut self, source: TileId, form: TileForm, home: Option<u64>, origin: Origin) -> TileId {
        let name = format!("{}_mv", self.program.tile(source).name);
        let valid = self.program.tile(source).valid.clone();
        let copy = self.own_tile(&name, form, home, origin);
        self.program.tiles[copy.0 as usize].valid = valid;
        if self.windows.contains_key(&source) && self.overlap(copy, source) {
            let name = &self.program.tile(source).name;
            let message = format!("`{name}` is a window of a tile, and would be copied onto that tile's own bytes");
            self.report(origin, message.into());
        }
        let space = self.program.tile(source).form.space;
        self.push(Instr {
            reads: vec![source],
            writes: vec![copy],
            inserted: true,
            ..Instr::new(
                "TMOV",
                vec![Operand::Tile(copy), Operand::Tile(source)],
                pipe_of_move(space, &[space]),
                origin,
            )
        });
        copy
    }

    pub(super) fn overlap(&self, a: TileId, b: TileId) -> bool {
        let (a, b) = (self.program.tile(a), self.program.tile(b));
        let (Some(start_a), Some(start_b)) = (a.address, b.address) else { return true };
        a.form.space == b.form.space
            && start_a < start_b.saturating_add(b.bytes)
            && start_b < start_a.saturating_add(a.bytes)
    }
}

/// Why a variable that stands where a tile must is none.
pub(super) fn no_tile(var: &ir::Var) -> String {
    let name = &var.name;
    match &var.ty {
        Type::Unknown(reason) => format!("`{name}` is unknown: {reason}"),
        Type::Tensor(_) => format!("`{name}` is a tensor, but a tile is needed here"),
        _ => format!("`{name}` is not a tile"),
    }
}

/// Bytes of a tile type.
pub(super) fn size(form: TileForm) -> u64 {
    form.rows.saturating_mul(form.cols).saturating_mul(form.dtype.storage_bits()).div_ceil(8)
}

//! Views: other shapes of bytes that are there already.

use tilefit_python::finding::Origin;

use crate::ir::{self, BLayout, Call, SLayout, Scalar, VarId};
use crate::ops::OpId;
use crate::ops::selection::Instruction;
use crate::target::Space;
use crate::typing::known;

use super::{Refusal, Selected, Selector, list};
use crate::codegen::expr;
use crate::codegen::sequence::{Addressing, Declared, Elements, Lines, Operand, Tile, TileId};
use crate::codegen::types::TileForm;

/// A part of a tile: rows and columns from its start.
type Start<'k> = [&'k Scalar; 2];

/// Bytes of Vec that are read and written at once.
const BLOCK: u64 = 32;

const ORIGIN: Start<'static> = [&Scalar::Int(0), &Scalar::Int(0)];

impl Selector<'_> {
    /// The same bytes under another type: the declaration is all there is, unless the viewed tile moves.
    pub(super) fn view(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let Some(var) = result.filter(|var| self.kernel.tile(*var).is_some()) else { return Ok(()) };
        let source = self.viewed(call)?;
        if self.windows.contains_key(&source) {
            return match call.op {
                OpId::SET_VALIDSHAPE => self.window(var, source, ORIGIN, origin),
                _ => Err(self.strided(source, call)),
            };
        }
        if !self.moving.contains(&source) {
            return self.tile(var).map(drop);
        }
        let form = self.form(var)?;
        let view = self.declare_as(var, form, self.range(source), Addressing::View, Declared::Prologue)?;
        self.point("TRESHAPE", vec![Operand::Tile(view), Operand::Tile(source)], origin);
        Ok(())
    }

    pub(super) fn reshape(
        &mut self,
        instruction: &'static Instruction,
        result: Option<VarId>,
        call: &Call,
        origin: Origin,
    ) -> Selected<()> {
        let source = self.viewed(call)?;
        if self.windows.contains_key(&source) {
            return Err(self.strided(source, call));
        }
        match result {
            Some(var) if self.is_renaming(var, call) => self.tile(var).map(drop),
            // Of a tile out of a queue between the cores.
            Some(var) if self.moving.contains(&source) && !self.is_planned(var) => self.view(result, call, origin),
            _ => self.instruction(instruction, result, call, origin),
        }
    }

    /// A reshape that the compiler put around an instruction: both tiles are declared at one address already.
    fn is_renaming(&self, result: VarId, call: &Call) -> bool {
        let Some(source) = call.args.first().and_then(ir::Operand::var) else { return false };
        let inserted = [result, source].into_iter().any(|var| self.kernel.var(var).inserted.is_some());
        let fixed = self.tiles.get(&source).is_some_and(|tile| !self.moving.contains(tile));
        let address = |var| self.places.get(&var).and_then(|place| place.address);
        inserted && fixed && address(result).is_some() && address(result) == address(source)
    }

    fn is_planned(&self, var: VarId) -> bool {
        self.places.get(&var).is_some_and(|place| place.address.is_some())
    }

    /// A slice keeps the rows of its source: it is a window of the same bytes. Only a plan that gives it memory of its own
    /// makes it a copy.
    pub(super) fn slice(
        &mut self,
        instruction: &'static Instruction,
        result: Option<VarId>,
        call: &Call,
        origin: Origin,
    ) -> Selected<()> {
        let Some(var) = result else { return Ok(()) };
        if self.has_own_memory(var, call) {
            return self.instruction(instruction, result, call, origin);
        }
        let source = self.viewed(call)?;
        let start = match list(call.args.get(2)) {
            Some([col]) => [&Scalar::Int(0), col],
            Some([row, col]) => [row, col],
            _ => return Err("the offset of a slice has one or two dimensions in C++".to_string().into()),
        };
        self.window(var, source, start, origin)
    }

    fn has_own_memory(&self, result: VarId, call: &Call) -> bool {
        let Some(source) = call.args.first().and_then(ir::Operand::var) else { return false };
        let (Some(result), Some(source)) = (self.places.get(&result), self.places.get(&source)) else { return false };
        result.address.is_some() && (result.buffer.is_none() || result.buffer != source.buffer)
    }

    /// Declares `var` as the part of `source` that begins at `start`.
    fn window(&mut self, var: VarId, source: TileId, start: Start, origin: Origin) -> Selected<()> {
        let own = TileForm::new(self.kernel.tile(var).ok_or_else(|| "no tile".to_string())?)?;
        let parent = self.program.tile(source).form;
        let form = own.window_of(parent);
        if let Some(refusal) = form.refusal() {
            return Err(format!("`{}`: {refusal}", self.kernel.var(var).name).into());
        }
        let known =
            start.map(|offset| known(offset, &self.constants).as_int().and_then(|offset| u64::try_from(offset).ok()));
        let (address, bytes) = self.range(source);
        let offset = match known {
            [Some(row), Some(col)] if !self.moving.contains(&source) => parent.offset(row, col),
            _ => None,
        };
        if form.slayout != SLayout::NoneBox {
            let window = match address.zip(offset) {
                Some((address, offset)) => {
                    let range = (Some(address + offset), bytes.saturating_sub(offset));
                    self.declare_as(var, form, range, Addressing::Planned, Declared::Prologue)?
                }
                None => {
                    let place = Addressing::Computed(self.box_address(source, start)?);
                    self.declare_as(var, form, (address, bytes), place, Declared::Prologue)?
                }
            };
            self.note_window(window, own);
            return Ok(());
        }
        let range = match offset {
            Some(offset) => (address.map(|address| address + offset), own.span(form)),
            None => (address, bytes),
        };
        let lines = offset.and_then(|_| own.lines(form));
        let [row, col] = start.map(|offset| expr::text(offset, self.kernel, &self.context));
        let window = self.declare_as(var, form, range, Addressing::View, Declared::Prologue)?;
        self.program.tiles[window.0 as usize].lines = lines;
        self.note_window(window, own);
        let operands = vec![Operand::Tile(window), Operand::Tile(source), Operand::Text(row?), Operand::Text(col?)];
        self.point("TSUBVIEW", operands, origin);
        Ok(())
    }

    /// The bytes of a tile that an insertion at this place changes, as a tile that nothing declares; the tile itself where its
    /// place or the part is known at run time only.
    pub(super) fn inserted_part(&mut self, whole: TileId, source: TileId, start: Option<&[Scalar]>) -> TileId {
        let Tile { name, form, address, origin, .. } = self.program.tile(whole).clone();
        let number = |offset: &Scalar| known(offset, &self.constants).as_int().and_then(|at| u64::try_from(at).ok());
        let start = match start {
            Some([row, col]) => number(row).zip(number(col)),
            _ => None,
        };
        let extents = match self.program.tile(source).valid {
            (Elements::Known(rows), Elements::Known(cols)) => Some((rows, cols)),
            _ => None,
        };
        let (Some((row, col)), Some((rows, cols)), Some(address)) = (start, extents, address) else { return whole };
        let part = TileForm { rows, cols, ..form };
        let plain = form.space == Space::Vec && form.slayout == SLayout::NoneBox && !self.moving.contains(&whole);
        let Some(offset) = form.offset(row, col).filter(|_| plain && rows > 0 && cols > 0) else { return whole };
        let bytes = part.span(form);
        if offset.saturating_add(bytes) > self.program.tile(whole).bytes {
            return whole;
        }
        let from = address + offset;
        let before = from % BLOCK;
        let id = self.own_tile(&format!("{name}_inserted"), part, Some(from - before), origin);
        let tile = &mut self.program.tiles[id.0 as usize];
        tile.bytes = before + bytes;
        tile.lines = part.lines(form).map(|lines| lines.widened(before));
        tile.declared = Declared::Nowhere;
        id
    }

    /// Remembers what is a window's own, where its type has the rows or columns of the whole.
    fn note_window(&mut self, window: TileId, own: TileForm) {
        let form = self.program.tile(window).form;
        if (form.rows, form.cols) != (own.rows, own.cols) {
            self.windows.insert(window, [own.rows, own.cols]);
        }
    }

    /// `0x0 + (row * 16) * 4`: where the box lies that begins at a row and a column which are known at run time, but certainly
    /// begin one.
    fn box_address(&self, tile: TileId, start: Start) -> Selected<String> {
        let unit = self.program.tile(tile).form.box_shape().unwrap_or((1, 1));
        self.address_in_boxes(tile, start, unit)
    }

    /// The same of a line of a tile in boxes: of boxes that lie one after the other the lines do too, so that only the other offset
    /// must begin one.
    pub(super) fn line_address(&self, tile: TileId, start: Start) -> Selected<String> {
        let form = self.program.tile(tile).form;
        let (rows, cols) = form.box_shape().unwrap_or((1, 1));
        let unit = match (form.blayout, form.slayout) {
            (BLayout::ColMajor, SLayout::RowMajor) => (1, cols),
            (BLayout::RowMajor, SLayout::ColMajor) => (rows, 1),
            _ => (rows, cols),
        };
        self.address_in_boxes(tile, start, unit)
    }

    /// `start` is certainly a multiple of `unit`, and all between two of those lies in one line.
    fn address_in_boxes(&self, tile: TileId, start: Start, unit: (u64, u64)) -> Selected<String> {
        let source = self.program.tile(tile);
        let name = &source.name;
        let refused = |what: &str| Refusal::from(format!("a window of `{name}`, which is stored in boxes, {what}"));
        let (Some((rows, cols)), Some(address)) = (source.form.box_shape(), source.address) else {
            return Err(refused("has no address"));
        };
        if self.moving.contains(&tile) {
            return Err(refused("which changes its address, has no C++ form"));
        }
        let begins_a_box = |offset: &Scalar, extent: u64| self.multiple_of(offset).is_multiple_of(extent);
        if !begins_a_box(start[0], unit.0) || !begins_a_box(start[1], unit.1) {
            return Err(refused("has a C++ form only if it certainly starts at a box"));
        }
        let bits = source.form.dtype.storage_bits();
        if !bits.is_multiple_of(8) {
            return Err(refused("has a C++ form only for elements of whole bytes"));
        }
        let [row, col] = start.map(|offset| expr::text(offset, self.kernel, &self.context));
        let (row, col) = (row?, col?);
        let (by_row, by_col) = match source.form.blayout {
            BLayout::RowMajor => (source.form.cols, rows),
            BLayout::ColMajor => (cols, source.form.rows),
        };
        Ok(format!("{address:#x} + ({row} * {by_row} + {col} * {by_col}) * {}", bits / 8))
    }

    fn viewed(&mut self, call: &Call) -> Selected<TileId> {
        let source = call.args.first().and_then(ir::Operand::var);
        self.tile(source.ok_or_else(|| "the viewed value is not a tile".to_string())?)
    }

    /// Bytes that a tile can touch: where they begin, and how many.
    fn range(&self, tile: TileId) -> (Option<u64>, u64) {
        let tile = self.program.tile(tile);
        (tile.address, tile.bytes)
    }

    fn strided(&self, source: TileId, call: &Call) -> Refusal {
        let tile = self.program.tile(source);
        let message = format!(
            "`{}` is a window of a tile with rows of {} elements; `{}` needs rows without gaps",
            tile.name,
            tile.form.cols,
            call.op.op().name
        );
        message.into()
    }
}

impl Lines {
    /// With the block that their start lies in.
    fn widened(self, before: u64) -> Lines {
        Lines { length: (before + self.length).next_multiple_of(BLOCK).min(self.distance), ..self }
    }
}

impl TileForm {
    /// The type of a part of `parent`, which keeps the distance of its rows (of its columns, or boxes, in a column-major tile).
    fn window_of(self, parent: TileForm) -> TileForm {
        let layout = TileForm { blayout: parent.blayout, slayout: parent.slayout, fractal: parent.fractal, ..self };
        let boxed = parent.slayout != SLayout::NoneBox;
        match parent.blayout {
            BLayout::RowMajor if self.rows > 1 || boxed => TileForm { cols: parent.cols, ..layout },
            BLayout::ColMajor if self.cols > 1 || boxed => TileForm { rows: parent.rows, ..layout },
            _ => layout,
        }
    }

    /// Bytes from the start of a tile to an element of it; `None` inside of a box, and beyond all memory.
    fn offset(self, row: u64, col: u64) -> Option<u64> {
        let (lines, rest) = match (self.box_shape(), self.blayout) {
            (None, BLayout::RowMajor) => (row.checked_mul(self.cols)?, col),
            (None, BLayout::ColMajor) => (col.checked_mul(self.rows)?, row),
            (Some((rows, cols)), _) if !row.is_multiple_of(rows) || !col.is_multiple_of(cols) => return None,
            (Some((rows, cols)), BLayout::RowMajor) => {
                (row.checked_mul(self.cols)?, (col / cols).checked_mul(cols * rows)?)
            }
            (Some((rows, cols)), BLayout::ColMajor) => {
                (col.checked_mul(self.rows)?, (row / rows).checked_mul(rows * cols)?)
            }
        };
        Some(lines.checked_add(rest)?.checked_mul(self.dtype.storage_bits())? / 8)
    }

    /// The lines of such a part; `None` if it has no gaps. Instructions on them touch blocks of 32 bytes.
    fn lines(self, window: TileForm) -> Option<Lines> {
        let bytes = |elements: u64| elements.saturating_mul(self.dtype.storage_bits()).div_ceil(8);
        let (count, length, distance) = match window.blayout {
            BLayout::RowMajor => (self.rows, bytes(self.cols), bytes(window.cols)),
            BLayout::ColMajor => (self.cols, bytes(self.rows), bytes(window.rows)),
        };
        let lines = Lines { count, length: length.next_multiple_of(BLOCK), distance };
        (count > 1 && lines.length < distance).then_some(lines)
    }

    /// Bytes from the first to the last element of a part of this shape in a tile of that type.
    fn span(self, window: TileForm) -> u64 {
        let last = match window.blayout {
            BLayout::RowMajor => self.rows.saturating_sub(1).saturating_mul(window.cols).saturating_add(self.cols),
            BLayout::ColMajor => self.cols.saturating_sub(1).saturating_mul(window.rows).saturating_add(self.rows),
        };
        last.saturating_mul(self.dtype.storage_bits()).div_ceil(8)
    }
}

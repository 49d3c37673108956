//! Where each of two vector units begins and ends on the axis of tiles that `pl.split` divides.

use rustc_hash::FxHashSet;

use super::cores::{Core, call_core, destination};
use crate::ir::{Call, Kernel, Operand, Scalar, ScalarBinary, SplitMode, Stmt, TileType, TileView, VarId, fold, visit};
use crate::ops::{Category, OpId, Shape};
use crate::target::Space;

#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    pub(super) mode: SplitMode,
    /// The vector unit that runs the statement: 0 or 1.
    unit: VarId,
    /// Elements between the first of one unit and the first of the other, where it is not half of the tile.
    stride: Option<u64>,
}

/// What the two units have of a tile from the cube.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shares {
    Even,
    /// The first unit has one row, or column, more.
    Odd,
    Apart(u64, u64),
}

impl Cut {
    pub(super) fn of(kernel: &Kernel, body: &[Stmt], mode: SplitMode, unit: VarId, popped: &FxHashSet<VarId>) -> Cut {
        let cut = Cut { mode, unit, stride: None };
        Cut { stride: Balance::of(kernel, body, cut, popped), ..cut }
    }

    pub(super) fn axis(self) -> usize {
        self.mode.axis()
    }

    pub(super) fn extent(self, tile: &TileType) -> Option<u64> {
        tile.shape.get(self.axis()).copied()
    }

    /// An extent of one is not divided.
    pub(super) fn divides(self, tile: &TileType) -> bool {
        self.extent(tile).is_some_and(|extent| extent > 1)
    }

    pub(super) fn stride(self) -> Option<u64> {
        self.stride
    }

    /// Makes a whole tile that of one unit.
    pub(super) fn halve(self, tile: &mut TileType) {
        let Some(whole) = self.extent(tile) else { return };
        let mut valid = tile.valid_shape();
        if let Some(valid) = valid.get_mut(self.axis()) {
            *valid = self.part(valid.clone(), whole);
        }
        tile.shape[self.axis()] = whole.div_ceil(2);
        tile.view.valid_shape = Some(valid);
        tile.canonicalize();
    }

    /// What the unit takes out of the queue of what the cube pushes: only the part that holds data is as there.
    pub(super) fn arriving(self, pushed: &TileType) -> TileType {
        let view = TileView { valid_shape: pushed.view.valid_shape.clone(), ..TileView::default() };
        let mut tile = TileType { space: Some(Space::Vec), view, binding: None, ..pushed.clone() };
        self.halve(&mut tile);
        tile
    }

    /// How much of the `valid` of `whole` elements the unit has.
    pub(super) fn part(self, valid: Scalar, whole: u64) -> Scalar {
        let step = self.step(whole.div_ceil(2));
        if valid.as_int() == int(whole).as_int() && 2 * step == whole {
            return int(step);
        }
        let first = fold::binary(ScalarBinary::Mul, Scalar::Var(self.unit), int(step));
        let reached = fold::binary(ScalarBinary::Max, valid, first.clone());
        let rest = fold::binary(ScalarBinary::Sub, reached, first);
        fold::binary(ScalarBinary::Min, rest, int(step))
    }

    /// Elements between the first of one unit and the first of the other, of a tile that was halved to `half`.
    pub(super) fn step(self, half: u64) -> u64 {
        self.stride.unwrap_or(half)
    }

    /// `offset` of a whole tile, for the part of the unit; `half` is the extent of the halved tile.
    pub(super) fn first(self, offset: &Scalar, half: u64) -> Scalar {
        let step = int(self.step(half));
        let by = fold::binary(ScalarBinary::Mul, Scalar::Var(self.unit), step);
        fold::binary(ScalarBinary::Add, offset.clone(), by)
    }

    /// Extents that are known only at run time pass for even.
    pub(super) fn shares(self, tile: &TileType) -> Shares {
        let (Some(whole), Some(valid)) = (self.extent(tile), self.known_valid(tile)) else { return Shares::Even };
        let step = self.step(whole.div_ceil(2));
        match (valid.min(step), valid.saturating_sub(step).min(step)) {
            (first, second) if first == second => Shares::Even,
            (first, second) if first == second + 1 => Shares::Odd,
            (_, 0) => Shares::Even,
            (first, second) => Shares::Apart(first, second),
        }
    }

    fn known_valid(self, tile: &TileType) -> Option<u64> {
        tile.valid_shape().get(self.axis())?.as_int().and_then(|extent| u64::try_from(extent).ok())
    }
}

/// Whether each unit would have a partial result only.
pub(super) fn reduces_along(op: OpId, mode: SplitMode) -> bool {
    let along = match mode {
        SplitMode::UpDown => Shape::ColReduced,
        SplitMode::LeftRight => Shape::RowReduced,
    };
    op.op().category == Category::Reduction && op.op().shape == along
}

pub(super) fn int(extent: u64) -> Scalar {
    Scalar::Int(i64::try_from(extent).unwrap_or(i64::MAX))
}

/// The one partly valid extent that tiles from the cube have, and what is computed of them alone: such a kernel is divided in the
/// middle of that extent.
struct Balance<'k> {
    kernel: &'k Kernel,
    cut: Cut,
    popped: &'k FxHashSet<VarId>,
    /// The extent of the tiles and that of their data.
    extents: Option<(u64, u64)>,
    derived: FxHashSet<VarId>,
}

impl Balance<'_> {
    fn of(kernel: &Kernel, body: &[Stmt], cut: Cut, popped: &FxHashSet<VarId>) -> Option<u64> {
        let mut balance = Balance { kernel, cut, popped, extents: None, derived: FxHashSet::default() };
        let mut is_one = true;
        visit::statements(body, &mut |stmt| is_one = is_one && balance.follow(stmt).is_some());
        let (whole, valid) = balance.extents.filter(|_| is_one)?;
        let middle = valid.div_ceil(2);
        (valid < whole && 0 < middle && middle != whole.div_ceil(2)).then_some(middle)
    }

    /// `None` where something else is divided, too.
    fn follow(&mut self, stmt: &Stmt) -> Option<()> {
        let Some(call) = visit::call_of(stmt) else { return Some(()) };
        let result = if let Stmt::Let { var, .. } = stmt { Some(*var) } else { None };
        match call_core(self.kernel, call, self.popped) {
            Core::Cube => Some(()),
            Core::Both if destination(call) == Core::Cube => None,
            Core::Both => {
                let pushed = self.kernel.tile(call.args.first()?.var()?)?;
                let extents = (self.cut.extent(pushed)?, self.cut.known_valid(pushed)?);
                self.derived.extend(result);
                (*self.extents.get_or_insert(extents) == extents).then_some(())
            }
            Core::Vector | Core::Shared => self.derive(call, result),
        }
    }

    fn derive(&mut self, call: &Call, result: Option<VarId>) -> Option<()> {
        let is_divided = |var: &VarId| self.kernel.tile(*var).is_some_and(|tile| self.cut.divides(tile));
        let Some(result) = result.filter(is_divided) else { return Some(()) };
        let mut operands = call.args.iter().filter_map(Operand::var).filter(is_divided).peekable();
        operands.peek()?;
        operands.all(|var| self.derived.contains(&var)).then(|| {
            self.derived.insert(result);
        })
    }
}

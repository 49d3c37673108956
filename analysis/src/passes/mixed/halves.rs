//! LowerAutoVectorSplit: with `pl.split` the two vector units of a cluster share the vector work of a kernel for both cores, each
//! with half of every tile (`reference/tensor-level.md` §10). What goes to the cube is put together there. This comes before the
//! kernel becomes two.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::walk;
use super::cores::{Core, call_core, destination};
use super::cut::{Cut, Shares, int};
use crate::diagnostics::Code;
use crate::ir::{
    Attr, Call, Dtype, For, If, Kernel, KernelKind, Note, Operand, Origin, Reason, Rejection, Role, Scalar, SplitMode,
    Stmt, TileType, TileView, Type, Value, Var, VarId, While,
};
use crate::ops::{Category, OpId, Shape};
use crate::target::Space;

/// Gives each unit its half. Scratch that an operation needs stays whole, as the compiler leaves it. Of what is not modelled no tile is
/// larger than the compiler's, so that none is said to exceed its memory that does not.
pub(super) fn divide(kernel: &mut Kernel, mode: SplitMode, popped: &FxHashSet<VarId>) -> Undivided {
    let origin = kernel.origin;
    let ty = Type::Scalar(Dtype::Index);
    let unit = kernel.add_var(Var { name: "subblock_idx".into(), ty, role: Role::Def, inserted: true, origin });
    let query = Call { op: OpId::GET_SUBBLOCK_IDX, args: Vec::new(), attrs: Vec::new(), origin };
    let body = std::mem::take(&mut kernel.body);
    let cut = Cut::of(kernel, &body, mode, unit, popped);
    let mut division = Division { kernel, popped, cut, halves: FxHashMap::default(), undivided: Undivided::default() };
    division.leave_handed_on(&body);
    let body = walk::expand_leaves(body, &mut |stmt, out| division.stmt(stmt, out));
    let undivided = division.undivided;
    kernel.body = vec![Stmt::Let { var: unit, value: Value::Call(query), origin }];
    kernel.body.extend(body);
    undivided
}

/// What is not divided as the compiler divides it.
#[derive(Debug, Default)]
pub(super) struct Undivided {
    results: FxHashMap<VarId, Note>,
    effect: Option<Note>,
}

impl Undivided {
    /// Says the first of it that is left in the part of one core.
    pub(super) fn note(&self, kernel: &mut Kernel) {
        let mut first = self.effect.as_ref().filter(|_| kernel.kind == KernelKind::Aiv);
        for stmt in &kernel.body {
            walk::visit_definitions(stmt, &mut |var| first = first.or_else(|| self.results.get(&var)));
        }
        kernel.notes.extend(first.cloned());
    }
}

struct Division<'k> {
    kernel: &'k mut Kernel,
    popped: &'k FxHashSet<VarId>,
    cut: Cut,
    /// The tiles that the compiler knows to be halves, and whether that is sure.
    halves: FxHashMap<VarId, bool>,
    undivided: Undivided,
}

impl Division<'_> {
    /// The compiler leaves whole what loops carry and branches choose.
    fn leave_handed_on(&mut self, body: &[Stmt]) {
        walk::visit(body, &mut |stmt| match stmt {
            Stmt::For(For { carries, origin, .. }) | Stmt::While(While { carries, origin, .. }) => {
                let carried = carries.iter().flat_map(|carry| [carry.iter, carry.result]);
                carried.for_each(|var| self.leave(var, *origin, "a tile that a loop carries"));
            }
            Stmt::If(If { results, origin, .. }) => {
                results.iter().for_each(|var| self.leave(*var, *origin, "a tile that branches choose"));
            }
            Stmt::Let { var, value: Value::Copy(_), origin } => self.leave(*var, *origin, "a copy of a tile"),
            _ => {}
        });
    }

    fn leave(&mut self, var: VarId, at: Origin, what: &str) {
        if let Type::Tile(tile) = &mut self.kernel.var_mut(var).ty
            && tile.space == Some(Space::Vec)
            && self.cut.divides(tile)
        {
            self.cut.halve(tile);
            self.undivided.results.insert(var, not_modelled(at, what));
        }
    }

    fn stmt(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) {
        let core = walk::call_of(&stmt).map_or(Core::Shared, |call| call_core(self.kernel, call, self.popped));
        match (core, stmt) {
            (Core::Both, Stmt::Let { var, value: Value::Call(call), origin }) => match destination(&call) {
                Core::Cube => self.gather(var, call, origin, out),
                _ => out.push(self.shard(var, call, origin)),
            },
            (Core::Vector, mut stmt) => {
                self.halve(&mut stmt);
                out.push(stmt);
            }
            (_, stmt) => out.push(stmt),
        }
    }

    /// One statement of the vector units. Shapes that are written out follow the tile; transfers go to the unit's own part.
    fn halve(&mut self, stmt: &mut Stmt) {
        let result = if let Stmt::Let { var, .. } = stmt { Some(*var) } else { None };
        let Some(call) = walk::call_of_mut(stmt) else { return };
        let what = self.undivided(call);
        let is_sure = what.is_none();
        match result {
            Some(var) => self.undivided.results.extend(what.map(|what| (var, what))),
            None => self.undivided.effect = self.undivided.effect.take().or(what),
        }
        if call.op == OpId::STORE {
            return self.place_stored(call);
        }
        let cut = self.cut;
        let Some(var) = result else { return };
        let Type::Tile(tile) = &mut self.kernel.var_mut(var).ty else { return };
        let Some(whole) = cut.extent(tile).filter(|_| cut.divides(tile)) else { return };
        cut.halve(tile);
        self.halves.insert(var, is_sure);
        let (axis, half) = (cut.axis(), whole.div_ceil(2));
        match call.op {
            OpId::LOAD => {
                change(call, 1, axis, |offset| cut.first(offset, half));
                change(call, 2, axis, |_| int(half));
                change(call, 3, axis, |valid| cut.part(valid.clone(), whole));
            }
            OpId::FULL => change(call, 0, axis, |_| int(half)),
            _ => {}
        }
    }

    fn place_stored(&mut self, call: &mut Call) {
        let tile = call.args.first().and_then(Operand::var).filter(|tile| self.halves.contains_key(tile));
        if let Some(half) = tile.and_then(|tile| self.cut.extent(self.kernel.tile(tile)?)) {
            change(call, 1, self.cut.axis(), |offset| self.cut.first(offset, half));
        }
    }

    fn undivided(&self, call: &Call) -> Option<Note> {
        let op = call.op.op();
        let mut tiles = call.args.iter().filter_map(Operand::var).filter(|var| self.kernel.tile(*var).is_some());
        let is_divisible = match call.op {
            OpId::LOAD | OpId::STORE => matches!(call.args.get(1), Some(Operand::List(offsets)) if offsets.len() == 2),
            OpId::TPOP_FROM_AIC | OpId::CAST | OpId::FULL => true,
            _ if tiles.next().is_none() => true,
            _ => match op.category {
                Category::Elementwise | Category::Unary | Category::Broadcast => true,
                Category::CompareSelect => self.cut.axis() == 0,
                Category::Reduction => (op.shape == Shape::RowReduced) == (self.cut.axis() == 0),
                _ => false,
            },
        };
        (!is_divisible).then(|| not_modelled(call.origin, &format!("`{}`", op.name)))
    }

    /// From the cube: each unit takes its part out of the queue.
    fn shard(&mut self, var: VarId, call: Call, origin: Origin) -> Stmt {
        let pushed = call.args.first().and_then(Operand::var).and_then(|pushed| self.kernel.tile(pushed)).cloned();
        let Some(pushed) = pushed else { return Stmt::Let { var, value: Value::Call(call), origin } };
        self.refuse_narrowed(&pushed, call.origin);
        let code = match self.cut.shares(&pushed) {
            Shares::Even => self.cut.code(),
            Shares::Odd => self.cut.code() + 2,
            Shares::Apart(first, second) => {
                self.refuse_apart(&pushed, first, second, call.origin);
                self.cut.code()
            }
        };
        let mut attrs = vec![("split", Attr::Int(code))];
        attrs.extend(self.cut.stride().map(|stride| ("lane_stride", Attr::Int(stride as i64))));
        self.kernel.var_mut(var).ty = Type::Tile(self.cut.arriving(&pushed));
        self.halves.insert(var, true);
        Stmt::Let { var, value: Value::Call(Call { op: OpId::AIV_SHARD, attrs, ..call }), origin }
    }

    /// To the cube: it takes the halves of both units out of the queue as one tile, and then that to its place.
    fn gather(&mut self, var: VarId, call: Call, origin: Origin, out: &mut Vec<Stmt>) {
        let half = call.args.first().and_then(Operand::var);
        let (Some(half), Some(placed)) = (half, self.kernel.tile(var)) else {
            return out.push(Stmt::Let { var, value: Value::Call(call), origin });
        };
        let ty = TileType { space: Some(Space::Mat), view: TileView::default(), binding: None, ..placed.clone() };
        self.refuse_unhalved(half, &ty, call.origin);
        let name = format!("{}_mat", self.kernel.var(var).name);
        let at = call.origin;
        let whole = self.kernel.add_var(Var { name, ty: Type::Tile(ty), role: Role::Def, inserted: true, origin: at });
        let attrs = vec![("split", Attr::Int(self.cut.code()))];
        let gather = Call { op: OpId::AIC_GATHER, args: vec![Operand::Var(half)], attrs, origin: at };
        out.push(Stmt::Let { var: whole, value: Value::Call(gather), origin });
        let place = Call { args: vec![Operand::Var(whole)], ..call };
        out.push(Stmt::Let { var, value: Value::Call(place), origin });
    }

    fn refuse_unhalved(&mut self, half: VarId, whole: &TileType, at: Origin) {
        let name = &self.kernel.var(half).name;
        let extent = self.cut.extent(whole).unwrap_or_default();
        let axis = self.axis_name();
        match self.halves.get(&half) {
            Some(false) => {
                let what = format!("`{name}`, which goes from the vector units to the cube");
                self.kernel.notes.push(not_modelled(at, &what));
            }
            None => self.reject(at, format!(
                "`{name}` goes to the cube, which puts it together of the halves of both vector units, but `pl.split(pl.SplitMode.{})` gives them no halves of it: \
                 what loops carry, branches choose or `=` copies stays whole, and so does an extent of one; hand over what an operation in front of the move makes",
                self.mode_name()
            )),
            Some(true) if extent % 2 != 0 => self.reject(at, format!(
                "`{name}` goes to the cube with {extent} {axis}, and the halves of both vector units make {}: an odd extent cannot be put together again; pad it by one",
                extent + 1
            )),
            Some(true) => {}
        }
    }

    /// Rows of what comes from the cube may be valid in part; columns only where that is known and the rows are whole.
    fn refuse_narrowed(&mut self, pushed: &TileType, at: Origin) {
        let valid = pushed.valid_shape();
        let ([valid_rows, valid_columns], [rows, columns]) = (valid.as_slice(), pushed.shape.as_slice()) else {
            return;
        };
        if *valid_columns == int(*columns) {
            return;
        }
        if [valid_rows, valid_columns].iter().any(|extent| extent.as_int().is_none()) {
            self.kernel.notes.push(not_modelled(at, "a tile from the cube of which it is known only at run time how much is valid"));
        } else if self.cut.mode == SplitMode::LeftRight {
            self.reject(at, format!(
                "of the {columns} columns that come from the cube some are not valid, and `pl.split(pl.SplitMode.LEFT_RIGHT)` would give the vector units different numbers of them: \
                 divide the rows with UP_DOWN, or make all columns valid with `pl.set_validshape`"
            ));
        } else if *valid_rows != int(*rows) {
            self.reject(at, format!(
                "of the {rows} rows and of the {columns} columns that come from the cube some are not valid: with `pl.split(pl.SplitMode.UP_DOWN)` all columns must be; \
                 make them so with `pl.set_validshape`"
            ));
        }
    }

    fn refuse_apart(&mut self, pushed: &TileType, first: u64, second: u64, at: Origin) {
        let whole = self.cut.extent(pushed).unwrap_or_default();
        let axis = self.axis_name();
        self.reject(at, format!(
            "of the {whole} {axis} that come from the cube {} are valid, so that one vector unit has {first} of them and the other {second}: they must be as many, differ by one, or be none for the second; \
             the compiler divides valid {axis} evenly only where nothing else in the scope is divided. Make all {axis} valid with `pl.set_validshape`, or load and hand back elsewhere",
            first + second
        ));
    }

    fn reject(&mut self, at: Origin, message: String) {
        self.kernel.rejections.push(Rejection { at, code: Code::Rejected, message, related: Vec::new() });
    }

    fn axis_name(&self) -> &'static str {
        match self.cut.mode {
            SplitMode::UpDown => "rows",
            SplitMode::LeftRight => "columns",
        }
    }

    fn mode_name(&self) -> &'static str {
        match self.cut.mode {
            SplitMode::UpDown => "UP_DOWN",
            SplitMode::LeftRight => "LEFT_RIGHT",
        }
    }
}

fn not_modelled(at: Origin, what: &str) -> Note {
    Note { at, reason: Reason(format!("{what} in a scope with `pl.split`")) }
}

fn change(call: &mut Call, arg: usize, axis: usize, to: impl FnOnce(&Scalar) -> Scalar) {
    if let Some(Operand::List(extents)) = call.args.get_mut(arg)
        && let Some(extent) = extents.get_mut(axis)
    {
        *extent = to(extent);
    }
}

//! LowerAutoVectorSplit: with `pl.split` the two vector units of a cluster share the vector work of a kernel for both cores, each
//! with half of every tile (`docs/reference/tensor-level.md`, "Halves"). What goes to the cube is put together there. This
//! comes before the kernel becomes two.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Note, Origin, Reason};

use super::cores::{Core, call_core, destination};
use super::cut::{Cut, Shares, int, reduces_along};
use super::lane::vector_unit;
use crate::ir::{
    Attr, AttrName, Call, For, If, Kernel, KernelKind, Operand, Rejection, Role, Scalar, SplitMode, Stmt, TileType,
    TileView, Type, Value, Var, VarId, While, Why, rewrite, visit,
};
use crate::ops::{Category, OpId};
use crate::target::Space;

/// Gives each unit its half. Scratch that an operation needs stays whole, as the compiler leaves it. Of what is not modelled no tile is
/// larger than the compiler's, so that none is said to exceed its memory that does not.
pub(super) fn divide(kernel: &mut Kernel, mode: SplitMode, popped: &FxHashSet<VarId>) -> Undivided {
    let (unit, query) = vector_unit(kernel);
    let body = std::mem::take(&mut kernel.body);
    let cut = Cut::of(kernel, &body, mode, unit, popped);
    let mut division = Division { kernel, popped, cut, halves: FxHashMap::default(), undivided: Undivided::default() };
    division.leave_handed_on(&body);
    let body = rewrite::expand_leaves(body, &mut |stmt, out| division.stmt(stmt, out));
    let undivided = division.undivided;
    kernel.body = vec![query];
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
            visit::definitions(stmt, &mut |var| first = first.or_else(|| self.results.get(&var)));
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
        visit::statements(body, &mut |stmt| match stmt {
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
        let core = visit::call_of(&stmt).map_or(Core::Shared, |call| call_core(self.kernel, call, self.popped));
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

    /// One statement of the vector units.
    fn halve(&mut self, stmt: &mut Stmt) {
        let result = if let Stmt::Let { var, .. } = stmt { Some(*var) } else { None };
        let Some(call) = visit::call_of_mut(stmt) else { return };
        let is_sure = self.is_sure(call);
        if is_sure {
            self.refuse_partial_reduction(call);
        }
        let what = self.undivided(call);
        match result {
            Some(var) => self.undivided.results.extend(what.map(|what| (var, what))),
            None => self.undivided.effect = self.undivided.effect.take().or(what),
        }
        if call.op == OpId::STORE {
            return self.place_stored(call);
        }
        let cut = self.cut;
        let is_of_half =
            call.args.first().and_then(Operand::var).is_some_and(|source| self.halves.contains_key(&source));
        let Some(var) = result else { return };
        let Type::Tile(tile) = &mut self.kernel.var_mut(var).ty else { return };
        let Some(whole) = cut.extent(tile).filter(|_| cut.divides(tile)) else { return };
        cut.halve(tile);
        self.halves.insert(var, is_sure);
        self.refuse_generator(call);
        write_shares(call, cut, whole, is_of_half);
    }

    fn place_stored(&mut self, call: &mut Call) {
        let tile = call.args.first().and_then(Operand::var).filter(|tile| self.halves.contains_key(tile));
        if let Some(half) = tile.and_then(|tile| self.cut.extent(self.kernel.tile(tile)?)) {
            change(call, 1, self.cut.axis(), |offset| self.cut.first(offset, half));
        }
    }

    /// Whether it is known along which axis the operands are divided, and the result.
    fn is_sure(&self, call: &Call) -> bool {
        call.op != OpId::RESHAPE
            && call.args.iter().filter_map(Operand::var).all(|var| self.halves.get(&var) != Some(&false))
    }

    fn undivided(&self, call: &Call) -> Option<Note> {
        let op = call.op.op();
        let is_divisible = match call.op {
            OpId::LOAD | OpId::STORE => matches!(call.args.get(1), Some(Operand::List(offsets)) if offsets.len() == 2),
            OpId::SLICE => self.slices_what_it_has(call),
            OpId::RESHAPE | OpId::REINTERPRET_VIEW => false,
            OpId::TPOP_FROM_AIC => true,
            _ => !matches!(op.category, Category::CrossCore | Category::Distributed),
        };
        (!is_divisible).then(|| not_modelled(call.origin, &format!("`{}`", op.name)))
    }

    /// Of a half, a window that is known to be in it.
    fn slices_what_it_has(&self, call: &Call) -> bool {
        let axis = self.cut.axis();
        let [Operand::Var(source), Operand::List(extents), Operand::List(offsets), ..] = call.args.as_slice() else {
            return false;
        };
        let (Some(source_tile), [_, _], [_, _]) = (self.kernel.tile(*source), extents.as_slice(), offsets.as_slice())
        else {
            return false;
        };
        let extent = extents[axis].as_int().map(|extent| extent.saturating_add(1) / 2);
        let end = offsets[axis].as_int().zip(extent).map(|(offset, extent)| offset.saturating_add(extent));
        !self.halves.contains_key(source)
            || end.zip(self.cut.extent(source_tile)).is_some_and(|(end, has)| end <= has as i64)
    }

    /// From the cube: each unit takes its part out of the queue.
    fn shard(&mut self, var: VarId, call: Call, origin: Origin) -> Stmt {
        let pushed = call.args.first().and_then(Operand::var).and_then(|pushed| self.kernel.tile(pushed)).cloned();
        let Some(pushed) = pushed else { return Stmt::Let { var, value: Value::Call(call), origin } };
        self.refuse_narrowed(&pushed, call.origin);
        let code = match self.cut.shares(&pushed) {
            Shares::Even => self.cut.mode.code(),
            Shares::Odd => self.cut.mode.code() + 2,
            Shares::Apart(first, second) => {
                self.refuse_apart([first, second], call.origin);
                self.cut.mode.code()
            }
        };
        let mut attrs = vec![(AttrName::Split, Attr::Int(code))];
        attrs.extend(self.cut.stride().map(|stride| (AttrName::LaneStride, Attr::Int(stride as i64))));
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
        // Where the first half is full, or the second empty, the valid parts of both are next to each other.
        let view = TileView { valid_shape: placed.view.valid_shape.clone(), ..TileView::default() };
        let mut ty = TileType { space: Some(Space::Mat), view, binding: None, ..placed.clone() };
        ty.canonicalize();
        self.refuse_unhalved(half, &ty, call.origin);
        let name = format!("{}_mat", self.kernel.var(var).name);
        let at = call.origin;
        let whole = self.kernel.add_var(Var {
            name,
            ty: Type::Tile(ty),
            role: Role::Def,
            inserted: Some(Why::Intermediate),
            origin: at,
        });
        let attrs = vec![(AttrName::Split, Attr::Int(self.cut.mode.code()))];
        let gather = Call { op: OpId::AIC_GATHER, args: vec![Operand::Var(half)], attrs, origin: at };
        out.push(Stmt::Let { var: whole, value: Value::Call(gather), origin });
        let place = Call { args: vec![Operand::Var(whole)], ..call };
        out.push(Stmt::Let { var, value: Value::Call(place), origin });
    }

    /// What a reduction along the divided axis would give each vector unit is half of a result.
    fn refuse_partial_reduction(&mut self, call: &Call) {
        if reduces_along(call.op, self.cut.mode) {
            let (op, mode, divided) = (call.op.op().name, self.cut.mode.name(), self.axis_name());
            let message = format!(
                "`{op}` reduces on the split axis: `pl.split(pl.SplitMode.{mode})` gives each vector unit half of the {divided}, so each would have only a partial result; divide the other axis"
            );
            self.reject(call.origin, message);
        }
    }

    /// What is generated depends on the position in the tile, so that its second half is not made like its first.
    fn refuse_generator(&mut self, call: &Call) {
        if matches!(call.op, OpId::CI | OpId::RANDOM) {
            let message = format!(
                "automatic split-axis halving of `{}` is not supported because its generated values depend on position; move it out of the scope with `pl.split`",
                call.op.op().name
            );
            self.reject(call.origin, message);
        }
    }

    /// The cube puts `whole` together of halves, and needs both of them.
    fn refuse_unhalved(&mut self, half: VarId, whole: &TileType, at: Origin) {
        let name = &self.kernel.var(half).name;
        let (mode, axis) = (self.cut.mode.name(), self.axis_name());
        let extent = self.cut.extent(whole).unwrap_or_default();
        let message = match self.halves.get(&half) {
            Some(false) => {
                let what = format!("`{name}`, which goes from the vector units to the cube,");
                return self.kernel.notes.push(not_modelled(at, &what));
            }
            Some(true) if extent.is_multiple_of(2) => return,
            Some(true) => format!(
                "`{name}` goes to the cube with {extent} {axis}, but the halves of both vector units make {}: the compiler cannot join an odd number; pad it by one",
                extent + 1
            ),
            None => format!(
                "`{name}` goes to the cube, which joins the halves of both vector units, but with `pl.split(pl.SplitMode.{mode})` they have no halves of it: tiles that a loop carries, a branch chooses or `=` copies stay whole, and so does an extent of one; pass the result of an operation instead"
            ),
        };
        self.reject(at, message);
    }

    /// Rows of what comes from the cube may be valid in part; columns only where their number is known and all rows are valid.
    fn refuse_narrowed(&mut self, pushed: &TileType, at: Origin) {
        let valid = pushed.valid_shape();
        let ([valid_rows, valid_columns], [rows, columns]) = (valid.as_slice(), pushed.shape.as_slice()) else {
            return;
        };
        if *valid_columns == int(*columns) {
            return;
        }
        if valid.iter().any(|extent| extent.as_int().is_none()) {
            let what = "a tile from the cube whose valid part is known at run time only,";
            return self.kernel.notes.push(not_modelled(at, what));
        }
        let message = match self.cut.mode {
            SplitMode::LeftRight => format!(
                "some of the {columns} columns from the cube are not valid, and with `pl.split(pl.SplitMode.LEFT_RIGHT)` the vector units would get different numbers of them; divide the rows with UP_DOWN, or make all columns valid with `pl.set_validshape`"
            ),
            SplitMode::UpDown if *valid_rows == int(*rows) => return,
            SplitMode::UpDown => format!(
                "some of the {rows} rows and some of the {columns} columns from the cube are not valid, but with `pl.split(pl.SplitMode.UP_DOWN)` one of the two must be complete; make all columns valid with `pl.set_validshape`"
            ),
        };
        self.reject(at, message);
    }

    fn refuse_apart(&mut self, [first, second]: [u64; 2], at: Origin) {
        let axis = self.axis_name();
        let valid = first + second;
        let message = format!(
            "{valid} of the {axis} from the cube are valid, so one vector unit gets {first} and the other {second}: the first must get as many as the second or one more, or the second none. The compiler cuts {valid} {axis} in the middle only if nothing else in the scope is divided; make all {axis} valid with `pl.set_validshape`, or move loads and tiles that go back to the cube out of the scope"
        );
        self.reject(at, message);
    }

    fn reject(&mut self, at: Origin, message: String) {
        self.kernel.rejections.push(Rejection::new(at, Code::Rejected, message));
    }

    fn axis_name(&self) -> &'static str {
        match self.cut.mode {
            SplitMode::UpDown => "rows",
            SplitMode::LeftRight => "columns",
        }
    }
}

/// Shapes that are written out follow the tile; what is taken of something whole is the unit's own part.
fn write_shares(call: &mut Call, cut: Cut, whole: u64, is_of_half: bool) {
    let (axis, half) = (cut.axis(), whole.div_ceil(2));
    match call.op {
        OpId::LOAD => {
            change(call, 1, axis, |offset| cut.first(offset, half));
            change(call, 2, axis, |_| int(half));
            change(call, 3, axis, |valid| cut.part(valid.clone(), whole));
        }
        OpId::SLICE => {
            change(call, 1, axis, |_| int(half));
            if !is_of_half {
                change(call, 2, axis, |offset| cut.first(offset, half));
            }
            change(call, 3, axis, |valid| cut.part(valid.clone(), whole));
        }
        OpId::FULL => change(call, 0, axis, |_| int(half)),
        OpId::SET_VALIDSHAPE => {
            // What fits into a half is meant for each unit.
            if let Some(Operand::Scalar(valid)) = call.args.get_mut(1 + axis)
                && valid.as_int().is_some_and(|valid| valid > cut.step(half) as i64)
            {
                *valid = cut.part(valid.clone(), whole);
            }
        }
        _ => {}
    }
}

fn not_modelled(at: Origin, what: &str) -> Note {
    Note { at, reason: Reason::new(format!("{what} in a scope with `pl.split`")) }
}

fn change(call: &mut Call, arg: usize, axis: usize, to: impl FnOnce(&Scalar) -> Scalar) {
    if let Some(Operand::List(extents)) = call.args.get_mut(arg)
        && let Some(extent) = extents.get_mut(axis)
    {
        *extent = to(extent);
    }
}

//! InferTileMemorySpace: the memory space of every tile, and the moves that bring operands to where an operation needs them
//! (`docs/reference/memory.md`, "Spaces and moves").
//!
//! Runs on kernels that are not yet split into cores; those that the author writes for one core say their spaces.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;

use super::layout;
use crate::ir::{
    Attr, AttrName, BLayout, Call, Carry, For, If, Kernel, KernelKind, Layout, Operand, Rejection, Role, SLayout, Stmt,
    TileType, Type, Value, Var, VarId, Why, visit,
};
use crate::ops::{LayoutNeed, OpId, OutputSpace};
use crate::target::Space;

/// Gives every tile the space and layout that its own operation says, as the compiler does when it reads the source.
pub(super) fn declare(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    declare_body(kernel, &body);
    kernel.body = body;
}

fn declare_body(kernel: &mut Kernel, body: &[Stmt]) {
    for stmt in body {
        if let Stmt::Let { var, value, .. } = stmt {
            declare_value(kernel, *var, value);
        }
        stmt.carries().iter().for_each(|carry| declare_carry(kernel, carry));
        stmt.blocks().for_each(|block| declare_body(kernel, block));
        if let Stmt::If(inner) = stmt {
            for (slot, result) in inner.results.iter().enumerate() {
                inner.choices(slot).into_iter().for_each(|from| declare_as(kernel, *result, from));
            }
        }
    }
}

fn declare_value(kernel: &mut Kernel, var: VarId, value: &Value) {
    match value {
        Value::Copy(source) => declare_as(kernel, var, Some(*source)),
        Value::Call(call) => {
            if let Some(space) = declared_space(kernel, call) {
                set_missing_space(kernel, var, space);
            }
            // In a kernel for one core nothing asks where a tile is wanted: what is not said is Vec, whatever an annotation says.
            if kernel.kind != KernelKind::InCore
                && call.op == OpId::LOAD
                && let Type::Tile(tile) = &mut kernel.var_mut(var).ty
            {
                tile.space = Some(call.target_memory().unwrap_or(Space::Vec));
            }
            if kernel.tile(var).is_some_and(|tile| !layout::is_written(tile)) {
                layout::refresh(kernel, var, call);
            }
        }
        Value::Scalar(_) | Value::Element { .. } => {}
    }
}

fn declare_carry(kernel: &mut Kernel, carry: &Carry) {
    let init = carry.init.var();
    declare_as(kernel, carry.iter, init);
    declare_as(kernel, carry.result, init);
}

fn declare_as(kernel: &mut Kernel, var: VarId, source: Option<VarId>) {
    if let Some(space) = source.and_then(|source| kernel.tile(source)).and_then(|tile| tile.space) {
        set_missing_space(kernel, var, space);
    }
}

fn set_missing_space(kernel: &mut Kernel, var: VarId, space: Space) {
    if let Type::Tile(tile) = &mut kernel.var_mut(var).ty {
        tile.space.get_or_insert(space);
    }
}

fn declared_space(kernel: &Kernel, call: &Call) -> Option<Space> {
    match call.op.op().output {
        OutputSpace::Fixed(space) => Some(space),
        OutputSpace::TargetMemory => Some(call.target_memory().unwrap_or(Space::Vec)),
        OutputSpace::TargetMemoryOrDemand => call.target_memory(),
        OutputSpace::InheritFirstTile => {
            call.args.iter().filter_map(|arg| kernel.tile(arg.var()?)).find_map(|tile| tile.space)
        }
        OutputSpace::None => None,
    }
}

/// The pass.
pub(super) fn infer(kernel: &mut Kernel) {
    if kernel.kind != KernelKind::InCore {
        return;
    }
    let body = std::mem::take(&mut kernel.body);
    let demands = Demands::of(kernel, &body);
    let mut spaces = Spaces { kernel, demands: &demands, of: FxHashMap::default() };
    spaces.body(&body);
    let of = spaces.of;
    if of.is_empty() {
        kernel.body = body;
        return;
    }
    let needed = needed_moves(kernel, &body, &of);
    retype(kernel, &of);
    let mut moves = Moves { kernel, needed, of, made: FxHashMap::default(), refused: Vec::new() };
    let body = moves.body(body);
    let refused = moves.refused;
    kernel.body = body;
    // Of a kernel that is modelled in part, the compiler may have dropped the statement.
    if kernel.notes.is_empty() {
        kernel.rejections.extend(refused);
    }
}

/// What the users of each variable ask for.
struct Demands(FxHashMap<VarId, Space>);

impl Demands {
    fn of(kernel: &Kernel, body: &[Stmt]) -> Demands {
        let mut demands = Demands(FxHashMap::default());
        let mut inherited = Vec::new();
        visit::statements(body, &mut |stmt| {
            let Some(call) = visit::call_of(stmt) else { return };
            let op = call.op.op();
            for (index, arg) in call.args.iter().enumerate() {
                if let (Some(space), Some(var)) = (op.input(index).first(), plain_var(kernel, arg)) {
                    demands.record(var, *space);
                }
            }
            if let (true, Stmt::Let { var, .. }) = (op.inherits_space(), stmt) {
                let is_shaped = |var: &VarId| matches!(kernel.var(*var).ty, Type::Tile(_) | Type::Tensor(_));
                let source = call.args.iter().filter_map(|arg| plain_var(kernel, arg)).find(is_shaped);
                inherited.extend(source.map(|source| (*var, source)));
            }
        });
        // Uses come after definitions, so that one sweep from the end reaches every producer.
        for (var, source) in inherited.into_iter().rev() {
            if let Some(space) = demands.0.get(&var).copied() {
                demands.record(source, space);
            }
        }
        demands
    }

    /// Vec is what everything else overrides; between others the first one stays.
    fn record(&mut self, var: VarId, space: Space) {
        let known = self.0.entry(var).or_insert(space);
        if *known == Space::Vec {
            *known = space;
        }
    }
}

/// An operand that is a variable, and not one that a loop carries: the compiler looks past those here.
fn plain_var(kernel: &Kernel, operand: &Operand) -> Option<VarId> {
    operand.var().filter(|var| kernel.var(*var).role != Role::IterArg)
}

/// The space of each tile, found by walking forward.
struct Spaces<'a> {
    kernel: &'a Kernel,
    demands: &'a Demands,
    of: FxHashMap<VarId, Space>,
}

impl Spaces<'_> {
    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Let { var, value, .. } => self.definition(*var, value),
                Stmt::For(inner) => self.for_loop(inner),
                Stmt::While(inner) => self.body(&inner.body),
                Stmt::If(inner) => self.if_else(inner),
                _ => {}
            }
        }
    }

    fn definition(&mut self, var: VarId, value: &Value) {
        let Some(tile) = self.kernel.tile(var) else { return };
        let space = match value {
            Value::Call(call) => Some(self.result(var, tile, call)),
            Value::Copy(source) => self.of.get(source).copied(),
            Value::Scalar(_) | Value::Element { .. } => None,
        };
        if let Some(space) = space {
            self.of.insert(var, space);
        }
    }

    fn result(&self, var: VarId, tile: &TileType, call: &Call) -> Space {
        let op = call.op.op();
        if !op.is_on_tiles() {
            return Space::Vec;
        }
        match op.output {
            OutputSpace::Fixed(space) => space,
            OutputSpace::TargetMemory => call.target_memory().unwrap_or(Space::Vec),
            OutputSpace::InheritFirstTile => self.inherited(call),
            OutputSpace::TargetMemoryOrDemand => match (call.target_memory(), self.demands.0.get(&var)) {
                (Some(space), _) => space,
                // Memory outside of the chip reaches these two only; others take a move from there.
                (None, Some(space @ (Space::Vec | Space::Mat))) => *space,
                (None, _) => self.inherited(call),
            },
            OutputSpace::None => tile.space.filter(|space| *space != Space::Ddr).unwrap_or(Space::Vec),
        }
    }

    fn inherited(&self, call: &Call) -> Space {
        let known = call.args.iter().filter_map(|arg| self.of.get(&arg.var()?)).next();
        known.copied().unwrap_or(Space::Vec)
    }

    fn for_loop(&mut self, inner: &For) {
        for carry in &inner.carries {
            let Some(init) = carry.init.var() else { continue };
            if self.kernel.tile(carry.iter).is_none() {
                continue;
            }
            if let Some(space) = self.known(init) {
                self.of.insert(carry.iter, space);
            }
        }
        self.body(&inner.body);
        for (carry, value) in inner.carries.iter().zip(visit::yielded(&inner.body)) {
            if self.kernel.tile(carry.result).is_none() {
                continue;
            }
            let Some(space) = plain_var(self.kernel, value).and_then(|value| self.known(value)) else { continue };
            self.of.insert(carry.result, space);
            self.of.insert(carry.iter, space);
            // A seed that was created in Vec follows the accumulator that the body makes of it.
            if let Some(init) = plain_var(self.kernel, &carry.init).filter(|init| self.kernel.tile(*init).is_some()) {
                self.of.insert(init, space);
            }
        }
    }

    fn if_else(&mut self, inner: &If) {
        self.body(&inner.then);
        self.body(&inner.otherwise);
        for (slot, result) in inner.results.iter().enumerate() {
            let Some(tile) = self.kernel.tile(*result) else { continue };
            let space = match inner.choices(slot).map(|choice| self.known(choice?)) {
                [Some(then), Some(otherwise)] if then != otherwise => continue,
                [then, otherwise] => then.or(otherwise).or(tile.space),
            };
            if let Some(space) = space {
                self.of.insert(*result, space);
            }
        }
    }

    fn known(&self, var: VarId) -> Option<Space> {
        self.of.get(&var).copied().or_else(|| self.kernel.tile(var)?.space)
    }
}

/// Tiles that some operation cannot take from where they are, and where it wants them.
fn needed_moves(kernel: &Kernel, body: &[Stmt], of: &FxHashMap<VarId, Space>) -> FxHashSet<(VarId, Space)> {
    let mut needed = FxHashSet::default();
    visit::statements(body, &mut |stmt| {
        let Some(call) = visit::call_of(stmt) else { return };
        for (index, arg) in call.args.iter().enumerate() {
            let allowed = call.op.op().input(index);
            let (Some(first), Some(var)) = (allowed.first(), plain_var(kernel, arg)) else { continue };
            if of.get(&var).is_some_and(|space| !allowed.contains(space)) {
                needed.insert((var, *first));
            }
        }
    });
    needed
}

/// A tile that changes its space takes the layout of the new one; what describes its data stays.
fn retype(kernel: &mut Kernel, of: &FxHashMap<VarId, Space>) {
    for (var, space) in of {
        let Type::Tile(tile) = &mut kernel.var_mut(*var).ty else { continue };
        if tile.space == Some(*space) {
            continue;
        }
        tile.space = Some(*space);
        let layout = Layout::implicit(&tile.shape, tile.space);
        layout::set(tile, layout);
    }
}

struct Moves<'a> {
    kernel: &'a mut Kernel,
    needed: FxHashSet<(VarId, Space)>,
    of: FxHashMap<VarId, Space>,
    /// Moves that are visible at this point: those of this statement list and the ones around it.
    made: FxHashMap<(VarId, Space), VarId>,
    refused: Vec<Rejection>,
}

impl Moves<'_> {
    /// The body of a loop or branch. One of a single statement is no list to the compiler, so that it puts no moves there.
    fn nested(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        match <[Stmt; 1]>::try_from(body) {
            Ok([only]) => {
                self.refuse_unmoved(&only);
                vec![self.stmt(only)]
            }
            Err(body) => self.body(body),
        }
    }

    fn refuse_unmoved(&mut self, stmt: &Stmt) {
        let Some(call) = visit::call_of(stmt) else { return };
        for (index, arg) in call.args.iter().enumerate() {
            let (Some(space), Some(var)) = (call.op.op().input(index).first(), plain_var(self.kernel, arg)) else {
                continue;
            };
            let key = (var, *space);
            if !self.needed.contains(&key) || self.made.contains_key(&key) {
                continue;
            }
            let Some(is) = self.of.get(&var) else { continue };
            let name = &self.kernel.var(var).name;
            let message = format!(
                "`{}` requires `{name}` in {space}, but it is in {is}, and the compiler adds no move for a statement that is alone in its loop or branch; write `pl.move({name}, target_memory=pl.Mem.{space})` before it",
                call.op.op().name
            );
            self.refuse(call, message);
        }
    }

    fn refuse_boxed_view(&mut self, call: &Call) {
        let Some(source) = call.args.first().and_then(Operand::var).filter(|_| call.op == OpId::REINTERPRET_VIEW)
        else {
            return;
        };
        let boxed = self.kernel.tile(source).filter(|tile| tile.layout().slayout != SLayout::NoneBox);
        let Some(space) = boxed.and_then(|tile| tile.space) else { return };
        let name = &self.kernel.var(source).name;
        let message = format!(
            "`tile.reinterpret_view` requires a tile without boxes (slayout=none_box), but `{name}` is in {space}, where rows are stored in boxes; view the tensor that it is loaded from or stored to instead"
        );
        self.refuse(call, message);
    }

    fn refuse(&mut self, call: &Call, message: String) {
        if !self.kernel.rejections.iter().chain(&self.refused).any(|said| said.at == call.origin) {
            self.refused.push(Rejection::new(call.origin, Code::InvalidOperand, message));
        }
    }

    fn body(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut made_here = Vec::new();
        let mut out = Vec::with_capacity(body.len());
        for stmt in body {
            self.insert_before(&stmt, &mut made_here, &mut out);
            out.push(self.stmt(stmt));
        }
        for key in made_here {
            self.made.remove(&key);
        }
        out
    }

    fn stmt(&mut self, stmt: Stmt) -> Stmt {
        let mut stmt = stmt.map_blocks(|block| self.nested(block));
        if let Some(call) = visit::call_of_mut(&mut stmt) {
            let op = call.op.op();
            for (index, arg) in call.args.iter_mut().enumerate() {
                let (Some(space), Some(var)) = (op.input(index).first(), arg.var()) else { continue };
                if let Some(moved) = self.made.get(&(var, *space)) {
                    *arg = Operand::Var(*moved);
                }
            }
        }
        if let Stmt::Let { var, value: Value::Call(call), .. } = &mut stmt {
            self.retarget(*var, call);
            self.refuse_boxed_view(call);
            if call.args.iter().any(|arg| arg.var().is_some_and(|var| self.kernel.tile(var).is_some())) {
                layout::refresh(self.kernel, *var, call);
            }
        }
        stmt
    }

    /// Keeps the attribute of creates and loads in step with the space that was chosen for them.
    fn retarget(&self, var: VarId, call: &mut Call) {
        if call.op.op().output != OutputSpace::TargetMemoryOrDemand {
            return;
        }
        let Some(space) = self.of.get(&var) else { return };
        match call.attrs.iter_mut().find(|(name, _)| *name == AttrName::TargetMemory) {
            Some((_, attr)) => *attr = Attr::Space(*space),
            None => call.attrs.push((AttrName::TargetMemory, Attr::Space(*space))),
        }
    }

    fn insert_before(&mut self, stmt: &Stmt, made_here: &mut Vec<(VarId, Space)>, out: &mut Vec<Stmt>) {
        let Some(call) = visit::call_of(stmt) else { return };
        let op = call.op.op();
        for (index, arg) in call.args.iter().enumerate() {
            let (Some(space), Some(var)) = (op.input(index).first(), plain_var(self.kernel, arg)) else { continue };
            let key = (var, *space);
            if !self.needed.contains(&key) || self.made.contains_key(&key) {
                continue;
            }
            let wants_row_major = match op.layout {
                LayoutNeed::AllRowMajor => true,
                LayoutNeed::Arg0AndResultRowMajor => index == 0,
                LayoutNeed::ResultRowMajor | LayoutNeed::Any => false,
            };
            // The path from the accumulator to Vec delivers rows, whatever the order was in Acc.
            let unpacks = self.of.get(&var) == Some(&Space::Acc) && *space == Space::Vec;
            let mut attrs = vec![(AttrName::TargetMemory, Attr::Space(*space))];
            if wants_row_major || unpacks {
                attrs.push((AttrName::BLayout, Attr::BLayout(BLayout::RowMajor)));
            }
            if (wants_row_major && *space == Space::Vec) || unpacks {
                attrs.push((AttrName::SLayout, Attr::SLayout(SLayout::NoneBox)));
            }
            let moved = insert_move(self.kernel, var, *space, attrs, stmt, out);
            self.made.insert(key, moved);
            made_here.push(key);
        }
    }
}

/// Appends `<name>_<Space> = tile.move(<name>, …)` for the statement that needs it.
fn insert_move(
    kernel: &mut Kernel,
    source: VarId,
    space: Space,
    attrs: Vec<(AttrName, Attr)>,
    consumer: &Stmt,
    out: &mut Vec<Stmt>,
) -> VarId {
    let Some(call) = visit::call_of(consumer) else { return source };
    let origin = call.origin;
    let call = Call { op: OpId::MOVE, args: vec![Operand::Var(source)], attrs, origin };
    let var = kernel.var(source);
    let name = format!("{}_{space}", var.name);
    let mut ty = var.ty.clone();
    if let Type::Tile(tile) = &mut ty {
        tile.space = Some(space);
        tile.binding = None;
        let layout = layout::of_result(kernel, &call, tile);
        layout::set(tile, layout);
    }
    let why = match space {
        Space::Left => Why::LeftOperand,
        Space::Right => Why::RightOperand,
        Space::Bias => Why::Bias,
        Space::Mat => Why::MatOperand,
        Space::Vec => Why::CrossesCores,
        _ => Why::Intermediate,
    };
    let moved = kernel.add_var(Var { name, ty, role: Role::Def, inserted: Some(why), origin });
    out.push(Stmt::Let { var: moved, value: Value::Call(call), origin });
    moved
}

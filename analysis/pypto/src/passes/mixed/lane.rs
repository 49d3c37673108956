//! The part of a kernel that one core runs.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::finding::{Note, Origin, Reason};

use super::super::given::Given;
use super::super::layout;
use super::cores::{Core, call_core, core_of_pipes, destination, stmt_core};
use super::repair::{Repaired, Whole, assignments, definitions, repair};
use super::versions;
use crate::ir::rewrite::{self, Substitution};
use crate::ir::{
    Attr, AttrName, BLayout, BodyCopy, Call, For, If, Kernel, KernelKind, Operand, Part, Rejection, Role, SLayout,
    Scalar, ScalarBinary, SplitMode, Stmt, TensorLayout, TensorType, TileType, Type, Value, Var, VarId, While, Why,
    fold, visit,
};
use crate::ops::{OpId, Shape, View};
use crate::target::{Space, Target};
use crate::typing::deduce;
/// The part of a kernel that one core runs.
pub(super) struct Lane<'a> {
    source: &'a Kernel,
    kernel: Kernel,
    core: Core,
    popped: &'a FxHashSet<VarId>,
    /// What takes the place of variables of the other core here.
    stands_for: Substitution,
    /// What is taken from the queue, under all names that it has had.
    arriving: FxHashSet<VarId>,
}

/// Bytes of the largest tile that crosses, in each direction.
#[derive(Debug, Clone, Copy, Default)]
struct Traffic {
    to_vector: Option<u64>,
    to_cube: Option<u64>,
}

impl Traffic {
    /// Without it the cores share no queue.
    fn is_some(self) -> bool {
        self.to_vector.is_some() || self.to_cube.is_some()
    }
}

impl<'a> Lane<'a> {
    pub(super) fn new(source: &'a Kernel, core: Core, popped: &'a FxHashSet<VarId>) -> Lane<'a> {
        let (kind, suffix) = if core == Core::Cube { (KernelKind::Aic, "aic") } else { (KernelKind::Aiv, "aiv") };
        let kernel = Kernel { name: format!("{}_{suffix}", source.name), kind, body: Vec::new(), ..source.clone() };
        let (stands_for, arriving) = Default::default();
        Lane { source, kernel, core, popped, stands_for, arriving }
    }

    /// `None` where it reads what only the other core has.
    pub(super) fn kernel(mut self, target: Target) -> Option<Kernel> {
        let body = self.body(&self.source.body, target);
        let whole = Whole { assigned: &assignments(&self.source.body), arriving: &self.arriving };
        let Repaired { mut body, unclear } = repair(&self.kernel, body, &whole);
        if let Some(var) = unclear {
            let reason = format!("`{}`, which the compiler computes again before a loop", self.kernel.var(var).name);
            self.kernel.notes.push(Note { at: self.kernel.var(var).origin, reason: Reason::new(reason) });
        }
        self.refuse_crossings(&body);
        self.refuse_replaced_carries(&body);
        self.stands_for.apply(&mut body);
        self.tensors_as_given(&mut body);
        let is_whole = self.source.cross_core.split.is_none() && !self.source.cross_core.units_told_apart;
        let is_repeated = is_whole && self.core == Core::Vector && target == Target::Ascend910b;
        if !versions::tell_apart(&mut self.kernel, &self.stands_for, &mut body) {
            return None;
        }
        let traffic = self.traffic();
        let body = if is_repeated { for_both_units(&mut self.kernel, body) } else { body };
        self.kernel.body = self.queue_setup(traffic);
        self.kernel.body.extend(body);
        if target == Target::Ascend910b && traffic.is_some() {
            add_queue_parameter(&mut self.kernel);
        }
        Some(self.kernel)
    }

    fn body(&mut self, body: &[Stmt], target: Target) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(body.len());
        for stmt in body {
            self.stmt(stmt, target, &mut out);
        }
        out
    }

    fn stmt(&mut self, stmt: &Stmt, target: Target, out: &mut Vec<Stmt>) {
        let core = match visit::call_of(stmt).map_or(Core::Shared, core_of_pipes) {
            Core::Shared => stmt_core(self.source, stmt, self.popped),
            core => core,
        };
        match stmt {
            Stmt::Return { .. } if self.core == Core::Cube => {}
            _ if core == Core::Shared || core == self.core => out.push(stmt.clone()),
            _ if core != Core::Both => {}
            Stmt::Let { var, value: Value::Call(call), origin } => self.crossing(*var, call, *origin, target, out),
            Stmt::For(inner) => {
                out.push(Stmt::For(For { body: self.body(&inner.body, target), ..header_of(inner) }));
            }
            Stmt::While(inner) => out.push(Stmt::While(While {
                condition: inner.condition.clone(),
                carries: inner.carries.clone(),
                body: self.body(&inner.body, target),
                origin: inner.origin,
            })),
            Stmt::If(inner) => {
                let then = self.body(&inner.then, target);
                let otherwise = self.body(&inner.otherwise, target);
                let (condition, results) = (inner.condition.clone(), inner.results.clone());
                out.push(Stmt::If(If {
                    condition,
                    then,
                    otherwise,
                    has_else: inner.has_else,
                    results,
                    origin: inner.origin,
                }));
            }
            _ => {}
        }
    }

    fn crossing(&mut self, var: VarId, call: &Call, origin: Origin, target: Target, out: &mut Vec<Stmt>) {
        let Some(source) = call.args.first().and_then(Operand::var) else { return };
        if destination(call) != self.core {
            let op = if self.core == Core::Cube { OpId::TPUSH_TO_AIV } else { OpId::TPUSH_TO_AIC };
            let packs = self.core == Core::Vector && target == Target::Ascend950;
            let source = if packs { packed(&mut self.kernel, source, call.origin, origin, out) } else { source };
            let (args, attrs) = (vec![Operand::Var(source)], self.division(call));
            let push = Call { op, args, attrs, origin: call.origin };
            return out.push(Stmt::Eval { call: push, origin });
        }
        let (op, arrival) = match self.core {
            Core::Cube => (OpId::TPOP_FROM_AIV, Space::Mat),
            _ => (OpId::TPOP_FROM_AIC, Space::Vec),
        };
        let pop = Call { op, args: Vec::new(), attrs: self.division(call), origin: call.origin };
        let Some(tile) = self.kernel.tile(var).cloned() else { return };
        let received = if tile.space == Some(arrival) {
            var
        } else {
            let name = format!("{}_mat", self.kernel.var(var).name);
            let ty = Type::Tile(TileType { space: Some(arrival), binding: None, view: Default::default(), ..tile });
            self.kernel.add_var(Var { name, ty, role: Role::Def, inserted: Some(Why::Received), origin: call.origin })
        };
        let inserted = &mut self.kernel.var_mut(received).inserted;
        *inserted = inserted.and(Some(Why::Received));
        self.arriving.insert(received);
        out.push(Stmt::Let { var: received, value: Value::Call(pop), origin });
        if received != var {
            let mut place = call.clone();
            place.args = vec![Operand::Var(received)];
            out.push(Stmt::Let { var, value: Value::Call(place), origin });
        }
        if !call.op.crosses_cores() {
            self.arriving.insert(source);
            self.stands_for.set(source, Operand::Var(received));
        }
    }

    /// What is put together or divided between the vector units is not computed again before a loop.
    fn refuse_crossings(&mut self, body: &[Stmt]) {
        let mut again = None;
        visit::statements(body, &mut |stmt| {
            let Stmt::Let { var, value: Value::Call(call), .. } = stmt else { return };
            again = again.or(Some((*var, call.origin)).filter(|_| call.op.crosses_cores()));
        });
        let Some((var, at)) = again else { return };
        let message = format!(
            "a loop starts with a value computed from `{}`, which passes between the cores in halves; the compiler stops (ExpandMixedKernel: \"explicit split-reshape op survived\"). Start the loop with another value",
            self.kernel.var(var).name
        );
        self.kernel.rejections.push(Rejection::new(at, Code::Rejected, message));
    }

    /// What a loop carries cannot be replaced by what comes out of the queue as long as the loop carries it here too.
    fn refuse_replaced_carries(&mut self, body: &[Stmt]) {
        if !self.kernel.notes.is_empty() {
            return;
        }
        let mut carried = None;
        visit::statements(body, &mut |stmt| {
            let (Stmt::For(For { carries, .. }) | Stmt::While(While { carries, .. })) = stmt else { return };
            carried = carried.or(carries.iter().map(|carry| carry.iter).find(|iter| self.is_replaced(*iter)));
        });
        let Some(var) = carried.map(|var| self.kernel.var(var)) else { return };
        let (name, at, code) = (&var.name, var.origin, Code::Rejected);
        let message = format!(
            "`{name}` is carried by a loop that moves it to the other core, and both cores run the loop with it; the compiler stops (ExpandMixedKernel: a carry of the loop \"is not an IterArg after mutation\"). Move a copy: write `moved = {name}` first"
        );
        self.kernel.rejections.push(Rejection::new(at, code, message));
    }

    fn is_replaced(&self, var: VarId) -> bool {
        self.stands_for.var_of(var).is_some_and(|by| by != var)
    }

    /// How tiles that cross are divided between the vector units, as the instructions say it.
    fn division(&self, call: &Call) -> Vec<(AttrName, Attr)> {
        if call.op.crosses_cores() {
            return call.attrs.clone();
        }
        let code = self.source.cross_core.split.map_or(0, SplitMode::code);
        vec![(AttrName::Split, Attr::Int(code))]
    }

    /// A tensor that the other core has stored to is the parameter itself here.
    fn tensors_as_given(&self, body: &mut [Stmt]) {
        let given = Given::of(&self.source.params, &self.source.body);
        let defined = definitions(&self.source.params, body);
        let mut as_given = Substitution::default();
        for (var, param) in given.iter().filter(|(var, _)| !defined.contains(var)) {
            as_given.set(var, Operand::Var(param));
        }
        as_given.apply(body);
    }

    fn traffic(&self) -> Traffic {
        let mut traffic = Traffic::default();
        visit::statements(&self.source.body, &mut |stmt| {
            let Stmt::Let { var, value: Value::Call(call), .. } = stmt else { return };
            if call_core(self.source, call, self.popped) != Core::Both {
                return;
            }
            let Some(tile) = self.source.tile(*var) else { return };
            let bytes = |tile: &TileType| {
                let elements = tile.shape.iter().fold(1, |product: u64, extent| product.saturating_mul(*extent));
                elements.saturating_mul(tile.dtype.logical_bits()).div_ceil(8)
            };
            // A tile that the units share is pushed, or popped, whole.
            let source = call.args.first().and_then(Operand::var).and_then(|source| self.source.tile(source));
            let bytes = bytes(tile).max(source.map_or(0, bytes));
            let slot = match Core::of_space(tile.space.unwrap_or(Space::Vec)) {
                Core::Cube => &mut traffic.to_cube,
                _ => &mut traffic.to_vector,
            };
            *slot = Some(slot.unwrap_or(0).max(bytes));
        });
        traffic
    }

    /// Reserves memory for the queue that arrives here; slots are as large as the largest tile of either direction.
    fn queue_setup(&self, traffic: Traffic) -> Vec<Stmt> {
        let slot = traffic.to_vector.max(traffic.to_cube).unwrap_or(0);
        let (arrives, direction) = match self.core {
            Core::Cube => (traffic.to_cube.is_some(), "v2c"),
            _ => (traffic.to_vector.is_some(), "c2v"),
        };
        if !arrives {
            return Vec::new();
        }
        let size = i64::try_from(slot.saturating_mul(self.source.cross_core.slots)).unwrap_or(i64::MAX);
        let name = format!("{}_{direction}_slot_buffer", self.source.name);
        let attrs = vec![(AttrName::Name, Attr::Str(name)), (AttrName::Size, Attr::Int(size))];
        let origin = self.source.origin;
        vec![Stmt::Eval { call: Call { op: OpId::RESERVE_BUFFER, args: Vec::new(), attrs, origin }, origin }]
    }
}

/// Both vector units run the kernel: the first does the work, the second goes through it with empty tiles. They share the queues
/// that it sets up first.
pub(super) fn for_both_units(kernel: &mut Kernel, mut setup: Vec<Stmt>) -> Vec<Stmt> {
    let (unit, query) = vector_unit(kernel);
    let shared = setup.iter().take_while(|stmt| visit::call_of(stmt).is_some_and(sets_up_a_queue)).count();
    let body = setup.split_off(shared);
    let mut substitution = Substitution::with_blocks_apart();
    let broadcast = broadcast_shapes(kernel, &body);
    let replay = rewrite::copy(kernel, &body, &mut substitution);
    note_units(kernel, &substitution);
    retype_broadcasts(kernel, broadcast, &substitution);
    let mut passed_through = Substitution::default();
    let replay = rewrite::expand_leaves(replay, &mut |stmt, out| replay_leaf(kernel, &mut passed_through, stmt, out));
    let condition = fold::binary(ScalarBinary::Eq, Scalar::Var(unit), Scalar::Int(0));
    let mut whole = vec![query];
    whole.append(&mut setup);
    let origin = kernel.origin;
    whole.push(Stmt::If(If { condition, then: body, otherwise: replay, has_else: true, results: Vec::new(), origin }));
    whole
}

/// Notes which variables are of which unit.
fn note_units(kernel: &mut Kernel, copies: &Substitution) {
    let pairs: Vec<(VarId, VarId)> = copies.vars().collect();
    let of_unit = |nth: u32| BodyCopy { of: kernel.origin, part: Part::Unit, nth, count: 2 };
    let [first, second] = [of_unit(0), of_unit(1)];
    // Those of the second inherit what the first's belong to, so they come first.
    kernel.copies.add(second, pairs.clone());
    kernel.copies.add(first, pairs.into_iter().map(|(var, _)| (var, var)).collect());
}

/// Which of the two vector units runs the kernel, and the statement that asks for it.
pub(super) fn vector_unit(kernel: &mut Kernel) -> (VarId, Stmt) {
    let origin = kernel.origin;
    let unit = kernel.add_var(Var {
        name: "subblock_idx".into(),
        ty: Type::Scalar(Dtype::Index),
        role: Role::Def,
        inserted: Some(Why::Intermediate),
        origin,
    });
    let query = Call { op: OpId::GET_SUBBLOCK_IDX, args: Vec::new(), attrs: Vec::new(), origin };
    (unit, Stmt::Let { var: unit, value: Value::Call(query), origin })
}

pub(super) fn moves_between_cores(call: &Call) -> bool {
    let to_cube = [OpId::TPUSH_TO_AIC, OpId::TPOP_FROM_AIV, OpId::TFREE_TO_AIV];
    let to_vector = [OpId::TPUSH_TO_AIV, OpId::TPOP_FROM_AIC, OpId::TFREE_TO_AIC];
    to_cube.contains(&call.op) || to_vector.contains(&call.op)
}

pub(super) fn sets_up_a_queue(call: &Call) -> bool {
    let ops = [OpId::RESERVE_BUFFER, OpId::IMPORT_PEER_BUFFER, OpId::AIC_INITIALIZE_PIPE, OpId::AIV_INITIALIZE_PIPE];
    ops.contains(&call.op)
}

/// On 950 a tile goes to the cube in the order of its boxes: `<name>_nz = tile.move(…)`.
fn packed(kernel: &mut Kernel, source: VarId, at: Origin, origin: Origin, out: &mut Vec<Stmt>) -> VarId {
    let attrs = vec![
        (AttrName::TargetMemory, Attr::Space(Space::Vec)),
        (AttrName::BLayout, Attr::BLayout(BLayout::ColMajor)),
        (AttrName::SLayout, Attr::SLayout(SLayout::RowMajor)),
    ];
    let pack = Call { op: OpId::MOVE, args: vec![Operand::Var(source)], attrs, origin: at };
    let var = kernel.var(source);
    let name = format!("{}_nz", var.name);
    let mut ty = var.ty.clone();
    if let Type::Tile(tile) = &mut ty {
        tile.binding = None;
        let layout = layout::of_result(kernel, &pack, tile);
        layout::set(tile, layout);
    }
    let packed = kernel.add_var(Var { name, ty, role: Role::Def, inserted: Some(Why::Boxed), origin: at });
    out.push(Stmt::Let { var: packed, value: Value::Call(pack), origin });
    packed
}

/// Packs what the author pushes to the cube, where it does not lie so yet.
pub(super) fn pack_pushes(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = rewrite::expand_leaves(body, &mut |mut stmt, out| {
        if let Stmt::Eval { call, origin } = &mut stmt
            && call.op == OpId::TPUSH_TO_AIC
            && let Some(source) = call.args.first().and_then(Operand::var)
            && kernel
                .tile(source)
                .map(TileType::layout)
                .is_some_and(|layout| (layout.blayout, layout.slayout) != (BLayout::ColMajor, SLayout::RowMajor))
        {
            call.args[0] = Operand::Var(packed(kernel, source, call.origin, *origin, out));
        }
        out.push(stmt);
    });
}

/// On 910B the queues go through global memory, which the kernel gets as one more parameter.
pub(super) fn add_queue_parameter(kernel: &mut Kernel) {
    let ty = TensorType {
        shape: Vec::new(),
        dtype: Some(Dtype::Fp32),
        layout: TensorLayout::Nd,
        is_output: false,
        rank_known: false,
    };
    let (origin, name) = (kernel.name_origin, "__gm_pipe_buffer".into());
    let param = kernel.add_var(Var {
        name,
        ty: Type::Tensor(ty),
        role: Role::Param,
        inserted: Some(Why::Intermediate),
        origin,
    });
    kernel.params.push(param);
}

/// One statement of the second unit's empty run.
fn replay_leaf(kernel: &mut Kernel, passed_through: &mut Substitution, mut stmt: Stmt, out: &mut Vec<Stmt>) {
    passed_through.apply(std::slice::from_mut(&mut stmt));
    match stmt {
        Stmt::Let { var, value: Value::Call(call), origin } => {
            if call.op == OpId::STORE {
                let Some(tensor) = call.args.get(2).and_then(Operand::var) else { return };
                passed_through.set(var, Operand::Var(tensor));
                return out.push(Stmt::Let { var, value: Value::Copy(tensor), origin });
            }
            let call = empty(kernel, var, call);
            out.push(Stmt::Let { var, value: Value::Call(call), origin });
        }
        Stmt::Eval { call, .. } if call.op == OpId::STORE => {}
        other => out.push(other),
    }
}

/// The call with a result that holds no data; what reads memory becomes a plain tile.
fn empty(kernel: &mut Kernel, var: VarId, call: Call) -> Call {
    let padded = layout::tile_arg(kernel, &call, 0).filter(|_| call.op.op().view == View::Padded);
    let padded = padded.and_then(|tile| tile.binding.clone());
    let Type::Tile(tile) = &mut kernel.var_mut(var).ty else { return call };
    tile.view.valid_shape = Some(vec![Scalar::Int(0); tile.shape.len()]);
    if !matches!(call.op, OpId::LOAD | OpId::SLICE | OpId::TRANSPOSE) {
        // The result's type is deduced anew, which loses the slot of a declared allocation where it does not come with the operand.
        tile.binding = padded;
        return call;
    }
    if call.op == OpId::LOAD {
        tile.space = Some(call.target_memory().unwrap_or(Space::Vec));
    }
    let shape = tile.shape.iter().map(|extent| Scalar::Int(i64::try_from(*extent).unwrap_or(i64::MAX))).collect();
    let mut attrs = vec![(AttrName::Dtype, Attr::Dtype(tile.dtype))];
    attrs.extend(tile.space.map(|space| (AttrName::TargetMemory, Attr::Space(space))));
    Call { op: OpId::CREATE, args: vec![Operand::List(shape)], attrs, origin: call.origin }
}

/// What calls make of their operands as the first unit has them. A variable that was a column keeps its type when the column beside it
/// becomes a row for the instruction (`resolve_backend_op_layouts_pass.cpp`), but the call then gives rows of columns: a tile that is both.
fn broadcast_shapes(kernel: &Kernel, body: &[Stmt]) -> Vec<(VarId, Vec<u64>)> {
    let mut shapes = Vec::new();
    visit::statements(body, &mut |stmt| {
        let Stmt::Let { var, value: Value::Call(call), .. } = stmt else { return };
        let Shape::Broadcast(_) = call.op.op().shape else { return };
        if let Ok(Type::Tile(tile)) = deduce(call, &kernel.vars, &FxHashMap::default()) {
            shapes.push((*var, tile.shape));
        }
    });
    shapes
}

/// The second unit's variables have the types of the calls (`split_vector_kernel_pass.cpp`, `BuildNoSplitLane1ReplayStmts`); calls that read
/// them keep theirs.
fn retype_broadcasts(kernel: &mut Kernel, shapes: Vec<(VarId, Vec<u64>)>, copies: &Substitution) {
    for (var, shape) in shapes {
        if let Some(copy) = copies.var_of(var)
            && let Type::Tile(tile) = &mut kernel.var_mut(copy).ty
        {
            tile.shape = shape;
        }
    }
}

fn header_of(inner: &For) -> For {
    For {
        kind: inner.kind,
        index: inner.index,
        start: inner.start.clone(),
        stop: inner.stop.clone(),
        step: inner.step.clone(),
        carries: inner.carries.clone(),
        body: Vec::new(),
        origin: inner.origin,
    }
}

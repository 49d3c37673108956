//! ExpandMixedKernel: a kernel that uses both cores becomes a cube kernel and a vector kernel. Moves between the memories of
//! the two become a push into a queue on one side and a pop on the other; the consumer reserves memory for the queue.
//!
//! Also SplitVectorKernel where nothing is divided: on 910B both vector units run the vector kernel, and the second one
//! repeats it with empty tiles, so that the queues stay in step.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{spaces, walk};
use crate::ir::{
    Attr, Call, Dtype, If, Kernel, KernelKind, LoopKind, Note, Operand, Origin, Reason, Role, Scalar, ScalarBinary,
    Stmt, TensorLayout, TensorType, TileType, Type, Value, Var, VarId,
};
use crate::ops::{OpId, OutputSpace};
use crate::target::{Space, Target};

/// Tiles that fit into a queue.
const SLOTS: u64 = 2;

pub(super) fn run(mut kernel: Kernel, target: Target) -> Vec<Kernel> {
    if target == Target::Ascend910b && sets_up_a_queue(&kernel) {
        add_queue_parameter(&mut kernel);
    }
    if kernel.kind != KernelKind::InCore {
        return vec![kernel];
    }
    let popped = popped(&kernel);
    match body_core(&kernel, &kernel.body, &popped) {
        Core::Cube => kernel.kind = KernelKind::Aic,
        Core::Vector | Core::Shared => kernel.kind = KernelKind::Aiv,
        Core::Both => return split(kernel, target, &popped),
    }
    vec![kernel]
}

/// Whether the author wrote one side of a pair of kernels.
fn sets_up_a_queue(kernel: &Kernel) -> bool {
    let mut found = false;
    walk::visit(&kernel.body, &mut |stmt| {
        if let Stmt::Let { value: Value::Call(call), .. } | Stmt::Eval { call, .. } = stmt {
            found |= matches!(call.op, OpId::AIC_INITIALIZE_PIPE | OpId::AIV_INITIALIZE_PIPE);
        }
    });
    found
}

/// The core that runs a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Core {
    /// Either: what it makes is made on both.
    Shared,
    Cube,
    Vector,
    Both,
}

impl Core {
    fn of_space(space: Space) -> Core {
        match space {
            Space::Vec | Space::Ddr => Core::Vector,
            _ => Core::Cube,
        }
    }

    fn and(self, other: Core) -> Core {
        match (self, other) {
            (Core::Shared, core) | (core, Core::Shared) => core,
            (a, b) if a == b => a,
            _ => Core::Both,
        }
    }
}

/// Tiles that the author takes from a queue: moving them does not cross again.
fn popped(kernel: &Kernel) -> FxHashSet<VarId> {
    let mut popped = FxHashSet::default();
    walk::visit(&kernel.body, &mut |stmt| {
        if let Stmt::Let { var, value: Value::Call(call), .. } = stmt
            && matches!(call.op, OpId::TPOP_FROM_AIC | OpId::TPOP_FROM_AIV)
        {
            popped.insert(*var);
        }
    });
    popped
}

fn body_core(kernel: &Kernel, body: &[Stmt], popped: &FxHashSet<VarId>) -> Core {
    body.iter().fold(Core::Shared, |core, stmt| core.and(stmt_core(kernel, stmt, popped)))
}

fn stmt_core(kernel: &Kernel, stmt: &Stmt, popped: &FxHashSet<VarId>) -> Core {
    match stmt {
        Stmt::For(inner) => body_core(kernel, &inner.body, popped),
        Stmt::While(inner) => body_core(kernel, &inner.body, popped),
        Stmt::If(inner) => body_core(kernel, &inner.then, popped).and(body_core(kernel, &inner.otherwise, popped)),
        leaf => walk::call_of(leaf).map_or(Core::Shared, |call| call_core(kernel, call, popped)),
    }
}

fn call_core(kernel: &Kernel, call: &Call, popped: &FxHashSet<VarId>) -> Core {
    let source = || call.args.iter().find_map(|arg| kernel.tile(arg.var()?)).and_then(|tile| tile.space);
    match call.op {
        OpId::CREATE | OpId::GET_BLOCK_IDX | OpId::GET_BLOCK_NUM => Core::Shared,
        OpId::TPUSH_TO_AIV | OpId::TPOP_FROM_AIV | OpId::TFREE_TO_AIV | OpId::AIC_INITIALIZE_PIPE => Core::Cube,
        OpId::TPUSH_TO_AIC | OpId::TPOP_FROM_AIC | OpId::TFREE_TO_AIC | OpId::AIV_INITIALIZE_PIPE => Core::Vector,
        OpId::GET_SUBBLOCK_IDX => Core::Vector,
        OpId::MOVE => {
            let to = Core::of_space(spaces::target_memory(call).unwrap_or(Space::Vec));
            let crossed = call.args.first().and_then(Operand::var).is_some_and(|var| popped.contains(&var));
            match source().map(Core::of_space) {
                Some(from) if from != to && !crossed => Core::Both,
                _ => to,
            }
        }
        _ => {
            let output = match call.op.op().output {
                OutputSpace::Fixed(space) => Some(space),
                OutputSpace::TargetMemory => Some(spaces::target_memory(call).unwrap_or(Space::Vec)),
                OutputSpace::TargetMemoryOrDemand => spaces::target_memory(call),
                OutputSpace::InheritFirstTile | OutputSpace::None => None,
            };
            output.or_else(source).map_or(Core::Shared, Core::of_space)
        }
    }
}

fn split(mut kernel: Kernel, target: Target, popped: &FxHashSet<VarId>) -> Vec<Kernel> {
    if let Some(at) = first_mixed_body(&kernel, popped) {
        note(&mut kernel, at, "a loop or branch that uses both the cube and the vector core");
        return vec![kernel];
    }
    if let Some(at) = divided_region(&kernel) {
        note(&mut kernel, at, "`pl.split_aiv` in a kernel that uses both cores");
    }
    if let Some(at) = crosses_through_memory(&kernel, popped) {
        note(&mut kernel, at, "a tensor that one core stores and the other loads");
    }
    let cube = Lane::new(&kernel, Core::Cube, popped).kernel(target);
    let mut vector = Lane::new(&kernel, Core::Vector, popped).kernel(target);
    vector.rejections.clear();
    vec![cube, vector]
}

fn note(kernel: &mut Kernel, at: Origin, what: &str) {
    kernel.notes.push(Note { at, reason: Reason(what.into()) });
}

fn first_mixed_body(kernel: &Kernel, popped: &FxHashSet<VarId>) -> Option<Origin> {
    kernel.body.iter().find_map(|stmt| {
        let origin = match stmt {
            Stmt::For(inner) => inner.origin,
            Stmt::While(inner) => inner.origin,
            Stmt::If(inner) => inner.origin,
            _ => return None,
        };
        (stmt_core(kernel, stmt, popped) == Core::Both).then_some(origin)
    })
}

/// A region whose work is divided between the two vector units.
fn divided_region(kernel: &Kernel) -> Option<Origin> {
    let mut found = None;
    walk::visit(&kernel.body, &mut |stmt| match stmt {
        Stmt::For(inner) if inner.kind == LoopKind::SplitAiv && found.is_none() => found = Some(inner.origin),
        _ => {}
    });
    found
}

/// A load on one core from a tensor that the other has stored to: the compiler synchronises the two through a queue.
fn crosses_through_memory(kernel: &Kernel, popped: &FxHashSet<VarId>) -> Option<Origin> {
    let mut stored: FxHashMap<VarId, Core> = FxHashMap::default();
    let mut found = None;
    walk::visit(&kernel.body, &mut |stmt| {
        let Some(call) = walk::call_of(stmt) else { return };
        let core = call_core(kernel, call, popped);
        match (call.op, call.args.as_slice(), stmt) {
            (OpId::STORE, [_, _, tensor, ..], Stmt::Let { var, .. }) => {
                stored.insert(*var, core);
                if let Some(tensor) = tensor.var() {
                    stored.insert(tensor, core);
                }
            }
            (OpId::LOAD, [tensor, ..], _) => {
                let other = tensor.var().and_then(|tensor| stored.get(&tensor)).is_some_and(|stored| *stored != core);
                if other && found.is_none() {
                    found = Some(call.origin);
                }
            }
            _ => {}
        }
    });
    found
}

/// The part of a kernel that one core runs.
struct Lane<'a> {
    source: &'a Kernel,
    kernel: Kernel,
    core: Core,
    popped: &'a FxHashSet<VarId>,
    /// What takes the place of variables of the other core here.
    stands_for: walk::Substitution,
}

/// Bytes of the largest tile that crosses, in each direction.
#[derive(Debug, Clone, Copy, Default)]
struct Traffic {
    to_vector: Option<u64>,
    to_cube: Option<u64>,
}

impl<'a> Lane<'a> {
    fn new(source: &'a Kernel, core: Core, popped: &'a FxHashSet<VarId>) -> Lane<'a> {
        let (kind, suffix) = if core == Core::Cube { (KernelKind::Aic, "aic") } else { (KernelKind::Aiv, "aiv") };
        let kernel = Kernel { name: format!("{}_{suffix}", source.name), kind, body: Vec::new(), ..source.clone() };
        Lane { source, kernel, core, popped, stands_for: walk::Substitution::default() }
    }

    fn kernel(mut self, target: Target) -> Kernel {
        let mut body = Vec::with_capacity(self.source.body.len());
        for stmt in &self.source.body {
            self.stmt(stmt, &mut body);
        }
        self.stands_for.apply(&mut body);
        let body = drop_dead(body);
        let traffic = self.traffic();
        let needs_replay = self.core == Core::Vector && target == Target::Ascend910b;
        let body = if needs_replay { self.for_both_units(body) } else { body };
        self.kernel.body = self.queue_setup(traffic);
        self.kernel.body.extend(body);
        if target == Target::Ascend910b {
            add_queue_parameter(&mut self.kernel);
        }
        self.kernel
    }

    fn stmt(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        match stmt {
            Stmt::Return { .. } if self.core == Core::Cube => {}
            Stmt::Return { values, origin } => {
                let values = values.iter().map(|value| self.returned(value)).collect();
                out.push(Stmt::Return { values, origin: *origin });
            }
            Stmt::Let { var, value: Value::Call(call), origin } => {
                let core = call_core(self.source, call, self.popped);
                if core == Core::Both {
                    self.crossing(*var, call, *origin, out);
                } else if core == Core::Shared || core == self.core {
                    out.push(stmt.clone());
                }
            }
            other => {
                let core = stmt_core(self.source, other, self.popped);
                if core == Core::Shared || core == self.core {
                    out.push(other.clone());
                }
            }
        }
    }

    /// What a kernel returns is the tensor that it was given, where the other core has stored to it.
    fn returned(&self, value: &Operand) -> Operand {
        let Some(mut var) = value.var() else { return value.clone() };
        let mut stores: FxHashMap<VarId, (VarId, Core)> = FxHashMap::default();
        walk::visit(&self.source.body, &mut |stmt| {
            if let Stmt::Let { var, value: Value::Call(call), .. } = stmt
                && let (OpId::STORE, Some(tensor)) = (call.op, call.args.get(2).and_then(Operand::var))
            {
                stores.insert(*var, (tensor, call_core(self.source, call, self.popped)));
            }
        });
        while let Some((tensor, core)) = stores.remove(&var) {
            if core == self.core {
                break;
            }
            var = tensor;
        }
        Operand::Var(var)
    }

    fn crossing(&mut self, var: VarId, call: &Call, origin: Origin, out: &mut Vec<Stmt>) {
        let Some(source) = call.args.first().and_then(Operand::var) else { return };
        let to = Core::of_space(spaces::target_memory(call).unwrap_or(Space::Vec));
        if to != self.core {
            let op = if self.core == Core::Cube { OpId::TPUSH_TO_AIV } else { OpId::TPUSH_TO_AIC };
            let push = Call {
                op,
                args: vec![Operand::Var(source)],
                attrs: vec![("split", Attr::Int(0))],
                origin: call.origin,
            };
            return out.push(Stmt::Eval { call: push, origin });
        }
        let (op, arrival) = match self.core {
            Core::Cube => (OpId::TPOP_FROM_AIV, Space::Mat),
            _ => (OpId::TPOP_FROM_AIC, Space::Vec),
        };
        let pop = Call { op, args: Vec::new(), attrs: vec![("split", Attr::Int(0))], origin: call.origin };
        let Some(tile) = self.kernel.tile(var).cloned() else { return };
        let received = if tile.space == Some(arrival) {
            var
        } else {
            let name = format!("{}_mat", self.kernel.var(var).name);
            let ty = Type::Tile(TileType { space: Some(arrival), binding: None, view: Default::default(), ..tile });
            self.kernel.add_var(Var { name, ty, role: Role::Def, inserted: true, origin: call.origin })
        };
        out.push(Stmt::Let { var: received, value: Value::Call(pop), origin });
        if received != var {
            let mut place = call.clone();
            place.args = vec![Operand::Var(received)];
            out.push(Stmt::Let { var, value: Value::Call(place), origin });
        }
        self.stands_for.set(source, Operand::Var(received));
    }

    fn traffic(&self) -> Traffic {
        let mut traffic = Traffic::default();
        walk::visit(&self.source.body, &mut |stmt| {
            let Stmt::Let { var, value: Value::Call(call), .. } = stmt else { return };
            if call_core(self.source, call, self.popped) != Core::Both {
                return;
            }
            let Some(tile) = self.source.tile(*var) else { return };
            let elements = tile.shape.iter().fold(1, |product: u64, extent| product.saturating_mul(*extent));
            let bytes = elements.saturating_mul(tile.dtype.logical_bits()).div_ceil(8);
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
        let size = i64::try_from(slot.saturating_mul(SLOTS)).unwrap_or(i64::MAX);
        let name = format!("{}_{direction}_slot_buffer", self.source.name);
        let attrs = vec![("name", Attr::Str(name)), ("size", Attr::Int(size))];
        let origin = self.source.origin;
        vec![Stmt::Eval { call: Call { op: OpId::RESERVE_BUFFER, args: Vec::new(), attrs, origin }, origin }]
    }

    /// Both vector units run the kernel: the first does the work, the second goes through it with empty tiles.
    fn for_both_units(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let origin = self.source.origin;
        let ty = Type::Scalar(Dtype::Index);
        let unit =
            self.kernel.add_var(Var { name: "subblock_idx".into(), ty, role: Role::Def, inserted: true, origin });
        let query = Call { op: OpId::GET_SUBBLOCK_IDX, args: Vec::new(), attrs: Vec::new(), origin };
        let mut substitution = walk::Substitution::default();
        let replay = walk::copy(&mut self.kernel, &body, &mut substitution);
        let mut passed_through = walk::Substitution::default();
        let replay =
            walk::expand_leaves(replay, &mut |stmt, out| replay_leaf(&mut self.kernel, &mut passed_through, stmt, out));
        let condition = walk::fold_binary(ScalarBinary::Eq, Scalar::Var(unit), Scalar::Int(0));
        vec![
            Stmt::Let { var: unit, value: Value::Call(query), origin },
            Stmt::If(If { condition, then: body, otherwise: replay, has_else: true, results: Vec::new(), origin }),
        ]
    }
}

/// On 910B the queues go through global memory, which the kernel gets as one more parameter.
fn add_queue_parameter(kernel: &mut Kernel) {
    let ty = TensorType {
        shape: Vec::new(),
        dtype: Some(Dtype::Fp32),
        layout: TensorLayout::Nd,
        is_output: false,
        rank_known: false,
    };
    let (origin, name) = (kernel.name_origin, "__gm_pipe_buffer".into());
    let param = kernel.add_var(Var { name, ty: Type::Tensor(ty), role: Role::Param, inserted: true, origin });
    kernel.params.push(param);
}

/// One statement of the second unit's empty run.
fn replay_leaf(kernel: &mut Kernel, passed_through: &mut walk::Substitution, mut stmt: Stmt, out: &mut Vec<Stmt>) {
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
    let Type::Tile(tile) = &mut kernel.var_mut(var).ty else { return call };
    tile.view.valid_shape = Some(vec![Scalar::Int(0); tile.shape.len()]);
    if !matches!(call.op, OpId::LOAD | OpId::SLICE | OpId::TRANSPOSE) {
        return call;
    }
    let shape = tile.shape.iter().map(|extent| Scalar::Int(i64::try_from(*extent).unwrap_or(i64::MAX))).collect();
    let mut attrs = vec![("dtype", Attr::Dtype(tile.dtype))];
    attrs.extend(tile.space.map(|space| (spaces::TARGET_MEMORY, Attr::Space(space))));
    Call { op: OpId::CREATE, args: vec![Operand::List(shape)], attrs, origin: call.origin }
}

/// Removes definitions that nothing with an effect needs.
fn drop_dead(body: Vec<Stmt>) -> Vec<Stmt> {
    let mut live: FxHashSet<VarId> = FxHashSet::default();
    let mut needs: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
    walk::visit(&body, &mut |stmt| match stmt {
        Stmt::Let { var, .. } if !has_effect(stmt) => {
            let uses = needs.entry(*var).or_default();
            walk::visit_uses(stmt, &mut |used| uses.push(used));
        }
        Stmt::For(_) | Stmt::While(_) | Stmt::If(_) => walk::visit_header_uses(stmt, &mut |used| {
            live.insert(used);
        }),
        _ => walk::visit_uses(stmt, &mut |used| {
            live.insert(used);
        }),
    });
    let mut open: Vec<VarId> = live.iter().copied().collect();
    while let Some(var) = open.pop() {
        for used in needs.remove(&var).unwrap_or_default() {
            if live.insert(used) {
                open.push(used);
            }
        }
    }
    walk::expand_leaves(body, &mut |stmt, out| match &stmt {
        Stmt::Let { var, .. } if !has_effect(&stmt) && !live.contains(var) => {}
        _ => out.push(stmt),
    })
}

fn has_effect(stmt: &Stmt) -> bool {
    let effect = |call: &Call| {
        matches!(
            call.op,
            OpId::STORE | OpId::ASSEMBLE | OpId::TPOP_FROM_AIC | OpId::TPOP_FROM_AIV | OpId::RESERVE_BUFFER
        )
    };
    walk::call_of(stmt).is_some_and(effect)
}

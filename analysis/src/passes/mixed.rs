//! ExpandMixedKernel: a kernel that uses both cores becomes a cube kernel and a vector kernel. Moves between the memories of
//! the two become a push into a queue on one side and a pop on the other; the consumer reserves memory for the queue.
//!
//! Also SplitVectorKernel where nothing is divided: on 910B both vector units run the vector kernel, and the second one
//! repeats it with empty tiles, so that the queues stay in step.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{layout, spaces, split, walk};
use crate::ir::{
    Attr, Call, Dtype, For, If, Kernel, KernelKind, LoopKind, Note, Operand, Origin, Reason, Role, Scalar,
    ScalarBinary, SplitMode, Stmt, TensorLayout, TensorType, TileType, Type, Value, Var, VarId, While,
};
use crate::ops::{OpId, OutputSpace, PipeRule, Shape};
use crate::target::{Space, Target};

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
        OpId::AIV_SHARD | OpId::AIC_GATHER => Core::Both,
        OpId::SYNC_SET | OpId::SYNC_WAIT | OpId::SYNCALL => match call.attr("core_type") {
            Some(Attr::Str(core)) if core.starts_with("aic") => Core::Cube,
            Some(Attr::Str(core)) if core.starts_with("aiv") => Core::Vector,
            _ => Core::Shared,
        },
        OpId::MOVE => {
            let to = destination(call);
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

/// The core that has the pipes of a written flag or barrier. It says nothing of the kernel: on its own it makes none mixed.
fn core_of_pipes(call: &Call) -> Core {
    let pipe = |name| match call.attr(name) {
        Some(Attr::Str(pipe)) => pipe.as_str(),
        _ => "",
    };
    let core = |pipe| match pipe {
        "V" | "MTE3" => Core::Vector,
        "M" | "MTE1" | "FIX" => Core::Cube,
        _ => Core::Shared,
    };
    match call.op {
        OpId::SYNC_SRC | OpId::SYNC_DST => core(pipe("set_pipe")).and(core(pipe("wait_pipe"))),
        OpId::BAR_V => Core::Vector,
        OpId::BAR_M => Core::Cube,
        _ => Core::Shared,
    }
}

/// Hands a tile to the other core under the author's own words.
fn crosses(call: &Call) -> bool {
    matches!(call.op, OpId::AIV_SHARD | OpId::AIC_GATHER)
}

/// The core that a call takes a tile to.
fn destination(call: &Call) -> Core {
    match call.op {
        OpId::AIV_SHARD => Core::Vector,
        OpId::AIC_GATHER => Core::Cube,
        _ => Core::of_space(spaces::target_memory(call).unwrap_or(Space::Vec)),
    }
}

fn split(mut kernel: Kernel, target: Target, popped: &FxHashSet<VarId>) -> Vec<Kernel> {
    if let Some((at, what)) = not_modelled(&kernel, popped) {
        note(&mut kernel, at, what);
    }
    let to_cube = |traffic: Traffic| traffic.to_cube.is_some() && kernel.cross_core.split.is_some();
    if to_cube(Lane::new(&kernel, Core::Vector, popped).traffic()) {
        let at = kernel.origin;
        note(&mut kernel, at, "halves of a tile that go from the vector units to the cube");
    }
    if let Some(at) = crosses_through_memory(&kernel, popped) {
        note(&mut kernel, at, "a tensor that one core stores and the other loads");
    }
    let cube = Lane::new(&kernel, Core::Cube, popped).kernel(target);
    let mut vector = Lane::new(&kernel, Core::Vector, popped).kernel(target);
    if reads_undefined(&cube) || reads_undefined(&vector) {
        let at = kernel.name_origin;
        note(&mut kernel, at, "a value that one core makes and the other reads without a move");
        return vec![kernel];
    }
    vector.rejections.clear();
    vec![cube, vector]
}

fn note(kernel: &mut Kernel, at: Origin, what: &str) {
    kernel.notes.push(Note { at, reason: Reason(what.into()) });
}

/// What the compiler does with a kernel for both cores and this pass does not.
fn not_modelled(kernel: &Kernel, popped: &FxHashSet<VarId>) -> Option<(Origin, &'static str)> {
    let mut found = None;
    walk::visit(&kernel.body, &mut |stmt| {
        let what = match stmt {
            Stmt::For(inner) if matches!(inner.kind, LoopKind::Pipeline { .. }) => {
                let mixed = stmt_core(kernel, stmt, popped) == Core::Both;
                mixed.then_some((inner.origin, "a pipeline that uses both the cube and the vector core"))
            }
            leaf => {
                let call = walk::call_of(leaf).filter(|call| call.op.op().pipe == PipeRule::Fifo);
                let divides = |call: &&Call| {
                    matches!(call.op.op().shape, Shape::SplitHalved | Shape::SplitDoubled) && !crosses(call)
                };
                call.filter(divides).map(|call| (call.origin, "tiles that are divided between the two vector units"))
            }
        };
        if found.is_none() {
            found = what;
        }
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
        let mut body = self.body(&self.source.body, target);
        self.stands_for.apply(&mut body);
        let mut body = repair(&self.kernel.params, body);
        self.tensors_as_given(&mut body);
        let traffic = self.traffic();
        let body = match (self.core, self.source.cross_core.split) {
            _ if self.source.cross_core.units_told_apart => body,
            (Core::Vector, Some(mode)) => split::divide(&mut self.kernel, body, mode),
            (Core::Vector, None) if target == Target::Ascend910b => self.for_both_units(body),
            _ => body,
        };
        self.kernel.body = self.queue_setup(traffic);
        self.kernel.body.extend(body);
        if target == Target::Ascend910b {
            add_queue_parameter(&mut self.kernel);
        }
        self.kernel
    }

    fn body(&mut self, body: &[Stmt], target: Target) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(body.len());
        for stmt in body {
            self.stmt(stmt, target, &mut out);
        }
        out
    }

    fn stmt(&mut self, stmt: &Stmt, target: Target, out: &mut Vec<Stmt>) {
        let core = match walk::call_of(stmt).map_or(Core::Shared, core_of_pipes) {
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
            let source = if packs { self.packed(source, call, origin, out) } else { source };
            let push = Call {
                op,
                args: vec![Operand::Var(source)],
                attrs: vec![("split", self.division(call))],
                origin: call.origin,
            };
            return out.push(Stmt::Eval { call: push, origin });
        }
        let (op, arrival) = match self.core {
            Core::Cube => (OpId::TPOP_FROM_AIV, Space::Mat),
            _ => (OpId::TPOP_FROM_AIC, Space::Vec),
        };
        let pop = Call { op, args: Vec::new(), attrs: vec![("split", self.division(call))], origin: call.origin };
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

    /// How tiles that cross are divided between the vector units, as the instructions say it.
    fn division(&self, call: &Call) -> Attr {
        if let Some(authored) = call.attr("split") {
            return authored.clone();
        }
        Attr::Int(match self.source.cross_core.split {
            None => 0,
            Some(SplitMode::UpDown) => 1,
            Some(SplitMode::LeftRight) => 2,
        })
    }

    /// On 950 a tile goes to the cube in the order of its boxes: `<name>_nz = tile.move(…)`.
    fn packed(&mut self, source: VarId, call: &Call, origin: Origin, out: &mut Vec<Stmt>) -> VarId {
        let attrs = vec![
            (spaces::TARGET_MEMORY, Attr::Space(Space::Vec)),
            ("blayout", Attr::Str("col_major".into())),
            ("slayout", Attr::Str("row_major".into())),
        ];
        let pack = Call { op: OpId::MOVE, args: vec![Operand::Var(source)], attrs, origin: call.origin };
        let var = self.kernel.var(source);
        let name = format!("{}_nz", var.name);
        let mut ty = var.ty.clone();
        if let Type::Tile(tile) = &mut ty {
            tile.binding = None;
            let layout = layout::of_result(&self.kernel, &pack, tile);
            layout::set(tile, layout);
        }
        let packed = self.kernel.add_var(Var { name, ty, role: Role::Def, inserted: true, origin: call.origin });
        out.push(Stmt::Let { var: packed, value: Value::Call(pack), origin });
        packed
    }

    /// A tensor that the other core has stored to is the parameter itself here.
    fn tensors_as_given(&self, body: &mut [Stmt]) {
        let mut given: FxHashMap<VarId, VarId> = self.source.params.iter().map(|param| (*param, *param)).collect();
        trace_tensors(&self.source.body, &mut given);
        let defined = definitions(&self.source.params, body);
        let mut as_given = walk::Substitution::default();
        for (var, param) in given.into_iter().filter(|(var, _)| !defined.contains(var)) {
            as_given.set(var, Operand::Var(param));
        }
        as_given.apply(body);
    }

    fn traffic(&self) -> Traffic {
        let mut traffic = Traffic::default();
        walk::visit(&self.source.body, &mut |stmt| {
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

/// Follows tensor parameters through stores, loops and branches.
fn trace_tensors(body: &[Stmt], given: &mut FxHashMap<VarId, VarId>) {
    let from =
        |given: &FxHashMap<VarId, VarId>, value: Option<VarId>| value.and_then(|value| given.get(&value).copied());
    for stmt in body {
        match stmt {
            Stmt::Let { var, value, .. } => {
                let source = match value {
                    Value::Call(call) if call.op == OpId::STORE => call.args.get(2).and_then(Operand::var),
                    Value::Copy(source) => Some(*source),
                    _ => None,
                };
                given.extend(from(given, source).map(|param| (*var, param)));
            }
            Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) => {
                for carry in carries {
                    if let Some(param) = from(given, carry.init.var()) {
                        given.extend([(carry.iter, param), (carry.result, param)]);
                    }
                }
                trace_tensors(body, given);
            }
            Stmt::If(inner) => {
                trace_tensors(&inner.then, given);
                trace_tensors(&inner.otherwise, given);
                for (slot, result) in inner.results.iter().enumerate() {
                    let yielded = walk::yielded(&inner.then).get(slot).and_then(Operand::var);
                    given.extend(from(given, yielded).map(|param| (*result, param)));
                }
            }
            _ => {}
        }
    }
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

fn definitions(params: &[VarId], body: &[Stmt]) -> FxHashSet<VarId> {
    let mut defined: FxHashSet<VarId> = params.iter().copied().collect();
    body.iter().for_each(|stmt| {
        walk::visit_definitions(stmt, &mut |var| {
            defined.insert(var);
        })
    });
    defined
}

fn reads_undefined(kernel: &Kernel) -> bool {
    let mut defined: FxHashSet<VarId> = kernel.params.iter().copied().collect();
    body_reads_undefined(&kernel.body, &mut defined)
}

/// Leaves in `defined` what was there before.
fn body_reads_undefined(body: &[Stmt], defined: &mut FxHashSet<VarId>) -> bool {
    let mut here: Vec<VarId> = Vec::new();
    let mut undefined = false;
    for stmt in body {
        let mut check = |used: VarId| undefined |= !defined.contains(&used);
        match stmt {
            // The condition reads what the loop carries, too.
            Stmt::While(inner) => inner.carries.iter().filter_map(|carry| carry.init.var()).for_each(check),
            Stmt::For(_) | Stmt::If(_) => walk::visit_header_uses(stmt, &mut check),
            leaf => walk::visit_uses(leaf, &mut check),
        }
        let made: Vec<VarId> = match stmt {
            Stmt::For(For { index, carries, body, .. }) => {
                let inside: Vec<VarId> = carries.iter().map(|carry| carry.iter).chain([*index]).collect();
                undefined |= inner_reads_undefined(body, &inside, defined);
                carries.iter().map(|carry| carry.result).collect()
            }
            Stmt::While(While { carries, body, .. }) => {
                let inside: Vec<VarId> = carries.iter().map(|carry| carry.iter).collect();
                undefined |= inner_reads_undefined(body, &inside, defined);
                carries.iter().map(|carry| carry.result).collect()
            }
            Stmt::If(inner) => {
                undefined |= body_reads_undefined(&inner.then, defined);
                undefined |= body_reads_undefined(&inner.otherwise, defined);
                inner.results.clone()
            }
            Stmt::Let { var, .. } => vec![*var],
            _ => Vec::new(),
        };
        defined.extend(&made);
        here.extend(made);
    }
    here.iter().for_each(|var| {
        defined.remove(var);
    });
    undefined
}

fn inner_reads_undefined(body: &[Stmt], inside: &[VarId], defined: &mut FxHashSet<VarId>) -> bool {
    defined.extend(inside);
    let undefined = body_reads_undefined(body, defined);
    inside.iter().for_each(|var| {
        defined.remove(var);
    });
    undefined
}

/// Takes out of loops and branches what only the other core carries.
fn repair(params: &[VarId], body: Vec<Stmt>) -> Vec<Stmt> {
    let mut body = body;
    drop_unread_carries(&mut body);
    let defined = definitions(params, &body);
    keep_carried(&mut body, &defined);
    let defined = definitions(params, &body);
    drop_undefined_results(&mut body, &defined);
    let mut body = drop_dead(body);
    drop_unread_carries(&mut body);
    drop_dead(body)
}

/// Carries that neither the body nor what follows the loop reads.
fn drop_unread_carries(body: &mut [Stmt]) {
    let mut read_later: FxHashSet<VarId> = FxHashSet::default();
    for stmt in body.iter_mut().rev() {
        let mut read_here = Vec::new();
        walk::visit_uses(stmt, &mut |var| read_here.push(var));
        match stmt {
            Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) => {
                drop_unread_carries(body);
                let mut read_inside = FxHashSet::default();
                body.iter().filter(|stmt| !matches!(stmt, Stmt::Yield { .. })).for_each(|stmt| {
                    walk::visit_uses(stmt, &mut |var| {
                        read_inside.insert(var);
                    })
                });
                let keep: Vec<bool> = carries
                    .iter()
                    .map(|carry| read_inside.contains(&carry.iter) || read_later.contains(&carry.result))
                    .collect();
                keep_slots(body, &keep);
                let mut kept = keep.iter();
                carries.retain(|_| kept.next().copied().unwrap_or(true));
            }
            Stmt::If(inner) => {
                drop_unread_carries(&mut inner.then);
                drop_unread_carries(&mut inner.otherwise);
            }
            _ => {}
        }
        read_later.extend(read_here);
    }
}

/// Drops values from the yield at the end of a body; one without values goes.
fn keep_slots(body: &mut Vec<Stmt>, keep: &[bool]) {
    let Some(Stmt::Yield { values, .. }) = body.last_mut() else { return };
    let mut kept = keep.iter();
    values.retain(|_| kept.next().copied().unwrap_or(true));
    if values.is_empty() {
        body.pop();
    }
}

/// A carry whose next value the other core makes keeps the one that it has.
fn keep_carried(body: &mut [Stmt], defined: &FxHashSet<VarId>) {
    for stmt in body {
        match stmt {
            Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) => {
                keep_carried(body, defined);
                if let Some(Stmt::Yield { values, .. }) = body.last_mut() {
                    for (value, carry) in values.iter_mut().zip(carries) {
                        if value.var().is_some_and(|var| !defined.contains(&var)) {
                            *value = Operand::Var(carry.iter);
                        }
                    }
                }
            }
            Stmt::If(inner) => {
                keep_carried(&mut inner.then, defined);
                keep_carried(&mut inner.otherwise, defined);
            }
            _ => {}
        }
    }
}

/// Results of branches that the other core makes.
fn drop_undefined_results(body: &mut [Stmt], defined: &FxHashSet<VarId>) {
    for stmt in body {
        match stmt {
            Stmt::For(For { body, .. }) | Stmt::While(While { body, .. }) => drop_undefined_results(body, defined),
            Stmt::If(inner) => {
                drop_undefined_results(&mut inner.then, defined);
                drop_undefined_results(&mut inner.otherwise, defined);
                let is_defined = |branch: &[Stmt], slot: usize| {
                    walk::yielded(branch)
                        .get(slot)
                        .is_none_or(|value| value.var().is_none_or(|var| defined.contains(&var)))
                };
                let keep: Vec<bool> = (0..inner.results.len())
                    .map(|slot| is_defined(&inner.then, slot) && is_defined(&inner.otherwise, slot))
                    .collect();
                keep_slots(&mut inner.then, &keep);
                keep_slots(&mut inner.otherwise, &keep);
                let mut kept = keep.iter();
                inner.results.retain(|_| kept.next().copied().unwrap_or(true));
            }
            _ => {}
        }
    }
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

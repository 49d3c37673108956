//! Instruction selection: from IR and plan to instructions on tiles at addresses.
//!
//! Parameters and statements here; one file a kind of statement or a family of operations.

mod branches;
mod calls;
mod devices;
mod elements;
mod indexed;
mod loops;
mod pointers;
mod queues;
mod scales;
mod tiles;
mod transfers;
mod views;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Finding;
use tilefit_python::finding::Origin;
use tilefit_python::work;

use crate::ir::{self, Call, Kernel, Scalar, Stmt, Type, Value, VarId};
use crate::memory::{BufferId, Plan};
use crate::ops::OpId;
use crate::target::{Space, Target};
use crate::typing::known;

use super::context::{self, Context};
use super::expr;
use super::sequence::{Arg, ArgKind, Elements, Missing, Program, Step, TileId};
use queues::Popped;
use transfers::AccessSite;

/// The instructions of a kernel, and what has none.
pub(super) fn select(kernel: &Kernel, plan: &Plan) -> (Program, Vec<Finding>) {
    let mut selector = Selector::new(kernel, plan);
    selector.parameters();
    selector.queues();
    selector.offsets_are_natural(&kernel.body);
    let (body, _) = selector.block(&kernel.body);
    selector.finish(body)
}

/// Why there is no instruction. The finding is reported where the refusal is caught.
struct Refusal {
    code: Code,
    message: String,
}

impl From<String> for Refusal {
    fn from(message: String) -> Refusal {
        Refusal { code: Code::NoInstruction, message }
    }
}

type Selected<T> = Result<T, Refusal>;

/// What a tensor variable refers to.
#[derive(Clone, PartialEq, Eq)]
struct TensorRef {
    /// Indices in [`Program::args`]; several after a branch that chooses.
    args: Vec<usize>,
    /// The C++ pointer.
    pointer: String,
}

struct Selector<'a> {
    kernel: &'a Kernel,
    target: Target,
    /// Where the plan puts each tile.
    places: FxHashMap<VarId, Placed>,
    context: Context,
    program: Program,
    tiles: FxHashMap<VarId, TileId>,
    /// Views of columns as one row.
    rows: FxHashMap<TileId, TileId>,
    /// Parts of tiles whose type has the distances of the whole: their own rows and columns.
    windows: FxHashMap<TileId, [u64; 2]>,
    /// Handles that point to different buffers at different times.
    moving: FxHashSet<TileId>,
    tensors: FxHashMap<VarId, TensorRef>,
    /// Of the tensors that are another one from one iteration to the next: what they can be.
    changing: FxHashMap<VarId, Vec<usize>>,
    /// Tiles out of a queue between the cores.
    popped: FxHashMap<VarId, Popped>,
    /// The author does not say when their slots are free again.
    frees_slots: bool,
    loop_variables: FxHashSet<VarId>,
    /// Scalars that are always the same number.
    constants: FxHashMap<VarId, i64>,
    /// Scalars that are always a multiple of a number.
    multiples: FxHashMap<VarId, u64>,
    /// Tensors whose windows on other devices are used, and the names of what says where those lie.
    contexts: Vec<(usize, String)>,
    steps: Vec<Step>,
    next_id: u32,
    /// Number of the outermost loop that is being selected, and how many there were.
    outermost: Option<u32>,
    loops: u32,
    depth: u32,
    accesses: Vec<AccessSite>,
    /// First free byte of the Vec space, for scratch that is not in the plan.
    vec_end: u64,
    vec_capacity: Option<u64>,
    findings: Vec<Finding>,
}

/// The memory of a planned tile.
#[derive(Clone, Copy, Default)]
struct Placed {
    /// Bytes from the start of the space, and how many.
    address: Option<u64>,
    bytes: u64,
    buffer: Option<BufferId>,
    /// It is a part of these bytes that is selected at run time.
    selected: bool,
}

impl<'a> Selector<'a> {
    fn new(kernel: &'a Kernel, plan: &Plan) -> Selector<'a> {
        let mut places = FxHashMap::default();
        let mut vec_end = 0;
        for tile in &plan.tiles {
            let buffer =
                tile.buffer.filter(|_| tile.dynamic_offset).and_then(|buffer| plan.buffers.get(buffer.0 as usize));
            let bytes = buffer.map_or(tile.bytes, |buffer| buffer.size);
            let (address, buffer, selected) = (tile.address, tile.buffer, tile.dynamic_offset);
            places.entry(tile.var).or_insert(Placed { address, bytes, buffer, selected });
            if tile.space == Some(Space::Vec) {
                vec_end = vec_end.max(tile.address.unwrap_or(0).saturating_add(tile.bytes));
            }
        }
        for buffer in plan.buffers.iter().filter(|buffer| buffer.space == Space::Vec) {
            vec_end = vec_end.max(buffer.address.unwrap_or(0).saturating_add(buffer.size));
        }
        let findings = scales::place(kernel, plan, &mut places);
        Selector {
            kernel,
            target: plan.target,
            places,
            context: Context::default(),
            program: Program { function: context::function_name(&kernel.name), ..Program::default() },
            tiles: FxHashMap::default(),
            rows: FxHashMap::default(),
            windows: FxHashMap::default(),
            moving: FxHashSet::default(),
            tensors: FxHashMap::default(),
            changing: pointers::changing(kernel),
            popped: FxHashMap::default(),
            frees_slots: false,
            loop_variables: FxHashSet::default(),
            constants: FxHashMap::default(),
            multiples: FxHashMap::default(),
            contexts: Vec::new(),
            steps: Vec::new(),
            next_id: 0,
            outermost: None,
            loops: 0,
            depth: 0,
            accesses: Vec::new(),
            vec_end,
            vec_capacity: plan.spaces.iter().find(|used| used.space == Space::Vec).and_then(|used| used.capacity),
            findings,
        }
    }

    fn finish(mut self, body: Vec<Step>) -> (Program, Vec<Finding>) {
        self.program.body = body;
        self.declare_contexts();
        for (column, row) in &self.rows {
            if self.moving.contains(column) {
                let (name, origin) = (self.program.tile(*column).name.clone(), self.program.tile(*row).origin);
                let message = format!("`{name}` changes its buffer while the loop runs, and is used here as one row");
                self.findings.push(Finding::new(Code::NoInstruction, origin, message));
            }
        }
        self.findings.sort_by_key(|finding| finding.at);
        let assigned = transfers::assigned(&self.accesses);
        transfers::assign(&mut self.program.body, &assigned);
        number(&mut self.program.body, &mut 0);
        (self.program, self.findings)
    }

    fn report(&mut self, origin: Origin, refusal: Refusal) {
        self.findings.push(Finding::new(refusal.code, origin, refusal.message));
    }

    /// Names for what the kernel is given: its parameters, and after them the extents that are known at run time only, as
    /// the compiler appends them.
    fn parameters(&mut self) {
        self.named_parameters();
        for (name, origin) in run_time_extents(self.kernel) {
            let arg = Arg {
                name: self.context.register_extent(&name),
                dtype: tilefit_python::element::Dtype::Int64,
                kind: ArgKind::Scalar,
                origin,
            };
            self.program.args.push(arg);
        }
        for (slot, &param) in self.kernel.params.iter().enumerate() {
            if let Type::Tensor(tensor) = &self.kernel.var(param).ty {
                let extents = tensor.shape.iter().map(|extent| self.extent(extent)).collect();
                self.program.args[slot].kind = ArgKind::Tensor(extents);
            }
        }
    }

    /// The extent of a tensor, if anything tells the kernel what it is.
    fn extent(&self, extent: &Scalar) -> Option<Elements> {
        match constant_extent(extent) {
            Some(extent) => Some(Elements::Known(extent)),
            None if !expr::is_given(extent, self.kernel) => None,
            None => expr::text(extent, self.kernel, &self.context).ok().map(Elements::RunTime),
        }
    }

    fn named_parameters(&mut self) {
        for &param in &self.kernel.params {
            let var = self.kernel.var(param);
            let arg = match &var.ty {
                Type::Tensor(tensor) => {
                    let name = self.context.register_tensor(param, &var.name);
                    let this = TensorRef { args: vec![self.program.args.len()], pointer: name.clone() };
                    self.tensors.insert(param, this);
                    tensor.dtype.map(|dtype| Arg { name, dtype, kind: ArgKind::Tensor(Vec::new()), origin: var.origin })
                }
                Type::Scalar(dtype) => {
                    let name = self.context.register_scalar(param, &var.name);
                    Some(Arg { name, dtype: *dtype, kind: ArgKind::Scalar, origin: var.origin })
                }
                _ => None,
            };
            let message = match &arg {
                None => Some(format!("parameter: {}", branches::without_form(&var.name, &var.ty))),
                Some(arg) => self.dtype_refused(arg.dtype).map(|reason| format!("parameter `{}`: {reason}", var.name)),
            };
            if let Some(message) = message {
                self.report(var.origin, message.into());
            }
            // A parameter without a form keeps its slot.
            self.program.args.push(arg.unwrap_or(Arg {
                name: context::sanitize(&var.name),
                dtype: tilefit_python::element::Dtype::Int64,
                kind: ArgKind::Scalar,
                origin: var.origin,
            }));
        }
    }

    /// A value that an access which certainly happens uses as offset is not negative.
    fn offsets_are_natural(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            let call = match stmt {
                Stmt::Let { value: Value::Call(call), .. } | Stmt::Eval { call, .. } => call,
                _ => continue,
            };
            if !matches!(call.op, OpId::LOAD | OpId::STORE) {
                continue;
            }
            for offset in list(call.args.get(1)).unwrap_or_default() {
                if let Scalar::Var(var) = offset {
                    self.context.mark_natural(*var);
                }
            }
        }
    }

    /// The steps of a statement list, and the values that it yields.
    fn block(&mut self, stmts: &[Stmt]) -> (Vec<Step>, Option<(Vec<ir::Operand>, Origin)>) {
        let outer = std::mem::take(&mut self.steps);
        let mut yielded = None;
        let given_back = self.given_back(stmts);
        for (at, stmt) in stmts.iter().enumerate() {
            work::spend(1);
            match stmt {
                Stmt::Yield { values, origin } => yielded = Some((values.clone(), *origin)),
                stmt => self.stmt(stmt),
            }
            for var in given_back.get(&at).into_iter().flatten() {
                self.give_back(*var, self.kernel.var(*var).origin);
            }
        }
        (std::mem::replace(&mut self.steps, outer), yielded)
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { var, value, origin } => self.assignment(*var, value, *origin),
            Stmt::Eval { call, origin } => self.call_or_report(None, call, *origin),
            Stmt::For(node) => self.for_loop(node),
            Stmt::While(node) => self.while_loop(node),
            Stmt::If(node) => self.branches(node),
            Stmt::Yield { .. } | Stmt::Return { .. } => {}
            Stmt::Break(origin) | Stmt::Continue(origin) => {
                let message = "a jump out of a loop that cannot be written with branches";
                self.missing(Missing::Jump, *origin, message.to_string().into());
            }
        }
    }

    /// Reports what could not be selected, and leaves a mark in the text.
    fn missing(&mut self, what: Missing, origin: Origin, refusal: Refusal) {
        self.report(origin, refusal);
        self.steps.push(Step::Missing { what, origin });
    }

    fn value(&self, var: VarId) -> Missing {
        Missing::Value(self.kernel.var(var).name.clone())
    }

    fn assignment(&mut self, var: VarId, value: &Value, origin: Origin) {
        match value {
            Value::Call(call) => self.call_or_report(Some(var), call, origin),
            Value::Scalar(Scalar::Call(call)) => self.call_or_report(Some(var), call, origin),
            Value::Copy(source) => self.copy(var, *source),
            Value::Scalar(scalar) => match expr::text(scalar, self.kernel, &self.context) {
                Ok(text) => {
                    let name = self.context.register_scalar(var, &self.kernel.var(var).name);
                    if let Scalar::Int(value) = known(scalar, &self.constants) {
                        self.constants.insert(var, value);
                    }
                    self.multiples.insert(var, self.multiple_of(scalar));
                    let ty = match &self.kernel.var(var).ty {
                        Type::Scalar(dtype) if !expr::mentions_variable(scalar) => expr::local_type(*dtype),
                        _ => "auto",
                    };
                    self.steps.push(Step::Local { name, ty: ty.to_string(), value: text, origin });
                }
                Err(reason) => self.missing(self.value(var), origin, reason.into()),
            },
            // The operation that makes the tuple has written it.
            Value::Element { .. } if self.tiles.contains_key(&var) => {}
            Value::Element { .. } => {
                let message = "generated code has no tuples".to_string();
                self.missing(self.value(var), origin, message.into());
            }
        }
    }

    /// The tensor is the one that it is a view of.
    fn same_tensor(&mut self, result: Option<VarId>, call: &Call) -> Selected<()> {
        if let Some((var, source)) = result.zip(call.args.first().and_then(ir::Operand::var)) {
            self.copy(var, source);
        }
        Ok(())
    }

    fn copy(&mut self, var: VarId, source: VarId) {
        if let Ok(tile) = self.tile(source) {
            self.tiles.insert(var, tile);
        } else if let Some(tensor) = self.tensors.get(&source).cloned() {
            self.tensors.insert(var, tensor);
        } else if let Some(name) = self.context.name(source).map(str::to_string) {
            self.context.alias(var, name);
            if self.program.units.contains(&source) {
                self.program.units.push(var);
            }
        }
    }
}

/// Numbers the instructions in text order.
fn number(steps: &mut [Step], next: &mut u32) {
    for step in steps {
        match step {
            Step::Instr(instr) => {
                instr.id = *next;
                *next += 1;
            }
            Step::Loop(node) => number(&mut node.body, next),
            Step::If(node) => {
                number(&mut node.then, next);
                number(node.otherwise.as_deref_mut().unwrap_or_default(), next);
            }
            Step::Local { .. } | Step::Declare(_) | Step::Sync(..) | Step::Missing { .. } => {}
        }
    }
}

/// The extents of tensor parameters that have names only, in order of appearance, each once.
fn run_time_extents(kernel: &Kernel) -> Vec<(String, Origin)> {
    fn collect(extent: &Scalar, origin: Origin, found: &mut Vec<(String, Origin)>) {
        match extent {
            Scalar::Dynamic(name) if !found.iter().any(|(known, _)| known == name) => {
                found.push((name.clone(), origin))
            }
            Scalar::Unary(_, operand) | Scalar::Cast(_, operand) => collect(operand, origin, found),
            Scalar::Binary(_, left, right) => [left, right].into_iter().for_each(|side| collect(side, origin, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for param in &kernel.params {
        let var = kernel.var(*param);
        if let Type::Tensor(tensor) = &var.ty {
            tensor.shape.iter().for_each(|extent| collect(extent, var.origin, &mut found));
        }
    }
    found
}

fn constant_extent(extent: &Scalar) -> Option<u64> {
    extent.as_int().and_then(|extent| u64::try_from(extent).ok())
}

fn list(operand: Option<&ir::Operand>) -> Option<&[Scalar]> {
    match operand {
        Some(ir::Operand::List(items)) => Some(items),
        _ => None,
    }
}

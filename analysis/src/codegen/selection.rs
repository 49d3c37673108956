//! Instruction selection: from IR and plan to instructions on tiles at addresses.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostics::Code;
use crate::ir::{
    self, Attr, Call, For, If, Kernel, Origin, Reason, Scalar, Stmt, TensorLayout, TileType, Type, Value, VarId, While,
};
use crate::memory::{Finding, Plan};
use crate::target::Space;

use super::context::{self, Context};
use super::expr;
use super::isa::{self, Slot};
use super::sequence::{
    Access, Arg, ArgKind, Bound, BranchResult, Branches, CarriedTile, Carry, Declare, Declared, Head, Instr, Loop,
    Offset, Operand, Pipe, Program, Step, Sync, Tile, TileId, Wrapper, pipe_of,
};
use super::types::{self, TileForm};

/// The instructions of a kernel, and what has none.
pub(super) fn select(kernel: &Kernel, plan: &Plan) -> (Program, Vec<Finding>) {
    let mut selector = Selector::new(kernel, plan);
    selector.parameters();
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

/// What a tensor variable stands for.
#[derive(Clone, PartialEq, Eq)]
struct TensorRef {
    /// Indices in [`Program::args`]; several behind a branch that chooses.
    args: Vec<usize>,
    /// The C++ pointer.
    pointer: String,
}

struct Selector<'a> {
    kernel: &'a Kernel,
    /// Address and bytes of each planned tile.
    places: FxHashMap<VarId, (Option<u64>, u64)>,
    context: Context,
    program: Program,
    tiles: FxHashMap<VarId, TileId>,
    /// Views of columns as one row.
    rows: FxHashMap<TileId, TileId>,
    /// Handles that point to different buffers at different times.
    moving: FxHashSet<TileId>,
    tensors: FxHashMap<VarId, TensorRef>,
    loop_variables: FxHashSet<VarId>,
    steps: Vec<Step>,
    next_id: u32,
    /// Number of the outermost loop that is being selected, and how many there were.
    outermost: Option<u32>,
    loops: u32,
    depth: u32,
    accesses: Vec<AccessSite>,
    /// First free byte of the Vec space, for scratch that nobody planned.
    vec_end: u64,
    findings: Vec<Finding>,
}

/// A load or store, for deciding which ones must move their wrapper.
struct AccessSite {
    id: u32,
    wrapper: usize,
    outermost: Option<u32>,
    at_start: bool,
}

impl<'a> Selector<'a> {
    fn new(kernel: &'a Kernel, plan: &Plan) -> Selector<'a> {
        let mut places = FxHashMap::default();
        let mut vec_end = 0;
        for tile in &plan.tiles {
            let address = if tile.dynamic_offset { None } else { tile.address };
            places.entry(tile.var).or_insert((address, tile.bytes));
            if tile.space == Some(Space::Vec) {
                vec_end = vec_end.max(tile.address.unwrap_or(0) + tile.bytes);
            }
        }
        for buffer in plan.buffers.iter().filter(|buffer| buffer.space == Space::Vec) {
            vec_end = vec_end.max(buffer.address.unwrap_or(0) + buffer.size);
        }
        Selector {
            kernel,
            places,
            context: Context::default(),
            program: Program { function: context::function_name(&kernel.name), ..Program::default() },
            tiles: FxHashMap::default(),
            rows: FxHashMap::default(),
            moving: FxHashSet::default(),
            tensors: FxHashMap::default(),
            loop_variables: FxHashSet::default(),
            steps: Vec::new(),
            next_id: 0,
            outermost: None,
            loops: 0,
            depth: 0,
            accesses: Vec::new(),
            vec_end,
            findings: Vec::new(),
        }
    }

    fn finish(mut self, body: Vec<Step>) -> (Program, Vec<Finding>) {
        self.program.body = body;
        for (column, row) in &self.rows {
            if self.moving.contains(column) {
                let (name, origin) = (self.program.tile(*column).name.clone(), self.program.tile(*row).origin);
                let message = format!("`{name}` changes its buffer while the loop runs, and is used here as one row");
                self.findings.push(finding(Code::NoInstruction, origin, message));
            }
        }
        self.findings.sort_by_key(|finding| finding.at);
        let assigned = assigned(&self.accesses);
        assign(&mut self.program.body, &assigned);
        number(&mut self.program.body, &mut 0);
        (self.program, self.findings)
    }

    fn report(&mut self, origin: Origin, refusal: Refusal) {
        self.findings.push(finding(refusal.code, origin, refusal.message));
    }

    // ---- parameters

    fn parameters(&mut self) {
        for &param in &self.kernel.params {
            let var = self.kernel.var(param);
            let arg = match &var.ty {
                Type::Tensor(tensor) => {
                    let name = self.context.register_tensor(param, &var.name);
                    let extents = tensor.shape.iter().map(constant_extent).collect();
                    let this = TensorRef { args: vec![self.program.args.len()], pointer: name.clone() };
                    self.tensors.insert(param, this);
                    tensor.dtype.map(|dtype| Arg { name, dtype, kind: ArgKind::Tensor(extents), origin: var.origin })
                }
                Type::Scalar(dtype) => {
                    let name = self.context.register_scalar(param, &var.name);
                    Some(Arg { name, dtype: *dtype, kind: ArgKind::Scalar, origin: var.origin })
                }
                _ => None,
            };
            let message = match &arg {
                None => Some(format!("the type of parameter `{}` has no form in C++", var.name)),
                Some(arg) if types::dtype(arg.dtype).is_none() => {
                    Some(format!("parameter `{}`: {} has no C++ type", var.name, arg.dtype))
                }
                Some(_) => None,
            };
            if let Some(message) = message {
                self.report(var.origin, message.into());
            }
            // A parameter without a form keeps its slot.
            self.program.args.push(arg.unwrap_or(Arg {
                name: context::sanitize(&var.name),
                dtype: ir::Dtype::Int64,
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
            if !matches!(call.op.op().name, "tile.load" | "tile.store") {
                continue;
            }
            for offset in list(call.args.get(1)).unwrap_or_default() {
                if let Scalar::Var(var) = offset {
                    self.context.mark_natural(*var);
                }
            }
        }
    }

    // ---- statements

    /// The steps of a statement list, and the values that it yields.
    fn block(&mut self, stmts: &[Stmt]) -> (Vec<Step>, Option<(Vec<ir::Operand>, Origin)>) {
        let outer = std::mem::take(&mut self.steps);
        let mut yielded = None;
        for stmt in stmts {
            match stmt {
                Stmt::Yield { values, origin } => yielded = Some((values.clone(), *origin)),
                stmt => self.stmt(stmt),
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
                let message = "generated code has no `break` and no `continue`, since they would skip synchronisation";
                self.missing("break", *origin, message.to_string().into());
            }
        }
    }

    /// Reports what could not be selected, and leaves a mark in the text.
    fn missing(&mut self, what: &str, origin: Origin, refusal: Refusal) {
        self.report(origin, refusal);
        self.steps.push(Step::Missing { what: what.to_string(), origin });
    }

    fn assignment(&mut self, var: VarId, value: &Value, origin: Origin) {
        match value {
            Value::Call(call) => self.call_or_report(Some(var), call, origin),
            Value::Scalar(Scalar::Call(call)) => self.call_or_report(Some(var), call, origin),
            Value::Copy(source) => self.copy(var, *source),
            Value::Scalar(scalar) => match expr::text(scalar, self.kernel, &self.context) {
                Ok(text) => {
                    let name = self.context.register_scalar(var, &self.kernel.var(var).name);
                    let ty = match &self.kernel.var(var).ty {
                        Type::Scalar(dtype) if !expr::mentions_variable(scalar) => expr::local_type(*dtype),
                        _ => "auto",
                    };
                    self.steps.push(Step::Local { name, ty: ty.to_string(), value: text, origin });
                }
                Err(reason) => self.missing(&self.kernel.var(var).name.clone(), origin, reason.into()),
            },
            Value::Element { .. } => {
                let message = "generated code has no tuples".to_string();
                self.missing(&self.kernel.var(var).name.clone(), origin, message.into());
            }
        }
    }

    fn copy(&mut self, var: VarId, source: VarId) {
        if let Ok(tile) = self.tile(source) {
            self.tiles.insert(var, tile);
        } else if let Some(tensor) = self.tensors.get(&source).cloned() {
            self.tensors.insert(var, tensor);
        } else if let Some(name) = self.context.name(source).map(str::to_string) {
            self.context.alias(var, name);
        }
    }

    // ---- tiles

    /// The tile of a variable, declared when it is first needed.
    fn tile(&mut self, var: VarId) -> Selected<TileId> {
        if let Some(tile) = self.tiles.get(&var) {
            return Ok(*tile);
        }
        self.declare(var, Declared::Prologue)
    }

    fn declare(&mut self, var: VarId, declared: Declared) -> Selected<TileId> {
        let source = self.kernel.var(var);
        let Type::Tile(ty) = &source.ty else {
            return Err(format!("`{}` is no tile", source.name).into());
        };
        let form = TileForm::new(ty).map_err(|reason| format!("`{}`: {reason}", source.name))?;
        if let Some(refusal) = form.refusal() {
            self.report(source.origin, format!("`{}`: {refusal}", source.name).into());
        }
        let valid = self.valid(ty, form).map_err(|reason| format!("valid shape of `{}`: {reason}", source.name))?;
        let (address, bytes) = self.places.get(&var).copied().unwrap_or((None, size(form)));
        if address.is_none() && declared == Declared::Prologue {
            let message =
                format!("`{}` has no address in the memory plan, so nothing can be loaded into it", source.name);
            self.report(source.origin, Refusal { code: Code::NoAddress, message });
        }
        let name = self.context.register_tile(var, &source.name);
        let tile =
            Tile { name, form, valid, address, bytes, declared, inserted: source.inserted, origin: source.origin };
        let id = self.add_tile(tile);
        self.tiles.insert(var, id);
        Ok(id)
    }

    fn add_tile(&mut self, tile: Tile) -> TileId {
        self.program.tiles.push(tile);
        TileId(self.program.tiles.len() as u32 - 1)
    }

    /// Arguments of the constructor: valid rows and columns.
    fn valid(&self, ty: &TileType, form: TileForm) -> Result<(String, String), String> {
        let Some(valid) = &ty.view.valid_shape else { return Ok((form.rows.to_string(), form.cols.to_string())) };
        let extent = |scalar: &Scalar| match scalar.as_int() {
            Some(value) => Ok(value.to_string()),
            None if self.is_fixed(scalar) => expr::text(scalar, self.kernel, &self.context),
            None => Err("it changes while the kernel runs, and tiles are constructed once".to_string()),
        };
        match valid.as_slice() {
            [] => Ok((form.rows.to_string(), form.cols.to_string())),
            [cols] => Ok(("1".to_string(), extent(cols)?)),
            [rows, cols] => Ok((extent(rows)?, extent(cols)?)),
            _ => Err(format!("it has {} dimensions", valid.len())),
        }
    }

    /// Whether the expression has its value before the body starts.
    fn is_fixed(&self, scalar: &Scalar) -> bool {
        match scalar {
            Scalar::Var(var) => self.kernel.var(*var).role == ir::Role::Param,
            Scalar::Unary(_, operand) | Scalar::Cast(_, operand) => self.is_fixed(operand),
            Scalar::Binary(_, left, right) => self.is_fixed(left) && self.is_fixed(right),
            Scalar::Call(_) | Scalar::Unknown(_) | Scalar::Dynamic(_) => false,
            _ => true,
        }
    }

    /// A tile of the compiler's own at a given place.
    fn own_tile(&mut self, name: &str, form: TileForm, address: Option<u64>, origin: Origin) -> TileId {
        let name = self.context.fresh_tile(name);
        let valid = (form.rows.to_string(), form.cols.to_string());
        let bytes = size(form);
        let declared = Declared::Prologue;
        self.add_tile(Tile { name, form, valid, address, bytes, declared, inserted: true, origin })
    }

    /// The same bytes as `column`, as one row.
    fn as_row(&mut self, column: TileId, origin: Origin) -> TileId {
        if let Some(row) = self.rows.get(&column) {
            return *row;
        }
        let tile = self.program.tile(column).clone();
        let row = self.own_tile(&format!("{}_row", tile.name), tile.form.as_row(), tile.address, origin);
        self.rows.insert(column, row);
        row
    }

    // ---- calls

    fn call_or_report(&mut self, result: Option<VarId>, call: &Call, origin: Origin) {
        if let Err(refusal) = self.call(result, call, origin) {
            self.missing(call.op.op().name, origin, refusal);
        }
    }

    fn call(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        match call.op.op().name {
            "tile.load" => self.load(result, call, origin),
            "tile.store" => self.store(result, call, origin),
            "tile.alloc" | "tile.create" => Ok(()),
            "tile.set_validshape" | "tile.reinterpret_view" | "tile.transpose_view" => self.view(result),
            "tile.read" => self.read_element(result, call, origin),
            "tile.write" => self.write_element(result, call, origin),
            "tile.get_block_idx" | "tile.get_block_num" | "tile.get_subblock_idx" => self.index(result, call, origin),
            "system.sync_src" => self.author_sync(call, origin, |src, dst, event| Sync::Set { src, dst, event }),
            "system.sync_dst" => self.author_sync(call, origin, |src, dst, event| Sync::Wait { src, dst, event }),
            "system.bar_v" => self.sync(Sync::Barrier(Some(Pipe::V)), origin),
            "system.bar_m" => self.sync(Sync::Barrier(Some(Pipe::M)), origin),
            "system.bar_all" => self.sync(Sync::Barrier(None), origin),
            _ => self.instruction(result, call, origin),
        }
    }

    fn sync(&mut self, sync: Sync, origin: Origin) -> Selected<()> {
        self.steps.push(Step::Sync(sync, Some(origin)));
        Ok(())
    }

    fn author_sync(&mut self, call: &Call, origin: Origin, make: fn(Pipe, Pipe, u8) -> Sync) -> Selected<()> {
        let pipe = |name: &str| match call.attr(name) {
            Some(Attr::Str(pipe)) => Pipe::from_name(pipe).ok_or(format!("there is no pipe `{pipe}`")),
            _ => Err(format!("`{name}` is not known")),
        };
        let event = match call.attr("event_id") {
            Some(Attr::Int(event)) => *event,
            _ => return Err("`event_id` is not known".to_string().into()),
        };
        let Some(event) = u8::try_from(event).ok().filter(|event| *event < super::sequence::EVENTS) else {
            return Err(format!("Event ID must be in range [0, 7], got {event}").into());
        };
        self.sync(make(pipe("set_pipe")?, pipe("wait_pipe")?, event), origin)
    }

    /// Another view of planned bytes: the declaration is all there is.
    fn view(&mut self, result: Option<VarId>) -> Selected<()> {
        match result {
            Some(var) if self.kernel.tile(var).is_some() => self.tile(var).map(drop),
            _ => Ok(()),
        }
    }

    fn index(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let Some(var) = result else { return Ok(()) };
        let value = expr::text(&Scalar::Call(Box::new(call.clone())), self.kernel, &self.context)?;
        let name = self.context.register_scalar(var, &self.kernel.var(var).name);
        self.context.mark_natural(var);
        self.steps.push(Step::Local { name, ty: "auto".to_string(), value, origin });
        Ok(())
    }

    fn instruction(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let name = call.op.op().name;
        let Some(row) = isa::instruction(name).or_else(|| isa::axis_reduction(name, int_attr(call, "axis")?)) else {
            return Err(format!("no instruction for `{name}` in generated code").into());
        };
        let Some(result) = result else {
            return Err(format!("the result of `{name}` is not bound to a name").into());
        };
        if name == "tile.reshape" && self.is_renaming(result, call) {
            return self.view(Some(result));
        }
        if name == "tile.matmul_acc" && call.args.len() > 3 {
            return Err("`TMATMUL_ACC` has no condition for its first step".to_string().into());
        }
        let mut operands = Vec::with_capacity(row.slots.len() + 1);
        let (mut reads, mut writes, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        for slot in row.slots {
            let operand = self.slot(*slot, call, result, origin)?;
            if let Operand::Tile(tile) = operand {
                sources.push(self.program.tile(tile).form.space);
                reads.push(tile);
                if matches!(slot, Slot::Tmp(_)) {
                    writes.push(tile);
                }
            }
            operands.push(operand);
        }
        let destination = self.tile(result)?;
        writes.insert(0, destination);
        operands.insert(0, Operand::Tile(destination));
        if row.row_major && operands.iter().any(|operand| self.is_column(operand)) {
            for operand in &mut operands {
                if self.is_column(operand)
                    && let Operand::Tile(tile) = operand
                {
                    *tile = self.as_row(*tile, origin);
                }
            }
        }
        let pipe = pipe_of(name, Some(self.program.tile(destination).form.space), &sources);
        let inserted = self.kernel.var(result).inserted;
        self.push(Instr {
            id: 0,
            name: row.instruction,
            operands,
            pipe,
            reads,
            writes,
            access: None,
            text: None,
            inserted,
            origin,
        });
        Ok(())
    }

    fn push(&mut self, mut instr: Instr) -> u32 {
        instr.id = self.next_id;
        self.next_id += 1;
        let id = instr.id;
        self.steps.push(Step::Instr(instr));
        id
    }

    fn is_column(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Tile(tile) if self.program.tile(*tile).form.is_column())
    }

    /// A reshape that the compiler put around an instruction: both tiles are declared at one address already.
    fn is_renaming(&self, result: VarId, call: &Call) -> bool {
        let Some(source) = call.args.first().and_then(ir::Operand::var) else { return false };
        let inserted = self.kernel.var(result).inserted || self.kernel.var(source).inserted;
        let fixed = self.tiles.get(&source).is_some_and(|tile| !self.moving.contains(tile));
        let address = |var| self.places.get(&var).and_then(|place| place.0);
        inserted && fixed && address(result).is_some() && address(result) == address(source)
    }

    fn slot(&mut self, slot: Slot, call: &Call, result: VarId, origin: Origin) -> Selected<Operand> {
        let name = call.op.op().name;
        let argument = |index: u8| {
            call.args.get(index as usize).ok_or_else(|| Refusal::from(format!("`{name}` has no operand {index}")))
        };
        match slot {
            Slot::Arg(index) => self.operand(argument(index)?),
            Slot::Item(index, item) => match argument(index)? {
                ir::Operand::List(items) => match items.get(item as usize) {
                    Some(scalar) => Ok(Operand::Text(expr::text(scalar, self.kernel, &self.context)?)),
                    None => Err(format!("`{name}` needs an offset of two dimensions").into()),
                },
                _ => Err(format!("the offset of `{name}` is not a list").into()),
            },
            Slot::Tmp(index) => match call.args.get(index as usize) {
                Some(argument) => self.operand(argument),
                None => {
                    let source = self.operand(argument(0)?)?;
                    Ok(Operand::Tile(self.scratch(source, result, origin)?))
                }
            },
            Slot::Round => match int_attr(call, "mode").and_then(isa::round_mode) {
                Some(mode) => Ok(Operand::Text(mode.to_string())),
                None => Err("the rounding mode is not known".to_string().into()),
            },
            Slot::Compare => match int_attr(call, "cmp_type").and_then(isa::compare_mode) {
                Some(mode) => Ok(Operand::Text(mode.to_string())),
                None => Err("the kind of comparison is not known".to_string().into()),
            },
        }
    }

    fn operand(&mut self, operand: &ir::Operand) -> Selected<Operand> {
        match operand {
            ir::Operand::Var(var) if self.kernel.tile(*var).is_some() => Ok(Operand::Tile(self.tile(*var)?)),
            ir::Operand::Var(var) => Ok(Operand::Text(expr::text(&Scalar::Var(*var), self.kernel, &self.context)?)),
            ir::Operand::Scalar(scalar) => Ok(Operand::Text(expr::text(scalar, self.kernel, &self.context)?)),
            ir::Operand::List(_) => Err("a list is no operand of an instruction".to_string().into()),
            ir::Operand::Unknown(Reason(reason)) => Err(reason.clone().into()),
        }
    }

    /// Scratch behind everything that is planned, for a call that has none.
    fn scratch(&mut self, source: Operand, result: VarId, origin: Origin) -> Selected<TileId> {
        let Operand::Tile(source) = source else { return Err("scratch for what is no tile".to_string().into()) };
        let form = self.program.tile(source).form;
        let address = self.vec_end.next_multiple_of(32);
        self.vec_end = address + size(form);
        let name = format!("{}_tmp", self.kernel.var(result).name);
        Ok(self.own_tile(&name, form, Some(address), origin))
    }

    // ---- loads and stores

    fn load(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let Some(var) = result else { return Err("a load whose result has no name".to_string().into()) };
        let tile = self.tile(var)?;
        let tensor = self.tensor_operand(call.args.first())?;
        let offsets = list(call.args.get(1)).ok_or_else(|| "the offsets are not a list".to_string())?;
        let window = match (list(call.args.get(3)), list(call.args.get(2))) {
            (Some(valid), _) if !valid.is_empty() => valid,
            (_, Some(shape)) => shape,
            _ => return Err("the shape is not a list".to_string().into()),
        };
        let transposed = matches!(call.attr("transpose"), Some(Attr::Bool(true)));
        let access = self.access(&tensor, offsets, window, transposed, false)?;
        let wrapper = access.wrapper;
        let at_start = is_start(offsets);
        let inserted = self.kernel.var(var).inserted;
        let id = self.push(Instr {
            id: 0,
            name: "TLOAD",
            operands: vec![Operand::Tile(tile), Operand::Wrapper(wrapper)],
            pipe: Pipe::Mte2,
            reads: Vec::new(),
            writes: vec![tile],
            access: Some(access),
            text: None,
            inserted,
            origin,
        });
        self.accesses.push(AccessSite { id, wrapper, outermost: self.outermost, at_start });
        Ok(())
    }

    fn store(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let Some(source) = call.args.first().and_then(ir::Operand::var) else {
            return Err("the stored value is no tile".to_string().into());
        };
        let tensor = self.tensor_operand(call.args.get(2))?;
        if let Some(var) = result {
            self.tensors.insert(var, tensor.clone());
        }
        if !matches!(call.attr("atomic"), None | Some(Attr::Int(0) | Attr::Unknown(_))) {
            return Err("no instruction for an atomic store in generated code".to_string().into());
        }
        let tile = self.tile(source)?;
        let offsets = list(call.args.get(1)).ok_or_else(|| "the offsets are not a list".to_string())?;
        let shape = match list(call.args.get(3)) {
            Some(shape) if !shape.is_empty() => shape.to_vec(),
            _ => self.stored_window(source, offsets.len()),
        };
        let access = self.access(&tensor, offsets, &shape, false, true)?;
        let wrapper = access.wrapper;
        let at_start = is_start(offsets) && tensor.args.len() == 1;
        let space = self.program.tile(tile).form.space;
        let id = self.push(Instr {
            id: 0,
            name: "TSTORE",
            operands: vec![Operand::Wrapper(wrapper), Operand::Tile(tile)],
            pipe: pipe_of("tile.store", None, &[space]),
            reads: vec![tile],
            writes: Vec::new(),
            access: Some(access),
            text: None,
            inserted: false,
            origin,
        });
        self.accesses.push(AccessSite { id, wrapper, outermost: self.outermost, at_start });
        Ok(())
    }

    /// The valid part of a tile as a window of a tensor of that rank.
    fn stored_window(&self, tile: VarId, rank: usize) -> Vec<Scalar> {
        let Some(ty) = self.kernel.tile(tile) else { return Vec::new() };
        let extents: Vec<Scalar> = match &ty.view.valid_shape {
            Some(valid) if !valid.is_empty() => valid.clone(),
            _ => ty.shape.iter().map(|extent| Scalar::Int(*extent as i64)).collect(),
        };
        let missing = rank.saturating_sub(extents.len());
        let surplus = extents.len().saturating_sub(rank);
        let padded = std::iter::repeat_n(Scalar::Int(1), missing).chain(extents.into_iter().skip(surplus));
        padded.collect()
    }

    fn tensor_operand(&mut self, operand: Option<&ir::Operand>) -> Selected<TensorRef> {
        let var = operand.and_then(ir::Operand::var).ok_or_else(|| "the tensor is no variable".to_string())?;
        match self.tensors.get(&var) {
            Some(tensor) => Ok(tensor.clone()),
            None => Err(format!("`{}` is no tensor parameter", self.kernel.var(var).name).into()),
        }
    }

    fn access(
        &mut self,
        tensor: &TensorRef,
        offsets: &[Scalar],
        window: &[Scalar],
        transposed: bool,
        store: bool,
    ) -> Selected<Access> {
        let arg = tensor.args[0];
        let Arg { kind: ArgKind::Tensor(extents), name, .. } = &self.program.args[arg] else {
            return Err("not a tensor".to_string().into());
        };
        let (extents, name) = (extents.clone(), name.clone());
        let rank = extents.len();
        if rank == 0 || rank > 5 {
            return Err(format!("`{name}` has {rank} dimensions; a GlobalTensor has one to five").into());
        }
        if offsets.len() != rank || window.len() != rank {
            return Err(format!(
                "`{name}` has {rank} dimensions, the access {} offsets and {} extents",
                offsets.len(),
                window.len()
            )
            .into());
        }
        let Some(mut strides) = types::row_major_strides(&extents) else {
            return Err(format!("the strides of `{name}` depend on extents that are known at run time only").into());
        };
        let var = self.kernel.params.get(arg).map(|param| &self.kernel.var(*param).ty);
        let stored_swapped = matches!(var, Some(Type::Tensor(ty)) if ty.layout == TensorLayout::Dn);
        if matches!(var, Some(Type::Tensor(ty)) if ty.layout == TensorLayout::Nz) {
            return Err(format!("`{name}` has the layout NZ, which generated code does not address").into());
        }
        if stored_swapped && rank >= 2 {
            // [.., R, C] lies in memory as [.., C, R].
            strides[rank - 1] = extents[rank - 2].ok_or_else(|| format!("the strides of `{name}` are not constant"))?;
            strides[rank - 2] = 1;
        }
        if transposed && rank >= 2 {
            strides.swap(rank - 1, rank - 2);
        }
        let mut constant_window = Vec::with_capacity(rank);
        for extent in window {
            match extent.as_int().and_then(|extent| u64::try_from(extent).ok()) {
                Some(extent) => constant_window.push(extent),
                None => {
                    return Err(format!(
                        "the window of `{name}` has an extent that is known at run time only; a GlobalTensor of \
                         generated code has constant extents"
                    )
                    .into());
                }
            }
        }
        let offsets = offsets.iter().map(|offset| self.offset(offset)).collect::<Selected<Vec<Offset>>>()?;
        let wrapper = self.wrapper(arg, constant_window, strides, (stored_swapped || transposed) && rank >= 2);
        Ok(Access {
            wrapper,
            tensors: tensor.args.clone(),
            pointer: tensor.pointer.clone(),
            offsets,
            store,
            assign: tensor.args.len() > 1,
        })
    }

    fn offset(&self, scalar: &Scalar) -> Selected<Offset> {
        Ok(Offset {
            text: expr::text(scalar, self.kernel, &self.context)?,
            affine: expr::affine(scalar, &|var| self.loop_variables.contains(&var)),
        })
    }

    /// The wrapper of a window; each distinct window of a tensor has its own.
    fn wrapper(&mut self, arg: usize, window: Vec<u64>, strides: Vec<u64>, transposed: bool) -> usize {
        let of_tensor = self.program.wrappers.iter().enumerate().filter(|(_, wrapper)| wrapper.arg == arg);
        let mut number = 0;
        for (index, wrapper) in of_tensor {
            if wrapper.window == window && wrapper.transposed == transposed {
                return index;
            }
            number += 1;
        }
        let base = format!("{}Global", self.program.args[arg].name);
        let name = if number == 0 { base } else { self.context.fresh_wrapper(&format!("{base}_{number}")) };
        self.program.wrappers.push(Wrapper { arg, name, number, window, strides, transposed });
        self.program.wrappers.len() - 1
    }

    // ---- elements

    /// Offset of an element in a row-major tile.
    fn element(&mut self, call: &Call) -> Selected<(TileId, String)> {
        let var = call.args.first().and_then(ir::Operand::var).ok_or_else(|| "no tile".to_string())?;
        if self.kernel.tile(var).is_none() {
            return Err("elements of tensors are not read or written in generated code".to_string().into());
        }
        let tile = self.tile(var)?;
        let cols = self.program.tile(tile).form.cols;
        let indices = list(call.args.get(1)).ok_or_else(|| "the indices are not a list".to_string())?;
        let texts =
            indices.iter().map(|index| expr::text(index, self.kernel, &self.context)).collect::<Result<Vec<_>, _>>()?;
        match texts.as_slice() {
            [col] => Ok((tile, col.clone())),
            [row, col] => Ok((tile, format!("{row} * {cols} + {col}"))),
            _ => Err("an element of a tile has one or two indices".to_string().into()),
        }
    }

    fn read_element(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let (tile, offset) = self.element(call)?;
        let Some(var) = result else { return Ok(()) };
        let name = self.context.register_scalar(var, &self.kernel.var(var).name);
        let text = format!("auto {name} = {}.GetValue({offset});", self.program.tile(tile).name);
        self.element_access(text, vec![tile], Vec::new(), origin);
        Ok(())
    }

    fn write_element(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let (tile, offset) = self.element(call)?;
        let value = call.args.get(2).ok_or_else(|| "no value".to_string())?;
        let Operand::Text(value) = self.operand(value)? else { return Err("the value is a tile".to_string().into()) };
        let text = format!("{}.SetValue({offset}, {value});", self.program.tile(tile).name);
        self.element_access(text, Vec::new(), vec![tile], origin);
        if let Some(var) = result {
            self.tiles.insert(var, tile);
        }
        Ok(())
    }

    fn element_access(&mut self, text: String, reads: Vec<TileId>, writes: Vec<TileId>, origin: Origin) {
        self.push(Instr {
            id: 0,
            name: "",
            operands: Vec::new(),
            pipe: Pipe::S,
            reads,
            writes,
            access: None,
            text: Some(text),
            inserted: false,
            origin,
        });
    }

    // ---- loops

    fn for_loop(&mut self, node: &For) {
        let bounds = [&node.start, &node.stop, &node.step].map(|bound| {
            let text = expr::text(bound, self.kernel, &self.context)?;
            Ok(Bound { text, value: bound.as_int() })
        });
        let [Ok(start), Ok(stop), Ok(step)] = bounds else {
            let reason = bounds.into_iter().find_map(|bound: Result<Bound, String>| bound.err()).unwrap_or_default();
            return self.missing("for", node.origin, format!("bounds of the loop: {reason}").into());
        };
        let var = node.index;
        let name = self.context.register_scalar(var, &self.kernel.var(var).name);
        self.loop_variables.insert(var);
        if start.value.is_some_and(|start| start >= 0) && step.value.is_some_and(|step| step > 0) {
            self.context.mark_natural(var);
        }
        let head = Head::For { var, name, start, stop, step };
        self.carrying_loop(head, &node.carries, &node.body, node.origin);
    }

    fn while_loop(&mut self, node: &While) {
        let carries = self.carries(&node.carries, node.origin);
        match expr::text(&node.condition, self.kernel, &self.context) {
            Ok(condition) => self.loop_body(Head::While { condition }, carries, &node.carries, &node.body, node.origin),
            Err(reason) => {
                self.missing("while", node.origin, format!("condition of the loop: {reason}").into());
            }
        }
    }

    fn carrying_loop(&mut self, head: Head, carries: &[ir::Carry], body: &[Stmt], origin: Origin) {
        let carried = self.carries(carries, origin);
        self.loop_body(head, carried, carries, body, origin);
    }

    fn loop_body(
        &mut self,
        head: Head,
        carried: Vec<Option<Carry>>,
        carries: &[ir::Carry],
        body: &[Stmt],
        origin: Origin,
    ) {
        if self.depth == 0 {
            self.outermost = Some(self.loops);
            self.loops += 1;
        }
        self.depth += 1;
        let outer = std::mem::take(&mut self.steps);
        let (steps, yielded) = self.block(body);
        self.steps = steps;
        let carried = self.yielded(carried, carries, yielded, origin);
        let body = std::mem::replace(&mut self.steps, outer);
        self.depth -= 1;
        if self.depth == 0 {
            self.outermost = None;
        }
        self.steps.push(Step::Loop(Box::new(Loop { head, carries: carried, body, origin })));
    }

    /// Names and first values of what a loop carries; `None` where nothing has to be printed.
    fn carries(&mut self, carries: &[ir::Carry], origin: Origin) -> Vec<Option<Carry>> {
        carries.iter().map(|carry| self.carry(carry, origin)).collect()
    }

    fn carry(&mut self, carry: &ir::Carry, origin: Origin) -> Option<Carry> {
        let iter = self.kernel.var(carry.iter);
        match &iter.ty {
            Type::Tile(_) => match self.carry_tile(carry, origin) {
                Ok(carry) => Some(carry),
                Err(refusal) => {
                    self.report(origin, refusal);
                    None
                }
            },
            Type::Tensor(_) => {
                let Some(tensor) = carry.init.var().and_then(|var| self.tensors.get(&var)).cloned() else {
                    let message = format!("`{}` starts as what is no tensor parameter", iter.name);
                    self.report(origin, message.into());
                    return None;
                };
                self.tensors.insert(carry.iter, tensor.clone());
                self.tensors.insert(carry.result, tensor);
                None
            }
            Type::Scalar(dtype) => {
                let init = match self.operand(&carry.init) {
                    Ok(Operand::Text(text)) => text,
                    Ok(_) => return None,
                    Err(refusal) => {
                        self.report(origin, refusal);
                        return None;
                    }
                };
                let ty = expr::local_type(*dtype).to_string();
                let name = self.context.register_scalar(carry.iter, &iter.name);
                self.context.alias(carry.result, name.clone());
                Some(Carry { name, ty, init, next: None, tile: None, yielded: origin })
            }
            Type::Tuple(_) | Type::Unknown(_) => {
                self.report(origin, format!("`{}` has no form in C++", iter.name).into());
                None
            }
        }
    }

    fn carry_tile(&mut self, carry: &ir::Carry, origin: Origin) -> Selected<Carry> {
        let iter = self.kernel.var(carry.iter);
        let init = carry.init.var().ok_or_else(|| format!("`{}` starts as what is no tile", iter.name))?;
        let mut init = self.tile(init)?;
        let first = self.program.tile(init).clone();
        let home = self.places.get(&carry.iter).and_then(|place| place.0).or(first.address);
        if home != first.address || self.moving.contains(&init) {
            init = self.copy_tile(init, first.form, home, origin);
        }
        let name = self.context.register_tile(carry.iter, &iter.name);
        let handle = Tile { name: name.clone(), declared: Declared::ByLoop, address: home, ..first };
        let handle = self.add_tile(handle);
        self.tiles.insert(carry.iter, handle);
        self.tiles.insert(carry.result, handle);
        Ok(Carry {
            name,
            ty: "auto".to_string(),
            init: self.program.tile(init).name.clone(),
            next: None,
            tile: Some(CarriedTile { iter: handle, init, next: handle }),
            yielded: origin,
        })
    }

    /// A copy of a tile into the buffer that a carried value or a result lives in.
    fn copy_tile(&mut self, source: TileId, form: TileForm, home: Option<u64>, origin: Origin) -> TileId {
        let name = format!("{}_mv", self.program.tile(source).name);
        let valid = self.program.tile(source).valid.clone();
        let copy = self.own_tile(&name, form, home, origin);
        self.program.tiles[copy.0 as usize].valid = valid;
        let space = self.program.tile(source).form.space;
        self.push(Instr {
            id: 0,
            name: "TMOV",
            operands: vec![Operand::Tile(copy), Operand::Tile(source)],
            pipe: pipe_of("tile.move", Some(space), &[space]),
            reads: vec![source],
            writes: vec![copy],
            access: None,
            text: None,
            inserted: true,
            origin,
        });
        copy
    }

    /// The values for the next iteration. A tile that is not in the carried value's buffer is copied there; carried tiles
    /// that only change places swap their handles.
    fn yielded(
        &mut self,
        carried: Vec<Option<Carry>>,
        carries: &[ir::Carry],
        yielded: Option<(Vec<ir::Operand>, Origin)>,
        origin: Origin,
    ) -> Vec<Carry> {
        let (values, at) = yielded.unwrap_or((Vec::new(), origin));
        if values.len() != carries.len() {
            let message = format!("the loop carries {} values and yields {}", carries.len(), values.len());
            self.report(at, message.into());
            return carried.into_iter().flatten().collect();
        }
        let mut carried = carried;
        self.check_tensors(carries, &values, at);
        let mut tiles: Vec<(usize, TileId)> = Vec::new();
        for (index, value) in values.iter().enumerate() {
            let Some(carry) = &mut carried[index] else { continue };
            carry.yielded = at;
            if carry.tile.is_some() {
                match value
                    .var()
                    .ok_or_else(|| "a yielded value is no tile".to_string().into())
                    .and_then(|v| self.tile(v))
                {
                    Ok(tile) => tiles.push((index, tile)),
                    Err(refusal) => self.report(at, refusal),
                }
                continue;
            }
            match self.operand(value) {
                Ok(Operand::Text(text)) if text != carry.name => carry.next = Some(text),
                Ok(_) => {}
                Err(refusal) => self.report(at, refusal),
            }
        }
        self.yielded_tiles(&mut carried, &tiles, at);
        carried.into_iter().flatten().collect()
    }

    fn check_tensors(&mut self, carries: &[ir::Carry], values: &[ir::Operand], at: Origin) {
        for (carry, value) in carries.iter().zip(values) {
            if self.kernel.tensor(carry.iter).is_none() {
                continue;
            }
            let same = value.var().and_then(|var| self.tensors.get(&var)) == self.tensors.get(&carry.iter);
            if !same {
                let name = &self.kernel.var(carry.iter).name;
                let message = format!("`{name}` becomes another tensor from one iteration to the next");
                self.report(at, message.into());
            }
        }
    }

    fn yielded_tiles(&mut self, carried: &mut [Option<Carry>], tiles: &[(usize, TileId)], at: Origin) {
        let iter_of = |carried: &[Option<Carry>], index: usize| {
            carried[index].as_ref().and_then(|carry| carry.tile).map(|tile| tile.iter)
        };
        // Position of the carried value that is yielded to each position.
        let from: FxHashMap<usize, usize> = tiles
            .iter()
            .filter_map(|(index, tile)| {
                let source = tiles.iter().find(|(other, _)| iter_of(carried, *other) == Some(*tile))?.0;
                Some((*index, source))
            })
            .collect();
        let mut copies: Vec<(usize, TileId)> = Vec::new();
        for &(index, tile) in tiles {
            let Some(iter) = iter_of(carried, index) else { continue };
            if tile == iter {
                continue;
            }
            if in_cycle(&from, index) {
                self.moving.insert(iter);
                set_next(&mut carried[index], tile, &self.program);
                continue;
            }
            let home = self.program.tile(iter).address;
            let value = self.program.tile(tile);
            if self.moving.contains(&tile) || value.address != home {
                copies.push((index, tile));
            } else if value.form == self.program.tile(iter).form {
                set_next(&mut carried[index], tile, &self.program);
            }
        }
        while !copies.is_empty() {
            let free = copies.iter().position(|(index, _)| {
                let Some(home) = iter_of(carried, *index) else { return true };
                copies.iter().all(|(other, source)| other == index || !self.overlap(home, *source))
            });
            let Some(free) = free else {
                let message = "the carried tiles would overwrite each other while they change places".to_string();
                self.report(at, message.into());
                return;
            };
            let (index, source) = copies.remove(free);
            let Some(iter) = iter_of(carried, index) else { continue };
            let (form, home) = (self.program.tile(iter).form, self.program.tile(iter).address);
            let copy = self.copy_tile(source, form, home, at);
            set_next(&mut carried[index], copy, &self.program);
        }
    }

    fn overlap(&self, a: TileId, b: TileId) -> bool {
        let (a, b) = (self.program.tile(a), self.program.tile(b));
        let (Some(start_a), Some(start_b)) = (a.address, b.address) else { return true };
        a.form.space == b.form.space && start_a < start_b + b.bytes && start_b < start_a + a.bytes
    }

    // ---- branches

    fn branches(&mut self, node: &If) {
        let condition = match expr::text(&node.condition, self.kernel, &self.context) {
            Ok(condition) => condition,
            Err(reason) => return self.missing("if", node.origin, format!("condition: {reason}").into()),
        };
        let (then, then_values) = self.block(&node.then);
        let (otherwise, otherwise_values) = self.block(&node.otherwise);
        let mut bodies = [then, otherwise];
        let yields = [then_values, otherwise_values];
        let mut results = Vec::new();
        for (index, &var) in node.results.iter().enumerate() {
            let values = [0, 1].map(|branch| {
                yields[branch].as_ref().and_then(|(values, at)| values.get(index).map(|value| (value.clone(), *at)))
            });
            let [Some(then), Some(otherwise)] = values else {
                let message = format!("`{}` has no value from one of the branches", self.kernel.var(var).name);
                self.report(node.origin, message.into());
                continue;
            };
            match self.branch_result(var, [then, otherwise], &mut bodies) {
                Ok(Some(result)) => results.push(result),
                Ok(None) => {}
                Err(refusal) => self.report(node.origin, refusal),
            }
        }
        let [then, otherwise] = bodies;
        let otherwise = (node.has_else || !otherwise.is_empty() || !results.is_empty()).then_some(otherwise);
        self.steps.push(Step::If(Box::new(Branches { condition, results, then, otherwise, origin: node.origin })));
    }

    fn branch_result(
        &mut self,
        var: VarId,
        values: [(ir::Operand, Origin); 2],
        bodies: &mut [Vec<Step>; 2],
    ) -> Selected<Option<BranchResult>> {
        let name = &self.kernel.var(var).name;
        match &self.kernel.var(var).ty {
            Type::Tile(_) => self.tile_result(var, values, bodies).map(Some),
            Type::Tensor(_) => {
                let refs = values.map(|(value, _)| value.var().and_then(|var| self.tensors.get(&var)).cloned());
                let [Some(then), Some(otherwise)] = refs else {
                    return Err(format!("`{name}` is no tensor parameter in one of the branches").into());
                };
                if then == otherwise {
                    self.tensors.insert(var, then);
                    return Ok(None);
                }
                let pointer = self.context.fresh_scalar(&format!("{name}_ptr"));
                let element = types::dtype(self.program.args[then.args[0]].dtype).unwrap_or("void");
                let mut args = then.args.clone();
                args.extend(otherwise.args.iter().copied().filter(|arg| !then.args.contains(arg)));
                self.tensors.insert(var, TensorRef { args, pointer: pointer.clone() });
                Ok(Some(BranchResult {
                    name: pointer,
                    declare: Declare::Value(format!("__gm__ {element}*")),
                    then: Some(then.pointer),
                    otherwise: Some(otherwise.pointer),
                    tiles: None,
                }))
            }
            Type::Scalar(dtype) => {
                let ty = types::dtype(*dtype).ok_or_else(|| format!("{dtype} has no C++ type"))?;
                let mut texts = Vec::new();
                for (value, _) in &values {
                    match self.operand(value)? {
                        Operand::Text(text) => texts.push(text),
                        _ => return Err(format!("`{name}` is a tile in one of the branches").into()),
                    }
                }
                let name = self.context.register_scalar(var, name);
                let otherwise = texts.pop();
                let declare = Declare::Value(ty.to_string());
                Ok(Some(BranchResult { name, declare, then: texts.pop(), otherwise, tiles: None }))
            }
            Type::Tuple(_) | Type::Unknown(_) => Err(format!("`{name}` has no form in C++").into()),
        }
    }

    fn tile_result(
        &mut self,
        var: VarId,
        values: [(ir::Operand, Origin); 2],
        bodies: &mut [Vec<Step>; 2],
    ) -> Selected<BranchResult> {
        let mut sources = Vec::new();
        for (value, at) in &values {
            let source = value.var().ok_or_else(|| "a yielded value is no tile".to_string())?;
            sources.push((self.tile(source)?, *at));
        }
        if !self.places.contains_key(&var)
            && let Some(place) = values[0].0.var().and_then(|source| self.places.get(&source)).copied()
        {
            self.places.insert(var, place);
        }
        let result = self.declare(var, Declared::BeforeIf)?;
        let (form, home) = (self.program.tile(result).form, self.program.tile(result).address);
        let mut assigned = Vec::new();
        for (branch, (source, at)) in sources.into_iter().enumerate() {
            let value = self.program.tile(source);
            let in_place = value.address == home && !self.moving.contains(&source);
            let source = if in_place {
                source
            } else {
                let outer = std::mem::replace(&mut self.steps, std::mem::take(&mut bodies[branch]));
                let copy = self.copy_tile(source, form, home, at);
                bodies[branch] = std::mem::replace(&mut self.steps, outer);
                copy
            };
            let value = self.program.tile(source);
            assigned.push((source, (value.form == form).then(|| value.name.clone())));
        }
        let (otherwise, otherwise_name) = assigned.pop().ok_or_else(|| "no branch".to_string())?;
        let (then, then_name) = assigned.pop().ok_or_else(|| "no branch".to_string())?;
        Ok(BranchResult {
            name: self.program.tile(result).name.clone(),
            declare: Declare::Tile(result),
            then: then_name,
            otherwise: otherwise_name,
            tiles: Some((result, then, otherwise)),
        })
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
            Step::Local { .. } | Step::Sync(..) | Step::Missing { .. } => {}
        }
    }
}

fn set_next(carry: &mut Option<Carry>, tile: TileId, program: &Program) {
    if let Some(carry) = carry {
        carry.next = Some(program.tile(tile).name.clone());
        if let Some(carried) = &mut carry.tile {
            carried.next = tile;
        }
    }
}

/// Whether following the yielded positions from `start` comes back to it.
fn in_cycle(from: &FxHashMap<usize, usize>, start: usize) -> bool {
    let mut at = start;
    for _ in 0..from.len() {
        match from.get(&at) {
            Some(next) if *next == start => return true,
            Some(next) => at = *next,
            None => return false,
        }
    }
    false
}

/// Bytes of a tile type.
fn size(form: TileForm) -> u64 {
    (form.rows * form.cols * form.dtype.storage_bits()).div_ceil(8)
}

fn finding(code: Code, at: Origin, message: String) -> Finding {
    Finding { code, severity: code.severity(), at, message, related: Vec::new() }
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

fn is_start(offsets: &[Scalar]) -> bool {
    offsets.iter().all(|offset| offset.as_int() == Some(0))
}

fn int_attr(call: &Call, name: &str) -> Option<i64> {
    match call.attr(name) {
        Some(Attr::Int(value)) => Some(*value),
        _ => None,
    }
}

/// The accesses that must move their wrapper: all that are not at the start of the tensor, and those at the start that
/// may find the wrapper moved by an earlier access or by a later one of the same loop.
fn assigned(accesses: &[AccessSite]) -> FxHashSet<u32> {
    let mut moved: FxHashMap<usize, Vec<&AccessSite>> = FxHashMap::default();
    for site in accesses.iter().filter(|site| !site.at_start) {
        moved.entry(site.wrapper).or_default().push(site);
    }
    accesses
        .iter()
        .filter(|site| {
            let Some(moved) = moved.get(&site.wrapper) else { return false };
            let same_loop = |other: &&AccessSite| site.outermost.is_some() && other.outermost == site.outermost;
            !site.at_start || moved.iter().any(|other| other.id < site.id || same_loop(other))
        })
        .map(|site| site.id)
        .collect()
}

fn assign(steps: &mut [Step], assigned: &FxHashSet<u32>) {
    for step in steps {
        match step {
            Step::Instr(instr) => {
                if let Some(access) = &mut instr.access {
                    access.assign |= assigned.contains(&instr.id);
                }
            }
            Step::Loop(node) => assign(&mut node.body, assigned),
            Step::If(node) => {
                assign(&mut node.then, assigned);
                if let Some(otherwise) = &mut node.otherwise {
                    assign(otherwise, assigned);
                }
            }
            Step::Local { .. } | Step::Sync(..) | Step::Missing { .. } => {}
        }
    }
}

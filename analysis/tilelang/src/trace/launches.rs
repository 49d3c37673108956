//! Primitive functions, their launches, and the buffers in them.

use std::rc::Rc;

use tilefit_python::finding::{Example, Origin, Reason};
use tilefit_syntax::ast::{ExprId, ParamKind};

use super::frames::function_of;
use super::recording::joined;
use super::statements::Flow;
use super::value::{Args, Expr, FrameId, Function, LaunchSpec, Size, TensorSpec, Value, View, not_known, unknown};
use super::{Tracer, example};
use crate::ascend;
use crate::program::{Buffer, BufferId, Dtype, Kind, Memory, Region, Scope};
use crate::vocabulary;

/// Threads of a block where nothing is said.
const USUAL_THREADS: u64 = 128;

impl Tracer<'_> {
    /// Follows a primitive function where it is defined, as its decorator does.
    pub(super) fn prim_func(&mut self, function: &Rc<Function>) -> Value {
        let ast = function.code.ast.clone();
        let Some(syntax) = function_of(&ast, function.stmt) else { return unknown("a function that does not parse") };
        let around = function.frame.unwrap_or(FrameId(0));
        let outer = self.outer_call;
        let annotations: Vec<Option<Value>> = syntax
            .params
            .iter()
            .map(|param| param.annotation.map(|it| self.value_in(around, &function.code, it)))
            .collect();
        self.out.start_function(&function.name);
        let frame = self.push_frame(function.frame, function.code.clone(), true, false);
        for (i, (param, annotation)) in syntax.params.iter().zip(annotations).enumerate() {
            let Some(name) = ast.name(param.name) else { continue };
            let at = self.at(frame, param.name);
            let annotation = match (annotation, param.kind) {
                (Some(Value::Function(of)), _) => Some(self.call_function(&of, &Args::default(), None, frame)),
                (annotation, _) => annotation,
            };
            let value = match (&annotation, param.kind) {
                (_, ParamKind::Args | ParamKind::Kwargs) => unknown("arguments of a kernel that are not known"),
                (Some(annotation), _) => match self.parameter_of(name, annotation, at) {
                    Some(value) => value,
                    None => self.given(name, function.defaults.get(i).cloned().flatten(), example(&ast, param)),
                },
                (None, _) => self.given(name, function.defaults.get(i).cloned().flatten(), example(&ast, param)),
            };
            self.set_inner(frame, name, value);
        }
        let flow = self.body(frame, &syntax.body);
        if let Flow::Raise(reason) = flow {
            self.note(reason);
        }
        self.pop_frame(frame);
        self.outer_call = outer;
        let mut launches = self.out.end_function();
        for launch in &mut launches {
            launch.options = self.options;
        }
        self.prims.push(launches);
        Value::PrimFunc(self.prims.len() - 1)
    }

    /// The value that a parameter of the function that is followed is given.
    pub(super) fn given(&mut self, name: &str, default: Option<Value>, example: Option<Example>) -> Value {
        if !self.traced.parameters.iter().any(|known| known == name) {
            self.traced.parameters.push(name.to_owned());
        }
        match (self.arguments.get(name), default) {
            (Some(constant), _) => self.constant(constant),
            (None, Some(default)) => default,
            (None, None) => self.missing(name, example),
        }
    }

    /// What a parameter with that annotation is: a tensor of global memory, a number of the kernel.
    pub(super) fn parameter_of(&mut self, name: &str, annotation: &Value, at: Origin) -> Option<Value> {
        match annotation {
            Value::Tensor(spec) => {
                let dtype = spec.dtype.clone()?;
                for size in &spec.shape {
                    if let Some(reason) = size.sum.unknown() {
                        let reason = reason.clone();
                        self.needs(&reason);
                    }
                }
                let buffer = Buffer {
                    name: name.into(),
                    scope: spec.scope,
                    dtype: dtype.clone(),
                    shape: spec.shape.iter().map(Size::extent).collect(),
                    is_swizzled: false,
                    address: None,
                    is_used: false,
                    at,
                };
                let id = self.out.add(buffer)?;
                let shape = spec.shape.clone().into();
                Some(Value::Buffer(View { id, scope: spec.scope, dtype, shape, is_variable: false, is_alias: false }))
            }
            Value::Dtype(_) => Some(Value::Expr(Expr::variable(name, super::value::next_id()))),
            Value::Library(path) if matches!(&**path, "tilelang.language.ptr" | "tilelang.language.handle") => {
                Some(Value::Expr(Expr::variable(name, super::value::next_id())))
            }
            Value::Expr(_) => Some(Value::Expr(Expr::variable(name, super::value::next_id()))),
            Value::Unknown(it) => {
                let reason = it.reason.clone().of(&format!("what `{name}` is"));
                Some(not_known(reason))
            }
            _ => None,
        }
    }

    /// `T.Tensor(shape, dtype)`: a description, or another shape of the memory that it is given.
    pub(super) fn tensor(&mut self, frame: FrameId, expr: ExprId, args: &Args, scope: Scope) -> Value {
        let shape = match args.get(0, "shape") {
            Some(shape) => self.shape(&shape.clone()),
            None => Err(Reason::new("a tensor without a shape")),
        };
        let (is_described, shape) = match shape {
            Ok(shape) => (true, shape),
            Err(reason) => (false, vec![self.unknown_size(reason)]),
        };
        let given = args.get(1, "dtype").cloned().unwrap_or_else(|| Value::str("float32"));
        let dtype = self.dtype_of(frame, expr, &given);
        let scope = match args.keyword("scope").and_then(Value::text) {
            Some(name) => self.scope_of(name),
            None => scope,
        };
        let data = match args.get(2, "data") {
            Some(Value::Object(_, touches)) => touches.first().map(|touch| touch.buffer),
            _ => None,
        };
        let dtype = match dtype {
            Ok(dtype) => dtype,
            Err(reason) if is_described => return not_known(reason.of("the type of a tensor")),
            Err(reason) => return not_known(reason),
        };
        match data {
            Some(id) => self.alias(id, shape, dtype),
            None => Value::Tensor(Rc::new(TensorSpec { shape, dtype: Some(dtype), scope, is_output: false })),
        }
    }

    fn alias(&mut self, id: BufferId, shape: Vec<Size>, dtype: Dtype) -> Value {
        match self.out.buffer(id).map(|buffer| buffer.scope) {
            Some(scope) => {
                Value::Buffer(View { id, scope, dtype, shape: shape.into(), is_variable: false, is_alias: true })
            }
            None => unknown("memory of a buffer of another kernel"),
        }
    }

    pub(super) fn reshaped(&mut self, frame: FrameId, expr: ExprId, args: &Args) -> Value {
        let Some(Value::Buffer(view)) = args.get(0, "src").cloned() else {
            return unknown("another shape of a value that is not a buffer");
        };
        let shape = match args.get(1, "shape") {
            Some(Value::None) | None => view.shape.to_vec(),
            Some(shape) => match self.shape(&shape.clone()) {
                Ok(shape) => shape,
                Err(reason) => return not_known(reason),
            },
        };
        let dtype = match args.get(2, "dtype") {
            Some(Value::None) | None => view.dtype.clone(),
            Some(dtype) => match self.dtype_of(frame, expr, &dtype.clone()) {
                Ok(dtype) => dtype,
                Err(reason) => return not_known(reason),
            },
        };
        self.alias(view.id, shape, dtype)
    }

    /// `T.empty(shape, dtype)`
    pub(super) fn output(&mut self, frame: FrameId, expr: ExprId, args: &Args) -> Value {
        let is_plain = args.positional.len() != 1 && args.positional.iter().all(|(value, _)| value.int().is_some());
        let shape = match args.get(0, "shape") {
            Some(first) if first.items().is_some() => self.shape(&first.clone()),
            Some(_) => Ok(args
                .positional
                .iter()
                .filter(|(value, _)| value.text().is_none())
                .map(|(value, _)| self.size(value))
                .collect()),
            None => Err(Reason::new("a tensor without a shape")),
        };
        let shape = match shape {
            Ok(shape) => shape,
            Err(reason) => return not_known(reason),
        };
        let second = if is_plain { None } else { args.positional.get(1).map(|(value, _)| value.clone()) };
        let given = args.keyword("dtype").cloned().or(second.filter(|value| value.text().is_some()));
        let dtype = match self.dtype_of(frame, expr, &given.unwrap_or_else(|| Value::str("float32"))) {
            Ok(dtype) => dtype,
            Err(reason) => return not_known(reason),
        };
        let scope = Scope::Global;
        Value::Tensor(Rc::new(TensorSpec { shape, dtype: Some(dtype), scope, is_output: true }))
    }

    pub(super) fn scope_of(&self, name: &str) -> Scope {
        match name {
            "global" => Scope::Global,
            "shared.dyn" => Scope::Shared,
            "shared" if self.is_for_npus => Scope::OfCore(Memory::Ub),
            "shared.l1" => Scope::OfCore(Memory::L1),
            "wmma.matrix_a" => Scope::OfCore(Memory::L0a),
            "wmma.matrix_b" => Scope::OfCore(Memory::L0b),
            "wmma.accumulator" => Scope::OfCore(Memory::L0c),
            "shared" => Scope::StaticShared,
            "shared.tmem" => Scope::TensorMemory,
            "shared.barrier" | "shared.cluster_barrier" => Scope::Barrier,
            "local.fragment" | "local.reducer" => Scope::Fragment,
            _ => Scope::Local,
        }
    }

    pub(super) fn allocation(&mut self, frame: FrameId, expr: ExprId, name: &str, args: &Args) -> Value {
        if !self.out.is_open() {
            return unknown(format!("`T.{name}` outside a kernel"));
        }
        if let Some(reason) = &args.open {
            self.note(reason.clone().of("a buffer"));
            return not_known(reason.clone());
        }
        let at = self.at(frame, expr);
        let one = || vec![Size::number(1)];
        let (shape, given, mut scope) = match name {
            "alloc_var" => {
                let scope = args.positional.iter().skip(1).chain(args.positional.iter().skip(2));
                let named = scope
                    .filter_map(|(value, _)| value.text())
                    .next()
                    .or_else(|| args.keyword("scope").and_then(Value::text));
                (Ok(one()), args.get(0, "dtype").cloned(), self.scope_of(named.unwrap_or("local.var")))
            }
            "alloc_barrier" | "alloc_cluster_barrier" => {
                let counts = args.get(0, "arrive_count").cloned().unwrap_or(Value::Int(1));
                let shape = match &counts {
                    Value::Unknown(it) => Err(it.reason.clone()),
                    counts => Ok(vec![Size::number(counts.items().map_or(1, |counts| counts.len() as i64))]),
                };
                (shape, Some(Value::str("uint64")), Scope::Barrier)
            }
            "alloc_descriptor" | "alloc_wgmma_desc" | "alloc_tcgen05_smem_desc" => {
                (Ok(one()), Some(Value::str("uint64")), Scope::Local)
            }
            "alloc_tcgen05_instruction_desc" | "alloc_tcgen05_instr_desc" => {
                (Ok(one()), Some(Value::str("uint32")), Scope::Local)
            }
            _ => {
                let shape = match args.get(0, "shape") {
                    Some(shape) => self.shape(&shape.clone()),
                    None => Err(Reason::new("a buffer without a shape")),
                };
                let usual = match name {
                    "alloc_shared" => "shared.dyn",
                    "alloc_fragment" => "local.fragment",
                    "alloc_reducer" => "local.reducer",
                    "alloc_tmem" => "shared.tmem",
                    "alloc_local" => "local",
                    _ => "global",
                };
                let place = if name == "alloc_reducer" { None } else { args.get(2, "scope").and_then(Value::text) };
                let scope = match Memory::of_allocation(name) {
                    Some(memory) => Scope::OfCore(memory),
                    None => self.scope_of(place.unwrap_or(usual)),
                };
                (shape, args.get(1, "dtype").cloned(), scope)
            }
        };
        let shape = shape.unwrap_or_else(|reason| vec![self.unknown_size(reason)]);
        for size in &shape {
            if let Some(reason) = size.sum.unknown() {
                let reason = reason.clone();
                self.needs(&reason);
            }
        }
        let given = given.unwrap_or_else(|| Value::str("float32"));
        let dtype = match self.dtype_of(frame, expr, &given) {
            Ok(dtype) => dtype,
            Err(reason) => {
                self.note(reason.clone().of("the type of a buffer"));
                return not_known(reason);
            }
        };
        if name == "alloc_shared" && &*dtype.name == "bool" {
            scope = self.scope_of("shared");
        }
        let extents = shape.iter().map(Size::extent).collect();
        let buffer = Buffer {
            name: "".into(),
            scope,
            dtype: dtype.clone(),
            shape: extents,
            is_swizzled: false,
            address: None,
            is_used: false,
            at,
        };
        let Some(id) = self.out.add(buffer) else { return unknown("a buffer outside a kernel") };
        let is_variable = name == "alloc_var" && scope == Scope::Local;
        let view = View { id, scope, dtype, shape: shape.into(), is_variable, is_alias: false };
        if name == "alloc_var" {
            let positional =
                args.positional.iter().skip(1).map(|(value, _)| value).find(|value| value.text().is_none());
            let init = args.keyword("init").or(positional).filter(|init| !matches!(init, Value::None)).cloned();
            if let Some(init) = init.and_then(|init| self.expr(&init)) {
                self.store(&view, &[], &init, at);
            }
        }
        Value::Buffer(view)
    }

    /// A buffer that a macro of the language makes.
    pub(super) fn made_buffer(
        &mut self,
        name: &str,
        scope: Scope,
        dtype: &Dtype,
        shape: &[Size],
        at: Origin,
    ) -> Option<View> {
        let extents = shape.iter().map(Size::extent).collect();
        let buffer = Buffer {
            name: name.into(),
            scope,
            dtype: dtype.clone(),
            shape: extents,
            is_swizzled: false,
            address: None,
            is_used: false,
            at,
        };
        let id = self.out.add(buffer)?;
        let shape = shape.to_vec().into();
        Some(View { id, scope, dtype: dtype.clone(), shape, is_variable: false, is_alias: false })
    }

    /// `T.Kernel(…)`
    pub(super) fn launch(&mut self, args: &Args) -> Value {
        if let Some(reason) = &args.open {
            return not_known(reason.clone());
        }
        let threads = match args.keyword("threads").cloned() {
            None | Some(Value::None) => Ok(vec![USUAL_THREADS]),
            Some(Value::Unknown(it)) => Err(it.reason),
            Some(value) => {
                let all = value.items().map_or_else(|| vec![value.clone()], <[Value]>::to_vec);
                let number =
                    |value: &Value| value.int().and_then(|value| u64::try_from(value).ok()).filter(|it| *it <= 1 << 16);
                let unknown = all.iter().find_map(|value| match value {
                    Value::Unknown(it) => Some(it.reason.clone()),
                    _ => None,
                });
                let all: Option<Vec<u64>> = all.iter().map(number).collect();
                all.ok_or_else(|| unknown.unwrap_or_else(|| Reason::new("how many threads a block has")))
            }
        };
        if let Err(reason) = &threads {
            self.needs(&reason.clone());
        }
        let mut block_extents: Vec<Value> = args.positional.iter().map(|(value, _)| value.clone()).collect();
        let is_npu = args.keyword(ascend::KERNEL_OPTION).and_then(Value::truth) == Some(true);
        // The cores, and the two vector cores of each; with threads, the compiler divides the work among these.
        let mut threads = threads;
        if is_npu && args.keyword("threads").is_none_or(|threads| matches!(threads, Value::None)) {
            block_extents.push(Value::Int(2));
            threads = Ok(vec![1]);
        }
        Value::Launch(Rc::new(LaunchSpec { blocks: block_extents.len(), threads, block_extents }))
    }

    pub(super) fn start_launch(&mut self, spec: Rc<LaunchSpec>) {
        let blocks: Vec<Option<i64>> = spec.block_extents.iter().map(Value::int).collect();
        self.facts.start_launch(&blocks, spec.threads.as_deref().ok());
        self.out.start_launch(spec);
    }

    pub(super) fn launch_variables(&mut self, spec: &LaunchSpec) -> Value {
        let of_axis = |axis: &&str| {
            Value::Expr(Expr::variable(&format!("b{axis}"), vocabulary::key(&format!("get_block_binding{axis}"))))
        };
        let mut variables: Vec<Value> = ["x", "y", "z"].iter().take(spec.blocks.clamp(1, 3)).map(of_axis).collect();
        match variables.len() {
            1 => variables.remove(0),
            _ => Value::list(variables),
        }
    }

    pub(super) fn launch_extent(&mut self, name: &str, args: &Args) -> Value {
        let Some(spec) = self.out.spec() else { return unknown(format!("`T.{name}` outside a launch")) };
        let of = |dim: usize| match name.contains("block") {
            true => spec.block_extents.get(dim).cloned().unwrap_or(Value::Int(1)),
            false => match &spec.threads {
                Ok(threads) => Value::Int(threads.get(dim).map_or(1, |&threads| threads as i64)),
                Err(reason) => not_known(reason.clone()),
            },
        };
        match name.ends_with('s') {
            true => Value::list((0..3).map(of).collect()),
            false => of(args.get(0, "dim").and_then(Value::int).and_then(|dim| usize::try_from(dim).ok()).unwrap_or(0)),
        }
    }

    /// `T.annotate_layout({buffer: layout})`
    pub(super) fn annotated_layout(&mut self, args: &Args) -> Value {
        let Some(Value::Dict(pairs)) = args.get(0, "layout_map").cloned() else { return Value::None };
        for (key, layout) in pairs.items.iter() {
            let Value::Buffer(view) = key else { continue };
            if !matches!(view.scope, Scope::Shared | Scope::StaticShared) {
                continue;
            }
            match layout {
                Value::Object(path, _) if path.contains("swizzle") => {
                    if let Some(buffer) = self.out.buffer_mut(view.id) {
                        buffer.is_swizzled = true;
                    }
                }
                Value::Object(path, _) if path.contains("linear") => {}
                _ => self.note(Reason::new("the layout of a buffer in shared memory is not followed")),
            }
        }
        Value::None
    }

    /// `T.annotate_address({buffer: address})`
    pub(super) fn annotated_address(&mut self, args: &Args) -> Value {
        match args.get(0, "address_map").cloned() {
            Some(Value::Dict(pairs)) => {
                for (key, address) in pairs.items.iter() {
                    let Value::Buffer(view) = key else {
                        self.note(Reason::new("which buffer `T.annotate_address` places is not known"));
                        continue;
                    };
                    let address = self.size(address).extent();
                    if let Some(buffer) = self.out.buffer_mut(view.id) {
                        buffer.address = Some(address);
                    }
                }
            }
            _ => self.note(Reason::new("which buffers `T.annotate_address` places is not known")),
        }
        Value::None
    }

    /// A product of the cube core: `T.gemm_v0`, `T.mma`.
    pub(super) fn cube_product(&mut self, frame: FrameId, expr: ExprId, name: &str, args: &Args) -> Value {
        let at = self.at(frame, expr);
        let operands = [args.get(0, "A"), args.get(1, "B"), args.get(2, "C")];
        let operands = operands.map(|value| value.and_then(|value| self.operand(value)));
        let [Some(left), Some(right), Some(sum)] = operands else {
            self.note(Reason::new(format!("the argument of `T.{name}` is not a buffer")));
            return Value::None;
        };
        let region = |operand: &super::copies::Operand| Region {
            buffer: operand.view.id,
            extents: Some(operand.full().iter().map(Size::extent).collect()),
            is_inside: None,
        };
        let indices = joined([&left.touches[..], &right.touches, &sum.touches]);
        let reads = [vec![region(&left), region(&right)], Self::read_of(&indices)].concat();
        let product = if name == "mma" { ascend::MMA } else { ascend::GEMM };
        Self::operation_of(Kind::Other(product.into()), reads, vec![region(&sum)], at)
    }

    /// `T.im2col(…)`, `T.transpose(…)`: a copy of what it takes from one buffer to another.
    pub(super) fn window(&mut self, frame: FrameId, expr: ExprId, name: &str, args: &Args) -> Value {
        let at = self.at(frame, expr);
        let names = if name == "transpose" { ["src", "dst"] } else { ["img", "col"] };
        let source = args.get(0, names[0]).and_then(|value| self.operand(value));
        let target = args.get(1, names[1]).and_then(|value| self.operand(value));
        let (Some(source), Some(target)) = (source, target) else {
            self.note(Reason::new(format!("the argument of `T.{name}` is not a buffer")));
            return Value::None;
        };
        let region = |operand: &super::copies::Operand| Region {
            buffer: operand.view.id,
            extents: Some(operand.full().iter().map(Size::extent).collect()),
            is_inside: None,
        };
        let indices = joined([&source.touches[..], &target.touches]);
        let reads = [vec![region(&source)], Self::read_of(&indices)].concat();
        Self::operation_of(Kind::Other(name.trim_end_matches("_2d").into()), reads, vec![region(&target)], at)
    }
}

//! What TileLang's language and the libraries of Python have under their names.

use std::rc::Rc;

use tilefit_python::finding::{Example, Reason};
use tilefit_python::spelling;
use tilefit_syntax::ast::ExprId;

use super::recording::joined;
use super::symbolic::Sum;
use super::value::{self, Args, Expr, FrameId, Size, Touch, Value, not_known, unknown};
use super::{Tracer, What};
use crate::program::Scope;
use crate::{dtypes, vocabulary};

const LANGUAGE: &str = "tilelang.language.";

/// A path under the name that tilefit has for its module.
pub(super) fn normal(path: &str) -> String {
    let moved = [
        ("tilelang.cuda.language", "tilelang.language"),
        ("tilelang.ascend.language", "tilelang.language"),
        ("tilelang.language.common", "tilelang.language"),
        ("tilelang.language.eager", "tilelang.language"),
        ("tilelang.jit.jit", "tilelang.jit"),
        ("tilelang.tvm", "tvm"),
        ("tilelang.autotuner.autotune", "tilelang.autotune"),
    ];
    for (from, to) in moved {
        match path.strip_prefix(from) {
            Some("") => return to.to_owned(),
            Some(rest) if rest.starts_with('.') => return format!("{to}{rest}"),
            _ => {}
        }
    }
    path.to_owned()
}

impl Tracer<'_> {
    /// `module.name`
    pub(super) fn member_of_library(&mut self, frame: FrameId, expr: ExprId, path: &str, name: &str) -> Value {
        let full = normal(&format!("{path}.{name}"));
        let is_unknown = !vocabulary::is_member(name) && dtypes::parse(name).is_none();
        if path == "tilelang.language" && is_unknown && !self.is_for_npus {
            let at = self.at(frame, expr);
            self.mistake(at, What::Member { name: name.to_owned(), nearest: vocabulary::nearest(name) });
            return unknown(format!("`T.{name}` does not exist"));
        }
        self.of_library(&full)
    }

    /// `T.Tensor[[M, N], dtype]`
    pub(super) fn indexed_library(&mut self, frame: FrameId, expr: ExprId, path: &str, index: &Value) -> Value {
        let Some(name) = path.strip_prefix(LANGUAGE) else { return unknown("an indexed name of a library") };
        let mut args = Args::default();
        match index.items() {
            Some(items) if items.iter().any(|item| item.items().is_some() || item.text().is_some()) => {
                args.positional = items.iter().map(|item| (item.clone(), None)).collect();
            }
            _ => args.positional.push((index.clone(), None)),
        }
        match name {
            "Tensor" | "Buffer" | "StridedTensor" => self.tensor(frame, expr, &args, Scope::Global),
            _ => unknown(format!("`T.{name}[…]` is not followed")),
        }
    }

    pub(super) fn call_library(&mut self, frame: FrameId, expr: ExprId, path: &str, args: &Args) -> Value {
        let path = normal(path);
        if let Some(name) = path.strip_prefix("builtins.") {
            return self.builtin(frame, expr, name, args);
        }
        if let Some(name) = path.strip_prefix(LANGUAGE) {
            return self.call_language(frame, expr, name, args);
        }
        if let Some(name) = path.strip_prefix("math.").or_else(|| path.strip_prefix("numpy.")) {
            return self.mathematics(name, args);
        }
        match path.as_str() {
            "itertools.product" => self.product(args),
            "itertools.chain" => {
                let lists: Result<Vec<_>, _> = args.positional.iter().map(|(list, _)| self.iterated(list)).collect();
                lists.map_or_else(not_known, |lists| self.long(lists.concat(), true))
            }
            "functools.partial" => match args.positional.split_first() {
                Some(((callee, _), rest)) => {
                    let given = Args { positional: rest.to_vec(), ..args.clone() };
                    let made = Value::Partial(Rc::new((callee.clone(), given)));
                    Value::tuple(vec![made]).items().and_then(|it| it.first().cloned()).unwrap_or(Value::None)
                }
                None => unknown("`partial` of nothing"),
            },
            "tilelang.cdiv" | "tilelang.math.cdiv" | "tvm.tir.ceildiv" | "tvm.tirx.ceildiv" | "triton.cdiv" => {
                self.ceildiv(args)
            }
            "tilelang.next_power_of_2" | "tilelang.math.next_power_of_2" | "triton.next_power_of_2" => {
                match args.get(0, "n").map(|n| (n.int(), n.clone())) {
                    Some((Some(n), _)) if (0..=1 << 40).contains(&n) => {
                        Value::Int((n.max(1) as u64).next_power_of_two() as i64)
                    }
                    Some((_, Value::Unknown(it))) => not_known(it.reason),
                    _ => unknown("the next power of two of a value"),
                }
            }
            "tvm.DataType" | "tilelang.DataType" | "tilelang.dtypes.dtype" => self.dtype_call(frame, expr, args),
            "copy.copy" | "copy.deepcopy" => args.get(0, "x").cloned().unwrap_or(Value::None),
            "os.environ.get" | "os.getenv" => args.get(1, "default").cloned().unwrap_or(Value::None),
            _ if path.starts_with("tilelang.layout.")
                || path.starts_with("tilelang.") && path.ends_with("_layout") && path.contains(".make_") =>
            {
                let mut touches = Vec::new();
                args.values().for_each(|value| self.touches_of(value, &mut touches));
                Value::Object(path.as_str().into(), touches.into())
            }
            "tvm.tir.const" | "tvm.tirx.const" => args.get(0, "value").cloned().unwrap_or(Value::None),
            _ => match path.strip_prefix("tvm.tir.").or_else(|| path.strip_prefix("tvm.tirx.")) {
                Some(name) if vocabulary::is_member(name) => self.call_language(frame, expr, name, args),
                _ => self.not_followed(Reason::new(format!("`{path}` is not followed")), args),
            },
        }
    }

    /// What a call gives that is not followed: what it is given is touched all the same.
    pub(super) fn not_followed(&mut self, reason: Reason, args: &Args) -> Value {
        let mut touches = Vec::new();
        args.values().for_each(|value| self.touches_of(value, &mut touches));
        if touches.is_empty() || !self.out.is_launched() {
            return not_known(reason);
        }
        self.note(reason.clone().of("a call that is not followed"));
        let sum = Sum::atom(value::next_id(), Some(reason));
        let mut made = Expr::opaque(sum, "an unknown value".to_owned(), true, joined([&touches[..]]).into());
        made.is_variable = false;
        made.call = Some("call".into());
        Value::Expr(made)
    }

    fn dtype_call(&mut self, frame: FrameId, expr: ExprId, args: &Args) -> Value {
        match args.get(0, "dtype") {
            Some(value) => match self.dtype_of(frame, expr, &value.clone()) {
                Ok(dtype) => Value::Dtype(dtype),
                Err(reason) => not_known(reason),
            },
            None => unknown("a type of nothing"),
        }
    }

    /// An element type, from a type or its name.
    pub(super) fn dtype_of(
        &mut self,
        frame: FrameId,
        expr: ExprId,
        value: &Value,
    ) -> Result<crate::program::Dtype, Reason> {
        match value {
            Value::Dtype(dtype) => Ok(dtype.clone()),
            Value::Str(name) => match dtypes::parse(name) {
                Some(dtype) => Ok(dtype),
                None => {
                    let at = self.at(frame, expr);
                    let nearest = dtypes::nearest(name);
                    self.mistake(at, What::Dtype { name: name.to_string(), nearest });
                    Err(Reason::new(format!("`{name}` is not an element type")))
                }
            },
            Value::Library(path) => match &**path {
                "builtins.float" => dtypes::parse("float32").ok_or_else(|| Reason::new("a type")),
                "builtins.int" => dtypes::parse("int32").ok_or_else(|| Reason::new("a type")),
                "builtins.bool" => dtypes::parse("bool").ok_or_else(|| Reason::new("a type")),
                "tilelang.language.ptr" => dtypes::parse("int64").ok_or_else(|| Reason::new("a type")),
                _ => Err(Reason::new(format!("`{path}` is not known to be an element type"))),
            },
            Value::Unknown(it) => {
                let reason = it.reason.clone();
                Err(self.needs_as(reason, Example::Elements))
            }
            _ => Err(Reason::new("an element type that is not followed")),
        }
    }

    /// Arguments that a function of the language does not have, and parameters that are given nothing.
    fn check_arguments(&mut self, frame: FrameId, expr: ExprId, name: &str, args: &Args) {
        let Some(word) = vocabulary::function_word(name) else { return };
        if word.params.iter().any(|param| param.starts_with("**")) {
            return;
        }
        for (keyword, _, at) in &args.keywords {
            if word.param_names().any(|param| param == &**keyword) {
                continue;
            }
            let nearest = spelling::nearest(keyword, word.param_names());
            let at = self.at(frame, at.unwrap_or(expr));
            let (function, keyword) = (format!("T.{name}"), keyword.to_string());
            self.mistake(at, What::Keyword { function, keyword, nearest });
        }
        if args.open.is_some() {
            return;
        }
        let by_place = word.params.iter().take_while(|param| !param.starts_with('*')).count();
        let takes_more = word.params.iter().any(|param| param.starts_with('*') && param.len() > 1);
        if args.positional.len() > by_place && !takes_more {
            let at = self.at(frame, expr);
            let given = args.positional.len();
            self.mistake(at, What::Arguments { function: format!("T.{name}"), given, most: by_place });
        }
        for (i, param) in word.params.iter().enumerate() {
            let is_given = i < by_place && i < args.positional.len() || args.keyword(param).is_some();
            if is_given || param.contains('=') || param.starts_with('*') {
                continue;
            }
            let at = self.at(frame, expr);
            self.mistake(at, What::Missing { function: format!("T.{name}"), parameter: (*param).to_owned() });
        }
    }

    fn call_language(&mut self, frame: FrameId, expr: ExprId, name: &str, args: &Args) -> Value {
        self.check_arguments(frame, expr, name, args);
        match name {
            "alloc_shared"
            | "alloc_local"
            | "alloc_fragment"
            | "alloc_global"
            | "alloc_var"
            | "alloc_barrier"
            | "alloc_cluster_barrier"
            | "alloc_tmem"
            | "alloc_reducer"
            | "alloc_descriptor"
            | "alloc_wgmma_desc"
            | "alloc_tcgen05_smem_desc"
            | "alloc_tcgen05_instruction_desc"
            | "alloc_tcgen05_instr_desc"
            | "alloc_buffer"
            | "alloc_ub"
            | "alloc_L1"
            | "alloc_L0A"
            | "alloc_L0B"
            | "alloc_L0C"
            | "alloc_l1"
            | "alloc_l0a"
            | "alloc_l0b"
            | "alloc_l0c"
            | "allocate" => self.allocation(frame, expr, name, args),
            "Tensor" | "Buffer" | "StridedTensor" | "match_buffer" | "make_tensor" => {
                self.tensor(frame, expr, args, Scope::Global)
            }
            "FragmentBuffer" => self.tensor(frame, expr, args, Scope::Fragment),
            "SharedBuffer" => self.tensor(frame, expr, args, Scope::Shared),
            "LocalBuffer" => self.tensor(frame, expr, args, Scope::Local),
            "empty" => self.output(frame, expr, args),
            "view" | "reshape" => self.reshaped(frame, expr, args),
            "const" | "dynamic" | "symbolic" | "var" => self.declared(name, args),
            "Kernel" | "ClusterKernel" => self.launch(args),
            "serial" | "Serial" | "unroll" | "Unroll" | "Parallel" | "parallel" | "vectorized" | "Vectorized"
            | "Pipelined" | "Persistent" | "grid" | "thread_binding" => self.loop_spec(name, args),
            "ceildiv" => self.ceildiv(args),
            "floordiv" | "floormod" | "truncdiv" | "truncmod" | "min" | "max" | "if_then_else" | "Select" | "cast"
            | "Cast" | "bitwise_and" | "bitwise_or" | "shift_left" | "shift_right" => self.arithmetic(name, args),
            "copy" | "async_copy" | "tma_copy" | "copy_cluster" => self.copy(frame, expr, name, args),
            "im2col" | "c2d_im2col" | "transpose" => self.window(frame, expr, name, args),
            "gemm"
            | "wgmma_gemm"
            | "tcgen05_gemm"
            | "gemm_sp"
            | "gemm_blockscaled"
            | "tcgen05_gemm_blockscaled"
            | "mma_gemm_blockscaled"
            | "wgmma_gemm_sp"
            | "tcgen05_gemm_sp" => self.gemm(frame, expr, name, args),
            "gemm_v0" | "mma" if self.is_for_npus => self.cube_product(frame, expr, name, args),
            // The core that runs a part of the kernel; the compiler does not ask on which a buffer is.
            "Scope" if self.is_for_npus => Value::Object("scope".into(), Rc::from([])),
            "annotate_address" if self.is_for_npus => self.annotated_address(args),
            // Names of TileLang that take other arguments there, and give a number.
            "use_swizzle" | "npu_use_swizzle" if self.is_for_npus => self.intrinsic(name, args),
            "fill" | "clear" => self.fill(frame, expr, args),
            "cumsum" | "cummax" => self.scan(frame, expr, name, args),
            "finalize_reducer" => self.finalized(frame, expr, args),
            "use_swizzle"
            | "annotate_safe_value"
            | "annotate_l2_hit_ratio"
            | "annotate_restrict_buffers"
            | "annotate_min_blocks_per_sm"
            | "annotate_compile_flags"
            | "import_source"
            | "sblock_attr"
            | "func_attr"
            | "block_attr" => Value::None,
            "annotate_pass_configs" => {
                let configs = args.get(0, "configs").cloned().unwrap_or(Value::None);
                self.configure(&configs);
                Value::None
            }
            "annotate_layout" => self.annotated_layout(args),
            "annotate_ws_pipeline_depth" | "annotate_ws_schedule" | "ws_op" => {
                self.options.has_roles = true;
                Value::None
            }
            "ws" | "WarpSpecialize" => {
                self.options.is_warp_specialization_off = true;
                self.options.has_roles = true;
                // Each is a group of warps.
                const GROUP: u64 = 128;
                let are_numbers = args.open.is_none() && args.positional.iter().all(|(it, _)| it.int().is_some());
                Value::Guard(are_numbers.then(|| GROUP.saturating_mul(args.positional.len() as u64)))
            }
            "attr" => Value::Object("attr".into(), Rc::from([])),
            "evaluate" => {
                let value = args.get(0, "value").cloned().unwrap_or(Value::None);
                let at = self.at(frame, expr);
                self.emit_value(&value, at);
                Value::None
            }
            "access_ptr" | "address_of" => self.address(args),
            "get_thread_binding" | "get_block_binding" | "get_cluster_id" => {
                let dim = args.get(0, "dim").and_then(Value::int).unwrap_or(0);
                let axis = ["x", "y", "z"].get(dim as usize).copied().unwrap_or("x");
                let letter = if name == "get_thread_binding" { "t" } else { "b" };
                Value::Expr(Expr::variable(&format!("{letter}{axis}"), vocabulary::key(&format!("{name}{axis}"))))
            }
            "get_thread_bindings" | "get_block_bindings" => {
                let letter = if name == "get_thread_bindings" { "t" } else { "b" };
                let single = name.trim_end_matches('s');
                let of_axis = |axis| {
                    Value::Expr(Expr::variable(&format!("{letter}{axis}"), vocabulary::key(&format!("{single}{axis}"))))
                };
                Value::list(["x", "y", "z"].into_iter().map(of_axis).collect())
            }
            "get_thread_extent" | "get_block_extent" | "get_thread_extents" | "get_block_extents" => {
                self.launch_extent(name, args)
            }
            "dtype" => self.dtype_call(frame, expr, args),
            "infinity" | "max_value" | "min_value" => {
                Value::Expr(self.operation(name, format!("T.{name}(…)"), true, &[]))
            }
            "has_let_value" => Value::Bool(false),
            "ptr" => Value::Expr(Expr::variable("ptr", value::next_id())),
            _ if name.starts_with("reduce_") || name == "reduce" => self.reduction(frame, expr, name, args),
            _ if name.starts_with("atomic_") => self.atomic(frame, expr, name, args),
            _ => self.intrinsic(name, args),
        }
    }

    /// Any other function of the language: an operation on what it is given.
    fn intrinsic(&mut self, name: &str, args: &Args) -> Value {
        let mut touches = Vec::new();
        let mut operands = Vec::new();
        // The type and the name of a function of the device touch nothing.
        let names = if matches!(name, "call_extern" | "call_intrin" | "call_pure_extern") { 2 } else { 0 };
        for (i, value) in args.values().enumerate() {
            match value {
                // It is given an address, and may write there.
                Value::Buffer(view) if view.scope != Scope::Barrier && !view.is_variable && name != "print" => {
                    touches.push(Touch { buffer: view.id, reads: true, writes: true });
                }
                value => self.touches_of(value, &mut touches),
            }
            operands.extend(self.expr(value));
            if let Value::Unknown(it) = value
                && i >= names
                && self.out.is_launched()
                && vocabulary::is_effect(name)
            {
                self.note(it.reason.clone());
            }
        }
        let text = format!("T.{name}({})", operands.iter().map(|it| &*it.text).collect::<Vec<_>>().join(", "));
        let mut expr = self.operation(name, text, true, &operands);
        if matches!(name, "shuffle_elect" | "get_lane_idx") || name.starts_with("get_warp") {
            expr.sum.only_key().into_iter().for_each(|key| self.facts.note_of_thread(key));
        }
        let order = [&expr.touches[..], &touches];
        expr.touches = joined(order).into();
        let is_far = matches!(name, "mbarrier_arrive" | "barrier_arrive")
            && args.get(1, "cta_id").is_some_and(|block| !matches!(block, Value::None));
        expr.call = Some(if is_far { "tl.ptx_arrive_cluster_barrier".into() } else { vocabulary::in_tir(name) });
        Value::Expr(expr)
    }

    fn address(&mut self, args: &Args) -> Value {
        let mode = match args.get(1, "access_type").and_then(Value::text) {
            Some(mode) if mode.chars().all(|letter| letter == 'r' || letter == 'w') => mode.to_owned(),
            _ => "rw".to_owned(),
        };
        let place = args.get(0, "base").or_else(|| args.get(0, "buffer_load")).cloned();
        let mut touches = Vec::new();
        match &place {
            Some(Value::Element(part) | Value::Region(part)) => {
                touches.push(Touch { buffer: part.view.id, reads: mode.contains('r'), writes: mode.contains('w') });
                touches.extend_from_slice(&part.touches);
            }
            Some(Value::Buffer(view)) => {
                touches.push(Touch { buffer: view.id, reads: mode.contains('r'), writes: mode.contains('w') });
            }
            Some(value) => self.touches_of(value, &mut touches),
            None => {}
        }
        Value::Object("pointer".into(), joined([&touches[..]]).into())
    }

    pub(super) fn elementwise(&mut self, name: &str, operands: &[Value]) -> Value {
        if let Some(Value::Unknown(it)) = operands.iter().find(|it| matches!(it, Value::Unknown(_)))
            && operands.iter().all(|it| !matches!(it, Value::Expr(_) | Value::Element(_)))
        {
            return not_known(it.reason.clone());
        }
        let operands: Vec<Expr> = operands.iter().filter_map(|operand| self.expr(operand)).collect();
        let text = format!("T.{name}({})", operands.iter().map(|it| &*it.text).collect::<Vec<_>>().join(", "));
        Value::Expr(self.operation(name, text, true, &operands))
    }

    /// `T.dynamic("M, N")`, `T.const("M, N")`
    fn declared(&mut self, name: &str, args: &Args) -> Value {
        let Some(text) = args.get(0, "name").and_then(Value::text).map(str::to_owned) else {
            return unknown(format!("`T.{name}` of a name that is not known"));
        };
        let separator = if text.contains(',') { ',' } else { ' ' };
        let names: Vec<&str> = text.split(separator).map(str::trim).collect();
        let mut values = Vec::new();
        for one in &names {
            values.push(match name {
                "const" => self.constant_size(one),
                _ => Value::Expr(Expr::variable(one, value::next_id())),
            });
        }
        match values.len() {
            1 => values.remove(0),
            _ => Value::tuple(values),
        }
    }

    pub(super) fn unknown_size(&self, reason: Reason) -> Size {
        Size { sum: Sum::atom(value::next_id(), Some(reason)), text: "?".into() }
    }
}

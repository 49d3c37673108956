//! What the front end of the compiler refuses (`triton/compiler/code_generator.py` and `triton/language/semantic.py`), as far as it is known what it is given.

use std::rc::Rc;

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Finding, Origin, Reason};
use tilefit_syntax::ast::{Ast, BinaryOp, CompareOp, Expr, ExprId, Stmt, StmtId};

use super::super::device::Compiler;
use super::super::language::Dtype;
use super::super::program::elements;
use super::calls::Args;
use super::value::{Scalar, Tensor, Value};
use super::{Dialect, Frame, Tracer, python};

impl Tracer<'_> {
    /// Says what the compiler refuses.
    pub(super) fn refuse(&mut self, frame: &Frame, expr: ExprId, code: Code, message: String) {
        self.refuse_at(frame, Origin::Expr(expr), code, message);
    }

    /// `static_assert(condition, message)` (`CodeGenerator.execute_static_assert`): where it does not hold, the compiler goes no further.
    pub(super) fn static_assert(&mut self, frame: &mut Frame, expr: ExprId, args: &Args) {
        if frame.is_host || self.uncertain > 0 || !self.findings.is_empty() {
            return;
        }
        let is_of_triton = self.is_of_triton(frame);
        if is_of_triton && (!matches!(args.positional.len(), 1 | 2) || !args.named.is_empty()) {
            let message = "`static_assert` takes a condition and a message, both by position".to_owned();
            return self.refuse(frame, expr, Code::Rejected, message);
        }
        match args.positional.first() {
            // Where a branch is not known that a name gets its value in, a constant may look like a number of the kernel.
            Some(Value::Scalar(_) | Value::Tensor(_))
                if is_of_triton
                    && self.undecided.is_empty()
                    && self.of_untyped.is_empty()
                    && self.notes.is_empty()
                    && !self.compares_what_is_not_told(frame, expr) =>
            {
                let message = "the condition of a `static_assert` must be known when the kernel is compiled, and this is computed by the kernel";
                self.refuse(frame, expr, Code::Rejected, message.to_owned());
            }
            // A number is refused whatever it is; one that a comment gives for a truth value is meant as that.
            Some(Value::Bool(false) | Value::Int(0)) if !self.compares_what_is_not_told(frame, expr) => {
                let says = match args.positional.get(1) {
                    Some(message @ Value::Str(_)) => format!(": {}", python::text(message)),
                    _ => String::new(),
                };
                let function = match frame.call {
                    Some(_) => " of a function that it calls",
                    None => "",
                };
                let message = format!("a `static_assert`{function} fails, so the compiler refuses the kernel{says}");
                self.refuse(frame, expr, Code::StaticAssert, message);
                self.is_ended = true;
            }
            _ => {}
        }
    }

    /// Whether an unknown argument of a call is compared with `None`: it may be that.
    fn compares_what_is_not_told(&mut self, frame: &mut Frame, call: ExprId) -> bool {
        let ast = frame.ast.clone();
        let Expr::Call { args, .. } = ast.expr(call) else { return false };
        let mut open: Vec<ExprId> = args.first().map(|arg| arg.value).into_iter().collect();
        while let Some(expr) = open.pop() {
            match ast.expr(expr) {
                Expr::Compare { left, rest } => {
                    let is_identity = |(op, _): &(CompareOp, ExprId)| {
                        matches!(op, CompareOp::Is | CompareOp::IsNot | CompareOp::Eq | CompareOp::Ne)
                    };
                    let may_be_none =
                        |value: &Value| matches!(value, Value::Scalar(Scalar { dtype: Dtype::UNTYPED, .. }));
                    if rest.iter().any(is_identity) && may_be_none(&self.value(frame, *left)) {
                        return true;
                    }
                }
                Expr::Bool2 { left, right, .. } => open.extend([*left, *right]),
                Expr::Unary { operand, .. } => open.push(*operand),
                _ => {}
            }
        }
        false
    }

    /// The languages whose front end is known to be Triton's own.
    fn is_of_triton(&self, frame: &Frame) -> bool {
        !frame.is_host && self.launch.dialect != Dialect::Tlx
    }

    /// Statements that there are none of in a kernel (`CodeGenerator.visit`).
    pub(super) fn refuse_statement(&mut self, frame: &Frame, at: StmtId, keyword: &str) {
        if self.is_of_triton(frame) {
            let message = format!(
                "Triton has no `{keyword}` in kernels; skip the rest with an `if`, or make it a condition of a `while`"
            );
            self.refuse_at(frame, Origin::Stmt(at), Code::Rejected, message);
        }
    }

    /// A branch on a condition that the kernel computes (`CodeGenerator.visit_If`).
    pub(super) fn check_branch(&mut self, frame: &Frame, at: ExprId, condition: &Value, bodies: [&[StmtId]; 2]) {
        if !self.is_of_triton(frame) {
            return;
        }
        match condition {
            Value::Tensor(tensor) if elements(&tensor.shape) != 1 => {
                let message =
                    format!("an `if` takes one truth value, and this is a tensor of {}", elements(&tensor.shape));
                self.refuse(frame, at, Code::InvalidOperand, message);
            }
            Value::Scalar(_) | Value::Tensor(_)
                if frame.loops > 0
                    && self.of_untyped.is_empty()
                    && bodies.iter().any(|body| returns(&frame.ast, body)) =>
            {
                let message = "Triton has no `return` inside a `for` or a `while`".to_owned();
                self.refuse(frame, at, Code::Rejected, message);
            }
            _ => {}
        }
    }

    /// Whether there is anything to refuse where it depends on nothing that is not decided, and nothing has been refused before.
    pub(super) fn may_be_refused(&self, frame: &Frame) -> bool {
        self.is_of_triton(frame) && self.undecided.is_empty() && self.uncertain == 0 && self.findings.is_empty()
    }

    /// Elements of 8 bits that NVIDIA's device has no instructions for (`supported_fp8_dtypes` in `third_party/nvidia/backend/compiler.py`).
    pub(super) fn check_float8(&mut self, frame: &Frame, at: ExprId, dtype: Dtype) {
        let (element, capability) = (dtype.element(), self.launch.hardware.capability);
        let is_taken = match element.name {
            "float8e4nv" => capability >= 89,
            "float8e4b8" | "float8e5b16" => false,
            _ => true,
        };
        if is_taken || self.is_amd() || frame.is_host {
            return;
        }
        let message = format!(
            "sm_{capability} has no elements of type `{element}`: Triton takes `float8e5` and `float8e4b15` there, and `float8e4nv` from sm_89 on"
        );
        self.refuse(frame, at, Code::UnsupportedTarget, message);
    }

    /// What a name is before a loop and behind a round of it: it has one type in all rounds (`CodeGenerator._verify_loop_carried_variable`).
    pub(super) fn check_carried_type(&mut self, frame: &Frame, at: StmtId, name: &str, [before, behind]: [&Value; 2]) {
        let (Some(one), Some(two)) = (self.element_type(before), self.element_type(behind)) else { return };
        let shape = |value: &Value| match value {
            Value::Tensor(tensor) => Some(tensor.shape.clone()),
            _ => None,
        };
        let shapes = [shape(before), shape(behind)];
        let is_known = |dtype: Dtype| ![Dtype::ANY, Dtype::UNTYPED, Dtype::POINTER_TO_ANY].contains(&dtype);
        let is_other_shape = match &shapes {
            [Some(one), Some(two)] => one != two,
            [None, None] => false,
            [None, Some(_)] => is_known(one),
            [Some(_), None] => is_known(two),
        };
        if !is_other_shape && !self.differ_surely(one, two) && !self.is_too_narrow(before, one, two) {
            return;
        }
        let said = |dtype: Dtype, shape: &Option<Rc<Vec<u64>>>| {
            let of = match dtype {
                _ if !is_known(dtype) => String::new(),
                _ if dtype.is_pointer() => " of pointers".to_owned(),
                _ => format!(" of `{dtype}`"),
            };
            match shape {
                Some(shape) => format!("a tensor{of} of shape {shape:?}"),
                None if dtype.is_pointer() => "a pointer".to_owned(),
                None => format!("one `{dtype}`"),
            }
        };
        let instead = match (before, &shapes[1]) {
            (Value::Int(0) | Value::Float(0.0), Some(shape)) if is_known(two) && !two.is_pointer() => {
                format!("start with `tl.zeros({shape:?}, tl.{two})`")
            }
            (Value::Int(number), None) if two.is_floating() => format!("start with `{number}.0`"),
            _ if !is_other_shape => format!("cast it back with `.to(tl.{one})`, or start with `{two}`"),
            _ => "give what a round makes of it a name of its own".to_owned(),
        };
        let message = format!(
            "`{name}` is {} before the loop and {} after a round of it, but a name has one type in all rounds; {instead}",
            said(one, &shapes[0]),
            said(two, &shapes[1]),
        );
        self.refuse_at(frame, Origin::Stmt(at), Code::Rejected, message);
    }

    fn element_type(&self, value: &Value) -> Option<Dtype> {
        match value {
            Value::Tensor(tensor) => Some(tensor.dtype),
            Value::Scalar(scalar) => Some(scalar.dtype),
            Value::Int(_) | Value::Float(_) | Value::Bool(_) => Some(self.number_type(value)),
            _ => None,
        }
    }

    /// Whether two types differ, whatever the untyped numbers are.
    fn differ_surely(&self, one: Dtype, two: Dtype) -> bool {
        let are_known = [one, two].iter().all(|it| ![Dtype::ANY, Dtype::UNTYPED].contains(it) && !it.is_pointer());
        let class = |dtype: Dtype| (dtype.is_floating(), dtype.bits == 1);
        let is_open = match class(one) == class(two) && !one.is_floating() {
            true => !self.of_untyped.is_empty() || self.takes_numbers,
            false => !self.floats.is_empty() || self.takes_numbers,
        };
        are_known && !is_open && one != two
    }

    /// Whether what starts as a constant becomes wider, whatever the untyped numbers are: they would make it no narrower.
    fn is_too_narrow(&self, before: &Value, one: Dtype, two: Dtype) -> bool {
        let is_constant = match before {
            Value::Int(_) => true,
            Value::Tensor(Tensor { id, .. }) | Value::Scalar(Scalar { id, .. }) => {
                self.axes_of(*id).is_some_and(|info| info.is_constant())
            }
            _ => false,
        };
        let is_integer =
            |dtype: Dtype| dtype != Dtype::ANY && !dtype.is_floating() && !dtype.is_pointer() && dtype.bits > 1;
        is_constant && is_integer(one) && is_integer(two) && two.bits == 64 && one.bits < 64
    }

    /// Numbers of 8 bits with a point, and integers that have a name (`computation_type_impl`): what is written there takes the type of the other side.
    /// `written`: the expressions of the operands, where these may be numbers that have a name.
    pub(super) fn check_common_type(
        &mut self,
        frame: &Frame,
        at: ExprId,
        [one, other]: [&Value; 2],
        written: Option<[ExprId; 2]>,
    ) {
        let is_float8 = |dtype: Dtype| dtype.name.starts_with("float8");
        let is_one = |value: &Value| match value {
            Value::Tensor(Tensor { dtype, .. }) | Value::Scalar(Scalar { dtype, .. }) => is_float8(*dtype),
            _ => false,
        };
        if !is_one(one) && !is_one(other) {
            return;
        }
        let dtype_of = |value: &Value, nth: usize| match value {
            Value::Tensor(Tensor { dtype, .. }) | Value::Scalar(Scalar { dtype, .. }) => Some(*dtype),
            Value::Int(_) => {
                written.filter(|all| self.is_held(frame, all[nth], value)).map(|_| self.number_type(value))
            }
            _ => None,
        };
        let (Some(one), Some(other)) = (dtype_of(one, 0), dtype_of(other, 1)) else { return };
        if !self.floats.is_empty() || self.takes_numbers {
            return;
        }
        let (float, integer) = if one.is_floating() { (one, other) } else { (other, one) };
        let is_integer = !integer.is_floating() && !integer.is_pointer();
        let is_known = ![Dtype::ANY, Dtype::UNTYPED].contains(&integer);
        self.demand(frame, at, !(is_float8(float) && is_integer && is_known), || {
            format!("`{float}` and `{integer}` have no type in common; cast one of them with `.to(…)`")
        });
    }

    /// An operator that floating-point numbers do not have (`check_ptr_type_impl`, `floordiv` and `bitwise_op_type_checking_impl` of
    /// `TritonSemantic`).
    pub(super) fn check_operator(&mut self, frame: &Frame, at: ExprId, op: BinaryOp, operands: &[Value]) {
        let dtype_of = |value: &Value| match value {
            Value::Tensor(Tensor { dtype, .. }) | Value::Scalar(Scalar { dtype, .. }) => Some(*dtype),
            Value::Float(_) => Some(Dtype::named("float32")),
            _ => None,
        };
        let types = || operands.iter().filter_map(dtype_of);
        let is_float = |dtype: &Dtype| dtype.is_floating() && ![Dtype::ANY, Dtype::UNTYPED].contains(dtype);
        let is_told = self.floats.is_empty() && !self.takes_numbers;
        let Some(float) = types().find(is_float).filter(|_| is_told) else { return };
        let what = match op {
            BinaryOp::Add | BinaryOp::Sub if types().any(|dtype| dtype.is_pointer()) => {
                "an offset from a pointer is an integer"
            }
            BinaryOp::FloorDiv => "`//` divides integers",
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => "`&`, `|` and `^` combine integers",
            BinaryOp::Shl | BinaryOp::Shr => "`<<` and `>>` shift integers",
            _ => return,
        };
        self.demand(frame, at, false, || format!("{what}, and this is `{float}`; cast it with `.to(tl.int32)`"));
    }

    /// A load or a store through pointers (`TritonSemantic._load_legacy`, `_store_legacy`).
    pub(super) fn check_access(
        &mut self,
        frame: &Frame,
        at: ExprId,
        pointer: Option<&Value>,
        args: &Args,
        is_load: bool,
    ) {
        let is_given =
            |value: Option<&Value>| value.is_some_and(|value| !matches!(value, Value::None | Value::Unknown(_)));
        // Offsets in a list go to a descriptor, whatever a launch that is only followed in part gives.
        let is_open = |value: &Value| matches!(value, Value::Unknown(_)) || value.elements().is_some();
        if !self.is_of_triton(frame) || args.all().iter().any(is_open) {
            return;
        }
        let verb = if is_load { "a load" } else { "a store" };
        if let Some(Value::Scalar(Scalar { dtype, .. }) | Value::Tensor(Tensor { dtype, .. })) = pointer
            && dtype.is_floating()
            && ![Dtype::ANY, Dtype::UNTYPED].contains(dtype)
            && self.floats.is_empty()
            && !self.takes_numbers
        {
            let message = format!("{verb} takes a pointer, and this is a number of type {dtype}");
            return self.refuse(frame, at, Code::InvalidOperand, message);
        }
        let (mask, value) = if is_load { (1, "other") } else { (2, "value") };
        let (mask, value) = (args.get(mask, "mask"), args.get(3 - mask, value));
        if is_load && is_given(value) && !is_given(mask) {
            let message = "`other` is what is loaded where `mask` is false; there is no `mask`".to_owned();
            return self.refuse(frame, at, Code::InvalidOperand, message);
        }
        let is_block = |value: Option<&Value>| matches!(value, Some(Value::Tensor(_)));
        // A parameter without a type may be a tensor of pointers where the function is called.
        let is_told = |scalar: &Scalar| scalar.dtype.is_pointer() && scalar.dtype != Dtype::POINTER_TO_ANY;
        if matches!(pointer, Some(Value::Scalar(scalar)) if is_told(scalar)) && (is_block(mask) || is_block(value)) {
            let message = format!(
                "{verb} through one pointer takes no tensors; add offsets to the pointer to make a tensor of pointers"
            );
            self.refuse(frame, at, Code::InvalidOperand, message);
        }
    }

    /// `tensor[index]` (`TritonSemantic` takes `None` and `:` alone).
    pub(super) fn check_index(&mut self, frame: &Frame, at: ExprId, indices: &[ExprId]) {
        let is_index =
            |index: &&ExprId| !matches!(frame.ast.expr(**index), Expr::Slice { .. } | Expr::None | Expr::Ellipsis);
        // A name may be `None`.
        let is_number = |index: &ExprId| matches!(frame.ast.expr(*index), Expr::Int(_));
        if self.is_of_triton(frame) && indices.iter().find(is_index).is_some_and(is_number) {
            let message = "the elements of a tensor have no indices: `None` adds a dimension, `:` keeps one".to_owned();
            self.refuse(frame, at, Code::InvalidOperand, message);
        }
    }

    /// What an operation wants of the tensors that it is given, other than a product or an access.
    pub(super) fn demand(&mut self, frame: &Frame, at: ExprId, holds: bool, message: impl FnOnce() -> String) {
        if !holds && self.is_of_triton(frame) {
            self.refuse(frame, at, Code::InvalidOperand, message());
        }
    }

    /// `histogram` (`TritonSemantic.histogram`): 3.9 counts no other numbers than those of 32 bits.
    pub(super) fn check_histogram(&mut self, frame: &Frame, at: ExprId, input: &Tensor) {
        let (rank, dtype) = (input.shape.len(), input.dtype);
        self.demand(frame, at, rank == 1, || {
            format!("`histogram` counts a tensor of one dimension, and this one has {rank}")
        });
        let is_told = self.launch.is_compiler_told && self.launch.hardware.compiler >= Compiler::V3_9;
        let is_counted = !dtype.is_floating() && (dtype.bits == 32 || !is_told);
        let is_known = ![Dtype::ANY, Dtype::UNTYPED].contains(&dtype);
        self.demand(frame, at, is_counted || !is_known, || {
            format!("`histogram` counts integers of 32 bits, and no `{dtype}`")
        });
    }

    /// Functions that only numbers of 32 and 64 bits have, or only those of 32 (`triton/language/math.py`).
    pub(super) fn check_math(&mut self, frame: &Frame, at: ExprId, name: &str, args: &Args) {
        const OF_BOTH: [&str; 12] =
            ["exp", "exp2", "log", "log2", "cos", "sin", "sqrt", "rsqrt", "erf", "floor", "ceil", "sigmoid"];
        const OF_SINGLE: [&str; 2] = ["sqrt_rn", "div_rn"];
        let taken: &[&str] = match name {
            _ if OF_BOTH.contains(&name) => &["float32", "float64"],
            _ if OF_SINGLE.contains(&name) => &["float32"],
            _ => return,
        };
        let dtype_of = |value: &Value| match value {
            Value::Tensor(tensor) => Some(tensor.dtype),
            Value::Scalar(scalar) => Some(scalar.dtype),
            _ => None,
        };
        // The result of an untyped number may be a float.
        let is_told = self.of_untyped.is_empty() && self.undecided.is_empty() && !self.takes_numbers;
        let is_refused = |dtype: &Dtype| {
            let is_known = ![Dtype::ANY, Dtype::UNTYPED].contains(dtype) && (dtype.is_floating() || is_told);
            is_known && !taken.contains(&dtype.name)
        };
        if let Some(dtype) = args.all().iter().filter_map(dtype_of).find(is_refused) {
            self.demand(frame, at, false, || {
                format!(
                    "`{name}` takes `{}`, and is given `{dtype}`; cast it with `.to(tl.float32)`",
                    taken.join("` or `")
                )
            });
        }
    }

    /// What a function that is not inlined is given (`_check_fn_args`).
    pub(super) fn check_apart(&mut self, frame: &Frame, at: ExprId, name: &str, args: &Args) {
        let is_block = |value: &Value| matches!(value, Value::Tensor(tensor) if elements(&tensor.shape) != 1);
        if !frame.is_host && args.all().iter().any(is_block) {
            let message =
                format!("`{name}` is `noinline`, which takes no tensors; load them in it, or let it be inlined");
            self.refuse(frame, at, Code::InvalidOperand, message);
        }
    }

    /// Why a call of block pointers gives nothing: Triton 3.9 has removed them. Where nothing says that it is 3.9, an older one is meant.
    pub(super) fn removed_block_pointers(&mut self, frame: &Frame, at: ExprId, name: &str) -> Option<Reason> {
        self.has_block_pointers = true;
        let hardware = self.launch.hardware;
        if !self.launch.is_compiler_told || hardware.compiler < Compiler::V3_9 || !self.is_of_triton(frame) {
            return None;
        }
        let message = format!(
            "`{name}` is gone: Triton 3.9 has removed block pointers; `tl.make_tensor_descriptor` makes what replaces them"
        );
        self.refuse(frame, at, Code::Rejected, message);
        Some(Reason::new(format!("Triton 3.9 has removed `{name}`")))
    }

    fn refuse_at(&mut self, frame: &Frame, at: Origin, code: Code, message: String) {
        if self.uncertain == 0 && self.findings.is_empty() {
            self.findings.push(Finding::new(code, frame.call.unwrap_or(at), message));
        }
    }
}

/// Whether anything in some statements returns.
fn returns(ast: &Ast, body: &[StmtId]) -> bool {
    body.iter().any(|&stmt| match ast.stmt(stmt) {
        Stmt::Return(_) => true,
        Stmt::Function(_) => false,
        stmt => stmt.bodies().any(|inner| returns(ast, inner)),
    })
}

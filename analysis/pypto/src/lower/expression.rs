//! Expressions of a kernel's body (`docs/reference/syntax.md`, "Expressions").

use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::eval::Constant;
use tilefit_python::finding::Reason;
use tilefit_python::work;
use tilefit_syntax::ast::{BinaryOp, BoolOp, CompareOp, Expr, ExprId, StmtId, UnaryOp};

use super::body::{DEEPEST, Lowering, Rhs, Term, sign};
use super::constants;
use crate::ir::{
    Attr, AttrName, Call, Operand, Rejection, Role, Scalar, ScalarBinary, ScalarUnary, Type, Var, VarId, Why, visit,
};
use crate::ops::OpId;
use crate::typing::{notation, scalar};
use crate::vocabulary;

fn unknown(reason: impl Into<Reason>) -> Term {
    Term::Unknown(reason.into())
}

impl Lowering<'_> {
    /// The value of an expression; a call that yields one gets a variable of its own.
    pub(super) fn expression(&mut self, expr: ExprId) -> Term {
        match self.rhs(expr) {
            Rhs::Call(call, ty) => {
                let var = self.temporary(call, ty);
                self.of_variable(var)
            }
            Rhs::Host(ty, value) => Term::Var(self.host_value(ty, value, self.at_expr(expr))),
            Rhs::Term(term) => term,
        }
    }

    /// The value of an expression that is handed on: a name that only passes through is not read for that.
    pub(super) fn passed(&mut self, expr: ExprId) -> Term {
        match self.name(expr).and_then(|name| self.lookup(name)) {
            Some(&Term::Var(var)) => self.of_variable(var),
            _ => self.expression(expr),
        }
    }

    /// The value of the right side of an assignment.
    pub(super) fn rhs(&mut self, expr: ExprId) -> Rhs {
        if self.state.depth >= DEEPEST {
            self.note(expr, "the expression is nested too deeply".to_owned());
            return Rhs::Term(unknown("the expression is nested too deeply"));
        }
        self.state.depth += 1;
        let rhs = match self.ast.expr(expr) {
            Expr::Call { func, args } => self.call(expr, *func, args),
            Expr::Subscript { value, index } => self.subscript(expr, *value, *index),
            _ => Rhs::Term(self.term(expr)),
        };
        self.state.depth -= 1;
        rhs
    }

    fn term(&mut self, expr: ExprId) -> Term {
        match self.ast.expr(expr) {
            Expr::Name(name) => match self.lookup(self.name(expr).unwrap_or(name)) {
                Some(&Term::Var(var)) => {
                    if self.state.host {
                        self.state.read_by_host.insert(var);
                    }
                    self.check_unrolled(expr, var);
                    self.of_variable(var)
                }
                Some(term) => term.clone(),
                None if self.renaming.name(expr).is_some() => {
                    Term::Unknown(Reason::new(format!("`{name}` has no value on some paths to here")))
                }
                None => self.outer(expr),
            },
            Expr::Int(value) => match i64::try_from(*value) {
                Ok(value) => Term::Scalar(Scalar::Int(value)),
                Err(_) => unknown(format!("{value} is too large")),
            },
            Expr::Float(value) => Term::Scalar(Scalar::Float(*value)),
            Expr::Bool(value) => Term::Scalar(Scalar::Bool(*value)),
            Expr::Str(value) => Term::Constant(Constant::Str(value.clone())),
            Expr::None => Term::Constant(Constant::None),
            Expr::Tuple(elements) | Expr::List(elements) => {
                let elements = elements.iter().map(|&element| self.expression(element)).collect();
                self.list(expr, elements)
            }
            Expr::Attribute { value, name } => self.attribute(expr, *value, name),
            Expr::Unary { op, operand } => self.unary(expr, *op, *operand),
            Expr::Binary { op, left, right } => self.binary(expr, *op, *left, *right),
            Expr::Compare { left, rest } => match rest.as_slice() {
                [(op, right)] => self.compare(expr, *left, *op, *right),
                _ => {
                    let message =
                        "chained comparison is not supported by PyPTO; join two comparisons with `and`".to_owned();
                    self.reject(expr, Code::Rejected, message);
                    unknown("a chain of comparisons")
                }
            },
            Expr::Bool2 { op, left, right } => {
                let op = if *op == BoolOp::And { ScalarBinary::And } else { ScalarBinary::Or };
                let (left, right) = (self.scalar(*left), self.scalar(*right));
                Term::Scalar(Scalar::Binary(op, Box::new(left), Box::new(right)))
            }
            Expr::Ternary { .. } => self.not_accepted(expr, "`a if c else b`", "write an `if` statement"),
            Expr::Other(kind) if kind.starts_with("too deeply") => {
                self.note(expr, "the expression is nested too deeply".to_owned());
                unknown("the expression is nested too deeply")
            }
            Expr::Thunk(_) | Expr::Lambda(_) => {
                self.not_accepted(expr, "a lambda", "compute the value outside the kernel")
            }
            Expr::Set(_) => self.not_accepted(expr, "a set", "compute the value outside the kernel"),
            Expr::Other(kind) => {
                let what = format!("a {}", kind.replace('_', " "));
                self.not_accepted(expr, &what, "compute the value outside the kernel")
            }
            Expr::Error => {
                self.note(expr, "the expression does not parse".to_owned());
                unknown("the expression does not parse")
            }
            Expr::Joined(_) => self.not_accepted(expr, "an f-string", "compute the value outside the kernel"),
            Expr::Comprehension { .. } | Expr::DictComprehension { .. } => {
                self.not_accepted(expr, "a comprehension", "compute the value outside the kernel")
            }
            Expr::Slice { .. } | Expr::Dict(_) | Expr::Starred(_) | Expr::Unpacked(_) | Expr::Ellipsis => {
                unknown("the expression has no value")
            }
            // Both are for `rhs`.
            Expr::Call { .. } | Expr::Subscript { .. } => self.expression(expr),
        }
    }

    /// The compiler makes another variable of what a loop carries when it copies the body of `pl.unroll`, and refuses that later.
    fn check_unrolled(&mut self, at: ExprId, var: VarId) {
        let Var { role, name, origin, .. } = &self.state.vars[var.0 as usize];
        if *role == Role::IterArg && self.state.unrolls.iter().any(|first| var < *first) {
            let message = format!(
                "`{name}` is carried by a loop around `pl.unroll`, and the compiler refuses to use it inside (\"used outside its defining scope\"); write `copy = {name}` before `pl.unroll` and use `copy`"
            );
            let related = vec![(*origin, format!("`{name}` is carried from here"))];
            let at = self.at_expr(at);
            self.refuse(Rejection { at, code: Code::Rejected, message, related });
        }
    }

    fn not_accepted(&mut self, at: ExprId, what: &str, instead: &str) -> Term {
        self.reject(at, Code::Rejected, format!("the compiler does not accept {what} in a kernel; {instead}"));
        unknown(format!("{what} is not accepted"))
    }

    fn of_variable(&self, var: VarId) -> Term {
        match self.ty(var) {
            Type::Scalar(_) => Term::Scalar(Scalar::Var(var)),
            _ => Term::Var(var),
        }
    }

    /// `expr` as a scalar; anything else counts as unknown.
    pub(super) fn scalar(&mut self, expr: ExprId) -> Scalar {
        let term = self.expression(expr);
        self.to_scalar(term)
    }

    pub(super) fn to_scalar(&self, term: Term) -> Scalar {
        let no_scalar = || Scalar::Unknown(Reason::new("a scalar is expected here"));
        match term {
            Term::Scalar(scalar) => scalar,
            Term::Var(var) if matches!(self.ty(var), Type::Scalar(_)) => Scalar::Var(var),
            Term::Unknown(reason) => Scalar::Unknown(reason),
            Term::Constant(constant) => constants::dynamic(&constant).unwrap_or_else(no_scalar),
            _ => no_scalar(),
        }
    }

    pub(super) fn scalar_dtype(&self, value: &Scalar) -> Option<Dtype> {
        scalar::dtype(value, &self.state.vars)
    }

    /// Whether the element type of a scalar is known, and not only taken to be that of an index.
    pub(super) fn is_typed(&self, value: &Scalar) -> bool {
        let mut is_typed = self.scalar_dtype(value).is_some();
        visit::scalar_uses(value, &mut |var| is_typed &= !self.is_untyped(var));
        is_typed
    }

    /// Whether the type of a scalar variable may be another, as that of what a branch or loop leaves behind.
    pub(super) fn is_untyped(&self, var: VarId) -> bool {
        let Var { ty, role, .. } = &self.state.vars[var.0 as usize];
        let is_merged = matches!(role, Role::IfResult | Role::LoopResult) && *ty == Type::Scalar(Dtype::Index);
        // The compiler may put a number in place of a scalar that a function is called with.
        let is_specialised = self.state.jit && *role == Role::Param;
        is_merged || is_specialised || self.state.guessed.contains(&var)
    }

    /// What is made of other values, unless that is more than anything can go through: `x = (x, x)` again and again.
    fn list(&mut self, at: ExprId, elements: Vec<Term>) -> Term {
        let list = Term::List(elements);
        let (weight, depth) = size(&list);
        work::spend(weight as u64);
        if weight > MOST_TERMS || depth > DEEPEST_TERMS {
            let reason = "holds more values than tilefit looks at";
            self.note(at, reason.to_owned());
            return Term::Unknown(Reason::new(reason));
        }
        list
    }

    pub(super) fn term_type(&self, term: &Term) -> Type {
        match term {
            Term::Var(var) => self.ty(*var).clone(),
            Term::Scalar(value) => Type::Scalar(self.scalar_dtype(value).unwrap_or(Dtype::Index)),
            Term::List(elements) => Type::Tuple(elements.iter().map(|element| self.term_type(element)).collect()),
            Term::Constant(_) => Type::Unknown(Reason::new("a constant of the code around the kernel")),
            Term::Unknown(reason) => Type::Unknown(reason.clone()),
        }
    }

    /// The term as an operand of a call.
    pub(super) fn operand(&self, term: Term) -> Operand {
        match term {
            Term::Var(var) => Operand::Var(var),
            Term::Scalar(scalar) => Operand::Scalar(scalar),
            Term::List(elements) => {
                Operand::List(elements.into_iter().map(|element| self.to_scalar(element)).collect())
            }
            Term::Constant(constant) => {
                let no_number = || Operand::Unknown(Reason::new("a constant that is not a number"));
                constants::dynamic(&constant).map_or_else(no_number, Operand::Scalar)
            }
            Term::Unknown(reason) => Operand::Unknown(reason),
        }
    }

    fn attribute(&mut self, expr: ExprId, value: ExprId, name: &str) -> Term {
        let Some(Term::Var(var)) = self.name(value).and_then(|value| self.lookup(value)).cloned() else {
            return self.outer(expr);
        };
        match (name, self.ty(var)) {
            ("shape", Type::Tensor(tensor)) if tensor.rank_known => {
                Term::List((0..tensor.shape.len() as u32).map(|axis| Term::Scalar(self.extent_of(var, axis))).collect())
            }
            ("shape", Type::Tile(tile)) => {
                Term::List(tile.shape.iter().map(|&extent| Term::Scalar(Scalar::Int(extent as i64))).collect())
            }
            ("dtype", Type::Tensor(tensor)) => match tensor.dtype {
                Some(dtype) => Term::Constant(Constant::Dtype(dtype)),
                None => unknown("the element type of the tensor is known at run time only"),
            },
            ("dtype", Type::Tile(tile)) => Term::Constant(Constant::Dtype(tile.dtype)),
            _ => {
                self.note(expr, format!("the attribute `{name}`"));
                unknown(format!("the attribute `{name}`"))
            }
        }
    }

    /// The value that the code around the kernel gives to an expression. A kernel that uses one that is not known is not known.
    pub(super) fn outer(&mut self, expr: ExprId) -> Term {
        let constant = self.constant(expr);
        if let Some((at, message)) = self.beyond_specialisation(expr, &constant) {
            let reason = message.clone();
            self.reject_anywhere(at, Code::Rejected, message);
            return unknown(reason);
        }
        let term = from_constant(constant);
        self.note_unknown(expr, &term);
        term
    }

    /// What an expression names that the text which the compiler makes of a `@pl.jit` function for its shapes does not have: numbers
    /// of the module are written into that text, and nothing else of the code around the function is.
    fn beyond_specialisation(&self, expr: ExprId, value: &Constant) -> Option<(ExprId, String)> {
        if !self.state.jit {
            return None;
        }
        let inner = |part: ExprId| self.beyond_specialisation(part, &self.constant(part));
        match self.ast.expr(expr) {
            Expr::Name(name) if self.lookup(name).is_none() => is_left_out(value).then(|| {
                let message = format!(
                    "Undefined variable '{name}': the compiler takes only numbers from the code around a `@pl.jit` function; write the value out"
                );
                (expr, message)
            }),
            Expr::Attribute { .. } => {
                let path = self.ast.dotted(expr)?;
                let is_of_file = self.lookup(path[0]).is_none() && !vocabulary::is_language(path[0]);
                (is_of_file && !matches!(value, Constant::Unknown(_))).then(|| {
                    let path = path.join(".");
                    let message = format!(
                        "Standalone attribute access not supported: {path}; bind it to a name of the module first if it is a number, \
                         or write the value out"
                    );
                    (expr, message)
                })
            }
            Expr::Subscript { value: base, .. } => inner(*base),
            Expr::Unary { operand, .. } => inner(*operand),
            Expr::Binary { left, right, .. } => inner(*left).or_else(|| inner(*right)),
            _ => None,
        }
    }

    /// Says of an operand that it is not known.
    pub(super) fn note_unknown(&mut self, at: ExprId, term: &Term) {
        let reason = match term {
            Term::Unknown(reason) => reason.clone(),
            Term::Var(var) => match self.ty(*var) {
                Type::Unknown(reason) => reason.clone(),
                _ => return,
            },
            Term::List(elements) => return elements.iter().for_each(|element| self.note_unknown(at, element)),
            Term::Scalar(_) | Term::Constant(_) => return,
        };
        // What follows from it is not known for the same reason; and of what the compiler refuses nothing follows.
        if self.state.rejections.is_empty() && !self.state.notes.iter().any(|note| note.reason == reason) {
            self.note(at, reason);
        }
    }

    /// Extent of an axis of a tensor: a number where the type gives one.
    pub(super) fn extent_of(&self, tensor: VarId, axis: u32) -> Scalar {
        match self.ty(tensor) {
            Type::Tensor(ty) => match ty.shape.get(axis as usize) {
                Some(Scalar::Int(extent)) => Scalar::Int(*extent),
                _ => Scalar::Dim { tensor, axis },
            },
            _ => Scalar::Dim { tensor, axis },
        }
    }

    /// Whether an expression is made of constants of the code around the kernel, so that Python's own arithmetic applies.
    pub(super) fn is_closed(&self, expr: ExprId) -> bool {
        match self.ast.expr(expr) {
            Expr::Int(_) | Expr::Float(_) | Expr::Bool(_) => true,
            Expr::Name(name) => self.lookup(name).is_none(),
            Expr::Binary { left, right, .. } => self.is_closed(*left) && self.is_closed(*right),
            Expr::Unary { operand, .. } => self.is_closed(*operand),
            _ => false,
        }
    }

    fn unary(&mut self, expr: ExprId, op: UnaryOp, operand: ExprId) -> Term {
        if matches!(op, UnaryOp::Neg) && self.is_closed(operand) {
            return self.outer(expr);
        }
        let operand = match self.expression(operand) {
            Term::Unknown(reason) => return Term::Unknown(reason),
            Term::Var(var) => return self.operator_on(expr, var, if op == UnaryOp::Neg { "-" } else { "not" }),
            term => self.to_scalar(term),
        };
        if op == UnaryOp::Pos {
            return self.not_accepted(expr, "a leading `+`", "remove it");
        }
        if op == UnaryOp::Invert
            && self.is_typed(&operand)
            && let Some(dtype) = self.scalar_dtype(&operand).filter(|dtype| !dtype.is_integer())
        {
            let message = format!("`~` requires an integer, but got {dtype}");
            self.reject(expr, Code::Rejected, message.clone());
            return unknown(message);
        }
        Term::Scalar(match (op, operand) {
            (UnaryOp::Pos, operand) => operand,
            (UnaryOp::Neg, Scalar::Int(value)) => value.checked_neg().map_or(Scalar::Int(value), Scalar::Int),
            (UnaryOp::Neg, operand) => Scalar::Unary(ScalarUnary::Neg, Box::new(operand)),
            (UnaryOp::Not, operand) => Scalar::Unary(ScalarUnary::Not, Box::new(operand)),
            (UnaryOp::Invert, operand) => Scalar::Unary(ScalarUnary::BitNot, Box::new(operand)),
        })
    }

    fn binary(&mut self, expr: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Term {
        if self.is_closed(expr) {
            return self.outer(expr);
        }
        let operands = [left, right].map(|side| self.expression(side));
        for operand in &operands {
            match operand {
                Term::Unknown(reason) => return Term::Unknown(reason.clone()),
                Term::Var(var) => return self.operator_on(expr, *var, sign(op)),
                Term::List(_) => return self.outer(expr),
                Term::Scalar(_) | Term::Constant(_) => {}
            }
        }
        let Some(operator) = scalar::operator(op) else {
            let sign = sign(op);
            return self.not_accepted(expr, &format!("`{sign}`"), "the operators are + - * / // % << >>");
        };
        let [left, right] = operands.map(|operand| self.to_scalar(operand));
        self.combined(expr, sign(op), operator, left, right)
    }

    /// Two scalars in an expression, which must be of types that go together.
    pub(super) fn combined(&mut self, at: ExprId, sign: &str, op: ScalarBinary, left: Scalar, right: Scalar) -> Term {
        if self.is_typed(&left)
            && self.is_typed(&right)
            && let (Some(one), Some(other)) = (self.scalar_dtype(&left), self.scalar_dtype(&right))
            && let Some(requires) = scalar::conflict(op, one, other)
        {
            let message = format!("`{sign}` {requires}, but got {one} and {other}{}", fixed(&left, &right, one, other));
            // What a `@pl.jit` function of the host is called with may be a number of any type.
            match self.state.jit {
                true => self.reject(at, Code::Rejected, message.clone()),
                false => self.reject_anywhere(at, Code::Rejected, message.clone()),
            }
            return unknown(message);
        }
        Term::Scalar(scalar::binary(op, left, right))
    }

    /// An operator with an operand that is no scalar.
    fn operator_on(&mut self, at: ExprId, operand: VarId, sign: &str) -> Term {
        let ty = self.ty(operand).clone();
        if let Type::Unknown(reason) = ty {
            return Term::Unknown(reason);
        }
        let operation = match sign {
            "+" => "pl.add(a, b)",
            "-" => "pl.sub(a, b)",
            "*" => "pl.mul(a, b)",
            "/" => "pl.div(a, b)",
            "@" => "pl.matmul(a, b)",
            _ => "an operation of `pl`",
        };
        let message =
            format!("`{sign}` works on scalars, but this operand is {}; write `{operation}`", notation::kind(&ty));
        self.reject(at, Code::Rejected, message);
        unknown("an operator on a tile")
    }

    fn compare(&mut self, at: ExprId, left: ExprId, op: CompareOp, right: ExprId) -> Term {
        let operands = [left, right].map(|side| self.expression(side));
        for operand in &operands {
            if let Term::Var(var) = operand {
                return self.operator_on(at, *var, "a comparison");
            }
        }
        let Some(operator) = scalar::comparison(op) else {
            return self.not_accepted(at, "`is` and `in`", "the comparisons are == != < <= > >=");
        };
        let [left, right] = operands.map(|operand| self.to_scalar(operand));
        self.combined(at, compared(op), operator, left, right)
    }

    // Subscripts.

    fn subscript(&mut self, expr: ExprId, value: ExprId, index: ExprId) -> Rhs {
        let base = self.expression(value);
        match base {
            Term::List(elements) => Rhs::Term(self.element_of(elements, index)),
            Term::Constant(_) => Rhs::Term(self.outer(expr)),
            Term::Unknown(reason) => Rhs::Term(Term::Unknown(reason)),
            Term::Scalar(_) => {
                let message = "a scalar has no elements".to_owned();
                self.reject(expr, Code::Rejected, message);
                Rhs::Term(unknown("a scalar has no elements"))
            }
            Term::Var(var) => match self.ty(var).clone() {
                Type::Array { .. } => {
                    let at = Operand::Scalar(self.scalar(index));
                    let call = self.make_call(OpId::ARRAY_GET, vec![Operand::Var(var), at], Vec::new(), expr);
                    self.deduced(call, expr)
                }
                Type::Tile(tile) => self.tile_subscript(expr, var, &tile, index),
                Type::Tensor(tensor) => {
                    let indices = self.indices(index);
                    let is_read = indices.len() == tensor.shape.len() && tensor.rank_known;
                    let has_slice = indices.iter().any(|&index| matches!(self.ast.expr(index), Expr::Slice { .. }));
                    if is_read && !has_slice {
                        return self.tensor_element(expr, var, &tensor, &indices);
                    }
                    self.tensor_window(expr, var, &tensor, &indices)
                }
                Type::Tuple(types) => match self.expression(index) {
                    Term::Scalar(Scalar::Int(at)) if usize::try_from(at).is_ok_and(|at| at < types.len()) => {
                        Rhs::Term(self.tuple_element(expr, var, at as u32, &types))
                    }
                    _ => {
                        self.reject(
                            index,
                            Code::Rejected,
                            "the index of a tuple must be a constant within its length".to_owned(),
                        );
                        Rhs::Term(unknown("the index of a tuple is unknown"))
                    }
                },
                Type::Unknown(reason) => Rhs::Term(Term::Unknown(reason)),
                Type::Scalar(_) => Rhs::Term(unknown("a scalar has no elements")),
            },
        }
    }

    fn tuple_element(&mut self, at: ExprId, tuple: VarId, index: u32, types: &[Type]) -> Term {
        use super::pre_ssa::Statement;
        use crate::ir::Value;
        let origin = self.at_expr(at);
        let ty = types[index as usize].clone();
        let name = format!("{}_{index}", self.state.vars[tuple.0 as usize].name);
        let var = self.var(Var { name, ty: ty.clone(), role: Role::Def, inserted: Some(Why::Intermediate), origin });
        self.emit(Statement::Let { var, value: Value::Element { tuple, index }, ty, origin });
        self.of_variable(var)
    }

    fn element_of(&mut self, elements: Vec<Term>, index: ExprId) -> Term {
        match self.expression(index) {
            Term::Scalar(Scalar::Int(at)) => {
                let at = if at < 0 { at + elements.len() as i64 } else { at };
                let element = usize::try_from(at).ok().and_then(|at| elements.get(at)).cloned();
                element.unwrap_or_else(|| unknown("the index is out of range"))
            }
            Term::Unknown(reason) => Term::Unknown(reason),
            _ => unknown("the index of a list is known at run time only"),
        }
    }

    pub(super) fn indices(&self, index: ExprId) -> Vec<ExprId> {
        match self.ast.expr(index) {
            Expr::Tuple(indices) => indices.clone(),
            _ => vec![index],
        }
    }

    fn tile_subscript(&mut self, at: ExprId, var: VarId, tile: &crate::ir::TileType, index: ExprId) -> Rhs {
        let indices = self.indices(index);
        if indices.len() > tile.shape.len() {
            let message = format!("{} indices, but the tile has {} axes", indices.len(), tile.shape.len());
            self.reject(at, Code::InvalidOperand, message);
            return Rhs::Term(unknown("too many indices"));
        }
        let is_slice = |index: &ExprId| matches!(self.ast.expr(*index), Expr::Slice { .. });
        if indices.len() == tile.shape.len() && !indices.iter().any(is_slice) {
            let offsets: Vec<Scalar> = indices.into_iter().map(|index| self.scalar(index)).collect();
            let call = self.make_call(OpId::READ, vec![Operand::Var(var), Operand::List(offsets)], Vec::new(), at);
            return self.deduced(call, at);
        }
        let Some(window) = self.window(&indices, tile) else {
            return Rhs::Term(unknown("this kind of slice"));
        };
        let drop_dims: Vec<Scalar> = window.dropped.iter().map(|&axis| Scalar::Int(axis as i64)).collect();
        let narrow = window.valid != window.extents;
        let mut args = vec![Operand::Var(var), Operand::List(window.extents), Operand::List(window.offsets)];
        if narrow || !drop_dims.is_empty() {
            args.push(Operand::List(if narrow { window.valid } else { Vec::new() }));
        }
        if !drop_dims.is_empty() {
            args.push(Operand::List(drop_dims));
        }
        let call = self.make_call(OpId::SLICE, args, Vec::new(), at);
        self.deduced(call, at)
    }

    /// The window of a tile that indices and slices select.
    fn window(&mut self, indices: &[ExprId], tile: &crate::ir::TileType) -> Option<Window> {
        let valid_of = tile.valid_shape();
        let mut window = Window::default();
        for (axis, &extent) in tile.shape.iter().enumerate() {
            let whole = Scalar::Int(extent as i64);
            let valid = valid_of.get(axis).cloned().unwrap_or_else(|| whole.clone());
            match indices.get(axis).map(|&index| (index, self.ast.expr(index))) {
                None => window.push(Scalar::Int(0), whole, valid),
                Some((index, Expr::Slice { lower, upper, step })) => {
                    if step.is_some() {
                        self.reject(index, Code::Rejected, "a slice of a tile has no step".to_owned());
                        return None;
                    }
                    let lower_at = lower.unwrap_or(index);
                    let lower = lower.map_or(Scalar::Int(0), |lower| self.scalar(lower));
                    let Scalar::Int(from) = lower else {
                        if !matches!(lower, Scalar::Unknown(_)) {
                            let message = "the lower bound of a slice of a tile must be constant; `pl.slice(tile, shape, offset)` takes an offset that is known at run time only";
                            self.reject(lower_at, Code::Rejected, message.to_owned());
                        }
                        return None;
                    };
                    let upper = upper.map(|upper| self.scalar(upper));
                    match upper {
                        None => {
                            let rest = scalar::binary(ScalarBinary::Sub, whole, Scalar::Int(from));
                            let valid = scalar::binary(ScalarBinary::Sub, valid, Scalar::Int(from));
                            window.push(Scalar::Int(from), rest, valid);
                        }
                        Some(Scalar::Int(to)) => {
                            let to = to.min(extent as i64);
                            let upper = scalar::binary(ScalarBinary::Min, Scalar::Int(to), valid);
                            let valid = scalar::binary(ScalarBinary::Sub, upper, Scalar::Int(from));
                            window.push(Scalar::Int(from), Scalar::Int(to - from), valid);
                        }
                        Some(runtime) => {
                            let rest = scalar::binary(ScalarBinary::Sub, whole, Scalar::Int(from));
                            let upper = scalar::binary(ScalarBinary::Min, runtime, valid);
                            let valid = scalar::binary(ScalarBinary::Sub, upper, Scalar::Int(from));
                            window.push(Scalar::Int(from), rest, valid);
                        }
                    }
                }
                Some((index, _)) => {
                    let at = self.scalar(index);
                    window.push(at, Scalar::Int(1), Scalar::Int(1));
                    window.dropped.push(axis);
                }
            }
        }
        Some(window)
    }

    /// `dst[i:j, :] = src`, which means `dst = pl.assemble(dst, src, offsets)`.
    pub(super) fn subscript_write(&mut self, base: ExprId, index: ExprId, value: ExprId) {
        let Some(name) = self.name(base) else {
            let message = "only a named tile or tensor can be written in parts".to_owned();
            return self.reject(base, Code::Rejected, message);
        };
        let target = match self.expression(base) {
            Term::Var(var) => var,
            Term::Unknown(_) => return,
            _ => {
                let message = format!("`{name}` is not a tile; only tiles and tensors can be written in parts");
                return self.reject(base, Code::Rejected, message);
            }
        };
        let tile = match self.ty(target).clone() {
            Type::Tile(tile) => tile,
            Type::Tensor(tensor) => return self.tensor_write(base, name, target, &tensor, index, value),
            Type::Array { .. } => {
                let [at, value] = [index, value].map(|part| Operand::Scalar(self.scalar(part)));
                let args = vec![Operand::Var(target), at, value];
                let call = self.make_call(OpId::ARRAY_UPDATE, args, Vec::new(), base);
                let rhs = self.deduced(call, base);
                let name = name.to_owned();
                return self.assign(base, &name, None, rhs);
            }
            _ => return,
        };
        let indices = self.indices(index);
        let Some(offsets) = self.written_offsets(&indices, tile.shape.len()) else { return };
        let source = match self.expression(value) {
            Term::Var(source) if matches!(self.ty(source), Type::Tile(_)) => source,
            Term::Unknown(reason) => return self.note(value, reason),
            Term::Var(source) if matches!(self.ty(source), Type::Unknown(_)) => return,
            _ => {
                let message = "the value written to a part of a tile must be a tile".to_owned();
                return self.reject(value, Code::InvalidOperand, message);
            }
        };
        let Type::Tile(part) = self.ty(source).clone() else { return };
        let whole: Vec<Scalar> = tile.shape.iter().map(|&extent| Scalar::Int(extent as i64)).collect();
        let shape: Vec<Scalar> = part.shape.iter().map(|&extent| Scalar::Int(extent as i64)).collect();
        let extents = self.written_extents(&indices, &whole);
        if !self.check_written(value, &extents, &shape, Some(&part.valid_shape())) {
            return;
        }
        if part.shape.len() != tile.shape.len() {
            return self.note(base, "a write of a tile with fewer axes".to_owned());
        }
        let args = vec![Operand::Var(target), Operand::Var(source), Operand::List(offsets)];
        let call = self.make_call(OpId::ASSEMBLE, args, Vec::new(), base);
        let rhs = self.deduced(call, base);
        let name = name.to_owned();
        self.assign(base, &name, None, rhs);
    }

    /// Where a written part of a tile starts, which may be known at run time only.
    fn written_offsets(&mut self, indices: &[ExprId], rank: usize) -> Option<Vec<Scalar>> {
        let mut offsets = Vec::new();
        for axis in 0..rank {
            offsets.push(match indices.get(axis).map(|&index| (index, self.ast.expr(index))) {
                None => Scalar::Int(0),
                Some((index, Expr::Slice { step: Some(_), .. })) => {
                    self.reject(index, Code::Rejected, "a slice of a tile has no step".to_owned());
                    return None;
                }
                Some((_, Expr::Slice { lower, .. })) => lower.map_or(Scalar::Int(0), |lower| self.scalar(lower)),
                Some((index, _)) => self.scalar(index),
            });
        }
        Some(offsets)
    }

    pub(super) fn make_call(&self, op: OpId, args: Vec<Operand>, attrs: Vec<(AttrName, Attr)>, at: ExprId) -> Call {
        Call { op, args, attrs, origin: self.at_expr(at) }
    }

    /// A scalar as the author would name it, for messages.
    pub(super) fn describe(&self, value: &Scalar) -> String {
        match value {
            Scalar::Var(var) => format!("`{}`", self.state.vars[var.0 as usize].name),
            Scalar::Dim { tensor, axis } => {
                format!("extent {axis} of `{}`", self.state.vars[tensor.0 as usize].name)
            }
            Scalar::Dynamic(name) => format!("`{name}`"),
            Scalar::Unary(_, operand) | Scalar::Cast(_, operand) | Scalar::Const(_, operand) => self.describe(operand),
            Scalar::Binary(_, left, right) => {
                if left.as_int().is_some() {
                    self.describe(right)
                } else {
                    self.describe(left)
                }
            }
            Scalar::Int(value) => value.to_string(),
            Scalar::Float(_) | Scalar::Bool(_) | Scalar::Call(_) | Scalar::Unknown(_) => "this value".to_owned(),
        }
    }

    /// Lowers the body of a function in place of a call.
    pub(super) fn inlined_body(&mut self, body: &[StmtId]) -> Option<Rhs> {
        let outer = self.state.returned.take();
        self.block(body);
        std::mem::replace(&mut self.state.returned, outer)
    }
}

#[derive(Default)]
struct Window {
    offsets: Vec<Scalar>,
    extents: Vec<Scalar>,
    valid: Vec<Scalar>,
    /// Axes with a single index.
    dropped: Vec<usize>,
}

impl Window {
    fn push(&mut self, offset: Scalar, extent: Scalar, valid: Scalar) {
        self.offsets.push(offset);
        self.extents.push(extent);
        self.valid.push(valid);
    }
}

/// How two scalars of different types can be combined.
fn fixed(left: &Scalar, right: &Scalar, one: Dtype, other: Dtype) -> String {
    let float = if one.is_float() { one } else { other };
    match (left, right) {
        (Scalar::Int(value), _) | (_, Scalar::Int(value)) if float.is_float() => format!("; write `{value}.0`"),
        _ if one.is_float() != other.is_float() => format!("; `pl.cast(..., pl.{float})` converts one of them"),
        _ => String::new(),
    }
}

fn compared(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
        CompareOp::Is | CompareOp::IsNot => "is",
        CompareOp::In | CompareOp::NotIn => "in",
    }
}

/// Values within a list, each counted as often as it is in it, beyond which it counts as unknown, and lists within lists.
const MOST_TERMS: usize = 4096;
const DEEPEST_TERMS: u32 = 64;

/// How many values there are in one, and how deep.
fn size(term: &Term) -> (usize, u32) {
    let Term::List(elements) = term else { return (1, 0) };
    elements.iter().map(size).fold((1, 1), |(weight, depth), (more, below)| (weight + more, depth.max(below + 1)))
}

pub(super) fn from_constant(constant: Constant) -> Term {
    match constant {
        Constant::Int(value) => Term::Scalar(Scalar::Int(value)),
        Constant::Float(value) => Term::Scalar(Scalar::Float(value)),
        Constant::Bool(value) => Term::Scalar(Scalar::Bool(value)),
        Constant::List(elements) | Constant::Tuple(elements) => {
            Term::List(elements.into_iter().map(from_constant).collect())
        }
        Constant::Unknown(reason) => Term::Unknown(reason),
        other => Term::Constant(other),
    }
}

/// Whether a value of the code around a `@pl.jit` function is not written into the text that the compiler makes of it.
fn is_left_out(value: &Constant) -> bool {
    match value {
        Constant::Str(_)
        | Constant::Dtype(_)
        | Constant::Member(_)
        | Constant::List(_)
        | Constant::Tuple(_)
        | Constant::Dict(_) => true,
        value => constants::space(value).is_some(),
    }
}

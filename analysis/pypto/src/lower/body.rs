//! Statements of a kernel's body, read as the compiler's parser reads them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::eval::{self, Argument, Constant, Scope};
use tilefit_python::finding::{Node, Note, Origin, Reason};
use tilefit_python::torch::Known;
use tilefit_python::work;
use tilefit_syntax::ast::{Arg, Ast, BinaryOp, Expr, ExprId, Function, Stmt, StmtId};

use super::agreement::{Agreement, Difference};
use super::pre_ssa::{InlinedFunction, PreSsa, Statement};
use super::renaming::Renames;
use super::specialised::{Specialised, Unfit, Unmade};
use super::stated_type::{self, Annotation};
use super::tensor_view::{Comparison, Followed, TensorView};
use crate::ir::{
    self, Call, CrossCore, DeclaredAllocation, LoopKind, Operand, Rejection, Role, Scalar, SplitMode, TensorLayout,
    TensorType, Type, Value, Var, VarId, VectorRegion, Why,
};
use crate::ops::OpId;
use crate::typing::notation::{self, written};

/// The value of an expression of a kernel's body.
#[derive(Debug, Clone)]
pub(super) enum Term {
    /// A tile, tensor, tuple or unknown thing that has a name.
    Var(VarId),
    Scalar(Scalar),
    List(Vec<Term>),
    /// Something of the code around the kernel that is no number.
    Constant(Constant),
    Unknown(Reason),
}

impl Term {
    pub(super) fn var(&self) -> Option<VarId> {
        match self {
            Term::Var(var) => Some(*var),
            _ => None,
        }
    }
}

/// The right side of an assignment.
pub(super) enum Rhs {
    Call(Call, Type),
    Term(Term),
    /// Something that host code computes: its type, and which memory it is.
    Host(Type, HostValue),
}

/// What is known of a tensor that host code computes.
#[derive(Clone, Copy)]
pub(super) enum HostValue {
    /// `pl.create_tensor`
    Made,
    /// A part or another shape of a tensor, in the same memory.
    PartOf(VarId),
    Unknown,
}

impl HostValue {
    fn value(self, origin: Origin) -> Value {
        match self {
            HostValue::Made => {
                Value::Call(Call { op: OpId::TENSOR_CREATE, args: Vec::new(), attrs: Vec::new(), origin })
            }
            HostValue::PartOf(tensor) => Value::Copy(tensor),
            HostValue::Unknown => Value::Scalar(Scalar::Unknown(Reason::new("a value of the host code"))),
        }
    }
}

/// What lowering builds. Kept apart from the syntax, since an inlined function brings its own.
#[derive(Default)]
pub(super) struct State {
    pub(super) vars: Vec<Var>,
    /// What the compiler calls variables that have another name there.
    pub(super) renamed: FxHashMap<VarId, String>,
    pub(super) params: Vec<VarId>,
    /// By the compiler's names, innermost last.
    pub(super) scopes: Vec<FxHashMap<String, Term>>,
    /// The statement lists that are open, innermost last.
    pub(super) open: Vec<Vec<Statement>>,
    /// What the open loops and branches yield, innermost last.
    pub(super) yields: Vec<Vec<Yielded>>,
    pub(super) loops: Vec<LoopKind>,
    /// Iterations of `pl.unroll` in host code so far.
    pub(super) unrolled: i128,
    /// The first variable of each open `pl.unroll`, innermost last.
    pub(super) unrolls: Vec<VarId>,
    /// Scalars whose element type is not known.
    pub(super) guessed: FxHashSet<VarId>,
    /// Values of the integer variables that are assigned once, so far.
    pub(super) constants: FxHashMap<VarId, i64>,
    pub allocations: Vec<DeclaredAllocation>,
    pub(super) notes: Vec<Note>,
    pub(super) rejections: Vec<Rejection>,
    pub(super) cross_core: CrossCore,
    /// In a function that the author made a kernel of, rather than in a scope.
    pub(super) core_function: bool,
    /// Those of `pl.split_aiv` so far.
    pub(super) vector_regions: Vec<VectorRegion>,
    /// Inside of `pl.split_aiv`: how it divides.
    pub(super) vector_units: Option<Option<SplitMode>>,
    /// What is not modelled of the code around the scopes to come.
    pub(super) around_scopes: Option<&'static str>,
    pub(super) temporaries: u32,
    pub(super) depth: u32,
    /// The name that the statement assigns to which is lowered.
    pub(super) target: Option<Arc<str>>,
    /// [`Kernel::targets`](ir::Kernel::targets) of the kernel that is lowered.
    pub(super) targets: BTreeMap<Origin, Arc<str>>,
    /// Functions that are put in place of calls in the kernel that is lowered.
    pub(super) functions: Vec<ir::Inlined>,
    /// The value that an inlined function returns.
    pub(super) returned: Option<Rhs>,
    /// Outside of every kernel: what is not modelled there does not matter.
    pub(super) host: bool,
    /// What makes all scopes of the host unknown: the front end may refuse the host because of it.
    pub(super) host_notes: Vec<Reason>,
    /// What the front end refuses of operations outside of scopes.
    pub(super) host_rejections: Vec<Rejection>,
    /// Host code without scopes: its values are followed to say what the front end refuses, and for nothing else.
    pub(super) only_host: bool,
    /// The functions that the host calls, with the tensors that it passes.
    pub(super) launches: Vec<(String, Vec<Argument>)>,
    /// What the host reads in expressions of its own, which need not show in the statements that are kept of it.
    pub(super) read_by_host: FxHashSet<VarId>,
    /// How many loops stand around the innermost `pl.manual_scope` of the host.
    pub(super) loops_around_manual_scope: Option<usize>,
    /// A `@pl.jit` function, of which the compiler makes another text for the shapes that it is called with.
    pub(super) jit: bool,
    /// What that text says of the functions that are put in place of calls.
    pub(super) specialised: Specialised,
    /// Tensors that may hold data in a part of their shape only, which their type does not say.
    pub(super) narrowed: FxHashSet<VarId>,
    /// How tensors lie that do not lie as usual.
    pub(super) tensor_views: FxHashMap<VarId, Followed>,
    /// Variables of tiles that were assigned again with another view: what is written last need not be what their type says.
    pub(super) restated: FxHashSet<VarId>,
    /// Inside of a call in the notation of a sketch, whose compiler demanded less.
    pub(super) sketch: bool,
}

/// A value that is yielded to a name.
pub(super) struct Yielded {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) view: Followed,
    /// False for a scalar whose element type is not known.
    pub(super) is_sure: bool,
    pub at: Origin,
}

#[derive(Clone)]
pub(super) enum Inlined {
    /// In the file of the function that is lowered.
    Here(Rc<InlinedFunction>),
    Elsewhere,
}

pub(super) struct Lowering<'a> {
    pub(super) ast: &'a Ast,
    pub(super) scope: &'a dyn Scope,
    pub(super) renaming: &'a Renames,
    /// The outermost call that is being inlined, at which what is not written in the block is shown.
    pub(super) site: Option<ExprId>,
    /// The functions that are being inlined, from that call on.
    pub(super) path: Vec<ir::Inlined>,
    /// The one that is lowered, among those of the kernel.
    pub(super) function: Option<u32>,
    /// The function that is put in place of a call here.
    pub(super) inlined: Option<Inlined>,
    /// Variables before this one are the caller's.
    pub(super) first_own: VarId,
    pub(super) state: State,
}

/// Statements and expressions that are nested deeper are not modelled.
pub(super) const DEEPEST: u32 = 150;

impl<'a> Lowering<'a> {
    pub(super) fn new(ast: &'a Ast, scope: &'a dyn Scope, renaming: &'a Renames) -> Self {
        let state = State { scopes: vec![FxHashMap::default()], open: vec![Vec::new()], ..State::default() };
        Lowering {
            ast,
            scope,
            renaming,
            site: None,
            path: Vec::new(),
            function: None,
            inlined: None,
            first_own: VarId(0),
            state,
        }
    }

    /// The kernel that a function is.
    pub(super) fn function(&mut self, function: &Function) {
        for param in &function.params {
            let Some(name) = self.ast.name(param.name) else { continue };
            if name == "self" && param.annotation.is_none() {
                continue;
            }
            let ty = match param.annotation.map(|annotation| self.annotation(annotation)) {
                Some(Annotation::Type(ty) | Annotation::Output(ty)) => ty,
                Some(Annotation::Nothing) => Type::Unknown(Reason::new(format!("`{name}` has no type"))),
                None => {
                    let message =
                        format!("`{name}` has no type; write, for example, `{name}: pl.Tensor[[M, N], pl.FP32]`");
                    self.reject(param.name, Code::Rejected, message);
                    Type::Unknown(Reason::new(format!("`{name}` has no type")))
                }
            };
            let ty = self.called_with(name, ty);
            self.param(name, ty, Origin::Expr(param.name));
        }
        if self.state.jit && self.state.host {
            self.specialise(function);
        }
        self.block(&function.body);
    }

    /// Says of which functions the compiler makes no text, because it finds no shapes for them.
    fn specialise(&mut self, function: &Function) {
        let shape = |param: &VarId| match &self.state.vars[param.0 as usize] {
            Var { name, ty: Type::Tensor(tensor), .. } if tensor.rank_known => {
                Some((name.clone(), tensor.shape.clone()))
            }
            _ => None,
        };
        let shapes: Vec<_> = self.state.params.iter().filter_map(shape).collect();
        let tensors = self.state.params.iter().filter(|param| matches!(self.ty(**param), Type::Tensor(_)));
        // Without the entry's own shapes nothing is known of what it passes on.
        if shapes.len() != tensors.count() {
            return;
        }
        let specialised = Specialised::of(self.ast, function, self.scope, shapes);
        for Unmade { function: callee, why, call } in &specialised.unmade {
            let message = match why {
                Unfit::Unshaped(param) => format!(
                    "`@pl.jit` finds no shape for the parameter `{param}` of `{callee}`: in its first call pass a parameter of the caller, or a name that is given by `pl.create_tensor`, `pl.slice`, `pl.reshape`, or a window; what is computed has no shape there, whatever `{param}` is annotated with"
                ),
                Unfit::Renamed(name) => format!(
                    "`{name}` is `{callee}` under another name, and `@pl.jit` finds the functions that it calls by their own names only; call it `{callee}`"
                ),
            };
            let at = call.unwrap_or(function.name);
            self.refuse_on_host(Rejection::new(Origin::Expr(at), Code::Rejected, message));
        }
        self.state.specialised = specialised;
    }

    /// What comes from outside lies in global memory; the compiler's InferTileMemorySpace stops at anything else.
    pub(super) fn refuse_tile_parameters(&mut self) {
        for param in self.state.params.clone() {
            let Var { name, ty: Type::Tile(tile), origin, .. } = &self.state.vars[param.0 as usize] else { continue };
            let message = format!(
                "parameter `{name}` is a tile, but an InCore function takes tensors; write `{name}: pl.Tensor[{:?}, pl.{}]` and load the tile here",
                tile.shape, tile.dtype
            );
            self.reject_at(*origin, Code::Rejected, message);
        }
    }

    /// The type of a parameter, with the shape that the function is called with where the annotation has none.
    fn called_with(&self, name: &str, ty: Type) -> Type {
        match ty {
            Type::Tensor(tensor) if !tensor.rank_known => {
                match self.scope.argument(name).as_ref().and_then(Known::of_constant) {
                    Some(given) => Type::Tensor(TensorType {
                        shape: given.shape.into_iter().map(Scalar::Int).collect(),
                        dtype: Some(given.dtype),
                        layout: TensorLayout::Nd,
                        is_output: tensor.is_output,
                        rank_known: true,
                    }),
                    None => Type::Tensor(tensor),
                }
            }
            ty => ty,
        }
    }

    pub(super) fn param(&mut self, name: &str, ty: Type, origin: Origin) -> VarId {
        let var = self.var(Var { name: name.to_owned(), ty, role: Role::Param, inserted: None, origin });
        self.state.params.push(var);
        self.bind(name, Term::Var(var));
        var
    }

    pub(super) fn finish(self) -> (PreSsa, State) {
        let mut state = self.state;
        let body = state.open.drain(..).next().unwrap_or_default();
        let (vars, renamed) = (std::mem::take(&mut state.vars), std::mem::take(&mut state.renamed));
        let pre_ssa = PreSsa { vars, renamed, params: std::mem::take(&mut state.params), body };
        (pre_ssa, state)
    }

    // Names, places and messages.

    /// A variable by the compiler's name for it, which is shown by the author's.
    pub(super) fn var(&mut self, mut var: Var) -> VarId {
        let id = VarId(self.state.vars.len() as u32);
        if let Some(author) = self.renaming.author(&var.name) {
            self.state.renamed.insert(id, std::mem::replace(&mut var.name, author.to_owned()));
        }
        self.state.vars.push(var);
        id
    }

    /// The compiler's name for what an expression names.
    pub(super) fn name(&self, expr: ExprId) -> Option<&'a str> {
        self.renaming.name(expr).or_else(|| self.ast.name(expr))
    }

    pub(super) fn bind(&mut self, name: &str, term: Term) {
        if let Some(scope) = self.state.scopes.last_mut() {
            scope.insert(name.to_owned(), term);
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Option<&Term> {
        self.state.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    pub(super) fn ty(&self, var: VarId) -> &Type {
        &self.state.vars[var.0 as usize].ty
    }

    pub(super) fn at_expr(&self, expr: ExprId) -> Origin {
        self.origin(Node::Expr(expr))
    }

    pub(super) fn at_stmt(&self, stmt: StmtId) -> Origin {
        self.origin(Node::Stmt(stmt))
    }

    fn origin(&self, node: Node) -> Origin {
        match (self.site, self.function, node) {
            (Some(call), Some(function), node) => Origin::Inlined { call, function, node },
            (Some(call), None, _) => Origin::Expr(call),
            (None, _, Node::Expr(expr)) => Origin::Expr(expr),
            (None, _, Node::Stmt(stmt)) => Origin::Stmt(stmt),
        }
    }

    pub(super) fn note(&mut self, at: ExprId, reason: impl Into<Reason>) {
        let at = self.at_expr(at);
        self.note_at(at, reason);
    }

    pub(super) fn note_at(&mut self, at: Origin, reason: impl Into<Reason>) {
        if self.state.host {
            return;
        }
        let note = Note { at, reason: reason.into() };
        // One place of a function is said once, however many calls lead to it.
        let is_it = |said: &Note| said.at.written() == at.written() && said.reason == note.reason;
        if !self.state.notes.iter().any(is_it) {
            self.state.notes.push(note);
        }
    }

    /// As [`Lowering::note`], where it concerns all that is compiled with the host.
    pub(super) fn note_anywhere(&mut self, at: ExprId, reason: impl Into<Reason>) {
        let reason = reason.into();
        if !self.state.host {
            return self.note(at, reason);
        }
        if !self.state.host_notes.contains(&reason) {
            self.state.host_notes.push(reason);
        }
    }

    pub(super) fn reject(&mut self, at: ExprId, code: Code, message: String) {
        let at = self.at_expr(at);
        self.reject_at(at, code, message);
    }

    pub(super) fn reject_at(&mut self, at: Origin, code: Code, message: String) {
        self.refuse(Rejection::new(at, code, message));
    }

    pub(super) fn refuse(&mut self, rejection: Rejection) {
        let what = |of: &Rejection| (of.at.written(), of.code);
        let is_it = |said: &Rejection| what(said) == what(&rejection) && said.message == rejection.message;
        if !self.state.host && !self.state.rejections.iter().any(is_it) {
            self.state.rejections.push(rejection);
        }
    }

    pub(super) fn emit(&mut self, statement: Statement) {
        if let Some(target) = &self.state.target {
            // What is brought to where a call needs it stems from the call.
            for origin in statement.origin().into_iter().chain(statement.call().map(|call| call.origin)) {
                self.state.targets.entry(origin).or_insert_with(|| target.clone());
            }
        }
        if let Some(open) = self.state.open.last_mut() {
            open.push(statement);
        }
    }

    /// Lowers statements into a list of their own and a scope of their own, whose names stay visible after it if they `leak`.
    pub(super) fn nested(&mut self, leak: bool, lower: impl FnOnce(&mut Self)) -> Vec<Statement> {
        self.state.open.push(Vec::new());
        self.state.scopes.push(FxHashMap::default());
        lower(self);
        if let Some(names) = self.state.scopes.pop()
            && leak
            && let Some(outer) = self.state.scopes.last_mut()
        {
            outer.extend(names);
        }
        self.state.open.pop().unwrap_or_default()
    }

    /// A variable for the result of a call that is an operand of another one.
    pub(super) fn temporary(&mut self, call: Call, ty: Type) -> VarId {
        let origin = call.origin;
        let name = format!("t__tmp_v{}", self.state.temporaries);
        self.state.temporaries += 1;
        let var = self.var(Var { name, ty: ty.clone(), role: Role::Def, inserted: Some(Why::NestedCall), origin });
        let value = Value::Call(call);
        if self.may_be_narrowed(&value) {
            self.state.narrowed.insert(var);
        }
        let view = self.view_of_value(&value);
        self.set_view(var, view);
        self.emit(Statement::Let { var, value, ty, origin });
        var
    }

    /// A variable for something that host code computes.
    pub(super) fn host_value(&mut self, ty: Type, value: HostValue, origin: Origin) -> VarId {
        let name = "_host".to_owned();
        let var = self.var(Var { name, ty: ty.clone(), role: Role::Def, inserted: Some(Why::Intermediate), origin });
        let value = value.value(origin);
        self.emit(Statement::Let { var, value, ty, origin });
        var
    }

    /// Host code reads these values: what of them a scope makes leaves it.
    pub(super) fn host_reads(&mut self, at: ExprId, read: impl IntoIterator<Item = VarId>) {
        for var in read {
            let call = self.make_call(OpId::TENSOR_READ, vec![Operand::Var(var)], Vec::new(), at);
            self.emit(Statement::Eval { origin: call.origin, call });
        }
    }

    // Statements.

    pub(super) fn block(&mut self, body: &[StmtId]) {
        if self.state.depth >= DEEPEST {
            if let Some(&stmt) = body.first() {
                self.note_at(self.at_stmt(stmt), "the code is nested too deeply".to_owned());
            }
            return;
        }
        self.state.depth += 1;
        for &stmt in body {
            work::spend(super::STEPS_A_STATEMENT);
            self.statement(stmt);
        }
        self.state.depth -= 1;
    }

    fn statement(&mut self, id: StmtId) {
        let at = self.at_stmt(id);
        match self.ast.stmt(id) {
            Stmt::Assign { targets, annotation, value } => {
                let target = targets.first().and_then(|&target| self.assigned(target)).map(Arc::from);
                let outer = std::mem::replace(&mut self.state.target, target);
                self.assignment(at, targets, *annotation, *value);
                self.state.target = outer;
            }
            Stmt::AugAssign { target, op, .. } => {
                let name = self.ast.name(*target).unwrap_or("x");
                let sign = sign(*op);
                self.reject_at(
                    at,
                    Code::Rejected,
                    format!("the compiler does not accept `{sign}=`; write `{name} = {name} {sign} ...` for scalars, or an operation such as `pl.add` for tiles"),
                );
            }
            Stmt::Expr(expr) => self.effect(at, *expr),
            Stmt::For { target, iter, body, .. } => self.for_loop(id, *target, *iter, body),
            Stmt::While { condition, body, .. } => {
                let condition = self.condition(*condition);
                self.state.loops.push(LoopKind::Range);
                let body = self.nested(true, |this| this.block(body));
                self.state.loops.pop();
                self.emit(Statement::While { condition, carries: Vec::new(), body, origin: at });
            }
            Stmt::If { condition, body, or_else, .. } => self.branch(at, *condition, body, or_else),
            Stmt::With { items, body } => self.with(id, items, body),
            Stmt::Return(value) => self.returned(at, *value),
            Stmt::Break => {
                self.loop_control(at, "break");
                self.emit(Statement::Break(at));
            }
            Stmt::Continue => {
                self.loop_control(at, "continue");
                self.emit(Statement::Continue(at));
            }
            Stmt::Pass => {}
            Stmt::Error => self.note_at(at, "the statement does not parse".to_owned()),
            Stmt::Function(_) => self.unsupported(at, "a function inside a kernel"),
            Stmt::Class { .. } => self.unsupported(at, "a class inside a kernel"),
            Stmt::Import(_) | Stmt::ImportFrom { .. } => self.unsupported(at, "an import inside a kernel"),
            Stmt::Assert(_) => self.unsupported(at, "`assert`"),
            Stmt::Other { keyword, .. } => self.unsupported(at, &format!("`{keyword}`")),
        }
    }

    pub(super) fn unsupported(&mut self, at: Origin, what: &str) {
        let message = format!(
            "the compiler does not accept {what}; a kernel consists of assignments, operations, `for`, `while`, `if`, `with` and `return`"
        );
        self.reject_at(at, Code::Rejected, message);
    }

    /// The arguments of `pl.yield_(...)`, if the expression is one.
    pub(super) fn yielded(&self, expr: ExprId) -> Option<&'a [Arg]> {
        match self.ast.expr(expr) {
            Expr::Call { func, args } => match self.ast.expr(*func) {
                Expr::Attribute { name, .. } if name == "yield_" => Some(args),
                _ => None,
            },
            _ => None,
        }
    }

    /// The name that an assignment to this is one to, or to a part of.
    fn assigned(&self, target: ExprId) -> Option<&'a str> {
        match self.ast.expr(target) {
            Expr::Name(name) => Some(name),
            Expr::Subscript { value, .. } => self.assigned(*value),
            _ => None,
        }
    }

    fn assignment(&mut self, at: Origin, targets: &[ExprId], annotation: Option<ExprId>, value: Option<ExprId>) {
        let Some(value) = value else {
            let message = "a declaration needs a value; assign one in the same statement".to_owned();
            return self.reject_at(at, Code::Rejected, message);
        };
        let [target] = targets else {
            let message =
                "PyPTO does not support chained assignment (`a = b = ...`); assign each name separately".to_owned();
            return self.reject_at(at, Code::Rejected, message);
        };
        if let Some(args) = self.yielded(value) {
            let targets = self.ast.elements(*target).map_or_else(|| vec![*target], <[ExprId]>::to_vec);
            return self.yield_to(at, &targets, args);
        }
        match self.ast.expr(*target) {
            Expr::Name(name) => {
                let rhs = self.rhs(value);
                self.assign(*target, self.name(*target).unwrap_or(name), annotation, rhs);
            }
            Expr::Tuple(elements) | Expr::List(elements) => {
                let rhs = self.rhs(value);
                self.note_written_tuple(value, &rhs);
                self.unpack(at, elements, rhs);
            }
            Expr::Subscript { value: base, index } => self.subscript_write(*base, *index, value),
            _ => {
                let message =
                    "the target of an assignment must be a name, a tuple of names, or a part of a tile".to_owned();
                self.reject(*target, Code::Rejected, message);
            }
        }
    }

    /// Gives a name a value. A name that is known here keeps its variable.
    pub(super) fn assign(&mut self, target: ExprId, name: &str, annotation: Option<ExprId>, rhs: Rhs) {
        if name.contains("__") && !is_compilers_name(name) {
            let message = format!("`{name}` contains `__`, which is reserved for the compiler; rename it");
            self.reject(target, Code::Rejected, message);
        }
        let mut is_guess = false;
        let (value, inferred) = match rhs {
            Rhs::Call(call, ty) => (Value::Call(call), ty),
            Rhs::Term(Term::Var(var)) => (Value::Copy(var), self.ty(var).clone()),
            Rhs::Term(Term::Scalar(scalar)) => {
                let dtype = self.scalar_dtype(&scalar);
                is_guess = !self.is_sure(&Term::Scalar(scalar.clone()));
                (Value::Scalar(scalar), Type::Scalar(dtype.unwrap_or(Dtype::Index)))
            }
            Rhs::Host(ty, value) => (value.value(self.at_expr(target)), ty),
            // A list, a constant or something unknown has no variable of its own: the name is bound to it.
            Rhs::Term(term) => return self.bind(name, term),
        };
        let ty = match annotation.map(|annotation| (annotation, self.annotation(annotation))) {
            Some((at, Annotation::Type(annotated))) => {
                self.check_annotation(at, name, &annotated, &inferred);
                stated_type::merge(annotated, &inferred)
            }
            _ => inferred.clone(),
        };
        let origin = self.at_expr(target);
        let first_new = self.state.vars.len() as u32;
        let view = match annotation {
            Some(_) => Some(TensorView::default()),
            None => self.view_of_value(&value),
        };
        let var = match is_guess {
            true => self.scalar_variable(name, &ty, origin),
            false => self.variable(target, name, &ty, &view, origin),
        };
        let ty = if var.0 < first_new { self.of_known(ty, inferred, var) } else { ty };
        if *self.ty(var) != ty {
            self.state.restated.insert(var);
        }
        match &value {
            Value::Scalar(Scalar::Int(value)) if var.0 >= first_new => {
                self.state.constants.insert(var, *value);
            }
            _ => {
                self.state.constants.remove(&var);
            }
        }
        if self.may_be_narrowed(&value) {
            self.state.narrowed.insert(var);
        }
        self.set_view(var, view);
        self.emit(Statement::Let { var, value, ty, origin });
        self.bind(name, Term::Var(var));
    }

    /// What loops and branches hand on is not followed.
    pub(super) fn is_narrowed(&self, var: VarId) -> bool {
        let is_handed_on = !matches!(self.state.vars[var.0 as usize].role, Role::Def | Role::Param);
        self.state.narrowed.contains(&var) || is_handed_on && !self.state.narrowed.is_empty()
    }

    /// Whether a value may hold data in a part of its shape only: its operation says so, or it is made of such a value.
    fn may_be_narrowed(&self, value: &Value) -> bool {
        match value {
            Value::Call(call) => {
                let states_valid_shape = match call.op {
                    OpId::SET_VALIDSHAPE => true,
                    OpId::TENSOR_SLICE => match call.args.get(3) {
                        Some(Operand::List(valid)) => !valid.is_empty(),
                        valid => valid.is_some(),
                    },
                    _ => false,
                };
                states_valid_shape || call.args.iter().filter_map(Operand::var).any(|var| self.is_narrowed(var))
            }
            Value::Copy(source) | Value::Element { tuple: source, .. } => self.is_narrowed(*source),
            Value::Scalar(_) => false,
        }
    }

    /// The variable that an assignment to `name` writes.
    fn variable(&mut self, target: ExprId, name: &str, ty: &Type, view: &Followed, origin: Origin) -> VarId {
        if let Some(&Term::Var(known)) = self.lookup(name)
            && self.state.vars[known.0 as usize].role != Role::IterArg
        {
            let difference = self.agreement().difference(self.ty(known), ty);
            // What a parameter of an inlined function was declared as is not what it is called with.
            let is_own = known >= self.first_own && !self.state.guessed.contains(&known);
            match difference {
                Some(difference) if is_own => self.refuse_other_type(target, known, ty, view, difference),
                None if is_own => self.check_view(target, known, ty, view),
                _ => {}
            }
            if !are_other_tensors(self.ty(known), ty) {
                return known;
            }
        }
        self.var(Var { name: name.to_owned(), ty: ty.clone(), role: Role::Def, inserted: None, origin })
    }

    /// The type of a value that a known name is given. The slot of a declared allocation is the one that the name was first
    /// declared with: another annotation counts only where it says something else besides the slot.
    fn of_known(&self, annotated: Type, inferred: Type, var: VarId) -> Type {
        let says_more = unbound(annotated.clone()) != unbound(inferred.clone());
        let mut ty = if says_more { annotated } else { inferred };
        if let (Type::Tile(tile), Type::Tile(declared)) = (&mut ty, self.ty(var))
            && tile.binding.is_none()
        {
            tile.binding = declared.binding.clone();
        }
        ty
    }

    /// The variable for a scalar whose element type is not known.
    fn scalar_variable(&mut self, name: &str, ty: &Type, origin: Origin) -> VarId {
        let var = match self.lookup(name) {
            Some(&Term::Var(known)) if self.state.vars[known.0 as usize].role != Role::IterArg => known,
            _ => self.var(Var { name: name.to_owned(), ty: ty.clone(), role: Role::Def, inserted: None, origin }),
        };
        self.state.guessed.insert(var);
        var
    }

    pub(super) fn agreement(&self) -> Agreement<'_> {
        Agreement { vars: &self.state.vars, constants: &self.state.constants }
    }

    /// Types agree; the tensors that have them need not.
    fn check_view(&mut self, target: ExprId, known: VarId, ty: &Type, view: &Followed) {
        if !matches!(ty, Type::Tensor(_)) {
            return;
        }
        match TensorView::compare(&self.view_of(known), view, self.agreement()) {
            Comparison::Equal => {}
            Comparison::Differ(difference) => self.refuse_other_type(target, known, ty, view, difference),
            Comparison::Unsure => {
                let name = &self.state.vars[known.0 as usize].name;
                let what = format!("whether `{name}` may hold this tensor, of which a part is valid");
                self.note(target, what);
            }
        }
    }

    /// A name is one variable to the compiler, and a variable has one type.
    fn refuse_other_type(&mut self, target: ExprId, known: VarId, ty: &Type, view: &Followed, difference: Difference) {
        let Var { name, ty: was, origin, .. } = &self.state.vars[known.0 as usize];
        let vars = &self.state.vars;
        let described = |ty: &Type, view: &Followed| {
            let view = view.as_ref().filter(|_| matches!(ty, Type::Tensor(_)));
            written(ty, vars) + &view.map(|view| view.described(vars)).unwrap_or_default()
        };
        let (was, got) = (described(was, &self.view_of(known)), described(ty, view));
        let message = format!(
            "cannot reassign `{name}` with a different type: was {was}, got {got}; {difference} differs. Give this value another name"
        );
        let related = vec![(*origin, format!("`{name}` gets its type here: {was}"))];
        let at = self.at_expr(target);
        let rejection = Rejection { at, code: Code::Rejected, message, related };
        // Of code around scopes not every type is followed.
        match self.state.host && self.state.only_host {
            true => self.refuse_on_host(rejection),
            false => self.refuse(rejection),
        }
    }

    fn check_annotation(&mut self, at: ExprId, name: &str, annotated: &Type, inferred: &Type) {
        // Printed IR annotates flattened tiles with two axes where the operation has more.
        if let (Type::Tile(annotated), Type::Tile(inferred)) = (annotated, inferred)
            && annotated.shape.len() != inferred.shape.len()
        {
            return;
        }
        if let Some((says, is)) = conflict(annotated, inferred) {
            self.reject(at, Code::Rejected, format!("`{name}` is annotated as {says}, but its value is {is}"));
        }
    }

    fn unpack(&mut self, at: Origin, elements: &[ExprId], rhs: Rhs) {
        let tuple = match rhs {
            Rhs::Call(call, ty) => {
                let name = "_tuple_tmp".to_owned();
                let var = self.var(Var {
                    name,
                    ty: ty.clone(),
                    role: Role::Def,
                    inserted: Some(Why::Intermediate),
                    origin: at,
                });
                self.emit(Statement::Let { var, value: Value::Call(call), ty, origin: at });
                Term::Var(var)
            }
            Rhs::Host(ty, value) => Term::Var(self.host_value(ty, value, at)),
            Rhs::Term(term) => term,
        };
        for (index, &element) in elements.iter().enumerate() {
            let Some(name) = self.name(element) else {
                self.reject(element, Code::Rejected, "only names can be unpacking targets".to_owned());
                continue;
            };
            match &tuple {
                Term::List(values) => {
                    let value = values.get(index).cloned();
                    let value = value.unwrap_or_else(|| {
                        Term::Unknown(Reason::new(format!("the tuple that `{name}` is unpacked from is too short")))
                    });
                    self.assign(element, name, None, Rhs::Term(value));
                }
                Term::Var(tuple) => self.assign_element(element, name, *tuple, index as u32),
                Term::Unknown(reason) => self.bind(name, Term::Unknown(reason.clone())),
                Term::Scalar(_) | Term::Constant(_) => {
                    let reason = Reason::new(format!("`{name}` is unpacked from a value that is not a tuple"));
                    self.bind(name, Term::Unknown(reason));
                }
            }
        }
    }

    /// Values that are written side by side and unpacked at once: the compiler makes a tuple of them, whose elements are tiles of their
    /// own after it.
    fn note_written_tuple(&mut self, value: ExprId, rhs: &Rhs) {
        let is_written = matches!(self.ast.expr(value), Expr::Tuple(_) | Expr::List(_));
        if let Rhs::Term(Term::List(elements)) = rhs
            && is_written
            && !self.state.host
            && !elements.iter().all(|element| matches!(element, Term::Constant(_)))
        {
            self.note(value, "a statement that assigns several names".to_owned());
        }
    }

    fn assign_element(&mut self, target: ExprId, name: &str, tuple: VarId, index: u32) {
        let ty = match self.ty(tuple) {
            Type::Tuple(types) => types.get(index as usize).cloned(),
            Type::Unknown(reason) => Some(Type::Unknown(reason.clone())),
            _ => None,
        };
        let ty = ty.unwrap_or_else(|| {
            Type::Unknown(Reason::new(format!("the tuple that `{name}` is unpacked from is too short")))
        });
        let origin = self.at_expr(target);
        let var = self.variable(target, name, &ty, &Some(TensorView::default()), origin);
        self.emit(Statement::Let { var, value: Value::Element { tuple, index }, ty, origin });
        self.bind(name, Term::Var(var));
    }

    fn yield_to(&mut self, at: Origin, targets: &[ExprId], args: &[Arg]) {
        let terms: Vec<Term> = args.iter().map(|arg| self.expression(arg.value)).collect();
        let describe = |term: &Term| (self.term_type(term), self.view_of_term(term), self.is_sure(term));
        let types: Vec<(Type, Followed, bool)> = terms.iter().map(describe).collect();
        let values = terms.into_iter().map(|term| self.operand(term)).collect();
        self.emit(Statement::Yield { values, origin: at });
        for (&target, (ty, view, is_sure)) in targets.iter().zip(types) {
            let Some(name) = self.name(target).map(str::to_owned) else { continue };
            if let Some(names) = self.state.yields.last_mut() {
                names.push(Yielded { name, ty, view, is_sure, at });
            }
        }
    }

    fn effect(&mut self, at: Origin, expr: ExprId) {
        if let Some(args) = self.yielded(expr) {
            return self.yield_to(at, &[], args);
        }
        match self.ast.expr(expr) {
            Expr::Str(_) | Expr::Ellipsis => return,
            Expr::Error => return self.note_at(at, "the statement does not parse".to_owned()),
            Expr::Call { func, .. } => {
                let path = self.ast.dotted(*func).unwrap_or_default();
                if let ["pl", "static_print" | "static_assert" | "dump_tag" | "func_attr"] = path.as_slice() {
                    return;
                }
            }
            _ => {}
        }
        match self.rhs(expr) {
            Rhs::Call(call, _) => self.emit(Statement::Eval { call, origin: at }),
            Rhs::Term(_) | Rhs::Host(..) => {}
        }
    }

    fn returned(&mut self, at: Origin, value: Option<ExprId>) {
        let Some(value) = value else {
            if self.inlined.is_none() {
                self.emit(Statement::Return { values: Vec::new(), origin: at });
            }
            return;
        };
        if self.inlined.is_some() {
            // A call at the end takes the name that the result is bound to.
            self.state.returned = Some(match self.ast.name(value) {
                Some(_) => Rhs::Term(self.passed(value)),
                None => self.rhs(value),
            });
            return;
        }
        let values = match self.ast.expr(value) {
            Expr::Tuple(elements) => elements.clone(),
            _ => vec![value],
        };
        let terms: Vec<Term> = values.into_iter().map(|value| self.passed(value)).collect();
        let values = terms.into_iter().map(|term| self.operand(term)).collect();
        self.emit(Statement::Return { values, origin: at });
    }

    pub(super) fn condition(&mut self, condition: ExprId) -> Scalar {
        match self.expression(condition) {
            Term::Scalar(scalar) => scalar,
            Term::Var(var) => match self.ty(var) {
                Type::Scalar(_) | Type::Unknown(_) => Scalar::Var(var),
                _ => {
                    let message =
                        "the condition is not a scalar; compare scalars, or read an element of the tile".to_owned();
                    self.reject(condition, Code::Rejected, message);
                    Scalar::Unknown(Reason::new("the condition is not a scalar"))
                }
            },
            Term::Constant(Constant::Bool(value)) => Scalar::Bool(value),
            Term::Unknown(reason) => Scalar::Unknown(reason),
            Term::List(_) | Term::Constant(_) => Scalar::Unknown(Reason::new("the condition is not a scalar")),
        }
    }

    fn branch(&mut self, at: Origin, condition: ExprId, then: &[StmtId], or_else: &[StmtId]) {
        let condition = self.condition(condition);
        // Of code for the host only what runs becomes kernels.
        if let (true, Scalar::Bool(taken)) = (self.state.host, &condition) {
            return self.block(if *taken { then } else { or_else });
        }
        let mut names = Vec::new();
        self.scan_yields(then, &mut names);
        self.scan_yields(or_else, &mut names);
        let leak = names.is_empty();
        self.state.yields.push(Vec::new());
        let then = self.alternative(&condition, true, leak, then);
        let otherwise = (!or_else.is_empty()).then(|| self.alternative(&condition, false, leak, or_else));
        let yielded = self.state.yields.pop().unwrap_or_default();
        if otherwise.is_some() {
            self.check_branches(&yielded);
        }
        let mut results = Vec::new();
        for (name, annotation) in names {
            let captured = yielded.iter().find(|known| known.name == name);
            let view = captured.map(|known| known.view.clone());
            let captured = captured.map(|known| known.ty.clone());
            let inferred = captured.unwrap_or_else(|| Type::Unknown(Reason::new(format!("no branch yields `{name}`"))));
            let ty = match annotation.map(|annotation| self.annotation(annotation)) {
                Some(Annotation::Type(annotated)) => stated_type::merge(annotated, &inferred),
                _ => inferred,
            };
            let var = self.var(Var { name: name.clone(), ty, role: Role::IfResult, inserted: None, origin: at });
            view.into_iter().for_each(|view| self.set_view(var, view));
            results.push(var);
            self.bind(&name, Term::Var(var));
        }
        self.emit(Statement::If { condition, then, otherwise, results, origin: at });
    }

    /// Whether the type of a term is known, and no guess.
    pub(super) fn is_sure(&self, term: &Term) -> bool {
        match term {
            Term::Scalar(scalar) => self.is_typed(scalar),
            _ => true,
        }
    }

    /// Both branches yield values of one type to a name.
    fn check_branches(&mut self, yielded: &[Yielded]) {
        for (place, other) in yielded.iter().enumerate() {
            let Some(first) = yielded[..place].iter().find(|first| first.name == other.name) else { continue };
            if first.at == other.at || !(first.is_sure && other.is_sure) {
                continue;
            }
            let difference = self.agreement().across(&first.ty, &other.ty);
            if difference.is_none() && self.is_view_unsure(&first.view, &other.view) {
                self.note_at(other.at, format!("`{}`, a tensor of which branches may yield other parts", other.name));
            }
            if let Some(difference) = difference {
                let (was, got) = (written(&first.ty, &self.state.vars), written(&other.ty, &self.state.vars));
                let message = format!(
                    "the branches yield values of different types to `{}`: {was} and {got}; {difference} must be the same",
                    other.name
                );
                let related = vec![(first.at, format!("the other branch yields {was}"))];
                self.refuse(Rejection { at: other.at, code: Code::Rejected, message, related });
            }
        }
    }

    /// Whether tensors that are handed on may lie in another way than the usual one, or than each other: that is not followed.
    fn is_view_unsure(&self, one: &Followed, other: &Followed) -> bool {
        !matches!(TensorView::compare(one, other, self.agreement()), Comparison::Equal)
    }

    /// A loop hands on values of the type that it starts with.
    pub(super) fn check_carries(&mut self, carried: &[(String, VarId)], yielded: &[Yielded]) {
        for ((_, carried), yielded) in carried.iter().zip(yielded) {
            if !yielded.is_sure || self.state.guessed.contains(carried) {
                continue;
            }
            let Var { name, ty, origin, .. } = &self.state.vars[carried.0 as usize];
            let difference = self.agreement().across(ty, &yielded.ty);
            if difference.is_none() && self.is_view_unsure(&self.view_of(*carried), &yielded.view) {
                let what = format!("`{name}`, a tensor of which a loop may hand on another part");
                self.note_at(yielded.at, what);
                continue;
            }
            if let Some(difference) = difference {
                let (was, got) = (written(ty, &self.state.vars), written(&yielded.ty, &self.state.vars));
                let message = format!(
                    "the loop carries `{name}` as {was}, but yields {got}; {difference} must be the same in each iteration"
                );
                let related = vec![(*origin, format!("`{name}` starts as {was}"))];
                let at = yielded.at;
                self.refuse(Rejection { at, code: Code::Rejected, message, related });
            }
        }
    }

    /// A branch. Nothing is said of one that never runs: the compiler takes it out before it looks closely.
    fn alternative(&mut self, condition: &Scalar, when: bool, leak: bool, body: &[StmtId]) -> Vec<Statement> {
        let said = (self.state.notes.len(), self.state.rejections.len());
        let never_runs = *condition == Scalar::Bool(!when);
        let mut statements = self.nested(leak && !never_runs, |this| this.block(body));
        if never_runs {
            self.state.notes.truncate(said.0);
            self.state.rejections.truncate(said.1);
            // What is assigned there is not what the name refers to after it.
            super::pre_ssa::visit_types(&mut statements, &mut |var, ty| {
                if let Type::Unknown(_) = ty {
                    *ty = self.ty(var).clone();
                }
            });
        }
        statements
    }

    /// The names that the statements of a branch yield to, in order.
    fn scan_yields(&self, body: &[StmtId], names: &mut Vec<(String, Option<ExprId>)>) {
        for &stmt in body {
            match self.ast.stmt(stmt) {
                Stmt::Assign { targets, annotation, value: Some(value) } if self.yielded(*value).is_some() => {
                    for &target in targets {
                        let targets = self.ast.elements(target).map_or_else(|| vec![target], <[ExprId]>::to_vec);
                        for name in targets.into_iter().filter_map(|target| self.name(target)) {
                            if !names.iter().any(|(known, _)| known == name) {
                                names.push((name.to_owned(), *annotation));
                            }
                        }
                    }
                }
                Stmt::With { body, .. } => self.scan_yields(body, names),
                _ => {}
            }
        }
    }

    // Constants of the code around the kernel.

    pub(super) fn constant(&self, expr: ExprId) -> Constant {
        eval::evaluate(self.ast, expr, self.scope)
    }
}

pub(super) fn keyword(args: &[Arg], name: &str) -> Option<ExprId> {
    args.iter().find(|arg| arg.keyword.as_deref() == Some(name)).map(|arg| arg.value)
}

/// Whether a name ends as the compiler's own names do (`x__ssa_v0`, `x__tile`); those are accepted in source.
fn is_compilers_name(name: &str) -> bool {
    const ROLES: [&str; 9] = ["ssa", "iter", "rv", "phi", "tile", "tmp", "out", "store", "idx"];
    let Some((_, suffix)) = name.split_once("__") else { return true };
    let last = suffix.rsplit('_').next().unwrap_or_default();
    let is_version = last
        .strip_prefix('v')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    is_version || ROLES.contains(&last)
}

/// A name may be bound to one tensor and then to another, as in `m = pl.reshape(m, [1, N])`.
fn are_other_tensors(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Tensor(one), Type::Tensor(other)) => {
            (&one.shape, one.dtype, one.rank_known) != (&other.shape, other.dtype, other.rank_known)
        }
        _ => false,
    }
}

fn unbound(mut ty: Type) -> Type {
    if let Type::Tile(tile) = &mut ty {
        tile.binding = None;
    }
    ty
}

/// An annotation and a value that contradict each other, for people; `None` where they agree or are not known.
fn conflict(one: &Type, other: &Type) -> Option<(String, String)> {
    let differ = match (one, other) {
        (Type::Tile(one), Type::Tile(other)) => one.shape != other.shape || one.dtype != other.dtype,
        (Type::Tile(_), Type::Tensor(_) | Type::Scalar(_)) => true,
        (Type::Tensor(_), Type::Tile(_) | Type::Scalar(_)) => true,
        (Type::Scalar(_), Type::Tile(_) | Type::Tensor(_)) => true,
        _ => false,
    };
    differ.then(|| (notation::kind(one), notation::kind(other)))
}

pub(super) fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::MatMul => "@",
        BinaryOp::Div => "/",
        BinaryOp::FloorDiv => "//",
        BinaryOp::Mod => "%",
        BinaryOp::Pow => "**",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
    }
}

pub(super) fn unknown(reason: impl Into<Reason>) -> Rhs {
    Rhs::Term(Term::Unknown(reason.into()))
}

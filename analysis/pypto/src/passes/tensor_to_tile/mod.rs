//! ConvertTensorToTileOps: statements on tensors become statements on tiles (`docs/reference/tensor-level.md`).
//!
//! A parameter that an operation reads whole is loaded once at the start of the kernel ([`entry`]); windows become loads and
//! stores where they stand ([`windows`]); every operation follows its recipe ([`recipes`], [`products`], [`gather`]); what
//! leaves the kernel is stored at its end ([`exit`]). Variables keep their identity, so that every tile leads back to the
//! author's expression; tiles that a recipe adds are marked as inserted and named as the compiler names them.

mod entry;
mod exit;
mod fills;
mod gather;
mod products;
mod recipes;
mod scatter;
mod transfers;
mod typing;
mod windows;

use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::finding::{Note, Origin, Reason};
pub(crate) use typing::{Untyped, result_type};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::rewrite::{self, Substitution};
use crate::ir::{
    Attr, AttrName, Call, Carry, For, If, Kernel, KernelKind, Operand, Rejection, Role, Scalar, Stmt, TensorType,
    TileType, Type, Value, Var, VarId, While, Why, visit,
};
use crate::ops::OpId;
use crate::target::{Space, Target};
use crate::typing::{Known, Problem, deduce, undecided, unmet};

pub(super) fn run(kernel: &mut Kernel, target: Target) {
    if !is_tensor_level(kernel) {
        return on_tiles(kernel, target);
    }
    kernel.on_tensors = true;
    if kernel.kind != KernelKind::InCore
        && let Some(at) = computes(kernel)
    {
        let reason =
            "an operation on tensors in a kernel for one core, for which the compiler makes no tiles".to_owned();
        return kernel.notes.push(Note { at, reason: Reason::new(reason) });
    }
    let body = std::mem::take(&mut kernel.body);
    let body = fills::run(kernel, body);
    let loads = entry::loaded(kernel, &body);
    let demands = entry::demands(kernel, &body);
    let types = kernel.vars.iter().map(|var| var.ty.clone()).collect();
    let mut conversion = Conversion::new(kernel, target, types, demands);
    conversion.entry_loads(&loads);
    let body = conversion.body(body);
    conversion.out.extend(body);
    conversion.stores_at_exit();
    let Conversion { out, .. } = conversion;
    kernel.body = out;
}

/// In kernels that compute on tiles, all but what has no instruction is left exactly as it is, and tiles that are returned are stored.
fn on_tiles(kernel: &mut Kernel, target: Target) {
    if returns_tile(kernel) {
        let body = std::mem::take(&mut kernel.body);
        let mut conversion = Conversion::new(kernel, target, Vec::new(), FxHashMap::default());
        conversion.out = body;
        conversion.stores_at_exit();
        let Conversion { out, .. } = conversion;
        kernel.body = out;
    }
    // Kernels that are written for one core are left alone.
    let mut found = false;
    visit::statements(&kernel.body, &mut |stmt| {
        found |= visit::call_of(stmt).is_some_and(|call| call.op == OpId::SCATTER_UPDATE);
    });
    if !found || kernel.kind != KernelKind::InCore {
        return;
    }
    let body = std::mem::take(&mut kernel.body);
    let mut conversion = Conversion::new(kernel, target, Vec::new(), FxHashMap::default());
    let body = rewrite::expand_leaves(body, &mut |stmt, out| match stmt {
        Stmt::Let { var, value: Value::Call(call), origin } if call.op == OpId::SCATTER_UPDATE => {
            conversion.scatter_update(Site::of(Some(var), call.origin, origin), call);
            out.append(&mut conversion.out);
        }
        other => out.push(other),
    });
    kernel.body = body;
}

/// An operation that computes on tensors, rather than reads, writes or views them.
fn computes(kernel: &Kernel) -> Option<Origin> {
    let is_tensor = |var: VarId| matches!(kernel.var(var).ty, Type::Tensor(_));
    let mut found = None;
    visit::statements(&kernel.body, &mut |stmt| {
        let Some(call) = visit::call_of(stmt) else { return };
        let computes = call.op.op().is_on_tiles() && shaped_operands(call).any(|(_, var)| is_tensor(var));
        found = found.or(computes.then_some(call.origin));
    });
    found
}

fn returns_tile(kernel: &Kernel) -> bool {
    let is_tile = |value: &Operand| value.var().is_some_and(|var| kernel.tile(var).is_some());
    match kernel.body.last() {
        Some(Stmt::Return { values, .. }) => kernel.kind == KernelKind::InCore && values.iter().any(is_tile),
        _ => false,
    }
}

/// Whether a kernel computes on tensors anywhere.
fn is_tensor_level(kernel: &Kernel) -> bool {
    let mut found = false;
    let is_tensor = |var: VarId| matches!(kernel.var(var).ty, Type::Tensor(_));
    visit::statements(&kernel.body, &mut |stmt| {
        found |= visit::call_of(stmt).is_some_and(|call| {
            call.op.op().is_on_tensors()
                || matches!(call.op, OpId::TENSOR_PUT | OpId::TENSOR_GET)
                || shaped_operands(call).any(|(_, var)| is_tensor(var))
        });
    });
    found
}

/// Operands that are variables, but for those that an operation on tiles takes out of global memory.
fn shaped_operands(call: &Call) -> impl Iterator<Item = (usize, VarId)> + '_ {
    let operands = call.args.iter().enumerate();
    operands.filter_map(|(index, arg)| Some((index, arg.var()?))).filter(|(index, _)| !takes_tensor(call.op, *index))
}

fn takes_tensor(op: OpId, index: usize) -> bool {
    match op {
        OpId::LOAD => index == 0,
        OpId::STORE => index == 2,
        OpId::GATHER_ROW => index == 1,
        OpId::MGATHER | OpId::MSCATTER => true,
        _ => !op.op().is_on_tiles() && !op.op().is_on_tensors(),
    }
}

struct Conversion<'k> {
    kernel: &'k mut Kernel,
    target: Target,
    /// What each variable is in the author's terms; those added here have none.
    types: Vec<Type>,
    /// The tile that a parameter is from the start.
    stands_for: Substitution,
    /// Windows that reach a product, which are loaded to where it reads.
    demands: FxHashMap<VarId, Space>,
    /// Statements of the list that is open.
    out: Vec<Stmt>,
    reported: FxHashSet<Origin>,
    /// Tensors in global memory as a store leaves them.
    written: FxHashSet<VarId>,
}

/// An operation in progress: what its statements are made for.
#[derive(Debug, Clone, Copy)]
struct Site {
    /// The author's value, if the statement binds one.
    result: Option<VarId>,
    /// The expression.
    at: Origin,
    /// The statement.
    origin: Origin,
    /// What values are inserted for.
    why: Why,
}

impl Site {
    fn of(result: Option<VarId>, at: Origin, origin: Origin) -> Site {
        Site { result, at, origin, why: Why::Intermediate }
    }

    fn inserting(self, why: Why) -> Site {
        Site { why, ..self }
    }

    /// For `why`, unless it is known better.
    fn or_inserting(self, why: Why) -> Site {
        if self.why == Why::Intermediate { self.inserting(why) } else { self }
    }
}

impl<'k> Conversion<'k> {
    fn new(kernel: &'k mut Kernel, target: Target, types: Vec<Type>, demands: FxHashMap<VarId, Space>) -> Self {
        Conversion {
            kernel,
            target,
            types,
            stands_for: Substitution::default(),
            demands,
            out: Vec::new(),
            reported: FxHashSet::default(),
            written: FxHashSet::default(),
        }
    }

    fn body(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let outer = std::mem::replace(&mut self.out, Vec::with_capacity(body.len()));
        for stmt in body {
            self.stmt(stmt);
        }
        std::mem::replace(&mut self.out, outer)
    }

    fn stmt(&mut self, stmt: Stmt) {
        match stmt {
            Stmt::Let { var, value: Value::Call(call), origin } => {
                self.call(Site::of(Some(var), call.origin, origin), call);
            }
            Stmt::Eval { call, origin } => self.call(Site::of(None, call.origin, origin), call),
            Stmt::Let { var, value: Value::Copy(source), origin } => {
                let source = self.stands_for.var_of(source).unwrap_or(source);
                self.retype(var, source);
                self.out.push(Stmt::Let { var, value: Value::Copy(source), origin });
            }
            Stmt::For(inner) => self.for_loop(inner),
            Stmt::While(inner) => self.while_loop(inner),
            Stmt::If(inner) => self.branch(inner),
            mut leaf => {
                self.stands_for.apply(std::slice::from_mut(&mut leaf));
                self.out.push(leaf);
            }
        }
    }

    fn for_loop(&mut self, mut inner: For) {
        self.stands_for.apply_to_header(&mut inner);
        self.enter(&inner.carries);
        inner.body = self.body(inner.body);
        self.leave(&inner.carries);
        self.out.push(Stmt::For(inner));
    }

    fn while_loop(&mut self, mut inner: While) {
        inner.carries.iter_mut().for_each(|carry| carry.init = self.stands_for.operand(&carry.init));
        self.enter(&inner.carries);
        inner.condition = self.stands_for.scalar(&inner.condition);
        inner.body = self.body(inner.body);
        self.leave(&inner.carries);
        self.out.push(Stmt::While(inner));
    }

    fn branch(&mut self, mut inner: If) {
        inner.condition = self.stands_for.scalar(&inner.condition);
        inner.then = self.body(inner.then);
        inner.otherwise = self.body(inner.otherwise);
        for (slot, result) in inner.results.iter().enumerate() {
            let [then, otherwise] = inner.choices(slot);
            if let Some(source) = then.or(otherwise) {
                self.retype(*result, source);
            }
            let is_tile = |var: Option<VarId>| var.map(|var| self.kernel.tile(var).is_some());
            if let (Some(one), Some(other)) = (is_tile(then), is_tile(otherwise))
                && one != other
            {
                let what = format!(
                    "`{}` is on chip at the end of one branch and in global memory at the end of the other",
                    self.kernel.var(*result).name
                );
                self.note(inner.origin, what);
            }
        }
        self.out.push(Stmt::If(inner));
    }

    /// Inside of a loop a carried value is what goes in.
    fn enter(&mut self, carries: &[Carry]) {
        for carry in carries {
            if let Some(init) = carry.init.var() {
                self.retype(carry.iter, init);
            }
        }
    }

    fn leave(&mut self, carries: &[Carry]) {
        for carry in carries {
            self.retype(carry.result, carry.iter);
        }
    }

    fn retype(&mut self, var: VarId, source: VarId) {
        let ty = self.kernel.var(source).ty.clone();
        self.kernel.var_mut(var).ty = ty;
    }

    /// Whether an operand is a tensor in the author's terms, where the operation works on what it holds.
    fn computes_on_tensors(&self, call: &Call) -> bool {
        let was_tensor = |var: VarId| matches!(self.types.get(var.0 as usize), Some(Type::Tensor(_)));
        call.op.op().is_on_tensors() || shaped_operands(call).any(|(_, var)| was_tensor(var))
    }

    fn call(&mut self, site: Site, call: Call) {
        let on_tensors = self.computes_on_tensors(&call);
        let call = self.stands_for.call(&call);
        if call.op == OpId::SCATTER_UPDATE {
            self.scatter_update(site, call);
        } else if on_tensors {
            self.recipe(site, call);
        } else if matches!(call.op, OpId::TENSOR_PUT | OpId::TENSOR_GET) {
            self.transfer(site, call);
        } else if call.op == OpId::REMOTE_STORE {
            self.remote_store(site, call);
        } else {
            self.keep(site, call);
        }
    }

    /// The call as it stands.
    fn keep(&mut self, site: Site, call: Call) {
        self.out.push(match site.result {
            Some(var) => Stmt::Let { var, value: Value::Call(call), origin: site.origin },
            None => Stmt::Eval { call, origin: site.origin },
        });
    }

    // What recipes are made of.

    /// Appends a tile that the author does not name, `name = op(args)`.
    fn insert(&mut self, site: Site, name: &str, op: OpId, args: Vec<Operand>, attrs: Vec<(AttrName, Attr)>) -> VarId {
        let call = Call { op, args, attrs, origin: site.at };
        self.check(site, &call);
        let ty = self.deduced(&call);
        let var = self.kernel.add_var(Var {
            name: name.to_owned(),
            ty,
            role: Role::Def,
            inserted: Some(site.why),
            origin: site.at,
        });
        self.out.push(Stmt::Let { var, value: Value::Call(call), origin: site.origin });
        var
    }

    /// Appends the call whose result is the author's value.
    fn finish(&mut self, site: Site, op: OpId, args: Vec<Operand>, attrs: Vec<(AttrName, Attr)>) {
        let call = Call { op, args, attrs, origin: site.at };
        self.check(site, &call);
        if let Some(var) = site.result {
            self.kernel.var_mut(var).ty = self.deduced(&call);
        }
        self.keep(site, call);
    }

    /// Refuses operands that the operation on tiles does not take.
    fn check(&mut self, site: Site, call: &Call) {
        let constants = FxHashMap::default();
        let known = Known {
            vars: &self.kernel.vars,
            constants: &constants,
            untyped: &|_| true,
            restated: &|_| false,
            literals: false,
        };
        if let Some(message) = unmet(call, false, known) {
            self.kernel.rejections.push(Rejection::new(site.at, Code::InvalidOperand, message));
        } else if let Some(what) = undecided(call, false, known) {
            self.note(site.at, what);
        }
    }

    fn create(&mut self, site: Site, name: &str, shape: &[u64], dtype: Dtype) -> VarId {
        let attrs = vec![(AttrName::Dtype, Attr::Dtype(dtype)), (AttrName::TargetMemory, Attr::Space(Space::Vec))];
        self.insert(site.or_inserting(Why::Scratch), name, OpId::CREATE, vec![extents(shape)], attrs)
    }

    fn load(&mut self, tensor: VarId, offsets: Vec<Scalar>, shape: Operand, valid: Operand, space: Space) -> LoadParts {
        let args = vec![Operand::Var(tensor), Operand::List(offsets), shape, valid];
        let mut attrs = vec![(AttrName::TargetMemory, Attr::Space(space))];
        if space == Space::Mat {
            attrs.push((AttrName::OperandLoad, Attr::Bool(true)));
        }
        (OpId::LOAD, args, attrs)
    }

    /// Appends a load of the whole tensor.
    fn load_whole(&mut self, site: Site, name: &str, tensor: VarId, space: Space) -> Option<VarId> {
        let shape = self.static_shape(site, tensor)?;
        let zeros = vec![Scalar::Int(0); shape.len()];
        let (op, args, attrs) = self.load(tensor, zeros, extents(&shape), extents(&shape), space);
        Some(self.insert(site.or_inserting(Why::WholeParameter), name, op, args, attrs))
    }

    /// An operand that a vector unit takes, loaded as a whole where it is in global memory.
    fn on_vector(&mut self, site: Site, operand: VarId) -> Option<VarId> {
        if self.kernel.tensor(operand).is_none() {
            return Some(operand);
        }
        let name = format!("{}_vec", self.kernel.var(operand).name);
        self.load_whole(site, &name, operand, Space::Vec)
    }

    /// The extents of a tensor; a note where they are not constant.
    fn static_shape(&mut self, site: Site, var: VarId) -> Option<Vec<u64>> {
        let tensor = self.kernel.tensor(var)?;
        if let Some(shape) = typing::constant_shape(tensor) {
            return Some(shape);
        }
        let what = match tensor.rank_known {
            true => format!("`{}` is loaded whole, and its shape is not constant", self.kernel.var(var).name).into(),
            false => self.kernel.var(var).lack_of_shape(),
        };
        self.not_modelled(site, what);
        None
    }

    fn deduced(&mut self, call: &Call) -> Type {
        match deduce(call, &self.kernel.vars, &FxHashMap::default()) {
            Ok(ty) => ty,
            Err(problem) => {
                let why = match problem {
                    Problem::Unknown(reason) => return Type::Unknown(reason),
                    Problem::NotModelled(reason) => reason,
                    Problem::Invalid(what) | Problem::Empty(what) => what.into(),
                    Problem::OutOfBounds(message) => return self.refused(call.origin, message),
                    Problem::NotConstant(_) => "the shape of the tile is known at run time only".into(),
                    Problem::UnknownDtype(name) => format!("`pl.{name}`").into(),
                };
                self.note(call.origin, why.clone());
                Type::Unknown(why)
            }
        }
    }

    /// The compiler refuses the statement when it makes tiles of it.
    fn refused(&mut self, at: Origin, message: String) -> Type {
        let unknown = Type::Unknown(Reason::new(message.clone()));
        self.kernel.rejections.push(Rejection::new(at, Code::InvalidOperand, message));
        unknown
    }

    /// Nothing is known of the author's value.
    fn not_modelled(&mut self, site: Site, reason: impl Into<Reason>) {
        let reason = reason.into();
        self.note(site.at, reason.clone());
        if let Some(var) = site.result {
            self.kernel.var_mut(var).ty = Type::Unknown(reason.clone());
            self.out.push(Stmt::Let { var, value: Value::Scalar(Scalar::Unknown(reason)), origin: site.origin });
        }
    }

    /// One note for each expression: what follows from it is said once.
    fn note(&mut self, at: Origin, reason: impl Into<Reason>) {
        if self.reported.insert(at) {
            self.kernel.notes.push(Note { at, reason: reason.into() });
        }
    }

    fn tile(&self, operand: Option<&Operand>) -> Option<(VarId, TileType)> {
        let var = operand?.var()?;
        Some((var, self.kernel.tile(var)?.clone()))
    }

    fn tensor(&self, operand: Option<&Operand>) -> Option<(VarId, TensorType)> {
        let var = operand?.var()?;
        Some((var, self.kernel.tensor(var)?.clone()))
    }
}

type LoadParts = (OpId, Vec<Operand>, Vec<(AttrName, Attr)>);

/// A shape as an operand.
fn extents(shape: &[u64]) -> Operand {
    Operand::List(shape.iter().map(|&extent| Scalar::Int(i64::try_from(extent).unwrap_or(i64::MAX))).collect())
}

//! Python trees to kernel IR.
//!
//! [`body`] and [`expression`] read a kernel as the compiler's parser does, [`call`] and [`crate::typing`] by the operation
//! table, [`legacy`] what older kernels write, and [`ssa`] brings the result into SSA form.

mod agreement;
mod annotation;
mod arguments;
mod body;
mod call;
pub mod constants;
mod expression;
mod handover;
mod jumps;
mod launch;
mod legacy;
mod live_in;
mod loops;
mod module;
mod outline;
mod pre_ssa;
mod provenance;
mod renaming;
mod scopes;
mod specialised;
mod ssa;
mod stated_type;
mod storage;
mod tensor;
mod tensor_view;
#[cfg(test)]
mod tests;
mod view_tracking;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::eval::{Argument, Scope};
use tilefit_python::finding::{Note, Origin, Reason};
use tilefit_syntax::ast::{Arg, Ast, BinaryOp, Expr, ExprId, Function, ParamKind, Stmt, StmtId};

use crate::ir::{Copies, Handover, Kernel, KernelKind, Role, Type, VarId, Why};
use crate::ops::OpId;
use crate::passes::simplify::{self, Around};
use crate::typing::scalar;
pub use call::ROUNDING;
use handover::{Handovers, ScopeContext};
pub use launch::{launched_together, members, named};
pub use module::Module;
pub use provenance::{PassedArgs, passed_args};
use renaming::Renames;
pub use scopes::is_of_attributes;
use storage::Storages;

/// What it costs to read a statement, in steps of work.
const STEPS_A_STATEMENT: u64 = 8;

/// What a function is to the compiler, by its decorators (`docs/reference/syntax.md`, "Functions").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Kernel(KernelKind),
    /// Host or unspecified code, which may contain regions that the compiler outlines as kernels.
    Host,
    /// Put in place of its calls.
    Inline,
    /// Not PyPTO.
    Python,
}

/// The kernels of a function block: the function itself if it is one, or the scopes inside of it that the compiler outlines.
pub fn kernels(ast: &Ast, scope: &dyn Scope) -> Vec<Kernel> {
    let functions = ast.body.iter().filter_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => Some((stmt, function)),
        _ => None,
    });
    let mut kernels = Vec::new();
    for (stmt, function) in functions {
        match kind(ast, function) {
            Kind::Kernel(kind) => kernels.push(kernel(ast, scope, Origin::Stmt(stmt), function, kind)),
            Kind::Host => kernels.extend(regions(ast, scope, function)),
            Kind::Inline | Kind::Python => {}
        }
    }
    kernels
}

/// The calls of other functions that a function for the host makes, with the tensors that it passes.
pub fn launches(ast: &Ast, scope: &dyn Scope) -> Vec<(String, Vec<Argument>)> {
    let mut launches = Vec::new();
    for &stmt in &ast.body {
        if let Stmt::Function(function) = ast.stmt(stmt)
            && kind(ast, function) == Kind::Host
        {
            let renaming = Renames::of(ast, function);
            let mut lowering = body::Lowering::new(ast, scope, &renaming);
            lowering.state.host = true;
            lowering.state.jit = is_jit(ast, function);
            lowering.function(function);
            launches.extend(lowering.finish().1.launches);
        }
    }
    launches
}

fn kernel(ast: &Ast, scope: &dyn Scope, origin: Origin, function: &Function, kind: KernelKind) -> Kernel {
    let renaming = Renames::of(ast, function);
    let mut lowering = body::Lowering::new(ast, scope, &renaming);
    lowering.state.jit = is_jit(ast, function);
    lowering.state.core_function = kind == KernelKind::InCore && !function.decorators.is_empty();
    lowering.attributes(function);
    lowering.check_decorators(function);
    lowering.function(function);
    if kind == KernelKind::InCore && !function.decorators.is_empty() {
        lowering.refuse_tile_parameters();
    }
    let (mut pre_ssa, state) = lowering.finish();
    let (mut notes, mut rejections) = (state.notes, state.rejections);
    let has_jumps = jumps::structure(&mut pre_ssa, &mut notes);
    let converted = ssa::convert(&pre_ssa);
    notes.extend(converted.notes);
    // Branches made of jumps are not the author's.
    if !has_jumps {
        rejections.extend(converted.rejections);
    }
    Kernel {
        name: ast.name(function.name).unwrap_or_default().to_owned(),
        kind,
        origin,
        name_origin: Origin::Expr(function.name),
        inlined_from: None,
        inlined: state.functions,
        targets: state.targets,
        params: converted.params,
        called_with: Vec::new(),
        provenance: Vec::new(),
        handover: Handover::default(),
        vars: converted.vars,
        body: converted.body,
        is_scope: false,
        hint: None,
        on_tensors: false,
        cross_core: state.cross_core,
        vector_regions: state.vector_regions,
        allocations: state.allocations,
        notes,
        rejections,
        tilings: Vec::new(),
        strays: Vec::new(),
        asked_stages: Vec::new(),
        copies: Copies::default(),
    }
}

/// The scopes of a host function that the compiler makes kernels of.
fn regions(ast: &Ast, scope: &dyn Scope, function: &Function) -> Vec<Kernel> {
    let has_scopes = may_hold_regions(ast, scope);
    if !has_scopes && !mentions_computation(ast) {
        return Vec::new();
    }
    let host = ast.name(function.name).unwrap_or_default();
    let renaming = Renames::of(ast, function);
    let mut lowering = body::Lowering::new(ast, scope, &renaming);
    lowering.state.host = true;
    lowering.state.only_host = !has_scopes;
    lowering.check_decorators(function);
    lowering.state.jit = is_jit(ast, function);
    lowering.function(function);
    let (pre_ssa, state) = lowering.finish();
    if !has_scopes {
        return refused_host(ast, function, state.host_rejections).into_iter().collect();
    }
    let mut converted = ssa::convert(&pre_ssa);
    let ssa::Converted { body, regions, around, vars, .. } = &mut converted;
    let gone = simplify::scopes(body, regions, around, vars);
    let read_by_host = converted.versions_of(&state.read_by_host);
    let read_by_host: FxHashSet<_> = read_by_host.iter().map(|var| gone.var_of(*var).unwrap_or(*var)).collect();
    simplify::drop_unread_of_host(&mut converted.body, &mut converted.regions, &read_by_host);
    let of_scopes = std::mem::take(&mut converted.of_scopes);
    let mut leaving = outline::leaving(&converted.body, &converted.regions, &converted.vars);
    let (mut described, launches): (Vec<_>, Vec<_>) = storage::regions(pre_ssa.body).into_iter().unzip();
    let merging = outline::merging(&converted.body);
    let mut last = Vec::new();
    last_statements(ast, &function.body, &mut last);
    for (scope, region) in described.iter_mut().enumerate() {
        let is_read = converted.around[scope].iter().any(|around| match around {
            Around::Branch(_, _, branch) => merging.contains(branch),
            Around::Loop { .. } => false,
        });
        let is_last = converted.last[scope] && last.iter().any(|&stmt| region.origin == Origin::Stmt(stmt));
        if is_last && !is_read && region.is_called && !region.on_blocks {
            match outline::everything(&converted.regions[scope], &converted.vars) {
                Ok(values) => leaving[scope] = values,
                Err(reason) => region.notes.push(Note { at: region.origin, reason }),
            }
        }
    }
    for ((region, body), leaving) in described.iter().zip(&mut converted.regions).zip(leaving) {
        if !leaving.is_empty() {
            body.push(crate::ir::Stmt::Return { values: leaving, origin: region.origin });
        }
    }
    for (region, (notes, rejections)) in described.iter_mut().zip(of_scopes) {
        region.notes.extend(notes);
        region.notes.extend(state.host_notes.iter().map(|reason| Note { at: region.origin, reason: reason.clone() }));
        region.rejections.extend(rejections);
    }
    let storages = Storages::of(&converted.vars, &converted.body, &converted.regions, &launches);
    let handovers = Handovers::of(&converted.body, &converted.regions);
    let mut names = ScopeNames::default();
    let mut kernels = Vec::new();
    let each = described.into_iter().zip(&launches).zip(&converted.regions);
    for (count, ((region, launch), body)) in each.enumerate() {
        let name = region.hint.clone().unwrap_or_else(|| format!("{host}_incore_{count}"));
        let name = names.next(name);
        let around = &converted.carried_around;
        let is_apart = launch.is_apart;
        let place = ScopeContext { in_carrying_loop: around[count], is_apart, read_by_host: &read_by_host };
        let scope = body;
        let outline::Outlined { taken, params, mut vars, body } = outline::outline(scope, &converted.vars);
        let handover = match launch.is_plain {
            true => handovers.of_scope(scope, &taken, &params, place),
            false => Handover::default(),
        };
        let provenance = if launch.is_plain { storages.provenance(&taken, &params) } else { Vec::new() };
        let is_scalar_of_entry = |given: &VarId| {
            let var = &converted.vars[given.0 as usize];
            state.jit && var.role == Role::Param && matches!(var.ty, Type::Scalar(_))
        };
        let of_entry = params.iter().zip(&taken).filter(|(_, given)| is_scalar_of_entry(given));
        let called_with = of_entry.map(|(param, _)| *param).collect();
        for (param, given) in params.iter().zip(&taken) {
            let var = &mut vars[param.0 as usize];
            let is_own = converted.vars[given.0 as usize].role == Role::Param;
            let own = match &region.inlined_from {
                _ if !is_own => None,
                Some(function) => function.param(var),
                None => Some(var.origin),
            };
            // What the code around it gives to a scope has no place that stays where it is.
            var.origin = own.unwrap_or(region.origin);
            var.inserted = match own {
                Some(_) => None,
                None if is_own => Some(Why::Intermediate),
                None => var.inserted,
            };
        }
        kernels.push(Kernel {
            name,
            kind: KernelKind::InCore,
            origin: region.origin,
            name_origin: region.name_origin,
            inlined_from: region.inlined_from.map(|function| function.key.clone()),
            inlined: region.inlined,
            targets: region.targets,
            params,
            called_with,
            provenance,
            handover,
            vars,
            body,
            is_scope: true,
            hint: region.hint,
            on_tensors: false,
            cross_core: region.cross_core,
            vector_regions: region.vector_regions,
            allocations: state.allocations.clone(),
            notes: region.notes,
            rejections: region.rejections,
            tilings: Vec::new(),
            strays: Vec::new(),
            asked_stages: Vec::new(),
            copies: Copies::default(),
        });
    }
    let mut refused = state.host_rejections;
    refused.extend(simplify::flag_of_host(&converted.body, &converted.vars));
    match kernels.first_mut() {
        Some(first) => first.rejections.extend(refused),
        None => kernels.extend(refused_host(ast, function, refused)),
    }
    kernels
}

/// The names of the kernels of one function. Of several scopes with one hint the second gets `_0`, the third `_1`.
#[derive(Default)]
struct ScopeNames {
    taken: FxHashSet<String>,
    /// How many names were tried for each hint.
    tried: FxHashMap<String, u32>,
}

impl ScopeNames {
    fn next(&mut self, hint: String) -> String {
        let tried = self.tried.entry(hint.clone()).or_default();
        loop {
            let name = if *tried == 0 { hint.clone() } else { format!("{hint}_{}", *tried - 1) };
            *tried += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// The statements after which nothing stands, be it in a loop or branch at the end.
fn last_statements(ast: &Ast, body: &[StmtId], last: &mut Vec<StmtId>) {
    let says_something = |stmt: &&StmtId| !matches!(ast.stmt(**stmt), Stmt::Return(None) | Stmt::Pass);
    let Some(&stmt) = body.iter().rev().find(says_something) else { return };
    match ast.stmt(stmt) {
        Stmt::If { body, or_else, .. } => {
            last_statements(ast, body, last);
            last_statements(ast, or_else, last);
        }
        Stmt::For { body, .. } => last_statements(ast, body, last),
        _ => last.push(stmt),
    }
}

/// A host function that the front end refuses, in place of the kernels that it does not have.
fn refused_host(ast: &Ast, function: &Function, rejections: Vec<crate::ir::Rejection>) -> Option<Kernel> {
    let name = ast.name(function.name).unwrap_or_default();
    let origin = rejections.first()?.at;
    Some(Kernel {
        name_origin: Origin::Expr(function.name),
        rejections,
        ..Kernel::new(name, KernelKind::InCore, origin)
    })
}

/// The functions of a block that [`kernels`] could not read, with the reason: kernels without statements.
pub fn unread(ast: &Ast, reason: String) -> Vec<Kernel> {
    let functions = ast.body.iter().filter_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => Some((Origin::Stmt(stmt), function)),
        _ => None,
    });
    let is_kernel = |function: &Function| matches!(kind(ast, function), Kind::Kernel(_) | Kind::Host);
    let kernel = |(origin, function): (Origin, &Function)| {
        let name_origin = Origin::Expr(function.name);
        let note = Note { at: name_origin, reason: Reason::new(reason.clone()) };
        let name = ast.name(function.name).unwrap_or_default();
        Kernel { name_origin, notes: vec![note], ..Kernel::new(name, KernelKind::InCore, origin) }
    };
    functions.filter(|(_, function)| is_kernel(function)).map(kernel).collect()
}

/// Whether a function can contain a scope that becomes a kernel, its own or that of a function put in place of a call; most host code
/// does not.
fn may_hold_regions(ast: &Ast, scope: &dyn Scope) -> bool {
    mentions_region(ast) || calls_helper(ast, scope)
}

fn mentions_region(ast: &Ast) -> bool {
    ast.exprs().any(|(_, expr)| match expr {
        Expr::Attribute { name, .. } => matches!(name.as_str(), "CORE_GROUP" | "spmd"),
        _ => false,
    })
}

/// Whether a function calls operations that compute, rather than move tensors.
fn mentions_computation(ast: &Ast) -> bool {
    ast.exprs().any(|(_, expr)| {
        let Expr::Call { func, .. } = expr else { return false };
        let path = ast.dotted(*func).unwrap_or_default();
        let ["pl", name] = path.as_slice() else { return false };
        let moves = matches!(*name, "slice" | "reshape" | "assemble" | "read" | "write");
        !moves && crate::ops::signature(name).is_some()
    })
}

/// Whether a function calls one that is put in place of the call, which may hold scopes.
fn calls_helper(ast: &Ast, scope: &dyn Scope) -> bool {
    ast.exprs().any(|(_, expr)| {
        let Expr::Call { func, .. } = expr else { return false };
        let Some(source) = ast.name(*func).and_then(|name| scope.function(name)) else { return false };
        source.ast.body.iter().any(|&stmt| match source.ast.stmt(stmt) {
            Stmt::Function(function) => kind(&source.ast, function) == Kind::Inline,
            _ => false,
        })
    })
}

/// How an operator is written that the compiler accepts on scalars.
pub fn scalar_sign(op: BinaryOp) -> Option<&'static str> {
    scalar::operator(op).map(|_| body::sign(op))
}

/// What a function is; cheap for plain Python, which has no decorator of `pl`.
pub fn kind(ast: &Ast, function: &Function) -> Kind {
    if function.decorators.is_empty() && is_sketch(ast, function) {
        return Kind::Kernel(KernelKind::InCore);
    }
    function
        .decorators
        .iter()
        .map(|&decorator| decorated(ast, decorator))
        .find(|kind| *kind != Kind::Python)
        .unwrap_or(Kind::Python)
}

/// Whether a parameter of this name is a legacy one of an operation.
pub fn is_legacy_parameter(op: OpId, name: &str) -> bool {
    legacy::renamed(op, name).is_some() || legacy::removed(op, name).is_some()
}

/// Whether a block is a kernel without a decorator, as the design documents write them.
pub fn is_undecorated(ast: &Ast) -> bool {
    ast.body.iter().any(|&stmt| matches!(ast.stmt(stmt), Stmt::Function(function) if function.decorators.is_empty()))
}

/// The parameters of a function of PyPTO; `None` where it takes any.
pub fn parameters(ast: &Ast) -> Option<Vec<String>> {
    let function = ast.body.iter().find_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => Some(function),
        _ => None,
    })?;
    let takes_any = function.params.iter().any(|param| param.kind == ParamKind::Kwargs);
    let names = function.params.iter().filter_map(|param| ast.name(param.name)).map(str::to_owned);
    (!takes_any && kind(ast, function) != Kind::Python).then(|| names.collect())
}

/// A function of the design documents: no decorator, tensors with a shape and an element type, and `block.` operations.
fn is_sketch(ast: &Ast, function: &Function) -> bool {
    let is_tensor = |annotation: ExprId| match ast.expr(annotation) {
        Expr::Call { func, args } => {
            let has_shape = args.first().is_some_and(|shape| ast.elements(shape.value).is_some());
            ast.name(*func) == Some("Tensor") && args.len() >= 2 && has_shape
        }
        _ => false,
    };
    let computes = |(_, expr): (ExprId, &Expr)| match expr {
        Expr::Call { func, .. } => ast.dotted(*func).is_some_and(|path| path.first() == Some(&"block")),
        _ => false,
    };
    function.params.iter().filter_map(|param| param.annotation).any(is_tensor) && ast.exprs().any(computes)
}

fn decorated(ast: &Ast, decorator: ExprId) -> Kind {
    let (path, args): (_, &[Arg]) = match ast.expr(decorator) {
        Expr::Call { func, args } => (ast.dotted(*func), args),
        _ => (ast.dotted(decorator), &[]),
    };
    match path.as_deref() {
        Some(["pl", "function"]) => function_type(ast, args),
        Some(["pl", "jit", "incore"]) => Kind::Kernel(KernelKind::InCore),
        Some(["pl", "inline"] | ["pl", "jit", "inline"]) => Kind::Inline,
        Some(["pl", "jit"] | ["pl", "jit", "opaque" | "host"]) => Kind::Host,
        _ => Kind::Python,
    }
}

/// `@pl.jit` and its kin, whose functions the compiler specialises for every call.
fn is_jit(ast: &Ast, function: &Function) -> bool {
    let mut paths = function.decorators.iter().filter_map(|&decorator| match ast.expr(decorator) {
        Expr::Call { func, .. } => ast.dotted(*func),
        _ => ast.dotted(decorator),
    });
    paths.any(|path| path.starts_with(&["pl", "jit"]))
}

fn function_type(ast: &Ast, args: &[Arg]) -> Kind {
    let named = |name| args.iter().find(|arg| arg.keyword.as_deref() == Some(name)).map(|arg| arg.value);
    if named("external_source").is_some() {
        return Kind::Python;
    }
    let path = named("type").and_then(|ty| ast.dotted(ty));
    match path.as_deref().and_then(|path| path.last().copied()) {
        Some("InCore") => Kind::Kernel(KernelKind::InCore),
        Some("AIC") => Kind::Kernel(KernelKind::Aic),
        Some("AIV") => Kind::Kernel(KernelKind::Aiv),
        Some("Inline") => Kind::Inline,
        Some("Opaque" | "Orchestration" | "Graph") | None => Kind::Host,
        Some(_) => Kind::Python,
    }
}

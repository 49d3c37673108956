//! Which shapes `@pl.jit` finds for the tensors that its functions hand to each other. It makes one text of each function, for the first
//! call in the first function that calls it, and follows nothing but names: what is computed in between has no shape, and a window
//! whose ends are not constant is as large as what it is taken of (`python/pypto/jit/decorator.py`, `_resolve_dep_call_metadata`,
//! `_extract_local_tensor_metas`). What a parameter is annotated with does not count.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::eval::{self, Constant, FunctionSource, Scope};
use tilefit_python::work;
use tilefit_syntax::ast::{Arg, Ast, BinaryOp, Expr, ExprId, Function, Stmt, StmtId, UnaryOp};

use super::{Kind, is_jit, kind};
use crate::ir::Scalar;

/// What the specializer knows of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meta {
    Shape(Vec<Scalar>),
    /// It depends on the value of a scalar that the entry is called with.
    Open,
}

type Metas = FxHashMap<String, Meta>;

/// A function that the specializer makes no text of.
pub(super) struct Unmade {
    pub(super) function: String,
    pub(super) why: Unfit,
    /// Its first call, where that stands in the entry itself.
    pub(super) call: Option<ExprId>,
}

pub(super) enum Unfit {
    /// It finds no shape for this parameter.
    Unshaped(String),
    /// It is called by this name, and found by its own only.
    Renamed(String),
}

/// The functions that an entry calls, directly or not.
#[derive(Default)]
pub(super) struct Specialised {
    functions: FxHashMap<String, Metas>,
    pub(super) unmade: Vec<Unmade>,
}

impl Specialised {
    /// `params` are the shapes of the entry's own tensors.
    pub(super) fn of(ast: &Ast, function: &Function, scope: &dyn Scope, params: Vec<(String, Vec<Scalar>)>) -> Self {
        let mut specialised = Specialised::default();
        let metas = params.into_iter().map(|(name, shape)| (name, Meta::Shape(shape))).collect();
        specialised.visit(Caller { ast, function, scope, metas: &metas, is_entry: true }, 0);
        specialised
    }

    pub(super) fn param(&self, function: &str, param: &str) -> Option<&Meta> {
        self.functions.get(function)?.get(param)
    }

    fn visit(&mut self, caller: Caller, depth: u32) {
        if depth > DEEPEST {
            return;
        }
        let mut seen = FxHashSet::default();
        for name in caller.called_names() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let Some(source) = caller.scope.function(&name) else { continue };
            let Some((dep, dep_name)) = dependency(&source) else { continue };
            if self.functions.contains_key(dep_name) {
                continue;
            }
            let defining_scope = caller.scope.defining_scope(&name);
            let scope = defining_scope.as_deref().unwrap_or(caller.scope);
            let (mut metas, call) = caller.resolved(&source.ast, dep, dep_name);
            leave_open(&mut metas, &source.ast, dep, scope);
            let call = call.filter(|_| caller.is_entry);
            let mut unfit = |why| self.unmade.push(Unmade { function: dep_name.to_owned(), why, call });
            if name != dep_name {
                unfit(Unfit::Renamed(name.clone()));
            } else if let Some(param) = tensors(&source.ast, dep).find(|param| !metas.contains_key(*param)) {
                unfit(Unfit::Unshaped(param.to_owned()));
            }
            self.functions.insert(dep_name.to_owned(), metas.clone());
            let inner = Caller { ast: &source.ast, function: dep, scope, metas: &metas, is_entry: false };
            self.visit(inner, depth + 1);
        }
    }
}

/// Functions that call each other deeper are not followed.
const DEEPEST: u32 = 100;

/// A function that the specializer puts beside the entry, and its name.
fn dependency(source: &FunctionSource) -> Option<(&Function, &str)> {
    let [only] = source.ast.body.as_slice() else { return None };
    let Stmt::Function(function) = source.ast.stmt(*only) else { return None };
    let is_beside = match kind(&source.ast, function) {
        Kind::Inline | Kind::Kernel(_) => true,
        Kind::Host => decorated_as(&source.ast, function, "opaque"),
        Kind::Python => false,
    };
    let name = source.ast.name(function.name)?;
    (is_beside && is_jit(&source.ast, function)).then_some((function, name))
}

fn decorated_as(ast: &Ast, function: &Function, name: &str) -> bool {
    function.decorators.iter().any(|&decorator| {
        let path = match ast.expr(decorator) {
            Expr::Call { func, .. } => ast.dotted(*func),
            _ => ast.dotted(decorator),
        };
        path.is_some_and(|path| path.last() == Some(&name))
    })
}

/// Extents that a function declares as dynamic are so in its text, whatever it is called with (`_compute_per_func_dyndim_maps`).
fn leave_open(metas: &mut Metas, ast: &Ast, function: &Function, scope: &dyn Scope) {
    for param in &function.params {
        let declared = param.annotation.and_then(|annotation| declared_shape(ast, annotation));
        let meta = ast.name(param.name).and_then(|name| metas.get_mut(name));
        let (Some(declared), Some(Meta::Shape(shape))) = (declared, meta) else { continue };
        for (extent, &declared) in shape.iter_mut().zip(declared) {
            if !matches!(eval::evaluate(ast, declared, scope), Constant::Int(_)) {
                *extent = Scalar::Dynamic("?".to_owned());
            }
        }
    }
}

/// The extents in `pl.Tensor[[extents], dtype]`, also in `pl.Out[…]`.
fn declared_shape(ast: &Ast, annotation: ExprId) -> Option<&[ExprId]> {
    let Expr::Subscript { value, index } = ast.expr(annotation) else { return None };
    match ast.dotted(*value)?.last() {
        Some(&("Out" | "InOut")) => declared_shape(ast, *index),
        _ => {
            let first = match ast.expr(*index) {
                Expr::Tuple(parts) => *parts.first()?,
                _ => *index,
            };
            ast.elements(first)
        }
    }
}

/// Parameters whose annotation says that they are tensors.
fn tensors<'a>(ast: &'a Ast, function: &'a Function) -> impl Iterator<Item = &'a str> {
    let params = function.params.iter();
    params
        .filter(|param| param.annotation.is_some_and(|annotation| is_tensor(ast, annotation)))
        .filter_map(|param| ast.name(param.name))
}

fn is_tensor(ast: &Ast, annotation: ExprId) -> bool {
    match ast.expr(annotation) {
        Expr::Subscript { value, index } => match ast.dotted(*value).unwrap_or_default().last() {
            Some(&("Out" | "InOut")) => is_tensor(ast, *index),
            _ => is_tensor(ast, *value),
        },
        _ => matches!(ast.dotted(annotation).unwrap_or_default().last(), Some(&("Tensor" | "DistributedTensor"))),
    }
}

/// A function whose body is read for what it passes on.
struct Caller<'a> {
    ast: &'a Ast,
    function: &'a Function,
    scope: &'a dyn Scope,
    metas: &'a Metas,
    is_entry: bool,
}

impl Caller<'_> {
    /// The names that it calls, those nearer to the top of the tree first, as Python walks it.
    fn called_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut lists: Vec<&[StmtId]> = vec![&self.function.body];
        while !lists.is_empty() {
            let mut deeper = Vec::new();
            for &stmt in lists.iter().copied().flatten() {
                work::spend(super::STEPS_A_STATEMENT);
                let stmt = self.ast.stmt(stmt);
                let mut calls = Vec::new();
                stmt.exprs().into_iter().for_each(|expr| self.calls_in(expr, &mut calls));
                names.extend(calls.into_iter().map(|(name, _)| name.to_owned()));
                deeper.extend(stmt.bodies());
            }
            lists = deeper;
        }
        names
    }

    /// Calls of plain names, outer ones first.
    fn calls_in<'s>(&'s self, expr: ExprId, calls: &mut Vec<(&'s str, ExprId)>) {
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            if let Expr::Call { func, .. } = self.ast.expr(expr)
                && let Some(name) = self.ast.name(*func)
            {
                calls.push((name, expr));
            }
            open.extend(self.ast.expr(expr).parts().into_iter().rev());
        }
    }

    /// What is known of the parameters of a function that this one calls, and the call that says it.
    fn resolved(&self, dep_ast: &Ast, dep: &Function, dep_name: &str) -> (Metas, Option<ExprId>) {
        let params: Vec<&str> =
            dep.params.iter().filter_map(|param| dep_ast.name(param.name)).filter(|name| *name != "self").collect();
        let mut locals = Locals { caller: self, metas: self.metas.clone(), dims: FxHashMap::default(), call: None };
        locals.walk(&self.function.body, Some(dep_name));
        let mut resolved = Metas::default();
        let Some(call) = locals.call else {
            // It is called by another name than its own: names that are the same are taken for the same.
            resolved.extend(
                params.iter().filter_map(|param| Some(((*param).to_owned(), locals.metas.get(*param)?.clone()))),
            );
            return (resolved, None);
        };
        let Expr::Call { args, .. } = self.ast.expr(call) else { return (resolved, None) };
        let mut positional = params.iter().copied();
        for Arg { keyword, value } in args {
            let Some(param) = keyword.as_deref().or_else(|| positional.next()) else { continue };
            if let Some(meta) = locals.passed(*value) {
                resolved.insert(param.to_owned(), meta);
            }
        }
        (resolved, Some(call))
    }
}

/// The tensors that a function knows by name, statement by statement.
struct Locals<'a, 'c> {
    caller: &'a Caller<'c>,
    metas: Metas,
    /// Names of extents: `tokens = pl.tensor.dim(x, 0)`.
    dims: FxHashMap<String, (String, usize)>,
    /// The first call of the function that the walk stops at.
    call: Option<ExprId>,
}

impl Locals<'_, '_> {
    /// Whether the call was found.
    fn walk(&mut self, body: &[StmtId], stop: Option<&str>) -> bool {
        for &stmt in body {
            work::spend(super::STEPS_A_STATEMENT);
            let stmt = self.caller.ast.stmt(stmt);
            let mut calls = Vec::new();
            stmt.exprs().into_iter().for_each(|expr| self.caller.calls_in(expr, &mut calls));
            if let Some((_, call)) = calls.iter().find(|(name, _)| Some(*name) == stop) {
                self.call = Some(*call);
                return true;
            }
            if let Stmt::Assign { targets, value: Some(value), .. } = stmt {
                self.assign(targets, *value);
            }
            if stmt.bodies().any(|body| self.walk(body, stop)) {
                return true;
            }
        }
        false
    }

    fn assign(&mut self, targets: &[ExprId], value: ExprId) {
        let ast = self.caller.ast;
        let (mut meta, mut keeps) = (None, false);
        let mut of_targets: Vec<(String, Meta)> = Vec::new();
        match ast.expr(value) {
            Expr::Name(name) => meta = self.metas.get(name).cloned(),
            Expr::Subscript { value, index } => meta = self.window(*value, *index),
            Expr::Call { func, args } => match ast.expr(*func) {
                Expr::Attribute { value: module, name } if ast.name(*module).is_some() => match name.as_str() {
                    "create_tensor" => meta = args.first().and_then(|shape| self.made(shape.value, args)),
                    "window" => meta = args.get(1).and_then(|shape| self.made(shape.value, args)),
                    "slice" => meta = self.sliced(args),
                    "reshape" => meta = self.reshaped(args),
                    // Of other operations the result keeps what the name was known for.
                    _ => keeps = true,
                },
                Expr::Name(name) => {
                    let source = self.caller.scope.function(name);
                    if let Some((dep, _)) = source.as_ref().and_then(dependency).filter(|(_, own)| own == name) {
                        keeps = true;
                        if let (Some(source), [target]) = (&source, targets) {
                            of_targets = self.outputs(&source.ast, dep, args, *target);
                        }
                    }
                }
                _ => {}
            },
            _ => {}
        }
        let dim = self.extent_name(value);
        self.metas.extend(of_targets);
        for name in targets.iter().filter_map(|target| ast.name(*target)) {
            match &meta {
                Some(meta) => {
                    self.metas.insert(name.to_owned(), meta.clone());
                }
                None if !keeps => {
                    self.metas.remove(name);
                }
                None => {}
            }
            match &dim {
                Some(dim) => self.dims.insert(name.to_owned(), dim.clone()),
                None => self.dims.remove(name),
            };
        }
    }

    /// What an argument hands on: a name, or a name with indices that drop its first axes.
    fn passed(&self, value: ExprId) -> Option<Meta> {
        let ast = self.caller.ast;
        match ast.expr(value) {
            Expr::Name(name) => self.metas.get(name).cloned(),
            Expr::Subscript { value, index } => {
                let indices = indices(ast, *index);
                let dropped = indices.iter().filter(|index| !matches!(ast.expr(**index), Expr::Slice { .. })).count();
                match self.metas.get(ast.name(*value)?)? {
                    Meta::Shape(shape) if dropped > 0 && dropped < shape.len() => {
                        Some(Meta::Shape(shape[dropped..].to_vec()))
                    }
                    Meta::Shape(_) => None,
                    Meta::Open => Some(Meta::Open).filter(|_| dropped > 0),
                }
            }
            _ => None,
        }
    }

    /// The outputs of a function are what was passed for them.
    fn outputs(&self, dep_ast: &Ast, dep: &Function, args: &[Arg], target: ExprId) -> Vec<(String, Meta)> {
        let ast = self.caller.ast;
        let targets = ast.elements(target).map_or_else(|| vec![target], <[ExprId]>::to_vec);
        let params: Vec<&str> =
            dep.params.iter().filter_map(|param| dep_ast.name(param.name)).filter(|name| *name != "self").collect();
        let is_output = |annotation: ExprId| match dep_ast.expr(annotation) {
            Expr::Subscript { value, .. } => {
                matches!(dep_ast.dotted(*value).unwrap_or_default().last(), Some(&("Out" | "InOut")))
            }
            _ => false,
        };
        let outputs: Vec<&str> = dep
            .params
            .iter()
            .filter(|param| param.annotation.is_some_and(is_output))
            .filter_map(|param| dep_ast.name(param.name))
            .collect();
        if outputs.len() != targets.len() {
            return Vec::new();
        }
        let given = |param: &str| {
            let by_name = args.iter().find(|arg| arg.keyword.as_deref() == Some(param));
            let by_place = || {
                let place = params.iter().position(|known| *known == param)?;
                args.iter().filter(|arg| arg.keyword.is_none()).nth(place)
            };
            self.metas.get(ast.name(by_name.or_else(by_place)?.value)?).cloned()
        };
        let known = targets
            .iter()
            .zip(outputs)
            .filter_map(|(target, output)| Some((ast.name(*target)?.to_owned(), given(output)?)));
        known.collect()
    }

    /// `x[a:b, i]`
    fn window(&self, value: ExprId, index: ExprId) -> Option<Meta> {
        let ast = self.caller.ast;
        let Meta::Shape(whole) = self.metas.get(ast.name(value)?)? else { return Some(Meta::Open) };
        let indices = indices(ast, index);
        if indices.len() > whole.len() {
            return None;
        }
        let mut shape = Vec::new();
        for (index, parent) in indices.iter().zip(whole) {
            let Expr::Slice { lower, upper, step } = ast.expr(*index) else { continue };
            if step.is_some() {
                return None;
            }
            let ends = [*lower, *upper].map(|end| end.map(|end| self.number(end)));
            if ends.contains(&Some(Number::Open)) {
                return Some(Meta::Open);
            }
            let start = match ends[0] {
                None => Some(0),
                Some(Number::Int(start)) => Some(start),
                Some(_) => None,
            };
            let stop = match ends[1] {
                None => parent.as_int(),
                Some(Number::Int(stop)) => Some(stop),
                Some(_) => None,
            };
            let extent = stop.zip(start).and_then(|(stop, start)| stop.checked_sub(start));
            shape.push(extent.map_or_else(|| parent.clone(), Scalar::Int));
        }
        shape.extend(whole.iter().skip(indices.len()).cloned());
        Some(Meta::Shape(shape))
    }

    /// `pl.slice(x, shape, …)`
    fn sliced(&self, args: &[Arg]) -> Option<Meta> {
        let ast = self.caller.ast;
        let source = args.first().filter(|arg| arg.keyword.is_none())?.value;
        let Meta::Shape(whole) = self.metas.get(ast.name(source)?)? else { return Some(Meta::Open) };
        let Expr::List(extents) = ast.expr(argument(args, 1, "shape")?) else { return None };
        if extents.len() != whole.len() {
            return None;
        }
        let numbers: Vec<Number> = extents.iter().map(|extent| self.number(*extent)).collect();
        if numbers.contains(&Number::Open) {
            return Some(Meta::Open);
        }
        let extent = |(number, parent): (&Number, &Scalar)| match number {
            Number::Int(extent) => Scalar::Int(*extent),
            _ => parent.clone(),
        };
        Some(Meta::Shape(numbers.iter().zip(whole).map(extent).collect()))
    }

    fn reshaped(&self, args: &[Arg]) -> Option<Meta> {
        let source = argument(args, 0, "input")?;
        let meta = self.metas.get(self.caller.ast.name(source)?)?;
        match (meta, self.shape(argument(args, 1, "shape")?)?) {
            (Meta::Open, _) => Some(Meta::Open),
            (_, meta) => Some(meta),
        }
    }

    /// A tensor that is made with a shape and a `dtype`.
    fn made(&self, shape: ExprId, args: &[Arg]) -> Option<Meta> {
        let ast = self.caller.ast;
        let dtype = args.iter().find(|arg| arg.keyword.as_deref() == Some("dtype"))?.value;
        let Expr::Attribute { value, .. } = ast.expr(dtype) else { return None };
        ast.name(*value)?;
        self.shape(shape)
    }

    fn shape(&self, list: ExprId) -> Option<Meta> {
        let Expr::List(extents) = self.caller.ast.expr(list) else { return None };
        let mut shape = Vec::new();
        for extent in extents {
            match self.number(*extent) {
                Number::Int(extent) => shape.push(Scalar::Int(extent)),
                Number::Dim(extent) => shape.push(extent),
                Number::Open => return Some(Meta::Open),
                Number::Unknown => return None,
            }
        }
        Some(Meta::Shape(shape))
    }

    /// `pl.tensor.dim(x, 0)`
    fn extent_name(&self, value: ExprId) -> Option<(String, usize)> {
        let ast = self.caller.ast;
        let Expr::Call { func, args } = ast.expr(value) else { return None };
        let (["pl", "tensor", "dim"], [tensor, axis, ..]) = (ast.dotted(*func)?.as_slice(), args.as_slice()) else {
            return None;
        };
        let Expr::Int(axis) = ast.expr(axis.value) else { return None };
        Some((ast.name(tensor.value)?.to_owned(), usize::try_from(*axis).ok()?))
    }

    /// Numbers, names of the module that are numbers, and arithmetic on them; no names that the function itself assigns.
    fn number(&self, expr: ExprId) -> Number {
        let ast = self.caller.ast;
        match ast.expr(expr) {
            Expr::Int(value) => i64::try_from(*value).map_or(Number::Unknown, Number::Int),
            Expr::Name(name) => self.named_number(name),
            Expr::Unary { op: UnaryOp::Neg, operand } => match self.number(*operand) {
                Number::Int(value) => value.checked_neg().map_or(Number::Unknown, Number::Int),
                Number::Open => Number::Open,
                _ => Number::Unknown,
            },
            Expr::Binary { op, left, right } => match (self.number(*left), self.number(*right)) {
                (Number::Int(left), Number::Int(right)) => {
                    folded(*op, left, right).map_or(Number::Unknown, Number::Int)
                }
                (Number::Unknown, _) | (_, Number::Unknown) => Number::Unknown,
                (Number::Open, _) | (_, Number::Open) => Number::Open,
                _ => Number::Unknown,
            },
            _ => Number::Unknown,
        }
    }

    fn named_number(&self, name: &str) -> Number {
        if let Some((tensor, axis)) = self.dims.get(name) {
            match self.metas.get(tensor) {
                Some(Meta::Shape(shape)) => {
                    if let Some(extent) = shape.get(*axis) {
                        return extent.as_int().map_or_else(|| Number::Dim(extent.clone()), Number::Int);
                    }
                }
                Some(Meta::Open) => return Number::Open,
                None => {}
            }
        }
        match self.caller.scope.constant(name) {
            Some(Constant::Int(value)) => Number::Int(value),
            Some(Constant::Unknown(_)) => Number::Open,
            Some(_) => {
                let extents = self.caller.metas.values().filter_map(|meta| match meta {
                    Meta::Shape(shape) => Some(shape),
                    Meta::Open => None,
                });
                let same = |extent: &&Scalar| matches!(extent, Scalar::Dynamic(_));
                extents.flatten().find(same).map_or(Number::Unknown, |_| Number::Open)
            }
            None if self.is_scalar_param(name) => Number::Open,
            None => Number::Unknown,
        }
    }

    fn is_scalar_param(&self, name: &str) -> bool {
        let Caller { ast, function, .. } = self.caller;
        let param = function.params.iter().find(|param| ast.name(param.name) == Some(name));
        param.is_some_and(|param| param.annotation.is_none_or(|annotation| !is_tensor(ast, annotation)))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Number {
    Int(i64),
    /// An extent that has no value before the program runs.
    Dim(Scalar),
    /// The value of a scalar that the entry is called with, or of a name that is not known here.
    Open,
    /// None to the specializer.
    Unknown,
}

fn folded(op: BinaryOp, left: i64, right: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Sub => left.checked_sub(right),
        BinaryOp::Mul => left.checked_mul(right),
        // As Python rounds: down.
        BinaryOp::FloorDiv if right > 0 => Some(left.div_euclid(right)),
        BinaryOp::Mod if right > 0 => Some(left.rem_euclid(right)),
        BinaryOp::Pow => left.checked_pow(u32::try_from(right).ok()?),
        _ => None,
    }
}

fn indices(ast: &Ast, index: ExprId) -> Vec<ExprId> {
    match ast.expr(index) {
        Expr::Tuple(indices) => indices.clone(),
        _ => vec![index],
    }
}

fn argument(args: &[Arg], place: usize, name: &str) -> Option<ExprId> {
    let by_place = args.iter().filter(|arg| arg.keyword.is_none()).nth(place);
    by_place.or_else(|| args.iter().find(|arg| arg.keyword.as_deref() == Some(name))).map(|arg| arg.value)
}

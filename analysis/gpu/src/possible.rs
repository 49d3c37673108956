//! Which values a parameter without one may have: what a kernel does with it leaves few, or says nothing.

use std::collections::{BTreeMap, BTreeSet};

use tilefit_syntax::ast::{Arg, Ast, CompareOp, Expr, ExprId, Stmt, UnaryOp};

use tilefit_python::eval::{self, Constant, Imports, Scope};

use super::language::Dtype;
use super::scenario;

/// What a parameter may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Range {
    /// An extent of a block: a power of two, as any that Triton takes.
    Extent,
    /// True or false, which is all that counts of it.
    Flag,
    /// One of those that it is compared with, or another one, which stands at the end for all others.
    Among(Vec<Constant>),
    /// An element type, or a pointer to elements of one.
    Element,
    /// An integer type, or a pointer to integers of one.
    Index,
    /// The warps of a block.
    Warps,
}

/// Elements that a block has at most (`TRITON_MAX_TENSOR_NUMEL`).
pub const MOST_ELEMENTS: u64 = 1 << 20;

/// One element type of each kind that layouts and conversions tell apart: by bits, and by whether it is an integer.
const ELEMENTS: [&str; 10] = ["fp32", "bf16", "fp16", "fp8e5", "i32", "i64", "i16", "i8", "i1", "fp64"];

/// Types of integers that addresses are computed from.
const INDICES: [&str; 2] = ["i32", "i64"];

/// The most warps of a block: 1,024 threads.
const MOST_WARPS: u32 = 32;

impl Range {
    /// All of them.
    pub fn values(&self) -> Vec<Constant> {
        let powers = |most: u64| (0..=most.ilog2()).map(|power| Constant::Int(1 << power)).collect();
        let types =
            |names: &[&str]| names.iter().filter_map(|name| Dtype::from_name(name)).map(Dtype::constant).collect();
        match self {
            Range::Among(values) => values.clone(),
            Range::Extent => powers(MOST_ELEMENTS),
            Range::Warps => powers(u64::from(MOST_WARPS)),
            Range::Flag => vec![Constant::Bool(false), Constant::Bool(true)],
            Range::Element => types(&ELEMENTS),
            Range::Index => types(&INDICES),
        }
    }

    /// Those that kernels are mostly given.
    pub fn usual(&self) -> Vec<Constant> {
        let numbers = |values: &[i64]| values.iter().map(|&value| Constant::Int(value)).collect();
        match self {
            Range::Extent => numbers(&[16, 32, 64, 128]),
            Range::Warps => numbers(&[4, 8]),
            Range::Element => {
                ["fp32", "fp16"].iter().filter_map(|name| Dtype::from_name(name)).map(Dtype::constant).collect()
            }
            Range::Flag | Range::Among(_) | Range::Index => self.values(),
        }
    }

    /// Those of which a kernel is given few elements.
    pub fn small(&self) -> Vec<Constant> {
        match self {
            Range::Extent => [2, 4, 8].map(Constant::Int).into(),
            _ => self.usual(),
        }
    }

    pub fn holds(&self, value: &Constant) -> bool {
        match (self, value) {
            (Range::Extent, Constant::Int(extent)) => u64::try_from(*extent).is_ok_and(|it| it <= MOST_ELEMENTS),
            _ => true,
        }
    }
}

/// The ranges of the constexpr parameters of the kernel that a block is, of those that have one.
pub fn ranges(ast: &Ast, imports: &Imports, scope: &dyn Scope) -> BTreeMap<String, Range> {
    let Some(function) = scenario::function(ast) else { return BTreeMap::new() };
    let types = types(ast, &|path| super::language::canonical(imports, path));
    let (extents, truths, compared) = (extents(ast), truths(ast), compared(ast, scope));
    let mut ranges = BTreeMap::new();
    for param in &function.params {
        let Some(name) = ast.name(param.name) else { continue };
        if !param.annotation.is_some_and(|annotation| scenario::is_constexpr(ast, imports, annotation)) {
            continue;
        }
        if extents.contains(name) {
            ranges.insert(name.to_owned(), Range::Extent);
            continue;
        }
        if types.contains(name) {
            ranges.insert(name.to_owned(), Range::Element);
            continue;
        }
        let is_use = |(id, expr): &(ExprId, &Expr)| *id != param.name && matches!(expr, Expr::Name(it) if it == name);
        let mut among: Vec<Constant> = Vec::new();
        let mut uses = ast.exprs().filter(is_use);
        let is_told_apart = uses.all(|(id, _)| match compared.get(&id) {
            Some(values) => {
                among.extend(values.iter().cloned());
                true
            }
            None => truths.contains(&id),
        });
        match (is_told_apart, among.is_empty()) {
            (true, true) => _ = ranges.insert(name.to_owned(), Range::Flag),
            (true, false) => _ = ranges.insert(name.to_owned(), Range::Among(with_another(among))),
            (false, _) => {}
        }
    }
    ranges
}

/// The values, both truth values, and one that equals none of them.
fn with_another(mut values: Vec<Constant>) -> Vec<Constant> {
    values.extend([Constant::Bool(false), Constant::Bool(true)]);
    let mut distinct: Vec<Constant> = Vec::new();
    for value in values {
        // Python takes `True` for 1, and `False` for 0.
        let value = match value {
            Constant::Bool(value) if distinct.contains(&Constant::Int(value.into())) => continue,
            value => value,
        };
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    let numbers =
        distinct.iter().filter_map(|value| if let Constant::Int(number) = value { Some(*number) } else { None });
    distinct.push(Constant::Int(numbers.max().unwrap_or(1).saturating_add(1).max(2)));
    distinct
}

/// The names that are only compared with constants, each with those.
fn compared(ast: &Ast, scope: &dyn Scope) -> BTreeMap<ExprId, Vec<Constant>> {
    let mut found: BTreeMap<ExprId, Vec<Constant>> = BTreeMap::new();
    let is_plain =
        |value: &Constant| matches!(value, Constant::Int(_) | Constant::Str(_) | Constant::Bool(_) | Constant::None);
    for (_, expr) in ast.exprs() {
        let Expr::Compare { left, rest } = expr else { continue };
        let [(op, right)] = rest.as_slice() else { continue };
        for (of, with) in [(*left, *right), (*right, *left)] {
            let value = match ast.name(of) {
                Some(_) => eval::evaluate(ast, with, scope),
                None => continue,
            };
            let values = match (op, value) {
                (CompareOp::Eq | CompareOp::Ne | CompareOp::Is | CompareOp::IsNot, value) => vec![value],
                (CompareOp::In | CompareOp::NotIn, Constant::List(values) | Constant::Tuple(values)) if of == *left => {
                    values.into()
                }
                _ => continue,
            };
            if values.iter().all(is_plain) {
                found.entry(of).or_default().extend(values);
            }
        }
    }
    found
}

/// The names that are an extent of a block somewhere, as they are.
fn extents(ast: &Ast) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for (_, expr) in ast.exprs() {
        let Expr::Call { func, args } = expr else { continue };
        let function = match ast.expr(*func) {
            Expr::Attribute { name, .. } | Expr::Name(name) => name.as_str(),
            _ => continue,
        };
        let plain = |place: usize| args.iter().filter(|arg| arg.keyword.is_none()).nth(place);
        let named = |name: &str| args.iter().find(|arg| arg.keyword.as_deref() == Some(name));
        let shapes: Vec<&Arg> = match function {
            "arange" => {
                let starts_at_zero = plain(0).is_some_and(|arg| matches!(ast.expr(arg.value), Expr::Int(0)));
                plain(1).or(named("end")).filter(|_| starts_at_zero).into_iter().collect()
            }
            "zeros" | "full" => plain(0).or(named("shape")).into_iter().collect(),
            "reshape" | "view" | "broadcast_to" => args.iter().collect(),
            "make_tensor_descriptor" => plain(3).or(named("block_shape")).into_iter().collect(),
            _ => continue,
        };
        for shape in shapes {
            match ast.expr(shape.value) {
                Expr::Tuple(parts) | Expr::List(parts) => found.extend(parts.iter().filter_map(|&part| ast.name(part))),
                Expr::Name(name) if function == "arange" => _ = found.insert(name),
                _ => {}
            }
        }
    }
    found
}

/// The names that are an element type somewhere: `x.to(N)`, `tl.zeros(shape, N)`, `dtype=N`.
fn types<'a>(ast: &'a Ast, canonical: &dyn Fn(&[&str]) -> Option<String>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for (_, expr) in ast.exprs() {
        let Expr::Call { func, args } = expr else { continue };
        let of_triton = ast.dotted(*func).and_then(|path| canonical(&path));
        let place = match (of_triton.as_deref(), ast.expr(*func)) {
            (Some("tl.zeros" | "tl.cast"), _) => Some(1),
            (Some("tl.full"), _) => Some(2),
            (None, Expr::Attribute { name, .. }) if name == "to" => Some(0),
            _ => None,
        };
        let is_type = |nth: usize, arg: &Arg| match arg.keyword.as_deref() {
            Some(keyword) => keyword == "dtype",
            None => Some(nth) == place,
        };
        let given = args.iter().enumerate().filter(|(nth, arg)| is_type(*nth, arg));
        found.extend(given.filter_map(|(_, arg)| ast.name(arg.value)));
    }
    found
}

/// What a kernel needs a constexpr parameter for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usage {
    Number,
    /// Only its truth value counts.
    Flag,
    /// An element type.
    Type,
}

/// What the function of a block needs its parameters for.
pub(crate) struct Usages<'a> {
    flags: BTreeSet<&'a str>,
    types: BTreeSet<&'a str>,
}

impl Usages<'_> {
    /// `canonical`: the path in Triton of a dotted name.
    pub(crate) fn of<'a>(ast: &'a Ast, canonical: &dyn Fn(&[&str]) -> Option<String>) -> Usages<'a> {
        Usages { flags: flags(ast), types: types(ast, canonical) }
    }

    pub(crate) fn of_param(&self, name: &str) -> Usage {
        match () {
            () if self.types.contains(name) => Usage::Type,
            () if self.flags.contains(name) => Usage::Flag,
            () => Usage::Number,
        }
    }
}

/// The names that the function of a block uses for their truth value only.
fn flags(ast: &Ast) -> BTreeSet<&str> {
    let params = scenario::function(ast).map_or(&[][..], |function| function.params.as_slice());
    let mut found: BTreeSet<&str> = params.iter().filter_map(|param| ast.name(param.name)).collect();
    let truths = truths(ast);
    for (id, expr) in ast.exprs() {
        if let Expr::Name(name) = expr
            && !truths.contains(&id)
            && !params.iter().any(|param| param.name == id)
        {
            found.remove(name.as_str());
        }
    }
    found
}

/// The expressions whose truth value alone counts.
fn truths(ast: &Ast) -> BTreeSet<ExprId> {
    let mut wanted: Vec<ExprId> = Vec::new();
    for (_, stmt) in ast.stmts() {
        match stmt {
            Stmt::If { condition, .. } | Stmt::While { condition, .. } => wanted.push(*condition),
            _ => {}
        }
    }
    for (_, expr) in ast.exprs() {
        match expr {
            Expr::Ternary { condition, .. } => wanted.push(*condition),
            Expr::Unary { op: UnaryOp::Not, operand } => wanted.push(*operand),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    while let Some(expr) = wanted.pop() {
        if let Expr::Bool2 { left, right, .. } = ast.expr(expr) {
            wanted.extend([*left, *right]);
        }
        found.insert(expr);
    }
    found
}

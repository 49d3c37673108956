//! Which values a parameter may have that nobody gives one: what a kernel does with it leaves few, or nothing.

use std::collections::{BTreeMap, BTreeSet};

use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId, Stmt, UnaryOp};

use crate::eval::{Constant, Imports};

use super::language::Dtype;
use super::scenario;

/// What a parameter may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// An extent of a block: a power of two, as any that Triton takes.
    Extent,
    /// True or false, which is all that counts of it.
    Flag,
    /// An element type, of a pointer.
    Element,
    /// The warps of a block.
    Warps,
}

/// Elements that a block has at most (`TRITON_MAX_TENSOR_NUMEL`).
pub const MOST_ELEMENTS: u64 = 1 << 20;

/// Element types of which one stands for each kind that a layout or a conversion may tell from the others: by bits, and by whether they are integers.
const ELEMENTS: [&str; 10] = ["fp32", "bf16", "fp16", "fp8e5", "i32", "i64", "i16", "i8", "i1", "fp64"];

/// The most warps of a block: 1,024 threads.
const MOST_WARPS: u32 = 32;

impl Range {
    /// All of them.
    pub fn values(self) -> Vec<Constant> {
        let powers = |most: u64| (0..=most.ilog2()).map(|power| Constant::Int(1 << power)).collect();
        match self {
            Range::Extent => powers(MOST_ELEMENTS),
            Range::Warps => powers(u64::from(MOST_WARPS)),
            Range::Flag => vec![Constant::Bool(false), Constant::Bool(true)],
            Range::Element => ELEMENTS.iter().filter_map(|name| Dtype::from_name(name)).map(Dtype::constant).collect(),
        }
    }

    pub fn holds(self, value: &Constant) -> bool {
        match (self, value) {
            (Range::Extent, Constant::Int(extent)) => u64::try_from(*extent).is_ok_and(|it| it <= MOST_ELEMENTS),
            _ => true,
        }
    }
}

/// The ranges of the constexpr parameters of the kernel that a block is, of those that have one.
pub fn ranges(ast: &Ast, imports: &Imports) -> BTreeMap<String, Range> {
    let Some(function) = scenario::function(ast) else { return BTreeMap::new() };
    let (extents, truths) = (extents(ast), truths(ast));
    let mut ranges = BTreeMap::new();
    for param in &function.params {
        let Some(name) = ast.name(param.name) else { continue };
        if !param.annotation.is_some_and(|annotation| scenario::is_constexpr(ast, imports, annotation)) {
            continue;
        }
        let mut uses = ast.exprs().filter(|(id, expr)| *id != param.name && matches!(expr, Expr::Name(it) if it == name));
        if extents.contains(name) {
            ranges.insert(name.to_owned(), Range::Extent);
        } else if uses.all(|(id, _)| truths.contains(&id)) {
            ranges.insert(name.to_owned(), Range::Flag);
        }
    }
    ranges
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

/// The expressions of which only Python's truth value counts.
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

//! The forms of memory references on tile types, of all periods (`docs/reference/syntax.md`, "Printed IR", "Earlier notations").

use tilefit_syntax::ast::{Arg, Ast, BinaryOp, Expr, ExprId, UnaryOp};

use crate::target::Space;

/// What a memory reference says; every part may be missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MemRef {
    /// Name of the allocation, or `memref_N` for a reference by number.
    pub(super) base: Option<String>,
    pub(super) space: Option<Space>,
    pub(super) offset: Option<i64>,
    pub(super) dynamic: bool,
    pub(super) size: Option<u64>,
    pub id: Option<u64>,
    /// The address stands on the reference itself: `MemRef(id=0, space=UB, addr=0)`.
    pub(super) address: Option<i64>,
}

/// Reads an element of a tile type, or `None` where it is no memory reference.
pub(super) fn read(ast: &Ast, expr: ExprId) -> Option<MemRef> {
    match ast.expr(expr) {
        // A slot chosen by an index: `pl.MemRef(...)[i % 2]`.
        Expr::Subscript { value, .. } => read(ast, *value),
        Expr::Name(name) => Some(MemRef { base: Some(name.clone()), offset: Some(0), ..MemRef::default() }),
        Expr::Call { func, args } if ast.dotted(*func)?.last() == Some(&"MemRef") => Some(call(ast, args)),
        _ => None,
    }
}

fn call(ast: &Ast, args: &[Arg]) -> MemRef {
    let mut memref = MemRef::default();
    for arg in args.iter().filter(|arg| arg.keyword.is_some()) {
        match arg.keyword.as_deref() {
            Some("id") => memref.id = integer(ast, arg.value).and_then(|id| id.try_into().ok()),
            Some("space" | "memory_space") => memref.space = space(ast, arg.value),
            Some("addr") => memref.address = integer(ast, arg.value),
            Some("size") => memref.size = integer(ast, arg.value).and_then(|size| size.try_into().ok()),
            _ => {}
        }
    }
    let positional: Vec<ExprId> = args.iter().filter(|arg| arg.keyword.is_none()).map(|arg| arg.value).collect();
    let size = |expr: Option<&ExprId>| expr.and_then(|&size| integer(ast, size)).and_then(|size| size.try_into().ok());
    match positional.as_slice() {
        [] => {}
        // (space, address, size, id) of January to April 2026, or without the space.
        [first, rest @ ..] if space(ast, *first).is_some() => {
            memref.space = space(ast, *first);
            memref.address = rest.first().and_then(|&address| integer(ast, address));
            memref.size = size(rest.get(1));
            memref.id = size(rest.get(2));
        }
        [first, rest @ ..] if integer(ast, *first).is_some() => {
            memref.address = integer(ast, *first);
            memref.size = size(rest.first());
            memref.id = size(rest.get(1));
        }
        // (base, offset, size)
        [base, rest @ ..] => {
            memref.base = match ast.expr(*base) {
                Expr::Name(name) | Expr::Str(name) => Some(name.clone()),
                _ => None,
            };
            memref.offset = rest.first().and_then(|&offset| integer(ast, offset));
            memref.dynamic = !rest.is_empty() && memref.offset.is_none();
            memref.size = size(rest.get(1));
            if memref.offset.is_some_and(|offset| offset < 0) {
                memref.offset = None; // `MemRef(mem_vec_0, -1, 16384)`: not assigned yet
            }
        }
    }
    if memref.base.is_none() {
        memref.base = memref.id.map(|id| format!("memref_{id}"));
    }
    memref
}

/// `Vec`, `UB`, `pl.Mem.Vec`, `pl.MemorySpace.UB`
pub(super) fn space(ast: &Ast, expr: ExprId) -> Option<Space> {
    Space::from_name(ast.dotted(expr)?.last()?)
}

/// An integer, also as `-1`, `pl.const(0, pl.INT64)` or `0 + 16384`.
pub(super) fn integer(ast: &Ast, expr: ExprId) -> Option<i64> {
    match ast.expr(expr) {
        Expr::Int(value) => i64::try_from(*value).ok(),
        Expr::Unary { op: UnaryOp::Neg, operand } => integer(ast, *operand)?.checked_neg(),
        Expr::Binary { op: BinaryOp::Add, left, right } => integer(ast, *left)?.checked_add(integer(ast, *right)?),
        Expr::Binary { op: BinaryOp::Mul, left, right } => integer(ast, *left)?.checked_mul(integer(ast, *right)?),
        Expr::Call { func, args } if ast.dotted(*func)?.last() == Some(&"const") => integer(ast, args.first()?.value),
        _ => None,
    }
}

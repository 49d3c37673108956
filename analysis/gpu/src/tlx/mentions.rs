//! What the text of a function names of TLX, before it is followed.

use tilefit_python::eval::Imports;
use tilefit_syntax::ast::{Ast, Expr};

use super::language;

/// Functions of TLX that take memory.
pub(super) const ALLOCATING: [&str; 5] = [
    "tlx.storage_alias_spec",
    "tlx.local_alloc",
    "tlx.alloc_barriers",
    "tlx.alloc_warp_barrier",
    "tlx.clc_create_context",
];

/// True for a function whose text names anything of TLX.
pub fn mentions_tlx(ast: &Ast, imports: &Imports) -> bool {
    names(ast, imports).any(|name| name.starts_with("tlx"))
}

/// True for a function whose text names one that takes memory.
pub fn mentions_allocation(ast: &Ast, imports: &Imports) -> bool {
    names(ast, imports).any(|name| ALLOCATING.contains(&name.as_str()))
}

/// The names of Triton in a block.
fn names<'a>(ast: &'a Ast, imports: &'a Imports) -> impl Iterator<Item = String> + 'a {
    let names = ast.exprs().filter(|(_, expr)| matches!(expr, Expr::Attribute { .. } | Expr::Name(_)));
    names.filter_map(|(id, _)| language::canonical(imports, &ast.dotted(id)?))
}

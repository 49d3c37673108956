//! Python trees to kernel IR; one file a dialect.

use tilelens_syntax::ast::Ast;

use crate::eval::Scope;
use crate::ir::Kernel;

/// The kernels of a function block: the function itself if it is one, or the scopes inside of it that the compiler outlines.
pub fn kernels(ast: &Ast, scope: &dyn Scope) -> Vec<Kernel> {
    let _ = (ast, scope);
    Vec::new()
}

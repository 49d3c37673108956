//! What functions are to the compiler of PyPTO, by their decorators.

use tilefit_pypto::lower;
use tilefit_syntax::BlockKind;
use tilefit_syntax::ast;

use super::{SourceFile, Unit, may_hold_kernels, syntax, units};

/// What a unit is to the compiler, as far as kernels go.
#[salsa::tracked(returns(copy))]
pub(super) fn kind<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> lower::Kind {
    if unit.key(db).kind != BlockKind::Function || !may_hold_kernels(db, unit) {
        return lower::Kind::Python;
    }
    let ast = syntax(db, unit);
    let function = ast.body.iter().find_map(|&stmt| match ast.stmt(stmt) {
        ast::Stmt::Function(function) => Some(function),
        _ => None,
    });
    function.map_or(lower::Kind::Python, |function| lower::kind(ast, function))
}

/// Whether a function is a kernel itself, and not one with scopes that become kernels.
pub(crate) fn is_kernel<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    matches!(kind(db, unit), lower::Kind::Kernel(_))
}

/// The functions for the host, in the order of the text.
pub(crate) fn host_functions<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Vec<Unit<'db>> {
    units(db, file).iter().copied().filter(|unit| kind(db, *unit) == lower::Kind::Host).collect()
}

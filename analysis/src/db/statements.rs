//! The statements that bind names of a scope, and the functions and classes of a module, before anything is evaluated.

use tilefit_syntax::BlockKind;

use super::{SourceFile, Unit, units};

/// The statements that bind names of `scope`: its own blocks of statements, and its header if it is a function. A kernel that comes or
/// goes changes none of them.
pub(super) fn statements_of<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    scope: Option<Unit<'db>>,
) -> &'db [Unit<'db>] {
    scope.map_or_else(|| statements_of_module(db, file), |scope| statements_in(db, scope))
}

#[salsa::tracked(returns(ref))]
fn statements_of_module<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Vec<Unit<'db>> {
    let of_module = statements(db, file).iter().filter(|(scope, _)| scope.is_none());
    of_module.map(|&(_, unit)| unit).collect()
}

#[salsa::tracked(returns(ref))]
fn statements_in<'db>(db: &'db dyn salsa::Database, scope: Unit<'db>) -> Vec<Unit<'db>> {
    let of_scope = statements(db, scope.file(db)).iter().filter(|(of, _)| *of == Some(scope));
    of_scope.map(|&(_, unit)| unit).collect()
}

/// The units that bind names, each with the scope that it binds them in.
#[salsa::tracked(returns(ref))]
fn statements<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Vec<(Option<Unit<'db>>, Unit<'db>)> {
    let is_scope = |parent: Option<Unit<'db>>| parent.is_none_or(|it| it.key(db).kind == BlockKind::FunctionHeader);
    let binding = units(db, file).iter().filter_map(|&unit| match unit.key(db).kind {
        BlockKind::Statements => is_scope(unit.parent(db)).then(|| (unit.parent(db), unit)),
        BlockKind::FunctionHeader => Some((Some(unit), unit)),
        BlockKind::Function | BlockKind::ClassHeader => None,
    });
    binding.collect()
}

/// The function or class of a module.
pub(super) fn defined<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    name: &str,
    kind: BlockKind,
) -> Option<Unit<'db>> {
    let mut candidates = units(db, file).iter().copied();
    candidates.find(|unit| unit.parent(db).is_none() && unit.key(db).kind == kind && unit.key(db).path.as_ref() == name)
}

//! Which names of a unit nothing defines, and what the code around it defines.

use std::sync::Arc;

use tilefit_gpu::language::canonical;
use tilefit_gpu::members;
use tilefit_pypto::ir::Kernel;
use tilefit_pypto::lower;
use tilefit_pypto::printed;
use tilefit_python::eval::{self, Scope};
use tilefit_python::finding::{Note, Origin, Reason};
use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Expr, Stmt};

use super::jit::is_jit;
use super::kinds::kind;
use super::modules::{module_called, module_file};
use super::reexports::imports as imports_of;
use super::scope::UnitScope;
use super::statements::statements_of;
use super::{Name, SourceFile, Unit, imports, syntax, units};
use crate::names::{self, Bound, Surroundings, UnknownName};

/// The names of a unit that nothing defines: of kernels, functions with scopes that become kernels, and functions that are put in place of
/// calls, and of all functions that Triton compiles. Of other functions and of classes only what is written after `@`.
#[salsa::tracked(returns(ref))]
pub(crate) fn unknown_names<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<UnknownName>> {
    let around = Around { db, unit };
    let ast = syntax(db, unit);
    let found = match unit.key(db).kind {
        BlockKind::Function if is_of_language(db, unit) => names::unknown(ast, &around),
        BlockKind::Function if is_jit(db, unit) => names::unknown_in_triton(ast, &around),
        BlockKind::Function if kind(db, unit) != lower::Kind::Python => Vec::new(),
        BlockKind::Function | BlockKind::ClassHeader if imports_language(db, unit.file(db)) => {
            let decorators = ast.body.iter().flat_map(|&stmt| match ast.stmt(stmt) {
                Stmt::Function(function) => function.decorators.as_slice(),
                Stmt::Class { decorators, .. } => decorators.as_slice(),
                _ => &[],
            });
            names::unknown_in_decorators(ast, &decorators.copied().collect::<Vec<_>>(), &around)
        }
        _ => Vec::new(),
    };
    Arc::new(found)
}

/// What does not parse, of what [`unknown_names`] reads as a whole.
#[salsa::tracked(returns(ref))]
pub(crate) fn unparsed<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<Note> {
    let is_read = || is_of_language(db, unit) || is_jit(db, unit);
    if unit.key(db).kind != BlockKind::Function || !is_read() {
        return Vec::new();
    }
    let ast = syntax(db, unit);
    let exprs =
        ast.exprs().filter(|(_, expr)| matches!(expr, Expr::Error)).map(|(id, _)| (Origin::Expr(id), "expression"));
    let stmts =
        ast.stmts().filter(|(_, stmt)| matches!(stmt, Stmt::Error)).map(|(id, _)| (Origin::Stmt(id), "statement"));
    let note = |(at, what)| Note { at, reason: Reason::new(format!("the {what} does not parse")) };
    exprs.chain(stmts).map(note).collect()
}

fn is_of_language<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let ast = syntax(db, unit);
    kind(db, unit) != lower::Kind::Python && !printed::is_printed(ast) && !lower::is_undecorated(ast)
}

/// Unknown names that each kernel of a unit notes: one is enough for it not to be exact, and the diagnostics of the unit have all of them.
const MOST_NOTES: usize = 8;

/// A kernel that rests on a name that nothing defines is not known.
pub(super) fn add_notes<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, kernel: &mut Kernel) {
    let is_here = kernel.inlined_from.is_none();
    kernel.notes.extend(unknown_names(db, unit).iter().take(MOST_NOTES).map(|unknown| Note {
        at: if is_here { Origin::Expr(unknown.at) } else { kernel.origin },
        reason: Reason::new(unknown.what()),
    }));
}

/// What makes a function of Triton unknown, whatever its scenario: what does not parse, and names that nothing defines.
pub(super) fn notes<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<Note> {
    let unknown = unknown_names(db, unit).iter().take(MOST_NOTES);
    let unknown = unknown.map(|unknown| Note { at: Origin::Expr(unknown.at), reason: Reason::new(unknown.what()) });
    unparsed(db, unit).iter().cloned().chain(unknown).collect()
}

/// What the unknown names of a function that is put in place of its calls come to, for people.
pub(super) fn described<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<String> {
    unknown_names(db, unit).iter().map(UnknownName::what).collect()
}

/// Whether a file calls the language by its usual name.
fn imports_language(db: &dyn salsa::Database, file: SourceFile) -> bool {
    let name = Name::new(db, "pl".to_owned());
    is_defined(db, file, None, name)
}

/// The names that a unit binds in its scope.
#[salsa::tracked(returns(ref))]
fn bound<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Bound> {
    Arc::new(names::bound(syntax(db, unit)))
}

/// The names that a scope binds: the module, or a function or class with the units in it.
fn names_of<'db>(db: &'db dyn salsa::Database, file: SourceFile, scope: Option<Unit<'db>>) -> &'db Bound {
    scope.map_or_else(|| names_of_module(db, file), |scope| names_in(db, scope))
}

#[salsa::tracked(returns(ref))]
fn names_of_module(db: &dyn salsa::Database, file: SourceFile) -> Arc<Bound> {
    names_bound(db, file, None)
}

#[salsa::tracked(returns(ref))]
fn names_in<'db>(db: &'db dyn salsa::Database, scope: Unit<'db>) -> Arc<Bound> {
    names_bound(db, scope.file(db), Some(scope))
}

fn names_bound<'db>(db: &'db dyn salsa::Database, file: SourceFile, scope: Option<Unit<'db>>) -> Arc<Bound> {
    let mut names = Bound::default();
    for &unit in units(db, file) {
        let key = unit.key(db);
        if unit.parent(db) == scope && key.kind != BlockKind::Statements {
            names.add(key.name());
        }
        let is_of_class = scope.is_some_and(|scope| scope.key(db).kind == BlockKind::ClassHeader);
        if Some(unit) == scope || is_of_class && key.kind == BlockKind::Statements && unit.parent(db) == scope {
            names.extend(bound(db, unit));
        }
    }
    statements_of(db, file, scope).iter().for_each(|&unit| names.extend(bound(db, unit)));
    Arc::new(names)
}

/// Modules that star imports lead to from one scope.
const MOST_STARS: usize = 256;

/// Whether a scope of a file binds a name, or may: through a star import whose module is not known, or as its code runs.
fn binds<'db>(db: &'db dyn salsa::Database, file: SourceFile, scope: Option<Unit<'db>>, name: &str) -> bool {
    let mut reached = vec![(file, scope)];
    let mut next = 0;
    while let Some(&(file, scope)) = reached.get(next) {
        next += 1;
        let names = names_of(db, file, scope);
        // In doubt a name is bound: to call one unknown that is defined would be a false error.
        if names.has(name) || names.is_open || reached.len() > MOST_STARS {
            return true;
        }
        for (level, module) in &names.stars {
            let Some(source) = module_file(db, file, *level, Name::new(db, module.clone())) else { return true };
            if !reached.contains(&(source, None)) {
                reached.push((source, None));
            }
        }
    }
    false
}

/// Whether a name is defined in a scope or around it.
#[salsa::tracked(returns(copy))]
fn is_defined<'db>(db: &'db dyn salsa::Database, file: SourceFile, scope: Option<Unit<'db>>, name: Name<'db>) -> bool {
    let mut scope = scope;
    loop {
        if binds(db, file, scope, name.text(db)) {
            return true;
        }
        let Some(inner) = scope else { return false };
        scope = inner.parent(db);
    }
}

/// What a unit sees of the names around it.
struct Around<'db> {
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
}

impl<'db> Around<'db> {
    fn file(&self) -> SourceFile {
        self.unit.file(self.db)
    }

    fn defined(&self, name: &str) -> bool {
        is_defined(self.db, self.file(), self.unit.parent(self.db), Name::new(self.db, name.to_owned()))
    }

    fn class(&self) -> Option<Unit<'db>> {
        let (db, unit) = (self.db, self.unit);
        let class = unit.parent(db).filter(|parent| parent.key(db).kind == BlockKind::ClassHeader)?;
        let ast = syntax(db, class);
        let is_plain =
            ast.body.iter().any(|&stmt| matches!(ast.stmt(stmt), Stmt::Class { bases, .. } if bases.is_empty()));
        is_plain.then_some(class)
    }
}

impl Surroundings for Around<'_> {
    fn defines(&self, name: &str) -> bool {
        self.defined(name)
    }

    fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut scope = self.unit.parent(self.db);
        loop {
            names.extend(names_of(self.db, self.file(), scope).names().map(str::to_owned));
            let Some(inner) = scope else { return names };
            scope = inner.parent(self.db);
        }
    }

    fn lacks(&self, path: &[&str], member: &str) -> Option<Vec<String>> {
        let of_triton = || members::of(&canonical(imports_of(self.db, self.file()), path)?);
        if let Some(mut members) = of_triton() {
            return if members.any(|it| it == member) { None } else { Some(of_triton()?.map(str::to_owned).collect()) };
        }
        let (db, [root]) = (self.db, path) else { return None };
        let (file, scope) = match *root {
            "self" => (self.file(), Some(self.class()?)),
            root => (module_called(db, self.file(), Name::new(db, root.to_owned()))?, None),
        };
        if binds(db, file, scope, member) || member.starts_with("__") {
            return None;
        }
        if scope.is_none() {
            // A package has its modules, and a module what others put there.
            let inner = imports::candidates(file.path(db), 1, member);
            let is_given = |&unit: &super::Unit<'_>| eval::assigned_member(syntax(db, unit), root, member).is_some();
            if imports::known(db, &inner).is_some() || statements_of(db, self.file(), None).iter().any(is_given) {
                return None;
            }
        }
        Some(names_of(db, file, scope).names().map(str::to_owned).collect())
    }

    fn params(&self, path: &[&str]) -> Option<Vec<String>> {
        let name = match path {
            ["self", name] | [name] => name,
            _ => return None,
        };
        let source = UnitScope::new(self.db, self.unit).function(name)?;
        lower::parameters(&source.ast)
    }
}

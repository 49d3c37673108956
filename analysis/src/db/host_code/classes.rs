//! What classes of host code give to names, read where they stand. The body of a class runs before its name is bound, so that
//! `class Cfg(Cfg): ROWS = Cfg.ROWS * 2` is about the class that had the name until then.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tilefit_python::eval::{self, Constant};
use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Arg, Ast, ExprId, Stmt, StmtId};

use crate::db::modules::{LONGEST_WAY, module_called, module_file};
use crate::db::{Name, SourceFile, Unit, syntax, units};

use super::{Host, is_class, unknown};

/// What attributes of classes turned out to be, each with what it is while it is found out.
#[derive(Default)]
pub(super) struct Attributes<'db> {
    /// By the place of the statement that assigns it.
    assigned: FxHashMap<(Unit<'db>, usize), Constant>,
    /// By name, with what bases give.
    all: FxHashMap<(Unit<'db>, String), Option<Constant>>,
}

/// How the statements of a class bind a name.
enum Bound {
    Nowhere,
    /// The last of them, which is a plain assignment.
    By(usize, ExprId),
    /// Under a condition, in parts, or by something else than an assignment.
    Unclear,
}

impl<'db> Host<'db, '_> {
    /// What a class, by its name, gives to another name.
    pub(super) fn class_attribute(&self, class: &str, name: &str) -> Option<Constant> {
        self.attribute(self.class_called(class)?, name)
    }

    /// What a class gives to a name, by itself or through its bases.
    pub(super) fn attribute(&self, class: Unit<'db>, name: &str) -> Option<Constant> {
        let key = (class, name.to_owned());
        if let Some(known) = self.following.attributes.borrow().all.get(&key) {
            return known.clone();
        }
        let links = self.following.links.get();
        if links >= eval::LONGEST_CHAIN {
            return Some(eval::too_far(name));
        }
        // A base that leads back to the class finds this, instead of going on without end.
        self.following.attributes.borrow_mut().all.insert(key.clone(), None);
        self.following.links.set(links + 1);
        let value = match self.bound(class, name) {
            Bound::By(statement, value) => Some(self.assigned(class, name, statement, value)),
            Bound::Unclear => None,
            Bound::Nowhere => self.inherited(class, name),
        };
        self.following.links.set(links);
        self.following.attributes.borrow_mut().all.insert(key, value.clone());
        value
    }

    /// What the statements of the class have given to a name whose body runs.
    pub(super) fn local_of_class(&self, name: &str) -> Option<Constant> {
        let (db, class, count) = (self.scope.db, self.scope.unit, self.running?);
        let ast = syntax(db, class);
        match bound_in(ast, &body(ast)?[..count], name) {
            Bound::Nowhere => None,
            Bound::By(statement, value) => Some(self.assigned(class, name, statement, value)),
            Bound::Unclear => Some(unknown(format!("`{name}` is not assigned once in its class"))),
        }
    }

    /// What a statement of a class gives to a name.
    fn assigned(&self, class: Unit<'db>, name: &str, statement: usize, value: ExprId) -> Constant {
        let db = self.scope.db;
        let key = (class, statement);
        if let Some(known) = self.following.attributes.borrow().assigned.get(&key) {
            return known.clone();
        }
        let links = self.following.links.get();
        if links >= eval::LONGEST_CHAIN {
            return eval::too_far(name);
        }
        let in_terms_of_itself = unknown(format!("`{}.{name}` is defined in terms of itself", class.key(db).name()));
        self.following.attributes.borrow_mut().assigned.insert(key, in_terms_of_itself);
        self.following.links.set(links + 1);
        let within = self.at(class, Some(statement));
        let value = eval::evaluate(syntax(db, class), value, &within);
        self.following.links.set(links);
        let value = self.seen_from(&within, value);
        self.following.attributes.borrow_mut().assigned.insert(key, value.clone());
        value
    }

    fn bound(&self, class: Unit<'db>, name: &str) -> Bound {
        let db = self.scope.db;
        let ast = syntax(db, class);
        let Some(own) = body(ast) else { return Bound::Unclear };
        // What stands behind the first method is a block of its own.
        let behind = units(db, class.file(db))
            .iter()
            .filter(|unit| unit.parent(db) == Some(class) && unit.key(db).kind == BlockKind::Statements);
        let is_bound_behind = behind.into_iter().any(|&unit| {
            let ast = syntax(db, unit);
            !matches!(bound_in(ast, &ast.body, name), Bound::Nowhere)
        });
        if is_bound_behind { Bound::Unclear } else { bound_in(ast, own, name) }
    }

    /// What the bases of a class give to a name. Of several bases, as long as Python's order of them makes no difference.
    fn inherited(&self, class: Unit<'db>, name: &str) -> Option<Constant> {
        let db = self.scope.db;
        let ast = syntax(db, class);
        let before = self.at(class, Some(0));
        let mut found: Option<Constant> = None;
        for base in bases(ast).iter().filter(|base| base.keyword.is_none()) {
            let path = ast.dotted(base.value)?;
            let base = match path.as_slice() {
                ["object"] => continue,
                [base] => before.class_called(base)?,
                [module, base] => before.class_in_module(module, base)?,
                _ => return None,
            };
            match (self.attribute(base, name), &found) {
                (None, _) => {}
                (Some(value), None) => found = Some(value),
                (Some(value), Some(other)) if value == *other => {}
                (Some(_), Some(_)) => return None,
            }
        }
        found
    }

    /// The class that a name refers to here. Statements, and bodies of classes, see what stands before them; functions run after all of it.
    fn class_called(&self, name: &str) -> Option<Unit<'db>> {
        let (db, unit) = (self.scope.db, self.scope.unit);
        let file = unit.file(db);
        let is_in_order = self.running.is_some() || unit.key(db).kind == BlockKind::Statements;
        let before = (is_in_order && unit.parent(db).is_none()).then_some(unit);
        class_of_module(db, file, name, before, LONGEST_WAY).or_else(|| {
            // One of a function, or of another class.
            let is_it = |other: &&Unit<'db>| {
                is_class(db, **other) && other.parent(db).is_some() && other.key(db).name() == name
            };
            units(db, file).iter().find(is_it).copied().filter(|class| *class != unit)
        })
    }

    /// `module.Class`
    pub(super) fn class_in_module(&self, module: &str, class: &str) -> Option<Unit<'db>> {
        let (db, file) = (self.scope.db, self.scope.unit.file(self.scope.db));
        let module = module_called(db, file, Name::new(db, module.to_owned()))?;
        class_of_module(db, module, class, None, LONGEST_WAY)
    }
}

/// How a module binds a name that may be one of a class.
#[derive(Clone, PartialEq, Eq, salsa::SalsaValue)]
enum Bind<'db> {
    Class(Unit<'db>),
    Import { level: u32, module: String, original: String },
}

/// A binding with the place of its unit in the file.
type Placed<'db> = (usize, Bind<'db>);

/// The names of a module that classes and imports bind, each with all that do, in the order of the text.
#[salsa::tracked(returns(ref))]
fn bindings<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Arc<BTreeMap<String, Vec<Placed<'db>>>> {
    let mut all: BTreeMap<String, Vec<Placed<'db>>> = BTreeMap::new();
    for (place, &unit) in units(db, file).iter().enumerate().filter(|(_, unit)| unit.parent(db).is_none()) {
        match unit.key(db).kind {
            BlockKind::ClassHeader => {
                all.entry(unit.key(db).name().to_owned()).or_default().push((place, Bind::Class(unit)));
            }
            BlockKind::Statements => {
                let ast = syntax(db, unit);
                for &stmt in &ast.body {
                    let Stmt::ImportFrom { level, module, names } = ast.stmt(stmt) else { continue };
                    for name in names {
                        let (module, original) = (module.clone(), name.name.clone());
                        let import = Bind::Import { level: *level, module, original };
                        all.entry(name.bound().to_owned()).or_default().push((place, import));
                    }
                }
            }
            BlockKind::Function | BlockKind::FunctionHeader => {}
        }
    }
    Arc::new(all)
}

/// The class that a name of a module refers to: the last that it is given, by a class or an import, before the end of a unit of it.
fn class_of_module<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    name: &str,
    before: Option<Unit<'db>>,
    way: u32,
) -> Option<Unit<'db>> {
    let bound = bindings(db, file).get(name)?;
    let end = before.and_then(|before| units(db, file).iter().position(|unit| *unit == before));
    // A class itself is bound after its body.
    let is_before = |(place, bind): &&Placed<'db>| match (end, bind) {
        (None, _) => true,
        (Some(end), Bind::Class(_)) => *place < end,
        (Some(end), Bind::Import { .. }) => *place <= end,
    };
    match bound.iter().rfind(is_before)? {
        (_, Bind::Class(class)) => Some(*class),
        (_, Bind::Import { level, module, original }) => {
            let source = module_file(db, file, *level, Name::new(db, module.clone()))?;
            class_of_module(db, source, original, None, way.checked_sub(1)?)
        }
    }
}

fn class(ast: &Ast) -> Option<(&[Arg], &[StmtId])> {
    ast.body.iter().find_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Class { bases, body, .. } => Some((bases.as_slice(), body.as_slice())),
        _ => None,
    })
}

fn body(ast: &Ast) -> Option<&[StmtId]> {
    class(ast).map(|(_, body)| body)
}

fn bases(ast: &Ast) -> &[Arg] {
    class(ast).map_or(&[], |(bases, _)| bases)
}

fn bound_in(ast: &Ast, statements: &[StmtId], name: &str) -> Bound {
    let Some(last) = statements.iter().rposition(|&stmt| binds(ast, stmt, name)) else { return Bound::Nowhere };
    match ast.stmt(statements[last]) {
        Stmt::Assign { targets, value: Some(value), .. }
            if targets.iter().any(|&target| ast.name(target) == Some(name)) =>
        {
            Bound::By(last, *value)
        }
        _ => Bound::Unclear,
    }
}

/// Whether a statement gives a name a value, or may.
fn binds(ast: &Ast, stmt: StmtId, name: &str) -> bool {
    let is_target = |&target: &ExprId| {
        let parts = ast.elements(target).unwrap_or_default();
        ast.name(target) == Some(name) || parts.iter().any(|&part| ast.name(part) == Some(name))
    };
    let is_bound = match ast.stmt(stmt) {
        Stmt::Assign { targets, value: Some(_), .. } => targets.iter().any(is_target),
        Stmt::AugAssign { target, .. } | Stmt::For { target, .. } => is_target(target),
        Stmt::Function(function) => is_target(&function.name),
        Stmt::Class { name: class, .. } => is_target(class),
        Stmt::Import(modules) => modules.iter().any(|module| module.alias.as_deref() == Some(name)),
        Stmt::ImportFrom { names, .. } => names.iter().any(|imported| imported.bound() == name),
        _ => false,
    };
    is_bound || ast.stmt(stmt).bodies().flatten().any(|&inner| binds(ast, inner, name))
}

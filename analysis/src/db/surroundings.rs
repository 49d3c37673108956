//! What the functions that are followed see of the code around them, each from its own place.

use std::cell::RefCell;
use std::sync::Arc;

use tilefit_gpu::device::Arch;
use tilefit_python::eval::{self, Binding, Constant, Imports, Scope};
use tilefit_syntax::ast::{Ast, Expr, ExprId};
use tilefit_syntax::{BlockKey, BlockKind};

use super::modules::{imported_from, module_called, module_file};
use super::reexports::imports;
use super::scope::UnitScope;
use super::statements::{defined, statements_of};
use super::{Name, SourceFile, Unit, syntax};

/// What a name means. A `home` is the place where the names of what it leads to are looked up; that of the kernel is 0.
pub(super) enum Meant {
    Function {
        ast: Arc<Ast>,
        key: BlockKey,
        home: u32,
    },
    Class {
        header: Arc<Ast>,
        methods: Vec<(Arc<Ast>, Option<BlockKey>)>,
        home: u32,
    },
    /// An expression, or one element of what it gives.
    Expression {
        ast: Arc<Ast>,
        expr: ExprId,
        element: Option<usize>,
        home: u32,
    },
    Constant(Constant),
    Module,
}

pub(super) struct Surroundings<'db> {
    scopes: RefCell<Vec<UnitScope<'db>>>,
    device: Arch,
}

impl<'db> Surroundings<'db> {
    pub(super) fn new(db: &'db dyn salsa::Database, unit: Unit<'db>, device: Arch) -> Self {
        Surroundings { scopes: RefCell::new(vec![UnitScope::on(db, unit, Some(device))]), device }
    }

    /// That the kernel is followed for.
    pub(super) fn device(&self) -> Arch {
        self.device
    }

    fn scope(&self, home: u32) -> Option<UnitScope<'db>> {
        self.scopes.borrow().get(home as usize).copied()
    }

    fn home(&self, scope: UnitScope<'db>) -> u32 {
        let mut scopes = self.scopes.borrow_mut();
        let known = scopes.iter().position(|known| known.unit == scope.unit);
        let at = known.unwrap_or_else(|| {
            scopes.push(scope);
            scopes.len() - 1
        });
        at as u32
    }

    fn function(&self, scope: UnitScope<'db>, unit: Unit<'db>) -> Meant {
        let db = scope.db;
        let home = self.home(UnitScope { unit, ..scope });
        Meant::Function { ast: syntax(db, unit).clone(), key: unit.key(db).clone(), home }
    }

    fn class(&self, scope: UnitScope<'db>, header: Unit<'db>) -> Meant {
        let db = scope.db;
        let methods = super::units(db, header.file(db)).iter().filter(|unit| unit.parent(db) == Some(header));
        let methods = methods.filter(|unit| unit.key(db).kind == BlockKind::Function);
        let methods = methods.map(|&unit| (syntax(db, unit).clone(), Some(unit.key(db).clone()))).collect();
        let home = self.home(UnitScope { unit: header, ..scope });
        Meant::Class { header: syntax(db, header).clone(), methods, home }
    }

    /// The file of a module, imported or by `importlib.import_module("…")`.
    fn module(&self, scope: UnitScope<'db>, name: &str) -> Option<SourceFile> {
        let (db, file) = (scope.db, scope.unit.file(scope.db));
        if let Some(module) = module_called(db, file, Name::new(db, name.to_owned())) {
            return Some(module);
        }
        let mut calls = statements_of(db, file, None).iter().filter_map(|&unit| {
            let ast = syntax(db, unit);
            let Binding::Once(expr) = eval::binding(ast, name) else { return None };
            let Expr::Call { func, args } = ast.expr(expr) else { return None };
            let (Some(&"import_module"), [path]) = (ast.dotted(*func)?.last(), args.as_slice()) else { return None };
            match ast.expr(path.value) {
                Expr::Str(path) => Some(path.clone()),
                _ => None,
            }
        });
        module_file(db, file, 0, Name::new(db, calls.next()?))
    }

    /// What the one statement of a scope that binds a name gives it.
    fn bound(&self, scope: UnitScope<'db>, file: SourceFile, of: Option<Unit<'db>>, name: &str) -> Option<Meant> {
        let db = scope.db;
        let mut found: Option<(Unit<'db>, ExprId, Option<usize>)> = None;
        for &unit in statements_of(db, file, of) {
            let bound = match eval::binding_in(syntax(db, unit), name, &UnitScope { unit, ..scope }) {
                Binding::None => continue,
                Binding::Once(expr) => (unit, expr, None),
                Binding::Element(expr, element) => (unit, expr, Some(element)),
                _ => return None,
            };
            if found.replace(bound).is_some() {
                return None;
            }
        }
        let (unit, expr, element) = found?;
        let home = self.home(UnitScope { unit, ..scope });
        Some(Meant::Expression { ast: syntax(db, unit).clone(), expr, element, home })
    }

    /// What a name means at a place.
    pub(super) fn meaning(&self, home: u32, name: &str) -> Option<Meant> {
        let scope = self.scope(home)?;
        let (db, file) = (scope.db, scope.unit.file(scope.db));
        // A function may call itself.
        let own = scope.unit.key(db);
        let is_own = own.kind == BlockKind::Function && scope.unit.parent(db).is_none() && own.name() == name;
        if let Some(unit) = scope.function_unit(name).or(is_own.then_some(scope.unit)) {
            return Some(self.function(scope, unit));
        }
        if let Some((_, header)) = scope.class_source(name) {
            return Some(self.class(scope, header));
        }
        if self.module(scope, name).is_some() {
            return Some(Meant::Module);
        }
        let mut around = scope.around();
        loop {
            if let Some(found) = self.bound(scope, file, around, name) {
                return Some(found);
            }
            match around {
                Some(unit) => around = unit.parent(db),
                None => break,
            }
        }
        // Another file may have chosen it among its functions.
        let of_other = || {
            let (source, original) = imported_from(db, file, Name::new(db, name.to_owned()))?;
            self.bound(scope, source, None, original.text(db))
        };
        let constant = scope.constant(name);
        let is_known = constant.as_ref().is_some_and(|value| !matches!(value, Constant::Unknown(_)));
        let of_other = if is_known { None } else { of_other() };
        of_other.or_else(|| constant.map(Meant::Constant))
    }

    /// The value of a name of the host at a place.
    pub(super) fn value(&self, home: u32, name: &str) -> Option<Constant> {
        self.scope(home)?.constant(name)
    }

    /// What `module.name` means at a place.
    pub(super) fn of_module(&self, home: u32, module: &str, name: &str) -> Option<Meant> {
        let scope = self.scope(home)?;
        let db = scope.db;
        let file = self.module(scope, module)?;
        if let Some(unit) = defined(db, file, name, BlockKind::Function) {
            return Some(self.function(scope, unit));
        }
        if let Some(header) = defined(db, file, name, BlockKind::ClassHeader) {
            return Some(self.class(scope, header));
        }
        self.bound(scope, file, None, name)
    }

    pub(super) fn imports(&self, home: u32) -> Option<&Imports> {
        self.file(home).map(|(db, file)| &**imports(db, file))
    }

    pub(super) fn file(&self, home: u32) -> Option<(&'db dyn salsa::Database, SourceFile)> {
        self.scope(home).map(|scope| (scope.db, scope.unit.file(scope.db)))
    }
}

//! The calls that host code makes, with the tensors and numbers that it passes: plain Python is followed, and functions of PyPTO
//! say what their tensors are.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Ast, Stmt};

use tilefit_pypto::lower;
use tilefit_python::eval::{self, Argument, Constant, Scope};
use tilefit_python::work::within;

use super::libraries::{self, Reader};
use super::scope::{UnitScope, defined, statements_of};
use super::{Unit, limits, syntax};

/// A call of a function of the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostCall {
    pub(crate) callee: String,
    pub(crate) args: Vec<Argument>,
}

#[salsa::tracked(returns(ref), cycle_result = calls_itself)]
pub(crate) fn calls<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<HostCall>> {
    let kind = unit.key(db).kind;
    let ast = syntax(db, unit);
    let scope = UnitScope::new(db, unit);
    // Plain Python is run; a function of PyPTO is lowered instead, whose tensors have types of their own.
    if !calls_by_name_only(db, unit) {
        let following = HostInterpreter::new(scope, None);
        let _ = within(limits(db), || eval::follow(ast, &following));
        return Arc::new(following.calls.into_inner());
    }
    if kind != BlockKind::Function {
        return Arc::default();
    }
    let launches = within(limits(db), || lower::launches(ast, &scope)).unwrap_or_default();
    Arc::new(launches.into_iter().map(|(callee, args)| HostCall { callee, args }).collect())
}

/// Whether a unit is no plain Python at the top of a file, which may call a function under any name.
pub(super) fn calls_by_name_only<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    match unit.key(db).kind {
        BlockKind::Function => unit.parent(db).is_some() || is_decorated(syntax(db, unit)),
        BlockKind::Statements => unit.parent(db).is_some(),
        BlockKind::FunctionHeader | BlockKind::ClassHeader => true,
    }
}

fn calls_itself<'db>(_: &'db dyn salsa::Database, _: salsa::Id, unit: Unit<'db>) -> Arc<Vec<HostCall>> {
    let _ = unit;
    Arc::default()
}

fn is_decorated(ast: &Ast) -> bool {
    ast.body.iter().any(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => !function.decorators.is_empty(),
        _ => false,
    })
}

/// What Python code on the host sees, and the calls that it has made.
struct HostInterpreter<'db, 'o> {
    scope: UnitScope<'db>,
    /// The code that has called a function of another file, for the functions that it passes.
    outer: Option<&'o dyn Scope>,
    /// Module-level values. During evaluation a name has its value without host code, which ends cycles.
    values: RefCell<BTreeMap<String, Option<Constant>>>,
    /// Names that are being found out, each for the one before.
    links: Cell<u32>,
    calls: RefCell<Vec<HostCall>>,
}

/// Calls of one block that are kept.
const MOST: usize = 1000;

impl<'db, 'o> HostInterpreter<'db, 'o> {
    fn new(scope: UnitScope<'db>, outer: Option<&'o dyn Scope>) -> Self {
        let (values, links, calls) = (RefCell::default(), Cell::new(0), RefCell::default());
        HostInterpreter { scope, outer, values, links, calls }
    }

    /// A value that only host code has: a tensor, or a table of functions.
    fn value_on_the_host(&self, name: &str) -> Option<Constant> {
        let (db, unit) = (self.scope.db, self.scope.unit);
        let statements = statements_of(db, unit.file(db), None).iter();
        let mut values = statements.filter_map(|&unit| eval::bound_value(syntax(db, unit), name, self));
        values.next().filter(|_| values.next().is_none())
    }
}

impl Scope for HostInterpreter<'_, '_> {
    fn outer(&self) -> Option<&dyn Scope> {
        Some(&self.scope)
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        let known = self.scope.constant(name);
        if known.as_ref().is_some_and(|value| !matches!(value, Constant::Unknown(_))) {
            return known;
        }
        if self.scope.function(name).is_some() {
            return Some(Constant::Function(name.to_owned()));
        }
        if let Some(value) = self.values.borrow().get(name) {
            return value.clone();
        }
        if self.links.get() >= eval::LONGEST_CHAIN {
            return known;
        }
        // A name that leads back to itself finds this, instead of going on without end.
        self.values.borrow_mut().insert(name.to_owned(), known.clone());
        self.links.set(self.links.get() + 1);
        let value = self.value_on_the_host(name).or(known);
        self.links.set(self.links.get() - 1);
        self.values.borrow_mut().insert(name.to_owned(), value.clone());
        value
    }

    fn defining_scope(&self, function: &str) -> Option<Box<dyn Scope + '_>> {
        let unit = self.scope.defining_unit(function)?;
        Some(Box::new(HostInterpreter::new(UnitScope { unit, ..self.scope }, Some(self))))
    }

    fn follows(&self) -> bool {
        true
    }

    fn language_name(&self, path: &[&str]) -> Option<Constant> {
        libraries::name(&self.scope, path, Reader::Host)
    }

    fn language_call(&self, path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        if let Some(value) = libraries::call(&self.scope, path, arguments, Reader::Host) {
            return Some(value);
        }
        let (callee, method) = match path {
            [callee] => (*callee, None),
            [callee, method] => (*callee, Some(*method)),
            _ => return None,
        };
        let (db, file) = (self.scope.db, self.scope.unit.file(self.scope.db));
        let is_kernel = match self.scope.function(callee) {
            Some(source) => is_decorated(&source.ast),
            // One that holds other functions is not run: what it returns is no value.
            None => defined(db, file, callee, BlockKind::FunctionHeader).is_some(),
        };
        if !is_kernel && self.scope.function(callee).is_none() {
            return self.outer.and_then(|outer| outer.language_call(path, arguments));
        }
        // `kernel.lower(x, y)` compiles for these tensors.
        if method.is_some_and(|method| !is_kernel || !(method.starts_with("lower") || method.starts_with("compile"))) {
            return None;
        }
        let mut calls = self.calls.borrow_mut();
        if calls.len() < MOST {
            // Working out the arguments may come to further calls, which are recorded first.
            drop(calls);
            let args = arguments();
            calls = self.calls.borrow_mut();
            calls.push(HostCall { callee: callee.to_owned(), args });
        }
        is_kernel.then(|| Constant::Unknown(tilefit_python::finding::Reason::new(format!("what `{callee}` returns"))))
    }
}

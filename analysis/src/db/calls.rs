//! The calls that host code makes, with the tensors and numbers that it passes: plain Python is followed, and functions of PyPTO
//! say what their tensors are.

use std::cell::RefCell;
use std::sync::Arc;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Ast, Stmt};

use tilefit_pypto::lower;
use tilefit_python::element::Dtype;
use tilefit_python::eval::{self, Argument, Constant};
use tilefit_python::torch;
use tilefit_python::work::within;

use super::host_code::{Arguments, Host, Meaning, follow, known};
use super::libraries::{self, Reader};
use super::scope::UnitScope;
use super::{SourceFile, Unit, limits, syntax};

/// A call of a function of the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostCall {
    pub(crate) callee: String,
    pub(crate) args: Vec<Argument>,
}

#[salsa::tracked(returns(ref), cycle_result = calls_itself)]
pub(crate) fn calls<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<HostCall>> {
    let ast = syntax(db, unit);
    // Plain Python is run; a function of PyPTO is lowered instead, whose tensors have types of their own.
    if !calls_by_name_only(db, unit) {
        let calls = Calls { file: unit.file(db), made: RefCell::default() };
        follow(db, (unit, None), &calls, |host| eval::follow(ast, host));
        return Arc::new(calls.made.into_inner());
    }
    if unit.key(db).kind != BlockKind::Function {
        return Arc::default();
    }
    let launches = within(limits(db), || lower::launches(ast, &UnitScope::new(db, unit))).unwrap_or_default();
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

/// Calls of one block that are kept.
const MOST: usize = 1000;

/// The calls of functions of a file.
struct Calls {
    file: SourceFile,
    made: RefCell<Vec<HostCall>>,
}

impl Calls {
    fn record(&self, db: &dyn salsa::Database, function: Unit<'_>, args: &[Argument]) {
        let mut made = self.made.borrow_mut();
        if function.file(db) == self.file && made.len() < MOST {
            made.push(HostCall { callee: function.key(db).name().to_owned(), args: args.to_vec() });
        }
    }
}

impl<'db> Meaning<'db> for Calls {
    fn library_name(&self, host: &Host<'db, '_>, path: &[&str]) -> Option<Constant> {
        libraries::name(host.scope.db, host.asking(), path, Reader::Host)
    }

    fn library_call(&self, host: &Host<'db, '_>, path: &[&str], arguments: Arguments) -> Option<Constant> {
        libraries::call(host.scope.db, host.asking(), path, arguments, Reader::Host)
    }

    fn call(&self, host: &Host<'db, '_>, function: Unit<'db>, arguments: &[Argument]) -> Option<Constant> {
        let is_kernel = is_kernel(host.scope.db, function);
        // A plain method may have the name of a kernel.
        if is_kernel || function.parent(host.scope.db).is_none() {
            self.record(host.scope.db, function, &known(arguments));
        }
        is_kernel.then(|| host.returned_by(function))
    }

    /// `kernel.lower(x, y)` compiles for these tensors.
    fn method(&self, host: &Host<'db, '_>, function: &str, method: &str, arguments: Arguments) -> Option<Constant> {
        if !(method.starts_with("lower") || method.starts_with("compile")) {
            return None;
        }
        let kernel = host.definition(function).filter(|&function| is_kernel(host.scope.db, function))?;
        self.record(host.scope.db, kernel, &known(&arguments()));
        Some(host.returned_by(kernel))
    }

    fn launch(&self, _: &Host<'db, '_>, _: Unit<'db>, _: bool, _: Arguments) -> Option<Constant> {
        None
    }

    fn class(&self, _: &'db dyn salsa::Database, _: SourceFile, _: String) -> Option<Constant> {
        None
    }

    fn tensor_of(&self, dtype: &Constant) -> Option<Constant> {
        torch::of_type::<Dtype>(dtype)
    }

    fn gradients(&self, returned: &Constant) -> Vec<Constant> {
        torch::gradients::<Dtype>(returned)
    }
}

/// Whether a function is none of plain Python. One that holds others is not run, either: it makes kernels.
fn is_kernel<'db>(db: &'db dyn salsa::Database, function: Unit<'db>) -> bool {
    function.key(db).kind == BlockKind::FunctionHeader || is_decorated(syntax(db, function))
}

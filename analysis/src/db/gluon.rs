//! Gluon kernels in the database: which functions are kernels, each under the scenario in force.

use std::collections::BTreeMap;
use std::sync::Arc;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::Stmt;

use crate::finding::Origin;
use crate::triton::device::Compiler;
use crate::triton::language;
use crate::triton::scenario;
use crate::triton::trace::{Dialect, language_path};

use super::scenarios::{callers, imports, is_jit, scenarios};
use super::traced::{TracedKernel, traced};
use super::{SourceFile, Unit, config, syntax};

/// A Gluon kernel under the scenario that is in force, and its memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GluonKernel {
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) traced: TracedKernel,
    /// Scenarios there are, this one included.
    pub(crate) scenarios: usize,
}

/// The Gluon kernel that a unit is, under its first scenario.
#[salsa::tracked(returns(ref))]
pub(crate) fn gluon_kernel<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arc<GluonKernel>> {
    if !is_gluon_kernel(db, unit) {
        return None;
    }
    let ast = syntax(db, unit);
    let function = scenario::function(ast)?;
    let all = scenarios(db, unit);
    let scenario = all.first().cloned().unwrap_or_default();
    let arch = scenario.arch.unwrap_or(config(db).tlx_arch);
    let compiler = scenario.compiler.or(Some(Compiler::V3_9));
    let traced = traced(db, unit, &scenario, arch, compiler, Dialect::Gluon, BTreeMap::new())?;
    let at = ast.body.iter().find(|&&stmt| matches!(ast.stmt(stmt), Stmt::Function(_)))?;
    let name = ast.name(function.name).unwrap_or_default().to_owned();
    Some(Arc::new(GluonKernel { name, origin: Origin::Stmt(*at), traced, scenarios: all.len() }))
}

/// A function of Gluon that is launched, or that nothing of its file calls.
#[salsa::tracked(returns(copy))]
pub(crate) fn is_gluon_kernel<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let file = unit.file(db);
    if unit.key(db).kind != BlockKind::Function || !is_jit(db, unit) {
        return false;
    }
    let ast = syntax(db, unit);
    let Some(function) = scenario::function(ast) else { return false };
    if !scenario::is_gluon(ast, imports(db, file), function) {
        return false;
    }
    let is_method = unit.parent(db).is_some_and(|parent| parent.key(db).kind == BlockKind::ClassHeader);
    let is_called = || {
        let callers = callers(db, file).get(unit.key(db).name());
        callers.is_some_and(|callers| callers.iter().any(|&caller| caller != unit && is_jit(db, caller)))
    };
    let has_comment = unit.source(db).text.contains("tilefit:");
    has_comment || (!is_method && !is_called())
}

/// Whether a decorator makes a kernel of a function.
pub(crate) fn is_gluon_decorator(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> bool {
    language::canonical(imports(db, file), path).as_deref() == Some("gluon.jit")
}

/// A dotted name of Gluon's by its path in the language: `gl.mbarrier.init`.
pub(crate) fn gluon_name(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> Option<String> {
    let full = language::canonical(imports(db, file), path)?;
    match full.split_once('.') {
        None if full == "gl" => Some(full),
        Some(("gl", inner)) => Some(format!("gl.{}", language_path(inner))),
        _ => None,
    }
}

//! The functions that Triton compiles, of `@triton.jit` and `@gluon.jit`.

use std::collections::BTreeMap;
use std::sync::Arc;

use tilefit_gpu::scenario;
use tilefit_syntax::BlockKind;

use super::reexports::imports;
use super::{SourceFile, Unit, syntax, units};

/// The functions of `@triton.jit` and `@gluon.jit` of a file, by name.
#[salsa::tracked(returns(ref))]
pub(super) fn jit_functions<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Arc<BTreeMap<String, Unit<'db>>> {
    let functions = units(db, file).iter().filter(|&&unit| is_jit(db, unit));
    let named = functions.map(|&unit| (unit.key(db).name().to_owned(), unit));
    Arc::new(named.collect())
}

#[salsa::tracked(returns(copy))]
pub(super) fn is_jit<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    if unit.key(db).kind != BlockKind::Function {
        return false;
    }
    let ast = syntax(db, unit);
    scenario::function(ast).is_some_and(|function| scenario::is_jit(ast, imports(db, unit.file(db)), function))
}

/// Whether a file has functions of Triton, TLX or Gluon.
#[salsa::tracked(returns(copy))]
pub(super) fn has_kernels_of_gpus(db: &dyn salsa::Database, file: SourceFile) -> bool {
    !jit_functions(db, file).is_empty()
}

//! Which kernels of TileLang are for Ascend NPUs, by the names that they use.

use tilefit_gpu::device::Arch;
use tilefit_python::eval::Imports;
use tilefit_python::finding::Reason;
use tilefit_syntax::ast::{Ast, Expr, ExprId};
use tilefit_tilelang::ascend::{self, Backend};

use super::reexports::imports;
use super::tilelang_names::{full_path, is_factory};
use super::{SourceFile, Unit, config, syntax, units};

/// The compiler for Ascend that a kernel is written for, by the names that it or its file uses; `None`: it is for GPUs, or none of TileLang.
#[salsa::tracked(returns(copy))]
pub(super) fn backend_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Backend> {
    if !is_factory(db, unit) {
        return None;
    }
    named_in(db, unit).or_else(|| named_in_file(db, unit.file(db)))
}

/// The device of a kernel for Ascend. The fork is for the one that the setting `target` names.
pub(super) fn npu_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arch> {
    match backend_of(db, unit)? {
        Backend::Fork => Arch::from_name(config(db).target.name()),
        Backend::Own => Arch::from_name("ascend950"),
    }
}

#[salsa::tracked(returns(copy))]
fn named_in_file(db: &dyn salsa::Database, file: SourceFile) -> Option<Backend> {
    let imports = imports(db, file);
    let of_imports = || imports.modules().find_map(Backend::of_name);
    of_imports().or_else(|| units(db, file).iter().find_map(|&unit| named_in(db, unit)))
}

#[salsa::tracked(returns(copy))]
fn named_in<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Backend> {
    let (ast, imports) = (syntax(db, unit), imports(db, unit.file(db)));
    ast.exprs().find_map(|(expr, _)| backend_at(ast, imports, expr))
}

fn backend_at(ast: &Ast, imports: &Imports, expr: ExprId) -> Option<Backend> {
    match ast.expr(expr) {
        Expr::Attribute { .. } | Expr::Name(_) => Backend::of_name(&full_path(imports, &ast.dotted(expr)?)?),
        Expr::Call { args, .. } => args.iter().find_map(|arg| match (arg.keyword.as_deref()?, ast.expr(arg.value)) {
            (ascend::KERNEL_OPTION, _) => Some(Backend::Fork),
            ("target", Expr::Str(name)) => Backend::of_target(name),
            _ => None,
        }),
        _ => None,
    }
}

/// Why a kernel for one kind of device has no plan on another.
pub(super) fn not_for(arch: Arch, is_for_npus: bool) -> Reason {
    Reason::new(match is_for_npus {
        true => format!("the kernel is for Ascend NPUs, and {arch} is a GPU"),
        false => format!("the kernel is for GPUs, and {arch} is an NPU"),
    })
}

//! Names of TileLang in a file: which functions make kernels, and the values that names and calls have in host code.

use tilefit_gpu::scenario;
use tilefit_python::eval::{Argument, Constant, Imports};
use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Ast, Expr, ExprId};
use tilefit_tilelang::{dtypes, vocabulary};

use super::reexports::imports;
use super::{SourceFile, Unit, syntax, units};

/// What begins a launch.
const LAUNCHES: [&str; 2] = ["Kernel", "ClusterKernel"];

/// Whether a function makes kernels of TileLang: one that launches, or that holds a primitive function.
#[salsa::tracked(returns(copy))]
pub(crate) fn is_factory<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let text = &unit.source(db).text;
    // The look at the text keeps all others from being parsed.
    if unit.key(db).kind != BlockKind::Function || !text.contains("Kernel") {
        return false;
    }
    let imports = imports(db, unit.file(db));
    if !imports.modules().any(|module| module == "tilelang" || module.starts_with("tilelang.")) {
        return false;
    }
    let ast = syntax(db, unit);
    let Some(function) = scenario::function(ast) else { return false };
    let is_macro = function.decorators.iter().any(|&it| name_of(ast, imports, it).as_deref() == Some("macro"));
    !is_macro && ast.exprs().any(|(expr, _)| name_of(ast, imports, expr).is_some_and(|name| LAUNCHES.contains(&&*name)))
}

/// Whether a file compiles its kernels for Metal, or tests them there.
#[salsa::tracked(returns(copy))]
pub(super) fn is_for_metal(db: &dyn salsa::Database, file: SourceFile) -> bool {
    let imports = imports(db, file);
    imports.modules().any(|module| module.starts_with("tilelang.metal"))
        || units(db, file).iter().any(|&unit| speaks_of_metal(db, unit))
}

#[salsa::tracked(returns(copy))]
fn speaks_of_metal<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let text = &unit.source(db).text;
    // The look at the text keeps all others from being parsed.
    if !text.contains("metal") && !text.contains("mps") {
        return false;
    }
    let ast = syntax(db, unit);
    ast.exprs().any(|(expr, syntax)| match syntax {
        Expr::Call { args, .. } => args.iter().any(|arg| match (arg.keyword.as_deref(), ast.expr(arg.value)) {
            (None | Some("target"), Expr::Str(name)) => name == "metal",
            (Some("device"), Expr::Str(name)) => name == "mps",
            _ => false,
        }),
        Expr::Attribute { name, .. } => name == "requires_metal" && ast.dotted(expr).is_some(),
        _ => false,
    })
}

/// The path of a name in TileLang's language, called or not.
fn name_of(ast: &Ast, imports: &Imports, expr: ExprId) -> Option<String> {
    let func = match ast.expr(expr) {
        Expr::Call { func, .. } => *func,
        _ => expr,
    };
    let path = full_path(imports, &ast.dotted(func)?)?;
    let name = path.strip_prefix("tilelang.language.").or_else(|| path.strip_prefix("tilelang.ascend.language."));
    name.map(str::to_owned)
}

/// A dotted name under the names of the modules that it is imported from.
pub(super) fn full_path(imports: &Imports, path: &[&str]) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let module = imports.module_of(first)?;
    Some(rest.iter().fold(module.to_owned(), |path, part| format!("{path}.{part}")))
}

/// Whether a decorator makes a kernel of TileLang of a function.
pub(crate) fn is_tilelang_decorator(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> bool {
    let path = full_path(imports(db, file), path);
    matches!(path.as_deref(), Some("tilelang.jit" | "tilelang.language.prim_func"))
}

/// A dotted name of TileLang's under the usual name of its module: `T.copy`.
pub(crate) fn tilelang_name(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> Option<String> {
    let path = full_path(imports(db, file), path)?;
    let member = path.strip_prefix("tilelang.language")?;
    (member.is_empty() || member.starts_with('.')).then(|| format!("T{member}"))
}

/// The value of a name in host code: an element type, or a function that a kernel is given.
pub(super) fn name(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> Option<Constant> {
    let path = full_path(imports(db, file), path)?;
    let name = path.strip_prefix("tilelang.language.")?;
    let dtype = dtypes::parse(name).map(|dtype| dtype.name.to_string());
    let function = || name.split('.').next().is_some_and(vocabulary::is_member).then(|| name.to_owned());
    dtype.or_else(function).map(|name| Constant::Member(format!("T.{name}")))
}

/// What a function gives in host code.
pub(super) fn call(
    db: &dyn salsa::Database,
    file: SourceFile,
    path: &[&str],
    arguments: &dyn Fn() -> Vec<Argument>,
) -> Option<Constant> {
    let path = full_path(imports(db, file), path)?;
    let ("tilelang.cdiv" | "tilelang.language.ceildiv") = path.as_str() else { return None };
    match arguments().as_slice() {
        [Argument { value: Constant::Int(number), .. }, Argument { value: Constant::Int(by), .. }] if *by > 0 => {
            Some(Constant::Int(number.checked_add(by - 1)?.div_euclid(*by)))
        }
        _ => None,
    }
}

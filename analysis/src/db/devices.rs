//! Which device a file writes its kernels for: what its tests skip on all others, and instructions that only one has.

use tilefit_syntax::ast::{Ast, Expr, ExprId, Function, Stmt, StmtId, UnaryOp};

use crate::eval::Imports;
use crate::triton::device::Arch;
use crate::triton::language;
use crate::triton::scenario;

use super::scenarios::imports;
use super::{Unit, syntax};

/// Functions of Triton's tests that are true on one device only.
const PREDICATES: [(&str, &str); 7] = [
    ("is_hopper", "sm_90"),
    ("is_blackwell", "sm_100"),
    ("is_sm12x", "sm_120"),
    ("is_hip_cdna3", "gfx942"),
    ("is_hip_cdna4", "gfx950"),
    ("is_hip_gfx1250", "gfx1250"),
    ("is_hip_gfx950", "gfx950"),
];

/// Names that stand for what only one device has, by how they begin under the usual names of their modules.
const INSTRUCTIONS: [(&str, &str); 8] = [
    ("gl.nvidia.hopper.warpgroup_mma", "sm_90"),
    ("gl.nvidia.blackwell.tcgen05_", "sm_100"),
    ("gl.nvidia.blackwell.allocate_tensor_memory", "sm_100"),
    ("gl.nvidia.blackwell.TensorMemory", "sm_100"),
    ("gl.amd.cdna4", "gfx950"),
    ("gl.amd.gfx1250", "gfx1250"),
    ("tlx.storage_kind.tmem", "sm_100"),
    // Products that are waited for by their number end in registers; later devices have others.
    ("tlx.async_dot_wait", "sm_90"),
];

/// The device whose instructions a kernel names; `None` where it names none, or those of several.
#[salsa::tracked(returns(copy))]
pub(super) fn device_of_kernel<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arch> {
    let (ast, imports) = (syntax(db, unit), imports(db, unit.file(db)));
    only(ast.exprs().filter_map(|(expr, _)| of_instruction(ast, imports, expr)))
}

fn of_instruction(ast: &Ast, imports: &Imports, expr: ExprId) -> Option<Arch> {
    let name = language::canonical(imports, &ast.dotted(expr)?)?;
    let row = INSTRUCTIONS.iter().find(|(begin, _)| name.starts_with(begin))?;
    Arch::from_name(row.1)
}

/// The device on which alone a function of the host goes on.
#[salsa::tracked(returns(copy))]
pub(super) fn device_of_host<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arch> {
    let ast = syntax(db, unit);
    let function = scenario::function(ast)?;
    only(skips(ast, function).filter_map(|condition| of_condition(ast, condition)))
}

/// The conditions under which a test is skipped: those of its decorators, and of `if condition: pytest.skip(…)`.
fn skips<'a>(ast: &'a Ast, function: &'a Function) -> impl Iterator<Item = ExprId> + 'a {
    let decorated = function.decorators.iter().filter_map(|&decorator| match ast.expr(decorator) {
        Expr::Call { func, args } if ast.dotted(*func)?.ends_with(&["mark", "skipif"]) => {
            args.first().map(|arg| arg.value)
        }
        _ => None,
    });
    let within = function.body.iter().filter_map(|&stmt| match ast.stmt(stmt) {
        Stmt::If { condition, body, .. } if body.iter().any(|&stmt| skips_test(ast, stmt)) => Some(*condition),
        _ => None,
    });
    decorated.chain(within)
}

fn skips_test(ast: &Ast, stmt: StmtId) -> bool {
    let Stmt::Expr(call) = ast.stmt(stmt) else { return false };
    let Expr::Call { func, .. } = ast.expr(*call) else { return false };
    ast.dotted(*func).is_some_and(|path| path == ["pytest", "skip"])
}

/// The device on which alone a condition does not hold: `not is_hopper()`, or that `or` something else.
fn of_condition(ast: &Ast, condition: ExprId) -> Option<Arch> {
    match ast.expr(condition) {
        Expr::Bool2 { op: tilefit_syntax::ast::BoolOp::Or, left, right } => {
            of_condition(ast, *left).or_else(|| of_condition(ast, *right))
        }
        Expr::Unary { op: UnaryOp::Not, operand } => {
            let Expr::Call { func, .. } = ast.expr(*operand) else { return None };
            let path = ast.dotted(*func)?;
            let row = PREDICATES.iter().find(|(predicate, _)| path.last() == Some(predicate))?;
            Arch::from_name(row.1)
        }
        _ => None,
    }
}

fn only(mut devices: impl Iterator<Item = Arch>) -> Option<Arch> {
    let first = devices.next()?;
    devices.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use tilefit_syntax::Document;

    use super::super::{Database, SourceFile, units};
    use super::*;

    fn check(text: &str, host: Option<&str>, kernel: Option<&str>) {
        let db = Database::default();
        let file = SourceFile::of(&db, "/w/k.py".to_owned(), Document::new(text));
        let db: &dyn salsa::Database = &db;
        let units = units(db, file);
        let of = |device: fn(&dyn salsa::Database, Unit<'_>) -> Option<Arch>| {
            units.iter().find_map(|&unit| device(db, unit)).map(Arch::name)
        };
        assert_eq!(of(device_of_host), host, "{text}");
        assert_eq!(of(device_of_kernel), kernel, "{text}");
    }

    #[test]
    fn tests_say_what_they_are_for() {
        check("@pytest.mark.skipif(not is_hopper(), reason=\"…\")\ndef test():\n    pass\n", Some("sm_90"), None);
        check("def test():\n    if not is_hip_cdna4() or small:\n        pytest.skip(\"…\")\n", Some("gfx950"), None);
        check("@pytest.mark.skipif(not is_hopper_or_newer())\ndef test():\n    pass\n", None, None);
        check("@pytest.mark.skipif(not is_hopper() and not is_blackwell())\ndef test():\n    pass\n", None, None);
    }

    #[test]
    fn instructions_say_what_they_are_of() {
        let gluon = "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n";
        let imports = "from triton.experimental.gluon.language.nvidia.blackwell import tcgen05_mma\n\
                       from triton.experimental.gluon.language.nvidia.hopper import warpgroup_mma\n";
        let kernel = |body: &str| format!("{gluon}{imports}\n\n@gluon.jit\ndef kernel(a, b, c):\n    {body}\n");
        check(&kernel("tcgen05_mma(a, b, c)"), None, Some("sm_100"));
        check(&kernel("warpgroup_mma(a, b, c)"), None, Some("sm_90"));
        check(&kernel("tcgen05_mma(a, b, warpgroup_mma(a, b, c))"), None, None);
        check(&kernel("gl.store(a, b)"), None, None);
        let tlx = "import triton\nimport triton.language.extra.tlx as tlx\n\n@triton.jit\ndef kernel(a):\n";
        check(&format!("{tlx}    tlx.async_dot_wait(0, a)\n"), None, Some("sm_90"));
    }
}

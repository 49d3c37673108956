//! Which device a file writes its kernels for: what its tests skip on all others, targets that it compiles for, instructions that only one has, and
//! what it says of itself.

use std::sync::Arc;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId, Function, Stmt, StmtId, UnaryOp};

use tilefit_gpu::assumed::{Assumed, Hint};
use tilefit_gpu::device::Arch;
use tilefit_gpu::language;
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_python::eval::Imports;

use super::ascend_names::npu_of;
use super::jit::is_jit;
use super::reexports::imports;
use super::statements::statements_of;
use super::{SourceFile, Unit, config, syntax, units};

/// The device of the kernels of a file of which nothing says which it is: that of the settings, else the only one that the file speaks of, else the
/// default.
pub(super) fn device_of_others(db: &dyn salsa::Database, file: SourceFile) -> (Arch, Option<Assumed>) {
    let config = config(db);
    let assumed = |arch, hint| (arch, Some(Assumed::Device(arch, hint)));
    match (config.is_gpu_named, said_by_file(db, file)) {
        (true, _) => (config.tlx_arch, None),
        (false, Some(arch)) => assumed(arch, Hint::File),
        (false, None) => assumed(config.tlx_arch, Hint::Nothing),
    }
}

/// The device that a file names for all of its kernels: by a scenario comment outside of them, or as a target that it compiles for.
#[salsa::tracked(returns(copy))]
pub(super) fn device_of_file(db: &dyn salsa::Database, file: SourceFile) -> Option<Arch> {
    let outside = || statements_of(db, file, None).iter();
    let comments = outside().flat_map(|&unit| scenario::comments(&unit.source(db).text));
    only(comments.filter_map(|comment| Scenario::parse(&comment).arch))
        .or_else(|| only(outside().filter_map(|&unit| spoken_of(db, unit).target)))
}

/// The only device that a file speaks of.
#[salsa::tracked(returns(copy))]
fn said_by_file(db: &dyn salsa::Database, file: SourceFile) -> Option<Arch> {
    let name = file.path(db).rsplit(['/', '\\']).next().unwrap_or_default();
    let of_hosts = units(db, file).iter().filter(|&&unit| !is_jit(db, unit));
    let spoken = of_hosts.flat_map(|&unit| spoken_of(db, unit).names.clone());
    only(Arch::named_in(name).chain(spoken))
}

/// The devices of which a part of a file speaks that is no kernel.
#[derive(Debug, Default, PartialEq, Eq)]
struct Spoken {
    /// The target that it compiles for.
    target: Option<Arch>,
    /// Those that its first words name, and texts that are assigned to something or passed as a device.
    names: Vec<Arch>,
}

#[salsa::tracked(returns(ref))]
fn spoken_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Spoken> {
    let text = &unit.source(db).text;
    // Most parts speak of none, and are not parsed for it.
    if !text.contains("GPUTarget") && Arch::named_in(text).next().is_none() {
        return Arc::default();
    }
    let ast = syntax(db, unit);
    let is_text = |expr: ExprId| if let Expr::Str(text) = ast.expr(expr) { Some(text.as_str()) } else { None };
    let mut names: Vec<Arch> = Vec::new();
    if let (BlockKind::Statements, Some(&first)) = (unit.key(db).kind, ast.body.first())
        && let Stmt::Expr(words) = *ast.stmt(first)
    {
        names.extend(is_text(words).into_iter().flat_map(Arch::named_in));
    }
    let assigned = ast.stmts().filter_map(|(_, stmt)| match stmt {
        Stmt::Assign { value: Some(value), .. } => is_text(*value),
        _ => None,
    });
    let passed = ast.exprs().filter_map(|(_, expr)| match expr {
        Expr::Call { args, .. } => Some(args.iter().filter(|arg| is_device(arg)).filter_map(|arg| is_text(arg.value))),
        _ => None,
    });
    names.extend(assigned.chain(passed.flatten()).filter_map(Arch::from_name));
    let targets = ast.exprs().filter_map(|(expr, _)| of_target(ast, expr));
    Arc::new(Spoken { target: only(targets), names })
}

fn is_device(arg: &Arg) -> bool {
    matches!(arg.keyword.as_deref(), Some("arch" | "target" | "device" | "gpu"))
}

/// `GPUTarget("hip", "gfx942", 64)`, `GPUTarget("cuda", 90, 32)`
fn of_target(ast: &Ast, expr: ExprId) -> Option<Arch> {
    let Expr::Call { func, args } = ast.expr(expr) else { return None };
    if ast.dotted(*func)?.last() != Some(&"GPUTarget") {
        return None;
    }
    let arch = args.iter().find(|arg| arg.keyword.as_deref() == Some("arch"));
    let arch = arch.or_else(|| args.get(1).filter(|arg| arg.keyword.is_none()))?;
    match ast.expr(arch.value) {
        Expr::Int(capability) => Arch::from_name(&format!("sm{capability}")),
        Expr::Str(name) => Arch::from_name(name),
        _ => None,
    }
}

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

/// The device that a kernel is a test for, or whose instructions it names; `None` where it names none, or those of several.
#[salsa::tracked(returns(copy))]
pub(super) fn device_of_kernel<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arch> {
    if let Some(arch) = npu_of(db, unit) {
        return Some(arch);
    }
    let (ast, imports) = (syntax(db, unit), imports(db, unit.file(db)));
    let required = scenario::function(ast).and_then(|function| only(required(ast, function)));
    required.or_else(|| only(ast.exprs().filter_map(|(expr, _)| of_instruction(ast, imports, expr))))
}

fn of_instruction(ast: &Ast, imports: &Imports, expr: ExprId) -> Option<Arch> {
    let name = language::canonical(imports, &ast.dotted(expr)?)?;
    let row = INSTRUCTIONS.iter().find(|(begin, _)| name.starts_with(begin))?;
    Arch::from_name(row.1)
}

/// The device on which alone a function of the host goes on, else the target that it compiles for.
#[salsa::tracked(returns(copy))]
pub(super) fn device_of_host<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arch> {
    let ast = syntax(db, unit);
    let alone = scenario::function(ast).and_then(|function| {
        let conditions = skips(ast, function).filter_map(|condition| of_condition(ast, condition));
        only(conditions.chain(required(ast, function)))
    });
    alone.or_else(|| spoken_of(db, unit).target)
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

/// What decorators of a test of TileLang require: `@tilelang.testing.requires_cuda_compute_version_eq(9, 0)`.
fn required<'a>(ast: &'a Ast, function: &'a Function) -> impl Iterator<Item = Arch> + 'a {
    function.decorators.iter().filter_map(|&decorator| {
        let (func, args) = match ast.expr(decorator) {
            Expr::Call { func, args } => (*func, args.as_slice()),
            _ => (decorator, [].as_slice()),
        };
        let number =
            |arg: &Arg| if let Expr::Int(number) = ast.expr(arg.value) { Some(number.to_string()) } else { None };
        match *ast.dotted(func)?.last()? {
            "requires_gfx950" => Arch::from_name("gfx950"),
            "requires_cuda_compute_version_eq" => {
                Arch::from_name(&format!("sm_{}", args.iter().map(number).collect::<Option<String>>()?))
            }
            _ => None,
        }
    })
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
        let of_tilelang = "@tilelang.testing.requires_cuda_compute_version_eq(9, 0)\ndef test():\n    pass\n";
        check(of_tilelang, Some("sm_90"), Some("sm_90"));
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

//! Kernels that PyTorch's Inductor has written: a decorator says what they are compiled for.
//!
//! ```text
//! @triton_heuristics.pointwise(size_hints={'x': 1024}, triton_meta={'signature': {'in_ptr0': '*fp32', 'xnumel': 'i32', 'XBLOCK': 'constexpr'},
//!     'device': DeviceProperties(type='cuda', cc=90, …), 'constants': {}, 'configs': [{(0,): [['tt.divisibility', 16]]}]}, …)
//! ```
//!
//! (`TritonKernel.codegen_kernel` in `torch/_inductor/codegen/triton.py`.)

use tilefit_gpu::device::Arch;
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_python::eval::{self, Constant};
use tilefit_syntax::ast::{Ast, Expr, ExprId, Function};

use crate::launch::Launch;

use super::scope::UnitScope;
use super::{Unit, syntax};

const DESCRIPTION: &str = "triton_meta";
const FROM: &str = "Inductor's `triton_meta`";

/// What the decorator says of the launches of a kernel.
#[salsa::tracked(returns(ref))]
pub(super) fn described<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Scenario> {
    if !unit.source(db).text.contains(DESCRIPTION) {
        return None;
    }
    let ast = syntax(db, unit);
    let function = scenario::function(ast)?;
    let description = description(ast, function)?;
    let value = eval::evaluate(ast, description, &UnitScope::new(db, unit));
    let Constant::Dict(signature) = entry(&value, "signature")? else { return None };
    let mut launch = Launch::default();
    for (name, kind) in signature {
        if let (Constant::Str(name), Constant::Str(kind)) = (name, kind) {
            launch.signature.insert(name.clone(), kind.clone());
        }
    }
    launch.divisible = divisible(&value, ast, function);
    Some(Scenario { arch: device(ast, description), ..launch.scenario(FROM) })
}

fn description(ast: &Ast, function: &Function) -> Option<ExprId> {
    function.decorators.iter().find_map(|&decorator| {
        let Expr::Call { args, .. } = ast.expr(decorator) else { return None };
        args.iter().find(|arg| arg.keyword.as_deref() == Some(DESCRIPTION)).map(|arg| arg.value)
    })
}

fn entry<'c>(dictionary: &'c Constant, key: &str) -> Option<&'c Constant> {
    let Constant::Dict(entries) = dictionary else { return None };
    entries.iter().find(|(name, _)| *name == Constant::Str(key.to_owned())).map(|(_, value)| value)
}

/// By the places of arguments.
fn divisible(value: &Constant, ast: &Ast, function: &Function) -> Option<std::collections::BTreeSet<String>> {
    let Constant::List(configs) = entry(value, "configs")? else { return None };
    let Constant::Dict(attributes) = configs.first()? else { return None };
    let sixteen = Constant::List([Constant::Str("tt.divisibility".to_owned()), Constant::Int(16)].into());
    let of_place = |(place, attributes): &(Constant, Constant)| {
        let (Constant::Tuple(place), Constant::List(attributes)) = (place, attributes) else { return None };
        let [Constant::Int(place)] = &place[..] else { return None };
        let param = function.params.get(usize::try_from(*place).ok()?)?;
        attributes.contains(&sixteen).then(|| ast.name(param.name).map(str::to_owned))?
    };
    Some(attributes.iter().filter_map(of_place).collect())
}

/// `DeviceProperties(type='cuda', cc=90)`
fn device(ast: &Ast, description: ExprId) -> Option<Arch> {
    let Expr::Dict(entries) = ast.expr(description) else { return None };
    let is_device = |(key, _): &&(ExprId, ExprId)| matches!(ast.expr(*key), Expr::Str(key) if key == "device");
    let Expr::Call { args, .. } = ast.expr(entries.iter().find(is_device)?.1) else { return None };
    let capability = args.iter().find(|arg| arg.keyword.as_deref() == Some("cc"))?;
    match ast.expr(capability.value) {
        Expr::Int(capability) => Arch::from_name(&format!("sm_{capability}")),
        Expr::Str(name) => Arch::from_name(name),
        _ => None,
    }
}

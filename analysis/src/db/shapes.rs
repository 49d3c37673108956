//! Shapes of the tensors that a `@pl.jit` function is called with, where its annotations leave them open: out of a scenario
//! comment, else of the configuration, else of the calls in the same file. Likewise the numbers that a factory of kernels is called with.

use std::sync::Arc;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Ast, Expr, ExprId, Function, Stmt};

use tilefit_python::element::Dtype;
use tilefit_python::eval::Constant;
use tilefit_python::torch::Known;

use super::calls::{HostCall, calls, calls_by_name_only};
use super::{Settings, Unit, syntax, units};

/// The tensor that a parameter is, and where that is known from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) param: String,
    pub(crate) tensor: Known<Dtype>,
    /// For people: "the scenario comment".
    pub(crate) origin: String,
}

/// What is known of the parameters of a function beyond their annotations. A comment speaks before the configuration, and that
/// before calls.
#[salsa::tracked(returns(ref), cycle_result = given_by_itself)]
pub(crate) fn given<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Given>> {
    let ast = syntax(db, unit);
    let mut given = from_comments(&unit.source(db).text);
    if let Some(function) = function(ast) {
        for other in configured(db, ast.name(function.name).unwrap_or_default()) {
            if !given.iter().any(|known: &Given| known.param == other.param) {
                given.push(other);
            }
        }
        let passed = passed(db, unit, ast, function);
        let open =
            function.params.iter().filter(|param| param.annotation.is_some_and(|annotation| is_open(ast, annotation)));
        for param in open.filter_map(|param| ast.name(param.name)) {
            if let Some((tensor, origin)) = agreed(&passed, param, Known::of_constant)
                && !given.iter().any(|known| known.param == param)
            {
                given.push(Given { param: param.to_owned(), tensor, origin });
            }
        }
    }
    Arc::new(given)
}

fn given_by_itself<'db>(_: &'db dyn salsa::Database, _: salsa::Id, unit: Unit<'db>) -> Arc<Vec<Given>> {
    let _ = unit;
    Arc::default()
}

/// The numbers that a factory is called with, for its parameters without a default.
#[salsa::tracked(returns(ref), cycle_result = no_numbers)]
pub(crate) fn given_constants<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
) -> Arc<Vec<(String, Constant, String)>> {
    let ast = syntax(db, unit);
    let Some(function) = function(ast) else { return Arc::default() };
    let passed = passed(db, unit, ast, function);
    let open = function.params.iter().filter(|param| param.default.is_none());
    let is_plain = |value: &Constant| match value {
        Constant::Int(_) | Constant::Bool(_) | Constant::Float(_) | Constant::Str(_) | Constant::Dtype(_) => {
            Some(value.clone())
        }
        _ => None,
    };
    let given = open.filter_map(|param| ast.name(param.name)).filter_map(|param| {
        let (value, origin) = agreed(&passed, param, is_plain)?;
        Some((param.to_owned(), value, origin))
    });
    Arc::new(given.collect())
}

fn no_numbers<'db>(_: &'db dyn salsa::Database, _: salsa::Id, unit: Unit<'db>) -> Arc<Vec<(String, Constant, String)>> {
    let _ = unit;
    Arc::default()
}

/// Whether an annotation names a tensor without its shape: `pl.Tensor`, `pl.Out[pl.Tensor]`.
fn is_open(ast: &Ast, annotation: ExprId) -> bool {
    match ast.expr(annotation) {
        Expr::Subscript { value, index } => {
            let wrapper = ast.dotted(*value).unwrap_or_default().last().copied();
            matches!(wrapper, Some("Out" | "InOut")) && is_open(ast, *index)
        }
        _ => matches!(ast.dotted(annotation).unwrap_or_default().last(), Some(&("Tensor" | "DistributedTensor"))),
    }
}

fn function(ast: &Ast) -> Option<&Function> {
    ast.body.iter().find_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => Some(function),
        _ => None,
    })
}

/// What the setting `shapes` says of a function.
fn configured(db: &dyn salsa::Database, function: &str) -> Vec<Given> {
    let settings = Settings::try_get(db).and_then(|settings| settings.config(db).shapes.get(function));
    let given = settings.into_iter().flatten().map(|(param, tensor)| Given {
        param: param.clone(),
        tensor: tensor.clone(),
        origin: format!("the setting `shapes.{function}.{param}`"),
    });
    given.collect()
}

/// `# tilefit: x=[4096, 7168] bf16, y=[64] fp32`
fn from_comments(text: &str) -> Vec<Given> {
    let mut given = Vec::new();
    let comments = text.lines().filter_map(|line| line.split_once("# tilefit:"));
    for (_, comment) in comments {
        let mut rest = comment;
        while let Some((before, behind)) = rest.split_once('[') {
            let Some((extents, after)) = behind.split_once(']') else { break };
            rest = after;
            let param = before.trim_end().strip_suffix('=').map(str::trim_end).unwrap_or_default();
            let param = param.rsplit([' ', ',', '\t']).next().unwrap_or_default();
            let dtype = after.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let tensor = Known::from_text(&format!("[{extents}] {dtype}"));
            if let (Some(tensor), false) = (tensor, param.is_empty()) {
                let origin = "the scenario comment".to_owned();
                given.push(Given { param: param.to_owned(), tensor, origin });
            }
        }
    }
    given
}

/// What each call in the file passes for each parameter, and where the call stands.
fn passed<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    ast: &Ast,
    function: &Function,
) -> Vec<(String, Constant, String)> {
    let name = ast.name(function.name).unwrap_or_default();
    let params: Vec<&str> =
        function.params.iter().filter_map(|param| ast.name(param.name)).filter(|name| *name != "self").collect();
    let mut passed = Vec::new();
    let called = format!("{name}(");
    for caller in units(db, unit.file(db)).iter().copied().filter(|caller| *caller != unit) {
        // What functions of PyPTO pass depends on what they are given themselves: only those that call this one are asked.
        if is_inside(db, caller, unit)
            || calls_by_name_only(db, caller)
                && !(caller.source(db).text.contains(&called) && calls_function(syntax(db, caller), name))
        {
            continue;
        }
        let place = match (caller.key(db).kind, caller.key(db).name()) {
            (BlockKind::Function, path) if !path.is_empty() => format!("the call in `{path}`"),
            _ => "the call in this file".to_owned(),
        };
        for HostCall { args, .. } in calls(db, caller).iter().filter(|call| call.callee == name) {
            let mut positional = params.iter();
            for arg in args {
                let param = match &arg.keyword {
                    Some(keyword) => params.iter().find(|param| *param == keyword),
                    None => positional.next(),
                };
                passed.extend(param.map(|param| ((*param).to_owned(), arg.value.clone(), place.clone())));
            }
        }
    }
    passed
}

fn is_inside<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, outer: Unit<'db>) -> bool {
    std::iter::successors(unit.parent(db), |unit| unit.parent(db)).any(|unit| unit == outer)
}

fn calls_function(ast: &Ast, name: &str) -> bool {
    ast.exprs().any(|(_, expr)| match expr {
        Expr::Call { func, .. } => ast.dotted(*func).is_some_and(|path| path.last() == Some(&name)),
        _ => false,
    })
}

/// What the calls pass for a parameter. Where they differ it is what the first one does, and the place says so.
fn agreed<T: PartialEq>(
    passed: &[(String, Constant, String)],
    param: &str,
    wanted: impl Fn(&Constant) -> Option<T>,
) -> Option<(T, String)> {
    let of_param = passed.iter().filter(|(name, ..)| name == param);
    let mut values = of_param.filter_map(|(_, value, place)| Some((wanted(value)?, place)));
    let (first, place) = values.next()?;
    let mut others: Vec<T> = Vec::new();
    for (value, _) in values {
        if value != first && !others.contains(&value) {
            others.push(value);
        }
    }
    let origin = match others.len() {
        0 => place.clone(),
        others => format!("{place}, the first of {} that differ", others + 1),
    };
    Some((first, origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_give_shapes() {
        let shapes = |text| {
            let given = from_comments(text);
            given.into_iter().map(|given| (given.param, given.tensor)).collect::<Vec<_>>()
        };
        let tensor = |text| Known::from_text(text).expect("it is one");
        assert_eq!(
            shapes("# tilefit: x=[4096, 7168] bf16, y = [64] FP32\n@pl.jit\ndef f(x, y): ..."),
            [("x".to_owned(), tensor("[4096, 7168] bf16")), ("y".to_owned(), tensor("[64] fp32"))]
        );
        assert_eq!(shapes("# tilefit: HEAD_DIM=128 desc=bf16 arch=sm_100"), []);
        assert_eq!(shapes("# tilefit: x=[M, 64] bf16, y=[64, 64"), []);
    }
}

//! `@triton.heuristics`: constexpr parameters and options of a launch that are functions of its arguments.

use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId, Param};

use tilefit_python::eval::{self, Constant, Imports, Scope};
use tilefit_python::finding::Reason;

use super::scenario::{OPTIONS, Scenario, decorators, function};

const NAME: &str = "triton.heuristics";

/// A scenario with what the heuristics of its kernel choose for the arguments that are known, where nothing else gives that.
pub fn chosen(mut scenario: Scenario, ast: &Ast, imports: &Imports, scope: &dyn Scope) -> Scenario {
    let Some(kernel) = function(ast) else { return scenario };
    for (name, chosen) in decorators(ast, imports, kernel, NAME).filter_map(|args| written(ast, args)).flatten() {
        let (Some(name), Expr::Lambda(lambda)) = (name, ast.expr(chosen)) else { continue };
        let [param] = lambda.params.as_slice() else { continue };
        if scenario.values.contains_key(name) || scenario.option(name).is_some() {
            continue;
        }
        let argument = |param: &Param| {
            let name = ast.name(param.name)?;
            let known = scenario.values.get(name).map(|(value, _)| value.clone());
            let value = known.unwrap_or_else(|| Constant::Unknown(Reason::new("the argument is not known")));
            Some((Constant::Str(name.to_owned()), value))
        };
        let arguments: Vec<_> = kernel.params.iter().filter_map(argument).collect();
        let scope = LambdaScope { param, argument: Constant::Dict(arguments.into()), outer: scope };
        let value = eval::evaluate(&lambda.ast, lambda.body, &scope);
        if matches!(value, Constant::Int(_) | Constant::Bool(_) | Constant::Str(_) | Constant::None) {
            scenario = scenario.where_it_is(name, &value, "`@triton.heuristics`");
        }
    }
    scenario
}

/// True where a function of the author's may choose options of the launch: none is a default then.
pub fn may_choose_options(ast: &Ast, imports: &Imports) -> bool {
    let Some(kernel) = function(ast) else { return false };
    decorators(ast, imports, kernel, NAME).any(|args| match written(ast, args) {
        Some(heuristics) => heuristics.iter().any(|(name, _)| name.is_none_or(|name| OPTIONS.contains(&name))),
        None => true,
    })
}

/// The heuristics that are written at the kernel: by name, the function of the arguments; without a name what is written elsewhere.
fn written<'a>(ast: &'a Ast, args: &[Arg]) -> Option<Vec<(Option<&'a str>, ExprId)>> {
    let values = args.iter().find(|arg| arg.keyword.as_deref().is_none_or(|keyword| keyword == "values"))?;
    let Expr::Dict(pairs) = ast.expr(values.value) else { return None };
    let named = pairs.iter().map(|&(name, chosen)| match ast.expr(name) {
        Expr::Str(name) => (Some(name.as_str()), chosen),
        _ => (None, chosen),
    });
    Some(named.collect())
}

/// The one parameter of a lambda, over the names of the code around.
struct LambdaScope<'a> {
    param: &'a str,
    argument: Constant,
    outer: &'a dyn Scope,
}

impl Scope for LambdaScope<'_> {
    fn outer(&self) -> Option<&dyn Scope> {
        Some(self.outer)
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        if name == self.param { Some(self.argument.clone()) } else { self.outer.constant(name) }
    }
}

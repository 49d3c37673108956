//! The values of a kernel's parameters, in the order in which their sources are asked.

use std::collections::BTreeMap;

use tilefit_python::eval::Imports;
use tilefit_syntax::ast::{Ast, Function};

use tilefit_python::eval::{self, Constant, Scope};
use tilefit_python::finding::{Example, Origin, Reason, Remedy};

use super::kernel::Param;
use crate::scenario::{Scenario, asserted, is_constexpr};

/// Values of the parameters: the scenario, the default, what a `static_assert` says, the launches.
pub fn params(
    ast: &Ast,
    function: &Function,
    scope: &dyn Scope,
    imports: &Imports,
    scenario: &Scenario,
    launch: &BTreeMap<String, (Constant, String)>,
) -> Vec<Param> {
    let mut asserted = asserted(ast, function, scope, imports);
    let param = |param: &tilefit_syntax::ast::Param| {
        let name = ast.name(param.name)?.to_owned();
        let is_constexpr = param.annotation.is_some_and(|annotation| is_constexpr(ast, imports, annotation));
        let default = param
            .default
            .filter(|_| is_constexpr)
            .map(|default| (eval::evaluate(ast, default, scope), "the default of the parameter".to_owned()));
        let found = scenario.value(&name, is_constexpr);
        let found = found.or(default).or_else(|| asserted.remove(&name)).or_else(|| launch.get(&name).cloned());
        let (value, from) = match found {
            Some((value, from)) => (value, Some(from)),
            None => {
                let example = if is_constexpr { Example::Number } else { Example::Elements };
                let remedy = Remedy::Value { param: name.clone(), example, is_number: is_constexpr };
                let reason = Reason::new(format!("`{name}` has no value here")).with_remedy(Some(remedy));
                (Constant::Unknown(reason), None)
            }
        };
        Some(Param { name, at: Origin::Expr(param.name), value, from, is_constexpr })
    };
    function.params.iter().filter_map(param).collect()
}

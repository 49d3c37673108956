//! Concrete values for the parameters of a kernel: scenario comments, autotune configurations, callers and launches.

use std::collections::BTreeMap;

use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId, FloatBits, Function, ParamKind, Stmt};

use crate::eval::{self, Constant, Scope};
use crate::finding::Reason;

use super::budgets::Arch;
use super::language::{self, Dtype};
use crate::eval::Imports;

/// One set of values under which a kernel may be compiled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scenario {
    /// Values by parameter, and where each is from.
    pub values: BTreeMap<String, (Constant, String)>,
    pub arch: Option<Arch>,
}

/// Scenarios of one kernel that are looked at; more are cut off.
pub const MOST_SCENARIOS: usize = 256;

/// The text after `# tilefit:` of each scenario comment of a block, in order.
pub fn comments(text: &str) -> Vec<String> {
    let scenarios = text.lines().filter_map(|line| line.split_once("# tilefit:"));
    scenarios.map(|(_, scenario)| scenario.trim().to_owned()).collect()
}

impl Scenario {
    /// `HEAD_DIM=128 desc_v=bf16 arch=sm_100`; what is no `name=value` is passed over.
    pub fn parse(text: &str) -> Scenario {
        let mut scenario = Scenario::default();
        for (name, value) in text.split([' ', ',', '\t']).filter_map(|part| part.split_once('=')) {
            if name == "arch" {
                scenario.arch = Arch::from_name(value);
                continue;
            }
            scenario.values.insert(name.to_owned(), (literal(value), "the scenario comment".to_owned()));
        }
        scenario
    }

    /// This scenario with a value of the configuration; `None` for an architecture that there is not.
    fn with(&self, name: &str, value: Constant) -> Option<Scenario> {
        let mut scenario = self.clone();
        match value {
            Constant::Str(arch) if name == "arch" => scenario.arch = Some(Arch::from_name(&arch)?),
            _ if name == "arch" => return None,
            value => {
                scenario.values.insert(name.to_owned(), (value, "the setting `tlx.scenarios`".to_owned()));
            }
        }
        Some(scenario)
    }

    /// This scenario with the values of `other` where it has none; `None` if they differ.
    fn agreeing(&self, other: &Scenario) -> Option<Scenario> {
        let differs = |(name, (value, _)): (&String, &(Constant, String))| {
            other.values.get(name).is_some_and(|(theirs, _)| theirs != value)
        };
        if self.values.iter().any(differs) {
            return None;
        }
        Some(self.filled_from(other))
    }

    /// This scenario with the values of `other` where it has none.
    pub fn filled_from(&self, other: &Scenario) -> Scenario {
        let mut filled = self.clone();
        for (name, value) in &other.values {
            filled.values.entry(name.clone()).or_insert_with(|| value.clone());
        }
        filled.arch = filled.arch.or(other.arch);
        filled
    }
}

fn literal(text: &str) -> Constant {
    if let Ok(value) = text.parse::<i64>() {
        return Constant::Int(value);
    }
    if let Ok(value) = text.parse::<f64>() {
        return Constant::Float(FloatBits::new(value));
    }
    match text {
        "True" | "true" => Constant::Bool(true),
        "False" | "false" => Constant::Bool(false),
        "None" => Constant::None,
        _ => match Dtype::from_name(text.strip_prefix("tl.").unwrap_or(text)) {
            Some(dtype) => dtype.constant(),
            None => Constant::Str(text.trim_matches(['"', '\'']).to_owned()),
        },
    }
}

/// The scenarios that a setting describes: a table of values, whose lists stand for one scenario an element, or a list of such tables.
pub fn from_settings(value: &toml::Value) -> Option<Vec<Scenario>> {
    if let Some(tables) = value.as_array() {
        let all: Vec<_> = tables.iter().map(from_settings).collect::<Option<_>>()?;
        return Some(all.into_iter().flatten().take(MOST_SCENARIOS).collect());
    }
    let mut all = vec![Scenario::default()];
    for (name, value) in value.as_table()? {
        let values: Vec<_> = match value.as_array() {
            Some(values) => values.iter().map(setting).collect::<Option<_>>()?,
            None => vec![setting(value)?],
        };
        let with = |scenario: &Scenario| {
            let one = |value: &Constant| scenario.with(name, value.clone());
            values.iter().map(one).collect::<Option<Vec<_>>>()
        };
        let product: Vec<_> = all.iter().map(with).collect::<Option<_>>()?;
        all = product.into_iter().flatten().take(MOST_SCENARIOS).collect();
    }
    Some(all)
}

fn setting(value: &toml::Value) -> Option<Constant> {
    match value {
        toml::Value::Integer(value) => Some(Constant::Int(*value)),
        toml::Value::Boolean(value) => Some(Constant::Bool(*value)),
        toml::Value::Float(value) => Some(Constant::Float(FloatBits::new(*value))),
        toml::Value::String(text) => Some(literal(text)),
        _ => None,
    }
}

/// The scenarios of the comments over those of the settings, which stand where a comment says nothing.
pub fn explicit(comments: &[String], settings: &[Scenario]) -> Vec<Scenario> {
    let comments: Vec<_> = comments.iter().map(|comment| Scenario::parse(comment)).collect();
    if comments.is_empty() || settings.is_empty() {
        return if comments.is_empty() { settings.to_vec() } else { comments };
    }
    let mut all: Vec<Scenario> = Vec::new();
    for comment in &comments {
        for filled in settings.iter().map(|setting| comment.filled_from(setting)) {
            if !all.contains(&filled) && all.len() < MOST_SCENARIOS {
                all.push(filled);
            }
        }
    }
    all
}

/// Each explicit scenario, filled with the bases that agree with it; or the bases, where nothing is explicit.
pub fn combine(explicit: &[Scenario], bases: Vec<Scenario>) -> Vec<Scenario> {
    if explicit.is_empty() {
        return bases;
    }
    let filled = explicit.iter().flat_map(|scenario| {
        let agreeing: Vec<_> = bases.iter().filter_map(|base| scenario.agreeing(base)).collect();
        if agreeing.is_empty() { vec![scenario.clone()] } else { agreeing }
    });
    filled.take(MOST_SCENARIOS).collect()
}

/// The function that a block is.
pub fn function(ast: &Ast) -> Option<&Function> {
    ast.body.iter().find_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => Some(function),
        _ => None,
    })
}

/// The decorator of that canonical name, with its arguments.
fn decorator<'a>(ast: &'a Ast, imports: &Imports, function: &Function, name: &str) -> Option<&'a [Arg]> {
    function.decorators.iter().find_map(|&decorator| {
        let (path, args): (_, &[Arg]) = match ast.expr(decorator) {
            Expr::Call { func, args } => (*func, args),
            _ => (decorator, &[]),
        };
        (language::canonical(imports, &ast.dotted(path)?)? == name).then_some(args)
    })
}

pub fn is_jit(ast: &Ast, imports: &Imports, function: &Function) -> bool {
    decorator(ast, imports, function, "triton.jit").is_some()
}

/// The configurations of `@triton.autotune`; `None` without one, a reason where they are not known.
pub fn configurations(ast: &Ast, imports: &Imports, scope: &dyn Scope) -> Option<Result<Vec<Scenario>, Reason>> {
    let args = decorator(ast, imports, function(ast)?, "triton.autotune")?;
    let configs = args.iter().find(|arg| arg.keyword.as_deref() == Some("configs")).or(args.first())?;
    Some(match eval::evaluate_first(ast, configs.value, MOST_SCENARIOS, scope) {
        Constant::List(configs) | Constant::Tuple(configs) => {
            let count = configs.len();
            let scenario = |(i, config): (usize, &Constant)| of_configuration(config, i + 1, count);
            Ok(configs.iter().enumerate().filter_map(scenario).take(MOST_SCENARIOS).collect())
        }
        Constant::Unknown(reason) => Err(reason),
        _ => Err(Reason::new("the autotune configurations are no list")),
    })
}

fn of_configuration(config: &Constant, number: usize, count: usize) -> Option<Scenario> {
    let Constant::Dict(pairs) = config else { return None };
    let values = pairs.iter().filter_map(|(key, value)| match (key, value) {
        (_, Constant::Unknown(_)) => None,
        (Constant::Str(name), value) => Some((
            name.clone(),
            (
                value.clone(),
                format!(
                    "autotune configuration {number} of {count}{}",
                    if count == MOST_SCENARIOS { " and more" } else { "" }
                ),
            ),
        )),
        _ => None,
    });
    Some(Scenario { values: values.collect(), arch: None })
}

/// True where a function of the author's drops some of the configurations before any is compiled.
pub fn is_pruned(ast: &Ast, imports: &Imports) -> bool {
    let args = function(ast).and_then(|function| decorator(ast, imports, function, "triton.autotune"));
    args.is_some_and(|args| args.iter().any(|arg| arg.keyword.as_deref() == Some("prune_configs_by")))
}

/// A call or launch of a function of the file: `kernel(…)` or `kernel[grid](…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub callee: String,
    pub arguments: Vec<(Option<String>, Constant)>,
}

/// The calls in a block of functions that `is_callee` names, with arguments as far as `scope` knows them.
pub fn calls(ast: &Ast, scope: &dyn Scope, is_callee: &dyn Fn(&str) -> bool) -> Vec<Call> {
    let call = |(_, expr): (ExprId, &Expr)| {
        let Expr::Call { func, args } = expr else { return None };
        let callee = match ast.expr(*func) {
            Expr::Name(name) => name.as_str(),
            Expr::Subscript { value, .. } => ast.name(*value)?,
            _ => return None,
        };
        if !is_callee(callee) || args.iter().any(|arg| matches!(ast.expr(arg.value), Expr::Starred(_))) {
            return None;
        }
        let arguments = args.iter().map(|arg| (arg.keyword.clone(), eval::evaluate(ast, arg.value, scope)));
        Some(Call { callee: callee.to_owned(), arguments: arguments.collect() })
    };
    ast.exprs().filter_map(call).collect()
}

impl Call {
    /// The known arguments by parameter of the callee.
    pub fn values(&self, ast: &Ast, callee: &Function, from: &str) -> BTreeMap<String, (Constant, String)> {
        let positional: Vec<_> = callee.params.iter().filter(|param| param.kind == ParamKind::Plain).collect();
        let mut values = BTreeMap::new();
        for (i, (keyword, value)) in self.arguments.iter().enumerate() {
            let name = match keyword {
                Some(keyword) => Some(keyword.as_str()),
                None => positional.get(i).and_then(|param| ast.name(param.name)),
            };
            if let Some(name) = name
                && !matches!(value, Constant::Unknown(_))
            {
                values.insert(name.to_owned(), (value.clone(), from.to_owned()));
            }
        }
        values
    }
}

/// The names that a scenario gives values, over those of the code around.
pub struct ScenarioScope<'a> {
    pub scenario: &'a Scenario,
    pub outer: &'a dyn Scope,
}

impl Scope for ScenarioScope<'_> {
    fn outer(&self) -> Option<&dyn Scope> {
        Some(self.outer)
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        match self.scenario.values.get(name) {
            Some((value, _)) => Some(value.clone()),
            None => self.outer.constant(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_read_as_values() {
        let scenario = Scenario::parse("HEAD_DIM=128 desc_v=bf16 CAUSAL=True arch=sm_90 nonsense");
        let value = |name: &str| scenario.values[name].0.clone();
        assert_eq!(value("HEAD_DIM"), Constant::Int(128));
        assert_eq!(Dtype::from_constant(&value("desc_v")).map(|dtype| dtype.name), Some("bfloat16"));
        assert_eq!(value("CAUSAL"), Constant::Bool(true));
        assert_eq!(scenario.arch.map(Arch::name), Some("sm_90"));
        assert_eq!(scenario.values.len(), 3);
    }

    #[test]
    fn a_comment_picks_the_configurations_that_agree() {
        let base = |m: i64| {
            let values =
                [("M", m), ("N", 64)].map(|(name, value)| (name.to_owned(), (Constant::Int(value), String::new())));
            Scenario { values: values.into(), arch: None }
        };
        let combined = combine(&[Scenario::parse("M=128 D=64")], vec![base(64), base(128)]);
        assert_eq!(combined.len(), 1);
        assert_eq!(combined[0].values["N"].0, Constant::Int(64));
        assert_eq!(combine(&[Scenario::parse("M=1")], vec![base(64)]).len(), 1);
        assert_eq!(combine(&[], vec![base(64), base(128)]).len(), 2);
    }
}

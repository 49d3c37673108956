//! What a kernel lacks before its sizes have bounds.

use std::cell::Cell;

use tilefit_syntax::ast::Ast;

use tilefit_gpu::possible::{Range, ranges};
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_python::eval::Constant;
use tilefit_python::finding::{Example, Reason};

use super::dialect::Dialect;
use super::gpu::TracedKernel;
use super::possible::{self, estimate};
use super::reexports::imports;
use super::scenarios::{launch_values, scenarios};
use super::scope::UnitScope;
use super::tlx::TlxPart;
use super::triton::{
    Elements, asked_by, asked_by_any, asked_for, elements_of, is_refused_for_elements, laid_out, triton_kernel,
};
use super::{Unit, syntax};

/// What a kernel lacks before its sizes have bounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Needed {
    /// The parameters that need values, each with an example.
    pub(crate) values: Vec<(String, String)>,
    /// What no value would help with; `values` is empty then.
    pub(crate) obstacle: Option<Reason>,
}

/// What the kernel that a unit is lacks. A parameter that may be one of few is not asked for, but tried with each, as long as that is not too much.
#[salsa::tracked(returns(ref))]
pub(crate) fn triton_needed<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Needed {
    let Some(kernel) = triton_kernel(db, unit) else { return Needed::default() };
    if asked_for(&kernel.traced).is_empty() && asked_for_sizes(&kernel.traced).is_empty() {
        return Needed { values: Vec::new(), obstacle: obstacle(&kernel.traced) };
    }
    let mut scenario = scenarios(db, unit).get(kernel.selected).cloned().unwrap_or_default();
    let ranges = ranges(syntax(db, unit), imports(db, unit.file(db)), &UnitScope::new(db, unit));
    // Kernels of Gluon have layouts, which depend on all that the author gives.
    let is_tried = kernel.dialect.leaves_layouts();
    let is_few = |name: &str, example: Example| match ranges.get(name) {
        Some(range) => is_tried && matches!(range, Range::Flag | Range::Among(_) | Range::Element),
        None => is_tried && possible::of_elements(example).is_some(),
    };
    let left = Cell::new(possible::STEPS);
    let rest = |values: &[(String, String)], scenario: &Scenario| {
        let mut rest = constexprs_without_values(db, unit, scenario);
        rest.retain(|(name, _)| !values.iter().any(|(known, _)| known == name));
        rest
    };
    let mut values: Vec<(String, String)> = Vec::new();
    let mut with_values: Option<TracedKernel> = None;
    // A value may lead to sizes that need another one.
    while values.len() < MOST_NEEDED {
        let traced = with_values.as_ref().unwrap_or(&kernel.traced);
        let is_new = |name: &str| !values.iter().any(|(known, _)| known == name);
        let mut given: Vec<_> = asked_for_sizes(traced).into_iter().filter(|(name, _)| is_new(name)).collect();
        let others = asked_for(traced).into_iter().filter(|asked| is_new(&asked.0) && !given.contains(asked));
        let (others, mut few): (Vec<_>, Vec<_>) = others.partition(|(name, example)| !is_few(name, *example));
        given.extend(others);
        if given.is_empty() {
            let tried = if is_tried { estimate(db, unit, kernel.dialect, &scenario, &left) } else { None };
            if tried.as_ref().is_some_and(|estimate| estimate.usage.is_bounded()) {
                break;
            }
            let behind = tried.and_then(|estimate| asked_by(estimate.usage.reason.as_ref()?));
            match behind.filter(|(name, example)| is_new(name) && !is_few(name, *example)) {
                Some(behind) => given.push(behind),
                None => given = std::mem::take(&mut few),
            }
        }
        if given.is_empty() {
            // Where the author makes the buffers, values give at least those.
            if let Some(obstacle) =
                obstacle(traced).filter(|_| matches!(kernel.dialect, Dialect::Triton | Dialect::TileLang))
            {
                return Needed { values: Vec::new(), obstacle: Some(obstacle) };
            }
            values.extend(rest(&values, &scenario));
            break;
        }
        for (name, example) in given {
            let example = example_of(&name, ranges.get(&name), example.text());
            scenario = scenario.filled_from(&Scenario::parse(&format!("{name}={example}")));
            values.push((name, example));
        }
        // Values of which nothing says how large they are may make it too large to say more.
        let usual = elements_of(with_values.as_ref().unwrap_or(&kernel.traced));
        let Ok(tried) = possible::tried(db, unit, kernel.dialect, &scenario, &left, &usual) else {
            values.extend(few.into_iter().map(|(name, example)| (name, example.text().to_owned())));
            values.extend(rest(&values, &scenario));
            break;
        };
        let without = || laid_out(db, unit, kernel.dialect, &scenario, &Elements::new());
        let is_refused = is_refused_for_elements(&tried);
        with_values = Some(if is_refused { without().unwrap_or(tried) } else { tried });
    }
    in_order(syntax(db, unit), &mut values);
    Needed { values, obstacle: None }
}

/// Parameters that are asked for at once.
const MOST_NEEDED: usize = 64;

/// Why a kernel has no bounds, where no value of a parameter would give it some.
fn obstacle(traced: &TracedKernel) -> Option<Reason> {
    let is_bounded = traced.planned.plan.is_bounded();
    let mut reasons = traced.notes.iter().map(|note| &note.reason).filter(|reason| reason.remedy().is_none());
    reasons.next().filter(|_| !is_bounded).cloned()
}

/// In the order of a kernel's parameters.
pub(super) fn in_order(ast: &Ast, values: &mut [(String, String)]) {
    let params = scenario::function(ast).map_or(&[][..], |function| function.params.as_slice());
    values.sort_by_key(|(name, _)| params.iter().position(|param| ast.name(param.name) == Some(name.as_str())));
}

/// The constexpr parameters that have no value, each with an example.
pub(super) fn constexprs_without_values<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
) -> Vec<(String, String)> {
    let (ast, imports) = (syntax(db, unit), imports(db, unit.file(db)));
    let (ranges, launched) = (ranges(ast, imports, &UnitScope::new(db, unit)), launch_values(db, unit));
    let params = scenario::function(ast).map_or(&[][..], |function| function.params.as_slice());
    let mut found = Vec::new();
    for param in params.iter().filter(|param| param.default.is_none()) {
        let Some(name) = ast.name(param.name) else { continue };
        let is_constexpr = param.annotation.is_some_and(|it| scenario::is_constexpr(ast, imports, it));
        if is_constexpr && scenario.value(name, true).is_none() && !launched.contains_key(name) {
            found.push((name.to_owned(), example_of(name, ranges.get(name), "128")));
        }
    }
    found
}

/// A value that a parameter may have.
fn example_of(name: &str, range: Option<&Range>, of_any: &str) -> String {
    match (name, range) {
        ("num_warps", _) => "4".to_owned(),
        ("num_stages", _) => "3".to_owned(),
        (_, Some(Range::Flag)) => "True".to_owned(),
        (_, Some(Range::Element)) => "bf16".to_owned(),
        (_, Some(Range::Among(values))) => values.first().map_or_else(|| of_any.to_owned(), written),
        _ => of_any.to_owned(),
    }
}

/// As a scenario comment takes it.
fn written(value: &Constant) -> String {
    match value {
        Constant::Int(value) => value.to_string(),
        Constant::Bool(true) => "True".to_owned(),
        Constant::Bool(false) => "False".to_owned(),
        Constant::Str(text) => format!("\"{text}\""),
        _ => "None".to_owned(),
    }
}

/// Those that sizes of specs and buffers of TLX depend on. Their author reads these beside them, and not only what all come to.
fn asked_for_sizes(traced: &TracedKernel) -> Vec<(String, Example)> {
    asked_by_any(traced.tlx.iter().flat_map(TlxPart::unknown))
}

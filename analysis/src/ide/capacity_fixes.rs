//! Ways out of a memory space that is too small: a smaller tile constant, or a stretch of the kernel done in two halves. Each is
//! tried before it is offered.

use tilefit_pypto::target::Planner;
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Finding;
use tilefit_syntax::ast::{Ast, BinaryOp, Expr, ExprId, Stmt};
use tilefit_syntax::{BlockKind, TextRange};

use crate::db::{self, Outcome};
use crate::project::Config;

use super::code_action::{CodeAction, Effect, Fix};
use super::diagnostic::{Diagnostic, configured};
use super::pypto::diagnostics::of_finding;
use super::speculative::{self, Concerned, Edit, Said};
use super::{Context, PlacedUnit, split};

/// Constants that are tried for one finding, and smaller values of each.
const MOST_CONSTANTS: usize = 4;
const MOST_VALUES: usize = 6;

/// What fits under another planner only is rejected by the compiler.
const OF_THE_COMPILER: [Planner; 2] = [Planner::Sequential, Planner::DsaRp];

pub(super) fn capacity_fixes<'db>(
    context: &Context<'db>,
    placed: &PlacedUnit<'db>,
    range: TextRange,
) -> Vec<CodeAction> {
    let mut actions = Vec::new();
    for (finding, diagnostic) in findings_at(context, placed, range, &[Code::CapacityExceeded]) {
        let mut offer = |title: String, edits: Vec<Edit>| {
            let fix = Fix { edits, fixes: diagnostic.clone(), preferred: false };
            actions.push(CodeAction { title, effect: Effect::Fix(fix) });
        };
        for constant in constants(context, placed) {
            if let Some((value, edit)) = smaller(context, &constant) {
                offer(format!("`{} = {value}` fits", constant.name), vec![edit]);
            }
        }
        if let Some((title, edits)) = split::in_two(context, placed, finding) {
            offer(title, edits);
        }
    }
    actions
}

/// The compiler's planners under which the whole function fits, where it does not fit as the settings say.
pub(super) fn planners<'db>(context: &Context<'db>, placed: &PlacedUnit<'db>, range: TextRange) -> Vec<CodeAction> {
    let codes = [Code::CapacityExceeded, Code::FitsOnlyPacked];
    let found = findings_at(context, placed, range, &codes);
    let Some((_, fixes)) = found.into_iter().next() else { return Vec::new() };
    let fits = |planner: &Planner| {
        context.db.unwind_if_revision_cancelled();
        let config = Config { planner: *planner, ..context.config().clone() };
        let outcomes = db::plans_under(context.db, placed.unit, &config);
        let is_clean = |outcome: &Outcome| {
            let plan = outcome.plan();
            plan.is_some_and(|plan| plan.notes.is_empty() && !plan.findings.iter().any(|it| codes.contains(&it.code)))
        };
        !outcomes.is_empty() && outcomes.iter().all(is_clean)
    };
    let action = |planner: Planner| CodeAction {
        title: format!("Plan with `{planner}`, with which this kernel fits"),
        effect: Effect::SetPlanner { planner, fixes: fixes.clone() },
    };
    OF_THE_COMPILER
        .into_iter()
        .filter(|planner| *planner != context.config().planner)
        .filter(fits)
        .map(action)
        .collect()
}

/// The findings of these codes that touch a range, as diagnostics that are not turned off.
fn findings_at<'db>(
    context: &Context<'db>,
    placed: &PlacedUnit<'db>,
    range: TextRange,
    codes: &[Code],
) -> Vec<(&'db Finding, Diagnostic)> {
    let outcomes = context.plans(placed.unit).iter();
    let plans = outcomes.filter_map(|outcome| Some((outcome, outcome.plan()?)));
    let is_here = |finding: &&Finding| {
        let at = placed.range(finding.at);
        codes.contains(&finding.code) && (at.intersects(range) || at.touches(range.start))
    };
    let findings = plans.flat_map(|(outcome, plan)| plan.findings.iter().filter(is_here).map(move |it| (outcome, it)));
    let diagnostic = |(outcome, finding): (&Outcome, &'db Finding)| {
        let mut diagnostic = of_finding(context, placed, outcome, finding);
        configured(context, &mut diagnostic).then_some((finding, diagnostic))
    };
    findings.filter_map(diagnostic).collect()
}

/// A number that is given a name once, and by whose size loops go: with a smaller one they go on more often.
struct Constant {
    name: String,
    value: i64,
    /// Of the number, in the file.
    range: TextRange,
}

/// The constants that a kernel mentions and that are the step of a loop, or what an extent is divided by for the count of one.
fn constants(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Constant> {
    let mut found: Vec<Constant> = Vec::new();
    let db = context.db;
    let units = db::units(db, context.file).iter().zip(context.document().blocks());
    let at_top = units.filter(|(unit, _)| unit.key(db).kind == BlockKind::Statements && unit.parent(db).is_none());
    let blocks: Vec<_> = at_top.map(|(&unit, block)| (db::parsed(db, unit), block)).collect();
    let kernel = db::syntax(db, placed.unit);
    let mentioned: Vec<&str> = kernel.exprs().filter_map(|(id, _)| kernel.name(id)).collect();
    let (mut steps, mut divided) = steps(kernel);
    for (parsed, _) in &blocks {
        let (more_steps, more_divided) = self::steps(&parsed.ast);
        steps.extend(more_steps);
        divided.extend(more_divided);
    }
    for (parsed, block) in &blocks {
        for (name, value, at) in parsed.ast.stmts().flat_map(|(_, stmt)| numbers(&parsed.ast, stmt)) {
            if mentioned.contains(&name) && steps.contains(&name) && !divided.contains(&name) {
                let range = parsed.spans.expr(at).shifted(block.start);
                found.push(Constant { name: name.to_owned(), value, range });
            }
        }
    }
    let is_once = |name: &str| found.iter().filter(|constant| constant.name == name).count() == 1;
    let once: Vec<bool> = found.iter().map(|constant| is_once(&constant.name)).collect();
    let constants = found.into_iter().zip(once).filter(|(_, is_once)| *is_once).map(|(constant, _)| constant);
    constants.take(MOST_CONSTANTS).collect()
}

/// Names that loops go by the size of, and those that are divided.
fn steps(ast: &Ast) -> (Vec<&str>, Vec<&str>) {
    let (mut steps, mut divided) = (Vec::new(), Vec::new());
    for (_, expr) in ast.exprs() {
        match expr {
            Expr::Binary { op: BinaryOp::FloorDiv, left, right } => {
                steps.extend(ast.name(*right));
                divided.extend(ast.name(*left));
            }
            Expr::Call { func, args } if ast.dotted(*func).is_some_and(|path| path.last() == Some(&"range")) => {
                steps.extend(args.get(2).and_then(|step| ast.name(step.value)));
            }
            _ => {}
        }
    }
    (steps, divided)
}

/// `NAME = 64`, also several at once.
fn numbers<'a>(ast: &'a Ast, stmt: &Stmt) -> Vec<(&'a str, i64, ExprId)> {
    let Stmt::Assign { targets, value: Some(value), .. } = stmt else { return Vec::new() };
    let [target] = targets.as_slice() else { return Vec::new() };
    let pairs = match (ast.elements(*target), ast.elements(*value)) {
        (Some(names), Some(values)) if names.len() == values.len() => {
            names.iter().copied().zip(values.iter().copied()).collect()
        }
        (None, None) => vec![(*target, *value)],
        _ => Vec::new(),
    };
    let number = |(name, value): (ExprId, ExprId)| match ast.expr(value) {
        Expr::Int(number) => Some((ast.name(name)?, i64::try_from(*number).ok()?, value)),
        _ => None,
    };
    pairs.into_iter().filter_map(number).collect()
}

/// The largest half, quarter, … of a constant with which everything fits that mentions it.
fn smaller(context: &Context<'_>, constant: &Constant) -> Option<(i64, Edit)> {
    let concerned = Concerned::Mention(&constant.name);
    let before = Said::of(context, &concerned, Code::CapacityExceeded);
    let halves =
        std::iter::successors(Some(constant.value), |&value| (value > 1 && value % 2 == 0).then_some(value / 2));
    halves.skip(1).take(MOST_VALUES).find_map(|value| {
        let edit = (constant.range, value.to_string());
        let after = |context: &Context<'_>| Said::of(context, &concerned, Code::CapacityExceeded);
        let fits = before.is_fixed_by(&speculative::after(context, std::slice::from_ref(&edit), after));
        fits.then_some((value, edit))
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::Fixture;

    fn kernel(head: &str, params: &str, body: &str) -> String {
        let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
        format!(
            "
import pypto.language as pl

{head}
@pl.function(type=pl.FunctionType.InCore)
def k({params}):
{body}    return out
"
        )
    }

    /// Applies each fix of a kernel that is over capacity; prints its title and the lines that it changes.
    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let before = fixture.diagnostics();
        assert!(before.iter().any(|it| it.code == Code::CapacityExceeded), "{before:?}");
        let mut shown = String::new();
        for action in fixture.code_actions(fixture.whole()) {
            let Effect::Fix(fix) = action.effect else { continue };
            let fixed = fixture.edited(&fix.edits);
            assert_eq!(Fixture::new(&fixed).diagnostics(), [], "{}:\n{fixed}", action.title);
            shown.push_str(&format!("{}\n", action.title));
            let changed = fixed.lines().filter(|line| !text.lines().any(|old| old == *line));
            changed.for_each(|line| shown.push_str(&format!("|{line}\n")));
        }
        expected.assert_eq(&shown);
    }

    const PLAIN: &str = "a: pl.Tensor[[128, 512], pl.FP32], b: pl.Tensor[[128, 512], pl.FP32], out: pl.Out[pl.Tensor[[128, 512], pl.FP32]]";

    #[test]
    fn a_smaller_tile_fits() {
        let params = "a: pl.Tensor[[1024, 512], pl.FP32], out: pl.Out[pl.Tensor[[1024, 512], pl.FP32]]";
        check(
            &kernel(
                "ROWS, TILE = 1024, 256\n",
                params,
                "
for i in pl.range(ROWS // TILE):
    x = pl.load(a, [i * TILE, 0], [TILE, 512])
    y = pl.exp(x)
    out = pl.store(y, [i * TILE, 0], out)",
            ),
            expect![[r#"
                `TILE = 64` fits
                |ROWS, TILE = 1024, 64
            "#]],
        );
        // The size of the problem is no way out.
        check(
            &kernel(
                "TILE = 128\n",
                "a: pl.Tensor[[TILE, 512], pl.FP32], out: pl.Out[pl.Tensor[[TILE, 512], pl.FP32]]",
                "
for i in pl.range(1):
    x = pl.load(a, [i * TILE, 0], [TILE, 512])
    y = pl.mul(x, x)
    out = pl.store(pl.add(x, y), [0, 0], out)",
            ),
            expect![""],
        );
    }

    /// The planners that are offered for a kernel on A2/A3, and under each of them nothing is said of its memory any more.
    fn planners_for(text: &str, planner: Planner) -> Vec<Planner> {
        let mut fixture = Fixture::new(text).with(Config { planner, ..Config::default() });
        let actions = fixture.code_actions(fixture.whole()).into_iter();
        let offered: Vec<_> = actions
            .filter_map(|action| match action.effect {
                Effect::SetPlanner { planner, fixes } => Some((planner, fixes)),
                _ => None,
            })
            .collect();
        for (planner, fixes) in &offered {
            let before = fixture.diagnostics();
            assert!(before.contains(fixes), "{before:?}");
            fixture = fixture.with(Config { planner: *planner, ..Config::default() });
            let after = fixture.diagnostics();
            assert!(after.iter().all(|diagnostic| diagnostic.code != fixes.code), "{after:?}");
        }
        offered.into_iter().map(|(planner, _)| planner).collect()
    }

    #[test]
    fn another_planner_of_the_compiler() {
        let page = include_str!("../../../docs/diagnostics/fits-only-packed.md");
        let (_, text) = page.split_once("```python\n").expect("it has an example");
        let text = text.split("```").next().unwrap_or_default();
        assert_eq!(planners_for(text, Planner::Auto), [Planner::DsaRp]);
        assert_eq!(planners_for(text, Planner::Sequential), [Planner::DsaRp]);
        // It fits, though not in the compiler.
        assert_eq!(planners_for(text, Planner::Packed), []);
        let page = include_str!("../../../docs/diagnostics/capacity-exceeded.md");
        let (_, text) = page.split_once("```python\n").expect("it has an example");
        assert_eq!(planners_for(text.split("```").next().unwrap_or_default(), Planner::Auto), []);
    }

    #[test]
    fn a_stretch_in_two_halves() {
        check(
            &kernel(
                "",
                PLAIN,
                "
x = pl.load(a, [0, 0], [64, 512])
# of both
y = pl.load(b, [64, 0], [64, 512])  # the other

out = pl.store(pl.add(x, y), [64, 0], out)",
            ),
            expect![[r#"
                Split in two: 32 rows at a time
                |    for half in pl.range(2):
                |        x = pl.load(a, [half * 32, 0], [32, 512])
                |        # of both
                |        y = pl.load(b, [64 + half * 32, 0], [32, 512])  # the other
                |        out = pl.store(pl.add(x, y), [64 + half * 32, 0], out)
            "#]],
        );
        // A sum over rows keeps rows apart, not columns; the name of the extent stays.
        check(
            &kernel(
                "ROWS = 64\n",
                PLAIN,
                "
for i in pl.range(2):
    x = pl.load(a, [i * ROWS, 0], [ROWS, 512])
    t = pl.create_tile([ROWS, 512], dtype=pl.FP32)
    s = pl.row_max(x, t)
    y = pl.row_expand_sub(x, s)
    out = pl.store(y, [i * ROWS, 0], out)",
            ),
            expect![[r#"
                Split in two: 32 rows at a time
                |        for half in pl.range(2):
                |            x = pl.load(a, [i * ROWS + half * (ROWS // 2), 0], [ROWS // 2, 512])
                |            t = pl.create_tile([ROWS // 2, 512], dtype=pl.FP32)
                |            s = pl.row_max(x, t)
                |            y = pl.row_expand_sub(x, s)
                |            out = pl.store(y, [i * ROWS + half * (ROWS // 2), 0], out)
            "#]],
        );
    }

    #[test]
    fn nothing_is_split_where_halves_depend_on_each_other() {
        let halved = "
x = pl.load(a, [0, 0], [64, 512])
y = pl.load(b, [0, 0], [64, 512])
";
        // Read and written: the second half would see what the first one wrote.
        check(
            &kernel(
                "",
                PLAIN,
                "
x = pl.load(out, [0, 0], [64, 512])
y = pl.load(b, [0, 0], [64, 512])
out = pl.store(pl.add(x, y), [32, 0], out)",
            ),
            expect![""],
        );
        // Written twice.
        check(
            &kernel(
                "",
                PLAIN,
                &format!("{halved}out = pl.store(pl.add(x, y), [0, 0], out)\nout = pl.store(x, [32, 0], out)"),
            ),
            expect![""],
        );
        // A tile leaves the stretch.
        check(
            &kernel(
                "",
                PLAIN,
                &format!(
                    "
{halved}out = pl.store(pl.add(x, y), [0, 0], out)
for i in pl.range(2):
    out = pl.store(x, [64, 0], out)"
                ),
            ),
            expect![""],
        );
    }
}

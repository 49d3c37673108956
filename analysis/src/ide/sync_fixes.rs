//! Quick fixes for synchronisation that the author wrote: the missing half, the missing pair or barrier, the partner's pipes.

use tilefit_pypto::codegen::sequence::{Order, OrderedBy, Pipe, Sync};
use tilefit_pypto::codegen::{Change, Sequenced};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::{Expr, Stmt};

use super::code_action::{CodeAction, Effect, Fix};
use super::diagnostic::{self, Diagnostic, configured};
use super::speculative::{self, Concerned};
use super::statements::Statements;
use super::{Context, PlacedUnit};
use crate::db;

type Edits = Vec<(TextRange, String)>;

/// What is known to fix the findings in `range`.
pub(super) fn sync_fixes(context: &Context<'_>, placed: &PlacedUnit<'_>, range: TextRange) -> Vec<CodeAction> {
    let of = |sequenced: &'_ Sequenced| sequenced.repairs.clone();
    let fix = |Written { title, edits, fixes }| CodeAction {
        title,
        effect: Effect::Fix(Fix { edits, fixes, preferred: true }),
    };
    changes(context, placed, range, of).into_iter().map(fix).collect()
}

/// What fixes them where the flags had to be followed through the kernel: only what helps when it is tried, the nearest first.
pub(super) fn tried(context: &Context<'_>, placed: &PlacedUnit<'_>, range: TextRange) -> Vec<CodeAction> {
    let candidates = changes(context, placed, range, |sequenced: &Sequenced| sequenced.candidates.clone());
    if candidates.is_empty() {
        return Vec::new();
    }
    let before = Said::of(context, placed.start);
    let mut actions: Vec<CodeAction> = Vec::new();
    for Written { title, edits, fixes } in candidates {
        let is_said = |action: &CodeAction| matches!(&action.effect, Effect::Fix(fix) if fix.fixes == fixes);
        let after = speculative::after(context, &edits, |context| Said::of(context, placed.start));
        if before.is_fixed_by(&after) {
            let preferred = !actions.iter().any(is_said);
            actions.push(CodeAction { title, effect: Effect::Fix(Fix { edits, fixes, preferred }) });
        }
    }
    actions
}

/// A change as edits of the text.
struct Written {
    title: String,
    edits: Edits,
    fixes: Diagnostic,
}

fn changes(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    range: TextRange,
    of: impl Fn(&Sequenced) -> Vec<(usize, Change)>,
) -> Vec<Written> {
    let statements = Statements { ast: db::syntax(context.db, placed.unit), placed, text: context.text_of(placed) };
    let mut found = Vec::new();
    for (_, sequenced) in context.sequences(placed.unit) {
        for (index, change) in of(sequenced) {
            let finding = &sequenced.findings[index];
            let mut fixes = diagnostic::found(placed, finding);
            let is_meant = fixes.range.intersects(range) || fixes.range.touches(range.start);
            if !is_meant || !configured(context, &mut fixes) {
                continue;
            }
            if let Some((title, edits)) = edits(&statements, finding.at, &change) {
                found.push(Written { title, edits, fixes });
            }
        }
    }
    found
}

/// What is said of the synchronisation of a block.
struct Said {
    unpaired: usize,
    others: usize,
    kernels: usize,
}

impl Said {
    fn of(context: &Context<'_>, start: usize) -> Said {
        let mut said = Said { unpaired: 0, others: 0, kernels: 0 };
        for placed in Concerned::Block(start).units(context) {
            for (_, sequenced) in context.sequences(placed.unit) {
                said.kernels += 1;
                let unpaired = sequenced.findings.iter().filter(|finding| finding.code == Code::UnpairedFlag).count();
                said.unpaired += unpaired;
                said.others += sequenced.findings.len() - unpaired;
            }
        }
        said
    }

    fn is_fixed_by(&self, after: &Said) -> bool {
        after.unpaired < self.unpaired && after.others <= self.others && after.kernels == self.kernels
    }
}

fn edits(statements: &Statements<'_>, at: Origin, change: &Change) -> Option<(String, Edits)> {
    match change {
        Change::Before(sync) => {
            let new = call(*sync)?;
            let edit = statements.before(statements.lines(at)?, &new);
            Some((format!("Write `{new}` before it"), vec![edit]))
        }
        Change::Behind(sync) => {
            let new = call(*sync)?;
            let edit = statements.after(statements.lines(at)?, &new);
            Some((format!("Write `{new}` after it"), vec![edit]))
        }
        Change::Become((src, dst, event)) => {
            let edits = become_flag(statements, at, [pipe(*src), pipe(*dst), event.to_string()])?;
            let title = format!("Wait for {} → {}, EVENT_ID{event}", src.short_name(), dst.short_name());
            Some((title, edits))
        }
        Change::Order(order) => of_order(statements, order),
        Change::Beside { half, before, away } => beside(statements, at, *half, *before, away),
        Change::Around { node, flag: (src, dst, event) } => {
            let (src, dst, event) = (*src, *dst, *event);
            let [set, wait] = [Sync::Set { src, dst, event }, Sync::Wait { src, dst, event }].map(call);
            let lines = statements.lines(*node)?;
            let title = "Set the flag before the loop, and wait for it after the loop".to_owned();
            Some((title, vec![statements.before(lines, &set?), statements.after(lines, &wait?)]))
        }
        Change::Without { flags, barrier } => without(statements, flags, barrier.as_ref()),
    }
}

/// Moves the other half of a flag beside the one at a node.
fn beside(
    statements: &Statements<'_>,
    at: Origin,
    half: Sync,
    before: bool,
    away: &[Origin],
) -> Option<(String, Edits)> {
    let new = call(half)?;
    let lines = statements.lines(at)?;
    let others = away.iter().map(|at| statements.lines(*at)).collect::<Option<Vec<_>>>()?;
    let mut edits = statements.without(&others);
    edits.push(if before { statements.before(lines, &new) } else { statements.after(lines, &new) });
    let title = if before { "Set the flag here only" } else { "Wait for the flag here only" };
    Some((title.to_owned(), edits))
}

/// Takes both halves of flags away. Where a barrier takes the place of waits, it is a wait.
fn without(
    statements: &Statements<'_>,
    flags: &[Origin],
    barrier: Option<&(Pipe, Vec<Origin>)>,
) -> Option<(String, Edits)> {
    let lines = |origins: &[Origin]| origins.iter().map(|at| statements.lines(*at)).collect::<Option<Vec<_>>>();
    let mut edits = statements.without(&lines(flags)?);
    let Some((pipe, waits)) = barrier else { return Some(("Remove the flag".to_owned(), edits)) };
    let new = call(Sync::Barrier(Some(*pipe)))?;
    edits.extend(lines(waits)?.into_iter().map(|lines| statements.instead(lines, &new)));
    (!waits.is_empty()).then(|| (format!("Write `{new}` instead"), edits))
}

/// Where both ends lie in one list of statements, so that what is written there stands where the flag or barrier would.
fn of_order(statements: &Statements<'_>, order: &Order) -> Option<(String, Edits)> {
    let (after, before) = (statements.lines(order.after)?, statements.lines(order.before)?);
    let is_within = after.statement == before.statement && !order.carried && matches!(order.by, OrderedBy::Flag { .. });
    if is_within || !statements.are_in_one_list(after, before) {
        return None;
    }
    let wait = |new: &str| match order.carried {
        true => statements.after(before, new),
        false => statements.before(before, new),
    };
    match order.by {
        OrderedBy::Flag { src, dst, event } => {
            let [set, awaited] = [Sync::Set { src, dst, event }, Sync::Wait { src, dst, event }].map(call);
            let title = format!(
                "Insert `sync_src` and `sync_dst` ({} → {}, EVENT_ID{event})",
                src.short_name(),
                dst.short_name()
            );
            let (set, wait) = (statements.after(after, &set?), wait(&awaited?));
            // Two edits at one place would have no order.
            let edits = if set.0 == wait.0 { vec![(set.0, set.1 + &wait.1)] } else { vec![set, wait] };
            Some((title, edits))
        }
        OrderedBy::Barrier(pipe) => {
            let new = call(Sync::Barrier(Some(pipe)))?;
            Some((format!("Write `{new}`"), vec![wait(&new)]))
        }
    }
}

/// The written flag at a node, with other values.
fn become_flag(statements: &Statements<'_>, at: Origin, values: [String; 3]) -> Option<Edits> {
    let ast = statements.ast;
    let expr = match at {
        Origin::Inlined { .. } => return None,
        Origin::Expr(expr) => expr,
        Origin::Stmt(stmt) => match ast.stmt(stmt) {
            Stmt::Expr(expr) => *expr,
            _ => return None,
        },
    };
    let Expr::Call { args, .. } = ast.expr(expr) else { return None };
    let edits = ["set_pipe", "wait_pipe", "event_id"].iter().zip(values).map(|(name, value)| {
        let arg = args.iter().find(|arg| arg.keyword.as_deref() == Some(*name))?;
        Some((statements.placed.range(Origin::Expr(arg.value)), value))
    });
    edits.collect()
}

fn pipe(pipe: Pipe) -> String {
    format!("pl.PipeType.{}", pipe.short_name())
}

/// A flag or barrier as authors write it. Only two pipes have barriers; the others take one instruction after the other.
fn call(sync: Sync) -> Option<String> {
    let (half, (src, dst, event)) = match sync {
        Sync::Set { src, dst, event } => ("src", (src, dst, event)),
        Sync::Wait { src, dst, event } => ("dst", (src, dst, event)),
        Sync::Barrier(Some(Pipe::V)) => return Some("pl.system.bar_v()".to_owned()),
        Sync::Barrier(Some(Pipe::M)) => return Some("pl.system.bar_m()".to_owned()),
        Sync::Barrier(None) => return Some("pl.system.bar_all()".to_owned()),
        Sync::Barrier(Some(_)) => return None,
    };
    let (src, dst) = (pipe(src), pipe(dst));
    Some(format!("pl.system.sync_{half}(set_pipe={src}, wait_pipe={dst}, event_id={event})"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use expect_test::{Expect, expect};
    use tilefit_pypto::codegen;
    use tilefit_python::diagnostics::{Code, Severity};

    use crate::Fixture;
    use crate::ide::code_action::{Effect, Fix};
    use crate::project::Config;

    const CODES: [Code; 4] = [Code::UnpairedFlag, Code::WrongPipe, Code::MissingSync, Code::EventsExhausted];

    /// How many diagnostics there are about synchronisation; whether one is an error.
    fn findings(fixture: &Fixture) -> (usize, bool) {
        let all = fixture.diagnostics();
        let about = all.iter().filter(|diagnostic| CODES.contains(&diagnostic.code)).count();
        (about, all.iter().any(|diagnostic| diagnostic.severity == Severity::Error))
    }

    fn first_fix(fixture: &Fixture) -> Option<(String, Fix)> {
        let diagnostics = fixture.diagnostics();
        let fixes = fixture.code_actions(fixture.whole()).into_iter().filter_map(|action| match action.effect {
            Effect::Fix(fix) if CODES.contains(&fix.fixes.code) => {
                assert!(diagnostics.contains(&fix.fixes), "{:?}", fix.fixes);
                Some((action.title, fix))
            }
            _ => None,
        });
        fixes.collect::<Vec<_>>().into_iter().next()
    }

    /// Applies the first fix, and prints its title and the body that comes of it.
    #[track_caller]
    fn check(body: &str, expect: Expect) {
        let head = "
import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
";
        let body: String = body.trim_start().lines().map(|line| format!("    {line}\n")).collect();
        let mut fixture = Fixture::new(&format!("{head}{body}    return out\n"));
        let (before, _) = findings(&fixture);
        let (title, fix) = first_fix(&fixture).expect("a fix");
        fixture.retype(&fixture.edited(&fix.edits));
        assert!(findings(&fixture).0 < before, "{}", fixture.text);
        expect.assert_eq(&format!("{title}\n\n{}", &fixture.text[head.len()..]));
    }

    #[test]
    fn a_missing_half_is_written_beside_the_other() {
        check(
            "
x = pl.load(a, [0, 0], [64, 64])
pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)  # a comment
y = pl.exp(x)
pl.system.bar_all()
out = pl.store(y, [0, 0], out)",
            expect![[r#"
                Write `pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)` after it

                    x = pl.load(a, [0, 0], [64, 64])
                    pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)  # a comment
                    pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    y = pl.exp(x)
                    pl.system.bar_all()
                    out = pl.store(y, [0, 0], out)
                    return out
            "#]],
        );
        check(
            "
x = pl.load(a, [0, 0], [64, 64])
pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
y = pl.exp(x)
pl.system.bar_all()
out = pl.store(y, [0, 0], out)",
            expect![[r#"
                Write `pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)` before it

                    x = pl.load(a, [0, 0], [64, 64])
                    pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    y = pl.exp(x)
                    pl.system.bar_all()
                    out = pl.store(y, [0, 0], out)
                    return out
            "#]],
        );
    }

    #[test]
    fn halves_of_one_pair_become_alike() {
        check(
            "
x = pl.load(a, [0, 0], [64, 64])
pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
pl.system.sync_dst(set_pipe=pl.PipeType.V, wait_pipe=pl.PipeType.MTE2, event_id=1)
y = pl.exp(x)
pl.system.bar_all()
out = pl.store(y, [0, 0], out)",
            expect![[r#"
                Wait for MTE2 → V, EVENT_ID1

                    x = pl.load(a, [0, 0], [64, 64])
                    pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    y = pl.exp(x)
                    pl.system.bar_all()
                    out = pl.store(y, [0, 0], out)
                    return out
            "#]],
        );
    }

    /// Of flags that have both halves, and not on every way.
    #[test]
    fn what_pairs_a_flag_on_every_way_is_tried() {
        let flag = |half: &str| {
            format!("pl.system.sync_{half}(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)")
        };
        let (set, wait) = (flag("src"), flag("dst"));
        // One side of a branch waits.
        check(
            &format!(
                "
x = pl.load(a, [0, 0], [64, 64])
{set}
if n > 1:
    {wait}
pl.system.bar_all()
y = pl.exp(x)
pl.system.bar_all()
out = pl.store(y, [0, 0], out)"
            ),
            expect![[r#"
                Wait for the flag here only

                    x = pl.load(a, [0, 0], [64, 64])
                    pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    if n > 1:
                        pass
                    pl.system.bar_all()
                    y = pl.exp(x)
                    pl.system.bar_all()
                    out = pl.store(y, [0, 0], out)
                    return out
            "#]],
        );
        // One side sets.
        check(
            &format!(
                "
x = pl.load(a, [0, 0], [64, 64])
if n > 1:
    {set}
{wait}
pl.system.bar_all()
y = pl.exp(x)
pl.system.bar_all()
out = pl.store(y, [0, 0], out)"
            ),
            expect![[r#"
                Set the flag here only

                    x = pl.load(a, [0, 0], [64, 64])
                    if n > 1:
                        pass
                    pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    pl.system.bar_all()
                    y = pl.exp(x)
                    pl.system.bar_all()
                    out = pl.store(y, [0, 0], out)
                    return out
            "#]],
        );
        // Each iteration waits for the one before it.
        check(
            &format!(
                "
for i in pl.range(4):
    {wait}
    x = pl.load(a, [0, 0], [64, 64])
    pl.system.bar_all()
    y = pl.exp(x)
    pl.system.bar_all()
    out = pl.store(y, [0, 0], out)
    pl.system.bar_all()
    {set}"
            ),
            expect![[r#"
                Set the flag before the loop, and wait for it after the loop

                    pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    for i in pl.range(4):
                        pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                        x = pl.load(a, [0, 0], [64, 64])
                        pl.system.bar_all()
                        y = pl.exp(x)
                        pl.system.bar_all()
                        out = pl.store(y, [0, 0], out)
                        pl.system.bar_all()
                        pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    return out
            "#]],
        );
        // Set once more.
        check(
            &format!(
                "
x = pl.load(a, [0, 0], [64, 64])
{set}
{set}
{wait}
y = pl.exp(x)
pl.system.bar_all()
out = pl.store(y, [0, 0], out)"
            ),
            expect![[r#"
                Remove the flag

                    x = pl.load(a, [0, 0], [64, 64])
                    pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    y = pl.exp(x)
                    pl.system.bar_all()
                    out = pl.store(y, [0, 0], out)
                    return out
            "#]],
        );
        // Waited for once more.
        check(
            &format!(
                "
x = pl.load(a, [0, 0], [64, 64])
{set}
{wait}
y = pl.exp(x)
{wait}
pl.system.bar_all()
out = pl.store(y, [0, 0], out)"
            ),
            expect![[r#"
                Write `pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)` before it

                    x = pl.load(a, [0, 0], [64, 64])
                    pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    y = pl.exp(x)
                    pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                    pl.system.bar_all()
                    out = pl.store(y, [0, 0], out)
                    return out
            "#]],
        );
        // Every iteration sets, and one wait stands after them.
        check(
            &format!(
                "
for i in pl.range(4):
    x = pl.load(a, [0, 0], [64, 64])
    {set}
    pl.system.bar_all()
    y = pl.exp(x)
    pl.system.bar_all()
    out = pl.store(y, [0, 0], out)
    pl.system.bar_all()
{wait}"
            ),
            expect![[r#"
                Wait for the flag here only

                    for i in pl.range(4):
                        x = pl.load(a, [0, 0], [64, 64])
                        pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                        pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=1)
                        pl.system.bar_all()
                        y = pl.exp(x)
                        pl.system.bar_all()
                        out = pl.store(y, [0, 0], out)
                        pl.system.bar_all()
                    return out
            "#]],
        );
    }

    #[test]
    fn a_missing_pair_is_written_where_it_belongs() {
        check(
            "
for i in pl.range(4):
    x = pl.load(a, [0, 0], [64, 64])
    pl.system.bar_all()
    y = pl.exp(x)
    pl.system.bar_all()
    out = pl.store(y, [0, 0], out)",
            expect![[r#"
                Insert `sync_src` and `sync_dst` (MTE3 → MTE2, EVENT_ID0)

                    for i in pl.range(4):
                        x = pl.load(a, [0, 0], [64, 64])
                        pl.system.bar_all()
                        y = pl.exp(x)
                        pl.system.bar_all()
                        out = pl.store(y, [0, 0], out)
                        pl.system.sync_src(set_pipe=pl.PipeType.MTE3, wait_pipe=pl.PipeType.MTE2, event_id=0)
                        pl.system.sync_dst(set_pipe=pl.PipeType.MTE3, wait_pipe=pl.PipeType.MTE2, event_id=0)
                    return out
            "#]],
        );
    }

    #[test]
    fn a_flag_within_a_pipe_becomes_a_barrier() {
        check(
            "
x = pl.load(a, [0, 0], [64, 64])
pl.system.bar_all()
y = pl.exp(x)
pl.system.sync_src(set_pipe=pl.PipeType.V, wait_pipe=pl.PipeType.V, event_id=1)
pl.system.sync_dst(set_pipe=pl.PipeType.V, wait_pipe=pl.PipeType.V, event_id=1)
z = pl.mul(y, y)
pl.system.bar_all()
out = pl.store(z, [0, 0], out)",
            expect![[r#"
                Write `pl.system.bar_v()` instead

                    x = pl.load(a, [0, 0], [64, 64])
                    pl.system.bar_all()
                    y = pl.exp(x)
                    pl.system.bar_v()
                    z = pl.mul(y, y)
                    pl.system.bar_all()
                    out = pl.store(z, [0, 0], out)
                    return out
            "#]],
        );
    }

    #[test]
    fn a_flag_of_an_idle_pipe_is_taken_away() {
        let flag = |half: &str| {
            format!("pl.system.sync_{half}(set_pipe=pl.PipeType.MTE1, wait_pipe=pl.PipeType.V, event_id=1)")
        };
        let rest = "pl.system.bar_all()\ny = pl.exp(x)\npl.system.bar_all()\nout = pl.store(y, [0, 0], out)";
        check(
            &format!("x = pl.load(a, [0, 0], [64, 64])\n{}\n{}\n{rest}", flag("src"), flag("dst")),
            expect![[r#"
                Remove the flag

                    x = pl.load(a, [0, 0], [64, 64])
                    pl.system.bar_all()
                    y = pl.exp(x)
                    pl.system.bar_all()
                    out = pl.store(y, [0, 0], out)
                    return out
            "#]],
        );
        // A list keeps a statement.
        check(
            &format!(
                "x = pl.load(a, [0, 0], [64, 64])\nfor i in pl.range(4):\n    {}\n    {}\n{rest}",
                flag("src"),
                flag("dst")
            ),
            expect![[r#"
                Remove the flag

                    x = pl.load(a, [0, 0], [64, 64])
                    for i in pl.range(4):
                        pass
                    pl.system.bar_all()
                    y = pl.exp(x)
                    pl.system.bar_all()
                    out = pl.store(y, [0, 0], out)
                    return out
            "#]],
        );
    }

    #[test]
    fn a_barrier_needs_no_event() {
        let flag = |event: u32| {
            ["src", "dst"].map(|half| {
                format!("pl.system.sync_{half}(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id={event})\n")
            })
        };
        let flags: String = (0..8).map(|event| flag(event).concat()).collect();
        let body = format!(
            "
x = pl.load(a, [0, 0], [64, 64])
{flags}z = pl.load(a, [0, 0], [64, 64])
y = pl.add(x, z)
pl.system.bar_all()
out = pl.store(y, [0, 0], out)"
        );
        let head = "
import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
";
        let body: String = body.trim_start().lines().map(|line| format!("    {line}\n")).collect();
        let mut fixture = Fixture::new(&format!("{head}{body}    return out\n"));
        let (title, fix) = first_fix(&fixture).expect("a fix");
        assert_eq!((title.as_str(), fix.fixes.code), ("Write `pl.system.bar_all()` before it", Code::EventsExhausted));
        fixture.retype(&fixture.edited(&fix.edits));
        assert_eq!(findings(&fixture), (0, false), "{}", fixture.text);
    }

    /// Every recorded kernel, synchronised by its author with what the fixes write, and nothing else.
    #[test]
    fn whatever_is_missing_can_be_written_by_fixes_alone() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/codegen");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
        files.sort();
        let (mut kernels, mut applied, mut left) = (0, 0, String::new());
        for path in files {
            let text = std::fs::read_to_string(&path).expect("a file");
            let codegen =
                codegen::Options { insertion: codegen::Insertion::InStatements, ..codegen::Options::default() };
            let mut fixture = Fixture::new(&text).with(Config { codegen, ..Config::default() });
            kernels += 1;
            while let Some((title, fix)) = first_fix(&fixture) {
                let (before, _) = findings(&fixture);
                fixture.retype(&fixture.edited(&fix.edits));
                let (after, is_broken) = findings(&fixture);
                assert!(!is_broken, "{}: {title}\n{}", path.display(), fixture.text);
                assert!(after < before, "{}: {title} leaves {after} of {before}\n{}", path.display(), fixture.text);
                applied += 1;
            }
            let (rest, _) = findings(&fixture);
            if rest > 0 {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                left.push_str(&format!("{name}: {rest} left\n"));
            }
        }
        left.push_str(&format!("{kernels} kernels, {applied} fixes\n"));
        expect![[r#"
            054_loop_unrolled: 1 left
            88 kernels, 411 fixes
        "#]]
        .assert_eq(&left);
    }
}

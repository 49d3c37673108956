//! The flags and barriers that generated C++ gets, beside the statements that they order: `set MTE2 → V, EVENT_ID0`.

use tilefit_pypto::codegen::Sequenced;
use tilefit_pypto::codegen::sequence::{Instr, Order, OrderedBy};
use tilefit_syntax::TextRange;

use super::inlay_hint::InlayHint;
use super::statements::Statements;
use super::{Context, PlacedUnit};
use crate::db;

/// More at one place are counted: copies of a loop's body share their source.
const MOST_AT_ONE_PLACE: usize = 3;

pub(super) fn sync_hints(context: &Context<'_>, placed: &PlacedUnit<'_>, range: TextRange) -> Vec<InlayHint> {
    let text = context.text_of(placed);
    let statements = Statements { ast: db::syntax(context.db, placed.unit), placed, text };
    let mut hints: Vec<InlayHint> = Vec::new();
    let by_author = context.sequences(placed.unit).filter(|(planned, _)| !planned.kernel.on_tensors);
    for (_, Sequenced { program, .. }) in by_author {
        let instructions = program.instructions();
        for order in &program.orders {
            hints.extend(of_order(&statements, order, &instructions));
        }
    }
    hints.retain(|hint| range.touches(hint.offset));
    hints.sort_by_key(|hint| (hint.offset, hint.in_front));
    let mut merged: Vec<InlayHint> = Vec::new();
    for place in hints.chunk_by(|a, b| a.offset == b.offset && a.in_front == b.in_front) {
        let mut labels: Vec<&str> = Vec::new();
        let mut tooltips: Vec<&str> = Vec::new();
        for hint in place {
            if !labels.contains(&hint.label.as_str()) {
                labels.push(&hint.label);
                tooltips.push(&hint.tooltip);
            }
        }
        let more = labels.len().saturating_sub(MOST_AT_ONE_PLACE);
        let mut label = labels[..labels.len() - more].join("; ");
        if more > 0 {
            label.push_str(&format!("; {more} more"));
        }
        merged.push(InlayHint { label, tooltip: tooltips.join("\n"), ..place[0] });
    }
    merged
}

fn of_order(statements: &Statements<'_>, order: &Order, instructions: &[&Instr]) -> Vec<InlayHint> {
    let (Some(after), Some(before)) = (statements.around(order.after), statements.around(order.before)) else {
        return Vec::new();
    };
    let start = statements.placed.start;
    let tooltip = reason(order, instructions);
    // What is handed to the next iteration is waited for at the end of the body.
    let wait = |label: String| {
        let offset = start + if order.carried { before.end } else { before.start };
        InlayHint { offset, label, tooltip: tooltip.clone(), in_front: !order.carried, key: None }
    };
    match order.by {
        OrderedBy::Flag { src, dst, event } => {
            let flag = format!("{} → {}, EVENT_ID{event}", src.short_name(), dst.short_name());
            let label = format!("set {flag}");
            let set =
                InlayHint { offset: start + after.end, label, tooltip: tooltip.clone(), in_front: false, key: None };
            vec![set, wait(format!("wait {flag}"))]
        }
        OrderedBy::Barrier(pipe) => vec![wait(format!("barrier {}", pipe.short_name()))],
    }
}

/// `TADD on PIPE_V waits for TLOAD on PIPE_MTE2`
fn reason(order: &Order, instructions: &[&Instr]) -> String {
    let instruction = |id: u32| instructions[id as usize];
    let (earlier, later) = (instruction(order.earlier), instruction(order.later));
    let before = if order.carried { " of the iteration before" } else { "" };
    let (first, second) = (earlier.pipe.name(), later.pipe.name());
    format!("{} on {second} waits for {} on {first}{before}", later.name, earlier.name)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::Fixture;
    use crate::project::Config;

    /// Prints the body with the hints where an editor shows them.
    #[track_caller]
    fn check(body: &str, expect: Expect) {
        let head = "
import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
";
        let mut text = head.to_owned();
        body.trim_start().lines().for_each(|line| text.push_str(&format!("    {line}\n")));
        text.push_str("    return out\n");
        let fixture = Fixture::new(&text).with(Config { sync_hints: true, inlay_hints: false, ..Config::default() });
        let hints = fixture.inlay_hints(fixture.whole());
        let mut shown = text;
        for hint in hints.iter().rev() {
            let label = if hint.in_front { format!("«{}» ", hint.label) } else { format!(" «{}»", hint.label) };
            shown.insert_str(hint.offset, &label);
        }
        let shown: String = shown[head.len()..].lines().map(|line| format!("{}\n", &line[4..])).collect();
        expect.assert_eq(&shown);
        let fixture = fixture.with(Config { inlay_hints: false, ..Config::default() });
        assert_eq!(fixture.inlay_hints(fixture.whole()), [], "only when asked for");
    }

    #[test]
    fn pairs_stand_at_both_ends() {
        check(
            "
x = pl.load(a, [0, 0], [64, 64])
y = pl.exp(x)
z = pl.mul(y, y)
out = pl.store(z, [0, 0], out)",
            expect![[r#"
                    x = pl.load(a, [0, 0], [64, 64]) «set MTE2 → V, EVENT_ID0»
                    «wait MTE2 → V, EVENT_ID0» y = pl.exp(x)
                    «barrier V» z = pl.mul(y, y) «set V → MTE3, EVENT_ID0»
                    «wait V → MTE3, EVENT_ID0» out = pl.store(z, [0, 0], out)
                    return out
            "#]],
        );
    }

    #[test]
    fn what_a_loop_hands_on_is_awaited_at_the_end_of_its_body() {
        check(
            "
for i in pl.range(n):
    x = pl.load(a, [0, 0], [64, 64])
    y = pl.exp(x)
    out = pl.store(y, [0, 0], out)",
            expect![[r#"
                    for i in pl.range(n):
                        x = pl.load(a, [0, 0], [64, 64]) «set MTE2 → V, EVENT_ID0»
                        «wait MTE2 → V, EVENT_ID0» y = pl.exp(x) «set V → MTE3, EVENT_ID0»
                        «wait V → MTE3, EVENT_ID0» out = pl.store(y, [0, 0], out) «set MTE3 → MTE2, EVENT_ID0; wait MTE3 → MTE2, EVENT_ID0»
                    return out
            "#]],
        );
    }

    #[test]
    fn copies_of_a_body_share_their_place() {
        check(
            "
for i in pl.unroll(8):
    x = pl.load(a, [i * 8, 0], [8, 64])
    y = pl.exp(x)
    out = pl.store(y, [i * 8, 0], out)",
            expect![[r#"
                    for i in pl.unroll(8):
                        «wait MTE3 → MTE2, EVENT_ID0» x = pl.load(a, [i * 8, 0], [8, 64]) «set MTE2 → V, EVENT_ID0»
                        «wait MTE2 → V, EVENT_ID0» y = pl.exp(x) «set V → MTE3, EVENT_ID0»
                        «wait V → MTE3, EVENT_ID0» out = pl.store(y, [i * 8, 0], out) «set MTE3 → MTE2, EVENT_ID0»
                    return out
            "#]],
        );
    }

    #[test]
    fn what_is_written_needs_no_hint() {
        check(
            "
x = pl.load(a, [0, 0], [64, 64])
pl.system.bar_all()
y = pl.exp(x)
out = pl.store(y, [0, 0], out)",
            expect![[r#"
                    x = pl.load(a, [0, 0], [64, 64])
                    pl.system.bar_all()
                    y = pl.exp(x) «set V → MTE3, EVENT_ID0»
                    «wait V → MTE3, EVENT_ID0» out = pl.store(y, [0, 0], out)
                    return out
            "#]],
        );
    }

    #[test]
    fn kernels_on_tensors_have_no_statements_to_show_it_at() {
        let text = "
import pypto.language as pl

@pl.function(type=pl.FunctionType.Opaque)
def f(a: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        b = pl.exp(a)
        o = pl.assemble(o, pl.mul(b, b), [0, 0])
    return o
";
        let fixture = Fixture::new(text).with(Config { sync_hints: true, inlay_hints: false, ..Config::default() });
        let generated = fixture.generated_code(fixture.find("pl.exp")).expect("a kernel");
        assert!(generated.text.contains("pipe_barrier(PIPE_V)"), "{}", generated.text);
        assert_eq!(fixture.inlay_hints(fixture.whole()), []);
    }
}

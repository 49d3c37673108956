//! Synchronisation that the author writes.

use std::fmt::Write;

use expect_test::{Expect, expect};

use super::source::planned;
use crate::codegen::sequence::{By, Program, Step};
use crate::codegen::{Insertion, Sequenced, model, sequence};
use crate::target::Target;

const FLAG: &str = "set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=3";

fn kernel(body: &str) -> String {
    let body = body.replace("SET", &format!("pl.system.sync_src({FLAG})"));
    let body = body.replace("WAIT", &format!("pl.system.sync_dst({FLAG})"));
    let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
{body}        return out
"
    )
}

pub(super) fn sequenced(body: &str, insertion: Insertion) -> Sequenced {
    let kernels = planned(&kernel(body), Target::Ascend910b);
    let (kernel, plan) = kernels.first().expect("one kernel");
    assert_eq!(kernel.rejections, [], "{body}");
    assert_eq!(plan.notes, [], "{body}");
    sequence(kernel, plan, insertion)
}

/// Prints what is said of a kernel whose missing order is inserted. Whatever the author wrote, what comes out has no race.
#[track_caller]
fn check(body: &str, expect: Expect) {
    let Sequenced { program, findings, .. } = sequenced(body, Insertion::Complete);
    let mut said = String::new();
    for finding in &findings {
        let _ = writeln!(said, "{} {}: {}", finding.severity.name(), finding.code, finding.message);
        for related in &finding.related {
            let _ = writeln!(said, "  {}", related.message);
        }
    }
    assert_eq!(races(&program), [], "{body}");
    expect.assert_eq(&said);
}

fn races(program: &Program) -> Vec<(u32, u32)> {
    model::races(&model::problems(program)).collect()
}

fn syncs(steps: &[Step], author: bool) -> usize {
    let count = |step: &Step| match step {
        Step::Sync(_, By::Author(_)) => usize::from(author),
        Step::Sync(_, By::Stage(_)) => usize::from(!author),
        Step::Loop(node) => syncs(&node.body, author),
        Step::If(node) => syncs(&node.then, author) + node.otherwise.as_deref().map_or(0, |body| syncs(body, author)),
        _ => 0,
    };
    steps.iter().map(count).sum()
}

const LOAD: &str = "x = pl.load(a, [0, 0], [64, 64])\n";
const STORE: &str = "out = pl.store(y, [0, 0], out)\n";

#[test]
fn what_is_written_counts_and_stays() {
    let body = format!(
        "
{LOAD}SET
WAIT
y = pl.exp(x)
pl.system.bar_all()
{STORE}"
    );
    check(&body, expect![[""]]);
    let program = sequenced(&body, Insertion::Complete).program;
    assert_eq!((syncs(&program.body, true), syncs(&program.body, false)), (3, 0));
}

#[test]
fn insertion_goes_on_around_it() {
    let body = format!(
        "
{LOAD}SET
WAIT
y = pl.exp(x)
{STORE}"
    );
    check(
        &body,
        expect![[r#"
            hint missing-sync: TSTORE on PIPE_MTE3 may start before TEXP on PIPE_V has finished, and both touch the same bytes: no flag V → MTE3 in your code separates them; the generated C++ gets one
              TEXP runs on PIPE_V
        "#]],
    );
    let complete = sequenced(&body, Insertion::Complete).program;
    assert_eq!((syncs(&complete.body, true), syncs(&complete.body, false)), (2, 2));
    assert_eq!(model::problems(&complete), []);
    let written = sequenced(&body, Insertion::InStatements);
    assert_eq!((syncs(&written.program.body, true), syncs(&written.program.body, false)), (2, 0));
    assert_eq!(written.findings.len(), 1);
    assert!(written.findings[0].message.contains("`codegen.insertSync` is off"));
    assert!(!races(&written.program).is_empty());
}

#[test]
fn halves_without_a_partner() {
    check(
        &format!(
            "
{LOAD}SET
y = pl.exp(x)
pl.system.bar_all()
{STORE}"
        ),
        expect![[r#"
            warning unpaired-flag: sets MTE2 → V, EVENT_ID3, but nothing waits for it
            hint missing-sync: TEXP on PIPE_V may start before TLOAD on PIPE_MTE2 has finished, and both touch the same bytes: no flag MTE2 → V in your code separates them; the generated C++ gets one
              TLOAD runs on PIPE_MTE2
        "#]],
    );
    check(
        &format!(
            "
{LOAD}WAIT
pl.system.bar_all()
y = pl.exp(x)
pl.system.bar_all()
{STORE}"
        ),
        expect![[r#"
            warning unpaired-flag: waits for MTE2 → V, EVENT_ID3, which nothing sets: the kernel would hang
        "#]],
    );
    check(
        &format!(
            "
{LOAD}SET
SET
WAIT
y = pl.exp(x)
pl.system.bar_all()
{STORE}"
        ),
        expect![[r#"
            warning unpaired-flag: sets MTE2 → V, EVENT_ID3 again, before anything has waited for it
              set here
        "#]],
    );
    check(
        &format!(
            "
{LOAD}WAIT
SET
pl.system.bar_all()
y = pl.exp(x)
pl.system.bar_all()
{STORE}"
        ),
        expect![[r#"
            warning unpaired-flag: waits for MTE2 → V, EVENT_ID3, but on some paths nothing sets it: the kernel would hang
              set here
            warning unpaired-flag: sets MTE2 → V, EVENT_ID3, but on some paths nothing waits for it
              waited for here
        "#]],
    );
}

#[test]
fn wrong_pipes() {
    let other = |from: &str, to: &str| {
        format!("pl.system.sync_dst(set_pipe=pl.PipeType.{from}, wait_pipe=pl.PipeType.{to}, event_id=3)")
    };
    check(
        &format!(
            "
{LOAD}SET
{}
pl.system.bar_all()
y = pl.exp(x)
pl.system.bar_all()
{STORE}",
            other("V", "MTE2")
        ),
        expect![[r#"
            warning wrong-pipe: waits for V → MTE2, EVENT_ID3, which nothing sets: the kernel would hang; MTE2 → V, EVENT_ID3 is set and never waited for
              MTE2 → V, EVENT_ID3 is set here
        "#]],
    );
    let pair =
        |pipes: &str| format!("pl.system.sync_src({pipes}, event_id=3)\npl.system.sync_dst({pipes}, event_id=3)");
    let idle = pair("set_pipe=pl.PipeType.MTE1, wait_pipe=pl.PipeType.V");
    check(
        &format!(
            "
{LOAD}{idle}
pl.system.bar_all()
y = pl.exp(x)
pl.system.bar_all()
{STORE}"
        ),
        expect![[r#"
            warning wrong-pipe: no instruction of this kernel runs on PIPE_MTE1: the flag orders nothing
            warning wrong-pipe: no instruction of this kernel runs on PIPE_MTE1: the flag orders nothing
        "#]],
    );
    let own = pair("set_pipe=pl.PipeType.V, wait_pipe=pl.PipeType.V");
    check(
        &format!(
            "
{LOAD}pl.system.bar_all()
y = pl.exp(x)
{own}
pl.system.bar_all()
{STORE}"
        ),
        expect![[r#"
            warning wrong-pipe: a flag orders two different pipes, but this one is from PIPE_V to PIPE_V; a barrier within it is `pl.system.bar_v()`
            warning wrong-pipe: a flag orders two different pipes, but this one is from PIPE_V to PIPE_V; a barrier within it is `pl.system.bar_v()`
        "#]],
    );
}

#[test]
fn what_the_hardware_does_not_have() {
    let pair = |to: &str, event: u32| {
        ["src", "dst"].map(|half| {
            format!("pl.system.sync_{half}(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.{to}, event_id={event})\n")
        })
    };
    for (to, event, code, message) in [
        ("V", 8, "invalid-operand", "`event_id` is 0 to 7, not 8: two pipes have eight events between them"),
        ("ALL", 0, "wrong-pipe", "`wait_pipe` is one pipe of the core, not `ALL`"),
    ] {
        let pair = pair(to, event).concat();
        let body = format!(
            "
{LOAD}{pair}pl.system.bar_all()
y = pl.exp(x)
pl.system.bar_all()
{STORE}"
        );
        let findings = sequenced(&body, Insertion::Complete).findings;
        let said: Vec<_> = findings.iter().map(|finding| (finding.code.name(), finding.message.as_str())).collect();
        assert_eq!(said, [(code, message); 2]);
    }
}

#[test]
fn loops_are_followed() {
    let body = |first: &str, last: &str, behind: &str| {
        format!(
            "
for i in pl.range(n):
    {first}
    x = pl.load(a, [0, 0], [64, 64])
    pl.system.bar_all()
    y = pl.exp(x)
    pl.system.bar_all()
    out = pl.store(y, [0, 0], out)
    pl.system.bar_all()
    {last}
{behind}"
        )
    };
    check(&body("SET", "WAIT", "pl.system.bar_all()"), expect![[""]]);
    // The flag is set before the loop, handed on in it, and taken away after it.
    check(&format!("SET\n{}", body("WAIT", "SET", "WAIT")), expect![[""]]);
    check(
        &body("SET", "pl.system.bar_all()", "WAIT"),
        expect![[r#"
            warning unpaired-flag: sets MTE2 → V, EVENT_ID3 again, in the next iteration, before anything has waited for it
              set here
        "#]],
    );
}

#[test]
fn branches_are_followed_where_that_is_certain() {
    let body = |before: &str, then: &str, otherwise: &str, behind: &str| {
        format!(
            "
{LOAD}{before}
if n > 3:
    {then}
else:
    {otherwise}
{behind}
pl.system.bar_all()
y = pl.exp(x)
pl.system.bar_all()
{STORE}"
        )
    };
    check(&body("pl.system.bar_all()", "SET", "SET", "WAIT"), expect![[""]]);
    // The same condition chooses alike.
    check(
        &body(
            "
if n > 3:
    SET",
            "WAIT",
            "pl.system.bar_all()",
            "pl.system.bar_all()",
        ),
        expect![[""]],
    );
    check(
        &body("SET", "WAIT", "pl.system.bar_all()", "pl.system.bar_all()"),
        expect![[r#"
            warning unpaired-flag: sets MTE2 → V, EVENT_ID3, but on some paths nothing waits for it
              waited for here
        "#]],
    );
    // What a branch in a loop does in which iteration is not known: nothing is said.
    check(
        "
for i in pl.range(n):
    if i > 0:
        WAIT
    x = pl.load(a, [0, 0], [64, 64])
    pl.system.bar_all()
    y = pl.exp(x)
    pl.system.bar_all()
    out = pl.store(y, [0, 0], out)
    pl.system.bar_all()
    if i < n - 1:
        SET",
        expect![[""]],
    );
}

#[test]
fn written_events_are_not_used_twice() {
    let body = format!(
        "
{LOAD}SET
z = pl.load(a, [0, 0], [64, 64])
WAIT
w = pl.exp(x)
y = pl.add(w, z)
{STORE}"
    );
    let program = sequenced(&body, Insertion::Complete).program;
    assert_eq!(model::problems(&program), []);
}

/// The instruction library has no instruction for them; what runs within each core is ordered as if they were not there.
#[test]
fn flags_between_the_cores_are_refused() {
    let flags = "
pl.system.sync_set(4, pipe=pl.PipeType.MTE3, ffts_mode=2)
pl.system.sync_wait(14, pipe=pl.PipeType.V)
";
    check(
        &format!("{LOAD}{flags}y = pl.exp(x)\n{STORE}"),
        expect![[r#"
            hint no-instruction: no instruction for `system.sync_set` in generated code; pass tiles through a queue (`pl.tpush_to_aic`, `pl.tpush_to_aiv`), or use `pl.system.syncall()`
            error invalid-operand: system.sync_wait event_id must be in the user-available range [0, 13], got 14
        "#]],
    );
}

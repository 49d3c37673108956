//! Eight events between two pipes, however many results wait to be used.

use std::collections::BTreeSet;

use tilefit_python::diagnostics::Code;

use super::written::sequenced;
use crate::codegen::sequence::{EVENTS, OrderedBy, Pipe, Program};
use crate::codegen::{Insertion, model};

/// The program of a body; it is sound, and nothing is said of it.
#[track_caller]
fn sound(body: &str) -> Program {
    let sequenced = sequenced(body, Insertion::Complete);
    assert_eq!(sequenced.findings, [], "{body}");
    assert_eq!(model::problems(&sequenced.program), [], "{body}");
    sequenced.program
}

/// The events from MTE2 to V, in the order of the instructions that wait.
fn loads(program: &Program) -> Vec<u8> {
    let flags = program.orders.iter().filter_map(|order| match order.by {
        OrderedBy::Flag { src: Pipe::Mte2, dst: Pipe::V, event } => Some(event),
        _ => None,
    });
    flags.collect()
}

fn load(name: usize) -> String {
    format!("x{name} = pl.load(a, [{name}, 0], [8, 64])\n")
}

fn sum(count: usize) -> String {
    let mut body = "y = x0\n".to_owned();
    (1..count).for_each(|at| body.push_str(&format!("y = pl.add(y, x{at})\n")));
    body
}

const STORE: &str = "out = pl.store(y, [0, 0], out)\n";

#[test]
fn several_loads_share_an_event_before_all_are_taken() {
    for count in [8, 9, 10, 12, 20, 40] {
        let body: String = (0..count).map(load).collect::<String>() + &sum(count) + STORE;
        let events = loads(&sound(&body));
        // The first addition waits for two loads at once.
        assert_eq!(events.len(), (count - 1).min(EVENTS.into()), "{count} loads: {events:?}");
        let different: BTreeSet<u8> = events.iter().copied().collect();
        assert_eq!(different.len(), events.len(), "all are pending at once");
    }
}

#[test]
fn an_event_is_used_again_behind_its_wait() {
    let round = |at: usize| format!("{}y = pl.exp(x{at})\n{STORE}", load(at));
    let events = loads(&sound(&(0..12).map(round).collect::<String>()));
    assert_eq!(events, [0; 12]);
}

#[test]
fn a_loop_gets_an_event_of_what_is_pending_around_it() {
    let inner = "
for i in pl.range(n):
    t = pl.load(a, [0, 0], [8, 64])
    w = pl.exp(t)
    out = pl.store(w, [0, 0], out)
";
    for count in [7, 8, 9, 12] {
        let body: String = (0..count).map(load).collect::<String>() + inner + &sum(count) + STORE;
        let events = loads(&sound(&body));
        assert!(events.iter().all(|event| *event < EVENTS), "{events:?}");
        // One of the eight is the loop's, or all of the others' flags are awaited before it.
        assert!(events.len() <= usize::from(EVENTS) + 1, "{events:?}");
    }
}

#[test]
fn nothing_helps_where_the_author_uses_all_events() {
    let flag = |event: u32| {
        ["src", "dst"].map(|half| {
            format!("pl.system.sync_{half}(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id={event})\n")
        })
    };
    let written = |count: u32| (0..count).map(|event| flag(event).concat()).collect::<String>();
    let body =
        |count| format!("{}{}{}y = pl.add(x0, x1)\npl.system.bar_all()\n{STORE}", load(0), written(count), load(1));
    let codes =
        |count| sequenced(&body(count), Insertion::Complete).findings.iter().map(|it| it.code).collect::<Vec<_>>();
    assert_eq!(codes(7), [Code::MissingSync], "one is left, and inserted");
    assert_eq!(codes(8), [Code::EventsExhausted]);
}

#[test]
fn loops_hand_their_flags_on() {
    let carried = |body: &str| -> Vec<OrderedBy> {
        let head = "x = pl.load(a, [0, 0], [64, 64])\ny = pl.exp(x)\nfor i in pl.range(n):\n    ";
        let program = sound(&format!("{head}{body}\nout = pl.store(y, [0, 0], out)"));
        program.orders.iter().filter(|order| order.carried).map(|order| order.by).collect()
    };
    // The sum of one iteration is read by the next.
    assert_eq!(carried("y = pl.add(y, x)"), [OrderedBy::Barrier(Pipe::V)]);
    // A load waits until its tile was read. So does the sum, since it waits for the load: no barrier.
    let load = "z = pl.load(a, [0, 0], [64, 64])\n    y = pl.add(y, z)";
    assert_eq!(carried(load), [OrderedBy::Flag { src: Pipe::V, dst: Pipe::Mte2, event: 0 }]);
    for body in [
        "
i: pl.Scalar[pl.INDEX] = 0
while i < n:
    x = pl.load(a, [0, 0], [64, 64])
    y = pl.exp(x)
    out = pl.store(y, [0, 0], out)
    i = i + 1",
        "
for j in pl.range(n):
    for i in pl.range(4):
        x = pl.load(a, [0, 0], [64, 64])
        y = pl.exp(x)
        out = pl.store(y, [0, 0], out)",
        "
for j in pl.range(n):
    if j > 2:
        x = pl.load(a, [0, 0], [64, 64])
        y = pl.exp(x)
        out = pl.store(y, [0, 0], out)",
    ] {
        let program = sound(body);
        assert!(program.orders.iter().any(|order| order.carried), "{body}");
    }
}

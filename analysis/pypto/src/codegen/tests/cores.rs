//! Kernels of both cores, side by side on the model: queues between them, and tensors that both touch.

use tilefit_python::element::Dtype;

use super::conformance::without;
use super::fixture::origin;
use super::random::tile;
use crate::codegen::model::{self, Problem};
use crate::codegen::sequence::{
    Access, Action, Affine, Arg, ArgKind, Bound, Declared, Direction, Elements, Head, Instr, Loop, Offset, Pipe,
    Program, Queue, Step, TileId, Transfer, Wrapper,
};
use crate::codegen::{Insertion, sync};
use crate::ir::{TensorLayout, VarId};

/// Tiles 0 to 3 do not overlap.
fn program(slots: u64, body: Vec<Step>) -> Program {
    let queue = Queue {
        name: "pipe".into(),
        id: 0,
        direction: Direction::Both,
        slot_bytes: 64,
        slots,
        local_slots: slots,
        buffer: String::new(),
        arrival: [0, 0],
        origin: origin(),
    };
    let arg = Arg {
        name: "x".into(),
        dtype: Dtype::Fp32,
        kind: ArgKind::Tensor(vec![Some(Elements::Known(64))]),
        origin: origin(),
    };
    let wrapper = Wrapper {
        arg: 0,
        name: String::new(),
        number: 0,
        window: vec![16],
        run_time: Vec::new(),
        strides: vec![Elements::Known(1)],
        element: false,
        layout: TensorLayout::Nd,
    };
    let mut program = Program {
        args: vec![arg],
        wrappers: vec![wrapper],
        queues: vec![queue],
        tiles: (0..4).map(|place| tile(place * 2, origin(), Declared::Prologue)).collect(),
        body,
        ..Program::default()
    };
    number(&mut program.body, &mut 0);
    let findings = sync::synchronise(&mut program, Insertion::Complete);
    assert_eq!(findings, (Vec::new(), None));
    assert_eq!(model::problems(&program), [], "each kernel by itself");
    program
}

fn number(steps: &mut [Step], next: &mut u32) {
    for step in steps {
        match step {
            Step::Instr(instr) => {
                instr.id = *next;
                *next += 1;
            }
            Step::Loop(node) => number(&mut node.body, next),
            _ => {}
        }
    }
}

fn instr(pipe: Pipe, reads: &[u32], writes: &[u32]) -> Instr {
    let tiles = |ids: &[u32]| ids.iter().map(|id| TileId(*id)).collect();
    Instr { reads: tiles(reads), writes: tiles(writes), ..Instr::new("T", Vec::new(), pipe, origin()) }
}

fn compute(pipe: Pipe, reads: &[u32], writes: &[u32]) -> Step {
    Step::Instr(instr(pipe, reads, writes))
}

fn pass(action: Action, pipe: Pipe, tile: u32) -> Step {
    let (reads, writes): (&[u32], &[u32]) = if action == Action::Pop { (&[], &[tile]) } else { (&[tile], &[]) };
    Step::Instr(Instr { transfer: Some(Transfer { queue: 0, action }), ..instr(pipe, reads, writes) })
}

/// Loads or stores the 16 elements of the tensor from `offset` on.
fn access(pipe: Pipe, tile: u32, offset: i64) -> Step {
    let store = pipe != Pipe::Mte2;
    let offsets = vec![Offset { text: String::new(), affine: Some(Affine::constant(offset)) }];
    let access = Access { wrapper: 0, tensors: vec![0], pointer: String::new(), offsets, store, assign: false };
    let (reads, writes): (&[u32], &[u32]) = if store { (&[tile], &[]) } else { (&[], &[tile]) };
    Step::Instr(Instr { access: Some(access), ..instr(pipe, reads, writes) })
}

fn repeat(trips: i64, body: Vec<Step>) -> Step {
    let bound = |value| Bound { text: String::new(), value: Some(value) };
    let head = Head::For { var: VarId(0), name: String::new(), start: bound(0), stop: bound(trips), step: bound(1) };
    Step::Loop(Box::new(Loop { head, carries: Vec::new(), body, origin: origin() }))
}

/// On the cube core and both vector units.
fn problems(cube: &Program, vector: &Program) -> Vec<Problem> {
    let units = [None, Some(0), Some(1)]
        .map(|unit| model::Kernel { program: if unit.is_none() { cube } else { vector }, unit });
    model::problems_of_cores(&units)
}

/// The cube multiplies and pushes what comes of it; with what pops it on the vector units.
fn producer(slots: u64, trips: i64) -> Program {
    program(slots, vec![repeat(trips, vec![compute(Pipe::M, &[1], &[0]), pass(Action::Push, Pipe::Fix, 0)])])
}

/// Pops a copy, computes with it and stores.
fn copying(slots: u64, trips: i64) -> Program {
    let body = vec![
        pass(Action::Pop, Pipe::Mte2, 0),
        compute(Pipe::V, &[0], &[1]),
        compute(Pipe::Mte3, &[1], &[]),
        pass(Action::Free, Pipe::Mte2, 0),
    ];
    program(slots, vec![repeat(trips, body)])
}

/// Pops a slot, stores out of it, computes with it, and gives it back.
fn in_place(slots: u64, trips: i64) -> Program {
    let body = vec![
        pass(Action::Pop, Pipe::V, 0),
        compute(Pipe::Mte3, &[0], &[]),
        compute(Pipe::V, &[0], &[1]),
        pass(Action::Free, Pipe::V, 0),
    ];
    program(slots, vec![repeat(trips, body)])
}

#[test]
fn what_is_pushed_is_popped() {
    for slots in [1, 2, 4, 8] {
        for consumer in [copying(slots, 3), in_place(slots, 3)] {
            assert_eq!(problems(&producer(slots, 3), &consumer), [], "{slots} slots");
        }
    }
}

#[test]
fn what_is_passed_more_often_on_one_side() {
    for consumer in [copying, in_place] {
        assert_eq!(problems(&producer(8, 3), &consumer(8, 2)), [Problem::LeftInQueue { id: 0 }]);
        let waiting = [1, 2].map(|kernel| Problem::Stuck { kernel, instr: 0 });
        assert_eq!(problems(&producer(8, 2), &consumer(8, 3)), waiting);
        // Nothing makes room.
        let waiting = problems(&producer(1, 3), &consumer(1, 1));
        assert_eq!(waiting, [Problem::Stuck { kernel: 0, instr: 1 }]);
    }
}

#[test]
fn a_slot_that_is_never_given_back() {
    let kept = || vec![pass(Action::Pop, Pipe::V, 0), compute(Pipe::V, &[0], &[1])];
    let consumer = program(8, vec![repeat(3, kept())]);
    assert_eq!(problems(&producer(8, 3), &consumer), [Problem::LeftInQueue { id: 0 }]);
    let consumer = program(1, vec![repeat(3, kept())]);
    assert!(problems(&producer(1, 3), &consumer).contains(&Problem::Stuck { kernel: 0, instr: 1 }));
}

#[test]
fn a_slot_that_is_given_back_too_early() {
    let early = vec![
        pass(Action::Pop, Pipe::V, 0),
        pass(Action::Free, Pipe::V, 0),
        compute(Pipe::Mte3, &[0], &[]),
        compute(Pipe::V, &[0], &[1]),
    ];
    let overwritten = problems(&producer(1, 3), &program(1, vec![repeat(3, early)]));
    let push = (0, 1);
    for unit in [1, 2] {
        for reader in [2, 3] {
            assert!(
                overwritten.contains(&Problem::BetweenCores { one: push, other: (unit, reader) }),
                "{overwritten:?}"
            );
        }
    }
}

#[test]
fn both_wait_for_each_other() {
    let passing = |push: Pipe, pushes_first: bool, count: usize| {
        let push = || vec![compute(Pipe::V, &[], &[0]), pass(Action::Push, push, 0)];
        let pop = || vec![pass(Action::Pop, Pipe::Mte2, 1), compute(Pipe::V, &[1], &[2])];
        let (first, second) = if pushes_first { (push(), pop()) } else { (pop(), push()) };
        let times = |steps: &[Step]| std::iter::repeat_n(steps.to_vec(), count).flatten().collect::<Vec<_>>();
        program(2, [times(&first), times(&second)].concat())
    };
    assert_eq!(problems(&passing(Pipe::Fix, true, 1), &passing(Pipe::Mte3, false, 1)), []);
    let stuck = |problems: &[Problem]| problems.iter().filter(|it| matches!(it, Problem::Stuck { .. })).count();
    let both_pop = problems(&passing(Pipe::Fix, false, 1), &passing(Pipe::Mte3, false, 1));
    assert_eq!((stuck(&both_pop), both_pop.len()), (3, 3));
    // Two fit into the queue of each direction, the third waits for a pop that comes later.
    assert_eq!(problems(&passing(Pipe::Fix, true, 2), &passing(Pipe::Mte3, true, 2)), []);
    assert_eq!(stuck(&problems(&passing(Pipe::Fix, true, 3), &passing(Pipe::Mte3, true, 3))), 3);
}

/// Every flag and barrier of both sides is needed, and its loss is seen on its own core.
#[test]
fn each_flag_within_a_core_is_needed() {
    for kernel in [producer(2, 3), copying(2, 3), in_place(2, 3)] {
        for number in 0.. {
            let mut less = kernel.clone();
            let Some(removed) = without(&mut less.body, &mut { number }) else {
                assert!(number > 1);
                break;
            };
            assert_ne!(model::problems(&less), [], "{removed:?}");
        }
    }
}

/// A slot that is used in place needs no barrier: its pipe waits for it, and gives it back, in order.
#[test]
fn signals_are_in_the_order_of_their_pipe() {
    let kernel =
        program(2, vec![pass(Action::Pop, Pipe::V, 0), compute(Pipe::V, &[0], &[1]), pass(Action::Free, Pipe::V, 0)]);
    assert_eq!(kernel.orders, []);
}

#[test]
fn a_tensor_that_both_cores_touch() {
    let cube = |passes: bool, offset: i64| {
        let mut body = vec![compute(Pipe::M, &[], &[0]), access(Pipe::Fix, 0, offset)];
        body.extend(passes.then(|| pass(Action::Push, Pipe::Fix, 0)));
        program(2, body)
    };
    let vector = |passes: bool| {
        let pop = passes.then(|| pass(Action::Pop, Pipe::Mte2, 1));
        program(2, pop.into_iter().chain([access(Pipe::Mte2, 0, 0)]).collect())
    };
    assert_eq!(problems(&cube(true, 0), &vector(true)), [], "the queue orders the two");
    assert_eq!(problems(&cube(false, 16), &vector(false)), [], "other elements");
    let race = |unit: usize| Problem::BetweenCores { one: (0, 1), other: (unit, 0) };
    assert_eq!(problems(&cube(false, 8), &vector(false)), [race(1), race(2)]);
}

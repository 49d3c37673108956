//! Synchronisation of programs that no author would write.

use proptest::prelude::*;
use tilefit_python::diagnostics::Code;
use tilefit_python::element::{Dtype, Pad};
use tilefit_python::finding::Origin;

use super::fixture::origin;
use crate::codegen::sequence::{
    Access, Addressing, Affine, Arg, ArgKind, Bound, BranchResult, Branches, By, CarriedTile, Carry, Condition,
    Declare, Declared, Elements, Head, Instr, Loop, Offset, Pipe, Program, Step, Sync, Tile, TileId, Wrapper,
};
use crate::codegen::types::TileForm;
use crate::codegen::{Insertion, model, sync};
use crate::ir::{BLayout, SLayout, TensorLayout, VarId};
use crate::target::Space;

/// Reads a program out of numbers: every list of numbers is one.
struct Decoder<'a> {
    numbers: std::slice::Iter<'a, u8>,
    program: Program,
    origin: Origin,
    instructions: u32,
    variables: Vec<VarId>,
    next_variable: u32,
}

const PLACES: u32 = 6;

impl Decoder<'_> {
    fn next(&mut self, below: u8) -> u8 {
        self.numbers.next().copied().unwrap_or(0) % below
    }

    fn tile(&mut self) -> TileId {
        let handles = self.program.tiles.len() as u8;
        TileId(u32::from(self.next(handles)))
    }

    fn steps(&mut self, depth: u32) -> Vec<Step> {
        let count = 1 + self.next(6);
        (0..count).map_while(|_| (self.numbers.len() > 0).then(|| self.step(depth))).collect()
    }

    fn step(&mut self, depth: u32) -> Step {
        match self.next(if depth < 3 { 11 } else { 8 }) {
            7 => self.written(),
            8 | 9 => self.repeat(depth),
            10 => self.branches(depth),
            _ => Step::Instr(self.instr()),
        }
    }

    /// A flag or barrier of the author's; few of them make sense.
    fn written(&mut self) -> Step {
        let [src, dst] = [0; 2].map(|_| Pipe::ALL[self.next(7) as usize]);
        let event = self.next(2);
        let sync = match self.next(8) {
            0 => Sync::Barrier(None),
            1 => Sync::Barrier(Some(src)),
            2..5 => Sync::Wait { src, dst, event },
            _ => Sync::Set { src, dst, event },
        };
        Step::Sync(sync, By::Author(self.origin))
    }

    fn instr(&mut self) -> Instr {
        let pipe = Pipe::ALL[self.next(7) as usize];
        let mut reads = Vec::new();
        let mut writes = Vec::new();
        for _ in 0..self.next(3) {
            reads.push(self.tile());
        }
        let store = matches!(pipe, Pipe::Mte3 | Pipe::Fix);
        if !store {
            writes.push(self.tile());
        }
        let access = matches!(pipe, Pipe::Mte2 | Pipe::Mte3 | Pipe::Fix).then(|| self.access(store));
        self.instructions += 1;
        let (id, origin) = (self.instructions - 1, self.origin);
        let operands = Vec::new();
        Instr { id, reads, writes, access, ..Instr::new("T", operands, pipe, origin) }
    }

    fn access(&mut self, store: bool) -> Access {
        let mut affine = Affine::constant(i64::from(self.next(4)) * 8);
        if !self.variables.is_empty() {
            let index = self.next(self.variables.len() as u8);
            let var = self.variables[index as usize];
            let factor = [0, 8, 16, -8][self.next(4) as usize];
            affine = affine.add(&Affine::variable(var), factor).unwrap();
        }
        let affine = (self.next(4) > 0).then_some(affine);
        let offsets = vec![Offset { text: String::new(), affine }];
        Access {
            wrapper: self.next(2) as usize,
            tensors: vec![0],
            pointer: String::new(),
            offsets,
            store,
            assign: false,
        }
    }

    fn repeat(&mut self, depth: u32) -> Step {
        let var = VarId(self.next_variable);
        self.next_variable += 1;
        let bound = |value: Option<i64>| Bound { text: String::new(), value };
        let stop = [None, Some(0), Some(1), Some(2), Some(5)][self.next(5) as usize];
        let head =
            Head::For { var, name: String::new(), start: bound(Some(0)), stop: bound(stop), step: bound(Some(1)) };
        let carried = self.next(3);
        let tiles: Vec<(TileId, TileId)> = (0..carried)
            .map(|_| {
                let init = self.tile();
                (self.handle(Declared::ByLoop), init)
            })
            .collect();
        self.variables.push(var);
        let body = self.steps(depth + 1);
        self.variables.pop();
        let carries = tiles
            .into_iter()
            .map(|(iter, init)| Carry {
                name: String::new(),
                ty: String::new(),
                init: String::new(),
                next: None,
                tile: Some(CarriedTile { iter, init, next: self.tile() }),
                yielded: self.origin,
            })
            .collect();
        Step::Loop(Box::new(Loop { head, carries, body, origin: self.origin }))
    }

    fn branches(&mut self, depth: u32) -> Step {
        let then = self.steps(depth + 1);
        let otherwise = (self.next(2) == 1).then(|| self.steps(depth + 1));
        let results = (0..self.next(2))
            .map(|_| {
                let (of_then, of_otherwise) = (self.tile(), self.tile());
                let result = self.handle(Declared::BeforeIf);
                let tiles = Some((result, of_then, of_otherwise));
                BranchResult { name: String::new(), declare: Declare::Tile(result), then: None, otherwise: None, tiles }
            })
            .collect();
        Step::If(Box::new(Branches { condition: Condition::default(), results, then, otherwise, origin: self.origin }))
    }

    fn handle(&mut self, declared: Declared) -> TileId {
        self.program.tiles.push(tile(0, self.origin, declared));
        TileId(self.program.tiles.len() as u32 - 1)
    }
}

pub(super) fn tile(place: u32, origin: Origin, declared: Declared) -> Tile {
    let form = TileForm {
        space: Space::Vec,
        dtype: Dtype::Fp32,
        rows: 1,
        cols: 16,
        blayout: BLayout::RowMajor,
        slayout: SLayout::NoneBox,
        fractal: 512,
        pad: Pad::Null,
    };
    // Neighbours overlap.
    let address = Some(u64::from(place) * 48);
    Tile {
        name: String::new(),
        form,
        valid: (Elements::Known(0), Elements::Known(0)),
        address,
        bytes: 64,
        lines: None,
        place: Addressing::Planned,
        declared,
        inserted: false,
        origin,
    }
}

fn decode(numbers: &[u8]) -> Program {
    let origin = origin();
    let arg =
        Arg { name: "x".into(), dtype: Dtype::Fp32, kind: ArgKind::Tensor(vec![Some(Elements::Known(256))]), origin };
    let wrapper = |number, extent| Wrapper {
        arg: 0,
        name: String::new(),
        number,
        window: vec![extent],
        run_time: Vec::new(),
        strides: vec![Elements::Known(1)],
        layout: TensorLayout::Nd,
        element: false,
    };
    let program = Program {
        function: String::new(),
        args: vec![arg],
        wrappers: vec![wrapper(0, 8), wrapper(1, 16)],
        tiles: (0..PLACES).map(|place| tile(place, origin, Declared::Prologue)).collect(),
        body: Vec::new(),
        queues: Vec::new(),
        units: Vec::new(),
        orders: Vec::new(),
    };
    let numbers = numbers.iter();
    let mut decoder = Decoder { numbers, program, origin, instructions: 0, variables: Vec::new(), next_variable: 0 };
    while decoder.numbers.len() > 0 {
        let step = decoder.step(0);
        decoder.program.body.push(step);
    }
    decoder.program
}

/// The program in short, for failures.
fn show(steps: &[Step], depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for step in steps {
        match step {
            Step::Instr(instr) => {
                let ids = |tiles: &[TileId]| tiles.iter().map(|tile| tile.0).collect::<Vec<_>>();
                let access = instr.access.as_ref().map(|access| (access.wrapper, &access.offsets[0].affine));
                text.push_str(&format!(
                    "{indent}{} {:?} {:?} <- {:?} {access:?}\n",
                    instr.id,
                    instr.pipe,
                    ids(&instr.writes),
                    ids(&instr.reads)
                ));
            }
            Step::Loop(node) => {
                text.push_str(&format!(
                    "{indent}loop {:?} {:?}\n",
                    node.head,
                    node.carries.iter().map(|c| c.tile).collect::<Vec<_>>()
                ));
                show(&node.body, depth + 1, text);
            }
            Step::If(node) => {
                text.push_str(&format!(
                    "{indent}if {:?}\n",
                    node.results.iter().map(|result| result.tiles).collect::<Vec<_>>()
                ));
                show(&node.then, depth + 1, text);
                text.push_str(&format!("{indent}else\n"));
                show(node.otherwise.as_deref().unwrap_or_default(), depth + 1, text);
            }
            Step::Sync(sync, _) => text.push_str(&format!("{indent}{sync:?}\n")),
            Step::Local { .. } | Step::Declare(_) | Step::Missing { .. } => {}
        }
    }
}

fn events(steps: &[Step], highest: &mut u8) {
    for step in steps {
        match step {
            Step::Sync(Sync::Set { event, .. }, _) => *highest = (*highest).max(*event),
            Step::Loop(node) => events(&node.body, highest),
            Step::If(node) => {
                events(&node.then, highest);
                events(node.otherwise.as_deref().unwrap_or_default(), highest);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn synchronisation_of_any_program_is_sound(numbers in prop::collection::vec(any::<u8>(), 0..160)) {
        let mut program = decode(&numbers);
        let exhausted =
            sync::synchronise(&mut program, Insertion::Complete).0.iter().any(|(it, _)| it.code == Code::EventsExhausted);
        if !exhausted {
            let problems = model::problems(&program);
            let races: Vec<_> = model::races(&problems).collect();
            let mut text = String::new();
            show(&program.body, 0, &mut text);
            prop_assert!(races.is_empty(), "{races:?}\n{text}");
            // What is left is about the author's own flags.
            let written = sync::written_flags(&program);
            for problem in problems {
                prop_assert!(problem.flag().is_some_and(|flag| written.contains(&flag)), "{problem:?}\n{text}");
            }
        }
        let mut highest = 0;
        events(&program.body, &mut highest);
        prop_assert!(highest < 8);
    }
}

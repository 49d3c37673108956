//! A kernel as instructions: what instruction selection makes, synchronisation completes, and the printer prints.

use std::fmt;

use tilefit_python::element::Dtype;
use tilefit_python::finding::Origin;

pub use crate::ops::Pipe;

use crate::ir::{ScalarBinary, TensorLayout, VarId};
use crate::target::Space;

use super::types::TileForm;

/// Hardware events of one pair of pipes.
pub const EVENTS: u8 = 8;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    pub function: String,
    pub args: Vec<Arg>,
    pub wrappers: Vec<Wrapper>,
    pub queues: Vec<Queue>,
    pub tiles: Vec<Tile>,
    pub body: Vec<Step>,
    /// Scalars that hold the number of the vector unit.
    pub units: Vec<VarId>,
    /// What the synchronisation stage found necessary beyond what the author wrote.
    pub orders: Vec<Order>,
}

/// A parameter; its slot in `args` is its place in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arg {
    pub name: String,
    pub dtype: Dtype,
    pub kind: ArgKind,
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgKind {
    /// Its extents; `None` for those that nothing tells the kernel.
    Tensor(Vec<Option<Elements>>),
    Scalar,
    /// Says where the windows of other devices lie.
    Context,
}

/// A `GlobalTensor`: one window of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapper {
    /// Index in [`Program::args`].
    pub arg: usize,
    pub name: String,
    /// Number of the window of that tensor, from 0.
    pub number: u32,
    /// Extents in elements, as many as the tensor has. Where an extent is known at run time only, it is not larger.
    pub window: Vec<u64>,
    /// Dimensions whose extent is known at run time only, ascending, and its text. Such a wrapper belongs to one access and
    /// is constructed there.
    pub run_time: Vec<(usize, String)>,
    /// From one index of a dimension to the next; of a tensor in boxes, at the borders of boxes.
    pub strides: Vec<Elements>,
    /// `Dn` too where rows and columns are exchanged on the way.
    pub layout: TensorLayout,
    /// Stands for single elements, which are accessed through the pointer: there is no such object.
    pub element: bool,
}

/// A number of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elements {
    Known(u64),
    /// As an expression of what the kernel is given.
    RunTime(String),
}

/// A queue of tiles between the cube and the vector core; the kernel of the other core has the same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    pub name: String,
    /// `id=`: what the two kernels call it.
    pub id: u8,
    pub direction: Direction,
    /// Bytes of the largest tile that goes through it.
    pub slot_bytes: u64,
    pub slots: u64,
    /// Slots on chip, where the tiles arrive.
    pub local_slots: u64,
    /// Pointer into global memory, or `nullptr`.
    pub buffer: String,
    /// Bytes from the start of Vec, and of Mat, where tiles arrive.
    pub arrival: [u64; 2],
    pub origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    ToVector,
    ToCube,
    Both,
}

/// What an instruction does with a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// Index in [`Program::queues`].
    pub queue: usize,
    pub action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Waits for a free slot, fills it, and tells the other core.
    Push,
    /// Waits for a full slot, and points its tile to where it arrives.
    Pop,
    /// Gives the slot that was popped first back to the other core.
    Free,
}

/// Index in [`Program::tiles`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TileId(pub u32);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    pub name: String,
    pub form: TileForm,
    /// Rows and columns that hold data.
    pub valid: (Elements, Elements),
    /// Bytes from the start of the space that the tile can touch; where its place is known at run time only, all that it
    /// may be.
    pub address: Option<u64>,
    pub bytes: u64,
    /// What it touches of these bytes, if not all of them.
    pub lines: Option<Lines>,
    pub place: Addressing,
    pub declared: Declared,
    /// Not named by the author.
    pub inserted: bool,
    pub origin: Origin,
}

/// Lines of equal length at equal distances, in bytes: the rows of a window, or of a part that is inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lines {
    pub count: u64,
    pub length: u64,
    /// From the start of one to the start of the next; larger than the length.
    pub distance: u64,
}

/// How a tile gets its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Addressing {
    /// `TASSIGN` with the address of the plan.
    Planned,
    /// `TASSIGN` with an expression.
    Computed(String),
    /// An instruction points it into another tile.
    View,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declared {
    Prologue,
    /// Before its definition, since its valid part or its place depends on what the body computes.
    Body,
    /// Before the branches whose result it is.
    BeforeIf,
    /// With a loop, as a copy of its first value.
    ByLoop,
    /// Not at all: it stands for the bytes that an instruction changes of another tile.
    Nowhere,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Instr(Instr),
    /// `auto name = value;`
    Local {
        name: String,
        /// `auto`, or a type.
        ty: String,
        value: String,
        origin: Origin,
    },
    /// Of a tile that is not declared in the prologue.
    Declare(TileId),
    Loop(Box<Loop>),
    If(Box<Branches>),
    Sync(Sync, By),
    /// Stands for what could not be generated.
    Missing {
        what: Missing,
        origin: Origin,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// Out of the innermost loop, or to its next iteration.
    Jump,
    Loop(&'static str),
    Branches,
    /// An operation, by its name in the IR.
    Operation(&'static str),
    /// The value of a variable.
    Value(String),
}

/// Whose a flag or barrier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The author's, written at this node.
    Author(Origin),
    /// Added by the synchronisation stage for the instruction of this node.
    Stage(Origin),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instr {
    /// Number in text order.
    pub id: u32,
    pub name: &'static str,
    /// Template arguments; mostly none.
    pub template: Vec<String>,
    /// Destination first.
    pub operands: Vec<Operand>,
    pub pipe: Pipe,
    pub reads: Vec<TileId>,
    pub writes: Vec<TileId>,
    /// For loads and stores.
    pub access: Option<Access>,
    pub transfer: Option<Transfer>,
    /// A call that is no instruction: element reads and writes.
    pub text: Option<String>,
    pub inserted: bool,
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    Tile(TileId),
    /// Index in [`Program::wrappers`].
    Wrapper(usize),
    Text(String),
}

/// The part of a tensor that a load reads or a store writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    pub wrapper: usize,
    /// The tensors that it can be: indices in [`Program::args`].
    pub tensors: Vec<usize>,
    pub pointer: String,
    /// Elements, one per dimension.
    pub offsets: Vec<Offset>,
    pub store: bool,
    /// The wrapper must be moved to the offset first.
    pub assign: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offset {
    pub text: String,
    /// As a sum over loop variables, where it is one.
    pub affine: Option<Affine>,
}

/// `constant + Σ factor · variable`
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Affine {
    pub constant: i64,
    /// Ascending by variable, no zero factors.
    pub terms: Vec<(VarId, i64)>,
}

impl Instr {
    /// An instruction that touches nothing.
    pub fn new(name: &'static str, operands: Vec<Operand>, pipe: Pipe, origin: Origin) -> Instr {
        Instr {
            id: 0,
            name,
            template: Vec::new(),
            operands,
            pipe,
            reads: Vec::new(),
            writes: Vec::new(),
            access: None,
            transfer: None,
            text: None,
            inserted: false,
            origin,
        }
    }

    /// It only waits for the other core or tells it something, about a slot that is used in place: its pipe takes it in order. What
    /// goes through global memory is copied instead, and its slot is free from then on.
    pub fn only_signals(&self) -> bool {
        let in_place = self.pipe != Pipe::Mte2;
        self.transfer.is_some_and(|transfer| transfer.action != Action::Push && in_place)
    }

    /// The tiles whose bytes change, or are the other core's from here on.
    pub fn changes(&self) -> &[TileId] {
        match self.transfer {
            Some(Transfer { action: Action::Free, .. }) if self.only_signals() => &self.reads,
            _ => &self.writes,
        }
    }

    /// The tiles whose bytes it needs.
    pub fn uses(&self) -> &[TileId] {
        match self.transfer {
            Some(Transfer { action: Action::Free, .. }) => &[],
            _ => &self.reads,
        }
    }
}

impl Affine {
    pub fn constant(value: i64) -> Affine {
        Affine { constant: value, terms: Vec::new() }
    }

    pub fn variable(var: VarId) -> Affine {
        Affine { constant: 0, terms: vec![(var, 1)] }
    }

    pub fn add(&self, other: &Affine, factor: i64) -> Option<Affine> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (var, times) in &other.terms {
            let times = times.checked_mul(factor)?;
            match sum.terms.binary_search_by_key(var, |term| term.0) {
                Ok(at) => sum.terms[at].1 = sum.terms[at].1.checked_add(times)?,
                Err(at) => sum.terms.insert(at, (*var, times)),
            }
        }
        sum.terms.retain(|term| term.1 != 0);
        Some(sum)
    }

    pub fn scale(&self, factor: i64) -> Option<Affine> {
        Affine::default().add(self, factor)
    }

    pub fn factor(&self, var: VarId) -> i64 {
        self.terms.binary_search_by_key(&var, |term| term.0).map_or(0, |at| self.terms[at].1)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    pub head: Head,
    pub carries: Vec<Carry>,
    pub body: Vec<Step>,
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    For { var: VarId, name: String, start: Bound, stop: Bound, step: Bound },
    While { condition: Condition },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    pub text: String,
    pub value: Option<i64>,
}

impl Loop {
    /// Number of iterations, where it is constant.
    pub fn trips(&self) -> Option<u64> {
        let Head::For { start, stop, step, .. } = &self.head else { return None };
        let (start, stop, step) = (start.value?, stop.value?, step.value?);
        if step <= 0 {
            return None;
        }
        Some(stop.saturating_sub(start).max(0).unsigned_abs().div_ceil(step.unsigned_abs()))
    }
}

/// A value that is handed to the next iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carry {
    pub name: String,
    /// `auto`, or the type of a scalar.
    pub ty: String,
    pub init: String,
    /// `None`: the same value, or another view of the same bytes.
    pub next: Option<Next>,
    pub tile: Option<CarriedTile>,
    /// Node of the `yield`.
    pub yielded: Origin,
}

/// What a carried value is in the next iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    pub text: String,
    /// The names that it reads.
    pub names: Vec<String>,
}

impl Next {
    pub fn named(name: String) -> Next {
        Next { names: vec![name.clone()], text: name }
    }
}

/// A tile handle that the loop re-points; no data moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarriedTile {
    pub iter: TileId,
    pub init: TileId,
    pub next: TileId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branches {
    pub condition: Condition,
    pub results: Vec<BranchResult>,
    pub then: Vec<Step>,
    pub otherwise: Option<Vec<Step>>,
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Condition {
    /// Conditions of equal text are equal: a name in generated code has one meaning.
    pub text: String,
    /// Parentheses stand around all of the text.
    pub enclosed: bool,
    /// What it asks of the number of the vector unit, if it asks for that alone.
    pub unit: Option<UnitTest>,
}

/// `subblock_idx == 0`: a comparison of the number of the vector unit with a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitTest {
    relation: Relation,
    number: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl UnitTest {
    /// `None` for operators that are no comparison.
    pub(super) fn new(operator: ScalarBinary, number: i64) -> Option<UnitTest> {
        let relation = match operator {
            ScalarBinary::Eq => Relation::Equal,
            ScalarBinary::Ne => Relation::Unequal,
            ScalarBinary::Lt => Relation::Less,
            ScalarBinary::Le => Relation::AtMost,
            ScalarBinary::Gt => Relation::Greater,
            ScalarBinary::Ge => Relation::AtLeast,
            _ => return None,
        };
        Some(UnitTest { relation, number })
    }

    pub fn holds_on(self, unit: i64) -> bool {
        match self.relation {
            Relation::Equal => unit == self.number,
            Relation::Unequal => unit != self.number,
            Relation::Less => unit < self.number,
            Relation::AtMost => unit <= self.number,
            Relation::Greater => unit > self.number,
            Relation::AtLeast => unit >= self.number,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchResult {
    pub name: String,
    pub declare: Declare,
    /// Value of each branch; `None` where the result is in place already.
    pub then: Option<String>,
    pub otherwise: Option<String>,
    /// For tiles: the handle and what it is re-pointed to.
    pub tiles: Option<(TileId, TileId, TileId)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declare {
    Tile(TileId),
    /// A scalar or a pointer, by its C++ type.
    Value(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sync {
    /// `set_flag(src, dst, event)`
    Set { src: Pipe, dst: Pipe, event: u8 },
    /// `wait_flag(src, dst, event)`
    Wait { src: Pipe, dst: Pipe, event: u8 },
    /// `pipe_barrier(pipe)`; `None` is `PIPE_ALL`.
    Barrier(Option<Pipe>),
}

/// An order between two instructions that a pair of flags or a barrier establishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    pub by: OrderedBy,
    /// Instructions by number.
    pub earlier: u32,
    pub later: u32,
    /// A flag is set after this statement,
    pub after: Origin,
    /// and waited for before this one.
    pub before: Origin,
    /// From one iteration of a loop to the next: waited for at the end of the body, after `before`.
    pub carried: bool,
    /// The author can write it: it is between statements, not inside of one.
    pub by_hand: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderedBy {
    Flag { src: Pipe, dst: Pipe, event: u8 },
    Barrier(Pipe),
}

/// As it stands in generated code.
impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elements::Known(number) => write!(f, "{number}"),
            Elements::RunTime(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Missing::Jump => "break",
            Missing::Branches => "if",
            Missing::Loop(word) | Missing::Operation(word) => word,
            Missing::Value(name) => name,
        })
    }
}

impl Tile {
    /// The name of its C++ type.
    pub fn type_name(&self) -> String {
        match self.declared {
            Declared::ByLoop => format!("decltype({})", self.name),
            _ => format!("{}Type", self.name),
        }
    }
}

impl Program {
    /// The node that a step stems from.
    pub fn origin(&self, step: &Step) -> Origin {
        match step {
            Step::Instr(instr) => instr.origin,
            Step::Loop(node) => node.origin,
            Step::If(node) => node.origin,
            Step::Declare(tile) => self.tile(*tile).origin,
            Step::Sync(_, By::Author(origin) | By::Stage(origin)) => *origin,
            Step::Local { origin, .. } | Step::Missing { origin, .. } => *origin,
        }
    }

    /// The instructions, in the order of their numbers.
    pub fn instructions(&self) -> Vec<&Instr> {
        fn collect<'a>(steps: &'a [Step], found: &mut Vec<&'a Instr>) {
            for step in steps {
                match step {
                    Step::Instr(instr) => found.push(instr),
                    Step::Loop(node) => collect(&node.body, found),
                    Step::If(node) => {
                        collect(&node.then, found);
                        collect(node.otherwise.as_deref().unwrap_or_default(), found);
                    }
                    Step::Local { .. } | Step::Declare(_) | Step::Sync(..) | Step::Missing { .. } => {}
                }
            }
        }
        let mut found = Vec::new();
        collect(&self.body, &mut found);
        found
    }

    pub fn tile(&self, id: TileId) -> &Tile {
        &self.tiles[id.0 as usize]
    }
}

/// The unit that an instruction with these operands runs on (`docs/reference/memory.md`, "Pipes").
pub(super) fn pipe_of(result: Space, sources: &[Space]) -> Pipe {
    match (sources.first(), result) {
        (_, Space::Vec) if sources.iter().all(|space| *space == Space::Vec) => Pipe::V,
        (None, Space::Mat) => Pipe::Mte2,
        (Some(Space::Mat), _) => Pipe::Mte1,
        (Some(Space::Left | Space::Right | Space::Acc | Space::Bias), _) => Pipe::M,
        _ => Pipe::V,
    }
}

/// The unit that moves a tile, or a part of one, to another place on chip.
pub(super) fn pipe_of_move(result: Space, sources: &[Space]) -> Pipe {
    match sources.first() {
        Some(Space::Acc) => Pipe::Fix,
        _ => pipe_of(result, sources),
    }
}

/// The unit that brings a tile to global memory.
pub(super) fn pipe_of_store(source: Space) -> Pipe {
    if source == Space::Acc { Pipe::Fix } else { Pipe::Mte3 }
}

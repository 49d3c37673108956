//! Follows a kernel as the front end of its compiler does, under one scenario, and writes down what it does to memory.
//!
//! What Python computes while the kernel is compiled is computed; what the kernel computes is an operation of the program. What is not known
//! is said, and what depends on it stays open.

mod allocations;
mod arguments;
mod axes;
mod block_pointers;
mod calls;
mod dots;
mod expressions;
mod functions;
mod global_memory;
mod layout_calls;
mod library;
mod loops;
mod numbers;
mod operators;
mod python;
mod reductions;
mod refusals;
mod registers;
mod related;
mod statements;
mod tensors;
mod tlx;
pub mod value;
mod whiles;

pub use functions::language_path;
use tilefit_python::diagnostics::Code;
use tilefit_python::eval::Constant;
use tilefit_python::finding::{Example, Finding, Note, Origin, Reason};
use tilefit_python::work;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_syntax::BlockKey;
use tilefit_syntax::ast::{Ast, ExprId, Function as FunctionSyntax, Stmt};

use super::axis_info::AxisInfo;
use super::language::Dtype;
use super::layouts::{Hardware, Layout, Vendor};
use super::possible::Usages;
use super::program::{
    Assigned, Block, Buffer, BufferId, Bytes, Effect, Kind, Memory, Op, Program, Scratch, ScratchId, Site, Type, Use,
    ValueId,
};
use super::simplify::needed;
use super::tlx::Kernel;
use super::tlx::storage_alias::SpecMemory;
use registers::Asked;
use related::Related;
use tlx::Facts;
use value::{Function, Registers, Shared, Value, unknown};

/// Where names are looked up: the kernel's function is at 0, each helper and class at its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Home(pub u32);

impl Home {
    pub const KERNEL: Home = Home(0);
}

/// What a kernel sees of the code around it.
pub trait Environment {
    /// What a name means at a place.
    fn definition(&self, home: Home, name: &str) -> Option<Definition>;

    /// The value of a name of the host, where its expression says nothing to a kernel.
    fn constant(&self, home: Home, name: &str) -> Option<Constant>;

    /// What `module.name` means, where a name at a place means that module.
    fn member(&self, home: Home, module: &str, name: &str) -> Option<Definition>;

    /// A dotted name of the language by its path in it: `mbarrier.init` for whatever the file calls it.
    fn canonical(&self, home: Home, path: &[&str]) -> Option<String>;
}

pub enum Definition {
    Function {
        ast: Arc<Ast>,
        key: Option<BlockKey>,
        home: Home,
    },
    Class {
        header: Arc<Ast>,
        methods: Vec<(Arc<Ast>, Option<BlockKey>)>,
        home: Home,
    },
    /// An expression, or one element of what it gives.
    Expression {
        ast: Arc<Ast>,
        expr: ExprId,
        element: Option<usize>,
        home: Home,
    },
    Constant(Constant),
    Module,
}

/// What is known of the launch.
#[derive(Debug, Clone)]
pub struct Launch {
    pub hardware: Hardware,
    pub warps: u64,
    pub ctas: u64,
    /// Values of parameters.
    pub arguments: BTreeMap<String, Argument>,
    pub dialect: Dialect,
    /// The author says which compiler it is; else it is assumed.
    pub is_compiler_told: bool,
    /// What the head of a TLX kernel says.
    pub kernel: Kernel,
    /// Whether the compiler makes one spec of several that are equal, where that is known.
    pub merges_specs: Option<bool>,
    /// Arguments that are multiples of 16, where that is known.
    pub divisible: Option<BTreeSet<String>>,
    /// What to take of the loops whose bounds depend on a number that has no value, in the order in which they are met; of all others, several rounds.
    pub open_loops: Vec<OpenRounds>,
}

/// Iteration counts to assume for a loop with unknown bounds. The compiler distinguishes only these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenRounds {
    Never,
    Once,
    Several,
}

/// Who chooses the layouts of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The author.
    Gluon,
    /// The compiler.
    Tlx,
    /// The compiler, and there is no TLX.
    Triton,
}

impl Dialect {
    /// Whether the compiler chooses the layouts of registers.
    pub fn leaves_layouts(self) -> bool {
        self != Dialect::Gluon
    }
}

/// What a parameter is given.
#[derive(Debug, Clone)]
pub enum Argument {
    Constant(Constant),
    /// Python that is evaluated where the kernel stands; the text itself where that gives nothing.
    Python(String),
    Pointer(super::language::Dtype),
    Scalar(super::language::Dtype),
    /// The layout as Python; the default one where nothing is said.
    Descriptor {
        element: super::language::Dtype,
        block: Vec<u64>,
        layout: Option<String>,
    },
}

/// What following a kernel came to.
#[derive(Debug)]
pub struct Trace {
    pub program: Program,
    /// What is not known of it. Empty: the program is whole.
    pub notes: Vec<Note>,
    /// What the compiler refuses.
    pub findings: Vec<Finding>,
    /// The block of each function, by [`Site::function`]; `None` for the kernel's own.
    pub functions: Vec<Option<BlockKey>>,
    /// Non-numeric parameters without a type, each with an example of one.
    pub untyped: BTreeMap<String, Example>,
    /// Those of them that an operand of a product is loaded through, with the element type that is usual there.
    pub usual: BTreeMap<String, Dtype>,
    /// Untyped parameters on which the contents of shared memory depend, with the type of a number that each is taken for.
    pub numbers: BTreeMap<String, &'static str>,
    /// Parameters without values that decide which statements the kernel has.
    pub undecided: BTreeSet<String>,
    /// It has block pointers, which Triton 3.9 has removed.
    pub has_block_pointers: bool,
    /// Loops whose bounds depend on a number that has no value.
    pub open_loops: usize,
    /// What a TLX kernel says of its memory, and where the memory of each of its specs is in the program.
    pub kernel: Kernel,
    pub specs: Vec<SpecMemory>,
}

impl Trace {
    /// The `static_assert` behind which nothing was followed.
    pub fn failed_assert(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.code == Code::StaticAssert)
    }
}

/// Helpers that call helpers deeper than this are not followed.
const DEEPEST_CALL: u32 = 24;
/// Most passes until the assumptions about loop-carried values hold.
const MOST_GUESSES: usize = 6;
/// Deeper expressions are not looked at.
const DEEPEST_EXPRESSION: u32 = 100;

/// Follows the kernel that a block is.
pub fn trace(ast: &Arc<Ast>, environment: &dyn Environment, launch: &Launch) -> Trace {
    let mut learnt = Learnt::default();
    for _ in 0..MOST_GUESSES {
        let mut tracer = Tracer::new(environment, launch, learnt.clone());
        tracer.kernel(ast);
        tracer.forget_unneeded_products();
        let (chained, related) = (tracer.chained_products(), tracer.related_products());
        let leading = tracer.leading_products();
        let is_settled = !tracer.is_overrated
            && tracer.products == learnt.products
            && chained == learnt.chained
            && leading == learnt.leading
            && related == learnt.related
            && tracer.accesses == learnt.accesses;
        if is_settled {
            return tracer.finish();
        }
        let Tracer { learnt: Learnt { guesses, .. }, products, accesses, .. } = tracer;
        learnt = Learnt { guesses, products, chained, leading, related, accesses };
    }
    // What is still not known to hold is not known.
    learnt.accesses.clear();
    learnt.guesses.values_mut().for_each(|guess| *guess = None);
    let mut tracer = Tracer::new(environment, launch, learnt);
    tracer.kernel(ast);
    tracer.finish()
}

/// What was learnt of a kernel when it was followed before, and is needed sooner than it is seen.
#[derive(Debug, Clone, Default)]
struct Learnt {
    /// What is known of what loops carry, where a round showed that it is less than of what they start with.
    guesses: FxHashMap<ValueId, Option<AxisInfo>>,
    /// Products that anything is needed for, with their shapes, by the block that they stand in.
    products: FxHashMap<u32, Vec<(ValueId, Vec<u64>)>>,
    /// Those of them that go into another one of their block, or that another one goes into.
    chained: BTreeSet<ValueId>,
    /// Those that go into another one, wherever it stands.
    leading: BTreeSet<ValueId>,
    related: Related,
    accesses: Accesses,
}

/// Elements that accesses to global memory take side by side, by the shape and the order in which they go through it.
type Accesses = FxHashMap<(Vec<u32>, Vec<u32>), BTreeSet<u64>>;

impl<'a> Tracer<'a> {
    fn new(environment: &'a dyn Environment, launch: &'a Launch, learnt: Learnt) -> Self {
        Tracer {
            environment,
            launch,
            program: Program::default(),
            blocks: vec![Block::default()],
            notes: Vec::new(),
            findings: Vec::new(),
            functions: vec![None],
            asked: Vec::new(),
            autos: Vec::new(),
            whiles: BTreeMap::new(),
            warps: launch.warps,
            depth: 0,
            nesting: 0,
            uncertain: 0,
            named: None,
            known: FxHashMap::default(),
            slices: Vec::new(),
            parents: FxHashMap::default(),
            given: FxHashMap::default(),
            contested: FxHashSet::default(),
            widened: FxHashSet::default(),
            loaded_bits: FxHashMap::default(),
            expanded_from: FxHashMap::default(),
            multiplied: FxHashMap::default(),
            costs: FxHashMap::default(),
            is_scenario: false,
            replica: None,
            numbers: Vec::new(),
            axes: Vec::new(),
            is_overlapped: false,
            of_untyped: FxHashMap::default(),
            of_branches: FxHashMap::default(),
            folded: FxHashMap::default(),
            untyped: BTreeMap::new(),
            usual: BTreeMap::new(),
            led: FxHashMap::default(),
            counts_from: FxHashMap::default(),
            counted: FxHashMap::default(),
            numbers_in_memory: BTreeSet::new(),
            floats: BTreeSet::new(),
            undecided: BTreeSet::new(),
            has_any: false,
            has_block_pointers: false,
            open_loops: 0,
            runs: false,
            specialized: None,
            constants: BTreeSet::new(),
            constexprs: 0,
            unpinned: BTreeMap::new(),
            allocated: BTreeMap::new(),
            specs: Vec::new(),
            facts: Facts::new(launch.kernel.clone()),
            learnt,
            widest: FxHashMap::default(),
            thin: FxHashSet::default(),
            single: FxHashSet::default(),
            is_overrated: false,
            takes_numbers: false,
            products: FxHashMap::default(),
            accesses: Accesses::default(),
            is_flattened: false,
            keeps_accumulators: false,
            keeps_invariants: false,
            open_option: None,
            unrolls: 1,
            carries: false,
            regions: vec![0],
            last_region: 0,
            is_ended: false,
        }
    }
}

struct Tracer<'a> {
    environment: &'a dyn Environment,
    launch: &'a Launch,
    program: Program,
    /// Those that are being filled, innermost last.
    blocks: Vec<Block>,
    notes: Vec<Note>,
    findings: Vec<Finding>,
    functions: Vec<Option<BlockKey>>,
    /// What the scratch of the program is for, by its number.
    asked: Vec<Asked>,
    /// What automatic layouts turn out to be.
    autos: Vec<Option<value::Registers>>,
    /// Those of tensors that a `while` carries, where the compiler chooses layouts: nothing but what the rounds compute decides them.
    whiles: BTreeMap<u32, Whiles>,
    /// Of the task that is followed.
    warps: u64,
    depth: u32,
    nesting: u32,
    /// Depth of enclosing branches with an unknown condition.
    uncertain: u32,
    /// The name that the value being computed is assigned to.
    named: Option<(Rc<str>, Option<Origin>)>,
    known: FxHashMap<(Home, Rc<str>), Value>,
    /// Which copy of a task is followed.
    replica: Option<u64>,
    /// A hash of what each value is computed from: values with one hash are equal.
    numbers: Vec<u64>,
    /// What is known of the elements of each value.
    axes: Vec<Option<Rc<AxisInfo>>>,
    /// The author asks for the loop around to be overlapped with itself.
    is_overlapped: bool,
    /// Untyped arguments, and what is computed from them, by the name of the argument.
    of_untyped: FxHashMap<ValueId, Rc<str>>,
    /// Numbers that are one constant or another by a branch that is not known, and what is computed of them, each with the branch's reason.
    of_branches: FxHashMap<ValueId, Reason>,
    /// What the compiler finds a number to be.
    folded: FxHashMap<ValueId, i64>,
    /// Those of them that turned out to be no numbers, each with an example.
    untyped: BTreeMap<String, Example>,
    /// Those that an operand of a product is loaded through, with the element type that is usual there.
    usual: BTreeMap<String, Dtype>,
    /// What is loaded through one of those, and what is computed from that, by its name.
    led: FxHashMap<ValueId, Rc<str>>,
    /// Sums of one of those and of something loaded, which are pointers if it is one, by its name.
    counts_from: FxHashMap<ValueId, Rc<str>>,
    /// Integers of 32 bits that are computed from one of them, which may have 64, by its name.
    counted: FxHashMap<ValueId, Rc<str>>,
    /// Those of them whose bytes an operation takes shared memory for.
    numbers_in_memory: BTreeSet<Rc<str>>,
    /// Those of them that are taken for floating-point numbers.
    floats: BTreeSet<Rc<str>>,
    undecided: BTreeSet<String>,
    /// Something has elements without a type.
    has_any: bool,
    has_block_pointers: bool,
    /// Loops that were met whose bounds depend on a number that has no value.
    open_loops: usize,
    /// The loop that comes next goes round several times.
    runs: bool,
    /// A loop that the author wants tasks to be made of.
    specialized: Option<Origin>,
    constants: BTreeSet<ValueId>,
    /// What is computed is for Python alone, and not a part of the kernel.
    constexprs: u32,
    /// Buffers whose layout the compiler may choose anew, with the bits of an element.
    unpinned: BTreeMap<BufferId, u64>,
    /// All of a buffer, and what is laid over it.
    allocated: BTreeMap<ValueId, BufferId>,
    /// Storage alias specs in shared memory by the size that the author gives them, if any.
    specs: Vec<(Option<Option<i64>>, Shared)>,
    facts: Facts,
    /// What is evaluated is the text of a scenario.
    is_scenario: bool,
    /// The first automatic layout is the slice of the second along a dimension.
    slices: Vec<(u32, u32, u32)>,
    /// What those of the compiler's layouts that are slices are slices of, and along which dimension.
    parents: FxHashMap<u64, (u32, Registers)>,
    /// Those of the compiler's layouts that an instruction gives what it loads or computes.
    given: FxHashMap<u64, Arc<Layout>>,
    /// Those of them that are not the only ones that some operation could have.
    contested: FxHashSet<u64>,
    /// Tensors with wider elements than some that they are computed from, which the compiler would rather convert.
    widened: FxHashSet<ValueId>,
    /// How wide the elements are that are loaded in a layout.
    loaded_bits: FxHashMap<u64, u32>,
    /// What a tensor with a dimension more was without it, and where that dimension is.
    expanded_from: FxHashMap<ValueId, (value::Tensor, usize)>,
    /// The two factors of each element.
    multiplied: FxHashMap<ValueId, [ValueId; 2]>,
    /// What it takes to compute a tensor once more in another layout, in bits an element: more than a conversion, and it is converted.
    costs: FxHashMap<ValueId, u64>,
    learnt: Learnt,
    /// The bits of the widest elements that a tensor which may be converted on the way had there.
    widest: FxHashMap<ValueId, u32>,
    /// Those that are no loads: tensors with a dimension of one element, which is converted where it is put in. What they are stretched over is none.
    thin: FxHashSet<ValueId>,
    /// Elements of an unknown type that were combined with some of `float32`, and are of 32 bits whatever shorter type they were read as.
    single: FxHashSet<ValueId>,
    /// An iteration contradicted an assumption: the trace since then is invalid.
    is_overrated: bool,
    /// Numbers that have no value were taken for integers.
    takes_numbers: bool,
    /// Products that anything is needed for, with their shapes, by the block that they stand in.
    products: FxHashMap<u32, Vec<(ValueId, Vec<u64>)>>,
    accesses: Accesses,
    /// The loop around carries something from round to round.
    carries: bool,
    /// The loop that comes next is to be made one with those in it.
    is_flattened: bool,
    /// The loop that comes next is to have one accumulator for each product.
    keeps_accumulators: bool,
    /// What is the same in all rounds stays in the loop that comes next.
    keeps_invariants: bool,
    /// Why an option of the loop that is entered next is not known.
    open_option: Option<Reason>,
    /// Copies of its body that the loop that comes next is to have.
    unrolls: i64,
    /// The blocks that are being filled, by number, innermost last.
    regions: Vec<u32>,
    last_region: u32,
    /// The compiler has refused the kernel, and reads no further.
    is_ended: bool,
}

/// A tensor that a `while` carries.
struct Whiles {
    shape: Rc<Vec<u64>>,
    /// The layout that it starts in, where something before the loop decides that.
    start: Option<Registers>,
}

/// A function that is being followed.
struct Frame {
    ast: Arc<Ast>,
    home: Home,
    /// In [`Trace::functions`].
    function: u32,
    names: FxHashMap<Rc<str>, Value>,
    /// Names that were assigned a number, or what may be one, without `tl.constexpr`: it is a tensor of the kernel from then on.
    plain: FxHashSet<Rc<str>>,
    /// The call in the kernel's own text through which it is followed.
    call: Option<Origin>,
    /// It runs while the kernel is compiled.
    is_host: bool,
    /// Loops of the kernel around, of this function's own.
    loops: u32,
}

impl Frame {
    /// Of a text that is evaluated while the kernel is compiled.
    fn of_host(ast: Arc<Ast>, home: Home) -> Frame {
        let (names, plain) = Default::default();
        Frame { ast, home, function: 0, names, plain, call: None, is_host: true, loops: 0 }
    }
}

/// The names of a frame for another one, or for later.
fn copied(names: &FxHashMap<Rc<str>, Value>) -> FxHashMap<Rc<str>, Value> {
    work::spend(names.len() as u64 / NAMES_A_STEP);
    names.clone()
}

/// Names that are copied in the time of a step.
const NAMES_A_STEP: u64 = 2;

/// Where control goes after a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Return,
    Break,
    Continue,
}

/// The key under which a frame keeps what it returns, which no name is.
const RETURNED: &str = "return";

/// The function that a block is.
fn function(ast: &Ast) -> Option<&FunctionSyntax> {
    ast.body.iter().find_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => Some(function),
        _ => None,
    })
}

impl Tracer<'_> {
    fn kernel(&mut self, ast: &Arc<Ast>) {
        let Some(syntax) = function(ast) else { return };
        let mut frame = Frame { is_host: false, ..Frame::of_host(ast.clone(), Home::KERNEL) };
        let environment = self.environment;
        let usages = LazyCell::new(|| Usages::of(ast, &|path| environment.canonical(Home::KERNEL, path)));
        for param in &syntax.params {
            let Some(name) = ast.name(param.name) else { continue };
            let value = match self.launch.arguments.get(name) {
                Some(argument) => self.argument(&mut frame, param.name, name, &argument.clone()),
                None => match param.default {
                    Some(default) => self.value(&mut frame, default),
                    None => self.unnamed_argument(&frame, param, || usages.of_param(name)),
                },
            };
            frame.names.insert(name.into(), value);
        }
        self.body(&mut frame, &syntax.body);
    }

    fn finish(mut self) -> Trace {
        if let Some(body) = self.blocks.pop() {
            self.program.body = body;
        }
        self.settle_whiles();
        self.settle_slices();
        let sizes: Vec<Scratch> = (0..self.asked.len()).map(|i| self.scratch_size(i)).collect();
        self.program.scratch = sizes;
        let target = self.is_amd().then_some(self.launch.hardware.capability);
        tlx::amd::padding::pad(&mut self.program, &self.unpinned, target);
        self.settle_specialized();
        let numbers = self.numbers_in_memory.iter().map(|name| (name.to_string(), "i32"));
        let numbers = numbers.chain(self.floats.iter().map(|name| (name.to_string(), "fp32")));
        let numbers = numbers.filter(|(name, _)| !self.untyped.contains_key(name)).collect();
        let Tracer { program, notes, findings, functions, untyped, usual, undecided, open_loops, facts, .. } = self;
        let (Facts { kernel, specs, .. }, has_block_pointers) = (facts, self.has_block_pointers);
        Trace {
            program,
            notes,
            findings,
            functions,
            untyped,
            usual,
            numbers,
            undecided,
            has_block_pointers,
            open_loops,
            kernel,
            specs,
        }
    }

    /// Unused values are gone when the compiler chooses the layouts of products.
    fn forget_unneeded_products(&mut self) {
        let Some(body) = self.blocks.last() else { return };
        let needed = needed(body, self.program.types.len());
        for products in self.products.values_mut() {
            products.retain(|(id, _)| needed[id.0 as usize]);
        }
        self.products.retain(|_, products| !products.is_empty());
    }

    fn related_products(&self) -> Related {
        let Some(body) = self.blocks.last().filter(|_| self.launch.dialect == Dialect::Triton) else {
            return Related::default();
        };
        related::related(&self.program, body, &|value| self.numbered(value))
    }

    /// Products of one block that are computed from one another. What loops carry is not followed.
    fn chained_products(&self) -> BTreeSet<ValueId> {
        let mut chained = BTreeSet::new();
        let Some(body) = self.blocks.last() else { return chained };
        for products in self.products.values().filter(|products| products.len() > 1) {
            for &(product, _) in products {
                let mut computed = FxHashSet::from_iter([product]);
                body.each(&mut |op| {
                    work::spend(1);
                    if op.operands.iter().any(|operand| computed.contains(operand)) {
                        computed.extend(&op.results);
                    }
                });
                let others = products.iter().map(|(other, _)| *other);
                let mut later = others.filter(|other| *other != product && computed.contains(other)).peekable();
                if later.peek().is_some() {
                    chained.insert(product);
                    chained.extend(later);
                }
            }
        }
        chained
    }

    /// Products from which another one is computed, or a loop or a branch with one in it is started (`warpsPerTileV3` in `AccelerateMatmul.cpp`).
    /// What loops and branches hand out is not followed.
    fn leading_products(&self) -> BTreeSet<ValueId> {
        /// Adds what leads to a product; whether the block has one.
        fn lead(block: &Block, products: &BTreeSet<ValueId>, leading: &mut FxHashSet<ValueId>) -> bool {
            let mut has_product = false;
            for op in block.ops.iter().rev() {
                work::spend(1);
                let is_product = op.results.iter().any(|result| products.contains(result));
                let is_followed = op.results.iter().any(|result| leading.contains(result));
                let mut holds_product = false;
                for inner in op.kind.blocks() {
                    holds_product |= lead(inner, products, leading);
                }
                if is_product || is_followed || holds_product {
                    leading.extend(&op.operands);
                }
                has_product |= is_product || holds_product;
            }
            has_product
        }
        let products: BTreeSet<ValueId> = self.products.values().flatten().map(|(id, _)| *id).collect();
        let mut leading = FxHashSet::default();
        if let Some(body) = self.blocks.last() {
            lead(body, &products, &mut leading);
        }
        products.into_iter().filter(|product| leading.contains(product)).collect()
    }

    /// Of loops that load through pointers alone the compiler makes no tasks: they take what others take.
    fn settle_specialized(&mut self) {
        let Some(at) = self.specialized else { return };
        let mut is_through_descriptor = self.launch.dialect != Dialect::Triton;
        self.program.body.each(&mut |op| is_through_descriptor |= matches!(op.kind, Kind::StagedLoad { .. }));
        self.program.is_guessed = true;
        if is_through_descriptor {
            for buffer in &mut self.program.buffers {
                if let (Use::Staging, Memory::Shared { size, .. }) = (buffer.use_, &mut buffer.memory) {
                    *size = Bytes::Between(0, size.high(), Reason::new(SPECIALIZED));
                }
            }
            self.notes.push(Note { at, reason: Reason::new(SPECIALIZED) });
        }
    }

    fn is_amd(&self) -> bool {
        self.launch.hardware.vendor == Vendor::Amd
    }

    fn new_value(&mut self, of: Type) -> ValueId {
        self.program.types.push(of);
        let id = ValueId(self.program.types.len() as u32 - 1);
        self.numbers.push(identity(("value", id)));
        self.axes.push(None);
        id
    }

    /// A hash of what a value is computed from.
    fn numbered(&self, value: ValueId) -> u64 {
        self.numbers.get(value.0 as usize).copied().unwrap_or_default()
    }

    fn site(&self, frame: &Frame, expr: ExprId) -> Site {
        Site { function: frame.function, expr, call: frame.call.unwrap_or(Origin::Expr(expr)) }
    }

    fn push(&mut self, op: Op) {
        if matches!(op.kind, Kind::Scratch(_)) {
            let number = |operand: &ValueId| self.number_of(*operand);
            let numbers: Vec<Rc<str>> = op.operands.iter().filter_map(number).collect();
            self.numbers_in_memory.extend(numbers);
        }
        if let Some(block) = self.blocks.last_mut() {
            block.ops.push(op);
        }
    }

    /// The argument of unknown type that an integer is computed from, which is taken for one of 32 bits.
    fn number_of(&self, value: ValueId) -> Option<Rc<str>> {
        self.of_untyped.get(&value).or_else(|| self.counted.get(&value)).cloned()
    }

    /// An operation with one result.
    fn emit(&mut self, frame: &Frame, at: ExprId, op: Emitted<'_>) -> ValueId {
        let result = self.new_value(op.of);
        if op.effect == Effect::None && op.name != "argument" {
            let operands: Vec<u64> = op.operands.iter().map(|&operand| self.numbered(operand)).collect();
            self.numbers[result.0 as usize] = identity((op.name, op.identity, operands));
        }
        if matches!(op.kind, Kind::Constant) {
            self.constants.insert(result);
        }
        if let Some(name) = op.operands.iter().find_map(|operand| self.led.get(operand)).cloned() {
            self.led.insert(result, name);
        }
        if SAME_ELEMENTS.contains(&op.name)
            && let Some(of) = op.operands.first()
        {
            for names in [&mut self.of_untyped, &mut self.counts_from] {
                if let Some(name) = names.get(of).cloned() {
                    names.insert(result, name);
                }
            }
            if let Some(name) = self.number_of(*of) {
                self.counted.insert(result, name);
            }
        }
        let op = Op {
            name: op.name,
            at: self.site(frame, at),
            effect: op.effect,
            operands: op.operands.to_vec(),
            results: vec![result],
            identity: op.identity,
            kind: op.kind,
        };
        self.push(op);
        result
    }

    /// An operation that reads memory, or what its operands are computed from, and gives a tensor.
    fn reads(&mut self, frame: &Frame, at: ExprId, name: &'static str, operands: &[ValueId]) -> ValueId {
        let (effect, of, kind) = (Effect::Reads, Type::Tensor, Kind::Plain);
        self.emit(frame, at, Emitted { name, effect, operands, of, identity: 0, kind })
    }

    /// An operation that has an effect and no result.
    fn effect(&mut self, frame: &Frame, at: ExprId, name: &'static str, operands: Vec<ValueId>) {
        let at = self.site(frame, at);
        let kind = Kind::Plain;
        self.push(Op { name, at, effect: Effect::Writes, operands, results: Vec::new(), identity: 0, kind });
    }

    fn open(&mut self) {
        self.last_region += 1;
        self.regions.push(self.last_region);
        self.blocks.push(Block::default());
    }

    /// Ends the block that is being filled, with what it yields.
    fn close(&mut self, frame: &Frame, at: ExprId, yields: Vec<ValueId>) -> Block {
        let at = self.site(frame, at);
        self.regions.pop();
        let mut block = self.blocks.pop().unwrap_or_default();
        let yields = Op {
            name: "yield",
            at,
            effect: Effect::None,
            operands: yields,
            results: Vec::new(),
            identity: 0,
            kind: Kind::Yield,
        };
        block.ops.push(yields);
        block
    }

    /// Something that the total depends on and that is not known.
    fn note(&mut self, frame: &Frame, at: ExprId, reason: Reason) {
        if !self.notes.iter().any(|note| note.reason == reason) {
            self.notes.push(Note { at: frame.call.unwrap_or(Origin::Expr(at)), reason });
        }
    }

    /// The name that the value of this expression is assigned to.
    fn assigned(&self) -> Option<Assigned> {
        self.named.as_ref().map(|(name, at)| (name.as_ref().into(), *at))
    }

    /// Makes a buffer of what the author allocates.
    fn allocate(&mut self, frame: &Frame, at: ExprId, made: Made, of: Type, operands: &[ValueId]) -> ValueId {
        let (name, name_at) = match self.named.clone() {
            Some((name, at)) => (name.to_string(), at),
            None => (made.function.to_owned(), None),
        };
        let id = BufferId(self.program.buffers.len() as u32);
        self.program.buffers.push(Buffer {
            name: name.as_str().into(),
            at: self.site(frame, at),
            name_at,
            shape: made.shape,
            dtype: made.dtype,
            memory: made.memory,
            use_: made.use_,
            copies: 1,
        });
        let op = Emitted {
            name: made.function,
            effect: Effect::Allocates,
            operands,
            of,
            identity: u64::from(id.0),
            kind: Kind::Allocation(id),
        };
        let value = self.emit(frame, at, op);
        self.allocated.insert(value, id);
        value
    }

    /// Takes note of scratch whose size is found when all is followed.
    fn asks(&mut self, asked: Asked) -> Kind {
        self.asked.push(asked);
        Kind::Scratch(ScratchId(self.asked.len() as u32 - 1))
    }
}

const SPECIALIZED: &str = "what a loop with `warp_specialize` takes that loads through descriptors is not modelled";

/// Operations that give elements another shape or layout.
const SAME_ELEMENTS: [&str; 7] = ["broadcast", "convert_layout", "expand_dims", "permute", "reshape", "splat", "trans"];

/// What an operation with one result is made of.
struct Emitted<'o> {
    name: &'static str,
    effect: Effect,
    operands: &'o [ValueId],
    of: Type,
    identity: u64,
    kind: Kind,
}

/// What a buffer is made of.
struct Made {
    function: &'static str,
    shape: Vec<u64>,
    dtype: &'static str,
    memory: Memory,
    use_: Use,
}

fn identity(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The same in all of Triton's messages.
fn not_modelled(what: &str) -> Value {
    // Triton calls so what it tries out, and has taken all of it back before 3.8.
    let is_old = what.starts_with("_experimental_") || what.starts_with("experimental_");
    unknown(match is_old {
        true => format!("Triton 3.8 and 3.9, which tilefit models, have no `{what}`"),
        false => format!("`{what}` is not modelled"),
    })
}

impl Bytes {
    fn of(size: Result<u64, Reason>, most: u64) -> Bytes {
        match size {
            Ok(bytes) => Bytes::Exactly(bytes),
            Err(reason) if most > 0 => Bytes::Between(0, most, reason),
            Err(_) => Bytes::Exactly(0),
        }
    }
}

/// A function of the author's, for a frame of its own.
fn callee(function: &Function) -> Option<&FunctionSyntax> {
    match function.inner {
        Some(stmt) => match function.ast.stmt(stmt) {
            Stmt::Function(syntax) => Some(syntax),
            _ => None,
        },
        None => self::function(&function.ast),
    }
}

//! The kernel IR: one kernel in SSA form, structured control flow, no positions.
//!
//! Lowering builds it from author source with implicit carries made explicit; the passes of [`crate::memory`] rewrite it as the
//! compiler's passes do. Nodes point back to the block's syntax tree through [`Origin`], so that text which
//! moves changes nothing here.

mod copies;
mod display;
pub(crate) mod fold;
pub(crate) mod rewrite;
mod types;
pub mod visit;

use std::collections::BTreeMap;
use std::sync::Arc;

use tilefit_python::work;
use tilefit_syntax::BlockKey;
use tilefit_syntax::ast::ExprId;

use tilefit_python::element::{Dtype, Pad};
use tilefit_python::finding::{Note, Origin, Reason, Remedy};

pub use crate::ops::AttrName;
use crate::ops::{BarrierMode, Coalesce, CoreType, NotifyOp, OpId, Pipe, WaitCmp};
use crate::target::Space;
pub use copies::{BodyCopy, Copies, Part};
pub use display::Allocated;
pub use types::{BLayout, Layout, SLayout, TensorLayout, TensorType, TileType, TileView, Type};

/// Index of a variable in [`Kernel::vars`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// `kernel`, or `main_incore_0` for a scope that the compiler outlines.
    pub name: String,
    pub kind: KernelKind,
    /// The function, or the `with` statement, that this kernel is.
    pub origin: Origin,
    /// Where its name stands in the text.
    pub name_origin: Origin,
    /// The function of the same file whose text it is a scope of, where that is another one than the function that it is made for:
    /// one that is put in place of its calls. All origins are nodes of that text.
    pub inlined_from: Option<BlockKey>,
    /// The functions that are put in place of calls in it, with those that lead to its scope from another file.
    pub inlined: Vec<Inlined>,
    /// The names that statements assign to, by the nodes that they are made of. What the compiler adds to a statement is called after it.
    pub targets: BTreeMap<Origin, Arc<str>>,
    pub params: Vec<VarId>,
    /// Scalars of the `@pl.jit` entry that it is a scope of. Where the entry is called with a number, that stands in their place.
    pub called_with: Vec<VarId>,
    /// The provenance of the tensors that host code gives to a kernel: which memory each of them is. Empty where it does not say so for every launch.
    pub provenance: Vec<(VarId, Storage)>,
    pub handover: Handover,
    pub vars: Vec<Var>,
    pub body: Vec<Stmt>,
    /// A scope of host code, which the compiler makes a kernel of.
    pub is_scope: bool,
    /// What that scope is called in the text, by `name_hint`; several may be called the same.
    pub hint: Option<String>,
    /// Written on tensors: the statements on tiles are the compiler's.
    pub on_tensors: bool,
    /// How the cube and the vector core work together, where the kernel becomes one for each.
    pub cross_core: CrossCore,
    /// An inner one stands before those around it.
    pub vector_regions: Vec<VectorRegion>,
    /// The author's `pl.MemRef` declarations that the kernel's tiles are bound to.
    pub allocations: Vec<DeclaredAllocation>,
    /// What is not modelled. A kernel with notes has no exact plan, but the rest of it is analysed.
    pub notes: Vec<Note>,
    /// What the compiler's front end rejects.
    pub rejections: Vec<Rejection>,
    /// How the compiler divides its matrix products, in the order of the text.
    pub tilings: Vec<Tiling>,
    /// Carried names that copies of a pipeline read as variables that no loop binds.
    pub strays: Vec<Stray>,
    /// Where the author asks for the stages of a group ([`PipelineStage::group`]).
    pub asked_stages: Vec<(u32, Origin)>,
    pub copies: Copies,
}

/// A function that is put in place of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Inlined {
    /// Its file, and its block there.
    pub path: Arc<str>,
    pub function: BlockKey,
    /// The call, in the function at this index, else in the block.
    pub call: ExprId,
    pub within: Option<u32>,
}

/// A name that a loop carries, as the copies of a pipeline inside of that loop read it: to the compiler it is a variable of its own,
/// which no loop binds. It lies where the loop's first value lay before any sharing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stray {
    pub var: VarId,
    pub first: FirstValue,
    /// The value that the author reads there.
    pub means: VarId,
}

/// The value that a loop begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FirstValue {
    /// What the loop with this carried name begins with.
    OfCarry(VarId),
    /// The value itself, where the loop is taken apart.
    Value(VarId),
}

impl FirstValue {
    /// The variable in whose memory the value is.
    pub fn var(self) -> VarId {
        match self {
            FirstValue::OfCarry(var) | FirstValue::Value(var) => var,
        }
    }
}

/// The memory of a tensor that host code gives to a kernel. Equal values are the same memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Storage {
    /// Given to the host function itself, so that others may hold it too.
    Given(VarId),
    /// `pl.create_tensor` in the host function, or the result of another scope of it.
    Made(VarId),
    /// Not followed.
    Unclear,
}

/// What the host does with the tensors around a scope, as far as it decides where the compiler stores the scope's results (its
/// OptimizeOrchTensors).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Handover {
    /// Results that the loop around the scope carries into its next round: which one, and the parameter that takes it there.
    pub carried_back: Vec<(usize, VarId)>,
    /// Parameters whose tensor nothing else reads.
    pub consumed: Vec<VarId>,
    /// Parameters whose tensor something else may read.
    pub unclear: Vec<VarId>,
}

/// How the compiler computes a matrix product in blocks, and why (its AutoTileMatmulL0).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tiling {
    pub statement: Origin,
    /// Rows, columns and depth of the product.
    pub product: [i64; 3],
    /// The same of a block.
    pub block: [i64; 3],
    /// The memory whose content stays while blocks pass by.
    pub stays: Space,
    pub two_accumulators: bool,
    /// Cycles by the compiler's cost model: loads and multiplications go on at the same time.
    pub load: i64,
    pub multiply: i64,
    pub drain: i64,
    pub cycles: i64,
    /// Where the product does not fit at once: the memory, the bytes that it would need there, and those that a block may take.
    pub limits: Vec<(Space, i64, i64)>,
}

/// `optimizations=` of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CrossCore {
    /// Tiles that fit into the queue between the cores.
    pub slots: u64,
    /// How the two vector units share the work; `None`: the second repeats what the first does, with empty tiles.
    pub split: Option<SplitMode>,
    /// The author says with `pl.split_aiv` what each vector unit does, so that nothing is divided or repeated.
    pub units_told_apart: bool,
    /// Of a vector kernel that the author wrote as such.
    pub repetition: Repetition,
    /// Of a scope on blocks, where it is known.
    pub launch: Option<Launch>,
}

/// How `pl.spmd` launches a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Launch {
    pub blocks: Blocks,
    /// With `sync_start=True`.
    pub at_once: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Blocks {
    Known(u64),
    /// As many as `pl.system.available_cluster_count()` says.
    EveryCube,
    /// As many as `pl.system.available_aiv_count()` says.
    EveryVectorUnit,
}

impl Default for CrossCore {
    fn default() -> Self {
        CrossCore { slots: 2, split: None, units_told_apart: false, repetition: Repetition::None, launch: None }
    }
}

/// Whether the second vector unit goes through a vector kernel with empty tiles, which 910B needs where whole tiles cross between
/// the cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repetition {
    None,
    /// The attribute `dual_aiv_dispatch`, or launched with a cube kernel.
    Second,
    /// Launched with a cube kernel and in other ways, so that the compiler makes a copy for each, or with a kernel that may be one.
    Unclear,
}

/// `pl.split_aiv`: statements for the vector units, each of which does them for itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VectorRegion {
    /// How the units share what comes from the cube.
    pub split: Option<SplitMode>,
    /// Not known of a function of another file, where each statement stands for the call.
    pub stmts: Option<Vec<Origin>>,
}

/// The axis along which the vector units share tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SplitMode {
    UpDown,
    LeftRight,
}

impl SplitMode {
    /// The member of `pl.SplitMode`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SplitMode::UpDown => "UP_DOWN",
            SplitMode::LeftRight => "LEFT_RIGHT",
        }
    }

    /// The axis of a tile of two dimensions.
    pub(crate) fn axis(self) -> usize {
        match self {
            SplitMode::UpDown => 0,
            SplitMode::LeftRight => 1,
        }
    }

    /// `split=` of transfers that the vector units share evenly; 0 is for those that are not divided.
    pub(crate) fn code(self) -> i64 {
        match self {
            SplitMode::UpDown => 1,
            SplitMode::LeftRight => 2,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KernelKind {
    /// Not yet split into cube and vector parts.
    InCore,
    /// Cube core.
    Aic,
    /// Vector core.
    Aiv,
}

/// Something that the compiler refuses at parse time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rejection {
    pub at: Origin,
    pub code: tilefit_python::diagnostics::Code,
    pub message: String,
    /// Other places that the message speaks of, and what is there.
    pub related: Vec<(Origin, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Var {
    /// The author's name; for inserted variables the compiler's.
    pub name: String,
    pub ty: Type,
    pub role: Role,
    /// Why the compiler makes it, where the author does not name it.
    pub inserted: Option<Why>,
    pub origin: Origin,
}

/// What the compiler makes a value for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// The value of a call that is an operand of another one.
    NestedCall,
    /// A parameter that an operation reads whole.
    WholeParameter,
    /// A window with the axes that the author drops.
    Window,
    /// A tensor that is written into a tile.
    AssembledSource,
    /// What one matrix of a batch is computed in.
    BatchPage,
    /// What an instruction needs beside its operands.
    Scratch,
    ReductionScratch,
    TransposeScratch,
    ComparisonMask,
    /// The values that a comparison's bits select.
    ComparisonValue,
    Gathering,
    /// An operand of a division in the common element type.
    DivisionOperand,
    /// A conversion on the way to another.
    CastStep,
    /// An operand in rows, for an operation on rows.
    RowOperand,
    /// A result in rows, of which the author's value is a view.
    RowResult,
    /// A slice that starts where an instruction cannot.
    SliceCopy,
    /// What the cube reads in Left, in Right and in its table of biases.
    LeftOperand,
    RightOperand,
    Bias,
    /// An operand of a product in Mat.
    MatOperand,
    TransposedView,
    /// A product that another one reads, in Mat.
    ProductInMat,
    /// Blocks of a product: its left operand as a whole, blocks of both operands, and what the products of blocks add up in.
    StagedLeft,
    LeftBlock,
    RightBlock,
    BlockAccumulator,
    /// A part of a product that is computed in tiles of its result.
    ProductTile,
    CrossesCores,
    /// Packed in boxes, on its way to the cube.
    Boxed,
    /// Out of the queue between the cores.
    Received,
    /// A copy to where a loop or branch carries the value.
    CarriedCopy,
    Intermediate,
}

/// How a variable gets its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    Param,
    Def,
    LoopIndex,
    IterArg,
    LoopResult,
    IfResult,
    /// Only the other core makes it: here it is read, but nothing defines it.
    OtherCore,
}

/// `buf = pl.MemRef(slots=N)`: memory that tiles are bound to by annotation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeclaredAllocation {
    pub name: String,
    pub slots: u32,
}

/// Index of a declared allocation in [`Kernel::allocations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AllocationId(pub u32);

/// The slot of a declared allocation that a tile is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Binding {
    pub allocation: AllocationId,
    pub slot: Scalar,
    /// Whether the slot is more than a number or the name of one: the compiler leaves such an expression as it is, also where its value
    /// is known.
    pub is_computed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Stmt {
    /// `var = value`
    Let {
        var: VarId,
        value: Value,
        origin: Origin,
    },
    /// A call for its effect: `pl.store(...)` without a result, synchronisation, …
    Eval {
        call: Call,
        origin: Origin,
    },
    For(For),
    While(While),
    If(If),
    /// Last statement of a loop body or branch: the values of the carries or results, in order.
    Yield {
        values: Vec<Operand>,
        origin: Origin,
    },
    Return {
        values: Vec<Operand>,
        origin: Origin,
    },
    Break(Origin),
    Continue(Origin),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct For {
    pub kind: LoopKind,
    pub index: VarId,
    pub start: Scalar,
    pub stop: Scalar,
    pub step: Scalar,
    pub carries: Vec<Carry>,
    /// Ends with a [`Stmt::Yield`] of one value per carry, if there are carries.
    pub body: Vec<Stmt>,
    pub origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoopKind {
    Range,
    Parallel,
    /// `pl.unroll`: constant bounds, one copy of the body per iteration.
    Unroll,
    /// `pl.pipeline(stage=F)`
    Pipeline {
        stages: u32,
        /// Where the author asks for them; `None` of the compiler's own loops, and of what stands in another file.
        asked: Option<Origin>,
    },
    Spmd,
    SplitAiv,
}

impl LoopKind {
    /// Where the author asks for stages.
    pub fn asked_stages(self) -> Option<Origin> {
        match self {
            LoopKind::Pipeline { asked, .. } => asked,
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct While {
    pub condition: Scalar,
    pub carries: Vec<Carry>,
    pub body: Vec<Stmt>,
    pub origin: Origin,
}

/// A value that a loop hands from one iteration to the next.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Carry {
    pub init: Operand,
    /// The name inside of the loop.
    pub iter: VarId,
    /// The name after the loop.
    pub result: VarId,
    /// Written with `init_values`, not by rebinding a name.
    pub explicit: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct If {
    pub condition: Scalar,
    /// With results, both branches end with a [`Stmt::Yield`] of one value per result.
    pub then: Vec<Stmt>,
    pub otherwise: Vec<Stmt>,
    /// False where the author wrote no `else` (and none was made for the results).
    pub has_else: bool,
    pub results: Vec<VarId>,
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    Call(Call),
    /// `y = x`
    Copy(VarId),
    Scalar(Scalar),
    /// Element of a tuple-typed variable.
    Element {
        tuple: VarId,
        index: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    pub op: OpId,
    /// In the operand order of the IR (`ir_args` of the operation table).
    pub args: Vec<Operand>,
    /// Keyword attributes (`ir_attrs`): `target_memory`, `mode`, …
    pub attrs: Vec<(AttrName, Attr)>,
    pub origin: Origin,
}

impl Call {
    pub fn attr(&self, name: AttrName) -> Option<&Attr> {
        self.attrs.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The attribute, if it is a number.
    pub fn int(&self, name: AttrName) -> Option<i64> {
        match self.attr(name) {
            Some(Attr::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// The attribute, if it is a string.
    pub fn text(&self, name: AttrName) -> Option<&str> {
        match self.attr(name) {
            Some(Attr::Str(value)) => Some(value),
            _ => None,
        }
    }

    pub fn core_type(&self) -> Option<CoreType> {
        match self.attr(AttrName::CoreType) {
            Some(Attr::CoreType(cores)) => Some(*cores),
            _ => None,
        }
    }

    /// The attribute, if it is an element type.
    pub fn dtype(&self, name: AttrName) -> Option<Dtype> {
        match self.attr(name) {
            Some(Attr::Dtype(value)) => Some(*value),
            _ => None,
        }
    }

    /// Whether the attribute is `True`.
    pub fn flag(&self, name: AttrName) -> bool {
        self.attr(name) == Some(&Attr::Bool(true))
    }

    /// The memory that the author, or a pass, wants the result in.
    pub fn target_memory(&self) -> Option<Space> {
        match self.attr(AttrName::TargetMemory) {
            Some(Attr::Space(space)) => Some(*space),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A tile, tensor, tuple or scalar variable.
    Var(VarId),
    Scalar(Scalar),
    /// A list literal: offsets, shapes.
    List(Vec<Scalar>),
    Unknown(Reason),
}

impl Operand {
    pub fn var(&self) -> Option<VarId> {
        match self {
            Operand::Var(var) | Operand::Scalar(Scalar::Var(var)) => Some(*var),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Attr {
    Int(i64),
    Float(tilefit_syntax::ast::FloatBits),
    Bool(bool),
    /// A name of the author's, or a word that means nothing to tilefit.
    Str(String),
    CoreType(CoreType),
    BarrierMode(BarrierMode),
    NotifyOp(NotifyOp),
    WaitCmp(WaitCmp),
    Pipe(Pipe),
    Coalesce(Coalesce),
    Dtype(Dtype),
    Pad(Pad),
    BLayout(BLayout),
    SLayout(SLayout),
    Space(crate::target::Space),
    Ints(Vec<i64>),
    /// [`AttrName::PipelineStages`]
    Stages(Vec<PipelineStage>),
    Unknown(Reason),
}

/// One copy of a replicated pipeline body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PipelineStage {
    /// One number for each region that is replicated.
    pub group: u32,
    pub stage: u32,
}

/// A scalar expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scalar {
    Int(i64),
    Float(tilefit_syntax::ast::FloatBits),
    Bool(bool),
    /// A number that the author gives a type, `pl.const(1, pl.INT32)`. In SSA form it is so only as an operand of its own; elsewhere
    /// it is the number.
    Const(Dtype, Box<Scalar>),
    Var(VarId),
    Unary(ScalarUnary, Box<Scalar>),
    Binary(ScalarBinary, Box<Scalar>, Box<Scalar>),
    Cast(Dtype, Box<Scalar>),
    /// Extent of a tensor's axis.
    Dim {
        tensor: VarId,
        axis: u32,
    },
    /// A `pl.dynamic("N")` extent.
    Dynamic(String),
    /// A call that yields a scalar: `pl.tile.get_block_idx()`, a tile read.
    Call(Box<Call>),
    Unknown(Reason),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScalarUnary {
    Neg,
    Not,
    BitNot,
    Abs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScalarBinary {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    FloorMod,
    Shl,
    Shr,
    Min,
    Max,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

impl ScalarBinary {
    /// How authors write the operator.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            ScalarBinary::Add => "+",
            ScalarBinary::Sub => "-",
            ScalarBinary::Mul => "*",
            ScalarBinary::Div => "/",
            ScalarBinary::FloorDiv => "//",
            ScalarBinary::FloorMod => "%",
            ScalarBinary::Shl => "<<",
            ScalarBinary::Shr => ">>",
            ScalarBinary::Min => "min",
            ScalarBinary::Max => "max",
            ScalarBinary::Eq => "==",
            ScalarBinary::Ne => "!=",
            ScalarBinary::Lt => "<",
            ScalarBinary::Le => "<=",
            ScalarBinary::Gt => ">",
            ScalarBinary::Ge => ">=",
            ScalarBinary::And => "and",
            ScalarBinary::Or => "or",
        }
    }
}

impl Scalar {
    /// The integer that is written here, with or without an element type.
    pub fn as_literal(&self) -> Option<i64> {
        match self {
            Scalar::Int(value) => Some(*value),
            Scalar::Const(_, number) => number.as_literal(),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            Scalar::Int(value) => Some(*value),
            Scalar::Cast(_, inner) | Scalar::Const(_, inner) => inner.as_int(),
            _ => None,
        }
    }
}

impl Var {
    /// What the author can do about a tensor whose shape is not known.
    pub(crate) fn way_to_shape(&self) -> Option<Remedy> {
        let is_of_author = self.role == Role::Param && self.inserted.is_none();
        is_of_author.then(|| Remedy::Shape { param: self.name.clone() })
    }

    /// Why a tensor has no extents to compute with.
    pub(crate) fn lack_of_shape(&self) -> Reason {
        match &self.ty {
            Type::Tensor(tensor) if !tensor.rank_known => {
                Reason::new(format!("the shape of `{}` is unknown", self.name)).with_remedy(self.way_to_shape())
            }
            _ => Reason::new(format!("the shape of `{}` is not constant", self.name)),
        }
    }
}

impl Rejection {
    /// One that speaks of no other place.
    pub(crate) fn new(at: Origin, code: tilefit_python::diagnostics::Code, message: impl Into<String>) -> Rejection {
        Rejection { at, code, message: message.into(), related: Vec::new() }
    }
}

/// What a variable costs, with the statement that defines it.
const STEPS_A_VARIABLE: u64 = 4;

impl Kernel {
    /// A kernel in which nothing stands yet.
    pub(crate) fn new(name: &str, kind: KernelKind, origin: Origin) -> Kernel {
        Kernel {
            name: name.to_owned(),
            kind,
            origin,
            name_origin: origin,
            inlined_from: None,
            inlined: Vec::new(),
            targets: BTreeMap::new(),
            params: Vec::new(),
            called_with: Vec::new(),
            provenance: Vec::new(),
            handover: Handover::default(),
            vars: Vec::new(),
            body: Vec::new(),
            is_scope: false,
            hint: None,
            on_tensors: false,
            cross_core: CrossCore::default(),
            vector_regions: Vec::new(),
            allocations: Vec::new(),
            notes: Vec::new(),
            rejections: Vec::new(),
            tilings: Vec::new(),
            strays: Vec::new(),
            asked_stages: Vec::new(),
            copies: Copies::default(),
        }
    }

    /// The name that a statement assigns to.
    pub fn target(&self, statement: Origin) -> Option<&str> {
        self.targets.get(&statement).map(|name| &**name)
    }

    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.0 as usize]
    }

    pub fn var_mut(&mut self, id: VarId) -> &mut Var {
        &mut self.vars[id.0 as usize]
    }

    pub fn add_var(&mut self, var: Var) -> VarId {
        work::spend(STEPS_A_VARIABLE);
        self.vars.push(var);
        VarId(self.vars.len() as u32 - 1)
    }

    pub fn tile(&self, id: VarId) -> Option<&TileType> {
        match &self.var(id).ty {
            Type::Tile(tile) => Some(tile),
            _ => None,
        }
    }

    pub fn tensor(&self, id: VarId) -> Option<&TensorType> {
        match &self.var(id).ty {
            Type::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

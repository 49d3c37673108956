//! The operation catalogue: one row per operation, read by lowering, the passes, the memory pipeline, code generation and the
//! editor features (`docs/reference/operations.md`).

mod about;
mod array;
mod attr_name;
mod broadcast;
mod cross_core;
mod demands;
mod distributed;
mod elementwise;
mod gather;
mod matmul;
mod movement;
mod pipe;
mod prefetch;
mod reduction;
mod select;
pub mod selection;
mod signatures;
mod sync;
mod tensor;
mod unary;
mod views;
mod words;

use std::collections::HashMap;
use std::sync::LazyLock;

use tilefit_python::element::{Dtype, Pad};

use crate::target::Space;
pub use attr_name::AttrName;
pub use demands::{Axis, Demand, Demands, Dtypes, Literals};
pub use pipe::Pipe;
pub use selection::Selection;
pub use signatures::{Signature, construct, signature};
pub use words::{BarrierMode, Coalesce, CoreType, NotifyOp, WaitCmp};

/// An operation of the IR, by its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u16);

/// What the compiler knows about one operation.
#[derive(Debug, Clone, Copy)]
pub struct Op {
    /// In the IR and in dumps: `tile.add`.
    pub name: &'static str,
    pub namespace: Namespace,
    /// How authors write it, after `pl.`, and which calls of that name it is.
    pub names: &'static [(&'static str, When)],
    /// Its name before 2026-03-06.
    pub legacy: Option<&'static str>,
    pub category: Category,
    /// Parameters as authors pass them: positional ones in order, then those that only have a keyword.
    pub params: &'static [Param],
    /// Operands of the IR call, in order.
    pub args: &'static [&'static str],
    pub shape: Shape,
    pub dtype: DtypeRule,
    pub view: View,
    /// Spaces that an operand may be in; the first one is where the compiler moves it otherwise. Others may be anywhere.
    pub inputs: &'static [(u8, &'static [Space])],
    pub output: OutputSpace,
    /// The result is another view of this operand and has no bytes of its own.
    pub view_of: Option<u8>,
    /// The result is this operand's buffer, written in place.
    pub reuses: Option<u8>,
    pub inplace: Inplace,
    /// Operands whose buffer the result may not take, beyond [`Op::inplace`].
    pub no_alias: &'static [u8],
    /// Operands that are scratch memory.
    pub scratch: &'static [u8],
    /// Operands that are not merely read.
    pub effects: &'static [(u8, Effect)],
    /// The PTO instruction; empty where it is lowered before, or depends on more than the operation.
    pub pto: &'static str,
    /// How the code generator makes instructions of it.
    pub selection: Selection,
    pub pipe: PipeRule,
    pub layout: LayoutNeed,
    /// What planner DSA_RP may assume about accesses to whole tiles.
    pub access: Access,
    pub on_910b: bool,
    /// What a written number is as a scalar operand.
    pub literals: Literals,
    /// What the compiler's front end demands of the operands, in the order in which it looks.
    pub demands: &'static [Demands],
    /// What the compiler demands of dtypes and operands, for people.
    pub constraints: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    Elementwise,
    CompareSelect,
    Unary,
    Broadcast(Spread),
    Reduction,
    Sort,
    GatherScatter,
    DataMovement,
    Layout,
    View,
    Matmul,
    CrossCore,
    CrossCoreSystem,
    /// Order between pipes and between cores.
    Sync,
    Distributed,
    Query,
}

/// What a broadcast spreads over a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// One row for all of its rows: `tile.col_expand`.
    Row,
    /// One value for each of its rows: `tile.row_expand`.
    Column,
    Scalar,
}

/// What an operation works on, as its name says in front: `tile.add`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespace {
    Tile,
    /// The compiler's tensor dialect, which is gone before tiles are placed.
    Tensor,
    Array,
    /// Pipes and cores.
    System,
    Prefetch,
    /// Between devices.
    DistributedTile,
    DistributedTensor,
    DistributedSystem,
}

impl Namespace {
    /// As names of the IR begin with it, without the dot after it.
    pub const fn name(self) -> &'static str {
        match self {
            Namespace::Tile => "tile",
            Namespace::Tensor => "tensor",
            Namespace::Array => "array",
            Namespace::System => "system",
            Namespace::Prefetch => "prefetch",
            Namespace::DistributedTile => "pld.tile",
            Namespace::DistributedTensor => "pld.tensor",
            Namespace::DistributedSystem => "pld.system",
        }
    }
}

/// Which calls of a name are this operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    Always,
    /// The first operand is a tile; with a tensor the name means a tensor operation.
    TileOperand,
    /// The first operand is a tile, the second a scalar.
    ScalarRhs,
    /// The first operand is a tensor. A name without such a row means the operation on tiles of that name for tensors, too.
    TensorOperand,
    /// The first operand is a tensor, the second a scalar.
    TensorScalar,
    Keyword(&'static str),
    WithoutKeyword(&'static str),
}

/// A parameter as authors pass it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    pub name: &'static str,
    pub keyword_only: bool,
    pub slot: Slot,
    pub preset: Preset,
}

/// Where a parameter goes in the IR call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    Arg(u8),
    Attr(AttrName),
}

/// What a parameter is when the author leaves it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    Required,
    Absent,
    Bool(bool),
    Int(i64),
    Str(&'static str),
    Space(Space),
    Dtype(Dtype),
    Pad(Pad),
}

const fn pos(name: &'static str, arg: u8, preset: Preset) -> Param {
    Param { name, keyword_only: false, slot: Slot::Arg(arg), preset }
}

const fn pos_attr(name: &'static str, preset: Preset) -> Param {
    Param { name, keyword_only: false, slot: Slot::Attr(AttrName::named(name)), preset }
}

const fn key(name: &'static str, arg: u8, preset: Preset) -> Param {
    Param { name, keyword_only: true, slot: Slot::Arg(arg), preset }
}

const fn key_attr(name: &'static str, preset: Preset) -> Param {
    Param { name, keyword_only: true, slot: Slot::Attr(AttrName::named(name)), preset }
}

/// Shape of the result. Numbers are operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Same(u8),
    /// As the first, and all of them equal.
    Equal(&'static [u8]),
    /// As in NumPy: extents equal or 1.
    Broadcast(&'static [u8]),
    /// A list literal.
    Literal(u8),
    /// As the last operand.
    Last,
    /// `[.., 1]`
    RowReduced,
    /// `[1, ..]`
    ColReduced,
    LastDoubled,
    /// One bit an element, rows padded to 32 bytes.
    CompareBits(&'static [u8]),
    Concat,
    Matmul {
        lhs: u8,
        rhs: u8,
    },
    BatchMatmul,
    /// `[16, N]`: a row, padded to the unit's block.
    Gemv {
        lhs: u8,
        rhs: u8,
    },
    /// The axes of operands 1 and 2 exchanged.
    Transpose,
    LastTwoSwapped,
    /// Operand 1 without the axes of operand 4, at least two-dimensional.
    Slice,
    /// Operand 1 if there is one, else the last axis scaled by the widths of the element types.
    Reinterpret,
    GatherMask,
    GatherBlocks,
    GatherRows,
    /// A tuple: the found indices and their count.
    GatherCompare,
    SplitHalved,
    SplitDoubled,
    /// As the author annotates it.
    Annotation,
    /// A tensor: this operand, written.
    Tensor(u8),
    Scalar,
    /// An array of as many scalars as operand 0 says.
    Array,
    /// A scalar of the array that is operand 0.
    ArrayElement,
    /// The array that is operand 0.
    ArrayWritten,
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DtypeRule {
    Same(u8),
    Equal(&'static [u8]),
    Promote(&'static [u8]),
    Fixed(Dtype),
    Attr(AttrName),
    AttrOr(AttrName, u8),
    /// FP32 for float operands, else INT32.
    Accumulator,
    GatherCompare,
    Annotation,
    Nothing,
}

/// Valid shape and layout of the result. Numbers are operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Valid shape and layout of the operand.
    Same(u8),
    /// Layout of the operand, valid throughout.
    Full(u8),
    /// Valid throughout, row-major.
    RowMajor,
    /// Valid as the list literal says, row-major.
    Literal(u8),
    RowReduced,
    ColReduced,
    CompareBits,
    /// Valid throughout, padded with `pad_value`.
    Padded,
    Accumulator,
    /// As an accumulator, valid where operand 0 is.
    Accumulated,
    Matmul,
    Gemv,
    Assemble,
    Create,
    Extract,
    Load,
    LoadRemote,
    Move,
    Reshape,
    Slice,
    ValidShape,
    LayoutsSwapped,
    Reinterpret,
    GatherRows,
    SplitHalved,
    SplitDoubled,
    Annotation,
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputSpace {
    Fixed(Space),
    /// The space of the first tile operand.
    InheritFirstTile,
    /// The attribute `target_memory`, Vec without it.
    TargetMemory,
    /// The attribute `target_memory`; without it what the users of the result demand, if that is Vec or Mat, else Vec.
    TargetMemoryOrDemand,
    /// No rule in the compiler, or no tile.
    None,
}

/// Whether the result may take the buffer of an operand that dies in the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inplace {
    Allowed,
    Never,
    /// Not that of operand 0 when the result's elements are wider.
    UnlessWidening,
    /// Never on 910B; elsewhere not those of operands 0 and 1.
    NeverOn910b,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Write,
    ReadWrite,
    /// Read too when an attribute asks for it (`atomic`).
    ByAttr,
}

/// The unit of the core that executes the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipeRule {
    V,
    M,
    S,
    Mte2,
    Mte3,
    /// By the spaces of operand and result (`docs/reference/memory.md`, "Pipes").
    Route,
    /// A queue between cores.
    Fifo,
    None,
}

/// Operands and results that the backend wants row-major.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutNeed {
    Any,
    AllRowMajor,
    Arg0AndResultRowMajor,
    ResultRowMajor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads all of each operand and writes all of the result.
    Functional,
    /// Touches no memory.
    None,
    Unknown,
}

/// A vector operation with one result like its first operand; rows say where they differ.
const OP: Op = Op {
    name: "",
    namespace: Namespace::Tile,
    names: &[],
    legacy: None,
    category: Category::Elementwise,
    params: &[],
    args: &[],
    shape: Shape::Same(0),
    dtype: DtypeRule::Same(0),
    view: View::Same(0),
    inputs: &[],
    output: OutputSpace::Fixed(Space::Vec),
    view_of: None,
    reuses: None,
    inplace: Inplace::Allowed,
    no_alias: &[],
    scratch: &[],
    effects: &[],
    pto: "",
    selection: Selection::None,
    pipe: PipeRule::V,
    layout: LayoutNeed::Any,
    access: Access::Functional,
    on_910b: true,
    literals: Literals::TakeDtype,
    demands: &[],
    constraints: "",
};

const FILES: [&[Op]; 15] = [
    movement::ROWS,
    elementwise::ROWS,
    unary::ROWS,
    select::ROWS,
    broadcast::ROWS,
    reduction::ROWS,
    views::ROWS,
    matmul::ROWS,
    gather::ROWS,
    cross_core::ROWS,
    array::ROWS,
    distributed::ROWS,
    prefetch::ROWS,
    tensor::ROWS,
    sync::ROWS,
];

const COUNT: usize = {
    let (mut file, mut count) = (0, 0);
    while file < FILES.len() {
        count += FILES[file].len();
        file += 1;
    }
    count
};

/// All operations; [`OpId`] is the index.
pub static OPS: [Op; COUNT] = {
    let mut all = [OP; COUNT];
    let (mut file, mut next) = (0, 0);
    while file < FILES.len() {
        let mut row = 0;
        while row < FILES[file].len() {
            all[next] = FILES[file][row];
            next += 1;
            row += 1;
        }
        file += 1;
    }
    all
};

/// Operations that some stage names. A name that is not in the table does not compile.
macro_rules! ids {
    ($($id:ident $name:literal),* $(,)?) => {
        impl OpId {
            $(pub const $id: OpId = OpId::row($name);)*
        }
    };
}

ids! {
    ARRAY_GET "array.get_element", ARRAY_UPDATE "array.update_element",
    ALLOC "tile.alloc", LOAD "tile.load", STORE "tile.store", MOVE "tile.move", CREATE "tile.create", FULL "tile.full",
    READ "tile.read", WRITE "tile.write", SLICE "tile.slice", RESHAPE "tile.reshape", EXTRACT "tile.extract",
    ASSEMBLE "tile.assemble", CONCAT "tile.concat", TRANSPOSE "tile.transpose", TRANSPOSE_VIEW "tile.transpose_view",
    SET_VALIDSHAPE "tile.set_validshape", REINTERPRET_VIEW "tile.reinterpret_view", FILLPAD "tile.fillpad", FILLPAD_INPLACE "tile.fillpad_inplace",
    FILLPAD_EXPAND "tile.fillpad_expand", PART_ADD "tile.part_add", PART_MUL "tile.part_mul", PART_MAX "tile.part_max", PART_MIN "tile.part_min",
    CAST "tile.cast", ADD "tile.add", ADDS "tile.adds", SUB "tile.sub", SUBS "tile.subs", MUL "tile.mul", MULS "tile.muls",
    DIV "tile.div", DIVS "tile.divs", FMODS "tile.fmods", NEG "tile.neg", EXP "tile.exp", SQRT "tile.sqrt", RECIP "tile.recip", SIN "tile.sin", COS "tile.cos",
    EXPANDS "tile.expands", CMP "tile.cmp", CMPS "tile.cmps", SEL "tile.sel", SELS "tile.sels",
    MAXIMUM "tile.maximum", MINIMUM "tile.minimum", MAXIMUMS "tile.maximums", MINIMUMS "tile.minimums",
    MATMUL_MX "tile.matmul_mx", MATMUL_MX_ACC "tile.matmul_mx_acc", MATMUL_MX_BIAS "tile.matmul_mx_bias",
    MATMUL "tile.matmul", MATMUL_ACC "tile.matmul_acc", MATMUL_BIAS "tile.matmul_bias",
    BATCH_MATMUL "tile.batch_matmul", BATCH_MATMUL_ACC "tile.batch_matmul_acc",
    SCATTER "tile.scatter", SCATTER_UPDATE "tile.scatter_update", GATHER_COMPARE "tile.gather_compare",
    GET_BLOCK_IDX "tile.get_block_idx", GET_BLOCK_NUM "tile.get_block_num", GET_SUBBLOCK_IDX "tile.get_subblock_idx",
    AIV_SHARD "tile.aiv_shard", AIC_GATHER "tile.aic_gather", TPOP_FROM_AIC "tile.tpop_from_aic", TPOP_FROM_AIV "tile.tpop_from_aiv",
    TPUSH_TO_AIC "tile.tpush_to_aic", TPUSH_TO_AIV "tile.tpush_to_aiv",
    TFREE_TO_AIC "system.tfree_to_aic", TFREE_TO_AIV "system.tfree_to_aiv",
    RESERVE_BUFFER "system.reserve_buffer", IMPORT_PEER_BUFFER "system.import_peer_buffer",
    MRGSORT_FORMAT1 "tile.mrgsort_format1", MRGSORT_FORMAT2 "tile.mrgsort_format2", GATHER "tile.gather", GATHER_ROW "tile.gather_row",
    GATHER_MASK "tile.gather_mask", CI "tile.ci", RANDOM "tile.random", RSQRT "tile.rsqrt", XOR "tile.xor", XORS "tile.xors",
    ROW_SUM "tile.row_sum", ROW_MAX "tile.row_max", ROW_MIN "tile.row_min", ROW_PROD "tile.row_prod",
    COL_SUM "tile.col_sum", COL_MAX "tile.col_max", COL_MIN "tile.col_min",
    ROW_ARGMAX "tile.row_argmax", ROW_ARGMIN "tile.row_argmin", COL_ARGMAX "tile.col_argmax", COL_ARGMIN "tile.col_argmin",
    ROW_EXPAND_ADD "tile.row_expand_add", ROW_EXPAND_SUB "tile.row_expand_sub", ROW_EXPAND_MUL "tile.row_expand_mul",
    ROW_EXPAND_DIV "tile.row_expand_div", COL_EXPAND "tile.col_expand", MGATHER "tile.mgather", MSCATTER "tile.mscatter",
    TENSOR_CREATE "tensor.create", TENSOR_CREATE_L1 "tensor.create_l1", TENSOR_FULL "tensor.full", TENSOR_CI "tensor.ci", TENSOR_RANDOM "tensor.random",
    TENSOR_SLICE "tensor.slice", TENSOR_ASSEMBLE "tensor.assemble", TENSOR_READ "tensor.read", TENSOR_WRITE "tensor.write", TENSOR_VIEW "tensor.view",
    TENSOR_MATMUL "tensor.matmul", TENSOR_MATMUL_ACC "tensor.matmul_acc", TENSOR_ROW_SUM "tensor.row_sum",
    TENSOR_ROW_MAX "tensor.row_max", TENSOR_ROW_MIN "tensor.row_min", TENSOR_ROW_PROD "tensor.row_prod",
    TENSOR_ROW_ARGMAX "tensor.row_argmax", TENSOR_ROW_ARGMIN "tensor.row_argmin", TENSOR_COL_ARGMAX "tensor.col_argmax",
    TENSOR_COL_ARGMIN "tensor.col_argmin", TENSOR_RSQRT "tensor.rsqrt", TENSOR_XOR "tensor.xor", TENSOR_XORS "tensor.xors",
    TENSOR_CMP "tensor.cmp", TENSOR_MRGSORT "tensor.mrgsort", TENSOR_GATHER "tensor.gather",
    TENSOR_PUT "pld.tensor.put", TENSOR_GET "pld.tensor.get", TILE_PUT "pld.tile.put", TILE_GET "pld.tile.get",
    REMOTE_STORE "pld.tile.remote_store", NOTIFY "pld.system.notify",
    SYNC_SRC "system.sync_src", SYNC_DST "system.sync_dst", BAR_V "system.bar_v", BAR_M "system.bar_m",
    SYNC_SET "system.sync_set", SYNC_WAIT "system.sync_wait", SYNCALL "system.syncall",
    AIC_INITIALIZE_PIPE "system.aic_initialize_pipe", AIV_INITIALIZE_PIPE "system.aiv_initialize_pipe",
}

impl OpId {
    pub fn all() -> impl Iterator<Item = OpId> {
        (0..OPS.len() as u16).map(OpId)
    }

    /// The row of the operation.
    pub fn op(self) -> &'static Op {
        OPS.get(self.0 as usize).unwrap_or(&OPS[0])
    }

    /// Hands a tile to the other core under the author's own words.
    pub fn crosses_cores(self) -> bool {
        matches!(self, OpId::AIV_SHARD | OpId::AIC_GATHER)
    }

    /// A product of matrices in the cube, on whole tiles.
    pub fn is_matmul(self) -> bool {
        matches!(
            self,
            OpId::MATMUL
                | OpId::MATMUL_ACC
                | OpId::MATMUL_BIAS
                | OpId::MATMUL_MX
                | OpId::MATMUL_MX_ACC
                | OpId::MATMUL_MX_BIAS
        )
    }

    /// The operation of an IR name (`tile.add`), or of the name it had before 2026-03-06 (`block.add`).
    pub fn from_name(name: &str) -> Option<OpId> {
        NAMES.ir.get(name).copied()
    }

    /// The operation of a name in the table, for constants.
    pub const fn row(name: &str) -> OpId {
        let (mut file, mut next) = (0, 0);
        while file < FILES.len() {
            let mut row = 0;
            while row < FILES[file].len() {
                if same(FILES[file][row].name, name) {
                    return OpId(next);
                }
                next += 1;
                row += 1;
            }
            file += 1;
        }
        panic!("no such operation")
    }
}

/// `==`, which is not there for constants.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// What a name after `pl.` can mean, most specific first: `add` is `tile.adds` for a scalar operand, else `tile.add`.
/// Empty for names that are no tile operation.
pub fn candidates(dsl_name: &str) -> &'static [(When, OpId)] {
    NAMES.dsl.get(dsl_name).map_or(&[], Vec::as_slice)
}

/// All names that mean an operation after `pl.`, and those of `pld`.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.dsl.keys().copied()
}

struct Names {
    ir: HashMap<&'static str, OpId>,
    dsl: HashMap<&'static str, Vec<(When, OpId)>>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names { ir: HashMap::new(), dsl: HashMap::new() };
    for (row, op) in OPS.iter().enumerate() {
        let id = OpId(row as u16);
        names.ir.insert(op.name, id);
        if let Some(legacy) = op.legacy {
            names.ir.insert(legacy, id);
        }
        for (name, when) in op.names {
            names.dsl.entry(name).or_default().push((*when, id));
        }
    }
    for meanings in names.dsl.values_mut() {
        meanings.sort_by_key(|(when, _)| match when {
            When::TensorScalar => 0,
            When::TensorOperand => 1,
            When::Keyword(_) | When::WithoutKeyword(_) => 2,
            When::ScalarRhs => 3,
            When::TileOperand | When::Always => 4,
        });
    }
    names
});

impl Op {
    pub fn is_on_tiles(&self) -> bool {
        self.namespace == Namespace::Tile
    }

    pub fn is_on_tensors(&self) -> bool {
        self.namespace == Namespace::Tensor
    }

    /// The name without its namespace: `add`.
    pub fn word(&self) -> &'static str {
        self.name.get(self.namespace.name().len() + 1..).unwrap_or_default()
    }

    /// The spaces that an operand may be in; empty where any will do.
    pub fn input(&self, arg: usize) -> &'static [Space] {
        self.inputs.iter().find(|(index, _)| *index as usize == arg).map_or(&[], |(_, spaces)| spaces)
    }

    pub fn effect(&self, arg: usize) -> Option<Effect> {
        self.effects.iter().find(|(index, _)| *index as usize == arg).map(|(_, effect)| *effect)
    }

    /// Whether users of the result's space ask the same of the operand: views, transpose and assemble.
    pub fn inherits_space(&self) -> bool {
        self.output == OutputSpace::InheritFirstTile
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_and_operands_of_the_table_are_consistent() {
        for op in &OPS {
            assert_eq!(OpId::from_name(op.name).map(|id| id.op().name), Some(op.name));
            for param in op.params {
                if let Slot::Arg(arg) = param.slot {
                    assert!((arg as usize) < op.args.len(), "{}: parameter {} has no operand", op.name, param.name);
                }
            }
            let indices = op.inputs.iter().map(|(arg, _)| arg).chain(op.no_alias).chain(op.scratch);
            for &index in indices.chain(&op.view_of).chain(&op.reuses) {
                assert!((index as usize) < op.args.len(), "{}: no operand {index}", op.name);
            }
        }
    }

    #[test]
    fn a_name_begins_with_its_namespace() {
        for op in &OPS {
            assert_eq!(op.name, format!("{}.{}", op.namespace.name(), op.word()));
            assert!(!op.word().contains('.'), "{}", op.name);
        }
    }

    #[test]
    fn a_name_means_one_operation() {
        let mut known = HashSet::new();
        for op in &OPS {
            for name in [Some(op.name), op.legacy].into_iter().flatten() {
                assert!(known.insert(name), "{name} is in two rows");
            }
        }
        let mut written = HashSet::new();
        for (name, when) in OPS.iter().flat_map(|op| op.names) {
            assert!(written.insert(format!("{name} {when:?}")), "calls of {name} are two operations");
        }
    }

    /// A row that names the compiler's instruction and forgets the generator's would be refused as one that is not written.
    #[test]
    fn an_operation_with_an_instruction_has_a_selection() {
        for op in OPS.iter().filter(|op| !op.pto.is_empty()) {
            assert_ne!(op.selection, Selection::None, "{}: {}", op.name, op.pto);
        }
    }

    #[test]
    fn a_scalar_operand_selects_the_scalar_form() {
        let meanings = |name| candidates(name).iter().map(|(_, id)| id.op().name).collect::<Vec<_>>();
        assert_eq!(meanings("add"), ["tile.adds", "tile.add"]);
        assert_eq!(meanings("tile.load"), ["tile.load"]);
        assert_eq!(meanings("mrgsort"), ["tensor.mrgsort", "tile.mrgsort_format1", "tile.mrgsort_format2"]);
        assert_eq!(meanings("full"), ["tensor.full"], "pl.full is the tensor operation");
    }
}

//! Operations on tensors that a tile operation of the same name does not stand for: other parameters, or another recipe
//! (`passes/tensor_to_tile`). The rest are the rows of tiles, whose operands may be tensors in a scope that the compiler
//! outlines.

use super::AttrName;
use super::demands::{ADDED_ATOMICALLY, DIVISIBLE, GATHERED, HALF_OR_SINGLE};
use super::elementwise::BITS_AND_SCALAR;
use super::gather::{COUNTS, INDICES, PATTERNS};
use super::matmul::{ACCUMULATION_OF_TENSORS, PRODUCT_OF_TENSORS};
use super::movement::{SEEDED, SEQUENCE};
use super::select::COMPARABLE;
use super::selection::Selection;
use super::{
    Access, Category, DtypeRule, Dtypes, Effect, Literals, Namespace, OP, Op, OutputSpace, Param, PipeRule, Shape,
    View, key, key_attr, pos, pos_attr,
};
use super::{Demand::*, Demands::*, Preset::*, When::*};

/// An operation of the compiler's tensor dialect, which is gone before tiles are placed.
const TENSOR: Op = Op {
    namespace: Namespace::Tensor,
    output: OutputSpace::None,
    view: View::Nothing,
    pipe: PipeRule::None,
    access: Access::Unknown,
    ..OP
};

const SHAPED: &[Param] = &[pos("input", 0, Required)];

const fn reduction(name: &'static str, names: &'static [(&'static str, super::When)], shape: Shape) -> Op {
    Op { name, names, category: Category::Reduction, params: SHAPED, args: &["input"], shape, ..TENSOR }
}

const fn creation(op: Op) -> Op {
    Op { category: Category::DataMovement, dtype: DtypeRule::Attr(AttrName::Dtype), ..op }
}

pub(super) const ROWS: &[Op] = &[
    creation(Op {
        name: "tensor.create",
        names: &[("create_tensor", Always)],
        params: &[
            pos("shape", 0, Required),
            pos_attr("dtype", Required),
            pos_attr("layout", Absent),
            pos_attr("manual_dep", Absent),
            pos_attr("init_value", Absent),
        ],
        args: &["shape"],
        shape: Shape::Literal(0),
        demands: &[Tensors(&[Elements(0, Dtypes::Integers)])],
        constraints: "at most as large as the unified buffer, wherever it ends up",
        ..TENSOR
    }),
    creation(Op {
        name: "tensor.create_l1",
        names: &[("create_l1", Always)],
        params: &[pos("shape", 0, Required), pos_attr("dtype", Required), pos_attr("transpose", Bool(false))],
        args: &["shape"],
        shape: Shape::Literal(0),
        constraints: "an accumulator of `pl.gather_row` in L1, which products read",
        ..TENSOR
    }),
    creation(Op {
        name: "tensor.full",
        names: &[("full", Always)],
        params: &[pos("shape", 0, Required), pos_attr("dtype", Required), pos("value", 1, Required)],
        args: &["shape", "value"],
        shape: Shape::Literal(0),
        demands: &[Tensors(&[Constant(1)])],
        ..TENSOR
    }),
    creation(Op {
        name: "tensor.ci",
        names: &[("arange", Always), ("ci", Always)],
        params: &[
            pos("start", 0, Required),
            pos("shape", 1, Required),
            pos_attr("dtype", Dtype(tilefit_python::element::Dtype::Int32)),
            pos_attr("descending", Bool(false)),
        ],
        args: &["start", "shape"],
        shape: Shape::Literal(1),
        literals: Literals::OfAttr(AttrName::Dtype),
        demands: &[Tensors(SEQUENCE)],
        ..TENSOR
    }),
    creation(Op {
        name: "tensor.random",
        names: &[("random", Always)],
        params: &[
            pos("key0", 0, Required),
            pos("key1", 1, Required),
            pos("counter0", 2, Required),
            pos("counter1", 3, Required),
            pos("counter2", 4, Required),
            pos("counter3", 5, Required),
            pos("shape", 6, Required),
            pos_attr("dtype", Dtype(tilefit_python::element::Dtype::Uint32)),
            pos_attr("rounds", Int(10)),
        ],
        args: &["key0", "key1", "counter0", "counter1", "counter2", "counter3", "shape"],
        shape: Shape::Literal(6),
        literals: Literals::Fixed(tilefit_python::element::Dtype::Int32),
        demands: &[Tensors(SEEDED)],
        ..TENSOR
    }),
    Op {
        name: "tensor.slice",
        names: &[("slice", TensorOperand)],
        category: Category::View,
        params: &[
            pos("tensor", 0, Required),
            pos("shape", 1, Required),
            pos("offset", 2, Required),
            pos("valid_shape", 3, Absent),
            pos("drop_dims", 4, Absent),
            pos_attr("pad_value", Absent),
            pos_attr("clamp", Bool(false)),
        ],
        args: &["tensor", "shape", "offset", "valid_shape", "drop_dims"],
        shape: Shape::Slice,
        demands: &[Tensors(&[
            Elements(2, Dtypes::Integers),
            Elements(1, Dtypes::Integers),
            Elements(3, Dtypes::Integers),
        ])],
        constraints: "extents constant; from global memory a load, of a value on chip a view",
        ..TENSOR
    },
    Op {
        name: "tensor.view",
        category: Category::View,
        args: &["tensor"],
        shape: Shape::Tensor(0),
        view_of: Some(0),
        selection: Selection::SameTensor,
        constraints: "made by the compiler: the same memory as a tensor of two axes, which a load into boxes reads",
        ..TENSOR
    },
    Op {
        name: "tensor.assemble",
        names: &[("assemble", TensorOperand)],
        category: Category::Layout,
        params: &[
            pos("target", 0, Required),
            pos("source", 1, Required),
            pos("offset", 2, Required),
            key_attr("atomic", Absent),
        ],
        args: &["target", "source", "offset"],
        shape: Shape::Tensor(0),
        effects: &[(0, Effect::ReadWrite)],
        demands: &[Tensors(&[Elements(2, Dtypes::Integers), FlagFor(AttrName::Atomic, ADDED_ATOMICALLY)])],
        constraints: "into global memory a store, into a value on chip a write in place",
        ..TENSOR
    },
    Op {
        name: "tensor.read",
        names: &[("read", TensorOperand)],
        category: Category::DataMovement,
        params: &[pos("src", 0, Required), pos("offset", 1, Required)],
        args: &["src", "offset"],
        shape: Shape::Scalar,
        selection: Selection::ReadTensor,
        pipe: PipeRule::S,
        literals: Literals::AsWritten,
        demands: &[Tensors(&[Indices(1, 0), Elements(1, Dtypes::Integers)])],
        ..TENSOR
    },
    Op {
        name: "tensor.write",
        names: &[("write", TensorOperand)],
        category: Category::DataMovement,
        params: &[pos("dst", 0, Required), pos("offset", 1, Required), pos("value", 2, Required)],
        args: &["dst", "offset", "value"],
        shape: Shape::Tensor(0),
        effects: &[(0, Effect::ReadWrite)],
        selection: Selection::WriteTensor,
        pipe: PipeRule::S,
        literals: Literals::AsWritten,
        demands: &[Tensors(&[Indices(1, 0), Elements(1, Dtypes::Integers), SameDtype(2, 0)])],
        ..TENSOR
    },
    Op {
        name: "tensor.matmul",
        names: &[("matmul", TensorOperand)],
        category: Category::Matmul,
        params: &[
            pos("lhs", 0, Required),
            pos("rhs", 1, Required),
            pos_attr("out_dtype", Absent),
            pos_attr("a_trans", Bool(false)),
            pos_attr("b_trans", Bool(false)),
            pos_attr("c_matrix_nz", Bool(false)),
        ],
        args: &["lhs", "rhs"],
        shape: Shape::Matmul { lhs: 0, rhs: 1 },
        dtype: DtypeRule::Accumulator,
        demands: &[Tensors(PRODUCT_OF_TENSORS)],
        constraints: "operands of more than two axes are multiplied page by page",
        ..TENSOR
    },
    Op {
        name: "tensor.matmul_acc",
        names: &[("matmul_acc", TensorOperand)],
        category: Category::Matmul,
        params: &[
            pos("acc", 0, Required),
            pos("lhs", 1, Required),
            pos("rhs", 2, Required),
            pos_attr("a_trans", Bool(false)),
            pos_attr("b_trans", Bool(false)),
            pos("init_cond", 3, Absent),
        ],
        args: &["acc", "lhs", "rhs", "init_cond"],
        effects: &[(0, Effect::ReadWrite)],
        demands: &[Tensors(ACCUMULATION_OF_TENSORS)],
        ..TENSOR
    },
    reduction("tensor.row_sum", &[("row_sum", TensorOperand)], Shape::RowReduced),
    reduction("tensor.row_max", &[("row_max", TensorOperand)], Shape::RowReduced),
    Op {
        demands: &[Tensors(&[Among(0, DIVISIBLE)])],
        ..reduction("tensor.row_min", &[("row_min", TensorOperand)], Shape::RowReduced)
    },
    reduction("tensor.row_prod", &[("row_prod", TensorOperand)], Shape::RowReduced),
    reduction("tensor.row_argmax", &[("row_argmax", TensorOperand)], Shape::RowReduced),
    reduction("tensor.row_argmin", &[("row_argmin", TensorOperand)], Shape::RowReduced),
    Op {
        demands: &[Tensors(&[MinRank(0, 2)])],
        ..reduction("tensor.col_argmax", &[("col_argmax", TensorOperand)], Shape::ColReduced)
    },
    Op {
        demands: &[Tensors(&[MinRank(0, 2)])],
        ..reduction("tensor.col_argmin", &[("col_argmin", TensorOperand)], Shape::ColReduced)
    },
    Op {
        name: "tensor.rsqrt",
        names: &[("rsqrt", TensorOperand)],
        category: Category::Unary,
        params: &[pos("input", 0, Required), pos_attr("high_precision", Bool(false))],
        args: &["input"],
        ..TENSOR
    },
    Op {
        name: "tensor.xor",
        names: &[("xor", TensorOperand)],
        category: Category::Elementwise,
        params: &[pos("lhs", 0, Required), pos("rhs", 1, Required)],
        args: &["lhs", "rhs"],
        demands: &[Tensors(&[Among(0, Dtypes::Integers), Among(1, Dtypes::Integers), SameShape(0, 1)])],
        ..TENSOR
    },
    Op {
        name: "tensor.xors",
        names: &[("xors", TensorOperand), ("xor", TensorScalar)],
        category: Category::Elementwise,
        params: &[pos("lhs", 0, Required), pos("rhs", 1, Required)],
        args: &["lhs", "rhs"],
        demands: &[Tensors(BITS_AND_SCALAR)],
        ..TENSOR
    },
    Op {
        name: "tensor.cmp",
        names: &[("cmp", TensorOperand)],
        category: Category::CompareSelect,
        params: &[pos("lhs", 0, Required), pos("rhs", 1, Required), pos_attr("cmp_type", Int(0))],
        args: &["lhs", "rhs"],
        demands: &[Tensors(COMPARABLE)],
        ..TENSOR
    },
    Op {
        name: "tensor.mrgsort",
        names: &[("mrgsort", TensorOperand)],
        category: Category::Sort,
        params: &[
            pos("src0", 0, Required),
            pos("src1", 1, Absent),
            pos("src2", 2, Absent),
            pos("src3", 3, Absent),
            key_attr("exhausted", Absent),
            key("block_len", 4, Absent),
        ],
        args: &["src0", "src1", "src2", "src3", "block_len"],
        literals: Literals::Fixed(tilefit_python::element::Dtype::Int32),
        demands: &[Tensors(&[
            Among(0, HALF_OR_SINGLE),
            Among(4, Dtypes::Integers),
            MultipleOf(4, 64),
            SameDtype(1, 0),
            SameDtype(2, 0),
            SameDtype(3, 0),
        ])],
        constraints: "one source with `block_len`, or two to four sorted sources",
        ..TENSOR
    },
    Op {
        name: "tensor.gather",
        names: &[("gather", TensorOperand)],
        category: Category::GatherScatter,
        params: &[
            pos("input", 0, Required),
            pos_attr("dim", Int(-1)),
            pos("index", 1, Absent),
            key_attr("mask_pattern", Absent),
            key_attr("output_dtype", Absent),
            key("kvalue", 2, Absent),
            key_attr("cmp_mode", Absent),
            key_attr("out_cols", Absent),
            key_attr("offset", Absent),
            key_attr("count_dtype", Absent),
        ],
        args: &["input", "index", "kvalue"],
        literals: Literals::AsWritten,
        demands: &[Tensors(&[
            Among(0, GATHERED),
            Among(1, INDICES),
            IndexWidth(1, 0),
            MinRank(0, 2),
            SameRank(1, 0),
            SameDtype(2, 0),
            Numbers(AttrName::MaskPattern, PATTERNS),
            AttrAmong(AttrName::CountDtype, COUNTS),
        ])],
        constraints: "by index along the last axis, or by `mask_pattern`",
        ..TENSOR
    },
];

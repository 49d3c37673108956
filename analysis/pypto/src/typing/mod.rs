//! The type of an operation's result, by the rules of its row in the operation table.

mod demands;
pub mod notation;
pub(crate) mod proof;
mod region;
pub(crate) mod reshape;
pub(crate) mod scalar;
mod shape;
mod view;

use rustc_hash::FxHashMap;
use tilefit_python::element::Dtype;
use tilefit_python::finding::Reason;

use crate::ir::{Attr, AttrName, Call, Operand, Scalar, TensorType, TileType, TileView, Type, Var, VarId};
use crate::ops::{DtypeRule, Op, OpId, OutputSpace, Shape, View};
use crate::target::Space;
pub(crate) use demands::{Known, undecided, unmet};
pub(crate) use shape::broadcast;

pub(crate) enum Problem {
    /// Follows from something unknown that was said before.
    Unknown(Reason),
    NotModelled(Reason),
    /// An extent of the result that is known at run time only.
    NotConstant(Scalar),
    /// The compiler refuses the operands.
    Invalid(String),
    /// The compiler refuses the part of memory that is read or written, and does so again whenever it knows more of it.
    OutOfBounds(String),
    /// A tile without elements, which the compiler refuses where it gives memory to what is still there.
    Empty(String),
    /// `pl.` has no element type of this name.
    UnknownDtype(String),
}

impl Problem {
    fn not_modelled(what: impl Into<Reason>) -> Problem {
        Problem::NotModelled(what.into())
    }
}

type Result<T> = std::result::Result<T, Problem>;

/// `constants` are the values of scalar variables that are assigned once.
pub(crate) fn deduce(call: &Call, vars: &[Var], constants: &FxHashMap<VarId, i64>) -> Result<Type> {
    let deduction = Deduction { call, op: call.op.op(), vars, constants };
    deduction.result()
}

struct Deduction<'a> {
    call: &'a Call,
    op: &'static Op,
    vars: &'a [Var],
    constants: &'a FxHashMap<VarId, i64>,
}

impl Deduction<'_> {
    fn result(&self) -> Result<Type> {
        match self.op.shape {
            Shape::Nothing => Ok(Type::Tuple(Vec::new())),
            Shape::Scalar => self.dtype().map(Type::Scalar),
            Shape::Tensor(arg) => {
                let tensor = self.tensor(arg)?;
                if self.call.op == OpId::STORE {
                    self.check_store(tensor)?;
                }
                Ok(Type::Tensor(tensor.clone()))
            }
            Shape::Array => match self.operand(0).map(|extent| self.known_scalar(extent)) {
                Some(Scalar::Int(extent @ 1..)) => Ok(Type::Array { dtype: self.dtype()?, extent: extent as u64 }),
                Some(Scalar::Int(extent)) => Err(self.invalid(format!("{extent} elements; an array has at least one"))),
                _ => Err(Problem::not_modelled("an array with a length that is not constant")),
            },
            Shape::ArrayElement => self.array().map(|(dtype, _)| Type::Scalar(dtype)),
            Shape::ArrayWritten => self.array().map(|(dtype, extent)| Type::Array { dtype, extent }),
            Shape::Annotation => self.annotated(),
            Shape::GatherCompare => self.gather_compare(),
            _ => Ok(Type::Tile(self.tile_result()?)),
        }
    }

    fn invalid(&self, what: String) -> Problem {
        Problem::Invalid(format!("`{}`: {what}", self.op.name))
    }

    fn empty(&self, what: String) -> Problem {
        Problem::Empty(format!("`{}`: {what}", self.op.name))
    }

    fn out_of_bounds(&self, what: String) -> Problem {
        Problem::OutOfBounds(format!("`{}`: {what}", self.op.name))
    }

    fn arg_name(&self, arg: u8) -> &'static str {
        self.op.args.get(arg as usize).copied().unwrap_or("operand")
    }

    fn operand(&self, arg: u8) -> Option<&Operand> {
        self.call.args.get(arg as usize)
    }

    fn var_type(&self, var: VarId) -> Option<&Type> {
        self.vars.get(var.0 as usize).map(|var| &var.ty)
    }

    fn operand_type(&self, arg: u8) -> Option<&Type> {
        match self.operand(arg)? {
            Operand::Var(var) | Operand::Scalar(Scalar::Var(var)) => self.var_type(*var),
            _ => None,
        }
    }

    fn tile(&self, arg: u8) -> Result<&TileType> {
        match (self.operand_type(arg), self.operand(arg)) {
            (Some(Type::Tile(tile)), _) => Ok(tile),
            (Some(Type::Unknown(reason)), _) | (_, Some(Operand::Unknown(reason))) => {
                Err(Problem::Unknown(reason.clone()))
            }
            (_, None) => Err(self.invalid(format!("operand `{}` is missing", self.arg_name(arg)))),
            _ => Err(self.invalid(format!("operand `{}` must be a tile", self.arg_name(arg)))),
        }
    }

    fn tensor(&self, arg: u8) -> Result<&TensorType> {
        match (self.operand_type(arg), self.operand(arg)) {
            (Some(Type::Tensor(tensor)), _) => Ok(tensor),
            (Some(Type::Unknown(reason)), _) | (_, Some(Operand::Unknown(reason))) => {
                Err(Problem::Unknown(reason.clone()))
            }
            (Some(Type::Tile(_) | Type::Scalar(_)), _) => {
                Err(self.invalid(format!("operand `{}` must be a tensor", self.arg_name(arg))))
            }
            _ => Err(Problem::Unknown(Reason::new(format!("operand `{}` is unknown", self.arg_name(arg))))),
        }
    }

    /// Element type and length of operand 0.
    fn array(&self) -> Result<(Dtype, u64)> {
        match self.operand_type(0) {
            Some(Type::Array { dtype, extent }) => Ok((*dtype, *extent)),
            Some(Type::Unknown(reason)) => Err(Problem::Unknown(reason.clone())),
            _ => Err(self.invalid("the first operand must be an array".to_owned())),
        }
    }

    fn known_scalar(&self, operand: &Operand) -> Scalar {
        match operand {
            Operand::Scalar(scalar) => known(scalar, self.constants),
            Operand::Var(var) => known(&Scalar::Var(*var), self.constants),
            _ => Scalar::Unknown(Reason::new("no number")),
        }
    }

    fn list(&self, arg: u8) -> Result<&[Scalar]> {
        match self.operand(arg) {
            Some(Operand::List(list)) => Ok(list),
            Some(Operand::Unknown(reason)) => Err(Problem::NotModelled(reason.clone())),
            _ => Err(self.invalid(format!("`{}` must be a list", self.arg_name(arg)))),
        }
    }

    /// A list literal that gives a tile's shape.
    fn constant_list(&self, arg: u8) -> Result<Vec<u64>> {
        let list = self.list(arg)?;
        if list.is_empty() {
            return Err(self.invalid(format!("`{}` is empty", self.arg_name(arg))));
        }
        list.iter()
            .map(|extent| match &known(extent, self.constants) {
                Scalar::Int(extent) if *extent > 0 => Ok(*extent as u64),
                Scalar::Int(extent) => {
                    let what = format!("an extent of `{}` is {extent}; it must be positive", self.arg_name(arg));
                    Err(if self.call.op == OpId::LOAD { self.empty(what) } else { self.invalid(what) })
                }
                Scalar::Unknown(reason) => Err(Problem::NotModelled(reason.clone())),
                runtime => Err(Problem::NotConstant(runtime.clone())),
            })
            .collect()
    }

    fn tile_result(&self) -> Result<TileType> {
        let shape = self.shape()?;
        let dtype = self.dtype()?;
        let space = self.space()?;
        let (built_in, view) = self.view(&shape)?;
        // The compiler carries the author's slot from the operand over to what is padded.
        let binding = match self.op.view {
            View::Padded => self.tile(0)?.binding.clone(),
            _ => None,
        };
        let mut tile = TileType { shape, dtype, space: built_in, view, binding };
        tile.canonicalize();
        if tile.space.is_none() && space.is_some() {
            tile.space = space;
            tile.canonicalize();
        }
        Ok(tile)
    }

    fn space(&self) -> Result<Option<Space>> {
        if let Some(Attr::Unknown(reason)) = self.call.attr(AttrName::TargetMemory) {
            return Err(Problem::NotModelled(reason.clone()));
        }
        Ok(match self.op.output {
            OutputSpace::Fixed(space) => Some(space),
            OutputSpace::TargetMemory => self.call.target_memory().or(Some(Space::Vec)),
            OutputSpace::TargetMemoryOrDemand => self.call.target_memory(),
            OutputSpace::InheritFirstTile => {
                let tiles = (0..self.call.args.len() as u8).filter_map(|arg| match self.operand_type(arg) {
                    Some(Type::Tile(tile)) => Some(tile.space),
                    _ => None,
                });
                tiles.flatten().next()
            }
            OutputSpace::None => None,
        })
    }

    fn annotated(&self) -> Result<Type> {
        let shape = match self.call.attr(AttrName::Shape) {
            Some(Attr::Ints(shape)) => shape.iter().map(|&extent| u64::try_from(extent).ok()).collect(),
            _ => None,
        };
        match (shape, self.call.dtype(AttrName::Dtype)) {
            (Some(shape), Some(dtype)) => {
                let space = match self.call.op {
                    OpId::TPOP_FROM_AIC => Some(Space::Vec),
                    OpId::TPOP_FROM_AIV => Some(Space::Mat),
                    _ => None,
                };
                Ok(Type::Tile(TileType { shape, dtype, space, view: TileView::default(), binding: None }))
            }
            _ => Ok(Type::Unknown(Reason::new(format!("the result of `{}` has no annotation", self.op.name)))),
        }
    }

    fn gather_compare(&self) -> Result<Type> {
        let source = self.tile(0)?;
        let [rows, _] = source.shape.as_slice() else {
            return Err(self.invalid("the source must have two axes".to_owned()));
        };
        let Some(cols) = self.call.int(AttrName::OutCols) else {
            return Err(Problem::not_modelled("`out_cols` is unknown"));
        };
        let count = self.call.dtype(AttrName::CountDtype).unwrap_or(Dtype::Int32);
        let tile = |shape: Vec<u64>, dtype| {
            let view = TileView::default();
            Type::Tile(TileType { shape, dtype, space: Some(Space::Vec), view, binding: None })
        };
        let cols = u64::try_from(cols).unwrap_or(1);
        Ok(Type::Tuple(vec![tile(vec![*rows, cols], Dtype::Int32), tile(vec![1, *rows], count)]))
    }

    fn dtype(&self) -> Result<Dtype> {
        match self.op.dtype {
            DtypeRule::Same(arg) => self.dtype_of(arg),
            DtypeRule::Equal(args) | DtypeRule::Promote(args) => {
                let mut result = None;
                // A number without a point takes the element type of the tile.
                let is_number = |arg: &&u8| matches!(self.operand(**arg), Some(Operand::Scalar(Scalar::Int(_))));
                for &arg in args.iter().filter(|arg| !is_number(arg)) {
                    let dtype = self.dtype_of(arg)?;
                    result = Some(result.map_or(dtype, |known| scalar::promoted(known, dtype)));
                }
                result.ok_or_else(|| Problem::not_modelled(format!("`{}`", self.op.name)))
            }
            DtypeRule::Fixed(dtype) => Ok(dtype),
            DtypeRule::Attr(name) => match self.call.attr(name) {
                Some(Attr::Dtype(dtype)) => Ok(*dtype),
                Some(Attr::Unknown(reason)) => Err(Problem::NotModelled(reason.clone())),
                Some(Attr::Str(name)) => Err(Problem::UnknownDtype(name.clone())),
                _ => Err(self.invalid(format!("`{name}` must be an element type"))),
            },
            DtypeRule::AttrOr(name, arg) => self.call.dtype(name).map_or_else(|| self.dtype_of(arg), Ok),
            DtypeRule::Accumulator => {
                let operands = (0..self.call.args.len() as u8).filter_map(|arg| match self.operand_type(arg) {
                    Some(Type::Tile(tile)) => Some(tile.dtype),
                    _ => None,
                });
                let dtypes: Vec<Dtype> = operands.collect();
                if dtypes.is_empty() {
                    self.tile(0)?;
                }
                Ok(if dtypes.iter().any(|dtype| dtype.is_float()) { Dtype::Fp32 } else { Dtype::Int32 })
            }
            DtypeRule::GatherCompare | DtypeRule::Annotation | DtypeRule::Nothing => {
                Err(Problem::not_modelled(format!("`{}`", self.op.name)))
            }
        }
    }

    fn dtype_of(&self, arg: u8) -> Result<Dtype> {
        match (self.operand_type(arg), self.operand(arg)) {
            (Some(Type::Tile(tile)), _) => Ok(tile.dtype),
            (Some(Type::Tensor(tensor)), _) => {
                tensor.dtype.ok_or_else(|| Problem::not_modelled("the element type of the tensor is unknown"))
            }
            (Some(Type::Scalar(dtype)), _) => Ok(*dtype),
            (Some(Type::Unknown(reason)), _) | (_, Some(Operand::Unknown(reason))) => {
                Err(Problem::Unknown(reason.clone()))
            }
            (_, Some(Operand::Scalar(scalar))) => {
                scalar::dtype(scalar, self.vars).ok_or_else(|| Problem::not_modelled("the type of a scalar is unknown"))
            }
            (_, None) => Err(self.invalid(format!("operand `{}` is missing", self.arg_name(arg)))),
            _ => Err(self.invalid(format!("operand `{}` must be a tile", self.arg_name(arg)))),
        }
    }
}

/// The scalar, or the number that it is known to be.
pub(crate) fn known(scalar: &Scalar, constants: &FxHashMap<VarId, i64>) -> Scalar {
    match scalar {
        Scalar::Var(var) => constants.get(var).map_or_else(|| scalar.clone(), |&value| Scalar::Int(value)),
        Scalar::Binary(op, left, right) => scalar::binary(*op, known(left, constants), known(right, constants)),
        _ => scalar.clone(),
    }
}

//! Types that authors write: parameters, and annotations of locals (`docs/reference/syntax.md`, "Types").

use tilefit_python::diagnostics::Code;
use tilefit_python::element::{Dtype, Pad};
use tilefit_python::eval::Constant;
use tilefit_python::finding::Reason;
use tilefit_syntax::ast::{Arg, Expr, ExprId, last_name};

use super::body::{Lowering, Term};
use super::constants::{self, Value};
use super::stated_type::Annotation;
use crate::ir::{
    AllocationId, BLayout, Binding, DeclaredAllocation, SLayout, Scalar, TensorLayout, TensorType, TileType, TileView,
    Type,
};
use crate::typing;

impl Lowering<'_> {
    pub(super) fn annotation(&mut self, annotation: ExprId) -> Annotation {
        // Python evaluates annotations, with all that the module has, also those of a function that is specialised.
        let jit = std::mem::replace(&mut self.state.jit, false);
        let annotated = self.annotated(annotation);
        self.state.jit = jit;
        annotated
    }

    fn annotated(&mut self, annotation: ExprId) -> Annotation {
        let ast = self.ast;
        let (head, elements) = match ast.expr(annotation) {
            Expr::Subscript { value, index } => {
                let elements = match ast.expr(*index) {
                    Expr::Tuple(elements) => elements.clone(),
                    _ => vec![*index],
                };
                (*value, elements)
            }
            // The call forms of early 2026: `pl.Tensor((64, 128), pl.FP32)`.
            Expr::Call { func, args } => (*func, args.iter().map(|arg| arg.value).collect()),
            Expr::Str(_) => return Annotation::Nothing,
            _ => (annotation, Vec::new()),
        };
        let Some(path) = ast.dotted(head) else { return Annotation::Nothing };
        match path.last().copied().unwrap_or_default() {
            wrapper @ ("Out" | "InOut") => match elements.first().map(|&inner| self.annotation(inner)) {
                Some(Annotation::Type(mut ty)) => {
                    if let Type::Tensor(tensor) = &mut ty {
                        tensor.is_output = true;
                    }
                    Annotation::Output(ty)
                }
                Some(other) => other,
                None => Annotation::Type(Type::Unknown(Reason::new(format!("`pl.{wrapper}` without a type")))),
            },
            "Tensor" | "DistributedTensor" => Annotation::Type(self.tensor_annotation(&elements)),
            "Tile" => Annotation::Type(self.tile_annotation(&elements)),
            "Scalar" => Annotation::Type(match elements.first().map(|&dtype| self.dtype(dtype)) {
                Some(Ok(dtype)) => Type::Scalar(dtype),
                Some(Err(reason)) => Type::Unknown(reason),
                None => Type::Unknown(Reason::new("a scalar without an element type")),
            }),
            "Tuple" | "tuple" => {
                let types = elements.iter().map(|&element| match self.annotation(element) {
                    Annotation::Type(ty) | Annotation::Output(ty) => ty,
                    Annotation::Nothing => Type::Unknown(Reason::new("a type without information")),
                });
                Annotation::Type(Type::Tuple(types.collect()))
            }
            "Ptr" | "MemRefType" | "UnknownType" => Annotation::Nothing,
            "TaskId" => Annotation::Type(Type::Scalar(Dtype::TaskId)),
            "Array" => Annotation::Type(Type::Unknown(Reason::new("arrays"))),
            // A parameter of a `@pl.jit` function: `n: pl.INDEX`.
            other => Annotation::Type(match Dtype::from_name(other).filter(|_| elements.is_empty()) {
                Some(dtype) => Type::Scalar(dtype),
                None => Type::Unknown(Reason::new(format!("the type `{other}`"))),
            }),
        }
    }

    fn tensor_annotation(&mut self, elements: &[ExprId]) -> Type {
        let mut tensor = TensorType {
            shape: Vec::new(),
            dtype: None,
            layout: TensorLayout::Nd,
            is_output: false,
            rank_known: false,
        };
        if let Some(&shape) = elements.first()
            && let Some(shape) = self.tensor_extents(shape)
        {
            tensor.shape = shape;
            tensor.rank_known = true;
        }
        if let Some(&dtype) = elements.get(1) {
            tensor.dtype = self.dtype(dtype).ok();
        }
        for &extra in elements.iter().skip(2) {
            let name = match self.ast.expr(extra) {
                Expr::Call { args, .. } => keyword(args, "layout").and_then(|layout| self.ast.dotted(layout)),
                _ => self.ast.dotted(extra),
            };
            if let Some(layout) = name.and_then(|path| TensorLayout::from_name(path.last()?)) {
                tensor.layout = layout;
            }
        }
        Type::Tensor(tensor)
    }

    fn tile_annotation(&mut self, elements: &[ExprId]) -> Type {
        let unknown = |reason: String| Type::Unknown(Reason::new(reason));
        let (Some(&shape_at), Some(&dtype_at)) = (elements.first(), elements.get(1)) else {
            return unknown("a tile type without shape or element type".to_owned());
        };
        let shape = match self.extents(shape_at).and_then(|extents| self.constant_shape(&extents, shape_at)) {
            Ok(shape) => shape,
            Err(reason) => return Type::Unknown(reason),
        };
        let dtype = match self.dtype(dtype_at) {
            Ok(dtype) => dtype,
            Err(reason) => return Type::Unknown(reason),
        };
        let mut tile = TileType { shape, dtype, space: None, view: TileView::default(), binding: None };
        for &extra in elements.iter().skip(2) {
            match self.tile_extra(extra, &mut tile) {
                Ok(()) => {}
                Err(reason) => self.note(extra, reason),
            }
        }
        Type::Tile(tile)
    }

    fn tile_extra(&mut self, extra: ExprId, tile: &mut TileType) -> Result<(), Reason> {
        if let Expr::Call { func, args } = self.ast.expr(extra)
            && let Some(path) = self.ast.dotted(*func)
            && path.last() == Some(&"TileView")
        {
            return self.tile_view(args, tile);
        }
        let (allocation, slot) = match self.ast.expr(extra) {
            Expr::Subscript { value, index } => (*value, Some(*index)),
            _ => (extra, None),
        };
        let constant = self.constant(allocation);
        match (constant.get(), &constant) {
            (Some(&Value::Space(space)), _) => {
                tile.space = Some(space);
                Ok(())
            }
            (Some(Value::Allocation { name: Some(name), slots }), _) => {
                tile.binding = Some(self.binding(name, *slots, slot)?);
                Ok(())
            }
            (_, Constant::Unknown(reason)) => Err(reason.clone()),
            _ => Err(Reason::new("this part of a tile type")),
        }
    }

    /// A slot of a declared allocation, the first one where none is written.
    fn binding(&mut self, name: &str, slots: u32, subscript: Option<ExprId>) -> Result<Binding, Reason> {
        let slot = match subscript.map(|slot| self.expression(slot)) {
            None => Scalar::Int(0),
            Some(Term::Scalar(slot)) => slot,
            Some(Term::Unknown(reason)) => return Err(reason),
            Some(_) => return Err(Reason::new("the slot of an allocation is not an integer")),
        };
        if let Some(at) = subscript
            && let Some(message) = no_such_slot(name, slots, &slot)
        {
            self.reject(at, Code::Rejected, message);
        }
        let allocation = self.allocation(name.to_owned(), slots);
        let is_computed = !matches!(slot, Scalar::Int(_) | Scalar::Var(_));
        Ok(Binding { allocation, slot, is_computed })
    }

    fn allocation(&mut self, name: String, slots: u32) -> AllocationId {
        let known = self.state.allocations.iter().position(|allocation| allocation.name == name);
        let index = known.unwrap_or_else(|| {
            self.state.allocations.push(DeclaredAllocation { name, slots });
            self.state.allocations.len() - 1
        });
        AllocationId(index as u32)
    }

    fn tile_view(&mut self, args: &[Arg], tile: &mut TileType) -> Result<(), Reason> {
        for arg in args {
            match arg.keyword.as_deref() {
                Some("valid_shape") => tile.view.valid_shape = Some(self.extents(arg.value)?),
                Some("blayout") => tile.view.blayout = self.member(arg.value).as_deref().and_then(BLayout::from_name),
                Some("slayout") => tile.view.slayout = self.member(arg.value).as_deref().and_then(SLayout::from_name),
                Some("fractal") => match self.constant(arg.value) {
                    Constant::Int(fractal) => tile.view.fractal = u32::try_from(fractal).ok(),
                    _ => return Err(Reason::new("`fractal` is not a constant")),
                },
                Some("pad") => tile.view.pad = self.member(arg.value).as_deref().and_then(Pad::from_name),
                _ => {}
            }
        }
        Ok(())
    }

    /// The last part of a member of an enumeration: `zero` of `pl.PadValue.zero`.
    fn member(&self, expr: ExprId) -> Option<String> {
        match self.constant(expr) {
            Constant::Member(name) => Some(last_name(&name).to_owned()),
            _ => None,
        }
    }

    pub(super) fn dtype(&mut self, expr: ExprId) -> Result<Dtype, Reason> {
        match self.constant(expr) {
            Constant::Dtype(dtype) => Ok(dtype),
            Constant::Member(name) if !name.contains('.') => Err(self.unknown_dtype(expr, &name)),
            Constant::Unknown(reason) => Err(reason),
            _ => Err(Reason::new("this is not an element type")),
        }
    }

    pub(super) fn unknown_dtype(&mut self, at: ExprId, name: &str) -> Reason {
        let what = format!("there is no element type `pl.{name}`");
        let nearest: Vec<String> = Dtype::nearest(name).iter().map(|name| format!("`pl.{name}`")).collect();
        let message = match nearest.as_slice() {
            [] => {
                let known = Dtype::ALL.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
                format!("{what}; there are {known}")
            }
            [one] => format!("{what}; did you mean {one}?"),
            [others @ .., last] => format!("{what}; did you mean {} or {last}?", others.join(", ")),
        };
        self.reject(self.named_in(at, name), Code::UnknownDtype, message);
        Reason::new(what)
    }

    /// The argument of a call that ends with a name, else the whole.
    fn named_in(&self, at: ExprId, name: &str) -> ExprId {
        let Expr::Call { args, .. } = self.ast.expr(at) else { return at };
        let is_it = |expr: &ExprId| matches!(self.ast.expr(*expr), Expr::Attribute { name: last, .. } if last == name);
        args.iter().map(|arg| arg.value).find(is_it).unwrap_or(at)
    }

    /// The extents that an expression gives: a list of numbers and names, or something that has such a list as its value.
    pub(super) fn extents(&mut self, expr: ExprId) -> Result<Vec<Scalar>, Reason> {
        match self.expression(expr) {
            Term::List(elements) => elements
                .into_iter()
                .map(|element| match element {
                    Term::Scalar(scalar) => Ok(scalar),
                    Term::Unknown(reason) => Err(reason),
                    Term::Constant(constant) => constants::dynamic(&constant).ok_or_else(no_integer),
                    _ => Err(no_integer()),
                })
                .collect(),
            Term::Unknown(reason) => Err(reason),
            _ => Err(Reason::new("a shape is not a list")),
        }
    }

    /// The extents of a tensor: one that is not known stands among those that are.
    pub(super) fn tensor_extents(&mut self, expr: ExprId) -> Option<Vec<Scalar>> {
        let Term::List(elements) = self.expression(expr) else { return None };
        let extent = |element| match element {
            Term::Scalar(scalar) => scalar,
            Term::Unknown(reason) => Scalar::Unknown(reason),
            Term::Constant(constant) => constants::dynamic(&constant).unwrap_or_else(|| Scalar::Unknown(no_integer())),
            _ => Scalar::Unknown(no_integer()),
        };
        Some(elements.into_iter().map(extent).collect())
    }

    /// The extents as numbers. A shape that depends on run-time values is rejected by the compiler.
    pub(super) fn constant_shape(&mut self, extents: &[Scalar], at: ExprId) -> Result<Vec<u64>, Reason> {
        let mut shape = Vec::with_capacity(extents.len());
        for extent in extents {
            match &typing::known(extent, &self.state.constants) {
                Scalar::Int(extent) if *extent > 0 => shape.push(*extent as u64),
                Scalar::Int(extent) => {
                    let message = format!("an extent of a tile is {extent}; it must be positive");
                    self.reject(at, Code::InvalidOperand, message);
                    return Err(Reason::new("the tile has no positive shape"));
                }
                Scalar::Unknown(reason) => return Err(reason.clone()),
                runtime => {
                    let what = self.describe(runtime);
                    let message = format!(
                        "the shape of a tile must be constant, but {what} is known at run time only; use the largest shape here and the actual extent as `valid_shape`"
                    );
                    self.reject(at, Code::ShapeNotConstant, message);
                    return Err(Reason::new(format!("the tile's shape depends on {what}")));
                }
            }
        }
        Ok(shape)
    }
}

fn keyword(args: &[Arg], name: &str) -> Option<ExprId> {
    args.iter().find(|arg| arg.keyword.as_deref() == Some(name)).map(|arg| arg.value)
}

fn no_such_slot(allocation: &str, slots: u32, slot: &Scalar) -> Option<String> {
    if slots <= 1 {
        return Some(format!(
            "`{allocation}` is declared with a single slot, which has no number; write `{allocation}`, or declare `pl.MemRef(slots=…)`"
        ));
    }
    let index = slot.as_int().filter(|index| !(0..i64::from(slots)).contains(index))?;
    Some(format!("`{allocation}` has no slot {index}: it is declared with {slots} slots, from 0 to {}", slots - 1))
}

fn no_integer() -> Reason {
    Reason::new("an extent is not an integer")
}

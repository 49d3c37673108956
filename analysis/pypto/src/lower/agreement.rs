//! Whether values may share a name, as the compiler's front end decides: a name has one type, and the types of what it is given
//! must be equal in shape, element type, memory, valid shape, padding and layout.
//!
//! Two types differ here where the compiler is sure to tell them apart. What is not known agrees with anything.

use std::fmt;

use rustc_hash::FxHashMap;
use tilefit_python::element::Pad;

use crate::ir::{Scalar, TensorType, TileType, TileView, Type, Var, VarId};
use crate::typing::known;
use crate::typing::proof::{Proof, Prover};

/// In what two types differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    Kind,
    Shape,
    Dtype,
    Space,
    ValidShape,
    Padding,
    Layout,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Difference::Kind => "the kind of value",
            Difference::Shape => "the shape",
            Difference::Dtype => "the element type",
            Difference::Space => "the memory",
            Difference::ValidShape => "the valid shape",
            Difference::Padding => "the padding",
            Difference::Layout => "the layout",
        })
    }
}

/// The variables that types speak of.
#[derive(Clone, Copy)]
pub(super) struct Agreement<'a> {
    pub(super) vars: &'a [Var],
    /// Values of scalar variables that are assigned once.
    pub(super) constants: &'a FxHashMap<VarId, i64>,
}

impl Agreement<'_> {
    /// `None` where the types agree, or may.
    pub(super) fn difference(&self, one: &Type, other: &Type) -> Option<Difference> {
        match (one, other) {
            (Type::Unknown(_), _) | (_, Type::Unknown(_)) => None,
            (Type::Tile(one), Type::Tile(other)) => self.tiles(one, other),
            (Type::Tensor(one), Type::Tensor(other)) => self.tensors(one, other),
            (Type::Scalar(one), Type::Scalar(other)) => (one != other).then_some(Difference::Dtype),
            (Type::Tile(_) | Type::Tensor(_) | Type::Scalar(_), Type::Tile(_) | Type::Tensor(_)) => {
                Some(Difference::Kind)
            }
            (Type::Tile(_) | Type::Tensor(_), Type::Scalar(_)) => Some(Difference::Kind),
            _ => None,
        }
    }

    /// The same where a value goes through a loop or a branch: there extents must be proved equal, and padding and layout are
    /// compared only of tiles that both state theirs.
    pub(super) fn across(&self, one: &Type, other: &Type) -> Option<Difference> {
        let (Type::Tile(one), Type::Tile(other)) = (one, other) else { return self.difference(one, other) };
        let are_stated = one.view != TileView::default() && other.view != TileView::default();
        let pad = |tile: &TileType| tile.view.pad.unwrap_or(Pad::Null);
        let differences = [
            (one.shape != other.shape, Difference::Shape),
            (one.dtype != other.dtype, Difference::Dtype),
            (self.are_unequal(&one.valid_shape(), &other.valid_shape()), Difference::ValidShape),
            (are_stated && pad(one) != pad(other), Difference::Padding),
            (are_stated && one.layout() != other.layout(), Difference::Layout),
        ];
        differences.into_iter().find_map(|(differs, what)| differs.then_some(what))
    }

    fn tiles(&self, one: &TileType, other: &TileType) -> Option<Difference> {
        let pad = |tile: &TileType| tile.view.pad.unwrap_or(Pad::Null);
        let spaces_differ = matches!((one.space, other.space), (Some(one), Some(other)) if one != other);
        let differences = [
            (one.shape != other.shape, Difference::Shape),
            (one.dtype != other.dtype, Difference::Dtype),
            (spaces_differ, Difference::Space),
            (self.differ(&one.valid_shape(), &other.valid_shape()), Difference::ValidShape),
            (pad(one) != pad(other), Difference::Padding),
            (one.space == other.space && one.layout() != other.layout(), Difference::Layout),
        ];
        differences.into_iter().find_map(|(differs, what)| differs.then_some(what))
    }

    fn tensors(&self, one: &TensorType, other: &TensorType) -> Option<Difference> {
        let dtypes_differ = matches!((one.dtype, other.dtype), (Some(one), Some(other)) if one != other);
        let shapes_differ = one.rank_known && other.rank_known && self.differ(&one.shape, &other.shape);
        let differences = [
            (shapes_differ, Difference::Shape),
            (dtypes_differ, Difference::Dtype),
            (one.layout != other.layout, Difference::Layout),
        ];
        differences.into_iter().find_map(|(differs, what)| differs.then_some(what))
    }

    /// Whether lists of extents are sure to differ.
    pub(super) fn differ(&self, one: &[Scalar], other: &[Scalar]) -> bool {
        one.len() != other.len() || one.iter().zip(other).any(|(one, other)| self.extents_differ(one, other))
    }

    /// Whether nothing proves lists of extents equal.
    fn are_unequal(&self, one: &[Scalar], other: &[Scalar]) -> bool {
        let prover = Prover { vars: self.vars };
        one.len() != other.len()
            || one.iter().zip(other).any(|(one, other)| {
                let [one, other] = [one, other].map(|extent| self.plain(&known(extent, self.constants)));
                let (Some(one), Some(other)) = (one, other) else { return false };
                matches!(prover.equal(&one, &other), Proof::No | Proof::Open)
            })
    }

    /// Extents are compared by their form, as the compiler does, but for conversions and for constants that have a name: it may
    /// have put those in itself.
    fn extents_differ(&self, one: &Scalar, other: &Scalar) -> bool {
        let [one, other] = [one, other].map(|extent| self.plain(&known(extent, self.constants)));
        matches!((one, other), (Some(one), Some(other)) if one != other)
    }

    /// The extent without conversions; `None` for what need not be the same each time.
    fn plain(&self, extent: &Scalar) -> Option<Scalar> {
        match extent {
            Scalar::Int(_) | Scalar::Dynamic(_) => Some(extent.clone()),
            // A call in an expression has a variable here, the compiler leaves it in its place.
            Scalar::Var(var) => {
                self.vars.get(var.0 as usize).filter(|var| var.inserted.is_none()).map(|_| Scalar::Var(*var))
            }
            Scalar::Cast(_, inner) => self.plain(inner),
            Scalar::Binary(op, left, right) => {
                Some(Scalar::Binary(*op, Box::new(self.plain(left)?), Box::new(self.plain(right)?)))
            }
            _ => None,
        }
    }
}

//! What an annotation says, beside what is deduced.

use tilefit_python::element::Dtype;

use crate::ir::{TileView, Type};

/// What an annotation says; fields of a tile that it leaves out are `None`.
pub(super) enum Annotation {
    Type(Type),
    /// `pl.Out[T]` or `pl.InOut[T]`
    Output(Type),
    /// `pl.Ptr`, a string, `pl.UnknownType`: nothing to check.
    Nothing,
}

/// The type of an assignment with an annotation: what the annotation leaves out is inferred (`docs/reference/syntax.md`, "Types").
pub(super) fn merge(annotated: Type, inferred: &Type) -> Type {
    match (annotated, inferred) {
        (Type::Unknown(_), inferred) => inferred.clone(),
        (annotated, Type::Unknown(_)) => annotated,
        (Type::Tile(mut annotated), Type::Tile(inferred)) => {
            annotated.space = annotated.space.or(inferred.space);
            if annotated.view == TileView::default() {
                annotated.view = inferred.view.clone();
            }
            annotated.canonicalize();
            Type::Tile(annotated)
        }
        (Type::Scalar(annotated), Type::Scalar(Dtype::Index)) => Type::Scalar(annotated),
        (_, inferred) => inferred.clone(),
    }
}

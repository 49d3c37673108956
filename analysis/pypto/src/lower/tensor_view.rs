//! What the front end deduces of a tensor besides its shape and elements (`TensorView` in a type): which part of it holds data, what lies
//! beside that, and in which order its axes lie in memory.

use tilefit_python::element::Pad;

use super::agreement::{Agreement, Difference};
use crate::ir::{Scalar, Var};
use crate::typing::notation;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TensorView {
    /// `None` where all of it holds data.
    pub(super) valid: Option<Vec<Scalar>>,
    pub(super) pad: Option<Pad>,
    /// Which axis of the memory each axis is; empty where none was transposed.
    pub(super) order: Vec<usize>,
}

/// `None` where it is not followed.
pub(super) type Followed = Option<TensorView>;

/// Whether two tensors may share a name, by their views.
pub(super) enum Comparison {
    Equal,
    Differ(Difference),
    Unsure,
}

impl TensorView {
    pub(super) fn part(valid: Option<Vec<Scalar>>) -> TensorView {
        TensorView { valid, ..TensorView::default() }
    }

    pub(super) fn compare(one: &Followed, other: &Followed, agreement: Agreement) -> Comparison {
        let (Some(one), Some(other)) = (one, other) else { return Comparison::Unsure };
        let parts_differ = match (&one.valid, &other.valid) {
            (None, None) => false,
            (Some(one), Some(other)) => agreement.differ(one, other),
            (Some(_), None) | (None, Some(_)) => true,
        };
        if parts_differ {
            return Comparison::Differ(Difference::ValidShape);
        }
        if one.order != other.order {
            return Comparison::Differ(Difference::Layout);
        }
        if one.pad != other.pad {
            return Comparison::Differ(Difference::Padding);
        }
        Comparison::Equal
    }

    /// For people, after the type: nothing of what is as usual.
    pub(super) fn described(&self, vars: &[Var]) -> String {
        let mut words = Vec::new();
        words.extend(self.valid.as_ref().map(|valid| format!("valid in {}", notation::extents(valid, vars))));
        words.extend(self.pad.map(|pad| format!("padded with `pl.PadValue.{}`", pad.name())));
        if !self.order.is_empty() {
            words.push("transposed".to_owned());
        }
        if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
    }
}

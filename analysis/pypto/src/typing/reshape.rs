//! Which part of a reshaped tile holds data (the compiler's ComputeReshapeValidShape).

use super::proof::{Proof, Prover};
use crate::ir::Scalar;

/// Which part of the result holds data.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reshaped {
    Valid(Vec<Scalar>),
    /// No box of the new shape holds the same elements.
    Refused(&'static str),
    /// Not decided here.
    Unsure,
}

pub(crate) fn valid(prover: Prover<'_>, shape: &[u64], valid: &[Scalar], new: &[u64], is_row_major: bool) -> Reshaped {
    let is_full = |axis: usize| valid[axis].as_int() == Some(shape[axis] as i64);
    let is_settled = |axis: usize| prover.equal(&valid[axis], &Scalar::Int(shape[axis] as i64)) != Proof::Unsure;
    if valid.len() != shape.len() || valid.is_empty() || !(0..shape.len()).all(is_settled) {
        return Reshaped::Unsure;
    }
    if (0..shape.len()).all(is_full) {
        return Reshaped::Valid(new.iter().map(|&extent| Scalar::Int(extent as i64)).collect());
    }
    if valid.iter().any(|extent| extent.as_int() == Some(0)) {
        return Reshaped::Valid(vec![Scalar::Int(0); new.len()]);
    }
    if let Some(valid) = with_other_axes_of_one(shape, valid, new) {
        return Reshaped::Valid(valid);
    }
    if !is_row_major {
        return Reshaped::Refused("its elements are not stored row by row");
    }
    match prefix(shape, valid, new) {
        Ok(valid) => Reshaped::Valid(valid),
        Err(refused) => Reshaped::Refused(refused),
    }
}

/// Axes of extent one that come and go leave any box as it is.
fn with_other_axes_of_one(shape: &[u64], valid: &[Scalar], new: &[u64]) -> Option<Vec<Scalar>> {
    // How the first `i` axes of the source make the first `j` of the result.
    let mut reached: Vec<Vec<Option<Vec<Scalar>>>> = vec![vec![None; new.len() + 1]; shape.len() + 1];
    // From the end, so that an axis keeps its own extent rather than going and coming back whole.
    for i in (0..=shape.len()).rev() {
        for j in (0..=new.len()).rev() {
            let tail = |i: usize, j: usize| reached.get(i)?.get(j)?.clone();
            let with = |first: Scalar, tail: Vec<Scalar>| [vec![first], tail].concat();
            let kept = || {
                (shape.get(i)? == new.get(j)?).then_some(())?;
                Some(with(valid[i].clone(), tail(i + 1, j + 1)?))
            };
            let dropped = || {
                (*shape.get(i)? == 1 && valid[i].as_int() == Some(1)).then_some(())?;
                tail(i + 1, j)
            };
            let added = || {
                (*new.get(j)? == 1).then_some(())?;
                Some(with(Scalar::Int(1), tail(i, j + 1)?))
            };
            let nothing = || (i == shape.len() && j == new.len()).then(Vec::new);
            let here = nothing().or_else(kept).or_else(dropped).or_else(added);
            reached[i][j] = here;
        }
    }
    reached.swap_remove(0).swap_remove(0)
}

/// Data that fills the memory of the tile from its start without gaps fills that of the result in the same way.
fn prefix(shape: &[u64], valid: &[Scalar], new: &[u64]) -> Result<Vec<Scalar>, &'static str> {
    const TOO_LARGE: &str = "it is too large";
    const NO_ROWS: &str = "the data does not fill a whole number of rows of the new shape";
    let free = valid.iter().position(|extent| extent.as_int() != Some(1)).unwrap_or(shape.len() - 1);
    let behind = free + 1..shape.len();
    if !behind.clone().all(|axis| valid[axis].as_int() == Some(shape[axis] as i64)) {
        return Err("the data is scattered over its memory instead of filling it from the start");
    }
    let volume = |shape: &[u64]| shape.iter().try_fold(1u64, |volume, extent| volume.checked_mul(*extent));
    let step = volume(&shape[behind]).ok_or(TOO_LARGE)?;
    let steps = (0..new.len()).map(|axis| volume(&new[axis + 1..])).collect::<Option<Vec<u64>>>().ok_or(TOO_LARGE)?;
    let (axis, extent) = match valid[free].as_int() {
        Some(extent) => {
            let elements = u64::try_from(extent).ok().and_then(|extent| extent.checked_mul(step)).ok_or(TOO_LARGE)?;
            let fits = |axis: &usize| {
                steps[*axis] > 0 && elements.is_multiple_of(steps[*axis]) && elements / steps[*axis] <= new[*axis]
            };
            let axis = (0..new.len()).find(fits).ok_or(NO_ROWS)?;
            (axis, Scalar::Int((elements / steps[axis]) as i64))
        }
        None => {
            let fits = |axis: &usize| steps[*axis] == step && shape[free] <= new[*axis];
            let axis = (0..new.len()).find(fits).ok_or(
                "how many rows hold data is known at run time only, and the new shape has no dimension with rows of that size",
            )?;
            (axis, valid[free].clone())
        }
    };
    let of_axis = |at: usize| match at.cmp(&axis) {
        std::cmp::Ordering::Less => Scalar::Int(1),
        std::cmp::Ordering::Equal => extent.clone(),
        std::cmp::Ordering::Greater => Scalar::Int(new[at] as i64),
    };
    Ok((0..new.len()).map(of_axis).collect())
}

#[cfg(test)]
mod tests {
    use super::{Prover, Reshaped};
    use crate::ir::{Scalar, VarId};

    const N: Scalar = Scalar::Var(VarId(0));

    fn valid(shape: &[u64], valid: &[Scalar], new: &[u64], is_row_major: bool) -> Option<Vec<Scalar>> {
        match super::valid(Prover { vars: &[] }, shape, valid, new, is_row_major) {
            Reshaped::Valid(valid) => Some(valid),
            Reshaped::Refused(_) | Reshaped::Unsure => None,
        }
    }

    fn int(value: i64) -> Scalar {
        Scalar::Int(value)
    }

    #[test]
    fn axes_of_one_keep_the_box() {
        assert_eq!(valid(&[8, 1], &[N, int(1)], &[1, 8], false), Some(vec![int(1), N]));
        assert_eq!(valid(&[1, 16, 64], &[int(1), N, int(40)], &[16, 64], true), Some(vec![N, int(40)]));
        // Its only row may hold nothing.
        assert_eq!(valid(&[1, 64], &[N, int(64)], &[64], true), None);
        assert_eq!(valid(&[1, 64], &[N, int(64)], &[1, 1, 64], true), Some(vec![N, int(1), int(64)]));
    }

    #[test]
    fn data_without_gaps_stays_in_front() {
        assert_eq!(valid(&[64], &[int(24)], &[8, 8], true), Some(vec![int(3), int(8)]));
        assert_eq!(valid(&[4, 16], &[int(1), int(8)], &[8, 8], true), Some(vec![int(1), int(8)]));
        assert_eq!(valid(&[8, 64], &[N, int(64)], &[2, 4, 64], true), None);
        assert_eq!(valid(&[8, 64], &[N, int(64)], &[8, 4, 16], true), Some(vec![N, int(4), int(16)]));
        assert_eq!(valid(&[8, 64], &[int(4), int(64)], &[2, 4, 64], true), Some(vec![int(1), int(4), int(64)]));
    }

    #[test]
    fn data_with_gaps_or_by_columns_has_no_box() {
        assert_eq!(valid(&[4, 16], &[int(4), int(8)], &[8, 8], true), None);
        assert_eq!(valid(&[64], &[int(24)], &[8, 8], false), None);
        assert_eq!(valid(&[64], &[int(20)], &[8, 8], true), None);
        assert_eq!(valid(&[2, 3], &[int(0), int(3)], &[6], false), Some(vec![int(0)]));
        assert_eq!(valid(&[2, 3], &[int(2), int(3)], &[6], false), Some(vec![int(6)]));
    }
}

//! What is known of the elements of a tensor along each dimension (`lib/Analysis/AxisInfo.cpp`): the compiler takes from it how wide the accesses to
//! global memory are.

/// Each number is a power of two; a scalar has one dimension of one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AxisInfo {
    /// Elements one after the other that grow by one each.
    pub contiguity: Vec<u64>,
    /// What divides the first element of each such run.
    pub divisibility: Vec<u64>,
    /// Elements one after the other that are equal.
    constancy: Vec<u64>,
    constant: Option<i64>,
}

/// Zero is divided by this.
const MOST: u64 = 1 << 62;

impl AxisInfo {
    /// An unknown number with this known divisor.
    pub(crate) fn number(divisibility: u64) -> AxisInfo {
        AxisInfo { contiguity: vec![1], divisibility: vec![divisibility], constancy: vec![1], constant: None }
    }

    pub(crate) fn constant(value: i64) -> AxisInfo {
        AxisInfo { constant: Some(value), ..AxisInfo::number(power_of_two_in(value)) }
    }

    /// `arange(start, start + extent)`
    pub(crate) fn range(start: i64, extent: u64) -> AxisInfo {
        AxisInfo {
            contiguity: vec![extent],
            divisibility: vec![power_of_two_in(start)],
            constancy: vec![1],
            constant: (extent == 1).then_some(start),
        }
    }

    /// All elements are one known number.
    pub(crate) fn is_constant(&self) -> bool {
        self.constant.is_some()
    }

    /// With nothing known.
    pub(crate) fn unknown(rank: usize) -> AxisInfo {
        AxisInfo { contiguity: vec![1; rank], divisibility: vec![1; rank], constancy: vec![1; rank], constant: None }
    }

    /// A tensor of a number.
    pub(crate) fn splat(&self, shape: &[u64]) -> AxisInfo {
        AxisInfo {
            contiguity: vec![1; shape.len()],
            divisibility: vec![self.divisibility.first().copied().unwrap_or(1); shape.len()],
            constancy: shape.to_vec(),
            constant: self.constant,
        }
    }

    pub(crate) fn expand_dims(&self, axis: usize) -> AxisInfo {
        let divisibility = match self.constant {
            Some(value) => power_of_two_in(value),
            None => self.at_any_element().min().unwrap_or(1),
        };
        let mut expanded = self.clone();
        let axis = axis.min(self.contiguity.len());
        expanded.contiguity.insert(axis, 1);
        expanded.divisibility.insert(axis, divisibility);
        expanded.constancy.insert(axis, 1);
        expanded
    }

    pub(crate) fn broadcast(&self, from: &[u64], to: &[u64]) -> AxisInfo {
        let mut broadcast = self.clone();
        for (dim, (&had, &has)) in from.iter().zip(to).enumerate() {
            if had == 1 && has != 1 {
                broadcast.contiguity[dim] = 1;
                broadcast.constancy[dim] = has;
            }
        }
        broadcast
    }

    /// `offset`: the scale of `other`, which is the element size in pointer arithmetic and else 1.
    pub(crate) fn add(&self, other: &AxisInfo, offset: u64) -> AxisInfo {
        self.moved(other, offset, false, self.constant.zip(other.constant).and_then(|(one, two)| one.checked_add(two)))
    }

    pub(crate) fn sub(&self, other: &AxisInfo) -> AxisInfo {
        self.moved(other, 1, true, self.constant.zip(other.constant).and_then(|(one, two)| one.checked_sub(two)))
    }

    fn moved(&self, other: &AxisInfo, offset: u64, is_less: bool, constant: Option<i64>) -> AxisInfo {
        self.with(other, constant, |dim| {
            let kept = self.contiguity[dim].min(other.constancy[dim]);
            let given = if is_less { 1 } else { self.constancy[dim].min(other.contiguity[dim]) };
            let divisibility = self.divisibility[dim].min(other.divisibility[dim].saturating_mul(offset).min(MOST));
            (kept.max(given), divisibility, self.constancy[dim].min(other.constancy[dim]))
        })
    }

    pub(crate) fn mul(&self, other: &AxisInfo) -> AxisInfo {
        let constant = self.constant.zip(other.constant).and_then(|(one, two)| one.checked_mul(two));
        self.with(other, constant, |dim| {
            let contiguity = match (self.constant, other.constant) {
                (_, Some(1)) => self.contiguity[dim],
                (Some(1), _) => other.contiguity[dim],
                _ => 1,
            };
            let of_one = |one: &AxisInfo, times: &AxisInfo| match times.constant {
                Some(1) => one.divisibility[dim],
                _ if one.contiguity[dim] > 1 => 1,
                _ => one.divisibility[dim],
            };
            let divisibility = of_one(self, other).saturating_mul(of_one(other, self)).min(MOST);
            (contiguity, divisibility, self.constancy[dim].min(other.constancy[dim]))
        })
    }

    /// `self % other`: runs go on between multiples of what is divided by.
    pub(crate) fn remainder(&self, other: &AxisInfo, shape: &[u64]) -> AxisInfo {
        self.with(other, self.constant.zip(other.constant).and_then(|(one, two)| one.checked_rem(two)), |dim| {
            let is_one = other.constancy[dim] == shape.get(dim).copied().unwrap_or(1);
            let run = self.contiguity[dim].min(self.divisibility[dim]).min(other.divisibility[dim]);
            let divisibility = self.divisibility[dim].min(other.divisibility[dim]);
            (if is_one { run } else { 1 }, divisibility, self.constancy[dim].min(other.constancy[dim]))
        })
    }

    /// A comparison. `is_kept_left`: of a run with a number the answer is one for as many elements as divide both (`<` and `>=`);
    /// `is_kept_right`: of a number with a run (`<=` and `>`).
    pub(crate) fn compared(
        &self,
        other: &AxisInfo,
        shape: &[u64],
        [is_kept_left, is_kept_right]: [bool; 2],
    ) -> AxisInfo {
        self.with(other, None, |dim| {
            let extent = shape.get(dim).copied().unwrap_or(1);
            let common = self.divisibility[dim].min(other.divisibility[dim]);
            let left = is_kept_left && other.constancy[dim] == extent;
            let right = is_kept_right && self.constancy[dim] == extent;
            let mut equal = self.constancy[dim].min(other.constancy[dim]);
            if left {
                equal = equal.max(self.contiguity[dim].min(common));
            }
            if right {
                equal = equal.max(other.contiguity[dim].min(common));
            }
            (1, 1, equal)
        })
    }

    /// What is known of a value that may be either.
    pub(crate) fn either(&self, other: &AxisInfo) -> AxisInfo {
        let constant = self.constant.filter(|_| self.constant == other.constant);
        self.with(other, constant, |dim| {
            (
                self.contiguity[dim].min(other.contiguity[dim]),
                self.divisibility[dim].min(other.divisibility[dim]),
                self.constancy[dim].min(other.constancy[dim]),
            )
        })
    }

    /// Elements along a dimension that are equal.
    pub(crate) fn equal_along(&self, dim: usize) -> u64 {
        self.constancy.get(dim).copied().unwrap_or(1)
    }

    /// An operation of which only one thing is known: equal elements give equal results.
    pub(crate) fn elementwise(&self, other: &AxisInfo) -> AxisInfo {
        self.with(other, None, |dim| (1, 1, self.constancy[dim].min(other.constancy[dim])))
    }

    fn with(&self, other: &AxisInfo, constant: Option<i64>, of: impl Fn(usize) -> (u64, u64, u64)) -> AxisInfo {
        let mut info = AxisInfo { constant, ..AxisInfo::unknown(self.contiguity.len().min(other.contiguity.len())) };
        for dim in 0..info.contiguity.len() {
            (info.contiguity[dim], info.divisibility[dim], info.constancy[dim]) = of(dim);
            if let Some(value) = constant {
                info.divisibility[dim] = power_of_two_in(value);
            }
        }
        info
    }

    /// What divides every element, by dimension.
    fn at_any_element(&self) -> impl Iterator<Item = u64> {
        self.contiguity
            .iter()
            .zip(&self.divisibility)
            .map(|(&contiguity, &divides)| if contiguity > 1 { 1 } else { divides })
    }

    /// Dimensions, the one with the longest runs first; of equal ones, the last first.
    pub(crate) fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.contiguity.len() as u32).rev().collect();
        order.sort_by_key(|&dim| std::cmp::Reverse(self.contiguity[dim as usize]));
        order
    }
}

/// The largest power of two that divides a number.
fn power_of_two_in(value: i64) -> u64 {
    if value == 0 { MOST } else { 1 << value.trailing_zeros().min(62) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pointer + arange(0, 64)[:, None] * stride + arange(0, 32)[None, :]`
    fn rows(pointer: &AxisInfo, stride: &AxisInfo) -> AxisInfo {
        let (shape, row, column) = ([64, 32], [64, 1], [1, 32]);
        let starts = AxisInfo::range(0, 64).expand_dims(1).mul(&stride.splat(&row)).broadcast(&row, &shape);
        let columns = AxisInfo::range(0, 32).expand_dims(0).broadcast(&column, &shape);
        pointer.splat(&shape).add(&starts.add(&columns, 1), 4)
    }

    #[test]
    fn rows_of_a_known_stride_are_as_aligned_as_the_pointer() {
        let aligned = rows(&AxisInfo::number(16), &AxisInfo::constant(32));
        assert_eq!((aligned.contiguity[1], aligned.divisibility[1]), (32, 16));
        let unaligned = rows(&AxisInfo::number(1), &AxisInfo::constant(32));
        assert_eq!((unaligned.contiguity[1], unaligned.divisibility[1]), (32, 1));
        let odd = rows(&AxisInfo::number(16), &AxisInfo::number(1));
        assert_eq!((odd.contiguity[1], odd.divisibility[1]), (32, 4));
        assert_eq!(aligned.order(), [1, 0]);
    }

    #[test]
    fn columns_are_gone_through_first_where_they_are_contiguous() {
        let shape = [64, 32];
        let down = AxisInfo::range(0, 64).expand_dims(1).broadcast(&[64, 1], &shape);
        let across = AxisInfo::range(0, 32).expand_dims(0).mul(&AxisInfo::constant(64).splat(&[1, 32]));
        let pointers = AxisInfo::number(16).splat(&shape).add(&down.add(&across.broadcast(&[1, 32], &shape), 1), 2);
        assert_eq!((pointers.order(), pointers.contiguity[0], pointers.divisibility[0]), (vec![0, 1], 64, 16));
    }
}

//! The values of a constant that are tried.

use super::constants::LARGEST;

/// How the present value is kept, so that what it is an extent of stays as well aligned as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Stages, buffers: any number.
    Count,
    /// Extents of Triton's tensors.
    PowersOfTwo,
    /// Extents of tiles.
    Multiples(u64),
}

/// What the text divides a constant by, and by it: a value that leaves no remainder is replaced by one that leaves none.
#[derive(Debug, Default)]
pub(super) struct Divisions {
    pub(super) divided_by: Vec<u64>,
    pub(super) dividing: Vec<u64>,
}

/// Greater counts are extents.
const LARGEST_COUNT: u64 = 15;

/// A row of 32 bytes, and a fractal of the cube core, is aligned for every element type.
const MOST_ALIGNED: u64 = 32;

/// A row of 32 bytes of the widest elements.
const LEAST_ALIGNED: u64 = 8;

/// More values are not listed.
const MOST_VALUES: u64 = 4096;

/// Options of a launch that are powers of two, however small.
const THREADS: [&str; 2] = ["num_warps", "num_ctas"];

impl Form {
    /// `has_tiles`: the extents are of tiles of PyPTO, which need not be powers of two.
    pub(super) fn of(name: Option<&str>, value: u64, has_tiles: bool) -> Form {
        let alignment = 1 << value.trailing_zeros();
        match has_tiles {
            false if name.is_some_and(|name| THREADS.contains(&name)) => Form::PowersOfTwo,
            false if value > LARGEST_COUNT && value.is_power_of_two() => Form::PowersOfTwo,
            false if value <= LARGEST_COUNT => Form::Count,
            true if value <= LARGEST_COUNT && alignment < LEAST_ALIGNED => Form::Count,
            _ => Form::Multiples(alignment.min(MOST_ALIGNED)),
        }
    }

    /// For people: `multiples of 32 and halves of 256`.
    pub(super) fn words(self, value: u64) -> String {
        match self {
            Form::Count => "integers".to_owned(),
            Form::PowersOfTwo => "powers of two".to_owned(),
            Form::Multiples(step) if value.is_multiple_of(2) => format!("multiples of {step} and halves of {value}"),
            Form::Multiples(step) => format!("multiples of {step}"),
        }
    }

    /// From the smallest, the present value among them.
    pub(super) fn values(self, value: u64, divisions: &Divisions) -> Vec<u64> {
        let powers = || (0..=LARGEST.trailing_zeros()).map(|power| 1 << power);
        let mut values: Vec<u64> = match self {
            Form::Count => (1..=LARGEST_COUNT).chain(powers().filter(|&power| power > LARGEST_COUNT)).collect(),
            Form::PowersOfTwo => powers().collect(),
            Form::Multiples(step) => {
                let halves = std::iter::successors(Some(value), |&it| it.is_multiple_of(2).then_some(it / 2));
                (1..=MOST_VALUES).map(|nth| nth * step).chain(halves).collect()
            }
        };
        let keeps = |new: u64, of: u64, by: u64, new_of: u64, new_by: u64| {
            !of.is_multiple_of(by) || new_of.is_multiple_of(new_by) || new == value
        };
        values.retain(|&new| {
            divisions.dividing.iter().all(|&whole| keeps(new, whole, value, whole, new))
                && divisions.divided_by.iter().all(|&part| keeps(new, value, part, new, part))
        });
        values.push(value);
        values.sort_unstable();
        values.dedup();
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(form: Form, value: u64, divisions: &Divisions, first: &[u64]) {
        let values = form.values(value, divisions);
        assert_eq!(&values[..first.len()], first, "{values:?}");
    }

    #[test]
    fn values_keep_what_the_present_one_is() {
        let none = Divisions::default();
        assert_eq!(Form::of(Some("BLOCK"), 128, false), Form::PowersOfTwo);
        assert_eq!(Form::of(Some("num_warps"), 4, false), Form::PowersOfTwo);
        assert_eq!(Form::of(Some("num_stages"), 4, false), Form::Count);
        assert_eq!(Form::of(None, 128, true), Form::Multiples(32));
        assert_eq!(Form::of(None, 48, true), Form::Multiples(16));
        assert_eq!(Form::of(None, 8, true), Form::Multiples(8));
        assert_eq!(Form::of(None, 2, true), Form::Count);
        check(Form::Multiples(16), 48, &none, &[3, 6, 12, 16, 24, 32, 48, 64]);
        check(Form::PowersOfTwo, 64, &none, &[1, 2, 4, 8, 16, 32, 64, 128]);
        assert_eq!(Form::Count.values(3, &none).iter().position(|&it| it == 16), Some(15));
    }

    #[test]
    fn what_is_divided_without_a_remainder_stays_so() {
        let whole = Divisions { dividing: vec![1024], divided_by: Vec::new() };
        assert_eq!(Form::Multiples(32).values(256, &whole), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
        let halved = Divisions { dividing: vec![192], divided_by: vec![4] };
        assert_eq!(Form::Multiples(32).values(64, &halved), [4, 8, 16, 32, 64, 96, 192]);
        // 100 is not divided by 64 as it is.
        let ragged = Divisions { dividing: vec![100], divided_by: Vec::new() };
        check(Form::Multiples(32), 64, &ragged, &[1, 2, 4, 8, 16, 32, 64, 96, 128]);
    }
}

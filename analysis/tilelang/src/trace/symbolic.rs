//! Numbers that only the kernel knows, as sums of products of what is not known: enough to see that `(k + 1) * n - k * n` is `n`.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHasher;
use tilefit_python::finding::Reason;

use crate::program::Extent;

/// Longer sums are one thing that is not known.
const MOST_TERMS: usize = 32;
/// Longer products are, too.
const MOST_FACTORS: usize = 6;
/// Longer texts are cut.
const LONGEST_TEXT: usize = 120;

/// Something that is not known: a variable, an operation that sums do not express, a value of the host.
#[derive(Debug)]
pub(super) struct Atom {
    /// Equal for what is equal.
    pub key: u64,
    /// Why, where the host knows it.
    pub unknown: Option<Reason>,
}

type Product = Vec<Rc<Atom>>;

/// A sum, sorted by the products in it.
#[derive(Debug, Clone)]
pub(super) struct Sum(Rc<Vec<(Product, i128)>>);

impl PartialEq for Sum {
    fn eq(&self, other: &Sum) -> bool {
        let same = |(one, two): (&(Product, i128), &(Product, i128))| one.1 == two.1 && keys(&one.0) == keys(&two.0);
        self.0.len() == other.0.len() && self.0.iter().zip(other.0.iter()).all(same)
    }
}

fn keys(product: &Product) -> Vec<u64> {
    product.iter().map(|atom| atom.key).collect()
}

/// A key for an operation on sums.
pub(super) fn key(operation: &str, operands: &[&Sum]) -> u64 {
    let mut hasher = FxHasher::default();
    operation.hash(&mut hasher);
    for operand in operands {
        operand.0.len().hash(&mut hasher);
        for (product, factor) in operand.0.iter() {
            keys(product).hash(&mut hasher);
            factor.hash(&mut hasher);
        }
    }
    hasher.finish()
}

impl Sum {
    pub(super) fn number(value: i64) -> Sum {
        Sum(Rc::new(if value == 0 { Vec::new() } else { vec![(Vec::new(), value.into())] }))
    }

    pub(super) fn atom(key: u64, unknown: Option<Reason>) -> Sum {
        Sum(Rc::new(vec![(vec![Rc::new(Atom { key, unknown })], 1)]))
    }

    pub(super) fn as_number(&self) -> Option<i64> {
        match self.0.as_slice() {
            [] => Some(0),
            [(product, value)] if product.is_empty() => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The key of what it is, where that is one thing alone.
    pub(super) fn only_key(&self) -> Option<u64> {
        match self.0.as_slice() {
            [(product, 1)] if product.len() == 1 => Some(product[0].key),
            _ => None,
        }
    }

    /// Of each product, the keys of what is multiplied, and its factor.
    pub(super) fn terms(&self) -> impl Iterator<Item = (Vec<u64>, i128)> + '_ {
        self.0.iter().map(|(product, factor)| (keys(product), *factor))
    }

    /// All but the multiples of one thing alone.
    pub(super) fn without(&self, key: u64) -> Sum {
        let others = self.0.iter().filter(|(product, _)| keys(product) != [key]);
        Sum(Rc::new(others.cloned().collect()))
    }

    /// Why the host does not know it, where that is so.
    pub(super) fn unknown(&self) -> Option<&Reason> {
        self.0.iter().flat_map(|(product, _)| product).find_map(|atom| atom.unknown.as_ref())
    }

    fn of(mut terms: Vec<(Product, i128)>) -> Option<Sum> {
        terms.sort_by_key(|(product, _)| keys(product));
        let mut sum: Vec<(Product, i128)> = Vec::with_capacity(terms.len());
        for (product, factor) in terms {
            match sum.last_mut() {
                Some((last, total)) if keys(last) == keys(&product) => *total = total.checked_add(factor)?,
                _ => sum.push((product, factor)),
            }
        }
        sum.retain(|(_, factor)| *factor != 0);
        (sum.len() <= MOST_TERMS).then(|| Sum(Rc::new(sum)))
    }

    pub(super) fn plus(&self, other: &Sum) -> Option<Sum> {
        Sum::of(self.0.iter().chain(other.0.iter()).cloned().collect())
    }

    pub(super) fn minus(&self, other: &Sum) -> Option<Sum> {
        self.plus(&other.times(&Sum::number(-1))?)
    }

    pub(super) fn times(&self, other: &Sum) -> Option<Sum> {
        if self.0.len() * other.0.len() > 4 * MOST_TERMS {
            return None;
        }
        let mut terms = Vec::new();
        for (one, first) in self.0.iter() {
            for (two, second) in other.0.iter() {
                let mut product = [one.as_slice(), two.as_slice()].concat();
                product.sort_by_key(|atom| atom.key);
                if product.len() > MOST_FACTORS {
                    return None;
                }
                terms.push((product, first.checked_mul(*second)?));
            }
        }
        Sum::of(terms)
    }

    /// Rounded down, where what is left of the division is a number.
    pub(super) fn divided(&self, divisor: i64) -> Option<Sum> {
        let divisor = i128::from(divisor);
        if divisor <= 0 {
            return None;
        }
        let mut terms = Vec::new();
        for (product, factor) in self.0.iter() {
            match product.is_empty() {
                true => terms.push((Vec::new(), factor.div_euclid(divisor))),
                false if factor % divisor == 0 => terms.push((product.clone(), factor / divisor)),
                false => return None,
            }
        }
        Sum::of(terms)
    }

    /// What a division leaves, where that is a number.
    pub(super) fn remainder(&self, divisor: i64) -> Option<Sum> {
        let wide = i128::from(divisor);
        if wide <= 0 || self.0.iter().any(|(product, factor)| !product.is_empty() && factor % wide != 0) {
            return None;
        }
        let rest = self.0.iter().find(|(product, _)| product.is_empty()).map_or(0, |(_, value)| value.rem_euclid(wide));
        i64::try_from(rest).ok().map(Sum::number)
    }

    pub(super) fn extent(&self, text: &str) -> Extent {
        match (self.as_number(), self.unknown()) {
            (Some(number), _) => Extent::Known(u64::try_from(number).unwrap_or(0)),
            (None, Some(reason)) => Extent::Unknown(reason.clone()),
            (None, None) => Extent::Symbolic(text.into()),
        }
    }
}

/// A text for people, not longer than one looks at.
pub(super) fn shown(text: String) -> Rc<str> {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_a_loop_is_its_width() {
        let k = Sum::atom(1, None);
        let n = Sum::number(64);
        let next = k.plus(&Sum::number(1)).and_then(|next| next.times(&n)).unwrap();
        let here = k.times(&n).unwrap();
        assert_eq!(next.minus(&here).and_then(|width| width.as_number()), Some(64));
        assert_eq!(next.divided(64), k.plus(&Sum::number(1)));
        assert_eq!(here.remainder(64), Some(Sum::number(0)));
        assert_eq!(here.divided(7), None);
    }
}

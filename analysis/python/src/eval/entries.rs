//! Entries of dictionaries.

use tilefit_syntax::ast::CompareOp;

use super::arithmetic::compare;
use super::{Constant, OneOf, Parts, lifted};
use crate::finding::Reason;

/// The value of a key.
pub(super) fn entry(pairs: &[(Constant, Constant)], key: &Constant) -> Option<Constant> {
    pairs.iter().find(|(candidate, _)| candidate == key).map(|(_, value)| value.clone())
}

/// The value of a key, which may be one of some; `missing` where there is none.
pub(super) fn found(pairs: &[(Constant, Constant)], key: &Constant, missing: impl Fn() -> Constant) -> Constant {
    let of_one = |key: &Constant| match key {
        Constant::Between(..) => {
            let may_be = |candidate: &Constant| compare(CompareOp::Eq, candidate, key) != Some(false);
            let entries = pairs.iter().filter(|(candidate, _)| may_be(candidate)).map(|(_, value)| value.clone());
            // Where nothing is put for a number that is missing, it is not.
            let rest = Some(missing()).filter(|value| !matches!(value, Constant::Unknown(_)));
            OneOf::of(entries.chain(rest))
        }
        key => entry(pairs, key).unwrap_or_else(&missing),
    };
    lifted(std::slice::from_ref(key), &|keys| of_one(&keys[0])).unwrap_or_else(|| of_one(key))
}

/// Entries of the largest dictionary that is built: keys are compared one by one.
pub(super) const MOST_ENTRIES: usize = 1024;

/// Gives a key of a dictionary its value.
pub(super) fn put(pairs: &mut Vec<(Constant, Constant)>, key: Constant, value: Constant) -> Result<(), Reason> {
    match pairs.iter().position(|(candidate, _)| *candidate == key) {
        Some(at) => pairs[at].1 = value,
        None if pairs.len() == MOST_ENTRIES => return Err(too_many_entries()),
        None => pairs.push((key, value)),
    }
    Ok(())
}

/// Gives keys of a dictionary the values that they have in another one.
pub(super) fn update(pairs: &mut Parts<(Constant, Constant)>, more: Parts<(Constant, Constant)>) -> Result<(), Reason> {
    pairs.edit(|pairs| more.into_iter().try_for_each(|(key, value)| put(pairs, key, value)))
}

pub(super) fn too_many_entries() -> Reason {
    Reason::new(format!("a dictionary of more than {MOST_ENTRIES} entries"))
}

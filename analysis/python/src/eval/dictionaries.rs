//! Dictionaries that may be one of several: the options of a launch as host code chooses, looks up and changes them.

use super::choice::{MOST_DECIDED, choice, is_dictionary, is_plain};
use super::{Constant, OneOf, entries, lifted, unknown};

impl OneOf {
    /// One of some rows of tables, which one thing decides. Of more than `most`, each key has one of its values by itself.
    pub fn any(by: u32, rows: Vec<Constant>, most: usize) -> Option<Constant> {
        let mut rows = if rows.len() > MANY_ROWS { in_one_key(rows) } else { rows };
        rows.sort_by_cached_key(size);
        if rows.len() <= most.min(MOST_DECIDED) {
            return (!rows.is_empty()).then(|| OneOf::each_decided(by, rows));
        }
        let all = OneOf { by: None, cases: rows.into_iter().map(|row| (0, row)).collect() };
        Some(OneOf::each_decided(by, all.alike().iter().map(OneOf::as_one_dictionary)))
    }

    /// The dictionaries among its values, by which keys they have, each with its cases; `None` where it is not a choice of dictionaries. Other values
    /// could not be used as one.
    pub(super) fn dictionaries(&self) -> Option<Vec<(Vec<u32>, Constant)>> {
        let all: Vec<_> =
            self.alike().iter().map(|alike| (alike.distinct_cases(), alike.as_one_dictionary())).collect();
        (!all.is_empty()).then_some(all)
    }

    /// Its dictionaries, by the keys that they have and those whose value is known.
    fn alike(&self) -> Vec<OneOf> {
        let mut alike: Vec<OneOf> = Vec::new();
        for (case, value) in &self.cases {
            let Constant::Dict(pairs) = value else { continue };
            let case = (*case, value.clone());
            match alike.iter_mut().find(|others| has_same_keys(&others.cases[0].1, pairs)) {
                Some(others) => others.cases.push(case),
                None => alike.push(OneOf { by: self.by, cases: vec![case] }),
            }
        }
        alike
    }

    /// The entries that it has as a dictionary; those that only some have are not known.
    pub(super) fn as_one_dictionary(&self) -> Constant {
        let mut entries: Vec<(Constant, Constant)> = Vec::new();
        for value in self.values() {
            let Constant::Dict(pairs) = value else { continue };
            for (key, _) in pairs.iter() {
                if !entries.iter().any(|(other, _)| other == key) {
                    let value = self.entry_of_all(key).unwrap_or_else(|| unknown("is only passed in some cases"));
                    entries.push((key.clone(), value));
                }
            }
        }
        Constant::Dict(entries.into())
    }

    /// The entry of a key that all of its dictionaries have.
    fn entry_of_all(&self, key: &Constant) -> Option<Constant> {
        let entries = self.cases.iter().filter_map(|(case, value)| match value {
            Constant::Dict(pairs) => Some(entries::entry(pairs, key).map(|value| (*case, value))),
            _ => None,
        });
        let entries: Vec<(u32, Constant)> = entries.collect::<Option<_>>()?;
        Some(match self.by {
            Some(by) => OneOf::decided(by, entries),
            None => OneOf::of(entries.into_iter().map(|(_, value)| value)),
        })
    }

    /// It, where it is a dictionary.
    pub(super) fn only_dictionaries(&self) -> Constant {
        let cases: Vec<_> = self.cases.iter().filter(|(_, value)| is_dictionary(value)).cloned().collect();
        match cases.as_slice() {
            [] => unknown("is not a dictionary"),
            [(_, only)] => only.clone(),
            _ => Constant::OneOf(OneOf { by: self.by, cases }),
        }
    }

    /// It, where it is a dictionary that has a key: where it is something else, Python raises an error. `None`: it never is.
    pub(super) fn with_key(&self, key: &Constant) -> Option<OneOf> {
        let has = |value: &Constant| match value {
            Constant::Dict(pairs) => entries::entry(pairs, key).is_some(),
            value => !matches!(value, Constant::None),
        };
        let cases: Vec<_> = self.cases.iter().filter(|(_, value)| has(value)).cloned().collect();
        (!cases.is_empty()).then_some(OneOf { by: self.by, cases })
    }
}

/// Whether a dictionary has the same keys as some pairs, and the same of them have values that are known.
fn has_same_keys(dictionary: &Constant, pairs: &[(Constant, Constant)]) -> bool {
    let Constant::Dict(others) = dictionary else { return false };
    let is_known = |value: &Constant| !matches!(value, Constant::Unknown(_));
    let has = |key: &Constant, value: &Constant| {
        others.iter().any(|(other, of_other)| other == key && is_known(of_other) == is_known(value))
    };
    others.len() == pairs.len() && pairs.iter().all(|(key, value)| has(key, value))
}

/// More rows than these are put together where they differ in one key.
const MANY_ROWS: usize = 32;

/// What rows are put in order by, so that the least and the greatest of them are at the ends.
fn size(row: &Constant) -> u128 {
    let factor = |value: &Constant| if let Constant::Int(number) = value { (*number).max(1) as u128 } else { 1 };
    match row {
        Constant::Dict(pairs) => pairs.iter().fold(1, |size: u128, (_, value)| size.saturating_mul(factor(value))),
        _ => 0,
    }
}

/// Rows of which those that differ in one key only are one: in the key that leaves the fewest.
fn in_one_key(rows: Vec<Constant>) -> Vec<Constant> {
    let keys = match rows.first() {
        Some(Constant::Dict(pairs)) => pairs.iter().map(|(key, _)| key.clone()).collect(),
        _ => Vec::new(),
    };
    let best = keys.iter().map(|key| without(&rows, key)).min_by_key(Vec::len);
    best.filter(|best| best.len() < rows.len()).unwrap_or(rows)
}

/// Rows of which those that are the same but for a key are one.
fn without(rows: &[Constant], key: &Constant) -> Vec<Constant> {
    let (mut others, mut values) = (Vec::<Vec<_>>::new(), Vec::<Vec<Constant>>::new());
    for row in rows {
        let Constant::Dict(pairs) = row else { return rows.to_vec() };
        let (of_key, rest): (Vec<_>, Vec<_>) = pairs.iter().cloned().partition(|(other, _)| other == key);
        let of_key = of_key.into_iter().map(|(_, value)| value);
        match others.iter().position(|other| *other == rest) {
            Some(at) => values[at].extend(of_key),
            None => {
                others.push(rest);
                values.push(of_key.collect());
            }
        }
    }
    let row = |(mut rest, values): (Vec<(Constant, Constant)>, Vec<Constant>)| {
        if !values.is_empty() {
            rest.push((key.clone(), OneOf::of(values)));
        }
        Constant::Dict(rest.into())
    };
    others.into_iter().zip(values).map(row).collect()
}

/// Any value of a dictionary; `None` where they are not such values.
pub(super) fn any_of(pairs: &[(Constant, Constant)], by: u32) -> Option<Constant> {
    let is_one = |value: &Constant| is_plain(value) || matches!(value, Constant::Dict(_) | Constant::OneOf(_));
    let values = || pairs.iter().map(|(_, value)| value);
    (!pairs.is_empty() && values().all(is_one)).then(|| OneOf::each_decided(by, values().cloned()))
}

/// The entry of a key of what may be a dictionary. `default`: in place of one that is missing.
pub(super) fn entry_of(dictionary: &Constant, key: &Constant, default: Option<Constant>) -> Constant {
    if let Constant::Unknown(_) = key {
        return key.clone();
    }
    let missing = || default.clone().unwrap_or_else(|| unknown("the key is not in the dictionary"));
    let of_each = |values: &[Constant]| match values {
        [Constant::Dict(pairs), key] => entries::found(pairs, key, missing),
        _ => unknown("is not a dictionary"),
    };
    let dictionary = match (choice(dictionary), &default) {
        (Some(choice), None) => choice.with_key(key).map_or_else(|| unknown("is not a dictionary"), Constant::OneOf),
        (Some(choice), Some(_)) => choice.only_dictionaries(),
        (None, _) => dictionary.clone(),
    };
    let values = [dictionary, key.clone()];
    lifted(&values, &of_each).unwrap_or_else(|| of_each(&values))
}

/// Whether it is a dictionary, or may be one.
pub(super) fn may_be_dictionary(value: &Constant) -> bool {
    is_dictionary(value) || choice(value).is_some_and(|choice| choice.values().any(is_dictionary))
}

/// Whether a value may have others in it.
pub(super) fn is_composite(value: &Constant) -> bool {
    matches!(value, Constant::OneOf(_) | Constant::List(_) | Constant::Tuple(_) | Constant::Dict(_))
}

/// Whether a value, or a part of it, may be the dictionary that another one is or may be.
pub(super) fn may_hold(value: &Constant, dictionary: &Constant) -> bool {
    match value {
        Constant::OneOf(choice) => choice.values().any(|value| may_hold(value, dictionary)),
        Constant::List(parts) | Constant::Tuple(parts) => parts.iter().any(|part| may_hold(part, dictionary)),
        Constant::Dict(pairs) => {
            let is_one = |one: &Constant| matches!(one, Constant::Dict(others) if pairs.is_same(others));
            let is_it = match dictionary {
                Constant::OneOf(choice) => choice.values().any(is_one),
                one => is_one(one),
            };
            is_it || pairs.iter().any(|(_, part)| may_hold(part, dictionary))
        }
        _ => false,
    }
}

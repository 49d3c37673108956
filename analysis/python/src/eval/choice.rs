//! Values of which it is known that they are one of a few: what host code makes of a number that only a launch knows.

use rustc_hash::FxHashMap;

use super::{Constant, unknown};

/// One of some values, each of which is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOf {
    /// What decides which one it is: values that one thing decides are what they are in the same case. `None`: nothing else depends on it.
    pub by: Option<u32>,
    /// By the number of the case, in order. A case has several values where it leaves open which one it is.
    pub cases: Vec<(u32, Constant)>,
}

/// Values that are told apart; more count as unknown.
const MOST_CASES: usize = 64;
/// The same of values that one thing decides.
pub(super) const MOST_DECIDED: usize = 256;

impl OneOf {
    /// One of the powers of two that a number rounds up to.
    pub fn power_of_two(by: u32) -> Constant {
        let powers = (0..=MOST_POWER).map(|power| (power, Constant::Int(1 << power)));
        Constant::OneOf(OneOf { by: Some(by), cases: powers.collect() })
    }

    /// The unknown length of an axis: a power of two, or between two of them. Blocks that fill it are told apart by that, and so is what code asks of it,
    /// which mostly compares with a power of two.
    pub fn extent(by: u32) -> Constant {
        let cases = (0..).zip(OneOf::positive_numbers()).collect();
        Constant::OneOf(OneOf { by: Some(by), cases })
    }

    /// The same of any number.
    pub(super) fn number(by: u32) -> Constant {
        let others = Constant::Between(-MOST_NUMBER, 0);
        let cases = (0..).zip(OneOf::positive_numbers().chain([others])).collect();
        Constant::OneOf(OneOf { by: Some(by), cases })
    }

    /// `min(number, …)`, `max(number, …)` of numbers of which others are not known at all.
    pub(super) fn bounded(by: u32, function: &str, number: i64) -> Constant {
        let (least, most) = if function == "min" { (-MOST_NUMBER, number) } else { (number, MOST_NUMBER) };
        Constant::OneOf(OneOf { by: Some(by), cases: vec![(0, Constant::Between(least, most))] })
    }

    fn positive_numbers() -> impl Iterator<Item = Constant> {
        let between = |power: u32| ((1_i64 << power) + 1, (2_i64 << power) - 1);
        (0..=MOST_POWER).flat_map(move |power| {
            let (least, most) = between(power);
            let rest = (least <= most && power < MOST_POWER).then(|| Constant::between(least, most));
            [Some(Constant::Int(1 << power)), rest].into_iter().flatten()
        })
    }

    /// Whether some of its values are known no closer than between two numbers.
    pub fn is_open(&self) -> bool {
        self.values().any(is_open)
    }

    /// It, where it is one of some numbers.
    pub(super) fn among(&self, numbers: &[Constant]) -> Option<Constant> {
        let holds = |value: &Constant, number: &Constant| {
            let ((least, most), (number, _)) = (value.bounds()?, number.bounds()?);
            Some((least..=most).contains(&number))
        };
        let kept = self.cases.iter().flat_map(|(case, value)| {
            numbers.iter().filter(|number| holds(value, number) == Some(true)).map(|number| (*case, number.clone()))
        });
        let kept: Vec<(u32, Constant)> = kept.collect();
        if kept.is_empty() {
            return None;
        }
        Some(match self.by {
            Some(by) => OneOf::decided(by, kept),
            None => OneOf::of(kept.into_iter().map(|(_, number)| number)),
        })
    }

    /// What it may be as the extent of a block: a power of two.
    pub fn blocks(&self) -> OneOf {
        let powers = |value: &Constant| match value {
            Constant::Between(least, most) => {
                let powers = (0..=MOST_POWER).map(|power| 1 << power);
                powers.filter(|power| (least..=most).contains(&power)).map(Constant::Int).collect()
            }
            value => vec![value.clone()],
        };
        let cases = self.cases.iter().flat_map(|(case, value)| powers(value).into_iter().map(|power| (*case, power)));
        OneOf { by: self.by, cases: cases.collect() }
    }

    /// One of some values; just that where there is one.
    pub fn of(values: impl IntoIterator<Item = Constant>) -> Constant {
        let mut distinct: Vec<Constant> = Vec::new();
        for value in values.into_iter().flat_map(each_value) {
            if matches!(value, Constant::Unknown(_)) {
                return value;
            }
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        if distinct.len() > MOST_CASES {
            return unknown("it may have too many values");
        }
        match distinct.as_slice() {
            [] => unknown("it has no value"),
            [only] if !is_open(only) => only.clone(),
            _ => Constant::OneOf(OneOf { by: None, cases: (0..).zip(distinct).collect() }),
        }
    }

    /// One of some values, which one thing decides.
    pub(super) fn decided_as(by: u32, values: impl IntoIterator<Item = Constant>) -> Constant {
        OneOf::decided(by, (0..).zip(values))
    }

    /// The same of values of which some may be equal, each of them a case.
    pub(super) fn each_decided(by: u32, values: impl IntoIterator<Item = Constant>) -> Constant {
        let mut distinct: Vec<Constant> = Vec::new();
        for value in values.into_iter().flat_map(each_value) {
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        OneOf::decided_as(by, distinct)
    }

    pub fn values(&self) -> impl Iterator<Item = &Constant> {
        self.cases.iter().map(|(_, value)| value)
    }

    /// The elements of all of some lists, each once; `None` where one of the values is no list.
    pub fn all_elements(&self) -> Option<Vec<Constant>> {
        let mut all: Vec<Constant> = Vec::new();
        for value in self.values() {
            let (Constant::List(elements) | Constant::Tuple(elements)) = value else { return None };
            let new: Vec<Constant> = elements.iter().filter(|element| !all.contains(element)).cloned().collect();
            all.extend(new);
        }
        Some(all)
    }

    /// Gives the things that decide some choices numbers of their own, in order: those that host code meets depend on how it was reached.
    pub fn number_anew<'c>(choices: impl Iterator<Item = &'c mut OneOf>) {
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        for by in choices.filter_map(|choice| choice.by.as_mut()) {
            let next = numbers.len() as u32;
            *by = *numbers.entry(*by).or_insert(next);
        }
    }

    pub(super) fn decided(by: u32, cases: impl IntoIterator<Item = (u32, Constant)>) -> Constant {
        let mut distinct: Vec<(u32, Constant)> = Vec::new();
        let each = |(case, value)| each_value(value).into_iter().map(move |value| (case, value));
        for case in cases.into_iter().flat_map(each) {
            if matches!(case.1, Constant::Unknown(_)) {
                return case.1;
            }
            if !distinct.contains(&case) {
                distinct.push(case);
            }
        }
        if distinct.len() > MOST_DECIDED {
            return unknown("it may have too many values");
        }
        match distinct.as_slice() {
            [] => unknown("it has no value"),
            [(_, first), rest @ ..] if !is_open(first) && rest.iter().all(|(_, value)| value == first) => first.clone(),
            _ => Constant::OneOf(OneOf { by: Some(by), cases: distinct }),
        }
    }

    /// What it may be in a case of what decides it.
    pub fn within(&self, case: u32) -> impl Iterator<Item = &Constant> {
        self.cases.iter().filter(move |(nth, _)| *nth == case).map(|(_, value)| value)
    }

    /// The cases of what decides it, each once.
    pub fn distinct_cases(&self) -> Vec<u32> {
        let mut cases: Vec<u32> = self.cases.iter().map(|(case, _)| *case).collect();
        cases.sort_unstable();
        cases.dedup();
        cases
    }
}

/// Of the tensors that there are, none has a longer axis.
const MOST_POWER: u32 = 31;
/// No number of a launch is greater.
const MOST_NUMBER: i64 = 1 << 40;

fn is_open(value: &Constant) -> bool {
    matches!(value, Constant::Between(..))
}

/// The values that one may be.
fn each_value(value: Constant) -> Vec<Constant> {
    match value {
        Constant::OneOf(choice) => choice.cases.into_iter().map(|(_, value)| value).collect(),
        value => vec![value],
    }
}

/// What a function of some values gives, which is one of some where they are; `None` where each of them is one value.
pub fn lifted(values: &[Constant], function: &dyn Fn(&[Constant]) -> Constant) -> Option<Constant> {
    let choices = || values.iter().filter_map(choice);
    choices().next()?;
    // Values that nothing decides are what they may be in each case.
    let mut deciding = choices().filter_map(|choice| choice.by.map(|by| (by, choice)));
    let by = deciding.next().filter(|(by, _)| deciding.all(|(other, _)| other == *by)).map(|(by, _)| by);
    let Some(by) = by else {
        // Of several open numbers there are too many ways.
        if choices().filter(|choice| choice.is_open()).nth(1).is_some() {
            return Some(unknown("it may have too many values"));
        }
        let all = product(values, |value| choice(value).map_or_else(|| vec![value], |it| it.values().collect()));
        return Some(match all {
            Some(ways) => OneOf::of(ways.iter().map(|way| function(way))),
            None => unknown("it may have too many values"),
        });
    };
    let decided = choices().filter(|choice| choice.by == Some(by));
    let cases = decided.fold(None::<Vec<u32>>, |known, choice| {
        let cases = choice.distinct_cases();
        Some(known.map_or(cases.clone(), |known| known.into_iter().filter(|case| cases.contains(case)).collect()))
    });
    let mut results = Vec::new();
    for case in cases.unwrap_or_default() {
        let Some(ways) = product(values, |value| in_case(value, by, case)) else {
            return Some(unknown("it may have too many values"));
        };
        results.extend(ways.iter().map(|way| (case, function(way))));
    }
    Some(OneOf::decided(by, results))
}

/// All ways to take one of what each value may be; `None` where there are too many.
fn product<'v>(values: &'v [Constant], each: impl Fn(&'v Constant) -> Vec<&'v Constant>) -> Option<Vec<Vec<Constant>>> {
    let mut ways: Vec<Vec<Constant>> = vec![Vec::new()];
    for value in values {
        let each = each(value);
        if ways.len() * each.len() > MOST_CASES * MOST_CASES {
            return None;
        }
        let with = |way: &Vec<Constant>| {
            let way = way.clone();
            each.iter().map(move |&value| way.iter().cloned().chain([value.clone()]).collect()).collect::<Vec<_>>()
        };
        ways = ways.iter().flat_map(with).collect();
    }
    Some(ways)
}

pub(super) fn choice(value: &Constant) -> Option<&OneOf> {
    match value {
        Constant::OneOf(choice) => Some(choice),
        _ => None,
    }
}

/// What a value may be where something is decided.
fn in_case(value: &Constant, by: u32, case: u32) -> Vec<&Constant> {
    match value {
        Constant::OneOf(choice) if choice.by == Some(by) => choice.within(case).collect(),
        Constant::OneOf(choice) if choice.by.is_none() => choice.values().collect(),
        value => vec![value],
    }
}

/// A value where something is decided in one of some ways.
pub(super) fn narrowed(value: &Constant, by: u32, cases: &[u32]) -> Constant {
    match value {
        Constant::OneOf(choice) if choice.by == Some(by) => {
            let kept = choice.cases.iter().filter(|(case, _)| cases.contains(case)).cloned();
            OneOf::decided(by, kept)
        }
        Constant::Tuple(values) => Constant::Tuple(values.iter().map(|value| narrowed(value, by, cases)).collect()),
        Constant::Dict(pairs)
            if pairs.iter().any(|(_, value)| choice(value).is_some_and(|choice| choice.by == Some(by))) =>
        {
            Constant::Dict(pairs.with_parts(pairs.iter().map(|(key, value)| (key.clone(), narrowed(value, by, cases)))))
        }
        value => value.clone(),
    }
}

/// What is one value in some cases, and another one in others; `None` where that is not one of a few values.
pub(super) fn joined(
    (one, some): (&Constant, &[u32]),
    (other, others): (&Constant, &[u32]),
    by: u32,
) -> Option<Constant> {
    if let (Constant::Tuple(one), Constant::Tuple(other)) = (one, other)
        && one.len() == other.len()
    {
        let parts = one.iter().zip(other).map(|(one, other)| joined((one, some), (other, others), by));
        return Some(Constant::Tuple(parts.collect::<Option<_>>()?));
    }
    let is_single = |value: &Constant| match value {
        Constant::OneOf(choice) => choice.by.is_none_or(|it| it == by),
        value => is_plain(value) || is_dictionary(value),
    };
    if !is_single(one) || !is_single(other) {
        return None;
    }
    let of = |value: &Constant, cases: &[u32]| -> Vec<(u32, Constant)> {
        let of_case = |&case: &u32| in_case(value, by, case).into_iter().map(move |value| (case, value.clone()));
        cases.iter().flat_map(of_case).collect()
    };
    let mut cases = [of(one, some), of(other, others)].concat();
    cases.sort_by_key(|(case, _)| *case);
    Some(OneOf::decided(by, cases)).filter(|joined| !matches!(joined, Constant::Unknown(_)))
}

/// What is one value or the other; `None` where that is not one of a few values.
/// `by`: what decides which, so that entries of dictionaries go together; `None`: tuples may be such values, and dictionaries may not.
pub(super) fn either(one: &Constant, other: &Constant, by: Option<u32>) -> Option<Constant> {
    let is_one = |value: &Constant| match value {
        Constant::List(_) => true,
        Constant::Tuple(_) => by.is_none(),
        Constant::Dict(_) => by.is_some(),
        value => is_plain(value),
    };
    let values = |value: &Constant| match value {
        Constant::OneOf(choice) => Some(choice.values().cloned().collect()),
        value => is_one(value).then(|| vec![value.clone()]),
    };
    let all: [Vec<Constant>; 2] = [values(one)?, values(other)?];
    let all = all.concat();
    Some(match by.filter(|_| all.iter().any(is_dictionary)) {
        Some(by) => OneOf::each_decided(by, all),
        None => OneOf::of(all),
    })
}

/// Tuples that are one or the other, whichever `by` decides: what is in the same place of either goes together. `None` where that is not one of a few.
pub(super) fn either_row(one: &[Constant], other: &[Constant], by: u32) -> Option<Vec<Constant>> {
    let mut all: Vec<Vec<Constant>> = Vec::new();
    for row in rows(one)?.into_iter().chain(rows(other)?) {
        if !all.contains(&row) {
            all.push(row);
        }
    }
    let part = |place: usize| OneOf::decided(by, (0..).zip(all.iter().map(|row| row[place].clone())));
    (all.len() <= MOST_CASES).then(|| (0..one.len()).map(part).collect())
}

/// What a tuple may be.
fn rows(tuple: &[Constant]) -> Option<Vec<Vec<Constant>>> {
    if !tuple.iter().all(|part| is_plain(part) || matches!(part, Constant::OneOf(_))) {
        return None;
    }
    let mut choices = tuple.iter().filter_map(choice);
    let Some(first) = choices.next() else { return Some(vec![tuple.to_vec()]) };
    match first.by.filter(|by| choices.all(|other| other.by == Some(*by))) {
        Some(by) => {
            let of_case = |case: u32| product(tuple, |part| in_case(part, by, case));
            Some(first.distinct_cases().into_iter().map(of_case).collect::<Option<Vec<_>>>()?.concat())
        }
        None => product(tuple, |part| choice(part).map_or_else(|| vec![part], |it| it.values().collect())),
    }
}

pub(super) fn is_dictionary(value: &Constant) -> bool {
    matches!(value, Constant::Dict(_))
}

/// A number or the like: what a kernel may be given.
pub(super) fn is_plain(value: &Constant) -> bool {
    matches!(
        value,
        Constant::Int(_)
            | Constant::Bool(_)
            | Constant::Between(..)
            | Constant::Float(_)
            | Constant::Str(_)
            | Constant::None
            | Constant::Member(_)
    )
}

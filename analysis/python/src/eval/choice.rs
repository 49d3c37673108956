//! Values of which it is known that they are one of a few: what host code makes of a number that only a launch knows.

use super::{Constant, unknown};

/// One of some values, each of which is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOf {
    /// What decides which one it is: values that one thing decides are what they are in the same case. `None`: nothing else depends on it.
    pub by: Option<u32>,
    /// By the number of the case, in order.
    pub cases: Vec<(u32, Constant)>,
}

/// Values that are told apart; more count as unknown.
const MOST_CASES: usize = 64;

impl OneOf {
    /// One of the powers of two that a number rounds up to.
    pub fn power_of_two(by: u32) -> Constant {
        let powers = (0..=MOST_POWER).map(|power| (power, Constant::Int(1 << power)));
        Constant::OneOf(OneOf { by: Some(by), cases: powers.collect() })
    }

    /// One of some values; just that where there is one.
    pub fn of(values: impl IntoIterator<Item = Constant>) -> Constant {
        let mut distinct: Vec<Constant> = Vec::new();
        for value in values {
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
            [only] => only.clone(),
            _ => Constant::OneOf(OneOf { by: None, cases: (0..).zip(distinct).collect() }),
        }
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

    fn decided(by: u32, cases: Vec<(u32, Constant)>) -> Constant {
        if let Some((_, unknown)) = cases.iter().find(|(_, value)| matches!(value, Constant::Unknown(_))) {
            return unknown.clone();
        }
        match cases.as_slice() {
            [] => unknown("it has no value"),
            [(_, first), rest @ ..] if rest.iter().all(|(_, value)| value == first) => first.clone(),
            _ => Constant::OneOf(OneOf { by: Some(by), cases }),
        }
    }

    /// In a case of what decides it.
    fn within(&self, case: u32) -> Option<&Constant> {
        self.cases.iter().find(|(nth, _)| *nth == case).map(|(_, value)| value)
    }
}

/// Of the tensors that there are, none has a longer axis.
const MOST_POWER: u32 = 31;

/// What a function of some values gives, which is one of some where they are; `None` where each of them is one value.
pub fn lifted(values: &[Constant], function: &dyn Fn(&[Constant]) -> Constant) -> Option<Constant> {
    let choices = || values.iter().filter_map(choice);
    let first = choices().next()?;
    if let Some(by) = first.by.filter(|_| choices().all(|choice| choice.by == first.by)) {
        let cases = first.cases.iter().map(|(case, _)| *case);
        let known = cases.filter(|&case| choices().all(|choice| choice.within(case).is_some()));
        let of_case = |case: u32| {
            let values: Vec<Constant> = values.iter().map(|value| in_case(value, by, case)).collect();
            (case, function(&values))
        };
        return Some(OneOf::decided(by, known.map(of_case).collect()));
    }
    let mut ways: Vec<Vec<Constant>> = vec![Vec::new()];
    for value in values {
        let each: Vec<&Constant> = choice(value).map_or_else(|| vec![value], |choice| choice.values().collect());
        if ways.len() * each.len() > MOST_CASES * MOST_CASES {
            return Some(unknown("it may have too many values"));
        }
        let with = |way: &Vec<Constant>| {
            let way = way.clone();
            each.iter().map(move |&value| way.iter().cloned().chain([value.clone()]).collect()).collect::<Vec<_>>()
        };
        ways = ways.iter().flat_map(with).collect();
    }
    Some(OneOf::of(ways.iter().map(|way| function(way))))
}

fn choice(value: &Constant) -> Option<&OneOf> {
    match value {
        Constant::OneOf(choice) => Some(choice),
        _ => None,
    }
}

/// A value where something is decided.
fn in_case(value: &Constant, by: u32, case: u32) -> Constant {
    match value {
        Constant::OneOf(choice) if choice.by == Some(by) => {
            choice.within(case).cloned().unwrap_or_else(|| unknown("it has no value"))
        }
        value => value.clone(),
    }
}

/// A value where something is decided in one of some ways.
pub(super) fn narrowed(value: &Constant, by: u32, cases: &[u32]) -> Constant {
    match value {
        Constant::OneOf(choice) if choice.by == Some(by) => {
            let kept = choice.cases.iter().filter(|(case, _)| cases.contains(case)).cloned();
            OneOf::decided(by, kept.collect())
        }
        Constant::Tuple(values) => Constant::Tuple(values.iter().map(|value| narrowed(value, by, cases)).collect()),
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
        Constant::OneOf(choice) => choice.by == Some(by),
        value => is_plain(value),
    };
    if !is_single(one) || !is_single(other) {
        return None;
    }
    let of = |value: &Constant, cases: &[u32]| -> Vec<(u32, Constant)> {
        cases.iter().map(|&case| (case, in_case(value, by, case))).collect()
    };
    let mut cases = [of(one, some), of(other, others)].concat();
    cases.sort_by_key(|(case, _)| *case);
    Some(OneOf::decided(by, cases))
}

/// What is one value or the other; `None` where that is not one of a few values.
/// `lists`: lists may be such values.
pub(super) fn either(one: &Constant, other: &Constant, lists: bool) -> Option<Constant> {
    let is_list = |value: &Constant| matches!(value, Constant::List(_) | Constant::Tuple(_));
    let values = |value: &Constant| match value {
        Constant::OneOf(choice) => Some(choice.values().cloned().collect()),
        value => (is_plain(value) || lists && is_list(value)).then(|| vec![value.clone()]),
    };
    let all: [Vec<Constant>; 2] = [values(one)?, values(other)?];
    Some(OneOf::of(all.concat()))
}

/// A number or the like: what a kernel may be given.
fn is_plain(value: &Constant) -> bool {
    matches!(
        value,
        Constant::Int(_)
            | Constant::Bool(_)
            | Constant::Float(_)
            | Constant::Str(_)
            | Constant::None
            | Constant::Member(_)
    )
}

//! Python's built-in functions and those of `math`.

use std::cmp::Ordering;

use tilefit_syntax::ast::{BinaryOp, FloatBits};

use super::arithmetic::{binary, int, number, truth};
use super::{Constant, LONGEST, text, unknown};

const BUILTINS: [&str; 19] = [
    "abs",
    "all",
    "any",
    "bool",
    "enumerate",
    "float",
    "int",
    "len",
    "list",
    "max",
    "min",
    "range",
    "reversed",
    "round",
    "sorted",
    "str",
    "sum",
    "tuple",
    "zip",
];

/// Whether [`builtin`] knows the name.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// Python's built-in functions that make constants; `None` for other names.
pub(super) fn builtin(name: &str, values: &[Constant]) -> Option<Constant> {
    if !is_builtin(name) {
        return None;
    }
    let sequence = |value: &Constant| match value {
        Constant::List(elements) | Constant::Tuple(elements) => Some(elements.to_vec()),
        _ => None,
    };
    let result = match (name, values) {
        ("len", [Constant::Str(text)]) => Some(Constant::Int(text.chars().count() as i64)),
        ("len", [Constant::Dict(pairs)]) => Some(Constant::Int(pairs.len() as i64)),
        ("len", [value]) => sequence(value).map(|elements| Constant::Int(elements.len() as i64)),
        ("enumerate", [value]) => sequence(value).map(|elements| {
            let pairs = (0..).zip(elements).map(|(at, element)| Constant::Tuple([Constant::Int(at), element].into()));
            Constant::List(pairs.collect())
        }),
        ("zip", values) => values.iter().map(sequence).collect::<Option<Vec<_>>>().map(|lists| {
            let shortest = lists.iter().map(Vec::len).min().unwrap_or_default();
            let row = |at: usize| Constant::Tuple(lists.iter().map(|list| list[at].clone()).collect());
            Constant::List((0..shortest).map(row).collect())
        }),
        ("reversed", [value]) => sequence(value).map(|elements| Constant::List(elements.into_iter().rev().collect())),
        ("any" | "all", [value]) => sequence(value).and_then(|elements| {
            let truths: Option<Vec<bool>> = elements.iter().map(truth).collect();
            truths.map(|truths| Constant::Bool(truths.contains(&(name == "any")) == (name == "any")))
        }),
        ("int", [Constant::Str(text)]) => text.trim().replace('_', "").parse().ok().map(Constant::Int),
        ("str", [value]) => text::text(value).map(Constant::Str),
        ("list", [value]) => sequence(value).map(|parts| Constant::List(parts.into())),
        ("tuple", [value]) => sequence(value).map(|parts| Constant::Tuple(parts.into())),
        ("sum", [value]) => sequence(value)
            .map(|elements| elements.into_iter().fold(Constant::Int(0), |a, b| binary(BinaryOp::Add, a, b))),
        ("min" | "max", [value]) => sequence(value).and_then(|elements| extreme(name, &elements)),
        ("min" | "max", values) => extreme(name, values),
        ("abs", [Constant::Float(value)]) => Some(Constant::Float(FloatBits::new(value.get().abs()))),
        ("abs", [value]) => int(value).and_then(i64::checked_abs).map(Constant::Int),
        ("int", [Constant::Float(value)]) => whole(value.get().trunc()),
        ("int", [Constant::Between(least, most)]) => Some(Constant::Between(*least, *most)),
        ("int", [value]) => int(value).map(Constant::Int),
        ("round", [Constant::Float(value)]) => whole(value.get().round_ties_even()),
        ("round", [value]) => int(value).map(Constant::Int),
        ("float", [value]) => number(value).map(|value| Constant::Float(FloatBits::new(value))),
        ("bool", [value]) => truth(value).map(Constant::Bool),
        ("range", values) => range(values).map(|parts| Constant::List(parts.into())),
        ("sorted", [value]) => sequence(value).and_then(sorted),
        _ => None,
    };
    Some(result.unwrap_or_else(|| unknown(format!("`{name}` of an unknown value"))))
}

fn whole(value: f64) -> Option<Constant> {
    (value.abs() < 9e18).then_some(Constant::Int(value as i64))
}

fn extreme(name: &str, values: &[Constant]) -> Option<Constant> {
    let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
    if values.iter().any(|value| matches!(value, Constant::Between(..))) {
        let all: Vec<(i64, i64)> = values.iter().map(Constant::bounds).collect::<Option<_>>()?;
        let pick = |ends: &mut dyn Iterator<Item = i64>| if name == "min" { ends.min() } else { ends.max() };
        let (least, most) = (pick(&mut all.iter().map(|it| it.0)), pick(&mut all.iter().map(|it| it.1)));
        return Some(Constant::between(least?, most?));
    }
    let mut values = values.iter();
    let mut best = values.next()?;
    number(best)?;
    for value in values {
        if number(value)?.partial_cmp(&number(best)?)? == wanted {
            best = value;
        }
    }
    Some(best.clone())
}

/// Integers in order.
fn sorted(elements: Vec<Constant>) -> Option<Constant> {
    let mut values: Vec<i64> = elements.iter().map(int).collect::<Option<_>>()?;
    values.sort_unstable();
    Some(Constant::List(values.into_iter().map(Constant::Int).collect()))
}

fn range(values: &[Constant]) -> Option<Vec<Constant>> {
    let bounds: Vec<i64> = values.iter().map(int).collect::<Option<_>>()?;
    let (start, stop, step) = match bounds.as_slice() {
        [stop] => (0, *stop, 1),
        [start, stop] => (*start, *stop, 1),
        [start, stop, step] if *step != 0 => (*start, *stop, *step),
        _ => return None,
    };
    let mut elements = Vec::new();
    let mut at = start;
    while if step > 0 { at < stop } else { at > stop } {
        if elements.len() == LONGEST {
            return None;
        }
        elements.push(Constant::Int(at));
        at = at.checked_add(step)?;
    }
    Some(elements)
}

/// `itertools.product`
pub(super) fn product(values: &[Constant]) -> Constant {
    let mut rows = vec![Vec::new()];
    for value in values {
        let (Constant::List(elements) | Constant::Tuple(elements)) = value else {
            return unknown("`itertools.product` of an unknown value");
        };
        if rows.len().saturating_mul(elements.len()) > LONGEST {
            return unknown(format!("`itertools.product` with more than {LONGEST} rows"));
        }
        let longer = |row: &Vec<Constant>, element: &Constant| [row.as_slice(), std::slice::from_ref(element)].concat();
        rows = rows.iter().flat_map(|row| elements.iter().map(move |element| longer(row, element))).collect();
    }
    Constant::List(rows.into_iter().map(|row| Constant::Tuple(row.into())).collect())
}

pub(super) fn math(name: &str, values: &[Constant]) -> Constant {
    let result = match (name, values) {
        ("ceil", [value]) => number(value).and_then(|value| whole(value.ceil())),
        ("floor", [value]) => number(value).and_then(|value| whole(value.floor())),
        ("sqrt", [value]) => {
            number(value).filter(|value| *value >= 0.0).map(|value| Constant::Float(FloatBits::new(value.sqrt())))
        }
        ("log2", [value]) => {
            number(value).filter(|value| *value > 0.0).map(|value| Constant::Float(FloatBits::new(value.log2())))
        }
        // As CPython does.
        ("log", [value, base]) => match (number(value), number(base)) {
            (Some(value), Some(base)) if value > 0.0 && base > 0.0 && base != 1.0 => {
                Some(Constant::Float(FloatBits::new(value.ln() / base.ln())))
            }
            _ => None,
        },
        ("prod", [Constant::List(elements) | Constant::Tuple(elements)]) => {
            Some(elements.iter().cloned().fold(Constant::Int(1), |a, b| binary(BinaryOp::Mul, a, b)))
        }
        _ => None,
    };
    result.unwrap_or_else(|| unknown(format!("calls `math.{name}`, which tilefit does not evaluate")))
}

//! Values of Python as the host has them: texts, lists, dictionaries, and the methods that Python has for them.

use std::cmp::Ordering;

use tilefit_python::finding::Reason;
use tilefit_python::work;

use super::LONGEST;
use super::numbers::float;
use super::value::{Args, Value, length_of_range, not_known, unknown};

/// Values are not compared deeper than this.
const DEEPEST_COMPARED: u32 = 8;

/// Whether two values are the same; `None` where that is not known.
pub(super) fn equal(one: &Value, two: &Value) -> Option<bool> {
    equal_within(one, two, 0)
}

fn equal_within(one: &Value, two: &Value, depth: u32) -> Option<bool> {
    work::spend(1);
    if depth > DEEPEST_COMPARED {
        return None;
    }
    Some(match (one, two) {
        (Value::Unknown(one), Value::Unknown(two)) if one.id == two.id => true,
        (Value::Unknown(_), _) | (_, Value::Unknown(_)) => return None,
        (Value::None, Value::None) => true,
        (Value::Policy(one), Value::Policy(two)) => one == two,
        (Value::Library(one), Value::Library(two)) => one == two,
        (Value::PrimFunc(one), Value::PrimFunc(two)) => one == two,
        (Value::Buffer(one), Value::Buffer(two)) => one.id == two.id && one.shape == two.shape,
        (Value::Expr(one), Value::Expr(two)) => return (one.sum == two.sum).then_some(true),
        (Value::Expr(_), _) | (_, Value::Expr(_)) | (Value::Element(_), _) | (_, Value::Element(_)) => return None,
        (Value::Function(one), Value::Function(two)) => {
            return Some(std::rc::Rc::ptr_eq(one, two) || (one.stmt == two.stmt && one.frame == two.frame));
        }
        (Value::Range(a, b, c), Value::Range(d, e, f)) => (a, b, c) == (d, e, f),
        (Value::List(_), Value::List(_)) | (Value::Tuple(_), Value::Tuple(_)) => {
            let (one, two) = (one.items()?, two.items()?);
            if one.len() != two.len() {
                return Some(false);
            }
            let mut all = Some(true);
            for (one, two) in one.iter().zip(two) {
                match equal_within(one, two, depth + 1) {
                    Some(true) => {}
                    Some(false) => return Some(false),
                    None => all = None,
                }
            }
            return all;
        }
        (Value::Dict(_), Value::Dict(_)) => return None,
        _ if !is_plain(one) || !is_plain(two) => return None,
        _ => match (one.text(), two.text()) {
            (Some(one), Some(two)) => {
                let alike = |name: &str| crate::dtypes::parse(name).map(|dtype| dtype.name);
                one == two || (alike(one).is_some() && alike(one) == alike(two))
            }
            (None, None) => match (float(one), float(two)) {
                (Some(one), Some(two)) => one == two,
                _ => false,
            },
            _ => false,
        },
    })
}

/// Whether Python itself compares a value.
fn is_plain(value: &Value) -> bool {
    use Value::{Bool, Dict, Dtype, Float, Int, List, None, Policy, Range, Str, Tuple};
    matches!(
        value,
        None | Bool(_) | Int(_) | Float(_) | Str(_) | Dtype(_) | List(_) | Tuple(_) | Dict(_) | Range(..) | Policy(_)
    )
}

/// Why a value, or a part of it, is not known.
pub(super) fn reason_in(value: &Value) -> Option<Reason> {
    match value {
        Value::Unknown(it) => Some(it.reason.clone()),
        value => value.items()?.iter().find_map(|item| match item {
            Value::Unknown(it) => Some(it.reason.clone()),
            _ => None,
        }),
    }
}

pub(super) fn ordered(one: &Value, two: &Value) -> Option<Ordering> {
    match (one, two) {
        (Value::Str(one), Value::Str(two)) => Some(one.cmp(two)),
        _ if one.int().is_some() && two.int().is_some() => Some(one.int()?.cmp(&two.int()?)),
        _ if one.items().is_some() && two.items().is_some() => {
            let (one, two) = (one.items()?, two.items()?);
            for (one, two) in one.iter().zip(two) {
                work::spend(1);
                match equal(one, two)? {
                    true => {}
                    false => return ordered_plain(one, two),
                }
            }
            Some(one.len().cmp(&two.len()))
        }
        _ => ordered_plain(one, two),
    }
}

fn ordered_plain(one: &Value, two: &Value) -> Option<Ordering> {
    match (one, two) {
        (Value::Str(one), Value::Str(two)) => Some(one.cmp(two)),
        _ => float(one)?.partial_cmp(&float(two)?),
    }
}

pub(super) fn contains<'a>(items: impl Iterator<Item = &'a Value>, value: &Value) -> Option<bool> {
    let mut all = Some(false);
    for item in items {
        match equal(item, value) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => all = None,
        }
    }
    all
}

/// Puts an entry into a dictionary.
pub(super) fn put(pairs: &mut Vec<(Value, Value)>, key: Value, value: Value) {
    match pairs.iter_mut().find(|(known, _)| equal(known, &key) == Some(true)) {
        Some(entry) => entry.1 = value,
        None => pairs.push((key, value)),
    }
}

pub(super) fn entry(pairs: &[(Value, Value)], key: &Value) -> Value {
    let mut is_sure = true;
    for (known, value) in pairs {
        match equal(known, key) {
            Some(true) => return value.clone(),
            Some(false) => {}
            None => is_sure = false,
        }
    }
    match key {
        Value::Unknown(it) => not_known(it.reason.clone()),
        _ if is_sure => unknown("the key is not in the dictionary"),
        _ => unknown("the key is not known"),
    }
}

/// An index of a list.
pub(super) enum Index {
    At(Value),
    Slice(Option<Value>, Option<Value>, Option<Value>),
}

pub(super) fn indexed(list: &Value, index: &Index) -> Value {
    let items: Vec<Value> = match list {
        Value::Str(text) => text.chars().map(|letter| Value::str(&letter.to_string())).collect(),
        Value::Range(start, stop, step) => {
            let length = length_of_range(*start, *stop, *step).min(LONGEST as u64);
            (0..length).map(|i| Value::Int(start.wrapping_add((i as i64).wrapping_mul(*step)))).collect()
        }
        list => list.items().unwrap_or_default().to_vec(),
    };
    work::spend(items.len() as u64);
    let length = items.len() as i64;
    match index {
        Index::At(Value::Unknown(it)) => not_known(it.reason.clone()),
        Index::At(index) => match index.int() {
            Some(at) => {
                let at = if at < 0 { at.saturating_add(length) } else { at };
                let item = usize::try_from(at).ok().and_then(|at| items.get(at)).cloned();
                item.unwrap_or_else(|| unknown("an index out of the range of a list"))
            }
            None if items.len() == 1 => items[0].clone(),
            None => unknown("an element of a list by a number of the kernel"),
        },
        Index::Slice(lower, upper, step) => {
            let number = |bound: &Option<Value>| match bound {
                None | Some(Value::None) => Ok(None),
                Some(value) => value.int().map(Some).ok_or(()),
            };
            let (Ok(lower), Ok(upper), Ok(step)) = (number(lower), number(upper), number(step)) else {
                return unknown("a part of a list whose bounds are not known");
            };
            let step = step.unwrap_or(1);
            let clamp = |at: i64| if at < 0 { at.saturating_add(length).max(0) } else { at.min(length) };
            let picked: Vec<Value> = match step {
                0 => return unknown("a slice without a step"),
                step if step > 0 => {
                    let (from, to) = (lower.map_or(0, clamp), upper.map_or(length, clamp));
                    (from..to).step_by(step as usize).map(|at| items[at as usize].clone()).collect()
                }
                -1 if lower.is_none() && upper.is_none() => items.into_iter().rev().collect(),
                _ => return unknown("a slice that goes backwards"),
            };
            match list {
                Value::Str(_) => Value::str(&picked.iter().filter_map(|letter| letter.text()).collect::<String>()),
                Value::Tuple(_) => Value::tuple(picked),
                _ => Value::list(picked),
            }
        }
    }
}

/// A list or dictionary after an assignment to one of its entries.
pub(super) fn with_entry(container: &Value, key: &Value, value: Value) -> Value {
    match container {
        Value::Dict(pairs) => {
            work::spend(pairs.items.len() as u64);
            if pairs.items.len() >= LONGEST {
                return unknown("a dictionary that is too long");
            }
            let mut pairs = pairs.items.to_vec();
            put(&mut pairs, key.clone(), value);
            Value::dict(pairs)
        }
        Value::List(items) => {
            work::spend(items.items.len() as u64);
            let mut items = items.items.to_vec();
            let at = key.int().map(|at| if at < 0 { at + items.len() as i64 } else { at });
            match at.and_then(|at| usize::try_from(at).ok()).and_then(|at| items.get_mut(at)) {
                Some(place) => *place = value,
                None => return unknown("an element of a list that is not known is assigned"),
            }
            Value::list(items)
        }
        other => other.clone(),
    }
}

/// `str(value)`
pub(super) fn text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Str(text) => text.to_string(),
        Value::Dtype(dtype) => dtype.name.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::None => "None".to_owned(),
        _ => return None,
    })
}

/// Methods that change what they are called on.
pub(super) fn changes(name: &str) -> bool {
    matches!(
        name,
        "append" | "extend" | "insert" | "pop" | "update" | "setdefault" | "clear" | "reverse" | "sort" | "add"
    )
}

/// What such a method makes of a list or dictionary, and what it gives.
pub(super) fn changed(container: &Value, name: &str, args: &Args) -> (Value, Value) {
    let first = || args.get(0, "").cloned().unwrap_or(Value::None);
    if let Value::Dict(pairs) = container {
        let mut pairs = pairs.items.to_vec();
        work::spend(pairs.len() as u64);
        let mut result = Value::None;
        match (name, first()) {
            ("update", given) => {
                if let Value::Dict(given) = &given {
                    given.items.iter().for_each(|(key, value)| put(&mut pairs, key.clone(), value.clone()));
                } else if !matches!(given, Value::None) {
                    return (unknown("a dictionary that is changed by what is not known"), Value::None);
                }
                for (keyword, value, _) in &args.keywords {
                    put(&mut pairs, Value::Str(keyword.clone()), value.clone());
                }
            }
            ("pop", key) => {
                result = entry(&pairs, &key);
                if matches!(result, Value::Unknown(_))
                    && let Some(default) = args.get(1, "")
                {
                    result = default.clone();
                }
                pairs.retain(|(known, _)| equal(known, &key) != Some(true));
            }
            ("setdefault", key) => {
                result = entry(&pairs, &key);
                if matches!(result, Value::Unknown(_)) {
                    result = args.get(1, "").cloned().unwrap_or(Value::None);
                    put(&mut pairs, key, result.clone());
                }
            }
            ("clear", _) => pairs.clear(),
            _ => return (unknown(format!("`{name}` of a dictionary is not followed")), Value::None),
        }
        return (Value::dict(pairs), result);
    }
    let mut items = container.items().unwrap_or_default().to_vec();
    work::spend(items.len() as u64);
    let mut result = Value::None;
    match (name, first()) {
        ("append" | "add", value) => items.push(value),
        ("extend", list) => match list.items() {
            Some(more) => items.extend_from_slice(more),
            None => return (unknown("a list that grows by what is not known"), Value::None),
        },
        ("insert", at) => match at.int().and_then(|at| usize::try_from(at).ok()) {
            Some(at) => items.insert(at.min(items.len()), args.get(1, "").cloned().unwrap_or(Value::None)),
            None => return (unknown("a list that grows at a place that is not known"), Value::None),
        },
        ("pop", at) => {
            let at = at.int().unwrap_or(-1);
            let at = if at < 0 { at + items.len() as i64 } else { at };
            match usize::try_from(at).ok().filter(|&at| at < items.len()) {
                Some(at) => result = items.remove(at),
                None => result = unknown("takes an element from a list that has it not"),
            }
        }
        ("clear", _) => items.clear(),
        ("reverse", _) => items.reverse(),
        ("sort", _) => match sorted(items, args) {
            Value::List(sorted) => return (Value::List(sorted), Value::None),
            other => return (other, Value::None),
        },
        _ => return (unknown(format!("`{name}` of a list is not followed")), Value::None),
    }
    match items.len() > LONGEST {
        true => (unknown("a list that is too long"), result),
        false => (Value::list(items), result),
    }
}

pub(super) fn sorted(mut items: Vec<Value>, args: &Args) -> Value {
    if args.keyword("key").is_some_and(|key| !matches!(key, Value::None)) {
        return unknown("a list that is sorted by a function");
    }
    work::spend(items.len() as u64 * 4);
    let is_known = items.windows(2).all(|pair| ordered(&pair[0], &pair[1]).is_some());
    if !is_known {
        return unknown("a list of values that are not known is sorted");
    }
    items.sort_by(|one, two| ordered(one, two).unwrap_or(Ordering::Equal));
    if args.keyword("reverse").and_then(Value::truth) == Some(true) {
        items.reverse();
    }
    Value::list(items)
}

/// Methods that leave their object what it is.
pub(super) fn method(object: &Value, name: &str, args: &Args) -> Value {
    let text = |at: usize| args.get(at, "").and_then(Value::text).map(str::to_owned);
    match (object, name) {
        (Value::Str(it), "startswith") => text(0).map_or_else(no_method, |part| Value::Bool(it.starts_with(&part))),
        (Value::Str(it), "endswith") => text(0).map_or_else(no_method, |part| Value::Bool(it.ends_with(&part))),
        (Value::Str(it), "upper") => Value::str(&it.to_uppercase()),
        (Value::Str(it), "lower") => Value::str(&it.to_lowercase()),
        (Value::Str(it), "strip") => Value::str(it.trim()),
        (Value::Str(it), "replace") => match (text(0), text(1)) {
            (Some(from), Some(to)) if !from.is_empty() && it.len() * (1 + to.len()) <= 16 * LONGEST => {
                Value::str(&it.replace(&from, &to))
            }
            _ => no_method(),
        },
        (Value::Str(it), "split") => match text(0) {
            Some(by) if !by.is_empty() => Value::list(it.split(by.as_str()).map(Value::str).collect()),
            _ => Value::list(it.split_whitespace().map(Value::str).collect()),
        },
        (Value::Str(it), "isdigit") => Value::Bool(!it.is_empty() && it.chars().all(|letter| letter.is_ascii_digit())),
        (Value::Str(by), "join") => match args.get(0, "").and_then(Value::items) {
            Some(items) if items.iter().all(|item| item.text().is_some()) => {
                let parts: Vec<&str> = items.iter().filter_map(Value::text).collect();
                let joined = parts.join(by);
                if joined.len() > LONGEST { no_method() } else { Value::str(&joined) }
            }
            _ => no_method(),
        },
        (Value::Dict(pairs), "keys") => Value::list(pairs.items.iter().map(|(key, _)| key.clone()).collect()),
        (Value::Dict(pairs), "values") => Value::list(pairs.items.iter().map(|(_, value)| value.clone()).collect()),
        (Value::Dict(pairs), "items") => {
            let pair = |(key, value): &(Value, Value)| Value::tuple(vec![key.clone(), value.clone()]);
            Value::list(pairs.items.iter().map(pair).collect())
        }
        (Value::Dict(_) | Value::List(_), "copy") => object.clone(),
        (Value::Dict(pairs), "get") => {
            let key = args.get(0, "").cloned().unwrap_or(Value::None);
            let found = contains(pairs.items.iter().map(|(known, _)| known), &key);
            match found {
                Some(true) => entry(&pairs.items, &key),
                Some(false) => args.get(1, "").cloned().unwrap_or(Value::None),
                None => unknown("the key is not known"),
            }
        }
        (Value::List(_) | Value::Tuple(_), "index") => {
            let value = args.get(0, "").cloned().unwrap_or(Value::None);
            let at = object.items().unwrap_or_default().iter().position(|item| equal(item, &value) == Some(true));
            at.map_or_else(no_method, |at| Value::Int(at as i64))
        }
        (Value::List(_) | Value::Tuple(_), "count") => unknown("counts elements"),
        _ => unknown(format!("`{name}` is not followed")),
    }
}

fn no_method() -> Value {
    unknown("a method on a value that is not known")
}

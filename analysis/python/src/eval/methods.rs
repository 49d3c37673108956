//! Methods of texts, lists and dictionaries that change nothing.

use tilefit_syntax::ast::{Arg, Expr, ExprId};

use super::entries::found;
use super::{Constant, Evaluator, LONGEST, Parts, lifted, records, unknown};

/// `object.name(args)`
pub(super) fn call(caller: &Evaluator, object: ExprId, name: &str, args: &[Arg]) -> Constant {
    let not_run = || unknown(format!("calls a method `{name}`, which tilefit does not evaluate"));
    let object = caller.value(object);
    if let Constant::Unknown(_) = object {
        return object;
    }
    if let Constant::Object(object) = &object {
        // `tensor.to(device, dtype=…)` is another tensor than `tensor.to(device)`.
        let counts = |arg: &&Arg| arg.keyword.is_none() || arg.keyword.as_deref() == Some("dtype");
        let mut values = Vec::new();
        for arg in args.iter().filter(counts) {
            match caller.ast.expr(arg.value) {
                Expr::Starred(list) => match caller.value(*list) {
                    Constant::List(more) | Constant::Tuple(more) => values.extend(more),
                    _ => return not_run(),
                },
                _ => values.push(caller.value(arg.value)),
            }
        }
        return object.method(name, &values).unwrap_or_else(not_run);
    }
    if let Constant::Record(record) = object {
        return records::method(caller, &record, name, args);
    }
    let values = match caller.positional(args) {
        Ok(values) => values,
        Err(reason) => return Constant::Unknown(reason),
    };
    caller.count(super::held(&object));
    let each = |all: &[Constant]| of_value(all[0].clone(), name, &all[1..]).unwrap_or_else(not_run);
    let all: Vec<Constant> = [object].into_iter().chain(values).collect();
    lifted(&all, &each).unwrap_or_else(|| each(&all))
}

fn of_value(object: Constant, name: &str, values: &[Constant]) -> Option<Constant> {
    match object {
        Constant::Str(text) => of_text(&text, name, values),
        Constant::Dict(pairs) => of_dictionary(pairs, name, values),
        Constant::List(elements) | Constant::Tuple(elements) => of_list(&elements, name, values),
        Constant::Int(_) | Constant::Between(..) if name == "bit_length" && values.is_empty() => {
            let (least @ 0.., most) = object.bounds()? else { return None };
            let bits = |number: i64| i64::from(i64::BITS - number.leading_zeros());
            Some(Constant::between(bits(least), bits(most)))
        }
        _ => None,
    }
}

fn of_text(text: &str, name: &str, values: &[Constant]) -> Option<Constant> {
    let string = |text: &str| Constant::Str(text.to_owned());
    let starts = |part: &Constant| if let Constant::Str(part) = part { Some(text.starts_with(part)) } else { None };
    let ends = |part: &Constant| if let Constant::Str(part) = part { Some(text.ends_with(part)) } else { None };
    Some(match (name, values) {
        ("strip", []) => string(text.trim()),
        ("lstrip", []) => string(text.trim_start()),
        ("rstrip", []) => string(text.trim_end()),
        ("lower", []) => Constant::Str(text.to_lowercase()),
        ("upper", []) => Constant::Str(text.to_uppercase()),
        ("isdigit", []) => Constant::Bool(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit())),
        ("startswith", [part]) => Constant::Bool(starts(part)?),
        ("endswith", [part]) => Constant::Bool(ends(part)?),
        ("removeprefix", [Constant::Str(part)]) => string(text.strip_prefix(part.as_str()).unwrap_or(text)),
        ("removesuffix", [Constant::Str(part)]) => string(text.strip_suffix(part.as_str()).unwrap_or(text)),
        ("replace", [Constant::Str(from), Constant::Str(to)]) => {
            let replaced = text.replace(from.as_str(), to);
            if replaced.len() > LONGEST {
                return None;
            }
            Constant::Str(replaced)
        }
        ("split", []) => Constant::List(text.split_whitespace().map(string).collect()),
        ("split", [Constant::Str(at)]) if !at.is_empty() => {
            Constant::List(text.split(at.as_str()).map(string).collect())
        }
        ("split", [Constant::Str(at), Constant::Int(most)]) if !at.is_empty() && *most >= 0 => {
            Constant::List(text.splitn(*most as usize + 1, at.as_str()).map(string).collect())
        }
        _ => return None,
    })
}

fn of_dictionary(pairs: Parts<(Constant, Constant)>, name: &str, values: &[Constant]) -> Option<Constant> {
    Some(match (name, values) {
        ("keys", []) => Constant::List(pairs.into_iter().map(|(key, _)| key).collect()),
        ("values", []) => Constant::List(pairs.into_iter().map(|(_, value)| value).collect()),
        ("items", []) => {
            Constant::List(pairs.into_iter().map(|(key, value)| Constant::Tuple([key, value].into())).collect())
        }
        ("get", [key, default @ ..]) => found(&pairs, key, || default.first().cloned().unwrap_or(Constant::None)),
        ("copy", []) => Constant::Dict(pairs.iter().cloned().collect()),
        _ => return None,
    })
}

fn of_list(elements: &[Constant], name: &str, values: &[Constant]) -> Option<Constant> {
    let [wanted] = values else { return None };
    let is_open = |value: &Constant| matches!(value, Constant::Unknown(_) | Constant::OneOf(_));
    if is_open(wanted) || elements.iter().any(is_open) {
        return None;
    }
    match name {
        "index" => Some(Constant::Int(elements.iter().position(|element| element == wanted)? as i64)),
        "count" => Some(Constant::Int(elements.iter().filter(|element| *element == wanted).count() as i64)),
        _ => None,
    }
}

//! YAML as PyYAML's `safe_load` reads it, as far as tables of numbers go.

use saphyr_parser::{Event, Parser, ScalarStyle};
use tilefit_python::eval::Constant;
use tilefit_syntax::ast::FloatBits;

/// Values of a file, and of those within each other.
const MOST_VALUES: usize = 1 << 16;
const DEEPEST: usize = 16;

/// The value of a text; `None` where it is no YAML, too large, or has references, of which a few lines can make any number of values.
pub(super) fn value(text: &str) -> Option<Constant> {
    /// What is begun: a list, or a dictionary with the key that waits for its value.
    enum Begun {
        List(Vec<Constant>),
        Dict(Vec<(Constant, Constant)>, Option<Constant>),
    }
    let mut begun: Vec<Begun> = Vec::new();
    let mut whole = None;
    for (nth, event) in Parser::new_from_str(text).enumerate() {
        if nth > MOST_VALUES || begun.len() > DEEPEST {
            return None;
        }
        let value = match event.ok()?.0 {
            Event::Scalar(text, style, ..) => scalar(&text, style),
            Event::SequenceStart(..) => {
                begun.push(Begun::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                begun.push(Begun::Dict(Vec::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match begun.pop()? {
                Begun::List(values) => Constant::List(values.into()),
                Begun::Dict(pairs, _) => Constant::Dict(pairs.into()),
            },
            Event::Alias(_) => return None,
            _ => continue,
        };
        match begun.last_mut() {
            Some(Begun::List(values)) => values.push(value),
            Some(Begun::Dict(pairs, key)) => match key.take() {
                Some(key) => pairs.push((key, value)),
                None => *key = Some(value),
            },
            // `safe_load` takes one document.
            None if whole.is_some() => return None,
            None => whole = Some(value),
        }
    }
    whole
}

fn scalar(text: &str, style: ScalarStyle) -> Constant {
    if style != ScalarStyle::Plain {
        return Constant::Str(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Constant::None,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Constant::Bool(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Constant::Bool(false),
        _ => {}
    }
    let float =
        || text.contains('.').then(|| text.parse().ok()).flatten().map(|it| Constant::Float(FloatBits::new(it)));
    text.parse().map(Constant::Int).ok().or_else(float).unwrap_or_else(|| Constant::Str(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&format!("{:?}", value(text)));
    }

    #[test]
    fn values() {
        check(
            "a: [1, -2.5, n, yes, '3', ~]\nb:\n  - {c: d}\n",
            expect![[
                r#"Some(Dict([(Str("a"), List([Int(1), Float(FloatBits(13836183955189006336)), Str("n"), Bool(true), Str("3"), None])), (Str("b"), List([Dict([(Str("c"), Str("d"))])]))]))"#
            ]],
        );
        check("- a\n---\n- b\n", expect!["None"]);
        check("a: [1", expect!["None"]);
        check("", expect!["None"]);
    }

    #[test]
    fn what_is_too_large() {
        let bomb = (1..40).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(",")));
        check(&format!("a0: &a0 [1]\n{}", bomb.collect::<String>()), expect!["None"]);
        check(&"[".repeat(100_000), expect!["None"]);
        check(&"- 1\n".repeat(100_000), expect!["None"]);
    }
}

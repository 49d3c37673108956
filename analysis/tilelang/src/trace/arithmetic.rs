//! Functions of numbers: those of the language, for the host and for the kernel, and those of Python's libraries.

use tilefit_syntax::ast::{BinaryOp, CompareOp};

use super::Tracer;
use super::numbers::float;
use super::value::{Args, Value, not_known, unknown};
use crate::dtypes;

impl Tracer<'_> {
    pub(super) fn ceildiv(&mut self, args: &Args) -> Value {
        let (Some(left), Some(right)) = (args.get(0, "lhs").cloned(), args.get(1, "rhs").cloned()) else {
            return unknown("`ceildiv` of nothing");
        };
        let sum = self.binary(BinaryOp::Add, left, right.clone());
        let sum = self.binary(BinaryOp::Sub, sum, Value::Int(1));
        self.binary(BinaryOp::FloorDiv, sum, right)
    }

    pub(super) fn arithmetic(&mut self, name: &str, args: &Args) -> Value {
        let value = |index: usize| args.positional.get(index).map_or(Value::None, |(value, _)| value.clone());
        let op = match name {
            "floordiv" | "truncdiv" => Some(BinaryOp::FloorDiv),
            "floormod" | "truncmod" => Some(BinaryOp::Mod),
            "bitwise_and" => Some(BinaryOp::BitAnd),
            "bitwise_or" => Some(BinaryOp::BitOr),
            "shift_left" => Some(BinaryOp::Shl),
            "shift_right" => Some(BinaryOp::Shr),
            _ => None,
        };
        if let Some(op) = op {
            return self.binary(op, value(0), value(1));
        }
        match name {
            "min" | "max" => match (float(&value(0)), float(&value(1))) {
                (Some(_), Some(_)) => {
                    let order = self.compare(CompareOp::Lt, &value(0), &value(1));
                    if (order.truth() == Some(true)) == (name == "min") { value(0) } else { value(1) }
                }
                _ => self.elementwise(name, &[value(0), value(1)]),
            },
            "cast" | "Cast" => {
                // The type is first in the one and second in the other.
                let (of, dtype) = if name == "cast" { (value(0), value(1)) } else { (value(1), value(0)) };
                let dtype = args.get(9, "dtype").cloned().unwrap_or(dtype);
                match dtype.text().and_then(dtypes::parse) {
                    Some(dtype) => self.cast(&of, &dtype),
                    None => of,
                }
            }
            _ => {
                let condition =
                    args.get(0, "cond").or_else(|| args.get(0, "condition")).cloned().unwrap_or(Value::None);
                let (then, otherwise) = (value(1), value(2));
                match (condition.truth(), &condition) {
                    (Some(true), _) => then,
                    (Some(false), _) => otherwise,
                    (None, Value::Unknown(it)) => self.either(&it.reason.clone(), &then, &otherwise),
                    _ => match self.decided(&condition) {
                        Some(true) => then,
                        Some(false) => otherwise,
                        None => self.selected(&condition, &then, &otherwise),
                    },
                }
            }
        }
    }

    pub(super) fn mathematics(&mut self, name: &str, args: &Args) -> Value {
        let first = args.get(0, "x").cloned().unwrap_or(Value::None);
        if let Value::Unknown(it) = &first {
            return not_known(it.reason.clone());
        }
        if matches!(name, "gcd" | "lcm") {
            let mut all = args.positional.iter().map(|(value, _)| value.int());
            let folded = all.try_fold(0_i64, |sum, value| match (name, value?) {
                (_, value) if sum == 0 => Some(value.checked_abs()?),
                ("gcd", value) => Some(gcd(sum, value)),
                (_, value) => (sum / gcd(sum, value).max(1)).checked_mul(value),
            });
            return folded.map_or_else(|| unknown("numbers that are not known"), Value::Int);
        }
        if matches!(name, "prod") {
            return match self.iterated(&first) {
                Ok(items) => items.into_iter().fold(Value::Int(1), |all, item| self.binary(BinaryOp::Mul, all, item)),
                Err(reason) => not_known(reason),
            };
        }
        let Some(x) = float(&first) else { return unknown(format!("`{name}` of a value")) };
        let whole = |value: f64| {
            if value.abs() < 9e15 { Value::Int(value as i64) } else { unknown("a number that is too large") }
        };
        match name {
            "ceil" => whole(x.ceil()),
            "floor" => whole(x.floor()),
            "trunc" => whole(x.trunc()),
            "sqrt" => Value::Float(x.sqrt()),
            "isqrt" => whole(x.max(0.0).sqrt().floor()),
            "log2" => Value::Float(x.log2()),
            "log" => match args.get(1, "base").and_then(float) {
                Some(base) => Value::Float(x.ln() / base.ln()),
                None => Value::Float(x.ln()),
            },
            "log10" => Value::Float(x.log10()),
            "exp" => Value::Float(x.exp()),
            "pow" => args.get(1, "y").and_then(float).map_or_else(|| unknown("a power"), |y| Value::Float(x.powf(y))),
            "fabs" => Value::Float(x.abs()),
            _ => unknown(format!("`{name}` is not followed")),
        }
    }

    /// All ways to take one of each list.
    pub(super) fn product(&mut self, args: &Args) -> Value {
        let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
        for (list, _) in &args.positional {
            let items = match self.iterated(list) {
                Ok(items) => items,
                Err(reason) => return not_known(reason),
            };
            if rows.len().saturating_mul(items.len()) > super::LONGEST {
                return unknown("more combinations than are gone through");
            }
            rows = rows
                .iter()
                .flat_map(|row| items.iter().map(|item| [&row[..], std::slice::from_ref(item)].concat()))
                .collect();
        }
        self.long(rows.into_iter().map(Value::tuple).collect(), true)
    }
}

fn gcd(one: i64, two: i64) -> i64 {
    let (mut one, mut two) = (one.unsigned_abs(), two.unsigned_abs());
    while two != 0 {
        (one, two) = (two, one % two);
    }
    i64::try_from(one).unwrap_or(1)
}

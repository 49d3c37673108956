//! Arithmetic, comparison, selection, casts and broadcasts: an element of the result from those at its place.

use tilefit_pypto::ir::AttrName;
use tilefit_python::element::Dtype;

use super::array::{Array, UNDEFINED, rounded};
use super::operation::Operation;
use super::{Result, Shared, Value};

pub(super) fn evaluate(operation: &Operation) -> Result<Option<Value>> {
    match operation.name {
        "cast" => return cast(operation),
        "cmp" | "cmps" => return compare(operation),
        "sel" => return select(operation, 1, Source::at(operation, 2)?),
        "sels" => return select(operation, 1, Source::at(operation, 3)?),
        "row_expand" | "col_expand" | "expands" => {
            let source = Source::at(operation, 1)?;
            return operation.fill(|index| Ok(source.element(index)));
        }
        _ => {}
    }
    if let Some(meaning) = operation.name.strip_prefix("part_").and_then(binary) {
        return part(operation, meaning);
    }
    if let Some(meaning) = unary(operation.name) {
        let source = Source::at(operation, 0)?;
        let dtype = operation.made()?.dtype;
        return operation
            .fill(|index| apply(dtype, &[source.element(index)], |x| (meaning.0)(x[0]), |x| (meaning.1)(x[0])));
    }
    let name = operation.name;
    let name = name.strip_prefix("row_expand_").or_else(|| name.strip_prefix("col_expand_")).unwrap_or(name);
    if let Some(meaning) = ternary(name) {
        let sources = [Source::at(operation, 0)?, Source::at(operation, 1)?, Source::at(operation, 2)?];
        let dtype = operation.made()?.dtype;
        return operation.fill(|index| {
            let operands = [0, 1, 2].map(|source: usize| sources[source].element(index));
            let int = |x: &[i64]| meaning(x[0] as f64, x[1] as f64, x[2] as f64) as i64;
            apply(dtype, &operands, |x| meaning(x[0], x[1], x[2]), int)
        });
    }
    let Some(meaning) = binary(name) else { return Ok(None) };
    let (left, right) = (Source::at(operation, 0)?, Source::at(operation, 1)?);
    let dtype = operation.made()?.dtype;
    operation.fill(|index| {
        let operands = [left.element(index), right.element(index)];
        apply(dtype, &operands, |x| (meaning.0)(x[0], x[1]), |x| (meaning.1)(x[0], x[1]))
    })
}

/// Where the elements of an operand come from.
enum Source {
    Array(Shared),
    Number(f64),
}

impl Source {
    /// An operand; a scalar is converted to the elements that it meets.
    fn at(operation: &Operation, index: usize) -> Result<Source> {
        if let Ok(array) = operation.array(index) {
            return Ok(Source::Array(array));
        }
        let compares = matches!(operation.name, "cmp" | "cmps");
        let dtype = if compares { operation.array(0)?.borrow().dtype } else { operation.made()?.dtype };
        Ok(Source::Number(rounded(dtype, operation.number(index)?.as_f64())))
    }

    fn element(&self, index: &[usize]) -> f64 {
        match self {
            Source::Array(array) => array.borrow().broadcast(index),
            Source::Number(number) => *number,
        }
    }
}

/// What is made of something undefined is undefined. A result that is no number although its operands are is no ground for a
/// comparison.
pub(super) fn apply(
    dtype: Dtype,
    operands: &[f64],
    float: impl Fn(&[f64]) -> f64,
    int: impl Fn(&[i64]) -> i64,
) -> Result<f64> {
    if operands.iter().any(|operand| operand.is_nan()) {
        return Ok(UNDEFINED);
    }
    if !dtype.is_float() {
        let operands: Vec<i64> = operands.iter().map(|operand| *operand as i64).collect();
        return Ok(int(&operands) as f64);
    }
    let value = rounded(dtype, float(operands));
    if value.is_nan() || value.is_infinite() && operands.iter().all(|operand| operand.is_finite()) {
        return Err(format!("ill-conditioned: {value} of {operands:?}"));
    }
    Ok(value)
}

type Unary = (fn(f64) -> f64, fn(i64) -> i64);

fn unary(name: &str) -> Option<Unary> {
    let floats_only: fn(i64) -> i64 = |x| x;
    Some(match name {
        "abs" => (f64::abs, i64::wrapping_abs),
        "neg" => (|x| -x, i64::wrapping_neg),
        "relu" => (|x| x.max(0.0), |x| x.max(0)),
        "not" => (|x| x, |x| !x),
        "exp" => (f64::exp, floats_only),
        "log" => (f64::ln, floats_only),
        "sqrt" => (f64::sqrt, floats_only),
        "rsqrt" => (|x| 1.0 / x.sqrt(), floats_only),
        "recip" => (|x| 1.0 / x, floats_only),
        "sin" => (f64::sin, floats_only),
        "cos" => (f64::cos, floats_only),
        _ => return None,
    })
}

type Binary = (fn(f64, f64) -> f64, fn(i64, i64) -> i64);

/// Integers divide as C++ does; a remainder (`rem`) has the sign of the divisor.
fn binary(name: &str) -> Option<Binary> {
    let ints_only: fn(f64, f64) -> f64 = |_, _| UNDEFINED;
    Some(match name {
        "add" | "adds" => (|x, y| x + y, i64::wrapping_add),
        "sub" | "subs" => (|x, y| x - y, i64::wrapping_sub),
        "mul" | "muls" => (|x, y| x * y, i64::wrapping_mul),
        "div" | "divs" => (|x, y| x / y, |x, y| x.checked_div(y).unwrap_or_default()),
        "maximum" | "maximums" | "max" => (f64::max, i64::max),
        "minimum" | "minimums" | "min" => (f64::min, i64::min),
        "fmod" | "fmods" => (|x, y| x % y, |x, y| x.checked_rem(y).unwrap_or_default()),
        "rem" | "rems" => (
            |x, y| x - y * (x / y).floor(),
            |x, y| {
                let rest = x.checked_rem(y).unwrap_or_default();
                if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest }
            },
        ),
        "lrelu" | "prelu" => (|x, y| if x < 0.0 { x * y } else { x }, |x, y| if x < 0 { x * y } else { x }),
        "expdif" => (|x, y| (x - y).exp(), |x, _| x),
        "and" | "ands" => (ints_only, |x, y| x & y),
        "or" | "ors" => (ints_only, |x, y| x | y),
        "xor" | "xors" => (ints_only, |x, y| x ^ y),
        "shl" | "shls" => (ints_only, |x, y| x.wrapping_shl(y as u32)),
        "shr" | "shrs" => (ints_only, |x, y| x.wrapping_shr(y as u32)),
        _ => return None,
    })
}

fn ternary(name: &str) -> Option<fn(f64, f64, f64) -> f64> {
    Some(match name {
        "addc" | "addsc" => |x, y, z| x + y + z,
        "subc" | "subsc" => |x, y, z| x - y + z,
        _ => return None,
    })
}

/// What lies beside the valid part of one operand is taken from the other.
fn part(operation: &Operation, meaning: Binary) -> Result<Option<Value>> {
    let (left, right) = (operation.array(0)?, operation.array(1)?);
    let (left, right) = (left.borrow(), right.borrow());
    let dtype = operation.made()?.dtype;
    operation.fill(|index| {
        let (x, y) = (left.broadcast(index), right.broadcast(index));
        match (left.is_valid(index), right.is_valid(index)) {
            (true, true) => apply(dtype, &[x, y], |x| (meaning.0)(x[0], x[1]), |x| (meaning.1)(x[0], x[1])),
            (true, false) => Ok(x),
            _ => Ok(y),
        }
    })
}

/// Rounding modes are those of the language: 0 none, 1 rint, 2 round, 3 floor, 4 ceil, 5 trunc, 6 odd.
fn cast(operation: &Operation) -> Result<Option<Value>> {
    let source = operation.array(0)?;
    let source = source.borrow();
    let to = operation.made()?.dtype;
    let mode = operation.call.int(AttrName::Mode).unwrap_or(2);
    // The only way to eight bits.
    let through_half = source.dtype.is_float() && matches!(to, Dtype::Int8 | Dtype::Uint8);
    operation.fill(|index| {
        let mut value = source.broadcast(index);
        if through_half && !value.is_nan() {
            value = rounded(Dtype::Fp16, value);
        }
        if value.is_nan() || to.is_float() || !source.dtype.is_float() {
            return Ok(value);
        }
        let whole = match mode {
            2 => value.round(),
            3 => value.floor(),
            4 => value.ceil(),
            5 => value.trunc(),
            _ => value.round_ties_even(),
        };
        match rounded(to, whole) == whole {
            true => Ok(whole),
            false => Err(format!("ill-conditioned: {value} as {to}")),
        }
    })
}

/// On tiles bits, eight elements in a byte; on tensors ones and zeros.
fn compare(operation: &Operation) -> Result<Option<Value>> {
    let left = operation.array(0)?;
    let left = left.borrow();
    let right = Source::at(operation, 1)?;
    let mode = operation.call.int(AttrName::CmpType).unwrap_or(0);
    let holds = |index: &[usize]| {
        let (x, y) = (left.broadcast(index), right.element(index));
        let result = match mode {
            0 => x == y,
            1 => x != y,
            2 => x < y,
            3 => x <= y,
            4 => x > y,
            _ => x >= y,
        };
        if x.is_nan() || y.is_nan() { UNDEFINED } else { f64::from(u8::from(result)) }
    };
    if operation.on_tensors {
        return operation.fill(|index| Ok(holds(index)));
    }
    let columns = match &right {
        Source::Array(array) => array.borrow().matrix()[1].max(left.matrix()[1]),
        Source::Number(_) => left.matrix()[1],
    };
    operation.fill(|index| {
        let (last, leading) = index.split_last().ok_or("a comparison without axes")?;
        let columns = 8 * last..(8 * last + 8).min(columns);
        let bits: Vec<f64> = columns.map(|column| holds(&[leading, &[column]].concat())).collect();
        if bits.iter().all(|bit| bit.is_nan()) {
            return Ok(UNDEFINED);
        }
        Ok(bits.iter().enumerate().map(|(at, bit)| if *bit == 1.0 { f64::from(1 << at) } else { 0.0 }).sum())
    })
}

/// `mask ? arg : otherwise`; masks are those of [`compare`].
fn select(operation: &Operation, arg: usize, otherwise: Source) -> Result<Option<Value>> {
    let (mask, chosen) = (operation.array(0)?, operation.array(arg)?);
    let (mask, chosen): (_, std::cell::Ref<Array>) = (mask.borrow(), chosen.borrow());
    let packed = !operation.on_tensors;
    operation.fill(|index| {
        let (last, leading) = index.split_last().ok_or("a selection without axes")?;
        let bit = match packed {
            false => mask.broadcast(index),
            true => match mask.broadcast(&[leading, &[last / 8]].concat()) {
                byte if byte.is_nan() => UNDEFINED,
                byte => f64::from(byte as u8 >> (last % 8) & 1),
            },
        };
        Ok(match bit {
            bit if bit.is_nan() => UNDEFINED,
            0.0 => otherwise.element(index),
            _ => chosen.broadcast(index),
        })
    })
}

//! Rows and columns reduced to one, over the valid part.

use super::array::{Array, UNDEFINED};
use super::operation::Operation;
use super::{Result, Value};

pub(super) fn evaluate(operation: &Operation) -> Result<Option<Value>> {
    let (along_rows, kind) = match operation.name.split_once('_') {
        Some(("row", kind)) => (true, kind),
        Some(("col", kind)) => (false, kind),
        _ => return Ok(None),
    };
    let Some(reduce) = reduction(kind) else { return Ok(None) };
    let source = operation.array(0)?;
    let source: std::cell::Ref<Array> = source.borrow();
    operation.fill(|index| {
        let mut at = index.to_vec();
        let axis = if along_rows { at.len() - 1 } else { 0 };
        let elements = (0..source.valid[axis]).map(|place| {
            at[axis] = place;
            source.at(&at)
        });
        let elements: Vec<f64> = elements.collect();
        Ok(if elements.iter().any(|element| element.is_nan()) { UNDEFINED } else { reduce(&elements) })
    })
}

type Reduction = fn(&[f64]) -> f64;

/// The position of an extreme is that of the first.
fn reduction(kind: &str) -> Option<Reduction> {
    Some(match kind {
        "sum" => |x| x.iter().sum(),
        "prod" => |x| x.iter().product(),
        "max" => |x| x.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "min" => |x| x.iter().copied().fold(f64::INFINITY, f64::min),
        "argmax" => |x| first(x, |element, best| element > best),
        "argmin" => |x| first(x, |element, best| element < best),
        _ => return None,
    })
}

fn first(elements: &[f64], better: fn(f64, f64) -> bool) -> f64 {
    let best = (0..elements.len()).reduce(|best, at| if better(elements[at], elements[best]) { at } else { best });
    best.unwrap_or_default() as f64
}

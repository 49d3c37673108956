//! Windows, views, shapes, and tiles made from nothing.

use std::cell::Ref;

use tilefit_pypto::ir::AttrName;

use super::array::{Array, UNDEFINED, each_index};
use super::operation::Operation;
use super::statements::fresh;
use super::{Number, Result, Shared, Value};

pub(super) fn evaluate(operation: &Operation) -> Result<Option<Value>> {
    let value = match operation.name {
        "load" => load(operation)?,
        "slice" => slice(operation)?,
        "extract" => extract(operation)?,
        "store" => store(operation)?,
        "assemble" => assemble(operation)?,
        "create" if operation.on_scalars => {
            let made = operation.made()?;
            fresh(Array::filled(made.dtype, &made.shape, 0.0))
        }
        "create" => create(operation)?,
        "alloc" => Value::Tuple(Vec::new()),
        "full" => {
            let value = operation.number(1)?.as_f64();
            return operation.fill(|_| Ok(value));
        }
        "ci" => return count(operation),
        "tri" => return triangle(operation),
        "move" => same(operation)?,
        "reshape" => fresh(operation.array(0)?.borrow().reshaped(&operation.made()?.shape)),
        "reinterpret_view" => {
            let made = operation.made()?;
            fresh(Array::of_bytes(made.dtype, &made.shape, &operation.array(0)?.borrow().bytes()))
        }
        "set_validshape" => {
            let valid = [operation.int(1)? as usize, operation.int(2)? as usize];
            let source = operation.array(0)?.borrow().clone();
            let leading = source.shape.len().saturating_sub(2);
            let valid = [&source.shape[..leading], &valid].concat();
            fresh(source.with_valid(&valid))
        }
        "transpose" => {
            let rank = operation.array(0)?.borrow().shape.len() as i64;
            let axis = |index| operation.int(index).map(|axis| axis.rem_euclid(rank) as usize);
            fresh(transposed(&operation.array(0)?.borrow(), axis(1)?, axis(2)?))
        }
        "transpose_view" => {
            let source = operation.array(0)?;
            let rank = source.borrow().shape.len();
            fresh(transposed(&source.borrow(), rank - 2, rank - 1))
        }
        "concat" => return concatenate(operation),
        "fillpad" | "fillpad_expand" => return padded(operation),
        "fillpad_inplace" => {
            let target = operation.array(0)?;
            let pad = operation.pad(target.borrow().dtype);
            let mut array = target.borrow_mut();
            each_index(&array.shape.clone(), |index| {
                if !array.is_valid(index) {
                    array.set(index, pad);
                }
            });
            array.valid = array.shape.clone();
            Value::Array(target.clone())
        }
        "read" => read_element(operation, &operation.list(1)?)?,
        "get_element" => read_element(operation, &[operation.int(1)?])?,
        "write" => write_element(operation, &operation.list(1)?)?,
        "update_element" => write_element(operation, &[operation.int(1)?])?,
        "get_block_idx" | "get_subblock_idx" => Value::Number(Number::Int(0)),
        "get_block_num" => Value::Number(Number::Int(1)),
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// Places of a window in an array, in order.
fn places(of: &Array, offsets: &[i64], extents: &[usize]) -> Result<Vec<usize>> {
    let rank = of.shape.len();
    if offsets.len() != rank || extents.len() != rank {
        return Err(format!("a window of {} axes in an array of {rank}", extents.len()));
    }
    for axis in 0..rank {
        let (offset, end) = (offsets[axis], offsets[axis] + extents[axis] as i64);
        if offset < 0 || end > of.shape[axis] as i64 {
            return Err(format!("the window [{offset}, {end}) leaves axis {axis} of {:?}", of.shape));
        }
    }
    let mut places = Vec::with_capacity(extents.iter().product());
    let start: Vec<usize> = offsets.iter().map(|offset| *offset as usize).collect();
    each_index(extents, |index| {
        let index: Vec<usize> = index.iter().zip(&start).map(|(index, start)| index + start).collect();
        places.push(of.position(&index));
    });
    Ok(places)
}

/// Extents with leading axes of one, or without them, so that they have so many axes.
fn of_rank(extents: &[usize], rank: usize) -> Result<Vec<usize>> {
    if extents.len() <= rank {
        return Ok([vec![1; rank - extents.len()], extents.to_vec()].concat());
    }
    let (leading, kept) = extents.split_at(extents.len() - rank);
    match leading.iter().all(|extent| *extent == 1) {
        true => Ok(kept.to_vec()),
        false => Err(format!("{extents:?} in an array of {rank} axes")),
    }
}

/// A window, its valid part filled from an array and the rest undefined.
fn window(of: &Array, offsets: &[i64], shape: &[usize], valid: &[usize]) -> Result<Array> {
    let mut result = Array::undefined(of.dtype, shape).with_valid(valid);
    let values = places(of, offsets, valid)?.into_iter().map(|place| of.data[place]);
    let targets = places(&result, &vec![0; shape.len()], valid)?;
    for (target, value) in targets.into_iter().zip(values) {
        result.data[target] = value;
    }
    Ok(result)
}

fn load(operation: &Operation) -> Result<Value> {
    let tensor = operation.array(0)?;
    let (offsets, shape) = (operation.list(1)?, operation.extents(2)?);
    let mut valid = if operation.ints(3)?.is_some() { operation.extents(3)? } else { shape.clone() };
    if operation.call.flag(AttrName::Clamp) {
        clamp(&mut valid, &tensor.borrow(), &offsets);
    }
    Ok(fresh(window(&tensor.borrow(), &offsets, &shape, &valid)?))
}

fn clamp(valid: &mut [usize], of: &Array, offsets: &[i64]) {
    for ((valid, extent), offset) in valid.iter_mut().zip(&of.shape).zip(offsets) {
        *valid = (*valid).min((*extent as i64 - offset).max(0) as usize);
    }
}

fn slice(operation: &Operation) -> Result<Value> {
    let source = operation.array(0)?;
    let source = source.borrow();
    let (shape, offsets) = (operation.extents(1)?, operation.list(2)?);
    let mut valid = match operation.ints(3)? {
        Some(_) => operation.extents(3)?,
        None => {
            let rest =
                source.valid.iter().zip(&offsets).map(|(valid, offset)| (*valid as i64 - offset).max(0) as usize);
            rest.zip(&shape).map(|(rest, extent)| rest.min(*extent)).collect()
        }
    };
    if operation.call.flag(AttrName::Clamp) {
        clamp(&mut valid, &source, &offsets);
    }
    let part = window(&source, &offsets, &shape, &valid)?;
    let made = &operation.made()?.shape;
    if *made == shape {
        return Ok(fresh(part));
    }
    let dropped = operation.ints(4)?.unwrap_or_default();
    let kept: Vec<usize> =
        (0..valid.len()).filter(|axis| !dropped.contains(&(*axis as i64))).map(|axis| valid[axis]).collect();
    Ok(fresh(part.reshaped(made).with_valid(&of_rank(&kept, made.len())?)))
}

fn extract(operation: &Operation) -> Result<Value> {
    let source = operation.array(0)?;
    let shape = operation.extents(3)?;
    Ok(fresh(window(&source.borrow(), &[operation.int(1)?, operation.int(2)?], &shape, &shape)?))
}

/// Writes the valid part of an array into another.
fn write(target: &Shared, source: &Array, extents: Option<Vec<usize>>, offsets: &[i64], adds: bool) -> Result<()> {
    let rank = target.borrow().shape.len();
    let mut index_of_source = Vec::with_capacity(source.valid.iter().product());
    each_index(&source.valid, |index| index_of_source.push(source.position(index)));
    let extents = of_rank(&extents.unwrap_or_else(|| source.valid.clone()), rank)?;
    if extents.iter().product::<usize>() != index_of_source.len() {
        return Err(format!("{:?} elements written to {extents:?}", source.valid));
    }
    let places = places(&target.borrow(), offsets, &extents)?;
    let mut target = target.borrow_mut();
    for (place, from) in places.into_iter().zip(index_of_source) {
        let value = source.data[from] + if adds { target.data[place] } else { 0.0 };
        target.data[place] = super::array::rounded(target.dtype, value);
    }
    Ok(())
}

fn store(operation: &Operation) -> Result<Value> {
    let (tile, tensor) = (operation.array(0)?, operation.array(2)?);
    let extents = if operation.ints(3)?.is_some() { Some(operation.extents(3)?) } else { None };
    let adds = operation.call.int(AttrName::Atomic).is_some_and(|atomic| atomic != 0);
    let tile = tile.borrow().clone();
    write(&tensor, &tile, extents, &operation.list(1)?, adds)?;
    Ok(Value::Array(tensor))
}

fn assemble(operation: &Operation) -> Result<Value> {
    let (target, source) = (operation.array(0)?, operation.array(1)?);
    let source = source.borrow().clone();
    let adds = operation.call.int(AttrName::Atomic).is_some_and(|atomic| atomic != 0);
    write(&target, &source, None, &operation.list(2)?, adds)?;
    Ok(Value::Array(target))
}

fn create(operation: &Operation) -> Result<Value> {
    Ok(fresh(operation.undefined()?))
}

/// A value that has its operand's elements.
fn same(operation: &Operation) -> Result<Value> {
    Ok(fresh(operation.array(0)?.borrow().clone()))
}

/// `start`, `start + 1`, …
fn count(operation: &Operation) -> Result<Option<Value>> {
    let start = operation.int(0)?;
    let step = if operation.call.flag(AttrName::Descending) { -1 } else { 1 };
    let mut next = start - step;
    operation.fill(|_| {
        next += step;
        Ok(next as f64)
    })
}

fn triangle(operation: &Operation) -> Result<Option<Value>> {
    let (diagonal, upper) = (operation.int(0)?, operation.call.flag(AttrName::Upper));
    operation.fill(|index| {
        let [.., row, column] = index else { return Err("less than two axes".to_owned()) };
        let distance = *column as i64 - *row as i64;
        Ok(f64::from(u8::from(if upper { distance >= diagonal } else { distance <= diagonal })))
    })
}

pub(super) fn transposed(source: &Array, one: usize, other: usize) -> Array {
    let swapped = |extents: &[usize]| {
        let mut extents = extents.to_vec();
        extents.swap(one, other);
        extents
    };
    Array::from_fn(source.dtype, &swapped(&source.shape), |index| source.at(&swapped(index)))
        .with_valid(&swapped(&source.valid))
}

fn concatenate(operation: &Operation) -> Result<Option<Value>> {
    let (left, right) = (operation.array(0)?, operation.array(1)?);
    let (left, right): (Ref<Array>, Ref<Array>) = (left.borrow(), right.borrow());
    let width = left.matrix()[1];
    operation.fill(|index| {
        let (last, leading) = index.split_last().ok_or("an array without axes")?;
        Ok(if *last < width { left.at(index) } else { right.at(&[leading, &[last - width]].concat()) })
    })
}

fn padded(operation: &Operation) -> Result<Option<Value>> {
    let source = operation.array(0)?;
    let source = source.borrow();
    let pad = operation.pad(source.dtype);
    operation.fill(|index| Ok(if source.is_valid(index) { source.at(index) } else { pad }))
}

fn read_element(operation: &Operation, place: &[i64]) -> Result<Value> {
    let array = operation.array(0)?;
    let (value, dtype) = (element(&array.borrow(), place)?, array.borrow().dtype);
    let is_float = dtype.is_float() || value.is_nan();
    Ok(Value::Number(if is_float { Number::Float(value) } else { Number::Int(value as i64) }))
}

fn write_element(operation: &Operation, place: &[i64]) -> Result<Value> {
    let target = operation.array(0)?;
    element(&target.borrow(), place)?;
    let place: Vec<usize> = place.iter().map(|index| *index as usize).collect();
    target.borrow_mut().set(&place, operation.number(2)?.as_f64());
    Ok(Value::Array(target))
}

fn element(of: &Array, place: &[i64]) -> Result<f64> {
    let inside = place.len() == of.shape.len()
        && place.iter().zip(&of.shape).all(|(index, extent)| 0 <= *index && *index < *extent as i64);
    if !inside {
        return Err(format!("element {place:?} of {:?}", of.shape));
    }
    let place: Vec<usize> = place.iter().map(|index| *index as usize).collect();
    let value = of.at(&place);
    Ok(if value.is_nan() { UNDEFINED } else { value })
}

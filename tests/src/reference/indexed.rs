//! Gather and scatter by index or by pattern, sorting.

use std::cell::RefCell;
use std::rc::Rc;

use tilefit_pypto::ir::AttrName;
use tilefit_python::element::Dtype;

use super::array::{Array, UNDEFINED, each_index};
use super::operation::Operation;
use super::statements::fresh;
use super::{Result, Value};

pub(super) fn evaluate(operation: &Operation) -> Result<Option<Value>> {
    match operation.name {
        "gather" if operation.call.int(AttrName::MaskPattern).is_some() => gather_by_pattern(operation),
        "gather" if operation.on_tensors => gather_along_rows(operation),
        "gather" => gather(operation),
        "gather_mask" => gather_by_pattern(operation),
        "gather_compare" => gather_compare(operation),
        "gatherb" => gather_blocks(operation),
        "gather_row" => gather_row(operation),
        "mgather" => gather_from_memory(operation),
        "mscatter" => scatter(operation, 2, 0, 1),
        "scatter" => scatter(operation, 0, 1, 2),
        "scatter_mask" => scatter_by_pattern(operation),
        "scatter_update" => scatter_rows(operation),
        "sort32" => sort_runs(operation),
        "mrgsort_format1" => merge_runs(operation, 1),
        "mrgsort" if operation.int(4).is_ok() => merge_runs(operation, 4),
        "mrgsort" | "mrgsort_format2" => merge_lists(operation),
        _ => Ok(None),
    }
}

fn index(value: f64, count: usize) -> Result<Option<usize>> {
    if value.is_nan() {
        return Ok(None);
    }
    let within = value >= 0.0 && (value as usize) < count;
    if within { Ok(Some(value as usize)) } else { Err(format!("index {value} of {count}")) }
}

fn by_index(source: &Array, at: f64) -> Result<f64> {
    Ok(index(at, source.data.len())?.map_or(UNDEFINED, |at| source.data[at]))
}

/// Elements of the source, counted through.
fn gather(operation: &Operation) -> Result<Option<Value>> {
    let (source, indices) = (operation.array(0)?, operation.array(1)?);
    operation.fill(|at| by_index(&source.borrow(), indices.borrow().at(at)))
}

/// Elements of the same row of the source.
fn gather_along_rows(operation: &Operation) -> Result<Option<Value>> {
    let (source, indices) = (operation.array(0)?, operation.array(1)?);
    let (source, indices) = (source.borrow(), indices.borrow());
    operation.fill(|at| {
        let (_, leading) = at.split_last().ok_or("less than one axis")?;
        let place = index(indices.at(at), source.matrix()[1])?;
        Ok(place.map_or(UNDEFINED, |place| source.at(&[leading, &[place]].concat())))
    })
}

fn selects(pattern: i64, column: usize) -> bool {
    match pattern {
        1 | 2 => column % 2 == pattern as usize - 1,
        3..=6 => column % 4 == pattern as usize - 3,
        _ => true,
    }
}

fn gather_by_pattern(operation: &Operation) -> Result<Option<Value>> {
    let source = operation.array(0)?;
    let source = source.borrow();
    let pattern = operation.call.int(AttrName::MaskPattern).ok_or("a pattern that is not known")?;
    let columns: Vec<usize> = (0..source.matrix()[1]).filter(|column| selects(pattern, *column)).collect();
    let made = operation.made()?.clone();
    let selected = Array::from_fn(source.dtype, &made.shape, |at| match at {
        [leading @ .., column] => source.at(&[leading, &[columns[*column]]].concat()),
        [] => UNDEFINED,
    });
    Ok(Some(fresh(Array::of_bytes(made.dtype, &made.shape, &selected.bytes()))))
}

/// The columns that compare, from `offset` on, and how many they are in each row.
fn gather_compare(operation: &Operation) -> Result<Option<Value>> {
    let (source, limits) = (operation.array(0)?, operation.array(1)?);
    let (source, limits) = (source.borrow(), limits.borrow());
    let columns = operation.call.int(AttrName::OutCols).ok_or("`out_cols` is not known")? as usize;
    let (mode, offset) =
        (operation.call.int(AttrName::CmpMode).unwrap_or(0), operation.call.int(AttrName::Offset).unwrap_or(0));
    let [rows, _] = source.matrix();
    let mut found = Array::undefined(Dtype::Int32, &[rows, columns]);
    let mut counts = Array::undefined(Dtype::Int32, &[1, rows]);
    for row in 0..rows {
        let limit = limits.data[row];
        let holds = |value: &f64| if mode == 0 { *value == limit } else { *value > limit };
        let places = (0..source.valid_matrix()[1]).filter(|column| holds(&source.at(&[row, *column])));
        let places: Vec<usize> = places.take(columns).collect();
        counts.set(&[0, row], places.len() as f64);
        places.iter().enumerate().for_each(|(at, place)| found.set(&[row, at], (offset + *place as i64) as f64));
    }
    Ok(Some(Value::Tuple(vec![fresh(found), fresh(counts)])))
}

/// Blocks of 32 bytes, by offset in bytes.
fn gather_blocks(operation: &Operation) -> Result<Option<Value>> {
    let (source, offsets) = (operation.array(0)?, operation.array(1)?);
    let (source, offsets) = (source.borrow(), offsets.borrow());
    let size = source.dtype.storage_bits() as usize / 8;
    operation.fill(|at| {
        let (column, leading) = at.split_last().ok_or("less than one axis")?;
        let (block, within) = (column / (32 / size), column % (32 / size));
        by_index(&source, offsets.at(&[leading, &[block]].concat()) / size as f64 + within as f64)
    })
}

/// A part of a tensor, written into a tile.
fn gather_row(operation: &Operation) -> Result<Option<Value>> {
    if operation.call.flag(AttrName::Transpose) {
        return Err("a transposed row".to_owned());
    }
    let (target, source) = (operation.array(0)?, operation.array(1)?);
    let (to, from, extents) = (operation.list(2)?, operation.list(3)?, operation.extents(4)?);
    let source = source.borrow();
    let place = |offsets: &[i64], at: &[usize]| -> Vec<usize> {
        at.iter().zip(offsets).map(|(at, offset)| at + *offset as usize).collect()
    };
    each_index(&extents, |at| target.borrow_mut().set(&place(&to, at), source.at(&place(&from, at))));
    Ok(Some(Value::Array(target)))
}

/// Rows of a tensor, or elements of it counted through.
fn gather_from_memory(operation: &Operation) -> Result<Option<Value>> {
    let (table, indices) = (operation.array(0)?, operation.array(1)?);
    let (table, indices) = (table.borrow(), indices.borrow());
    let by_rows = operation.call.int(AttrName::Coalesce).unwrap_or(0) == 0;
    let capacity = if by_rows { table.matrix()[0] } else { table.data.len() } as f64;
    let beyond = operation.call.int(AttrName::GatherOob).unwrap_or(0);
    operation.fill(|at| {
        let asked = if by_rows { indices.data[at[0]] } else { indices.at(at) };
        let asked = match beyond {
            1 => asked.clamp(0.0, capacity - 1.0),
            2 => asked.rem_euclid(capacity),
            3 if asked < 0.0 || asked >= capacity => return Ok(0.0),
            _ => asked,
        };
        let place = if by_rows { asked * table.matrix()[1] as f64 + at[at.len() - 1] as f64 } else { asked };
        by_index(&table, place)
    })
}

/// Elements, or rows where there is one index for each, to places of the target that are counted through.
fn scatter(operation: &Operation, target: usize, source: usize, indices: usize) -> Result<Option<Value>> {
    let target = operation.array(target)?;
    let (source, indices) = (operation.array(source)?, operation.array(indices)?);
    let (source, indices) = (source.borrow(), indices.borrow());
    let by_elements = indices.shape == source.shape;
    let width = if by_elements { 1 } else { target.borrow().matrix()[1] };
    let mut problem = Ok(());
    each_index(&source.valid, |at| {
        let asked = if by_elements { indices.at(at) } else { indices.data[at[0]] * width as f64 + at[1] as f64 };
        let mut target = target.borrow_mut();
        match index(asked, target.data.len()) {
            Ok(Some(place)) => target.data[place] = source.at(at),
            Ok(None) => problem = Err("an index that is not defined".to_owned()),
            Err(why) => problem = Err(why),
        }
    });
    problem?;
    Ok(Some(Value::Array(target)))
}

fn scatter_by_pattern(operation: &Operation) -> Result<Option<Value>> {
    let (target, source) = (operation.array(0)?, operation.array(1)?);
    let pattern = operation.call.int(AttrName::MaskPattern).ok_or("a pattern that is not known")?;
    let source = source.borrow().data.clone();
    let mut next = source.iter();
    let mut array = target.borrow_mut();
    each_index(&array.shape.clone(), |at| {
        let value = if selects(pattern, at[at.len() - 1]) { next.next().copied().unwrap_or(UNDEFINED) } else { 0.0 };
        array.set(at, value);
    });
    drop(array);
    Ok(Some(Value::Array(target)))
}

/// Rows of the source to the rows of the target that are named.
fn scatter_rows(operation: &Operation) -> Result<Option<Value>> {
    let (target, indices, source) = (operation.array(0)?, operation.array(1)?, operation.array(2)?);
    let (indices, source) = (indices.borrow(), source.borrow());
    let [rows, width] = target.borrow().matrix();
    for (from, row) in indices.data.iter().enumerate() {
        let row = index(*row, rows)?.ok_or("an index that is not defined")?;
        let values = &source.data[from * width..(from + 1) * width];
        target.borrow_mut().data[row * width..(row + 1) * width].copy_from_slice(values);
    }
    Ok(Some(Value::Array(target)))
}

/// A score and the element beside it, whose bits are an index.
type Record = [f64; 2];

fn records(of: &Array) -> Result<Vec<Record>> {
    if of.dtype != Dtype::Fp32 {
        return Err(format!("records of {}", of.dtype));
    }
    Ok(of.data.chunks(2).map(|record| [record[0], record[1]]).collect())
}

fn sort(records: &mut [Record]) {
    records.sort_by(|a, b| b[0].total_cmp(&a[0]));
}

fn of_records(operation: &Operation, records: &[Record]) -> Result<Option<Value>> {
    let mut made = operation.undefined()?;
    records.iter().flatten().zip(&mut made.data).for_each(|(value, element)| *element = *value);
    Ok(Some(Value::Array(Rc::new(RefCell::new(made)))))
}

/// Each 32 elements of a row with their indices, the greatest first.
fn sort_runs(operation: &Operation) -> Result<Option<Value>> {
    let (source, indices) = (operation.array(0)?, operation.array(1)?);
    let (source, indices) = (source.borrow(), indices.borrow());
    if source.dtype != Dtype::Fp32 {
        return Err(format!("records of {}", source.dtype));
    }
    let bits = Array::of_bytes(Dtype::Fp32, &indices.shape, &indices.bytes());
    let mut sorted: Vec<Record> = source.data.iter().zip(&bits.data).map(|(score, index)| [*score, *index]).collect();
    sorted.chunks_mut(source.matrix()[1]).for_each(|row| row.chunks_mut(32).for_each(sort));
    of_records(operation, &sorted)
}

/// Each four runs of so many elements become one.
fn merge_runs(operation: &Operation, block: usize) -> Result<Option<Value>> {
    let mut sorted = records(&operation.array(0)?.borrow())?;
    let group = 4 * operation.int(block)? as usize / 2;
    if sorted.len() % group != 0 {
        return Err(format!("{} records in groups of {group}", sorted.len()));
    }
    sorted.chunks_mut(group).for_each(sort);
    of_records(operation, &sorted)
}

/// Two to four sorted lists, merged until the last is empty or, where asked for, the first.
fn merge_lists(operation: &Operation) -> Result<Option<Value>> {
    let mut lists = operation.arrays();
    if !operation.on_tensors {
        lists.pop().ok_or("nothing to merge")?;
    }
    let lists: Vec<Vec<Record>> = lists.iter().map(|list| records(&list.borrow())).collect::<Result<_>>()?;
    let mut next = vec![0; lists.len()];
    let mut merged = Vec::new();
    while let Some(list) = (0..lists.len())
        .filter(|list| next[*list] < lists[*list].len())
        .reduce(|best, list| if lists[list][next[list]][0] > lists[best][next[best]][0] { list } else { best })
    {
        merged.push(lists[list][next[list]]);
        next[list] += 1;
        if operation.call.flag(AttrName::Exhausted) && next[list] == lists[list].len() {
            break;
        }
    }
    of_records(operation, &merged)
}

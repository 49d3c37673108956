//! Layouts that a TLX kernel names: those of buffers, and those that it asks for in registers.

use std::rc::Rc;

use super::super::super::language::Dtype;
use super::super::super::shared_layout::{Nvmma, SharedLayout};
use super::super::calls::Args;
use super::super::identity;
use super::super::value::{Registers, Value, unknown};

/// The layout that a call makes; `None` where it makes none.
pub(super) fn layout(name: &str, args: &Args) -> Option<Value> {
    let made = match name {
        "layout" => return Some(either(args)),
        "amd_mfma_layout" | "dot_operand_layout" | "slice_layout" => return Some(asked(name, args)),
        "padded_shared_layout_encoding" => padded_in_parts(args),
        "padded_shared_layout_encoding.with_identity_for" => padded(args, 1),
        "padded_shared_layout_encoding.with_bases" => padded(args, 2),
        "shared_linear_layout_encoding" => linear(args),
        "swizzled_layout" => swizzled(args, 3),
        "swizzled_shared_layout_encoding" => of_one_cta(args, 5).and_then(|()| swizzled(args, 3)),
        "swizzled_layout.make_default" | "swizzled_shared_layout_encoding.make_default" => unswizzled(args),
        "nv_mma_shared_layout_encoding" => of_one_cta(args, 3).and_then(|()| nvmma(args, [1, 2, 6], Some(7))),
        "nv_mma_shared_layout_encoding.make_default" => nvmma(args, [usize::MAX, 1, 2], None),
        _ => return None,
    };
    Some(made.map_or_else(
        || {
            super::super::operators::first_unknown(&args.all())
                .map_or_else(|| unknown("a layout that is not known"), Value::Unknown)
        },
        |layout| Value::SharedLayout(Rc::new(layout)),
    ))
}

/// A layout of registers by the words that ask for it: the same words, the same layout.
fn asked(name: &str, args: &Args) -> Value {
    Value::Registers(Registers::Chosen(identity((name, format!("{args:?}")))))
}

/// A swizzle for a buffer, or a shape and strides for registers.
fn either(args: &Args) -> Value {
    match args.get(0, "spec") {
        Some(spec @ (Value::SharedLayout(_) | Value::Unknown(_))) => spec.clone(),
        _ => asked("layout", args),
    }
}

/// Intervals and what is padded after each; `shape`: the position of the shape.
fn padded(args: &Args, shape: usize) -> Option<SharedLayout> {
    let pair = |pair: &Value| match pair.extents()?[..] {
        [interval, pad] => Some((interval, pad)),
        _ => None,
    };
    let pairs = args.get(0, "interval_padding_pairs")?.elements()?.iter().map(pair).collect::<Option<_>>()?;
    let rank = args.get(shape, "shape")?.elements()?.len();
    let cga = if shape == 2 { bases(args.get(3, "block_bases"))? } else { Vec::new() };
    Some(SharedLayout::Padded { pairs, rank, cga })
}

/// The same with a list of the intervals and one of the pads.
fn padded_in_parts(args: &Args) -> Option<SharedLayout> {
    of_one_cta(args, 4)?;
    let (intervals, pads) = (args.get(0, "intervals")?.extents()?, args.get(1, "paddings")?.extents()?);
    let rank = args.get(3, "shape")?.elements()?.len();
    Some(SharedLayout::Padded { pairs: intervals.into_iter().zip(pads).collect(), rank, cga: Vec::new() })
}

fn linear(args: &Args) -> Option<SharedLayout> {
    Some(SharedLayout::Linear {
        offset: bases(args.get(0, "offset_bases"))?,
        cga: bases(args.get(1, "block_bases"))?,
        alignment: u64::try_from(args.get(2, "alignment").map_or(Some(16), Value::int)?).ok()?,
    })
}

/// How it swizzles takes no memory. Without an order, that of the buffer is as good as any.
fn swizzled(args: &Args, order: usize) -> Option<SharedLayout> {
    let order = match args.get(order, "order") {
        None | Some(Value::None) => Vec::new(),
        Some(order) => order.extents()?,
    };
    Some(SharedLayout::Swizzled { order, cga: Vec::new() })
}

fn unswizzled(args: &Args) -> Option<SharedLayout> {
    let rank = u64::try_from(args.get(0, "rank")?.int()?).ok().filter(|rank| (1..=8).contains(rank))?;
    Some(SharedLayout::Swizzled { order: (0..rank).rev().collect(), cga: Vec::new() })
}

/// At the positions: the order of dimensions, the element type, whether fp4 is padded; then whether it is swizzled.
fn nvmma(args: &Args, [order, dtype, fp4_padded]: [usize; 3], swizzled: Option<usize>) -> Option<SharedLayout> {
    let shape = args.get(0, "shape")?.extents()?;
    let Value::Dtype(dtype) = args.get(dtype, "elemType")? else { return None };
    let truth = |position, name, otherwise| args.get(position, name).map_or(Some(otherwise), Value::truth);
    let transposed = match args.get(order, "order").and_then(Value::extents) {
        Some(order) => order.len() > 1 && order.first() == Some(&0),
        None => false,
    };
    let fp4_padded = truth(fp4_padded, "fp4Padded", false)?;
    let is_swizzled = swizzled.map_or(Some(true), |position| truth(position, "swizzled", true))?;
    Some(SharedLayout::Nvmma(nvmma_of(&shape, *dtype, transposed, fp4_padded, is_swizzled)))
}

fn nvmma_of(shape: &[u64], dtype: Dtype, transposed: bool, fp4_padded: bool, is_swizzled: bool) -> Nvmma {
    let element_bits = u64::from(dtype.bits);
    let swizzle = Nvmma::default_swizzle(shape, element_bits, transposed, fp4_padded, &Vec::new());
    let swizzle = if is_swizzled { swizzle } else { 0 };
    Nvmma { swizzle, element_bits, rank: shape.len(), transposed, fp4_padded, cga: Vec::new() }
}

fn bases(bases: Option<&Value>) -> Option<Vec<Vec<u64>>> {
    match bases {
        None | Some(Value::None) => Some(Vec::new()),
        Some(bases) => bases.elements()?.iter().map(Value::extents).collect(),
    }
}

/// Whether one CTA holds all of it: the lists of CTAs from a position on say so.
fn of_one_cta(args: &Args, first: usize) -> Option<()> {
    let is_one = |value: Option<&Value>| {
        value.is_none_or(|value| value.extents().is_some_and(|counts| counts.iter().all(|&count| count == 1)))
    };
    let all = is_one(args.get(first, "numCTAsPerCGA")) && is_one(args.get(first + 1, "numCTASplit"));
    all.then_some(())
}

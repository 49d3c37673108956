//! How the elements of a tile lie, where its type does not say so (`docs/reference/memory.md`, "Layout").

use crate::ir::{Attr, AttrName, BLayout, Call, Kernel, Layout, Operand, SLayout, TensorLayout, TileType, Type, VarId};
use crate::ops::{OutputSpace, View};
use crate::target::Space;

const FRACTAL: u32 = 512;
const ACC_FRACTAL: u32 = 1024;

pub(super) const ROW_MAJOR: Layout = flat(BLayout::RowMajor);
const ACC: Layout = boxed(BLayout::ColMajor, SLayout::RowMajor, ACC_FRACTAL);

const fn flat(blayout: BLayout) -> Layout {
    boxed(blayout, SLayout::NoneBox, FRACTAL)
}

const fn boxed(blayout: BLayout, slayout: SLayout, fractal: u32) -> Layout {
    Layout { blayout, slayout, fractal }
}

/// Writes a layout into a type; what goes without saying stays unsaid.
pub(super) fn set(tile: &mut TileType, layout: Layout) {
    tile.view.blayout = Some(layout.blayout);
    tile.view.slayout = Some(layout.slayout);
    tile.view.fractal = Some(layout.fractal);
    tile.canonicalize();
}

/// The layout that a call gives its result of type `result`.
pub(super) fn of_result(kernel: &Kernel, call: &Call, result: &TileType) -> Layout {
    let implicit = Layout::implicit(&result.shape, result.space);
    let operand = |arg: usize| tile_arg(kernel, call, arg);
    let inherited = |arg: usize| operand(arg).map_or(implicit, |tile| Layout { fractal: FRACTAL, ..tile.layout() });
    match call.op.op().view {
        View::Same(_) if is_moved(call, result) => implicit,
        View::Same(arg) | View::Full(arg) => inherited(arg as usize),
        View::CompareBits | View::Padded => inherited(0),
        View::RowMajor | View::Literal(_) | View::ColReduced => ROW_MAJOR,
        View::RowReduced => flat(BLayout::ColMajor),
        View::Accumulator | View::Accumulated | View::Matmul | View::Gemv => of_product(result, implicit),
        View::Assemble | View::ValidShape | View::Reinterpret => operand(0).map_or(implicit, TileType::layout),
        View::Slice => operand(0).filter(|tile| has_explicit_view(tile)).map_or(implicit, TileType::layout),
        View::LayoutsSwapped => operand(0).map_or(implicit, |tile| transposed(tile.layout())),
        View::Move => of_move(kernel, call, result),
        View::Load => of_load(kernel, call, result),
        View::Create => of_create(call, result),
        View::Extract if result.space == Some(Space::Left) => boxed(BLayout::RowMajor, SLayout::RowMajor, FRACTAL),
        View::Extract if result.space == Some(Space::Right) => Layout { blayout: BLayout::RowMajor, ..implicit },
        View::Extract | View::Reshape | View::GatherRows | View::SplitHalved | View::SplitDoubled => implicit,
        View::LoadRemote | View::Annotation | View::Nothing => result.layout(),
    }
}

/// Whether a loop that begins with the result has put it elsewhere than the operation does.
fn is_moved(call: &Call, result: &TileType) -> bool {
    matches!(call.op.op().output, OutputSpace::Fixed(space) if result.space.is_some_and(|moved| moved != space))
}

/// What goes without saying in Acc stays unsaid for a product that the compiler puts elsewhere.
fn of_product(result: &TileType, implicit: Layout) -> Layout {
    match result.space {
        Some(space) if space != Space::Acc && is_filled(result) => implicit,
        _ => ACC,
    }
}

/// A space with boxes of its own dictates the layout; a flat one keeps the source's.
fn of_move(kernel: &Kernel, call: &Call, result: &TileType) -> Layout {
    let mut layout = Layout::implicit(&result.shape, result.space);
    if layout == Layout::implicit(&result.shape, None)
        && let Some(source) = tile_arg(kernel, call, 0).map(TileType::layout)
    {
        layout = Layout { fractal: layout.fractal, ..source };
    }
    if result.space == Some(Space::Right) {
        layout.blayout = BLayout::RowMajor;
    }
    if let Some(Attr::BLayout(blayout)) = call.attr(AttrName::BLayout) {
        layout.blayout = *blayout;
    }
    if let Some(Attr::SLayout(slayout)) = call.attr(AttrName::SLayout) {
        layout.slayout = *slayout;
    }
    layout
}

fn of_load(kernel: &Kernel, call: &Call, result: &TileType) -> Layout {
    if result.space != Some(Space::Mat) {
        return match result.shape.last() {
            Some(1) => flat(BLayout::ColMajor),
            _ => ROW_MAJOR,
        };
    }
    let tensor = call.args.first().and_then(Operand::var).and_then(|var| kernel.tensor(var));
    if let Some(layout) = tensor.and_then(|tensor| tensor.layout.of_scales()) {
        return layout;
    }
    let is_transposed =
        tensor.is_some_and(|tensor| tensor.layout == TensorLayout::Dn) || call.flag(AttrName::Transpose);
    let rows = if is_transposed { result.shape.get(1) } else { result.shape.first() };
    if result.shape.len() == 2 && rows == Some(&1) {
        return ROW_MAJOR;
    }
    let layout = Layout::implicit(&result.shape, result.space);
    if is_transposed { transposed(layout) } else { layout }
}

fn of_create(call: &Call, result: &TileType) -> Layout {
    if call.flag(AttrName::FlatLayout) {
        return ROW_MAJOR;
    }
    if call.flag(AttrName::Transpose) {
        return boxed(BLayout::RowMajor, SLayout::ColMajor, FRACTAL);
    }
    Layout::implicit(&result.shape, result.space)
}

fn transposed(layout: Layout) -> Layout {
    let blayout = match layout.blayout {
        BLayout::RowMajor => BLayout::ColMajor,
        BLayout::ColMajor => BLayout::RowMajor,
    };
    let slayout = match layout.slayout {
        SLayout::NoneBox => SLayout::NoneBox,
        SLayout::RowMajor => SLayout::ColMajor,
        SLayout::ColMajor => SLayout::RowMajor,
    };
    Layout { blayout, slayout, fractal: layout.fractal }
}

/// The type of a tile operand.
pub(super) fn tile_arg<'k>(kernel: &'k Kernel, call: &Call, arg: usize) -> Option<&'k TileType> {
    kernel.tile(call.args.get(arg)?.var()?)
}

/// Works out again how the result of a call lies, after its operands have changed.
pub(super) fn refresh(kernel: &mut Kernel, var: VarId, call: &Call) {
    let Some(tile) = kernel.tile(var) else { return };
    let layout = of_result(kernel, call, tile);
    if let Type::Tile(tile) = &mut kernel.var_mut(var).ty {
        set(tile, layout);
    }
}

/// Whether the author wrote how the tile lies.
pub(super) fn is_written(tile: &TileType) -> bool {
    tile.view.blayout.is_some() || tile.view.slayout.is_some() || tile.view.fractal.is_some()
}

/// Whether a type says more than its shape and space do.
fn has_explicit_view(tile: &TileType) -> bool {
    !is_filled(tile) || is_written(tile) || tile.view.pad.is_some()
}

/// All of the tile holds data.
fn is_filled(tile: &TileType) -> bool {
    tile.view.valid_shape.as_ref().is_none_or(|extents| {
        extents.len() == tile.shape.len()
            && extents.iter().zip(&tile.shape).all(|(extent, size)| extent.as_int() == i64::try_from(*size).ok())
    })
}

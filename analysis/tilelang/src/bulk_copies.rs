//! Which copies the Tensor Memory Accelerator can do (docs/reference/tilelang.md, "5. When a copy uses the Tensor Memory Accelerator").

use std::collections::BTreeSet;

use crate::program::{Buffer, Dtype, Extent, Kind, Launch, Op, Region, Scope};
use crate::steps::Numbered;
use crate::target::Target;

/// A copy between global and shared memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer<'p> {
    pub global: &'p Region,
    pub shared: &'p Region,
}

/// What it moves in must be a multiple of, bytes.
const GRANULE: u64 = 16;

/// Global to shared. Whether it is one depends on where it stands, too.
pub(crate) fn load<'p>(launch: &'p Launch, op: &'p Op, target: Target) -> Option<Transfer<'p>> {
    let (global, shared) = ends(op)?;
    // `T.tma_copy` is one whatever its rows are; where the hardware cannot do it, the compiler says so.
    let checks_rows = op.kind != Kind::TmaCopy;
    bulk(launch, Transfer { global, shared }, checks_rows).filter(|_| target.has_bulk_copies())
}

/// Shared to global.
pub(crate) fn store<'p>(launch: &'p Launch, op: &'p Op, target: Target) -> Option<Transfer<'p>> {
    let (shared, global) = ends(op)?;
    bulk(launch, Transfer { global, shared }, true).filter(|_| target.has_bulk_copies())
}

/// Whether a statement is a bulk copy where it stands. `loads`: those that are because warps are specialised.
pub(crate) fn is_started(launch: &Launch, numbered: Numbered, loads: &BTreeSet<usize>, target: Target) -> bool {
    let Numbered { number, op } = numbered;
    let is_asked_for = op.kind == Kind::TmaCopy;
    load(launch, op, target).is_some() && (is_asked_for || loads.contains(&number))
        || store(launch, op, target).is_some() && (is_asked_for || !launch.options.is_tma_off)
}

/// Source and destination.
fn ends(op: &Op) -> Option<(&Region, &Region)> {
    match op.kind {
        Kind::Copy | Kind::TmaCopy => op.reads.first().zip(op.writes.first()),
        _ => None,
    }
}

fn bulk<'p>(launch: &Launch, transfer: Transfer<'p>, checks_rows: bool) -> Option<Transfer<'p>> {
    let (tensor, tile) = (launch.buffer(transfer.global.buffer), launch.buffer(transfer.shared.buffer));
    let is_between = tensor.scope == Scope::Global && matches!(tile.scope, Scope::Shared | Scope::StaticShared);
    let row = transfer.global.extents.as_ref()?.last()?;
    let is_possible = is_between
        && (tensor.dtype == tile.dtype || is_unpacked(&tensor.dtype, &tile.dtype))
        && (!checks_rows || may_be_multiple(tensor, std::slice::from_ref(row)))
        && (1..tensor.shape.len()).all(|dim| may_be_multiple(tensor, &tensor.shape[dim..]));
    is_possible.then_some(transfer)
}

/// Elements of four bits, each in a byte of its own in shared memory.
fn is_unpacked(tensor: &Dtype, tile: &Dtype) -> bool {
    &*tensor.name == "float4_e2m1fn" && tile.name.contains("float4_e2m1_unpacked")
}

/// Whether so many elements may be a multiple of what the hardware moves: only a proof of the contrary forbids it.
fn may_be_multiple(of: &Buffer, extents: &[Extent]) -> bool {
    let known: Option<u128> =
        extents.iter().try_fold(1_u128, |product, extent| product.checked_mul(u128::from(extent.known()?)));
    let bits = known.and_then(|elements| elements.checked_mul(u128::from(of.dtype.bits)));
    bits.is_none_or(|bits| bits % u128::from(GRANULE * 8) == 0)
}

/// Whether the region of a tensor is one stretch of memory: all dimensions but one are whole or single.
pub(crate) fn is_contiguous(launch: &Launch, global: &Region) -> bool {
    let tensor = launch.buffer(global.buffer);
    let Some(extents) = &global.extents else { return false };
    let mut is_whole = true;
    for (extent, size) in extents.iter().zip(&tensor.shape).rev() {
        if !is_whole && *extent != Extent::Known(1) {
            return false;
        }
        is_whole = is_whole && extent == size;
    }
    true
}

//! What kernels of TLX have more in the editor: storage alias specs, and the buffers in them.

mod actions;
#[cfg(test)]
mod constructs;
mod hover;
mod lowered;
mod map;
mod names;

use tilefit_gpu::device::Space;
use tilefit_gpu::plan::{Occupant, Placed};
use tilefit_gpu::tlx::placed::PlacedBuffer;
use tilefit_gpu::tlx::{Backing, BufferId, SpecId};

use crate::db::{TlxPart, TracedKernel};

use super::extent::{Extent, Site};
use super::language::Placement;
use super::plan_view::{AllocationView, SpecView, TilePlan};
use super::{Context, PlacedUnit, gpu};

pub(super) use actions::actions;
#[cfg(test)]
pub(super) use constructs::constructs;
pub(super) use hover::hover;
pub(super) use lowered::lowered_ir;
pub(super) use map::drawing;
pub(super) use names::{described, sharing};

/// A kernel of which the allocator says neither where anything is nor how much that is.
pub(super) fn placed_by_specs(traced: &TracedKernel) -> Option<&TlxPart> {
    let plan = &traced.planned.plan;
    let is_placed = plan.total(Space::Shared).high.is_some() || plan.placed.iter().any(|it| it.offset.is_some());
    traced.tlx.as_ref().filter(|tlx| !is_placed || tlx.is_by_seed())
}

/// Specs, then buffers.
pub(super) fn placements<'k>(traced: &'k TracedKernel, tlx: &'k TlxPart) -> impl Iterator<Item = Placement<'k>> {
    let specs = tlx.kernel.spec_ids().map(move |id| of_spec(traced, tlx, id));
    specs.chain(tlx.kernel.buffer_ids().map(move |id| of_buffer(traced, tlx, id)))
}

/// The buffers to which the allocator gives nothing.
pub(super) fn tiles(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    traced: &TracedKernel,
    tlx: &TlxPart,
) -> Vec<TilePlan> {
    tlx.kernel.buffer_ids().filter_map(|id| unplaced(context, placed, traced, tlx, id)).collect()
}

/// A buffer that lies within a spec or another buffer, or is unused.
fn unplaced(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    traced: &TracedKernel,
    tlx: &TlxPart,
    id: BufferId,
) -> Option<TilePlan> {
    let buffer = tlx.kernel.buffer(id);
    let tile = tile(context, placed, tlx, id)?;
    if tlx.is_by_seed() {
        return Some(tile);
    }
    if !matches!(buffer.backing, Backing::Own) {
        return Some(TilePlan { kind: "view", ..tile });
    }
    let is_placed = |it: &Placed| match it.what {
        Occupant::Buffer(id) => traced.program.buffers[id.0 as usize].at.call == buffer.at,
        _ => false,
    };
    let is_known = traced.planned.plan.total(Space::Shared).high.is_some();
    let kind = if is_known { "unused" } else { "def" };
    (!traced.planned.plan.placed.iter().any(is_placed)).then_some(TilePlan { kind, ..tile })
}

fn tile(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxPart, id: BufferId) -> Option<TilePlan> {
    let buffer = tlx.kernel.buffer(id);
    let place = tlx.plan.place(id)?;
    let line = context.line(placed.range(buffer.at).start);
    let backing = match buffer.backing {
        Backing::Spec(spec) => Some(tlx.kernel.spec(spec).name.clone()),
        Backing::Alias(base) => Some(tlx.kernel.buffer(base).name.clone()),
        Backing::Own | Backing::Unknown(_) => None,
    };
    Some(TilePlan {
        copy: None,
        name: buffer.name.clone(),
        label: buffer.name.clone(),
        line,
        space: Some(place.sized.storage.name()),
        shape: [place.sized.num].into_iter().chain(place.sized.shape.iter().copied()).collect(),
        dtype: place.sized.dtype.name,
        bytes: place.sized.bytes().saturating_mul(place.sized.num),
        at_least: place.sized.bytes().saturating_mul(place.sized.num),
        buffer: backing,
        address: place.placement.map(|placement| placement.offset),
        first_line: line,
        last_line: line,
        inserted: false,
        kind: "def",
    })
}

pub(super) fn specs(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxPart) -> Vec<SpecView> {
    tlx.kernel.spec_ids().map(|id| spec_view(context, placed, tlx, id)).collect()
}

fn spec_view(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxPart, id: SpecId) -> SpecView {
    let spec = tlx.kernel.spec(id);
    let plan = tlx.plan.spec(id);
    let allocation = |user: BufferId| {
        let buffer = tlx.kernel.buffer(user);
        let place = tlx.plan.place(user);
        let placement = place.and_then(|place| place.placement);
        let rewriting = place.map(|place| place.rewriting);
        AllocationView {
            name: buffer.name.clone(),
            line: context.line(placed.range(buffer.at).start),
            num: place.map(|place| place.sized.num),
            unit_size: place.map(|place| place.sized.unit),
            offset: placement.map(|placement| placement.offset),
            stride: placement.map(|placement| placement.stride),
            scale: placement.and(rewriting).map(|rewriting| rewriting.scale),
            offset_slots: placement.and(rewriting).map(|rewriting| rewriting.offset_slots),
            new_num: rewriting.map(|rewriting| rewriting.new_num),
            ranges: place.into_iter().flat_map(PlacedBuffer::ranges).map(|(from, to)| [from, to]).collect(),
        }
    };
    SpecView {
        name: spec.name.clone(),
        line: context.line(placed.range(spec.at).start),
        storage: spec.storage.as_ref().ok().map(|storage| storage.name()),
        size: plan.and_then(|plan| plan.size.as_ref().ok()).map(|size| size.bytes),
        extent: plan.and_then(|plan| plan.extent.as_ref().ok()).copied(),
        allocations: tlx.kernel.users(id).map(allocation).collect(),
    }
}

fn of_spec<'k>(traced: &TracedKernel, tlx: &'k TlxPart, id: SpecId) -> Placement<'k> {
    let spec = tlx.kernel.spec(id);
    let extent = || {
        if let Some(extent) = gpu::extent(traced, spec.name_at) {
            return Some(extent);
        }
        let size = *tlx.plan.spec(id)?.extent.as_ref().ok()?;
        let unit = tlx.plan.units(*spec.storage.as_ref().ok()?);
        Some(Extent { site: Site::Allocation, size, unit, times: 1 })
    };
    Placement { name: &spec.name, at: spec.name_at, extent: extent() }
}

fn of_buffer<'k>(traced: &TracedKernel, tlx: &'k TlxPart, id: BufferId) -> Placement<'k> {
    let buffer = tlx.kernel.buffer(id);
    let extent = tlx.plan.place(id).map(|place| {
        let (site, size) = match place.placement {
            Some(placement) => (Site::Within { offset: placement.offset }, place.sized.unit),
            None => (Site::Allocation, place.sized.allocated()),
        };
        if place.placement.is_none()
            && let Some(extent) = gpu::extent(traced, buffer.name_at)
        {
            return extent;
        }
        Extent { site, size, unit: tlx.plan.units(place.sized.storage), times: 1 }
    });
    Placement { name: &buffer.name, at: buffer.name_at, extent }
}

//! What may be said of a kernel that is modelled in part: no error may rest on what is not known.

use tilefit_python::diagnostics::Code;

use super::{Fit, Plan, PlannedTile};
use crate::ir::KernelKind;
use crate::target::Space;

/// Takes back what a plan says of memory that is exceeded, unless the author's own tiles prove it: their sizes and uses are
/// in the text, whatever the compiler adds. Of a kernel for both cores that is not divided here they prove nothing: what neither core
/// needs goes away when the compiler divides it.
pub fn downgrade_unproved(plan: &mut Plan) {
    if plan.notes.is_empty() {
        return;
    }
    let is_whole = plan.kind != KernelKind::InCore;
    let exceeded = |space: Space, capacity: Option<u64>| {
        is_whole && capacity.is_some_and(|capacity| live_by_author(plan, space) > capacity)
    };
    let over = plan.spaces.iter().filter(|space| space.capacity.is_some_and(|capacity| space.used > capacity));
    let (proved, unproved): (Vec<Space>, Vec<Space>) = over
        .map(|space| space.space)
        .partition(|space| exceeded(*space, plan.space(*space).and_then(|it| it.capacity)));
    for space in plan.spaces.iter_mut().filter(|space| unproved.contains(&space.space)) {
        space.fit = Fit::Undecided;
        space.trouble = None;
        space.searching = false;
    }
    if !unproved.is_empty() {
        plan.open.clear();
    }
    plan.findings.retain(|finding| match (finding.code, finding.space) {
        (Code::CapacityExceeded | Code::FitsOnlyPacked, Some(space)) => !unproved.iter().any(|it| it.name() == space),
        // That a search found nothing says as much as the memories do that are too small.
        (Code::CapacityExceeded, None) => !proved.is_empty(),
        _ => true,
    });
}

/// The most bytes that the author's tiles take at one statement; tiles of one buffer count once.
fn live_by_author(plan: &Plan, space: Space) -> u64 {
    let is_authors =
        |tile: &&PlannedTile| tile.space == Some(space) && tile.inserted.is_none() && tile.buffer.is_some();
    let tiles: Vec<&PlannedTile> = plan.tiles.iter().filter(is_authors).collect();
    let live_at = |at: &PlannedTile| {
        let mut largest = rustc_hash::FxHashMap::default();
        for tile in tiles.iter().filter(|tile| tile.first <= at.first && at.first < tile.last) {
            let bytes = largest.entry(tile.buffer).or_insert(0);
            *bytes = tile.bytes.max(*bytes);
        }
        largest.values().fold(0u64, |sum, bytes| sum.saturating_add(*bytes))
    };
    tiles.iter().map(|tile| live_at(tile)).max().unwrap_or(0)
}

//! The plan that printed IR shows: its own addresses where it has them, else those that AllocateMemoryAddr will give.

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Finding, Related, Status};

use super::{Allocation, Offsets, PrintedKernel, Tile};
use crate::ir::{KernelKind, Role, TileType, TileView, VarId};
use crate::memory::sizes::{ALIGNMENT, aligned, tile_bytes};
use crate::memory::{Buffer, BufferId, Fit, Order, Plan, PlannedTile, SpaceUse, Trouble, Witness};
use crate::target::{Planner, Space, Target};
use tilefit_packing::{Budget, Goal, Interval, Lifetime, Problem, Spec, Verdict};

/// Nodes of exact search for another placement of one space.
const NODES: u64 = 4_000;

pub fn plan(kernel: &PrintedKernel, offsets: Offsets, target: Target) -> Plan {
    let sizes: Vec<u64> = kernel.tiles.iter().map(|tile| bytes(tile, target)).collect();
    let buffers = buffers(kernel, offsets, &sizes);
    let tiles = kernel.tiles.iter().zip(&sizes).enumerate();
    let tiles: Vec<PlannedTile> = tiles.map(|(i, (tile, &bytes))| planned(i, tile, bytes, offsets, &buffers)).collect();
    let mut plan = Plan {
        kernel: kernel.name.clone(),
        kind: KernelKind::InCore,
        origin: kernel.origin,
        name_origin: kernel.name_origin,
        target,
        planner: Planner::Sequential,
        status: if kernel.notes.is_empty() { Status::Exact } else { Status::Partial },
        notes: kernel.notes.clone(),
        uncompared: Vec::new(),
        assumed: Vec::new(),
        spaces: Vec::new(),
        statements: kernel.statements.clone(),
        findings: Vec::new(),
        open: Vec::new(),
        tiles,
        buffers,
    };
    plan.spaces = Space::ON_CHIP.into_iter().filter_map(|space| space_use(&plan, space)).collect();
    let exceeded = plan.spaces.iter().filter_map(|space| exceeded(&plan, space));
    plan.findings = exceeded.chain(overlaps(kernel, &plan)).collect();
    plan
}

fn bytes(tile: &Tile, target: Target) -> u64 {
    let (shape, view) = (tile.shape.clone(), TileView::default());
    let ty = TileType { shape, dtype: tile.dtype, space: tile.space, view, binding: None };
    tile_bytes(&ty, tile.space.unwrap_or(Space::Vec), target).unwrap_or(0)
}

fn buffers(kernel: &PrintedKernel, offsets: Offsets, sizes: &[u64]) -> Vec<Buffer> {
    let mut buffers: Vec<Buffer> = Vec::new();
    for (index, allocation) in kernel.allocations.iter().enumerate() {
        let members = || kernel.tiles.iter().zip(sizes).filter(move |(tile, _)| tile.allocation == Some(index));
        let largest = members().map(|(_, &bytes)| bytes).max().unwrap_or(0);
        let start = members().filter_map(|(tile, _)| tile.offset).min();
        buffers.push(Buffer {
            name: allocation.name.clone(),
            space: allocation.space.unwrap_or(Space::Vec),
            size: allocation.size.unwrap_or(largest),
            address: allocation.address.or(start.filter(|_| offsets == Offsets::Absolute)),
            declared: allocation.pinned,
            live: members().map(|(tile, _)| (tile.first, tile.last)).collect(),
        });
    }
    if buffers.iter().all(|buffer| buffer.address.is_none()) {
        assign_addresses(&kernel.allocations, &mut buffers);
    }
    buffers
}

/// As AllocateMemoryAddr: one range after the other in each space, in the order of the ids, or of the names as text.
fn assign_addresses(allocations: &[Allocation], buffers: &mut [Buffer]) {
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by(|&a, &b| (allocations[a].id, &buffers[a].name).cmp(&(allocations[b].id, &buffers[b].name)));
    for space in Space::ON_CHIP {
        let mut next = 0;
        for &index in order.iter().filter(|&&index| buffers[index].space == space).collect::<Vec<_>>() {
            buffers[index].address = Some(next);
            next = aligned(next.saturating_add(buffers[index].size));
        }
    }
}

fn planned(index: usize, tile: &Tile, bytes: u64, offsets: Offsets, buffers: &[Buffer]) -> PlannedTile {
    let start = tile.allocation.and_then(|allocation| buffers.get(allocation)).and_then(|buffer| buffer.address);
    let address = match (tile.offset, offsets) {
        (None, _) => start,
        (Some(0), _) => start,
        (Some(offset), Offsets::Absolute) => Some(offset),
        (Some(offset), Offsets::Relative) => start.map(|start| start.saturating_add(offset)),
    };
    PlannedTile {
        var: VarId(index as u32),
        name: tile.name.clone(),
        label: tile.name.clone(),
        op: "",
        role: Role::Def,
        inserted: None,
        origin: tile.origin,
        space: tile.space,
        shape: tile.shape.clone(),
        dtype: tile.dtype,
        bytes,
        buffer: tile.allocation.map(|allocation| BufferId(allocation as u32)),
        address: if tile.space == Some(Space::Ddr) { None } else { address },
        dynamic_offset: tile.offset.is_none() && tile.allocation.is_some(),
        first: tile.first,
        last: tile.last,
    }
}

fn space_use(plan: &Plan, space: Space) -> Option<SpaceUse> {
    let here: Vec<&Buffer> = plan.buffers.iter().filter(|buffer| buffer.space == space).collect();
    let end = |buffer: &&Buffer| Some(buffer.address?.saturating_add(buffer.size));
    let used = aligned(here.iter().filter_map(end).max()?);
    let live_at = |at: Order| -> u64 {
        let live = here.iter().filter(|buffer| buffer.live.iter().any(|&range| is_live(range, at)));
        live.map(|buffer| buffer.size).fold(0, u64::saturating_add)
    };
    let starts = here.iter().flat_map(|buffer| buffer.live.iter().map(|&(first, _)| first));
    let peak_at = starts.max_by_key(|&at| (live_at(at), std::cmp::Reverse(at))).unwrap_or_default();
    let capacity = plan.target.capacity(space);
    let peak = live_at(peak_at).min(used);
    let (fit, best, lower_bound) = match capacity.filter(|&capacity| used > capacity) {
        Some(capacity) => other_placements(&here, capacity, used),
        None => (Fit::Fits, used, peak),
    };
    let mut witness = Vec::new();
    if fit != Fit::Fits {
        let live = |tile: &&PlannedTile| tile.space == Some(space) && is_live((tile.first, tile.last), peak_at);
        let named = plan.tiles.iter().filter(live);
        witness.extend(named.map(|tile| Witness {
            name: tile.name.clone(),
            shape: tile.shape.clone(),
            bytes: tile.bytes,
            at: tile.origin,
        }));
        witness.sort_by_key(|tile| std::cmp::Reverse(tile.bytes));
    }
    let overshoot = if fit == Fit::OverAtAnInstant { peak.saturating_sub(capacity.unwrap_or(peak)) } else { 0 };
    let trouble = Trouble { at: peak_at, live: witness, overshoot, ..Trouble::default() };
    Some(SpaceUse {
        space,
        used,
        capacity,
        peak,
        peak_at,
        reserved: 0,
        fit,
        best,
        lower_bound,
        trouble: (fit != Fit::Fits).then(|| Box::new(trouble)),
        relaxed: Vec::new(),
        crossings: None,
        searching: false,
    })
}

/// Where a statement reads something for the last time, its result may take the place.
fn is_live((first, last): (Order, Order), at: Order) -> bool {
    first == at || (first < at && at < last)
}

/// Whether the printed buffers fit at other addresses, the end of the best placement known, and how low any can be.
fn other_placements(buffers: &[&Buffer], capacity: u64, used: u64) -> (Fit, u64, u64) {
    let needed = |&(first, last): &(Order, Order)| {
        let start = 2 * u64::from(first.0) + 1;
        Interval::new(start, (2 * u64::from(last.0) + 1).max(start + 1))
    };
    let buffers = buffers.iter().filter(|buffer| buffer.size > 0 && !buffer.live.is_empty());
    let buffers = buffers.enumerate().map(|(index, buffer)| tilefit_packing::Buffer {
        id: index.to_string(),
        size: aligned(buffer.size),
        lifetime: Lifetime::union(buffer.live.iter().map(needed)),
        align: ALIGNMENT,
        fixed: None,
    });
    let spec = Spec { capacity, buffers: buffers.collect(), reserved: Vec::new(), no_alias: Vec::new() };
    let Ok(problem) = Problem::new(spec) else { return (Fit::Undecided, used, 0) };
    let outcome = tilefit_packing::pack(&problem, &Budget::new(Goal::Fit, NODES));
    let fit = match outcome.verdict {
        Verdict::Fits { .. } => Fit::Fits,
        Verdict::OverCapacity { .. } => Fit::OverAtAnInstant,
        Verdict::Fragmented => Fit::Unpackable,
        Verdict::Undecided => Fit::Undecided,
    };
    (fit, outcome.placement.height.min(used), outcome.lower_bound.min(used))
}

fn exceeded(plan: &Plan, space: &SpaceUse) -> Option<Finding> {
    let capacity = space.capacity.filter(|&capacity| space.used > capacity)?;
    let end = |tile: &&PlannedTile| tile.address.unwrap_or(0).saturating_add(tile.bytes);
    let highest = plan.tiles.iter().filter(|tile| tile.space == Some(space.space)).max_by_key(end)?;
    let verdict = match space.fit {
        Fit::Fits | Fit::Relaxed => format!(". At other addresses the buffers fit into {} bytes", space.best),
        Fit::OverAtAnInstant => format!(". {} bytes are live at once, so no placement fits", space.peak),
        Fit::Unpackable => ". No placement of these buffers fits".to_owned(),
        Fit::Undecided => String::new(),
    };
    let message = format!(
        "{} buffer usage ({} bytes) exceeds platform limit ({capacity} bytes), as printed; `{}` ends highest{verdict}",
        space.space, space.used, highest.name
    );
    Some(Finding { space: Some(space.space.name()), ..Finding::new(Code::CapacityExceeded, highest.origin, message) })
}

/// Tiles of different allocations that share bytes while both live.
fn overlaps(kernel: &PrintedKernel, plan: &Plan) -> Vec<Finding> {
    let mut findings = Vec::new();
    let placed = |tile: &PlannedTile| Some((tile.space?, tile.address?, tile.address?.saturating_add(tile.bytes)));
    let mut by_start: Vec<usize> = (0..plan.tiles.len()).filter(|&i| placed(&plan.tiles[i]).is_some()).collect();
    by_start.sort_by_key(|&i| placed(&plan.tiles[i]));
    for (n, &i) in by_start.iter().enumerate() {
        let Some((space, _, end)) = placed(&plan.tiles[i]) else { continue };
        for &j in &by_start[n + 1..] {
            let Some((other_space, other_start, _)) = placed(&plan.tiles[j]) else { continue };
            if other_space != space || other_start >= end {
                break;
            }
            if clash(kernel, i, j) {
                findings.push(overlap(plan, i.min(j), i.max(j)));
            }
        }
    }
    findings
}

/// Both live at once, on one path, in memory that is meant to be different.
fn clash(kernel: &PrintedKernel, i: usize, j: usize) -> bool {
    let (a, b) = (&kernel.tiles[i], &kernel.tiles[j]);
    let known = a.allocation.is_some() && b.allocation.is_some() && a.offset.is_some() && b.offset.is_some();
    let excluded = a.branches.iter().any(|&(number, side)| b.branches.contains(&(number, !side)));
    known && !excluded && a.allocation != b.allocation && a.first < b.last && b.first < a.last
}

fn overlap(plan: &Plan, earlier: usize, later: usize) -> Finding {
    let (earlier, later) = (&plan.tiles[earlier], &plan.tiles[later]);
    let place = |tile: &PlannedTile| {
        let start = tile.address.unwrap_or(0);
        format!("{start:#x} – {:#x}", start.saturating_add(tile.bytes))
    };
    let message = format!(
        "`{}` ({}) overlaps `{}` ({}), which is still in use; give one of them another address",
        later.name,
        place(later),
        earlier.name,
        place(earlier)
    );
    let related = vec![Related { at: earlier.origin, message: format!("`{}` is at {}", earlier.name, place(earlier)) }];
    Finding::new(Code::PrintedOverlap, later.origin, message).with_related(related)
}

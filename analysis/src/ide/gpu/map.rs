//! The map of a kernel of a GPU: who has which addresses of shared and tensor memory, from the first operation to the last.

use std::collections::BTreeSet;

use tilefit_gpu::device::Space;
use tilefit_gpu::liveness::LiveRange;
use tilefit_gpu::plan::Placed;

use crate::db::TracedKernel;
use crate::ide::memory_map::steps::{Change, Moment, Time};
use crate::ide::memory_map::{BoxMap, BufferKind, BufferMap, Down, Drawing, SpaceMap, TileMap, without};
use crate::ide::{Context, PlacedUnit};

use super::occupants::{self, Occupied, occupied};

/// A column is 4 bytes in each of 128 lanes.
const COLUMN_BYTES: u64 = 512;

pub(in crate::ide) fn drawing(context: &Context<'_>, placed: &PlacedUnit<'_>, traced: &TracedKernel) -> Drawing {
    let last = traced.planned.sites.len() as u32;
    let drawn = traced.planned.plan.placed.iter().filter(|it| it.offset.is_some());
    let moments: BTreeSet<u32> = drawn.flat_map(|it| [it.live.start, it.live.end.min(last)]).collect();
    let line = |moment: u32| {
        let site = traced.planned.sites.get(moment as usize);
        site.map_or(1, |site| context.line(placed.range(site.call).start))
    };
    let moment = |at: u32| Moment { at, line: line(at), copies: &[] };
    let moments: Vec<Moment<'_>> = moments.into_iter().map(moment).collect();
    let time = Time::of(&moments, changes(traced, last));
    let writer = Writer { context, placed, traced, time: &time };
    let spaces = spaces(traced).map(|space| writer.space(space)).collect();
    Drawing { down: Down::Time, steps: time.into_steps(), spaces }
}

/// The memories to draw: all of a GPU, of an NPU those that something lies in.
fn spaces(traced: &TracedKernel) -> impl Iterator<Item = Space> {
    let is_used = |space| traced.planned.plan.placed.iter().any(|it| occupants::space(traced, it) == space);
    let memories = traced.arch.memories().map(|(space, _)| space);
    memories.filter(move |&space| !traced.arch.is_npu() || is_used(space))
}

/// When buffers come to addresses and leave them.
fn changes(traced: &TracedKernel, last: u32) -> Vec<Change> {
    let mut changes = Vec::new();
    for of in &traced.planned.plan.placed {
        let Some(address) = of.offset else { continue };
        let space = occupants::space(traced, of).name();
        let change = |at, comes| Change { at, comes, space, addresses: [address, address.saturating_add(of.high)] };
        changes.extend([change(of.live.start, true), change(of.live.end.min(last), false)]);
    }
    changes
}

struct Writer<'a, 'db> {
    context: &'a Context<'db>,
    placed: &'a PlacedUnit<'db>,
    traced: &'a TracedKernel,
    time: &'a Time,
}

impl Writer<'_, '_> {
    fn space(&self, space: Space) -> SpaceMap {
        let (total, capacity) = (self.traced.planned.plan.total(space), self.traced.capacity(space));
        let here = self.traced.planned.plan.placed.iter().filter(|it| occupants::space(self.traced, it) == space);
        let here: Vec<&Placed> = here.collect();
        let all = here.len();
        let here: Vec<&Placed> = here.into_iter().filter(|it| it.offset.is_some()).collect();
        let mut buffers: Vec<BufferMap> = here.iter().filter_map(|it| self.buffer(it, capacity)).collect();
        buffers.sort_by_key(|buffer| (buffer.address, buffer.size));
        let taken = buffers.iter().map(|buffer| [buffer.address, buffer.address.saturating_add(buffer.size)]).collect();
        let (peak, at) = peak(&here);
        // Else it is not known what there is besides.
        let is_whole = all == here.len() && total.exactly().is_some();
        SpaceMap {
            name: space.name(),
            unit: space.unit(),
            unit_bytes: if space == Space::Tensor { COLUMN_BYTES } else { 1 },
            capacity: Some(capacity),
            used: total.low,
            at_least: total.exactly().is_none(),
            reserved: 0,
            unplaced: all - here.len(),
            peak,
            peak_row: (!buffers.is_empty()).then(|| self.time.row(at)),
            waste: if is_whole { total.low.saturating_sub(peak) } else { 0 },
            verdict: None,
            free: without(0, capacity, taken),
            buffers,
        }
    }

    fn buffer(&self, of: &Placed, capacity: u64) -> Option<BufferMap> {
        let address = of.offset?;
        let end = address.saturating_add(of.high);
        let Occupied { name, range, shape, dtype, inserted, .. } = occupied(self.context, self.placed, self.traced, of);
        let lines = |moment: u32| {
            self.traced
                .planned
                .sites
                .get(moment as usize)
                .map(|site| self.context.line(self.placed.range(site.call).start))
        };
        let LiveRange { start, end: behind } = of.live;
        let last = behind.min(self.traced.planned.sites.len() as u32);
        let first_line = lines(start).unwrap_or(1);
        let rows = self.time.rows(start, last);
        let tile = TileMap {
            name: name.clone(),
            label: name.clone(),
            copy: None,
            range,
            first_line,
            last_line: lines(last.saturating_sub(1)).unwrap_or(first_line),
            shape,
            dtype,
            size: of.high,
            inserted,
        };
        Some(BufferMap {
            name,
            kind: BufferKind::Allocation,
            address,
            size: of.high,
            overflow: end.saturating_sub(capacity).min(of.high),
            boxes: vec![BoxMap {
                first_row: rows.start,
                end_row: rows.end,
                ranges: vec![[address, end]],
                waste: Vec::new(),
                tiles: vec![tile],
            }],
        })
    }
}

/// The most that is live at once, and when.
pub(in crate::ide) fn peak(placed: &[&Placed]) -> (u64, u32) {
    let starts: BTreeSet<u32> = placed.iter().map(|it| it.live.start).collect();
    let live_at = |&at: &u32| {
        let live = placed.iter().filter(|it| it.live.start <= at && at < it.live.end);
        (live.fold(0, |all: u64, it| all.saturating_add(it.low)), at)
    };
    let at_each = starts.iter().map(live_at);
    at_each.max_by_key(|&(bytes, at)| (bytes, std::cmp::Reverse(at))).unwrap_or((0, 0))
}

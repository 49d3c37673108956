//! The map of a kernel of a GPU: who has which addresses of shared and tensor memory, from the first operation to the last.

use std::collections::BTreeSet;

use crate::db::TracedKernel;
use crate::ide::memory_map::{BoxMap, BufferKind, BufferMap, Down, Drawing, SpaceMap, TileMap, without};
use crate::ide::{Context, PlacedUnit};
use crate::triton::liveness::LiveRange;
use crate::triton::plan::Placed;

use super::occupants::{Occupied, is_tensor, occupied};

/// A column is 4 bytes in each of 128 lanes.
const COLUMN_BYTES: u64 = 512;

pub(in crate::ide) fn drawing(context: &Context<'_>, placed: &PlacedUnit<'_>, traced: &TracedKernel) -> Drawing {
    let last = traced.planned.sites.len() as u32;
    let moments: BTreeSet<u32> =
        traced.planned.plan.placed.iter().flat_map(|it| [it.live.start, it.live.end.min(last)]).collect();
    let moments: Vec<u32> = moments.into_iter().collect();
    let line = |&moment: &u32| {
        let site = traced.planned.sites.get(moment as usize);
        site.map_or(1, |site| context.line(placed.range(site.call).start))
    };
    let rows = moments.iter().take(moments.len().saturating_sub(1)).map(line).collect();
    let writer = Writer { context, placed, traced, moments };
    let mut spaces = vec![writer.space(false)];
    if traced.arch.tmem() > 0 {
        spaces.push(writer.space(true));
    }
    Drawing { down: Down::Time, rows, spaces }
}

struct Writer<'a, 'db> {
    context: &'a Context<'db>,
    placed: &'a PlacedUnit<'db>,
    traced: &'a TracedKernel,
    /// At which something begins or ends; a row lasts from one to the next.
    moments: Vec<u32>,
}

impl Writer<'_, '_> {
    /// The row that begins at a moment or around it.
    fn row(&self, moment: u32) -> usize {
        self.moments.partition_point(|&it| it <= moment).saturating_sub(1)
    }

    fn space(&self, is_tmem: bool) -> SpaceMap {
        let (total, capacity) = match is_tmem {
            true => (&self.traced.planned.plan.tensor, self.traced.arch.tmem()),
            false => (&self.traced.planned.plan.shared, self.traced.arch.smem()),
        };
        let here = self.traced.planned.plan.placed.iter().filter(|it| is_tensor(self.traced, it) == is_tmem);
        let here: Vec<&Placed> = here.filter(|it| it.offset.is_some()).collect();
        let mut buffers: Vec<BufferMap> = here.iter().filter_map(|it| self.buffer(it, capacity)).collect();
        buffers.sort_by_key(|buffer| (buffer.address, buffer.size));
        let taken = buffers.iter().map(|buffer| [buffer.address, buffer.address.saturating_add(buffer.size)]).collect();
        let (peak, at) = peak(&here);
        SpaceMap {
            name: if is_tmem { "tmem" } else { "smem" },
            unit: if is_tmem { "columns" } else { "bytes" },
            unit_bytes: if is_tmem { COLUMN_BYTES } else { 1 },
            capacity: Some(capacity),
            used: total.low,
            at_least: total.exactly().is_none(),
            reserved: 0,
            peak,
            peak_row: (!buffers.is_empty()).then(|| self.row(at)),
            waste: total.low.saturating_sub(peak),
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
        let tile = TileMap {
            name: name.clone(),
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
                first_row: self.row(start),
                end_row: self.row(last).max(self.row(start) + 1),
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
        (live.map(|it| it.low).sum::<u64>(), at)
    };
    let at_each = starts.iter().map(live_at);
    at_each.max_by_key(|&(bytes, at)| (bytes, std::cmp::Reverse(at))).unwrap_or((0, 0))
}

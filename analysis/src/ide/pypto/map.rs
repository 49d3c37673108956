//! The map of a PyPTO kernel, out of its plan.

use std::collections::BTreeSet;

use crate::ide::{Context, PlacedUnit, formatting};
use crate::memory::{Buffer, BufferId, Order, Plan, PlannedTile, SpaceUse};

use crate::ide::memory_map::{BoxMap, BufferKind, BufferMap, Down, Drawing, SpaceMap, TileMap, merged, without};

pub(super) fn drawing(context: &Context<'_>, placed: &PlacedUnit<'_>, plan: &Plan) -> Drawing {
    let lives: Vec<Vec<Lived<'_>>> = (0..plan.buffers.len()).map(|id| lived(plan, BufferId(id as u32))).collect();
    let time = Time::of(lives.iter().flatten(), plan.spaces.iter().map(|space| space.peak_at));
    let writer = Writer { context, placed, plan, time: &time };
    let spaces = plan.spaces.iter().map(|space| writer.space(space, &lives));
    Drawing { down: Down::Time, rows: time.rows().map(|order| writer.line(order)).collect(), spaces: spaces.collect() }
}

/// A must-alias group within a buffer: one value under all of its names.
struct Lived<'p> {
    first: Order,
    last: Order,
    tiles: Vec<&'p PlannedTile>,
}

/// The live intervals of a buffer with their tiles. A tile belongs to the latest interval that it lies in.
fn lived(plan: &Plan, id: BufferId) -> Vec<Lived<'_>> {
    let intervals = plan.buffer(id).live.iter();
    let mut lived: Vec<Lived<'_>> = intervals.map(|&(first, last)| Lived { first, last, tiles: Vec::new() }).collect();
    lived.sort_by_key(|group| (group.first, group.last));
    for tile in plan.tiles.iter().filter(|tile| tile.buffer == Some(id)) {
        let holds = |group: &&mut Lived<'_>| group.first <= tile.first && tile.last <= group.last;
        match lived.iter_mut().rev().find(holds) {
            Some(group) => group.tiles.push(tile),
            None => lived.push(Lived { first: tile.first, last: tile.last, tiles: vec![tile] }),
        }
    }
    lived.retain(|group| !group.tiles.is_empty());
    lived
}

impl Lived<'_> {
    /// A value that nothing reads lives while it is written.
    fn end(&self) -> Order {
        Order(self.last.0.max(self.first.0 + 1))
    }
}

/// The moments at which something begins or ends; a row lasts from one to the next.
struct Time(Vec<Order>);

impl Time {
    fn of<'p>(lives: impl Iterator<Item = &'p Lived<'p>>, peaks: impl Iterator<Item = Order>) -> Time {
        let mut moments: BTreeSet<Order> = BTreeSet::new();
        for group in lives {
            moments.extend([group.first, group.end()]);
        }
        if let (Some(&first), Some(&last)) = (moments.first(), moments.last()) {
            moments.extend(peaks.filter(|&peak| first <= peak && peak < last));
        }
        Time(moments.into_iter().collect())
    }

    fn rows(&self) -> impl Iterator<Item = Order> {
        let rows = self.0.len().saturating_sub(1);
        self.0.iter().copied().take(rows)
    }

    /// The row that begins at `order` or around it.
    fn row(&self, order: Order) -> usize {
        self.0.partition_point(|&moment| moment <= order).saturating_sub(1)
    }
}

struct Writer<'a, 'db> {
    context: &'a Context<'db>,
    placed: &'a PlacedUnit<'db>,
    plan: &'a Plan,
    time: &'a Time,
}

impl Writer<'_, '_> {
    fn line(&self, order: Order) -> usize {
        formatting::lines(self.context, self.placed, self.plan, order, order).0
    }

    fn space(&self, of: &SpaceUse, lives: &[Vec<Lived<'_>>]) -> SpaceMap {
        let here = self.plan.buffers.iter().zip(lives).filter(|(buffer, _)| buffer.space == of.space);
        let mut buffers: Vec<BufferMap> =
            here.filter_map(|(buffer, lived)| self.buffer(buffer, of.capacity, lived)).collect();
        buffers.sort_by_key(|buffer| (buffer.address, buffer.size));
        let taken = buffers.iter().map(|buffer| [buffer.address, buffer.address.saturating_add(buffer.size)]).collect();
        SpaceMap {
            name: of.space.name(),
            unit: "bytes",
            unit_bytes: 1,
            capacity: of.capacity,
            used: of.used,
            at_least: false,
            reserved: of.reserved,
            peak: of.peak,
            peak_row: (!buffers.is_empty()).then(|| self.time.row(of.peak_at)),
            waste: of.used.saturating_sub(of.peak),
            verdict: Some(of.fit.name()),
            free: of.capacity.map_or_else(Vec::new, |capacity| without(of.reserved, capacity, taken)),
            buffers,
        }
    }

    fn buffer(&self, buffer: &Buffer, capacity: Option<u64>, lived: &[Lived<'_>]) -> Option<BufferMap> {
        let address = buffer.address?;
        let end = address.saturating_add(buffer.size);
        Some(BufferMap {
            name: buffer.name.clone(),
            kind: if buffer.declared { BufferKind::Declared } else { BufferKind::ReuseGroup },
            address,
            size: buffer.size,
            overflow: capacity.map_or(0, |capacity| end.saturating_sub(capacity).min(buffer.size)),
            boxes: lived.iter().map(|group| self.boxed(group, [address, end])).collect(),
        })
    }

    fn boxed(&self, group: &Lived<'_>, [start, end]: [u64; 2]) -> BoxMap {
        // A view that is selected at run time may be anywhere in its buffer.
        let extents = group.tiles.iter().map(|tile| match tile.address {
            Some(address) if !tile.dynamic_offset => {
                [address.clamp(start, end), address.saturating_add(tile.bytes).clamp(start, end)]
            }
            _ => [start, end],
        });
        let ranges = merged(extents.collect());
        BoxMap {
            first_row: self.time.row(group.first),
            end_row: self.time.row(group.end()).max(self.time.row(group.first) + 1),
            waste: without(start, end, ranges.clone()),
            ranges,
            tiles: group.tiles.iter().map(|tile| self.tile(tile)).collect(),
        }
    }

    fn tile(&self, tile: &PlannedTile) -> TileMap {
        let (first_line, last_line) = formatting::lines(self.context, self.placed, self.plan, tile.first, tile.last);
        TileMap {
            name: tile.name.clone(),
            range: self.placed.range(tile.origin),
            first_line,
            last_line,
            shape: tile.shape.clone(),
            dtype: tile.dtype.name(),
            size: tile.bytes,
            inserted: tile.inserted.is_some(),
        }
    }
}

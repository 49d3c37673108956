//! The map of a PyPTO kernel, out of its plan.

use std::collections::BTreeSet;

use tilefit_pypto::memory::{Buffer, BufferId, Order, Plan, PlannedTile, SpaceUse};

use crate::db::Outcome;
use crate::ide::{Context, PlacedUnit, formatting};

use super::names::Names;
use crate::ide::memory_map::steps::{Change, Moment, Time};
use crate::ide::memory_map::{BoxMap, BufferKind, BufferMap, Down, Drawing, SpaceMap, TileMap, merged, without};

pub(super) fn drawing(context: &Context<'_>, placed: &PlacedUnit<'_>, outcome: &Outcome, plan: &Plan) -> Drawing {
    let names = Names::of(context, placed, outcome, plan);
    let lives: Vec<Vec<Lived>> = (0..plan.buffers.len()).map(|id| lived(plan, BufferId(id as u32))).collect();
    let moments = moments(plan, lives.iter().flatten());
    let line = |order: Order| line(context, placed, (plan, &names), order);
    let moment = |order: Order| Moment { at: order.0, line: line(order), copies: names.copies_at(order) };
    let moments: Vec<Moment<'_>> = moments.into_iter().map(moment).collect();
    let time = Time::of(&moments, changes(plan, &lives));
    let writer = Writer { context, placed, plan, names: &names, time: &time };
    let spaces = plan.spaces.iter().map(|space| writer.space(space, &lives)).collect();
    Drawing { down: Down::Time, steps: time.into_steps(), spaces }
}

/// At which the author's statement begins.
fn line(context: &Context<'_>, placed: &PlacedUnit<'_>, (plan, names): (&Plan, &Names), order: Order) -> usize {
    match plan.statements.get(order.0 as usize) {
        Some(&origin) => context.line(placed.range(names.statement(origin)).start),
        None => context.line(placed.range(plan.origin).start),
    }
}

/// A must-alias group within a buffer: one value under all of its names.
struct Lived {
    first: Order,
    last: Order,
    /// Indices in the plan.
    tiles: Vec<usize>,
}

/// The live intervals of a buffer with their tiles. A tile belongs to the latest interval that it lies in.
fn lived(plan: &Plan, id: BufferId) -> Vec<Lived> {
    let intervals = plan.buffer(id).live.iter();
    let mut lived: Vec<Lived> = intervals.map(|&(first, last)| Lived { first, last, tiles: Vec::new() }).collect();
    lived.sort_by_key(|group| (group.first, group.last));
    for (index, tile) in plan.tiles.iter().enumerate().filter(|(_, tile)| tile.buffer == Some(id)) {
        let holds = |group: &&mut Lived| group.first <= tile.first && tile.last <= group.last;
        match lived.iter_mut().rev().find(holds) {
            Some(group) => group.tiles.push(index),
            None => lived.push(Lived { first: tile.first, last: tile.last, tiles: vec![index] }),
        }
    }
    lived.retain(|group| !group.tiles.is_empty());
    lived
}

impl Lived {
    /// A value that nothing reads lives while it is written.
    fn end(&self) -> Order {
        Order(self.last.0.max(self.first.0 + 1))
    }
}

/// The moments at which something begins or ends, the last one included.
fn moments<'p>(plan: &Plan, lives: impl Iterator<Item = &'p Lived>) -> BTreeSet<Order> {
    let mut moments: BTreeSet<Order> = BTreeSet::new();
    for group in lives {
        moments.extend([group.first, group.end()]);
    }
    if let (Some(&first), Some(&last)) = (moments.first(), moments.last()) {
        moments.extend(plan.spaces.iter().map(|space| space.peak_at).filter(|&peak| first <= peak && peak < last));
    }
    moments
}

/// When values come to addresses and leave them.
fn changes(plan: &Plan, lives: &[Vec<Lived>]) -> Vec<Change> {
    let mut changes = Vec::new();
    for (buffer, lived) in plan.buffers.iter().zip(lives) {
        let Some(address) = buffer.address else { continue };
        let addresses = [address, address.saturating_add(buffer.size)];
        for group in lived {
            let change = |at: Order, comes| Change { at: at.0, comes, space: buffer.space.name(), addresses };
            changes.extend([change(group.first, true), change(group.end(), false)]);
        }
    }
    changes
}

struct Writer<'a, 'db> {
    context: &'a Context<'db>,
    placed: &'a PlacedUnit<'db>,
    plan: &'a Plan,
    names: &'a Names,
    time: &'a Time,
}

impl Writer<'_, '_> {
    fn space(&self, of: &SpaceUse, lives: &[Vec<Lived>]) -> SpaceMap {
        let here = || self.plan.buffers.iter().zip(lives).filter(|(buffer, _)| buffer.space == of.space);
        let unplaced = here().filter(|(buffer, lived)| buffer.address.is_none() && !lived.is_empty()).count();
        let mut buffers: Vec<BufferMap> =
            here().filter_map(|(buffer, lived)| self.buffer(buffer, of.capacity, lived)).collect();
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
            unplaced,
            peak: of.peak,
            peak_row: (!buffers.is_empty()).then(|| self.time.row(of.peak_at.0)),
            waste: of.used.saturating_sub(of.peak),
            verdict: Some(of.fit.name()),
            free: of.capacity.map_or_else(Vec::new, |capacity| without(of.reserved, capacity, taken)),
            buffers,
        }
    }

    fn buffer(&self, buffer: &Buffer, capacity: Option<u64>, lived: &[Lived]) -> Option<BufferMap> {
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

    fn boxed(&self, group: &Lived, [start, end]: [u64; 2]) -> BoxMap {
        // A view that is selected at run time may be anywhere in its buffer.
        let tiles = || group.tiles.iter().map(|&tile| &self.plan.tiles[tile]);
        let extents = tiles().map(|tile| match tile.address {
            Some(address) if !tile.dynamic_offset => {
                [address.clamp(start, end), address.saturating_add(tile.bytes).clamp(start, end)]
            }
            _ => [start, end],
        });
        let ranges = merged(extents.collect());
        let rows = self.time.rows(group.first.0, group.end().0);
        BoxMap {
            first_row: rows.start,
            end_row: rows.end,
            waste: without(start, end, ranges.clone()),
            ranges,
            tiles: group.tiles.iter().map(|&tile| self.tile(tile)).collect(),
        }
    }

    fn tile(&self, index: usize) -> TileMap {
        let tile: &PlannedTile = &self.plan.tiles[index];
        let (from, last_line) = formatting::lines(self.context, self.placed, self.plan, tile.first, tile.last);
        let first_line = line(self.context, self.placed, (self.plan, self.names), tile.first).min(from);
        TileMap {
            name: tile.name.clone(),
            label: tile.label.clone(),
            copy: self.names.copy(index),
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

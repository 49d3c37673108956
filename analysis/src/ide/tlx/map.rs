//! The map of a TLX kernel: its allocations one after the other, and within each spec the buffers at their offsets.

use tilefit_gpu::tensor_memory::requested_columns;
use tilefit_gpu::tlx::footprint::{Footprint, Halves, Owner};
use tilefit_gpu::tlx::language::Storage;
use tilefit_gpu::tlx::{Backing, BufferId};
use tilefit_python::finding::Origin;

use crate::db::TlxPart;
use crate::ide::{Context, PlacedUnit};

use crate::ide::memory_map::{BoxMap, BufferKind, BufferMap, Down, Drawing, SpaceMap, Step, TileMap, merged, without};

/// A column is 4 bytes in each of 128 lanes.
const COLUMN_BYTES: u64 = 512;

pub(in crate::ide) fn drawing(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxPart) -> Drawing {
    let mut writer = Writer { context, placed, tlx, rows: Vec::new() };
    let mut spaces = vec![writer.space(Storage::Smem)];
    if tlx.plan.arch.tmem() > 0 {
        spaces.push(writer.space(Storage::Tmem));
    }
    let steps = writer.rows.into_iter().map(|line| Step { line, rows: 1, copy: None });
    Drawing { down: Down::Allocations, steps: steps.collect(), spaces }
}

struct Writer<'a, 'db> {
    context: &'a Context<'db>,
    placed: &'a PlacedUnit<'db>,
    tlx: &'a TlxPart,
    /// The line of each allocation so far.
    rows: Vec<usize>,
}

impl Writer<'_, '_> {
    fn space(&mut self, storage: Storage) -> SpaceMap {
        let plan = &self.tlx.plan;
        let is_tmem = storage == Storage::Tmem;
        let (used, capacity) = match is_tmem {
            true => (requested_columns(plan.tmem), plan.arch.tmem()),
            false => (plan.smem, plan.arch.smem()),
        };
        let (mut buffers, mut taken) = (Vec::new(), Vec::new());
        let (mut halves, mut above) = (Halves::default(), 0_u64);
        for footprint in plan.footprints.iter().filter(|it| (it.storage == Storage::Tmem) == is_tmem) {
            let start = if is_tmem { halves.place(footprint) } else { above };
            above = above.max(start.saturating_add(footprint.extent));
            taken.push([start, start.saturating_add(footprint.extent)]);
            buffers.extend(self.buffer(footprint, start, capacity));
        }
        SpaceMap {
            name: storage.name(),
            unit: storage.units(),
            unit_bytes: if is_tmem { COLUMN_BYTES } else { 1 },
            capacity: Some(capacity),
            used,
            at_least: !is_tmem,
            reserved: 0,
            unplaced: 0, // what has no size is in no footprint, and the total is at least what is known
            peak: used,
            peak_row: None,
            waste: 0,
            verdict: None,
            free: without(0, capacity, taken),
            buffers,
        }
    }

    fn buffer(&mut self, footprint: &Footprint, start: u64, capacity: u64) -> Option<BufferMap> {
        let kernel = &self.tlx.kernel;
        let (name, kind, members) = match footprint.owner {
            Owner::Spec(spec) => (&kernel.spec(spec).name, BufferKind::Spec, kernel.users(spec).collect()),
            Owner::Buffer(buffer) => (&kernel.buffer(buffer).name, BufferKind::Allocation, vec![buffer]),
        };
        let end = start.saturating_add(footprint.extent);
        let members: Vec<_> = members.into_iter().flat_map(|member| self.with_aliases(member)).collect();
        let boxes: Vec<_> = members.into_iter().filter_map(|member| self.boxed(member, [start, end])).collect();
        (!boxes.is_empty()).then(|| BufferMap {
            name: name.clone(),
            kind,
            address: start,
            size: footprint.extent,
            overflow: end.saturating_sub(capacity).min(footprint.extent),
            boxes,
        })
    }

    /// A buffer and those that are other views of its memory.
    fn with_aliases(&self, base: BufferId) -> Vec<BufferId> {
        let kernel = &self.tlx.kernel;
        let mut class = vec![base];
        // An alias comes after its base.
        class.extend(kernel.buffer_ids().filter(|&id| id > base).filter(|&id| {
            let mut at = id;
            while let Backing::Alias(of) = kernel.buffer(at).backing
                && of < at
            {
                at = of;
            }
            at == base
        }));
        class
    }

    fn boxed(&mut self, id: BufferId, [start, end]: [u64; 2]) -> Option<BoxMap> {
        let buffer = self.tlx.kernel.buffer(id);
        let place = self.tlx.plan.place(id)?;
        let line = self.line(buffer.at);
        let ranges = place.ranges().map(|(from, to)| {
            let within = |offset: u64| start.saturating_add(offset).min(end);
            [within(from), within(to)]
        });
        let ranges = merged(ranges.collect());
        let row = self.rows.len();
        self.rows.push(line);
        Some(BoxMap {
            first_row: row,
            end_row: row + 1,
            waste: Vec::new(), // what one member leaves, another may have
            ranges,
            tiles: vec![TileMap {
                name: buffer.name.clone(),
                label: buffer.name.clone(),
                copy: None,
                range: self.placed.range(buffer.name_at),
                first_line: line,
                last_line: line,
                shape: [place.sized.num].into_iter().chain(place.sized.shape.iter().copied()).collect(),
                dtype: place.sized.dtype.name,
                size: place.sized.unit.saturating_mul(place.sized.num),
                inserted: false,
            }],
        })
    }

    fn line(&self, at: Origin) -> usize {
        self.context.line(self.placed.range(at).start)
    }
}

//! One part of a problem as the search wants it: flat arrays, times as numbers of sections, bytes as numbers of granules.

use std::ops::Range;

use super::{Keys, Preorder, Width};
use crate::conflicts::Conflicts;
use crate::problem::{BufferIx, Problem};

/// Bytes divided by the granule: the largest unit of which every size, alignment and fixed address is a multiple.
pub(super) type Units = i64;

/// Sections are the instants that matter: the sets of buffers alive together that no other set contains.
pub(super) struct Instance {
    pub(super) capacity: Units,
    pub(super) sections: usize,
    pub(super) items: Vec<Item>,
    /// `neighbours[item.neighbours]` must not share a byte with the item.
    pub(super) neighbours: Vec<u32>,
    /// `spans[item.spans]` are the ranges of sections in which the item is alive.
    pub(super) spans: Vec<(u32, u32)>,
    pub(super) reserved: Vec<(Units, Units)>,
    /// A row of bits per item: its neighbours again.
    conflicts: Vec<u64>,
    granule: u64,
}

pub(super) struct Item {
    pub(super) size: Units,
    pub(super) align: Units,
    pub(super) fixed: Option<Units>,
    /// From the first section in which it, or a partner that it must not alias, is alive to the last.
    pub(super) hull: (u32, u32),
    neighbours: (u32, u32),
    spans: (u32, u32),
    size_in_bytes: u64,
    time: u64,
    sections: u64,
}

impl Instance {
    /// `None` when some buffer alone is beyond `height`.
    pub(super) fn new(problem: &Problem, conflicts: &Conflicts, part: &[BufferIx], height: u64) -> Option<Self> {
        let granule = granule(problem, part);
        let units = |bytes: u64| (bytes / granule) as Units;
        let (spans_of, sections) = sections(problem, part);
        let mut local: Vec<u32> = vec![u32::MAX; problem.buffers().len()];
        for (at, ix) in part.iter().enumerate() {
            local[ix.index()] = at as u32;
        }
        let mut instance = Self {
            capacity: units(height),
            sections,
            items: Vec::with_capacity(part.len()),
            neighbours: Vec::new(),
            spans: Vec::new(),
            reserved: problem.reserved().iter().map(|range| (units(range.start), units(range.end))).collect(),
            conflicts: vec![0; part.len() * part.len().div_ceil(64)],
            granule,
        };
        for (ix, spans) in part.iter().zip(spans_of) {
            let buffer = problem.buffer(*ix);
            let first_neighbour = instance.neighbours.len() as u32;
            instance.neighbours.extend(conflicts.of_index(ix.0).iter().map(|&other| local[other as usize]));
            let first_span = instance.spans.len() as u32;
            instance.spans.extend(&spans);
            let hull = (spans.first()?.0, spans.last()?.1);
            instance.items.push(Item {
                size: units(buffer.size),
                align: units(buffer.align),
                fixed: buffer.fixed.map(units),
                hull,
                neighbours: (first_neighbour, instance.neighbours.len() as u32),
                spans: (first_span, instance.spans.len() as u32),
                size_in_bytes: buffer.size,
                time: buffer.lifetime.duration(),
                sections: spans.iter().map(|&(from, to)| u64::from(to - from)).sum(),
            });
        }
        instance.fill_conflicts();
        for &(a, b) in problem.no_alias() {
            instance.join_hulls(local[a.index()], local[b.index()]);
        }
        let fits = |item: &Item| instance.lift(item, 0) + item.size <= instance.capacity;
        instance.items.iter().all(fits).then_some(instance)
    }

    fn fill_conflicts(&mut self) {
        let row = self.items.len().div_ceil(64);
        for (item, data) in self.items.iter().enumerate() {
            for &other in &self.neighbours[data.neighbours.0 as usize..data.neighbours.1 as usize] {
                self.conflicts[item * row + other as usize / 64] |= 1 << (other % 64);
            }
        }
    }

    pub(super) fn conflict(&self, item: u32, other: u32) -> bool {
        let row = self.items.len().div_ceil(64);
        self.conflicts[item as usize * row + other as usize / 64] >> (other % 64) & 1 == 1
    }

    /// Buffers that must not alias stay in one part, although they are not alive together.
    fn join_hulls(&mut self, a: u32, b: u32) {
        if let (Some(first), Some(second)) = (self.items.get(a as usize), self.items.get(b as usize)) {
            let joined = (first.hull.0.min(second.hull.0), first.hull.1.max(second.hull.1));
            self.items[a as usize].hull = joined;
            self.items[b as usize].hull = joined;
        }
    }

    pub(super) fn neighbours(&self, item: u32) -> &[u32] {
        let (from, to) = self.items[item as usize].neighbours;
        &self.neighbours[from as usize..to as usize]
    }

    pub(super) fn spans(&self, item: u32) -> impl Iterator<Item = Range<usize>> + '_ {
        let (from, to) = self.items[item as usize].spans;
        self.spans[from as usize..to as usize].iter().map(|&(from, to)| from as usize..to as usize)
    }

    /// The lowest offset not below `from` at which the item may be: aligned and clear of what is reserved; if it is fixed, there
    /// (which may be below `from`).
    pub(super) fn lift(&self, item: &Item, from: Units) -> Units {
        if let Some(fixed) = item.fixed {
            return fixed;
        }
        let aligned =
            |offset: Units| if item.align == 1 { offset } else { (offset + item.align - 1) / item.align * item.align };
        let mut offset = aligned(from);
        for &(start, end) in &self.reserved {
            if offset + item.size <= start {
                break;
            }
            if end > offset {
                offset = aligned(end);
            }
        }
        offset
    }

    /// What sorts items of one offset: smallest key first. `total` is the most that is unplaced in a section of the item.
    pub(super) fn key(&self, preorder: Preorder, item: u32, total: Units) -> (u128, u128, u128, u32) {
        let &Item { size_in_bytes, time, sections, neighbours, .. } = &self.items[item as usize];
        let width = u128::from(match preorder.width {
            Width::Time => time,
            Width::Sections => sections,
            Width::Neighbours => u64::from(neighbours.1 - neighbours.0),
        });
        let area = width * u128::from(size_in_bytes);
        let (width, area, total) = (!width, !area, !(total as u128));
        match preorder.keys {
            Keys::WidthAreaTotal => (width, area, total, item),
            Keys::TotalAreaWidth => (total, area, width, item),
            Keys::TotalWidthArea => (total, width, area, item),
        }
    }

    /// Bytes, in the order of the items.
    pub(super) fn offsets(&self, placed: &[Units]) -> Vec<u64> {
        placed.iter().map(|&offset| offset as u64 * self.granule).collect()
    }
}

/// The buffers in groups between which nothing conflicts, each a stretch of the program.
pub(super) fn parts(problem: &Problem) -> Vec<Vec<BufferIx>> {
    let mut hulls: Vec<(u64, u64, BufferIx)> = problem
        .indices()
        .map(|ix| (problem.buffer(ix).lifetime.start(), problem.buffer(ix).lifetime.end(), ix))
        .collect();
    for &(a, b) in problem.no_alias() {
        let (first, second) = (hulls[a.index()], hulls[b.index()]);
        let (start, end) = (first.0.min(second.0), first.1.max(second.1));
        hulls[a.index()] = (start, end, a);
        hulls[b.index()] = (start, end, b);
    }
    hulls.sort_unstable();
    let mut parts: Vec<Vec<BufferIx>> = Vec::new();
    let mut reach = 0;
    for (start, end, ix) in hulls {
        match parts.last_mut() {
            Some(part) if start < reach => part.push(ix),
            _ => parts.push(vec![ix]),
        }
        reach = reach.max(end);
    }
    parts
}

/// For every buffer the ranges of sections in which it is alive, and how many sections there are.
fn sections(problem: &Problem, part: &[BufferIx]) -> (Vec<Vec<(u32, u32)>>, usize) {
    let mut events: Vec<(u64, bool, u32)> = Vec::new();
    for (at, &ix) in (0u32..).zip(part) {
        for interval in problem.buffer(ix).lifetime.intervals() {
            events.push((interval.start, true, at));
            events.push((interval.end, false, at));
        }
    }
    events.sort_unstable();
    let mut spans: Vec<Vec<(u32, u32)>> = vec![Vec::new(); part.len()];
    let mut closed = 0;
    let mut grown = false;
    for (_, starts, at) in events {
        if starts {
            spans[at as usize].push((closed, closed));
            grown = true;
            continue;
        }
        // A live set is complete when the first of it ends; what ends next without a birth between is in the same section.
        closed += u32::from(grown);
        grown = false;
        if let Some(span) = spans[at as usize].last_mut() {
            span.1 = closed;
        }
    }
    (spans, closed as usize)
}

/// First-fit adds sizes and rounds up to alignments, so that every offset it finds is a multiple of this.
pub(super) fn granule(problem: &Problem, part: &[BufferIx]) -> u64 {
    let of_buffers = part.iter().map(|&ix| problem.buffer(ix)).flat_map(|b| [b.size, b.align, b.fixed.unwrap_or(0)]);
    let of_reserved = problem.reserved().iter().flat_map(|range| [range.start, range.end]);
    of_buffers.chain(of_reserved).fold(0, greatest_common_divisor).max(1)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

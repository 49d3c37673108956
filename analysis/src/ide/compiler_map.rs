//! The map of a kernel as the author's compiler has laid it out, where tilefit itself has bounds.

use std::collections::BTreeMap;

use tilefit_gpu::language::Dtype;

use crate::confirm::SharedBuffer;

use super::confirmations::{self, text_of_line};
use super::language::KernelView;
use super::memory_map::steps::{Change, Moment, Time};
use super::memory_map::{BoxMap, BufferKind, BufferMap, Down, Drawing, SpaceMap, TileMap, without};
use super::{Context, PlacedUnit};

/// Shared memory; `None` where the compiler does not say how long each buffer is needed, or how large it is.
pub(super) fn drawing(context: &Context<'_>, placed: &PlacedUnit<'_>, kernel: &dyn KernelView) -> Option<Drawing> {
    let plan = confirmations::plan_within(context, placed, kernel)?;
    let memory = kernel.memories().into_iter().next()?;
    let buffers: Option<Vec<Laid<'_>>> = plan.buffers.iter().map(Laid::of).collect();
    let buffers = buffers.filter(|all| !all.is_empty() && plan.tensor_columns == 0)?;
    let mut moments = BTreeMap::new();
    for laid in &buffers {
        moments.entry(laid.until).or_insert(laid.last_line);
    }
    for laid in &buffers {
        moments.insert(laid.from, laid.line);
    }
    let moments: Vec<Moment<'_>> = moments.iter().map(|(&at, &line)| Moment { at, line, copies: &[] }).collect();
    let changes = buffers.iter().flat_map(|laid| {
        let change = |at, comes| Change { at, comes, space: memory.name, addresses: laid.addresses() };
        [change(laid.from, true), change(laid.until, false)]
    });
    let time = Time::of(&moments, changes.collect());
    let (peak, at) = peak(&buffers);
    let mut drawn: Vec<BufferMap> = buffers.iter().map(|laid| laid.drawn(context, &time, memory.capacity)).collect();
    drawn.sort_by_key(|buffer| (buffer.address, buffer.size));
    let taken = buffers.iter().map(Laid::addresses).collect();
    let space = SpaceMap {
        name: memory.name,
        unit: "bytes",
        unit_bytes: 1,
        capacity: memory.capacity,
        used: plan.shared,
        at_least: false,
        reserved: 0,
        unplaced: 0,
        peak,
        peak_row: Some(time.row(at)),
        waste: plan.shared.saturating_sub(peak),
        verdict: None,
        free: without(0, memory.capacity.unwrap_or(plan.shared), taken),
        buffers: drawn,
    };
    Some(Drawing { down: Down::Time, steps: time.into_steps(), spaces: vec![space] })
}

/// The most that is live at once, and when.
fn peak(buffers: &[Laid<'_>]) -> (u64, u32) {
    let live_at = |at: u32| {
        let live = buffers.iter().filter(|laid| laid.from <= at && at < laid.until);
        (live.fold(0, |all: u64, laid| all.saturating_add(laid.size)), at)
    };
    let at_each = buffers.iter().map(|laid| live_at(laid.from));
    at_each.max_by_key(|&(bytes, at)| (bytes, std::cmp::Reverse(at))).unwrap_or_default()
}

/// A buffer of which all is known that a map needs.
struct Laid<'a> {
    buffer: &'a SharedBuffer,
    size: u64,
    from: u32,
    until: u32,
    line: usize,
    last_line: usize,
}

impl<'a> Laid<'a> {
    fn of(buffer: &'a SharedBuffer) -> Option<Laid<'a>> {
        let ([from, until], line, size) = (buffer.live?, buffer.line?, buffer.size?);
        let last_line = buffer.last_line.unwrap_or(line);
        (from < until).then_some(Laid { buffer, size, from, until, line, last_line })
    }

    fn addresses(&self) -> [u64; 2] {
        [self.buffer.offset, self.buffer.offset.saturating_add(self.size)]
    }

    fn drawn(&self, context: &Context<'_>, time: &Time, capacity: Option<u64>) -> BufferMap {
        let Laid { buffer, size, line, last_line, .. } = *self;
        let rows = time.rows(self.from, self.until);
        let is_made_by_author = !buffer.shape.is_empty();
        let range = text_of_line(context, line);
        let name = match is_made_by_author {
            true => name_given(&context.document().rope().byte_slice(range.start..range.end).to_string())
                .map_or_else(|| buffer.op.clone(), str::to_owned),
            false => format!("{} of `{}` in line {line}", buffer.kind, buffer.op),
        };
        let dtype = buffer.dtype.as_deref().and_then(Dtype::from_mlir);
        let tile = TileMap {
            name: name.clone(),
            label: name.clone(),
            copy: None,
            range,
            first_line: line,
            last_line,
            shape: if is_made_by_author { buffer.shape.clone() } else { vec![size] },
            dtype: dtype.map_or("int8", |dtype| dtype.name),
            size,
            inserted: !is_made_by_author,
        };
        let [address, end] = self.addresses();
        BufferMap {
            name,
            kind: BufferKind::Allocation,
            address,
            size,
            overflow: capacity.map_or(0, |capacity| end.saturating_sub(capacity).min(size)),
            boxes: vec![BoxMap {
                first_row: rows.start,
                end_row: rows.end,
                ranges: vec![[address, end]],
                waste: Vec::new(),
                tiles: vec![tile],
            }],
        }
    }
}

/// The name that a statement gives to what it makes: `acc` of `acc += tl.dot(x, y)`.
fn name_given(statement: &str) -> Option<&str> {
    let (target, _) = statement.split_once('=')?;
    let name = target.trim_end_matches(['+', '-', '*', '/', '@', '|', '&', ' ']);
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    is_name.then_some(name)
}

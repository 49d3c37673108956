//! Columns of tensor memory (docs/reference/tilelang.md, "9. Tensor memory").

use std::cmp::Reverse;

use crate::program::{BufferId, Extent, Launch, Scope};

/// Columns of a block.
pub const COLUMNS: u64 = 512;
/// What an allocation takes at least, columns.
const LEAST: u64 = 32;
/// Bits of a column in each row.
const BITS: u64 = 32;
/// What narrow buffers start at a multiple of, columns.
const NARROW: u64 = 4;

/// One allocation, which buffers share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arena {
    /// A power of two.
    pub columns: u64,
    /// With the first column of each in it.
    pub buffers: Vec<(BufferId, u64)>,
}

impl Arena {
    fn used(&self, widths: &[(BufferId, u64)]) -> u64 {
        let Some((last, offset)) = self.buffers.last() else { return 0 };
        let width = widths.iter().find(|(buffer, _)| buffer == last).map_or(0, |(_, width)| *width);
        offset.saturating_add(width)
    }
}

/// Columns that are asked for where so many are needed.
fn granted(columns: u64) -> u64 {
    columns.max(LEAST).checked_next_power_of_two().unwrap_or(u64::MAX)
}

/// The allocations of a launch; `None` where the width of a buffer is not known. `freed`: buffers that the author frees, which share nothing.
pub(crate) fn arenas(launch: &Launch, freed: &[BufferId]) -> Option<Vec<Arena>> {
    let mut widths: Vec<(BufferId, u64)> = Vec::new();
    for (i, buffer) in launch.buffers.iter().enumerate() {
        if buffer.scope == Scope::TensorMemory {
            let columns = buffer.shape.last().and_then(Extent::known)?;
            widths.push((BufferId(i as u32), columns.saturating_mul(buffer.dtype.bits).div_ceil(BITS)));
        }
    }
    // Of equal ones, as they are declared.
    widths.sort_by_key(|(_, width)| Reverse(*width));
    let mut arenas: Vec<Arena> = Vec::new();
    for &(buffer, width) in &widths {
        let alignment = if width >= LEAST { LEAST } else { NARROW };
        let joined = |arena: &Arena| {
            let offset = arena.used(&widths).checked_next_multiple_of(alignment)?;
            let columns = offset.checked_add(width).filter(|&columns| columns <= COLUMNS)?;
            let is_open = !arena.buffers.iter().any(|(other, _)| freed.contains(other)) && !freed.contains(&buffer);
            let more = granted(columns).saturating_sub(arena.columns);
            (is_open && more < granted(width)).then_some((more, offset))
        };
        let best =
            arenas.iter().enumerate().filter_map(|(i, arena)| joined(arena).map(|(more, offset)| (more, i, offset)));
        match best.min() {
            Some((more, i, offset)) => {
                arenas[i].columns += more;
                arenas[i].buffers.push((buffer, offset));
            }
            None => arenas.push(Arena { columns: granted(width), buffers: vec![(buffer, 0)] }),
        }
    }
    Some(arenas)
}

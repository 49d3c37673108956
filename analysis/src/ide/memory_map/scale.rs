//! The one scale of a picture: where each memory space stands, and how wide a byte is.

use super::{MemoryMap, SpaceMap};

/// A space in a picture; in the picture's units.
pub(super) struct Panel<'m, At> {
    pub(super) space: &'m SpaceMap<At>,
    pub(super) left: f64,
    pub(super) width: f64,
    /// Width of one unit of the space.
    unit: f64,
}

/// Less than this part of every capacity in use, and the picture shows what is in use rather than emptiness.
const MOSTLY_EMPTY: u64 = 8;

/// The spaces that something lies in, side by side within `room`, with `gap` between them.
pub(super) fn panels<At>(map: &MemoryMap<At>, room: f64, gap: f64) -> Vec<Panel<'_, At>> {
    let spaces: Vec<_> = map.spaces.iter().filter(|space| space.used > 0 || !space.buffers.is_empty()).collect();
    let is_zoomed = spaces.iter().all(|space| match space.capacity {
        Some(capacity) => space.used.saturating_mul(MOSTLY_EMPTY) < capacity,
        None => true,
    });
    let units = |space: &SpaceMap<At>| match space.capacity {
        Some(capacity) if !is_zoomed => capacity.max(space.used),
        _ => space.used.saturating_add(space.used / 4),
    };
    let bytes = |space: &SpaceMap<At>| units(space).saturating_mul(space.unit_bytes).max(1) as f64;
    let all: f64 = spaces.iter().map(|&space| bytes(space)).sum();
    let gaps = gap * spaces.len().saturating_sub(1) as f64;
    let byte = (room - gaps).max(1.0) / all.max(1.0);
    let mut left = 0.0;
    let place = |space| {
        let panel = Panel { space, left, width: bytes(space) * byte, unit: space.unit_bytes as f64 * byte };
        left += panel.width + gap;
        panel
    };
    spaces.into_iter().map(place).collect()
}

impl<At> Panel<'_, At> {
    /// Distance of an address from the left edge of the panel.
    pub(super) fn x(&self, address: u64) -> f64 {
        (address as f64 * self.unit).min(self.width)
    }

    /// The smallest power of two whose addresses are `distance` apart or more.
    pub(super) fn step(&self, distance: f64) -> u64 {
        let units = (distance / self.unit).ceil().max(1.0) as u64;
        units.checked_next_power_of_two().unwrap_or(u64::MAX)
    }

    /// Where the capacity is, unless that is beyond the picture.
    pub(super) fn capacity(&self) -> Option<f64> {
        let at = self.space.capacity? as f64 * self.unit;
        (at <= self.width + 0.5).then_some(at)
    }
}

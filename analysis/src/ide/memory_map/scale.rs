//! The scales of a picture: where each memory space stands, and how wide a byte is.

use serde::Deserialize;

use super::{MemoryMap, SpaceMap};

/// How wide a byte of one memory is beside that of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Scale {
    /// Every memory is as wide as every other.
    #[default]
    Own,
    /// A byte has the same width in all of them.
    One,
}

/// The room for a picture, in its units.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    pub width: f64,
    /// For its rows; `None`: as much as they need.
    pub height: Option<f64>,
    pub scale: Scale,
}

/// A space in a picture; in the picture's units.
pub(super) struct Panel<'m, At> {
    pub(super) space: &'m SpaceMap<At>,
    pub(super) left: f64,
    pub(super) width: f64,
    /// Width of one unit of the space.
    unit: f64,
}

/// Less than this part of a capacity in use, and the picture shows what is in use rather than emptiness.
const MOSTLY_EMPTY: u64 = 4;

/// The spaces that something lies in, side by side within `room`, with `gap` between them, and each in its own scale at least `narrowest` wide.
pub(super) fn panels<At>(
    map: &MemoryMap<At>,
    room: f64,
    (gap, narrowest): (f64, f64),
    scale: Scale,
) -> Vec<Panel<'_, At>> {
    let spaces: Vec<_> = map.drawn().collect();
    let room = (room - gap * spaces.len().saturating_sub(1) as f64).max(1.0);
    let all_mostly_empty = spaces.iter().all(|&space| is_mostly_empty(space));
    let bytes = |space: &SpaceMap<At>| {
        let is_zoomed = match scale {
            Scale::Own => is_mostly_empty(space),
            Scale::One => all_mostly_empty,
        };
        let units = match space.capacity {
            Some(capacity) if !is_zoomed => capacity.max(space.used),
            _ => space.used.saturating_add(space.used / 4),
        };
        units.saturating_mul(space.unit_bytes).max(1) as f64
    };
    let all: f64 = spaces.iter().map(|&space| bytes(space)).sum();
    let share = (room / spaces.len().max(1) as f64).max(narrowest);
    let mut left = 0.0;
    let place = |space| {
        let bytes = bytes(space);
        let width = match scale {
            Scale::Own => share,
            Scale::One => bytes * room / all.max(1.0),
        };
        let panel = Panel { space, left, width, unit: space.unit_bytes as f64 * width / bytes };
        left += width + gap;
        panel
    };
    spaces.into_iter().map(place).collect()
}

fn is_mostly_empty<At>(space: &SpaceMap<At>) -> bool {
    space.capacity.is_none_or(|capacity| space.used.saturating_mul(MOSTLY_EMPTY) < capacity)
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

    /// `0x4000`, or the number of a column.
    pub(super) fn address(&self, address: u64) -> String {
        if self.space.unit == "bytes" { format!("{address:#x}") } else { address.to_string() }
    }
}

//! What the signs of a map mean, in words: those that the map has.

use super::{Down, MemoryMap};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Tile,
    Unused,
    Reserved,
    Capacity,
    Beyond,
    Peak,
    /// As a map writes it beside the lines.
    Copies,
}

/// What runs across and down.
pub(super) fn axes<At>(map: &MemoryMap<At>) -> &'static str {
    match map.down {
        Down::Time => "Horizontal: address. Vertical: time, by source line.",
        Down::Allocations => {
            "Horizontal: address. Vertical: one row for each allocation, by source line. They all live as long as the kernel; \
             members of a spec are at their offsets in it, and where a spec starts is not known."
        }
    }
}

/// The signs that a map has, with the words for each.
pub(super) fn signs<At>(map: &MemoryMap<At>) -> Vec<(Sign, String)> {
    let spaces = || map.drawn();
    let buffers = || spaces().flat_map(|space| &space.buffers);
    let has_waste = buffers().flat_map(|buffer| &buffer.boxes).any(|each| !each.waste.is_empty());
    let has_peak = map.down == Down::Time && spaces().any(|space| space.peak_row.is_some());
    let copy = map.steps.iter().find_map(|step| step.copy.as_ref());
    let words = |sign: Sign, has: bool, words: &str| has.then(|| (sign, words.to_owned()));
    let tiles = match buffers().any(|buffer| buffer.boxes.len() > 1) {
        true => "tile; those of one colour in a memory reuse one buffer, one after another",
        false => "tile",
    };
    [
        words(Sign::Tile, true, tiles),
        words(Sign::Unused, has_waste, "unused part of a buffer"),
        words(Sign::Reserved, spaces().any(|space| space.reserved > 0), "reserved (queue between the cores)"),
        words(Sign::Capacity, spaces().any(|space| space.capacity.is_some()), "capacity"),
        words(Sign::Beyond, buffers().any(|buffer| buffer.overflow > 0), "beyond the capacity"),
        words(Sign::Peak, has_peak, "peak usage"),
        copy.map(|copy| {
            (Sign::Copies, format!("{}: {} (the compiler copies these statements)", copy.short, copy.words))
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

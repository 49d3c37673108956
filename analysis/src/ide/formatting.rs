//! How sizes, addresses and lifetimes are written for people.

pub use crate::finding::bytes;
use crate::memory::{Order, Plan, PlannedTile};

use super::language::{Extent, Site};
use super::{Context, PlacedUnit, pypto};

/// `Vec 0x4000 16 KiB`; a part that is not known is left out.
pub(crate) fn place(tile: &PlannedTile) -> String {
    extent(&pypto::extent(tile))
}

/// `Vec 0x4000 16 KiB` in a memory, `@64 +32 cols` in an allocation, `32 KiB` of an allocation, `32 KiB unused`.
pub(crate) fn extent(of: &Extent) -> String {
    let [before, address, after] = parts(of);
    [before, address, after].concat()
}

/// The same around the address in a memory, which is empty elsewhere.
pub(crate) fn parts(of: &Extent) -> [String; 3] {
    match of.site {
        Site::Memory { space, address, at_run_time } => {
            let space = space.unwrap_or("?");
            let Some(address) = address else {
                return [format!("{space} {}", short(of)), String::new(), String::new()];
            };
            let at_run_time = if at_run_time { "+…" } else { "" };
            [format!("{space} "), format!("{address:#x}{at_run_time}"), format!(" {}", short(of))]
        }
        Site::Within { offset } => {
            let unit = if of.unit == "columns" { "cols" } else { "B" };
            [format!("@{offset} +{} {unit}", of.size), String::new(), String::new()]
        }
        Site::Allocation => [short(of), String::new(), String::new()],
        Site::Unused => [format!("{} unused", short(of)), String::new(), String::new()],
    }
}

/// A hint has little room.
fn short(of: &Extent) -> String {
    if of.unit == "columns" { format!("{} cols", of.size) } else { amount(of.size, of.unit) }
}

/// `[64, 128]`
pub(crate) fn shape(extents: &[u64]) -> String {
    format!("{extents:?}")
}

/// `16 KiB`, `96 B`, `256 columns`
pub(crate) fn amount(value: u64, unit: &str) -> String {
    if unit == "bytes" { bytes(value) } else { format!("{value} {unit}") }
}

/// `[0x0, 0x4000)` in bytes, `[0, 256)` in other units.
pub(crate) fn range(start: u64, end: u64, unit: &str) -> String {
    if unit == "bytes" { format!("[{start:#x}, {end:#x})") } else { format!("[{start}, {end})") }
}

/// How much of a capacity is used, rounded up: nothing that is used is 0 %.
pub(crate) fn percent(used: u64, capacity: u64) -> u64 {
    used.saturating_mul(100).div_ceil(capacity.max(1))
}

/// `92 %`, `⚠ 105 %, 8 KiB over`: how full a memory is, in the few words of a lens.
pub(crate) fn fullness(used: u64, capacity: u64) -> String {
    let percent = percent(used, capacity);
    match over(used, capacity, "bytes") {
        Some(over) => format!("⚠ {percent} %, {over}"),
        None => format!("{percent} %"),
    }
}

/// `8 KiB over`, of more than there is.
pub(crate) fn over(used: u64, capacity: u64, unit: &str) -> Option<String> {
    let over = used.checked_sub(capacity).filter(|&over| over > 0)?;
    Some(format!("{} over", amount(over, unit)))
}

/// `65536 of 65536 bytes (100 %)`
pub(crate) fn usage(used: u64, capacity: u64) -> String {
    format!("{used} of {capacity} bytes ({} %)", percent(used, capacity))
}

/// The 1-based lines from the first to the last statement at which something lives.
pub(crate) fn lines(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    plan: &Plan,
    first: Order,
    last: Order,
) -> (usize, usize) {
    let line = |order: Order, fallback: usize| match plan.statements.get(order.0 as usize) {
        Some(&origin) => context.line(placed.range(origin).start),
        None => fallback,
    };
    let begin = line(first, context.line(placed.range(plan.origin).start));
    (begin, line(last, begin).max(begin))
}

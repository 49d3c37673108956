//! How sizes, addresses and lifetimes are written for people.

use tilefit_pypto::memory::{Order, Plan};
pub use tilefit_python::finding::bytes;
use tilefit_python::finding::rounded;

use super::extent::{Extent, Places, Site};
use super::{Context, PlacedUnit};

/// `16.5 KiB`, `0.2 KiB`: one unit in all of a line. Rounded up, so that nothing that is over a limit looks as if it fitted.
pub(crate) fn kib(bytes: u64) -> String {
    const KIB: u64 = 1024;
    if bytes.is_multiple_of(KIB / 4) {
        return format!("{} KiB", bytes as f64 / KIB as f64);
    }
    let digits = if bytes < KIB { 2 } else { 1 };
    let tenths = 10_u64.pow(digits);
    let rounded = (u128::from(bytes) * u128::from(tenths)).div_ceil(u128::from(KIB));
    format!("{} KiB", rounded as f64 / tenths as f64)
}

/// `16.5 KiB`, `256 columns`
pub(crate) fn rounded_amount(value: u64, unit: &str) -> String {
    if unit == "bytes" { kib(value) } else { format!("{value} {unit}") }
}

/// `16.5 KiB (16,928 bytes)`, `256 columns`
pub(crate) fn exact_amount(value: u64, unit: &str) -> String {
    if unit != "bytes" {
        return format!("{value} {unit}");
    }
    format!("{} ({} bytes)", kib(value), grouped(value))
}

/// `16,928`
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `Vec 0x4000 16 KiB` in a memory (a part that is not known is left out), `Vec 2 copies: 0x1000, 0x12000, 16 KiB each`, `@64 +32 cols` in an allocation, `32 KiB` of an allocation, `32 KiB unused`.
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
        Site::Copies { space, places } => {
            let size = short(of);
            [format!("{} ", space.unwrap_or("?")), copies(&places), format!(", {size} each")]
        }
        Site::Within { offset } => {
            let unit = if of.unit == "columns" { "cols" } else { "B" };
            [format!("@{offset} +{} {unit}", of.size), String::new(), String::new()]
        }
        Site::Allocation => [short(of), String::new(), String::new()],
        Site::Unused => [format!("{} unused", short(of)), String::new(), String::new()],
    }
}

/// `2 copies: 0x1000, 0x12000`, or where many are: `8 copies: 0x0 … 0x1c000`. The one way in which addresses of copies are written.
pub(crate) fn copies(places: &Places) -> String {
    let Places { copies, first, different, lowest, highest } = places;
    let addresses = match first.get(..*different) {
        Some(all) => all.iter().map(|address| format!("{address:#x}")).collect::<Vec<_>>().join(", "),
        None => format!("{lowest:#x} … {highest:#x}"),
    };
    match copies == different {
        true => format!("{copies} copies: {addresses}"),
        false => format!("{copies} copies at {different} addresses: {addresses}"),
    }
}

/// A hint has little room.
fn short(of: &Extent) -> String {
    let amount = |size: u64| if of.unit == "columns" { format!("{size} cols") } else { amount(size, of.unit) };
    if of.times > 1 { format!("{} × {}", of.times, amount(of.size / of.times)) } else { amount(of.size) }
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

/// What is at least and at most so much: `98304`, `65536–98304`, `≥ 65536`; nothing where nothing is known.
pub(crate) fn between((low, high): (u64, Option<u64>)) -> String {
    match high {
        Some(high) if high == low => low.to_string(),
        Some(high) => format!("{low}–{high}"),
        None if low == 0 => String::new(),
        None => format!("≥ {low}"),
    }
}

/// `a`, `a and b`, `a, b and c`
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
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
    let over = if unit == "bytes" { rounded(over) } else { format!("{over} {unit}") };
    Some(format!("{over} over"))
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

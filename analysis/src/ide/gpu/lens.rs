//! What a lens says of a kernel: how much of each memory it takes in all of its configurations, and whether that fits.

use tilefit_gpu::assumed::{self, Assumed};
use tilefit_gpu::device::{Arch, Space};

use crate::db::{ScenarioTable, Taken};
use crate::ide::formatting;

/// What is known of a kernel in the configuration that is in force. A total is known at least and at most; `None`: nothing bounds it.
pub(in crate::ide) struct InForce<'a> {
    pub arch: Arch,
    pub assumed: &'a [Assumed],
    pub memories: Vec<Taken>,
    /// The compiler's registers say how many blocks run at once, so that what shared memory has room for is not said.
    pub are_blocks_known: bool,
}

impl InForce<'_> {
    fn capacity(&self, space: Space) -> u64 {
        self.memories.iter().find(|taken| taken.space == space).map_or(0, |taken| taken.capacity)
    }
}

/// Blocks of which more have room beside each other than anybody asks about.
const MANY_BLOCKS: u64 = 16;

/// `3 configurations · 12–98 KiB of 227 KiB (sm_90) · all fit · room for 2 blocks/SM`; `None` where nothing is known.
pub(in crate::ide) fn line(kernel: &InForce<'_>, table: Option<&ScenarioTable>) -> Option<String> {
    let mut parts = Vec::new();
    let several = table.filter(|table| table.fits.1 > 0);
    match several {
        Some(table) => {
            let (fits, known) = table.fits;
            let first = if table.is_cut { "the first " } else { "" };
            let all = table.rows.len() + table.more - table.refused;
            let plural = if all == 1 { "" } else { "s" };
            parts.push(match all - known {
                0 => format!("{first}{all} configuration{plural}"),
                _ => format!("{known} of {first}{all} configurations known"),
            });
            parts.extend(memories(kernel, &table.memories));
            let word = if all == known { "" } else { " of these" };
            parts.push(match () {
                () if fits == known && known == 1 && all == 1 => "fits".to_owned(),
                () if fits == known && known == 1 => "that one fits".to_owned(),
                () if fits == known => format!("all{word} fit"),
                () if fits == 0 => format!("none{word} fits ⚠"),
                () => format!("{fits}{word} fit"),
            });
        }
        None => {
            parts.extend(memories(kernel, &kernel.memories));
            if parts.is_empty() {
                return None;
            }
        }
    }
    if let Some(table) = table.filter(|table| table.refused > 0) {
        parts.push(format!("{} refused", table.refused));
    }
    let of = several.map_or(&kernel.memories, |table| &table.memories);
    let shared = of.iter().find(|taken| taken.space == Space::Shared).map(|taken| taken.amount);
    let totals = shared.and_then(|(low, high)| Some((low, high?)));
    parts.extend(totals.filter(|_| !kernel.are_blocks_known).and_then(|totals| room(kernel.arch, totals)));
    Some(parts.join(" · ") + &assumed::mark(kernel.assumed))
}

/// One part for each memory; of an NPU those that something lies in, with the device at the end.
fn memories(kernel: &InForce<'_>, all: &[Taken]) -> Vec<String> {
    if kernel.arch.is_npu() {
        let parts = all.iter().filter(|taken| taken.amount != (0, Some(0)));
        let parts: Vec<String> = parts.filter_map(|taken| of_core(kernel, taken)).collect();
        let device = device(kernel);
        return if parts.is_empty() { parts } else { vec![parts.join(" · ") + &device] };
    }
    let of = |space| all.iter().find(|taken| taken.space == space).map(|taken| taken.amount);
    let (shared, tensor) = (of(Space::Shared).unwrap_or((0, None)), of(Space::Tensor).unwrap_or((0, None)));
    let columns = columns(kernel.arch, tensor);
    // Of a kernel in tensor memory alone only that.
    let is_alone = shared == (0, Some(0)) && columns.is_some();
    let bytes = if is_alone { None } else { bytes(kernel, Space::Shared, shared) };
    bytes.into_iter().chain(columns).collect()
}

/// `UB ≥ 48 KiB of 192 KiB`
fn of_core(kernel: &InForce<'_>, taken: &Taken) -> Option<String> {
    let Taken { space, amount, .. } = *taken;
    Some(format!("{} {}", space.name(), bytes_of(amount, short(taken.capacity), kernel.capacity(space))?))
}

/// `12–98 KiB of 227 KiB (sm_90)`, and by how much that is too much; `None` where nothing is known.
pub(in crate::ide) fn bytes(kernel: &InForce<'_>, space: Space, amount: (u64, Option<u64>)) -> Option<String> {
    bytes_of(amount, capacity(kernel, space), kernel.capacity(space))
}

fn bytes_of(of: (u64, Option<u64>), shown: String, capacity: u64) -> Option<String> {
    let amount = amount(of)?;
    let over = formatting::over(of.0, capacity, "bytes").map_or_else(String::new, |over| format!(" ⚠ {over}"));
    Some(format!("{amount} of {shown}{over}"))
}

/// `227 KiB (sm_90)`, `192 KiB of UB (ascend910b)`
pub(in crate::ide) fn capacity(kernel: &InForce<'_>, space: Space) -> String {
    let of = if kernel.arch.is_npu() { format!(" of {}", space.name()) } else { String::new() };
    format!("{}{of}{}", short(kernel.capacity(space)), device(kernel))
}

/// ` (sm_90)`; a device that is assumed is named at the end of a lens.
fn device(kernel: &InForce<'_>) -> String {
    let is_assumed = kernel.assumed.iter().any(|it| matches!(it, Assumed::Device(..)));
    if is_assumed { String::new() } else { format!(" ({})", kernel.arch) }
}

/// `12–98 KiB`
pub(in crate::ide) fn amount((low, high): (u64, Option<u64>)) -> Option<String> {
    Some(match high {
        None if low == 0 => return None,
        None => format!("≥ {}", rounded_down(low)),
        Some(high) if high == low => short(high),
        // A least that is rounded down to nothing says nothing.
        Some(high) if low == 0 || high >= KIB && low * 10 < KIB => format!("at most {}", short(high)),
        Some(high) if high < KIB => format!("{low}–{}", short(high)),
        Some(high) => format!("{}–{}", rounded_down(low).trim_end_matches(" KiB"), short(high)),
    })
}

/// `128 of 512 columns of tensor memory`; `None` where it takes none.
fn columns(arch: Arch, (low, high): (u64, Option<u64>)) -> Option<String> {
    if arch.tmem() == 0 || high == Some(0) || (low == 0 && high.is_none()) {
        return None;
    }
    let amount = match high {
        None => format!("≥ {low}"),
        Some(high) if high == low => low.to_string(),
        Some(high) if low == 0 => format!("at most {high}"),
        Some(high) => format!("{low}–{high}"),
    };
    let over = formatting::over(low, arch.tmem(), "columns").map_or_else(String::new, |over| format!(" ⚠ {over}"));
    Some(format!("{amount} of {} columns{over}", arch.tmem()))
}

/// `room for 2 blocks/SM`: as far as shared memory goes.
fn room(arch: Arch, (low, high): (u64, u64)) -> Option<String> {
    let blocks = arch.blocks(high);
    if blocks == 0 || blocks > MANY_BLOCKS {
        return None;
    }
    let least = if arch.blocks(low) == blocks { "" } else { "≥ " };
    let plural = if blocks == 1 { "block" } else { "blocks" };
    let unit = if arch.is_amd() { "CU" } else { "SM" };
    Some(format!("room for {least}{blocks} {plural}/{unit}"))
}

const KIB: u64 = 1024;

/// `512 B`, `16.5 KiB`
fn short(bytes: u64) -> String {
    if bytes < KIB { format!("{bytes} B") } else { formatting::kib(bytes) }
}

/// What is the least stays so.
fn rounded_down(bytes: u64) -> String {
    if bytes.is_multiple_of(KIB / 4) && bytes >= KIB {
        return formatting::kib(bytes);
    }
    format!("{} KiB", (bytes * 10 / KIB) as f64 / 10.0)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use tilefit_gpu::assumed::Hint;

    use super::*;

    fn said(smem: (u64, Option<u64>), tmem: (u64, Option<u64>), assumed: &[Assumed]) -> String {
        let arch = Arch::from_name("sm_90").expect("a device");
        let taken = |(space, amount)| Taken { space, amount, capacity: arch.capacity(space) };
        let memories = [(Space::Shared, smem), (Space::Tensor, tmem)].map(taken).to_vec();
        line(&InForce { arch, assumed, memories, are_blocks_known: false }, None).unwrap_or_default()
    }

    #[test]
    fn bytes_in_words() {
        let none = (0, Some(0));
        expect!["48 KiB of 227 KiB (sm_90) · room for 4 blocks/SM"].assert_eq(&said((49152, Some(49152)), none, &[]));
        expect!["12–98 KiB of 227 KiB (sm_90) · room for ≥ 2 blocks/SM"].assert_eq(&said(
            (12288, Some(100352)),
            none,
            &[],
        ));
        expect!["56–80.1 KiB of 227 KiB (sm_90) · room for ≥ 2 blocks/SM"].assert_eq(&said(
            (57360, Some(81936)),
            none,
            &[],
        ));
        let little = said((8, Some(65536)), none, &[]);
        expect!["at most 64 KiB of 227 KiB (sm_90) · room for ≥ 3 blocks/SM"].assert_eq(&little);
        expect!["at most 4 B of 227 KiB (sm_90)"].assert_eq(&said((0, Some(4)), none, &[]));
        expect!["256–512 B of 227 KiB (sm_90)"].assert_eq(&said((256, Some(512)), none, &[]));
        expect!["≥ 48 KiB of 227 KiB (sm_90)"].assert_eq(&said((49152, None), none, &[]));
        expect!["293 KiB of 227 KiB (sm_90) ⚠ 66 KiB over"].assert_eq(&said((300032, Some(300032)), none, &[]));
        expect![""].assert_eq(&said((0, None), (0, None), &[]));
        let arch = Arch::from_name("sm_90").expect("a device");
        let assumed = [Assumed::Device(arch, Hint::Nothing), Assumed::Warps(4)];
        expect!["8 KiB of 227 KiB · assumes sm_90, 4 warps"].assert_eq(&said((8192, Some(8192)), none, &assumed));
    }
}

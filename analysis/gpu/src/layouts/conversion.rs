//! Scratch of `convert_layout` (`lib/Analysis/Utility.cpp`, `lib/Tools/GenericSwizzling.cpp`): none where registers are renamed or lanes of a warp
//! exchange data; else the tensor, less the *repetitions*: registers on both sides whose parts go through the same bytes, one after the other.

use super::super::device::Compiler;
use super::linear::Flat;
use super::{Hardware, Layout, Reason, Vendor, stored_bits};

/// Bytes of shared memory that converting a tensor takes.
pub fn conversion_bytes(
    shape: &[u32],
    bits: u32,
    from: &Layout,
    to: &Layout,
    hardware: &Hardware,
) -> Result<u64, Reason> {
    let bits = stored_bits(bits)?;
    let (source, target) = (from.linear(shape, hardware)?.flat(shape), to.linear(shape, hardware)?.flat(shape));
    if source.warp.len() != target.warp.len() {
        return Err("a conversion between layouts of different numbers of warps".into());
    }
    if stays_in_warps(&source, &target, hardware.compiler) {
        return Ok(0);
    }
    let repetitions = match hardware.vendor {
        Vendor::Nvidia => best_pair(&source, &target, bits, hardware),
        Vendor::Amd => None,
    };
    Ok(bytes(&source, bits, repetitions.unwrap_or_else(|| plain_repetitions(&source, &target, bits, hardware))))
}

/// Bytes of a tensor that is stored and loaded by plain instructions, whatever warps it moves between.
pub(super) fn plain_bytes(source: &Flat, target: &Flat, bits: u32, hardware: &Hardware) -> u64 {
    bytes(source, bits, plain_repetitions(source, target, bits, hardware))
}

fn bytes(source: &Flat, bits: u32, repetitions: usize) -> u64 {
    (1 << (source.bits as usize - repetitions)) * u64::from(bits) / 8
}

/// Does each warp find its data in itself, and its lanes find them by less than two exchanges with registers?
fn stays_in_warps(source: &Flat, target: &Flat, compiler: Compiler) -> bool {
    // Where all warps of the source hold the same, a warp may also take from a lane what another takes from another lane.
    let has = |(at, bit): (usize, &u32)| match *bit {
        0 => true,
        bit if source.warp.contains(&bit) => source.warp[at] == bit,
        bit => source.lane.contains(&bit),
    };
    let within = match compiler >= Compiler::V3_9 {
        true => target.warp.iter().enumerate().all(has),
        false => source.warp == target.warp,
    };
    let from_warps = |bits: &[u32]| bits.iter().any(|bit| *bit != 0 && source.warp.contains(bit));
    within && !from_warps(&target.register) && !from_warps(&target.lane) && exchanges(source, target) < 2
}

/// The registers that go to lanes when bits of registers and lanes are permuted from the source to the target.
fn exchanges(source: &Flat, target: &Flat) -> usize {
    let padded = |layout: &Flat| {
        let registers = source.register.len().max(target.register.len());
        let mut bits = layout.register.clone();
        bits.resize(registers, 0);
        bits.extend(&layout.lane);
        (bits, registers)
    };
    let ((from, registers), (to, _)) = (padded(source), padded(target));
    // Bits that repeat data on one side only are matched in their order.
    let free = |own: &[u32], other: &[u32]| -> Vec<usize> {
        (0..own.len()).filter(|&bit| own[bit] == 0 && other[bit] != 0).collect()
    };
    let (free_from, free_to) = (free(&from, &to), free(&to, &from));
    let goes_to = |bit: usize| match from[bit] {
        0 => free_from.iter().position(|&free| free == bit).and_then(|at| free_to.get(at).copied()),
        basis => to.iter().position(|&other| other == basis),
    };
    (0..registers).filter(|&bit| goes_to(bit).is_some_and(|to| to >= registers)).count()
}

/// How one side accesses shared memory: lanes whose elements lie side by side, and lanes whose addresses differ within one access.
#[derive(Clone, Copy)]
struct Instruction {
    contiguous: &'static [usize],
    addressed: &'static [usize],
}

/// `ld.shared`, `st.shared`, 128 bits each.
const SHARED: Instruction = Instruction { contiguous: &[], addressed: &[0, 1, 2] };
/// `ldmatrix`, `stmatrix`.
const MATRIX: Instruction = Instruction { contiguous: &[0, 1], addressed: &[2, 3, 4] };
/// The same with `.trans`.
const TRANSPOSED: Instruction = Instruction { contiguous: &[2, 3, 4], addressed: &[0, 1] };

impl Instruction {
    fn all(bits: u32, has_matrices: bool) -> impl Iterator<Item = Instruction> {
        let matrix = (has_matrices && bits <= 32).then_some(MATRIX);
        let transposed = (has_matrices && bits == 16).then_some(TRANSPOSED);
        [Some(SHARED), matrix, transposed].into_iter().flatten()
    }

    /// Repetitions that one instruction does at once (`.x4`).
    fn at_once(self) -> usize {
        self.contiguous.len() + self.addressed.len() - 3
    }

    /// The bits that select an address within one access; `None`: there are too few registers.
    fn tile(self, layout: &Flat, vector: &[u32]) -> Option<Vec<u32>> {
        let count = 3 - self.addressed.len();
        let registers = layout.register.iter().copied().filter(|bit| !vector.contains(bit));
        let mut tile: Vec<u32> = registers.take(count).collect();
        if tile.len() < count {
            return None;
        }
        tile.extend(self.addressed.iter().map(|&lane| layout.lane[lane]));
        Some(tile)
    }
}

/// The repetitions under the pair of instructions with the fewest bank conflicts. `None`: no pair of 128 bits fits.
fn best_pair(source: &Flat, target: &Flat, bits: u32, hardware: &Hardware) -> Option<usize> {
    let mut best: Option<(usize, usize)> = None;
    for store in Instruction::all(bits, hardware.stores_matrices()) {
        for load in Instruction::all(bits, true) {
            let Some(vector) = common_vector((source, store), (target, load), bits) else { continue };
            let (Some(stored), Some(loaded)) = (store.tile(source, &vector), load.tile(target, &vector)) else {
                continue;
            };
            let segment = segment(source.bits, &vector, &stored, &loaded, bits, hardware);
            let repeated = repeated(&segment, source, target);
            let taken = repeated.iter().skip(store.at_once().min(load.at_once()));
            let rest: Vec<u32> =
                segment.iter().copied().filter(|bit| !taken.clone().any(|other| other == bit)).collect();
            let conflicts = |tile: &[u32]| (1 << rest.iter().filter(|bit| tile.contains(bit)).count()) - 1;
            let found = (conflicts(&stored) + conflicts(&loaded), taken.count());
            let is_better = |(fewest, most): (usize, usize)| found.0 < fewest || (found.0 == fewest && found.1 > most);
            if best.is_none_or(is_better) {
                best = Some(found);
            }
        }
    }
    best.map(|(_, repetitions)| repetitions)
}

/// The bits of 128 bits that lie side by side for both instructions.
fn common_vector(source: (&Flat, Instruction), target: (&Flat, Instruction), bits: u32) -> Option<Vec<u32>> {
    let all = (128 / bits).ilog2() as usize;
    let registers = |instruction: Instruction| all.checked_sub(instruction.contiguous.len());
    let (mut wide, mut narrow) = (source, target);
    if registers(wide.1)? < registers(narrow.1)? {
        (wide, narrow) = (narrow, wide);
    }
    let (wide_count, narrow_count) = (registers(wide.1)?, registers(narrow.1)?);
    let mut vector = common(&wide.0.register, &narrow.0.register);
    if vector.len() < narrow_count {
        return None;
    }
    vector.truncate(narrow_count);
    let lanes = |(layout, instruction): (&Flat, Instruction)| -> Vec<u32> {
        instruction.contiguous.iter().map(|&lane| layout.lane[lane]).collect()
    };
    let (wide_lanes, narrow_lanes) = (lanes(wide), lanes(narrow));
    if wide_lanes.contains(&0) || narrow_lanes.contains(&0) {
        return None;
    }
    let (in_registers, in_lanes) = narrow_lanes.split_at(wide_count - narrow_count);
    if !in_registers.iter().all(|bit| wide.0.register.contains(bit)) || in_lanes != wide_lanes {
        return None;
    }
    vector.extend(narrow_lanes);
    Some(vector)
}

fn common(one: &[u32], other: &[u32]) -> Vec<u32> {
    one.iter().copied().filter(|bit| *bit != 0 && other.contains(bit)).collect()
}

/// Registers of both sides among the bits of the segment.
fn repeated(segment: &[u32], source: &Flat, target: &Flat) -> Vec<u32> {
    segment.iter().copied().filter(|bit| source.register.contains(bit) && target.register.contains(bit)).collect()
}

/// The bits behind those of a vector and of a line of banks, chosen so that neither side meets one bank twice where that can be.
fn segment(all: u32, vector: &[u32], stored: &[u32], loaded: &[u32], bits: u32, hardware: &Hardware) -> Vec<u32> {
    let rest = all as usize - vector.len();
    let line = (32 * hardware.banks() / (bits << vector.len())).max(1).ilog2() as usize;
    let wanted = rest - line.min(rest);
    let in_line = |tile: &[u32]| -> Vec<u32> {
        let mut bits: Vec<u32> = vector.iter().chain(tile).copied().filter(|&bit| bit != 0).collect();
        bits.sort_unstable();
        bits.dedup();
        bits
    };
    let (stored, loaded) = (in_line(stored), in_line(loaded));
    let is_free = |bit: &u32| !stored.contains(bit) && !loaded.contains(bit);
    let mut segment: Vec<u32> = (0..all).map(|bit| 1 << bit).filter(is_free).take(wanted).collect();
    let only =
        |one: &[u32], other: &[u32]| -> Vec<u32> { one.iter().copied().filter(|bit| !other.contains(bit)).collect() };
    let (mut few, mut many) = (only(&stored, &loaded), only(&loaded, &stored));
    if few.len() > many.len() {
        (few, many) = (many, few);
    }
    let conflicting = wanted.saturating_sub(few.len() + segment.len()).min(few.len());
    segment.extend(few.iter().zip(&many).skip(conflicting).map(|(one, other)| one ^ other));
    segment.extend(&few[..conflicting]);
    segment.extend(&many[..conflicting]);
    segment.truncate(wanted);
    segment
}

/// The repetitions of plain stores and loads, of as many bits as both sides have in registers.
fn plain_repetitions(source: &Flat, target: &Flat, bits: u32, hardware: &Hardware) -> usize {
    let vector = plain_vector(source, target, bits);
    let vector_bits = bits << vector.len();
    // As many lanes as meet each bank once.
    let words = (vector_bits / 32).max(1).ilog2();
    let lanes = |layout: &Flat| {
        let dropped = (words + layout.lane.len() as u32).saturating_sub(hardware.banks().ilog2());
        layout.lane[..layout.lane.len() - dropped as usize].to_vec()
    };
    let stored = lanes(source);
    let count = |loaded: &[u32]| {
        repeated(&segment(source.bits, &vector, &stored, loaded, bits, hardware), source, target).len()
    };
    // Which lanes of CDNA meet in one access of 128 bits; the best set is taken.
    let sets: &[&[usize]] = match (hardware.vendor, hardware.capability, vector_bits) {
        (Vendor::Amd, 942, 128) => &[&[0, 1, 4], &[0, 1, 2]],
        (Vendor::Amd, 950, 128) => &[&[0, 1, 3, 4], &[0, 1, 2, 3], &[0, 1, 2, 4]],
        _ => return count(&lanes(target)),
    };
    let sets = if hardware.compiler >= Compiler::V3_9 { sets } else { &sets[..1] };
    let of_set = |set: &&[usize]| count(&set.iter().map(|&lane| target.lane[lane]).collect::<Vec<u32>>());
    sets.iter().map(of_set).max().unwrap_or(0)
}

fn plain_vector(source: &Flat, target: &Flat, bits: u32) -> Vec<u32> {
    let mut vector = common(&source.register, &target.register);
    vector.truncate((128 / bits).ilog2() as usize);
    if bits << vector.len() >= 32 {
        return vector;
    }
    // Less than a word of a bank: warps fill it up.
    let word = (32 / bits).ilog2() as usize;
    let outside =
        |registers: &[u32]| -> Vec<u32> { registers.iter().copied().filter(|bit| !vector.contains(bit)).collect() };
    let (stored, loaded) =
        (common(&outside(&source.register), &target.warp), common(&outside(&target.register), &source.warp));
    let takes_stored = match stored.len().cmp(&loaded.len()) {
        std::cmp::Ordering::Equal => stored.iter().min() < loaded.iter().min(),
        order => order.is_gt(),
    };
    vector.extend(if takes_stored { stored } else { loaded });
    if vector.len() < word {
        vector.extend(common(&source.warp, &target.warp));
    }
    let warps = |layout: &Flat| layout.warp.iter().copied().filter(|&bit| bit != 0).collect::<Vec<u32>>();
    let (from, to) = (warps(source), warps(target));
    for at in 0..from.len().max(to.len()) {
        for bit in [from.get(at), to.get(at)].into_iter().flatten() {
            if vector.len() < word && !vector.contains(bit) {
                vector.push(*bit);
            }
        }
    }
    vector.truncate(word);
    vector
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const SM_80: Hardware = Hardware { vendor: Vendor::Nvidia, capability: 80, compiler: Compiler::V3_9 };

    fn blocked(registers: [u32; 2], lanes: [u32; 2], warps: [u32; 2]) -> Layout {
        Layout::Blocked {
            size_per_thread: registers.to_vec(),
            threads_per_warp: lanes.to_vec(),
            warps_per_cta: warps.to_vec(),
            order: vec![1, 0],
        }
    }

    fn check(shape: [u32; 2], bits: u32, from: &Layout, to: &Layout, bytes: u64) {
        assert_eq!(conversion_bytes(&shape, bits, from, to, &SM_80), Ok(bytes));
    }

    #[test]
    fn a_layout_needs_nothing_to_become_itself_or_what_its_lanes_exchange() {
        let rows = blocked([1, 2], [8, 4], [4, 1]);
        check([64, 64], 16, &rows, &rows, 0);
        check([64, 64], 16, &rows, &blocked([2, 1], [4, 8], [4, 1]), 0);
    }

    #[test]
    fn repetitions_share_bytes() {
        let accumulator = Layout::Mma { version: (2, 0), warps_per_cta: vec![2, 2], instr_shape: vec![16, 8] };
        check([64, 64], 16, &blocked([1, 8], [4, 8], [4, 1]), &accumulator, 4096);
    }

    #[test]
    fn what_no_warp_has_is_an_error() {
        let (two, four) = (blocked([1, 1], [8, 4], [2, 1]), blocked([1, 1], [8, 4], [4, 1]));
        assert!(conversion_bytes(&[64, 64], 16, &two, &four, &SM_80).is_err());
        assert!(conversion_bytes(&[64, 0], 16, &two, &two, &SM_80).is_err());
        assert!(conversion_bytes(&[64, 48], 16, &two, &two, &SM_80).is_err());
        assert!(conversion_bytes(&[64], 16, &two, &two, &SM_80).is_err());
        let slice = Layout::Slice { dim: 7, parent: Arc::new(two.clone()) };
        assert!(conversion_bytes(&[64], 16, &slice, &slice, &SM_80).is_err());
        let huge = blocked([1 << 31, 1 << 31], [8, 4], [2, 1]);
        assert!(conversion_bytes(&[64, 64], 16, &huge, &two, &SM_80).is_err());
    }
}

//! How many blocks of a kernel a multiprocessor of NVIDIA runs at once, from what the machine code takes.
//!
//! The rules are those of `cuda_occupancy.h`, which CUDA ships, and of "compute capabilities" in the CUDA programming guide, whose table
//! is in `device.rs`. Tensor memory is in none of them: a block that finds none left is resident, and waits.

use crate::device::Arch;

/// 32-bit registers of a multiprocessor, which are also the most that one block may have.
const REGISTERS: u64 = 65_536;
/// Registers are given to warps in units of so many.
const REGISTER_UNIT: u64 = 256;
/// The most registers of a thread.
const MOST_OF_A_THREAD: u64 = 256;
const THREADS_OF_A_WARP: u64 = 32;
/// The most warps of a block.
const MOST_WARPS: u64 = 32;
/// A multiprocessor has its registers in so many parts, and a warp is in one of them.
const PARTS: u64 = 4;

/// What a block takes of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Of each thread.
    pub registers: u64,
    /// Bytes, static and dynamic.
    pub shared: u64,
    pub warps: u64,
    /// Named barriers.
    pub barriers: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks at once on one multiprocessor; 0 where a block cannot run.
    pub blocks: u64,
    /// All that leave no room for another block, in the order of [`Limit`].
    pub limits: Vec<Limit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    Registers,
    SharedMemory,
    Warps,
    Barriers,
    /// The device runs no more, however small they are.
    Blocks,
}

impl Limit {
    pub fn name(self) -> &'static str {
        match self {
            Limit::Registers => "registers",
            Limit::SharedMemory => "shared memory",
            Limit::Warps => "warps",
            Limit::Barriers => "barriers",
            Limit::Blocks => "blocks",
        }
    }
}

/// `None` for devices whose limits are not published, and AMD's.
pub fn blocks_per_sm(arch: Arch, block: Block) -> Option<Occupancy> {
    let multiprocessor = arch.multiprocessor()?;
    let most = multiprocessor.blocks;
    // Of an answer that is damaged any number may come; what is far too much stays that.
    let block = Block { shared: block.shared.min(1 << 32), warps: block.warps.min(1 << 16), ..block };
    let by_limit = [
        (Limit::Registers, by_registers(block)),
        (Limit::SharedMemory, by_shared_memory(arch, block.shared)),
        (Limit::Warps, by_warps(multiprocessor.warps, block.warps)),
        (Limit::Barriers, by_barriers(arch, multiprocessor.barriers, block.barriers)),
        (Limit::Blocks, Some(most)),
    ];
    let blocks = by_limit.iter().filter_map(|(_, blocks)| *blocks).min()?;
    let limits = by_limit.iter().filter(|(_, most)| *most == Some(blocks)).map(|(limit, _)| *limit).collect();
    Some(Occupancy { blocks, limits })
}

/// `None`: as many as there are.
fn by_registers(block: Block) -> Option<u64> {
    if block.registers > MOST_OF_A_THREAD {
        return Some(0);
    }
    let of_warp = (block.registers * THREADS_OF_A_WARP).next_multiple_of(REGISTER_UNIT);
    // Before a launch the hardware counts as if all parts had the same number of warps.
    if of_warp * block.warps.next_multiple_of(PARTS) > REGISTERS {
        return Some(0);
    }
    let warps = (REGISTERS / PARTS).checked_div(of_warp)? * PARTS;
    warps.checked_div(block.warps)
}

fn by_shared_memory(arch: Arch, bytes: u64) -> Option<u64> {
    let taken = (bytes + arch.reserved_smem()).next_multiple_of(arch.smem_unit());
    let all = arch.smem() + arch.reserved_smem();
    all.checked_div(taken)
}

fn by_warps(all: u64, warps: u64) -> Option<u64> {
    if warps > MOST_WARPS { Some(0) } else { all.checked_div(warps) }
}

/// Counted from sm_90 on.
fn by_barriers(arch: Arch, all: u64, barriers: u64) -> Option<u64> {
    if arch.capability() < 90 { None } else { all.checked_div(barriers) }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(device: &str, (registers, shared, warps, barriers): (u64, u64, u64, u64), expected: Expect) {
        let arch = Arch::from_name(device).expect("a device");
        let occupancy = blocks_per_sm(arch, Block { registers, shared, warps, barriers });
        let words = |Occupancy { blocks, limits }: Occupancy| {
            let limits: Vec<&str> = limits.into_iter().map(Limit::name).collect();
            format!("{blocks}: {}", limits.join(", "))
        };
        expected.assert_eq(&occupancy.map_or("unknown".to_owned(), words));
    }

    #[test]
    fn the_scarcest_limits() {
        check("sm_90", (255, 147_456, 4, 1), expect!["1: shared memory"]);
        check("sm_90", (168, 100_352, 4, 1), expect!["2: shared memory"]);
        check("sm_90", (121, 98_304, 8, 1), expect!["2: registers, shared memory"]);
        check("sm_90", (255, 0, 8, 1), expect!["1: registers"]);
        check("sm_80", (32, 0, 8, 1), expect!["8: registers, warps"]);
        check("sm_86", (32, 0, 8, 1), expect!["6: warps"]);
        check("sm_120", (90, 16_384, 4, 1), expect!["5: registers, shared memory"]);
        check("sm_90", (16, 0, 1, 1), expect!["32: blocks"]);
        check("sm_89", (16, 0, 1, 1), expect!["24: blocks"]);
        check("sm_100", (32, 0, 4, 16), expect!["4: barriers"]);
        check("sm_120", (32, 0, 4, 8), expect!["3: barriers"]);
    }

    /// Units are rounded up to, and one more is too many.
    #[test]
    fn at_the_edges() {
        check("sm_90", (128, 0, 4, 1), expect!["4: registers"]);
        check("sm_90", (129, 0, 4, 1), expect!["3: registers"]);
        check("sm_80", (16, 82_944, 4, 1), expect!["2: shared memory"]);
        check("sm_80", (16, 82_945, 4, 1), expect!["1: shared memory"]);
        check("sm_90", (65, 0, 32, 1), expect!["0: registers"]);
        check("sm_90", (32, 232_449, 4, 1), expect!["0: shared memory"]);
        check("sm_90", (16, 0, 33, 1), expect!["0: warps"]);
    }

    #[test]
    fn nothing_is_said_where_nothing_is_published() {
        check("sm_107", (32, 0, 4, 1), expect!["unknown"]);
        check("gfx942", (32, 0, 4, 1), expect!["unknown"]);
    }
}

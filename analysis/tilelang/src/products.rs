//! How a block's warps share a matrix product, and with which instruction
//! (docs/reference/tilelang.md, "6. Alignment on sm_90 and later (16 elsewhere)").

use crate::program::{Gemm, Launch, Op, Scope, WarpPolicy};
use crate::target::Target;

/// The instruction of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// Of a warp.
    Mma,
    /// Of four warps, with operands in shared memory.
    WarpGroup,
    /// With the result in tensor memory.
    TensorMemory,
}

/// How many warps a tile has in each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Warps {
    pub m: u64,
    pub n: u64,
}

/// Threads of a warp.
fn warp(target: Target) -> u64 {
    match target {
        Target::Nvidia { .. } => 32,
        Target::Amd { .. } => 64,
    }
}

/// Rows that a warp multiplies at least.
const ROWS: u64 = 16;
/// Warps of a warp group.
const GROUP: u64 = 4;

pub(crate) fn instruction(launch: &Launch, op: &Op, gemm: &Gemm, target: Target, threads: u64) -> Instruction {
    let scope = |regions: &[crate::program::Region]| regions.first().map(|region| launch.buffer(region.buffer).scope);
    if gemm.is_tcgen05 || scope(&op.writes) == Some(Scope::TensorMemory) && target.has_tensor_memory() {
        return Instruction::TensorMemory;
    }
    let is_group = target.has_warp_group_products()
        && gemm.m >= 64
        && (threads / warp(target)).is_multiple_of(GROUP)
        && has_types_of_groups(launch, op, gemm);
    if is_group { Instruction::WarpGroup } else { Instruction::Mma }
}

fn has_types_of_groups(launch: &Launch, op: &Op, gemm: &Gemm) -> bool {
    let [a, b] = [0, 1].map(|i| op.reads.get(i).map(|region| launch.buffer(region.buffer)));
    let result = op.writes.first().map(|region| launch.buffer(region.buffer));
    let (Some(a), Some(b), Some(result)) = (a, b, result) else { return false };
    if !matches!(b.scope, Scope::Shared | Scope::StaticShared) {
        return false;
    }
    let is_row_by_row = gemm.transposes == [false, true];
    let of = |names: &[&str]| names.contains(&&*a.dtype.name) && names.contains(&&*b.dtype.name);
    let is_float8 = a.dtype.name.starts_with("float8") && b.dtype.name.starts_with("float8");
    let multiple = |count: u64| gemm.k.is_multiple_of(count);
    match &*result.dtype.name {
        "float16" => of(&["float16"]) && multiple(16) || is_float8 && is_row_by_row && multiple(32),
        "float32" => {
            (of(&["float16"]) || of(&["bfloat16"])) && multiple(16)
                || of(&["tfloat32"]) && is_row_by_row && multiple(8)
                || is_float8 && is_row_by_row && multiple(32)
        }
        "int32" => of(&["int8", "uint8"]) && is_row_by_row && multiple(32),
        _ => false,
    }
}

/// `None` where the tile cannot be shared evenly: the compiler refuses it.
pub(crate) fn warps(gemm: &Gemm, instruction: Instruction, target: Target, threads: u64) -> Option<Warps> {
    let warps = threads / warp(target);
    match (instruction, target) {
        (Instruction::TensorMemory, _) => Some(Warps { m: 1, n: warps }),
        (_, Target::Amd { .. }) => of_wavefronts(gemm, warps),
        (Instruction::WarpGroup, _) => evenly(gemm, warps, GROUP),
        (Instruction::Mma, _) => evenly(gemm, warps, 1),
    }
}

/// Columns that a warp multiplies at least.
const COLUMNS: u64 = 8;

/// Each warp has as many rows and columns as any other; rows are for `group` warps together.
fn evenly(gemm: &Gemm, warps: u64, group: u64) -> Option<Warps> {
    let is_even = |m: &u64| {
        m.is_multiple_of(group)
            && warps.is_multiple_of(*m)
            && gemm.m.is_multiple_of(m.saturating_mul(ROWS))
            && gemm.n.is_multiple_of((warps / m).saturating_mul(COLUMNS))
    };
    // More warps no block has.
    let mut possible = (1..=warps.min(64)).filter(is_even).map(|m| Warps { m, n: warps / m });
    match gemm.policy {
        WarpPolicy::FullRow => possible.next_back(),
        WarpPolicy::FullColumn => possible.next(),
        WarpPolicy::Square => squarest(gemm, possible, COLUMNS),
    }
}

fn squarest(gemm: &Gemm, possible: impl Iterator<Item = Warps>, columns: u64) -> Option<Warps> {
    let ideal = gemm.m as f32 / gemm.n.max(1) as f32;
    let imbalance = |warps: &Warps| {
        let rows = gemm.m as f32 / warps.m.saturating_mul(ROWS) as f32;
        (rows / (gemm.n as f32 / warps.n.saturating_mul(columns) as f32) - ideal).abs()
    };
    possible.min_by(|one, other| imbalance(one).total_cmp(&imbalance(other)))
}

/// As on AMD, where a warp may be left with nothing.
fn of_wavefronts(gemm: &Gemm, warps: u64) -> Option<Warps> {
    const COLUMNS: u64 = 16;
    if warps == 0 || !gemm.m.is_multiple_of(ROWS) || !gemm.n.is_multiple_of(COLUMNS) {
        return None;
    }
    let (rows, columns) = ((gemm.m / ROWS).max(1), (gemm.n / COLUMNS).max(1));
    let shared = match gemm.policy {
        WarpPolicy::FullRow if gemm.m.is_multiple_of(warps.saturating_mul(ROWS)) => Warps { m: warps, n: 1 },
        WarpPolicy::FullRow => Warps { m: rows, n: (warps / rows).max(1) },
        WarpPolicy::FullColumn if gemm.n.is_multiple_of(warps.saturating_mul(COLUMNS)) => Warps { m: 1, n: warps },
        WarpPolicy::FullColumn => Warps { m: (warps / columns).max(1), n: columns },
        WarpPolicy::Square => {
            let possible = (1..=rows.min(warps).min(64)).map(|m| Warps { m, n: warps / m });
            let is_whole = |w: &Warps| w.m * w.n == warps && gemm.n >= w.n.saturating_mul(COLUMNS);
            squarest(gemm, possible.filter(is_whole), COLUMNS).unwrap_or(Warps { m: 1, n: 1 })
        }
    };
    (shared.m.saturating_mul(shared.n) == warps).then_some(shared)
}

/// Elements along K that one instruction of a warp multiplies; K is a multiple of it.
pub(crate) fn smallest_depth(launch: &Launch, op: &Op) -> Option<u64> {
    const BITS: u64 = 256;
    let operand = launch.buffer(op.reads.first()?.buffer);
    BITS.checked_div(operand.dtype.bits)
}

/// The run of elements that lies together in the layout of each operand.
pub(crate) fn runs(
    launch: &Launch,
    op: &Op,
    gemm: &Gemm,
    instruction: Instruction,
    warps: Option<Warps>,
) -> [Option<u64>; 2] {
    let row = |i: usize| {
        let region = op.reads.get(i)?;
        launch.buffer(region.buffer).shape.last()?.known()
    };
    let [is_a_transposed, is_b_transposed] = gemm.transposes;
    let instruction_columns = || warps.map(|warps| gemm.n / warps.n.max(1));
    match instruction {
        Instruction::Mma => [row(0), row(1)],
        Instruction::WarpGroup => [
            Some(if is_a_transposed { 64 } else { gemm.k }),
            if is_b_transposed { Some(gemm.k) } else { instruction_columns() },
        ],
        Instruction::TensorMemory => {
            [Some(if is_a_transposed { gemm.m } else { gemm.k }), if is_b_transposed { Some(gemm.k) } else { row(1) }]
        }
    }
}

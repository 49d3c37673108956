//! The allocator of tensor memory (`lib/Dialect/TritonNvidiaGPU/Transforms/TensorMemoryAllocation.cpp` of Triton): 512 columns of 32 bits in 128 rows,
//! of which a buffer takes all or one half. In program order, each buffer takes the first columns that are free.

use tilefit_python::work;

use super::liveness::{LiveRange, Task, are_beside};

/// Rows of a half.
pub const HALF: u32 = 64;
/// Buffers start at multiples of this many columns.
const GRANULE: u32 = 4;

/// A buffer to place, in the order of the allocations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// At most 2^16: what the hardware has is far less.
    pub columns: u32,
    /// 64 or 128.
    pub rows: u32,
    pub live: LiveRange,
    /// Where the operation stands that it belongs to.
    pub task: Option<Task>,
    /// An earlier buffer of 64 rows that is used in one product with it: they take the same half.
    pub with: Option<usize>,
}

/// The first column, and the half of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub column: u32,
    pub half: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    pub places: Vec<Place>,
    /// Columns that the block asks for; more than 512 is an error when the kernel is loaded.
    pub columns: u64,
}

/// Places buffers as the compiler does.
pub fn allocate(buffers: &[Buffer]) -> Allocation {
    let mut places: Vec<Place> = Vec::with_capacity(buffers.len());
    for buffer in buffers {
        work::spend_on_pairs(places.len());
        let placed = || buffers.iter().zip(&places);
        let in_the_way = |other: &Buffer| other.live.end > buffer.live.start || are_beside(other.task, buffer.task);
        let blocking: Vec<(&Buffer, &Place)> = placed().filter(|(other, _)| in_the_way(other)).collect();
        let is_free = |place: &Place| !blocking.iter().any(|(other, at)| share_cells(buffer, *place, other, **at));
        let halves = match buffer.with {
            Some(with) => places[with].half..=places[with].half,
            None if buffer.rows > HALF => 0..=0,
            None => 0..=1,
        };
        // The first free column is the first of all, or one where something ends.
        let behind = blocking.iter().map(|(other, at)| end(other, **at).next_multiple_of(GRANULE));
        let mut columns: Vec<u32> = std::iter::once(0).chain(behind).collect();
        columns.sort_unstable();
        let mut candidates = columns.iter().flat_map(|&column| halves.clone().map(move |half| Place { column, half }));
        places.extend(candidates.find(is_free));
    }
    let ends = buffers.iter().zip(&places).map(|(buffer, place)| end(buffer, *place));
    Allocation { columns: requested_columns(u64::from(ends.max().unwrap_or(0))), places }
}

/// The column behind a buffer.
fn end(buffer: &Buffer, place: Place) -> u32 {
    place.column + buffer.columns
}

fn share_cells(one: &Buffer, at: Place, other: &Buffer, there: Place) -> bool {
    let same_half = at.half == there.half || one.rows > HALF || other.rows > HALF;
    same_half && at.column < end(other, there) && there.column < end(one, at)
}

/// Columns that are requested for a total: the hardware gives powers of two from 32 on, and 576 where it has them.
pub fn requested_columns(columns: u64) -> u64 {
    match columns {
        0 => 0,
        1..=512 => columns.next_power_of_two().max(32),
        513..=576 => 576,
        _ => columns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_requested_in_powers_of_two() {
        assert_eq!([0, 1, 33, 300, 513, 600].map(requested_columns), [0, 32, 64, 512, 576, 600]);
    }

    fn buffer(columns: u32, rows: u32, live: (u32, u32)) -> Buffer {
        Buffer { columns, rows, live: LiveRange { start: live.0, end: live.1 }, task: None, with: None }
    }

    fn check(buffers: &[Buffer], places: &[(u32, u32)], columns: u64) {
        let places = places.iter().map(|&(column, half)| Place { column, half }).collect();
        assert_eq!(allocate(buffers), Allocation { places, columns });
    }

    #[test]
    fn what_is_asked_for_is_a_power_of_two_from_32_on() {
        check(&[], &[], 0);
        check(&[buffer(4, 128, (0, 1))], &[(0, 0)], 32);
        check(&[buffer(128, 128, (0, 1)), buffer(16, 128, (0, 1))], &[(0, 0), (128, 0)], 256);
    }

    #[test]
    fn two_buffers_of_64_rows_share_columns() {
        check(&[buffer(64, 64, (0, 2)), buffer(64, 64, (1, 2))], &[(0, 0), (0, 1)], 64);
    }

    #[test]
    fn columns_are_free_again_after_the_last_use() {
        check(&[buffer(64, 128, (0, 1)), buffer(32, 128, (1, 2))], &[(0, 0), (0, 0)], 64);
    }

    #[test]
    fn both_sides_of_a_product_take_one_half() {
        let operand = Buffer { with: Some(0), ..buffer(32, 64, (0, 2)) };
        check(&[buffer(64, 64, (0, 2)), operand], &[(0, 0), (64, 0)], 128);
    }
}

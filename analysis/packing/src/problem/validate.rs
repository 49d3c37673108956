//! Says whether offsets are a packing. It shares no code with what finds them, so that a mistake there shows here.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use super::{BufferIx, Problem};

/// The first thing found wrong with a packing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Violation {
    Count {
        buffers: usize,
        offsets: usize,
    },
    Misaligned {
        buffer: BufferIx,
        offset: u64,
        align: u64,
    },
    Moved {
        buffer: BufferIx,
        fixed: u64,
        offset: u64,
    },
    OverCapacity {
        buffer: BufferIx,
        top: u128,
        capacity: u64,
    },
    Reserved {
        buffer: BufferIx,
        reserved: Range<u64>,
    },
    /// Both live at the same time, in common bytes.
    Overlap {
        first: BufferIx,
        second: BufferIx,
    },
    /// Never live at the same time, but a no-alias pair in common bytes.
    Aliased {
        first: BufferIx,
        second: BufferIx,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |ix: &BufferIx| u64::from(ix.0) + 1;
        match self {
            Self::Count { buffers, offsets } => write!(f, "{offsets} offsets for {buffers} buffers"),
            Self::Misaligned { buffer, offset, align } => {
                write!(f, "buffer number {} at offset {offset} is not aligned to {align}", number(buffer))
            }
            Self::Moved { buffer, fixed, offset } => {
                write!(f, "buffer number {} is at offset {offset} but fixed at {fixed}", number(buffer))
            }
            Self::OverCapacity { buffer, top, capacity } => {
                write!(f, "buffer number {} ends at {top}, beyond the capacity of {capacity} bytes", number(buffer))
            }
            Self::Reserved { buffer, reserved: Range { start, end } } => {
                write!(f, "buffer number {} overlaps the reserved range [{start}, {end})", number(buffer))
            }
            Self::Overlap { first, second } => {
                write!(f, "buffers number {} and {} are live together in common bytes", number(first), number(second))
            }
            Self::Aliased { first, second } => {
                write!(f, "buffers number {} and {} must not alias but share bytes", number(first), number(second))
            }
        }
    }
}

impl std::error::Error for Violation {}

/// Checks every rule of the problem in O(n log n): offsets in the order of [`Problem::buffers`], in bytes.
pub fn validate(problem: &Problem, offsets: &[u64]) -> Result<(), Violation> {
    validate_within(problem, offsets, problem.capacity())
}

/// The same for another capacity.
pub(crate) fn validate_within(problem: &Problem, offsets: &[u64], capacity: u64) -> Result<(), Violation> {
    if offsets.len() != problem.buffers().len() {
        return Err(Violation::Count { buffers: problem.buffers().len(), offsets: offsets.len() });
    }
    check_each(problem, offsets, capacity)?;
    check_overlaps(problem, offsets)?;
    check_no_alias(problem, offsets)
}

fn check_each(problem: &Problem, offsets: &[u64], capacity: u64) -> Result<(), Violation> {
    for (buffer, (data, &offset)) in problem.indices().zip(problem.buffers().iter().zip(offsets)) {
        let top = u128::from(offset) + u128::from(data.size);
        if offset % data.align != 0 {
            return Err(Violation::Misaligned { buffer, offset, align: data.align });
        }
        if let Some(fixed) = data.fixed.filter(|&fixed| fixed != offset) {
            return Err(Violation::Moved { buffer, fixed, offset });
        }
        if top > u128::from(capacity) {
            return Err(Violation::OverCapacity { buffer, top, capacity });
        }
        let after = problem.reserved().partition_point(|range| range.end <= offset);
        if let Some(reserved) = problem.reserved().get(after).filter(|range| u128::from(range.start) < top) {
            return Err(Violation::Reserved { buffer, reserved: reserved.clone() });
        }
    }
    Ok(())
}

/// Walks through time with the live byte ranges in address order: while they are disjoint, a new one can only overlap its neighbours.
fn check_overlaps(problem: &Problem, offsets: &[u64]) -> Result<(), Violation> {
    let (mut starts, mut ends) = (Vec::with_capacity(offsets.len()), Vec::with_capacity(offsets.len()));
    for buffer in problem.indices() {
        for interval in problem.buffer(buffer).lifetime.intervals() {
            starts.push((interval.start, buffer));
            ends.push((interval.end, buffer));
        }
    }
    starts.sort_unstable();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    let mut live: BTreeMap<u64, (u64, BufferIx)> = BTreeMap::new();
    for (start, buffer) in starts {
        while let Some((_, ended)) = ends.next_if(|&(end, _)| end <= start) {
            live.remove(&offsets[ended.index()]);
        }
        let offset = offsets[buffer.index()];
        let top = offset + problem.buffer(buffer).size;
        let below = live.range(..top).next_back();
        if let Some((_, &(_, other))) = below.filter(|(_, (below_top, _))| *below_top > offset) {
            return Err(Violation::Overlap { first: buffer.min(other), second: buffer.max(other) });
        }
        live.insert(offset, (top, buffer));
    }
    Ok(())
}

fn check_no_alias(problem: &Problem, offsets: &[u64]) -> Result<(), Violation> {
    let range = |ix: BufferIx| offsets[ix.index()]..offsets[ix.index()] + problem.buffer(ix).size;
    for &(first, second) in problem.no_alias() {
        let (a, b) = (range(first), range(second));
        if a.start < b.end && b.start < a.end {
            return Err(Violation::Aliased { first, second });
        }
    }
    Ok(())
}

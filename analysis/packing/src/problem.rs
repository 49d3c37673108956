//! What is to be packed: buffers with sizes and lifetimes into one memory space.

mod validate;

use std::fmt;
use std::ops::Range;

use rustc_hash::FxHashMap;

pub(crate) use validate::validate_within;

pub use validate::{Violation, validate};

/// No address or height that packing can reach exceeds this, so that sums of checked problems never overflow.
const ADDRESS_LIMIT: u64 = i64::MAX as u64;

/// Position of a buffer in [`Problem::buffers`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BufferIx(pub u32);

impl BufferIx {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A half-open stretch of program time: alive from `start`, free again at `end`. Two intervals that touch may share bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Interval {
    pub start: u64,
    pub end: u64,
}

impl Interval {
    pub fn new(start: u64, end: u64) -> Self {
        Self { start, end }
    }

    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    pub fn meets(self, other: Interval) -> bool {
        self.start < other.end && other.start < self.end
    }

    pub fn contains(self, time: u64) -> bool {
        self.start <= time && time < self.end
    }
}

/// When a buffer holds a value: sorted intervals with gaps between them. One interval costs no allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lifetime {
    first: Interval,
    rest: Vec<Interval>,
}

impl Lifetime {
    pub fn new(start: u64, end: u64) -> Self {
        Self { first: Interval::new(start, end), rest: Vec::new() }
    }

    /// The union of `intervals`. Without any interval, or with an empty one, the lifetime is one that [`Problem::new`] rejects.
    pub fn union(intervals: impl IntoIterator<Item = Interval>) -> Self {
        let mut sorted: Vec<Interval> = intervals.into_iter().collect();
        sorted.sort_unstable();
        if let Some(&empty) = sorted.iter().find(|interval| interval.is_empty()) {
            return Self { first: empty, rest: Vec::new() };
        }
        let mut sorted = sorted.into_iter();
        let mut first = sorted.next().unwrap_or(Interval { start: 0, end: 0 });
        let mut rest: Vec<Interval> = Vec::new();
        for interval in sorted {
            let last = rest.last_mut().unwrap_or(&mut first);
            if interval.start <= last.end {
                last.end = last.end.max(interval.end);
            } else {
                rest.push(interval);
            }
        }
        Self { first, rest }
    }

    pub fn intervals(&self) -> impl Iterator<Item = Interval> + '_ {
        std::iter::once(self.first).chain(self.rest.iter().copied())
    }

    pub fn has_gaps(&self) -> bool {
        !self.rest.is_empty()
    }

    pub fn start(&self) -> u64 {
        self.first.start
    }

    pub fn end(&self) -> u64 {
        self.rest.last().unwrap_or(&self.first).end
    }

    /// Time alive, gaps not counted.
    pub fn duration(&self) -> u64 {
        self.intervals().map(|interval| interval.end - interval.start).sum()
    }

    pub fn contains(&self, time: u64) -> bool {
        self.intervals().any(|interval| interval.contains(time))
    }

    pub fn meets(&self, other: &Lifetime) -> bool {
        if !self.has_gaps() && !other.has_gaps() {
            return self.first.meets(other.first);
        }
        let (mut left, mut right) = (self.intervals().peekable(), other.intervals().peekable());
        while let (Some(&a), Some(&b)) = (left.peek(), right.peek()) {
            if a.meets(b) {
                return true;
            }
            if a.end <= b.start {
                left.next()
            } else {
                right.next()
            };
        }
        false
    }
}

/// One buffer: `size` bytes at an offset that is a multiple of `align`, the same offset for the whole lifetime.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    pub id: String,
    /// Bytes, at least one.
    pub size: u64,
    pub lifetime: Lifetime,
    /// Bytes, at least one; 1 where any offset will do.
    pub align: u64,
    /// The offset that this buffer must have, if it is not free to move.
    pub fixed: Option<u64>,
}

impl Buffer {
    pub fn new(id: impl Into<String>, size: u64, start: u64, end: u64) -> Self {
        Self { id: id.into(), size, lifetime: Lifetime::new(start, end), align: 1, fixed: None }
    }

    pub fn aligned(self, align: u64) -> Self {
        Self { align, ..self }
    }

    pub fn fixed_at(self, offset: u64) -> Self {
        Self { fixed: Some(offset), ..self }
    }
}

/// A problem as it is stated, not yet checked.
#[derive(Clone, Default, Debug)]
pub struct Spec {
    /// Bytes in the memory space.
    pub capacity: u64,
    pub buffers: Vec<Buffer>,
    /// Byte ranges that belong to something else for the whole program.
    pub reserved: Vec<Range<u64>>,
    /// Buffers that must not share a byte although their lifetimes may not meet.
    pub no_alias: Vec<(BufferIx, BufferIx)>,
}

/// A checked problem: no empty buffer or lifetime, fixed offsets that agree with each other, sums below 2^63.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    capacity: u64,
    buffers: Vec<Buffer>,
    reserved: Vec<Range<u64>>,
    no_alias: Vec<(BufferIx, BufferIx)>,
}

impl Problem {
    pub fn new(spec: Spec) -> Result<Self, ProblemError> {
        let Spec { capacity, buffers, reserved, no_alias } = spec;
        if u32::try_from(buffers.len()).is_err() {
            return Err(ProblemError::TooManyBuffers { count: buffers.len() });
        }
        check_ids(&buffers)?;
        let reserved = check_reserved(reserved)?;
        let reach = reserved.last().map_or(0, |range| range.end);
        check_buffers(&buffers, reach)?;
        let no_alias = check_no_alias(&buffers, no_alias)?;
        let problem = Self { capacity, buffers, reserved, no_alias };
        check_fixed(&problem)?;
        Ok(problem)
    }

    /// Bytes in the memory space.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The same buffers in a memory of another size.
    pub fn with_capacity(&self, capacity: u64) -> Self {
        Self { capacity, ..self.clone() }
    }

    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    pub fn buffer(&self, ix: BufferIx) -> &Buffer {
        &self.buffers[ix.index()]
    }

    pub fn indices(&self) -> impl Iterator<Item = BufferIx> + use<> {
        (0..self.buffers.len() as u32).map(BufferIx)
    }

    /// Sorted, disjoint, none empty.
    pub fn reserved(&self) -> &[Range<u64>] {
        &self.reserved
    }

    /// Each pair once, the smaller index first.
    pub fn no_alias(&self) -> &[(BufferIx, BufferIx)] {
        &self.no_alias
    }

    /// Whether two different buffers must not share a byte.
    pub fn conflict(&self, a: BufferIx, b: BufferIx) -> bool {
        self.buffer(a).lifetime.meets(&self.buffer(b).lifetime)
            || self.no_alias.binary_search(&(a.min(b), a.max(b))).is_ok()
    }

    /// Only these buffers, in the order given; what is reserved stays.
    pub fn subset(&self, keep: &[BufferIx]) -> Self {
        let renumbered: FxHashMap<BufferIx, BufferIx> =
            (0u32..).map(BufferIx).zip(keep).map(|(n, &o)| (o, n)).collect();
        let renumber = |&(a, b): &(BufferIx, BufferIx)| {
            let (a, b) = (*renumbered.get(&a)?, *renumbered.get(&b)?);
            Some((a.min(b), a.max(b)))
        };
        let mut no_alias: Vec<_> = self.no_alias.iter().filter_map(renumber).collect();
        no_alias.sort_unstable();
        Self {
            capacity: self.capacity,
            buffers: keep.iter().map(|&ix| self.buffer(ix).clone()).collect(),
            reserved: self.reserved.clone(),
            no_alias,
        }
    }

    /// The same with one buffer changed, or without it. The change may make nothing larger.
    pub(super) fn with_buffer(&self, ix: BufferIx, changed: Option<Buffer>) -> Self {
        match changed {
            Some(buffer) => {
                let mut problem = self.clone();
                problem.buffers[ix.index()] = buffer;
                problem
            }
            None => self.subset(&self.indices().filter(|&other| other != ix).collect::<Vec<_>>()),
        }
    }

    /// The same with more no-alias pairs; what names no pair of buffers, or two fixed ones that overlap, is left out.
    pub fn with_no_alias(&self, pairs: impl IntoIterator<Item = (BufferIx, BufferIx)>) -> Self {
        let mut problem = self.clone();
        let bytes = |ix: BufferIx| self.buffers.get(ix.index()).and_then(|b| Some((b.fixed?, b.fixed? + b.size)));
        let contradicts = |a, b| bytes(a).zip(bytes(b)).is_some_and(|(a, b)| a.0 < b.1 && b.0 < a.1);
        let known = |ix: BufferIx| ix.index() < self.buffers.len();
        let usable = pairs.into_iter().filter(|&(a, b)| a != b && known(a) && known(b) && !contradicts(a, b));
        problem.no_alias.extend(usable.map(|(a, b)| (a.min(b), a.max(b))));
        problem.no_alias.sort_unstable();
        problem.no_alias.dedup();
        problem
    }

    /// The lowest height in which `bytes` fit beside what is reserved.
    pub fn height_around_reserved(&self, bytes: u64) -> u64 {
        let mut height = bytes;
        for range in &self.reserved {
            if range.start >= height {
                break;
            }
            height += range.end - range.start;
        }
        height
    }
}

/// A buffer as an error names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    pub ix: BufferIx,
    pub id: String,
}

impl Named {
    fn of(buffers: &[Buffer], position: usize) -> Self {
        Self { ix: BufferIx(position as u32), id: buffers[position].id.clone() }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "buffer `{}` (number {})", self.id, self.ix.0 + 1)
    }
}

/// Why a [`Spec`] is no problem that can be packed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProblemError {
    TooManyBuffers { count: usize },
    ZeroSize { buffer: Named },
    EmptyLifetime { buffer: Named, lifetime: Interval },
    ZeroAlignment { buffer: Named },
    TooLarge { buffer: Named },
    DuplicateId { first: Named, second: Named },
    MisalignedFixed { buffer: Named, offset: u64, align: u64 },
    FixedInReserved { buffer: Named, reserved: Range<u64> },
    OverlappingFixed { first: Named, second: Named },
    EmptyReserved { reserved: Range<u64> },
    ReservedTooLarge { reserved: Range<u64> },
    NoAliasWithItself { buffer: Named },
    NoAliasUnknown { buffer: BufferIx, count: usize },
}

impl ProblemError {
    /// The buffer to blame: in a file, the row.
    pub fn buffer(&self) -> Option<BufferIx> {
        match self {
            Self::ZeroSize { buffer }
            | Self::EmptyLifetime { buffer, .. }
            | Self::ZeroAlignment { buffer }
            | Self::TooLarge { buffer }
            | Self::MisalignedFixed { buffer, .. }
            | Self::FixedInReserved { buffer, .. }
            | Self::NoAliasWithItself { buffer } => Some(buffer.ix),
            Self::DuplicateId { second, .. } | Self::OverlappingFixed { second, .. } => Some(second.ix),
            Self::TooManyBuffers { .. }
            | Self::EmptyReserved { .. }
            | Self::ReservedTooLarge { .. }
            | Self::NoAliasUnknown { .. } => None,
        }
    }
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyBuffers { count } => write!(f, "{count} buffers are more than can be packed ({})", u32::MAX),
            Self::ZeroSize { buffer } => write!(f, "{buffer} has size 0; give it at least 1 byte or leave it out"),
            Self::EmptyLifetime { buffer, lifetime: Interval { start, end } } => {
                write!(f, "{buffer} has the empty lifetime [{start}, {end}); the end must be after the start")
            }
            Self::ZeroAlignment { buffer } => write!(f, "{buffer} has alignment 0; use 1 where any offset will do"),
            Self::TooLarge { buffer } => {
                write!(f, "{buffer} takes the sum of all sizes and fixed offsets beyond 2^63 - 1 bytes")
            }
            Self::DuplicateId { first, second } => {
                write!(f, "{second} has the id of buffer number {}; ids must differ", first.ix.0 + 1)
            }
            Self::MisalignedFixed { buffer, offset, align } => {
                write!(f, "{buffer} is fixed at offset {offset}, which is not a multiple of its alignment {align}")
            }
            Self::FixedInReserved { buffer, reserved: Range { start, end } } => {
                write!(f, "{buffer} is fixed at an offset that overlaps the reserved range [{start}, {end})")
            }
            Self::OverlappingFixed { first, second } => {
                write!(f, "{second} is fixed at an offset that overlaps {first}, and both are needed at the same time")
            }
            Self::EmptyReserved { reserved: Range { start, end } } => {
                write!(f, "the reserved range [{start}, {end}) is empty")
            }
            Self::ReservedTooLarge { reserved: Range { start, end } } => {
                write!(f, "the reserved range [{start}, {end}) ends beyond 2^63 - 1 bytes")
            }
            Self::NoAliasWithItself { buffer } => write!(f, "{buffer} cannot be kept apart from itself"),
            Self::NoAliasUnknown { buffer, count } => {
                write!(f, "a no-alias pair names buffer number {}, but there are {count}", u64::from(buffer.0) + 1)
            }
        }
    }
}

impl std::error::Error for ProblemError {}

fn check_ids(buffers: &[Buffer]) -> Result<(), ProblemError> {
    let mut seen: FxHashMap<&str, usize> = FxHashMap::default();
    seen.reserve(buffers.len());
    for (position, buffer) in buffers.iter().enumerate() {
        if let Some(first) = seen.insert(&buffer.id, position) {
            return Err(ProblemError::DuplicateId {
                first: Named::of(buffers, first),
                second: Named::of(buffers, position),
            });
        }
    }
    Ok(())
}

fn check_reserved(mut reserved: Vec<Range<u64>>) -> Result<Vec<Range<u64>>, ProblemError> {
    for range in &reserved {
        if range.is_empty() {
            return Err(ProblemError::EmptyReserved { reserved: range.clone() });
        }
        if range.end > ADDRESS_LIMIT {
            return Err(ProblemError::ReservedTooLarge { reserved: range.clone() });
        }
    }
    reserved.sort_unstable_by_key(|range| (range.start, range.end));
    reserved.dedup_by(|next, last| {
        let joined = next.start <= last.end;
        if joined {
            last.end = last.end.max(next.end);
        }
        joined
    });
    Ok(reserved)
}

/// Every buffer by itself, and the highest address that any order of first-fit can reach. `reach` is where the reserved ranges end.
fn check_buffers(buffers: &[Buffer], reach: u64) -> Result<(), ProblemError> {
    let mut sum = 0u64;
    let mut reach = reach;
    for (position, buffer) in buffers.iter().enumerate() {
        let named = || Named::of(buffers, position);
        if buffer.size == 0 {
            return Err(ProblemError::ZeroSize { buffer: named() });
        }
        if let Some(lifetime) = buffer.lifetime.intervals().find(|interval| interval.is_empty()) {
            return Err(ProblemError::EmptyLifetime { buffer: named(), lifetime });
        }
        let Some(slack) = buffer.align.checked_sub(1) else {
            return Err(ProblemError::ZeroAlignment { buffer: named() });
        };
        let within = |bytes: Option<u64>| bytes.filter(|&bytes| bytes <= ADDRESS_LIMIT);
        let grown = match buffer.fixed {
            Some(offset) => within(offset.checked_add(buffer.size)).map(|top| (sum, reach.max(top))),
            None => within(sum.checked_add(buffer.size).and_then(|sum| sum.checked_add(slack))).map(|sum| (sum, reach)),
        };
        let Some(grown) = grown.filter(|(sum, reach)| within(sum.checked_add(*reach)).is_some()) else {
            return Err(ProblemError::TooLarge { buffer: named() });
        };
        (sum, reach) = grown;
    }
    Ok(())
}

fn check_no_alias(
    buffers: &[Buffer],
    mut pairs: Vec<(BufferIx, BufferIx)>,
) -> Result<Vec<(BufferIx, BufferIx)>, ProblemError> {
    for pair in &mut pairs {
        let (a, b) = *pair;
        if let Some(&buffer) = [a, b].iter().find(|ix| ix.index() >= buffers.len()) {
            return Err(ProblemError::NoAliasUnknown { buffer, count: buffers.len() });
        }
        if a == b {
            return Err(ProblemError::NoAliasWithItself { buffer: Named::of(buffers, a.index()) });
        }
        *pair = (a.min(b), a.max(b));
    }
    pairs.sort_unstable();
    pairs.dedup();
    Ok(pairs)
}

fn check_fixed(problem: &Problem) -> Result<(), ProblemError> {
    let fixed: Vec<BufferIx> = problem.indices().filter(|&ix| problem.buffer(ix).fixed.is_some()).collect();
    if fixed.is_empty() {
        return Ok(());
    }
    let named = |ix: BufferIx| Named::of(&problem.buffers, ix.index());
    let offsets: Vec<u64> = fixed.iter().filter_map(|&ix| problem.buffer(ix).fixed).collect();
    // Capacity is no matter of consistency: a fixed buffer above it is a verdict, not an error.
    match validate_within(&problem.subset(&fixed), &offsets, u64::MAX) {
        Ok(()) => Ok(()),
        Err(Violation::Overlap { first, second } | Violation::Aliased { first, second }) => {
            let (first, second) = (fixed[first.index()], fixed[second.index()]);
            Err(ProblemError::OverlappingFixed { first: named(first.min(second)), second: named(first.max(second)) })
        }
        Err(Violation::Misaligned { buffer, offset, align }) => {
            Err(ProblemError::MisalignedFixed { buffer: named(fixed[buffer.index()]), offset, align })
        }
        Err(Violation::Reserved { buffer, reserved }) => {
            Err(ProblemError::FixedInReserved { buffer: named(fixed[buffer.index()]), reserved })
        }
        Err(Violation::Count { .. } | Violation::Moved { .. } | Violation::OverCapacity { .. }) => Ok(()),
    }
}

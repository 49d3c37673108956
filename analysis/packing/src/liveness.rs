//! The liveness bound: whatever is live at one instant must fit beside itself, so no packing is lower. The instant is the proof.

use super::problem::{BufferIx, Interval, Problem};

/// Peaks beyond the first that a [`Bound`] lists, so that fixing one does not come as a surprise at the next.
const FURTHER_PEAKS: usize = 7;

/// A stretch of time with one live set, and fewer bytes live before and after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Peak {
    /// The plateau: from the birth that completes the live set to the first death or birth after it.
    pub plateau: Interval,
    /// Sum of the sizes of the live set.
    pub bytes: u64,
    /// In the order of the problem.
    pub live: Vec<BufferIx>,
}

/// The most bytes live at once, from sizes and lifetimes alone: alignment, reserved ranges and no-alias pairs can only add to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    pub bytes: u64,
    /// The earliest highest peak, which is the witness; after it, highest first, other peaks that exceed the capacity. Empty
    /// only when the problem is.
    pub peaks: Vec<Peak>,
}

/// Bytes live between two neighbouring instants at which something starts or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Level {
    pub(super) over: Interval,
    pub(super) bytes: u64,
}

/// O(n log n).
pub fn bound(problem: &Problem) -> Bound {
    let levels = levels(problem, |buffer| problem.buffer(buffer).size);
    let Some(bytes) = levels.iter().map(|level| level.bytes).max() else {
        return Bound { bytes: 0, peaks: Vec::new() };
    };
    let usable = usable_capacity(problem);
    let mut tops: Vec<Level> =
        local_maxima(&levels).into_iter().filter(|top| top.bytes == bytes || top.bytes > usable).collect();
    tops.sort_by_key(|top| (std::cmp::Reverse(top.bytes), top.over.start));
    let shown = if bytes > usable { 1 + FURTHER_PEAKS } else { 1 };
    let peaks = tops.into_iter().take(shown).map(|top| peak(problem, top)).collect();
    Bound { bytes, peaks }
}

/// Capacity without the reserved bytes in it.
pub(super) fn usable_capacity(problem: &Problem) -> u64 {
    let capacity = problem.capacity();
    let taken: u64 = problem.reserved().iter().map(|r| r.end.min(capacity).saturating_sub(r.start)).sum();
    capacity - taken
}

/// The bytes live over time, `weight` being what a buffer counts for.
pub(super) fn levels(problem: &Problem, weight: impl Fn(BufferIx) -> u64) -> Vec<Level> {
    let count = problem.buffers().len();
    let (mut starts, mut ends) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for buffer in problem.indices() {
        let bytes = weight(buffer);
        for interval in problem.buffer(buffer).lifetime.intervals() {
            starts.push((interval.start, bytes));
            ends.push((interval.end, bytes));
        }
    }
    starts.sort_unstable_by_key(|&(time, _)| time);
    ends.sort_unstable_by_key(|&(time, _)| time);
    let mut levels: Vec<Level> = Vec::with_capacity(starts.len() + ends.len());
    let mut starts = starts.into_iter().peekable();
    let mut bytes = 0;
    for (end, ended) in ends {
        while let Some((start, started)) = starts.next_if(|&(start, _)| start < end) {
            bytes += started;
            change(&mut levels, start, bytes);
        }
        bytes -= ended;
        change(&mut levels, end, bytes);
    }
    levels.pop(); // nothing is live after the last end
    levels
}

/// From `time` on there are `bytes`.
fn change(levels: &mut Vec<Level>, time: u64, bytes: u64) {
    match levels.last_mut() {
        Some(level) if level.over.start == time => level.bytes = bytes,
        last => {
            if let Some(level) = last {
                level.over.end = time;
            }
            levels.push(Level { over: Interval::new(time, time), bytes });
        }
    }
}

/// Levels with fewer bytes before and after; of a run of equal bytes every level, as their live sets differ.
fn local_maxima(levels: &[Level]) -> Vec<Level> {
    let runs: Vec<&[Level]> = levels.chunk_by(|a, b| a.bytes == b.bytes).collect();
    let bytes = |run: Option<&&[Level]>| run.and_then(|run| run.first()).map_or(0, |level| level.bytes);
    let is_top = |at: usize| {
        let here = bytes(runs.get(at));
        here > bytes(at.checked_sub(1).and_then(|before| runs.get(before))) && here > bytes(runs.get(at + 1))
    };
    (0..runs.len()).filter(|&at| is_top(at)).flat_map(|at| runs[at].iter().copied()).collect()
}

fn peak(problem: &Problem, top: Level) -> Peak {
    let live = problem.indices().filter(|&ix| problem.buffer(ix).lifetime.contains(top.over.start)).collect();
    Peak { plateau: top.over, bytes: top.bytes, live }
}

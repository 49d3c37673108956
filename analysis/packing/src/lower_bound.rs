//! Heights that no packing is below: the liveness bound, and what it is blind to.

use super::liveness::{self, Bound};
use super::problem::Problem;

/// The highest of the cheap lower bounds on the height of a packing. O(n log n).
pub(super) fn lower_bound(problem: &Problem, bound: &Bound) -> u64 {
    let live = problem.height_around_reserved(bound.bytes);
    let fixed = problem.buffers().iter().filter_map(|b| b.fixed.map(|offset| offset + b.size)).max().unwrap_or(0);
    let lowest = problem.buffers().iter().map(|b| lowest_top(problem, b.size, b.align)).max().unwrap_or(0);
    live.max(fixed).max(lowest).max(aligned(problem)).max(no_alias(problem))
}

/// The end of a buffer alone with what is reserved.
fn lowest_top(problem: &Problem, size: u64, align: u64) -> u64 {
    let mut offset = 0u64;
    for range in problem.reserved() {
        if offset + size <= range.start {
            break;
        }
        offset = range.end.next_multiple_of(align);
    }
    offset + size
}

/// The liveness bound with sizes rounded up to the alignment that all buffers have in common, as the bytes after a buffer are
/// lost to the others; only the highest may leave them out.
fn aligned(problem: &Problem) -> u64 {
    let common = problem.buffers().iter().map(|buffer| buffer.align).fold(0, greatest_common_divisor);
    let rounded = |size: u64| size.next_multiple_of(common);
    if common <= 1 || problem.buffers().iter().all(|buffer| buffer.size.is_multiple_of(common)) {
        return 0;
    }
    let slack = problem.buffers().iter().map(|buffer| rounded(buffer.size) - buffer.size).max().unwrap_or(0);
    let levels = liveness::levels(problem, |ix| rounded(problem.buffer(ix).size));
    levels.iter().map(|level| level.bytes).max().unwrap_or(0).saturating_sub(slack)
}

fn no_alias(problem: &Problem) -> u64 {
    let sums = problem.no_alias().iter().map(|&(a, b)| problem.buffer(a).size + problem.buffer(b).size);
    problem.height_around_reserved(sums.max().unwrap_or(0))
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

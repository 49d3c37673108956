//! Which buffers must not share a byte: the interference graph, as lists of neighbours in one array.

use super::problem::{BufferIx, Problem};

/// Neighbours of every buffer: those alive together with it, and its partners in no-alias pairs.
pub struct Conflicts {
    /// `neighbours[starts[i]..starts[i + 1]]` belong to buffer `i`.
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    /// Up to [`MOST_ROWS`] buffers, the same as a row of bits for each.
    rows: Option<Vec<u64>>,
}

/// Buffers up to which rows of bits are kept: at most 32 KB.
const MOST_ROWS: usize = 512;

impl Conflicts {
    /// O(n log n + pairs). `None` when there are more pairs than `most`, or more than the index can hold.
    pub fn of(problem: &Problem, most: usize) -> Option<Self> {
        let pairs = pairs(problem, most.min(u32::MAX as usize / 2))?;
        let count = problem.buffers().len();
        let mut starts = vec![0u32; count + 1];
        for &(a, b) in &pairs {
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += 1;
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut next: Vec<u32> = starts[..count].to_vec();
        let mut neighbours = vec![0u32; 2 * pairs.len()];
        for &(a, b) in &pairs {
            for (from, to) in [(a, b), (b, a)] {
                neighbours[next[from as usize] as usize] = to;
                next[from as usize] += 1;
            }
        }
        let rows = (count <= MOST_ROWS).then(|| rows(&pairs, count));
        Some(Self { starts, neighbours, rows })
    }

    pub fn neighbours(&self, buffer: BufferIx) -> impl ExactSizeIterator<Item = BufferIx> + '_ {
        self.of_index(buffer.0).iter().copied().map(BufferIx)
    }

    pub(super) fn of_index(&self, buffer: u32) -> &[u32] {
        &self.neighbours[self.starts[buffer as usize] as usize..self.starts[buffer as usize + 1] as usize]
    }

    /// For a buffer of a small problem, a quick answer to whether another is its neighbour.
    pub(super) fn row(&self, buffer: BufferIx) -> Option<impl Fn(u32) -> bool + '_> {
        let words = (self.starts.len() - 1).div_ceil(64);
        let row = self.rows.as_ref()?.get(buffer.index() * words..(buffer.index() + 1) * words)?;
        Some(move |other: u32| row[other as usize / 64] >> (other % 64) & 1 == 1)
    }

    /// Pairs of buffers in conflict.
    pub fn pairs(&self) -> usize {
        self.neighbours.len() / 2
    }
}

fn rows(pairs: &[(u32, u32)], count: usize) -> Vec<u64> {
    let words = count.div_ceil(64);
    let mut rows = vec![0; count * words];
    for &(a, b) in pairs {
        rows[a as usize * words + b as usize / 64] |= 1 << (b % 64);
        rows[b as usize * words + a as usize / 64] |= 1 << (a % 64);
    }
    rows
}

fn pairs(problem: &Problem, most: usize) -> Option<Vec<(u32, u32)>> {
    let mut events: Vec<(u64, bool, u32)> = Vec::with_capacity(2 * problem.buffers().len());
    let mut gaps = false;
    for buffer in problem.indices() {
        let lifetime = &problem.buffer(buffer).lifetime;
        gaps |= lifetime.has_gaps();
        for interval in lifetime.intervals() {
            events.push((interval.start, true, buffer.0));
            events.push((interval.end, false, buffer.0));
        }
    }
    events.sort_unstable();
    let mut pairs = Vec::new();
    let mut live: Vec<u32> = Vec::new();
    let mut place = vec![0u32; problem.buffers().len()];
    for (_, starts, buffer) in events {
        if starts {
            if pairs.len() + live.len() > most {
                return None;
            }
            pairs.extend(live.iter().map(|&other| (other.min(buffer), other.max(buffer))));
            place[buffer as usize] = live.len() as u32;
            live.push(buffer);
            continue;
        }
        let at = place[buffer as usize] as usize;
        live.swap_remove(at);
        if let Some(&moved) = live.get(at) {
            place[moved as usize] = at as u32;
        }
    }
    let meet = |a: BufferIx, b: BufferIx| problem.buffer(a).lifetime.meets(&problem.buffer(b).lifetime);
    pairs.extend(problem.no_alias().iter().filter(|&&(a, b)| !meet(a, b)).map(|&(a, b)| (a.0, b.0)));
    if gaps {
        pairs.sort_unstable();
        pairs.dedup();
    }
    (pairs.len() <= most).then_some(pairs)
}

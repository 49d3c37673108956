//! The tile of a matrix product that the compiler would compute at once: the cheapest one by its cost model (cycles of loads,
//! multiplications and of draining the accumulator; compiler at e2d0f78ae).

use tilefit_python::finding::Origin;

use crate::ir::Tiling;
use crate::target::{Machine, Space, Target};

/// Extents of the cube's smallest block.
const BLOCK: i64 = 16;

/// Tiles for larger memories than so many of the target's own are not searched: the search grows with them.
const MOST_CAPACITIES: u64 = 4;

/// A product `[m, k] x [k, n]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extents {
    pub(super) m: i64,
    pub(super) n: i64,
    pub(super) k: i64,
}

/// Bytes of one element.
#[derive(Debug, Clone, Copy)]
pub(super) struct ElementBytes {
    pub(super) left: i64,
    pub(super) right: i64,
    pub(super) acc: i64,
}

/// What the cost model knows of a target.
struct Costs {
    /// Bytes per cycle from L1 into the operand memories.
    left_bandwidth: f64,
    right_bandwidth: f64,
    /// Bytes per cycle out of the accumulator.
    drain_bandwidth: f64,
    /// Cycles for each tile, for each row at least, and for each row of an uneven width.
    drain_fixed: f64,
    drain_row: f64,
    drain_penalty: f64,
    /// Cycles for each multiplication.
    head: i64,
    fp32_passes: i64,
}

const COSTS_910B: Costs = Costs {
    left_bandwidth: 129.7,
    right_bandwidth: 85.4,
    drain_bandwidth: 118.0,
    drain_fixed: 164.0,
    drain_row: 4.45,
    drain_penalty: 2.6,
    head: 21,
    fp32_passes: 2,
};

const COSTS_950: Costs = Costs {
    left_bandwidth: 206.3,
    right_bandwidth: 223.8,
    drain_bandwidth: 30.0,
    drain_fixed: 343.4,
    drain_row: 4.59,
    drain_penalty: 0.26,
    head: 25,
    fp32_passes: 8,
};

/// Bytes of a row of an operand block.
const FRACTAL_BYTES: i64 = 32;

/// The tile, and how a grid of them is walked where all of K fits at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) tile: Extents,
    pub(super) stationary: Stationary,
    /// The left operand stays while the right one passes by: rows are the outer loop.
    pub(super) rows_outer: bool,
    /// The operand that stays takes all of its memory, so that the outer loop cannot load ahead.
    pub(super) held_alone: bool,
    /// Two accumulators: one is drained while the other one is made.
    pub(super) two_accumulators: bool,
}

/// What stays in place while the others pass by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stationary {
    Accumulator,
    Left,
    Right,
}

/// A way to walk the grid of tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Walk {
    stationary: Stationary,
    two_accumulators: bool,
}

/// All ways in the order in which the compiler tries them; the first one is the plain one.
const WALKS: [Walk; 6] = {
    const fn walk(stationary: Stationary, two_accumulators: bool) -> Walk {
        Walk { stationary, two_accumulators }
    }
    [
        walk(Stationary::Accumulator, false),
        walk(Stationary::Accumulator, true),
        walk(Stationary::Left, false),
        walk(Stationary::Left, true),
        walk(Stationary::Right, false),
        walk(Stationary::Right, true),
    ]
};

pub(super) struct Search<'a> {
    problem: Extents,
    bytes: ElementBytes,
    /// Rows that the accumulator is padded to.
    acc_rows: i64,
    /// Columns of the right operand's box, where tiles of it are loaded in whole boxes.
    box_columns: i64,
    /// What the extents of a tile are multiples of.
    steps: Extents,
    widths: Option<Widths>,
    /// Only the accumulator may stay in place.
    keeps_accumulator: bool,
    machine: Machine<'a>,
    costs: &'a Costs,
}

/// Columns of a tile whose bias has to fit its table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Widths {
    pub(super) least: i64,
    pub most: i64,
    /// Where a grid over all of K loads biases one step ahead, and where two of its loops do.
    pub(super) ahead: i64,
    pub(super) ahead_twice: i64,
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    tile: Extents,
    cycles: i64,
    padded: i64,
    load: f64,
}

impl<'a> Search<'a> {
    pub(super) fn new(problem: Extents, bytes: ElementBytes, acc_rows: i64, machine: Machine<'a>) -> Self {
        let costs = match machine.target {
            Target::Ascend910b => &COSTS_910B,
            Target::Ascend950 => &COSTS_950,
        };
        let steps = Extents { m: BLOCK, n: BLOCK, k: BLOCK };
        Search {
            problem,
            bytes,
            acc_rows,
            box_columns: 1,
            steps,
            widths: None,
            keeps_accumulator: false,
            machine,
            costs,
        }
    }

    /// For a product with a bias, whose operands have these boxes (rows and columns).
    pub(super) fn with_bias(self, left: [i64; 2], right: [i64; 2], widths: Widths) -> Self {
        let steps = Extents { m: BLOCK.max(left[0]), n: BLOCK.max(right[1]), k: BLOCK.max(left[1]).max(right[0]) };
        Search { steps, widths: Some(widths), ..self }
    }

    /// For a grid around a loop over K, whose tiles are loaded one by one, in boxes of so many columns.
    pub(super) fn around_loop(self, box_columns: i64) -> Self {
        Search { box_columns, keeps_accumulator: true, ..self }
    }

    /// The best tile, or `None` where the compiler leaves the product alone because it has no legal one. Only some planners let
    /// one accumulator be drained while the next one is made.
    pub(super) fn choose(&self, two_accumulators: bool) -> Option<Choice> {
        let (problem, steps) = (self.problem, self.steps);
        if problem.m < steps.m || problem.n < steps.n || problem.k % steps.k != 0 {
            return None;
        }
        if self.widths.is_some() && (problem.m % steps.m != 0 || problem.n % steps.n != 0) {
            return None;
        }
        let [mut walk, others @ ..] = WALKS;
        let mut best = self.best(walk)?;
        if best.tile != problem {
            let is_allowed = |walk: &Walk| {
                (two_accumulators || !walk.two_accumulators)
                    && (!self.keeps_accumulator || walk.stationary == Stationary::Accumulator)
            };
            for other in others.into_iter().filter(is_allowed) {
                if let Some(candidate) = self.best(other).filter(|candidate| candidate.cycles < best.cycles) {
                    (best, walk) = (candidate, other);
                }
            }
        }
        Some(Choice {
            tile: best.tile,
            stationary: walk.stationary,
            rows_outer: self.rows_outer(best.tile, walk.stationary),
            held_alone: walk.stationary != Stationary::Accumulator,
            two_accumulators: walk.two_accumulators,
        })
    }

    /// The choice with what it costs, and what stands in the way of a larger one.
    pub(super) fn explain(&self, choice: Choice, statement: Origin) -> Tiling {
        let extents = |Extents { m, n, k }: Extents| [m, n, k];
        let (tile, two_accumulators) = (choice.tile, choice.two_accumulators);
        let walk = Walk { stationary: choice.stationary, two_accumulators };
        let drain = self.drain(tile);
        let Extents { m, n, k } = self.problem;
        let whole = [
            (Space::Left, m * k, self.bytes.left),
            (Space::Right, k * n, self.bytes.right),
            (Space::Acc, round_up(m, self.acc_rows) * n, self.bytes.acc),
        ];
        let limits = whole.into_iter().map(|(space, elements, bytes)| {
            let available = self.capacity(space, 1, copies(space, walk));
            (space, elements * bytes, available)
        });
        Tiling {
            statement,
            product: extents(self.problem),
            block: extents(tile),
            stays: choice.stationary.space(),
            two_accumulators,
            load: self.load(tile, choice.stationary).round() as i64,
            multiply: self.multiply(tile),
            drain: drain.round() as i64,
            cycles: self.score(tile, walk).cycles,
            limits: limits.filter(|(_, needed, available)| needed > available).collect(),
        }
    }
}

/// Blocks that a memory holds at a time: those of what passes by are loaded one ahead.
fn copies(space: Space, walk: Walk) -> i64 {
    let is_alone = match space {
        Space::Acc => !walk.two_accumulators,
        space => space == walk.stationary.space(),
    };
    if is_alone { 1 } else { 2 }
}

impl Stationary {
    fn space(self) -> Space {
        match self {
            Stationary::Accumulator => Space::Acc,
            Stationary::Left => Space::Left,
            Stationary::Right => Space::Right,
        }
    }
}

impl Search<'_> {
    fn capacity(&self, space: Space, bytes: i64, copies: i64) -> i64 {
        let built_in = self.machine.target.capacity(space).unwrap_or(0);
        let capacity = self.machine.capacity(space).unwrap_or(u64::MAX).min(MOST_CAPACITIES * built_in);
        i64::try_from(capacity).unwrap_or(i64::MAX) / (bytes.max(1) * copies)
    }

    fn rows_outer(&self, tile: Extents, stationary: Stationary) -> bool {
        match stationary {
            Stationary::Left => true,
            Stationary::Right => false,
            Stationary::Accumulator => self.load(tile, Stationary::Left) <= self.load(tile, Stationary::Right),
        }
    }

    /// Whether the inner loop has two tiles of full size or more.
    fn has_pairs(&self, tile: Extents, stationary: Stationary) -> bool {
        let Extents { m, n, .. } = self.problem;
        let tiles = if self.rows_outer(tile, stationary) { n / tile.n } else { m / tile.m };
        tiles >= 2
    }

    fn best(&self, walk: Walk) -> Option<Candidate> {
        let Walk { stationary, two_accumulators } = walk;
        let whole_depth = stationary != Stationary::Accumulator || two_accumulators;
        let left = self.capacity(Space::Left, self.bytes.left, copies(Space::Left, walk));
        let right = self.capacity(Space::Right, self.bytes.right, copies(Space::Right, walk));
        let acc = self.capacity(Space::Acc, self.bytes.acc, copies(Space::Acc, walk));
        let mut best: Option<Candidate> = None;
        let steps = self.steps;
        let narrowest = self.widths.map_or(steps.n, |widths| widths.least.max(steps.n));
        for m in (steps.m..=self.problem.m).step_by(steps.m as usize) {
            let rows = round_up(m, self.acc_rows);
            if rows > acc / narrowest {
                break;
            }
            let widest = self.widths.map_or(i64::MAX, |widths| widths.most).min(self.problem.n).min(acc / rows);
            for n in (narrowest..=widest).step_by(steps.n as usize) {
                let boxed = round_up(n, self.box_columns);
                if rows * boxed > acc {
                    break;
                }
                if two_accumulators && !self.has_pairs(Extents { m, n, k: self.problem.k }, stationary) {
                    continue;
                }
                let deepest = (left / m).min(right / boxed).min(self.problem.k);
                for k in (steps.k..=deepest).step_by(steps.k as usize) {
                    let tile = Extents { m, n, k };
                    if (whole_depth && k != self.problem.k) || !self.bias_fits(tile, stationary) {
                        continue;
                    }
                    let candidate = self.score(tile, walk);
                    if best.is_none_or(|best| self.is_better(candidate, best)) {
                        best = Some(candidate);
                    }
                }
            }
        }
        best
    }

    /// Whether the table holds all biases that a grid of such tiles has at a time.
    fn bias_fits(&self, tile: Extents, stationary: Stationary) -> bool {
        let Some(widths) = self.widths.filter(|_| tile.k == self.problem.k && tile != self.problem) else {
            return true;
        };
        let most = match stationary {
            Stationary::Right => widths.most,
            Stationary::Accumulator if self.rows_outer(tile, stationary) => widths.ahead_twice,
            Stationary::Left | Stationary::Accumulator => widths.ahead,
        };
        tile.n <= most
    }

    fn score(&self, tile: Extents, walk: Walk) -> Candidate {
        let Extents { m, n, k } = self.problem;
        let load = self.load(tile, walk.stationary);
        let compute = load.max(self.multiply(tile) as f64);
        let padded = round_up(m, tile.m) * round_up(n, tile.n) * round_up(k, tile.k);
        let drain = self.drain(tile);
        let cycles = if walk.two_accumulators {
            // What is shorter hides behind what is longer, but for one tile.
            let tiles = (ceil_div(m, tile.m) * ceil_div(n, tile.n)) as f64;
            compute.max(drain) + compute.min(drain) / tiles
        } else {
            compute + drain
        };
        Candidate { tile, cycles: cycles.round() as i64, padded, load }
    }

    fn multiply(&self, tile: Extents) -> i64 {
        let Extents { m, n, k } = self.problem;
        let row = (FRACTAL_BYTES / self.bytes.left).max(1);
        let passes = if self.bytes.left == 4 { self.costs.fp32_passes } else { (self.bytes.left / 2).max(1) };
        let full = k / tile.k;
        let rest = k - full * tile.k;
        let blocks = full + i64::from(rest > 0);
        let rows = full * ceil_div(tile.k, row) + if rest > 0 { ceil_div(rest, row) } else { 0 };
        let (high, wide) = (ceil_div(tile.m, self.steps.m), ceil_div(tile.n, self.steps.n));
        let one = blocks * self.costs.head + passes * high * rows * wide;
        ceil_div(m, tile.m) * ceil_div(n, tile.n) * one
    }

    fn load(&self, tile: Extents, stationary: Stationary) -> f64 {
        let Extents { m, n, k } = self.problem;
        let (across, down) = (ceil_div(n, tile.n) as f64, ceil_div(m, tile.m) as f64);
        let left = self.bytes.left as f64 * m as f64 * k as f64;
        let right = self.bytes.right as f64 * k as f64 * n as f64;
        let (left_bandwidth, right_bandwidth) = (self.costs.left_bandwidth, self.costs.right_bandwidth);
        let hold_left = left / left_bandwidth + (right * down) / right_bandwidth;
        let hold_right = (left * across) / left_bandwidth + right / right_bandwidth;
        match stationary {
            Stationary::Left => hold_left,
            Stationary::Right => hold_right,
            Stationary::Accumulator if tile.k >= k => hold_left.min(hold_right),
            Stationary::Accumulator => (left * across) / left_bandwidth + (right * down) / right_bandwidth,
        }
    }

    fn drain(&self, tile: Extents) -> f64 {
        let count = (ceil_div(self.problem.m, tile.m) * ceil_div(self.problem.n, tile.n)) as f64;
        let columns = ceil_div(tile.n, (FRACTAL_BYTES / self.bytes.acc).max(1));
        let odd = columns >> columns.trailing_zeros();
        let bytes = (self.bytes.acc * tile.n) as f64;
        let row =
            self.costs.drain_row.max(bytes / self.costs.drain_bandwidth) + self.costs.drain_penalty * (odd - 1) as f64;
        count * (self.costs.drain_fixed + tile.m as f64 * row)
    }

    fn is_better(&self, a: Candidate, b: Candidate) -> bool {
        let blocks = |candidate: Candidate| ceil_div(self.problem.k, candidate.tile.k);
        let area = |candidate: Candidate| candidate.tile.m * candidate.tile.n;
        (a.cycles.cmp(&b.cycles))
            .then(a.padded.cmp(&b.padded))
            .then(blocks(a).cmp(&blocks(b)))
            .then(a.load.total_cmp(&b.load))
            .then(area(b).cmp(&area(a)))
            .then(b.tile.k.cmp(&a.tile.k))
            .is_lt()
    }
}

fn ceil_div(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

fn round_up(a: i64, b: i64) -> i64 {
    ceil_div(a, b) * b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tiles that the compiler has chosen for FP16 operands (`conformance/pypto`: 043, gen_004, gen_078, gen_118, gen_149).
    #[test]
    fn tiles_are_those_of_the_compiler() {
        let fp16 = ElementBytes { left: 2, right: 2, acc: 4 };
        let fp32 = ElementBytes { left: 4, right: 4, acc: 4 };
        let machine = Machine::from(Target::Ascend910b);
        let on_910b = |m, n, k, bytes| {
            Search::new(Extents { m, n, k }, bytes, 16, machine).choose(false).map(|choice| choice.tile)
        };
        assert_eq!(on_910b(128, 128, 512, fp16), Some(Extents { m: 128, n: 128, k: 128 }));
        assert_eq!(on_910b(128, 16, 256, fp16), Some(Extents { m: 128, n: 16, k: 128 }));
        assert_eq!(on_910b(64, 64, 128, fp16), Some(Extents { m: 64, n: 64, k: 128 }));
        assert_eq!(on_910b(128, 128, 128, fp32), Some(Extents { m: 128, n: 128, k: 64 }));
        assert_eq!(on_910b(8, 64, 64, fp16), None);
    }
}

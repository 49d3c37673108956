//! The tree of partial packings, walked depth first.
//!
//! A packing is a sequence of placements sorted by offset, then by rank, each as low as the placements before it allow; sequences
//! are walked in lexicographic order. A branch is left out only when nothing in it is within the capacity, or when every
//! packing in it could be changed into one that comes earlier. So the first of all packings is never left out, and where the
//! walk ends without one there is none.

use super::instance::{Instance, Item, Units};
use super::{Cancel, Preorder};

/// Lowest offset of an item that is placed, so that nothing raises it.
const PLACED: Units = Units::MAX;

/// Nodes between two looks at whether it was cancelled.
const NODES_BETWEEN_LOOKS: u64 = 256;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Walk {
    Packed,
    Failed,
    Stopped,
}

/// An item with its rank in the preorder of the scope.
#[derive(Clone, Copy)]
struct Ranked {
    item: u32,
    rank: u32,
}

/// The unplaced items of a stretch of sections that nothing unplaced crosses the ends of.
#[derive(Clone, Copy)]
struct Scope {
    /// Their range in [`Tree::unplaced`], by ascending rank.
    from: usize,
    to: usize,
    first_section: usize,
    end_section: usize,
    /// Which ranking the ranks are from; only placements of one ranking are compared.
    ranking: u32,
}

/// A placement that is to be tried. They are ordered as sequences are: by offset, then by rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    offset: Units,
    rank: u32,
    item: u32,
}

/// Where an item is, or was when its scope was packed.
#[derive(Clone, Copy)]
struct Placement {
    offset: Units,
    rank: u32,
    ranking: u32,
}

/// What a placement did besides.
struct Raised {
    /// Length of the trail before it.
    mark: usize,
    /// Sections of the item and of all that it raised.
    sections: (usize, usize),
    /// Whether all that it raised still has room.
    fits: bool,
}

pub(super) struct Tree<'a> {
    instance: &'a Instance,
    preorder: Preorder,
    /// Per item, the lowest offset that what is placed allows.
    lowest: Vec<Units>,
    placements: Vec<Placement>,
    /// Per section, the sum of the sizes of what is not placed.
    total: Vec<Units>,
    /// Per boundary between a section and the one before, the unplaced items on both sides of it.
    crossing: Vec<u32>,
    /// A stack of lists, one for every scope being walked.
    unplaced: Vec<Ranked>,
    /// A stack of lists, one for every node being walked.
    candidates: Vec<Candidate>,
    /// Lowest offsets before they were raised, the latest last.
    trail: Vec<(u32, Units)>,
    /// Per section, scratch space.
    floor: Vec<Units>,
    rankings: u32,
    nodes: u64,
    limit: u64,
    cancel: Cancel<'a>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(instance: &'a Instance, preorder: Preorder, limit: u64, cancel: Cancel<'a>) -> Self {
        let count = instance.items.len() as u32;
        let mut tree = Self {
            instance,
            preorder,
            lowest: instance.items.iter().map(|item| instance.lift(item, 0)).collect(),
            placements: vec![Placement { offset: 0, rank: 0, ranking: 0 }; instance.items.len()],
            total: vec![0; instance.sections],
            crossing: vec![0; instance.sections + 1],
            unplaced: (0..count).map(|item| Ranked { item, rank: item }).collect(),
            candidates: Vec::new(),
            trail: Vec::new(),
            floor: vec![0; instance.sections],
            rankings: 0,
            nodes: 0,
            limit,
            cancel,
        };
        for item in 0..count {
            tree.weigh(item, true);
        }
        tree
    }

    /// Placements tried.
    pub(super) fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The packing, once the walk has found one.
    pub(super) fn placed(&self) -> Vec<Units> {
        self.placements.iter().map(|placement| placement.offset).collect()
    }

    pub(super) fn walk(&mut self) -> Walk {
        if self.total.iter().any(|&total| total > self.instance.capacity) {
            return Walk::Failed;
        }
        let (to, end_section) = (self.unplaced.len(), self.instance.sections);
        self.rank(Scope { from: 0, to, first_section: 0, end_section, ranking: 0 })
    }

    /// Walks a scope as a problem of its own, ranked by what is left in its sections.
    fn rank(&mut self, mut scope: Scope) -> Walk {
        let most = |item: u32| self.instance.spans(item).flat_map(|span| &self.total[span]).copied().max().unwrap_or(0);
        let items = self.unplaced[scope.from..scope.to].iter().map(|ranked| ranked.item);
        let mut keys: Vec<_> = items.map(|item| (self.instance.key(self.preorder, item, most(item)), item)).collect();
        keys.sort_unstable();
        for (ranked, (rank, (_, item))) in self.unplaced[scope.from..scope.to].iter_mut().zip((0..).zip(keys)) {
            *ranked = Ranked { item, rank };
        }
        self.rankings += 1;
        scope.ranking = self.rankings;
        self.extend(scope, (0, 0))
    }

    /// Tries every placement that may follow, none of them before `after`.
    fn extend(&mut self, scope: Scope, after: (Units, u32)) -> Walk {
        if scope.from == scope.to {
            return Walk::Packed;
        }
        let first = self.candidates.len();
        self.collect_candidates(scope, after);
        let last = self.candidates.len();
        let mut walk = Walk::Failed;
        for at in first..last {
            let candidate = self.candidates[at];
            if !self.count_node() {
                walk = Walk::Stopped;
                break;
            }
            if self.would_be_lower_swapped(candidate, scope) {
                continue;
            }
            let raised = self.place(candidate, scope);
            let harmless = raised.mark == self.trail.len();
            if raised.fits {
                walk = self.descend(candidate, scope, raised.sections);
            }
            self.take_back(candidate, raised.mark);
            // If it takes room from nothing, it is not what the rest fails for.
            if walk != Walk::Failed || harmless {
                break;
            }
        }
        self.candidates.truncate(first);
        walk
    }

    fn count_node(&mut self) -> bool {
        let looks = self.nodes.is_multiple_of(NODES_BETWEEN_LOOKS);
        if self.nodes >= self.limit || looks && self.cancel.is_some_and(|cancel| cancel()) {
            return false;
        }
        self.nodes += 1;
        true
    }

    /// Pushes, in order, what may be placed next: not before `after`, and not at or above the lowest end of anything unplaced, as
    /// that could then be moved below. Nor where the fullest section has no room for the rest of it: everything else comes above.
    fn collect_candidates(&mut self, scope: Scope, after: (Units, u32)) {
        let Self { instance, lowest, unplaced, total, candidates, .. } = self;
        let unplaced = &unplaced[scope.from..scope.to];
        let ends =
            unplaced.iter().map(|&Ranked { item, .. }| lowest[item as usize] + instance.items[item as usize].size);
        let fullest = total[scope.first_section..scope.end_section].iter().copied().max().unwrap_or(0);
        let end = ends.min().unwrap_or(0).min(instance.capacity - fullest + 1);
        let first = candidates.len();
        for &Ranked { item, rank } in unplaced {
            let offset = lowest[item as usize];
            if offset < end && (offset, rank) >= after {
                candidates.push(Candidate { offset, rank, item });
            }
        }
        candidates[first..].sort_unstable();
    }

    /// Raises all unplaced neighbours above the new placement.
    fn place(&mut self, Candidate { offset, rank, item }: Candidate, scope: Scope) -> Raised {
        let instance = self.instance;
        let Item { size, hull, .. } = &instance.items[item as usize];
        let top = offset + size;
        self.lowest[item as usize] = PLACED;
        self.placements[item as usize] = Placement { offset, rank, ranking: scope.ranking };
        let mut raised = Raised { mark: self.trail.len(), sections: (hull.0 as usize, hull.1 as usize), fits: true };
        for &other in instance.neighbours(item) {
            let lowest = self.lowest[other as usize];
            if lowest >= top {
                continue;
            }
            let neighbour = &instance.items[other as usize];
            let lifted = instance.lift(neighbour, top);
            self.trail.push((other, lowest));
            self.lowest[other as usize] = lifted;
            raised.fits &= lifted >= top && lifted + neighbour.size <= instance.capacity;
            raised.sections.0 = raised.sections.0.min(neighbour.hull.0 as usize);
            raised.sections.1 = raised.sections.1.max(neighbour.hull.1 as usize);
        }
        raised
    }

    fn take_back(&mut self, candidate: Candidate, mark: usize) {
        for (item, lowest) in self.trail.drain(mark..).rev() {
            self.lowest[item as usize] = lowest;
        }
        self.lowest[candidate.item as usize] = candidate.offset;
    }

    /// Goes on with what is left after `candidate` has been placed, and restores everything but the placements.
    fn descend(&mut self, candidate: Candidate, scope: Scope, raised: (usize, usize)) -> Walk {
        let Candidate { offset, rank, item } = candidate;
        let list = &self.unplaced[scope.from..scope.to];
        let Some(at) = list.iter().position(|ranked| ranked.item == item) else { return Walk::Failed };
        let at = scope.from + at;
        self.unplaced.copy_within(at + 1..scope.to, at);
        self.weigh(item, false);
        let rest = Scope { to: scope.to - 1, ..scope };
        let walk = if !self.has_room(rest, raised) {
            Walk::Failed
        } else if self.falls_apart(item, rest) {
            self.divide(rest)
        } else {
            self.extend(rest, (offset, rank))
        };
        self.weigh(item, true);
        self.unplaced.copy_within(at..rest.to, at + 1);
        self.unplaced[at] = Ranked { item, rank };
        walk
    }

    /// Counts an item in or out of what is unplaced.
    fn weigh(&mut self, item: u32, unplaced: bool) {
        let Item { size, hull, .. } = &self.instance.items[item as usize];
        for span in self.instance.spans(item) {
            let total = &mut self.total[span];
            if unplaced {
                total.iter_mut().for_each(|total| *total += size)
            } else {
                total.iter_mut().for_each(|total| *total -= size)
            }
        }
        let crossing = &mut self.crossing[hull.0 as usize + 1..hull.1 as usize];
        if unplaced {
            crossing.iter_mut().for_each(|items| *items += 1)
        } else {
            crossing.iter_mut().for_each(|items| *items -= 1)
        }
    }

    /// Whether, in the sections whose items were raised, what is left fits above the lowest of it.
    fn has_room(&mut self, scope: Scope, (first, end): (usize, usize)) -> bool {
        let Self { instance, lowest, unplaced, total, floor, .. } = self;
        floor[first..end].fill(Units::MAX);
        for &Ranked { item, .. } in &unplaced[scope.from..scope.to] {
            let lowest = lowest[item as usize];
            for span in instance.spans(item) {
                let (from, to) = (span.start.max(first), span.end.min(end));
                if from < to {
                    floor[from..to].iter_mut().for_each(|floor| *floor = lowest.min(*floor));
                }
            }
        }
        let tops = floor[first..end].iter().zip(&total[first..end]);
        let tops = tops.map(|(&floor, &total)| if total == 0 { 0 } else { floor + total });
        tops.fold(0, Units::max) <= instance.capacity
    }

    /// Whether, with `item` out of the way, the scope has a boundary that nothing unplaced crosses.
    fn falls_apart(&self, item: u32, scope: Scope) -> bool {
        let (from, to) = self.instance.items[item as usize].hull;
        let inner = (from as usize).max(scope.first_section + 1)..(to as usize + 1).min(scope.end_section);
        self.crossing[inner].contains(&0)
    }

    /// Walks the pieces of a scope one by one; all must be packed.
    fn divide(&mut self, scope: Scope) -> Walk {
        let mut first_section = scope.first_section;
        for end_section in scope.first_section + 1..=scope.end_section {
            if end_section < scope.end_section && self.crossing[end_section] != 0 {
                continue;
            }
            let from = self.unplaced.len();
            for at in scope.from..scope.to {
                let ranked = self.unplaced[at];
                let start = self.instance.items[ranked.item as usize].hull.0 as usize;
                if (first_section..end_section).contains(&start) {
                    self.unplaced.push(ranked);
                }
            }
            let to = self.unplaced.len();
            let walk = self.rank(Scope { from, to, first_section, end_section, ranking: 0 });
            self.unplaced.truncate(from);
            if walk != Walk::Packed {
                return walk;
            }
            first_section = end_section;
        }
        Walk::Packed
    }

    /// Whether the candidate would rest on an item that could as well rest on it, and the result comes earlier: everything that
    /// may still come above that item must come above the candidate anyway.
    fn would_be_lower_swapped(&self, candidate: Candidate, scope: Scope) -> bool {
        let instance = self.instance;
        let movable = |item: &Item| item.align == 1 && item.fixed.is_none();
        if candidate.offset == 0 || !instance.reserved.is_empty() || !movable(&instance.items[candidate.item as usize])
        {
            return false;
        }
        let is_placed = |item: u32| self.lowest[item as usize] == PLACED;
        let mut support = None;
        let mut next_top = 0;
        for &other in instance.neighbours(candidate.item).iter().filter(|&&other| is_placed(other)) {
            let top = self.placements[other as usize].offset + instance.items[other as usize].size;
            if top < candidate.offset {
                next_top = next_top.max(top);
            } else if support.replace(other).is_some() {
                return false;
            }
        }
        let Some(support) = support else { return false };
        let below = self.placements[support as usize];
        if below.ranking != scope.ranking || !movable(&instance.items[support as usize]) {
            return false;
        }
        if next_top > below.offset || next_top == below.offset && candidate.rank > below.rank {
            return false;
        }
        instance.neighbours(support).iter().all(|&other| {
            if is_placed(other) {
                return self.placements[other as usize].offset < candidate.offset;
            }
            other == candidate.item || instance.conflict(other, candidate.item)
        })
    }
}

//! The search of the compiler's solver: first-fit by size, then greedy placement in seven orders, and the best of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::shuffle::MersenneTwister;
use crate::memory::sizes::aligned;
use crate::target::Space;
use tilefit_packing::Interval;

/// Shuffled orders that are tried.
const SHUFFLES: usize = 4;

/// One buffer to be placed.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub space: Space,
    pub bytes: u64,
    pub life: Interval,
}

/// Buffers of all spaces together: the best order is chosen for all of them at once.
#[derive(Debug, Clone, Default)]
pub(super) struct Problem {
    pub nodes: Vec<Node>,
    /// Pairs that must not share, beside those that are live together. Smaller index first.
    pub separated: BTreeSet<(usize, usize)>,
    /// Pairs that should rather not share, and what it costs.
    pub penalties: BTreeMap<(usize, usize), u64>,
    pub capacity: FxHashMap<Space, u64>,
    /// Bytes at the start of each space that are taken.
    pub reserved: FxHashMap<Space, u64>,
}

/// An address for every node, or none if the search finds no placement within the capacities.
pub(super) fn solve(problem: &Problem) -> Option<Vec<u64>> {
    let search = Search::new(problem);
    let mut best = search.first_fit().map(|offsets| (search.cost(&offsets), offsets));
    for order in search.orders() {
        let Some(offsets) = search.place(&order) else { continue };
        let cost = search.cost(&offsets);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, offsets));
        }
    }
    best.map(|(_, offsets)| offsets)
}

struct Search<'a> {
    problem: &'a Problem,
    /// By node: those that it must not share with.
    hard: Vec<Vec<usize>>,
    /// By node: those that it should rather not share with, and the cost.
    soft: Vec<Vec<(usize, u64)>>,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem) -> Search<'a> {
        let count = problem.nodes.len();
        let mut search = Search { problem, hard: vec![Vec::new(); count], soft: vec![Vec::new(); count] };
        for (a, left) in problem.nodes.iter().enumerate() {
            for (b, right) in problem.nodes.iter().enumerate().skip(a + 1) {
                let together = left.space == right.space && left.life.meets(right.life);
                if together || problem.separated.contains(&(a, b)) {
                    search.hard[a].push(b);
                    search.hard[b].push(a);
                } else if let Some(cost) = problem.penalties.get(&(a, b)) {
                    search.soft[a].push((b, *cost));
                    search.soft[b].push((a, *cost));
                }
            }
        }
        search
    }

    fn by_size(&self) -> Vec<usize> {
        let nodes = &self.problem.nodes;
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_key(|index| (Reverse(nodes[*index].bytes), nodes[*index].life.start, *index));
        order
    }

    /// By size, by start, by cost, and shuffled; each once.
    fn orders(&self) -> Vec<Vec<usize>> {
        let nodes = &self.problem.nodes;
        let mut order = self.by_size();
        let mut orders = vec![order.clone()];
        order.sort_by_key(|index| (nodes[*index].life.start, *index));
        orders.push(order.clone());
        let cost = |index: usize| self.soft[index].iter().map(|(_, cost)| cost).sum::<u64>();
        order.sort_by_key(|index| (Reverse(cost(*index)), Reverse(nodes[*index].bytes), *index));
        orders.push(order.clone());
        let mut random = MersenneTwister::new(0);
        for _ in 0..SHUFFLES {
            random.shuffle(&mut order);
            orders.push(order.clone());
        }
        let mut seen = BTreeSet::new();
        orders.retain(|order| seen.insert(order.clone()));
        orders
    }

    fn first_fit(&self) -> Option<Vec<u64>> {
        let mut offsets = vec![None; self.problem.nodes.len()];
        for index in self.by_size() {
            let mut offset = 0;
            for (start, end) in self.taken(index, &offsets) {
                if end > offset {
                    if start >= offset + self.problem.nodes[index].bytes {
                        break;
                    }
                    offset = aligned(end);
                }
            }
            if !self.is_within(index, offset) {
                return None;
            }
            offsets[index] = Some(offset);
        }
        offsets.into_iter().collect()
    }

    /// Each node where it adds least cost, and lowest among those.
    fn place(&self, order: &[usize]) -> Option<Vec<u64>> {
        let mut offsets: Vec<Option<u64>> = vec![None; self.problem.nodes.len()];
        for index in order {
            let bytes = self.problem.nodes[*index].bytes;
            let taken = self.taken(*index, &offsets);
            let range = |other: usize| offsets[other].map(|at| (at, at + self.problem.nodes[other].bytes));
            let reserved = self.problem.reserved.get(&self.problem.nodes[*index].space).copied();
            let tops = taken.iter().map(|(_, end)| *end).chain(reserved);
            let soft = self.soft[*index].iter().filter_map(|(other, cost)| Some((range(*other)?, *cost)));
            let soft: Vec<((u64, u64), u64)> = soft.collect();
            let candidates: BTreeSet<u64> =
                std::iter::once(0).chain(tops).chain(soft.iter().map(|((_, end), _)| *end)).map(aligned).collect();
            let meets = |at: u64, (start, end): (u64, u64)| at < end && start < at.saturating_add(bytes);
            let free = candidates
                .into_iter()
                .filter(|at| self.is_within(*index, *at) && !taken.iter().any(|range| meets(*at, *range)));
            let cost = |at: u64| soft.iter().filter(|(range, _)| meets(at, *range)).map(|(_, cost)| cost).sum::<u64>();
            offsets[*index] = Some(free.min_by_key(|at| (cost(*at), *at))?);
        }
        offsets.into_iter().collect()
    }

    /// Ranges that a node cannot have, sorted.
    fn taken(&self, index: usize, offsets: &[Option<u64>]) -> Vec<(u64, u64)> {
        let nodes = &self.problem.nodes;
        let reserved = self.problem.reserved.get(&nodes[index].space).map(|end| (0, *end));
        let placed = self.hard[index].iter().filter_map(|other| Some((offsets[*other]?, nodes[*other].bytes)));
        let mut taken: Vec<(u64, u64)> =
            placed.map(|(at, bytes)| (at, at.saturating_add(bytes))).chain(reserved).collect();
        taken.sort_unstable();
        taken
    }

    fn is_within(&self, index: usize, offset: u64) -> bool {
        let node = &self.problem.nodes[index];
        let capacity = self.problem.capacity.get(&node.space).copied().unwrap_or(u64::MAX);
        offset.checked_add(node.bytes).is_some_and(|end| end <= capacity)
    }

    /// Penalties, then the sum of what the spaces reach, then the most that one of them does.
    fn cost(&self, offsets: &[u64]) -> (u64, u64, u64) {
        let nodes = &self.problem.nodes;
        let mut peaks: BTreeMap<Space, u64> = BTreeMap::new();
        for (node, offset) in nodes.iter().zip(offsets) {
            let reserved = self.problem.reserved.get(&node.space).copied().unwrap_or(0);
            let peak = peaks.entry(node.space).or_insert(reserved);
            *peak = (*peak).max(offset.saturating_add(node.bytes));
        }
        let meet = |(a, b): (usize, usize)| overlap(offsets[a], nodes[a].bytes, offsets[b], nodes[b].bytes);
        let penalties = self.problem.penalties.iter();
        let penalty = penalties.filter(|(pair, _)| meet(**pair)).map(|(_, cost)| cost).sum();
        (penalty, peaks.values().sum(), peaks.values().copied().max().unwrap_or(0))
    }
}

pub(super) fn overlap(a: u64, a_bytes: u64, b: u64, b_bytes: u64) -> bool {
    a < b.saturating_add(b_bytes) && b < a.saturating_add(a_bytes)
}

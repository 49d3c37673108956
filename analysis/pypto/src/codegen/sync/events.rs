//! Event ids for the pairs: the hardware has eight for each pair of pipes.

use rustc_hash::FxHashSet;

use super::blocks::{Block, BlockId, Item};
use super::ordering::Pair;
use super::state::Flag;
use crate::codegen::sequence::EVENTS;

/// Position in the text of what is after an item, or before one.
struct Positions {
    /// For each list and item.
    after: Vec<Vec<u32>>,
    /// For each list and gap.
    before: Vec<Vec<u32>>,
}

fn positions(blocks: &[Block]) -> Positions {
    fn number(blocks: &[Block], block: BlockId, next: &mut u32, positions: &mut Positions) {
        let mut take = || {
            *next += 1;
            *next
        };
        positions.before[block].push(take());
        for item in 0..blocks[block].items.len() {
            match &blocks[block].items[item] {
                Item::Loop(body) => number(blocks, *body, next, positions),
                Item::If(branches, _) => {
                    branches.iter().for_each(|branch| number(blocks, *branch, next, positions));
                }
                _ => {}
            }
            *next += 1;
            positions.after[block].push(*next);
            *next += 1;
            positions.before[block].push(*next);
        }
    }
    let mut positions = Positions { after: vec![Vec::new(); blocks.len()], before: vec![Vec::new(); blocks.len()] };
    number(blocks, 0, &mut 0, &mut positions);
    positions
}

/// Gives each pair the lowest event that is free from its set to its wait and that the author does not use. Where all are taken,
/// two pairs of one statement list become one: set at the later of the two places, waited for at the earlier. Returns the first
/// pair between each two pipes for which nothing helps; it is dropped, with what follows it there.
pub(super) fn assign(pairs: &mut Vec<Pair>, blocks: &[Block], written: &FxHashSet<Flag>) -> Vec<Pair> {
    let positions = positions(blocks);
    let set = |pair: &Pair| positions.after[pair.block][pair.item];
    let wait = |pair: &Pair| positions.before[pair.block][pair.gap];
    pairs.sort_by_key(|pair| (pair.src, pair.dst, set(pair), wait(pair)));
    let mut without: Vec<Pair> = Vec::new();
    let mut kept: Vec<Pair> = Vec::new();
    // Those of `kept` that are set and not yet awaited.
    let mut live: Vec<usize> = Vec::new();
    for mut pair in pairs.drain(..) {
        let is_between_the_same = |other: &Pair| (other.src, other.dst) == (pair.src, pair.dst);
        if !kept.last().is_some_and(is_between_the_same) {
            live.clear();
        }
        live.retain(|index| wait(&kept[*index]) > set(&pair));
        let free = |kept: &[Pair], live: &[usize]| {
            let is_free = |event: &u8| {
                !written.contains(&(pair.src, pair.dst, *event))
                    && live.iter().all(|index| kept[*index].event != *event)
            };
            (0..EVENTS).find(is_free)
        };
        let mut event = free(&kept, &live);
        if event.is_none() {
            if let Some(&partner) = live.iter().rev().find(|index| kept[**index].block == pair.block) {
                kept[partner] = joined(kept[partner], pair);
                continue;
            }
            if let Some((stays, goes)) = of_one_list(&kept, &live) {
                kept[stays] = joined(kept[stays], kept[goes]);
                kept.remove(goes);
                live.retain(|index| *index != goes);
                live.iter_mut().filter(|index| **index > goes).for_each(|index| *index -= 1);
                event = free(&kept, &live);
            }
        }
        match event {
            Some(event) => {
                pair.event = event;
                live.push(kept.len());
                kept.push(pair);
            }
            None if without.last().is_some_and(is_between_the_same) => {}
            None => without.push(pair),
        }
    }
    *pairs = kept;
    without
}

/// One pair instead of two, of which `later` is set later. It is set and awaited within the time of both.
fn joined(earlier: Pair, later: Pair) -> Pair {
    Pair { gap: earlier.gap.min(later.gap), event: earlier.event, ..later }
}

/// The two pending pairs of one statement list that are set last.
fn of_one_list(kept: &[Pair], live: &[usize]) -> Option<(usize, usize)> {
    let mut newest_first = live.iter().rev();
    newest_first.clone().find_map(|&goes| {
        newest_first.next();
        let stays = newest_first.clone().find(|stays| kept[**stays].block == kept[goes].block)?;
        Some((*stays, goes))
    })
}

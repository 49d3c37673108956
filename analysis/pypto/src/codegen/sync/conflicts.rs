//! Which instructions touch the same bytes, on chip or in a tensor.

use rustc_hash::FxHashMap;
use tilefit_python::work;

use super::blocks::Node;
use super::state::{Bits, PIPES};
use crate::codegen::sequence::{Access, Affine, Instr, Lines, Program, Step, Tile, TileId};
use crate::ir::{TensorLayout, VarId};
use crate::target::Space;

/// The bytes of a tile: what it shares with others depends on nothing else.
type Place = (Space, u64, u64, Option<Lines>);

/// A tile stands for itself, a handle for everything that it is pointed to. Of tiles with the same bytes the first stands for all.
pub(super) fn stands_for(program: &Program) -> Vec<Vec<TileId>> {
    let mut first: FxHashMap<Place, TileId> = FxHashMap::default();
    let itself = |(number, tile): (usize, &Tile)| {
        let this = TileId(number as u32);
        let place = tile.address.map(|address| (tile.form.space, address, tile.bytes, tile.lines));
        vec![place.map_or(this, |place| *first.entry(place).or_insert(this))]
    };
    let mut found: Vec<Vec<TileId>> = program.tiles.iter().enumerate().map(itself).collect();
    let mut moves = Vec::new();
    handle_moves(&program.body, &mut moves);
    loop {
        let mut changed = false;
        for &(handle, value) in &moves {
            work::spend(1);
            for tile in found[value.0 as usize].clone() {
                work::spend(1);
                let of_handle = &mut found[handle.0 as usize];
                if !of_handle.contains(&tile) {
                    of_handle.push(tile);
                    changed = true;
                }
            }
        }
        if !changed {
            return found;
        }
    }
}

fn handle_moves(steps: &[Step], moves: &mut Vec<(TileId, TileId)>) {
    for step in steps {
        match step {
            Step::Loop(node) => {
                for tile in node.carries.iter().filter_map(|carry| carry.tile) {
                    moves.push((tile.iter, tile.init));
                    moves.push((tile.iter, tile.next));
                }
                handle_moves(&node.body, moves);
            }
            Step::If(node) => {
                for (result, then, otherwise) in node.results.iter().filter_map(|result| result.tiles) {
                    moves.push((result, then));
                    moves.push((result, otherwise));
                }
                handle_moves(&node.then, moves);
                handle_moves(node.otherwise.as_deref().unwrap_or_default(), moves);
            }
            _ => {}
        }
    }
}

fn overlap(program: &Program, a: TileId, b: TileId) -> bool {
    let (a, b) = (program.tile(a), program.tile(b));
    let (Some(start_a), Some(start_b)) = (a.address, b.address) else { return false };
    a.form.space == b.form.space
        && start_a < start_b.saturating_add(b.bytes)
        && start_b < start_a.saturating_add(a.bytes)
        && !lie_between(a, b)
}

/// Whether the lines of two tiles, at one distance, lie beside each other: each in the gaps of the other.
fn lie_between(a: &Tile, b: &Tile) -> bool {
    let (Some(of_a), Some(of_b)) = (a.lines, b.lines) else { return false };
    let distance = of_a.distance;
    if distance != of_b.distance || distance == 0 {
        return false;
    }
    // Where the lines of one begin, counted from those of the other.
    let ahead = |from: &Tile, to: &Tile| match (from.address, to.address) {
        (Some(from), Some(to)) => to.wrapping_sub(from) as i64,
        _ => 0,
    };
    let gap = |from: &Tile, to: &Tile| ahead(from, to).rem_euclid(distance as i64) as u64;
    gap(a, b) >= of_a.length && gap(b, a) >= of_b.length
}

/// Whether a tile that one of them writes can share bytes with a tile of the other.
pub(super) fn on_chip_conflict(program: &Program, stands_for: &[Vec<TileId>], a: &Instr, b: &Instr) -> bool {
    let touches = |left: &[TileId], right: &[TileId]| {
        let all =
            |tiles: &[TileId]| tiles.iter().flat_map(|tile| stands_for[tile.0 as usize].clone()).collect::<Vec<_>>();
        let right = all(right);
        all(left).iter().any(|a| right.iter().any(|b| overlap(program, *a, *b)))
    };
    touches(a.changes(), b.changes()) || touches(a.changes(), b.uses()) || touches(a.uses(), b.changes())
}

pub(super) fn conflicts(
    program: &Program,
    stands_for: &[Vec<TileId>],
    nodes: &[Node],
    of_pipe: &[Bits; PIPES],
) -> Vec<Bits> {
    let count = nodes.len();
    let tiles = program.tiles.len();
    // Accesses by the tile whose bytes they touch.
    let mut writers = vec![Bits::new(count, false); tiles];
    let mut users = vec![Bits::new(count, false); tiles];
    for node in nodes {
        let id = node.instr.id;
        for tile in node.instr.changes().iter().flat_map(|tile| &stands_for[tile.0 as usize]) {
            writers[tile.0 as usize].set(id);
            users[tile.0 as usize].set(id);
        }
        for tile in node.instr.uses().iter().flat_map(|tile| &stands_for[tile.0 as usize]) {
            users[tile.0 as usize].set(id);
        }
    }
    // The same for everything that overlaps the tile.
    let mut near_writers = writers.clone();
    let mut near_users = users.clone();
    let mut by_address: Vec<TileId> = stands_for.iter().flatten().copied().collect();
    by_address.retain(|tile| program.tile(*tile).address.is_some());
    by_address.sort_by_key(|tile| (program.tile(*tile).form.space, program.tile(*tile).address, *tile));
    by_address.dedup();
    for (index, &a) in by_address.iter().enumerate() {
        let tile = program.tile(a);
        let end = tile.address.unwrap_or(0).saturating_add(tile.bytes);
        for &b in &by_address[index + 1..] {
            work::spend(1 + (count / 1024) as u64);
            let other = program.tile(b);
            if other.form.space != tile.form.space || other.address.unwrap_or(0) >= end {
                break;
            }
            if lie_between(tile, other) {
                continue;
            }
            let (a, b) = (a.0 as usize, b.0 as usize);
            near_writers[a].or(&writers[b]);
            near_writers[b].or(&writers[a]);
            near_users[a].or(&users[b]);
            near_users[b].or(&users[a]);
        }
    }
    let mut signals: [Bits; PIPES] = std::array::from_fn(|_| Bits::new(count, false));
    for node in nodes.iter().filter(|node| node.instr.only_signals()) {
        signals[node.instr.pipe as usize].set(node.instr.id);
    }
    let (mut stores, mut accesses) = (FxHashMap::default(), FxHashMap::default());
    for node in nodes {
        for tensor in node.instr.access.iter().flat_map(|access| &access.tensors) {
            let id = node.instr.id;
            accesses.entry(*tensor).or_insert_with(|| Bits::new(count, false)).set(id);
            if node.instr.access.as_ref().is_some_and(|access| access.store) {
                stores.entry(*tensor).or_insert_with(|| Bits::new(count, false)).set(id);
            }
        }
    }
    nodes
        .iter()
        .map(|node| {
            let mut conflicts = Bits::new(count, false);
            for tile in node.instr.changes().iter().flat_map(|tile| &stands_for[tile.0 as usize]) {
                conflicts.or(&near_users[tile.0 as usize]);
            }
            for tile in node.instr.uses().iter().flat_map(|tile| &stands_for[tile.0 as usize]) {
                conflicts.or(&near_writers[tile.0 as usize]);
            }
            if let Some(access) = &node.instr.access {
                let of_tensor = if access.store { &accesses } else { &stores };
                for bits in access.tensors.iter().filter_map(|tensor| of_tensor.get(tensor)) {
                    conflicts.or(bits);
                }
            }
            if node.instr.pipe.in_order() || node.instr.only_signals() {
                conflicts = conflicts.without(&of_pipe[node.instr.pipe as usize]);
            } else {
                conflicts = conflicts.without(&signals[node.instr.pipe as usize]);
            }
            conflicts
        })
        .collect()
}

/// Whether two windows of a tensor can have an element in common. `moving` is the loop variable that is larger by at
/// least one step for the second access; the variables in `free` are unrelated in both, all others are equal.
pub(super) fn windows_overlap(
    program: &Program,
    first: &Access,
    second: &Access,
    moving: Option<(VarId, Option<i64>)>,
    free: &[VarId],
) -> bool {
    if !first.store && !second.store || !first.tensors.iter().any(|tensor| second.tensors.contains(tensor)) {
        return false;
    }
    let (a, b) = (&program.wrappers[first.wrapper], &program.wrappers[second.wrapper]);
    if a.layout == TensorLayout::Dn || b.layout == TensorLayout::Dn || first.tensors != second.tensors {
        return true;
    }
    let dimensions = first.offsets.iter().zip(&a.window).zip(second.offsets.iter().zip(&b.window));
    for ((offset_a, extent_a), (offset_b, extent_b)) in dimensions {
        let (Some(offset_a), Some(offset_b)) = (&offset_a.affine, &offset_b.affine) else { continue };
        let is_free = |affine: &Affine| free.iter().any(|var| affine.factor(*var) != 0);
        let Some(difference) = offset_b.add(offset_a, -1) else { continue };
        if !difference.terms.is_empty() || is_free(offset_a) || is_free(offset_b) {
            continue;
        }
        let factor = moving.map_or(0, |(var, _)| offset_b.factor(var));
        let advance = match moving {
            Some((_, Some(step))) if factor != 0 => factor.saturating_mul(step),
            Some((_, None)) if factor != 0 => continue,
            _ => 0,
        };
        let (extent_a, extent_b) = (*extent_a as i64, *extent_b as i64);
        let distance = difference.constant.saturating_add(advance);
        let beyond = advance >= 0 && distance >= extent_a;
        let before = advance <= 0 && distance <= -extent_b;
        if beyond || before {
            return false;
        }
    }
    true
}

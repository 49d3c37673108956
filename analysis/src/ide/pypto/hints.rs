//! The tiles of a kernel that have a hint, and what there is to one.

use rustc_hash::FxHashSet;
use tilefit_pypto::ir::{Role, Why};
use tilefit_pypto::memory::{Plan, PlannedTile};
use tilefit_syntax::TextRange;

use crate::db::Outcome;

use super::copies::{self, Copies};
use super::{hover, inserted_tiles};
use crate::ide::language::Described;
use crate::ide::{Context, PlacedUnit};

pub(super) struct HintedTile<'p> {
    pub(super) copies: Copies<'p>,
    pub(super) is_unnamed: bool,
}

pub(super) fn of_tiles<'p>(outcome: &'p Outcome, plan: &'p Plan) -> Vec<HintedTile<'p>> {
    let stored = match outcome {
        Outcome::Planned(planned) => inserted_tiles::stored(&planned.kernel),
        _ => FxHashSet::default(),
    };
    let kernel = outcome.kernel();
    // The value of `o[...] = pl.exp(x)` has no name; the hint stands after the expression.
    let is_unnamed = |tile: &PlannedTile| tile.inserted == Some(Why::NestedCall) && stored.contains(&tile.var);
    let hinted = plan.tiles.iter().filter(|tile| {
        let is_of_author = tile.inserted.is_none() || is_unnamed(tile);
        // What other code gives to a scope is defined nowhere in it.
        is_of_author && tile.origin.shown() != plan.origin.shown() && inserted_tiles::is_defined(kernel, plan, tile)
    });
    let copies = copies::grouped(hinted).into_iter();
    copies.map(|copies| HintedTile { is_unnamed: is_unnamed(copies.first), copies }).collect()
}

pub(super) fn described(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    outcome: &Outcome,
    plan: &Plan,
    nth: usize,
) -> Option<Described> {
    let tile = of_tiles(outcome, plan).get(nth)?.copies.first;
    let markdown = hover::describe(context, placed, outcome, plan, tile);
    Some(Described { markdown, before: before(placed, plan, tile) })
}

/// Where the tile is defined that last had bytes of a tile before it.
fn before(placed: &PlacedUnit<'_>, plan: &Plan, tile: &PlannedTile) -> Option<TextRange> {
    let address = tile.address?;
    let overlaps = |other: &&PlannedTile| {
        other.space == tile.space
            && other.address.is_some_and(|at| at < address + tile.bytes && address < at + other.bytes)
    };
    let earlier =
        plan.tiles.iter().filter(|other| other.role == Role::Def && other.inserted.is_none() && other.var != tile.var);
    let earlier = earlier.filter(|other| other.first < tile.first).filter(overlaps);
    earlier.max_by_key(|other| other.first).map(|other| placed.range(other.origin))
}

//! A plan beside the compiler's own, as a dump prints it.

use std::collections::BTreeMap;

use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::finding::{Finding, Related};

use crate::ir::Role;
use crate::memory::{Plan, PlannedTile};
use crate::target::Space;

/// Tiles that are compared with those of the same name.
type ByName<'p> = BTreeMap<&'p str, Vec<&'p PlannedTile>>;

/// What a dump says of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    Same,
    /// The same tiles at other addresses.
    Differs(Box<Finding>),
    /// Other tiles: the text was edited since.
    Older,
}

/// Between the author's name and the number of the definition.
const DEFINITION: &str = "__ssa_v";

/// Whether the tiles that the author named lie where the dump in `file` has them.
pub fn compare(ours: &Plan, dump: &Plan, file: &str) -> Match {
    let is_ssa = dump.tiles.iter().any(|tile| tile.name.contains(DEFINITION));
    // What a loop leaves behind can have a definition without an operation, under a name that says so.
    let (mine, theirs) = (
        authored(ours, |tile| (!tile.op.is_empty()).then_some(&tile.name)),
        authored(dump, |tile| author_name(&tile.name, is_ssa)),
    );
    if !is_of_same_text(&mine, &theirs) {
        return Match::Older;
    }
    let pairs = mine.iter().flat_map(|(name, tiles)| tiles.iter().zip(theirs.get(name).into_iter().flatten()));
    let mut apart: Vec<(&PlannedTile, u64, u64)> = pairs
        .filter_map(|(tile, theirs)| Some((*tile, tile.address?, theirs.address?)))
        .filter(|(_, address, theirs)| address != theirs)
        .collect();
    apart.sort_by_key(|(tile, ..)| tile.first);
    match apart.split_first() {
        None => Match::Same,
        Some((first, others)) => Match::Differs(Box::new(finding(ours, file, *first, others))),
    }
}

fn authored<'p>(plan: &'p Plan, author_name: impl Fn(&'p PlannedTile) -> Option<&'p str>) -> ByName<'p> {
    let mut tiles = ByName::new();
    for tile in plan.tiles.iter().filter(|tile| tile.role == Role::Def && tile.inserted.is_none()) {
        if let Some(name) = author_name(tile) {
            tiles.entry(name).or_default().push(tile);
        }
    }
    tiles
}

/// What the author called a definition: `x` for `x__ssa_v1` and its copy `x__ssa_v1_1`. `None` for what the compiler adds:
/// `x__ssa_v1_Left`, `x__rv_v2`, and where definitions have numbers, names without: they are those of loops and branches.
fn author_name(printed: &str, is_ssa: bool) -> Option<&str> {
    match printed.split_once(DEFINITION) {
        Some((name, copy)) => copy.chars().all(|c| c.is_ascii_digit() || c == '_').then_some(name),
        None => (!is_ssa).then_some(printed),
    }
}

/// Whether every name of ours has the same tiles in the dump.
fn is_of_same_text(ours: &ByName, dump: &ByName) -> bool {
    let kind =
        |tile: &PlannedTile| -> (Vec<u64>, Dtype, Option<Space>) { (tile.shape.clone(), tile.dtype, tile.space) };
    let same = |(a, b): (&&PlannedTile, &&PlannedTile)| kind(a) == kind(b);
    !ours.is_empty()
        && ours.iter().all(|(name, tiles)| {
            dump.get(name).is_some_and(|others| others.len() == tiles.len() && tiles.iter().zip(others).all(same))
        })
}

fn finding(
    plan: &Plan,
    file: &str,
    (tile, ours, theirs): (&PlannedTile, u64, u64),
    others: &[(&PlannedTile, u64, u64)],
) -> Finding {
    let more = match others.len() {
        0 => String::new(),
        1 => ", and one more tile differs".to_owned(),
        more => format!(", and {more} more tiles differ"),
    };
    let partly = if plan.notes.is_empty() {
        ""
    } else {
        " The plan is not exact, because parts of the kernel are not modelled."
    };
    let message = format!(
        "`{}` is at {theirs:#x} in the compiler's dump `{file}`, but at {ours:#x} in this plan (planner {}, target {}){more}. If the dump was made with another planner or target, set `planner` and `target` accordingly. If it is older than the compiler, create it again.{partly}",
        tile.name, plan.planner, plan.target
    );
    let related = others.iter().map(|(tile, ours, theirs)| Related {
        at: tile.origin,
        message: format!("`{}` is at {theirs:#x} in the dump, but at {ours:#x} here", tile.name),
    });
    let code = Code::DumpDiffers;
    Finding::new(code, tile.origin, message).with_related(related)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_definitions_are_the_authors() {
        assert_eq!(author_name("x__ssa_v0", true), Some("x"));
        assert_eq!(author_name("x_1__ssa_v12_3", true), Some("x_1"));
        assert_eq!(author_name("x", false), Some("x"));
        for added in ["x__ssa_v0_Left", "acc__rv_v2", "acc__iter_v1", "y__phi_v0", "x__ssa_v0_mv", "r"] {
            assert_eq!(author_name(added, true), None, "{added}");
        }
    }
}

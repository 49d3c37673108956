//! Space, address and size after the name of each tile where it is defined: `Vec 0x4000 16 KiB`; `→ Vec 0x4000 16 KiB` after
//! an expression whose value goes to memory without a name. When asked for, also the
//! synchronisation of generated C++.

use std::ops::Range;

use rustc_hash::FxHashSet;
use tilefit_syntax::TextRange;

use crate::db::Outcome;
use crate::ir::{Role, Why};
use crate::memory::{Plan, PlannedTile};

use super::{Context, PlacedUnit, hover, layout, made, sync_hints, tlx};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlayHint {
    pub offset: usize,
    pub label: String,
    pub tooltip: String,
    /// Belongs to what follows the offset, not to what stands before it.
    pub in_front: bool,
}

/// What there is to a hint for a reader who looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintDetails {
    pub markdown: String,
    pub link: Option<HintLink>,
}

/// The address in a hint leads to the tile that had the memory before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintLink {
    /// Bytes of the label.
    pub part: Range<usize>,
    /// Bytes of the file.
    pub target: TextRange,
}

pub(crate) fn inlay_hints(context: &Context<'_>, range: TextRange) -> Vec<InlayHint> {
    let mut hints: Vec<InlayHint> = Vec::new();
    let config = context.config();
    for placed in context.units_in(range) {
        if config.sync_hints {
            hints.extend(sync_hints::sync_hints(context, &placed, range));
        }
        if !config.inlay_hints {
            continue;
        }
        hints.extend(context.tlx(placed.unit).into_iter().flat_map(|kernel| tlx::inlay_hints(&placed, kernel, range)));
        for Hinted { plan, tile, offset, is_unnamed, .. } in of_tiles(context, &placed) {
            if offset < range.start || offset > range.end {
                continue;
            }
            let tooltip = format!("{} under planner {} on {}", plan.kernel, plan.planner, plan.target);
            let arrow = if is_unnamed { "→ " } else { "" };
            let label = format!("{arrow}{}", layout::place(tile));
            // Copies made by unrolling stand on the same name; the first speaks for all.
            if !hints.iter().rev().take(64).any(|hint| hint.offset == offset && !hint.in_front) {
                hints.push(InlayHint { offset, label, tooltip, in_front: false });
            }
        }
    }
    hints.sort_by_key(|hint| hint.offset);
    hints
}

/// A tile that has a hint.
struct Hinted<'db> {
    outcome: &'db Outcome,
    plan: &'db Plan,
    tile: &'db PlannedTile,
    /// Of the hint.
    offset: usize,
    is_unnamed: bool,
}

fn of_tiles<'db>(context: &Context<'db>, placed: &PlacedUnit<'db>) -> Vec<Hinted<'db>> {
    let mut all = Vec::new();
    for outcome in context.plans(placed.unit) {
        let Some(plan) = outcome.plan() else { continue };
        let stored = match outcome {
            Outcome::Planned(planned) => made::stored(&planned.kernel),
            _ => FxHashSet::default(),
        };
        let kernel = outcome.kernel();
        for tile in plan.tiles.iter().filter(|tile| made::is_defined(kernel, plan, tile)) {
            // The value of `o[...] = pl.exp(x)` has no name; the hint stands after the expression.
            let is_unnamed = tile.inserted == Some(Why::NestedCall) && stored.contains(&tile.var);
            if tile.inserted.is_some() && !is_unnamed {
                continue;
            }
            // What other code gives to a scope is defined nowhere in it.
            if tile.origin == plan.origin {
                continue;
            }
            all.push(Hinted { outcome, plan, tile, offset: placed.range(tile.origin).end, is_unnamed });
        }
    }
    all
}

/// The details of the hint of a tile or buffer at a byte offset; those of synchronisation have none.
pub(crate) fn hint_details(context: &Context<'_>, offset: usize, label: &str) -> Option<HintDetails> {
    let placed = context.units_in(TextRange::empty(offset)).find(|p| p.start <= offset && offset <= p.start + p.len)?;
    if let Some(kernel) = context.tlx(placed.unit) {
        let hover = tlx::hover(context, &placed, kernel, offset)?;
        return Some(HintDetails { markdown: hover.markdown, link: None });
    }
    let is_it =
        |hinted: &Hinted<'_>| hinted.offset == offset && label.trim_start_matches("→ ") == layout::place(hinted.tile);
    let Hinted { outcome, plan, tile, .. } = of_tiles(context, &placed).into_iter().find(is_it)?;
    Some(HintDetails {
        markdown: hover::describe(context, &placed, outcome, plan, tile),
        link: link(&placed, plan, tile, label),
    })
}

fn link(placed: &PlacedUnit<'_>, plan: &Plan, tile: &PlannedTile, label: &str) -> Option<HintLink> {
    let start = label.find("0x")?;
    let len = label[start..].find(' ').unwrap_or(label.len() - start);
    let target = before(placed, plan, tile)?;
    Some(HintLink { part: start..start + len, target })
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

#[cfg(test)]
mod tests {
    use tilefit_syntax::Document;

    use super::*;
    use crate::AnalysisHost;

    #[test]
    fn an_address_leads_to_who_had_it_before() {
        let text = "import pypto.language as pl\n\n@pl.function(type=pl.FunctionType.InCore)\ndef k(a: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n    x = pl.load(a, [0, 0], [64, 64])\n    y = pl.exp(x)\n    o = pl.store(y, [0, 0], o)\n    return o\n";
        let mut host = AnalysisHost::new();
        let file = host.file_id("k.py");
        host.set_document(file, Document::new(text));
        let analysis = host.snapshot();
        let hints = analysis.inlay_hints(file, TextRange::new(0, text.len())).expect("no edit");
        let [x, y] = hints.as_slice() else { panic!("{hints:?}") };
        let details = |hint: &InlayHint| analysis.hint_details(file, hint.offset, &hint.label).expect("no edit");
        assert_eq!(details(x).expect("a tile").link, None);
        let of_y = details(y).expect("a tile");
        assert!(of_y.markdown.contains("| memory space | Vec |"), "{}", of_y.markdown);
        let link = of_y.link.expect("`y` lies where `x` lay");
        assert_eq!((&y.label[link.part], &text[link.target.start..link.target.end]), ("0x0", "x"));
        assert_eq!(analysis.hint_details(file, y.offset, "Vec 0x8 16 KiB"), Ok(None), "another plan");
        assert_eq!(analysis.hint_details(file, 3, &y.label), Ok(None));
    }
}

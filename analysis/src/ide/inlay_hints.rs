//! Space, address and size behind the name of each tile where it is defined: `Vec 0x4000 16 KiB`; `→ Vec 0x4000 16 KiB` behind
//! an expression whose value goes to memory without a name. When asked for, also the
//! synchronisation of generated C++.

use tilelens_syntax::TextRange;

use rustc_hash::FxHashSet;

use crate::db::Outcome;

use super::{Context, layout, made, sync_hints, tlx};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlayHint {
    pub offset: usize,
    pub label: String,
    pub tooltip: String,
    /// Belongs to what follows the offset, not to what stands before it.
    pub in_front: bool,
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
        for outcome in context.plans(placed.unit) {
            let Some(plan) = outcome.plan() else { continue };
            let stored = match outcome {
                Outcome::Planned(planned) => made::stored(&planned.kernel),
                _ => FxHashSet::default(),
            };
            let kernel = outcome.kernel();
            for tile in plan.tiles.iter().filter(|tile| made::is_defined(kernel, plan, tile)) {
                // The value of `o[...] = pl.exp(x)` has no name; the hint stands behind the expression.
                let is_unnamed = tile.inserted && tile.name.starts_with("t__tmp") && stored.contains(&tile.var);
                if tile.inserted && !is_unnamed {
                    continue;
                }
                // What other code gives to a scope is defined nowhere in it.
                if tile.origin == plan.origin {
                    continue;
                }
                let offset = placed.range(tile.origin).end;
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
    }
    hints.sort_by_key(|hint| hint.offset);
    hints
}

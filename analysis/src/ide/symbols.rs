//! Programs, kernels and the tiles in them, for the outline.

use tilefit_syntax::TextRange;

use crate::db::{self, Outcome};
use crate::ir::Role;

use super::{Context, layout, tlx};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub detail: String,
    pub kind: SymbolKind,
    /// Bytes; the whole definition.
    pub range: TextRange,
    /// Bytes; the name.
    pub selection: TextRange,
    pub children: Vec<Symbol>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    Kernel,
    Tile,
}

/// Each kernel once, also where it works on both cores, with the bytes of its name.
pub(crate) fn kernel_names(context: &Context<'_>) -> Vec<(String, TextRange)> {
    let mut names = Vec::new();
    for placed in context.units() {
        let mut add = |kernel: &str, at| {
            let name = (context.qualified_name(placed.unit, kernel), placed.range(at));
            if names.last() != Some(&name) {
                names.push(name);
            }
        };
        if let Some(tlx) = context.tlx(placed.unit) {
            add(&tlx.kernel.name, tlx.kernel.name_origin);
        }
        let mut kernels = db::source_kernels(context.db, placed.unit).peekable();
        if kernels.peek().is_none() {
            // Printed ones have a plan, which is only read.
            let plans = context.plans(placed.unit).iter().filter_map(Outcome::plan);
            plans.for_each(|plan| add(&plan.kernel, plan.name_origin));
        }
        kernels.for_each(|kernel| add(&kernel.name, kernel.name_origin));
    }
    names
}

/// Whether a name contains the letters of `query` in order, in any case.
pub fn is_meant(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|wanted| letters.any(|letter| letter == wanted))
}

pub(crate) fn document_symbols(context: &Context<'_>) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for placed in context.units() {
        symbols.extend(context.tlx(placed.unit).map(|kernel| tlx::symbol(context, &placed, kernel)));
        for outcome in context.plans(placed.unit) {
            let Some(plan) = outcome.plan() else { continue };
            let selection = placed.range(plan.name_origin);
            let whole = placed.range(plan.origin);
            let tiles =
                plan.tiles.iter().filter(|tile| tile.inserted.is_none() && tile.role == Role::Def).map(|tile| {
                    let range = placed.range(tile.origin);
                    let detail = layout::place(tile);
                    Symbol {
                        name: tile.name.clone(),
                        detail,
                        kind: SymbolKind::Tile,
                        range,
                        selection: range,
                        children: vec![],
                    }
                });
            symbols.push(Symbol {
                name: context.qualified_name(placed.unit, &plan.kernel),
                detail: format!("{} kernel", plan.target),
                kind: SymbolKind::Kernel,
                range: TextRange::new(whole.start.min(selection.start), whole.end.max(selection.end)),
                selection,
                children: tiles.collect(),
            });
        }
    }
    symbols
}

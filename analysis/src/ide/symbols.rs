//! Programs, kernels and the tiles in them, for the outline.

use tilelens_syntax::TextRange;

use crate::FileId;
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

/// A kernel somewhere in the workspace.
pub struct FoundSymbol {
    pub file: FileId,
    /// `Program.kernel`
    pub name: String,
    /// Bytes; the name.
    pub selection: TextRange,
}

/// The kernels of a file whose names contain the letters of `query` in order, in any case.
pub(crate) fn named(context: &Context<'_>, query: &str) -> Vec<FoundSymbol> {
    let found = document_symbols(context).into_iter().filter(|symbol| matches(&symbol.name, query));
    let file = FileId(context.file);
    found.map(|symbol| FoundSymbol { file, name: symbol.name, selection: symbol.selection }).collect()
}

fn matches(name: &str, query: &str) -> bool {
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
            let tiles = plan.tiles.iter().filter(|tile| !tile.inserted && tile.role == Role::Def).map(|tile| {
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

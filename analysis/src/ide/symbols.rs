//! Programs, kernels and the tiles in them, for the outline.

use tilefit_syntax::TextRange;

use super::language::{KernelView, Placement};
use super::{Context, PlacedUnit, formatting, languages};

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
        for kernel in languages::declared(context, placed.unit) {
            let name = (context.qualified_name(placed.unit, kernel.name), placed.range(kernel.at));
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
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
        symbols.extend(languages::kernels(context, placed.unit).map(|kernel| of_kernel(context, &placed, &*kernel)));
    }
    symbols
}

fn of_kernel(context: &Context<'_>, placed: &PlacedUnit<'_>, kernel: &dyn KernelView) -> Symbol {
    let (selection, whole) = (placed.range(kernel.name_origin()), placed.range(kernel.origin()));
    Symbol {
        name: context.qualified_name(placed.unit, kernel.name()),
        detail: format!("{} kernel", kernel.target()),
        kind: SymbolKind::Kernel,
        range: TextRange::new(whole.start.min(selection.start), whole.end.max(selection.end)),
        selection,
        children: kernel.outline(placed).iter().map(|placement| of_placement(placed, placement)).collect(),
    }
}

fn of_placement(placed: &PlacedUnit<'_>, placement: &Placement<'_>) -> Symbol {
    let range = placed.range(placement.at);
    Symbol {
        name: placement.name.to_owned(),
        detail: placement.extent.as_ref().map_or_else(|| "?".to_owned(), formatting::extent),
        kind: SymbolKind::Tile,
        range,
        selection: range,
        children: Vec::new(),
    }
}

//! `textDocument/documentSymbol`: kernels and their tiles.

use ls_types as lsp;
use tilefit_analysis::Cancellable;
use tilefit_analysis::ide::{Symbol, SymbolKind};

use crate::view::View;

pub fn document_symbols(view: &View) -> Cancellable<Option<lsp::DocumentSymbolResponse>> {
    let symbols = view.analysis.document_symbols(view.file)?;
    let here = symbols.into_iter().filter(|symbol| view.has(symbol.selection.start));
    let symbols = here.map(|symbol| document_symbol(view, symbol)).collect();
    Ok(Some(lsp::DocumentSymbolResponse::Nested(symbols)))
}

#[expect(deprecated, reason = "the struct has no constructor without its deprecated field")]
fn document_symbol(view: &View, symbol: Symbol) -> lsp::DocumentSymbol {
    let children = symbol.children.into_iter().map(|child| document_symbol(view, child)).collect();
    lsp::DocumentSymbol {
        name: symbol.name,
        detail: Some(symbol.detail),
        kind: match symbol.kind {
            SymbolKind::Kernel => lsp::SymbolKind::FUNCTION,
            SymbolKind::Tile => lsp::SymbolKind::VARIABLE,
        },
        tags: None,
        deprecated: None,
        range: view.range(symbol.range),
        selection_range: view.range(symbol.selection),
        children: Some(children),
    }
}

use tilelens_analysis::{Analysis, Cancellable};
use tilelens_syntax::PositionEncoding;
use tower_lsp::ls_types::{Location, OneOf, SymbolKind, WorkspaceSymbol, WorkspaceSymbolResponse};

use crate::lsp::convert;

/// Kernels by name in the files that are known: the open ones, and those that they import.
pub(in crate::lsp) fn workspace_symbols(
    analysis: &Analysis,
    encoding: PositionEncoding,
    query: &str,
) -> Cancellable<WorkspaceSymbolResponse> {
    let found = analysis.workspace_symbols(query)?.into_iter().filter_map(|symbol| {
        let uri = convert::uri_of(analysis.path(symbol.file))?;
        let range = convert::range(analysis.document(symbol.file), symbol.selection, encoding);
        Some(WorkspaceSymbol {
            name: symbol.name,
            kind: SymbolKind::FUNCTION,
            tags: None,
            container_name: None,
            location: OneOf::Left(Location::new(uri, range)),
            data: None,
        })
    });
    Ok(WorkspaceSymbolResponse::Nested(found.collect()))
}

//! `workspace/symbol`: kernels by name. Nothing is planned for it.

use ls_types::{Location, OneOf, Range, SymbolKind, Uri, WorkspaceSymbol};
use tilefit_analysis::ide::symbols::is_meant;
use tilefit_analysis::{Analysis, Cancellable, FileId};
use tilefit_syntax::PositionEncoding;

use crate::convert;

/// A kernel of a file.
#[derive(Debug, Clone)]
pub struct KernelName {
    /// `Program.kernel`
    name: String,
    range: Range,
}

/// The kernels of a file.
pub fn kernel_names(analysis: &Analysis, file: FileId, encoding: PositionEncoding) -> Cancellable<Vec<KernelName>> {
    let document = analysis.document(file);
    let named = analysis.kernel_names(file)?.into_iter();
    Ok(named.map(|(name, at)| KernelName { name, range: convert::range(document, at, encoding) }).collect())
}

/// Those of the kernels of a file that `query` may mean.
pub fn workspace_symbols(uri: &Uri, kernels: &[KernelName], query: &str) -> impl Iterator<Item = WorkspaceSymbol> {
    let meant = kernels.iter().filter(move |kernel| is_meant(&kernel.name, query));
    meant.map(|kernel| WorkspaceSymbol {
        name: kernel.name.clone(),
        kind: SymbolKind::FUNCTION,
        tags: None,
        container_name: None,
        location: OneOf::Left(Location::new(uri.clone(), kernel.range)),
        data: None,
    })
}

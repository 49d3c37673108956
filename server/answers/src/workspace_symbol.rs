//! `workspace/symbol`: kernels by name. Nothing is planned for it.

use ls_types::{Location, OneOf, SymbolKind, WorkspaceSymbol};
use tilefit_analysis::Cancellable;
use tilefit_analysis::ide::symbols::is_meant;

use crate::view::View;

/// A kernel of a file.
#[derive(Debug, Clone)]
pub struct KernelName {
    /// `Program.kernel`
    name: String,
    place: Location,
}

/// The kernels of a file.
pub fn kernel_names(view: &View) -> Cancellable<Vec<KernelName>> {
    let named = view.analysis.kernel_names(view.file)?.into_iter();
    Ok(named.filter_map(|(name, at)| Some(KernelName { name, place: view.location(view.file, at)? })).collect())
}

/// Those of the kernels of a file that `query` may mean.
pub fn workspace_symbols(kernels: &[KernelName], query: &str) -> impl Iterator<Item = WorkspaceSymbol> {
    let meant = kernels.iter().filter(move |kernel| is_meant(&kernel.name, query));
    meant.map(|kernel| WorkspaceSymbol {
        name: kernel.name.clone(),
        kind: SymbolKind::FUNCTION,
        tags: None,
        container_name: None,
        location: OneOf::Left(kernel.place.clone()),
        data: None,
    })
}

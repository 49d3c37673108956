//! Configurations that stand in files beside the code.

use std::sync::Arc;

use tilefit_gpu::device::Arch;
use tilefit_gpu::tuned_configurations::{self, FUNCTION, Tuned};
use tilefit_python::eval::{Argument, Constant};
use tilefit_python::finding::Reason;

use super::{SourceFile, imports};

/// `runtime.get_tuned_config("mm")` in a file, on a device; `None` where the workspace has no such files.
pub(super) fn call(
    db: &dyn salsa::Database,
    (file, device): (SourceFile, Option<Arch>),
    path: &[&str],
    arguments: &dyn Fn() -> Vec<Argument>,
) -> Option<Constant> {
    let ([.., FUNCTION], Some(device)) = (path, device) else { return None };
    let arguments = arguments();
    let [Argument { value: Constant::Str(operation), .. }] = arguments.as_slice() else { return None };
    let known = |path: String| imports::known(db, &imports::in_folders_above(file.path(db), &path));
    let mut tables = tuned_configurations::files_for(device).filter_map(known);
    // What a nearer file may have does not come from the next.
    tables.find_map(|table| match tuned(db, table) {
        Some(tuned) => tuned.configurations(operation),
        None => Some(Constant::Unknown(Reason::new(format!("`{}` is not read", table.path(db))))),
    })
}

#[salsa::tracked(returns(ref))]
fn tuned(db: &dyn salsa::Database, file: SourceFile) -> Option<Arc<Tuned>> {
    Tuned::from_text(&file.document(db).text()).map(Arc::new)
}

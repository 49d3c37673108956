use tilefit_analysis::Cancellable;
use tower_lsp::ls_types::Position;

use crate::lsp::ext::KernelIr;
use crate::lsp::query::View;

pub(in crate::lsp) fn lowered_ir(view: &View, position: Position) -> Cancellable<Option<KernelIr>> {
    let ir = view.analysis.lowered_ir_at(view.file, view.offset(position))?;
    let version = view.version;
    Ok(ir.map(|ir| KernelIr { kernel: ir.kernel, language: "mlir", text: ir.text, version, map: Vec::new() }))
}

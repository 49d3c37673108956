use tilelens_analysis::Cancellable;
use tower_lsp::ls_types::Position;

use crate::lsp::ext::KernelIr;
use crate::lsp::query::View;

pub(in crate::lsp) fn allocated_ir(view: &View, position: Position) -> Cancellable<Option<KernelIr>> {
    let ir = view.analysis.allocated_ir_at(view.file, view.offset(position))?;
    Ok(ir.map(|ir| KernelIr { kernel: ir.kernel, language: "python", text: ir.text, version: view.version }))
}

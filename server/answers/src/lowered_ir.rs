//! `tilefit/loweredIr`: the MLIR of a TLX kernel after each step of its compiler.

use ls_types::Position;
use tilefit_analysis::Cancellable;

use crate::ext::KernelIr;
use crate::view::View;

pub fn lowered_ir(view: &View, position: Position) -> Cancellable<Option<KernelIr>> {
    let ir = view.analysis.lowered_ir_at(view.file, view.offset(position))?;
    let version = view.version;
    Ok(ir.map(|ir| KernelIr { kernel: ir.kernel, language: "mlir", text: ir.text, version, map: Vec::new() }))
}

//! `tilefit/allocatedIr`: the IR of a kernel after memory is allocated.

use ls_types::Position;
use tilefit_analysis::Cancellable;

use crate::ext::{KernelIr, MappedLine};
use crate::view::View;

pub fn allocated_ir(view: &View, position: Position) -> Cancellable<Option<KernelIr>> {
    let ir = view.analysis.allocated_ir_at(view.file, view.offset(position))?;
    Ok(ir.map(|ir| {
        let lines = ir.map.into_iter();
        let map = lines.map(|(line, range)| MappedLine { generated_line: line, range: view.range(range) }).collect();
        KernelIr { kernel: ir.kernel, language: "python", text: ir.text, version: view.version, map }
    }))
}

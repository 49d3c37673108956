use tilefit_analysis::Cancellable;
use tower_lsp::ls_types::Position;

use crate::lsp::ext::{KernelIr, MappedLine};
use crate::lsp::query::View;

pub(in crate::lsp) fn allocated_ir(view: &View, position: Position) -> Cancellable<Option<KernelIr>> {
    let ir = view.analysis.allocated_ir_at(view.file, view.offset(position))?;
    Ok(ir.map(|ir| {
        let lines = ir.map.into_iter();
        let map = lines.map(|(line, range)| MappedLine { generated_line: line, range: view.range(range) }).collect();
        KernelIr { kernel: ir.kernel, language: "python", text: ir.text, version: view.version, map }
    }))
}

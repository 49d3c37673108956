use tilelens_analysis::Cancellable;
use tower_lsp::ls_types::Position;

use crate::lsp::ext::{GeneratedCode, MappedLine};
use crate::lsp::query::View;

pub(in crate::lsp) fn generated_code(view: &View, position: Position) -> Cancellable<Option<GeneratedCode>> {
    let code = view.analysis.generated_code(view.file, view.offset(position))?;
    Ok(code.map(|code| {
        let lines = code.map.into_iter();
        GeneratedCode {
            kernel: code.kernel,
            language: "cpp",
            text: code.text,
            version: view.version,
            map: lines.map(|(line, range)| MappedLine { generated_line: line, range: view.range(range) }).collect(),
        }
    }))
}

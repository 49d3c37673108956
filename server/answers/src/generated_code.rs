//! `tilefit/generatedCode`: the C++ of a kernel.

use ls_types::Position;
use tilefit_analysis::{Cancellable, ide};

use crate::ext::{Gap, GeneratedCode, MappedLine};
use crate::view::View;

pub fn generated_code(view: &View, position: Position) -> Cancellable<Option<GeneratedCode>> {
    let code = view.analysis.generated_code(view.file, view.offset(position))?;
    Ok(code.map(|code| answer(view, code)))
}

/// By the name of the kernel, `Program.kernel`.
pub fn generated_code_of(view: &View, kernel: &str) -> Cancellable<Option<GeneratedCode>> {
    let codes = view.analysis.generated_codes(view.file)?;
    Ok(codes.into_iter().find(|code| code.kernel == kernel).map(|code| answer(view, code)))
}

fn answer(view: &View, code: ide::GeneratedCode) -> GeneratedCode {
    let lines = code.map.into_iter().filter(|(_, range)| view.has(range.start));
    let gaps = code.gaps.into_iter().filter(|gap| !gap.is_said && view.has(gap.range.start));
    GeneratedCode {
        kernel: code.kernel,
        language: "cpp",
        text: code.text,
        version: view.version,
        map: lines.map(|(line, range)| MappedLine { generated_line: line, range: view.range(range) }).collect(),
        gaps: gaps
            .map(|gap| Gap { range: view.range(gap.range), code: gap.code.name(), message: gap.message })
            .collect(),
    }
}

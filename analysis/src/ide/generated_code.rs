//! The C++ of the kernel under the cursor.

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Finding;
use tilefit_syntax::TextRange;

use crate::db::{self, Outcome};

use super::{Context, PlacedUnit};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedCode {
    /// `Program.kernel`
    pub kernel: String,
    pub text: String,
    /// Generated line (0-based) and the source range (bytes) that it stems from.
    pub map: Vec<(u32, TextRange)>,
    pub gaps: Vec<Gap>,
}

/// What could not be generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// In the source, bytes.
    pub range: TextRange,
    pub code: Code,
    pub message: String,
    /// The diagnostics of the source say it too, or the author does not want to hear of it.
    pub is_said: bool,
}

pub(crate) fn generated_code(context: &Context<'_>, offset: usize) -> Option<GeneratedCode> {
    context.at(offset, |placed| codes(context, placed))
}

pub(crate) fn generated_codes(context: &Context<'_>) -> Vec<GeneratedCode> {
    context.units().flat_map(|placed| codes(context, &placed)).map(|(_, code)| code).collect()
}

/// The kernels of a block, each with its range.
fn codes(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<(TextRange, GeneratedCode)> {
    let generated = db::generated(context.db, placed.unit);
    let both = context.plans(placed.unit).iter().zip(generated.iter());
    let codes = both.filter_map(|(outcome, generated)| {
        let Outcome::Planned(planned) = outcome else { return None };
        let code = GeneratedCode {
            kernel: context.qualified_name(placed.unit, &planned.plan.kernel),
            text: generated.text.clone(),
            map: generated.lines.iter().map(|&(line, origin)| (line, placed.range(origin))).collect(),
            gaps: generated.findings.iter().map(|finding| gap(context, placed, finding)).collect(),
        };
        Some((placed.range(planned.plan.origin), code))
    });
    codes.collect()
}

fn gap(context: &Context<'_>, placed: &PlacedUnit<'_>, finding: &Finding) -> Gap {
    let Finding { code, at, ref message, .. } = *finding;
    let is_said = code.is_on_by_default() || context.config().severity.contains_key(&code);
    Gap { range: placed.range(at), code, message: message.clone(), is_said }
}

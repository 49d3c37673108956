//! The C++ of the kernel under the cursor.

use tilelens_syntax::TextRange;

use crate::db::{self, Outcome};
use crate::diagnostics::Code;

use super::{Context, PlacedUnit};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedCode {
    /// `Program.kernel`
    pub kernel: String,
    pub text: String,
    /// Generated line (0-based) and the source range (bytes) that it stems from.
    pub map: Vec<(u32, TextRange)>,
    /// What could not be generated: source range (bytes), code and message.
    pub gaps: Vec<(TextRange, Code, String)>,
}

pub(crate) fn generated_code(context: &Context<'_>, offset: usize) -> Option<GeneratedCode> {
    context.at(offset, |placed| codes(context, placed))
}

pub(crate) fn generated_codes(context: &Context<'_>) -> Vec<GeneratedCode> {
    context.units().flat_map(|placed| codes(context, &placed)).map(|(_, code)| code).collect()
}

/// The kernels of a block, each with its range.
fn codes(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<(TextRange, GeneratedCode)> {
    let generated = db::generated(context.db, placed.unit, context.settings);
    let both = context.plans(placed.unit).iter().zip(generated.iter());
    let codes = both.filter_map(|(outcome, generated)| {
        let Outcome::Planned(planned) = outcome else { return None };
        let code = GeneratedCode {
            kernel: context.qualified_name(placed.unit, &planned.plan.kernel),
            text: generated.text.clone(),
            map: generated.lines.iter().map(|&(line, origin)| (line, placed.range(origin))).collect(),
            gaps: generated.findings.iter().map(|gap| (placed.range(gap.at), gap.code, gap.message.clone())).collect(),
        };
        Some((placed.range(planned.plan.origin), code))
    });
    codes.collect()
}

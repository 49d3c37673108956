//! What an editor offers in a kernel of a GPU, whatever its language.

use tilefit_gpu::scenario;
use tilefit_python::finding::Origin;
use tilefit_syntax::TextRange;

use crate::ide::code_action::{CodeAction, Effect, Fix};
use crate::ide::diagnostic::Diagnostic;
use crate::ide::language::Missing;
use crate::ide::{Context, PlacedUnit};

/// A comment above the kernel with all that is `needed`: names and examples of their values. Where there is one, the values are added to it.
pub(in crate::ide) fn missing_values(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    kernel: Origin,
    needed: &[(String, String)],
) -> Option<Missing> {
    let values: Vec<_> = needed.iter().map(|(name, example)| format!("{name}={example}")).collect();
    if values.is_empty() {
        return None;
    }
    let text = context.text_of(placed);
    let names = needed.iter().map(|(name, _)| name.clone()).collect();
    let values = values.join(" ");
    let comment = format!("# tilefit: {values}");
    if let Some(end) = scenario::end_of_comment(text) {
        return Some(Missing { names, edit: (TextRange::empty(placed.start + end), format!(" {values}")), comment });
    }
    let start = placed.range(kernel).start - placed.start;
    let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let indent = &text[line..start];
    let edit = (TextRange::empty(placed.start + line), format!("{indent}{comment}\n"));
    indent.trim().is_empty().then_some(Missing { names, edit, comment })
}

pub(in crate::ide) fn scenario_comment(missing: Missing, fixes: Diagnostic) -> CodeAction {
    let title = format!("Add missing values: `{}`", missing.comment);
    let fix = Fix { edits: vec![missing.edit], fixes, preferred: false };
    CodeAction { title, effect: Effect::Fix(fix) }
}

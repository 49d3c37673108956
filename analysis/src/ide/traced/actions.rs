//! What an editor offers in a kernel of a GPU, whatever its language.

use tilefit_syntax::TextRange;

use crate::ide::code_actions::{CodeAction, Effect, Fix};
use crate::ide::diagnostics::Diagnostic;
use crate::ide::language::Missing;
use crate::ide::{Context, PlacedUnit};
use crate::ir::Origin;

/// A comment above the kernel with all that is `needed`: names and examples of their values.
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
    let start = placed.range(kernel).start - placed.start;
    let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let indent = &text[line..start];
    let comment = format!("# tilefit: {}", values.join(" "));
    let names = needed.iter().map(|(name, _)| name.clone()).collect();
    let at = TextRange::empty(placed.start + line);
    indent.trim().is_empty().then(|| Missing { names, at, indent: indent.to_owned(), comment })
}

pub(in crate::ide) fn scenario_comment(missing: Missing, fixes: Diagnostic) -> CodeAction {
    let title = format!("Add missing values: `{}`", missing.comment);
    let fix = Fix { edits: vec![missing.edit()], fixes, preferred: false };
    CodeAction { title, effect: Effect::Fix(fix) }
}

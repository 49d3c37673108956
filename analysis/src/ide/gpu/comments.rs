//! What a scenario comment says in vain, and what was meant.

use tilefit_gpu::scenario;
use tilefit_gpu::scenario_slips::{Slip, slips};
use tilefit_python::diagnostics::Code;
use tilefit_syntax::TextRange;

use crate::db;
use crate::ide::code_action::{CodeAction, Effect, Fix};
use crate::ide::diagnostic::{Diagnostic, plain};
use crate::ide::{Context, PlacedUnit};

pub(in crate::ide) fn diagnostics(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Diagnostic> {
    found(context, placed).into_iter().map(|slip| diagnostic(placed, slip)).collect()
}

/// The word that was most likely meant, for each that says nothing.
pub(in crate::ide) fn actions(context: &Context<'_>, placed: &PlacedUnit<'_>, range: TextRange) -> Vec<CodeAction> {
    let fix = |slip: Slip| {
        let suggestion = slip.suggestion.clone()?;
        let said = diagnostic(placed, slip);
        if !said.range.intersects(range) && !said.range.touches(range.start) {
            return None;
        }
        let written = &context.text_of(placed)[said.range.start - placed.start..said.range.end - placed.start];
        let title = format!("Replace `{written}` by `{suggestion}`");
        let edits = vec![(said.range, suggestion)];
        Some(CodeAction { title, effect: Effect::Fix(Fix { edits, fixes: said, preferred: true }) })
    };
    found(context, placed).into_iter().filter_map(fix).collect()
}

fn diagnostic(placed: &PlacedUnit<'_>, slip: Slip) -> Diagnostic {
    plain(slip.at.shifted(placed.start), Code::UnknownName, slip.message)
}

fn found(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Slip> {
    let ast = db::syntax(context.db, placed.unit);
    let Some(function) = scenario::function(ast) else { return Vec::new() };
    let params: Vec<&str> = function.params.iter().filter_map(|param| ast.name(param.name)).collect();
    let kernel = ast.name(function.name).unwrap_or_default();
    // A value may also be given to a name that the kernel, or a function that it calls, reads of the file.
    let functions =
        || context.document().blocks().iter().map(|block| &*block.source.text).filter(|it| it.contains("jit"));
    let is_read = |name: &str| functions().any(|text| reads(text, name));
    slips(context.text_of(placed), kernel, &params, &is_read)
}

/// Whether a name stands in a text, outside of comments and not behind a dot.
fn reads(text: &str, name: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '.');
    let code = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    code.flat_map(|line| line.split(|it| !is_part(it))).any(|path| path.split('.').next() == Some(name))
}

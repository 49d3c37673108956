//! Names that nothing defines: what is said of them, and which were most likely meant.

use tilefit_python::diagnostics::Code;
use tilefit_syntax::TextRange;

use crate::db;
use crate::names::{UnknownName, Usage};

use super::code_action::{CodeAction, Effect, Fix};
use super::diagnostic::{Diagnostic, configured, plain};
use super::{Context, PlacedUnit};

/// The names of a unit that nothing defines, each with what is said of it.
pub(super) fn unknown_names<'a>(
    context: &'a Context<'_>,
    placed: &'a PlacedUnit<'_>,
) -> impl Iterator<Item = (&'a UnknownName, Diagnostic)> {
    let unknown = db::unknown_names(context.db, placed.unit).iter();
    let text = context.text_of(placed);
    unknown.filter_map(move |unknown| {
        let range = name_range(text, placed.spans.expr(unknown.at), unknown).shifted(placed.start);
        let mut diagnostic = plain(range, Code::UnknownName, unknown.message());
        configured(context, &mut diagnostic).then_some((unknown, diagnostic))
    })
}

/// Where the name itself stands: the last part of a dotted name, or before the value of a keyword.
fn name_range(text: &str, at: TextRange, unknown: &UnknownName) -> TextRange {
    let len = unknown.name.len();
    match unknown.usage {
        Usage::Variable | Usage::Early => at,
        Usage::Attribute(_) => TextRange::new(at.end.saturating_sub(len), at.end),
        Usage::Keyword(_) => match text.get(..at.start).and_then(|before| before.rfind(&unknown.name)) {
            Some(start) => TextRange::new(start, start + len),
            None => at,
        },
    }
}

/// The name that was most likely meant, for each that nothing defines. `said`: the diagnostics of the file.
pub(super) fn suggested_names(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    range: TextRange,
    said: &dyn Fn() -> Vec<Diagnostic>,
) -> Vec<CodeAction> {
    if db::unknown_names(context.db, placed.unit).is_empty() {
        return Vec::new();
    }
    // What is no element type has fixes of its own.
    let said = said();
    let here = unknown_names(context, placed).filter(|(_, unknown)| said.contains(unknown));
    let here = here.filter(|(_, said)| said.range.intersects(range) || said.range.touches(range.start));
    let replaced = here.filter_map(|(unknown, said)| {
        let suggestion = unknown.suggestion.as_ref()?;
        let title = format!("Replace `{}` by `{suggestion}`", unknown.name);
        let edits = vec![(said.range, suggestion.clone())];
        Some(CodeAction { title, effect: Effect::Fix(Fix { edits, fixes: said, preferred: true }) })
    });
    replaced.collect()
}

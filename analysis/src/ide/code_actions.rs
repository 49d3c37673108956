//! What an editor offers at a place.

use tilefit_syntax::TextRange;

use super::code_action::{CodeAction, Effect};
use super::diagnostic::Diagnostic;
use super::pypto::diagnostics::asks_for_sequences;
use super::smaller_numbers::smaller_numbers;
use super::unknown_names::suggested_names;
use super::{Context, bind, capacity_fixes, configuration_fixes, confirmations, diagnostics, languages, sync_fixes};

pub(crate) fn code_actions(context: &Context<'_>, range: TextRange) -> Vec<CodeAction> {
    let mut actions = fixes_and_views(context, range);
    for placed in context.units_in(range) {
        actions.extend(confirmations::actions(context, &placed, range));
        actions.extend(capacity_fixes::capacity_fixes(context, &placed, range));
        actions.extend(capacity_fixes::planners(context, &placed, range));
        actions.extend(smaller_numbers(context, &placed, range));
        actions.extend(configuration_fixes::configuration_fixes(context, &placed, range));
        actions.extend(bind::bind(context, &placed, range));
        if asks_for_sequences(context, placed.unit) {
            actions.extend(sync_fixes::tried(context, &placed, range));
        }
    }
    actions
}

/// What is known without trying anything.
fn fixes_and_views(context: &Context<'_>, range: TextRange) -> Vec<CodeAction> {
    let said: &dyn Fn() -> Vec<Diagnostic> = &|| diagnostics::diagnostics(context);
    let mut actions = Vec::new();
    for placed in context.units_in(range) {
        actions.extend(languages::of(context, placed.unit).actions(context, &placed, range, said));
    }
    for placed in context.programs_in(range) {
        actions.extend(suggested_names(context, &placed, range, said));
    }
    // What fixes something is offered before what only shows it.
    let is_view = |action: &CodeAction| matches!(action.effect, Effect::ShowAllocatedIr(_) | Effect::ShowLoweredIr(_));
    actions.sort_by_key(is_view);
    let mut seen = Vec::new();
    actions.retain(|action| {
        !seen.contains(action) && {
            seen.push(action.clone());
            true
        }
    });
    actions
}

/// The edits of every fix of a file that is the nearest way, in text order. Where two touch, the first is taken; the other may
/// be offered again afterwards.
pub(crate) fn fix_all(context: &Context<'_>) -> Vec<(TextRange, String)> {
    let actions = fixes_and_views(context, TextRange::new(0, context.document().len()));
    let fixes = actions.into_iter().filter_map(|action| match action.effect {
        Effect::Fix(fix) if fix.preferred => Some(fix),
        _ => None,
    });
    let mut taken: Vec<(TextRange, String)> = Vec::new();
    for fix in fixes {
        let is_free = |(range, _): &(TextRange, String)| !taken.iter().any(|(other, _)| other.intersects(*range));
        if fix.edits.iter().all(is_free) {
            taken.extend(fix.edits);
        }
    }
    taken.sort_by_key(|(range, _)| *range);
    taken
}

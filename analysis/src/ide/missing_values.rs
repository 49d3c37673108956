//! What kernels lack before their memory is known.

use tilefit_syntax::TextRange;

use super::language::View;
use super::{Context, PlacedUnit, formatting, languages};

/// What the kernels of a unit lack, in the words of a lens.
pub(super) fn lacking(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Option<String> {
    let kernels = [languages::all_kernels(context, placed.unit)];
    missing(context, placed, &kernels, true).or_else(|| obstacle(context, placed, &kernels, true))
}

/// The edit that gives the kernel around an offset all values that it lacks.
pub(crate) fn missing_values(context: &Context<'_>, offset: usize) -> Option<(TextRange, String)> {
    let placed = context.units_in(TextRange::empty(offset)).next()?;
    let kernels = languages::of(context, placed.unit).kernels(context, placed.unit);
    let mut asked = kernels.iter().filter(|kernel| kernel.may_matter(context, &placed));
    asked.find_map(|kernel| kernel.missing(context, &placed)).map(|missing| missing.edit)
}

/// `to see its memory, give BLOCK_M and BLOCK_N values`; of kernels that may take next to nothing only where all are asked for.
pub(super) fn missing(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    kernels: &[Vec<View<'_>>],
    of_all: bool,
) -> Option<String> {
    const NAMED: usize = 8;
    let mut names: Vec<String> = Vec::new();
    let asked = kernels.iter().flatten().filter(|kernel| of_all || kernel.may_matter(context, placed));
    for missing in asked.filter_map(|kernel| kernel.missing(context, placed)) {
        names.extend(missing.names);
    }
    let (named, more) = names.split_at(names.len().min(NAMED));
    let plural = if names.len() == 1 { "a value" } else { "values" };
    let listed = match more {
        [] => formatting::listed(named),
        more => format!("{} and {} more", named.join(", "), more.len()),
    };
    (!names.is_empty()).then(|| format!("to see its memory, give {listed} {plural}"))
}

/// `memory not known: …`, of kernels that no value would help.
pub(super) fn obstacle(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    kernels: &[Vec<View<'_>>],
    of_all: bool,
) -> Option<String> {
    let mut asked = kernels.iter().flatten().filter(|kernel| of_all || kernel.may_matter(context, placed));
    asked.find_map(|kernel| kernel.obstacle(context, placed)).map(|reason| format!("memory not known: {reason}"))
}

//! The memory maps of a file.

use tilefit_syntax::TextRange;

use crate::project::Config;

use super::confirmation::Verdict;
use super::language::KernelView;
use super::memory_map::{Drawing, MemoryMap, MemoryMaps, Totals, Trial};
use super::{Context, PlacedUnit, compiler_map, confirmations, languages};

/// The maps of the kernel around a byte offset.
pub(crate) fn memory_map(context: &Context<'_>, offset: usize, trial: Trial) -> Option<MemoryMaps> {
    let settings = around(context, offset, context.config())?;
    let config = trial.config(context.config());
    let maps = if &config == context.config() { settings.clone() } else { around(context, offset, &config)? };
    Some(MemoryMaps { maps, settings: settings.iter().map(Totals::of).collect() })
}

/// The maps of all kernels of a file.
pub(crate) fn memory_maps(context: &Context<'_>) -> Vec<MemoryMap> {
    context.units().flat_map(|placed| of_unit(context, &placed, context.config())).map(|(_, map)| map).collect()
}

fn around(context: &Context<'_>, offset: usize, config: &Config) -> Option<Vec<MemoryMap>> {
    context.at(offset, |placed| {
        let mut scopes: Vec<(TextRange, Vec<MemoryMap>)> = Vec::new();
        for (range, map) in of_unit(context, placed, config) {
            match scopes.iter_mut().find(|(scope, _)| *scope == range) {
                Some((_, maps)) => maps.push(map),
                None => scopes.push((range, vec![map])),
            }
        }
        scopes
    })
}

/// The maps of a block, each with the range of its kernel.
fn of_unit(context: &Context<'_>, placed: &PlacedUnit<'_>, config: &Config) -> Vec<(TextRange, MemoryMap)> {
    let kernels = match config == context.config() {
        true => languages::all_kernels(context, placed.unit),
        false => languages::of(context, placed.unit).kernels_under(context, placed.unit, config),
    };
    let planned = kernels.iter().filter(|kernel| kernel.is_planned());
    planned.map(|kernel| (placed.range(kernel.origin()), of_kernel(context, placed, &**kernel))).collect()
}

fn of_kernel(context: &Context<'_>, placed: &PlacedUnit<'_>, kernel: &dyn KernelView) -> MemoryMap {
    let confirmation = confirmations::of_kernel(context, placed, kernel);
    let is_within = confirmation.as_ref().is_some_and(|it| it.verdict == Verdict::Within);
    let by_compiler = is_within.then(|| compiler_map::drawing(context, placed, kernel)).flatten();
    let Drawing { down, steps, spaces } = by_compiler.unwrap_or_else(|| kernel.drawing(context, placed));
    MemoryMap {
        kernel: context.qualified_name(placed.unit, kernel.name()),
        line: context.line(placed.range(kernel.name_origin()).start),
        range: placed.range(kernel.origin()),
        target: kernel.target(),
        planner: kernel.planner(),
        status: kernel.status().name(),
        reasons: kernel.reasons(),
        confirmation,
        down,
        steps,
        spaces,
    }
}

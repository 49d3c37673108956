//! The memory operations of a kernel as MLIR after each step of its compiler, in languages whose compiler has it.

use tilefit_syntax::TextRange;

use super::language::LoweredIr;
use super::{Context, PlacedUnit, languages};

pub(crate) fn lowered_ir(context: &Context<'_>) -> Vec<LoweredIr> {
    context.units().filter_map(|placed| of_block(context, &placed)).map(|(_, ir)| ir).collect()
}

pub(crate) fn lowered_ir_at(context: &Context<'_>, offset: usize) -> Option<LoweredIr> {
    context.at(offset, |placed| of_block(context, placed).into_iter().collect())
}

fn of_block(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Option<(TextRange, LoweredIr)> {
    languages::of(context, placed.unit).lowered_ir(context, placed)
}

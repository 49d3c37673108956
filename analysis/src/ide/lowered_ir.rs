//! The memory operations of a TLX kernel as MLIR after each step of its compiler.

use tilefit_syntax::TextRange;
use tilefit_syntax::ast::ExprId;

use crate::tlx::mlir;

use super::{Context, PlacedUnit};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoweredIr {
    pub kernel: String,
    pub text: String,
}

pub(crate) fn lowered_ir(context: &Context<'_>) -> Vec<LoweredIr> {
    context.units().filter_map(|placed| of_block(context, &placed)).map(|(_, ir)| ir).collect()
}

pub(crate) fn lowered_ir_at(context: &Context<'_>, offset: usize) -> Option<LoweredIr> {
    context.at(offset, |placed| of_block(context, placed).into_iter().collect())
}

fn of_block(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Option<(TextRange, LoweredIr)> {
    let tlx = context.tlx(placed.unit)?;
    let rope = context.document().rope();
    let source = |expr: ExprId| {
        let range = placed.spans.expr(expr).shifted(placed.start);
        Some(rope.get_byte_slice(range.start..range.end)?.to_string())
    };
    let text = mlir::text(&mlir::lowered(&tlx.kernel, &tlx.plan, &source));
    let kernel = context.qualified_name(placed.unit, &tlx.kernel.name);
    Some((placed.range(tlx.kernel.origin), LoweredIr { kernel, text }))
}

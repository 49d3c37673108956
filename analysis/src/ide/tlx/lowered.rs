//! The memory operations of a kernel as MLIR after each step of its compiler.

use tilefit_gpu::tlx::mlir;
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::ExprId;

use crate::db::TlxPart;
use crate::ide::language::LoweredIr;
use crate::ide::{Context, PlacedUnit};

/// With the range of the kernel.
pub(in crate::ide) fn lowered_ir(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    tlx: &TlxPart,
) -> (TextRange, LoweredIr) {
    let rope = context.document().rope();
    let source = |expr: ExprId| {
        let range = placed.spans.expr(expr).shifted(placed.start);
        Some(rope.get_byte_slice(range.start..range.end)?.to_string())
    };
    let text = mlir::text(&mlir::lowered(&tlx.kernel, &tlx.plan, &source));
    let kernel = context.qualified_name(placed.unit, &tlx.kernel.name);
    (placed.range(tlx.kernel.origin), LoweredIr { kernel, text })
}

//! What the compiler makes of a statement beside the author's own tile: loads, scratch, copies, blocks of a product, each with the
//! rule that asks for it.

use std::fmt::Write;

use rustc_hash::FxHashSet;

use crate::ir::{Kernel, Operand, Role, VarId};
use crate::memory::{Plan, PlannedTile};
use crate::ops::OpId;
use crate::passes::walk;

use super::layout;

/// Tiles in one list; the rest are counted.
const MOST_ROWS: usize = 12;

/// A list of what was made for the statement of a tile, in Markdown; empty where that is the tile alone.
pub(super) fn beside(plan: &Plan, tile: &PlannedTile) -> String {
    let Some(statement) = plan.statements.get(tile.first.0 as usize) else { return String::new() };
    let of_statement = |other: &&PlannedTile| {
        other.inserted && other.role == Role::Def && plan.statements.get(other.first.0 as usize) == Some(statement)
    };
    let made: Vec<&PlannedTile> = plan.tiles.iter().filter(of_statement).collect();
    if made.is_empty() {
        return String::new();
    }
    let mut text = format!("\nMade by the compiler for this statement{}:\n\n", blocks(&made));
    for other in made.iter().take(MOST_ROWS) {
        let shape = other.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let _ =
            writeln!(text, "- `{}` [{shape}] {}: {}; {}", other.name, other.dtype, layout::place(other), why(other));
    }
    if made.len() > MOST_ROWS {
        let _ = writeln!(text, "- and {} more", made.len() - MOST_ROWS);
    }
    text
}

/// How AutoTile divides a product.
fn blocks(made: &[&PlannedTile]) -> String {
    let extract = |side: &str| {
        let part = |tile: &&&PlannedTile| tile.name.contains("_l0_") && tile.name.ends_with(side);
        made.iter().find(part).and_then(|tile| <[u64; 2]>::try_from(tile.shape.clone()).ok())
    };
    match (extract("_a"), extract("_b")) {
        (Some([rows, depth]), Some([_, columns])) => {
            format!(
                " (a product in blocks of m = {rows}, n = {columns}, k = {depth}, the cheapest by the compiler's cost model)"
            )
        }
        _ => String::new(),
    }
}

/// The rule that a tile follows from, by the name that the compiler gives it.
fn why(tile: &PlannedTile) -> &'static str {
    let name = tile.name.as_str();
    let starts = |prefix: &str| name.starts_with(prefix);
    let ends = |suffix: &str| name.ends_with(suffix);
    match tile.op {
        "tile.tpop_from_aic" | "tile.tpop_from_aiv" => return "received from the other core, in the ring between them",
        _ if starts("t__tmp") => return "the value of a nested call",
        _ => {}
    }
    match () {
        () if starts("tmp_tile") => {
            "scratch of the reduction; that of a sum, product, minimum or maximum is at least 128 columns wide"
        }
        () if starts("cmp_mask") => "one bit for each element, rows of whole 32 bytes",
        () if starts("cmp_one") || starts("cmp_zero") => "what the bits of the comparison select",
        () if starts("gather") => "gathering goes row by row on 910B, by flat indices on 950",
        () if starts("slice_load") || ends("_full_rank") => "the window with all of its axes",
        () if starts("assemble_src") => "the tensor that is written into a tile, loaded whole",
        () if starts("div_") => "both operands of a division have one element type",
        () if starts("trans_") || starts("transpose_tmp") => "a transposition needs scratch as large as its source",
        () if name.contains("_cast_") => "the vector unit has no conversion between these types; this is on the way",
        () if name.contains("__rm_a") => "the operation wants rows: a view of a column, or a copy",
        () if name.contains("__row_major_tmp") => "the result in rows; the author's value is a view of it",
        () if name.contains("_textract") => "a copy, since the slice need not start at a multiple of 32 bytes",
        () if name.contains("_l0_") => "a block of the product, loaded from L1",
        () if ends("_Left") => "the left operand, where the cube reads it",
        () if ends("_Right") => "the right operand, where the cube reads it",
        () if ends("_Vec") => "crosses from the cube core to the vector core",
        () if ends("_nz") => "packed in boxes for the cube",
        () if ends("_mv") => "a copy, since a loop or branch carries the value in other memory",
        () if ends("_mat") => "loaded to L1 for this product",
        () if ends("_t") => "the same bytes, read as the transpose",
        () if ends("tmp") => "scratch that the instruction needs",
        () if tile.op == "tile.load" => "an operation reads the parameter whole, so it is loaded at the start",
        () => "an intermediate value",
    }
}

/// Nested values that go to memory right away: what statements such as `o[...] = pl.exp(x)` become.
pub(super) fn stored(kernel: &Kernel) -> FxHashSet<VarId> {
    let mut stored = FxHashSet::default();
    walk::visit(&kernel.body, &mut |stmt| {
        let Some(call) = walk::call_of(stmt) else { return };
        let source = match call.op {
            OpId::STORE => call.args.first(),
            OpId::ASSEMBLE => call.args.get(1),
            _ => None,
        };
        stored.extend(source.and_then(Operand::var));
    });
    stored
}

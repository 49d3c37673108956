//! What the compiler makes of a statement beside the author's own tile: loads, scratch, copies, blocks of a product, each with the
//! rule that asks for it.

use std::fmt::Write;

use rustc_hash::FxHashSet;

use tilefit_pypto::ir::{Kernel, Operand, Role, Tiling, VarId, Why, visit};
use tilefit_pypto::memory::{Plan, PlannedTile};
use tilefit_pypto::ops::OpId;
use tilefit_pypto::target::Space;
use tilefit_python::finding::Origin;

use crate::ide::extent::{Extent, Places, Site};
use crate::ide::formatting;

/// Tiles in one list; the rest are counted.
const MOST_ROWS: usize = 12;

/// Whether a tile is what a statement gives to a name: also where the compiler makes it in a loop over blocks.
pub(super) fn is_defined(kernel: Option<&Kernel>, plan: &Plan, tile: &PlannedTile) -> bool {
    let in_blocks = |kernel: &Kernel| {
        let statement = plan.statements.get(tile.first.0 as usize);
        kernel.tilings.iter().any(|tiling| Some(&tiling.statement) == statement)
    };
    tile.role == Role::Def || (tile.role == Role::LoopResult && kernel.is_some_and(in_blocks))
}

/// What the compiler makes of a statement beside the author's own tile, in Markdown; empty where that is the tile alone.
pub(in crate::ide) fn of_statement(kernel: Option<&Kernel>, plan: &Plan, statement: Origin) -> String {
    let tiling = kernel.map(|kernel| tiling(kernel, statement)).unwrap_or_default();
    tiling + &beside(plan, statement)
}

fn beside(plan: &Plan, statement: Origin) -> String {
    let of_statement =
        |tile: &&PlannedTile| tile.role == Role::Def && plan.statements.get(tile.first.0 as usize) == Some(&statement);
    let inserted = plan.tiles.iter().filter(of_statement).filter_map(|tile| Some((tile, rule(tile.inserted?))));
    let mut rows: Vec<Row> = Vec::new();
    for (tile, why) in inserted {
        let shape = tile.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let (ty, place) = (format!("[{shape}] {}", tile.dtype), super::extent(tile));
        let is_like = |row: &&mut Row| {
            let shares = row.names.contains(&tile.label.as_str()) || row.places.contains(&place);
            shares && row.ty == ty && row.why == why
        };
        match rows.iter_mut().find(is_like) {
            Some(row) => row.add(&tile.label, place),
            None => rows.push(Row { names: vec![&tile.label], ty, places: vec![place], why }),
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "\nMade by the compiler for this statement:\n\n".to_owned();
    for Row { names, ty, places, why } in rows.iter().take(MOST_ROWS) {
        let place = shown(names, places);
        let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "- {names} {ty}: {place}; {why}");
    }
    if rows.len() > MOST_ROWS {
        let _ = writeln!(text, "- and {} more", rows.len() - MOST_ROWS);
    }
    text
}

/// Tiles of one kind, made for one reason: copies of one name, or names of one place.
struct Row<'p> {
    names: Vec<&'p str>,
    ty: String,
    /// Of each tile.
    places: Vec<Extent>,
    why: &'static str,
}

impl<'p> Row<'p> {
    fn add(&mut self, name: &'p str, place: Extent) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
        self.places.push(place);
    }
}

/// Copies of one name as everywhere, `Vec 2 copies: 0x1000, 0x12000, 16 KiB each`; else the different places.
fn shown(names: &[&str], places: &[Extent]) -> String {
    let copies = if names.len() == 1 { of_copies(places) } else { None };
    if let Some(copies) = copies {
        return formatting::extent(&copies);
    }
    let mut different: Vec<String> = Vec::new();
    for place in places.iter().map(formatting::extent) {
        if !different.contains(&place) {
            different.push(place);
        }
    }
    different.join(", ")
}

fn of_copies(places: &[Extent]) -> Option<Extent> {
    let &Extent { site: Site::Memory { space, .. }, size, unit, times } = places.first()? else { return None };
    let address = |place: &Extent| match place.site {
        Site::Memory { space: other, address, .. } if (other, place.size) == (space, size) => address,
        _ => None,
    };
    let addresses: Option<Vec<u64>> = places.iter().map(address).collect();
    let places = Places::of(addresses?.into_iter())?;
    Some(Extent { site: Site::Copies { space, places }, size, unit, times })
}

/// How the compiler computes the product of a statement in blocks, and why.
fn tiling(kernel: &Kernel, statement: Origin) -> String {
    let Some(tiling) = kernel.tilings.iter().find(|tiling| tiling.statement == statement) else {
        return String::new();
    };
    let ([rows, columns, depth], [m, n, k]) = (tiling.product, tiling.block);
    let mut text = format!("\nThe product [{rows}, {depth}] × [{depth}, {columns}] is computed ");
    if tiling.block == tiling.product {
        text.push_str("at once: its operands fit Left and Right, its result fits Acc.");
    } else {
        let stays = match (tiling.stays, tiling.two_accumulators) {
            (Space::Acc, true) => "two accumulators take turns".to_owned(),
            (Space::Acc, false) => "the accumulator stays in Acc".to_owned(),
            (space, _) => format!("the operand in {space} stays"),
        };
        let _ = write!(text, "in blocks of m = {m}, n = {n}, k = {k}; {stays} while the other operands are streamed.");
    }
    let Tiling { load, multiply, drain, cycles, .. } = tiling;
    let _ = write!(
        text,
        " That is the cheapest by the compiler's cost model: {cycles} cycles ({load} for loads in parallel with {multiply} for multiplications, {drain} to drain Acc)."
    );
    let bytes = |bytes: i64| formatting::bytes(bytes.unsigned_abs());
    let limits = tiling.limits.iter().map(|(space, needed, available)| {
        format!("{} of {space}; a block may use {}", bytes(*needed), bytes(*available))
    });
    let limits: Vec<String> = limits.collect();
    if !limits.is_empty() {
        let _ = write!(text, " Unblocked it would need {}.", limits.join(", and "));
    }
    text.push('\n');
    text
}

/// The rule that a tile follows from.
fn rule(why: Why) -> &'static str {
    match why {
        Why::NestedCall => "the value of a nested call",
        Why::WholeParameter => "an operation reads the parameter whole, so it is loaded at the start",
        Why::Window => "the window with all of its axes",
        Why::AssembledSource => "the tensor that is written into a tile, loaded whole",
        Why::BatchPage => "one matrix of the batch",
        Why::Scratch => "scratch that the instruction needs",
        Why::ReductionScratch => {
            "scratch of the reduction; that of a sum, product, minimum or maximum is at least 128 columns wide"
        }
        Why::TransposeScratch => "a transposition needs scratch as large as its source",
        Why::ComparisonMask => "one bit for each element, rows of whole 32 bytes",
        Why::ComparisonValue => "what the bits of the comparison select",
        Why::Gathering => "gathering goes row by row on 910B, by flat indices on 950",
        Why::DivisionOperand => "both operands of a division have one element type",
        Why::CastStep => "the vector unit has no direct conversion between these types; this is an intermediate step",
        Why::RowOperand => "the operation takes rows: a view of a column, or a copy",
        Why::RowResult => "the result in rows; the named value is a view of it",
        Why::SliceCopy => "a copy, because the slice may not start at a multiple of 32 bytes",
        Why::LeftOperand => "the left operand, where the cube reads it",
        Why::RightOperand => "the right operand, where the cube reads it",
        Why::Bias => "the bias, where the cube reads it",
        Why::MatOperand => "loaded to Mat for this product",
        Why::TransposedView => "the same bytes, read as the transpose",
        Why::ProductInMat => "the product, kept in Mat for the next one",
        Why::StagedLeft => "the left operand, moved to Mat, from where blocks are taken",
        Why::LeftBlock => "a block of the left operand, taken from Mat",
        Why::RightBlock => "a block of the right operand, taken from Mat",
        Why::BlockAccumulator => "the accumulator of the blocks",
        Why::ProductTile => "for one tile of the product, which is computed tile by tile",
        Why::CrossesCores => "crosses from the cube core to the vector core",
        Why::Boxed => "packed in boxes for the cube",
        Why::Received => "received from the other core, in the ring between them",
        Why::CarriedCopy => "a copy, because a loop or branch carries the value in other memory",
        Why::Intermediate => "an intermediate value",
    }
}

/// Nested values that go to memory right away: what statements such as `o[...] = pl.exp(x)` become.
pub(super) fn stored(kernel: &Kernel) -> FxHashSet<VarId> {
    let mut stored = FxHashSet::default();
    visit::statements(&kernel.body, &mut |stmt| {
        let Some(call) = visit::call_of(stmt) else { return };
        let source = match call.op {
            OpId::STORE => call.args.first(),
            OpId::ASSEMBLE => call.args.get(1),
            _ => None,
        };
        stored.extend(source.and_then(Operand::var));
    });
    stored
}

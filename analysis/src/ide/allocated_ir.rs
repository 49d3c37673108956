//! The IR of a kernel after AllocateMemoryAddr: allocations with their sizes, tiles with their addresses. For printed IR that is the
//! author's own text with the addresses put in.

use std::fmt::Write;

use tilelens_syntax::TextRange;

use crate::db::{self, Outcome, Planned};
use crate::ir::{Allocated, KernelKind, VarId};
use crate::memory::{Buffer, Plan};
use crate::printed::{self, PrintedKernel};
use crate::target::Space;

use super::{Context, PlacedUnit};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllocatedIr {
    /// `Program.kernel`
    pub kernel: String,
    pub text: String,
}

pub(crate) fn allocated_ir(context: &Context<'_>) -> Vec<AllocatedIr> {
    context.units().flat_map(|placed| of_block(context, &placed)).map(|(_, ir)| ir).collect()
}

pub(crate) fn allocated_ir_at(context: &Context<'_>, offset: usize) -> Option<AllocatedIr> {
    context.at(offset, |placed| of_block(context, placed))
}

/// The kernels of a block, each with its range.
fn of_block(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<(TextRange, AllocatedIr)> {
    let mut all = Vec::new();
    for outcome in context.plans(placed.unit) {
        let text = match outcome {
            Outcome::Planned(planned) => of_planned(planned),
            Outcome::Printed(plan) => of_printed(context, placed, plan),
            Outcome::Failed(_) => continue,
        };
        let Some(plan) = outcome.plan() else { continue };
        let kernel = context.qualified_name(placed.unit, &plan.kernel);
        all.push((placed.range(plan.origin), AllocatedIr { kernel, text }));
    }
    all
}

fn of_planned(planned: &Planned) -> String {
    let (kernel, plan) = (&planned.kernel, &planned.plan);
    let kind = match kernel.kind {
        KernelKind::InCore => "InCore",
        KernelKind::Aic => "AIC",
        KernelKind::Aiv => "AIV",
    };
    let mut text = format!("{kind} {}\n", kernel.name);
    for buffer in &plan.buffers {
        let pinned = if buffer.declared { ", pinned=True" } else { "" };
        let _ = writeln!(text, "    {} = tile.alloc({}, {}{pinned})", buffer.name, buffer.space, buffer.size);
    }
    let memref = |var: VarId| {
        let tile = plan.tiles.iter().find(|tile| tile.var == var)?;
        let address = tile.address.map_or("?".to_owned(), |address| address.to_string());
        Some(format!("MemRef({}, {address}, {})", plan.buffer(tile.buffer?).name, tile.bytes))
    };
    let _ = write!(text, "{}", Allocated { kernel, memref: &memref });
    text
}

/// The text of the block with each address put in.
fn of_printed(context: &Context<'_>, placed: &PlacedUnit<'_>, plan: &Plan) -> String {
    let document = context.document().text();
    let block = &document[placed.start..placed.start + placed.len];
    let kernels = printed::kernels(db::syntax(context.db, placed.unit));
    let Some(kernel) = kernels.iter().find(|kernel| kernel.origin == plan.origin) else { return block.to_owned() };
    let mut edits = edits(placed, kernel, plan, block);
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut text = block.to_owned();
    for (range, new) in edits {
        text.replace_range(range.start..range.end, &new);
    }
    text
}

fn edits(placed: &PlacedUnit<'_>, kernel: &PrintedKernel, plan: &Plan, block: &str) -> Vec<(TextRange, String)> {
    let mut edits = Vec::new();
    for (allocation, buffer) in kernel.allocations.iter().zip(&plan.buffers) {
        if let (Some(at), Some(address)) = (allocation.address_at, buffer.address) {
            edits.push((placed.spans.expr(at), address.to_string()));
        }
    }
    for (tile, placed_tile) in kernel.tiles.iter().zip(&plan.tiles) {
        let numbered = tile.allocation.is_some_and(|index| kernel.allocations[index].id.is_some());
        let (Some(at), Some(address), true) = (tile.memref_at, placed_tile.address, numbered) else { continue };
        let range = placed.spans.expr(at);
        let reference = &block[range.start..range.end];
        if reference.contains('(') && !reference.contains("addr") {
            edits.push((range, format!("{}, addr={address})", reference.trim_end_matches(')'))));
        }
    }
    let missing = kernel.allocations.iter().zip(&plan.buffers).filter(|(allocation, _)| !allocation.declared);
    let missing: Vec<&Buffer> = missing.map(|(_, buffer)| buffer).filter(|buffer| buffer.space != Space::Ddr).collect();
    if let Some(&first) = kernel.statements.first().filter(|_| !missing.is_empty()) {
        let start = placed.range(first).start - placed.start;
        let indent = start - block[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = |buffer: &Buffer| {
            let address = buffer.address.map_or(-1, |address| address as i64);
            let id = buffer.name.trim_start_matches("memref_");
            let (space, size) = (buffer.space, buffer.size);
            format!("alloc(memref=MemRef(id={id}, space={space}, size={size}, addr={address}))\n{}", " ".repeat(indent))
        };
        edits.push((TextRange::empty(start), missing.into_iter().map(line).collect()));
    }
    edits
}

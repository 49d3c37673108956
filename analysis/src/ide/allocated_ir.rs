//! The IR of a kernel after AllocateMemoryAddr: allocations with their sizes, tiles with their addresses. For printed IR that is the
//! author's own text with the addresses put in.

use std::fmt::Write;

use tilefit_pypto::ir::{Allocated, KernelKind, VarId};
use tilefit_pypto::memory::{Buffer, Plan};
use tilefit_pypto::printed::{self, PrintedKernel};
use tilefit_pypto::target::Space;
use tilefit_python::finding::Origin;
use tilefit_syntax::TextRange;

use crate::db::{self, Outcome, Planned};

use super::{Context, PlacedUnit};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllocatedIr {
    /// `Program.kernel`
    pub kernel: String,
    pub text: String,
    /// Line of the text (0-based) and the source range (bytes) that it stems from.
    pub map: Vec<(u32, TextRange)>,
}

pub(crate) fn allocated_ir(context: &Context<'_>) -> Vec<AllocatedIr> {
    context.units().flat_map(|placed| of_block(context, &placed)).map(|(_, ir)| ir).collect()
}

/// Kernels that are made of the same text stand below each other: those of both cores, and those of calls with other shapes.
pub(crate) fn allocated_ir_at(context: &Context<'_>, offset: usize) -> Option<AllocatedIr> {
    context.at(offset, |placed| {
        let mut by_place: Vec<(TextRange, AllocatedIr)> = Vec::new();
        for (range, ir) in of_block(context, placed) {
            match by_place.iter_mut().find(|(place, _)| *place == range) {
                Some((_, above)) => above.append(ir),
                None => by_place.push((range, ir)),
            }
        }
        by_place
    })
}

impl AllocatedIr {
    fn append(&mut self, other: AllocatedIr) {
        if self.text.contains(&other.text) {
            return;
        }
        self.text.push('\n');
        let first = self.text.lines().count() as u32;
        self.text.push_str(&other.text);
        self.map.extend(other.map.into_iter().map(|(line, range)| (first + line, range)));
    }
}

/// The kernels of a block, each with its range.
fn of_block(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<(TextRange, AllocatedIr)> {
    let mut all = Vec::new();
    for outcome in context.plans(placed.unit) {
        let (text, origins) = match outcome {
            Outcome::Planned(planned) => of_planned(planned),
            Outcome::Printed(plan) => (of_printed(context, placed, plan), Vec::new()),
            Outcome::Failed(..) => continue,
        };
        let map = origins.into_iter().map(|(line, origin)| (line, placed.range(origin))).collect();
        let Some(plan) = outcome.plan() else { continue };
        let kernel = context.qualified_name(placed.unit, &plan.kernel);
        all.push((placed.range(plan.origin), AllocatedIr { kernel, text, map }));
    }
    all
}

/// The text, and what its lines stem from.
fn of_planned(planned: &Planned) -> (String, Vec<(u32, Origin)>) {
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
        let address = tile.address.map_or("?".to_owned(), |address| format!("{address:#x}"));
        Some(format!("MemRef({}, {address}, {})", plan.buffer(tile.buffer?).name, tile.bytes))
    };
    let body = Allocated { kernel, memref: &memref };
    let origins = (text.lines().count() as u32..).zip(body.origins()).collect();
    let _ = write!(text, "{body}");
    (text, origins)
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
            edits.push((placed.spans.expr(at), format!("{address:#x}")));
        }
    }
    for (tile, placed_tile) in kernel.tiles.iter().zip(&plan.tiles) {
        let numbered = tile.allocation.is_some_and(|index| kernel.allocations[index].id.is_some());
        let (Some(at), Some(address), true) = (tile.memref_at, placed_tile.address, numbered) else { continue };
        let range = placed.spans.expr(at);
        let reference = &block[range.start..range.end];
        if reference.contains('(') && !reference.contains("addr") {
            edits.push((range, format!("{}, addr={address:#x})", reference.trim_end_matches(')'))));
        }
    }
    let missing = kernel.allocations.iter().zip(&plan.buffers).filter(|(allocation, _)| !allocation.declared);
    let missing: Vec<&Buffer> = missing.map(|(_, buffer)| buffer).filter(|buffer| buffer.space != Space::Ddr).collect();
    if let Some(&first) = kernel.statements.first().filter(|_| !missing.is_empty()) {
        let start = placed.range(first).start - placed.start;
        let indent = start - block[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = |buffer: &Buffer| {
            let address = buffer.address.map_or("-1".to_owned(), |address| format!("{address:#x}"));
            let id = buffer.name.trim_start_matches("memref_");
            let (space, size) = (buffer.space, buffer.size);
            format!("alloc(memref=MemRef(id={id}, space={space}, size={size}, addr={address}))\n{}", " ".repeat(indent))
        };
        edits.push((TextRange::empty(start), missing.into_iter().map(line).collect()));
    }
    edits
}

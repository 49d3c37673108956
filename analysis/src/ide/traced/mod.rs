//! What the languages of GPUs show alike: who has which bytes of shared memory and which columns of tensor memory, and when.

pub(super) mod actions;
pub(super) mod hover;
pub(super) mod map;
pub(super) mod occupants;
pub(super) mod scenarios;
pub(super) mod smaller;

use crate::db::TracedKernel;
use crate::diagnostics::{Code, Severity};
use crate::ir::Origin;
use crate::memory::Status;
use crate::triton::device::{Arch, Compiler, out_of_resource};
use crate::triton::plan::{Occupant, Placed, Total};
use crate::triton::program::{Buffer, Memory};

use super::diagnostics::Diagnostic;
use super::language::{self, Amount, Extent, Placement, Site};
use super::plan_view::TilePlan;
use super::{Context, PlacedUnit, formatting};
use occupants::{is_tensor, occupied};

/// How full the memories are.
pub(in crate::ide) fn memories(traced: &TracedKernel) -> Vec<language::Memory> {
    let plan = &traced.planned.plan;
    let memory = |name, is_tmem: bool, total: &Total, capacity| {
        let here: Vec<&Placed> = plan.placed.iter().filter(|it| is_tensor(traced, it) == is_tmem).collect();
        let used = Amount::Between(total.low, total.high);
        language::Memory { name, used, peak: map::peak(&here).0, capacity: Some(capacity) }
    };
    let mut memories = vec![memory("smem", false, &plan.shared, traced.arch.smem())];
    if traced.arch.tmem() > 0 {
        memories.push(memory("tmem", true, &plan.tensor, traced.arch.tmem()));
    }
    memories
}

/// How far the totals are known.
pub(in crate::ide) fn status(traced: &TracedKernel) -> Status {
    let plan = &traced.planned.plan;
    if traced.findings.iter().any(|finding| finding.is_rejection()) {
        return Status::Rejected;
    }
    let both = |is: fn(&Total) -> bool| is(&plan.shared) && is(&plan.tensor);
    match (both(|total| total.exactly().is_some()), traced.compiler) {
        (true, Some(Compiler::Fork)) => Status::Predicted,
        (true, _) => Status::Exact,
        (false, _) if both(|total| total.high.is_some()) => Status::Bounded,
        (false, _) => Status::Partial,
    }
}

/// Buffers that have a name in the kernel's own text, each once.
pub(in crate::ide) fn placements(traced: &TracedKernel) -> impl Iterator<Item = Placement<'_>> {
    let mut seen: Vec<Origin> = Vec::new();
    traced.program.buffers.iter().filter_map(move |buffer| {
        let at = buffer.name_at.filter(|at| !seen.contains(at))?;
        seen.push(at);
        Some(Placement { name: &buffer.name, at, extent: extent(traced, at) })
    })
}

/// Where the buffer is that is bound at a place.
pub(in crate::ide) fn extent(traced: &TracedKernel, at: Origin) -> Option<Extent> {
    if let Some((_, placed)) = placed_at(traced, at).next() {
        let (space, unit) = if is_tensor(traced, placed) { ("tmem", "columns") } else { ("smem", "bytes") };
        let site = Site::Memory { space: Some(space), address: placed.offset, at_run_time: false };
        return Some(Extent { site, size: placed.high, unit });
    }
    let buffer = traced.program.buffers.iter().find(|buffer| buffer.name_at == Some(at))?;
    let plan = &traced.planned.plan;
    let (total, size, unit) = match &buffer.memory {
        Memory::Shared { size, .. } => (&plan.shared, size.high(), "bytes"),
        Memory::Tensor { columns, .. } => (&plan.tensor, *columns, "columns"),
    };
    let site = if total.high.is_some() { Site::Unused } else { Site::Allocation };
    Some(Extent { site, size, unit })
}

/// The buffer that is bound there, and its places.
pub(in crate::ide) fn placed_at(traced: &TracedKernel, at: Origin) -> impl Iterator<Item = (&Buffer, &Placed)> {
    traced.planned.plan.placed.iter().filter_map(move |placed| {
        let Occupant::Buffer(id) = placed.what else { return None };
        let buffer = &traced.program.buffers[id.0 as usize];
        (buffer.name_at == Some(at)).then_some((buffer, placed))
    })
}

pub(in crate::ide) fn tile(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    traced: &TracedKernel,
    of: &Placed,
) -> TilePlan {
    let occupied = occupied(context, placed, traced, of);
    let line_of = |moment: u32| {
        traced.planned.sites.get(moment as usize).map(|site| occupants::line(context, placed, traced, *site))
    };
    let last = of.live.end.min(traced.planned.sites.len() as u32).saturating_sub(1);
    TilePlan {
        copy: None,
        name: occupied.name,
        line: occupied.line,
        space: Some(if is_tensor(traced, of) { "tmem" } else { "smem" }),
        shape: occupied.shape,
        dtype: occupied.dtype,
        bytes: of.high,
        at_least: of.low,
        buffer: None,
        address: of.offset,
        first_line: line_of(of.live.start).unwrap_or(occupied.line),
        last_line: line_of(last).unwrap_or(occupied.line),
        inserted: occupied.inserted,
        kind: occupied.kind,
    }
}

/// `131,072`, `98,304–131,072`, `≥ 98,304`
pub(in crate::ide) fn amount(total: &Total) -> String {
    match total.high {
        Some(high) if high == total.low => total.low.to_string(),
        Some(high) => format!("{}–{high}", total.low),
        None if total.low == 0 => "?".to_owned(),
        None => format!("≥ {}", total.low),
    }
}

/// `SMEM 131136/232448 · TMEM 128/512`
pub(in crate::ide) fn title(traced: &TracedKernel) -> String {
    let plan = &traced.planned.plan;
    let mut parts = vec![part("SMEM", &amount(&plan.shared), plan.shared.low, traced.arch.smem(), "bytes")];
    if traced.arch.tmem() > 0 && plan.tensor.high != Some(0) {
        parts.push(part("TMEM", &amount(&plan.tensor), plan.tensor.low, traced.arch.tmem(), "columns"));
    }
    parts.join(" · ")
}

/// One memory of a title: `SMEM 240000/232448 ⚠ 7552 B over`.
pub(in crate::ide) fn part(memory: &str, amount: &str, low: u64, capacity: u64, unit: &str) -> String {
    let over = formatting::over(low, capacity, unit).map_or_else(String::new, |over| format!(" ⚠ {over}"));
    format!("{memory} {amount}/{capacity}{over}")
}

/// The most that any device has.
fn most(is_tmem: bool) -> u64 {
    let all = Arch::all().map(|arch| if is_tmem { arch.tmem() } else { arch.smem() });
    all.max().unwrap_or(0)
}

/// An error where a memory cannot hold the kernel, and a word where it may not.
pub(in crate::ide) fn too_much(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    traced: &TracedKernel,
) -> Vec<Diagnostic> {
    let plan = &traced.planned.plan;
    let spaces = [
        ("shared memory", "bytes", &plan.shared, traced.arch.smem(), false),
        ("tensor memory", "columns", &plan.tensor, traced.arch.tmem(), true),
    ];
    let mut all = Vec::new();
    for (memory, unit, total, capacity, is_tmem) in spaces {
        let high = total.high.unwrap_or(0);
        let (code, verdict) = match () {
            // A device without such a memory is none that the kernel is for.
            () if capacity == 0 => continue,
            () if total.low > capacity => (Code::CapacityExceeded, "needs"),
            () if high > capacity => (Code::MayNotFit, "may need"),
            () => continue,
        };
        let amount = amount(total);
        let over = match code {
            Code::CapacityExceeded => format!(", {} too many", total.low - capacity),
            _ => String::new(),
        };
        // More than every device has is too much wherever the kernel runs.
        let is_certain = traced.is_told || total.low > most(is_tmem);
        let device = match is_certain {
            true => format!("{} has {capacity} a block", traced.arch),
            false => format!(
                "{arch}, which is assumed, has {capacity} a block: `# tilefit: target={arch}` says which it is",
                arch = traced.arch
            ),
        };
        let severity = match code.severity() {
            Severity::Error if !is_certain => Severity::Warning,
            severity => severity,
        };
        let here: Vec<&Placed> = plan.placed.iter().filter(|it| is_tensor(traced, it) == is_tmem).collect();
        let (_, at) = map::peak(&here);
        let mut live: Vec<&&Placed> = here.iter().filter(|it| it.live.start <= at && at < it.live.end).collect();
        live.sort_by_key(|it| std::cmp::Reverse(it.low));
        let related = live.iter().map(|it| {
            let occupied = occupied(context, placed, traced, it);
            super::diagnostics::RelatedRange {
                range: occupied.range,
                message: format!("`{}` takes {} {unit}", occupied.name, it.high),
            }
        });
        let because = match (code, total.reasons.first()) {
            (Code::MayNotFit, Some(reason)) => format!(": {reason}"),
            (Code::CapacityExceeded, _) => format!(": {}", out_of_resource(memory, total.low, capacity)),
            _ => String::new(),
        };
        all.push(Diagnostic {
            range: placed.range(traced.name_origin),
            code,
            severity,
            message: format!("the kernel {verdict} {amount} {unit} of {memory}{over}; {device}{because}"),
            related: related.collect(),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn more_than_there_is_is_marked() {
        assert_eq!(part("SMEM", "232448", 232_448, 232_448, "bytes"), "SMEM 232448/232448");
        assert_eq!(part("SMEM", "240000", 240_000, 232_448, "bytes"), "SMEM 240000/232448 ⚠ 7552 B over");
        assert_eq!(part("TMEM", "≥ 544", 544, 512, "columns"), "TMEM ≥ 544/512 ⚠ 32 columns over");
    }
}

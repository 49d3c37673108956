//! What the languages of GPUs show alike: who has which bytes of shared memory and which columns of tensor memory, and when.

pub(super) mod map;
pub(super) mod occupants;

use crate::db::TracedKernel;
use crate::diagnostics::Code;
use crate::ir::Origin;
use crate::memory::Status;
use crate::triton::device::Compiler;
use crate::triton::plan::{Occupant, Placed, Total};

use super::diagnostics::Diagnostic;
use super::language::{Amount, Extent, Memory, Placement, Site};
use super::plan_view::TilePlan;
use super::{Context, PlacedUnit};
use occupants::{is_tensor, occupied};

/// How full the memories are.
pub(in crate::ide) fn memories(traced: &TracedKernel) -> Vec<Memory> {
    let plan = &traced.planned.plan;
    let memory = |name, is_tmem: bool, total: &Total, capacity| {
        let here: Vec<&Placed> = plan.placed.iter().filter(|it| is_tensor(traced, it) == is_tmem).collect();
        let used = Amount::Between(total.low, total.high);
        Memory { name, used, peak: map::peak(&here).0, capacity: Some(capacity) }
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
    traced.planned.plan.placed.iter().filter_map(move |placed| {
        let Occupant::Buffer(id) = placed.what else { return None };
        let buffer = &traced.program.buffers[id.0 as usize];
        let at = buffer.name_at.filter(|at| !seen.contains(at))?;
        seen.push(at);
        let (space, unit) = if is_tensor(traced, placed) { ("tmem", "columns") } else { ("smem", "bytes") };
        let site = Site::Memory { space: Some(space), address: placed.offset, at_run_time: false };
        Some(Placement { name: &buffer.name, at, extent: Some(Extent { site, size: placed.high, unit }) })
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
        name: occupied.name,
        line: occupied.line,
        space: Some(if is_tensor(traced, of) { "tmem" } else { "smem" }),
        shape: occupied.shape,
        dtype: occupied.dtype,
        bytes: of.high,
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
    let mut parts = vec![format!("SMEM {}/{}", amount(&plan.shared), traced.arch.smem())];
    if traced.arch.tmem() > 0 && plan.tensor.high != Some(0) {
        parts.push(format!("TMEM {}/{}", amount(&plan.tensor), traced.arch.tmem()));
    }
    parts.join(" · ")
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
            () if total.low > capacity => (Code::CapacityExceeded, "needs"),
            () if high > capacity => (Code::MayNotFit, "may need"),
            () => continue,
        };
        let amount = amount(total);
        let over = match code {
            Code::CapacityExceeded => format!(", {} too many", total.low - capacity),
            _ => String::new(),
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
        let because = total
            .reasons
            .first()
            .filter(|_| code == Code::MayNotFit)
            .map_or(String::new(), |reason| format!(": {reason}"));
        all.push(Diagnostic {
            range: placed.range(traced.name_origin),
            code,
            severity: code.severity(),
            message: format!(
                "the kernel {verdict} {amount} {unit} of {memory}{over}; {} has {capacity} a block{because}",
                traced.arch
            ),
            related: related.collect(),
        });
    }
    all
}

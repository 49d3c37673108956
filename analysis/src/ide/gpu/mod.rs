//! What the languages of GPUs show alike: who has which bytes of shared memory and which columns of tensor memory, and when.

pub(super) mod actions;
pub(super) mod comments;
pub(super) mod hover;
pub(super) mod lens;
pub(super) mod map;
pub(super) mod occupants;
pub(super) mod scenarios;

use tilefit_gpu::assumed::{Assumed, Hint};
use tilefit_gpu::device::{Arch, Compiler, out_of_resource};
use tilefit_gpu::plan::{Occupant, Placed, Total};
use tilefit_gpu::program::{Buffer, Memory};
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::finding::Origin;
use tilefit_python::finding::Status;

use crate::db::{TlxPart, TracedKernel};

use super::diagnostic::{Diagnostic, RelatedRange};
use super::extent::{Extent, Site};
use super::language::{self, Amount, Placement};
use super::plan_view::TilePlan;
use super::{Context, PlacedUnit, formatting};
use occupants::{is_tensor, occupied};

/// How full the memories are.
pub(in crate::ide) fn memories(traced: &TracedKernel) -> Vec<language::Memory> {
    let plan = &traced.planned.plan;
    let memory = |name, is_tmem: bool, total: &Total, capacity| {
        let here: Vec<&Placed> = plan.placed.iter().filter(|it| is_tensor(traced, it) == is_tmem).collect();
        let used = Amount::Between(total.low, total.high);
        // By the rules of the design document of TLX nothing has a time.
        let peak = if plan.placed.is_empty() { total.low } else { map::peak(&here).0 };
        language::Memory { name, used, peak, capacity: Some(capacity) }
    };
    let mut memories = vec![memory("smem", false, &plan.shared, traced.arch.smem())];
    if traced.arch.tmem() > 0 {
        memories.push(memory("tmem", true, &plan.tensor, traced.arch.tmem()));
    }
    memories
}

/// What a lens speaks of. `assumed`: what nothing says, and any of its numbers rests on.
pub(in crate::ide) fn in_force<'a>(traced: &TracedKernel, assumed: &'a [Assumed]) -> lens::InForce<'a> {
    let plan = &traced.planned.plan;
    let total = |total: &Total| (total.low, total.high);
    let (smem, tmem) = (total(&plan.shared), total(&plan.tensor));
    lens::InForce { arch: traced.arch, assumed, smem, tmem, are_blocks_known: false }
}

/// How far the totals are known.
pub(in crate::ide) fn status(traced: &TracedKernel) -> Status {
    let plan = &traced.planned.plan;
    if traced.refusal().is_some() {
        return Status::Rejected;
    }
    let both = |is: fn(&Total) -> bool| is(&plan.shared) && is(&plan.tensor);
    match (both(|total| total.exactly().is_some()), traced.compiler) {
        _ if !traced.is_whole() => Status::Partial,
        (true, Some(Compiler::Fork)) => Status::Predicted,
        (true, _) if !traced.assumed.is_empty() => Status::Predicted,
        (true, _) => Status::Exact,
        (false, _) if both(|total| total.high.is_some()) => Status::Bounded,
        (false, _) => Status::Partial,
    }
}

/// What nothing says and numbers rest on, one sentence each.
pub(in crate::ide) fn assumes(assumed: &[Assumed]) -> Vec<String> {
    assumed.iter().map(Assumed::to_string).collect()
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
    if let Some((buffer, placed)) = placed_at(traced, at).next() {
        let (space, unit) = if is_tensor(traced, placed) { ("tmem", "columns") } else { ("smem", "bytes") };
        let site = Site::Memory { space: Some(space), address: placed.offset, at_run_time: false };
        return Some(Extent { site, size: placed.high, unit, times: buffer.copies });
    }
    let buffer = traced.program.buffers.iter().find(|buffer| buffer.name_at == Some(at))?;
    let plan = &traced.planned.plan;
    let (total, size, unit) = match &buffer.memory {
        Memory::Shared { size, .. } => (&plan.shared, size.high(), "bytes"),
        Memory::Tensor { columns, .. } => (&plan.tensor, *columns, "columns"),
    };
    let site = if total.high.is_some() { Site::Unused } else { Site::Allocation };
    Some(Extent { site, size, unit, times: buffer.copies })
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
        label: occupied.name.clone(),
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
    formatting::between((total.low, total.high))
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

/// One memory of a title: `SMEM 240000/232448 ⚠ 7552 B over`, `SMEM not known`.
fn part(memory: &str, amount: &str, low: u64, capacity: u64, unit: &str) -> String {
    if amount.is_empty() {
        return format!("{memory} not known");
    }
    let over = formatting::over(low, capacity, unit).map_or_else(String::new, |over| format!(" ⚠ {over}"));
    format!("{memory} {amount}/{capacity}{over}")
}

/// The most that any device has.
fn most(is_tmem: bool) -> u64 {
    let all = Arch::all().map(|arch| if is_tmem { arch.tmem() } else { arch.smem() });
    all.max().unwrap_or(0)
}

/// An error where a memory cannot hold the kernel, and a word where it may not. `least`: bytes and columns that it takes whatever the options are
/// that the plan assumes.
pub(in crate::ide) fn too_much(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    traced: &TracedKernel,
    least: &dyn Fn() -> Option<(u64, u64)>,
) -> Vec<Diagnostic> {
    let plan = &traced.planned.plan;
    let spaces = [
        Space {
            name: "shared memory",
            unit: "bytes",
            total: &plan.shared,
            capacity: traced.arch.smem(),
            is_tmem: false,
        },
        Space {
            name: "tensor memory",
            unit: "columns",
            total: &plan.tensor,
            capacity: traced.arch.tmem(),
            is_tmem: true,
        },
    ];
    let mut all = Vec::new();
    // A device without such a memory is none that the kernel is for.
    for space in spaces.into_iter().filter(|space| space.capacity > 0) {
        let Some(footing) = space.footing(traced, least) else { continue };
        let severity = match footing {
            Footing::Device => Severity::Warning,
            _ => footing.code().severity(),
        };
        all.push(Diagnostic {
            range: placed.range(traced.name_origin),
            code: footing.code(),
            severity,
            message: space.message(traced, footing),
            related: space.related(context, placed, traced),
            elsewhere: None,
        });
    }
    all
}

/// A memory of a kernel.
struct Space<'k> {
    name: &'static str,
    unit: &'static str,
    total: &'k Total,
    capacity: u64,
    is_tmem: bool,
}

/// What it rests on that a kernel is too much for a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Footing {
    /// On nothing.
    Sure,
    /// It would not be too much for another device.
    Device,
    /// On options of the launch that are assumed.
    Options,
    /// It may take less.
    Bounds,
}

impl Footing {
    fn code(self) -> Code {
        match self {
            Footing::Sure | Footing::Device => Code::CapacityExceeded,
            Footing::Options | Footing::Bounds => Code::MayNotFit,
        }
    }
}

impl Space<'_> {
    /// `None` where the kernel fits.
    fn footing(&self, traced: &TracedKernel, least: &dyn Fn() -> Option<(u64, u64)>) -> Option<Footing> {
        if self.total.low <= self.capacity {
            return (self.total.high.unwrap_or(0) > self.capacity).then_some(Footing::Bounds);
        }
        let in_any_case = match traced.assumes_options() {
            true => least().map_or(0, |(bytes, columns)| if self.is_tmem { columns } else { bytes }),
            false => self.total.low,
        };
        // More than every device has is too much wherever the kernel runs.
        Some(match traced.is_device_told() || in_any_case > most(self.is_tmem) {
            _ if in_any_case <= self.capacity => Footing::Options,
            true => Footing::Sure,
            false => Footing::Device,
        })
    }

    fn message(&self, traced: &TracedKernel, footing: Footing) -> String {
        let Space { name, unit, total, capacity, .. } = self;
        let amount = amount(total);
        let over = total.low.saturating_sub(*capacity);
        let device = match traced.assumed.first() {
            Some(Assumed::Device(arch, hint)) if footing != Footing::Sure => {
                let which = match hint {
                    Hint::Nothing => "which is assumed",
                    Hint::File => "the only device that the file speaks of",
                };
                format!("{arch}, {which}, has {capacity} per block: `# tilefit: target={arch}` says which it is")
            }
            _ => format!("{} has {capacity} per block", traced.arch),
        };
        match footing {
            Footing::Bounds => {
                let because = total.reasons.first().map_or_else(String::new, |reason| format!(": {reason}"));
                format!("the kernel may need {amount} {unit} of {name}; {device}{because}")
            }
            Footing::Options => {
                let options = traced.assumed.iter().filter(|it| it.is_option());
                let options: Vec<String> = options.map(Assumed::short).collect();
                let options = options.join(", ");
                format!(
                    "the kernel may not fit: it needs {amount} {unit} of {name} with {options}, which nothing gives; {device}"
                )
            }
            Footing::Sure | Footing::Device => {
                let least = if total.exactly().is_some() { "" } else { "at least " };
                // The compiler's words are quoted only where the number in them is the compiler's.
                let is_compilers = traced.assumed.is_empty() && !traced.tlx.as_ref().is_some_and(TlxPart::is_by_seed);
                let words = match total.exactly().filter(|_| is_compilers) {
                    Some(exactly) => format!(": {}", out_of_resource(name, exactly, *capacity)),
                    None => String::new(),
                };
                format!("the kernel needs {amount} {unit} of {name}, {least}{over} too many; {device}{words}")
            }
        }
    }

    /// What is live where most of the memory is taken.
    fn related(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, traced: &TracedKernel) -> Vec<RelatedRange> {
        let here: Vec<&Placed> =
            traced.planned.plan.placed.iter().filter(|it| is_tensor(traced, it) == self.is_tmem).collect();
        let (_, at) = map::peak(&here);
        let mut live: Vec<&&Placed> = here.iter().filter(|it| it.live.start <= at && at < it.live.end).collect();
        live.sort_by_key(|it| std::cmp::Reverse(it.low));
        let related = live.iter().map(|it| {
            let occupied = occupied(context, placed, traced, it);
            let message = format!("`{}` takes {} {}", occupied.name, it.high, self.unit);
            RelatedRange::here(occupied.range, message)
        });
        related.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn more_than_there_is_is_marked() {
        assert_eq!(part("SMEM", "232448", 232_448, 232_448, "bytes"), "SMEM 232448/232448");
        assert_eq!(part("SMEM", "240000", 240_000, 232_448, "bytes"), "SMEM 240000/232448 ⚠ 7.4 KiB over");
        assert_eq!(part("TMEM", "≥ 544", 544, 512, "columns"), "TMEM ≥ 544/512 ⚠ 32 columns over");
    }
}

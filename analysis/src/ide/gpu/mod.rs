//! What the languages of GPUs show alike: who has which bytes or columns of each memory, and when.

pub(super) mod actions;
pub(super) mod comments;
pub(super) mod hover;
pub(super) mod lens;
pub(super) mod map;
pub(super) mod occupants;
pub(super) mod scenarios;

use tilefit_gpu::assumed::{Assumed, Hint};
use tilefit_gpu::device::{Arch, Compiler, Space, out_of_resource};
use tilefit_gpu::plan::{Occupant, Placed, Total};
use tilefit_gpu::program::{Buffer, Memory};
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::finding::Origin;
use tilefit_python::finding::Status;

use crate::db::{Taken, TlxPart, TracedKernel};

use super::diagnostic::{Diagnostic, RelatedRange};
use super::extent::{Extent, Site};
use super::language::{self, Amount, Placement};
use super::plan_view::TilePlan;
use super::{Context, PlacedUnit, formatting};
use occupants::occupied;

/// How full the memories are.
pub(in crate::ide) fn memories(traced: &TracedKernel) -> Vec<language::Memory> {
    let plan = &traced.planned.plan;
    let memory = |space: Space| {
        let total = plan.total(space);
        let here: Vec<&Placed> = plan.placed.iter().filter(|it| occupants::space(traced, it) == space).collect();
        let used = Amount::Between(total.low, total.high);
        // By the rules of the design document of TLX nothing has a time.
        let peak = if plan.placed.is_empty() { total.low } else { map::peak(&here).0 };
        language::Memory { name: space.name(), used, peak, capacity: Some(traced.capacity(space)) }
    };
    let all = || traced.arch.memories().map(|(space, _)| space);
    // Of an NPU, those that the kernel has something in.
    let has_something = |space: &Space| {
        plan.total(*space).low > 0 || plan.placed.iter().any(|it| occupants::space(traced, it) == *space)
    };
    let is_chosen = traced.arch.is_npu() && all().any(|space| has_something(&space));
    all().filter(|space| !is_chosen || has_something(space)).map(memory).collect()
}

/// What a lens speaks of. `assumed`: what nothing says, and any of its numbers rests on.
pub(in crate::ide) fn in_force<'a>(traced: &TracedKernel, assumed: &'a [Assumed]) -> lens::InForce<'a> {
    lens::InForce { arch: traced.arch, assumed, memories: traced.taken().collect(), are_blocks_known: false }
}

/// How far the totals are known.
pub(in crate::ide) fn status(traced: &TracedKernel) -> Status {
    let plan = &traced.planned.plan;
    if traced.refusal().is_some() {
        return Status::Rejected;
    }
    match (plan.is_exact(), traced.compiler) {
        _ if !traced.is_whole() => Status::Partial,
        (true, Some(Compiler::Fork)) => Status::Predicted,
        // No compiler for NPUs was asked.
        (true, _) if traced.arch.is_npu() => Status::Predicted,
        (true, _) if !traced.assumed.is_empty() => Status::Predicted,
        (true, _) => Status::Exact,
        (false, _) if plan.is_bounded() => Status::Bounded,
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
        let (space, unit) = (occupants::space(traced, placed), occupants::space(traced, placed).unit());
        let site = Site::Memory { space: Some(space.name()), address: placed.offset, at_run_time: false };
        return Some(Extent { site, size: placed.high, unit, times: buffer.copies });
    }
    let buffer = traced.program.buffers.iter().find(|buffer| buffer.name_at == Some(at))?;
    let plan = &traced.planned.plan;
    let size = match &buffer.memory {
        Memory::Shared { size, .. } => size.high(),
        Memory::Tensor { columns, .. } => *columns,
        Memory::OfCore { bytes, .. } => *bytes,
    };
    let (total, unit) = (plan.total(buffer.memory.space()), buffer.memory.space().unit());
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
        space: Some(occupants::space(traced, of).name()),
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

/// `SMEM 131136/232448 · TMEM 128/512`: shared memory in any case, and others that it takes something of.
pub(in crate::ide) fn title(traced: &TracedKernel) -> String {
    let plan = &traced.planned.plan;
    let is_shown = |space: Space| space == Space::Shared || plan.total(space).high != Some(0);
    let shown = traced.arch.memories().map(|(space, _)| space).filter(|space| is_shown(*space));
    let parts = shown.map(|space| {
        let (total, name) = (plan.total(space), space.name().to_uppercase());
        part(&name, &amount(total), total.low, traced.capacity(space), space.unit())
    });
    parts.collect::<Vec<_>>().join(" · ")
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
fn most(space: Space) -> u64 {
    Arch::all().map(|arch| arch.capacity(space)).max().unwrap_or(0)
}

/// An error where a memory cannot hold the kernel, and a word where it may not. `least`: what it takes of each memory whatever the options are that
/// the plan assumes.
pub(in crate::ide) fn too_much(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    traced: &TracedKernel,
    least: &dyn Fn() -> Option<Vec<Taken>>,
) -> Vec<Diagnostic> {
    let spaces = traced.arch.memories().map(|(space, _)| InMemory {
        space,
        total: traced.planned.plan.total(space),
        capacity: traced.capacity(space),
    });
    let mut all = Vec::new();
    // A device without such a memory is none that the kernel is for.
    for space in spaces {
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

/// What a kernel takes of a memory.
struct InMemory<'k> {
    space: Space,
    total: &'k Total,
    capacity: u64,
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

impl InMemory<'_> {
    /// `None` where the kernel fits.
    fn footing(&self, traced: &TracedKernel, least: &dyn Fn() -> Option<Vec<Taken>>) -> Option<Footing> {
        if self.total.low <= self.capacity {
            return (self.total.high.unwrap_or(0) > self.capacity).then_some(Footing::Bounds);
        }
        let in_any_case = match traced.assumes_options() {
            true => {
                let of = |all: Vec<Taken>| all.into_iter().find(|taken| taken.space == self.space);
                least().and_then(of).map_or(0, |taken| taken.amount.0)
            }
            false => self.total.low,
        };
        // More than every device has is too much wherever the kernel runs.
        Some(match traced.is_device_told() || in_any_case > most(self.space) {
            _ if in_any_case <= self.capacity => Footing::Options,
            true => Footing::Sure,
            false => Footing::Device,
        })
    }

    fn message(&self, traced: &TracedKernel, footing: Footing) -> String {
        let InMemory { total, capacity, .. } = self;
        let (name, unit) = (self.space.words(), self.space.unit());
        let each = if self.space == Space::Shared || self.space == Space::Tensor { "block" } else { "core" };
        let amount = amount(total);
        let over = total.low.saturating_sub(*capacity);
        let device = match traced.assumed.first() {
            Some(Assumed::Device(arch, hint)) if footing != Footing::Sure => {
                let which = match hint {
                    Hint::Nothing => "which is assumed",
                    Hint::File => "the only device that the file speaks of",
                };
                format!("{arch}, {which}, has {capacity} per {each}: `# tilefit: target={arch}` says which it is")
            }
            _ if *capacity < traced.arch.capacity(self.space) => {
                format!("{} gives out {capacity} per {each}", traced.planner.unwrap_or("the compiler"))
            }
            _ => format!("{} has {capacity} per {each}", traced.arch),
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
                let is_compilers = traced.assumed.is_empty()
                    && !traced.arch.is_npu()
                    && !traced.tlx.as_ref().is_some_and(TlxPart::is_by_seed);
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
            traced.planned.plan.placed.iter().filter(|it| occupants::space(traced, it) == self.space).collect();
        let (_, at) = map::peak(&here);
        let mut live: Vec<&&Placed> = here.iter().filter(|it| it.live.start <= at && at < it.live.end).collect();
        live.sort_by_key(|it| std::cmp::Reverse(it.low));
        let related = live.iter().map(|it| {
            let occupied = occupied(context, placed, traced, it);
            let message = format!("`{}` takes {} {}", occupied.name, it.high, self.space.unit());
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

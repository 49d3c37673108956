//! Whether a kernel fits under launches that somebody asks about.

use serde::Serialize;
use tilefit_gpu::device::{Arch, Compiler};
use tilefit_gpu::plan::EARLIER;
use tilefit_gpu::scenario::Scenario;
use tilefit_python::spelling::did_you_mean;

use super::gpu::tile;
use super::{Context, PlacedUnit};
use crate::db::{self, MemoryUsage, Taken, Verdict};
use crate::launch::Launch;

/// The memory of a kernel under one launch on one device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// Bytes of shared memory, at least and at most; `None`: it is not known.
    pub low: Option<u64>,
    pub high: Option<u64>,
    pub capacity: u64,
    /// `fits`, `does not fit`, `may not fit`, `refused`, `unknown`
    pub verdict: &'static str,
    /// Why it is none of the first two, or which memory is full.
    pub reason: Option<String>,
    /// Where the buffers lie, where one launch is asked about.
    pub buffers: Vec<Buffer>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Buffer {
    pub name: String,
    /// From 1.
    pub line: usize,
    pub offset: Option<u64>,
    pub size: u64,
}

/// Who says what a question says.
const QUESTION: &str = "the question";

/// For each launch. The error is a sentence for the user.
pub(crate) fn fits(context: &Context<'_>, kernel: &str, arch: Arch, launches: &[Launch]) -> Result<Vec<Fit>, String> {
    let kernels: Vec<PlacedUnit<'_>> =
        context.units().filter(|placed| db::triton_dialect(context.db, placed.unit).is_some()).collect();
    let path = |placed: &PlacedUnit<'_>| placed.unit.key(context.db).path.to_string();
    let is_meant = |placed: &&PlacedUnit<'_>| path(placed) == kernel || placed.unit.key(context.db).name() == kernel;
    let meant: Vec<&PlacedUnit<'_>> = kernels.iter().filter(is_meant).collect();
    let placed = match (meant.as_slice(), kernels.iter().find(|placed| path(placed) == kernel)) {
        (&[only], _) => only,
        (_, Some(whole)) => whole,
        ([], None) => {
            let names: Vec<String> = kernels.iter().map(path).collect();
            let meant = did_you_mean(kernel, names.iter().map(String::as_str));
            return Err(format!("there is no kernel `{kernel}` of a GPU in the file{meant}"));
        }
        (several, None) => {
            let names: Vec<String> = several.iter().map(|placed| format!("`{}`", path(placed))).collect();
            return Err(format!("`{kernel}` may be any of {}", names.join(", ")));
        }
    };
    let scenarios: Vec<Scenario> = launches.iter().map(|launch| launch.scenario(QUESTION)).collect();
    let usage = db::usage_of_launches(context.db, placed.unit, arch, &scenarios).unwrap_or_default();
    let fit_of = |(usage, launch): (_, &Launch)| match launch.compiler {
        Some(Compiler::Earlier) => at_least(fit(arch, usage)),
        _ => fit(arch, usage),
    };
    let mut fits: Vec<Fit> = usage.into_iter().zip(launches).map(fit_of).collect();
    if let ([only], [scenario]) = (fits.as_mut_slice(), scenarios.as_slice()) {
        only.buffers = buffers(context, placed, arch, scenario);
    }
    Ok(fits)
}

fn fit(arch: Arch, usage: Option<MemoryUsage>) -> Fit {
    let buffers = Vec::new();
    let Some(usage) = usage else {
        let reason = Some("the kernel is too large, or too much of the launch is open".to_owned());
        let capacity = arch.memories().next().map_or(0, |(_, capacity)| capacity);
        return Fit { low: None, high: None, capacity, verdict: "unknown", reason, buffers };
    };
    let leading = usage.leading();
    let ((low, high), capacity) = (usage.amount(leading), arch.capacity(leading));
    let MemoryUsage { verdict, memories, reason, refusal, .. } = usage;
    let verdict = match verdict {
        Verdict::Fits => "fits",
        Verdict::Exceeds => "does not fit",
        Verdict::Refused => "refused",
        Verdict::Unknown if high.is_none() => "unknown",
        Verdict::Unknown | Verdict::Depends => "may not fit",
    };
    // The number that is given is that of another memory.
    let other = memories.iter().find(|taken| taken.space != leading && taken.exceeds());
    let too_much = other.map(|Taken { space, amount, capacity }| {
        format!("it needs {} of {capacity} {} of {}", amount.0, space.unit(), space.words())
    });
    let reason = match refusal {
        Some(refusal) => Some(refusal.reason.to_string()),
        None => too_much.or_else(|| reason.map(|reason| reason.to_string())),
    };
    Fit { low: Some(low), high, capacity, verdict, reason, buffers }
}

/// Of a compiler of which only that is known.
fn at_least(fit: Fit) -> Fit {
    let verdict = match fit.verdict {
        "refused" => "refused",
        _ if fit.low.is_some_and(|low| low > fit.capacity) => "does not fit",
        _ => "unknown",
    };
    let reason = if verdict == "unknown" { Some(EARLIER.to_owned()) } else { fit.reason };
    Fit { high: None, verdict, reason, ..fit }
}

fn buffers(context: &Context<'_>, placed: &PlacedUnit<'_>, arch: Arch, scenario: &Scenario) -> Vec<Buffer> {
    let Some(traced) = db::laid_out_for_launch(context.db, placed.unit, arch, scenario) else { return Vec::new() };
    let tiles = traced.planned.plan.placed.iter().map(|it| tile(context, placed, &traced, it));
    let leading = traced.leading().name();
    let shared = tiles.filter(|tile| tile.space == Some(leading) && tile.bytes > 0);
    shared.map(|tile| Buffer { name: tile.name, line: tile.line, offset: tile.address, size: tile.bytes }).collect()
}

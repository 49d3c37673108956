//! What fits of a kernel whose launch leaves something open.

use std::fmt::Write;

use crate::db::{self, CameTo, JitKernel, Unit, Verdict, Weighed};
use crate::diagnostics::Code;
use crate::eval::Constant;
use crate::ide::diagnostics::Diagnostic;
use crate::ide::traced::scenarios::display;
use crate::ide::{Context, PlacedUnit};
use crate::triton::scenario::Scenario;

/// Lines of the table in a hover.
const MOST_LINES: usize = 24;

/// ` · fits up to BLOCK_SIZE=8192`, ` · at most 2048 B whatever BLOCK_SIZE is`; empty where nothing is open, or nothing bounds it.
pub(super) fn fitting(context: &Context<'_>, unit: Unit<'_>) -> String {
    let Some(weighed) = in_force(context, unit) else { return String::new() };
    let (came_to, names) = (&weighed.came_to, names(weighed));
    let open = names.join(", ");
    match (came_to.verdict, came_to.smem.1) {
        (Verdict::Fits, Some(high)) if came_to.smem.0 == high => format!(" · {high} B whatever {open} is"),
        (Verdict::Fits, Some(high)) => format!(" · at most {high} B whatever {open} is"),
        (Verdict::Exceeds, _) => format!(" · exceeds whatever {open} is"),
        (Verdict::Depends, _) => match limit(weighed, &names) {
            Some(limit) => format!(" · fits up to {limit}"),
            None => {
                let fits = weighed.ways.iter().filter(|(_, came_to)| came_to.verdict == Verdict::Fits).count();
                format!(" · fits {fits} of {} possible ways", weighed.ways.len())
            }
        },
        _ => String::new(),
    }
}

/// A word where the kernel fits with some element types of its pointers, which nothing names, and with others not.
pub(super) fn too_wide(context: &Context<'_>, placed: &PlacedUnit<'_>, jit: &JitKernel) -> Option<Diagnostic> {
    let traced = &jit.traced;
    if traced.untyped.is_empty() || !traced.is_device_told() {
        return None;
    }
    let weighed = in_force(context, placed.unit)?;
    let names = names(weighed);
    let exceeding = weighed.ways.iter().filter(|(_, came_to)| came_to.verdict == Verdict::Exceeds);
    let (way, came_to) = exceeding.max_by_key(|(_, came_to)| came_to.smem.0)?;
    // What else is open has its own rows in the table, and any number of them is too large.
    if !names.iter().all(|name| traced.untyped.contains_key(name)) || came_to.smem.0 <= came_to.capacity.0 {
        return None;
    }
    let types: Vec<String> = names.iter().map(|name| format!("`{name}` is {}", value(way, name))).collect();
    let message = format!(
        "the kernel may not fit: it needs {} bytes of shared memory if {}, which is not given; {} has {} a block",
        came_to.smem.0,
        types.join(" and "),
        traced.arch,
        came_to.capacity.0
    );
    let (range, code) = (placed.range(traced.name_origin), Code::MayNotFit);
    Some(Diagnostic { range, code, severity: code.severity(), message, related: Vec::new() })
}

/// A table of what is possible, for a hover.
pub(super) fn markdown(context: &Context<'_>, unit: Unit<'_>) -> String {
    let mut text = String::new();
    let Some(weighed) = in_force(context, unit) else { return text };
    let names = names(weighed);
    let heads: String = names.iter().map(|name| format!(" {name} |")).collect();
    let _ = writeln!(text, "\nNo value is known for {}; each possible value was tried:\n", names.join(", "));
    let _ = writeln!(text, "|{heads} SMEM | |\n|{}---|---|", "---|".repeat(names.len()));
    for (way, came_to) in weighed.ways.iter().take(MOST_LINES) {
        let values: String = names.iter().map(|name| format!(" {} |", value(way, name))).collect();
        let bytes = match came_to.smem {
            (low, Some(high)) if low == high => high.to_string(),
            (low, Some(high)) => format!("{low}–{high}"),
            (low, None) => format!("≥ {low}"),
        };
        let _ = writeln!(text, "|{values} {bytes} | {} |", came_to.verdict.name());
    }
    if weighed.ways.len() > MOST_LINES {
        let _ = writeln!(text, "\nand {} more; `tilefit configs` lists them.", weighed.ways.len() - MOST_LINES);
    }
    text
}

/// Where something of the scenario in force is open and makes a difference.
fn in_force<'db>(context: &Context<'db>, unit: Unit<'db>) -> Option<&'db Weighed> {
    db::weighed_in_force(context.db, unit).as_deref().filter(|weighed| !weighed.ways.is_empty())
}

/// What differs between the ways.
fn names(weighed: &Weighed) -> Vec<String> {
    let mut names: Vec<String> = weighed.ways.iter().flat_map(|(way, _)| way.values.keys().cloned()).collect();
    names.push("num_warps".to_owned());
    names.sort_unstable();
    names.dedup();
    names.retain(|name| {
        let first = weighed.ways.first().map(|(way, _)| value(way, name));
        weighed.ways.iter().any(|(way, _)| Some(value(way, name)) != first)
    });
    names
}

fn value(way: &Scenario, name: &str) -> String {
    match (name, way.values.get(name), way.num_warps) {
        ("num_warps", None, Some(warps)) => warps.to_string(),
        (_, Some((value, _)), _) => display(value),
        _ => "any".to_owned(),
    }
}

/// `BLOCK_SIZE=8192`, where that alone decides what fits.
fn limit(weighed: &Weighed, names: &[String]) -> Option<String> {
    names.iter().find_map(|name| {
        let number = |(way, _): &(Scenario, CameTo)| match way.values.get(name) {
            Some((Constant::Int(number), _)) => Some(*number),
            _ => None,
        };
        let of = |fits: bool| {
            let ways = weighed.ways.iter().filter(move |(_, came_to)| (came_to.verdict == Verdict::Fits) == fits);
            ways.map(number).collect::<Option<Vec<i64>>>()
        };
        let (most, least) = (of(true)?.into_iter().max()?, of(false)?.into_iter().min()?);
        (most < least).then(|| format!("{name}={most}"))
    })
}

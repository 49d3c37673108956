//! What fits of a kernel whose launch leaves something open.

use std::fmt::Write;

use tilefit_gpu::assumed::{self, Assumed};
use tilefit_gpu::scenario::Scenario;
use tilefit_python::diagnostics::Code;
use tilefit_python::eval::Constant;

use crate::db::{self, Estimate, MemoryUsage, TritonKernel, Unit, Verdict};
use crate::ide::diagnostic::Diagnostic;
use crate::ide::gpu::lens::{self, InForce};
use crate::ide::gpu::scenarios::display;
use crate::ide::{Context, PlacedUnit, formatting};

/// Values that a lens has room for.
const MOST_VALUES: usize = 8;

/// Lines of the table in a hover.
const MOST_LINES: usize = 24;

/// `at most 2 KiB of 227 KiB (sm_90) whatever BLOCK_SIZE is`, `fits sm_90 up to BLOCK_SIZE=8192 (64 KiB)`; `None` where nothing is open, nothing bounds it, or it
/// takes no memory.
pub(super) fn fitting(context: &Context<'_>, unit: Unit<'_>, kernel: &InForce<'_>) -> Option<String> {
    let estimate = in_force(context, unit)?;
    let (usage, names) = (&estimate.usage, names(estimate));
    if estimate.has_more {
        let needed = &db::triton_needed(context.db, unit).values;
        let given: Vec<String> = needed.iter().map(|(name, _)| name.clone()).collect();
        let more =
            if given.is_empty() { String::new() } else { format!(" · give {} for more", formatting::listed(&given)) };
        return Some(in_tried_ways(kernel, estimate)? + &more + &assumed::mark(&assumed_by(kernel, estimate)));
    }
    let open = format!("{} {}", formatting::listed(&names), if names.len() == 1 { "is" } else { "are" });
    let arch = kernel.arch;
    let leading = usage.leading();
    let said = match (usage.verdict, usage.amount(leading).1) {
        (Verdict::Fits, Some(0)) => return None,
        (Verdict::Fits, Some(_)) => format!("{} whatever {open}", lens::bytes(kernel, leading, usage.amount(leading))?),
        (Verdict::Exceeds, _) => format!("exceeds {arch} whatever {open} ⚠"),
        (Verdict::Depends | Verdict::Unknown, _) => match limit(estimate, &names) {
            Some(limit) => format!("fits {arch} {limit}"),
            None => some_fit(kernel, estimate).or_else(|| either_way(kernel, estimate, &names, &open))?,
        },
        _ => return None,
    };
    Some(said + &assumed::mark(&assumed_by(kernel, estimate)))
}

/// What is assumed of a kernel and not tried in each of the ways.
fn assumed_by(kernel: &InForce<'_>, estimate: &Estimate) -> Vec<Assumed> {
    let is_tried = |it: &Assumed, (way, _): &(Scenario, MemoryUsage)| match it {
        Assumed::Device(..) | Assumed::Compiler(_) | Assumed::Large(_) | Assumed::Launch(_) => false,
        Assumed::Warps(_) => way.num_warps.is_some(),
        Assumed::Stages(_) => way.num_stages.is_some(),
        Assumed::Number(name, _) | Assumed::Elements(name, _) => way.values.contains_key(name),
    };
    let rests_on = |it: &&Assumed| !estimate.ways.iter().all(|way| is_tried(it, way));
    kernel.assumed.iter().filter(rests_on).cloned().collect()
}

/// `9 ways tried: 12 KiB (BK=16) to 83 KiB (BK=64) of 227 KiB (sm_90), 8 known to fit`
fn in_tried_ways(kernel: &InForce<'_>, estimate: &Estimate) -> Option<String> {
    let (ways, names) = (&estimate.ways, tried(kernel.assumed, estimate));
    let leading = estimate.usage.leading();
    let amount = |usage: &MemoryUsage| usage.amount(leading);
    let least = ways.iter().min_by_key(|(_, usage)| amount(usage))?;
    let most = ways.iter().max_by_key(|(_, usage)| (amount(usage).1, amount(usage).0))?;
    let total = (amount(&least.1).0, amount(&most.1).1);
    let given = |(way, _): &(Scenario, MemoryUsage)| {
        let values: Vec<String> = names.iter().map(|name| format!("{name}={}", value(way, name))).collect();
        values.join(", ")
    };
    let are_told = !names.is_empty() && names.len() * ways.len().min(2) <= MOST_VALUES;
    let bytes = match ways.len() {
        1 if are_told => format!("{} with {}", lens::bytes(kernel, leading, total)?, given(least)),
        _ if are_told && amount(&least.1) != amount(&most.1) => format!(
            "{} ({}) to {} ({}) of {}",
            lens::amount(amount(&least.1))?,
            given(least),
            lens::amount(amount(&most.1))?,
            given(most),
            lens::capacity(kernel, leading)
        ),
        _ => lens::bytes(kernel, leading, total)?,
    };
    let count = |verdict| ways.iter().filter(|(_, usage)| usage.verdict == verdict).count();
    let mut said = match ways.len() {
        1 if are_told => bytes,
        1 => format!("1 way tried: {bytes}"),
        all => format!("{all} ways tried: {bytes}"),
    };
    match (count(Verdict::Fits), count(Verdict::Exceeds)) {
        (0, exceeds) if exceeds == ways.len() => said += ", none fits",
        (fits, _) if fits == ways.len() || fits == 0 => {}
        (fits, _) => _ = write!(said, ", {fits} known to fit"),
    }
    Some(said)
}

/// `fits sm_90 in 3 of 4 possible ways`, where all of them are known.
fn some_fit(kernel: &InForce<'_>, estimate: &Estimate) -> Option<String> {
    let count = |verdict| estimate.ways.iter().filter(|(_, usage)| usage.verdict == verdict).count();
    let (fits, exceeds, all) = (count(Verdict::Fits), count(Verdict::Exceeds), estimate.ways.len());
    (exceeds > 0 && fits + exceeds == all).then(|| format!("fits {} in {fits} of {all} possible ways", kernel.arch))
}

/// `16–352 KiB of 227 KiB whatever USE_BIAS is`. Whatever a flag or a type is, there are few ways; of numbers the largest would be of any size.
fn either_way(kernel: &InForce<'_>, estimate: &Estimate, names: &[String], open: &str) -> Option<String> {
    let has_number = |name: &String| estimate.ways.iter().any(|(way, _)| is_number(way, name));
    let leading = estimate.usage.leading();
    let bytes = || lens::bytes(kernel, leading, estimate.usage.amount(leading));
    if names.iter().any(has_number) { None } else { Some(format!("{} whatever {open}", bytes()?)) }
}

/// A word where the kernel fits with some element types of its pointers, which nothing names, and with others not.
pub(super) fn too_wide(context: &Context<'_>, placed: &PlacedUnit<'_>, jit: &TritonKernel) -> Option<Diagnostic> {
    let traced = &jit.traced;
    if traced.untyped.is_empty() || !traced.is_device_told() {
        return None;
    }
    let estimate = in_force(context, placed.unit)?;
    let names = names(estimate);
    let exceeding = estimate.ways.iter().filter(|(_, usage)| usage.verdict == Verdict::Exceeds);
    let leading = estimate.usage.leading();
    let (way, usage) = exceeding.max_by_key(|(_, usage)| usage.amount(leading).0)?;
    let (needed, capacity) = (usage.amount(leading).0, traced.capacity(leading));
    // What else is open has its own rows in the table, and any number of them is too large.
    if !names.iter().all(|name| traced.untyped.contains_key(name)) || needed <= capacity {
        return None;
    }
    let types: Vec<String> = names.iter().map(|name| format!("`{name}` is {}", value(way, name))).collect();
    let message = format!(
        "the kernel may not fit: it needs {needed} bytes of {} if {}, which is not given; {} has {capacity} a block",
        leading.words(),
        types.join(" and "),
        traced.arch,
    );
    let (range, code) = (placed.range(traced.name_origin), Code::MayNotFit);
    Some(Diagnostic { range, code, severity: code.severity(), message, related: Vec::new(), elsewhere: None })
}

/// A table of what is possible, for a hover.
pub(super) fn markdown(context: &Context<'_>, unit: Unit<'_>) -> String {
    let mut text = String::new();
    let Some(estimate) = in_force(context, unit) else { return text };
    let assumed = db::triton_assumed(context.db, unit);
    let names = if estimate.has_more { tried(assumed, estimate) } else { names(estimate) };
    let heads: String = names.iter().map(|name| format!(" {name} |")).collect();
    let which = if estimate.has_more { "some of those that are usual were" } else { "each possible value was" };
    let _ = writeln!(text, "\nNo value is known for {}; {which} tried:\n", names.join(", "));
    let leading = estimate.usage.leading();
    let _ = writeln!(text, "|{heads} {} | |\n|{}---|---|", leading.name().to_uppercase(), "---|".repeat(names.len()));
    for (way, usage) in estimate.ways.iter().take(MOST_LINES) {
        let values: String = names.iter().map(|name| format!(" {} |", value(way, name))).collect();
        let bytes = match usage.amount(leading) {
            (low, Some(high)) if low == high => high.to_string(),
            (low, Some(high)) => format!("{low}–{high}"),
            (low, None) => format!("≥ {low}"),
        };
        let _ = writeln!(text, "|{values} {bytes} | {} |", usage.verdict.name());
    }
    if estimate.ways.len() > MOST_LINES {
        let _ = writeln!(text, "\nand {} more; `tilefit configs` lists them.", estimate.ways.len() - MOST_LINES);
    }
    text
}

/// Where something of the scenario in force is open and makes a difference.
fn in_force<'db>(context: &Context<'db>, unit: Unit<'db>) -> Option<&'db Estimate> {
    db::estimate_in_force(context.db, unit).as_deref().filter(|estimate| !estimate.ways.is_empty())
}

/// Whether only some of what is possible was tried.
pub(super) fn is_sampled(context: &Context<'_>, unit: Unit<'_>) -> bool {
    in_force(context, unit).is_some_and(|estimate| estimate.has_more)
}

/// What was tried and nothing says. `assumed`: what would have been assumed instead.
fn tried(assumed: &[Assumed], estimate: &Estimate) -> Vec<String> {
    let is_tried = |(_, from): &(Constant, String)| from == db::POSSIBLE;
    let mut names: Vec<String> = Vec::new();
    for (way, _) in &estimate.ways {
        names.extend(way.values.iter().filter(|(_, value)| is_tried(value)).map(|(name, _)| name.clone()));
        names.extend(assumed.iter().filter_map(|it| match it {
            Assumed::Warps(_) => way.num_warps.map(|_| "num_warps".to_owned()),
            Assumed::Stages(_) => way.num_stages.map(|_| "num_stages".to_owned()),
            _ => None,
        }));
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// What differs between the ways.
fn names(estimate: &Estimate) -> Vec<String> {
    let mut names: Vec<String> = estimate.ways.iter().flat_map(|(way, _)| way.values.keys().cloned()).collect();
    names.extend(["num_stages", "num_warps"].map(str::to_owned));
    names.sort_unstable();
    names.dedup();
    names.retain(|name| {
        let first = estimate.ways.first().map(|(way, _)| value(way, name));
        estimate.ways.iter().any(|(way, _)| Some(value(way, name)) != first)
    });
    names
}

fn is_number(way: &Scenario, name: &str) -> bool {
    ["num_stages", "num_warps"].contains(&name)
        || way.values.get(name).is_some_and(|(value, _)| matches!(value, Constant::Int(_)))
}

fn value(way: &Scenario, name: &str) -> String {
    let option = match name {
        "num_warps" => way.num_warps,
        "num_stages" => way.num_stages,
        _ => None,
    };
    match (way.values.get(name), option) {
        (Some((value, _)), _) => display(value),
        (None, Some(option)) => option.to_string(),
        (None, None) => "any".to_owned(),
    }
}

/// `up to BLOCK_SIZE=8192 (at most 64 KiB)`: the largest number up to which all that is possible fits. Where the next one is too large in some of its
/// ways only, that is said: `, with 16384 it may not`. Where it is not known to be too large at all: `at least up to`.
fn limit<'e>(estimate: &'e Estimate, names: &[String]) -> Option<String> {
    names.iter().find_map(|name| {
        let number = |(way, usage): &'e (Scenario, MemoryUsage)| match way.values.get(name) {
            Some((Constant::Int(number), _)) => Some((*number, usage)),
            _ => None,
        };
        let ways = estimate.ways.iter().map(number).collect::<Option<Vec<(i64, &MemoryUsage)>>>()?;
        let is_fitting = |usage: &MemoryUsage| usage.verdict == Verdict::Fits;
        let next = ways.iter().filter(|(_, usage)| !is_fitting(usage)).map(|(number, _)| *number).min()?;
        let most = ways.iter().map(|(number, _)| *number).filter(|number| *number < next).max()?;
        let leading = estimate.usage.leading();
        let up_to = ways.iter().filter(|(number, _)| *number == most).map(|(_, usage)| usage.amount(leading));
        let (low, high) = up_to.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
        let amount = lens::amount((low, high)).map_or_else(String::new, |amount| format!(" ({amount})"));
        let of_next = ways.iter().filter(|(number, _)| *number == next).map(|(_, usage)| usage.verdict);
        let (exceeds, others): (Vec<_>, Vec<_>) = of_next.partition(|verdict| *verdict == Verdict::Exceeds);
        Some(match (exceeds.is_empty(), others.is_empty()) {
            (true, _) => format!("at least up to {name}={most}{amount}"),
            (false, true) => format!("up to {name}={most}{amount}"),
            (false, false) => format!("up to {name}={most}{amount}, with {next} it may not"),
        })
    })
}

//! Plans, compared with the recorded answers of the compiler: each name, size, alignment and offset, totals, threads, barriers, tensor memory,
//! and what it refuses.

use std::fmt::Write;

use serde_json::Value;
use tilefit_tilelang::plan::{Occupant, Placed, Plan, plan};
use tilefit_tilelang::program::Launch;

use crate::answers;
use crate::answers::{Answer, Case};

#[derive(Default)]
struct Tally {
    same: usize,
    bounded: usize,
    refused: usize,
    differences: Vec<String>,
}

#[test]
fn plans_are_those_of_the_compiler() {
    let mut tally = Tally::default();
    for case in answers::cases() {
        for answer in &case.answers {
            compare(&case, answer, &mut tally);
        }
    }
    let Tally { same, bounded, refused, differences } = tally;
    println!("{same} launches are the same, {bounded} within bounds, {refused} refused");
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
    if std::env::var_os("TILELANG_RECORDED").is_none() {
        assert!(same >= 780, "only {same}");
    }
}

fn compare(case: &Case, answer: &Answer, tally: &mut Tally) {
    let launches: Vec<Launch> =
        case.launches.iter().map(|launch| Launch { options: answer.options, ..launch.clone() }).collect();
    let plans: Vec<Plan> = launches.iter().map(|launch| plan(launch, answer.target)).collect();
    let title = format!("{} on {} {:?}", case.title, answer.value["target"], answer.value["pass_configs"]);
    let is_refused = plans.iter().any(|plan| plan.findings.iter().any(|finding| finding.is_refusal()));
    let error = answer.value["error_text"].as_str().or(answer.value["error"].as_str());
    match (error, is_refused) {
        (Some(_), true) => return tally.refused += 1,
        (Some(error), false) => return tally.differences.push(format!("{title}: refused: {error}")),
        (None, true) => {
            let findings: Vec<_> = plans.iter().flat_map(|plan| &plan.findings).collect();
            return tally.differences.push(format!("{title}: not refused, but {findings:?}"));
        }
        (None, false) => {}
    }
    let kernels = answer.value["kernels"].as_array().cloned().unwrap_or_default();
    if kernels.len() != plans.len() {
        let is_nothing = kernels.is_empty() && plans.iter().all(|plan| plan.placed.is_empty());
        if !is_nothing && kernels.len() > plans.len() {
            tally.differences.push(format!("{title}: {} kernels, but {} plans", kernels.len(), plans.len()));
        }
        return;
    }
    for ((plan, launch), kernel) in plans.iter().zip(&launches).zip(&kernels) {
        let differences = match plan.reasons.is_empty() {
            true => differences(launch, plan, kernel, answer),
            false => outside(plan, kernel),
        };
        match differences {
            differences if !differences.is_empty() => tally.differences.push(format!("{title}:\n{differences}")),
            _ if plan.reasons.is_empty() => tally.same += 1,
            _ => {
                tally.bounded += 1;
                println!("{title}: {:?} for {}, as {}", plan.total, kernel["launch_dynamic"], plan.reasons[0]);
            }
        }
    }
}

/// What an exact plan has otherwise.
fn differences(launch: &Launch, plan: &Plan, kernel: &Value, answer: &Answer) -> String {
    let mut said = String::new();
    let mut check = |what: &str, mine: String, theirs: String| {
        if mine != theirs {
            let _ = writeln!(said, "  {what}: mine   {mine}\n  {what}: theirs {theirs}");
        }
    };
    let buffers = kernel["buffers"].as_array().cloned().unwrap_or_default();
    let has_alignment = buffers.iter().all(|buffer| buffer.get("alignment").is_some());
    let mut mine: Vec<String> = plan.placed.iter().map(|placed| shown(launch, placed, has_alignment)).collect();
    let mut theirs: Vec<String> = buffers.iter().map(|buffer| recorded_buffer(buffer, has_alignment)).collect();
    mine.sort();
    theirs.sort();
    check("buffers", mine.join(", "), theirs.join(", "));
    let total = kernel.get("launch_dynamic").unwrap_or(&kernel["dynamic"]);
    check("total", format!("{:?}", plan.total.exactly()), format!("{:?}", total.as_u64().or(Some(0))));
    let extent = |dim: &str| kernel["thread_extent"][format!("threadIdx.{dim}")].as_u64().unwrap_or(1);
    if kernel.get("thread_extent").is_some() {
        let threads: u64 = ["x", "y", "z"].map(extent).iter().product();
        check("threads", format!("{:?}", plan.threads), format!("{:?}", Some(threads)));
    }
    let is_specialised = answer.value["warp_specialised"].as_bool().unwrap_or(false);
    let of_only_one = answer.value["kernels"].as_array().is_some_and(|kernels| kernels.len() == 1);
    if of_only_one {
        check("warp specialised", plan.is_specialised.to_string(), is_specialised.to_string());
        let columns: Vec<u64> = plan.tensor_memory.iter().flatten().map(|arena| arena.columns).collect();
        check("tensor memory", format!("{columns:?}"), format!("{:?}", recorded_columns(&answer.value)));
    }
    let of_scope = |wanted: &str| -> u64 {
        let others = kernel["other"].as_array().into_iter().flatten();
        others.filter(|other| other["scope"] == wanted).filter_map(|other| other["bytes"].as_u64()).sum()
    };
    check("barriers", format!("{:?}", plan.barriers), format!("{:?}", Some(of_scope("shared.barrier") / 8)));
    let bytes = of_scope("shared.barrier") + of_scope("shared");
    let known = plan.static_bytes.map(|_| bytes);
    check("static bytes", format!("{:?}", plan.static_bytes), format!("{known:?}"));
    said
}

fn name(launch: &Launch, placed: &Placed) -> String {
    match placed.what {
        Occupant::Buffer(id) => launch.buffer(id).name.to_string(),
        Occupant::Workspace(_) => "workspace".to_owned(),
    }
}

fn shown(launch: &Launch, placed: &Placed, has_alignment: bool) -> String {
    let alignment = if has_alignment { placed.alignment } else { 0 };
    let (bytes, offset) = (placed.bytes.unwrap_or(0), placed.offset.map_or(-1, |offset| offset as i64));
    format!("{}: {bytes} B at {offset} by {alignment}", name(launch, placed))
}

fn recorded_buffer(buffer: &Value, has_alignment: bool) -> String {
    let alignment = if has_alignment { buffer["alignment"].as_u64().unwrap_or(0) } else { 0 };
    let name = buffer["name"].as_str().unwrap_or_default();
    format!("{name}: {} B at {} by {alignment}", buffer["bytes"], buffer["offset"])
}

/// The last argument of each call that allocates.
fn recorded_columns(answer: &Value) -> Vec<u64> {
    let calls = answer["tmem_init"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let columns = calls.filter_map(|call| call.trim_end_matches(')').rsplit(", ").next()?.parse().ok());
    columns.collect()
}

/// What lies outside the bounds of a plan that is not exact.
fn outside(plan: &Plan, kernel: &Value) -> String {
    let Some(total) = kernel.get("launch_dynamic").unwrap_or(&kernel["dynamic"]).as_u64() else {
        return String::new();
    };
    let is_within = plan.total.low <= total && plan.total.high.is_none_or(|high| total <= high);
    if is_within { String::new() } else { format!("  {total} is not within {:?}", plan.total) }
}

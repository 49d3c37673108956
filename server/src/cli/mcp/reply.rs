//! What a tool answers: some lines of text, and the same with all numbers as JSON. Both have a largest size.

use std::fmt::Write as _;

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use tilefit_analysis::ide::KernelPlan;
use tilefit_analysis::ide::plan_view::SpacePlan;
use tilefit_python::finding::Status;

use crate::cli::usage::{amount, percent, used};

/// Larger answers fill the context of the agent and are read by nobody.
const LARGEST: usize = 60_000;

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) text: String,
    /// `None` where the text is all there is.
    pub(super) structured: Option<Value>,
}

impl Reply {
    pub(super) fn into_result(self) -> CallToolResult {
        let structured = self.structured.map(|structured| (structured.to_string().len(), structured));
        let text = first_lines(&self.text);
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.structured_content = match structured {
            Some((size, _)) if size > LARGEST => {
                let about =
                    format!("the answer has {size} bytes, and the limit is {LARGEST}; name one kernel, or fewer files");
                Some(json!({ "left_out": about }))
            }
            structured => structured.map(|(_, structured)| structured),
        };
        result
    }
}

pub(super) fn error(message: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

/// The first items; how many are left out.
pub(super) fn first<T>(mut items: Vec<T>, most: usize) -> (Vec<T>, usize) {
    let left_out = items.len().saturating_sub(most);
    items.truncate(most);
    (items, left_out)
}

fn first_lines(text: &str) -> String {
    let mut shown = String::new();
    for (nth, line) in text.lines().enumerate() {
        if shown.len() + line.len() > LARGEST {
            let _ = writeln!(shown, "… and {} more lines", text.lines().count() - nth);
            break;
        }
        let _ = writeln!(shown, "{line}");
    }
    shown.trim_end().to_owned()
}

/// Whether every memory of a kernel surely has room; `None` where that is not known.
pub(super) fn fits(plan: &KernelPlan) -> Option<bool> {
    let limit = |space: &SpacePlan| space.capacity.filter(|&capacity| capacity > 0);
    let least = |space: &SpacePlan| space.used.or(space.bounds.map(|bounds| bounds.low));
    let most = |space: &SpacePlan| space.used.or(space.bounds.and_then(|bounds| bounds.high));
    let is_over = |space: &SpacePlan| limit(space).zip(least(space)).is_some_and(|(limit, least)| least > limit);
    if plan.spaces.values().any(is_over) {
        return Some(false);
    }
    let is_known = matches!(plan.status, "exact" | "predicted" | "bounded");
    let is_doubted = plan.diagnostics.iter().any(|said| ["fits-only-packed", "may-not-fit"].contains(&said.code));
    let has_room = |space: &SpacePlan| match (most(space), limit(space)) {
        (Some(0), _) => true,
        (Some(most), Some(limit)) => most <= limit,
        _ => false,
    };
    (is_known && !is_doubted && plan.spaces.values().all(has_room)).then_some(true)
}

/// After a kernel.
pub(super) fn fit_words(fits: Option<bool>) -> &'static str {
    match fits {
        Some(true) => "fits",
        Some(false) => "does not fit",
        None => "may or may not fit",
    }
}

/// `Vec 128 KiB of 184 KiB (70 %)` of each memory that is used, the fullest first.
pub(super) fn memories(plan: &KernelPlan) -> String {
    let share = |space: &SpacePlan| {
        let most = space.used.or(space.bounds.map(|bounds| bounds.high.unwrap_or(u64::MAX)))?;
        Some(percent(most, space.capacity.filter(|&capacity| capacity > 0)?))
    };
    let mut spaces: Vec<_> = plan.spaces.iter().filter(|(_, space)| space.used != Some(0)).collect();
    spaces.sort_by_key(|(_, space)| std::cmp::Reverse(share(space)));
    // What is not known adds to it.
    let least = if plan.status == Status::Partial.name() { "≥ " } else { "" };
    let words = spaces.into_iter().map(|(memory, space)| {
        let used = format!("{least}{}", used(memory, space.used, space.bounds));
        let most = space.used.or(space.bounds.and_then(|bounds| bounds.high));
        match (space.capacity.filter(|&capacity| capacity > 0), most) {
            (Some(capacity), Some(most)) => {
                format!("{memory} {used} of {} ({least}{} %)", amount(memory, capacity), percent(most, capacity))
            }
            (Some(capacity), None) => format!("{memory} {used} of {}", amount(memory, capacity)),
            (None, _) => format!("{memory} {used}"),
        }
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { "no on-chip memory".to_owned() } else { words.join(", ") }
}

use std::fmt::Write as _;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tilefit_analysis::ide::KernelPlan;

use super::reply::{self, Reply, fit_words, fits, memories};
use super::workspace::{Over, Workspace, kernels, planners, read, targets};
use crate::cli::which::{Which, no_kernels};
use crate::tree::OnDisk;

/// Of one answer, and tiles of all its kernels together.
const MOST_KERNELS: usize = 40;
const MOST_TILES: usize = 80;
const MOST_SCENARIOS: usize = 16;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A file of the workspace
    file: String,
    /// A kernel of the file, also with wildcards (default: all)
    kernel: Option<String>,
    /// Device that the kernels run on, in place of the settings
    #[schemars(extend("enum" = targets()))]
    target: Option<String>,
    /// Planner of the compiler of PyPTO, in place of the settings
    #[schemars(extend("enum" = planners()))]
    planner: Option<String>,
}

pub(super) fn run(workspace: &Workspace, arguments: Arguments) -> Result<Reply, String> {
    let place = workspace.existing(&arguments.file)?;
    let projects = Over { target: arguments.target, planner: arguments.planner }.projects(&OnDisk)?;
    let source = read(&OnDisk, &place, &projects)?;
    let name = place.name();
    let which = Which::in_file(Path::new(&name), kernels(arguments.kernel.as_ref()));
    let all = source.ask(|analysis, file| analysis.plans(file));
    let wanted = which.among(&all, |kernel| &kernel.name)?;
    let unread = source.syntax_errors(&name);
    if wanted.is_empty() {
        return Err(unread.into_iter().next().unwrap_or_else(|| no_kernels(Path::new(&name))));
    }
    let (wanted, left_out) = reply::first(wanted, MOST_KERNELS);
    let mut text = String::new();
    let mut tiles = MOST_TILES;
    let plans: Vec<Value> = wanted
        .iter()
        .map(|plan| {
            text.push_str(&summary(&name, plan));
            bounded(plan, &mut tiles)
        })
        .collect();
    if left_out > 0 {
        let _ = writeln!(text, "{left_out} more kernels; name one to see it");
    }
    let structured = json!({ "file": name, "kernels": plans, "kernels_left_out": left_out, "failures": unread });
    Ok(Reply { text, structured: Some(structured) })
}

/// A kernel, its memories, and what is wrong with it.
pub(super) fn summary(file: &str, plan: &KernelPlan) -> String {
    let KernelPlan { name, line, status, target, planner, .. } = plan;
    let fits = fit_words(fits(plan));
    let mut text = format!("{file}:{line} `{name}` ({target}, {planner}, {status}) {fits}: {}\n", memories(plan));
    for said in plan.diagnostics.iter().filter(|said| said.severity != "hint") {
        let _ = writeln!(text, "  line {}: {} [{}] {}", said.line, said.severity, said.code, said.message);
    }
    for reason in &plan.reasons {
        let _ = writeln!(text, "  not modelled: {reason}");
    }
    text
}

/// The form of `tilefit plan --format json`, with no more than the tiles that are left.
fn bounded(plan: &KernelPlan, tiles: &mut usize) -> Value {
    let mut object = serde_json::to_value(plan).unwrap_or_default();
    object["fits"] = json!(fits(plan));
    if let Some(all) = object["tiles"].as_array_mut() {
        let left_out = all.len().saturating_sub(*tiles);
        all.truncate(*tiles);
        *tiles -= all.len();
        object["tiles_left_out"] = json!(left_out);
    }
    if let Some(all) = object.get_mut("scenarios").and_then(Value::as_array_mut) {
        all.truncate(MOST_SCENARIOS);
    }
    object
}

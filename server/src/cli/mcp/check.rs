use std::fmt::Write as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tilefit_python::diagnostics::Severity;

use super::reply::Reply;
use super::workspace::{Over, Place, Workspace, kernels, name, planners, targets};
use crate::cli::check;
use crate::files;
use crate::tree::OnDisk;

/// In one answer; errors come first.
const MOST_FINDINGS: usize = 40;
const MOST_KERNELS: usize = 40;
const MOST_RELATED: usize = 6;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Files and directories of the workspace (default: all of it)
    #[serde(default)]
    paths: Vec<String>,
    /// Only kernels of this name, also with wildcards
    kernel: Option<String>,
    /// Also hints: what is not modelled, advice
    #[serde(default)]
    hints: bool,
    /// Device that the kernels run on, in place of the settings
    #[schemars(extend("enum" = targets()))]
    target: Option<String>,
    /// Planner of the compiler of PyPTO, in place of the settings
    #[schemars(extend("enum" = planners()))]
    planner: Option<String>,
}

pub(super) fn run(workspace: &Workspace, arguments: Arguments) -> Result<Reply, String> {
    let places: Result<Vec<Place>, String> = arguments.paths.iter().map(|path| workspace.existing(path)).collect();
    let places = if arguments.paths.is_empty() { workspace.roots().collect() } else { places? };
    let over = Over { target: arguments.target, planner: arguments.planner };
    let least = if arguments.hints { Severity::Hint } else { Severity::Warning };
    let mut all = json!({ "diagnostics": [], "kernels": [], "failures": [], "summary": {} });
    let mut roots: Vec<_> = places.iter().map(|place| place.root.clone()).collect();
    roots.dedup();
    for root in &roots {
        let projects = Arc::new(over.projects(&OnDisk)?);
        let here: Vec<_> = places.iter().filter(|place| place.root == *root).map(|place| place.path.clone()).collect();
        let (files, failures) = files::find(&here, &projects);
        let kernels = kernels(arguments.kernel.as_ref());
        let report = check::of_workspace(root, (&files, failures), &projects, kernels, least, |path| name(root, path));
        add(&mut all, report);
    }
    if all["kernels"].as_array().is_some_and(Vec::is_empty) && all["diagnostics"].as_array().is_some_and(Vec::is_empty)
    {
        let failures: Vec<&str> = all["failures"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        return Err(if failures.is_empty() {
            "no Python files with kernels found".to_owned()
        } else {
            failures.join("; ")
        });
    }
    let text = bounded(&mut all);
    Ok(Reply { text, structured: Some(all) })
}

/// The reports of several roots are one.
fn add(all: &mut Value, report: Value) {
    for key in ["diagnostics", "kernels", "failures"] {
        if let (Some(all), Some(more)) = (all[key].as_array_mut(), report[key].as_array()) {
            all.extend(more.iter().cloned());
        }
    }
    for (key, count) in report["summary"].as_object().into_iter().flatten() {
        let before = all["summary"][key].as_u64().unwrap_or_default();
        all["summary"][key] = json!(before + count.as_u64().unwrap_or_default());
    }
}

/// Cuts what is too long, and says it in lines.
fn bounded(all: &mut Value) -> String {
    let summary = &all["summary"];
    let kernels = all["kernels"].as_array().map_or(0, Vec::len);
    let count = |count: &Value, what: &str| format!("{count} {what}{}", if *count == 1 { "" } else { "s" });
    let [errors, warnings, files] =
        [("errors", "error"), ("warnings", "warning"), ("files", "file")].map(|(key, what)| count(&summary[key], what));
    let mut text = format!("{errors} and {warnings} in {} of {files}\n", count(&json!(kernels), "kernel"));
    for failure in all["failures"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let _ = writeln!(text, "{failure}");
    }
    if let Some(found) = all["diagnostics"].as_array_mut() {
        let order = ["error", "warning", "info", "hint"];
        found.sort_by_key(|it| order.iter().position(|severity| it["severity"] == *severity));
        let left_out = found.len().saturating_sub(MOST_FINDINGS);
        found.truncate(MOST_FINDINGS);
        for it in found.iter_mut() {
            let place = &it["place"];
            let (file, line) = (place["file"].as_str().unwrap_or_default(), &place["line"]);
            let [severity, code, message] =
                ["severity", "code", "message"].map(|key| it[key].as_str().unwrap_or_default());
            let _ = writeln!(text, "{file}:{line}: {severity} [{code}] {message}");
            if let Some(related) = it["related"].as_array_mut() {
                related.truncate(MOST_RELATED);
            }
        }
        if left_out > 0 {
            let _ = writeln!(text, "{left_out} more findings; name fewer files, or one kernel");
        }
        all["diagnostics_left_out"] = json!(left_out);
    }
    if let Some(kernels) = all["kernels"].as_array_mut() {
        // What is wrong with them is told above; how full they are, for a few.
        let left_out = if kernels.len() > MOST_KERNELS { std::mem::take(kernels).len() } else { 0 };
        all["kernels_left_out"] = json!(left_out);
    }
    text
}

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tilefit_analysis::ide::LargestFit;
use tilefit_analysis::ide::largest_fit::{Constant, MemoryUse, Verdict};
use tilefit_pypto::memory::Patience;
use tilefit_python::spelling::did_you_mean;

use super::reply::Reply;
use super::workspace::{Over, Workspace, planners, read, targets};
use crate::cli::usage::amount;
use crate::tree::OnDisk;

/// Names that are listed where one is not found.
const MOST_NAMES: usize = 12;

/// Memories of the kernels that change, with the present value and the best one.
const MOST_MEMORIES: usize = 24;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The file of the workspace in which the constant is written
    file: String,
    /// Name of the constant: of a variable, a keyword argument, a key of a configuration or a parameter with a default
    name: String,
    /// Line of the number, from 1, where several have this name
    line: Option<usize>,
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
    let constants = source.ask(|analysis, file| analysis.constants(file));
    let constant = the_one(&constants, &arguments.name, arguments.line, &place.name())?;
    let at = constant.range.start;
    let found = source.ask(|analysis, file| analysis.largest_fit(file, at, Patience::CommandLine).map(Some));
    let found = found.ok_or("the search was interrupted")?.map_err(|why| format!("`{}`: {why}", arguments.name))?;
    Ok(Reply { text: said(&found, &arguments.name), structured: Some(structured(&found, &arguments.name)) })
}

fn the_one<'c>(all: &'c [Constant], name: &str, line: Option<usize>, file: &str) -> Result<&'c Constant, String> {
    let named: Vec<&Constant> = all.iter().filter(|it| it.name.as_deref() == Some(name)).collect();
    let of_line: Vec<&Constant> = named.iter().copied().filter(|it| line.is_none_or(|line| it.line == line)).collect();
    match (of_line.as_slice(), named.is_empty()) {
        ([only], _) => Ok(only),
        (_, true) => {
            let mut names: Vec<&str> = all.iter().filter_map(|it| it.name.as_deref()).collect();
            names.sort_unstable();
            names.dedup();
            let meant = did_you_mean(name, names.iter().copied());
            let listed: Vec<_> = names.into_iter().take(MOST_NAMES).collect();
            let listed = if meant.is_empty() && !listed.is_empty() {
                format!("; there are {}", listed.join(", "))
            } else {
                meant
            };
            Err(format!("{file}: no integer constant `{name}`{listed}"))
        }
        _ => {
            let lines: Vec<String> = named.iter().map(|it| format!("{} (= {})", it.line, it.value)).collect();
            Err(format!(
                "{file}: `{name}` has a value in {} places; set `line` to one of them: {}",
                named.len(),
                lines.join(", ")
            ))
        }
    }
}

fn said(found: &LargestFit, name: &str) -> String {
    let LargestFit { constant, present, best, next, values, tried, kernels, memories, .. } = found;
    let now = format!("now {}, which {}", constant.value, words(present));
    let known = if found.is_largest() { "that fits" } else { "known to fit" };
    let mut text = match (best, next) {
        (None, _) => format!("found no value of `{name}` that fits ({now})\n"),
        (Some(best), None) => format!("`{name}` = {best} fits, and there is no greater value to try ({now})\n"),
        (Some(best), Some((_, None))) => format!("`{name}` = {best} fits, and a greater value may fit too ({now})\n"),
        (Some(best), _) if *best == constant.value => {
            format!("`{name}` = {best} is already the largest value {known}\n")
        }
        (Some(best), _) => format!("the largest value of `{name}` {known} is {best} ({now})\n"),
    };
    let _ = match next {
        Some((value, Some(verdict))) => writeln!(text, "the next value, {value}, {}", words(verdict)),
        Some((value, None)) => writeln!(text, "the next value, {value}, was not tried: the search reached its limit"),
        None => Ok(()),
    };
    for MemoryUse { kernel, memory, used, capacity, .. } in memories[1].iter().take(MOST_MEMORIES) {
        let [used, capacity] = [used, capacity].map(|bytes| amount(memory, *bytes));
        let _ =
            writeln!(text, "with {}, `{kernel}` uses at most {used} of {capacity} {memory}", best.unwrap_or_default());
    }
    if found.changes_parameters {
        let _ = writeln!(text, "note: this changes the shapes of kernel parameters, so callers must change too");
    }
    let kernels: Vec<_> = kernels.iter().map(|(kernel, target)| format!("{kernel} ({target})")).collect();
    let _ = writeln!(text, "tried {} values ({values}); kernels that change: {}", tried.len(), kernels.join(", "));
    text
}

/// After a value.
fn words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Fits => "fits".to_owned(),
        Verdict::Exceeds(MemoryUse { kernel, memory, used, capacity, .. }) => {
            let [used, capacity] = [used, capacity].map(|bytes| amount(memory, *bytes));
            format!("does not fit: `{kernel}` needs {used} of {memory}, {capacity} available")
        }
        Verdict::Refused(why) => format!("is refused: {why}"),
        Verdict::Warned(why) => format!("has a new warning: {why}"),
        Verdict::Unknown(why) => format!("may or may not fit: {why}"),
    }
}

fn structured(found: &LargestFit, name: &str) -> Value {
    let memories = |of: &[MemoryUse]| of.iter().take(MOST_MEMORIES).map(memory).collect::<Vec<_>>();
    json!({
        "name": name,
        "line": found.constant.line,
        "present": { "value": found.constant.value, "verdict": verdict(&found.present), "memories": memories(&found.memories[0]) },
        "best": found.best.map(|best| json!({ "value": best, "is_largest": found.is_largest(), "memories": memories(&found.memories[1]) })),
        "next": found.next.as_ref().map(|(value, of)| json!({ "value": value, "verdict": of.as_ref().map(verdict) })),
        "changes_parameters": found.changes_parameters,
        "values": found.values,
        "tried": found.tried.iter().map(|(value, of)| json!([value, kind(of)])).collect::<Vec<_>>(),
        "kernels": found.kernels.iter().map(|(name, target)| json!({ "name": name, "target": target })).collect::<Vec<_>>(),
    })
}

fn memory(of: &MemoryUse) -> Value {
    json!({ "kernel": of.kernel, "memory": of.memory, "used": of.used, "capacity": of.capacity })
}

fn kind(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Fits => "fits",
        Verdict::Exceeds(_) => "exceeds",
        Verdict::Refused(_) => "refused",
        Verdict::Warned(_) => "warned",
        Verdict::Unknown(_) => "unknown",
    }
}

fn verdict(of: &Verdict) -> Value {
    match of {
        Verdict::Fits => json!({ "kind": kind(of) }),
        Verdict::Exceeds(used) => json!({ "kind": kind(of), "memory": memory(used) }),
        Verdict::Refused(why) | Verdict::Warned(why) | Verdict::Unknown(why) => json!({ "kind": kind(of), "why": why }),
    }
}

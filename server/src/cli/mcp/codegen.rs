use std::fmt::Write as _;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::reply::{self, Reply};
use super::workspace::{Over, Workspace, kernels, planners, read, targets};
use crate::cli::codegen::with_source_lines;
use crate::cli::which::{Which, no_kernels};
use crate::tree::OnDisk;

/// Of one answer.
const MOST_KERNELS: usize = 8;

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
    let all = source.ask(|analysis, file| analysis.generated_codes(file));
    let wanted = which.among(&all, |code| &code.kernel)?;
    if wanted.is_empty() {
        return Err(no_kernels(Path::new(&name)));
    }
    let (wanted, left_out) = reply::first(wanted, MOST_KERNELS);
    let mut text = String::new();
    let mut kernels = Vec::new();
    for code in wanted {
        let gaps: Vec<String> = code.gaps.iter().map(|gap| gap.message.clone()).collect();
        let _ = writeln!(text, "// {name}: {}", code.kernel);
        for gap in &gaps {
            let _ = writeln!(text, "// missing: {gap}");
        }
        let _ = writeln!(text, "{}", with_source_lines(code, &source.document));
        kernels.push(json!({ "name": code.kernel, "lines": code.text.lines().count(), "missing": gaps }));
    }
    if left_out > 0 {
        let _ = writeln!(text, "// {left_out} more kernels; name one to see it");
    }
    Ok(Reply { text, structured: Some(json!({ "kernels": kernels, "left_out": left_out })) })
}

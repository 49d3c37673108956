//! All of a run as one JSON object.

use serde_json::{Value, json};
use tilefit_python::diagnostics::Severity;

use super::finding::{FileRange, Finding, portable};
use super::{Checked, Run};

/// A change that breaks readers raises `schema`.
pub(super) fn report(run: &Run) -> String {
    format!("{:#}\n", object(run))
}

pub(super) fn object(run: &Run) -> Value {
    json!({
        "schema": 1,
        "diagnostics": run.findings().map(finding).collect::<Vec<_>>(),
        "kernels": run.files.iter().flat_map(kernels).collect::<Vec<_>>(),
        "failures": run.failures,
        "summary": {
            "files": run.found,
            "errors": run.count(Severity::Error),
            "warnings": run.count(Severity::Warning),
            "hints": run.count(Severity::Hint),
            "in_baseline": run.known,
        },
    })
}

fn finding(finding: &Finding) -> Value {
    let related =
        finding.related.iter().map(|(place, message)| json!({ "message": message, "place": json_place(place) }));
    json!({
        "code": finding.code.name(),
        "severity": finding.severity.name(),
        "message": finding.message,
        "place": json_place(&finding.place),
        "related": related.collect::<Vec<_>>(),
    })
}

fn json_place(place: &FileRange) -> Value {
    let mut json = json!({
        "file": place.path,
        "line": place.start.line,
        "column": place.start.col,
        "end_line": place.end.line,
        "end_column": place.end.col,
    });
    if let Some(cell) = place.cell {
        json["cell"] = json!(cell);
    }
    json
}

fn kernels(file: &Checked) -> impl Iterator<Item = Value> {
    file.kernels.iter().map(|kernel| {
        let mut json = json!({
            "file": portable(&file.path),
            "line": kernel.line,
            "name": kernel.name,
            "target": kernel.target,
            "planner": kernel.planner,
            "status": kernel.status,
            "spaces": kernel.spaces,
        });
        if let Some(cell) = kernel.cell {
            json["cell"] = json!(cell);
        }
        json
    })
}

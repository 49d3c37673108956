//! SARIF 2.1.0, the format that code scanning services take.
//!
//! By hand: `serde-sarif` makes its types of the whole schema in a build script, with a parser and a printer of Rust among what it needs.
//! That is a longer build than these five objects are worth.

use std::collections::BTreeSet;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};
use tilefit_python::diagnostics::{Code, Severity};

use super::Run;
use super::finding::{FileRange, Finding};

pub(super) fn report(run: &Run) -> String {
    let codes: BTreeSet<Code> = run.findings().map(|finding| finding.code).collect();
    let notifications = run.failures.iter().map(|failure| json!({ "level": "error", "message": { "text": failure } }));
    let report = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tilefit",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": codes.into_iter().map(rule).collect::<Vec<_>>(),
            } },
            "columnKind": "utf16CodeUnits",
            "invocations": [{
                "executionSuccessful": run.failures.is_empty(),
                "toolExecutionNotifications": notifications.collect::<Vec<_>>(),
            }],
            "results": run.findings().map(result).collect::<Vec<_>>(),
        }],
    });
    format!("{report:#}\n")
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.name(),
        "shortDescription": { "text": code.title() },
        "help": { "text": code.page(), "markdown": code.page() },
        "defaultConfiguration": { "level": level(code.severity()) },
    })
}

fn result(finding: &Finding) -> Value {
    let related = finding.related.iter().map(|(place, message)| {
        let mut location = location(place);
        location["message"] = json!({ "text": message });
        location
    });
    json!({
        "ruleId": finding.code.name(),
        "level": level(finding.severity),
        "message": { "text": finding.named_message() },
        "locations": [location(&finding.place)],
        "relatedLocations": related.collect::<Vec<_>>(),
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

fn location(place: &FileRange) -> Value {
    let region = json!({
        "startLine": place.start.line,
        "startColumn": place.start.col,
        "endLine": place.end.line,
        "endColumn": place.end.col,
    });
    let mut physical = json!({ "artifactLocation": { "uri": uri(&place.path) } });
    let Some(cell) = place.cell else {
        physical["region"] = region;
        return json!({ "physicalLocation": physical });
    };
    // A region counts in the JSON that the file is, not in the cell. What its columns are, nobody sees.
    if let Some([start, end]) = place.lines {
        physical["region"] = json!({ "startLine": start, "endLine": end });
    }
    json!({
        "physicalLocation": physical,
        "logicalLocations": [{ "name": format!("cell {cell}") }],
        "properties": { "cell": cell, "region": region },
    })
}

/// What may not stand in the path of a URI reference.
const ESCAPED: AsciiSet = CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b':');

fn uri(path: &str) -> String {
    let encoded = utf8_percent_encode(path, &ESCAPED);
    if path.starts_with('/') { format!("file://{encoded}") } else { encoded.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uri_references() {
        assert_eq!(uri("a b/c#.py"), "a%20b/c%23.py");
        assert_eq!(uri("/work/ä.py"), "file:///work/%C3%A4.py");
    }
}

//! The TLX cases with recorded answers (`tests/conformance/tlx/cases.json`).

mod from_source;
mod one_by_one;

use serde_json::Value;

fn cases() -> Vec<Value> {
    let text = include_str!("../../conformance/tlx/cases.json");
    let cases: Value = serde_json::from_str(text).expect("the cases are JSON");
    cases["cases"].as_array().expect("a list of cases").clone()
}

//! Element types of results where a number takes part that has a name, beside the compiler's (`tests/conformance/triton/element_types.json`).

use std::path::Path;

use serde_json::Value;
use tilefit_analysis::Fixture;
use tilefit_python::diagnostics::Code;

/// Which assertions fail, each in a kernel of its own with such an `x`.
fn failing(helpers: &str, body: &str, asserted: &[(&str, String)]) -> Vec<bool> {
    let mut text = format!("import triton\nimport triton.language as tl\n{helpers}");
    let mut ends = Vec::new();
    for (nth, (of, assertion)) in asserted.iter().enumerate() {
        text += &format!(
            "\n# tilefit: p={of} B=64 arch=sm_90\n@triton.jit\ndef kernel_{nth}(p, B: tl.constexpr):\n    \
             x = tl.load(p + tl.arange(0, B))\n{body}    tl.static_assert({assertion})\n"
        );
        ends.push(text.len());
    }
    let mut failing = vec![false; asserted.len()];
    for diagnostic in Fixture::new(&text).diagnostics() {
        if diagnostic.code == Code::StaticAssert {
            failing[ends.partition_point(|end| *end <= diagnostic.range.start)] = true;
        }
    }
    failing
}

/// Those that are wrong have the other sign in as many bits, or start from a number that only 64 bits hold and grow it.
#[test]
fn a_number_with_a_name_is_a_tensor() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/triton/element_types.json");
    let answers: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("the answers")).expect("JSON");
    let helpers = answers["helpers"].as_str().expect("helpers");
    let (mut right, mut open, mut wrong) = (0, 0, 0);
    for row in answers["rows"].as_array().expect("rows") {
        let helpers = helpers.replace("{}", row["given"].as_str().expect("a number"));
        let lines = row["body"].as_array().expect("lines").iter().filter_map(Value::as_str);
        let body: String = lines.map(|line| format!("    {line}\n")).collect();
        let mut asserted = Vec::new();
        for (of, said) in row["types"].as_object().expect("types") {
            let name = match said.as_str().expect("a type") {
                "fp16" => "float16",
                "bf16" => "bfloat16",
                "fp32" => "float32",
                "fp64" => "float64",
                "fp8e5" => "float8e5",
                other => other,
            };
            asserted.push((of.as_str(), format!("y.dtype != tl.{name}")));
        }
        let is_right = failing(&helpers, &body, &asserted);
        right += is_right.iter().filter(|is_right| **is_right).count();
        let others = asserted.into_iter().zip(is_right).filter(|(_, is_right)| !is_right);
        let others: Vec<_> = others.map(|((of, it), _)| (of, it.replace("!=", "=="))).collect();
        let is_wrong = failing(&helpers, &body, &others);
        wrong += is_wrong.iter().filter(|is_wrong| **is_wrong).count();
        open += is_wrong.iter().filter(|is_wrong| !**is_wrong).count();
    }
    assert_eq!((right, open, wrong), (5414, 0, 185));
}

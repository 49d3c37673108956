//! What is said to be refused of plain Triton, beside what the compiler refuses (`tests/conformance/triton/refused.json`).

use std::path::Path;

use serde_json::Value;
use tilefit_analysis::AnalysisHost;
use tilefit_analysis::diagnostics::Severity;
use tilefit_syntax::Document;

/// The errors of a kernel with such a body.
fn errors(body: &[Value]) -> Vec<String> {
    let body: String = body.iter().map(|line| format!("    {}\n", line.as_str().expect("a line"))).collect();
    let text = format!(
        "import triton\nimport triton.language as tl\n\n# tilefit: x_ptr=fp32 arch=sm_90\n@triton.jit\ndef kernel(x_ptr):\n{body}    tl.store(x_ptr, tl.sum(tl.ravel((c + 0).to(tl.float32))))\n"
    );
    let mut host = AnalysisHost::new();
    let file = host.file_id("kernels.py");
    host.set_document(file, Document::new(&text));
    let diagnostics = host.snapshot().diagnostics(file).expect("no edit");
    diagnostics.into_iter().filter(|it| it.severity == Severity::Error).map(|it| it.message).collect()
}

#[test]
fn nothing_that_the_compiler_takes_is_refused() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/triton/refused.json");
    let answers: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("the answers")).expect("JSON");
    let (mut found, mut missed) = (0, 0);
    for row in answers["rows"].as_array().expect("rows") {
        let body = row["body"].as_array().expect("lines");
        let errors = errors(body);
        match row["error"].as_str() {
            None => assert_eq!(errors, Vec::<String>::new(), "{body:?} is taken"),
            Some(_) if errors.is_empty() => missed += 1,
            Some(_) => found += 1,
        }
    }
    assert_eq!((found, missed), (305, 3));
}

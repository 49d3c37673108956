//! Every kernel of `docs/examples` and of `conformance/pypto` that has a plan: compiled, and run without a wrong access.

use std::collections::BTreeMap;

use expect_test::expect;
use serde_json::json;
use tilelens_analysis::codegen;
use tilelens_analysis::diagnostics::Severity;
use tilelens_analysis::ir::{Kernel, Type};
use tilelens_analysis::memory::Plan;

use crate::host::{Batch, Run, files, planned};

#[test]
fn kernels_of_the_collections_run() {
    let mut batch = Batch::default();
    let mut without: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in ["../docs/examples", "conformance/pypto"] {
        for file in files(folder) {
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            for (index, (kernel, plan)) in planned(&std::fs::read_to_string(&file).unwrap()).iter().enumerate() {
                let name = format!("{stem}_{index}");
                match why_not(kernel, plan) {
                    Some(reason) => without.entry(reason).or_default().push(name),
                    None => batch.add_unchecked(given(Run::new(&name, kernel, plan), kernel)),
                }
            }
        }
    }
    let report: Vec<String> = without.iter().map(|(reason, names)| format!("{} {reason}\n", names.len())).collect();
    let report = format!("{} run\n{}", batch.cases, report.concat());
    batch.check("collections");
    expect![[r#"
        233 run
        1 `t15` has rows of 256 elements and the result rows of 128, which the instruction does not take; no room for 32768 bytes of scratch behind the planned tiles
        1 `x`: rows of 48 bytes (24 FP16); the instruction library takes multiples of 32 bytes
        22 does not fit
        1 rejected: no native cast path from INT8 to FP32 for arch a2a3; pto.tcvt does not support this conversion. Cast to FP16 first, then to FP32, if FP16 holds all values
        1 rejected: tile.matmul left operand 'l20' is already resident in Left (L0A) with physical shape [128, 256] and dtype FP32, requiring 131072 bytes, but ascend910b provides 65536 bytes; keep the operand in Mat and pass it directly to tile.matmul, so that the compiler chooses tiles that fit, or extract a smaller Left tile
        11 runs beside the kernel of the other core
    "#]].assert_eq(&report);
}

/// Scalars that stay within the tensors.
fn given<'a>(mut run: Run<'a>, kernel: &Kernel) -> Run<'a> {
    for param in &kernel.params {
        let var = kernel.var(*param);
        if let Type::Scalar(dtype) = &var.ty {
            run = run.given(&var.name, json!({ "value": if dtype.is_float() { 0.5 } else { 16.0 } }));
        }
    }
    run
}

/// Why there is no complete C++ of a kernel.
fn why_not(kernel: &Kernel, plan: &Plan) -> Option<String> {
    if let Some(rejection) = kernel.rejections.first() {
        return Some(format!("rejected: {}", rejection.message));
    }
    if let Some(note) = kernel.notes.first() {
        return Some(format!("not modelled: {}", note.reason.0));
    }
    if plan.findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Some("does not fit".to_string());
    }
    let (program, findings) = codegen::program(kernel, plan);
    if !program.queues.is_empty() {
        return Some("runs beside the kernel of the other core".to_string());
    }
    findings.first().map(|finding| finding.message.clone())
}

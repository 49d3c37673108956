//! What changed, as one object. A change that breaks its readers raises `schema`.

use serde_json::{Value, json};

use super::Base;
use super::compared::{Compared, Difference};
use super::side::Kernel;

pub(super) fn report(compared: &Compared, base: &Base, failures: &[String]) -> String {
    let report = json!({
        "schema": 1,
        "base": { "name": base.name, "commit": base.commit },
        "kernels": compared.differences.iter().map(difference).collect::<Vec<_>>(),
        "failures": failures,
        "summary": {
            "changed": compared.differences.iter().filter(|it| it.before.is_some() && it.after.is_some()).count(),
            "new": compared.differences.iter().filter(|it| it.before.is_none()).count(),
            "gone": compared.differences.iter().filter(|it| it.after.is_none()).count(),
            "unchanged": compared.unchanged,
            "no_longer_fit": compared.no_longer_fits(),
        },
    });
    format!("{report:#}\n")
}

pub(in crate::cli) fn difference(difference: &Difference) -> Value {
    let memories = difference.memories().into_iter().map(|change| {
        let used = |space: Option<super::side::Space>| space.map_or(Some(0), |space| space.used).map(i128::from);
        let delta = used(change.before).zip(used(change.after)).map(|(before, after)| (after - before) as i64);
        let value = json!({
            "before": change.before,
            "after": change.after,
            "delta": delta,
            "no_longer_fits": change.no_longer_fits(),
        });
        (change.memory.to_owned(), value)
    });
    json!({
        "name": difference.kernel().name,
        "before": difference.before.as_ref().map(side),
        "after": difference.after.as_ref().map(side),
        "spaces": memories.collect::<serde_json::Map<_, _>>(),
        "new_findings": difference.new_findings(),
        "gone_findings": difference.gone_findings(),
    })
}

fn side(kernel: &Kernel) -> Value {
    let Kernel { file, cell, line, status, target, planner, .. } = kernel;
    let mut side = json!({ "file": file, "line": line, "status": status, "target": target, "planner": planner });
    if let Some(cell) = cell {
        side["cell"] = json!(cell);
    }
    side
}

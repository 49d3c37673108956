//! Files that were not written for a comparison: each kernel of them is judged by itself.
//!
//! An answer may say of single functions that they are `refused`, where the others are planned. Names are not compared: which of them
//! the author wrote, a recorded answer knows only for names of the file itself, and production kernels inline functions of others.

use serde_json::Value as Json;
use tilefit_analysis::ide::KernelPlan;
use tilefit_syntax::ast::last_name;

use super::judge::{self, Configuration, Kind, Ours, Verdict, rows, verdict};

/// The verdicts about the kernels of a file.
pub fn verdicts(path: &str, text: &str, answer: &Json) -> Vec<(Configuration, Verdict)> {
    let mut ours = Ours::of(path, text);
    let mut verdicts = Vec::new();
    for result in answer["results"].as_array().into_iter().flatten() {
        let Some(configuration) = Configuration::of(result) else { continue };
        let asked = std::panic::AssertUnwindSafe(|| ours.plans(configuration));
        let judged = match std::panic::catch_unwind(asked) {
            Ok((kernels, errors)) if result["ok"] == false => vec![judge::judge(result, &kernels, &errors)],
            Ok((kernels, _)) => of_functions(result, &kernels),
            Err(_) => vec![verdict(Kind::Panic, "a query panics")],
        };
        verdicts.extend(judged.into_iter().map(|verdict| (configuration, verdict)));
    }
    verdicts
}

fn of_functions(result: &Json, kernels: &[KernelPlan]) -> Vec<Verdict> {
    let functions = |key: &str| result[key].as_object().into_iter().flatten();
    let planned = functions("functions").filter(|(_, want)| rows(want, "tiles").next().is_some());
    let planned = planned.map(|(name, want)| {
        let verdicts: Vec<Verdict> = called(kernels, name).map(|have| of_plan(name, want, have)).collect();
        // Several entries of a file may compile the same function for other shapes; the answer keeps one.
        let best = verdicts.into_iter().min_by_key(|verdict| verdict.kind.is_difference());
        best.unwrap_or_else(|| verdict(Kind::NotFound, name))
    });
    let refused = functions("refused").map(|(name, said)| {
        let said = said["error"].as_str().unwrap_or_default();
        let judged = match called(kernels, name).next() {
            None => verdict(Kind::NotFound, name),
            Some(have) if has_error(have) => verdict(Kind::Right, ""),
            Some(have) if !judge::is_whole(have) => verdict(Kind::NotExact, have.reasons.join("; ")),
            Some(_) => verdict(Kind::Missed, format!("{name}: {}", judge::one_line(said))),
        };
        Verdict { refused: true, ..judged }
    });
    planned.chain(refused).collect()
}

fn called<'k>(kernels: &'k [KernelPlan], name: &str) -> impl Iterator<Item = &'k KernelPlan> {
    kernels.iter().filter(move |kernel| last_name(&kernel.name) == name)
}

fn has_error(kernel: &KernelPlan) -> bool {
    kernel.diagnostics.iter().any(|one| one.severity == "error")
}

fn of_plan(name: &str, want: &Json, have: &KernelPlan) -> Verdict {
    if let Some(error) = have.diagnostics.iter().find(|one| one.severity == "error") {
        return verdict(Kind::FalseError, format!("{name}: {}", judge::one_line(&error.message)));
    }
    if !judge::is_whole(have) {
        return verdict(Kind::NotExact, format!("{name}: {}", have.reasons.join("; ")));
    }
    match judge::places(want, have).or_else(|| judge::resources(want, have)) {
        None => judge::equal(std::slice::from_ref(have)),
        Some(difference) => {
            let kind = if have.status == "exact" { Kind::Wrong } else { Kind::Differs };
            Verdict { marks: have.marks.clone(), ..verdict(kind, format!("{name}: {difference}")) }
        }
    }
}

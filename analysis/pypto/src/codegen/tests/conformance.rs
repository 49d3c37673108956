//! `tests/conformance/codegen`: what the last compiler that generated C++ made of 88 kernels.
//!
//! The recorded sequences are turned back into IR, with the recorded addresses, so that selection and synchronisation are
//! compared by themselves; kernels from source are compared in the crate `tilefit-tests`.

mod lines;
mod pairs;
mod recorded;

use std::fmt::Write;
use std::path::PathBuf;

use expect_test::expect;
use serde_json::Value as Json;

use crate::codegen::model;
use crate::codegen::sequence::Program;
use crate::codegen::{program, types};
use pairs::{recorded_sync_points, sync_points};
use recorded::{Builder, text};

pub(super) use lines::{Renaming, generated, recorded};
pub(super) use pairs::without;

/// One function of a case.
pub(super) struct Case {
    pub name: String,
    function: Json,
}

pub(super) fn cases() -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/codegen");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let json: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for function in json["functions"].as_object().into_iter().flat_map(|functions| functions.values()) {
            cases.push(Case { name: name.clone(), function: function.clone() });
        }
    }
    cases
}

#[test]
fn instructions_and_structure_are_those_recorded() {
    let mut report = String::new();
    let (mut equal, mut total) = (0, 0);
    for case in cases() {
        let fixture = Builder::build(&case);
        let (program, findings) = program(&fixture.kernel, &fixture.plan);
        let (want, got) =
            (recorded(&case), generated(&program).into_iter().map(with_pipe_of_march).collect::<Vec<_>>());
        let mut renaming = Renaming::default();
        let mut differences = String::new();
        for (want, got) in want.iter().zip(&got) {
            if !renaming.equal(want, got) {
                let _ = writeln!(differences, "  want {}\n  got  {}", want.trim(), got.trim());
            }
        }
        if want.len() != got.len() {
            let _ = writeln!(differences, "  {} lines, want {}", got.len(), want.len());
        }
        for finding in findings {
            let _ = writeln!(differences, "  {}: {}", finding.code, finding.message);
        }
        tiles(&case, &program, &renaming, &mut differences);
        total += 1;
        if differences.is_empty() {
            equal += 1;
        } else {
            let _ = write!(report, "{}\n{differences}", case.name);
        }
    }
    let _ = writeln!(report, "{equal} of {total} equal");
    expect![[r#"
        85 of 85 equal
    "#]]
    .assert_eq(&report);
}

/// The recorded compiler counts a reshape, which is no instruction, to the vector unit.
pub(super) fn with_pipe_of_march(line: String) -> String {
    if line.trim_start().starts_with("TRESHAPE ") { line.replace("PIPE_S", "PIPE_V") } else { line }
}

fn tiles(case: &Case, program: &Program, renaming: &Renaming, differences: &mut String) {
    for (name, want) in case.function["tiles"].as_object().unwrap() {
        let Some(name) = renaming.to.get(name) else { continue };
        let Some(tile) = program.tiles.iter().find(|tile| tile.name == *name) else {
            let _ = writeln!(differences, "  no tile {name}");
            continue;
        };
        let form = tile.form;
        let got = [
            form.space.name().to_string(),
            types::dtype(form.dtype).unwrap_or_default().replace("bfloat16", "bfloat16_t"),
            form.rows.to_string(),
            form.cols.to_string(),
            types::blayout(form.blayout).to_string(),
            types::slayout(form.slayout).to_string(),
            form.fractal.to_string(),
            tile.address.unwrap_or_default().to_string(),
        ];
        let keys = ["space", "dtype", "rows", "cols", "blayout", "slayout", "fractal", "address"];
        let is_mask = want["op"].as_str().is_some_and(|op| op.starts_with("tile.cmp"));
        for (key, got) in keys.iter().zip(got) {
            if text(&want[key]) != got && !(is_mask && matches!(*key, "dtype" | "cols")) {
                let _ = writeln!(differences, "  {name}: {key} {got}, want {}", text(&want[key]));
            }
        }
    }
}

#[test]
fn synchronisation_is_sound_and_no_more_than_needed() {
    let mut report = String::new();
    let (mut sound, mut same, mut comparable, mut total) = (0, 0, 0, 0);
    let (mut ours, mut theirs) = (0, 0);
    let (mut removed, mut detected) = (0, 0);
    for case in cases() {
        let fixture = Builder::build(&case);
        let (program, _) = program(&fixture.kernel, &fixture.plan);
        total += 1;
        let problems = model::problems(&program);
        if problems.is_empty() {
            sound += 1;
        } else {
            let _ = writeln!(report, "{}: {problems:?}", case.name);
        }
        let mut got = Vec::new();
        sync_points(&program.body, &mut got);
        for n in 0..got.len() {
            let mut less = program.clone();
            if without(&mut less.body, &mut { n }).is_some() {
                removed += 1;
                if model::is_sound(&less) {
                    let _ = writeln!(report, "{}: number {n} of {got:?} is superfluous", case.name);
                } else {
                    detected += 1;
                }
            }
        }
        if case.function["sync"]["sound"] != true {
            continue;
        }
        comparable += 1;
        let mut want = recorded_sync_points(&case.function);
        ours += got.len();
        theirs += want.len();
        got.sort();
        want.sort();
        if got == want {
            same += 1;
        } else {
            let more: Vec<&String> = got.iter().filter(|point| !want.contains(point)).collect();
            let fewer: Vec<&String> = want.iter().filter(|point| !got.contains(point)).collect();
            let _ = writeln!(report, "{}: ours {more:?}, theirs {fewer:?}", case.name);
        }
    }
    let _ = writeln!(report, "{sound} of {total} sound");
    let _ = writeln!(report, "{same} of {comparable} with the same pairs and barriers; {ours} in all, theirs {theirs}");
    let _ = writeln!(report, "{detected} of {removed} single removals detected");
    expect![[r#"
        004_unary_more: ours [], theirs ["bar PIPE_V 5"]
        008_independent_chains: ours [], theirs ["bar PIPE_V 5"]
        019_row_reductions_shared_tmp: ours ["bar PIPE_V 2", "bar PIPE_V 3"], theirs []
        032_reshape_tile: ours [], theirs ["bar PIPE_V 2"]
        057_if_else_result: ours ["PIPE_V->PIPE_MTE3 - 4", "bar PIPE_V 3"], theirs ["PIPE_V->PIPE_MTE3 - 3"]
        058_if_without_else: ours ["PIPE_V->PIPE_MTE3 4 5", "bar PIPE_V 4", "bar PIPE_V 4"], theirs ["PIPE_V->PIPE_MTE3 3 4", "bar PIPE_V 2", "bar PIPE_V 3"]
        061_if_in_loop: ours ["PIPE_MTE2->PIPE_V 1 5", "PIPE_V->PIPE_MTE2 - -", "PIPE_V->PIPE_MTE3 0 6", "bar PIPE_V -", "bar PIPE_V -", "bar PIPE_V 5"], theirs ["PIPE_MTE2->PIPE_V 1 4", "PIPE_V->PIPE_MTE2 - 1", "PIPE_V->PIPE_MTE3 0 5", "bar PIPE_V 2", "bar PIPE_V 3"]
        063_if_nested: ours ["PIPE_V->PIPE_MTE3 - 5", "bar PIPE_V 4"], theirs ["PIPE_V->PIPE_MTE3 - 4"]
        082_written_sync: ours [], theirs ["bar all"]
        85 of 85 sound
        65 of 74 with the same pairs and barriers; 361 in all, theirs 361
        440 of 440 single removals detected
    "#]].assert_eq(&report);
}

//! Kernels from source, through every stage.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use expect_test::expect;
use tilefit_python::diagnostics::Code;

use super::conformance::{Renaming, cases, generated, recorded, with_pipe_of_march, without};
use crate::codegen::sequence::{Action, Instr, Program, Step};
use crate::codegen::{Insertion, Sequenced, model, program, sequence};
use crate::ir::{Kernel, Stmt, Value};
use crate::lower::Module;
use crate::memory::{self, Plan};
use crate::ops::OpId;
use crate::passes;
use crate::target::{Planner, Target};

pub(super) fn planned(text: &str, target: Target) -> Vec<(Kernel, Plan)> {
    let kernels = Module::new(text).kernels().into_iter();
    let prepared = kernels
        .filter(|kernel| kernel.rejections.is_empty())
        .flat_map(|kernel| passes::prepare(kernel, target.into(), Planner::Auto));
    prepared
        .map(|kernel| {
            let plan = memory::plan(&kernel, target, Planner::Auto);
            (kernel, plan)
        })
        .collect()
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|ext| ext == "py")).collect();
    files.sort();
    files
}

#[test]
fn instructions_from_source_are_those_recorded() {
    let (mut equal, mut total, mut report) = (0, 0, String::new());
    let mut kernels = HashMap::new();
    for file in files("tests/conformance/codegen") {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        kernels.insert(name, planned(&std::fs::read_to_string(&file).unwrap(), Target::Ascend910b));
    }
    for case in cases() {
        total += 1;
        let Some((kernel, plan)) = kernels.get(&case.name).and_then(|kernels| kernels.first()) else {
            let _ = writeln!(report, "{}: no kernel", case.name);
            continue;
        };
        let (program, findings) = program(kernel, plan);
        let (want, got) = (recorded(&case), in_the_words_of_march(kernel, generated(&program)));
        let mut renaming = Renaming::default();
        let different = want.iter().zip(&got).find(|(want, got)| !renaming.equal(want, got));
        if different.is_none() && want.len() == got.len() && findings.is_empty() {
            equal += 1;
            continue;
        }
        let _ = write!(report, "{}: ", case.name);
        if let Some(note) = kernel.notes.first() {
            let _ = write!(report, "{}; ", note.reason);
        }
        if let Some(finding) = findings.first() {
            let _ = write!(report, "{}; ", finding.message);
        }
        let _ = match different {
            Some((want, got)) => writeln!(report, "want `{}`, got `{}`", want.trim(), got.trim()),
            None => writeln!(report, "{} lines, want {}", got.len(), want.len()),
        };
    }
    let _ = writeln!(report, "{equal} of {total} equal");
    expect![[r#"
        85 of 85 equal
    "#]]
    .assert_eq(&report);
}

/// What the compiler of August does otherwise than the recorded one without a difference in what is computed: it names the
/// row that a column is for an instruction (a tile of its own at the same address), and a slice is a view of its source,
/// which the recorded compiler copied out.
fn in_the_words_of_march(kernel: &Kernel, lines: Vec<String>) -> Vec<String> {
    let mut rows = HashMap::new();
    reshapes(kernel, &kernel.body, &mut rows);
    let word = |word: &str| rows.get(word).cloned().unwrap_or(word.to_string());
    let line = |line: String| {
        let line = line.split(' ').map(word).collect::<Vec<_>>().join(" ");
        match line.trim_start().starts_with("TSUBVIEW ") {
            true => line.replace("TSUBVIEW ", "TEXTRACT ").replace("PIPE_S", "PIPE_V"),
            false => with_pipe_of_march(line),
        }
    };
    lines.into_iter().map(line).collect()
}

/// Inserted names of rows, and the columns that they are.
fn reshapes(kernel: &Kernel, body: &[Stmt], rows: &mut HashMap<String, String>) {
    for stmt in body {
        match stmt {
            Stmt::Let { var, value: Value::Call(call), .. } if call.op == OpId::RESHAPE => {
                let Some(source) = call.args[0].var() else { continue };
                let (result, source) = (kernel.var(*var), kernel.var(source));
                if result.inserted.is_some() {
                    rows.insert(result.name.clone(), source.name.clone());
                } else if source.inserted.is_some() {
                    rows.insert(source.name.clone(), result.name.clone());
                }
            }
            _ => stmt.blocks().for_each(|block| reshapes(kernel, block, rows)),
        }
    }
}

/// Every kernel of the recorded sets, at the addresses of its own plan, with no flag or barrier that could be left out.
#[test]
fn synchronisation_from_source_is_sound() {
    let mut report = String::new();
    for folder in
        ["tests/conformance/codegen", "tests/conformance/pypto", "tests/conformance/pypto-tensor", "docs/examples"]
    {
        let (mut total, mut complete, mut sound) = (0, 0, 0);
        let (mut removals, mut detected) = (0, 0);
        let mut reasons: std::collections::BTreeMap<String, u32> = Default::default();
        for file in files(folder) {
            for (kernel, plan) in planned(&std::fs::read_to_string(&file).unwrap(), Target::Ascend910b) {
                total += 1;
                let (program, findings) = program(&kernel, &plan);
                complete += u32::from(findings.is_empty() && kernel.notes.is_empty());
                for finding in findings.iter().take(1) {
                    *reasons.entry(finding.message.clone()).or_default() += 1;
                }
                let problems = model::problems(&program);
                if problems.is_empty() {
                    sound += 1;
                } else {
                    let _ = writeln!(report, "{} {}: {problems:?}", file.display(), kernel.name);
                }
                for number in 0.. {
                    let mut less = program.clone();
                    let Some(removed) = without(&mut less.body, &mut { number }) else { break };
                    removals += 1;
                    match model::is_sound(&less) {
                        true => {
                            let file = file.file_stem().unwrap_or_default().to_string_lossy();
                            let _ = writeln!(report, "{file} {}: {removed:?} is superfluous", kernel.name);
                        }
                        false => detected += 1,
                    }
                }
            }
        }
        let _ = writeln!(report, "{folder}: {total} kernels, {complete} complete, {sound} sound");
        let _ = writeln!(report, "  {detected} of {removals} single removals of a pair or barrier detected");
        if std::env::var_os("TILEFIT_REASONS").is_some() {
            println!("{folder}: {reasons:#?}");
        }
    }
    expect![[r#"
        tests/conformance/codegen: 89 kernels, 86 complete, 89 sound
          455 of 455 single removals of a pair or barrier detected
        tests/conformance/pypto: 260 kernels, 258 complete, 260 sound
          4156 of 4156 single removals of a pair or barrier detected
        tests/conformance/pypto-tensor: 233 kernels, 231 complete, 233 sound
          1880 of 1880 single removals of a pair or barrier detected
        docs/examples: 14 kernels, 14 complete, 14 sound
          136 of 136 single removals of a pair or barrier detected
    "#]]
    .assert_eq(&report);
}

/// The two whose numbers are wrong (`tests/generated_code/corpora.rs`), and no other.
#[test]
fn first_values_that_loops_overwrite() {
    let mut report = String::new();
    for folder in
        ["tests/conformance/codegen", "tests/conformance/pypto", "tests/conformance/pypto-tensor", "docs/examples"]
    {
        for file in files(folder) {
            for (kernel, plan) in planned(&std::fs::read_to_string(&file).unwrap(), Target::Ascend910b) {
                for finding in plan.findings.iter().filter(|finding| finding.code == Code::InitOverwritten) {
                    let file = file.file_stem().unwrap_or_default().to_string_lossy();
                    let _ = writeln!(report, "{file} {}: {}", kernel.name, finding.message);
                }
            }
        }
    }
    expect![[r#"
        gen_009 kernel: `t30` is read after the loop, which has overwritten it: the compiler keeps `c34` in the same bytes (at Vec 0xf020..0x13020); start the loop with a copy, `init_values=(pl.move(t30, target_memory=pl.Mem.Vec),)`
        gen_026 kernel: `t1` is read after the loop, which has overwritten it: the compiler keeps `c5` in the same bytes (at Vec 0x28000..0x30000); start the loop with a copy, `init_values=(pl.move(t1, target_memory=pl.Mem.Vec),)`
        gen_026 kernel: `t2`, as `t4`, is read after the loop, which has overwritten it: the compiler keeps `c6` in the same bytes (at Vec 0x30000..0x38000); start the loop with a copy, `init_values=(pl.move(t2, target_memory=pl.Mem.Vec),)`
        gen_045 kernel: `t19` is read after the loop, which has overwritten it: the compiler keeps `c41` in the same bytes (at Vec 0x38000..0x40000); start the loop with a copy, `init_values=(pl.move(t19, target_memory=pl.Mem.Vec),)`
        gen_055 kernel: `t9` is read in each iteration, but the first one overwrites it: the compiler keeps `c11` in the same bytes (at Vec 0x6000..0x8000); start the loop with a copy, `init_values=(pl.move(t9, target_memory=pl.Mem.Vec),)`
        gen_055 kernel: `t5` is read in each iteration, but the first one overwrites it: the compiler keeps `c12` in the same bytes (at Vec 0xa080..0xb080); start the loop with a copy, `init_values=(pl.move(t5, target_memory=pl.Mem.Vec),)`
        gen_065 kernel: `t6` is read after the loop, which has overwritten it: the compiler keeps `c33` in the same bytes (at Vec 0x80..0x2080); start the loop with a copy, `init_values=(pl.move(t6, target_memory=pl.Mem.Vec),)`
        gen_092 kernel: `t1` is read after the loop, which has overwritten it: the compiler keeps `c3` in the same bytes (at Vec 0x14020..0x18020); start the loop with a copy, `init_values=(pl.move(t1, target_memory=pl.Mem.Vec),)`
        gen_092 kernel: `t2` is read after the loop, which has overwritten it: the compiler keeps `c4` in the same bytes (at Vec 0x18020..0x1c020); start the loop with a copy, `init_values=(pl.move(t2, target_memory=pl.Mem.Vec),)`
        gen_094 kernel: `t3` is read after the loop, which has overwritten it: the compiler keeps `c4` in the same bytes (at Vec 0xb100..0xc100); start the loop with a copy, `init_values=(pl.move(t3, target_memory=pl.Mem.Vec),)`
        gen_100 kernel: `t3`, as `t29`, is read after the loop, which has overwritten it: the compiler keeps `c13` in the same bytes (at Vec 0x20300..0x24300); start the loop with a copy, `init_values=(pl.move(t3, target_memory=pl.Mem.Vec),)`
        gen_100 kernel: `t2` is read in each iteration, but the first one overwrites it: the compiler keeps `c14` in the same bytes (at Vec 0x0..0x8000); start the loop with a copy, `init_values=(pl.move(t2, target_memory=pl.Mem.Vec),)`
        gen_106 kernel: `t3` is read in each iteration, but the first one overwrites it: the compiler keeps `c4` in the same bytes (at Vec 0x10000..0x18000); start the loop with a copy, `init_values=(pl.move(t3, target_memory=pl.Mem.Vec),)`
        gen_125 kernel: `t1` is read after the loop, which has overwritten it: the compiler keeps `c6` in the same bytes (at Vec 0x0..0x200); start the loop with a copy, `init_values=(pl.move(t1, target_memory=pl.Mem.Vec),)`
    "#]].assert_eq(&report);
}

/// An author cannot write flags between what the compiler makes of statements on tensors: whatever the configuration, they are there.
#[test]
fn kernels_on_tensors_are_synchronised_unasked() {
    let mut kernels = 0;
    for file in files("tests/conformance/pypto-tensor") {
        for (kernel, plan) in planned(&std::fs::read_to_string(&file).unwrap(), Target::Ascend910b) {
            if !kernel.on_tensors {
                continue;
            }
            kernels += 1;
            let Sequenced { program, findings, .. } = sequence(&kernel, &plan, Insertion::InStatements);
            assert_eq!(model::problems(&program), [], "{} {}", file.display(), kernel.name);
            let about_sync = [Code::MissingSync, Code::UnpairedFlag, Code::WrongPipe, Code::EventsExhausted];
            assert!(findings.iter().all(|it| !about_sync.contains(&it.code)), "{} {}", file.display(), kernel.name);
        }
    }
    assert!(kernels > 200, "{kernels}");
}

/// Kernels that the compiler split, and what becomes of them when one side does not keep to the protocol.
#[test]
fn kernels_of_both_cores_keep_step() {
    let mut report = String::new();
    for (folder, target) in [
        ("tests/conformance/pypto", Target::Ascend910b),
        ("tests/conformance/pypto", Target::Ascend950),
        ("tests/conformance/pypto-tensor", Target::Ascend910b),
        ("tests/conformance/pypto-tensor", Target::Ascend950),
    ] {
        let (mut pairs, mut sound, mut removed, mut detected) = (0, 0, 0, 0);
        for file in files(folder) {
            let planned = planned(&std::fs::read_to_string(&file).unwrap(), target);
            for (cube, of_cube) in &planned {
                let Some(name) = cube.name.strip_suffix("_aic") else { continue };
                let is_partner = |kernel: &Kernel| kernel.name.strip_suffix("_aiv") == Some(name);
                let Some((vector, of_vector)) = planned.iter().find(|(kernel, _)| is_partner(kernel)) else { continue };
                let programs = [program(cube, of_cube), program(vector, of_vector)];
                if programs.iter().any(|(_, findings)| !findings.is_empty()) {
                    continue;
                }
                let programs = programs.map(|(program, _)| program);
                pairs += 1;
                let problems = side_by_side(&programs, target, model::problems_of_cores);
                match problems.is_empty() {
                    true => sound += 1,
                    false => {
                        let _ = writeln!(
                            report,
                            "{} {name}: {problems:?}",
                            file.file_stem().unwrap_or_default().to_string_lossy()
                        );
                    }
                }
                for (core, number) in (0..2).flat_map(|core| (0..20).map(move |number| (core, number))) {
                    let mut less = programs.clone();
                    if !without_transfer(&mut less[core].body, &mut { number }) {
                        continue;
                    }
                    removed += 1;
                    detected += u32::from(!side_by_side(&less, target, model::are_sound));
                }
            }
        }
        let _ = writeln!(report, "{folder} on {target}: {pairs} pairs of kernels, {sound} sound");
        let _ = writeln!(report, "  {detected} of {removed} single removals of a push, pop or free detected");
    }
    expect![[r#"
        tests/conformance/pypto on ascend910b: 5 pairs of kernels, 5 sound
          15 of 15 single removals of a push, pop or free detected
        tests/conformance/pypto on ascend950: 5 pairs of kernels, 5 sound
          15 of 15 single removals of a push, pop or free detected
        tests/conformance/pypto-tensor on ascend910b: 21 pairs of kernels, 21 sound
          72 of 72 single removals of a push, pop or free detected
        tests/conformance/pypto-tensor on ascend950: 21 pairs of kernels, 21 sound
          75 of 75 single removals of a push, pop or free detected
    "#]]
    .assert_eq(&report);
}

/// What authors write on both sides.
#[test]
fn written_queues_keep_step() {
    let text = |pops: u32| {
        format!(
            "import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def twice(self, a: pl.Tensor[[64, 16], pl.FP16]):
        ring = pl.import_peer_buffer(name=\"ring\", peer_func=\"square\")
        pl.aiv_initialize_pipe(dir_mask=2, slot_size=512, slot_num=2, v2c_consumer_buf=ring)
        for i in pl.range(4):
            x = pl.load(a, [i * 16, 0], [16, 16])
            y = pl.add(x, x)
            pl.tpush_to_aic(y, split=0)

    @pl.function(type=pl.FunctionType.AIC)
    def square(self, out: pl.Out[pl.Tensor[[64, 16], pl.FP32]]):
        ring = pl.reserve_buffer(name=\"ring\", size=1024, base=0)
        pl.aic_initialize_pipe(dir_mask=2, slot_size=512, slot_num=2, v2c_consumer_buf=ring)
        for i in pl.range({pops}):
            y: pl.Tile[[16, 16], pl.FP16, pl.Mem.Mat] = pl.tpop_from_aiv(split=0)
            left = pl.move(y, target_memory=pl.Mem.Left)
            right = pl.move(y, target_memory=pl.Mem.Right)
            product = pl.matmul(left, right)
            pl.tfree_to_aiv(y)
            out = pl.store(product, [i * 16, 0], out)
        return out
"
        )
    };
    let problems = |pops| {
        let planned = planned(&text(pops), Target::Ascend910b);
        let of = |name: &str| {
            let (kernel, plan) = planned.iter().find(|(kernel, _)| kernel.name == name).unwrap();
            let (program, findings) = program(kernel, plan);
            assert_eq!(findings, [], "{name}");
            assert_eq!(model::problems(&program), [], "{name}");
            program
        };
        side_by_side(&[of("square"), of("twice")], Target::Ascend910b, model::problems_of_cores)
    };
    assert_eq!(problems(4), []);
    assert_eq!(problems(3), [model::Problem::LeftInQueue { id: 0 }]);
    assert!(matches!(problems(5).as_slice(), [model::Problem::Stuck { kernel: 0, .. }]));
}

/// The cube core with two vector units; on 950 with one, where it has all of the work.
fn side_by_side<T>([cube, vector]: &[Program; 2], target: Target, question: impl Fn(&[model::Kernel]) -> T) -> T {
    let is_divided = |instr: &&Instr| instr.template.iter().any(|of| of.contains("TILE_") && !of.contains("NO_SPLIT"));
    let units = if target == Target::Ascend910b || vector.instructions().iter().any(is_divided) { 2 } else { 1 };
    let on_vector = (0..units).map(|unit| model::Kernel { program: vector, unit: Some(unit) });
    let kernels: Vec<_> = std::iter::once(model::Kernel { program: cube, unit: None }).chain(on_vector).collect();
    question(&kernels)
}

/// Removes the n-th instruction that passes a tile. A free of what was copied out of the queue does nothing.
fn without_transfer(steps: &mut Vec<Step>, n: &mut usize) -> bool {
    let passes =
        |instr: &Instr| instr.transfer.is_some_and(|transfer| transfer.action != Action::Free || instr.only_signals());
    for at in 0..steps.len() {
        let found = match &mut steps[at] {
            Step::Instr(instr) if passes(instr) => {
                if *n == 0 {
                    steps.remove(at);
                    return true;
                }
                *n -= 1;
                false
            }
            Step::Loop(node) => without_transfer(&mut node.body, n),
            Step::If(node) => {
                without_transfer(&mut node.then, n)
                    || node.otherwise.as_mut().is_some_and(|body| without_transfer(body, n))
            }
            _ => false,
        };
        if found {
            return true;
        }
    }
    false
}

//! Every kernel of `docs/examples`, `conformance/pypto` and `conformance/pypto-tensor` that has C++: compiled, run, and compared with the
//! reference.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use tilefit_pypto::codegen;
use tilefit_pypto::ir::Kernel;
use tilefit_pypto::memory::{Plan, PlannedTile};
use tilefit_pypto::target::Target;
use tilefit_python::diagnostics::Severity;

use crate::generated_code::host::{compiled, compiled_for, files, written};
use crate::generated_code::library::Library;
use crate::generated_code::numerics::Program;

/// Programs that a collection is divided into, so that both cores compile.
const PROGRAMS: usize = 4;

/// Runs the kernels of folders; `left` are those that are not run, by reason, and those that compute something else.
fn check(collection: &str, folders: &[&str], target: Target, left: Expect) {
    let mut programs: Vec<Program> = (0..PROGRAMS).map(|_| Program::of(target)).collect();
    let mut without: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let only = std::env::var("KERNELS").ok();
    let mut next = 0;
    for file in folders.iter().flat_map(|folder| files(folder)) {
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| !stem.contains(only.as_str())) {
            continue;
        }
        for (index, author) in written(&std::fs::read_to_string(&file).unwrap()).into_iter().enumerate() {
            let name = format!("{stem}_{index}");
            let kernels = compiled_for(author.clone(), target);
            if target != Target::Ascend910b && texts(&kernels) == texts(&compiled(author.clone())) {
                continue;
            }
            let added = match kernels.iter().find_map(|(kernel, plan)| why_not(kernel, plan, kernels.len())) {
                Some(reason) => Err(reason),
                None => programs[next % PROGRAMS].add(&name, &author, &kernels),
            };
            match added {
                Ok(()) => next += 1,
                Err(reason) => without.entry(reason).or_default().push(name),
            }
        }
    }
    let run: usize = programs.iter().map(Program::len).sum();
    let mut programs: Vec<(usize, Program)> = programs.into_iter().enumerate().collect();
    let mut wrong: Vec<String> = std::thread::scope(|scope| {
        let second = programs.split_off(PROGRAMS / 2);
        let threads = [programs, second].map(|programs| {
            scope.spawn(move || -> Vec<String> {
                let run = |(at, program): (usize, Program)| program.run(&format!("{collection}_{at}"));
                programs.into_iter().flat_map(run).collect()
            })
        });
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    wrong.sort();
    let right = run - wrong.len();
    let without = without.iter().map(|(reason, names)| format!("{} {reason}: {}\n", names.len(), names.join(" ")));
    let wrong = wrong.iter().map(|wrong| format!("wrong: {wrong}\n"));
    let report: String = without.chain(wrong).collect();
    left.assert_eq(&format!("{run} run, {right} right\n{report}"));
}

/// gen_009, gen_125: the plan of the compiler overwrites a value that is read after the loop that it enters.
#[test]
fn kernels_on_tiles_compute_what_they_say() {
    check(
        "tiles",
        &["../docs/examples", "conformance/pypto"],
        Target::Ascend910b,
        expect![[r#"
            238 run, 236 right
            1 `t15` has rows of 256 elements and the result rows of 128, which the instruction does not take; no room for 32768 bytes of scratch after the planned tiles: gen_030_0
            1 `x`: rows of 48 bytes (24 FP16); the instruction library takes multiples of 32 bytes: 103_odd_sizes_0
            23 does not fit: overflow_0 scope_overflow_0 065_memref_same_slot_overlap_error_0 073_reserved_prefix_overflow_0 076_overflow_vec_0 077_overflow_mat_0 078_overflow_left_0 079_overflow_acc_0 080_overflow_bias_0 gen_003_0 gen_025_0 gen_026_0 gen_045_0 gen_058_0 gen_059_0 gen_067_0 gen_072_0 gen_095_0 gen_102_0 gen_106_0 gen_110_0 gen_113_0 gen_126_0
            1 rejected: no native cast path from INT8 to FP32 for arch a2a3; pto.tcvt does not support this conversion. Cast to FP16 first, then to FP32, if FP16 holds all values: 010_cast_without_direct_instruction_0
            1 rejected: tile.matmul left operand 'l20' is already resident in Left (L0A) with physical shape [128, 256] and dtype FP32, requiring 131072 bytes, but ascend910b provides 65536 bytes; keep the operand in Mat and pass it directly to tile.matmul: the compiler then chooses tiles that fit; or extract a smaller Left tile: gen_066_0
            1 runs beside another function of its file: 072_reserved_prefix_0
            3 the reference: leaves nothing that is defined: 037_matmul_acc_created_seed_0 gen_119_0 gen_149_0
            wrong: gen_009_0: parameter 3: 8180 of 32768 elements are off, the first is 786432: 13.703125 instead of -0.176513671875
            wrong: gen_125_0: parameter 2: 126 of 256 elements are off, the first is 0: 2.331223249435425 instead of 0.42895933985710144
        "#]],
    );
}

#[test]
fn kernels_on_tensors_compute_what_they_say() {
    check(
        "tensors",
        &["conformance/pypto-tensor"],
        Target::Ascend910b,
        expect![[r#"
            201 run, 201 right
            1 a tile is pushed from Acc or Vec, not from Mat: 115_window_for_both_cores_0
            7 does not fit: 078_mixed_pipe_overflow_0 088_overflow_by_scratch_0 089_overflow_by_entry_load_0 090_overflow_live_values_0 124_vector_result_after_output_overflow_0 gen_041_0 gen_047_0
            1 rejected: `o` was written in parts and is in global memory, but `tile.neg` takes values on chip; use a window of it: `o[...]`: 138_output_read_whole_after_store_0
            1 rejected: a local tensor of [192, 512] FP32 takes 393216 bytes; the compiler refuses tensors larger than the unified buffer of ascend910b (188416 bytes), even as an accumulator; make it smaller, or create it outside the scope: gen_002_0
        "#]],
    );
}

/// Those whose C++ is another one there.
#[test]
fn kernels_for_950_compute_what_they_say() {
    check(
        "ascend950",
        &["../docs/examples", "conformance/pypto", "conformance/pypto-tensor"],
        Target::Ascend950,
        expect![[r#"
            44 run, 44 right
            1 a tile is pushed from Acc or Vec, not from Mat: 115_window_for_both_cores_0
            3 does not fit: 078_mixed_pipe_overflow_0 124_vector_result_after_output_overflow_0 gen_041_0
            2 runs beside another function of its file: 072_reserved_prefix_0 073_reserved_prefix_overflow_0
        "#]],
    );
}

fn texts(kernels: &[(Kernel, Plan)]) -> Vec<String> {
    kernels.iter().map(|(kernel, plan)| codegen::generate(kernel, plan).text).collect()
}

/// One kernel of each kind.
const KINDS: &[&str] = &[
    "pypto/001_load_add_store",
    "pypto/012_row_reductions_shared_tmp",
    "pypto/017_cmp_and_sel",
    "pypto/032_matmul_explicit_moves",
    "pypto/038_matmul_bias",
    "pypto/048_loop_running_sum",
    "pypto/055_if_inside_loop",
    "pypto/084_softmax_rows",
    "pypto/093_sort32_and_merge",
    "pypto-tensor/026_row_sum",
    "pypto-tensor/062_matmul",
    "pypto-tensor/084_pipeline",
    "pypto-tensor/101_rms_norm",
];

#[test]
fn a_plan_in_which_live_tiles_overlap_computes_something_else() {
    let mut program = Program::default();
    for kind in KINDS {
        let (folder, start) = kind.split_once('/').unwrap();
        let is_it = |path: &std::path::PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(&start[..3]);
        let file = files(&format!("conformance/{folder}")).into_iter().find(is_it).unwrap();
        let author = written(&std::fs::read_to_string(&file).unwrap()).remove(0);
        let mut kernels = compiled(author.clone());
        overlap(&mut kernels[0].1).unwrap_or_else(|| panic!("{kind} has no two tiles that live together"));
        let name = format!("{}_{}", folder.replace('-', "_"), &start[..3]);
        program.add(&name, &author, &kernels).unwrap();
    }
    let wrong = program.run("overlaps");
    // The simulator leaves scratch as it was, and so what lies in it.
    if Library::chosen() != Library::Host {
        return;
    }
    assert_eq!(wrong.len(), KINDS.len(), "{wrong:#?}");
}

/// Moves a tile to another that is read after this one is written.
fn overlap(plan: &mut Plan) -> Option<()> {
    let apart = |a: &PlannedTile, b: &PlannedTile| {
        a.space == b.space && a.buffer != b.buffer && a.address.is_some() && a.first < b.first && b.first < a.last
    };
    let pairs = plan.tiles.iter().flat_map(|a| plan.tiles.iter().map(move |b| (a, b)));
    let (buffer, address) = pairs.filter(|(a, b)| apart(a, b)).map(|(a, b)| (b.buffer, a.address)).next()?;
    for tile in plan.tiles.iter_mut().filter(|tile| tile.buffer == buffer) {
        tile.address = address;
    }
    Some(())
}

/// Why a kernel, one of `cores`, has no C++ that is worth a look.
fn why_not(kernel: &Kernel, plan: &Plan, cores: usize) -> Option<String> {
    if let Some(rejection) = kernel.rejections.first() {
        return Some(format!("rejected: {}", rejection.message));
    }
    if let Some(note) = kernel.notes.first() {
        return Some(format!("not modelled: {}", note.reason));
    }
    if plan.findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Some("does not fit".to_owned());
    }
    let (program, _) = codegen::program(kernel, plan);
    (cores == 1 && !program.queues.is_empty()).then(|| "runs beside another function of its file".to_owned())
}

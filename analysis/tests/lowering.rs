//! Lowers every kernel that the PyPTO compiler was run on (`tests/conformance/pypto`).

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tilefit_pypto::ir::Kernel;
use tilefit_pypto::lower::Module;
use tilefit_pypto::memory;
use tilefit_pypto::passes;
use tilefit_pypto::target::{Planner, Target};

fn kernels(text: &str) -> Vec<Kernel> {
    Module::new(text).kernels()
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/pypto");
    let entries = std::fs::read_dir(folder).expect("the conformance kernels are part of the repository");
    let mut paths: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "py"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn no_kernel_that_the_compiler_accepts_is_rejected() {
    let (mut count, mut wrong, mut unmodelled) = (0, Vec::new(), Vec::new());
    for path in programs() {
        let text = std::fs::read_to_string(&path).unwrap();
        let answers = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let accepted = answers.contains("\"ok\": true");
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for kernel in kernels(&text) {
            count += 1;
            if accepted {
                wrong.extend(kernel.rejections.iter().map(|rejection| format!("{name}: {}", rejection.message)));
            }
            unmodelled.extend(kernel.notes.iter().map(|note| format!("{name}: {}", note.reason)));
        }
    }
    assert!(count >= 250, "{count} kernels");
    println!("{count} kernels; not modelled:\n{}", unmodelled.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What people type, and what they half type.
const SNIPPETS: [&str; 28] = [
    "0",
    "-1",
    "9223372036854775807",
    "170141183460469231731687303715884105727",
    "[]",
    "[64]",
    "[64, 64, 64]",
    "(",
    ")",
    "[",
    "]",
    "x",
    "pl.",
    "pl.FP32",
    "pl.Mem.Acc",
    "None",
    "n",
    "out",
    "pl.yield_(x)",
    "for i in pl.range(n):",
    "else:",
    "if n > 0:",
    "**",
    "=",
    "pl.load(a, [0, 0], [64, 64])",
    "pl.Tile[[1, 64], pl.FP16, pl.Mem.Vec]",
    "...",
    "\n    ",
];

/// Replaces some words of a text.
fn edited(text: &str, edits: &[(usize, usize)]) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut words: Vec<String> = Vec::new();
    for c in text.chars() {
        match words.last_mut() {
            Some(word) if is_word(c) && word.ends_with(is_word) => word.push(c),
            _ => words.push(c.to_string()),
        }
    }
    for &(at, snippet) in edits {
        let at = at % words.len().max(1);
        if let Some(word) = words.get_mut(at) {
            *word = SNIPPETS[snippet % SNIPPETS.len()].to_owned();
        }
    }
    words.concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_lowering_or_a_pass_panic(
        program in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<usize>(), any::<usize>()), 1..6),
    ) {
        let programs = programs();
        let text = std::fs::read_to_string(program.get(&programs)).unwrap();
        for kernel in kernels(&edited(&text, &edits)) {
            let _ = kernel.to_string();
            for prepared in passes::prepare(kernel, Target::Ascend910b.into(), Planner::Auto) {
                memory::plan(&prepared, Target::Ascend910b, Planner::Auto);
            }
        }
    }
}

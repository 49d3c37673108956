//! Kernels with a few tokens, lines or numbers changed at random: no panic, and no edit that takes long.
//!
//! `TILEFIT_MUTANTS=50000` makes as many, `TILEFIT_CORPUS=<folder>` makes them of the Python files below a folder, `TILEFIT_SEED=7` makes others.
//! What fails lies in the folder that the message names.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tilefit_analysis::AnalysisHost;
use tilefit_analysis::ide::memory_map::Trial;
use tilefit_analysis::project::Config;
use tilefit_gpu::device::Arch;
use tilefit_pypto::target::{Planner, Target};
use tilefit_python::diagnostics::Code;
use tilefit_syntax::{Document, TextRange};
use tilefit_tests::random::Random;
use tilefit_tests::{corpus, mutation};

/// A mutant takes milliseconds; this is for debug builds on busy machines.
const LONGEST: Duration = Duration::from_secs(60);

#[test]
fn no_mutant_of_a_kernel_breaks_the_analysis() {
    let number = |name: &str| env::var(name).ok().and_then(|value| value.parse().ok());
    let count = number("TILEFIT_MUTANTS").unwrap_or(200);
    let seed = number("TILEFIT_SEED").unwrap_or(1) as u64;
    let texts = texts();
    let next = AtomicUsize::new(0);
    let failures = AtomicUsize::new(0);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            let mut random = Random::new(seed, at as u64);
            let text = &texts[random.below(texts.len())];
            let mutant = mutation::mutant(text, &mut random);
            let start = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| exercise(&texts, &mutant, &mut random)));
            let took = start.elapsed();
            let problem = match outcome {
                Err(_) => "panics",
                Ok(Err(internal)) => {
                    eprintln!("{internal}");
                    "fails within"
                }
                Ok(Ok(())) if took > longest() => "takes long",
                Ok(Ok(())) => continue,
            };
            failures.fetch_add(1, Ordering::Relaxed);
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutant-{seed}-{at}.py"));
            std::fs::write(&path, mutant).expect("the folder can be written");
            eprintln!("{problem} ({:.1} s): {}", took.as_secs_f64(), path.display());
        }
    };
    std::thread::scope(|scope| {
        (0..2).for_each(|_| drop(scope.spawn(work)));
    });
    assert_eq!(failures.into_inner(), 0, "of {count} mutants");
}

fn longest() -> Duration {
    let seconds = env::var("TILEFIT_LONGEST").ok().and_then(|value| value.parse().ok());
    seconds.map_or(LONGEST, Duration::from_secs_f64)
}

/// What mutants are made of.
fn texts() -> Vec<String> {
    let read = |path: &PathBuf| std::fs::read_to_string(path).ok().filter(|text| text.len() < 100_000);
    let mut texts: Vec<String> = corpus::files().iter().filter_map(read).collect();
    texts.retain(|text| ["pypto", "pl.", "triton", "gluon", "tlx"].iter().any(|word| text.contains(word)));
    texts.push(tilefit_tests::tlx_kernels::source(1));
    texts
}

/// Types the mutant over another text, and asks everything at some places. The error is what a stage failed with.
fn exercise(texts: &[String], mutant: &str, random: &mut Random) -> Result<(), String> {
    let mut host = AnalysisHost::new();
    let target = random.of(&Target::ALL);
    let planner = random.of(&Planner::ALL);
    let devices = ["sm_86", "sm_100", "gfx950"].into_iter().filter_map(Arch::from_name).collect();
    host.set_config(Config { target, planner, devices, ..Config::default() });
    let file = host.file_id("kernel.py");
    let before = &texts[random.below(texts.len())];
    host.set_document(file, Document::new(before));
    host.set_document(file, Document::new(mutant));
    let analysis = host.snapshot();
    let whole = TextRange::new(0, mutant.len());
    let diagnostics = analysis.diagnostics(file).expect("nothing is edited");
    if let Some(internal) = diagnostics.iter().find(|diagnostic| diagnostic.code == Code::Internal) {
        return Err(internal.message.clone());
    }
    let _ = (analysis.plans(file), analysis.code_lenses(file), analysis.inlay_hints(file, whole));
    let _ = (analysis.document_symbols(file), analysis.folding_ranges(file), analysis.memory_maps(file));
    let _ = (analysis.generated_codes(file), analysis.allocated_ir(file), analysis.lowered_ir(file));
    let _ = (analysis.configurations(file, &|_| true), analysis.questions(file), analysis.summaries(file));
    for lens in analysis.code_lenses(file).expect("nothing is edited") {
        let _ = analysis.code_lens(file, lens);
    }
    let _ = (analysis.code_actions(file, whole), analysis.fix_all(file), analysis.unknown_imports(file));
    for _ in 0..8 {
        let mut at = random.below(mutant.len() + 1);
        while !mutant.is_char_boundary(at) {
            at -= 1;
        }
        let _ = (analysis.hover(file, at), analysis.completions(file, at), analysis.signature_help(file, at));
        let _ = (analysis.definition(file, at), analysis.references(file, at), analysis.highlights(file, at));
        let _ = (analysis.rename(file, at, "renamed".to_owned()), analysis.selection_ranges(file, at));
        let _ = (analysis.incoming_calls(file, at), analysis.outgoing_calls(file, at));
        let _ = analysis.memory_map(file, at, Trial::default());
        // Of the number before it, for most places are none.
        let number = mutant[..at].rfind(|c: char| c.is_ascii_digit()).unwrap_or(at);
        let _ = analysis.largest_fit_action(file, number);
    }
    Ok(())
}

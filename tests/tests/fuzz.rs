//! Each fuzz target over its corpus and a slice of random inputs, the same ones every time.
//!
//! `TILEFIT_FUZZ=5000` makes as many, `TILEFIT_SEED=7` makes others. What fails lies in the folder that the message names.

use std::{env, fs};

use tilefit_tests::binary;
use tilefit_tests::fuzz::Target;
use tilefit_tests::random::Random;

/// `count` inputs take some seconds in a debug build.
fn check(name: &str, count: u64) {
    let number = |name: &str| env::var(name).ok().and_then(|value| value.parse().ok());
    let (count, seed) = (number("TILEFIT_FUZZ").unwrap_or(count), number("TILEFIT_SEED").unwrap_or(1));
    let target = Target::named(name);
    let corpus = target.corpus();
    assert!(!corpus.is_empty(), "{} is empty", target.folder().display());
    for (path, bytes) in &corpus {
        if let Err(problem) = target.try_input(bytes) {
            panic!("{}: {problem}", path.display());
        }
    }
    for index in 0..count {
        let input = target.input(&corpus, &mut Random::new(seed, index));
        if let Err(problem) = target.try_input(&input) {
            let path = format!("{}/{name}-{seed}-{index}", env!("CARGO_TARGET_TMPDIR"));
            fs::write(&path, &input).expect("the folder can be written");
            panic!("{path}: {problem}");
        }
    }
}

#[test]
fn an_edited_document_is_as_a_fresh_one() {
    check("text_edits", 24);
}

#[test]
fn messages_come_in_any_order() {
    binary::tilefit(); // before anything is timed
    check("messages", 40);
}

#[test]
fn settings_say_anything() {
    check("settings", 150);
}

#[test]
fn what_is_defined_in_terms_of_itself_comes_to_an_end() {
    check("cycles", 15);
}

#[test]
fn dumps_are_of_any_compiler() {
    check("dumps", 120);
}

#[test]
fn packing_problems_say_anything() {
    check("packing_problems", 400);
}

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
use tilefit_analysis::diagnostics::Code;
use tilefit_analysis::ide::memory_map::Trial;
use tilefit_analysis::project::Config;
use tilefit_analysis::target::{Planner, Target};
use tilefit_syntax::{Document, TextRange};
use tilefit_tests::corpus;

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
            let mut random = Random(seed.wrapping_mul(0x9e37_79b9) ^ at as u64);
            let mutant = mutant(&texts, &mut random);
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
    texts.retain(|text| ["pypto", "pl.", "tlx"].iter().any(|word| text.contains(word)));
    texts.push(tilefit_tests::tlx_kernels::source(1));
    texts
}

/// Types the mutant over another text, and asks everything at some places. The error is what a stage failed with.
fn exercise(texts: &[String], mutant: &str, random: &mut Random) -> Result<(), String> {
    let mut host = AnalysisHost::new();
    let target = *random.of(&Target::ALL);
    let planner = *random.of(&Planner::ALL);
    host.set_config(Config { target, planner, ..Config::default() });
    let file = host.file_id("kernel.py");
    let before: &String = random.of(texts);
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
    }
    Ok(())
}

fn mutant(texts: &[String], random: &mut Random) -> String {
    let mut text = random.of(texts).clone();
    for _ in 0..1 + random.below(6) {
        text = match random.below(12) {
            0..=3 => mutated(&tokens(&text), random),
            4..=5 => mutated(&text.split_inclusive('\n').collect::<Vec<_>>(), random),
            6..=8 => with_number(&text, random),
            9 => with_word(&text, random),
            10 => with_indentation(&text, random),
            _ => truncated(text, random),
        };
    }
    text
}

/// Identifiers, numbers, blanks, and every other character by itself.
fn tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        ' ' => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match class(first) {
            2 => first.len_utf8(),
            same => rest.find(|c| class(c) != same).unwrap_or(rest.len()),
        };
        let (token, behind) = rest.split_at(end);
        tokens.push(token);
        rest = behind;
    }
    tokens
}

/// One part deleted, doubled, replaced by another one, or two of them swapped.
fn mutated(parts: &[&str], random: &mut Random) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let mut parts = parts.to_vec();
    let (one, other) = (random.below(parts.len()), random.below(parts.len()));
    match random.below(4) {
        0 => drop(parts.remove(one)),
        1 => parts.insert(one, parts[one]),
        2 => parts[one] = parts[other],
        _ => parts.swap(one, other),
    }
    parts.concat()
}

const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "3",
    "7",
    "1 << 62",
    "2 ** 63 - 1",
    "-2 ** 63",
    "10 ** 10 ** 10",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "340282366920938463463374607431768211456",
    "1e400",
    "1.5",
    "0x7fffffffffffffff",
    "1000000",
    "N",
    "None",
];

fn with_number(text: &str, random: &mut Random) -> String {
    let tokens = tokens(text);
    let numbers: Vec<usize> =
        (0..tokens.len()).filter(|&at| tokens[at].starts_with(|c: char| c.is_ascii_digit())).collect();
    if numbers.is_empty() {
        return text.to_owned();
    }
    let mut tokens = tokens;
    let number: &&str = random.of(NUMBERS);
    tokens[*random.of(&numbers)] = number;
    tokens.concat()
}

const WORDS: &[&str] = &[
    "\t",
    "\x0c",
    "\0",
    "\r",
    "\r\n",
    "\u{feff}",
    "\\\n",
    "é",
    "漢字",
    "𝒳",
    "👩‍👩‍👧",
    "\"\"\"",
    "'",
    "f\"{",
    "#",
    ":",
    ";",
    "=",
    "*",
    "**",
    "@",
    "->",
    "(",
    "[",
    "{",
    ")",
    "]",
    "}",
    "lambda: 0",
    "yield",
    "await x",
    "print 'x'",
    "exec 'x' in d",
    "raise E, 'x'",
    "`x`",
    "<>",
    "match x:\n    case 1:\n        pass\n",
    "self",
    "pl",
    "if True:",
    "else:",
    "for i in pl.range(1 << 40):",
    "while True:",
    "break",
    "continue",
    "return",
    "del x",
    "global x",
    "pl.range(10 ** 9)",
    "pl.unroll(100000)",
    "pl.pipeline(0, 1 << 40, stage=1000)",
    "[0] * (1 << 40)",
    "init_values=(a, b)",
    "pl.yield_(x, y)",
    "tlx.local_alloc((1 << 40, 1 << 40), tl.float32, 1 << 40)",
    "pl.MemRef(slots=1 << 60)",
    "[x for x in range(1 << 40)]",
];

fn with_word(text: &str, random: &mut Random) -> String {
    let tokens = tokens(text);
    let at = random.below(tokens.len() + 1);
    let word = *random.of(WORDS);
    let times = *random.of(&[1, 1, 1, 2, 300, 3000]);
    // A word of many letters makes a long text, which is slow in itself.
    let repeated = word.repeat(if word.len() <= 4 { times } else { times.min(3) });
    [&tokens[..at].concat(), repeated.as_str(), &tokens[at..].concat()].concat()
}

fn with_indentation(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    if lines.is_empty() {
        return String::new();
    }
    let from = random.below(lines.len());
    let count = 1 + random.below(4);
    for line in lines.iter_mut().skip(from).take(count) {
        *line = match random.below(3) {
            0 => format!("    {line}"),
            1 => format!("\t{line}"),
            _ => line.strip_prefix("    ").unwrap_or(line).to_owned(),
        };
    }
    lines.concat()
}

fn truncated(mut text: String, random: &mut Random) -> String {
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.truncate(at);
    text
}

/// SplitMix64: the same mutants everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

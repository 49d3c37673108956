//! Fuzz targets: functions from any bytes, which panic where a promise is broken.
//!
//! `cargo test -p tilefit-tests fuzz` runs each over its corpus (`tests/fuzz/corpus`) and a slice of random inputs, the same ones every
//! time; `cargo xtask soak` runs others for as long as one likes, and `tests/fuzz` hands the same functions to libFuzzer.

mod cycles;
mod dumps;
mod messages;
mod packing_problems;
mod settings;
mod text_edits;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use std::{fs, panic};

use tilefit_analysis::{Analysis, FileId};
use tilefit_python::diagnostics::Code;
use tilefit_syntax::TextRange;

use crate::mutation;
use crate::random::Random;

pub use cycles::cycles;
pub use dumps::dumps;
pub use messages::messages;
pub use packing_problems::packing_problems;
pub use settings::settings;
pub use text_edits::text_edits;

/// One that takes longer hangs, however loaded the machine is.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// As in the server: deeply nested source is walked recursively.
const STACK_BYTES: usize = 64 << 20;

pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// Whether its inputs are texts, which are changed by words and lines, or bytes.
    is_text: bool,
}

pub const TARGETS: [Target; 6] = [
    Target { name: "text_edits", run: text_edits, is_text: false },
    Target { name: "messages", run: messages, is_text: false },
    Target { name: "settings", run: settings, is_text: true },
    Target { name: "cycles", run: cycles, is_text: false },
    Target { name: "dumps", run: dumps, is_text: true },
    Target { name: "packing_problems", run: packing_problems, is_text: true },
];

impl Target {
    pub fn named(name: &str) -> &'static Target {
        TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| panic!("there is no target {name}"))
    }

    /// Where its corpus lies.
    pub fn folder(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(self.name)
    }

    /// The inputs of its corpus, sorted by name.
    pub fn corpus(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths.into_iter().filter_map(|path| fs::read(&path).ok().map(|bytes| (path, bytes))).collect()
    }

    /// Another input, made of one of the corpus.
    pub fn input(&self, corpus: &[(PathBuf, Vec<u8>)], random: &mut Random) -> Vec<u8> {
        let known = corpus.get(random.below(corpus.len())).map(|(_, bytes)| bytes.as_slice()).unwrap_or_default();
        match self.is_text {
            true => mutation::mutant(&String::from_utf8_lossy(known), random).into_bytes(),
            false => changed(known, random),
        }
    }

    /// What is wrong with an input, if anything is. It runs on a thread of its own, which is left behind where it hangs.
    pub fn try_input(&self, input: &[u8]) -> Result<(), String> {
        let (run, input) = (self.run, input.to_owned());
        let (sender, answer) = channel();
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            let outcome = panic::catch_unwind(|| run(&input));
            let message = outcome.map_err(|panic| {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
            });
            let _ = sender.send(message); // nobody listens after a while
        });
        thread.map_err(|error| error.to_string())?;
        match answer.recv_timeout(PATIENCE) {
            Ok(outcome) => outcome,
            Err(RecvTimeoutError::Timeout) => Err(format!("takes longer than {} s", PATIENCE.as_secs())),
            Err(RecvTimeoutError::Disconnected) => Err("the thread died".to_owned()),
        }
    }
}

/// Some bytes changed, a stretch of others put in, or none of it kept.
fn changed(known: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = known.to_vec();
    if bytes.is_empty() || random.percent(30) {
        let count = 16 + random.below(500);
        return random.bytes(count);
    }
    for _ in 0..1 + random.below(8) {
        let at = random.below(bytes.len());
        let count = 1 + random.below(12);
        match random.below(3) {
            0 => bytes[at] = random.number() as u8,
            1 => drop(bytes.splice(at..at, random.bytes(count))),
            _ => drop(bytes.drain(at..(at + count).min(bytes.len()))),
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// Everything that is said of a file, and of some places in it, as text. Panics where a stage failed.
fn answers(analysis: &Analysis, file: FileId, places: &[usize]) -> Vec<String> {
    let document = analysis.document(file);
    let text = document.text();
    let whole = TextRange::new(0, text.len());
    let diagnostics = analysis.diagnostics(file).expect("nothing is edited");
    if let Some(internal) = diagnostics.iter().find(|diagnostic| diagnostic.code == Code::Internal) {
        panic!("{} in:\n{text}", internal.message);
    }
    let lenses = analysis.code_lenses(file).unwrap_or_default();
    let mut all = vec![
        format!("{diagnostics:?}"),
        format!("{:?}", analysis.inlay_hints(file, whole)),
        format!("{:?}", lenses.into_iter().map(|lens| analysis.code_lens(file, lens)).collect::<Vec<_>>()),
        format!("{:?}", analysis.document_symbols(file)),
        format!("{:?}", analysis.folding_ranges(file)),
        format!("{:?}", analysis.allocated_ir(file)),
        format!("{:?}", analysis.generated_codes(file).map(|codes| codes.len())),
        format!("{:?}", analysis.memory_maps(file).map(|maps| maps.len())),
        format!("{:?}", analysis.plans(file).map(|plans| plans.len())),
    ];
    for &place in places {
        let mut at = place.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        // Most places are none.
        let number = text[..at].rfind(|c: char| c.is_ascii_digit()).unwrap_or(at);
        all.extend([
            format!("{:?}", analysis.hover(file, at)),
            format!("{:?}", analysis.completions(file, at)),
            format!("{:?}", analysis.signature_help(file, at)),
            format!("{:?}", analysis.prepare_rename(file, at)),
            format!("{:?}", analysis.selection_ranges(file, at)),
            format!("{:?}", analysis.highlights(file, at).map(|mentions| mentions.len())),
            format!("{:?}", analysis.code_actions(file, TextRange::new(at, at))),
            format!("{:?}", analysis.largest_fit_action(file, number)),
        ]);
    }
    all
}

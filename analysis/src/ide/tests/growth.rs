//! How the work for a kernel grows with what it is made of: for everything that the languages list, at one size and at twice that.
//!
//! Work is counted in steps ([`work`]), so that the test says the same on every machine.

use tilefit_python::work::{self, Limits};
use tilefit_syntax::TextRange;

use crate::Fixture;
use crate::ide::languages;
use crate::ide::memory_map::Trial;
use crate::project::Config;

/// Something that kernels are made of, of which a text may hold any number.
pub(crate) struct Construct {
    pub(crate) name: &'static str,
    pub(crate) arranged: Arranged,
    /// A file with so many of it.
    pub(crate) text: fn(usize) -> String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arranged {
    /// One after the other.
    Beside,
    /// One in the other.
    Within,
}

impl Arranged {
    fn size(self) -> usize {
        match self {
            Arranged::Beside => 24,
            Arranged::Within => 6,
        }
    }

    /// What n log n comes to at [`size`](Self::size), and a little for what is there once.
    fn most(self) -> f64 {
        match self {
            Arranged::Beside => 2.5,
            Arranged::Within => 2.9,
        }
    }
}

/// What grows faster than n log n, and why it may. All of it ends at the limits.
const FASTER: &[(&str, &str)] = &[
    (
        "loops that are unrolled",
        "a loop that is unrolled is as many copies of its body as it has iterations, and so is each within it",
    ),
    ("products of Triton", "sizes that are not known are tried one by one, each with all other buffers"),
    ("loops in loops", ORDERING),
    ("loops with open bounds", ORDERING),
    ("parallel loops", ORDERING),
    ("pipelines in pipelines", "a pipeline is as many copies of its body as it has stages, and so is each within it"),
    (
        "copies by unrolling",
        "a loop that is unrolled is as many copies of its body as it has iterations, and so is each within it",
    ),
    ("flags in loops", ORDERING),
];

const ORDERING: &str = "the order of instructions is found by executing a body with what its first and with what its second iteration find, \
                        for each loop around it; in C++ only";

#[test]
fn work_grows_as_the_text_does() {
    let mut faster = Vec::new();
    let mut report = String::new();
    for construct in languages::all().flat_map(|language| language.constructs()) {
        let size = construct.arranged.size();
        let [once, twice] = [size, 2 * size].map(|size| steps(&(construct.text)(size)));
        let growth = twice as f64 / once as f64;
        report += &format!("{:32} {once:>9} {twice:>9} × {growth:.1}\n", construct.name);
        if growth > construct.arranged.most() {
            faster.push(construct.name);
        }
    }
    let expected: Vec<_> = FASTER.iter().map(|(name, _)| *name).collect();
    assert_eq!(faster, expected, "\n{report}");
}

#[test]
fn no_size_costs_more_than_the_limits_allow() {
    // Stages for one kernel, each with a budget of its own: reading, planning, ordering, printing, and some of them for the answers
    // that try something.
    const STAGES: u64 = 8;
    let limits = Limits { steps: 20_000, statements: 512 };
    for construct in languages::all().flat_map(|language| language.constructs()) {
        let size = match construct.arranged {
            Arranged::Beside => 400,
            Arranged::Within => 60,
        };
        let text = (construct.text)(size);
        let kernels = 1 + text.matches("def ").count() as u64 + text.matches("pl.at(").count() as u64;
        let spent = work::steps_of(|| ask_everything(&text, limits));
        // Outside of stages work follows the text.
        let outside = 200 * text.len() as u64;
        assert!(spent <= kernels * STAGES * limits.steps + outside, "{}: {spent}", construct.name);
    }
}

fn steps(text: &str) -> u64 {
    // High enough for what grows as it should, and low enough for the test to end where something does not.
    work::steps_of(|| ask_everything(text, Limits { steps: 4_000_000, statements: 1 << 20 }))
}

fn ask_everything(text: &str, limits: Limits) {
    let fixture = Fixture::new(text).with(Config { limits, ..Config::default() });
    let middle = text[..text.len() / 2].rfind("\n").unwrap_or(0) + 1;
    fixture.diagnostics();
    fixture.generated_codes();
    fixture.allocated_ir();
    fixture.lowered_ir();
    fixture.inlay_hints(fixture.whole());
    fixture.document_symbols();
    fixture.memory_map(middle, Trial::default());
    fixture.hover(middle);
    fixture.highlights(middle);
    fixture.code_actions(TextRange::empty(middle));
}

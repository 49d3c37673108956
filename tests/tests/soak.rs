//! A short soak, so that the long one works when it is wanted.

use std::path::Path;
use std::time::Duration;

use tilefit_tests::binary;
use tilefit_tests::soak::{self, Options};

#[test]
fn a_short_soak_finds_nothing_wrong() {
    binary::tilefit(); // before anything is timed
    let options = Options {
        time: Duration::from_secs(8),
        seed: 1,
        files: Vec::new(),
        // A debug build takes long over ten thousand lines.
        largest: 60_000,
        found: Path::new(env!("CARGO_TARGET_TMPDIR")).join("soak"),
    };
    let report = soak::run(&options);
    let text = report.markdown();
    assert!(report.is_clean(), "{text}");
    assert!(report.edits() > 0 && report.answers() > 0 && report.comparisons() > 0, "{text}");
}

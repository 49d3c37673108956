//! The rules, one by one, on launches written as text (`text.rs`).

mod any_launch;
mod findings;
mod life;
mod sizes;
mod specialised;
mod text;

use expect_test::Expect;

use crate::plan::plan;
use crate::target::Target;

const SM_80: Target = Target::Nvidia { capability: 80 };
const SM_90: Target = Target::Nvidia { capability: 90 };
const GFX942: Target = Target::Amd { gfx: 942 };

/// The plan of a launch of 128 threads.
#[track_caller]
fn check(target: Target, launch: &str, expected: Expect) {
    let launch = text::launch(launch);
    expected.assert_eq(&text::shown(&launch, &plan(&launch, target)));
}

/// What is found about it.
#[track_caller]
fn check_findings(target: Target, launch: &str, expected: Expect) {
    let launch = text::launch(launch);
    let found = plan(&launch, target).findings;
    let lines: Vec<String> = found.iter().map(|finding| text::shown_finding(&launch, finding)).collect();
    expected.assert_eq(&lines.join("\n"));
}

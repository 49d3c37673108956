//! TLX kernels through the public interface.

mod actions;
mod amd;
mod errors;
mod mlir;
mod names;
mod plans;
mod scenarios;
mod seed;
mod views;

use tilefit_analysis::Fixture;

const IMPORTS: &str = "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n\n";

fn open(text: &str, settings: &str) -> Fixture {
    Fixture::new(&format!("{IMPORTS}{text}")).with_settings(settings)
}

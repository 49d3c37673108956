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

use tilefit_analysis::project::Config;
use tilefit_analysis::{Analysis, AnalysisHost, FileId};
use tilefit_syntax::Document;

const IMPORTS: &str = "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n\n";

fn open(text: &str, settings: &str) -> (Analysis, FileId, String) {
    let mut host = AnalysisHost::new();
    let mut config = Config::default();
    assert!(config.apply_tilefit_toml(settings).is_empty());
    host.set_config(config);
    let file = host.file_id("kernel.py");
    let text = format!("{IMPORTS}{text}");
    host.set_document(file, Document::new(&text));
    (host.snapshot(), file, text)
}

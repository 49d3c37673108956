//! Files of settings: whatever they say, what is understood is in force, what is not is named, and kernels are planned with it.

use tilefit_analysis::AnalysisHost;
use tilefit_analysis::project::Config;
use tilefit_syntax::Document;
use toml::{Table, Value};

use super::answers;

/// Kernels whose names the corpus gives shapes and scenarios.
const KERNELS: &str = "\
import pypto.language as pl
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx

@pl.jit
def norm(x: pl.Tensor, o: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        row = x[0:16, 0:64]
        o[0:16, 0:64] = pl.exp(row)
    return o

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        x = pl.load(a, [0, 0], [64, 64])
        y = pl.exp(x)
        out = pl.store(y, [0, 0], out)
        return out

@triton.jit
def attention(desc_q, HEAD_DIM: tl.constexpr, STAGES: tl.constexpr):
    a = tlx.local_alloc((64, HEAD_DIM), tlx.dtype_of(desc_q), STAGES)
    b = tlx.local_alloc((64, HEAD_DIM), tl.float32, 1)
";

pub fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (config, problems) = read(|config| config.apply_tilefit_toml(&text));
    for problem in &problems {
        assert!(!problem.is_empty(), "a problem says nothing, in:\n{text}");
    }
    if let Ok(table) = text.parse::<Table>() {
        let section = Table::from_iter([("tilefit".to_owned(), Value::Table(table))]);
        let project = Table::from_iter([("tool".to_owned(), Value::Table(section))]).to_string();
        let below = read(|config| config.apply_pyproject_toml(&project));
        let named = |read: &(Config, Vec<String>)| format!("{read:?}").replace("PyprojectToml", "TilefitToml");
        let here = (config.clone(), problems.clone());
        assert_eq!(named(&below), named(&here), "another file says the same:\n{text}");
    } else {
        assert_eq!((&config, problems.len()), (&Config::default(), 1), "nothing of a broken file is in force:\n{text}");
    }
    let twice = read(|config| {
        config.apply_tilefit_toml(&text);
        config.apply_tilefit_toml(&text)
    });
    assert_eq!(twice, (config.clone(), problems), "read again:\n{text}");
    let mut host = AnalysisHost::new();
    host.set_config(config);
    let file = host.file_id("/w/kernel.py");
    host.set_document(file, Document::new(KERNELS));
    answers(&host.snapshot(), file, &[KERNELS.len() / 2]);
}

fn read(apply: impl FnOnce(&mut Config) -> Vec<tilefit_analysis::project::ConfigProblem>) -> (Config, Vec<String>) {
    let mut config = Config::default();
    let problems = apply(&mut config);
    (config, problems.into_iter().map(|problem| problem.message).collect())
}

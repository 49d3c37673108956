//! How a kernel of a GPU is launched, as what stands around tilefit says it: what the author's own runs have launched, and questions about memory.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tilefit_gpu::argument_type::ArgumentType;
use tilefit_gpu::device::Compiler;
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_python::eval::{self, Constant, Standalone};
use tilefit_syntax::BlockSource;
use tilefit_syntax::ast::{self, Stmt};

/// Below the folder of a repository: what its runs have launched.
pub const RECORDS: &str = ".tilefit/launches.jsonl";

/// What is absent is not known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Launch {
    /// Types of arguments, in Triton's words: `*fp16`, `i32`.
    #[serde(default)]
    pub signature: BTreeMap<String, String>,
    /// What the kernel is compiled for, as Python texts.
    #[serde(default)]
    pub constexprs: BTreeMap<String, String>,
    /// Arguments that are multiples of 16.
    #[serde(default)]
    pub divisible: Option<BTreeSet<String>>,
    /// `num_warps`, `num_ctas`, `num_stages`
    #[serde(default)]
    pub options: BTreeMap<String, u32>,
    /// `None`: the one that is assumed.
    #[serde(skip)]
    pub compiler: Option<Compiler>,
}

/// A value as Python text is longer in no launch that anybody reads.
const LONGEST_VALUE: usize = 4096;

impl Launch {
    /// `from`: who says so, for people.
    pub fn scenario(&self, from: &str) -> Scenario {
        let option = |name: &str| self.options.get(name).copied();
        let mut scenario = Scenario {
            num_warps: option("num_warps"),
            num_ctas: option("num_ctas"),
            num_stages: option("num_stages"),
            divisible: self.divisible.clone(),
            compiler: self.compiler,
            ..Scenario::default()
        };
        for (name, text) in &self.signature {
            if let Some(argument) = ArgumentType::from_text(text) {
                scenario.set_argument(name, argument, from);
            }
        }
        for (name, text) in self.constexprs.iter().filter(|(_, text)| text.len() <= LONGEST_VALUE) {
            scenario.values.insert(name.clone(), (constant(text), from.to_owned()));
        }
        scenario
    }
}

/// The value that a Python text is of.
pub(crate) fn constant(text: &str) -> Constant {
    if !text.starts_with(['(', '[']) {
        return scenario::literal(text);
    }
    let ast = ast::parse(&BlockSource::of(text)).0;
    match ast.body.as_slice() {
        [only] => match *ast.stmt(*only) {
            Stmt::Expr(expr) => eval::evaluate(&ast, expr, &Standalone::new("")),
            _ => scenario::literal(text),
        },
        _ => scenario::literal(text),
    }
}

//! The kernels of a text by itself, without the files around it: for tests and benchmarks of single stages.

use tilefit_python::eval::{Language, Standalone};

use super::constants;
use crate::ir::Kernel;

pub struct Module(Standalone);

impl Module {
    pub fn new(text: &str) -> Module {
        Module(Standalone::in_language(text, Language { name: constants::name, call: constants::call }))
    }

    /// The kernels of its functions, as authors wrote them.
    pub fn kernels(&self) -> Vec<Kernel> {
        self.0.functions().flat_map(|ast| super::kernels(ast, &self.0)).collect()
    }

    #[cfg(test)]
    pub(super) fn value(&self, name: &str) -> Option<tilefit_python::eval::Constant> {
        tilefit_python::eval::Scope::constant(&self.0, name)
    }
}

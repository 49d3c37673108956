//! A module of Python by itself, without the files around it: for tests and benchmarks of single stages.

use std::cell::RefCell;
use std::sync::Arc;

use tilefit_syntax::ast::{self, Ast};
use tilefit_syntax::{BlockKind, Document};

use super::constants;
use crate::eval::{self, Argument, Binding, Constant, FunctionSource, Scope};
use crate::ir::Kernel;

/// What its statements bind is what its kernels see.
pub struct Module {
    statements: Vec<Ast>,
    /// By name.
    functions: Vec<(String, Arc<Ast>)>,
    /// The names that are being evaluated.
    asked: RefCell<Vec<String>>,
}

impl Module {
    /// The module of a text.
    pub fn new(text: &str) -> Module {
        let document = Document::new(text);
        let mut module = Module { statements: Vec::new(), functions: Vec::new(), asked: RefCell::default() };
        for block in document.blocks() {
            let ast = ast::parse(&block.source).0;
            match block.key.kind {
                BlockKind::Statements => module.statements.push(ast),
                BlockKind::Function => {
                    let name = block.key.name();
                    module.functions.push((name.to_owned(), Arc::new(ast)));
                }
                _ => {}
            }
        }
        module
    }

    /// The kernels of its functions, as authors wrote them.
    pub fn kernels(&self) -> Vec<Kernel> {
        self.functions.iter().flat_map(|(_, ast)| super::kernels(ast, self)).collect()
    }
}

impl Scope for Module {
    fn outer(&self) -> Option<&dyn Scope> {
        None
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        if self.asked.borrow().iter().any(|asked| asked == name) {
            return None;
        }
        self.asked.borrow_mut().push(name.to_owned());
        let value = self.statements.iter().find_map(|ast| eval::bound_value(ast, name, self));
        self.asked.borrow_mut().pop();
        value
    }

    fn function(&self, name: &str) -> Option<FunctionSource> {
        let (_, ast) = self.functions.iter().find(|(function, _)| function == name)?;
        Some(FunctionSource { ast: ast.clone(), place: None })
    }

    fn module(&self, name: &str) -> Option<String> {
        self.statements.iter().find_map(|ast| match eval::binding(ast, name) {
            Binding::ImportModule(path) => Some(path),
            _ => None,
        })
    }

    fn language_name(&self, path: &[&str]) -> Option<Constant> {
        constants::name(path)
    }

    fn language_call(&self, path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        constants::call(path, arguments)
    }
}

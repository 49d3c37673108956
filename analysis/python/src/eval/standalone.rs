//! A module of Python by itself, without the files around it: for tests and benchmarks of single stages.

use std::cell::RefCell;
use std::sync::Arc;

use tilefit_syntax::ast::{self, Ast};
use tilefit_syntax::{BlockKind, Document};

use super::{Argument, Binding, Constant, FunctionSource, Scope, binding, bound_value};

/// What its statements bind is what its kernels see.
pub struct Standalone {
    statements: Vec<Ast>,
    /// By name.
    functions: Vec<(String, Arc<Ast>)>,
    /// The names that are being evaluated.
    asked: RefCell<Vec<String>>,
    language: Language,
}

/// What the names and the calls of a language are.
#[derive(Clone, Copy)]
pub struct Language {
    pub name: fn(&[&str]) -> Option<Constant>,
    pub call: Call,
}

/// By its path, and its arguments where they matter.
pub type Call = fn(&[&str], &dyn Fn() -> Vec<Argument>) -> Option<Constant>;

/// None.
const PYTHON: Language = Language { name: |_| None, call: |_, _| None };

impl Standalone {
    /// The module of a text, which imports no language.
    pub fn new(text: &str) -> Standalone {
        Standalone::in_language(text, PYTHON)
    }

    pub fn in_language(text: &str, language: Language) -> Standalone {
        let document = Document::new(text);
        let mut module =
            Standalone { statements: Vec::new(), functions: Vec::new(), asked: RefCell::default(), language };
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

    pub fn functions(&self) -> impl Iterator<Item = &Ast> {
        self.functions.iter().map(|(_, ast)| &**ast)
    }
}

impl Scope for Standalone {
    fn outer(&self) -> Option<&dyn Scope> {
        None
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        if self.asked.borrow().iter().any(|asked| asked == name) {
            return None;
        }
        self.asked.borrow_mut().push(name.to_owned());
        let value = self.statements.iter().find_map(|ast| bound_value(ast, name, self));
        self.asked.borrow_mut().pop();
        value
    }

    fn function(&self, name: &str) -> Option<FunctionSource> {
        let (_, ast) = self.functions.iter().find(|(function, _)| function == name)?;
        Some(FunctionSource { ast: ast.clone(), place: None })
    }

    fn module(&self, name: &str) -> Option<String> {
        self.statements.iter().find_map(|ast| match binding(ast, name) {
            Binding::ImportModule(path) => Some(path),
            _ => None,
        })
    }

    fn language_name(&self, path: &[&str]) -> Option<Constant> {
        (self.language.name)(path)
    }

    fn language_call(&self, path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        (self.language.call)(path, arguments)
    }
}

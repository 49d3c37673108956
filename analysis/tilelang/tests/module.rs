//! A module of Python by itself, as the kernels of a test see it.

use std::collections::BTreeMap;
use std::sync::Arc;

use tilefit_python::eval::{Binding, Constant, binding};
use tilefit_python::finding::{Node, Origin, Reason};
use tilefit_syntax::ast::{self, Ast, Spans, Stmt};
use tilefit_syntax::{BlockKind, BlockSource, Document};
use tilefit_tilelang::trace::{Definition, Environment, Home, Traced, follow};

pub(crate) struct Module {
    document: Document,
    /// Functions whole, with all that is defined in them.
    functions: BTreeMap<String, Part>,
    statements: Vec<Part>,
    classes: Vec<String>,
    /// Paths of imported names.
    imports: BTreeMap<String, String>,
}

struct Part {
    ast: Arc<Ast>,
    spans: Spans,
    start: usize,
}

impl Module {
    pub(crate) fn new(text: &str) -> Module {
        let document = Document::new(text);
        let outer: Vec<_> = document.blocks().iter().filter(|block| block.parent.is_none()).collect();
        let (mut functions, mut statements, mut classes) = (BTreeMap::new(), Vec::new(), Vec::new());
        for (i, block) in outer.iter().enumerate() {
            let end = outer.get(i + 1).map_or(text.len(), |next| next.start);
            let source = BlockSource::of(&text[block.start..end]);
            let (ast, spans) = ast::parse(&source);
            let part = Part { ast: Arc::new(ast), spans, start: block.start };
            match block.key.kind {
                BlockKind::Function | BlockKind::FunctionHeader => {
                    functions.insert(block.key.name().to_owned(), part);
                }
                BlockKind::Statements => statements.push(part),
                BlockKind::ClassHeader => classes.push(block.key.name().to_owned()),
            }
        }
        let imports = statements.iter().flat_map(imported).collect();
        Module { document, functions, statements, classes, imports }
    }

    pub(crate) fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// Follows a function of the module by itself.
    pub(crate) fn follow(&self, function: &str, arguments: &BTreeMap<String, Constant>) -> Traced {
        let part = self.functions.get(function).unwrap_or_else(|| panic!("no function {function}"));
        follow(&part.ast, self, arguments)
    }

    /// The line of a node of a function, from 1.
    pub(crate) fn line(&self, function: &str, at: Origin) -> usize {
        let part = &self.functions[function];
        let range = match at.shown() {
            Node::Expr(expr) => part.spans.expr(expr),
            Node::Stmt(stmt) => part.spans.stmt(stmt),
        };
        self.document.line(part.start + range.start)
    }
}

impl Environment for Module {
    fn definition(&self, home: Home, name: &str) -> Option<Definition> {
        if let Some(part) = self.functions.get(name) {
            return Some(Definition::Function { ast: part.ast.clone(), key: None, home });
        }
        if self.classes.iter().any(|class| class == name) {
            return Some(not_followed(name));
        }
        if self.imports.contains_key(name) {
            return None;
        }
        let bound = self.statements.iter().rev().map(|part| (part, binding(&part.ast, name)));
        let (part, binding) = bound.into_iter().find(|(_, binding)| *binding != Binding::None)?;
        let ast = part.ast.clone();
        match binding {
            Binding::Once(expr) => Some(Definition::Expression { ast, expr, element: None, home }),
            Binding::Element(expr, at) => Some(Definition::Expression { ast, expr, element: Some(at), home }),
            _ => Some(not_followed(name)),
        }
    }

    fn constant(&self, _: Home, _: &str) -> Option<Constant> {
        None
    }

    fn member(&self, _: Home, _: &str, _: &str) -> Option<Definition> {
        None
    }

    fn canonical(&self, _: Home, path: &[&str]) -> Option<String> {
        let (first, rest) = path.split_first()?;
        if self.functions.contains_key(*first) {
            return None;
        }
        let whole = self.imports.get(*first)?;
        Some([&[whole.as_str()], rest].concat().join("."))
    }

    fn is_for_npus(&self) -> bool {
        self.imports.values().any(|path| path.starts_with("tilelang.ascend"))
    }

    fn is_open(&self, _: Home) -> bool {
        let all = self.statements.iter().flat_map(|part| part.ast.stmts());
        all.into_iter()
            .any(|(_, stmt)| matches!(stmt, Stmt::ImportFrom { names, .. } if names.iter().any(|it| it.name == "*")))
    }
}

fn not_followed(name: &str) -> Definition {
    Definition::Constant(Constant::Unknown(Reason::new(format!("`{name}` is not followed"))))
}

/// What the statements of a module import from elsewhere.
fn imported(part: &Part) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for &stmt in &part.ast.body {
        match part.ast.stmt(stmt) {
            Stmt::Import(modules) => {
                for module in modules {
                    let root = module.module.split('.').next().unwrap().to_owned();
                    all.push(match &module.alias {
                        Some(alias) => (alias.clone(), module.module.clone()),
                        None => (root.clone(), root),
                    });
                }
            }
            Stmt::ImportFrom { level: 0, module, names } => {
                for name in names.iter().filter(|name| name.name != "*") {
                    all.push((name.bound().to_owned(), format!("{module}.{}", name.name)));
                }
                // All that authors take from there.
                if module == "tilelang.autotuner" && names.iter().any(|name| name.name == "*") {
                    all.push(("autotune".to_owned(), "tilelang.autotune".to_owned()));
                }
            }
            _ => {}
        }
    }
    all
}

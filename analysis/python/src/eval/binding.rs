//! How a block binds a name, and the value that it gives to it.

use tilefit_syntax::ast::{Ast, Expr, ExprId, Function, Stmt, StmtId};

use super::functions::function;
use super::{Constant, Scope, evaluate, truth, unknown};

/// How the statements of a block bind a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    None,
    /// One assignment, `name = value`.
    Once(ExprId),
    /// One assignment of a tuple, `…, name, … = value`.
    Element(ExprId, usize),
    /// `from module import original as name`
    Import {
        level: u32,
        module: String,
        original: String,
    },
    /// `import module as name`
    ImportModule(String),
    /// A parameter of an enclosing function.
    Param(Option<ExprId>),
    /// A function or class.
    Definition,
    /// More than one binding, or one in a loop or branch.
    Several,
    /// Only where the file is the program: under `if __name__ == "__main__":`.
    Program,
}

/// How a block binds `name`: its statements, or for a function's block the parameters and the body.
pub fn binding(ast: &Ast, name: &str) -> Binding {
    let bindings = Bindings::of(ast, name);
    match bindings.found {
        Binding::None if bindings.of_program => Binding::Program,
        found => found,
    }
}

/// The same with what `scope` knows: of several bindings the one that conditions lead to.
pub fn binding_in(ast: &Ast, name: &str, scope: &dyn Scope) -> Binding {
    match binding(ast, name) {
        Binding::Several if function(ast).is_none() => led_to(ast, &ast.body, name, scope).unwrap_or(Binding::Several),
        binding => binding,
    }
}

/// The only binding of a name that runs; `None` where that is not known, or another one follows it.
fn led_to(ast: &Ast, body: &[StmtId], name: &str, scope: &dyn Scope) -> Option<Binding> {
    let mut found = Binding::None;
    for stmt in body {
        let mut alone = Bindings { ast, name, found: Binding::None, of_program: false };
        alone.collect(std::slice::from_ref(stmt), false);
        let bound = match (ast.stmt(*stmt), alone.found) {
            (_, Binding::None) => continue,
            (Stmt::If { condition, body, or_else }, _) => {
                let branch = if truth(&evaluate(ast, *condition, scope))? { body } else { or_else };
                led_to(ast, branch, name, scope)?
            }
            (_, Binding::Several) => return None,
            (_, bound) => bound,
        };
        found = match (found, bound) {
            (found, Binding::None) => found,
            (Binding::None, bound) => bound,
            _ => return None,
        };
    }
    Some(found)
}

/// Whether a block binds `name` under `if __name__ == "__main__":`, alone or again.
pub fn is_bound_by_program(ast: &Ast, name: &str) -> bool {
    Bindings::of(ast, name).of_program
}

/// `if __name__ == "__main__":`, whose statements run after all imports, and only where the file is the program.
pub fn asks_for_program(ast: &Ast, condition: ExprId) -> bool {
    matches!(ast.expr(condition), Expr::Compare { left, .. } if ast.name(*left) == Some("__name__"))
}

struct Bindings<'a> {
    ast: &'a Ast,
    name: &'a str,
    found: Binding,
    /// Whether the program binds it.
    of_program: bool,
}

impl<'a> Bindings<'a> {
    fn of(ast: &'a Ast, name: &'a str) -> Bindings<'a> {
        let mut bindings = Bindings { ast, name, found: Binding::None, of_program: false };
        if let [only] = ast.body.as_slice()
            && let Stmt::Function(function) = ast.stmt(*only)
        {
            for param in function.params.iter().filter(|param| ast.name(param.name) == Some(name)) {
                bindings.found = Binding::Param(param.default);
            }
            bindings.collect(&function.body, false);
        } else {
            bindings.collect(&ast.body, false);
        }
        bindings
    }

    fn add(&mut self, binding: Binding, conditional: bool) {
        let first = self.found == Binding::None && !conditional;
        self.found = if first { binding } else { Binding::Several };
    }

    fn is_name(&self, expr: ExprId) -> bool {
        self.ast.name(expr) == Some(self.name)
    }

    fn collect(&mut self, body: &[StmtId], conditional: bool) {
        let ast = self.ast;
        for &stmt in body {
            match ast.stmt(stmt) {
                Stmt::Assign { targets, value: Some(value), .. } => {
                    for &target in targets {
                        if self.is_name(target) {
                            self.add(Binding::Once(*value), conditional);
                        }
                        let elements = ast.elements(target).unwrap_or_default();
                        if let Some(index) = elements.iter().position(|&element| self.is_name(element)) {
                            self.add(Binding::Element(*value, index), conditional);
                        }
                    }
                }
                Stmt::AugAssign { target, .. } if self.is_name(*target) => self.add(Binding::Several, conditional),
                Stmt::Import(modules) => {
                    for module in modules {
                        if module.alias.as_deref().or(module.module.split('.').next()) == Some(self.name) {
                            self.add(Binding::ImportModule(module.module.clone()), conditional);
                        }
                    }
                }
                Stmt::ImportFrom { level, module, names } => {
                    let wanted = self.name;
                    for imported in names.iter().filter(|imported| imported.bound() == wanted) {
                        let (module, original) = (module.clone(), imported.name.clone());
                        self.add(Binding::Import { level: *level, module, original }, conditional);
                    }
                }
                Stmt::Function(Function { name, .. }) | Stmt::Class { name, .. } if self.is_name(*name) => {
                    self.add(Binding::Definition, conditional);
                }
                Stmt::If { condition, body, .. } if asks_for_program(ast, *condition) => {
                    let mut inner = Bindings { found: Binding::None, ..*self };
                    inner.collect(body, true);
                    self.of_program |= inner.found != Binding::None;
                }
                Stmt::With { body, .. } => self.collect(body, conditional),
                other => {
                    if matches!(other, Stmt::For { target, .. } if self.is_name(*target)) {
                        self.add(Binding::Several, true);
                    }
                    other.bodies().for_each(|body| self.collect(body, true));
                }
            }
        }
    }
}

/// The value that a block assigns to `module.member`, if it does so anywhere.
pub fn assigned_member(ast: &Ast, module: &str, member: &str) -> Option<Option<ExprId>> {
    let is_target = |target: ExprId| ast.dotted(target).as_deref() == Some(&[module, member]);
    let mut found = None;
    for &stmt in &ast.body {
        if let Stmt::Assign { targets, value, .. } = ast.stmt(stmt)
            && targets.iter().any(|&target| is_target(target))
        {
            // The second assignment is one too many.
            found = Some(if found.is_none() { *value } else { None });
        }
    }
    found
}

/// Names that are defined through more names than these, one after the other, count as unknown: the stack does not bear any number.
/// The resolver of names counts the links from the name that was asked for, so that the order of questions changes no answer.
pub const LONGEST_CHAIN: u32 = 64;

/// The value of a name after [`LONGEST_CHAIN`] others.
pub fn too_far(name: &str) -> Constant {
    unknown(format!("`{name}` is defined through more than {LONGEST_CHAIN} other names, or in terms of itself"))
}

/// The value that a block gives to `name`; `None` where it does not bind it. `scope` is what the block's expressions see.
pub fn bound_value(ast: &Ast, name: &str, scope: &dyn Scope) -> Option<Constant> {
    let unknown = |reason: String| Some(unknown(reason));
    match binding_in(ast, name, scope) {
        Binding::None => None,
        Binding::Once(value) => Some(match evaluate(ast, value, scope) {
            Constant::Object(object) => object.named(name).unwrap_or(Constant::Object(object)),
            value => value,
        }),
        Binding::Element(value, index) => match evaluate(ast, value, scope) {
            Constant::Tuple(elements) | Constant::List(elements) => match elements.get(index) {
                Some(element) => Some(element.clone()),
                None => unknown(format!("the tuple that `{name}` is unpacked from is too short")),
            },
            Constant::Unknown(reason) => Some(Constant::Unknown(reason)),
            _ => unknown(format!("`{name}` is unpacked from a value that is not a tuple")),
        },
        Binding::Import { module, original, .. } => {
            unknown(format!("`{original}` is imported from `{module}`, which tilefit does not read"))
        }
        Binding::ImportModule(module) => unknown(format!("`{name}` is the module `{module}`")),
        Binding::Param(Some(default)) => Some(evaluate(ast, default, scope)),
        Binding::Param(None) => {
            unknown(format!("`{name}` is a parameter of the enclosing function, without a default"))
        }
        Binding::Definition => unknown(format!("`{name}` is a function or class")),
        Binding::Program => unknown(format!("`{name}` is assigned only when the file runs as a script")),
        Binding::Several => unknown(format!("`{name}` is assigned more than once, or under a condition")),
    }
}

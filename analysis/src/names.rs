//! Which names of a function nothing defines: a kernel may rest on none of them, and each is most likely a slip of the fingers.
//!
//! A name counts as defined wherever Python could find it: what is bound under a condition, in a place that does not parse or after a star
//! import that cannot be followed is there. What the function itself binds further down only is not ([`order`]). Of the language itself ([`language`]), of
//! modules whose file is known, and of the functions of a program every name is known.

mod bound;
mod language;
mod order;
mod python;
#[cfg(test)]
mod tests;

use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId};

use tilefit_pypto::vocabulary;

pub(crate) use bound::{Bound, bound};
use order::Loops;
pub(crate) use python::is_builtin;

/// A name that is used and that nothing defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownName {
    /// The name, the whole `a.name`, or for a keyword its value.
    pub(crate) at: ExprId,
    pub(crate) usage: Usage,
    pub(crate) name: String,
    /// What the author most likely meant.
    pub(crate) suggestion: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Usage {
    Variable,
    /// Only further down.
    Early,
    /// After a dot: of what.
    Attribute(String),
    /// Of a call.
    Keyword(Callee),
}

/// What is called with a keyword that it does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Callee {
    pub(crate) name: String,
    pub(crate) params: Vec<String>,
    pub(crate) call: ExprId,
}

impl UnknownName {
    pub(crate) fn message(&self) -> String {
        let what = self.what();
        match (&self.suggestion, &self.usage) {
            (Some(suggestion), _) => format!("{what}; did you mean `{suggestion}`?"),
            (None, Usage::Keyword(callee)) if !callee.params.is_empty() => {
                format!("{what}; it has {}", callee.params.join(", "))
            }
            (None, _) => what,
        }
    }

    /// The message without its question.
    pub(crate) fn what(&self) -> String {
        let name = &self.name;
        match &self.usage {
            Usage::Variable => format!("`{name}` is not defined here"),
            Usage::Early => format!("`{name}` is read before it is assigned"),
            Usage::Attribute(of) => format!("`{of}` has no `{name}`"),
            Usage::Keyword(callee) => format!("`{}` has no parameter `{name}`", callee.name),
        }
    }
}

/// What a function sees of the code around it.
pub(crate) trait Surroundings {
    fn defines(&self, name: &str) -> bool;

    /// All that is defined, for suggestions.
    fn names(&self) -> Vec<String>;

    /// What a module or the function's own class (`self`) has instead of a member that it lacks; `None` where it has the member, or
    /// where not all of it is known.
    fn lacks(&self, path: &[&str], member: &str) -> Option<Vec<String>>;

    /// The parameters of a function of the program; `None` where it takes others, or is not known.
    fn params(&self, path: &[&str]) -> Option<Vec<String>>;
}

/// Arguments that a call of a kernel may have beside those that the kernel declares: how it is launched.
const LAUNCH: [&str; 10] = [
    "attrs",
    "allow_early_resolve",
    "core_num",
    "deps",
    "device",
    "dumps",
    "name_hint",
    "predicate",
    "span",
    "sync_start",
];

/// Arguments that every operation takes.
const OF_OPERATIONS: [&str; 2] = ["attrs", "span"];

/// Attributes of what a kernel computes with.
const OF_VALUES: [&str; 3] = ["shape", "dtype", "bind_dynamic"];

/// The names of a kernel, or of a function with scopes that become kernels, that nothing defines.
pub(crate) fn unknown(ast: &Ast, around: &dyn Surroundings) -> Vec<UnknownName> {
    let search = Search { ast, own: bound(ast), around, roots: &vocabulary::ROOTS };
    let unknown = ast.exprs().flat_map(|(id, _)| search.expression(id));
    unknown.chain(search.early(Loops::RunOnce)).collect()
}

/// The names of a function of Triton that nothing defines. Its modules have what other versions do not: of them only what is almost a member is a slip.
pub(crate) fn unknown_in_triton(ast: &Ast, around: &dyn Surroundings) -> Vec<UnknownName> {
    let search = Search { ast, own: bound(ast), around, roots: &[] };
    let unknown = ast.exprs().filter_map(|(id, expr)| match expr {
        Expr::Name(name) => search.variable(id, name),
        Expr::Attribute { value, name } => search.almost_a_member(id, *value, name),
        _ => None,
    });
    unknown.chain(search.early(Loops::MayUnroll)).collect()
}

/// Those of decorators alone: of a function that may only have become plain Python by a slip there.
pub(crate) fn unknown_in_decorators(ast: &Ast, decorators: &[ExprId], around: &dyn Surroundings) -> Vec<UnknownName> {
    let search = Search { ast, own: Bound::default(), around, roots: &vocabulary::ROOTS };
    decorators.iter().flat_map(|&decorator| search.decorator(decorator)).collect()
}

struct Search<'a> {
    ast: &'a Ast,
    /// What the function binds itself.
    own: Bound,
    around: &'a dyn Surroundings,
    /// Names that are given to every kernel of the language.
    roots: &'static [&'static str],
}

impl Search<'_> {
    /// What an expression itself names; its parts are asked by themselves.
    fn expression(&self, expr: ExprId) -> Vec<UnknownName> {
        match self.ast.expr(expr) {
            Expr::Name(name) => self.variable(expr, name).into_iter().collect(),
            Expr::Attribute { value, name } => self.attribute(expr, *value, name).into_iter().collect(),
            Expr::Call { func, args } => self.keywords(expr, *func, args),
            _ => Vec::new(),
        }
    }

    /// What a decorator names, with the members of the language that its arguments are.
    fn decorator(&self, decorator: ExprId) -> Vec<UnknownName> {
        let Expr::Call { func, args } = self.ast.expr(decorator) else { return self.dotted(decorator) };
        let mut unknown = self.dotted(*func);
        if self.ast.dotted(*func).is_some_and(|path| vocabulary::is_language(path[0])) {
            unknown.extend(self.keywords(decorator, *func, args));
            unknown.extend(args.iter().flat_map(|arg| self.dotted(arg.value)));
        }
        unknown
    }

    /// What the parts of a dotted name are.
    fn dotted(&self, expr: ExprId) -> Vec<UnknownName> {
        let mut unknown = self.expression(expr);
        let mut part = expr;
        while let Expr::Attribute { value, .. } = self.ast.expr(part) {
            part = *value;
            unknown.extend(self.expression(part));
        }
        unknown
    }

    fn variable(&self, at: ExprId, name: &str) -> Option<UnknownName> {
        // The functions that `@pl.jit` makes methods of write `self`, too.
        let is_fixed = self.roots.contains(&name) || name == "self" || is_builtin(name);
        let is_defined = is_fixed || self.own.has(name) || self.around.defines(name);
        (!is_defined).then(|| {
            let names = self.own.names().map(str::to_owned).chain(self.around.names());
            let all =
                names.chain(self.roots.iter().map(|&root| root.to_owned())).chain(python::BUILTINS.map(str::to_owned));
            UnknownName { at, usage: Usage::Variable, name: name.to_owned(), suggestion: nearest(name, all) }
        })
    }

    /// What the function reads before it binds it, and does not find around it.
    fn early(&self, loops: Loops) -> impl Iterator<Item = UnknownName> {
        let found_around = |name: &str| self.roots.contains(&name) || is_builtin(name) || self.around.defines(name);
        let read = order::read_early(self.ast, loops).into_iter().filter(move |(_, name)| !found_around(name));
        read.map(|(at, name)| UnknownName { at, usage: Usage::Early, name: name.to_owned(), suggestion: None })
    }

    fn attribute(&self, at: ExprId, value: ExprId, name: &str) -> Option<UnknownName> {
        let path = self.ast.dotted(value)?;
        let instead: Vec<String> = if language::is_closed(&path) {
            if language::has(&path, name) {
                return None;
            }
            language::members(&path).map(str::to_owned).collect()
        } else if let [root] = path.as_slice()
            && *root != "self"
            && self.own.has(root)
        {
            return self.attribute_of_value(at, root, name);
        } else {
            self.around.lacks(&path, name)?
        };
        let usage = Usage::Attribute(path.join("."));
        Some(UnknownName { at, usage, name: name.to_owned(), suggestion: nearest(name, instead.into_iter()) })
    }

    /// What is almost a member of a module.
    fn almost_a_member(&self, at: ExprId, value: ExprId, name: &str) -> Option<UnknownName> {
        let path = self.ast.dotted(value).filter(|path| !self.own.has(path[0]))?;
        let suggestion = nearest(name, self.around.lacks(&path, name)?.into_iter())?;
        let usage = Usage::Attribute(path.join("."));
        Some(UnknownName { at, usage, name: name.to_owned(), suggestion: Some(suggestion) })
    }

    /// What a value may have is not known for any value; of what is almost one of the usual names it is.
    fn attribute_of_value(&self, at: ExprId, value: &str, name: &str) -> Option<UnknownName> {
        let suggestion = nearest(name, OF_VALUES.map(str::to_owned).into_iter())?;
        let usage = Usage::Attribute(value.to_owned());
        (suggestion != name).then(|| UnknownName { at, usage, name: name.to_owned(), suggestion: Some(suggestion) })
    }

    fn keywords(&self, call: ExprId, func: ExprId, args: &[Arg]) -> Vec<UnknownName> {
        if args.iter().all(|arg| arg.keyword.is_none()) {
            return Vec::new();
        }
        let Some(path) = self.ast.dotted(func) else { return Vec::new() };
        let is_of_language = vocabulary::is_language(path[0]);
        let launch: &[&str] = if is_of_language { &OF_OPERATIONS } else { &LAUNCH };
        let declared = if is_of_language { language::params(&path) } else { self.around.params(&path) };
        let Some(declared) = declared else { return Vec::new() };
        let unknown = |arg: &Arg| {
            let name = arg.keyword.as_deref()?;
            let is_known = declared.iter().any(|param| param == name) || launch.contains(&name);
            let is_known = is_known || is_of_language && language::has_legacy_param(&path, name);
            (!is_known).then(|| UnknownName {
                at: arg.value,
                usage: Usage::Keyword(Callee { name: path.join("."), params: declared.clone(), call }),
                name: name.to_owned(),
                suggestion: nearest(name, declared.iter().cloned()),
            })
        };
        args.iter().filter_map(unknown).collect()
    }
}

/// The name that needs the fewest changes of letters, if it is near enough to be what was meant.
fn nearest(name: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let most = match name.chars().count() {
        0 | 1 => return None,
        letters => (letters / 3).clamp(1, 2),
    };
    let near = names.filter(|other| other.len().abs_diff(name.len()) <= most || is_anagram(name, other));
    let counted =
        near.map(|other| (if is_anagram(name, &other) { 1 } else { strsim::levenshtein(name, &other) }, other));
    counted.filter(|(slips, _)| *slips <= most).min().map(|(_, other)| other)
}

/// Whether one is the other with its letters in another order, as two that were swapped while typing.
fn is_anagram(one: &str, other: &str) -> bool {
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    one.len() == other.len() && strsim::levenshtein(one, other) <= 2 && sorted(one) == sorted(other)
}

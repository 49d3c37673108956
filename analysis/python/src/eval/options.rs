//! Options of a program (`argparse`): what each is where the program is run without any.

use std::collections::BTreeSet;

use tilefit_syntax::ast::{Arg, Ast, BinaryOp, Expr, Stmt};

use super::object::{Behaviour, Object};
use super::{Constant, Evaluator, Weighed, unknown};

/// What `parse_args()` gives: the options with their defaults, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Namespace(Vec<(String, Constant)>);

impl Namespace {
    /// `vars(args)`
    pub(super) fn as_dictionary(&self) -> Constant {
        Constant::Dict(self.0.iter().map(|(name, value)| (Constant::Str(name.clone()), value.clone())).collect())
    }
}

/// `parser.parse_args()` where the same code makes the parser and adds the options; `None` where it does not.
pub(super) fn parsed(evaluator: &Evaluator<'_>, parser: &str) -> Option<Constant> {
    let ast = evaluator.ast;
    made_by(ast, parser, "ArgumentParser")?;
    let mut options: Vec<(String, Constant)> = Vec::new();
    let mut put = |name: String, value: Constant| match options.iter_mut().find(|(other, _)| *other == name) {
        Some((_, old)) => *old = value,
        None => options.push((name, value)),
    };
    let groups = groups(ast, parser);
    for (_, expr) in ast.exprs() {
        let Expr::Call { func, args } = expr else { continue };
        let Some(path) = ast.dotted(*func) else { continue };
        match path.as_slice() {
            [of, "add_argument"] if *of == parser || groups.contains(of) => {
                if let Some(name) = name(ast, args) {
                    put(name, default(evaluator, args));
                }
            }
            [of, "set_defaults"] if *of == parser => {
                let given = args.iter().filter_map(|arg| Some((arg.keyword.clone()?, evaluator.value(arg.value))));
                given.for_each(|(name, value)| put(name, value));
            }
            _ => {}
        }
    }
    Some(Constant::object(Namespace(options)))
}

/// The first argument of the call by which a name gets its value.
fn made_by<'a>(ast: &'a Ast, name: &str, function: &str) -> Option<&'a [Arg]> {
    ast.stmts().find_map(|(_, stmt)| {
        let Stmt::Assign { targets, value: Some(value), .. } = stmt else { return None };
        let Expr::Call { func, args } = ast.expr(*value) else { return None };
        let is_it = targets.iter().any(|&target| ast.name(target) == Some(name));
        (is_it && ast.dotted(*func)?.last() == Some(&function)).then_some(args.as_slice())
    })
}

/// The names of groups of options of a parser.
fn groups<'a>(ast: &'a Ast, parser: &str) -> BTreeSet<&'a str> {
    let assigned = ast.stmts().filter_map(|(_, stmt)| match stmt {
        Stmt::Assign { targets, value: Some(value), .. } => Some((targets.first()?, value)),
        _ => None,
    });
    let groups = assigned.filter_map(|(target, value)| {
        let Expr::Call { func, .. } = ast.expr(*value) else { return None };
        match ast.dotted(*func)?.as_slice() {
            [of, "add_argument_group" | "add_mutually_exclusive_group"] if *of == parser => ast.name(*target),
            _ => None,
        }
    });
    groups.collect()
}

fn keyword<'a>(args: &'a [Arg], name: &str) -> Option<&'a Arg> {
    args.iter().find(|arg| arg.keyword.as_deref() == Some(name))
}

/// `--block-size`, `-b` and `dest=`: the attribute of an option.
fn name(ast: &Ast, args: &[Arg]) -> Option<String> {
    let text = |arg: &Arg| if let Expr::Str(text) = ast.expr(arg.value) { Some(text.clone()) } else { None };
    if let Some(name) = keyword(args, "dest") {
        return text(name);
    }
    let flags: Vec<String> = args.iter().filter(|arg| arg.keyword.is_none()).filter_map(text).collect();
    let flag = flags.iter().find(|flag| flag.starts_with("--")).or_else(|| flags.first())?;
    Some(flag.trim_start_matches('-').replace('-', "_"))
}

/// What an option is that is not given.
fn default(evaluator: &Evaluator<'_>, args: &[Arg]) -> Constant {
    let ast = evaluator.ast;
    let action = keyword(args, "action").map(|action| ast.expr(action.value));
    let is_action = |name: &str| matches!(action, Some(Expr::Str(action)) if action == name);
    let has_dash = |arg: &Arg| matches!(ast.expr(arg.value), Expr::Str(flag) if flag.starts_with('-'));
    let is_needed = !args.iter().any(has_dash) && keyword(args, "nargs").is_none()
        || keyword(args, "required").is_some_and(|arg| matches!(ast.expr(arg.value), Expr::Bool(true)));
    let ty = keyword(args, "type").and_then(|ty| ast.dotted(ty.value)).and_then(|path| path.last().copied());
    match keyword(args, "default").map(|default| evaluator.value(default.value)) {
        // The parser reads texts as it reads what is given.
        Some(Constant::Str(text)) => match ty {
            None | Some("str") => Constant::Str(text),
            Some("int") => {
                text.trim().parse().map_or_else(|_| unknown("a default that does not read as a number"), Constant::Int)
            }
            Some(_) => unknown("a default that the program reads"),
        },
        Some(value) => value,
        None if is_needed => unknown("an option that has to be given"),
        None if is_action("store_true") => Constant::Bool(false),
        None if is_action("store_false") => Constant::Bool(true),
        None if is_action("count") || action.is_none() || is_action("store") => Constant::None,
        None => unknown("an option that is not followed"),
    }
}

impl Weighed for Namespace {
    fn weight(&self) -> usize {
        self.0.iter().map(|(_, value)| value.weight()).sum::<usize>() + 1
    }

    fn depth(&self) -> u32 {
        self.0.iter().map(|(_, value)| value.depth()).max().unwrap_or(0).saturating_add(1)
    }
}

impl Behaviour for Namespace {
    fn truth(&self) -> Option<bool> {
        Some(true)
    }

    fn is_known(&self) -> bool {
        false
    }

    fn is_lasting(&self) -> bool {
        false
    }

    fn equals(&self, other: &Object) -> bool {
        other.get::<Namespace>().is_some_and(|other| self == other)
    }

    fn named(&self, _: &str) -> Option<Constant> {
        None
    }

    fn member(&self, name: &str) -> Option<Constant> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
    }

    fn with_member(&self, name: &str, value: &Constant) -> Option<Constant> {
        let mut changed = self.clone();
        match changed.0.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = value.clone(),
            None => changed.0.push((name.to_owned(), value.clone())),
        }
        Some(Constant::object(changed))
    }

    fn method(&self, _: &str, _: &[Constant]) -> Option<Constant> {
        None
    }

    fn either(&self, _: &Object) -> Option<Constant> {
        None
    }

    fn binary(&self, _: BinaryOp, _: &Constant, _: &Constant) -> Option<Constant> {
        None
    }
}

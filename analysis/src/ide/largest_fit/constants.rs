//! The numbers of a file that sizes may depend on, the names that they have, and the blocks that may depend on one.

use std::collections::{BTreeSet, HashMap, HashSet};

use tilefit_syntax::ast::{Ast, Expr, ExprId, Spans, Stmt};
use tilefit_syntax::{BlockKind, TextRange};

use crate::db;
use crate::ide::Context;

/// A whole number of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// What it is assigned to, or the argument, the key or the default that it is; `None` where it is only written, as in a shape.
    pub name: Option<String>,
    pub value: u64,
    /// Its bytes.
    pub range: TextRange,
    /// From 1.
    pub line: usize,
    /// Other code knows it by this name.
    pub(super) is_bound: bool,
    /// Index of the block that it stands in.
    pub(super) block: usize,
}

/// Those of a file that have a name, in text order.
pub(crate) fn constants(context: &Context<'_>) -> Vec<Constant> {
    let blocks = 0..context.document().blocks().len();
    blocks.flat_map(|block| in_block(context, block)).filter(|it| it.name.is_some()).collect()
}

/// The one that a byte offset touches, or that the name there refers to.
pub(super) fn at(context: &Context<'_>, offset: usize) -> Option<Constant> {
    let blocks = context.document().blocks();
    let is_here = |block: usize| {
        let start = blocks[block].start;
        TextRange::new(start, start + blocks[block].source.text.len()).touches(offset)
    };
    for block in (0..blocks.len()).filter(|&block| is_here(block)) {
        if let Some(constant) = in_block(context, block).into_iter().find(|it| it.range.touches(offset)) {
            return Some(constant);
        }
        let parsed = parsed(context, block);
        let is_name = |(expr, _): &(ExprId, &Expr)| {
            parsed.spans.expr(*expr).shifted(blocks[block].start).touches(offset) && parsed.ast.name(*expr).is_some()
        };
        if let Some(name) = parsed.ast.exprs().find(is_name).and_then(|(expr, _)| parsed.ast.name(expr)) {
            return bound(context, block, name);
        }
    }
    None
}

/// The number that a name is bound to, in the block or around it; `None` where it is bound to several.
fn bound(context: &Context<'_>, block: usize, name: &str) -> Option<Constant> {
    let blocks = context.document().blocks();
    let around = std::iter::successors(Some(block), |&block| blocks[block].parent);
    let mut scopes: Vec<Option<usize>> = around.map(Some).collect();
    scopes.push(None);
    scopes.into_iter().find_map(|scope| {
        let is_of =
            |other: usize| Some(other) == scope || blocks[other].parent == scope && is_statements(context, other);
        let here = (0..blocks.len())
            .filter(|&other| is_of(other) && words(&blocks[other].source.text).any(|word| word == name));
        let numbers = here.flat_map(|other| in_block(context, other));
        let mut found = numbers.filter(|it| it.is_bound && it.name.as_deref() == Some(name));
        found.next().filter(|_| found.next().is_none())
    })
}

fn is_statements(context: &Context<'_>, block: usize) -> bool {
    context.document().blocks()[block].key.kind == BlockKind::Statements
}

pub(super) fn parsed<'db>(context: &Context<'db>, block: usize) -> &'db db::Parsed {
    db::parsed(context.db, db::units(context.db, context.file)[block])
}

fn in_block(context: &Context<'_>, block: usize) -> Vec<Constant> {
    let parsed = parsed(context, block);
    let source = &context.document().blocks()[block];
    let made = |name: Option<String>, value: u64, range: TextRange, is_bound| Constant {
        name,
        value,
        range: range.shifted(source.start),
        line: context.line(range.start + source.start),
        is_bound,
        block,
    };
    let named = names(&parsed.ast);
    let numbers = parsed.ast.exprs().filter_map(|(expr, number)| {
        let Expr::Int(value) = number else { return None };
        let value = u64::try_from(*value).ok().filter(|&value| 0 < value && value <= LARGEST)?;
        let name = named.get(&expr);
        let is_bound = name.is_some_and(|(_, is_bound)| *is_bound);
        Some(made(name.map(|(name, _)| (*name).to_owned()), value, parsed.spans.expr(expr), is_bound))
    });
    let comments = in_comments(&source.source.text, &parsed.spans);
    let mut all: Vec<Constant> =
        numbers.chain(comments.map(|(name, value, range)| made(Some(name), value, range, false))).collect();
    all.sort_by_key(|constant| constant.range);
    all
}

/// Greater numbers are no sizes of tiles.
pub(super) const LARGEST: u64 = 1 << 20;

/// The numbers that have a name, and whether other code knows them by it.
fn names(ast: &Ast) -> HashMap<ExprId, (&str, bool)> {
    let mut named = HashMap::new();
    for (_, stmt) in ast.stmts() {
        match stmt {
            Stmt::Assign { targets, value: Some(value), .. } => {
                for target in targets {
                    match (ast.elements(*target), ast.elements(*value)) {
                        (Some(names), Some(values)) if names.len() == values.len() => {
                            let pairs = names.iter().zip(values);
                            named.extend(pairs.filter_map(|(name, value)| Some((*value, (ast.name(*name)?, true)))));
                        }
                        _ => named.extend(ast.name(*target).map(|name| (*value, (name, true)))),
                    }
                }
            }
            Stmt::Function(function) => {
                let defaults = function.params.iter();
                named.extend(defaults.filter_map(|it| Some((it.default?, (ast.name(it.name)?, true)))));
            }
            _ => {}
        }
    }
    for (_, expr) in ast.exprs() {
        match expr {
            Expr::Call { args, .. } => {
                named.extend(args.iter().filter_map(|arg| Some((arg.value, (arg.keyword.as_deref()?, false)))));
            }
            Expr::Dict(pairs) => named.extend(pairs.iter().filter_map(|(key, value)| match ast.expr(*key) {
                Expr::Str(name) => Some((*value, (name.as_str(), false))),
                _ => None,
            })),
            _ => {}
        }
    }
    named
}

/// `NAME=4` of `# tilefit: … NAME=4 …`
fn in_comments<'t>(text: &'t str, spans: &'t Spans) -> impl Iterator<Item = (String, u64, TextRange)> + 't {
    let comments = spans.comments.iter().filter_map(|range| Some((range.start, text.get(range.start..range.end)?)));
    let ours = comments.filter(|(_, comment)| comment.trim_start_matches(['#', ' ']).starts_with("tilefit:"));
    ours.flat_map(|(start, comment)| {
        comment.split_whitespace().filter_map(move |word| {
            let (name, value) = word.split_once('=')?;
            let number = value.parse().ok().filter(|&number| 0 < number && number <= LARGEST)?;
            let from = start + (word.as_ptr() as usize - comment.as_ptr() as usize) + name.len() + 1;
            Some((name.to_owned(), number, TextRange::new(from, from + value.len())))
        })
    })
}

/// The blocks that may depend on a number, by their indices: those that mention what has it, or what mentions that, and the kernels that one
/// of those names.
pub(super) fn dependents(context: &Context<'_>, constant: &Constant) -> Vec<usize> {
    let blocks = context.document().blocks();
    let scope = blocks[constant.block].parent;
    let is_within = |block: usize| {
        scope.is_none() || std::iter::successors(Some(block), |&block| blocks[block].parent).any(|it| Some(it) == scope)
    };
    let mut mentioned_in: HashMap<&str, Vec<usize>> = HashMap::new();
    for (block, source) in blocks.iter().enumerate().filter(|(block, _)| is_within(*block)) {
        for word in words(&source.source.text).collect::<HashSet<_>>() {
            mentioned_in.entry(word).or_default().push(block);
        }
    }
    let assigned_of = assignments(context);
    let mut names: Vec<&str> = constant.name.iter().filter(|_| constant.is_bound).map(String::as_str).collect();
    names.extend(assigned_at(context, constant));
    let mut reached = BTreeSet::from([constant.block]);
    let is_function = |block: usize| blocks[block].key.kind != BlockKind::Statements;
    names.extend(Some(blocks[constant.block].key.name()).filter(|_| is_function(constant.block)));
    let mut known: HashSet<&str> = names.iter().copied().collect();
    while let Some(name) = names.pop() {
        let mut also: Vec<&str> = assigned_of.get(name).cloned().unwrap_or_default();
        for &block in mentioned_in.get(name).into_iter().flatten() {
            if reached.insert(block) && is_function(block) {
                also.push(blocks[block].key.name());
            }
        }
        names.extend(also.into_iter().filter(|name| known.insert(name)));
    }
    let named: HashSet<&str> = reached.iter().flat_map(|&block| words(&blocks[block].source.text)).collect();
    let is_named = |block: usize| is_function(block) && named.contains(blocks[block].key.name());
    (0..blocks.len()).filter(|&block| reached.contains(&block) || is_named(block)).collect()
}

/// What is assigned outside of functions, by each name that the value of it mentions.
fn assignments<'db>(context: &Context<'db>) -> HashMap<&'db str, Vec<&'db str>> {
    let mut assigned: HashMap<&str, Vec<&str>> = HashMap::new();
    let blocks = context.document().blocks().iter().enumerate();
    for (block, _) in blocks.filter(|(_, block)| block.key.kind != BlockKind::Function) {
        let ast = &parsed(context, block).ast;
        for (_, stmt) in ast.stmts() {
            let Stmt::Assign { targets, value: Some(value), .. } = stmt else { continue };
            let names: Vec<&str> =
                targets.iter().flat_map(|it| within(ast, *it)).filter_map(|it| ast.name(it)).collect();
            let mentioned = within(ast, *value).filter_map(|expr| match ast.expr(expr) {
                Expr::Name(name) | Expr::Attribute { name, .. } => Some(name.as_str()),
                _ => None,
            });
            mentioned.for_each(|mentioned| assigned.entry(mentioned).or_default().extend(&names));
        }
    }
    assigned
}

/// What the statement assigns that a number is written in, as in a list of configurations.
fn assigned_at<'db>(context: &Context<'db>, constant: &Constant) -> Vec<&'db str> {
    let parsed = parsed(context, constant.block);
    let start = context.document().blocks()[constant.block].start;
    let is_here = |range: TextRange| range.shifted(start).touches(constant.range.start);
    let around = parsed.ast.stmts().filter(|(stmt, _)| is_here(parsed.spans.stmt(*stmt)));
    let targets = around.flat_map(|(_, stmt)| match stmt {
        Stmt::Assign { targets, .. } => targets.clone(),
        _ => Vec::new(),
    });
    targets.flat_map(|it| within(&parsed.ast, it)).filter_map(|it| parsed.ast.name(it)).collect()
}

pub(crate) fn within(ast: &Ast, expr: ExprId) -> impl Iterator<Item = ExprId> {
    let mut open = vec![expr];
    std::iter::from_fn(move || {
        let next = open.pop()?;
        open.extend(ast.expr(next).parts());
        Some(next)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

//! A way out of a memory that is too small: one number less, of a scenario comment, of a default, of a launch or of an allocation. The kernel is
//! laid out with it before it is offered.

use std::collections::BTreeSet;

use tilefit_gpu::scenario;
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::finding::Origin;
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId, Function, Param, Stmt};

use super::code_action::{CodeAction, Effect, Fix};
use super::diagnostic::Diagnostic;
use super::largest_fit::within;
use super::speculative::{self, Concerned, Edit};
use super::{Context, PlacedUnit, formatting, language, languages};
use crate::db;

/// Numbers that are tried for one kernel, and smaller values of each.
const MOST_NUMBERS: usize = 8;
const MOST_VALUES: usize = 6;
/// Greater ones are extents of blocks, which are halved.
const MOST_STAGES: u64 = 15;

struct Number {
    name: String,
    /// Where a name alone does not say it.
    line: Option<usize>,
    value: u64,
    range: TextRange,
    /// What is written before the number, which is not there yet.
    before: &'static str,
}

impl Number {
    fn with(&self, value: u64) -> Edit {
        (self.range, format!("{}{value}", self.before))
    }
}

/// The names in the shapes of tensors that a kernel of TileLang is given: those of the problem, which is not made smaller.
fn sizes_of_problem(ast: &Ast) -> BTreeSet<&str> {
    let inner =
        ast.stmts().filter_map(|(_, stmt)| if let Stmt::Function(function) = stmt { Some(function) } else { None });
    let annotations = inner.flat_map(|function| function.params.iter().filter_map(|param| param.annotation));
    annotations.flat_map(|annotation| within(ast, annotation)).filter_map(|expr| ast.name(expr)).collect()
}

/// For the first diagnostic of a memory that is too small.
pub(super) fn smaller_numbers(context: &Context<'_>, placed: &PlacedUnit<'_>, range: TextRange) -> Vec<CodeAction> {
    let language = languages::of(context, placed.unit);
    let is_here = |kernel: &language::View<'_>| {
        let at = placed.range(kernel.name_origin());
        at.intersects(range) || at.touches(range.start)
    };
    let kernel = language.kernels(context, placed.unit).into_iter().next();
    let Some(kernel) = kernel.filter(|it| !language.dialect().has_tiles && is_here(it)) else { return Vec::new() };
    let is_too_small = |it: &Diagnostic| matches!(it.code, Code::CapacityExceeded | Code::MayNotFit);
    let Some(fixes) = kernel.diagnostics(context, placed).into_iter().find(is_too_small) else { return Vec::new() };
    let offer = |number: Number| {
        let (value, bytes) = fitting(context, placed, &number)?;
        let place = number.line.map_or_else(String::new, |line| format!(" in line {line}"));
        let bytes = formatting::bytes(bytes);
        let title = format!("`{} = {value}`{place} fits: {bytes} of shared memory", number.name);
        let edits = vec![number.with(value)];
        Some(CodeAction { title, effect: Effect::Fix(Fix { edits, fixes: fixes.clone(), preferred: false }) })
    };
    let ast = db::syntax(context.db, placed.unit);
    let fixed = if db::is_factory(context.db, placed.unit) { sizes_of_problem(ast) } else { BTreeSet::new() };
    let numbers = numbers(context, placed).into_iter().filter(|number| !fixed.contains(number.name.as_str()));
    numbers.take(MOST_NUMBERS).filter_map(offer).collect()
}

/// The largest smaller value with which the kernel fits, and the shared memory that it takes then.
fn fitting(context: &Context<'_>, placed: &PlacedUnit<'_>, number: &Number) -> Option<(u64, u64)> {
    let less = |&value: &u64| match value {
        0 | 1 => None,
        2..=MOST_STAGES => Some(value - 1),
        _ => value.is_multiple_of(2).then_some(value / 2),
    };
    std::iter::successors(Some(number.value), less).skip(1).take(MOST_VALUES).find_map(|value| {
        let edit = number.with(value);
        let is_moved = edit.0.end <= placed.start;
        let start = if is_moved { placed.start - edit.0.len() + edit.1.len() } else { placed.start };
        let used = |context: &Context<'_>| {
            let placed = Concerned::Block(start).units(context).into_iter().next()?;
            let kernels = languages::of(context, placed.unit).kernels(context, placed.unit);
            let kernel = kernels.first()?;
            if kernel.diagnostics(context, &placed).iter().any(|it| it.severity == Severity::Error) {
                return None;
            }
            let memories = kernel.memories();
            let fits =
                memories.iter().all(|it| it.used.high().zip(it.capacity).is_some_and(|(used, most)| used <= most));
            memories.first().and_then(|shared| shared.used.high()).filter(|_| fits)
        };
        Some((value, speculative::after(context, std::slice::from_ref(&edit), used)?))
    })
}

fn numbers(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Number> {
    let ast = db::syntax(context.db, placed.unit);
    let Some(function) = scenario::function(ast) else { return Vec::new() };
    let at = |expr: ExprId| placed.range(Origin::Expr(expr));
    let mut names: Vec<&str> = function.params.iter().filter_map(|param| ast.name(param.name)).collect();
    names.push(STAGES);
    let mut numbers = in_comments(context.text_of(placed), placed.start, &names);
    numbers.extend(in_launches(context, placed, function));
    for param in &function.params {
        let number = param.default.and_then(|default| Some((integer(ast, default)?, default)));
        if let Some(((value, default), name)) = number.zip(ast.name(param.name)) {
            numbers.push(Number { name: name.to_owned(), line: None, value, range: at(default), before: "" });
        }
    }
    for (_, stmt) in ast.stmts() {
        let Stmt::Assign { targets, value: Some(value), .. } = stmt else { continue };
        if let ([target], Some(number)) = (targets.as_slice(), integer(ast, *value))
            && let Some(name) = ast.name(*target)
        {
            numbers.push(Number { name: name.to_owned(), line: None, value: number, range: at(*value), before: "" });
        }
    }
    for (call, expr) in ast.exprs() {
        let Expr::Call { func, args } = expr else { continue };
        let called = match ast.expr(*func) {
            Expr::Attribute { name, .. } | Expr::Name(name) => name.as_str(),
            _ => continue,
        };
        let Some(&(_, count, nth)) = COPIES.iter().find(|(function, ..)| *function == called) else { continue };
        let keyword = args.iter().find(|arg| arg.keyword.as_deref() == Some(count));
        let by_place = || args.get(nth).filter(|_| args.iter().take(nth + 1).all(|arg| arg.keyword.is_none()));
        let number = keyword.or_else(by_place).and_then(|arg| Some((integer(ast, arg.value)?, arg.value)));
        if let Some((value, arg)) = number {
            let line = Some(context.line(at(call).start));
            numbers.push(Number { name: count.to_owned(), line, value, range: at(arg), before: "" });
        }
    }
    numbers
}

fn integer(ast: &Ast, expr: ExprId) -> Option<u64> {
    match ast.expr(expr) {
        Expr::Int(value) => u64::try_from(*value).ok(),
        _ => None,
    }
}

const STAGES: &str = "num_stages";

/// Functions in kernels that are given a number of copies, with the parameter for it and its place.
const COPIES: [(&str, &str, usize); 2] = [("local_alloc", "num", 2), ("Pipelined", STAGES, 2)];

/// No compiler has more stages by default.
const DEFAULT_STAGES: u64 = 3;

/// Of the launches in the file: the stages, and what the kernel is compiled for. A factory of TileLang is called.
fn in_launches(context: &Context<'_>, placed: &PlacedUnit<'_>, function: &Function) -> Vec<Number> {
    let own = db::syntax(context.db, placed.unit);
    let imports = db::triton_imports(context.db, context.file);
    let is_factory = db::is_factory(context.db, placed.unit);
    let is_given =
        |param: &Param| is_factory || param.annotation.is_some_and(|it| scenario::is_constexpr(own, imports, it));
    let params = function.params.iter().enumerate().filter(|(_, param)| is_given(param));
    let params: Vec<(usize, &str)> = params.filter_map(|(nth, param)| Some((nth, own.name(param.name)?))).collect();
    let kernel = placed.unit.key(context.db).name();
    let mut numbers = Vec::new();
    for (&host, block) in db::units(context.db, context.file).iter().zip(context.document().blocks()) {
        if host == placed.unit || !block.source.text.contains(kernel) {
            continue;
        }
        let parsed = db::parsed(context.db, host);
        let ast = &parsed.ast;
        let is_kernel = |func: &ExprId| match ast.expr(*func) {
            Expr::Subscript { value, .. } => !is_factory && ast.name(*value) == Some(kernel),
            Expr::Name(name) => is_factory && name == kernel,
            _ => false,
        };
        for (_, expr) in ast.exprs() {
            let Expr::Call { func, args } = expr else { continue };
            if !is_kernel(func) {
                continue;
            }
            let at = |expr: ExprId| parsed.spans.expr(expr).shifted(block.start);
            let keyword = |name: &str| args.iter().find(|arg| arg.keyword.as_deref() == Some(name));
            let is_spread = |arg: &Arg| matches!(ast.expr(arg.value), Expr::Starred(_) | Expr::Unpacked(_));
            let may_be_spread = args.iter().any(is_spread);
            let by_place = |nth: usize| args.get(nth).filter(|arg| !may_be_spread && arg.keyword.is_none());
            let number = |name: &str, arg: &Arg| {
                Some(Number {
                    name: name.to_owned(),
                    line: None,
                    value: integer(ast, arg.value)?,
                    range: at(arg.value),
                    before: "",
                })
            };
            let given = |&(nth, name): &(usize, &str)| number(name, keyword(name).or_else(|| by_place(nth))?);
            numbers.extend(params.iter().filter_map(given));
            if is_factory {
                continue;
            }
            numbers.extend(keyword(STAGES).and_then(|arg| number(STAGES, arg)));
            if let Some(last) = args.last().filter(|_| keyword(STAGES).is_none() && !may_be_spread) {
                let range = TextRange::empty(at(last.value).end);
                numbers.push(Number {
                    name: STAGES.to_owned(),
                    line: None,
                    value: DEFAULT_STAGES,
                    range,
                    before: ", num_stages=",
                });
            }
        }
    }
    numbers
}

/// `NAME=4` of `# tilefit: … NAME=4 …`
fn in_comments(text: &str, start: usize, names: &[&str]) -> Vec<Number> {
    let mut numbers = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let comment = line.find("# tilefit:").unwrap_or(line.len());
        let mut word_start = start + line_start + comment;
        for word in line[comment..].split_inclusive(char::is_whitespace) {
            if let Some((name, value)) = word.trim_end().split_once('=')
                && let (Ok(number), true) = (value.parse::<u64>(), names.contains(&name))
            {
                let from = word_start + name.len() + 1;
                let range = TextRange::new(from, from + value.len());
                numbers.push(Number { name: name.to_owned(), line: None, value: number, range, before: "" });
            }
            word_start += word.len();
        }
        line_start += line.len();
    }
    numbers
}

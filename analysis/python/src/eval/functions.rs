//! Functions that are called: their statements are run one by one. What a function would change outside of itself, and what
//! it does with values that are not known, makes the result unknown.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use tilefit_syntax::ast::{Arg, Ast, BoolOp, CompareOp, Expr, ExprId, Function, Param, ParamKind, Stmt, StmtId};

use super::arithmetic::binary;
use super::builtins::is_builtin;
use super::{
    Argument, Constant, Evaluator, Parts, Scope, VALUES_A_CALL, Weighed, asks_for_program, choice, decorator_name,
    dictionaries, entries, held, is_shape, paths, split, unknown,
};
use crate::finding::Reason;
use crate::work;

/// Statements that an expression may run through the functions that it calls. Longer runs count as unknown.
const LONGEST_RUN: u32 = 20_000;
/// Rounds of a `while` that are followed where statements may be passed over: one that waits for something has no end here.
const MOST_ROUNDS: usize = 64;
/// Of those that not all cases take.
const MOST_OPEN_ROUNDS: usize = 16;
/// Locals that are copied in the time of a step, and those that are passed on the way to one.
const LOCALS_COPIED_A_STEP: u64 = 4;
pub(super) const LOCALS_A_STEP: u64 = 64;
/// Values within one that are compared in the time of a step.
const VALUES_COMPARED_A_STEP: u64 = 32;

/// `name(args)` of a function of this file or of one that it imports.
pub(super) fn call(caller: &Evaluator, name: &str, args: &[Arg]) -> Constant {
    caller.count(VALUES_A_CALL);
    let Some(source) = caller.scope.function(name) else {
        return unknown(format!("calls `{name}`, which tilefit does not evaluate"));
    };
    let defining_scope = caller.scope.defining_scope(name);
    let defining_scope = defining_scope.as_deref().unwrap_or(caller.scope);
    let Some(function) = function(&source.ast) else { return unknown(format!("`{name}` is not a function")) };
    let only_caches =
        |&decorator: &ExprId| matches!(decorator_name(&source.ast, decorator).last(), Some(&("cache" | "lru_cache")));
    if !function.decorators.iter().all(only_caches) {
        return unknown(format!("calls `{name}`, which has a decorator"));
    }
    match passed(caller, &source.ast, defining_scope, name, function, args) {
        Ok(arguments) => run(caller, &source.ast, defining_scope, function, arguments),
        Err(reason) => Constant::Unknown(reason),
    }
}

/// `functools.partial(function, …)`: what it is given.
pub(super) fn partial<'a>(ast: &'a Ast, call: &'a Expr) -> Option<&'a [Arg]> {
    let Expr::Call { func, args } = call else { return None };
    match ast.dotted(*func)?.as_slice() {
        ["functools", "partial"] | ["partial"] => Some(args),
        _ => None,
    }
}

/// The function that a block defines.
pub(super) fn function(ast: &Ast) -> Option<&Function> {
    match ast.body.as_slice() {
        [only] => match ast.stmt(*only) {
            Stmt::Function(function) => Some(function),
            _ => None,
        },
        _ => None,
    }
}

/// What a function returns for these values of its parameters.
pub(super) fn run(
    caller: &Evaluator,
    ast: &Ast,
    defining_scope: &dyn Scope,
    function: &Function,
    arguments: Vec<(String, Constant)>,
) -> Constant {
    let evaluator = Evaluator {
        ast,
        scope: defining_scope,
        arguments: &[],
        depth: caller.depth + 10,
        cut_at: caller.cut_at,
        steps: caller.steps,
        work: caller.work,
    };
    Run { locals: arguments, ..Run::of(evaluator, defining_scope.follows()) }.call(function)
}

/// `name(args)` of a function inside of the one that is being run, whose locals it sees as they are now.
pub(super) fn call_local(caller: &Evaluator, name: &str, local: StmtId, args: &[Arg]) -> Constant {
    let (ast, scope) = (caller.ast, caller.scope);
    let Stmt::Function(function) = ast.stmt(local) else { return unknown(format!("`{name}` is not a function")) };
    let mut locals = match passed(caller, ast, scope, name, function, args) {
        Ok(arguments) => arguments,
        Err(reason) => return Constant::Unknown(reason),
    };
    for (name, value) in caller.arguments {
        if !locals.iter().any(|(param, _)| param == name) {
            locals.push((name.clone(), value.clone()));
        }
    }
    let evaluator = Evaluator { arguments: &[], depth: caller.depth + 10, ..*caller };
    let mut run = Run { locals, ..Run::of(evaluator, scope.follows()) };
    run.hold_locals();
    run.call(function)
}

/// Whether a function inside of another one changes nothing but its own locals, so that calls of it can be run by themselves.
fn is_closed(ast: &Ast, function: &Function) -> bool {
    let is_plain = |default: ExprId| {
        matches!(ast.expr(default), Expr::Int(_) | Expr::Float(_) | Expr::Str(_) | Expr::Bool(_) | Expr::None)
    };
    function.decorators.is_empty()
        && function.params.iter().filter_map(|param| param.default).all(is_plain)
        && changes_locals_only(ast, &function.body)
}

fn changes_locals_only(ast: &Ast, body: &[StmtId]) -> bool {
    let within = |body: &[StmtId]| changes_locals_only(ast, body);
    body.iter().all(|&stmt| match ast.stmt(stmt) {
        Stmt::Assign { targets, .. } => targets.iter().all(|target| {
            let parts = ast.elements(*target);
            parts
                .map_or_else(|| ast.name(*target).is_some(), |parts| parts.iter().all(|part| ast.name(*part).is_some()))
        }),
        Stmt::Expr(expr) => matches!(ast.expr(*expr), Expr::Str(_)),
        Stmt::If { body, or_else, .. } | Stmt::For { body, or_else, .. } => within(body) && within(or_else),
        Stmt::Return(_) | Stmt::Pass | Stmt::Break | Stmt::Continue | Stmt::Import(_) => true,
        Stmt::Assert(_) => true,
        Stmt::Other { keyword, .. } => *keyword == "raise",
        _ => false,
    })
}

/// Runs a function whose arguments are not known, or the statements of a module.
pub(super) fn follow(evaluator: &Evaluator) {
    let ast = evaluator.ast;
    let mut run = Run::of(Evaluator { ..*evaluator }, true);
    let ended = match function(ast) {
        Some(function) => {
            for param in &function.params {
                let name = ast.name(param.name).unwrap_or_default();
                let given = || unknown(format!("`{name}` is a parameter"));
                run.bind(name, param.default.map_or_else(given, |default| evaluator.value(default)));
            }
            run.body(&function.body)
        }
        None => run.body(&ast.body),
    };
    // Where it ends early, the calls after it are not known.
    drop(ended);
}

/// Runs a function in parts, each with what the ones before left in its locals.
pub(super) fn run_parts(first: &Evaluator, rest: &[Evaluator], arguments: &[Argument]) -> Constant {
    let Some(function) = function(first.ast) else { return unknown("is not a function") };
    let mut run = Run::of(Evaluator { ..*first }, true);
    for (name, value) in bound_arguments(first, function, arguments) {
        run.bind(&name, value);
    }
    run.hold_locals();
    let mut flow = run.body(&function.body);
    for evaluator in rest {
        if matches!(flow, Ok(Flow::Return(_) | Flow::Ends) | Err(_)) {
            break;
        }
        // A local function is a statement of its own part.
        run.locals.retain(|(_, value)| !matches!(value, Constant::Local(_) | Constant::Thunk(_)));
        run = Run { evaluator: Evaluator { ..*evaluator }, handed_on: RefCell::default(), ..run };
        flow = run.body(&evaluator.ast.body);
    }
    run.returned(flow)
}

/// What the statements of a module, given in blocks, leave in a name: those that change it are run.
pub(super) fn left_in(name: &str, blocks: &[Evaluator]) -> Option<Constant> {
    let mut run = Run::of(Evaluator { ..*blocks.first()? }, false);
    for block in blocks {
        run = Run { evaluator: Evaluator { ..*block }, handed_on: RefCell::default(), ..run };
        let changing = block.ast.body.iter().filter(|&&stmt| changes(block.ast, stmt, name));
        if let Err(reason) = run.body(&changing.copied().collect::<Vec<_>>()) {
            return Some(Constant::Unknown(reason));
        }
    }
    run.locals.into_iter().find(|(local, _)| local == name).map(|(_, value)| value)
}

/// Whether a statement of a module assigns a name or changes the list in it. What only the program does is none of the module's.
pub(super) fn changes(ast: &Ast, stmt: StmtId, name: &str) -> bool {
    let is_it = |target: ExprId| ast.name(target) == Some(name);
    let is_target = |target: ExprId| match ast.expr(target) {
        Expr::Subscript { value, .. } => is_it(*value),
        _ => is_it(target) || ast.elements(target).is_some_and(|parts| parts.iter().any(|&part| is_it(part))),
    };
    match ast.stmt(stmt) {
        Stmt::Assign { targets, value: Some(_), .. } => targets.iter().any(|&target| is_target(target)),
        Stmt::AugAssign { target, .. } => is_target(*target),
        Stmt::Expr(call) => match ast.expr(*call) {
            Expr::Call { func, .. } => matches!(ast.dotted(*func).as_deref(), Some([first, _]) if *first == name),
            _ => false,
        },
        Stmt::If { condition, .. } if asks_for_program(ast, *condition) => false,
        Stmt::Function(_) | Stmt::Class { .. } => false,
        other => other.bodies().any(|body| body.iter().any(|&stmt| changes(ast, stmt, name))),
    }
}

/// The value of each parameter, also of `*args` and `**kwargs`.
fn bound_arguments(evaluator: &Evaluator, function: &Function, arguments: &[Argument]) -> Vec<(String, Constant)> {
    let ast = evaluator.ast;
    let name = |param: &Param| ast.name(param.name).unwrap_or_default().to_owned();
    let is_param = |keyword: &str| function.params.iter().any(|param| ast.name(param.name) == Some(keyword));
    let mut positional = arguments.iter().filter(|argument| argument.keyword.is_none());
    let bound = function.params.iter().map(|param| {
        let by_keyword = || arguments.iter().find(|argument| argument.keyword.as_deref() == ast.name(param.name));
        let given = match param.kind {
            ParamKind::Plain => positional.next().or_else(by_keyword),
            ParamKind::KeywordOnly => by_keyword(),
            ParamKind::Args => {
                let rest = positional.by_ref().map(|argument| argument.value.clone());
                return (name(param), Constant::Tuple(rest.collect()));
            }
            ParamKind::Kwargs => {
                let more = arguments.iter().filter_map(|argument| {
                    let keyword = argument.keyword.as_ref().filter(|keyword| !is_param(keyword))?;
                    Some((Constant::Str(keyword.clone()), argument.value.clone()))
                });
                return (name(param), Constant::Dict(more.collect()));
            }
        };
        let value = match (given, param.default) {
            (Some(argument), _) => argument.value.clone(),
            (None, Some(default)) => evaluator.value(default),
            (None, None) => open_parameter(evaluator, param),
        };
        (name(param), value)
    });
    bound.collect()
}

/// What nothing says of a parameter.
fn open_parameter(evaluator: &Evaluator, param: &Param) -> Constant {
    let is_int = param.annotation.is_some_and(|annotation| evaluator.ast.name(annotation) == Some("int"));
    match is_int.then(|| evaluator.scope.decision()).flatten() {
        Some(decision) => choice::OneOf::number(decision),
        None => unknown(format!("`{}` is a parameter", evaluator.ast.name(param.name).unwrap_or_default())),
    }
}

/// The value of each parameter.
fn passed(
    caller: &Evaluator,
    ast: &Ast,
    defining_scope: &dyn Scope,
    name: &str,
    function: &Function,
    args: &[Arg],
) -> Result<Vec<(String, Constant)>, Reason> {
    let differs = || Reason::new(format!("the arguments of the call of `{name}` do not match its parameters"));
    let mut positional = args.iter().filter(|arg| arg.keyword.is_none());
    let mut taken = 0;
    let mut passed = Vec::with_capacity(function.params.len());
    for param in &function.params {
        let param_name = ast.name(param.name).unwrap_or_default();
        let by_keyword = || args.iter().find(|arg| arg.keyword.as_deref() == Some(param_name));
        let arg = match param.kind {
            ParamKind::Plain => positional.next().or_else(by_keyword),
            ParamKind::KeywordOnly => by_keyword(),
            ParamKind::Args | ParamKind::Kwargs => return Err(differs()),
        };
        taken += usize::from(arg.is_some());
        let value = match (arg, param.default) {
            (Some(arg), _) if matches!(caller.ast.expr(arg.value), Expr::Starred(_) | Expr::Unpacked(_)) => {
                return Err(differs());
            }
            (Some(arg), _) => caller.value(arg.value),
            (None, Some(default)) => {
                Evaluator { ast, scope: defining_scope, arguments: &[], depth: caller.depth + 10, ..*caller }
                    .value(default)
            }
            (None, None) => return Err(differs()),
        };
        passed.push((param_name.to_owned(), value));
    }
    if taken == args.len() { Ok(passed) } else { Err(differs()) }
}

/// A function that is being run.
struct Run<'e> {
    evaluator: Evaluator<'e>,
    locals: Vec<(String, Constant)>,
    /// The first ones of them, which others hold.
    held: usize,
    /// What is in those at first.
    given: Vec<Constant>,
    /// Goes on after what is not known: only the calls are wanted.
    lenient: bool,
    /// What is returned under conditions that are not known.
    returns: Vec<Returned>,
    /// Where one thing decides whether this place is reached: in which cases it is.
    cases: Option<Cases>,
    /// Under such conditions, of the loop that runs.
    left: Left,
    /// Which lists the text of the part that runs hands on.
    handed_on: RefCell<FxHashMap<String, bool>>,
}

type Locals = Vec<(String, Constant)>;

/// What decides something, and some of the cases.
type Cases = (u32, Vec<u32>);

struct Returned {
    value: Constant,
    /// Those in which it is returned.
    cases: Option<Cases>,
}

impl Returned {
    /// What is returned here or there.
    fn or(self, other: Returned, scope: &dyn Scope) -> Returned {
        if let (Some((by, some)), Some((other_by, others))) = (&self.cases, &other.cases)
            && by == other_by
            && let Some(value) = choice::joined((&self.value, some), (&other.value, others), *by)
        {
            return Returned { value, cases: Some((*by, [some.as_slice(), others].concat())) };
        }
        Returned { value: either(self.value, other.value, scope), cases: None }
    }
}

/// What the locals may be where a `break` leaves a loop, and a `continue` its round.
#[derive(Default)]
struct Left {
    breaks: Option<Locals>,
    continues: Option<Locals>,
}

/// Each local is what it is in `other`, or what it is.
fn join(known: &mut Locals, other: Locals, joined: impl Fn(&Constant, &Constant) -> Constant) {
    work::spend(other.len() as u64 / LOCALS_COPIED_A_STEP);
    for (nth, (name, value)) in other.into_iter().enumerate() {
        // Mostly both have the same in the same order.
        let is_it = |(local, _): &(String, Constant)| *local == name;
        let place = if known.get(nth).is_some_and(is_it) { Some(nth) } else { known.iter().position(is_it) };
        match place {
            Some(at) if known[at].1 == value => {}
            Some(at) => known[at].1 = joined(&value, &known[at].1),
            None => known.push((name, value)),
        }
    }
}

/// How a statement ends.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Returned),
    /// With an error or the end of the program.
    Ends,
}

/// What is known of something that is one or the other.
fn either(one: Constant, other: Constant, scope: &dyn Scope) -> Constant {
    if one == other && !matches!(one, Constant::Unknown(_)) {
        return one;
    }
    let joined = match (&one, &other) {
        (Constant::Object(one), Constant::Object(other)) => one.either(other),
        (Constant::Tuple(some), Constant::Tuple(others)) if some.len() == others.len() && !scope.takes_all() => {
            let row = scope.decision().and_then(|by| choice::either_row(some, others, by));
            let parts = some.iter().cloned().zip(others.iter().cloned());
            let each = || parts.map(|(one, other)| either(one, other, scope)).collect();
            Some(Constant::Tuple(row.map_or_else(each, Parts::from)))
        }
        _ if scope.takes_all() => choice::either(&one, &other, None),
        _ => scope.decision().and_then(|by| choice::either(&one, &other, Some(by))),
    };
    joined.unwrap_or_else(|| match (one, other) {
        (Constant::Unknown(reason), _) | (_, Constant::Unknown(reason)) => Constant::Unknown(reason),
        _ => unknown("depends on an unknown condition"),
    })
}

fn one_or_other(one: &Constant, other: &Constant, scope: &dyn Scope) -> Constant {
    either(one.clone(), other.clone(), scope)
}

impl<'e> Run<'e> {
    /// One that has not begun.
    fn of(evaluator: Evaluator<'e>, lenient: bool) -> Self {
        let handed_on = RefCell::default();
        let (locals, returns, left) = Default::default();
        let given = Vec::new();
        Self { evaluator, locals, held: 0, given, lenient, returns, cases: None, left, handed_on }
    }

    /// Others hold what is in the locals now.
    fn hold_locals(&mut self) {
        self.held = self.locals.len();
        let dictionaries = self.locals.iter().map(|(_, value)| value).filter(|value| dictionaries::is_composite(value));
        self.given = dictionaries.cloned().collect();
    }

    fn within(&self) -> Evaluator<'_> {
        Evaluator { arguments: &self.locals, cut_at: None, ..self.evaluator }
    }

    fn value(&self, expr: ExprId) -> Constant {
        self.within().value(expr)
    }

    /// What the function returns.
    fn call(mut self, function: &Function) -> Constant {
        let flow = self.body(&function.body);
        self.returned(flow)
    }

    fn returned(self, flow: Result<Flow, Reason>) -> Constant {
        let here = |value| Some(Returned { value, cases: self.cases });
        let last = match flow {
            Ok(Flow::Return(returned)) => Some(returned),
            Ok(Flow::Ends) => None,
            Ok(_) => here(Constant::None),
            Err(reason) => here(Constant::Unknown(reason)),
        };
        let all = last.into_iter().chain(self.returns);
        let value = all.reduce(|one, other| one.or(other, self.evaluator.scope)).map(|returned| returned.value);
        value.unwrap_or_else(|| unknown("the program ends"))
    }

    fn body(&mut self, body: &[StmtId]) -> Result<Flow, Reason> {
        for &stmt in body {
            match self.statement(stmt) {
                Ok(Flow::Next) => {}
                // What one statement does is then not known; the calls after it may be.
                Err(_) if self.lenient && self.evaluator.steps.get() < LONGEST_RUN => self.forget(&[stmt]),
                ended => return ended,
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, stmt: StmtId) -> Result<Flow, Reason> {
        let steps = self.evaluator.steps;
        if steps.replace(steps.get() + 1) >= LONGEST_RUN {
            return Err(Reason::new(format!("runs more than {LONGEST_RUN} statements")));
        }
        let ast = self.evaluator.ast;
        match ast.stmt(stmt) {
            Stmt::Return(value) => {
                let evaluator = Evaluator { arguments: &self.locals, ..self.evaluator };
                let value = value.map_or(Constant::None, |value| evaluator.value(value));
                return Ok(Flow::Return(Returned { value, cases: self.cases.clone() }));
            }
            Stmt::Assign { targets, value: Some(value), .. } => {
                let result = self.popped(*value).unwrap_or_else(|| self.value(*value));
                let value = match (result, ast.expr(*value), targets.as_slice()) {
                    (_, Expr::Thunk(body), [target]) if ast.name(*target).is_some() => Constant::Thunk(*body),
                    (_, call, [target]) if ast.name(*target).is_some() && partial(ast, call).is_some() => {
                        Constant::Thunk(*value)
                    }
                    (Constant::Unknown(reason), shape, [target]) if self.lenient && is_shape(ast, shape) => {
                        let unpacked = ast.elements(*target).and_then(|targets| self.unpacked_shape(targets));
                        unpacked.unwrap_or(Constant::Unknown(reason))
                    }
                    (value, ..) => value,
                };
                for &target in targets {
                    self.assign(target, value.clone())?;
                }
            }
            Stmt::AugAssign { target, op, value } => {
                let combined = binary(*op, self.value(*target), self.value(*value));
                self.evaluator.count(held(&combined));
                match (ast.name(*target), &combined) {
                    // A list is extended for all who hold it.
                    (Some(name), Constant::List(_)) if self.is_shared(name) => return Err(changes_a_list(name)),
                    _ => self.assign(*target, combined)?,
                }
            }
            Stmt::If { condition, body, or_else } => match self.within().condition(*condition) {
                Ok(holds) => return self.body(if holds { body } else { or_else }),
                Err(_) if self.lenient || self.evaluator.scope.takes_all() => {
                    return match split(&self.value(*condition)) {
                        Some((by, cases)) => self.by_case(by, cases, body, or_else),
                        None => self.one_of(body, or_else),
                    };
                }
                Err(reason) => return Err(reason),
            },
            Stmt::While { condition, body, or_else } => {
                return self.looped(or_else, |run| run.while_rounds(*condition, body));
            }
            Stmt::For { target, iter, body, or_else } => {
                return self.looped(or_else, |run| run.for_rounds(*target, *iter, body));
            }
            Stmt::Expr(expr) if self.lenient && self.never_returns(*expr) => {
                return Ok(Flow::Ends);
            }
            Stmt::Expr(expr) => self.expression(*expr)?,
            Stmt::Function(local) if is_closed(ast, local) => {
                self.bind(ast.name(local.name).unwrap_or_default(), Constant::Local(stmt));
            }
            Stmt::Function(Function { name, .. }) | Stmt::Class { name, .. } => {
                let name = ast.name(*name).unwrap_or_default();
                self.bind(name, unknown(format!("`{name}` is a local function or class")));
            }
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
            Stmt::Pass | Stmt::Import(_) | Stmt::Assign { value: None, .. } => {}
            // What is checked holds in a program that runs.
            Stmt::Assert(condition) => self.holds(*condition),
            Stmt::Other { keyword: "raise", .. } if self.lenient || self.evaluator.scope.takes_all() => {
                return Ok(Flow::Ends);
            }
            Stmt::Other { keyword: "try", body } => match self.tried(body) {
                Some(flow) => return Ok(flow),
                None if self.lenient => self.perhaps(body)?,
                None => return Err(Reason::new("a `try` statement, which tilefit does not evaluate")),
            },
            Stmt::Other { body, .. } if self.lenient => self.perhaps(body)?,
            Stmt::With { items, body } if self.lenient => {
                for item in items {
                    let value = self.value(item.context);
                    match item.target {
                        Some(target) if paths::is_file(&value) => self.assign(target, value)?,
                        Some(target) => self.forget_target(target, &Reason::new("is what `with` gives")),
                        None => {}
                    }
                }
                return self.body(body);
            }
            Stmt::ImportFrom { .. } | Stmt::Error if self.lenient => {}
            Stmt::Other { keyword: "raise", .. } => return Err(Reason::new("raises an error")),
            Stmt::Other { keyword, .. } => {
                return Err(Reason::new(format!("a `{keyword}` statement, which tilefit does not evaluate")));
            }
            Stmt::With { .. } | Stmt::ImportFrom { .. } | Stmt::Error => {
                return Err(Reason::new("a statement that tilefit does not run"));
            }
        }
        Ok(Flow::Next)
    }

    /// `rows, columns = tensor.shape` of an unknown tensor.
    fn unpacked_shape(&self, targets: &[ExprId]) -> Option<Constant> {
        let extent = || Some(choice::OneOf::extent(self.evaluator.scope.decision()?));
        let is_one = |target: &ExprId| !matches!(self.evaluator.ast.expr(*target), Expr::Starred(_));
        let extents: Option<Vec<Constant>> = targets.iter().map(|target| is_one(target).then(extent)?).collect();
        extents.map(|extents| Constant::Tuple(extents.into()))
    }

    fn never_returns(&self, expr: ExprId) -> bool {
        let ast = self.evaluator.ast;
        let Expr::Call { func, .. } = ast.expr(expr) else { return false };
        ast.dotted(*func).is_some_and(|path| self.evaluator.scope.ends(&path))
    }

    /// Runs the rounds of a loop, and what follows them.
    fn looped(
        &mut self,
        or_else: &[StmtId],
        rounds: impl FnOnce(&mut Self) -> Result<Flow, Reason>,
    ) -> Result<Flow, Reason> {
        let around = std::mem::take(&mut self.left);
        let ended = rounds(self);
        let left = std::mem::replace(&mut self.left, around);
        let flow = match ended? {
            Flow::Break => Flow::Next,
            Flow::Next => self.body(or_else)?,
            leaves => leaves,
        };
        Ok(self.met(flow, left.breaks))
    }

    fn while_rounds(&mut self, condition: ExprId, body: &[StmtId]) -> Result<Flow, Reason> {
        let mut rounds = 0;
        loop {
            match self.within().condition(condition) {
                Ok(true) if !self.lenient || rounds < MOST_ROUNDS => rounds += 1,
                Ok(false) => return Ok(Flow::Next),
                Err(reason) if !self.lenient => return Err(reason),
                Err(_) if rounds < MOST_OPEN_ROUNDS && self.leaves_some(condition) => rounds += 1,
                Ok(true) | Err(_) => {
                    self.perhaps(body)?;
                    return Ok(Flow::Break);
                }
            }
            match self.round(body)? {
                Flow::Next => {}
                ended => return Ok(ended),
            }
        }
    }

    /// Leaves a loop in the cases in which its condition fails; false where they are not known.
    fn leaves_some(&mut self, condition: ExprId) -> bool {
        let Some((by, [holds, fails])) = split(&self.value(condition)) else { return false };
        let leaving = self.narrowed(by, &fails);
        self.locals = self.narrowed(by, &holds);
        self.leaves(Flow::Break, leaving);
        true
    }

    /// The locals in some cases of what decides something.
    fn narrowed(&self, by: u32, cases: &[u32]) -> Locals {
        work::spend(self.locals.len() as u64 / LOCALS_COPIED_A_STEP);
        self.locals.iter().map(|(name, value)| (name.clone(), choice::narrowed(value, by, cases))).collect()
    }

    fn for_rounds(&mut self, target: ExprId, iter: ExprId, body: &[StmtId]) -> Result<Flow, Reason> {
        let items = match self.within().items(iter) {
            Ok(items) => items,
            Err(reason) if self.lenient => {
                if let Constant::OneOf(choice) = self.value(iter)
                    && let Some(items) = choice.all_elements()
                {
                    return self.some_rounds(target, items, body);
                }
                self.forget_target(target, &reason);
                self.perhaps(body)?;
                return Ok(Flow::Break);
            }
            Err(reason) => return Err(reason),
        };
        for item in items {
            for (name, value) in self.within().bound(target, item)? {
                self.bind(&name, value);
            }
            match self.round(body)? {
                Flow::Next => {}
                ended => return Ok(ended),
            }
        }
        Ok(Flow::Next)
    }

    /// Rounds of which each may be passed over.
    fn some_rounds(&mut self, target: ExprId, items: Vec<Constant>, body: &[StmtId]) -> Result<Flow, Reason> {
        for item in items {
            let before = self.locals.clone();
            for (name, value) in self.within().bound(target, item)? {
                self.bind(&name, value);
            }
            let flow = self.round(body)?;
            let _ = self.behind((Flow::Next, before), flow, one_or_other);
        }
        Ok(Flow::Next)
    }

    fn round(&mut self, body: &[StmtId]) -> Result<Flow, Reason> {
        let flow = match self.body(body)? {
            Flow::Continue => Flow::Next,
            flow => flow,
        };
        let continues = std::mem::take(&mut self.left.continues);
        Ok(self.met(flow, continues))
    }

    /// How a place is reached that statements which end so lead to, and another way with these locals.
    fn met(&mut self, flow: Flow, other: Option<Locals>) -> Flow {
        let Some(other) = other else { return flow };
        if matches!(flow, Flow::Next) {
            self.join(other, one_or_other);
        } else {
            let before = std::mem::replace(&mut self.locals, other);
            self.leaves(flow, before);
        }
        Flow::Next
    }

    /// What is left under a condition that is not known.
    fn leaves(&mut self, flow: Flow, locals: Locals) {
        let left = match flow {
            Flow::Break => &mut self.left.breaks,
            Flow::Continue => &mut self.left.continues,
            Flow::Return(returned) => return self.returns.push(returned),
            Flow::Ends | Flow::Next => return,
        };
        match left {
            Some(known) => join(known, locals, |one, other| one_or_other(one, other, self.evaluator.scope)),
            None => *left = Some(locals),
        }
    }

    fn join(&mut self, other: Locals, joined: impl Fn(&Constant, &Constant, &dyn Scope) -> Constant) {
        join(&mut self.locals, other, |one, other| joined(one, other, self.evaluator.scope));
    }

    /// Takes a condition to hold: names that have no value get what it says of them.
    fn holds(&mut self, condition: ExprId) {
        let ast = self.evaluator.ast;
        if !self.lenient {
            return;
        }
        if let Some((by, [holds, _])) = split(&self.value(condition)) {
            self.locals = self.narrowed(by, &holds);
        }
        match ast.expr(condition) {
            Expr::Bool2 { op: BoolOp::And, left, right } => {
                self.holds(*left);
                self.holds(*right);
            }
            Expr::Compare { left, rest } => {
                let mut left = *left;
                for &(op, right) in rest {
                    match op {
                        CompareOp::Eq => {
                            self.is_equal(left, right);
                            self.is_equal(right, left);
                        }
                        CompareOp::In => self.is_among(left, right),
                        _ => {}
                    }
                    left = right;
                }
            }
            _ => {}
        }
    }

    /// A local that has no value, or not one alone.
    fn open_local(&self, expr: ExprId) -> Option<&str> {
        let name = self.evaluator.ast.name(expr)?;
        let is_open = |value: &Constant| match value {
            Constant::OneOf(choice) => choice.is_open(),
            value => matches!(value, Constant::Unknown(_)),
        };
        self.locals.iter().find(|(local, value)| local == name && is_open(value)).map(|(local, _)| local.as_str())
    }

    /// `name == value`, `name.dtype == value`
    fn is_equal(&mut self, expr: ExprId, other: ExprId) {
        let ast = self.evaluator.ast;
        let value = self.value(other);
        if matches!(value, Constant::Unknown(_)) {
            return;
        }
        let (name, value) = match ast.expr(expr) {
            Expr::Attribute { value: tensor, name } if name == "dtype" => {
                (self.open_local(*tensor), self.evaluator.scope.tensor_of(&value))
            }
            _ => (self.open_local(expr), Some(value)),
        };
        if let (Some(name), Some(value)) = (name.map(str::to_owned), value) {
            self.bind(&name, value);
        }
    }

    /// `name in (16, 32)`
    fn is_among(&mut self, expr: ExprId, others: ExprId) {
        let Some(name) = self.open_local(expr).map(str::to_owned) else { return };
        let (Constant::List(values) | Constant::Tuple(values)) = self.value(others) else { return };
        let among = match self.value(expr) {
            Constant::OneOf(choice) => choice.among(&values),
            _ => self.evaluator.scope.decision().map(|decision| choice::OneOf::decided_as(decision, values)),
        };
        if let Some(among) = among {
            self.bind(&name, among);
        }
    }

    /// Runs statements that may raise an error; `None` where they may: all that they evaluate has to be known.
    fn tried(&mut self, body: &[StmtId]) -> Option<Flow> {
        let ast = self.evaluator.ast;
        let is_plain = |stmt: &StmtId| match ast.stmt(*stmt) {
            Stmt::Assign { targets, value: Some(_), .. } => targets.iter().all(|&target| ast.name(target).is_some()),
            Stmt::Return(Some(_)) => true,
            _ => false,
        };
        if !body.iter().all(is_plain) {
            return None;
        }
        let before = self.locals.clone();
        let is_known = |value: &Constant| match value {
            // A tensor may not have that axis.
            Constant::OneOf(choice) => !choice.is_open(),
            value => !matches!(value, Constant::Unknown(_)),
        };
        for &stmt in body {
            let flow = self.statement(stmt).ok();
            let is_known = match (&flow, ast.stmt(stmt)) {
                (Some(Flow::Return(returned)), _) => is_known(&returned.value),
                (Some(Flow::Next), Stmt::Assign { targets, .. }) => {
                    targets.iter().all(|&target| is_known(&self.value(target)))
                }
                _ => false,
            };
            match flow {
                Some(returns @ Flow::Return(_)) if is_known => return Some(returns),
                Some(Flow::Next) if is_known => {}
                _ => {
                    self.locals = before;
                    return None;
                }
            }
        }
        Some(Flow::Next)
    }

    /// Runs statements that may not run: what they assign is not known after them.
    fn perhaps(&mut self, body: &[StmtId]) -> Result<(), Reason> {
        match self.body(body)? {
            Flow::Next => {}
            flow => {
                let locals = self.locals.clone();
                self.leaves(flow, locals);
            }
        }
        self.forget(body);
        Ok(())
    }

    /// Runs one body and the other, where it is not known which one runs.
    fn one_of(&mut self, one: &[StmtId], other: &[StmtId]) -> Result<Flow, Reason> {
        work::spend(self.locals.len() as u64 / LOCALS_COPIED_A_STEP);
        let before = self.locals.clone();
        let first = self.body(one)?;
        let after_first = std::mem::replace(&mut self.locals, before);
        let second = self.body(other)?;
        Ok(self.behind((first, after_first), second, one_or_other))
    }

    /// What follows a branch whose first body ends so with these locals, and the second one so with those that are there. `joined`: a value that is one
    /// thing behind the first and another one behind the second.
    fn behind(
        &mut self,
        (first, after_first): (Flow, Locals),
        second: Flow,
        joined: impl Fn(&Constant, &Constant, &dyn Scope) -> Constant,
    ) -> Flow {
        match (first, second) {
            (Flow::Return(one), Flow::Return(other)) => Flow::Return(one.or(other, self.evaluator.scope)),
            (Flow::Ends, second) => second,
            (first, Flow::Ends) => {
                self.locals = after_first;
                first
            }
            (first @ (Flow::Next | Flow::Break | Flow::Continue), second)
                if std::mem::discriminant(&first) == std::mem::discriminant(&second) =>
            {
                self.join(after_first, joined);
                first
            }
            (Flow::Next, second) => {
                let after_second = std::mem::replace(&mut self.locals, after_first);
                self.leaves(second, after_second);
                Flow::Next
            }
            (first, second) => {
                self.leaves(first, after_first);
                second
            }
        }
    }

    /// Runs one body in some cases and the other in the others: what they assign is then one thing or the other, by the case.
    fn by_case(
        &mut self,
        by: u32,
        [holds, fails]: [Vec<u32>; 2],
        one: &[StmtId],
        other: &[StmtId],
    ) -> Result<Flow, Reason> {
        let (in_holds, in_fails) = (self.narrowed(by, &holds), self.narrowed(by, &fails));
        let around = self.cases.replace((by, holds.clone()));
        self.locals = in_holds;
        let first = self.body(one)?;
        let after_holds = self.cases.replace((by, fails.clone()));
        let after_first = std::mem::replace(&mut self.locals, in_fails);
        let second = self.body(other)?;
        let after_fails = self.cases.take();
        let goes_on = |flow: &Flow| !matches!(flow, Flow::Return(_) | Flow::Ends);
        self.cases = match (goes_on(&first), goes_on(&second)) {
            _ if around.as_ref().is_some_and(|(other, _)| *other != by) => around,
            (true, false) => after_holds,
            (false, true) => after_fails,
            (true, true) | (false, false) => around,
        };
        Ok(self.behind((first, after_first), second, |one, other, scope| {
            choice::joined((one, &holds), (other, &fails), by)
                .unwrap_or_else(|| either(one.clone(), other.clone(), scope))
        }))
    }

    fn forget(&mut self, body: &[StmtId]) {
        let reason = Reason::new("is assigned under an unknown condition");
        let ast = self.evaluator.ast;
        for &stmt in body {
            match ast.stmt(stmt) {
                Stmt::Assign { targets, .. } => targets.iter().for_each(|target| self.forget_target(*target, &reason)),
                Stmt::AugAssign { target, .. } | Stmt::For { target, .. } => self.forget_target(*target, &reason),
                Stmt::Expr(call) => {
                    if let Expr::Call { func, .. } = ast.expr(*call)
                        && let Some([name, _]) = ast.dotted(*func).as_deref()
                    {
                        self.forget_name(name, &reason);
                    }
                }
                _ => {}
            }
            ast.stmt(stmt).bodies().for_each(|body| self.forget(body));
        }
    }

    fn forget_target(&mut self, target: ExprId, reason: &Reason) {
        let ast = self.evaluator.ast;
        match ast.expr(target) {
            Expr::Name(name) => self.bind(name, Constant::Unknown(reason.clone())),
            Expr::Subscript { value, .. } => self.forget_target(*value, reason),
            Expr::Attribute { value: object, name: member } => {
                if let Some(name) = ast.name(*object)
                    && let Some((_, Constant::Object(object))) = self.locals.iter().find(|(local, _)| local == name)
                {
                    match object.with_member(member, &Constant::Unknown(reason.clone())) {
                        Some(changed) => self.bind(name, changed),
                        None => self.forget_name(name, reason),
                    }
                }
            }
            _ => ast.elements(target).unwrap_or_default().iter().for_each(|part| self.forget_target(*part, reason)),
        }
    }

    /// A local that a method may have changed.
    fn forget_name(&mut self, name: &str, reason: &Reason) {
        let lasts = |value: &Constant| match value {
            Constant::Function(_) => true,
            Constant::Object(object) => object.is_lasting(),
            _ => false,
        };
        if let Some((_, value)) = self.locals.iter_mut().find(|(local, _)| local == name)
            && !lasts(value)
        {
            *value = Constant::Unknown(reason.clone());
        }
    }

    fn bind(&mut self, name: &str, value: Constant) {
        work::spend(self.locals.len() as u64 / LOCALS_A_STEP);
        match self.locals.iter_mut().find(|(local, _)| local == name) {
            Some((_, old)) => *old = value,
            None => self.locals.push((name.to_owned(), value)),
        }
    }

    fn assign(&mut self, target: ExprId, value: Constant) -> Result<(), Reason> {
        let ast = self.evaluator.ast;
        let is_plain = matches!(ast.expr(target), Expr::Name(_)) || ast.elements(target).is_some();
        if self.lenient && !is_plain {
            // A part of something is assigned, which does not change the shapes of tensors.
            let reason = Reason::new("is assigned in parts");
            match ast.expr(target) {
                // An entry of a dictionary of keyword arguments.
                Expr::Subscript { value: object, index } if self.is_dictionary(*object) => {
                    let changed = self.assign_element(*object, *index, value);
                    if let (Err(_), Some(name)) = (changed, ast.name(*object)) {
                        self.forget_name(name, &reason);
                    }
                }
                Expr::Subscript { value, .. } => {
                    if let Some(name) = ast.name(*value) {
                        self.forget_name(name, &reason);
                    }
                }
                Expr::Attribute { value: object, name: member } => {
                    if let Some(name) = ast.name(*object)
                        && let Some((_, Constant::Object(object))) = self.locals.iter().find(|(local, _)| local == name)
                    {
                        match object.with_member(member, &value) {
                            Some(changed) => self.bind(name, changed),
                            None => self.forget_name(name, &reason),
                        }
                    }
                }
                _ => {}
            }
            return Ok(());
        }
        if self.lenient && self.within().bound(target, value.clone()).is_err() {
            self.forget_target(target, &Reason::new("is unpacked from an unknown value"));
            return Ok(());
        }
        if let Expr::Subscript { value: object, index } = ast.expr(target) {
            return self.assign_element(*object, *index, value);
        }
        if let Expr::Attribute { .. } = ast.expr(target) {
            return Err(Reason::new("changes a value outside the function"));
        }
        for (name, value) in self.within().bound(target, value)? {
            self.bind(&name, value);
        }
        Ok(())
    }

    fn is_dictionary(&self, object: ExprId) -> bool {
        let name = self.evaluator.ast.name(object);
        self.locals.iter().any(|(local, value)| Some(local.as_str()) == name && dictionaries::may_be_dictionary(value))
    }

    /// `object[index] = value`
    fn assign_element(&mut self, object: ExprId, index: ExprId, value: Constant) -> Result<(), Reason> {
        let ast = self.evaluator.ast;
        let Some(name) = ast.name(object) else {
            // Taking the arguments that a function consumed off the command line leaves it as it is where there are none.
            let is_same = matches!(ast.expr(index), Expr::Slice { lower: None, upper: None, step: None })
                && ast.dotted(object).as_deref() == Some(&["sys", "argv"])
                && self.value(object) == value;
            return if is_same { Ok(()) } else { Err(Reason::new("changes a value outside the function")) };
        };
        let key = self.value(index);
        self.change(name, |list| match (list, key.clone()) {
            (_, Constant::Unknown(reason)) => Err(reason),
            (_, Constant::OneOf(_)) => Err(Reason::new("changes an element at a place that is not known")),
            (Constant::Dict(pairs), key) => pairs.edit(|pairs| entries::put(pairs, key, value.clone())),
            (Constant::List(elements), Constant::Int(at)) => {
                let at = if at < 0 { at + elements.len() as i64 } else { at };
                let is_there = usize::try_from(at).is_ok_and(|at| elements.set(at, value.clone()));
                is_there.then_some(()).ok_or_else(|| Reason::new("the index is out of range"))
            }
            _ => Err(Reason::new("changes an element of a value that is not a list")),
        })
    }

    /// `dictionary.pop(key)`, `dictionary.pop(key, default)` of a local: the entry, which is taken out.
    fn popped(&mut self, expr: ExprId) -> Option<Constant> {
        let ast = self.evaluator.ast;
        let Expr::Call { func, args } = ast.expr(expr) else { return None };
        let path = ast.dotted(*func)?;
        let ([name, "pop"], [key, default @ ..]) = (path.as_slice(), args.as_slice()) else { return None };
        let (_, dictionary) = self.locals.iter().find(|(local, _)| local == name)?;
        if !dictionaries::may_be_dictionary(dictionary)
            || default.len() > 1
            || args.iter().any(|arg| arg.keyword.is_some())
        {
            return None;
        }
        let key = self.value(key.value);
        let default = default.first().map(|default| self.value(default.value));
        let entry = dictionaries::entry_of(dictionary, &key, default);
        let taken = self.change(name, |dictionary| match (dictionary, &key) {
            (_, Constant::Unknown(_) | Constant::OneOf(_)) => Err(Reason::new("takes an entry out that is not known")),
            (Constant::Dict(pairs), key) => {
                pairs.edit(|pairs| pairs.retain(|(other, _)| other != key));
                Ok(())
            }
            _ => Err(Reason::new("takes an entry out of a value that is not a dictionary")),
        });
        if let Err(reason) = taken {
            self.forget_name(name, &reason);
        }
        Some(entry)
    }

    /// Changes a list or dictionary that nothing else holds.
    fn change(&mut self, name: &str, change: impl Fn(&mut Constant) -> Result<(), Reason>) -> Result<(), Reason> {
        if self.is_shared(name) {
            return Err(changes_a_list(name));
        }
        self.forget_other_names(name);
        match self.locals.iter_mut().find(|(local, _)| local == name) {
            Some((_, value)) => {
                if let Constant::OneOf(choice) = &*value
                    && dictionaries::may_be_dictionary(value)
                {
                    *value = choice.only_dictionaries();
                }
                let changed = match &mut *value {
                    Constant::OneOf(choice) => choice.cases.iter_mut().try_for_each(|(_, value)| change(value)),
                    value => change(value),
                };
                if !value.is_bearable() {
                    *value = unknown("holds more values than tilefit looks at");
                }
                changed
            }
            None => Err(changes_a_list(name)),
        }
    }

    fn expression(&mut self, expr: ExprId) -> Result<(), Reason> {
        let ast = self.evaluator.ast;
        let Expr::Call { func, args } = ast.expr(expr) else { return Ok(()) };
        if ast.name(*func) == Some("print") || self.popped(expr).is_some() {
            return Ok(());
        }
        let path = ast.dotted(*func).unwrap_or_default();
        let changes_a_local = matches!(path.as_slice(), [name, method]
            if self.locals.iter().any(|(local, value)| local == name && (matches!(value, Constant::List(_)) || dictionaries::may_be_dictionary(value)))
                && !matches!(*method, "index" | "count" | "keys" | "values" | "items" | "get" | "copy"));
        if self.lenient && !changes_a_local {
            self.value(expr);
            return Ok(());
        }
        if let ([name, "update"], true) = (path.as_slice(), args.iter().any(|arg| arg.keyword.is_some())) {
            let more = self.within().made_dictionary(args);
            return self.change(name, |mapping| match (mapping, more.clone()) {
                (Constant::Dict(pairs), Constant::Dict(more)) => entries::update(pairs, more),
                _ => Err(Reason::new("updates an unknown value")),
            });
        }
        if let ([name, "setdefault"], [key, default]) = (path.as_slice(), args.as_slice()) {
            let (key, default) = (self.value(key.value), self.value(default.value));
            return self.change(name, |mapping| match mapping {
                Constant::Dict(pairs) if entries::entry(pairs, &key).is_some() => Ok(()),
                Constant::Dict(pairs) if matches!(key, Constant::Str(_) | Constant::Int(_)) => {
                    pairs.edit(|pairs| entries::put(pairs, key.clone(), default.clone()))
                }
                _ => Err(Reason::new("sets an entry that is not known")),
            });
        }
        let ([name, method], [arg]) = (path.as_slice(), args.as_slice()) else {
            return Err(Reason::new("calls a function for its side effects"));
        };
        let value = match self.value(arg.value) {
            Constant::OneOf(choice) if *method == "extend" && self.evaluator.scope.takes_all() => {
                choice.all_elements().map_or_else(|| unknown("may be no list"), |all| Constant::List(all.into()))
            }
            value => value,
        };
        self.change(name, |list| match (list, *method, value.clone()) {
            (Constant::List(elements), "append", value) => {
                elements.push(value);
                Ok(())
            }
            (Constant::List(elements), "extend", Constant::List(more) | Constant::Tuple(more)) => {
                elements.edit(|elements| elements.extend(more));
                Ok(())
            }
            (Constant::Dict(pairs), "update", Constant::Dict(more)) => entries::update(pairs, more),
            _ => Err(Reason::new(format!("calls `{name}.{method}`, which tilefit does not evaluate"))),
        })
    }

    /// The local of that name, where it may be a dictionary.
    fn dictionary(&self, name: &str) -> Option<&Constant> {
        let value = self.locals.iter().find(|(local, _)| local == name).map(|(_, value)| value);
        value.filter(|value| dictionaries::may_be_dictionary(value))
    }

    /// Other locals that may hold a dictionary which is changed are not known after that.
    fn forget_other_names(&mut self, name: &str) {
        let Some(changed) = self.dictionary(name) else { return };
        work::spend(changed.weight() as u64 / VALUES_COMPARED_A_STEP * self.locals.len() as u64);
        let holding =
            self.locals.iter().filter(|(local, value)| local != name && dictionaries::may_hold(value, changed));
        let holding: Vec<String> = holding.map(|(local, _)| local.clone()).collect();
        for local in holding {
            self.forget_name(&local, &changes_a_list(name));
        }
    }

    /// Whether the list of that name may also be known by another: it came in as an argument, or is put somewhere whole.
    fn is_shared(&self, name: &str) -> bool {
        let is_held = self.locals.iter().take(self.held).any(|(local, _)| local == name);
        if self.lenient
            && let Some(dictionary) = self.dictionary(name)
        {
            return self.given.iter().any(|given| dictionaries::may_hold(given, dictionary));
        }
        is_held || *self.handed_on.borrow_mut().entry(name.to_owned()).or_insert_with(|| self.is_handed_on(name))
    }

    /// As far as the text says.
    fn is_handed_on(&self, name: &str) -> bool {
        let ast = self.evaluator.ast;
        let is_it = |expr: &ExprId| ast.name(*expr) == Some(name);
        let holds = |expr: &Expr| match expr {
            Expr::List(parts) | Expr::Tuple(parts) => parts.iter().any(is_it),
            Expr::Dict(pairs) => pairs.iter().any(|(_, value)| is_it(value)),
            Expr::Ternary { then, otherwise, .. } => is_it(then) || is_it(otherwise),
            Expr::Bool2 { left, right, .. } => is_it(left) || is_it(right),
            Expr::Comprehension { element, .. } => is_it(element),
            Expr::DictComprehension { value, .. } => is_it(value),
            // Of what is only followed, functions are taken not to change the lists that they are given.
            Expr::Call { func, args } if !self.lenient => {
                !ast.name(*func).is_some_and(is_builtin) && args.iter().any(|arg| is_it(&arg.value))
            }
            _ => false,
        };
        let renames = |stmt: &Stmt| match stmt {
            Stmt::Assign { targets, value: Some(value), .. } => {
                let is_fresh = match ast.expr(*value) {
                    Expr::List(_) | Expr::Dict(_) | Expr::Comprehension { .. } | Expr::DictComprehension { .. } => true,
                    // Of what is only followed, functions are taken to return what they made.
                    Expr::Call { .. } if self.lenient => true,
                    Expr::Call { func, .. } => match ast.expr(*func) {
                        Expr::Attribute { name, .. } => name == "copy",
                        function => matches!(function, Expr::Name(name) if name == "dict"),
                    },
                    _ => false,
                };
                let is_target = targets.iter().any(is_it);
                let into_a_part = targets.iter().any(|target| matches!(ast.expr(*target), Expr::Attribute { .. }));
                is_it(value) && (into_a_part || targets.iter().any(|target| ast.name(*target).is_some()))
                    || is_target && (!is_fresh || targets.len() > 1)
            }
            Stmt::For { target, .. } => is_it(target) || ast.elements(*target).unwrap_or_default().iter().any(is_it),
            _ => false,
        };
        let is_param = function(ast).is_some_and(|function| function.params.iter().any(|param| is_it(&param.name)));
        is_param || ast.exprs().any(|(_, expr)| holds(expr)) || ast.stmts().any(|(_, stmt)| renames(stmt))
    }
}

fn changes_a_list(name: &str) -> Reason {
    Reason::new(format!("`{name}` is modified in place and may have other references"))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::eval::Standalone;

    fn check(module: &str, expect: Expect) {
        let module = Standalone::new(module);
        expect.assert_eq(&match module.constant("x") {
            Some(Constant::Unknown(reason)) => format!("unknown: {reason}"),
            Some(value) => format!("{value:?}"),
            None => "not bound".to_owned(),
        });
    }

    #[test]
    fn options_are_read_off_a_command_line_that_is_empty() {
        check(
            r#"
import sys

def _option(name, default=None):
    for index, token in enumerate(sys.argv):
        if token == name and index + 1 < len(sys.argv):
            return int(sys.argv[index + 1])
        if token.startswith(f"{name}="):
            return int(token.split("=", 1)[1])
    return default

x = _option("--ranks") or 4
"#,
            expect!["Int(4)"],
        );
        check(
            r#"
def take():
    kept = [sys.argv[0]]
    i = 1
    while i < len(sys.argv):
        kept.append(sys.argv[i])
        i += 1
    sys.argv[:] = kept
    return "Flash".strip().lower()

x = take()
"#,
            expect![[r#"Str("flash")"#]],
        );
    }

    #[test]
    fn local_functions() {
        check(
            "
def f(n):
    def double(x, by=2):
        y = x * by
        return y + n
    n = 5
    return [double(1), double(n, by=3)]

x = f(1)",
            expect!["List([Int(7), Int(20)])"],
        );
        for change in ["items.append(n)", "items[0] = n", "items += [n]", "nonlocal items"] {
            let text = format!(
                "
def f():
    items = [1]
    def add(n):
        {change}
        return n
    return len(items) + add(3)

x = f()"
            );
            let x = Standalone::new(&text).constant("x");
            assert!(
                matches!(&x, Some(Constant::Unknown(reason)) if reason.to_string().contains("local function")),
                "{change}: {x:?}"
            );
        }
        check(
            "
def f(n):
    def g():
        return g
    return g()

x = f(1)",
            expect!["unknown: `g` is a local function"],
        );
        check(
            "
def f(n):
    def g(k):
        return g(k)
    return g(1)

x = f(1)",
            expect!["unknown: the expression is nested too deeply"],
        );
    }

    #[test]
    fn loops_and_tables() {
        let sizes = r#"
def sizes(n, step=2):
    table = {}
    for i in range(0, n, step):
        if i == 4:
            continue
        table[i] = i * n
    else:
        table["n"] = n
    return table
"#;
        check(&format!("{sizes}\nx = sizes(6)[2] + sizes(n=8, step=4)[\"n\"]"), expect!["Int(20)"]);
        check(
            &format!("{sizes}\nx = sizes(6, 2, 1)"),
            expect!["unknown: the arguments of the call of `sizes` do not match its parameters"],
        );
        check(
            "
def f(n):
    while True:
        n = n + 1

x = f(1)",
            expect!["unknown: runs more than 20000 statements"],
        );
        check(
            "
def f(n):
    return f(n)

x = f(1)",
            expect!["unknown: the expression is nested too deeply"],
        );
        check(
            "
def f(n):
    if n > 3:
        raise ValueError(n)
    return n

x = f(4)",
            expect!["unknown: raises an error"],
        );
    }

    #[test]
    fn what_others_may_hold_is_not_changed() {
        let unknown = expect!["unknown: `a` is modified in place and may have other references"];
        check(
            "
def f():
    a = [1]
    b = a
    b.append(2)
    a.append(3)
    return len(b)

x = f()",
            expect!["unknown: `b` is modified in place and may have other references"],
        );
        check(
            "
def f(a):
    a.append(2)
    return len(a)

x = f([1])",
            unknown,
        );
        check(
            "
def f():
    a = [1]
    a.append(2)
    return a

x = f()",
            expect!["List([Int(1), Int(2)])"],
        );
        check(
            "
def f():
    config.N = 2
    return 1

x = f()",
            expect!["unknown: changes a value outside the function"],
        );
        check(
            "
N = 1
def f():
    def N(): return 1
    return N()

x = f()",
            expect!["Int(1)"],
        );
    }
}

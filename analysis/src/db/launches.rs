//! How host code launches kernels: tests, programs and the functions that they call are followed, with the tensors and numbers that they pass.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Arg, Ast, Expr, Function};

use crate::eval::{self, Argument, Constant, Scope};
use crate::ir::Reason;
use crate::triton::host;
use crate::triton::scenario::{self, Call};
use crate::work::{Limits, within};

use super::libraries::{self, Reader};
use super::scenarios::is_jit;
use super::{Name, SourceFile, Unit, UnitScope, config, statements_of, syntax, units};

/// A launch of a function of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launch {
    /// The path of the function's block.
    pub(super) kernel: String,
    /// Past its decorators, so that no configuration of `autotune` applies.
    pub(super) is_bare: bool,
    pub(super) call: Call,
    /// The function that is followed, for people; empty for the statements of the module.
    pub(super) place: String,
}

/// Ways to call a function that `parametrize` gives, of which more are cut off.
const MOST_WAYS: usize = 64;
/// Launches of one function that are kept.
const MOST_LAUNCHES: usize = 256;
/// Functions that call each other deeper than this are not followed.
const DEEPEST: u32 = 5;
/// Steps of work for the code that is followed from one function.
const STEPS: u64 = 400_000;

/// The launches of a kernel in its file.
#[salsa::tracked(returns(ref))]
pub(super) fn launches_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Launch>> {
    let (file, path) = (unit.file(db), unit.key(db).path.clone());
    let mut found: Vec<Launch> = Vec::new();
    for &root in leading_to(db, file, Name::new(db, unit.key(db).name().to_owned())) {
        for launch in launches_in(db, root).iter().filter(|launch| launch.kernel == *path) {
            if found.len() < MOST_LAUNCHES && !found.contains(launch) {
                found.push(launch.clone());
            }
        }
    }
    Arc::new(found)
}

/// The units of host code that name a function, and those that name these, from near to far.
#[salsa::tracked(returns(ref))]
fn leading_to<'db>(db: &'db dyn salsa::Database, file: SourceFile, name: Name<'db>) -> Vec<Unit<'db>> {
    let mut found: Vec<Unit<'db>> = Vec::new();
    let mut wanted: BTreeSet<String> = [name.text(db).clone()].into();
    for _ in 0..DEEPEST {
        let mut next = BTreeSet::new();
        for &unit in units(db, file) {
            if found.contains(&unit) || named_in(db, unit).is_disjoint(&wanted) || is_jit(db, unit) {
                continue;
            }
            found.push(unit);
            let root = root_of(db, unit);
            next.insert(root.key(db).name().to_owned());
            // A method is reached through its class.
            next.extend(root.parent(db).map(|class| class.key(db).name().to_owned()));
        }
        next.remove("");
        if next.is_empty() {
            break;
        }
        wanted = next;
    }
    let mut roots: Vec<Unit<'db>> = Vec::new();
    for unit in found {
        let root = root_of(db, unit);
        if root.key(db).kind != BlockKind::ClassHeader && !roots.contains(&root) {
            roots.push(root);
        }
    }
    roots
}

/// The function that statements belong to, else the unit.
fn root_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Unit<'db> {
    let is_function = |parent: &Unit<'db>| parent.key(db).kind == BlockKind::FunctionHeader;
    match unit.key(db).kind {
        BlockKind::Statements => unit.parent(db).filter(is_function).unwrap_or(unit),
        _ => unit,
    }
}

/// The names in a unit that functions and classes of its file have.
#[salsa::tracked(returns(ref))]
fn named_in<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<BTreeSet<String>> {
    let defined = definitions(db, unit.file(db));
    let ast = syntax(db, unit);
    let names = ast.exprs().filter_map(|(_, expr)| match expr {
        Expr::Name(name) => defined.contains(name).then(|| name.clone()),
        _ => None,
    });
    let own = scenario::function(ast).and_then(|function| ast.name(function.name)).map(str::to_owned);
    let aliases = aliases(ast).into_iter().map(|(alias, _)| alias);
    Arc::new(names.filter(|name| Some(name) != own.as_ref()).chain(aliases).collect())
}

/// The names of the functions and classes of a file, and of what stands for their `apply`.
#[salsa::tracked(returns(ref))]
fn definitions(db: &dyn salsa::Database, file: SourceFile) -> Arc<BTreeSet<String>> {
    let definitions = units(db, file).iter().filter(|unit| unit.key(db).kind != BlockKind::Statements);
    let mut names: BTreeSet<String> = definitions.map(|unit| unit.key(db).name().to_owned()).collect();
    for &unit in statements_of(db, file, None) {
        names.extend(aliases(syntax(db, unit)).into_iter().map(|(alias, _)| alias));
    }
    Arc::new(names)
}

/// `attention = _attention.apply`: each name with its class.
fn aliases(ast: &Ast) -> Vec<(String, String)> {
    use tilefit_syntax::ast::Stmt;
    let alias = |&stmt: &tilefit_syntax::ast::StmtId| {
        let Stmt::Assign { targets, value: Some(value), .. } = ast.stmt(stmt) else { return None };
        let path = ast.dotted(*value)?;
        let (&[target], [class, "apply"]) = (targets.as_slice(), path.as_slice()) else { return None };
        Some((ast.name(target)?.to_owned(), (*class).to_owned()))
    };
    ast.body.iter().filter_map(alias).collect()
}

/// What following a unit of host code launches, under each way in which tests call it.
#[salsa::tracked(returns(ref), cycle_result = launches_itself)]
fn launches_in<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Launch>> {
    let following = Following {
        launches: RefCell::default(),
        values: RefCell::default(),
        depth: Cell::new(0),
        links: Cell::new(0),
        place: unit.key(db).path.to_string(),
    };
    let host = Host { scope: UnitScope::new(db, unit), following: &following };
    let limits = Limits { steps: STEPS.min(config(db).limits.steps), ..config(db).limits };
    // What was launched before the work became too much stays true.
    let _ = within(limits, || match unit.key(db).kind {
        BlockKind::Statements => eval::follow(syntax(db, unit), &host),
        BlockKind::Function | BlockKind::FunctionHeader => {
            for mut way in ways(syntax(db, unit), &host) {
                way.push(Argument { keyword: Some("device".to_owned()), value: host::device() });
                host.run(unit, &way);
            }
        }
        BlockKind::ClassHeader => {}
    });
    Arc::new(following.launches.into_inner())
}

fn launches_itself<'db>(_: &'db dyn salsa::Database, _: salsa::Id, unit: Unit<'db>) -> Arc<Vec<Launch>> {
    let _ = unit;
    Arc::default()
}

/// The arguments of a function as `pytest.mark.parametrize` gives them; one way without any where nothing does.
fn ways(ast: &Ast, scope: &dyn Scope) -> Vec<Vec<Argument>> {
    let mut ways: Vec<Vec<Argument>> = vec![Vec::new()];
    let Some(function) = scenario::function(ast) else { return ways };
    for &decorator in &function.decorators {
        let Expr::Call { func, args } = ast.expr(decorator) else { continue };
        let ([.., "mark", "parametrize"], [names, values, ..]) =
            (ast.dotted(*func).unwrap_or_default().as_slice(), args.as_slice())
        else {
            continue;
        };
        let names = parameters(&eval::evaluate(ast, names.value, scope));
        let rows = rows(ast, values, scope);
        if rows.is_empty() {
            continue;
        }
        let product = ways.iter().flat_map(|way| {
            rows.iter().map(|row| {
                let values = match (names.as_slice(), row) {
                    ([_], value) => vec![value.clone()],
                    (_, Constant::Tuple(values) | Constant::List(values)) => values.clone(),
                    _ => Vec::new(),
                };
                let given = names.iter().cloned().zip(values);
                let given = given.map(|(name, value)| Argument { keyword: Some(name), value });
                way.iter().cloned().chain(given).collect()
            })
        });
        ways = product.take(MOST_WAYS).collect();
    }
    ways
}

/// Parts of the rows may be unknown.
fn rows(ast: &Ast, values: &Arg, scope: &dyn Scope) -> Vec<Constant> {
    let all = |elements: &[tilefit_syntax::ast::ExprId]| {
        elements.iter().map(|&element| eval::evaluate(ast, element, scope)).collect()
    };
    match ast.expr(values.value) {
        Expr::List(elements) | Expr::Tuple(elements) => all(elements),
        _ => match eval::evaluate_first(ast, values.value, MOST_WAYS, scope) {
            Constant::List(rows) | Constant::Tuple(rows) => rows,
            _ => Vec::new(),
        },
    }
}

fn parameters(names: &Constant) -> Vec<String> {
    match names {
        Constant::Str(names) => names.split(',').map(|name| name.trim().to_owned()).collect(),
        Constant::List(names) | Constant::Tuple(names) => names.iter().flat_map(parameters).collect(),
        _ => Vec::new(),
    }
}

/// What following one unit comes to.
struct Following {
    launches: RefCell<Vec<Launch>>,
    /// Of names of the module.
    values: RefCell<BTreeMap<String, Option<Constant>>>,
    depth: Cell<u32>,
    /// Names that are being found out, each for the one before.
    links: Cell<u32>,
    place: String,
}

/// What a function of the host sees.
struct Host<'db, 'f> {
    scope: UnitScope<'db>,
    following: &'f Following,
}

impl<'db> Host<'db, '_> {
    /// The function of the file that a name stands for here: one within the function that is run, else of the module.
    fn definition(&self, name: &str) -> Option<Unit<'db>> {
        let (db, unit) = (self.scope.db, self.scope.unit);
        let is_named = |candidate: &&Unit<'db>| {
            let key = candidate.key(db);
            matches!(key.kind, BlockKind::Function | BlockKind::FunctionHeader) && key.name() == name
        };
        let candidates: Vec<Unit<'db>> = units(db, unit.file(db)).iter().filter(is_named).copied().collect();
        let around = std::iter::successors(Some(unit), |unit| unit.parent(db));
        let mut scopes = around.filter(|scope| scope.key(db).kind == BlockKind::FunctionHeader).map(Some).chain([None]);
        scopes.find_map(|scope| candidates.iter().rfind(|candidate| candidate.parent(db) == scope)).copied()
    }

    fn jit_function(&self, name: &str) -> Option<Unit<'db>> {
        self.definition(name).filter(|&unit| is_jit(self.scope.db, unit))
    }

    /// Runs a function of the file.
    fn run(&self, unit: Unit<'db>, arguments: &[Argument]) -> Constant {
        let db = self.scope.db;
        let depth = self.following.depth.get();
        if depth == DEEPEST {
            return unknown("calls are nested too deeply");
        }
        self.following.depth.set(depth + 1);
        let host = Host { scope: UnitScope::new(db, unit), following: self.following };
        let mut parts: Vec<&Ast> = vec![syntax(db, unit)];
        if unit.key(db).kind == BlockKind::FunctionHeader {
            let rest = statements_of(db, unit.file(db), Some(unit)).iter().filter(|part| **part != unit);
            parts.extend(rest.map(|&part| -> &Ast { syntax(db, part) }));
        }
        let returned = eval::run(&parts, arguments, &host);
        self.following.depth.set(depth);
        returned
    }

    fn record(&self, kernel: Unit<'db>, is_bare: bool, arguments: Vec<(Option<String>, Constant)>) {
        let key = kernel.key(self.scope.db);
        let call = Call { callee: key.name().to_owned(), arguments };
        let place = self.following.place.clone();
        let launch = Launch { kernel: key.path.to_string(), is_bare, call, place };
        let mut launches = self.following.launches.borrow_mut();
        if launches.len() < MOST_LAUNCHES && !launches.contains(&launch) {
            launches.push(launch);
        }
    }

    /// `ASTSource(fn=kernel, signature={…}, constexprs={…})`, of which kernels are compiled without a launch.
    fn record_source(&self, arguments: &[Argument]) {
        let argument = |name: &str, place: usize| {
            let by_keyword = arguments.iter().find(|argument| argument.keyword.as_deref() == Some(name));
            let positional = || arguments.iter().filter(|argument| argument.keyword.is_none()).nth(place);
            by_keyword.or_else(positional).map(|argument| &argument.value)
        };
        let Some(Constant::Function(name)) = argument("fn", 0) else { return };
        let Some(kernel) = self.jit_function(name) else { return };
        let mut given = Vec::new();
        if let Some(Constant::Dict(signature)) = argument("signature", 1) {
            for (param, kind) in signature {
                if let (Constant::Str(param), Constant::Str(kind)) = (param, kind)
                    && let Some(value) = host::of_signature(kind)
                {
                    given.push((Some(param.clone()), value));
                }
            }
        }
        if let Some(Constant::Dict(constants)) = argument("constexprs", 2) {
            for (param, value) in constants {
                let param = match param {
                    Constant::Str(param) => param,
                    Constant::Tuple(path) => match path.as_slice() {
                        [Constant::Str(param)] => param,
                        _ => continue,
                    },
                    _ => continue,
                };
                given.push((Some(param.clone()), value.clone()));
            }
        }
        self.record(kernel, true, given);
    }

    /// A value that only host code has: a tensor, a dtype of PyTorch.
    fn value_on_the_host(&self, name: &str) -> Option<Constant> {
        let (db, unit) = (self.scope.db, self.scope.unit);
        let statements = statements_of(db, unit.file(db), None).iter();
        let mut values = statements.filter_map(|&unit| eval::bound_value(syntax(db, unit), name, self));
        values.next().filter(|_| values.next().is_none())
    }

    /// `forward` of a class whose `apply` is called, which gets a context first.
    fn apply(&self, class: &str, arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        let (db, file) = (self.scope.db, self.scope.unit.file(self.scope.db));
        let path = format!("{class}.forward");
        let forward = units(db, file).iter().copied().find(|unit| {
            let key = unit.key(db);
            matches!(key.kind, BlockKind::Function | BlockKind::FunctionHeader) && *key.path == path
        })?;
        let mut passed = vec![Argument { keyword: None, value: unknown("the context of a function of autograd") }];
        passed.extend(arguments());
        Some(self.run(forward, &passed))
    }

    fn class_of_alias(&self, name: &str) -> Option<String> {
        let (db, file) = (self.scope.db, self.scope.unit.file(self.scope.db));
        let aliases = statements_of(db, file, None).iter().flat_map(|&unit| aliases(syntax(db, unit)));
        aliases.filter(|(alias, _)| alias == name).map(|(_, class)| class).last()
    }
}

impl Scope for Host<'_, '_> {
    fn outer(&self) -> Option<&dyn Scope> {
        Some(&self.scope)
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        if self.definition(name).is_some() {
            return Some(Constant::Function(name.to_owned()));
        }
        let known = self.scope.constant(name);
        if known.as_ref().is_some_and(|value| !matches!(value, Constant::Unknown(_))) {
            return known;
        }
        if let Some(value) = self.following.values.borrow().get(name) {
            return value.clone();
        }
        if self.following.links.get() >= eval::LONGEST_CHAIN {
            return known;
        }
        // A name that leads back to itself finds this, instead of going on without end.
        self.following.values.borrow_mut().insert(name.to_owned(), known.clone());
        self.following.links.set(self.following.links.get() + 1);
        let value = self.value_on_the_host(name).or(known);
        self.following.links.set(self.following.links.get() - 1);
        self.following.values.borrow_mut().insert(name.to_owned(), value.clone());
        value
    }

    fn follows(&self) -> bool {
        true
    }

    fn ends(&self, path: &[&str]) -> bool {
        matches!(path, ["pytest", "skip" | "fail" | "xfail"] | ["sys", "exit"] | ["exit" | "quit"])
    }

    fn language_name(&self, path: &[&str]) -> Option<Constant> {
        host::name(path).or_else(|| libraries::name(&self.scope, path, Reader::Kernel))
    }

    fn language_call(&self, path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        let compiled = || unknown("what a compiled kernel is");
        match path {
            [kernel, "warmup" | "run"] if self.jit_function(kernel).is_some() => {
                return self.launch(kernel, false, arguments);
            }
            [.., "ASTSource"] => {
                self.record_source(&arguments());
                return Some(compiled());
            }
            [class, "apply"] => return self.apply(class, arguments),
            [name] => {
                if let Some(unit) = self.definition(name) {
                    let db = self.scope.db;
                    if is_jit(db, unit) {
                        return Some(unknown(format!("what `{name}` returns")));
                    }
                    let arguments = arguments();
                    let returned = self.run(unit, &arguments);
                    let is_plain =
                        scenario::function(syntax(db, unit)).is_some_and(|it| is_plain(syntax(db, unit), it));
                    return Some(if is_plain { returned } else { unknown(format!("what `{name}` returns")) });
                }
                if let Some(class) = self.class_of_alias(name) {
                    return self.apply(&class, arguments);
                }
            }
            _ => {}
        }
        host::call(path, arguments).or_else(|| libraries::call(&self.scope, path, arguments, Reader::Kernel))
    }

    fn launch(&self, function: &str, past_decorators: bool, arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        let kernel = self.jit_function(function)?;
        let arguments = arguments().into_iter().map(|argument| (argument.keyword, argument.value)).collect();
        self.record(kernel, past_decorators, arguments);
        Some(unknown("what a compiled kernel is"))
    }
}

/// Whether a call gives what the function returns, which decorators may change.
fn is_plain(ast: &Ast, function: &Function) -> bool {
    let only_caches = |&decorator: &tilefit_syntax::ast::ExprId| {
        let path = match ast.expr(decorator) {
            Expr::Call { func, .. } => ast.dotted(*func),
            _ => ast.dotted(decorator),
        };
        matches!(path.unwrap_or_default().last(), Some(&("cache" | "lru_cache" | "staticmethod")))
    };
    function.decorators.iter().all(only_caches)
}

fn unknown(reason: impl Into<String>) -> Constant {
    Constant::Unknown(Reason::new(reason))
}

//! How host code launches kernels: tests, programs and the functions that they call are followed, with the tensors and numbers that they pass. The
//! code stands in the kernel's file, or in one that imports that.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId, Function, Stmt, StmtId};

use tilefit_gpu::device::Arch;
use tilefit_gpu::host::{self, Written};
use tilefit_gpu::language;
use tilefit_gpu::scenario::{self, Call};
use tilefit_python::eval::{self, Argument, Binding, Constant, OneOf, Scope};
use tilefit_python::finding::Reason;
use tilefit_python::work::{Limits, within};

use super::devices::device_of_host;
use super::imports::importers;
use super::libraries::{self, Reader};
use super::passed_on::imports;
use super::scenarios::is_jit;
use super::scope::{UnitScope, defined, module_called, module_file, statements_of};
use super::{Name, SourceFile, Unit, config, syntax, units};

mod classes;

use classes::Attributes;

/// A launch of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launch {
    /// The paths of the function's file and block.
    file: String,
    kernel: String,
    /// Past its decorators, so that no configuration of `autotune` applies.
    pub(super) is_bare: bool,
    pub(super) call: Call,
    /// By a function that other host code calls, whose arguments are not known here.
    pub(super) is_called: bool,
    /// The device that the function which is followed asks for.
    pub(super) arch: Option<Arch>,
    /// The function that is followed, for people; empty for the statements of the module.
    pub(super) place: String,
}

/// Ways to call a function that `parametrize` gives, of which more are cut off.
const MOST_WAYS: usize = 64;
/// Launches of one function that are kept.
const MOST_LAUNCHES: usize = 256;
/// Functions that lead to a kernel through more others than these are not looked at.
const FARTHEST: u32 = 5;
/// Functions that call each other deeper than this are not followed.
const DEEPEST: u32 = 8;
/// Steps of work for the code that is followed from one function.
const STEPS: u64 = 400_000;
/// Files that hand a function on to each other.
const LONGEST_WAY: u32 = 4;
/// Functions of other files that are followed for one kernel.
const MOST_ELSEWHERE: usize = 64;

/// The launches of a kernel, those of its own file first.
#[salsa::tracked(returns(ref))]
pub(super) fn launches_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Launch>> {
    let (file, path) = (unit.file(db), unit.key(db).path.clone());
    let mut found: Vec<(&Launch, bool)> = Vec::new();
    for &(root, is_called) in leading_to(db, file, Name::new(db, unit.key(db).name().to_owned())) {
        let launches = launches_in(db, root).iter();
        for launch in launches.filter(|launch| launch.kernel == *path && launch.file == *file.path(db)) {
            if found.len() < MOST_LAUNCHES && !found.iter().any(|(other, _)| *other == launch) {
                found.push((launch, is_called));
            }
        }
    }
    // What a function does that others call shows where they call it.
    let is_seen =
        |launch: &Launch| found.iter().any(|(other, is_called)| !is_called && other.is_bare == launch.is_bare);
    let kept = found.iter().filter(|(launch, is_called)| !is_called || !is_seen(launch));
    Arc::new(kept.map(|&(launch, is_called)| Launch { is_called, ..launch.clone() }).collect())
}

/// The host code that leads to a function: what names it, and what names that, nearest first, then the same in files that import it. The flag is
/// true if other host code calls it.
#[salsa::tracked(returns(ref))]
pub(super) fn leading_to<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    name: Name<'db>,
) -> Vec<(Unit<'db>, bool)> {
    let (mut roots, names) = leading_to_any(db, file, [name.text(db).clone()].into());
    let mut elsewhere: Vec<(Unit<'db>, bool)> = Vec::new();
    for &importer in importers(db, file) {
        let imported = names_of_imported(db, importer, file, &names);
        if imported.is_empty() {
            continue;
        }
        elsewhere.extend(leading_to_any(db, importer, imported).0);
        for (root, is_called) in &mut roots {
            let name = root.key(db).name();
            let of_file = |(other, original): &(String, Option<String>)| {
                let is_it = original.as_deref() == Some(name);
                is_it && imported_from(db, importer, Name::new(db, other.clone())).is_some_and(|(from, _)| from == file)
            };
            *is_called |= imported_names(db, importer).iter().any(of_file);
        }
    }
    elsewhere.truncate(MOST_ELSEWHERE);
    roots.extend(elsewhere);
    roots
}

/// The functions and statements of a file that lead to one of these names, and all names that do.
fn leading_to_any<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    names: BTreeSet<String>,
) -> (Vec<(Unit<'db>, bool)>, BTreeSet<String>) {
    let mut found: Vec<Unit<'db>> = Vec::new();
    let mut all = names.clone();
    let mut wanted = names;
    for _ in 0..FARTHEST {
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
            next.extend(aliases(syntax(db, unit)).into_iter().map(|(alias, _)| alias));
        }
        next.remove("");
        if next.is_empty() {
            break;
        }
        all.extend(next.iter().cloned());
        wanted = next;
    }
    let mut roots: Vec<Unit<'db>> = Vec::new();
    for &unit in &found {
        let root = root_of(db, unit);
        if root.key(db).kind != BlockKind::ClassHeader && !roots.contains(&root) {
            roots.push(root);
        }
    }
    let is_called = |root: Unit<'db>| {
        let names = [Some(root), root.parent(db)].into_iter().flatten().map(|it| it.key(db).name().to_owned());
        let names: BTreeSet<String> = names.filter(|name| !name.is_empty()).collect();
        let others = found.iter().filter(|&&unit| root_of(db, unit) != root);
        !is_entry(db, root) && others.into_iter().any(|&unit| !named_in(db, unit).is_disjoint(&names))
    };
    (roots.iter().map(|&root| (root, is_called(root))).collect(), all)
}

/// Whether something outside of the file calls a function: a test, or one that is measured.
fn is_entry<'db>(db: &'db dyn salsa::Database, root: Unit<'db>) -> bool {
    let ast = syntax(db, root);
    let decorators = scenario::function(ast).map_or(&[][..], |function| function.decorators.as_slice());
    let last = |&decorator: &ExprId| match ast.expr(decorator) {
        Expr::Call { func, .. } => ast.dotted(*func)?.last().copied(),
        _ => ast.dotted(decorator)?.last().copied(),
    };
    let mut names = decorators.iter().filter_map(last);
    root.key(db).name().starts_with("test") || names.any(|name| matches!(name, "parametrize" | "perf_report"))
}

/// What a file calls names that it imports from another one, and that one itself.
pub(super) fn names_of_imported(
    db: &dyn salsa::Database,
    file: SourceFile,
    from: SourceFile,
    names: &BTreeSet<String>,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (name, original) in imported_names(db, file).iter() {
        let is_wanted = match imported_from(db, file, Name::new(db, name.clone())) {
            Some((source, original)) => source == from && names.contains(original.text(db)),
            None => original.is_none() && module_called(db, file, Name::new(db, name.clone())) == Some(from),
        };
        if is_wanted {
            found.insert(name.clone());
        }
    }
    found
}

/// The names that a file imports at its top, each with its name in its own module; `None` for a module.
#[salsa::tracked(returns(ref))]
fn imported_names(db: &dyn salsa::Database, file: SourceFile) -> Arc<Vec<(String, Option<String>)>> {
    let mut found = Vec::new();
    for &unit in statements_of(db, file, None) {
        for (_, stmt) in syntax(db, unit).stmts() {
            match stmt {
                Stmt::Import(modules) => found.extend(modules.iter().map(|module| {
                    let first = module.module.split('.').next().unwrap_or_default();
                    (module.alias.as_deref().unwrap_or(first).to_owned(), None)
                })),
                Stmt::ImportFrom { names, .. } => {
                    found.extend(names.iter().map(|name| (name.bound().to_owned(), Some(name.name.clone()))));
                }
                _ => {}
            }
        }
    }
    Arc::new(found)
}

/// The file that a name of a module is imported from, and its name there.
#[salsa::tracked(returns(clone))]
pub(super) fn imported_from<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    name: Name<'db>,
) -> Option<(SourceFile, Name<'db>)> {
    let (mut file, mut name) = (file, name);
    let mut found = None;
    for _ in 0..LONGEST_WAY {
        let statements = statements_of(db, file, None).iter();
        let mut bindings = statements.map(|&unit| eval::binding(syntax(db, unit), name.text(db)));
        let import = bindings.find_map(|binding| match binding {
            Binding::Import { level, module, original } => Some((level, module, original)),
            _ => None,
        });
        let Some((level, module, original)) = import else { break };
        let Some(source) = module_file(db, file, level, Name::new(db, module)) else { break };
        (file, name) = (source, Name::new(db, original));
        found = Some((file, name));
    }
    found
}

/// The function that statements belong to, else the unit.
fn root_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Unit<'db> {
    let is_function = |parent: &Unit<'db>| parent.key(db).kind == BlockKind::FunctionHeader;
    match unit.key(db).kind {
        BlockKind::Statements => unit.parent(db).filter(is_function).unwrap_or(unit),
        _ => unit,
    }
}

/// The names in a unit of what its file defines or imports.
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

/// The names of the functions and classes of a file, of the aliases of their `apply`, and of what it imports.
#[salsa::tracked(returns(ref))]
fn definitions(db: &dyn salsa::Database, file: SourceFile) -> Arc<BTreeSet<String>> {
    let definitions = units(db, file).iter().filter(|unit| unit.key(db).kind != BlockKind::Statements);
    let mut names: BTreeSet<String> = definitions.map(|unit| unit.key(db).name().to_owned()).collect();
    names.extend(imported_names(db, file).iter().map(|(name, _)| name.clone()));
    for &unit in statements_of(db, file, None) {
        names.extend(aliases(syntax(db, unit)).into_iter().map(|(alias, _)| alias));
    }
    Arc::new(names)
}

/// `attention = _attention.apply`: each name with its class.
fn aliases(ast: &Ast) -> Vec<(String, String)> {
    let alias = |&stmt: &StmtId| {
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
    let following = HostInterpreter {
        launches: RefCell::default(),
        values: RefCell::default(),
        attributes: RefCell::default(),
        depth: Cell::new(0),
        links: Cell::new(0),
        decisions: Cell::new(0),
        place: unit.key(db).path.to_string(),
        arch: device_of_host(db, unit),
    };
    let host = Host { scope: UnitScope::new(db, unit), following: &following, running: None };
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

/// The arguments of a function as `pytest.mark.parametrize` or `triton.testing.perf_report` gives them; one way without any where nothing does.
fn ways(ast: &Ast, scope: &dyn Scope) -> Vec<Vec<Argument>> {
    let mut ways: Vec<Vec<Argument>> = vec![Vec::new()];
    let Some(function) = scenario::function(ast) else { return ways };
    for &decorator in &function.decorators {
        let Expr::Call { func, args } = ast.expr(decorator) else { continue };
        if let ([.., "perf_report"], [benchmarks]) = (ast.dotted(*func).unwrap_or_default().as_slice(), args.as_slice())
        {
            let benchmarks = rows(ast, benchmarks, scope);
            let product = ways.iter().flat_map(|way| {
                let given = benchmarks.iter().flat_map(benchmarked);
                given.map(move |given| way.iter().cloned().chain(given).collect())
            });
            let product: Vec<_> = product.take(MOST_WAYS).collect();
            if !product.is_empty() {
                ways = product;
            }
            continue;
        }
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
                    (_, Constant::Tuple(values) | Constant::List(values)) => values.to_vec(),
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

/// The ways in which a `triton.testing.Benchmark` calls a function.
fn benchmarked(benchmark: &Constant) -> Vec<Vec<Argument>> {
    let Constant::Dict(parts) = benchmark else { return Vec::new() };
    let part =
        |name: &str| parts.iter().find(|(key, _)| *key == Constant::Str(name.to_owned())).map(|(_, value)| value);
    let elements = |name: &str| match part(name) {
        Some(Constant::List(values) | Constant::Tuple(values)) => values.to_vec(),
        _ => Vec::new(),
    };
    let given = |name: &str, value: Constant| Argument { keyword: Some(name.to_owned()), value };
    let always: Vec<Argument> = match part("args") {
        Some(Constant::Dict(pairs)) => pairs
            .iter()
            .filter_map(|(name, value)| match name {
                Constant::Str(name) => Some(given(name, value.clone())),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let names: Vec<String> = elements("x_names").iter().flat_map(parameters).collect();
    // A number in place of names is for all of them.
    let of_x = |x: &Constant| match x {
        Constant::Tuple(values) | Constant::List(values) => names.iter().cloned().zip(values.clone()).collect(),
        x => names.iter().map(|name| (name.clone(), x.clone())).collect::<Vec<_>>(),
    };
    let lines = match (part("line_arg"), elements("line_vals")) {
        (Some(Constant::Str(name)), lines) if !lines.is_empty() => {
            lines.into_iter().map(|line| vec![given(name, line)]).collect()
        }
        _ => vec![Vec::new()],
    };
    let with_line = |x: Constant| {
        let of_x: Vec<Argument> = of_x(&x).iter().map(|(name, value)| given(name, value.clone())).collect();
        let always = always.clone();
        lines.iter().map(move |line| [of_x.clone(), line.clone(), always.clone()].concat()).collect::<Vec<_>>()
    };
    elements("x_vals").into_iter().flat_map(with_line).collect()
}

/// Parts of the rows may be unknown.
fn rows(ast: &Ast, values: &Arg, scope: &dyn Scope) -> Vec<Constant> {
    let all = |elements: &[ExprId]| elements.iter().map(|&element| eval::evaluate(ast, element, scope)).collect();
    match ast.expr(values.value) {
        Expr::List(elements) | Expr::Tuple(elements) => all(elements),
        _ => match eval::evaluate_first(ast, values.value, MOST_WAYS, scope) {
            Constant::List(rows) | Constant::Tuple(rows) => rows.into(),
            // One benchmark, and no list of them.
            row @ Constant::Dict(_) => vec![row],
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

/// The result of following one unit.
struct HostInterpreter<'db> {
    launches: RefCell<Vec<Launch>>,
    /// Of names of modules.
    values: RefCell<FxHashMap<(SourceFile, String), Option<Constant>>>,
    attributes: RefCell<Attributes<'db>>,
    depth: Cell<u32>,
    /// Names and attributes that are being found out, each for the one before.
    links: Cell<u32>,
    /// Things that only a launch decides.
    decisions: Cell<u32>,
    place: String,
    arch: Option<Arch>,
}

/// What a function of the host sees.
struct Host<'db, 'f> {
    scope: UnitScope<'db>,
    following: &'f HostInterpreter<'db>,
    /// Where the unit is a class whose body runs: how many of its statements have run.
    running: Option<usize>,
}

impl<'db> Host<'db, '_> {
    /// The function that a name refers to here: one within the function that is run, else of the module, else imported.
    fn definition(&self, name: &str) -> Option<Unit<'db>> {
        let (db, unit) = (self.scope.db, self.scope.unit);
        let candidates = functions_called(db, unit.file(db), name);
        let around = std::iter::successors(Some(unit), |unit| unit.parent(db));
        let mut scopes = around.filter(|scope| scope.key(db).kind == BlockKind::FunctionHeader).map(Some).chain([None]);
        let here = scopes.find_map(|scope| candidates.iter().rfind(|candidate| candidate.parent(db) == scope)).copied();
        here.or_else(|| {
            let (file, name) = imported_from(db, unit.file(db), Name::new(db, name.to_owned()))?;
            function_of_module(db, file, name.text(db))
        })
    }

    /// `module.function` of a module of the workspace, `Class.function` of a class of the file.
    fn member(&self, of: &str, name: &str) -> Option<Unit<'db>> {
        let (db, file) = (self.scope.db, self.scope.unit.file(self.scope.db));
        if let Some(module) = module_called(db, file, Name::new(db, of.to_owned())) {
            return function_of_module(db, module, name);
        }
        let is_of_class =
            |unit: &&Unit<'db>| unit.parent(db).is_some_and(|class| is_class(db, class) && class.key(db).name() == of);
        let unit = functions_called(db, file, name).iter().copied().find(|unit| is_of_class(&unit))?;
        // Of a method that is called through its class, the first argument is the object.
        let ast = syntax(db, unit);
        let is_of_the_class = |&decorator: &ExprId| ast.name(decorator) == Some("classmethod");
        (!scenario::function(ast)?.decorators.iter().any(is_of_the_class)).then_some(unit)
    }

    /// A class of a module of the workspace, as kernels of the file know it.
    fn class_of_module(&self, module: &str, name: &str) -> Option<Constant> {
        let (db, file) = (self.scope.db, self.scope.unit.file(self.scope.db));
        let source = module_called(db, file, Name::new(db, module.to_owned()))?;
        defined(db, source, name, BlockKind::ClassHeader)?;
        Some(Constant::object(Written { text: format!("{module}.{name}"), file: Some(file.path(db).clone()) }))
    }

    /// A class of the file, as kernels of the file know it.
    fn class(&self, name: &str) -> Option<Constant> {
        let (db, file) = (self.scope.db, self.scope.unit.file(self.scope.db));
        let is_it =
            |unit: &&Unit<'db>| is_class(db, **unit) && unit.parent(db).is_none() && unit.key(db).name() == name;
        units(db, file).iter().find(is_it)?;
        Some(Constant::object(Written { text: name.to_owned(), file: Some(file.path(db).clone()) }))
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
        let host = self.at(unit, None);
        // A function is known by its name, which is another one's in another file.
        let is_elsewhere = unit.file(db) != self.scope.unit.file(db);
        let passed = |argument: &Argument| match argument.value {
            Constant::Function(_) if is_elsewhere => {
                Argument { keyword: argument.keyword.clone(), value: unknown("a function of another file") }
            }
            _ => argument.clone(),
        };
        let arguments: Vec<Argument> = arguments.iter().map(passed).collect();
        let mut parts: Vec<&Ast> = vec![syntax(db, unit)];
        if unit.key(db).kind == BlockKind::FunctionHeader {
            let rest = statements_of(db, unit.file(db), Some(unit)).iter().filter(|part| **part != unit);
            parts.extend(rest.map(|&part| -> &Ast { syntax(db, part) }));
        }
        let returned = eval::run(&parts, &arguments, &host);
        self.following.depth.set(depth);
        self.seen_from(unit.file(db), returned)
    }

    /// What another place sees.
    fn at(&self, unit: Unit<'db>, running: Option<usize>) -> Self {
        Host { scope: UnitScope::new(self.scope.db, unit), following: self.following, running }
    }

    /// A value of another file as this one may use it: functions are known by their names.
    fn seen_from(&self, file: SourceFile, value: Constant) -> Constant {
        match value {
            Constant::Function(_) if file != self.scope.unit.file(self.scope.db) => {
                unknown("a function of another file")
            }
            value => value,
        }
    }

    fn record(&self, kernel: Unit<'db>, is_bare: bool, arguments: Vec<(Option<String>, Constant)>) {
        let path = kernel.file(self.scope.db).path(self.scope.db);
        let is_here = kernel.file(self.scope.db) == self.scope.unit.file(self.scope.db);
        let understood = |value: Constant| match &value {
            // The kernel knows functions and classes by their names.
            Constant::Function(name) if is_here => {
                Constant::object(Written { text: name.clone(), file: Some(path.clone()) })
            }
            value if value.get::<Written>().is_some_and(|it| it.file.as_ref().is_some_and(|file| file != path)) => {
                unknown("a name of another file")
            }
            _ => value,
        };
        let arguments = arguments.into_iter().map(|(name, value)| (name, understood(value))).collect::<Vec<_>>();
        let key = kernel.key(self.scope.db);
        let call = Call { callee: key.name().to_owned(), arguments };
        let place = self.following.place.clone();
        let file = kernel.file(self.scope.db).path(self.scope.db).clone();
        let launch = Launch {
            is_called: false,
            arch: self.following.arch,
            file,
            kernel: key.path.to_string(),
            is_bare,
            call,
            place,
        };
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
        // The options of the launch are those of `triton.compile`, which are not read.
        let mut given = vec![(Some(eval::UNKNOWN_KEYWORDS.to_owned()), unknown("options of `triton.compile`"))];
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
        let mut values = statements.filter_map(|&unit| eval::bound_value(syntax(db, unit), name, &self.at(unit, None)));
        values.next().filter(|_| values.next().is_none())
    }

    /// `forward` of a class whose `apply` is called, which gets a context first, and `backward`, which somebody may call for it.
    fn apply(&self, file: SourceFile, class: &str, arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        let db = self.scope.db;
        let method = |name: &str| {
            let path = format!("{class}.{name}");
            functions_called(db, file, name).iter().copied().find(|unit| *unit.key(db).path == path)
        };
        let forward = method("forward")?;
        let context = Constant::object(host::Context::default());
        let plain = |value| Argument { keyword: None, value };
        let mut passed = vec![plain(context.clone())];
        passed.extend(arguments());
        let returned = self.run(forward, &passed);
        if let Some(backward) = method("backward") {
            let gradients = host::gradients(&returned).into_iter().map(plain);
            self.run(backward, &[plain(context)].into_iter().chain(gradients).collect::<Vec<_>>());
        }
        Some(returned)
    }

    /// The class of whose `apply` a name is another one, and its file.
    fn class_of_alias(&self, name: &str) -> Option<(SourceFile, String)> {
        let db = self.scope.db;
        let (file, name) = self.origin(name);
        let aliases = statements_of(db, file, None).iter().flat_map(|&unit| aliases(syntax(db, unit)));
        aliases.filter(|(alias, _)| *alias == name).map(|(_, class)| (file, class)).last()
    }

    /// The file that a name of the module is from, and its name there.
    fn origin(&self, name: &str) -> (SourceFile, String) {
        let (db, file) = (self.scope.db, self.scope.unit.file(self.scope.db));
        match imported_from(db, file, Name::new(db, name.to_owned())) {
            Some((file, name)) => (file, name.text(db).clone()),
            None => (file, name.to_owned()),
        }
    }

    /// Calls a function. What a kernel or a decorated function returns is not known.
    fn call(&self, unit: Unit<'db>, name: &str, arguments: &dyn Fn() -> Vec<Argument>) -> Constant {
        let db = self.scope.db;
        if is_jit(db, unit) {
            return unknown(format!("what `{name}` returns"));
        }
        let returned = self.run(unit, &arguments());
        let is_plain = scenario::function(syntax(db, unit)).is_some_and(|it| is_plain(syntax(db, unit), it));
        if is_plain { returned } else { unknown(format!("what `{name}` returns")) }
    }
}

/// The functions of a file that have a name, in classes and other functions too.
fn functions_called<'db>(db: &'db dyn salsa::Database, file: SourceFile, name: &str) -> &'db [Unit<'db>] {
    functions(db, file).get(name).map_or(&[], Vec::as_slice)
}

#[salsa::tracked(returns(ref))]
fn functions<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Arc<BTreeMap<String, Vec<Unit<'db>>>> {
    let mut all: BTreeMap<String, Vec<Unit<'db>>> = BTreeMap::new();
    for &unit in units(db, file) {
        if matches!(unit.key(db).kind, BlockKind::Function | BlockKind::FunctionHeader) {
            all.entry(unit.key(db).name().to_owned()).or_default().push(unit);
        }
    }
    Arc::new(all)
}

fn function_of_module<'db>(db: &'db dyn salsa::Database, file: SourceFile, name: &str) -> Option<Unit<'db>> {
    functions_called(db, file, name).iter().rfind(|unit| unit.parent(db).is_none()).copied()
}

fn is_class<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    unit.key(db).kind == BlockKind::ClassHeader
}

impl Scope for Host<'_, '_> {
    fn outer(&self) -> Option<&dyn Scope> {
        Some(&self.scope)
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        if let Some(value) = self.local_of_class(name) {
            return Some(value);
        }
        if self.definition(name).is_some() {
            return Some(Constant::Function(name.to_owned()));
        }
        let known = self.scope.constant(name).or_else(|| self.class(name));
        if matches!(known, Some(Constant::Unknown(_)))
            && let Some(class) = self.class(name)
        {
            return Some(class);
        }
        if known.as_ref().is_some_and(|value| !matches!(value, Constant::Unknown(_))) {
            return known;
        }
        let key = (self.scope.unit.file(self.scope.db), name.to_owned());
        if let Some(value) = self.following.values.borrow().get(&key) {
            return value.clone();
        }
        if self.following.links.get() >= eval::LONGEST_CHAIN {
            return known;
        }
        // A name that leads back to itself finds this, instead of going on without end.
        self.following.values.borrow_mut().insert(key.clone(), known.clone());
        self.following.links.set(self.following.links.get() + 1);
        let value = self.value_on_the_host(name).or(known);
        self.following.links.set(self.following.links.get() - 1);
        self.following.values.borrow_mut().insert(key, value.clone());
        value
    }

    fn follows(&self) -> bool {
        true
    }

    fn decision(&self) -> Option<u32> {
        let decided = self.following.decisions.get();
        self.following.decisions.set(decided + 1);
        Some(decided)
    }

    fn ends(&self, path: &[&str]) -> bool {
        matches!(path, ["pytest", "skip" | "fail" | "xfail"] | ["sys", "exit"] | ["exit" | "quit"])
    }

    fn language_name(&self, path: &[&str]) -> Option<Constant> {
        let of_class = || match path {
            [class, name] => self.class_attribute(class, name).or_else(|| self.class_of_module(class, name)),
            [module, class, name] => self.attribute(self.class_in_module(module, class)?, name),
            _ => None,
        };
        host::name(path).or_else(|| libraries::name(&self.scope, path, Reader::Kernel)).or_else(of_class)
    }

    fn language_call(&self, path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        let compiled = || unknown("the result of a launch is not modelled");
        match path {
            [kernel, "warmup" | "run"] if self.jit_function(kernel).is_some() => {
                return self.launch(kernel, false, arguments);
            }
            [.., "ASTSource"] => {
                self.record_source(&arguments());
                return Some(compiled());
            }
            [class, "apply"] => {
                let (file, class) = self.origin(class);
                return self.apply(file, &class, arguments);
            }
            [name] => {
                if let Some(unit) = self.definition(name) {
                    return Some(self.call(unit, name, arguments));
                }
                if let Some((file, class)) = self.class_of_alias(name) {
                    return self.apply(file, &class, arguments);
                }
            }
            [of, name] => {
                if let Some(unit) = self.member(of, name) {
                    return Some(self.call(unit, name, arguments));
                }
            }
            _ => {}
        }
        let imports = imports(self.scope.db, self.scope.unit.file(self.scope.db));
        let canonical = language::canonical(imports, path);
        let layout = canonical.as_deref().and_then(|path| host::layout(path, arguments));
        let value = layout
            .or_else(|| host::call(path, arguments))
            .or_else(|| libraries::call(&self.scope, path, arguments, Reader::Kernel))?;
        match (canonical.as_deref(), value) {
            (Some("triton.next_power_of_2"), Constant::Unknown(_)) => Some(OneOf::power_of_two(self.decision()?)),
            (_, value) => Some(value),
        }
    }

    fn launch(&self, function: &str, past_decorators: bool, arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        let kernel = self.jit_function(function)?;
        let arguments = arguments().into_iter().map(|argument| (argument.keyword, argument.value)).collect();
        self.record(kernel, past_decorators, arguments);
        Some(unknown("the result of a launch is not modelled"))
    }
}

/// Whether a call gives what the function returns, which decorators may change.
fn is_plain(ast: &Ast, function: &Function) -> bool {
    let only_caches = |&decorator: &ExprId| {
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

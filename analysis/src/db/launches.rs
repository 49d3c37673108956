//! How host code launches kernels for GPUs: tests, programs and the functions that they call are followed. The code stands in the kernel's file, or in
//! one that imports that.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId, Stmt};

use tilefit_gpu::device::Arch;
use tilefit_gpu::host::{self, Written};
use tilefit_gpu::language::{self, Dtype};
use tilefit_gpu::scenario::{self, Call};
use tilefit_python::eval::{self, Argument, Constant, OneOf, Pattern, Scope};
use tilefit_python::torch;

use super::devices::device_of_host;
use super::host_code::{Arguments, Host, Meaning, aliases, aliases_of_module, follow, known, unknown};
use super::importers::importers;
use super::jit::is_jit;
use super::libraries::{self, Reader};
use super::modules::{imported_from, module_called};
use super::program::depends_on_device;
use super::reexports::imports;
use super::statements::statements_of;
use super::tilelang_names::is_factory;
use super::{Name, SourceFile, Unit, syntax, tables, units};

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
/// Functions of other files that are followed for one kernel.
const MOST_ELSEWHERE: usize = 64;

/// The launches of a kernel on a device, those of its own file first.
#[salsa::tracked(returns(ref))]
pub(super) fn launches_of<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    device: Option<Arch>,
) -> Arc<Vec<Launch>> {
    let (file, path) = (unit.file(db), unit.key(db).path.clone());
    let mut found: Vec<(&Launch, bool)> = Vec::new();
    for &(root, is_called) in leading_to(db, file, Name::new(db, unit.key(db).name().to_owned())) {
        let device = device_of_host(db, root).or(device).filter(|_| depends_on_device(db, root.file(db)));
        let launches = launches_in(db, root, device).iter();
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
    let mut kept: Vec<Launch> = kept.map(|&(launch, is_called)| Launch { is_called, ..launch.clone() }).collect();
    // One with options that are not known has more ways than are tried, and says the least.
    kept.sort_by_key(|launch| launch.call.arguments.iter().any(|(name, _)| is_unknown_keywords(name.as_deref())));
    Arc::new(kept)
}

fn is_unknown_keywords(name: Option<&str>) -> bool {
    name == Some(eval::UNKNOWN_KEYWORDS)
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
            if found.contains(&unit) || named_in(db, unit).is_disjoint(&wanted) || is_compiled(db, unit) {
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
    names.extend(aliases_of_module(db, file).iter().map(|(alias, _)| alias.clone()));
    Arc::new(names)
}

/// What following a unit of host code launches on a device, under each way in which tests call it.
#[salsa::tracked(returns(ref), cycle_result = launches_itself)]
fn launches_in<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, device: Option<Arch>) -> Arc<Vec<Launch>> {
    let found =
        Launches { launches: RefCell::default(), place: unit.key(db).path.to_string(), arch: device_of_host(db, unit) };
    follow(db, (unit, device), &found, |host| match unit.key(db).kind {
        BlockKind::Statements => eval::follow(syntax(db, unit), host),
        BlockKind::Function | BlockKind::FunctionHeader => {
            for mut way in ways(syntax(db, unit), host) {
                way.push(Argument { keyword: Some("device".to_owned()), value: torch::device::<Dtype>() });
                host.run(unit, &way);
            }
        }
        BlockKind::ClassHeader => {}
    });
    Arc::new(found.launches.into_inner())
}

fn launches_itself<'db>(_: &'db dyn salsa::Database, _: salsa::Id, _: Unit<'db>, _: Option<Arch>) -> Arc<Vec<Launch>> {
    Arc::default()
}

/// The launches of kernels for GPUs that host code makes.
struct Launches {
    launches: RefCell<Vec<Launch>>,
    place: String,
    arch: Option<Arch>,
}

impl<'db> Meaning<'db> for Launches {
    /// `torch.float16` is Triton's own type of such elements.
    fn library_name(&self, host: &Host<'db, '_>, path: &[&str]) -> Option<Constant> {
        if let ["__file__"] = path {
            return Some(Constant::Str(host.file().path(host.scope.db).clone()));
        }
        torch::name::<Dtype>(path).or_else(|| libraries::name(host.scope.db, host.asking(), path, Reader::Kernel))
    }

    fn library_call(&self, host: &Host<'db, '_>, path: &[&str], arguments: Arguments) -> Option<Constant> {
        if let [.., "ASTSource"] = path {
            self.record_source(host, &arguments());
            return Some(not_modelled());
        }
        if let ["_launcher"] = path {
            return self.launched_by_helion(host, arguments());
        }
        let imports = imports(host.scope.db, host.scope.unit.file(host.scope.db));
        let canonical = language::canonical(imports, path);
        let layout = canonical.as_deref().and_then(|path| host::layout(path, arguments));
        let value = layout
            .or_else(|| torch::call::<Dtype>(path, arguments))
            .or_else(|| host::call(path, arguments))
            .or_else(|| libraries::call(host.scope.db, host.asking(), path, arguments, Reader::Kernel))
            .or_else(|| tables::call(host.scope.db, path, arguments, &|| host.decision()))?;
        match (canonical.as_deref(), value) {
            (Some("triton.next_power_of_2"), Constant::Unknown(_)) => Some(OneOf::power_of_two(host.decision()?)),
            (_, value) => Some(value),
        }
    }

    fn call(&self, host: &Host<'db, '_>, function: Unit<'db>, arguments: &[Argument]) -> Option<Constant> {
        let db = host.scope.db;
        if is_factory(db, function) {
            return Some(self.made(host, function, arguments.to_vec()));
        }
        is_jit(db, function).then(|| host.returned_by(function))
    }

    fn method(&self, host: &Host<'db, '_>, function: &str, method: &str, arguments: Arguments) -> Option<Constant> {
        if METHODS_OF_FACTORIES.contains(&method)
            && let Some(factory) = host.definition(function).filter(|&it| is_factory(host.scope.db, it))
        {
            return Some(self.made(host, factory, arguments()));
        }
        match method {
            "warmup" | "run" => self.launch(host, host.definition(function)?, false, &|| known(&arguments())),
            _ => None,
        }
    }

    fn launch(
        &self,
        host: &Host<'db, '_>,
        function: Unit<'db>,
        past_decorators: bool,
        arguments: Arguments,
    ) -> Option<Constant> {
        is_jit(host.scope.db, function).then(|| {
            let arguments = arguments().into_iter().map(|argument| (argument.keyword, argument.value));
            self.record(host, function, past_decorators, arguments.collect());
            not_modelled()
        })
    }

    fn class(&self, db: &'db dyn salsa::Database, file: SourceFile, name: String) -> Option<Constant> {
        Some(Constant::object(Written { text: name, file: Some(file.path(db).clone()) }))
    }

    fn tensor_of(&self, dtype: &Constant) -> Option<Constant> {
        torch::of_type::<Dtype>(dtype)
    }

    fn gradients(&self, returned: &Constant) -> Vec<Constant> {
        torch::gradients::<Dtype>(returned)
    }
}

impl Launches {
    /// A factory of TileLang makes a kernel for its arguments.
    fn made<'db>(&self, host: &Host<'db, '_>, factory: Unit<'db>, arguments: Vec<Argument>) -> Constant {
        let arguments = arguments.into_iter().map(|argument| (argument.keyword, argument.value));
        self.record(host, factory, false, arguments.collect());
        not_modelled()
    }

    /// `_launcher(kernel, grid, …, num_warps=4)`: what Helion writes gets the function that launches as an argument (`helion/runtime/__init__.py`).
    fn launched_by_helion<'db>(&self, host: &Host<'db, '_>, mut arguments: Vec<Argument>) -> Option<Constant> {
        let Constant::Function(kernel) = &arguments.first()?.value else { return None };
        let kernel = host.definition(kernel)?;
        let given = arguments.split_off(arguments.len().min(2));
        Meaning::launch(self, host, kernel, false, &|| given.clone())
    }
}

/// Methods of a function of `@tilelang.jit` that make the kernel for arguments.
const METHODS_OF_FACTORIES: [&str; 3] = ["compile", "get_tir", "get_kernel_source"];

/// Whether a compiler of kernels compiles a function.
fn is_compiled<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    is_jit(db, unit) || is_factory(db, unit)
}

fn not_modelled() -> Constant {
    unknown("the result of a launch is not modelled")
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

impl Launches {
    fn record<'db>(
        &self,
        host: &Host<'db, '_>,
        kernel: Unit<'db>,
        is_bare: bool,
        arguments: Vec<(Option<String>, Constant)>,
    ) {
        let path = kernel.file(host.scope.db).path(host.scope.db);
        let is_here = kernel.file(host.scope.db) == host.scope.unit.file(host.scope.db);
        let understood = |value: Constant| match &value {
            // The kernel knows functions and classes by their names.
            Constant::Function(name) if is_here && host.is_named_here(name) => {
                Constant::object(Written { text: name.clone(), file: Some(path.clone()) })
            }
            value if value.get::<Written>().is_some_and(|it| it.file.as_ref().is_some_and(|file| file != path)) => {
                unknown("a name of another file")
            }
            value if value.get::<Pattern>().is_some() => unknown("a text of which parts are not known"),
            _ => value,
        };
        let arguments = arguments.into_iter().map(|(name, value)| (name, understood(value))).collect::<Vec<_>>();
        let key = kernel.key(host.scope.db);
        let call = Call { callee: key.name().to_owned(), arguments };
        let place = self.place.clone();
        let file = kernel.file(host.scope.db).path(host.scope.db).clone();
        let launch =
            Launch { is_called: false, arch: self.arch, file, kernel: key.path.to_string(), is_bare, call, place };
        let mut launches = self.launches.borrow_mut();
        if launches.len() < MOST_LAUNCHES && !launches.contains(&launch) {
            launches.push(launch);
        }
    }

    /// `ASTSource(fn=kernel, signature={…}, constexprs={…})`, of which kernels are compiled without a launch.
    fn record_source(&self, host: &Host<'_, '_>, arguments: &[Argument]) {
        let argument = |name: &str, place: usize| {
            let by_keyword = arguments.iter().find(|argument| argument.keyword.as_deref() == Some(name));
            let positional = || arguments.iter().filter(|argument| argument.keyword.is_none()).nth(place);
            by_keyword.or_else(positional).map(|argument| &argument.value)
        };
        let Some(Constant::Function(name)) = argument("fn", 0) else { return };
        let Some(kernel) = host.definition(name).filter(|&kernel| is_jit(host.scope.db, kernel)) else { return };
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
        self.record(host, kernel, true, given);
    }
}

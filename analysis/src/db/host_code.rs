//! Code on the host: tests, programs and the functions that they call are followed, with the tensors and numbers that they pass. What a call of a
//! kernel means is for who has it followed to say.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Ast, Expr, ExprId, Function, Stmt, StmtId};

use tilefit_gpu::device::Arch;
use tilefit_gpu::scenario;
use tilefit_python::eval::{self, Argument, Constant, Parts, Scope, Weighed};
use tilefit_python::finding::Reason;
use tilefit_python::torch;
use tilefit_python::work::{self, Limits, remembered, within};

use super::modules::{imported_from, module_called};
use super::scope::{UnitScope, function_of_factory};
use super::statements::{defined, statements_of};
use super::{Name, SourceFile, Unit, limits, syntax, units};

mod classes;

use classes::Attributes;

/// Functions that call each other deeper than this are not followed.
const DEEPEST: u32 = 8;
/// Steps of work for the code that is followed from one unit.
const STEPS: u64 = 400_000;
/// Steps in the time in which a function is looked up, and its parameters are given their values.
const STEPS_A_CALL: u64 = 32;
/// Values within one that are looked through in the time of a step.
const VALUES_A_STEP: u64 = 8;

/// Evaluates the arguments of a call.
pub(super) type Arguments<'a> = &'a dyn Fn() -> Vec<Argument>;

/// What the calls in host code mean to who has it followed.
pub(super) trait Meaning<'db> {
    /// A name of a library.
    fn library_name(&self, host: &Host<'db, '_>, path: &[&str]) -> Option<Constant>;

    /// What a function of a library gives, which nothing is followed for.
    fn library_call(&self, host: &Host<'db, '_>, path: &[&str], arguments: Arguments) -> Option<Constant>;

    /// `function(arguments)`; `None` where the function is to be run.
    fn call(&self, host: &Host<'db, '_>, function: Unit<'db>, arguments: &[Argument]) -> Option<Constant>;

    /// `function.method(arguments)`; `None` where that is nothing of its own.
    fn method(&self, host: &Host<'db, '_>, function: &str, method: &str, arguments: Arguments) -> Option<Constant>;

    /// `function[grid](arguments)`, or `function.fn[grid](arguments)` past its decorators; `None` where that is no launch.
    fn launch(
        &self,
        host: &Host<'db, '_>,
        function: Unit<'db>,
        past_decorators: bool,
        arguments: Arguments,
    ) -> Option<Constant>;

    /// A class, by what a file calls it, where that is a value for kernels.
    fn class(&self, db: &'db dyn salsa::Database, file: SourceFile, name: String) -> Option<Constant>;

    /// A tensor of which only the element type is known.
    fn tensor_of(&self, dtype: &Constant) -> Option<Constant>;

    /// The gradients of what a function returns.
    fn gradients(&self, returned: &Constant) -> Vec<Constant>;
}

/// Follows the code of a unit, on a device where that is known. What was called before the work became too much stays true.
pub(super) fn follow<'db>(
    db: &'db dyn salsa::Database,
    (unit, device): (Unit<'db>, Option<Arch>),
    meaning: &dyn Meaning<'db>,
    code: impl FnOnce(&Host<'db, '_>),
) {
    let following = Following {
        meaning,
        device,
        values: RefCell::default(),
        attributes: RefCell::default(),
        handed_on: RefCell::default(),
        depth: Cell::new(0),
        links: Cell::new(0),
        decisions: Cell::new(0),
    };
    let host = Host { scope: UnitScope::on(db, unit, device), following: &following, running: None };
    let limits = limits(db);
    let _ = within(Limits { steps: STEPS.min(limits.steps), ..limits }, || code(&host));
}

/// What is found out while one unit is followed.
struct Following<'db, 'm> {
    meaning: &'m dyn Meaning<'db>,
    device: Option<Arch>,
    /// Of names of modules.
    values: RefCell<FxHashMap<(SourceFile, String), Option<Constant>>>,
    attributes: RefCell<Attributes<'db>>,
    /// Functions that other files than theirs were given, by the names that they have there.
    handed_on: RefCell<FxHashMap<String, Unit<'db>>>,
    depth: Cell<u32>,
    /// Names and attributes that are being found out, each for the one before.
    links: Cell<u32>,
    /// Things that only a launch decides.
    decisions: Cell<u32>,
}

/// What a function of the host sees.
pub(super) struct Host<'db, 'f> {
    pub(super) scope: UnitScope<'db>,
    following: &'f Following<'db, 'f>,
    /// Where the unit is a class whose body runs: how many of its statements have run.
    running: Option<usize>,
}

impl<'db> Host<'db, '_> {
    pub(super) fn file(&self) -> SourceFile {
        self.scope.unit.file(self.scope.db)
    }

    /// The file, and the device that it asks about.
    pub(super) fn asking(&self) -> (SourceFile, Option<Arch>) {
        (self.file(), self.scope.program.device)
    }

    /// The function that a name refers to here: one within the function that is run, else of the module, else imported.
    pub(super) fn definition(&self, name: &str) -> Option<Unit<'db>> {
        let (db, unit) = (self.scope.db, self.scope.unit);
        if let Some(function) = self.following.handed_on.borrow().get(name) {
            return Some(*function);
        }
        let candidates = functions_called(db, unit.file(db), name);
        let around = std::iter::successors(Some(unit), |unit| unit.parent(db));
        let mut scopes = around.filter(|scope| scope.key(db).kind == BlockKind::FunctionHeader).map(Some).chain([None]);
        let here = scopes.find_map(|scope| candidates.iter().rfind(|candidate| candidate.parent(db) == scope)).copied();
        here.or_else(|| {
            let (file, name) = self.origin(name);
            let made = || remembered(|| function_of_factory(db, file, Name::new(db, name.clone()), self.scope.program));
            function_of_module(db, file, &name).or_else(made)
        })
    }

    /// `module.function` of a module of the workspace, `Class.function` of a class of the file.
    fn member(&self, of: &str, name: &str) -> Option<Unit<'db>> {
        let (db, file) = (self.scope.db, self.file());
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
        let (db, file) = (self.scope.db, self.file());
        let source = module_called(db, file, Name::new(db, module.to_owned()))?;
        defined(db, source, name, BlockKind::ClassHeader)?;
        self.following.meaning.class(db, file, format!("{module}.{name}"))
    }

    /// A class of the file, as kernels of the file know it.
    fn class(&self, name: &str) -> Option<Constant> {
        let (db, file) = (self.scope.db, self.file());
        let is_it =
            |unit: &&Unit<'db>| is_class(db, **unit) && unit.parent(db).is_none() && unit.key(db).name() == name;
        units(db, file).iter().find(is_it)?;
        self.following.meaning.class(db, file, name.to_owned())
    }

    /// Runs a function.
    pub(super) fn run(&self, unit: Unit<'db>, arguments: &[Argument]) -> Constant {
        work::spend(STEPS_A_CALL);
        let db = self.scope.db;
        let depth = self.following.depth.get();
        if depth == DEEPEST {
            return unknown("calls are nested too deeply");
        }
        self.following.depth.set(depth + 1);
        let host = self.at(unit, None);
        let seen = |argument: &Argument| Argument {
            keyword: argument.keyword.clone(),
            value: host.seen_from(self, argument.value.clone()),
        };
        let arguments: Vec<Argument> = arguments.iter().map(seen).collect();
        let mut parts: Vec<&Ast> = vec![syntax(db, unit)];
        if unit.key(db).kind == BlockKind::FunctionHeader {
            let rest = statements_of(db, unit.file(db), Some(unit)).iter().filter(|part| **part != unit);
            parts.extend(rest.map(|&part| -> &Ast { syntax(db, part) }));
        }
        let returned = eval::run(&parts, &arguments, &host);
        self.following.depth.set(depth);
        self.seen_from(&host, returned)
    }

    /// What another place sees.
    fn at(&self, unit: Unit<'db>, running: Option<usize>) -> Self {
        let scope = UnitScope::on(self.scope.db, unit, self.following.device);
        Host { scope, following: self.following, running }
    }

    /// A value of another place as this one may use it: functions go by their names, which are those of others in another file.
    fn seen_from(&self, other: &Host<'db, '_>, value: Constant) -> Constant {
        if self.file() == other.file() {
            return value;
        }
        work::spend(value.weight() as u64 / VALUES_A_STEP);
        self.renamed(other, value)
    }

    fn renamed(&self, other: &Host<'db, '_>, value: Constant) -> Constant {
        let each = |values: Parts<Constant>| values.into_iter().map(|value| self.renamed(other, value)).collect();
        match value {
            Constant::Function(name) => self.function_of(other, &name),
            Constant::List(values) => Constant::List(each(values)),
            Constant::Tuple(values) => Constant::Tuple(each(values)),
            Constant::Dict(pairs) => {
                let renamed = |(key, value): &(Constant, Constant)| (key.clone(), self.renamed(other, value.clone()));
                Constant::Dict(pairs.with_parts(pairs.iter().map(renamed)))
            }
            value => value,
        }
    }

    /// A function of another place, under a name that it has here.
    fn function_of(&self, other: &Host<'db, '_>, name: &str) -> Constant {
        let db = self.scope.db;
        let Some(function) = other.definition(name) else { return unknown("a function of another file") };
        let names = [function.key(db).name(), name];
        if let Some(name) = names.into_iter().find(|name| self.definition(name) == Some(function)) {
            return Constant::Function(name.to_owned());
        }
        // No name of Python's.
        let name = format!("{}:{}", function.file(db).path(db), function.key(db).path);
        self.following.handed_on.borrow_mut().insert(name.clone(), function);
        Constant::Function(name)
    }

    /// Whether a function goes by a name that the code here has for it.
    pub(super) fn is_named_here(&self, function: &str) -> bool {
        !self.following.handed_on.borrow().contains_key(function)
    }

    /// A value that only host code has: a tensor, a dtype of PyTorch, a table of functions.
    fn value_on_the_host(&self, name: &str) -> Option<Constant> {
        let (db, unit) = (self.scope.db, self.scope.unit);
        let statements = statements_of(db, unit.file(db), None).iter();
        let mut values = statements.filter_map(|&unit| eval::bound_value(syntax(db, unit), name, &self.at(unit, None)));
        values.next().filter(|_| values.next().is_none())
    }

    /// `forward` of a class whose `apply` is called, which gets a context first, and `backward`, which somebody may call for it.
    fn apply(&self, file: SourceFile, class: &str, arguments: Arguments) -> Option<Constant> {
        let (db, meaning) = (self.scope.db, self.following.meaning);
        let method = |name: &str| {
            let path = format!("{class}.{name}");
            functions_called(db, file, name).iter().copied().find(|unit| *unit.key(db).path == path)
        };
        let forward = method("forward")?;
        let context = Constant::object(torch::Context::default());
        let plain = |value| Argument { keyword: None, value };
        let mut passed = vec![plain(context.clone())];
        passed.extend(arguments());
        let returned = self.run(forward, &passed);
        if let Some(backward) = method("backward") {
            let gradients = meaning.gradients(&returned).into_iter().map(plain);
            self.run(backward, &[plain(context)].into_iter().chain(gradients).collect::<Vec<_>>());
        }
        Some(returned)
    }

    /// The class of whose `apply` a name is another one, and its file.
    fn class_of_alias(&self, name: &str) -> Option<(SourceFile, String)> {
        let (file, name) = self.origin(name);
        let mut aliases = aliases_of_module(self.scope.db, file).iter();
        aliases.rfind(|(alias, _)| *alias == name).map(|(_, class)| (file, class.clone()))
    }

    /// The file that a name of the module is from, and its name there.
    fn origin(&self, name: &str) -> (SourceFile, String) {
        let (db, file) = (self.scope.db, self.file());
        match imported_from(db, file, Name::new(db, name.to_owned())) {
            Some((file, name)) => (file, name.text(db).clone()),
            None => (file, name.to_owned()),
        }
    }

    /// Calls a function. What a decorated one returns is not known.
    fn call(&self, function: Unit<'db>, arguments: &[Argument]) -> Constant {
        if let Some(value) = self.following.meaning.call(self, function, arguments) {
            return value;
        }
        let returned = self.run(function, &known(arguments));
        let ast = syntax(self.scope.db, function);
        let is_plain = scenario::function(ast).is_some_and(|it| is_plain(ast, it));
        if is_plain { returned } else { self.returned_by(function) }
    }

    /// What nobody knows of a function.
    pub(super) fn returned_by(&self, function: Unit<'db>) -> Constant {
        unknown(format!("what `{}` returns", function.key(self.scope.db).name()))
    }
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
        let key = (self.file(), name.to_owned());
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

    fn tensor_of(&self, dtype: &Constant) -> Option<Constant> {
        self.following.meaning.tensor_of(dtype)
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
        self.following.meaning.library_name(self, path).or_else(of_class)
    }

    fn language_call(&self, path: &[&str], arguments: Arguments) -> Option<Constant> {
        let meaning = self.following.meaning;
        let known = || known(&arguments());
        if let Some(value) = meaning.library_call(self, path, &known) {
            return Some(value);
        }
        match *path {
            [class, "apply"] => {
                let (file, class) = self.origin(class);
                self.apply(file, &class, &known)
            }
            [name] => {
                if let Some(function) = self.definition(name) {
                    return Some(self.call(function, &arguments()));
                }
                let (file, class) = self.class_of_alias(name)?;
                self.apply(file, &class, &known)
            }
            [of, name] => {
                let of_member = || Some(self.call(self.member(of, name)?, &arguments()));
                meaning.method(self, of, name, arguments).or_else(of_member)
            }
            _ => None,
        }
    }

    fn launch(&self, function: &str, past_decorators: bool, arguments: Arguments) -> Option<Constant> {
        self.following.meaning.launch(self, self.definition(function)?, past_decorators, arguments)
    }
}

/// Without the word that stands for unknown arguments.
pub(super) fn known(arguments: &[Argument]) -> Vec<Argument> {
    let is_known = |it: &&Argument| it.keyword.as_deref() != Some(eval::UNKNOWN_KEYWORDS);
    arguments.iter().filter(is_known).cloned().collect()
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

/// `attention = _attention.apply`: each name with its class.
pub(super) fn aliases(ast: &Ast) -> Vec<(String, String)> {
    let alias = |&stmt: &StmtId| {
        let Stmt::Assign { targets, value: Some(value), .. } = ast.stmt(stmt) else { return None };
        let path = ast.dotted(*value)?;
        let (&[target], [class, "apply"]) = (targets.as_slice(), path.as_slice()) else { return None };
        Some((ast.name(target)?.to_owned(), (*class).to_owned()))
    };
    ast.body.iter().filter_map(alias).collect()
}

#[salsa::tracked(returns(ref))]
pub(super) fn aliases_of_module(db: &dyn salsa::Database, file: SourceFile) -> Arc<Vec<(String, String)>> {
    Arc::new(statements_of(db, file, None).iter().flat_map(|&unit| aliases(syntax(db, unit))).collect())
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

pub(super) fn unknown(reason: impl Into<String>) -> Constant {
    Constant::Unknown(Reason::new(reason))
}

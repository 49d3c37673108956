//! The salsa database: what is computed from what, and so what an edit computes again.
//!
//! A document is cut into [`Unit`]s. Everything about a kernel depends on the syntax of its own unit and on the constants that it
//! names, never on positions, so that an edit elsewhere recomputes nothing in it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use salsa::Durability;
use tilefit_pypto::codegen::{self, Generated, Sequenced};
use tilefit_pypto::coverage::{self, Mark, Pass};
use tilefit_pypto::ir::Kernel;
use tilefit_pypto::isa_rules;
use tilefit_pypto::lower;
use tilefit_pypto::memory::{self, Effort, Plan, Searched};
use tilefit_pypto::passes;
use tilefit_pypto::printed::{self, Offsets, PrintedKernel};
use tilefit_pypto::target::Machine;
use tilefit_python::diagnostics::Severity;
use tilefit_python::eval::{self, Argument, Binding, ClassSource, Constant, FunctionSource, Imports, Scope};
use tilefit_python::finding::{Note, Origin, Reason};
use tilefit_python::work::{self, Failure, Limits, remembered, within};
use tilefit_syntax::ast::{self, Ast, ExprId, Spans};
use tilefit_syntax::{BlockKey, BlockKind, BlockSource, Document, interrupt};

use crate::confirm::Answers;
use crate::project::Config;
use tilefit_packing::Problem;

mod assumptions;
mod calls;
mod configurations;
mod devices;
mod dumps;
mod factories;
pub(crate) mod imports;
mod jit;
mod launches;
mod libraries;
mod lists;
mod names;
mod pairs;
mod passed_on;
mod patches;
mod possible;
mod provenance;
mod questions;
mod scenario_tables;
mod scenarios;
mod shapes;
mod shared_plans;
mod specialisations;
#[cfg(test)]
mod tests;
mod tlx;
mod traced;

use assumptions::{Asked, Recording};
pub(crate) use assumptions::{assumptions_of_name, assumptions_of_unit};
pub(crate) use configurations::{
    Configuration, Configurations, configuration_list, configurations_of, rows_of_list, written_configurations,
};
pub(crate) use dumps::{Dumped, dumped};
pub(crate) use jit::{
    JitKernel, gluon_name, is_gluon_decorator, is_triton_decorator, jit_assumed, jit_dialect, jit_kernel, jit_least,
    jit_needed, jit_scenario_table, triton_name,
};
use libraries::Reader;
pub(crate) use names::{unknown_names, unparsed};
pub(crate) use pairs::unpaired_in;
pub(crate) use passed_on::imports as triton_imports;
pub(crate) use possible::{Weighed, weighed_in_force};
pub(crate) use questions::{Under, jit_question, question_under, tlx_question};
pub(crate) use scenario_tables::{CameTo, ScenarioRow, ScenarioTable, Verdict};
pub(crate) use shapes::given as given_shapes;
use shared_plans::KernelPlans;
pub(crate) use shared_plans::SharedPlans;
pub(crate) use tlx::{TlxKernel, module_constant, tlx_kernel, tlx_least, tlx_needed_values, tlx_scenario_table};
pub(crate) use traced::TracedKernel;

#[salsa::db]
#[derive(Clone, Default)]
pub(crate) struct Database {
    storage: salsa::Storage<Self>,
}

#[salsa::db]
impl salsa::Database for Database {}

impl Database {
    /// A database that reports each execution of a query.
    #[cfg(test)]
    pub(crate) fn observed(observe: impl Fn(salsa::Event) + Send + Sync + 'static) -> Self {
        Database { storage: salsa::Storage::new(Some(Box::new(observe))) }
    }

    /// How many values there are of each kind that queries are asked with, and how many answers of each query, in use or not.
    #[cfg(test)]
    pub(crate) fn census(&mut self) -> BTreeMap<&'static str, usize> {
        let all = <dyn salsa::Database>::memory_usage(self);
        let values = all.structs.iter().map(|of_kind| (of_kind.debug_name(), of_kind.count()));
        let mut census = BTreeMap::new();
        values.chain(all.queries.iter().map(|(query, answers)| (*query, answers.count()))).for_each(|(name, count)| {
            *census.entry(name).or_default() += count;
        });
        census
    }

    /// How many kernels the table of plans holds.
    #[cfg(test)]
    pub(crate) fn kernels_with_plans(&self) -> usize {
        Plans::get(self).made(self).count()
    }

    /// How many kernels were planned so far.
    #[cfg(test)]
    pub(crate) fn planned(&self) -> usize {
        Plans::get(self).made(self).made()
    }
}

#[salsa::input(singleton)]
pub(crate) struct Settings {
    #[returns(ref)]
    pub(crate) config: Config,
}

/// Of what is said of files that nobody edits. A keystroke elsewhere leaves alone what rests on these only, without a look at each of them: in a
/// repository that may be thousands.
pub(crate) const AT_REST: Durability = Durability::MEDIUM;

#[salsa::input]
pub(crate) struct SourceFile {
    #[returns(ref)]
    pub(crate) path: String,
    #[returns(ref)]
    pub(crate) document: Document,
    /// The configuration excludes it, or it is a stub: others may import from it, but nothing is shown of it.
    #[returns(copy)]
    pub(crate) excluded: bool,
    /// What the compiler wrote down about it (`passes_dump/NN_after_AllocateMemoryAddr.py`), newest first.
    #[returns(ref)]
    pub(crate) dumps: Vec<SourceFile>,
    /// Why its text cannot be had; the document is empty then.
    #[returns(ref)]
    pub(crate) unreadable: Option<String>,
    /// What the author's compiler said of this very text.
    #[returns(ref)]
    pub(crate) answers: Answers,
}

/// The configuration in force. No query is asked with it: of one argument salsa makes no key that stays behind.
pub(crate) fn config(db: &dyn salsa::Database) -> &Config {
    Settings::get(db).config(db)
}

impl SourceFile {
    /// One of which nothing is known but its path and its text.
    pub(crate) fn of(db: &dyn salsa::Database, path: String, document: Document) -> SourceFile {
        let excluded = is_stub(&path);
        let file = SourceFile::builder(path, document, excluded, Vec::new(), None, Answers::default());
        file.durability(AT_REST).answers_durability(Durability::LOW).new(db)
    }
}

/// Whether a file only declares. A function without a body is not a kernel that fits.
pub(crate) fn is_stub(path: &str) -> bool {
    path.ends_with(".pyi")
}

/// A file, for the lifetime of its host.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId(pub(crate) SourceFile);

/// What one kernel may cost, by the settings. Whatever else changes in those leaves it as it is.
fn limits(db: &dyn salsa::Database) -> Limits {
    Settings::try_get(db).map_or(Limits::DEFAULT, |settings| limits_of(db, settings))
}

#[salsa::tracked(returns(copy))]
fn limits_of(db: &dyn salsa::Database, settings: Settings) -> Limits {
    settings.config(db).limits
}

/// The files whose text is known, by path.
#[salsa::input(singleton)]
pub(crate) struct Workspace {
    #[returns(ref)]
    pub(crate) files: BTreeMap<String, SourceFile>,
}

/// What searches that take their time have found. A plan looks here only for what its own search leaves open.
#[salsa::input(singleton)]
pub(crate) struct Searches {
    #[returns(ref)]
    pub(crate) done: Vec<Arc<Searched>>,
}

/// The plans that are made. Not what kernels depend on: a plan that is found here is the one that would be made.
#[salsa::input(singleton)]
pub(crate) struct Plans {
    #[returns(ref)]
    pub(crate) made: Arc<SharedPlans>,
}

/// A block of a document, without its position.
#[salsa::tracked]
pub(crate) struct Unit<'db> {
    #[returns(copy)]
    pub(crate) file: SourceFile,
    #[returns(ref)]
    pub(crate) key: BlockKey,
    // File and key are what a unit is. What is tracked may change, and only the queries that read it run again.
    #[tracked]
    #[returns(ref)]
    source: Arc<BlockSource>,
    #[tracked]
    #[returns(copy)]
    pub(crate) parent: Option<Unit<'db>>,
}

#[salsa::interned]
pub(crate) struct Name<'db> {
    #[returns(ref)]
    text: String,
}

/// The units of a file, one per block of its document and in the same order.
#[salsa::tracked(returns(ref))]
pub(crate) fn units<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Vec<Unit<'db>> {
    let mut units: Vec<Unit<'db>> = Vec::new();
    for block in file.document(db).blocks() {
        let parent = block.parent.and_then(|parent| units.get(parent).copied());
        units.push(Unit::new(db, file, block.key.clone(), block.source.clone(), parent));
    }
    units
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub(crate) ast: Arc<Ast>,
    pub(crate) spans: Arc<Spans>,
}

#[salsa::tracked(returns(ref))]
pub(crate) fn parsed<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Parsed {
    let (ast, spans) = interrupt::looking(work::look, || ast::parse(unit.source(db)));
    Parsed { ast: Arc::new(ast), spans: Arc::new(spans) }
}

/// The syntax of a unit without positions: unchanged by comments and moved text.
#[salsa::tracked(returns(ref))]
pub(crate) fn syntax<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Ast> {
    parsed(db, unit).ast.clone()
}

/// The value of a name in the scopes around a unit, from the inside out. Class scopes are not visible from methods, as in Python.
/// `links` is how many names were resolved on the way to this one, each for the one before; `root` the file that the program starts from,
/// where that makes a difference.
#[salsa::tracked(returns(clone), cycle_result = constant_in_terms_of_itself)]
pub(crate) fn constant<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    scope: Option<Unit<'db>>,
    name: Name<'db>,
    links: u32,
    root: Option<SourceFile>,
) -> Option<Constant> {
    if links >= eval::LONGEST_CHAIN {
        return Some(eval::too_far(name.text(db)));
    }
    let bound = |&unit: &Unit<'db>| Some((unit, bound_value(db, unit, name.text(db), links + 1, root)?));
    let mut values: Vec<(Unit<'db>, Constant)> = statements_of(db, file, scope).iter().filter_map(bound).collect();
    if values.len() > 1 {
        // Kernels are compiled from an importing program, too, which does not run what is under `__name__ == "__main__"`.
        values.retain(|(unit, _)| eval::binding(syntax(db, *unit), name.text(db)) != Binding::Program);
    }
    match (values.as_slice(), scope) {
        // The same import again, say, says nothing else.
        ([(_, value), again @ ..], _) if again.iter().all(|(_, other)| other == value) => Some(value.clone()),
        ([], Some(scope)) => constant(db, file, scope.parent(db), name, links, root),
        ([], None) => None,
        _ => Some(Constant::Unknown(Reason::new(format!("`{}` is assigned more than once", name.text(db))))),
    }
}

/// The value that the statements of a unit give to a name; an import leads to the file that it names.
fn bound_value<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    name: &str,
    links: u32,
    root: Option<SourceFile>,
) -> Option<Constant> {
    let ast = syntax(db, unit);
    let now = root.and_then(|root| patches::moment(db, root, unit, name));
    if let Binding::Import { level, module, original } = eval::binding(ast, name)
        && let Some(file) = module_file(db, unit.file(db), level, Name::new(db, module.clone()))
    {
        if let Some(reason) = file.unreadable(db) {
            let reason = format!("`{original}` is imported from `{module}`, which tilefit does not read: {reason}");
            return Some(Constant::Unknown(Reason::new(reason)));
        }
        let patched = root.and_then(|root| patches::patched(db, root, file, &original, now, links));
        let own = || constant(db, file, None, Name::new(db, original.clone()), links, root);
        let missing = || Constant::Unknown(Reason::new(format!("`{module}` has no `{original}`")));
        return Some(patched.or_else(own).unwrap_or_else(missing));
    }
    let value = eval::bound_value(ast, name, &UnitScope { db, unit, links, root, now });
    if unit.key(db).kind == BlockKind::FunctionHeader
        && matches!(value, Some(Constant::Unknown(_)))
        && eval::binding(ast, name) == Binding::Param(None)
        && let Some((_, given, _)) = shapes::given_constants(db, unit).iter().find(|(param, ..)| param == name)
    {
        return Some(given.clone());
    }
    value
}

/// The statements of a unit's file that assign to `module.name`, and what they assign where that is one expression.
fn overriding<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    module_file: SourceFile,
    module: &str,
    name: &str,
) -> Vec<(Unit<'db>, Option<ExprId>)> {
    if unit.file(db) == module_file {
        return Vec::new();
    }
    let statements = statements_of(db, unit.file(db), None).iter();
    let assigned = |&unit: &Unit<'db>| Some((unit, eval::assigned_member(syntax(db, unit), module, name)?));
    statements.filter_map(assigned).collect()
}

/// The file of the workspace that an import in `file` leads to.
#[salsa::tracked(returns(copy))]
fn module_file<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    level: u32,
    module: Name<'db>,
) -> Option<SourceFile> {
    imports::known(db, &imports::candidates(file.path(db), level, module.text(db)))
}

/// The file of the module that a name at the top of a file stands for.
#[salsa::tracked(returns(copy))]
fn module_called<'db>(db: &'db dyn salsa::Database, file: SourceFile, name: Name<'db>) -> Option<SourceFile> {
    let text = name.text(db);
    let statements = statements_of(db, file, None).iter();
    let mut files = statements.filter_map(|&unit| match eval::binding(syntax(db, unit), text) {
        Binding::None => None,
        // `import a.b` binds `a`, of which only `b` is said.
        Binding::ImportModule(path) if path.starts_with(&format!("{text}.")) => Some(None),
        Binding::ImportModule(path) => Some(module_file(db, file, 0, Name::new(db, path))),
        Binding::Import { level, module, original } => {
            let module = if module.is_empty() { original } else { format!("{module}.{original}") };
            Some(module_file(db, file, level, Name::new(db, module)))
        }
        _ => Some(None),
    });
    files.next().flatten().filter(|_| files.next().is_none())
}

/// The statements that bind names of `scope`: its own blocks of statements, and its header if it is a function. A kernel that comes or
/// goes changes none of them.
fn statements_of<'db>(db: &'db dyn salsa::Database, file: SourceFile, scope: Option<Unit<'db>>) -> &'db [Unit<'db>] {
    scope.map_or_else(|| statements_of_module(db, file), |scope| statements_in(db, scope))
}

#[salsa::tracked(returns(ref))]
fn statements_of_module<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Vec<Unit<'db>> {
    let of_module = statements(db, file).iter().filter(|(scope, _)| scope.is_none());
    of_module.map(|&(_, unit)| unit).collect()
}

#[salsa::tracked(returns(ref))]
fn statements_in<'db>(db: &'db dyn salsa::Database, scope: Unit<'db>) -> Vec<Unit<'db>> {
    let of_scope = statements(db, scope.file(db)).iter().filter(|(of, _)| *of == Some(scope));
    of_scope.map(|&(_, unit)| unit).collect()
}

/// The units that bind names, each with the scope that it binds them in.
#[salsa::tracked(returns(ref))]
fn statements<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Vec<(Option<Unit<'db>>, Unit<'db>)> {
    let is_scope = |parent: Option<Unit<'db>>| parent.is_none_or(|it| it.key(db).kind == BlockKind::FunctionHeader);
    let binding = units(db, file).iter().filter_map(|&unit| match unit.key(db).kind {
        BlockKind::Statements => is_scope(unit.parent(db)).then(|| (unit.parent(db), unit)),
        BlockKind::FunctionHeader => Some((Some(unit), unit)),
        BlockKind::Function | BlockKind::ClassHeader => None,
    });
    binding.collect()
}

fn constant_in_terms_of_itself<'db>(
    db: &'db dyn salsa::Database,
    _: salsa::Id,
    _: SourceFile,
    _: Option<Unit<'db>>,
    name: Name<'db>,
    _: u32,
    _: Option<SourceFile>,
) -> Option<Constant> {
    Some(Constant::Unknown(Reason::new(format!("`{}` is defined in terms of itself", name.text(db)))))
}

/// The value of an expression of a unit, by what the unit sees of the code around it.
pub(crate) fn value<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, expr: ExprId) -> Constant {
    eval::evaluate(syntax(db, unit), expr, &UnitScope::new(db, unit))
}

/// What a unit sees of the code around it.
#[derive(Clone, Copy)]
struct UnitScope<'db> {
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    /// Names that were resolved on the way here, each for the one before.
    links: u32,
    /// The file that the program starts from, where that makes a difference.
    root: Option<SourceFile>,
    /// When the statement runs that is looked at; functions run after all imports.
    now: Option<patches::Moment>,
}

impl<'db> UnitScope<'db> {
    fn new(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Self {
        UnitScope { db, unit, links: 0, root: patches::root(db, unit.file(db)), now: None }
    }

    /// Statements see their own scope: the function whose header they are, or the one they stand in.
    fn around(&self) -> Option<Unit<'db>> {
        let (db, unit) = (self.db, self.unit);
        if unit.key(db).kind == BlockKind::FunctionHeader { Some(unit) } else { unit.parent(db) }
    }

    /// The function of that name in the enclosing program, the module, or where that imports it from.
    fn function_unit(&self, name: &str) -> Option<Unit<'db>> {
        let (db, unit) = (self.db, self.unit);
        if let Some((module, name)) = name.split_once('.') {
            return defined(db, self.file_of_module(module)?, name, BlockKind::Function);
        }
        let is_named = |candidate: &&Unit<'_>| {
            let key = candidate.key(db);
            key.kind == BlockKind::Function && key.name() == name
        };
        let candidates = units(db, unit.file(db)).iter().filter(is_named).copied();
        let (mut program, mut module) = (None, None);
        for candidate in candidates.filter(|candidate| *candidate != unit) {
            match candidate.parent(db) {
                parent if parent == unit.parent(db) => program = Some(candidate),
                None => module = Some(candidate),
                Some(_) => {}
            }
        }
        let from_factory =
            || factories::function_of_factory(db, unit.file(db), Name::new(db, name.to_owned()), self.root);
        program.or(module).or_else(|| self.imported(name, BlockKind::Function)).or_else(from_factory)
    }

    /// The function of that name, if it stands in another file.
    fn defining_unit(&self, function: &str) -> Option<Unit<'db>> {
        let (db, unit) = (self.db, self.unit);
        if function.contains('.') {
            return self.function_unit(function);
        }
        let is_here = |candidate: &Unit<'_>| {
            let key = candidate.key(db);
            key.kind == BlockKind::Function && key.name() == function && *candidate != unit
        };
        if units(db, unit.file(db)).iter().any(is_here) {
            return None;
        }
        self.imported(function, BlockKind::Function)
    }

    /// The file of a module that this one imports.
    fn file_of_module(&self, module: &str) -> Option<SourceFile> {
        module_called(self.db, self.unit.file(self.db), Name::new(self.db, module.to_owned()))
    }

    /// The class of that name, and its header.
    fn class_source(&self, name: &str) -> Option<(ClassSource, Unit<'db>)> {
        let (db, file) = (self.db, self.unit.file(self.db));
        let header =
            defined(db, file, name, BlockKind::ClassHeader).or_else(|| self.imported(name, BlockKind::ClassHeader))?;
        let methods = units(db, header.file(db)).iter().filter(|unit| unit.parent(db) == Some(header));
        let methods = methods.filter(|unit| unit.key(db).kind == BlockKind::Function);
        let methods = methods.map(|&unit| syntax(db, unit).clone()).collect();
        let source = ClassSource { header: syntax(db, header).clone(), methods };
        Some((source, header))
    }

    /// The definition in another file that an import of this file's module leads to.
    fn imported(&self, name: &str, kind: BlockKind) -> Option<Unit<'db>> {
        let imports = imported(self.db, self.unit.file(self.db), Name::new(self.db, name.to_owned()), self.root);
        imports.into_iter().find(|unit| unit.key(self.db).kind == kind)
    }
}

/// The function or class of a module.
fn defined<'db>(db: &'db dyn salsa::Database, file: SourceFile, name: &str, kind: BlockKind) -> Option<Unit<'db>> {
    let mut candidates = units(db, file).iter().copied();
    candidates.find(|unit| unit.parent(db).is_none() && unit.key(db).kind == kind && unit.key(db).path.as_ref() == name)
}

/// The function or class that an import at the top of a file leads to, through files that import it themselves.
#[salsa::tracked(returns(copy), cycle_initial = made_of_itself)]
fn imported<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    name: Name<'db>,
    root: Option<SourceFile>,
) -> Option<Unit<'db>> {
    let statements = statements_of(db, file, None).iter();
    let bindings = statements.map(|&unit| eval::binding(syntax(db, unit), name.text(db)));
    let import = bindings.into_iter().find_map(|binding| match binding {
        Binding::Import { level, module, original } => Some((level, module, original)),
        _ => None,
    });
    let (level, module, original) = import?;
    let source = module_file(db, file, level, Name::new(db, module))?;
    defined(db, source, &original, BlockKind::Function)
        .or_else(|| defined(db, source, &original, BlockKind::ClassHeader))
        .or_else(|| imported(db, source, Name::new(db, original.clone()), root))
        .or_else(|| factories::function_of_factory(db, source, Name::new(db, original), root))
}

/// An import of itself, or a factory that calls what it makes, leads to nothing.
fn made_of_itself<'db>(
    _: &'db dyn salsa::Database,
    _: salsa::Id,
    _: SourceFile,
    _: Name<'db>,
    _: Option<SourceFile>,
) -> Option<Unit<'db>> {
    None
}

/// The module that `import module as name` at the top of a file binds.
#[salsa::tracked(returns(clone))]
fn module_of_name<'db>(db: &'db dyn salsa::Database, file: SourceFile, name: Name<'db>) -> Option<String> {
    let statements = statements_of(db, file, None).iter();
    let mut bindings = statements.map(|&unit| eval::binding(syntax(db, unit), name.text(db)));
    bindings.find_map(|binding| match binding {
        Binding::ImportModule(path) => Some(path),
        _ => None,
    })
}

impl Scope for UnitScope<'_> {
    fn outer(&self) -> Option<&dyn Scope> {
        None
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        let (db, unit) = (self.db, self.unit);
        let name = Name::new(db, name.to_owned());
        remembered(|| constant(db, unit.file(db), self.around(), name, self.links, self.root))
    }

    fn function(&self, name: &str) -> Option<FunctionSource> {
        let db = self.db;
        let found = remembered(|| self.function_unit(name))?;
        let place = (found.file(db).path(db).as_str().into(), found.key(db).clone());
        Some(FunctionSource { ast: syntax(db, found).clone(), place: Some(place) })
    }

    fn defining_scope(&self, function: &str) -> Option<Box<dyn Scope + '_>> {
        Some(Box::new(UnitScope { unit: remembered(|| self.defining_unit(function))?, now: None, ..*self }))
    }

    fn unknown_names(&self, function: &str) -> Vec<String> {
        remembered(|| self.function_unit(function).map_or_else(Vec::new, |unit| names::described(self.db, unit)))
    }

    fn notes(&self, function: Option<&str>) -> Vec<Note> {
        remembered(|| {
            let unit = function.map_or(Some(self.unit), |function| self.function_unit(function));
            unit.map_or_else(Vec::new, |unit| names::notes(self.db, unit))
        })
    }

    fn argument(&self, param: &str) -> Option<Constant> {
        let mut given = remembered(|| shapes::given(self.db, self.unit)).iter();
        given.find(|given| given.param == param).map(|given| Constant::object(given.tensor.clone()))
    }

    fn module_member(&self, module: &str, member: &str) -> Option<Constant> {
        let (db, file) = (self.db, self.file_of_module(module)?);
        remembered(|| {
            let patched = self.root.and_then(|root| patches::patched(db, root, file, member, self.now, self.links));
            patched.or_else(|| constant(db, file, None, Name::new(db, member.to_owned()), self.links, self.root))
        })
    }

    fn module(&self, name: &str) -> Option<String> {
        module_of_name(self.db, self.unit.file(self.db), Name::new(self.db, name.to_owned()))
    }

    fn class(&self, name: &str) -> Option<(ClassSource, Box<dyn Scope + '_>)> {
        let (source, unit) = remembered(|| self.class_source(name))?;
        Some((source, Box::new(UnitScope { unit, ..*self })))
    }

    fn imports(&self) -> Option<&Imports> {
        Some(passed_on::imports(self.db, self.unit.file(self.db)))
    }

    fn language_name(&self, path: &[&str]) -> Option<Constant> {
        libraries::name(self, path, Reader::Kernel)
    }

    fn language_call(&self, path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        libraries::call(self, path, arguments, Reader::Kernel)
    }
}

/// Whether a unit is worth parsing: kernels are decorated functions, sketches compute in `block.`, and printed IR names memory. Plain Python costs this
/// look only.
#[salsa::tracked(returns(copy))]
pub(crate) fn may_hold_kernels<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let text = &unit.source(db).text;
    let is_function = unit.key(db).kind == BlockKind::Function;
    (is_function && (text.contains('@') || text.contains("block."))) || text.contains("MemRef")
}

/// Whether a unit may be a kernel by its decorator, also where it does not parse.
pub(crate) fn may_be_decorated(db: &dyn salsa::Database, unit: Unit<'_>) -> bool {
    text(db, unit).contains('@')
}

/// The text of a unit.
pub(crate) fn text<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> &'db str {
    &unit.source(db).text
}

/// Whether a unit is the header of a class that may be a program.
pub(crate) fn may_be_program(db: &dyn salsa::Database, unit: Unit<'_>) -> bool {
    unit.key(db).kind == BlockKind::ClassHeader && unit.source(db).text.contains('@')
}

/// A kernel as its author wrote it, among those of its unit.
#[salsa::tracked]
pub(crate) struct Lowered<'db> {
    #[returns(ref)]
    name: String,
    #[tracked]
    #[returns(ref)]
    pub(crate) kernel: Arc<Kernel>,
}

/// The kernels of a unit, as the author wrote them.
pub(crate) fn kernels<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> &'db [Lowered<'db>] {
    &lowering(db, unit).kernels
}

/// The kernels of a unit, and what was asked of the code around it to read them.
#[derive(Default, PartialEq, Eq, salsa::SalsaValue)]
struct Lowering<'db> {
    kernels: Vec<Lowered<'db>>,
    asked: Asked<'db>,
}

#[salsa::tracked(returns(ref))]
fn lowering<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Lowering<'db> {
    if unit.key(db).kind != BlockKind::Function || !may_hold_kernels(db, unit) || printed::is_printed(syntax(db, unit))
    {
        return Lowering::default();
    }
    let (ast, asked) = (syntax(db, unit), Rc::default());
    let scope = Recording::new(UnitScope::new(db, unit), &asked);
    let lowered = within(limits(db), || lower::kernels(ast, &scope));
    let lowered = lowered.unwrap_or_else(|failure| lower::unread(ast, failure.to_string()));
    // Equal kernels are planned once, whatever makes them: all that a plan depends on has to be part of the kernel by here.
    let called = |mut kernel: Kernel| {
        pairs::add_repetition(db, unit, &mut kernel);
        provenance::add_provenance(db, unit, &mut kernel);
        names::add_notes(db, unit, &mut kernel);
        Lowered::new(db, kernel.name.clone(), Arc::new(kernel))
    };
    Lowering { kernels: lowered.into_iter().map(called).collect(), asked: asked.take() }
}

/// What a unit is to the compiler, as far as kernels go.
#[salsa::tracked(returns(copy))]
fn kind<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> lower::Kind {
    if unit.key(db).kind != BlockKind::Function || !may_hold_kernels(db, unit) {
        return lower::Kind::Python;
    }
    let ast = syntax(db, unit);
    let function = ast.body.iter().find_map(|&stmt| match ast.stmt(stmt) {
        ast::Stmt::Function(function) => Some(function),
        _ => None,
    });
    function.map_or(lower::Kind::Python, |function| lower::kind(ast, function))
}

/// Whether a function is a kernel itself, and not one with scopes that become kernels.
pub(crate) fn is_kernel<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    matches!(kind(db, unit), lower::Kind::Kernel(_))
}

/// The functions that the kernels of a unit are scopes of, where those are others than the unit.
#[salsa::tracked(returns(ref))]
fn kernel_sources<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<(Option<BlockKey>, Origin)>> {
    let source = |kernel: &Kernel| (kernel.inlined_from.clone(), kernel.origin);
    Arc::new(kernels(db, unit).iter().map(|lowered| source(lowered.kernel(db))).collect())
}

/// The functions for the host, in the order of the text.
pub(crate) fn host_functions<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Vec<Unit<'db>> {
    units(db, file).iter().copied().filter(|unit| kind(db, *unit) == lower::Kind::Host).collect()
}

/// How many functions for the host call others whose scopes become kernels of theirs.
pub(crate) fn callers(db: &dyn salsa::Database, file: SourceFile) -> usize {
    let hosts: FxHashSet<_> = kernels_of_calls(db, file).iter().map(|called| called.host).collect();
    hosts.len()
}

/// The kernels of scopes in functions that are put in place of calls, of all units of a file; those of one scope together.
#[salsa::tracked(returns(ref))]
fn kernels_of_calls<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Vec<CalledKernel<'db>> {
    let called = host_functions(db, file).into_iter().flat_map(|host| {
        let sources = kernel_sources(db, host).iter().enumerate();
        sources.filter_map(move |(index, (inlined_from, at))| {
            Some(CalledKernel { inlined_from: inlined_from.clone()?, at: *at, host, index })
        })
    });
    let mut called: Vec<_> = called.collect();
    called.sort_by_key(|called| called.at);
    called
}

#[derive(Clone, PartialEq, Eq, salsa::SalsaValue)]
struct CalledKernel<'db> {
    inlined_from: BlockKey,
    at: Origin,
    host: Unit<'db>,
    /// Among the kernels of its host.
    index: usize,
}

/// The kernels whose text a unit is, each as the unit that it is made for and its number there. The scopes of a function that is put in place of
/// its calls are kernels of its callers, once for each call.
#[salsa::tracked(returns(ref))]
pub(crate) fn source_kernel_ids<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<(Unit<'db>, usize)>> {
    if kind(db, unit) == lower::Kind::Inline {
        let called = kernels_of_calls(db, unit.file(db)).iter();
        let own = called.filter(|called| called.inlined_from == *unit.key(db));
        return Arc::new(own.map(|called| (called.host, called.index)).collect());
    }
    let own = kernel_sources(db, unit).iter().enumerate().filter(|(_, (inlined_from, _))| inlined_from.is_none());
    Arc::new(own.map(|(index, _)| (unit, index)).collect())
}

/// The kernels whose text a unit is, in the order of [`source_kernel_ids`].
pub(crate) fn source_kernels<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> impl Iterator<Item = &'db Kernel> {
    let kernel = move |&(host, index): &(Unit<'db>, usize)| Some(&**kernels(db, host).get(index)?.kernel(db));
    source_kernel_ids(db, unit).iter().filter_map(kernel)
}

/// A kernel with every tile made explicit, and its plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) kernel: Kernel,
    pub(crate) plan: Plan,
    /// What the kernel is made of, for comparisons with the compiler.
    pub(crate) marks: Vec<Mark>,
    /// The author wrote flags or barriers.
    pub(crate) is_synchronised: bool,
}

impl Planned {
    /// Whether all of it is modelled, and the compiler takes it.
    pub(crate) fn is_complete(&self) -> bool {
        let is_refused = self.plan.findings.iter().any(|finding| finding.severity == Severity::Error);
        self.kernel.rejections.is_empty() && self.plan.notes.is_empty() && !is_refused
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Planned(Arc<Planned>),
    /// Of IR that prints its own addresses.
    Printed(Box<Plan>),
    /// A stage has no result for this kernel.
    Failed(Box<Kernel>, Failure),
}

impl Outcome {
    pub(crate) fn kernel(&self) -> Option<&Kernel> {
        match self {
            Outcome::Planned(planned) => Some(&planned.kernel),
            Outcome::Printed(_) | Outcome::Failed(..) => None,
        }
    }

    pub(crate) fn plan(&self) -> Option<&Plan> {
        match self {
            Outcome::Planned(planned) => Some(&planned.plan),
            Outcome::Printed(plan) => Some(plan),
            Outcome::Failed(..) => None,
        }
    }
}

#[salsa::tracked(returns(ref))]
pub(crate) fn plans<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Outcome>> {
    if may_hold_kernels(db, unit) && printed::is_printed(syntax(db, unit)) {
        return Arc::new(plans_under(db, unit, config(db)));
    }
    let each = source_kernel_ids(db, unit).iter().map(|&(host, index)| planned(db, host, index));
    Arc::new(each.flat_map(|outcomes| outcomes.iter().cloned()).collect())
}

/// What one of the kernels of a unit comes to: two where it works on both cores.
pub(crate) fn planned<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, index: usize) -> &'db [Outcome] {
    kernels(db, unit).get(index).map_or(&[], |kernel| &plan_of(db, *kernel).outcomes)
}

/// The plan of one of the kernels of a unit. A function for the host may have many; an edit in one leaves the others as they are.
#[salsa::tracked(returns(ref))]
fn plan_of<'db>(db: &'db dyn salsa::Database, kernel: Lowered<'db>) -> Arc<KernelPlans> {
    let (kernel, config) = (kernel.kernel(db), config(db));
    let make = || {
        let is_open = Cell::new(false);
        let outcomes = outcomes(db, kernel, config, &is_open);
        KernelPlans { outcomes, newest_search: is_open.get().then(|| newest_search(db)) }
    };
    match Plans::try_get(db) {
        Some(plans) => plans.made(db).of(kernel, config, || newest_search(db), make),
        None => Arc::new(make()),
    }
}

fn newest_search(db: &dyn salsa::Database) -> Option<Arc<Searched>> {
    Searches::try_get(db)?.done(db).last().cloned()
}

/// The unit that one of the [`plans`] of a unit is made for: that unit, or one that calls it.
pub(crate) fn host<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, of: &Outcome) -> Unit<'db> {
    let makes = |&&(host, index): &&(Unit<'db>, usize)| planned(db, host, index).contains(of);
    source_kernel_ids(db, unit).iter().find(makes).map_or(unit, |&(host, _)| host)
}

/// [`plans`] under another configuration than the one in force; computed anew each time.
pub(crate) fn plans_under<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, config: &Config) -> Vec<Outcome> {
    if may_hold_kernels(db, unit) && printed::is_printed(syntax(db, unit)) {
        let path = unit.file(db).path(db);
        let plan = |kernel: &PrintedKernel| printed::plan(kernel, Offsets::of(path, kernel), config.target);
        let plans = within(config.limits, || printed::kernels(syntax(db, unit)).iter().map(plan).collect::<Vec<_>>());
        return plans.into_iter().flatten().map(|plan| Outcome::Printed(Box::new(plan))).collect();
    }
    source_kernels(db, unit).flat_map(|kernel| outcomes(db, kernel, config, &Cell::new(false))).collect()
}

/// The plans of one kernel, and whether they leave something open.
fn outcomes(db: &dyn salsa::Database, kernel: &Kernel, config: &Config, is_open: &Cell<bool>) -> Vec<Outcome> {
    // Asked only for a problem that the plan leaves open: the answer to one question plans no other kernel anew.
    let known = |problem: &Problem| {
        is_open.set(true);
        Searches::try_get(db)?.done(db).iter().find(|searched| searched.answers(problem)).cloned()
    };
    let effort = Effort { known: &known, ..Effort::INTERACTIVE };
    let planned = within(config.limits, || {
        let machine = Machine { target: config.target, replaced: &config.capacity };
        let prepared = passes::prepare_watched(kernel.clone(), machine, config.planner);
        let plan = |(prepared, fired): (Kernel, Vec<Pass>)| {
            let marks = coverage::of(kernel, &fired);
            let kernel = prepared;
            let mut plan = memory::plan_within(&kernel, machine, config.planner, effort);
            plan.compare(&marks);
            memory::downgrade_unproved(&mut plan);
            plan.findings.extend(isa_rules::findings(&kernel, config.target));
            let is_synchronised = codegen::sync::is_written(&kernel);
            Planned { kernel, plan, marks, is_synchronised }
        };
        let mut planned: Vec<Planned> = prepared.into_iter().map(plan).collect();
        let mut plans: Vec<&mut Plan> = planned.iter_mut().map(|planned| &mut planned.plan).collect();
        specialisations::name_assumptions(kernel, &mut plans, |variant| {
            let prepared = passes::prepare(variant, machine, config.planner);
            let plan = |kernel: &Kernel| memory::plan_within(kernel, machine, config.planner, effort);
            prepared.iter().map(plan).collect()
        });
        planned.into_iter().map(|planned| Outcome::Planned(Arc::new(planned))).collect::<Vec<_>>()
    });
    planned.unwrap_or_else(|failure| vec![Outcome::Failed(Box::new(kernel.clone()), failure)])
}

/// The instructions of each kernel of a unit, in the order of [`plans`]; empty where there is no kernel to generate.
#[salsa::tracked(returns(ref))]
pub(crate) fn sequences<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Sequenced>> {
    let config = config(db);
    let insertion = config.codegen.insertion;
    let sequence = |outcome: &Outcome| match outcome {
        Outcome::Planned(planned) => {
            let sequenced = within(config.limits, || codegen::sequence(&planned.kernel, &planned.plan, insertion));
            sequenced.unwrap_or_else(|failure| Sequenced::failed(&planned.kernel, failure))
        }
        Outcome::Printed(_) | Outcome::Failed(..) => Sequenced::default(),
    };
    Arc::new(plans(db, unit).iter().map(sequence).collect())
}

/// The C++ of each kernel of a unit, in the order of [`plans`].
#[salsa::tracked(returns(ref))]
pub(crate) fn generated<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Generated>> {
    let config = config(db);
    let options = config.codegen;
    let both = plans(db, unit).iter().zip(sequences(db, unit).iter());
    let generate = |(outcome, sequenced): (&Outcome, &Sequenced)| match outcome {
        Outcome::Planned(planned) => {
            let print = || codegen::print(sequenced, options, planned.kernel.origin);
            let printed = within(config.limits, print);
            printed.unwrap_or_else(Generated::failed)
        }
        Outcome::Printed(_) | Outcome::Failed(..) => Generated::default(),
    };
    Arc::new(both.map(generate).collect())
}

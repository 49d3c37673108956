//! The salsa database: what is computed from what, and so what an edit computes again.
//!
//! A document is cut into [`Unit`]s. Everything about a kernel depends on the syntax of its own unit and on the constants that it
//! names, never on positions, so that an edit elsewhere recomputes nothing in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use salsa::Durability;
use tilefit_pypto::memory::Searched;
use tilefit_python::work::{self, Limits};
use tilefit_syntax::ast::{self, Ast, Spans};
use tilefit_syntax::{BlockKey, BlockKind, BlockSource, Document, interrupt};

use crate::confirm::Answers;
use crate::project::Config;

mod ascend;
mod ascend_names;
mod asked;
mod asked_launches;
mod assumptions;
mod calls;
mod configurations;
mod devices;
mod dialect;
mod dumps;
mod factories;
mod gpu;
mod host_code;
pub(crate) mod importers;
pub(crate) mod imports;
mod inductor;
mod jit;
mod kinds;
mod launches;
mod least;
mod libraries;
mod lists;
mod memory_usage;
mod modules;
mod names;
mod needed;
mod outcome;
mod pairs;
mod patches;
mod possible;
mod program;
mod provenance;
mod pypto;
mod questions;
mod recorded;
mod reexports;
mod repetition;
mod scenario_tables;
mod scenarios;
mod scope;
mod shapes;
mod shared_plans;
mod specialisations;
mod statements;
mod surroundings;
mod tables;
#[cfg(test)]
mod tests;
mod tilelang;
mod tilelang_names;
mod tlx;
mod triton;
mod tuned;

pub(crate) use asked_launches::{laid_out_for_launch, usage_of_launches};
pub(crate) use assumptions::{assumptions_of_name, assumptions_of_unit};
pub(crate) use configurations::{
    Configuration, Configurations, configuration_list, configurations_of, rows_of_list, written_configurations,
};
pub(crate) use dialect::Dialect;
pub(crate) use dumps::{Dumped, dumped};
pub(crate) use gpu::TracedKernel;
pub(crate) use kinds::{host_functions, is_kernel};
pub(crate) use least::triton_least;
pub(crate) use memory_usage::{Estimate, MemoryUsage, Taken, Verdict};
pub(crate) use names::{unknown_names, unparsed};
pub(crate) use needed::triton_needed;
pub(crate) use outcome::{Outcome, Planned};
pub(crate) use pairs::unpaired_in;
pub(crate) use possible::{POSSIBLE, estimate_in_force};
pub(crate) use pypto::{
    callers, generated, host, kernels, planned, plans, plans_under, sequences, source_kernel_ids, source_kernels,
};
pub(crate) use questions::{question_under, triton_question, triton_recorded};
pub(crate) use recorded::{Recorded, recorded_of};
pub(crate) use reexports::imports as triton_imports;
pub(crate) use scenario_tables::{ScenarioRow, ScenarioTable, triton_assumed, triton_scenario_table};
pub(crate) use scope::value;
pub(crate) use shapes::given as given_shapes;
pub(crate) use shared_plans::SharedPlans;
pub(crate) use tilelang_names::{is_factory, is_tilelang_decorator, tilelang_name};
pub(crate) use tlx::{TlxPart, is_tlx_decorator, module_constant, tlx_name};
pub(crate) use triton::{
    TritonKernel, gluon_name, is_gluon_decorator, is_triton_decorator, triton_dialect, triton_kernel, triton_name,
};

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
    /// One with its path and its text, and nothing else known.
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

//! The writer and its snapshots.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use salsa::{Database as _, Durability, Setter};
use tilefit_pypto::memory::Searched;
use tilefit_syntax::Document;

use crate::confirm::{Answered, Answers};
use crate::db::{self, importers, imports};
use crate::db::{AT_REST, Database, FileId, Plans, Searches, Settings, SharedPlans, SourceFile, Workspace};
use crate::ide;
use crate::project::Config;

#[cfg(any(test, feature = "fixtures"))]
mod fixture;
#[cfg(test)]
mod tests;

#[cfg(any(test, feature = "fixtures"))]
pub use fixture::Fixture;

/// An edit came while the query ran, so that its answer would be stale, or nobody waits for it any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

pub type Cancellable<T> = Result<T, Cancelled>;

/// Answers of background searches that are kept, the oldest go first.
const MOST_SEARCHED: usize = 1024;

/// Changes of texts after which a database is worn: names that nobody writes any more are about as much as a small file then.
const MOST_EDITS: usize = 4096;

/// Changes of texts after which what the files needed of a database before is planned again.
const EDITS_WITH_OLD_PLANS: usize = 64;

/// Files that are gone, as a multiple of those that are there, after which a database is worn, and how many at least.
const GONE_TO_THERE: usize = 2;
const MOST_GONE: usize = 32;

/// Owns the database and takes the changes. A change waits until every [`Analysis`] is dropped, and cancels their queries.
pub struct AnalysisHost {
    db: Database,
    settings: Settings,
    /// Every file that was ever named; salsa does not free inputs.
    ids: FxHashMap<String, SourceFile>,
    workspace: Workspace,
    searches: Searches,
    /// Changes of texts, and files removed, since the database was new.
    edits: usize,
    gone: usize,
}

impl Default for AnalysisHost {
    fn default() -> Self {
        AnalysisHost::new()
    }
}

impl AnalysisHost {
    pub fn new() -> Self {
        AnalysisHost::with_database(Database::default())
    }

    pub(crate) fn with_database(db: Database) -> Self {
        AnalysisHost::with(db, Config::default(), Vec::new(), Arc::default())
    }

    fn with(db: Database, config: Config, searched: Vec<Arc<Searched>>, plans: Arc<SharedPlans>) -> Self {
        let settings = Settings::builder(config).durability(Durability::HIGH).new(&db);
        let workspace = Workspace::builder(BTreeMap::new()).durability(AT_REST).new(&db);
        let searches = Searches::new(&db, searched);
        Plans::new(&db, plans);
        AnalysisHost { db, settings, ids: FxHashMap::default(), workspace, searches, edits: 0, gone: 0 }
    }

    /// Whether so much of the database is of names and files that are gone that it is time to [`renew`](Self::renew) it.
    pub fn is_worn(&self) -> bool {
        let there = self.workspace.files(&self.db).len();
        if there == 0 {
            return self.gone > 0;
        }
        self.edits >= MOST_EDITS.max(there) || self.gone >= MOST_GONE.max(GONE_TO_THERE * there)
    }

    /// Begins a new database with the files whose text is known. salsa never frees a file, and a name, or what a query is asked with, only where
    /// nothing older is in use; nor does it give back the room of what it does free. Plans stay. **A [`FileId`] from before means nothing any more.**
    pub fn renew(&mut self) {
        self.db.trigger_cancellation();
        let db = &self.db;
        let plans = Arc::clone(Plans::get(db).made(db));
        plans.keep_all();
        let files: Vec<_> =
            self.workspace.files(db).iter().map(|(path, file)| (path.clone(), Kept::of(db, *file))).collect();
        let (config, searched) = (self.settings.config(db).clone(), self.searches.done(db).clone());
        *self = AnalysisHost::with(Database::default(), config, searched, plans);
        for (path, kept) in files {
            let file = self.file_id(&path);
            // Where it is open, the next edit says so.
            self.put(file, kept.document, AT_REST);
            self.set_excluded(file, kept.excluded);
            if kept.unreadable.is_some() {
                file.0.set_unreadable(&mut self.db).to(kept.unreadable);
            }
            self.set_answers(file, kept.answers);
            let dumps: Vec<FileId> = kept.dumps.iter().map(|path| self.file_id(path)).collect();
            self.set_dumps(file, &dumps);
        }
    }

    /// The file of a path (or URI); a new one is empty.
    pub fn file_id(&mut self, path: &str) -> FileId {
        let file = self.ids.entry(path.to_owned());
        FileId(*file.or_insert_with(|| SourceFile::of(&self.db, path.to_owned(), Document::default())))
    }

    /// Takes a settled document that is open in an editor; one with edits since is settled first.
    pub fn set_document(&mut self, file: FileId, document: Document) {
        self.set(file, document, Durability::LOW);
    }

    /// The same of a file that nobody edits.
    pub fn set_document_at_rest(&mut self, file: FileId, document: Document) {
        self.set(file, document, AT_REST);
    }

    fn set(&mut self, file: FileId, document: Document, durability: Durability) {
        if file.0.unreadable(&self.db).is_some() {
            file.0.set_unreadable(&mut self.db).to(None);
        }
        self.set_answers(file, Answers::default());
        self.put(file, document, durability);
        self.edits += 1;
        if self.edits == EDITS_WITH_OLD_PLANS {
            Plans::get(&self.db).made(&self.db).keep_recent();
        }
    }

    /// Says that there is a file, and why its text cannot be had. What is imported from it has no value.
    pub fn set_unreadable(&mut self, file: FileId, reason: String) {
        file.0.set_unreadable(&mut self.db).to(Some(reason));
        self.put(file, Document::default(), AT_REST);
    }

    fn put(&mut self, file: FileId, mut document: Document, durability: Durability) {
        document.settle();
        file.0.set_document(&mut self.db).with_durability(durability).to(document);
        let path = file.0.path(&self.db).clone();
        if !self.workspace.files(&self.db).contains_key(&path) {
            self.change_files(|files| files.insert(path, file.0));
        }
    }

    /// Without a copy of all of them.
    fn change_files(&mut self, change: impl FnOnce(&mut BTreeMap<String, SourceFile>) -> Option<SourceFile>) {
        let mut files = self.workspace.set_files(&mut self.db).to(BTreeMap::new());
        change(&mut files);
        self.workspace.set_files(&mut self.db).to(files);
    }

    /// Takes the text of a file that is not open in an editor. Returns whether it is another one.
    pub fn set_text(&mut self, file: FileId, text: &str) -> bool {
        let is_other = file.0.document(&self.db).rope() != text;
        if is_other {
            self.set_document_at_rest(file, Document::new(text));
        }
        is_other
    }

    /// Forgets the text of a file. Its id stays valid.
    pub fn remove_file(&mut self, file: FileId) {
        file.0.set_document(&mut self.db).to(Document::default());
        self.set_answers(file, Answers::default());
        self.set_dumps(file, &[]);
        let path = file.0.path(&self.db).clone();
        self.change_files(|files| files.remove(&path));
        // salsa drops the units, and what was computed of them, when it finds that there are none any more. Nobody else asks.
        db::units(&self.db, file.0);
        self.gone += 1;
    }

    /// Takes the answer to an [`OpenSearch`](tilefit_pypto::memory::OpenSearch); the plans that asked are made anew. It stays for the session, whatever is edited.
    pub fn set_searched(&mut self, searched: Searched) {
        let mut done = self.searches.done(&self.db).clone();
        if done.len() == MOST_SEARCHED {
            done.remove(0);
        }
        done.push(Arc::new(searched));
        self.searches.set_done(&mut self.db).to(done);
    }

    /// Shows nothing of a file any more, or everything again. Of a stub nothing is shown anyway.
    pub fn set_excluded(&mut self, file: FileId, excluded: bool) {
        let excluded = excluded || db::is_stub(file.0.path(&self.db));
        if file.0.excluded(&self.db) != excluded {
            file.0.set_excluded(&mut self.db).to(excluded);
        }
    }

    /// Takes what the author's compiler said of the text that a file has. Another text has no answers.
    pub fn set_answers(&mut self, file: FileId, answers: Answers) {
        if !answers.is_empty() || !file.0.answers(&self.db).is_empty() {
            file.0.set_answers(&mut self.db).to(answers);
        }
    }

    /// More of them, without a copy of those that there are.
    pub fn add_answers(&mut self, file: FileId, more: Vec<Answered>) {
        let mut answers = file.0.set_answers(&mut self.db).to(Answers::default());
        answers.extend(more);
        file.0.set_answers(&mut self.db).to(answers);
    }

    /// Says which files are the compiler's dumps of a file, newest first. Returns whether that is news.
    pub fn set_dumps(&mut self, file: FileId, dumps: &[FileId]) -> bool {
        let dumps: Vec<SourceFile> = dumps.iter().map(|dump| dump.0).collect();
        let is_news = file.0.dumps(&self.db) != &dumps;
        if is_news {
            file.0.set_dumps(&mut self.db).to(dumps);
        }
        is_news
    }

    pub fn set_config(&mut self, config: Config) {
        if self.settings.config(&self.db) != &config {
            self.settings.set_config(&mut self.db).with_durability(Durability::HIGH).to(config);
        }
    }

    /// Whether what is said of a file depends on the text of another.
    pub fn depends_on(&self, file: FileId, other: FileId) -> bool {
        importers::imported(&self.db, file.0).contains(&other.0)
    }

    #[cfg(test)]
    pub(crate) fn database(&mut self) -> &mut Database {
        &mut self.db
    }

    pub fn snapshot(&self) -> Analysis {
        Analysis { db: self.db.clone() }
    }
}

/// What is known of a file, beyond one database.
struct Kept {
    document: Document,
    excluded: bool,
    dumps: Vec<String>,
    unreadable: Option<String>,
    answers: Answers,
}

impl Kept {
    fn of(db: &Database, file: SourceFile) -> Kept {
        Kept {
            document: file.document(db).clone(),
            excluded: file.excluded(db),
            dumps: file.dumps(db).iter().map(|dump| dump.path(db).clone()).collect(),
            unreadable: file.unreadable(db).clone(),
            answers: file.answers(db).clone(),
        }
    }
}

/// A view of all files at one moment.
pub struct Analysis {
    db: Database,
}

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $result:ty = $feature:path;)*) => {
        impl Analysis {
            $($(#[$doc])*
            pub fn $name(&self, file: FileId $(, $arg: $ty)*) -> Cancellable<$result> {
                let context = ide::Context::new(&self.db, file.0);
                let query = std::panic::AssertUnwindSafe(|| $feature(&context $(, $arg)*));
                // Attached, so that what a feature does itself can be interrupted as well.
                salsa::attach(&self.db, || salsa::Cancelled::catch(query)).map_err(|_| Cancelled)
            })*
        }

        #[cfg(any(test, feature = "fixtures"))]
        impl Fixture {
            $($(#[$doc])*
            pub fn $name(&self $(, $arg: $ty)*) -> $result {
                self.ask(|analysis, file| analysis.$name(file $(, $arg)*))
            })*
        }
    };
}

/// Interrupts the query that an [`Analysis`] runs, from another thread.
pub struct Canceller(salsa::CancellationToken);

impl Canceller {
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

impl Analysis {
    pub fn canceller(&self) -> Canceller {
        Canceller(salsa::Database::cancellation_token(&self.db))
    }

    /// The text of a file.
    pub fn document(&self, file: FileId) -> &Document {
        file.0.document(&self.db)
    }

    pub fn path(&self, file: FileId) -> &str {
        file.0.path(&self.db)
    }

    /// The files whose text is known.
    pub fn files(&self) -> Vec<FileId> {
        let workspace = Workspace::try_get(&self.db);
        workspace.map_or_else(Vec::new, |workspace| workspace.files(&self.db).values().copied().map(FileId).collect())
    }

    /// For each import that a file and its imports need and that is not known yet, the paths that it may lead to, nearest first.
    /// Hand in the text of the first that exists, and its constants are known.
    /// One and the same as long as there is nothing new.
    pub fn unknown_imports(&self, file: FileId) -> Cancellable<Arc<Vec<Vec<String>>>> {
        let query = std::panic::AssertUnwindSafe(|| Arc::clone(imports::unknown_of(&self.db, file.0)));
        salsa::Cancelled::catch(query).map_err(|_| Cancelled)
    }

    /// The same of several files, each import once for all of them.
    pub fn unknown_imports_of(&self, files: &[FileId]) -> Cancellable<Vec<Vec<String>>> {
        let files = files.iter().map(|file| file.0);
        let query = std::panic::AssertUnwindSafe(|| imports::unknown(&self.db, files));
        salsa::Cancelled::catch(query).map_err(|_| Cancelled)
    }

    /// What other files call the module that a file with kernels of GPUs is: those that import it may launch these kernels. Hand in the texts
    /// of some, and the values that they launch them with are known.
    pub fn launched_as(&self, file: FileId) -> Cancellable<Option<String>> {
        let name = std::panic::AssertUnwindSafe(|| importers::launched_as(&self.db, file.0).map(str::to_owned));
        salsa::Cancelled::catch(name).map_err(|_| Cancelled)
    }

    /// The paths of the known files that a file and its imports import from, and of those that may launch its kernels.
    /// One and the same as long as there is nothing new.
    pub fn imported_paths(&self, file: FileId) -> Cancellable<Arc<Vec<String>>> {
        let paths = || Arc::clone(importers::imported_paths(&self.db, file.0));
        salsa::Cancelled::catch(std::panic::AssertUnwindSafe(paths)).map_err(|_| Cancelled)
    }
}

features! {
    /// Plans the kernels that touch a range, so that other queries find them done. Several threads can share the work of
    /// a file that is new.
    prepare(range: tilefit_syntax::TextRange) -> () = ide::prepare::prepare;
    /// Plans the scopes of all functions for the host but the first, the last ones first. Where several call the same functions, an
    /// edit in one of those concerns them all.
    prepare_callers() -> () = ide::prepare::prepare_callers;
    /// The diagnostics of a file, and what a longer search may find out for them.
    diagnosis() -> ide::Diagnosis = ide::diagnostics::diagnosis;
    /// What is wrong in a file, and what is not modelled, by position.
    diagnostics() -> Vec<ide::Diagnostic> = ide::diagnostics::diagnostics;
    /// Where kernels of a file do not parse.
    syntax_errors() -> Vec<tilefit_syntax::TextRange> = ide::syntax_errors::syntax_errors;
    /// What to ask the author's compiler of the kernels of a file.
    questions() -> Vec<ide::KernelQuestion> = ide::confirmations::questions;
    /// What the configurations of the kernels of a file come to, by device. `is_asked`: whether the kernel of a name is one of them.
    configurations(is_asked: &dyn Fn(&str) -> bool) -> Vec<ide::KernelConfigurations> = ide::configurations::configurations;
    /// What each kernel of a file is planned for.
    planned_for() -> Vec<ide::PlannedFor> = ide::planned_for::planned_for;
    /// Each once, those of the plans first.
    all_questions(of: crate::confirm::KernelsAsked) -> Vec<ide::PlacedQuestion> = ide::confirmations::all_questions;
    /// The memory of a kernel under each launch, on a device. The error is a sentence for the user.
    fits(kernel: &str, arch: tilefit_gpu::device::Arch, launches: &[crate::launch::Launch]) -> Result<Vec<ide::Fit>, String> = ide::fits::fits;
    /// What there is to say of a file that has none, for whoever asks about them.
    why_no_kernels() -> String = ide::confirmations::why_no_kernels;
    /// What it said of them.
    confirmations() -> Vec<ide::Confirmation> = ide::confirmations::confirmations;
    /// What is known of the tile at a byte offset.
    hover(offset: usize) -> Option<ide::Hover> = ide::hover::hover;
    /// What may be typed at a byte offset.
    completions(offset: usize) -> Option<ide::Completions> = ide::completion::completions;
    /// How the function is called whose argument is at a byte offset.
    signature_help(offset: usize) -> Option<ide::SignatureHelp> = ide::signature_help::signature_help;
    /// Where the name at a byte offset is bound.
    definition(offset: usize) -> Option<ide::Mention> = ide::navigation::definition;
    /// Every mention of the name at a byte offset.
    references(offset: usize) -> Option<Vec<ide::Mention>> = ide::navigation::references;
    /// The name at a byte offset, if other files can import it.
    exported(offset: usize) -> Option<ide::Exported> = ide::navigation::exported;
    /// The name at a byte offset, if it can be replaced.
    prepare_rename(offset: usize) -> Option<ide::Renameable> = ide::navigation::prepare_rename;
    /// What to replace for the name at a byte offset to be another one, or why that cannot be done.
    rename(offset: usize, new: String) -> Result<Vec<ide::Mention>, String> = ide::navigation::rename;
    /// What else is meant by the name at a byte offset.
    highlights(offset: usize) -> Vec<ide::Mention> = ide::navigation::highlights;
    /// Bytes of what can be folded.
    folding_ranges() -> Vec<tilefit_syntax::TextRange> = ide::folding::folding_ranges;
    /// Bytes of what lies around a byte offset, from the inside out.
    selection_ranges(offset: usize) -> Vec<tilefit_syntax::TextRange> = ide::folding::selection_ranges;
    /// The kernel or helper whose name is at a byte offset.
    call_item(offset: usize) -> Option<ide::CallItem> = ide::call_hierarchy::call_item;
    /// The functions that call the one whose name is at a byte offset.
    incoming_calls(offset: usize) -> Vec<ide::Calls> = ide::call_hierarchy::incoming_calls;
    /// The functions that the one whose name is at a byte offset calls.
    outgoing_calls(offset: usize) -> Vec<ide::Calls> = ide::call_hierarchy::outgoing_calls;
    /// Space, address and size after each tile that is defined within a range.
    inlay_hints(range: tilefit_syntax::TextRange) -> Vec<ide::InlayHint> = ide::inlay_hints::inlay_hints;
    /// What there is to the hint with this key at a byte offset.
    hint_details(offset: usize, key: ide::HintKey) -> Option<ide::HintDetails> = ide::inlay_hints::hint_details;
    /// Where lenses stand: above each kernel.
    code_lenses() -> Vec<ide::CodeLens> = ide::code_lens::code_lenses;
    /// What a lens says, such as the use of each memory space; `None` where it is gone.
    code_lens(lens: ide::CodeLens) -> Option<ide::LensText> = ide::code_lens::code_lens;
    /// The edit that gives the kernel around a byte offset all values that it lacks.
    missing_values(offset: usize) -> Option<(tilefit_syntax::TextRange, String)> = ide::missing_values::missing_values;
    /// What is said of the kernels of each line of a cell, both from 1: how full their memories are, else what they lack.
    in_words() -> Vec<((Option<usize>, usize), String)> = ide::code_lens::in_words;
    /// What a lens for a memory map speaks of, and whether its text is whole, where `edited` is the place of the newest edit.
    spoken(lens: ide::CodeLens, edited: Option<usize>) -> Option<ide::Spoken> = ide::code_lens::spoken;
    /// Programs, kernels and their tiles.
    document_symbols() -> Vec<ide::Symbol> = ide::symbols::document_symbols;
    /// The kernels of a file, `Program.kernel`, and the bytes of their names; nothing is planned.
    kernel_names() -> Vec<(String, tilefit_syntax::TextRange)> = ide::symbols::kernel_names;
    /// The C++ of the kernel around a byte offset.
    generated_code(offset: usize) -> Option<ide::GeneratedCode> = ide::generated_code::generated_code;
    /// The C++ of every kernel of a file.
    generated_codes() -> Vec<ide::GeneratedCode> = ide::generated_code::generated_codes;
    /// The IR of every kernel after memory is allocated.
    allocated_ir() -> Vec<ide::AllocatedIr> = ide::allocated_ir::allocated_ir;
    /// The IR of the kernel around a byte offset after memory is allocated.
    allocated_ir_at(offset: usize) -> Option<ide::AllocatedIr> = ide::allocated_ir::allocated_ir_at;
    /// The MLIR of every TLX kernel after each step of its compiler.
    lowered_ir() -> Vec<ide::LoweredIr> = ide::lowered_ir::lowered_ir;
    /// The MLIR of the TLX kernel around a byte offset after each step of its compiler.
    lowered_ir_at(offset: usize) -> Option<ide::LoweredIr> = ide::lowered_ir::lowered_ir_at;
    /// What an editor can offer to do within a range.
    code_actions(range: tilefit_syntax::TextRange) -> Vec<ide::CodeAction> = ide::code_actions::code_actions;
    /// The whole numbers of a file that have a name, in text order.
    constants() -> Vec<ide::largest_fit::Constant> = ide::largest_fit::constants;
    /// The largest value that fits, of the constant at a byte offset. Nobody asks for it on an edit.
    largest_fit(offset: usize, patience: tilefit_pypto::memory::Patience) -> Result<ide::LargestFit, String> = ide::largest_fit::largest_fit;
    /// What an editor can offer to do with the constant at a byte offset.
    largest_fit_action(offset: usize) -> Option<ide::CodeAction> = ide::largest_fit::action;
    /// The edits of every fix of a file that is the nearest way.
    fix_all() -> Vec<(tilefit_syntax::TextRange, String)> = ide::code_actions::fix_all;
    /// Who has which bytes of each memory space, for the kernel around a byte offset.
    memory_map(offset: usize, trial: ide::memory_map::Trial) -> Option<ide::MemoryMaps> = ide::memory_maps::memory_map;
    /// The memory map of every kernel.
    memory_maps() -> Vec<ide::MemoryMap> = ide::memory_maps::memory_maps;
    /// How full the memories of every kernel are.
    summaries() -> Vec<ide::KernelSummary> = ide::plans::summaries;
    /// The plan of every kernel, in the form of `tilefit plan --format json`.
    plans() -> Vec<ide::KernelPlan> = ide::plans::plans;
}

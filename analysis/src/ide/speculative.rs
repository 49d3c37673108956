//! The results of edits that are not made yet: the file is analysed anew, so that nothing is offered that does not help.

use std::sync::Arc;

use salsa::{Durability, Setter as _};
use tilefit_pypto::ir::Type;
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::work::Limits;
use tilefit_syntax::TextRange;

use crate::db::importers;
use crate::db::{self, AT_REST, Database, Plans, Searches, Settings, SourceFile, Workspace};
use crate::project::Config;

use super::pypto::diagnostics;
use super::{Context, PlacedUnit};

/// Bytes of the file, and what is written there instead.
pub(super) type Edit = (TextRange, String);

/// What is said of some blocks of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    errors: usize,
    of_code: usize,
    unknown: usize,
    kernels: usize,
    /// What the kernels are called with.
    params: Vec<Type>,
}

impl Said {
    pub(super) fn of(context: &Context<'_>, concerned: &Concerned<'_>, code: Code) -> Said {
        let mut said = Said { errors: 0, of_code: 0, unknown: 0, kernels: 0, params: Vec::new() };
        for placed in concerned.units(context) {
            context.db.unwind_if_revision_cancelled();
            let kernels: Vec<_> = db::source_kernels(context.db, placed.unit).collect();
            said.kernels += kernels.len();
            let params =
                kernels.iter().flat_map(|kernel| kernel.params.iter().map(|&param| kernel.var(param).ty.clone()));
            said.params.extend(params);
            for diagnostic in
                context.plans(placed.unit).iter().flat_map(|it| diagnostics::of_kernel(context, &placed, it))
            {
                said.errors += usize::from(diagnostic.severity == Severity::Error || diagnostic.code == Code::Internal);
                said.of_code += usize::from(diagnostic.code == code);
                said.unknown += usize::from(diagnostic.code == Code::NotModelled);
            }
        }
        said
    }

    /// One diagnostic of the code less, nothing else worse, and the same kernels for their callers.
    pub(super) fn is_fixed_by(&self, after: &Said) -> bool {
        after.of_code < self.of_code && after.is_as_good_as(self)
    }

    pub(super) fn is_as_good_as(&self, before: &Said) -> bool {
        self.errors <= before.errors
            && self.of_code <= before.of_code
            && self.unknown <= before.unknown
            && self.kernels == before.kernels
            && self.params == before.params
    }
}

/// The blocks that an edit can change.
pub(super) enum Concerned<'a> {
    /// Those that mention a name.
    Mention(&'a str),
    /// The one at this byte offset.
    Block(usize),
}

impl Concerned<'_> {
    /// No others are parsed.
    pub(super) fn units<'db>(&self, context: &Context<'db>) -> Vec<PlacedUnit<'db>> {
        let at = |start: usize| context.units_in(TextRange::empty(start)).filter(move |placed| placed.start == start);
        match self {
            Concerned::Mention(name) => {
                let blocks = context.document().blocks().iter().filter(|block| block.source.text.contains(name));
                blocks.flat_map(|block| at(block.start).collect::<Vec<_>>()).collect()
            }
            Concerned::Block(start) => at(*start).collect(),
        }
    }
}

/// An edit is seen between trials and not within one, so that none may cost what a stage may.
const TRIALS_A_STAGE: u64 = 8;

/// Asks `question` of the file as it would be after `edits`, which do not overlap.
pub(super) fn after<T>(context: &Context<'_>, edits: &[Edit], question: impl FnOnce(&Context<'_>) -> T) -> T {
    Trials::of(context, short(context.config().limits)).after(context, edits, question)
}

/// What a trial may take for which somebody waits.
pub(super) fn short(limits: Limits) -> Limits {
    Limits { steps: limits.steps / TRIALS_A_STAGE, ..limits }
}

/// A file, and those that it needs, in a database of their own: what one trial does not change is not computed anew in the next one.
pub(super) struct Trials {
    db: Database,
    file: SourceFile,
}

impl Trials {
    pub(super) fn of(context: &Context<'_>, limits: Limits) -> Trials {
        let (db, trial) = (context.db, Database::default());
        let file = |of: SourceFile| SourceFile::of(&trial, of.path(db).clone(), of.document(db).clone());
        let edited = file(context.file);
        let needed = importers::imported(db, context.file).iter().copied().filter(|other| *other != context.file);
        let files = needed.map(file).chain([edited]).map(|file| (file.path(&trial).clone(), file)).collect();
        let config = Config { limits, ..context.config().clone() };
        _ = Settings::builder(config).durability(AT_REST).new(&trial);
        _ = Workspace::builder(files).durability(AT_REST).new(&trial);
        Searches::new(&trial, Vec::new());
        Plans::new(&trial, Arc::default());
        Trials { db: trial, file: edited }
    }

    /// Asks `question` of the file of `context`, of which these are, as it would be after `edits`, which do not overlap.
    pub(super) fn after<T>(
        &mut self,
        context: &Context<'_>,
        edits: &[Edit],
        question: impl FnOnce(&Context<'_>) -> T,
    ) -> T {
        let mut document = context.document().clone();
        let mut edits: Vec<&Edit> = edits.iter().collect();
        edits.sort_by_key(|(range, _)| std::cmp::Reverse(*range));
        for (range, new) in edits {
            document.edit(range.start..range.end, new);
        }
        document.settle();
        self.file.set_document(&mut self.db).with_durability(Durability::LOW).to(document);
        salsa::attach_allow_change(&self.db, || question(&Context::new(&self.db, self.file)))
    }
}

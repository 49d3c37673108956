//! Editor features as pure functions from a file and a position to plain data; one file a feature. No LSP types.

pub mod allocated_ir;
mod bind;
pub mod call_hierarchy;
mod capacity_fixes;
pub mod code_actions;
pub mod code_lens;
pub mod completion;
mod configuration_fixes;
pub mod configurations;
pub mod confirmation;
mod cursor_context;
pub mod diagnostics;
pub mod folding;
mod formatting;
pub mod generated_code;
mod gpu;
pub mod hover;
pub mod inlay_hints;
mod inserted_tiles;
mod language;
pub mod largest_fit;
mod level;
pub mod lowered_ir;
pub mod memory_map;
pub mod navigation;
pub mod plan_view;
pub mod planned_for;
mod pypto;
#[cfg(test)]
mod random;
mod scopes;
pub mod signature_help;
mod speculative;
mod split;
mod statements;
pub mod symbols;
mod sync_fixes;
mod sync_hints;
pub(crate) mod syntax_errors;
#[cfg(test)]
pub(crate) mod tests;
mod tlx;
mod triton;

use std::sync::Arc;

use tilefit_pypto::codegen::Sequenced;
use tilefit_python::finding::{Node, Origin};
use tilefit_syntax::ast::Spans;
use tilefit_syntax::{Document, TextRange};

pub use allocated_ir::AllocatedIr;
pub use call_hierarchy::{CallItem, Calls};
pub use code_actions::{CodeAction, Effect, Fix};
pub use code_lens::{CodeLens, LensCommand, LensKind, LensText, Spoken, Unfinished};
pub use completion::{Completion, CompletionKind, Completions, documentation};
pub use configurations::KernelConfigurations;
pub use confirmation::{Confirmation, KernelQuestion, PlacedQuestion};
pub use diagnostics::{Diagnosis, Diagnostic, Elsewhere, RelatedRange};
pub use formatting::bytes;
pub use generated_code::GeneratedCode;
pub use hover::Hover;
pub use inlay_hints::{HintDetails, HintKey, HintLink, InlayHint};
pub use largest_fit::LargestFit;
pub use lowered_ir::LoweredIr;
pub use memory_map::{MemoryMap, MemoryMaps};
pub use navigation::{Exported, Mention, Renameable};
pub use plan_view::{KernelPlan, KernelSummary};
pub use planned_for::PlannedFor;
pub use signature_help::{Signature, SignatureHelp};
pub use symbols::{Symbol, SymbolKind};

use crate::db::{self, Dumped, Outcome, Planned, SourceFile, Unit};
use crate::project::Config;

use language::{KernelDeclaration, Language, View};

/// One file of a snapshot, as the features see it.
pub(crate) struct Context<'db> {
    pub(crate) db: &'db dyn salsa::Database,
    pub(crate) file: SourceFile,
}

/// A function block at its place in the file.
pub(crate) struct PlacedUnit<'db> {
    pub(crate) unit: Unit<'db>,
    /// Byte offset of the block in the file.
    pub(crate) start: usize,
    /// Length of the block in bytes.
    pub(crate) len: usize,
    pub(crate) spans: Arc<Spans>,
}

impl<'db> Context<'db> {
    pub(crate) fn new(db: &'db dyn salsa::Database, file: SourceFile) -> Self {
        Context { db, file }
    }

    pub(crate) fn config(&self) -> &'db Config {
        db::config(self.db)
    }

    pub(crate) fn document(&self) -> &'db Document {
        self.file.document(self.db)
    }

    /// The function blocks that touch `range` and may hold kernels; none of a file that the configuration excludes.
    pub(crate) fn units_in(&self, range: TextRange) -> impl Iterator<Item = PlacedUnit<'db>> + '_ {
        self.placed(range, db::may_hold_kernels)
    }

    /// The headers of classes that touch `range` and may be programs.
    pub(crate) fn programs_in(&self, range: TextRange) -> impl Iterator<Item = PlacedUnit<'db>> + '_ {
        self.placed(range, db::may_be_program)
    }

    /// The wanted blocks that touch `range`; none of a file that the configuration excludes.
    fn placed(
        &self,
        range: TextRange,
        is_wanted: fn(&'db dyn salsa::Database, Unit<'db>) -> bool,
    ) -> impl Iterator<Item = PlacedUnit<'db>> + '_ {
        let shown = if self.file.excluded(self.db) { &[] } else { db::units(self.db, self.file).as_slice() };
        let blocks = self.document().blocks().iter();
        shown.iter().zip(blocks).filter_map(move |(&unit, block)| {
            let len = block.source.text.len();
            let touched = TextRange::new(block.start, block.start + len).intersects(range);
            if !touched || !is_wanted(self.db, unit) {
                return None;
            }
            let spans = db::parsed(self.db, unit).spans.clone();
            Some(PlacedUnit { unit, start: block.start, len, spans })
        })
    }

    pub(crate) fn units(&self) -> impl Iterator<Item = PlacedUnit<'db>> + '_ {
        self.units_in(TextRange::new(0, usize::MAX))
    }

    /// A block of the file, whatever it holds.
    pub(crate) fn place(&self, unit: Unit<'db>) -> Option<PlacedUnit<'db>> {
        let mut blocks = db::units(self.db, self.file).iter().zip(self.document().blocks());
        let (_, block) = blocks.find(|(other, _)| **other == unit)?;
        let spans = db::parsed(self.db, unit).spans.clone();
        Some(PlacedUnit { unit, start: block.start, len: block.source.text.len(), spans })
    }

    pub(crate) fn plans(&self, unit: Unit<'db>) -> &'db [Outcome] {
        db::plans(self.db, unit)
    }

    /// What the compiler's dumps say of each plan of a unit; nothing without dumps.
    pub(crate) fn dumped(&self, unit: Unit<'db>) -> &'db [Option<Dumped<'db>>] {
        if self.file.dumps(self.db).is_empty() { &[] } else { db::dumped(self.db, unit) }
    }

    /// The kernels of a unit that generated C++ can be of, with their instructions: those that are modelled and accepted in whole.
    pub(crate) fn sequences(&self, unit: Unit<'db>) -> impl Iterator<Item = (&'db Planned, &'db Sequenced)> {
        let both = self.plans(unit).iter().zip(db::sequences(self.db, unit).iter());
        both.filter_map(|(outcome, sequenced)| match outcome {
            Outcome::Planned(planned) if planned.is_complete() => Some((&**planned, sequenced)),
            _ => None,
        })
    }

    pub(crate) fn language(&self, unit: Unit<'db>) -> &'static dyn Language {
        language::of(self, unit)
    }

    /// The kernels whose text a unit is; nothing is planned for it.
    pub(crate) fn declared(&self, unit: Unit<'db>) -> Vec<KernelDeclaration<'db>> {
        self.language(unit).declared(self, unit)
    }

    /// The kernels of a unit that are laid out in memory, one way or another.
    pub(crate) fn kernels(&self, unit: Unit<'db>) -> impl Iterator<Item = View<'db>> {
        self.all_kernels(unit).into_iter().filter(|kernel| kernel.is_planned())
    }

    /// With those of which there is nothing to show but that tilefit failed.
    pub(crate) fn all_kernels(&self, unit: Unit<'db>) -> Vec<View<'db>> {
        self.language(unit).kernels(self, unit)
    }

    /// What `items` finds, each with its range, for the kernel at a byte offset. Of several scopes of one function: the innermost
    /// around the offset, else the first. Outside of kernels: for the last one before the offset, else the first of the file, or of the
    /// cell of a notebook.
    pub(crate) fn at<T>(&self, offset: usize, items: impl Fn(&PlacedUnit<'db>) -> Vec<(TextRange, T)>) -> Option<T> {
        let around = self.units_in(TextRange::empty(offset)).filter(|p| p.start <= offset && offset <= p.start + p.len);
        let mut best: Option<(bool, T)> = None;
        for (range, item) in around.flat_map(|placed| items(&placed)) {
            let inside = range.touches(offset);
            if best.as_ref().is_none_or(|(best_inside, _)| inside && !best_inside) {
                best = Some((inside, item));
            }
        }
        let nearest = || {
            let here = self.units().filter(|placed| self.cell(placed.start) == self.cell(offset));
            let (before, after): (Vec<_>, Vec<_>) = here.partition(|placed| placed.start < offset);
            let (_, item) = before.iter().rev().chain(&after).find_map(|placed| items(placed).into_iter().next())?;
            Some(item)
        };
        best.map(|(_, item)| item).or_else(nearest)
    }

    /// The text of a block.
    pub(crate) fn text_of(&self, placed: &PlacedUnit<'_>) -> &'db str {
        let block = self.document().blocks().iter().find(|block| block.start == placed.start);
        block.map_or("", |block| &block.source.text)
    }

    /// 1-based line of a byte offset, in a notebook in its cell.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.document().line(offset)
    }

    /// The cell of a notebook that a byte offset is in, from 1; `None` in other files.
    pub(crate) fn cell(&self, offset: usize) -> Option<usize> {
        self.document().part_at(offset).map(|part| part + 1)
    }

    /// `Program.kernel`: the kernel's name with the programs and factories around it.
    pub(crate) fn qualified_name(&self, unit: Unit<'db>, kernel: &str) -> String {
        match unit.key(self.db).path.rsplit_once('.') {
            Some((outer, _)) => format!("{outer}.{kernel}"),
            None => kernel.to_owned(),
        }
    }
}

/// Plans the kernels that touch `range`.
pub(crate) fn prepare(context: &Context<'_>, range: TextRange) {
    for placed in context.units_in(range) {
        context.all_kernels(placed.unit);
    }
}

/// Plans the scopes of all functions for the host but the first, the last ones first.
pub(crate) fn prepare_callers(context: &Context<'_>) {
    let mut hosts = db::host_functions(context.db, context.file);
    if !hosts.is_empty() {
        hosts.remove(0);
    }
    for host in hosts.into_iter().rev() {
        for index in 0..db::kernels(context.db, host).len() {
            db::planned(context.db, host, index);
        }
    }
}

impl PlacedUnit<'_> {
    /// Where a node stands in the file.
    pub(crate) fn range(&self, origin: Origin) -> TextRange {
        let range = match origin.shown() {
            Node::Expr(expr) => self.spans.expr(expr),
            Node::Stmt(stmt) => self.spans.stmt(stmt),
        };
        range.shifted(self.start)
    }
}

//! What every feature is given: a file of a snapshot, and the blocks in it.

use std::sync::Arc;

use tilefit_pypto::codegen::Sequenced;
use tilefit_python::finding::{Node, Origin};
use tilefit_syntax::ast::{Expr, Spans};
use tilefit_syntax::{Document, TextRange};

use crate::db::{self, Dumped, Outcome, Planned, SourceFile, Unit};
use crate::project::Config;

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
    pub(crate) fn placed(
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

    /// The name expression around a byte offset.
    pub(crate) fn name_at(&self, placed: &PlacedUnit<'db>, offset: usize) -> Option<(TextRange, &'db str)> {
        let ast = db::syntax(self.db, placed.unit);
        ast.exprs().find_map(|(id, expr)| match expr {
            Expr::Name(name) => {
                let range = placed.spans.expr(id).shifted(placed.start);
                range.touches(offset).then_some((range, name.as_str()))
            }
            _ => None,
        })
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

//! What is found in functions of other files that are put in place of calls: it is said where it is written, once, with the calls that
//! lead there.

use tilefit_pypto::ir::{Inlined, Kernel};
use tilefit_python::finding::{Node, Origin};

use crate::db::{self, FileId, Workspace};
use crate::ide::{Context, PlacedUnit};

use super::{Diagnostic, Elsewhere, RelatedRange};

/// The calls in whose place statements of a kernel are.
pub(in crate::ide) struct Calls<'a, 'db> {
    pub(in crate::ide) context: &'a Context<'db>,
    pub(in crate::ide) placed: &'a PlacedUnit<'db>,
    pub(in crate::ide) kernel: Option<&'a Kernel>,
}

impl Calls<'_, '_> {
    /// The same, said where it is written. `related`: where its further places are.
    pub(in crate::ide) fn written(
        &self,
        mut diagnostic: Diagnostic,
        at: Origin,
        related: impl Iterator<Item = Origin>,
    ) -> Diagnostic {
        let (Some(kernel), Some(elsewhere)) = (self.kernel, self.place(at)) else { return diagnostic };
        for (related, at) in diagnostic.related.iter_mut().zip(related) {
            related.elsewhere = self.place(at);
        }
        // The names of kernels tell apart those that several calls make of one scope.
        let within = match &kernel.hint {
            Some(scope) => format!("scope `{scope}`: "),
            None if kernel.is_scope => String::new(),
            None => format!("kernel `{}`: ", kernel.name),
        };
        diagnostic.message.insert_str(0, &within);
        diagnostic.related.extend(self.path(at));
        Diagnostic { elsewhere: Some(elsewhere), ..diagnostic }
    }

    /// Where a node is written; `None` of what is in the file itself.
    fn place(&self, at: Origin) -> Option<Elsewhere> {
        let Origin::Inlined { function, node, .. } = at else { return None };
        self.place_in(self.function(function)?, node)
    }

    fn function(&self, index: u32) -> Option<&Inlined> {
        self.kernel?.inlined.get(index as usize)
    }

    fn place_in(&self, function: &Inlined, node: Node) -> Option<Elsewhere> {
        let db = self.context.db;
        let file = *Workspace::try_get(db)?.files(db).get(&*function.path)?;
        if file == self.context.file {
            return None;
        }
        let of_blocks = db::units(db, file).iter().zip(file.document(db).blocks());
        let (unit, block) = of_blocks.into_iter().find(|(unit, _)| *unit.key(db) == function.function)?;
        let spans = &db::parsed(db, *unit).spans;
        let range = match node {
            Node::Expr(expr) => spans.expr(expr),
            Node::Stmt(stmt) => spans.stmt(stmt),
        };
        Some(Elsewhere { file: FileId(file), range: range.shifted(block.start) })
    }

    /// The calls that lead to a node, the outermost first.
    fn path(&self, at: Origin) -> Vec<RelatedRange> {
        let Origin::Inlined { call, function, .. } = at else { return Vec::new() };
        let range = self.placed.range(Origin::Expr(call));
        let mut path = Vec::new();
        let mut next = Some(function);
        while let Some(called) = next.and_then(|function| self.function(function)) {
            next = called.within;
            let within = called.within.and_then(|function| self.function(function));
            let elsewhere = within.and_then(|within| self.place_in(within, Node::Expr(called.call)));
            let message = format!("`{}` is called here", called.function.name());
            path.push(RelatedRange { range, message, elsewhere });
        }
        path.reverse();
        path
    }
}

/// Several calls that lead to one place are the places of one diagnostic. In text order.
pub(in crate::ide) fn said_once(all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut said: Vec<Diagnostic> = Vec::with_capacity(all.len());
    for diagnostic in all {
        let is_it = |other: &&mut Diagnostic| {
            let what = |of: &Diagnostic| (of.elsewhere, of.code, of.severity);
            what(other) == what(&diagnostic) && other.message == diagnostic.message
        };
        let known = diagnostic.elsewhere.and_then(|_| said.iter_mut().find(is_it));
        match known {
            None => said.push(diagnostic),
            Some(known) => {
                let is_new =
                    |place: &RelatedRange, known: &[RelatedRange]| !known.contains(place) && place.elsewhere.is_none();
                let calls =
                    diagnostic.related.into_iter().filter(|place| is_new(place, &known.related)).collect::<Vec<_>>();
                known.related.extend(calls);
            }
        }
    }
    said
}

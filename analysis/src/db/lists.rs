//! The lists that a module makes in several statements, with all that they may hold: configurations, say, of which a condition that is not known adds
//! some.

use std::cell::Cell;

use tilefit_gpu::device::Arch;
use tilefit_syntax::ast::Ast;

use tilefit_python::eval::{self, Constant, Scope};

use super::modules::imported_from;
use super::scope::UnitScope;
use super::statements::statements_of;
use super::{Name, SourceFile, syntax};

/// What code sees that takes all that a list may hold.
#[derive(Clone, Copy)]
pub(super) struct Lists<'db, 'g> {
    pub(super) around: UnitScope<'db>,
    /// Whether a list was taken that may not hold all of that.
    pub(super) guessed: &'g Cell<bool>,
    /// Names that were looked into on the way here, each for the one before.
    pub(super) links: u32,
}

/// Names that are looked into, each for the one before.
const MOST_LINKS: u32 = 16;

/// What a module leaves in a name, and whether it was guessed; `None` where its only assignment gives it a value that is known.
#[salsa::tracked(returns(clone), cycle_result = none)]
fn left_in<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    name: Name<'db>,
    links: u32,
    device: Option<Arch>,
) -> Option<(Constant, bool)> {
    let units = statements_of(db, file, None);
    let trees: Vec<&Ast> = units.iter().map(|&unit| &**syntax(db, unit)).collect();
    let known = UnitScope::on(db, *units.first()?, device).constant(name.text(db));
    let is_known = known.is_some_and(|value| !matches!(value, Constant::Unknown(_)));
    if links >= MOST_LINKS || is_known && !eval::is_changed(name.text(db), trees.iter().copied()) {
        return None;
    }
    let guessed = Cell::new(false);
    let scope = |&unit| Lists { around: UnitScope::on(db, unit, device), guessed: &guessed, links: links + 1 };
    let scopes: Vec<Lists> = units.iter().map(scope).collect();
    let blocks = trees.into_iter().zip(&scopes).map(|(ast, scope)| (ast, scope as &dyn Scope));
    let left = eval::left_in(name.text(db), &blocks.collect::<Vec<_>>())?;
    Some((left, guessed.get()))
}

fn none<'db>(
    _: &'db dyn salsa::Database,
    _: salsa::Id,
    _: SourceFile,
    _: Name<'db>,
    _: u32,
    _: Option<Arch>,
) -> Option<(Constant, bool)> {
    None
}

impl Scope for Lists<'_, '_> {
    fn outer(&self) -> Option<&dyn Scope> {
        Some(&self.around)
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        let UnitScope { db, unit, program, .. } = self.around;
        if self.around.around().is_some() {
            // A function may have a name of its own.
            return self.around.constant(name);
        }
        let (file, named) = (unit.file(db), Name::new(db, name.to_owned()));
        let (file, named) = imported_from(db, file, named).unwrap_or((file, named));
        match left_in(db, file, named, self.links, program.seen_from(db, file).device) {
            Some((value, guessed)) if !matches!(value, Constant::Unknown(_)) => {
                self.guessed.set(self.guessed.get() || guessed);
                Some(value)
            }
            _ => self.around.constant(name),
        }
    }

    fn defining_scope(&self, function: &str) -> Option<Box<dyn Scope + '_>> {
        let unit = self.around.defining_unit(function)?;
        Some(Box::new(Lists { around: UnitScope { unit, now: None, ..self.around }, ..*self }))
    }

    fn takes_all(&self) -> bool {
        self.guessed.set(true);
        true
    }
}

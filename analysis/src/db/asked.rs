//! What is asked of the code around a unit while its kernels are read, and what the answers rest on.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use tilefit_python::eval::{self, Assumption, Binding, ClassSource, Constant, Scope};
use tilefit_python::work::remembered;

use super::modules::module_file;
use super::scope::{UnitScope, overriding};
use super::statements::statements_of;
use super::{Name, SourceFile, Unit, names, syntax};

/// What a unit sees, taking note of what is asked.
pub(super) struct Recording<'db> {
    scope: UnitScope<'db>,
    asked: Rc<RefCell<Asked<'db>>>,
}

impl<'db> Recording<'db> {
    pub(super) fn new(scope: UnitScope<'db>, asked: &Rc<RefCell<Asked<'db>>>) -> Self {
        Recording { scope, asked: Rc::clone(asked) }
    }

    fn in_unit(&self, unit: Unit<'db>) -> Recording<'db> {
        Recording::new(UnitScope { unit, ..self.scope }, &self.asked)
    }

    fn note(&self, file: SourceFile, scope: Option<Unit<'db>>, name: Name<'db>) {
        self.asked.borrow_mut().names.insert((file, scope, name, self.scope.links));
    }
}

impl Scope for Recording<'_> {
    fn outer(&self) -> Option<&dyn Scope> {
        Some(&self.scope)
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        let (db, unit) = (self.scope.db, self.scope.unit);
        self.note(unit.file(db), self.scope.around(), Name::new(db, name.to_owned()));
        self.scope.constant(name)
    }

    fn defining_scope(&self, function: &str) -> Option<Box<dyn Scope + '_>> {
        Some(Box::new(self.in_unit(self.scope.defining_unit(function)?)))
    }

    fn unknown_names(&self, function: &str) -> Vec<String> {
        let unit = || self.scope.function_unit(function);
        remembered(|| unit().map_or_else(Vec::new, |unit| names::described(self.scope.db, unit)))
    }

    fn module_member(&self, module: &str, member: &str) -> Option<Constant> {
        if let Some(file) = self.scope.file_of_module(module) {
            self.note(file, None, Name::new(self.scope.db, member.to_owned()));
        }
        self.scope.module_member(module, member)
    }

    fn assume(&self, assumption: Assumption) {
        self.asked.borrow_mut().assumed.insert(assumption);
    }

    fn class(&self, name: &str) -> Option<(ClassSource, Box<dyn Scope + '_>)> {
        let (source, header) = self.scope.class_source(name)?;
        Some((source, Box::new(self.in_unit(header))))
    }
}

/// What was asked of a scope: what the answers rest on is found out when somebody wants to know.
#[derive(Default, PartialEq, Eq, salsa::SalsaValue)]
pub(crate) struct Asked<'db> {
    /// Names, each in a scope of a file, and how many were resolved on the way to it.
    names: FxHashSet<(SourceFile, Option<Unit<'db>>, Name<'db>, u32)>,
    assumed: BTreeSet<Assumption>,
}

impl<'db> Asked<'db> {
    pub(super) fn assumptions(&self, db: &'db dyn salsa::Database) -> BTreeSet<Assumption> {
        let mut all = self.assumed.clone();
        for &(file, scope, name, links) in &self.names {
            all.extend(of_name(db, file, scope, name, links).iter().cloned());
        }
        all
    }
}

/// What the value of a name rests on, in the scopes around a unit.
#[salsa::tracked(returns(clone), cycle_result = of_a_name_itself)]
pub(super) fn of_name<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    scope: Option<Unit<'db>>,
    name: Name<'db>,
    links: u32,
) -> Arc<BTreeSet<Assumption>> {
    // As far as evaluation itself goes: what lies further has no value that could rest on anything.
    if links >= eval::LONGEST_CHAIN {
        return Arc::default();
    }
    let text = name.text(db);
    let asked: Rc<RefCell<Asked<'db>>> = Rc::default();
    let mut is_bound = false;
    for &unit in statements_of(db, file, scope) {
        let ast = syntax(db, unit);
        let recording = Recording::new(UnitScope { links: links + 1, ..UnitScope::new(db, unit) }, &asked);
        match eval::binding(ast, text) {
            // What the program assigns beside others is noted below.
            Binding::None | Binding::Program => continue,
            Binding::Import { level, module, original } => {
                if let Some(imported_from) = module_file(db, file, level, Name::new(db, module.clone())) {
                    match overriding(db, unit, imported_from, &module, &original).as_slice() {
                        [(at, Some(value))] => {
                            let scope = UnitScope { unit: *at, ..recording.scope };
                            eval::evaluate(syntax(db, *at), *value, &Recording::new(scope, &asked));
                        }
                        _ => recording.note(imported_from, None, Name::new(db, original)),
                    }
                }
            }
            _ => {
                eval::bound_value(ast, text, &recording);
            }
        }
        is_bound = true;
    }
    let by_program = |unit: &Unit<'db>| eval::is_bound_by_program(syntax(db, *unit), text);
    if is_bound && statements_of(db, file, scope).iter().any(by_program) {
        asked.borrow_mut().assumed.insert(Assumption::Imported);
    }
    if let (false, Some(scope)) = (is_bound, scope) {
        return of_name(db, file, scope.parent(db), name, links);
    }
    let asked = asked.take();
    Arc::new(asked.assumptions(db))
}

fn of_a_name_itself<'db>(
    _: &'db dyn salsa::Database,
    _: salsa::Id,
    _: SourceFile,
    _: Option<Unit<'db>>,
    _: Name<'db>,
    _: u32,
) -> Arc<BTreeSet<Assumption>> {
    Arc::default()
}

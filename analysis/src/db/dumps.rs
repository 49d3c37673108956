//! The dumps of a file: where the compiler wrote down what it did to a kernel, and whether our plan says the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use tilefit_pypto::memory::Plan;
use tilefit_pypto::printed::{self, Match};

use super::outcome::Outcome;
use super::pypto::plans;
use super::{SourceFile, Unit, units};

/// A kernel in a dump.
#[derive(Clone, PartialEq, Eq, salsa::SalsaValue)]
pub(crate) struct Dumped<'db> {
    pub(crate) dump: SourceFile,
    /// The block of the dump that it stands in.
    pub(crate) unit: Unit<'db>,
    pub(crate) matches: Match,
}

/// The newest dump of each kernel of a unit, in the order of [`plans`].
#[salsa::tracked(returns(ref))]
pub(crate) fn dumped<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Option<Dumped<'db>>>> {
    let dumps = unit.file(db).dumps(db);
    if dumps.is_empty() {
        return Arc::default();
    }
    let of_kernel = |outcome: &Outcome| {
        let Outcome::Planned(planned) = outcome else { return None };
        let plan = &planned.plan;
        dumps.iter().find_map(|&dump| {
            let found = *kernels_of_dump(db, dump).get(&plan.kernel)?;
            // Two programs of a file may have kernels of one name.
            if program(db, unit).zip(program(db, found)).is_some_and(|(ours, theirs)| ours != theirs) {
                return None;
            }
            let theirs = plans(db, found).iter().find_map(|outcome| printed_plan(outcome, &plan.kernel))?;
            let file = dump.path(db).rsplit(['/', '\\']).next().unwrap_or_default();
            Some(Dumped { dump, unit: found, matches: printed::compare(plan, theirs, file) })
        })
    };
    Arc::new(plans(db, unit).iter().map(of_kernel).collect())
}

fn printed_plan<'p>(outcome: &'p Outcome, kernel: &str) -> Option<&'p Plan> {
    match outcome {
        Outcome::Printed(plan) if plan.kernel == kernel => Some(plan),
        _ => None,
    }
}

/// The functions of a dump by name. It prints one program, in which names are unique.
#[salsa::tracked(returns(ref))]
fn kernels_of_dump<'db>(db: &'db dyn salsa::Database, dump: SourceFile) -> BTreeMap<String, Unit<'db>> {
    let named = units(db, dump).iter().map(|&unit| (unit.key(db).name().to_owned(), unit));
    named.collect()
}

/// The class that a unit stands in.
fn program<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<&'db str> {
    let class = unit.parent(db)?;
    let is_class = class.key(db).kind == tilefit_syntax::BlockKind::ClassHeader;
    is_class.then(|| class.key(db).name())
}

//! What the kernels of a unit rest on that their own text does not say. The scope that kernels are
//! read in takes notes; what they come to is computed when it is asked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use tilefit_python::eval::Assumption;

use super::asked::of_name;
use super::pypto::{lowering, source_kernel_ids};
use super::scope::UnitScope;
use super::{Name, Unit, shapes};

/// For people, one sentence each.
#[salsa::tracked(returns(ref), cycle_result = of_itself)]
pub(crate) fn assumptions_of_unit<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<String>> {
    let mut found: BTreeSet<&Assumption> = BTreeSet::new();
    let mut sentences = Vec::new();
    let mut hosts: Vec<Unit<'db>> = vec![unit];
    hosts.extend(source_kernel_ids(db, unit).iter().map(|(host, _)| *host));
    hosts.dedup();
    for host in hosts {
        found.extend(of_unit(db, host));
        let given = shapes::given(db, host).iter();
        sentences.extend(given.map(|given| format!("`{}` is {}, as in {}", given.param, given.tensor, given.origin)));
    }
    let mut outer = unit.parent(db);
    while let Some(function) = outer {
        let numbers = shapes::given_constants(db, function).iter();
        sentences
            .extend(numbers.map(|(param, value, origin)| format!("`{param}` is {}, as in {origin}", value.shown())));
        outer = function.parent(db);
    }
    sentences.extend(found.into_iter().map(Assumption::to_string));
    Arc::new(sentences)
}

/// What the kernels of a unit rest on, wherever their scopes stand.
#[salsa::tracked(returns(ref), cycle_result = of_a_unit_itself)]
fn of_unit<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> BTreeSet<Assumption> {
    lowering(db, unit).asked.assumptions(db)
}

fn of_a_unit_itself<'db>(_: &'db dyn salsa::Database, _: salsa::Id, unit: Unit<'db>) -> BTreeSet<Assumption> {
    let _ = unit;
    BTreeSet::new()
}

fn of_itself<'db>(_: &'db dyn salsa::Database, _: salsa::Id, unit: Unit<'db>) -> Arc<Vec<String>> {
    let _ = unit;
    Arc::default()
}

/// What the value of a name that a unit sees rests on.
pub(crate) fn assumptions_of_name(db: &dyn salsa::Database, unit: Unit<'_>, name: &str) -> Vec<String> {
    let scope = UnitScope::new(db, unit);
    let found = of_name(db, unit.file(db), scope.around(), Name::new(db, name.to_owned()), 0);
    found.iter().map(Assumption::to_string).collect()
}

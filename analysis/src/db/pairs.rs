//! The kernels that an author wrote for the two cores and launches together, joined.

use std::sync::Arc;

use tilefit_syntax::BlockKind;

use tilefit_pypto::ir::KernelKind;
use tilefit_pypto::lower;
use tilefit_pypto::pairs::{self, Transfers, Unpaired};
use tilefit_python::finding::Note;

use super::pypto::kernels;
use super::{Unit, config, syntax, units};

/// A kernel of the cube core and one of the vector core.
#[salsa::tracked]
pub(crate) struct Pair<'db> {
    #[returns(copy)]
    cube: Unit<'db>,
    #[returns(copy)]
    vector: Unit<'db>,
}

impl<'db> Pair<'db> {
    pub(crate) fn on(self, db: &'db dyn salsa::Database, core: KernelKind) -> Unit<'db> {
        if core == KernelKind::Aiv { self.vector(db) } else { self.cube(db) }
    }
}

/// What the kernel that a unit is does with the queues between the cores.
#[salsa::tracked(returns(ref))]
fn transfers<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arc<Transfers>> {
    let text = &unit.source(db).text;
    // Most functions are for no single core, and need not be lowered to tell.
    if !text.contains("AIC") && !text.contains("AIV") {
        return None;
    }
    // Attributes say how a function is launched, and move no tile.
    let hides = |note: &Note| !lower::is_of_attributes(syntax(db, unit), note.at);
    match kernels(db, unit) {
        [lowered] => Transfers::of(lowered.kernel(db), hides).map(Arc::new),
        _ => None,
    }
}

/// What tells who its partner is.
#[salsa::tracked(returns(ref))]
fn joins<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<(KernelKind, String, Vec<String>)> {
    let Transfers { core, kernel, peers, .. } = &**transfers(db, unit).as_ref()?;
    Some((*core, kernel.clone(), peers.clone()))
}

#[salsa::tracked(returns(ref))]
fn launched_together<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<Vec<String>> {
    let text = &unit.source(db).text;
    if !text.contains("Group") && !text.contains("cluster") {
        return Vec::new();
    }
    lower::launched_together(syntax(db, unit))
}

/// The pairs of a program: functions that one group launches, and where no group names them, one of which imports a buffer of the other.
#[salsa::tracked(returns(ref))]
fn pairs_of<'db>(db: &'db dyn salsa::Database, program: Unit<'db>) -> Vec<Pair<'db>> {
    let file = program.file(db);
    let functions = || {
        let all = units(db, file).iter().copied();
        all.filter(|unit| unit.parent(db) == Some(program) && unit.key(db).kind == BlockKind::Function)
    };
    let kernels: Vec<_> = functions().filter_map(|unit| Some((unit, joins(db, unit).as_ref()?))).collect();
    // Of two functions of one name the second replaces the first.
    let named = |name: &str| kernels.iter().rfind(|(_, (_, other, _))| other == name).copied();
    let mut pairs = Vec::new();
    let mut add = |a: Unit<'db>, core: KernelKind, b: Unit<'db>, other: KernelKind| {
        let pair = match (core, other) {
            (KernelKind::Aic, KernelKind::Aiv) => (a, b),
            (KernelKind::Aiv, KernelKind::Aic) => (b, a),
            _ => return,
        };
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    };
    let groups: Vec<&Vec<String>> = functions().flat_map(|unit| launched_together(db, unit)).collect();
    for group in &groups {
        let members: Vec<_> = group.iter().filter_map(|name| named(name)).collect();
        if let [(a, (core, ..)), (b, (other, ..))] = members.as_slice() {
            add(*a, *core, *b, *other);
        }
    }
    // A group says with which kernel one runs; an imported buffer only suggests it.
    let is_launched = |name: &str| groups.iter().any(|group| group.iter().any(|member| member == name));
    for (unit, (core, name, peers)) in &kernels {
        let [peer] = peers.as_slice() else { continue };
        if let Some((partner, (other, ..))) = named(peer)
            && !is_launched(name)
            && !is_launched(peer)
        {
            add(*unit, *core, partner, *other);
        }
    }
    pairs.into_iter().map(|(cube, vector)| Pair::new(db, cube, vector)).collect()
}

/// What is wrong between the two kernels of a pair.
#[salsa::tracked(returns(ref))]
fn unpaired<'db>(db: &'db dyn salsa::Database, pair: Pair<'db>) -> Arc<Vec<Unpaired>> {
    let both = transfers(db, pair.cube(db)).as_ref().zip(transfers(db, pair.vector(db)).as_ref());
    Arc::new(both.map(|(cube, vector)| pairs::check(cube, vector, config(db).target)).unwrap_or_default())
}

/// What is wrong between the kernel of a unit and the one that it is launched with, as far as it is told of this one.
pub(crate) fn unpaired_in<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<(Pair<'db>, &'db Unpaired)> {
    let Some(program) = unit.parent(db).filter(|_| transfers(db, unit).is_some()) else { return Vec::new() };
    if program.key(db).kind != BlockKind::ClassHeader {
        return Vec::new();
    }
    let own = pairs_of(db, program).iter().filter(|pair| pair.cube(db) == unit || pair.vector(db) == unit);
    let found = own.flat_map(|pair| {
        let found = unpaired(db, *pair).iter();
        found.filter(|found| pair.on(db, found.core) == unit).map(|found| (*pair, found))
    });
    found.collect()
}

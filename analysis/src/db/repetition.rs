//! Whether the second vector unit repeats what a kernel does, which depends on how the functions of its program launch it.

use tilefit_pypto::ir::{Kernel, KernelKind, Repetition};
use tilefit_pypto::lower;
use tilefit_pypto::passes::{self, Transferred};
use tilefit_syntax::BlockKind;

use super::kinds::kind;
use super::{Unit, syntax, units};

/// Adds to a kernel that sends tiles to the other core how it is launched.
pub(super) fn add_repetition<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, kernel: &mut Kernel) {
    if matches!(kernel.kind, KernelKind::Aiv | KernelKind::InCore)
        && kernel.cross_core.repetition == Repetition::None
        && matches!(passes::transfers_of(kernel), Transferred { whole: true, in_halves: None })
    {
        kernel.cross_core.repetition = repetition(db, unit);
    }
}

/// Whether a group launches a vector kernel with one of the cube core, and nothing else launches either: the compiler then lets the
/// second vector unit repeat it.
#[salsa::tracked(returns(copy))]
fn repetition<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Repetition {
    let Some(program) = unit.parent(db) else { return Repetition::None };
    let all = units(db, program.file(db)).iter().copied();
    let functions: Vec<_> = all.filter(|unit| unit.parent(db) == Some(program)).collect();
    let name_of = |unit: Unit<'db>| unit.key(db).name();
    let kind_of = |name: &str| {
        let named = functions.iter().rfind(|unit| name_of(**unit) == name);
        named.map(|unit| kind(db, *unit))
    };
    let own = name_of(unit);
    let times = |name: &str| {
        let named = functions.iter().flat_map(|unit| &launches(db, *unit).1);
        named.filter(|other| *other == name).count()
    };
    let mut repetition = Repetition::None;
    for group in functions.iter().flat_map(|unit| &launches(db, *unit).0) {
        let first = |core| group.iter().find(|name| kind_of(name) == Some(lower::Kind::Kernel(core)));
        if group.iter().any(|name| name == own) && first(KernelKind::InCore).is_some() {
            // Which core they are for shows only later.
            repetition = Repetition::Unclear;
        } else if let (Some(cube), Some(vector)) = (first(KernelKind::Aic), first(KernelKind::Aiv))
            && vector == own
        {
            let is_only = times(own) == 1 && times(cube) == 1;
            repetition = if is_only { Repetition::Second } else { Repetition::Unclear };
        }
    }
    repetition
}

/// The groups of kernels that a function launches, and the functions of its program that it names.
#[salsa::tracked(returns(ref))]
fn launches<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> (Vec<Vec<String>>, Vec<String>) {
    let text = &unit.source(db).text;
    if unit.key(db).kind != BlockKind::Function || !text.contains("self.") {
        return Default::default();
    }
    let ast = syntax(db, unit);
    let may_group = text.contains("Group") || text.contains("cluster");
    (if may_group { lower::members(ast) } else { Vec::new() }, lower::named(ast))
}

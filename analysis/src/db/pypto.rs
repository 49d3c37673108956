//! PyPTO's kernels: from a unit to the kernels in it, their plans and their C++.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use tilefit_packing::Problem;
use tilefit_pypto::codegen::{self, Generated, Sequenced};
use tilefit_pypto::coverage::{self, Pass};
use tilefit_pypto::ir::Kernel;
use tilefit_pypto::isa_rules;
use tilefit_pypto::lower;
use tilefit_pypto::memory::{self, Effort, Plan, Searched};
use tilefit_pypto::passes;
use tilefit_pypto::printed::{self, Offsets, PrintedKernel};
use tilefit_pypto::target::Machine;
use tilefit_python::finding::Origin;
use tilefit_python::work::within;
use tilefit_syntax::{BlockKey, BlockKind};

use super::asked::{Asked, Recording};
use super::kinds::{host_functions, kind};
use super::outcome::{Outcome, Planned};
use super::scope::UnitScope;
use super::shared_plans::KernelPlans;
use super::{
    Plans, Searches, SourceFile, Unit, config, limits, may_hold_kernels, names, provenance, repetition,
    specialisations, syntax,
};
use crate::project::Config;

/// A kernel as its author wrote it, among those of its unit.
#[salsa::tracked]
pub(crate) struct Lowered<'db> {
    #[returns(ref)]
    name: String,
    #[tracked]
    #[returns(ref)]
    pub(crate) kernel: Arc<Kernel>,
}

/// The kernels of a unit, as the author wrote them.
pub(crate) fn kernels<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> &'db [Lowered<'db>] {
    &lowering(db, unit).kernels
}

/// The kernels of a unit, and what was asked of the code around it to read them.
#[derive(Default, PartialEq, Eq, salsa::SalsaValue)]
pub(super) struct Lowering<'db> {
    kernels: Vec<Lowered<'db>>,
    pub(super) asked: Asked<'db>,
}

#[salsa::tracked(returns(ref))]
pub(super) fn lowering<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Lowering<'db> {
    if unit.key(db).kind != BlockKind::Function || !may_hold_kernels(db, unit) || printed::is_printed(syntax(db, unit))
    {
        return Lowering::default();
    }
    let (ast, asked) = (syntax(db, unit), Rc::default());
    let scope = Recording::new(UnitScope::new(db, unit), &asked);
    let lowered = within(limits(db), || lower::kernels(ast, &scope));
    let lowered = lowered.unwrap_or_else(|failure| lower::unread(ast, failure.to_string()));
    // Equal kernels are planned once, whatever makes them: all that a plan depends on has to be part of the kernel by here.
    let called = |mut kernel: Kernel| {
        repetition::add_repetition(db, unit, &mut kernel);
        provenance::add_provenance(db, unit, &mut kernel);
        names::add_notes(db, unit, &mut kernel);
        Lowered::new(db, kernel.name.clone(), Arc::new(kernel))
    };
    Lowering { kernels: lowered.into_iter().map(called).collect(), asked: asked.take() }
}

/// The functions that the kernels of a unit are scopes of, where those are others than the unit.
#[salsa::tracked(returns(ref))]
pub(super) fn kernel_sources<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
) -> Arc<Vec<(Option<BlockKey>, Origin)>> {
    let source = |kernel: &Kernel| (kernel.inlined_from.clone(), kernel.origin);
    Arc::new(kernels(db, unit).iter().map(|lowered| source(lowered.kernel(db))).collect())
}

/// How many functions for the host call others whose scopes become kernels of theirs.
pub(crate) fn callers(db: &dyn salsa::Database, file: SourceFile) -> usize {
    let hosts: FxHashSet<_> = kernels_of_calls(db, file).iter().map(|called| called.host).collect();
    hosts.len()
}

/// The kernels of scopes in functions that are put in place of calls, of all units of a file; those of one scope together.
#[salsa::tracked(returns(ref))]
pub(super) fn kernels_of_calls<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Vec<CalledKernel<'db>> {
    let called = host_functions(db, file).into_iter().flat_map(|host| {
        let sources = kernel_sources(db, host).iter().enumerate();
        sources.filter_map(move |(index, (inlined_from, at))| {
            Some(CalledKernel { inlined_from: inlined_from.clone()?, at: *at, host, index })
        })
    });
    let mut called: Vec<_> = called.collect();
    called.sort_by_key(|called| called.at);
    called
}

#[derive(Clone, PartialEq, Eq, salsa::SalsaValue)]
pub(super) struct CalledKernel<'db> {
    inlined_from: BlockKey,
    at: Origin,
    host: Unit<'db>,
    /// Among the kernels of its host.
    index: usize,
}

/// The kernels whose text a unit is, each as the unit that it is made for and its number there. The scopes of a function that is put in place of
/// its calls are kernels of its callers, once for each call.
#[salsa::tracked(returns(ref))]
pub(crate) fn source_kernel_ids<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<(Unit<'db>, usize)>> {
    if kind(db, unit) == lower::Kind::Inline {
        let called = kernels_of_calls(db, unit.file(db)).iter();
        let own = called.filter(|called| called.inlined_from == *unit.key(db));
        return Arc::new(own.map(|called| (called.host, called.index)).collect());
    }
    let own = kernel_sources(db, unit).iter().enumerate().filter(|(_, (inlined_from, _))| inlined_from.is_none());
    Arc::new(own.map(|(index, _)| (unit, index)).collect())
}

/// The kernels whose text a unit is, in the order of [`source_kernel_ids`].
pub(crate) fn source_kernels<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> impl Iterator<Item = &'db Kernel> {
    let kernel = move |&(host, index): &(Unit<'db>, usize)| Some(&**kernels(db, host).get(index)?.kernel(db));
    source_kernel_ids(db, unit).iter().filter_map(kernel)
}

#[salsa::tracked(returns(ref))]
pub(crate) fn plans<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Outcome>> {
    if may_hold_kernels(db, unit) && printed::is_printed(syntax(db, unit)) {
        return Arc::new(plans_under(db, unit, config(db)));
    }
    let each = source_kernel_ids(db, unit).iter().map(|&(host, index)| planned(db, host, index));
    Arc::new(each.flat_map(|outcomes| outcomes.iter().cloned()).collect())
}

/// The plan of one of the kernels of a unit: two where it works on both cores.
pub(crate) fn planned<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, index: usize) -> &'db [Outcome] {
    kernels(db, unit).get(index).map_or(&[], |kernel| &plan_of(db, *kernel).outcomes)
}

/// The plan of one of the kernels of a unit. A function for the host may have many; an edit in one leaves the others as they are.
#[salsa::tracked(returns(ref))]
pub(super) fn plan_of<'db>(db: &'db dyn salsa::Database, kernel: Lowered<'db>) -> Arc<KernelPlans> {
    let (kernel, config) = (kernel.kernel(db), config(db));
    let make = || {
        let is_open = Cell::new(false);
        let outcomes = outcomes(db, kernel, config, &is_open);
        KernelPlans { outcomes, newest_search: is_open.get().then(|| newest_search(db)) }
    };
    match Plans::try_get(db) {
        Some(plans) => plans.made(db).of(kernel, config, || newest_search(db), make),
        None => Arc::new(make()),
    }
}

pub(super) fn newest_search(db: &dyn salsa::Database) -> Option<Arc<Searched>> {
    Searches::try_get(db)?.done(db).last().cloned()
}

/// The unit that one of the [`plans`] of a unit is made for: that unit, or one that calls it.
pub(crate) fn host<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, of: &Outcome) -> Unit<'db> {
    let makes = |&&(host, index): &&(Unit<'db>, usize)| planned(db, host, index).contains(of);
    source_kernel_ids(db, unit).iter().find(makes).map_or(unit, |&(host, _)| host)
}

/// [`plans`] under another configuration than the one in force; computed anew each time.
pub(crate) fn plans_under<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, config: &Config) -> Vec<Outcome> {
    if may_hold_kernels(db, unit) && printed::is_printed(syntax(db, unit)) {
        let path = unit.file(db).path(db);
        let plan = |kernel: &PrintedKernel| printed::plan(kernel, Offsets::of(path, kernel), config.target);
        let plans = within(config.limits, || printed::kernels(syntax(db, unit)).iter().map(plan).collect::<Vec<_>>());
        return plans.into_iter().flatten().map(|plan| Outcome::Printed(Box::new(plan))).collect();
    }
    source_kernels(db, unit).flat_map(|kernel| outcomes(db, kernel, config, &Cell::new(false))).collect()
}

/// The plans of one kernel, and whether they leave something open.
pub(super) fn outcomes(
    db: &dyn salsa::Database,
    kernel: &Kernel,
    config: &Config,
    is_open: &Cell<bool>,
) -> Vec<Outcome> {
    // Asked only for a problem that the plan leaves open: the answer to one question plans no other kernel anew.
    let known = |problem: &Problem| {
        is_open.set(true);
        Searches::try_get(db)?.done(db).iter().find(|searched| searched.answers(problem)).cloned()
    };
    let effort = Effort { known: &known, ..Effort::INTERACTIVE };
    let planned = within(config.limits, || {
        let machine = Machine { target: config.target, replaced: &config.capacity };
        let prepared = passes::prepare_watched(kernel.clone(), machine, config.planner);
        let plan = |(prepared, fired): (Kernel, Vec<Pass>)| {
            let marks = coverage::of(kernel, &fired);
            let kernel = prepared;
            let mut plan = memory::plan_within(&kernel, machine, config.planner, effort);
            plan.compare(&marks);
            memory::downgrade_unproved(&mut plan);
            plan.findings.extend(isa_rules::findings(&kernel, config.target));
            let is_synchronised = codegen::sync::is_written(&kernel);
            Planned { kernel, plan, marks, is_synchronised }
        };
        let mut planned: Vec<Planned> = prepared.into_iter().map(plan).collect();
        let mut plans: Vec<&mut Plan> = planned.iter_mut().map(|planned| &mut planned.plan).collect();
        specialisations::name_assumptions(kernel, &mut plans, |variant| {
            let prepared = passes::prepare(variant, machine, config.planner);
            let plan = |kernel: &Kernel| memory::plan_within(kernel, machine, config.planner, effort);
            prepared.iter().map(plan).collect()
        });
        planned.into_iter().map(|planned| Outcome::Planned(Arc::new(planned))).collect::<Vec<_>>()
    });
    planned.unwrap_or_else(|failure| vec![Outcome::Failed(Box::new(kernel.clone()), failure)])
}

/// The instructions of each kernel of a unit, in the order of [`plans`]; empty where there is no kernel to generate.
#[salsa::tracked(returns(ref))]
pub(crate) fn sequences<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Sequenced>> {
    let config = config(db);
    let insertion = config.codegen.insertion;
    let sequence = |outcome: &Outcome| match outcome {
        Outcome::Planned(planned) => {
            let sequenced = within(config.limits, || codegen::sequence(&planned.kernel, &planned.plan, insertion));
            sequenced.unwrap_or_else(|failure| Sequenced::failed(&planned.kernel, failure))
        }
        Outcome::Printed(_) | Outcome::Failed(..) => Sequenced::default(),
    };
    Arc::new(plans(db, unit).iter().map(sequence).collect())
}

/// The C++ of each kernel of a unit, in the order of [`plans`].
#[salsa::tracked(returns(ref))]
pub(crate) fn generated<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Generated>> {
    let config = config(db);
    let options = config.codegen;
    let both = plans(db, unit).iter().zip(sequences(db, unit).iter());
    let generate = |(outcome, sequenced): (&Outcome, &Sequenced)| match outcome {
        Outcome::Planned(planned) => {
            let print = || codegen::print(sequenced, options, planned.kernel.origin);
            let printed = within(config.limits, print);
            printed.unwrap_or_else(Generated::failed)
        }
        Outcome::Printed(_) | Outcome::Failed(..) => Generated::default(),
    };
    Arc::new(both.map(generate).collect())
}

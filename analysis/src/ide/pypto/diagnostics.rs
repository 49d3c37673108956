//! What is said of the kernels of PyPTO: what the front end refuses, what a plan finds, and what is not modelled.

use tilefit_pypto::codegen::Insertion;
use tilefit_pypto::ir::Rejection;
use tilefit_pypto::memory::Plan;
use tilefit_pypto::printed::Match;
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Finding, Note};

use crate::db::{Dumped, Outcome, Unit};
use crate::ide::diagnostic::{Diagnostic, RelatedRange, elsewhere, found, not_modelled, plain};
use crate::ide::{Context, PlacedUnit};

/// The diagnostics of one kernel.
pub(in crate::ide) fn of_kernel(context: &Context<'_>, placed: &PlacedUnit<'_>, outcome: &Outcome) -> Vec<Diagnostic> {
    let (plan, rejections) = match outcome {
        Outcome::Planned(planned) => (&planned.plan, planned.kernel.rejections.as_slice()),
        Outcome::Printed(plan) => (&**plan, [].as_slice()),
        Outcome::Failed(kernel, failure) => {
            return vec![found(placed, &failure.finding(&kernel.name, kernel.name_origin))];
        }
    };
    let calls = elsewhere::Calls { context, placed, kernel: outcome.kernel() };
    let rejections = rejections.iter().map(|rejection| {
        calls.written(rejected(placed, rejection), rejection.at, rejection.related.iter().map(|(at, _)| *at))
    });
    let notes = unmodelled(plan).map(|note| calls.written(not_modelled(placed, note), note.at, std::iter::empty()));
    let findings = plan.findings.iter().map(|finding| of_finding(context, placed, outcome, finding));
    rejections.chain(findings).chain(notes).collect()
}

/// What is said of a finding of a plan.
pub(in crate::ide) fn of_finding(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    outcome: &Outcome,
    finding: &Finding,
) -> Diagnostic {
    let calls = elsewhere::Calls { context, placed, kernel: outcome.kernel() };
    calls.written(found(placed, finding), finding.at, finding.related.iter().map(|related| related.at))
}

/// Whether there is something to say of the instructions of a unit: the author wrote synchronisation, which is checked, or has
/// to write it; or the configuration asks for what is only of interest in generated C++. Other kernels are not generated for
/// their diagnostics.
pub(in crate::ide) fn asks_for_sequences(context: &Context<'_>, unit: Unit<'_>) -> bool {
    let config = context.config();
    let is_on = |code: Code| config.severity_of(code, code.severity()).is_some();
    let is_synchronised = |outcome: &Outcome| matches!(outcome, Outcome::Planned(planned) if planned.is_synchronised);
    is_on(Code::NoInstruction)
        || is_on(Code::NoAddress)
        || config.codegen.insertion == Insertion::InStatements
        || context.plans(unit).iter().any(is_synchronised)
}

/// Each reason once.
pub(in crate::ide) fn unmodelled(plan: &Plan) -> impl Iterator<Item = &Note> {
    let is_first = |(i, note): &(usize, &Note)| !plan.notes[..*i].iter().any(|earlier| earlier.reason == note.reason);
    plan.notes.iter().enumerate().filter(is_first).map(|(_, note)| note)
}

pub(in crate::ide) fn rejected(placed: &PlacedUnit<'_>, rejection: &Rejection) -> Diagnostic {
    let related = rejection.related.iter();
    Diagnostic {
        related: related.map(|(at, message)| RelatedRange::here(placed.range(*at), message)).collect(),
        ..plain(placed.range(rejection.at), rejection.code, rejection.message.clone())
    }
}

pub(in crate::ide) fn differing(placed: &PlacedUnit<'_>, dumped: &Dumped<'_>) -> Option<Diagnostic> {
    match &dumped.matches {
        Match::Differs(finding) => Some(found(placed, finding)),
        Match::Same | Match::Older => None,
    }
}

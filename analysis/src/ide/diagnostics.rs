//! Everything that tilefit has to say about a file.

mod echoes;

use tilefit_pypto::codegen::Sequenced;
use tilefit_pypto::memory::OpenSearch;
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::finding::Finding;
use tilefit_python::finding::Origin;
use tilefit_syntax::TextRange;
use tilefit_syntax::unparsed::{self, Problem, Unparsed};

use crate::db::{self, Outcome, Planned};
use crate::names::Usage;

use super::diagnostic::{Diagnostic, RelatedRange, configured, elsewhere, found, plain};
use super::pypto::diagnostics::asks_for_sequences;
use super::unknown_names::unknown_names;
use super::{Context, PlacedUnit, confirmations, languages};

/// Everything that is said of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diagnosis {
    /// In text order.
    pub diagnostics: Vec<Diagnostic>,
    /// What the plans leave open.
    pub open: Vec<OpenSearch>,
    /// Functions whose kernels stand in others that they call, so that one edit may concern them all.
    pub callers: usize,
}

/// The diagnostics of a file, in text order.
pub(crate) fn diagnostics(context: &Context<'_>) -> Vec<Diagnostic> {
    diagnosis(context).diagnostics
}

pub(crate) fn diagnosis(context: &Context<'_>) -> Diagnosis {
    let mut all = Vec::new();
    let mut open = Vec::new();
    if context.document().is_oversized() && !context.file.excluded(context.db) {
        all.push(oversized(context.document().len()));
    }
    for placed in context.units() {
        let mut here = of_kernels(context, &placed);
        for kernel in languages::all_kernels(context, placed.unit) {
            here.extend(confirmations::diagnostics(context, &placed, &*kernel));
            open.extend_from_slice(kernel.open());
        }
        if asks_for_sequences(context, placed.unit) {
            here.extend(context.sequences(placed.unit).flat_map(|both| of_generated(&placed, both)));
        }
        here.extend(unpaired(context, &placed));
        add_slips(&mut here, context, &placed);
        here.extend(context.plans(placed.unit).first().and_then(|outcome| duplicate(context, &placed, outcome)));
        all.append(&mut here);
    }
    for placed in context.programs_in(TextRange::new(0, usize::MAX)) {
        add_unknown_names(&mut all, context, &placed);
    }
    all.retain_mut(|diagnostic| configured(context, diagnostic));
    all.sort_by_key(|diagnostic| (diagnostic.range, diagnostic.code));
    let diagnostics = elsewhere::said_once(said_once(all));
    Diagnosis { diagnostics, open, callers: db::callers(context.db, context.file) }
}

fn of_kernels(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Diagnostic> {
    languages::all_kernels(context, placed.unit).iter().flat_map(|kernel| kernel.diagnostics(context, placed)).collect()
}

/// Where it is not known what a unit says, or the compiler refuses it for what it says.
pub(super) fn not_understood(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<TextRange> {
    let mut here = of_kernels(context, placed);
    add_unknown_names(&mut here, context, placed);
    let is_it = |said: &Diagnostic| match said.code {
        Code::UnknownName | Code::NotModelled => true,
        Code::CapacityExceeded | Code::IndexOutOfRange => false,
        code => code.severity() == Severity::Error,
    };
    here.iter().filter(|said| is_it(said)).map(|said| said.range).collect()
}

/// Kernels that are made of one scope, or at one call, say the same at the same place.
fn said_once(sorted: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut said: Vec<Diagnostic> = Vec::with_capacity(sorted.len());
    for diagnostic in sorted {
        let here = |other: &&Diagnostic| (other.range, other.code) == (diagnostic.range, diagnostic.code);
        if !said.iter().rev().take_while(here).any(|other| *other == diagnostic) {
            said.push(diagnostic);
        }
    }
    said
}

/// What the generated C++ of a kernel lacks, but for what the plan says already.
fn of_generated(placed: &PlacedUnit<'_>, (planned, sequenced): (&Planned, &Sequenced)) -> Vec<Diagnostic> {
    let refused = planned.plan.findings.iter().filter(|finding| finding.code == Code::TileLayout);
    let refused: Vec<TextRange> = refused.map(|finding| placed.range(finding.at)).collect();
    let is_said = |finding: &Finding| {
        finding.code == Code::NoInstruction && refused.iter().any(|range| range.intersects(placed.range(finding.at)))
    };
    sequenced.findings.iter().filter(|finding| !is_said(finding)).map(|finding| found(placed, finding)).collect()
}

fn oversized(bytes: usize) -> Diagnostic {
    let message = format!("this file has {} MiB; tilefit analyses files of up to 16 MiB", bytes >> 20);
    plain(TextRange::empty(0), Code::FileTooLarge, message)
}

/// What does not fit to the kernel that this one is launched with on the other core.
fn unpaired(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Diagnostic> {
    let found = db::unpaired_in(context.db, placed.unit).into_iter().map(|(pair, found)| {
        let related = found.related.iter().filter_map(|(core, at, message)| {
            let other = context.units().find(|other| other.unit == pair.on(context.db, *core))?;
            Some(RelatedRange::here(other.range(*at), message))
        });
        Diagnostic {
            related: related.collect(),
            ..plain(placed.range(found.at), Code::UnpairedTransfer, found.message.clone())
        }
    });
    found.collect()
}

/// Kernels of one program share a namespace; the second of a name replaces the first.
fn duplicate(context: &Context<'_>, placed: &PlacedUnit<'_>, outcome: &Outcome) -> Option<Diagnostic> {
    let plan = outcome.plan()?;
    let key = placed.unit.key(context.db);
    if key.ordinal == 0 {
        return None;
    }
    let first = context.units().find(|earlier| earlier.unit.key(context.db).path == key.path)?;
    let message =
        format!("kernel `{}` is defined twice, and this definition replaces the first; rename one of them", key.path);
    let range = TextRange::new(first.start, first.start + first.len);
    let related = vec![RelatedRange::here(range, "first defined here")];
    Some(Diagnostic { related, ..plain(placed.range(plan.name_origin), Code::DuplicateKernel, message) })
}

/// Adds what does not parse and what nothing defines, and drops what follows from that. Also in the host code of a program, of which no kernel
/// says so.
fn add_slips(here: &mut Vec<Diagnostic>, context: &Context<'_>, placed: &PlacedUnit<'_>) {
    let is_on = |code: Code| context.config().severity_of(code, code.severity()).is_some();
    let text = context.text_of(placed);
    let unparsed = if is_on(Code::SyntaxError) { unparsed_lines(context, placed, text) } else { Vec::new() };
    here.extend(unparsed.iter().map(|line| syntax_error(placed, line)));
    add_unknown_names(here, context, placed);

    let is_slip = |said: &&Diagnostic| matches!(said.code, Code::UnknownName | Code::UnknownDtype) && is_on(said.code);
    let within = |range: TextRange| {
        TextRange::new(range.start.saturating_sub(placed.start), range.end.saturating_sub(placed.start))
    };
    let unknown: Vec<TextRange> = here.iter().filter(is_slip).map(|said| within(said.range)).collect();
    if unparsed.is_empty() && unknown.is_empty() {
        return;
    }
    let slips = echoes::Slips { unparsed: &unparsed, unknown };
    let echoes = echoes::Echoes::of(db::syntax(context.db, placed.unit), &placed.spans, text, slips);
    // What is said at the name of a kernel is said of all of it.
    let names: Vec<TextRange> =
        languages::declared(context, placed.unit).iter().map(|kernel| placed.range(kernel.at)).collect();
    let follows = |said: &Diagnostic| match said.code {
        Code::SyntaxError => false,
        Code::NotModelled => names.contains(&said.range) || echoes.has(within(said.range)),
        // What a line is taken for that does not parse is not what it says.
        _ => echoes.is_unparsed(within(said.range)),
    };
    here.retain(|said| !follows(said));
}

/// The lines of a unit that do not parse, each once.
fn unparsed_lines(context: &Context<'_>, placed: &PlacedUnit<'_>, text: &str) -> Vec<Unparsed> {
    let mut lines: Vec<Unparsed> = Vec::new();
    for note in db::unparsed(context.db, placed.unit) {
        let found = unparsed::at(text, placed.range(note.at).start - placed.start);
        if !lines.iter().any(|line| line.line == found.line) {
            lines.push(found);
        }
    }
    lines
}

fn syntax_error(placed: &PlacedUnit<'_>, unparsed: &Unparsed) -> Diagnostic {
    let what = match unparsed.problem {
        Problem::NeverClosed(bracket) => format!("`{bracket}` is never closed"),
        Problem::ClosesNothing(bracket) => format!("`{bracket}` does not close anything"),
        Problem::NoColon => "`:` is missing at the end of this line".to_owned(),
        Problem::Other => "this is not valid Python".to_owned(),
    };
    let message = format!("{what}; the kernel is analysed without this statement");
    plain(unparsed.at.shifted(placed.start), Code::SyntaxError, message)
}

/// Adds what is said of names. An element type has a code of its own, and what is not modelled at such a place follows from the name.
fn add_unknown_names(all: &mut Vec<Diagnostic>, context: &Context<'_>, placed: &PlacedUnit<'_>) {
    for (unknown, mut diagnostic) in unknown_names(context, placed) {
        if let Usage::Keyword(callee) = &unknown.usage
            && diagnostic.severity >= Code::UnknownName.severity()
        {
            take_refusals(all, &mut diagnostic, &[callee.call, unknown.at].map(|at| placed.range(Origin::Expr(at))));
        }
        let at = placed.range(Origin::Expr(unknown.at));
        let covers = |said: &Diagnostic| said.range.start <= at.start && at.end <= said.range.end;
        let is_dtype = all.iter().any(|said| said.code == Code::UnknownDtype && covers(said));
        all.retain(|said| !(said.code == Code::NotModelled && said.range.start == at.start && covers(said)));
        if !is_dtype {
            all.push(diagnostic);
        }
    }
}

/// What the compiler refuses of a call with a misspelt keyword, and of that keyword's value, follows from it: it is said once, where the
/// fix is known, and weighs what it weighs for the compiler.
fn take_refusals(all: &mut Vec<Diagnostic>, of_name: &mut Diagnostic, places: &[TextRange]) {
    let follows =
        |said: &Diagnostic| matches!(said.code, Code::InvalidOperand | Code::Rejected) && places.contains(&said.range);
    if all.iter().any(follows) {
        of_name.severity = Code::Rejected.severity();
        all.retain(|said| !follows(said));
    }
}

#[cfg(test)]
mod tests;

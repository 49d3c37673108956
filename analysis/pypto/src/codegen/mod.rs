//! The C++ of a kernel, in the form of PyPTO's design as `docs/reference/codegen.md` completes it.
//!
//! Stages: instruction selection ([`selection`]) turns the IR into a sequence of instructions on tiles at addresses
//! ([`sequence`]); [`sync`] orders the instructions of different pipes; [`kernel`] prints. Nothing is guessed: what has no
//! instruction or no address is a finding, and a comment in the text.

mod context;
mod emitter;
mod expr;
mod kernel;
pub mod model;
mod modes;
mod selection;
pub mod sequence;
pub mod sync;
#[cfg(test)]
mod tests;
mod types;
mod windows;

use crate::ir::Kernel;
use crate::memory::Plan;
use crate::passes::strays;

use sequence::Program;
pub use sync::{Change, Insertion};
use tilefit_python::finding::Finding;
use tilefit_python::finding::Origin;
use tilefit_python::work::Failure;
pub use types::TileForm;

/// Generated text, and which source node each of its lines stems from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Generated {
    pub text: String,
    /// For generated lines that stem from a node: line (0-based) and node, in line order.
    pub lines: Vec<(u32, Origin)>,
    /// What could not be generated.
    pub findings: Vec<Finding>,
}

impl Generated {
    /// Of a kernel for which there is no text.
    pub fn failed(failure: Failure) -> Generated {
        Generated { text: format!("// no C++: {failure}\n"), ..Generated::default() }
    }
}

/// The form of the text. The default is that of PyPTO's design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Includes and definitions at the start, so that the text is a file of its own.
    pub prelude: bool,
    pub extern_c: bool,
    /// Wait for the last store before the kernel ends.
    pub drain: bool,
    /// Move the wrapper before every load and store, also where it is in place.
    pub always_assign: bool,
    pub insertion: Insertion,
}

/// What stands before kernels in a file of their own.
pub fn prelude() -> &'static str {
    kernel::PRELUDE
}

/// The C++ of a prepared kernel at the addresses of its plan.
pub fn generate(kernel: &Kernel, plan: &Plan) -> Generated {
    generate_as(kernel, plan, Options::default())
}

/// [`generate`] in another form.
pub fn generate_as(kernel: &Kernel, plan: &Plan, options: Options) -> Generated {
    print(&sequence(kernel, plan, options.insertion), options, kernel.origin)
}

/// The text of a sequence. `origin` is that of its kernel.
pub fn print(sequenced: &Sequenced, options: Options, origin: Origin) -> Generated {
    if let Some(failure) = sequenced.failure {
        return Generated { findings: sequenced.findings.clone(), ..Generated::failed(failure) };
    }
    let (text, lines) = kernel::print(&sequenced.program, options, origin);
    Generated { text, lines, findings: sequenced.findings.clone() }
}

/// The instructions of a kernel with their synchronisation, and what there is to say of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sequenced {
    pub program: Program,
    pub findings: Vec<Finding>,
    /// How to fix the finding with this index.
    pub repairs: Vec<(usize, Change)>,
    /// What may fix the finding with this index, or make it worse.
    pub candidates: Vec<(usize, Change)>,
    /// Why there is none.
    pub(crate) failure: Option<Failure>,
}

impl Sequenced {
    /// Of a kernel for which there is no sequence.
    pub fn failed(kernel: &Kernel, failure: Failure) -> Sequenced {
        let finding = failure.finding(&kernel.name, kernel.name_origin);
        Sequenced { failure: Some(failure), findings: vec![finding], ..Sequenced::default() }
    }
}

pub fn sequence(kernel: &Kernel, plan: &Plan, insertion: Insertion) -> Sequenced {
    let bound = (!kernel.strays.is_empty()).then(|| strays::bound(kernel));
    let (mut program, mut findings) = selection::select(bound.as_ref().unwrap_or(kernel), plan);
    let (mut repairs, mut candidates) = (Vec::new(), Vec::new());
    // An author cannot write flags between what the compiler makes of a statement on tensors.
    let insertion = if kernel.on_tensors { Insertion::Unasked } else { insertion };
    let (synchronised, failure) = sync::synchronise(&mut program, insertion);
    for (finding, repair) in synchronised {
        match repair {
            sync::Repair::Nothing => {}
            sync::Repair::Certain(change) => repairs.push((findings.len(), change)),
            sync::Repair::Perhaps(changes) => candidates.extend(changes.into_iter().map(|it| (findings.len(), it))),
        }
        findings.push(finding);
    }
    if let Some(failure) = failure {
        let failed = Sequenced::failed(kernel, failure);
        return Sequenced { findings: [failed.findings, findings].concat(), ..failed };
    }
    Sequenced { program, findings, repairs, candidates, failure: None }
}

/// [`sequence`] with everything that is missing inserted.
pub fn program(kernel: &Kernel, plan: &Plan) -> (Program, Vec<Finding>) {
    let Sequenced { program, findings, .. } = sequence(kernel, plan, Insertion::Complete);
    (program, findings)
}

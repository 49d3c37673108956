//! A kernel from its tree to its memory: the tracer, then the compiler's passes in the compiler's order, then the plan.
//!
//! Where the compiler may do one of two things and what decides is not modelled, both are planned, and the result holds for either.

use std::cell::Cell;
use std::sync::Arc;

use tilefit_python::finding::{Note, Origin, Reason};
use tilefit_syntax::ast::Ast;

use super::device::{Arch, Compiler};
use super::interleave;
use super::layouts::Vendor;
use super::overlap;
use super::plan::{Planned, plan};
use super::products::{self, Machine};
use super::program::{Product, Program};
use super::reorder::{self, LoopFacts};
use super::simplify::simplify;
use super::tlx::{self, storage_alias};
use super::trace::{Dialect, Environment, Launch, OpenRounds, Trace, trace};

/// Loops that are followed in each way that they may go round.
const MOST_OPEN_LOOPS: usize = 3;

const OPEN_LOOPS: &str = "the number of iterations of a loop depends on a value that is unknown";
const LOADED_AGAIN: &str = "the compiler chooses the layouts of registers, and may load a buffer again in a loop that uses what was loaded before";
const FLATTENED: &str = "whether the compiler makes one loop of those with `flatten` is not modelled";
const IN_FRONT: &str =
    "whether what is the same in each round is brought to shared memory before a loop follows from the loads in it";
const READ_LATE: &str = "whether what `tl.dot` leaves in tensor memory is read before the copies of the next loop are there is not modelled";
const RESULTS: &str = "how many results of `tl.dot` are in tensor memory at once is not modelled";

/// How a kernel is compiled.
pub struct Compilation<'a> {
    pub launch: Launch,
    /// `num_stages`
    pub stages: i64,
    /// `None`: it may be any.
    pub compiler: Option<Compiler>,
    pub arch: Arch,
    /// By which the specs of TLX get their sizes.
    pub rules: tlx::Rules,
    /// What is wrong with the launch itself, and where that is said.
    pub doubts: &'a [Reason],
    pub name_origin: Origin,
}

/// Follows the kernel that a block is, and plans its memory. Loops whose bounds nothing gives go round in each way that makes a difference.
///
/// `said`: what a kernel of TLX says of its memory, and the plan of its specs, as soon as they are known: also where the rest takes too long.
pub fn compile(
    ast: &Arc<Ast>,
    environment: &dyn Environment,
    compilation: &Compilation,
    said: &mut Option<(tlx::Kernel, tlx::Plan)>,
) -> (Trace, Planned) {
    let launch = &compilation.launch;
    let (mut trace, mut planned) = once(ast, environment, compilation, launch, said);
    if trace.open_loops > MOST_OPEN_LOOPS {
        trace.notes.push(Note { at: compilation.name_origin, reason: Reason::new(OPEN_LOOPS) });
        planned = plan(&trace.program, &[Reason::new(OPEN_LOOPS)], compilation.compiler.unwrap_or(Compiler::V3_9));
        return (trace, planned);
    }
    for open_loops in ways_to_go_round(trace.open_loops) {
        let (other, theirs) = once(ast, environment, compilation, &Launch { open_loops, ..launch.clone() }, said);
        planned = planned.or(&theirs, OPEN_LOOPS);
        trace.untyped.extend(other.untyped);
        trace.usual.extend(other.usual);
        trace.undecided.extend(other.undecided);
        trace.numbers.extend(other.numbers);
        let is_new = |note: &Note| !trace.notes.iter().any(|known| known.reason == note.reason);
        let new: Vec<Note> = other.notes.into_iter().filter(is_new).collect();
        trace.notes.extend(new);
    }
    (trace, planned)
}

/// All ways for so many loops to go round, other than several times each.
fn ways_to_go_round(loops: usize) -> Vec<Vec<OpenRounds>> {
    let mut ways: Vec<Vec<OpenRounds>> = vec![Vec::new()];
    for _ in 0..loops {
        let each = [OpenRounds::Several, OpenRounds::Once, OpenRounds::Never];
        ways = ways.iter().flat_map(|way| each.map(|rounds| [way.as_slice(), &[rounds]].concat())).collect();
    }
    ways.split_off(1)
}

/// A program that the compiler may make of a kernel instead, and why that is not known.
type Alternative = (Program, &'static str);

fn once(
    ast: &Arc<Ast>,
    environment: &dyn Environment,
    compilation: &Compilation,
    launch: &Launch,
    said: &mut Option<(tlx::Kernel, tlx::Plan)>,
) -> (Trace, Planned) {
    let Compilation { stages, compiler, arch, rules, doubts, name_origin, .. } = *compilation;
    let machine = Machine { hardware: launch.hardware, warps: launch.warps, stages, flattens: false };
    let mut trace = trace(ast, environment, launch);
    if launch.dialect == Dialect::Tlx {
        let specs = tlx::plan(&trace.kernel, arch, rules);
        let unknown = storage_alias::lower(&mut trace.program, &trace.kernel, &trace.specs, &specs);
        trace.notes.extend(unknown);
        said.get_or_insert_with(|| (trace.kernel.clone(), specs));
    }
    trace.notes.extend(doubts.iter().map(|reason| Note { at: name_origin, reason: reason.clone() }));
    simplify(&mut trace.program);
    // In TLX an operand may be a buffer of the author's.
    let are_sure = launch.dialect == Dialect::Triton && launch.ctas == 1;
    let are_sure = are_sure && trace.notes.is_empty() && !trace.program.is_guessed;
    let mut alternatives = Vec::new();
    if launch.dialect.leaves_layouts() {
        alternatives = lower(&mut trace.program, launch, &machine, are_sure);
        alternatives.extend(reorder::loaded_again(&trace.program).map(|again| (again, LOADED_AGAIN)));
    }
    let unknown: Vec<Reason> = trace.notes.iter().map(|note| note.reason.clone()).collect();
    let by = |compiler| {
        let planned = plan(&trace.program, &unknown, compiler);
        let either = |planned: Planned, (other, why): &Alternative| planned.or(&plan(other, &unknown, compiler), why);
        alternatives.iter().fold(planned, either)
    };
    let planned = match compiler {
        Some(compiler) => by(compiler),
        None => by(Compiler::V3_8).either(&by(Compiler::Fork)),
    };
    let are_sure = are_sure && compiler != Some(Compiler::Earlier);
    let planned = match products::columns_of_results(&trace.program, &machine) {
        Some(columns) => planned.with_tensor_memory(columns, RESULTS, are_sure),
        None => planned,
    };
    (trace, planned)
}

/// What the compiler does to a program where it chooses layouts, and what it may do instead.
fn lower(program: &mut Program, launch: &Launch, machine: &Machine, are_sure: bool) -> Vec<Alternative> {
    let mut alternatives = Vec::new();
    reorder::add_to(program, &|product| machine.adds(product));
    let is_kept = Cell::new(false);
    let keeps = |product: &Product, nth, looped| {
        let keeps = machine.keeps(product, nth, looped);
        is_kept.set(is_kept.get() || keeps);
        keeps
    };
    let is_in_tensor_memory = |product: &Product| machine.is_in_tensor_memory(product);
    let moves = |product: &Product| machine.moves(product);
    // Of `wgmma` it matters whether rounds overlap, which follows from loads that are looked at later.
    let is_open = |product: &Product| machine.keeps(product, 1, LoopFacts { writes: true, stages: None });
    let may_be_in_front = launch.hardware.capability == 90 && program.products.values().any(is_open);
    let before = may_be_in_front.then(|| program.clone());
    let is_open = reorder::hoist(program, &moves, &keeps, &is_in_tensor_memory);
    let are_sure = are_sure && !is_open;
    simplify(program);
    if !program.flattened.is_empty() {
        let flat = staged(program.clone(), launch, &Machine { flattens: true, ..*machine }, are_sure);
        alternatives.push((flat, FLATTENED));
    }
    if let Some(mut before) = before.filter(|_| is_kept.get()) {
        reorder::hoist(&mut before, &moves, &|_, _, _| false, &is_in_tensor_memory);
        simplify(&mut before);
        alternatives.push((staged(before, launch, machine, are_sure), IN_FRONT));
    }
    *program = staged(std::mem::take(program), launch, machine, are_sure);
    alternatives.extend(interleave::copies_before_reads(program, &is_in_tensor_memory).map(|early| (early, READ_LATE)));
    alternatives
}

/// Gives products and loops their buffers, and puts everything in the order in which it is done.
fn staged(mut program: Program, launch: &Launch, machine: &Machine, are_sure: bool) -> Program {
    let is_amd = machine.hardware.vendor == Vendor::Amd;
    let is_tlx = launch.dialect == Dialect::Tlx && !is_amd;
    if !(is_tlx && program.products.is_empty()) {
        products::stage(&mut program, machine, are_sure);
    }
    if is_tlx {
        overlap::overlap(&mut program, machine.stages, machine.flattens);
    }
    reorder::lower(&mut program);
    if !is_amd && machine.hardware.capability >= 100 {
        reorder::take_warps(&mut program, launch.warps);
    }
    if !is_amd {
        reorder::reorder(&mut program, machine.stages);
        overlap::wait_for_products(&mut program);
    }
    program
}

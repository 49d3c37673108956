//! Synchronisation: flags between pipes and barriers within one, so that no instruction overtakes another one whose
//! bytes it touches (`docs/reference/codegen.md`, "Synchronisation").
//!
//! Steps: [`ordering`] finds the pairs and barriers that are missing, [`events`] numbers the pairs, [`insertion`] puts them into the
//! program. [`written`] checks what the author wrote, which stays where it is and counts: insertion goes on around it.
//!
//! Pairs never cross the border of a loop or branch:
//!
//! * between statements of one list: the flag is set after the statement that contains the first instruction, and waited
//!   for before the one that contains the second;
//! * from one iteration to the next: set as before, waited for at the end of the body.

mod blocks;
mod conflicts;
mod events;
mod insertion;
mod ordering;
mod state;
mod written;

use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::finding::Origin;
use tilefit_python::finding::{Finding, Related};
use tilefit_python::work::{self, Failure, Limits};

use self::blocks::{Block, BlockId, Item};
use self::insertion::Placed;
use self::ordering::{Barrier, Ordering, Pair};
use self::written::Written;
use super::model;
use super::sequence::{EVENTS, Instr, Order, OrderedBy, Pipe, Program, Sync};
use crate::ir::{Kernel, visit};
use crate::ops::Category;

/// What the model of the pipes may cost.
const MODEL: Limits = Limits { steps: 200_000, ..Limits::DEFAULT };

/// Whether a program gets the flags and barriers that it lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Insertion {
    #[default]
    Complete,
    /// The same, and nothing is said of it.
    Unasked,
    /// What the author wrote is all there is, but inside of one statement, where an author can write none.
    InStatements,
}

/// Whether the author wrote flags or barriers.
pub fn is_written(kernel: &Kernel) -> bool {
    let mut found = false;
    visit::statements(&kernel.body, &mut |stmt| {
        found |= visit::call_of(stmt).is_some_and(|call| call.op.op().category == Category::Sync);
    });
    found
}

/// A change of the source after which a finding is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// One more flag or barrier, before the finding's statement or after it.
    Before(Sync),
    Behind(Sync),
    /// Other pipes and another event for the flag.
    Become((Pipe, Pipe, u8)),
    /// Both halves of what an order lacks.
    Order(Order),
    /// The other half of a flag beside this one, before it or after, instead of wherever else that half is.
    Beside {
        half: Sync,
        before: bool,
        away: Vec<Origin>,
    },
    /// One more set before a loop, whose iterations wait before they set, and one more wait after it.
    Around {
        node: Origin,
        flag: (Pipe, Pipe, u8),
    },
    /// Without these flags; the barrier takes the place of those waits.
    Without {
        flags: Vec<Origin>,
        barrier: Option<(Pipe, Vec<Origin>)>,
    },
}

/// What may fix a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repair {
    Nothing,
    /// With which it is gone.
    Certain(Change),
    /// Of which some may help and others do harm, the nearest first: what offers one tries it.
    Perhaps(Vec<Change>),
}

/// Checks what the author wrote, finds what is missing and, if it is to, inserts it. Without an order of the instructions there is a reason, and
/// the program is not complete.
pub(super) fn synchronise(program: &mut Program, insertion: Insertion) -> (Vec<(Finding, Repair)>, Option<Failure>) {
    let written = Written::of(program);
    let mut findings = written.findings(program);

    let ordered = work::attempt(|| {
        let mut ordering = Ordering::new(program);
        ordering.run();
        let Ordering { pairs, barriers, blocks, .. } = ordering;
        (pairs, barriers, blocks)
    });
    let (mut pairs, mut barriers, blocks) = match ordered {
        Ok(ordered) => ordered,
        Err(failure) => return (findings, Some(failure)),
    };
    let without_event = events::assign(&mut pairs, &blocks, &written.flags());
    let orders = {
        let source = Source { instructions: &program.instructions(), blocks: &blocks };
        let all = pairs.iter().map(|pair| source.of_pair(pair)).chain(barriers.iter().map(|it| source.of_barrier(it)));
        let mut orders: Vec<Order> = all.collect();
        orders.sort_by_key(|order| (order.later, order.earlier));
        let asked = |order: &Order| match insertion {
            Insertion::Complete => written.orders(order),
            Insertion::Unasked => false,
            Insertion::InStatements => true,
        };
        let asked = orders.iter().filter(|order| order.by_hand && asked(order));
        findings.extend(missing(program, asked, insertion));
        match insertion {
            Insertion::Complete | Insertion::Unasked => {
                // A barrier needs no event.
                let by_hand = |order: &Order| match order.by_hand {
                    true => Repair::Certain(Change::Before(Sync::Barrier(None))),
                    false => Repair::Nothing,
                };
                let orders = without_event.iter().map(|pair| source.of_pair(pair));
                findings.extend(orders.map(|order| (exhausted(&order, source.instructions), by_hand(&order))));
            }
            Insertion::InStatements => {
                pairs.retain(|pair| !source.of_pair(pair).by_hand);
                barriers.retain(|barrier| !source.of_barrier(barrier).by_hand);
            }
        }
        orders
    };
    let origins: Vec<Origin> = program.instructions().iter().map(|instr| instr.origin).collect();
    insertion::insert(&mut program.body, &mut Placed::new(&pairs, &barriers, &origins));
    program.orders = orders;
    (findings, None)
}

#[cfg(test)]
pub(super) fn written_flags(program: &Program) -> rustc_hash::FxHashSet<state::Flag> {
    Written::of(program).flags()
}

/// What orders come from in the source.
struct Source<'a> {
    instructions: &'a [&'a Instr],
    blocks: &'a [Block],
}

impl Source<'_> {
    fn of_pair(&self, pair: &Pair) -> Order {
        let Pair { src, dst, event, block, item, gap, earlier, later } = *pair;
        let order = self.order(OrderedBy::Flag { src, dst, event }, block, gap, earlier, later);
        // Moves that a statement needs for its operands are made before its own instruction.
        let is_inside = !order.carried && (item..gap).all(|item| self.inserted(block, item).is_some());
        let by_hand = order.by_hand && !is_inside && !self.is_copy(block, item);
        Order { after: self.blocks[block].origins[item], by_hand, ..order }
    }

    fn of_barrier(&self, barrier: &Barrier) -> Order {
        let Barrier { pipe, block, gap, earlier, later } = *barrier;
        self.order(OrderedBy::Barrier(pipe), block, gap, earlier, later)
    }

    fn order(&self, by: OrderedBy, block: BlockId, gap: usize, earlier: u32, later: u32) -> Order {
        let origins = &self.blocks[block].origins;
        let (carried, item) = (gap == origins.len(), gap.min(origins.len() - 1));
        let origin = |id: u32| self.instructions[id as usize].origin;
        let by_hand = (carried || origin(earlier) != origin(later)) && !self.is_copy(block, item);
        Order { by, earlier, later, after: origins[item], before: origins[item], carried, by_hand }
    }

    /// An instruction that the author did not write.
    fn inserted(&self, block: BlockId, item: usize) -> Option<&Instr> {
        let Item::Instr(id) = self.blocks[block].items[item] else { return None };
        Some(self.instructions[id as usize]).filter(|instr| instr.inserted)
    }

    /// A copy into the place of a carried value or a result: there is no statement of its own to write something beside.
    fn is_copy(&self, block: BlockId, item: usize) -> bool {
        self.inserted(block, item).is_some_and(|instr| instr.pipe == Pipe::V)
    }
}

/// In a kernel that is synchronised by hand: the orders that no written flag or barrier establishes, where the model of the
/// pipes finds a run in which it matters.
fn missing<'o>(
    program: &Program,
    orders: impl Iterator<Item = &'o Order> + Clone,
    insertion: Insertion,
) -> Vec<(Finding, Repair)> {
    let pairs = orders.clone().map(|order| (order.earlier, order.later));
    let Ok(races) = work::within(MODEL, || model::races_among(program, pairs)) else {
        return orders.take(1).map(|order| (unchecked(program, order), Repair::Nothing)).collect();
    };
    let instructions = program.instructions();
    let matters = |order: &&Order| races.contains(&(order.earlier, order.later));
    let found = orders.filter(matters).map(|order| {
        let finding = missing_order(&instructions, order, insertion);
        (finding, Repair::Certain(Change::Order(*order)))
    });
    found.collect()
}

fn unchecked(program: &Program, order: &Order) -> Finding {
    let message = "this kernel has too many iterations of nested loops to check whether its flags and barriers order all instructions";
    Finding::new(Code::KernelTooLarge, program.instructions()[order.later as usize].origin, message.to_owned())
}

/// What is said of an order that nothing written establishes.
fn missing_order(instructions: &[&Instr], order: &Order, insertion: Insertion) -> Finding {
    let (earlier, later) = (instructions[order.earlier as usize], instructions[order.later as usize]);
    let of_before = if order.carried { " of the iteration before" } else { "" };
    let what = match order.by {
        OrderedBy::Flag { src, dst, .. } => format!(
            "{} on {} may start before {}{of_before} on {} has finished, and both touch the same bytes: no flag {} → {} in your code separates them",
            later.name,
            dst.name(),
            earlier.name,
            src.name(),
            src.short_name(),
            dst.short_name()
        ),
        OrderedBy::Barrier(pipe) => format!(
            "{} can run at the same time as {}{of_before}, and both touch the same bytes: no barrier on {} separates them",
            later.name,
            earlier.name,
            pipe.name()
        ),
    };
    let (severity, way_out) = match insertion {
        Insertion::Complete | Insertion::Unasked => (Severity::Hint, "the generated C++ gets one"),
        Insertion::InStatements => {
            (Severity::Warning, "`codegen.insertSync` is off, so the generated C++ has none either")
        }
    };
    let message = format!("{} runs on {}", earlier.name, earlier.pipe.name());
    let related = vec![Related { at: earlier.origin, message }];
    Finding { severity, related, ..Finding::new(Code::MissingSync, later.origin, format!("{what}; {way_out}")) }
}

fn exhausted(order: &Order, instructions: &[&Instr]) -> Finding {
    let (earlier, later) = (instructions[order.earlier as usize], instructions[order.later as usize]);
    let (src, dst) = (earlier.pipe.name(), later.pipe.name());
    let message = format!(
        "more than {EVENTS} flags from {src} to {dst} are pending at the same time, and no two can share an event; use results closer to where they are produced"
    );
    let related = format!("the flag without an event is set after this, on {src}");
    let code = Code::EventsExhausted;
    let related = vec![Related { at: earlier.origin, message: related }];
    Finding::new(code, later.origin, message).with_related(related)
}

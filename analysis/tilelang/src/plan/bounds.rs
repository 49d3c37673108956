//! What a launch takes at least and at most, where its plan is not known.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::reasons::{Known, Reasons};
use super::{Lowered, Placed, Total};
use crate::alignment::{LEAST, MOST};
use crate::lifetimes::may_be_split;
use crate::program::{BufferId, Extent, Kind, Launch};
use crate::steps::{Form, Step, Steps, is_placed};
use crate::target::Target;
use crate::workspaces::{Need, Workspace};

pub(super) fn total(
    launch: &Launch,
    source: &Steps,
    lowered: &Lowered,
    placed: &[Placed],
    known: Known,
    reasons: &Reasons,
    target: Target,
) -> Total {
    let scratch = known.scratch;
    let is_in_order = reasons.statements.is_empty() && reasons.events.is_empty();
    let low = if is_in_order { alive_at_once(placed) } else { touched_at_once(launch, source) };
    if !reasons.statements.is_empty() {
        return Total { low, high: None };
    }
    let high = if is_in_order {
        let unsure = lowered.events.events.iter().flat_map(|event| event.ops());
        let unsure = unsure.filter_map(|numbered| scratch.get(&numbered.number));
        let more = unsure
            .filter(|workspace| workspace.need == Need::Unsure)
            .map(|workspace| launch.threads.map(|_| workspace.size.saturating_mul(Need::MOST as u64)));
        let sure =
            placed.iter().map(|placed| Some(with_gap(placed.bytes?, at_most(placed.alignment, reasons, target))));
        sum(sure.chain(more))
    } else {
        in_any_order(launch, source, scratch, target)
    };
    Total { low, high: high.map(|high| high.max(low)) }
}

fn sum(sizes: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    sizes.map(|size| size?.checked_next_multiple_of(LEAST)).try_fold(0_u64, |sum, size| sum.checked_add(size?))
}

/// A size with the gap that alignment may leave before it.
fn with_gap(size: u64, alignment: u64) -> u64 {
    size.saturating_add(alignment.saturating_sub(LEAST))
}

fn at_most(alignment: u64, reasons: &Reasons, target: Target) -> u64 {
    match reasons.sizes.is_empty() || !target.has_bulk_copies() {
        true => alignment,
        false => alignment.max(MOST),
    }
}

/// The most that is alive at one event: no packing is lower.
fn alive_at_once(placed: &[Placed]) -> u64 {
    let mut change: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for placed in placed {
        let size = placed.bytes.unwrap_or(0);
        let starting = &mut change.entry(placed.live.start).or_default().0;
        *starting = starting.saturating_add(size);
        let ending = &mut change.entry(placed.live.end).or_default().1;
        *ending = ending.saturating_add(size);
    }
    let (mut alive, mut most) = (0_u64, 0);
    for (starting, ending) in change.into_values() {
        alive = alive.saturating_sub(ending).saturating_add(starting);
        most = alive.max(most);
    }
    most
}

/// The most that one statement touches, one copy of each: it is there whatever passes do.
fn touched_at_once(launch: &Launch, steps: &[Rc<Step>]) -> u64 {
    let of = |step: &Rc<Step>| match &step.form {
        Form::Op(_) => {
            let sum = |buffers: &mut dyn Iterator<Item = BufferId>| {
                let placed = buffers.filter(|&buffer| is_placed(launch, buffer));
                placed.fold(0_u64, |sum, buffer| sum.saturating_add(launch.buffer(buffer).bytes().unwrap_or(0)))
            };
            match may_be_split(launch, step) {
                false => sum(&mut step.touched.all()),
                true => {
                    let (reads, writes) = (&step.touched.reads, &step.touched.writes);
                    sum(&mut reads.iter().copied()).max(sum(&mut writes.iter().copied()))
                }
            }
        }
        // Which may run not even once.
        Form::Loop(repeat) if matches!(repeat.of.extent, Extent::Unknown(_)) => 0,
        form => form.parts().into_iter().map(|part| touched_at_once(launch, part)).max().unwrap_or(0),
    };
    steps.iter().map(of).max().unwrap_or(0)
}

/// All of it beside each other, with as many copies as any pass may make.
fn in_any_order(launch: &Launch, source: &Steps, scratch: &BTreeMap<usize, Workspace>, target: Target) -> Option<u64> {
    let mut most = Most { target, copies: BTreeMap::new(), reductions: 0 };
    most.visit(source, 1, 1);
    let alignment = if target.has_bulk_copies() { MOST } else { LEAST };
    let buffers = most
        .copies
        .iter()
        .filter(|(buffer, _)| is_placed(launch, **buffer))
        .map(|(&buffer, &copies)| Some(with_gap(launch.buffer(buffer).bytes()?.saturating_mul(copies), alignment)));
    let widest = scratch.values().map(|workspace| workspace.size).max().unwrap_or(0);
    // Where warps are specialised, at most twice the threads run.
    let for_reductions = launch.threads.or((most.reductions == 0).then_some(0));
    let for_reductions =
        for_reductions.map(|_| widest.saturating_mul(2 * Need::MOST as u64).saturating_mul(most.reductions));
    sum(buffers.chain([for_reductions]))
}

struct Most {
    target: Target,
    copies: BTreeMap<BufferId, u64>,
    /// Reductions, each as often as it may be written out.
    reductions: u64,
}

impl Most {
    fn visit(&mut self, steps: &[Rc<Step>], copies: u64, times: u64) {
        for step in steps {
            match &step.form {
                Form::Op(numbered) => {
                    let touched = step.touched.all().collect::<Vec<_>>();
                    for buffer in touched {
                        let most = self.copies.entry(buffer).or_default();
                        *most = copies.max(*most);
                    }
                    if matches!(numbered.op.kind, Kind::Reduce(_)) {
                        self.reductions = self.reductions.saturating_add(times);
                    }
                }
                Form::Loop(repeat) => {
                    let written = repeat.of.written.iter().flat_map(|written| written.stage.iter().copied()).max();
                    let stages = repeat.stages.max(written.unwrap_or(0));
                    let by_planner = stages.saturating_add(1);
                    let by_roles = if self.target.has_bulk_copies() { stages.max(1) } else { 1 };
                    let unrolled = match repeat.of.extent.known() {
                        Some(extent) if repeat.of.is_explicitly_unrolled => extent,
                        _ => 1,
                    };
                    let rounds = stages.saturating_mul(2).saturating_add(1).saturating_mul(unrolled);
                    let copies = copies.saturating_mul(by_planner).saturating_mul(by_roles);
                    self.visit(&repeat.body, copies, times.saturating_mul(rounds));
                }
                form => form.parts().into_iter().for_each(|part| self.visit(part, copies, times)),
            }
        }
    }
}

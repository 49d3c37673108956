//! The planner of pipelined loops: which statement of the body runs in which round, and how many copies of each buffer that takes
//! (docs/reference/tilelang.md, "3. Versions (number of copies of a buffer)").

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tilefit_python::finding::Origin;
use tilefit_python::work;

use crate::program::{BufferId, Kind, Launch, WrittenPipeline};
use crate::steps::{Step, Steps, is_global, is_placed, is_shared};

/// A pipelined loop's body: its statements in the order in which one iteration of the pipeline has them, each with the number of iterations
/// that it lags behind.
#[derive(Debug)]
pub(crate) struct Pipeline<'p> {
    pub scheduled: Vec<(Rc<Step<'p>>, u64)>,
    /// Statements touch parts of a buffer, and whether they touch the same is not known.
    pub has_parts: bool,
    /// A copy that nothing reads needs what another copies: the stage of that one is not modelled.
    pub is_unsure: bool,
}

/// Why the compiler has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unplannable {
    /// A statement writes what a copy of the same body fills.
    WrittenTwice { buffer: BufferId, first: Option<Origin>, second: Option<Origin> },
    /// What a copy needs is read by copies only.
    NoConsumer,
    /// `order=` and `stage=` are not of as many statements as there are.
    WrittenOtherwise,
}

/// One statement, as the planner sees it.
struct Planned {
    is_copy: bool,
    /// It prepares what a copy reads.
    is_producer: bool,
    /// The last statement that reads what it writes.
    last_use: Option<usize>,
    place: Option<(u64, u64)>,
}

impl Planned {
    fn is_first_stage(&self) -> bool {
        self.is_copy || self.is_producer
    }
}

/// By `num_stages`.
pub(crate) fn by_stages<'p>(launch: &Launch, body: &Steps<'p>, stages: u64) -> Result<Pipeline<'p>, Unplannable> {
    let body = scheduled(body);
    work::spend_on_pairs(body.len().saturating_mul(body.len()));
    let mut planned: Vec<Planned> = body
        .iter()
        .map(|step| Planned { is_copy: is_copy(launch, step), is_producer: false, last_use: None, place: None })
        .collect();
    mark_producers(&body, &mut planned);
    let has_parts = find_last_uses(launch, &body, &mut planned)?;
    let is_unread = |planned: &Planned| planned.is_copy && planned.last_use.is_none();
    let is_unsure =
        planned.iter().any(|one| one.is_first_stage() && one.last_use.is_some_and(|last| is_unread(&planned[last])));
    if !place(&mut planned, stages) {
        return Err(Unplannable::NoConsumer);
    }
    move_copies_to_the_front(&mut planned, stages);
    let mut in_order: Vec<(u64, Rc<Step>, u64)> = body
        .iter()
        .zip(&planned)
        .filter_map(|(step, planned)| planned.place.map(|(order, stage)| (order, step.clone(), stage)))
        .collect();
    in_order.sort_by_key(|(order, ..)| *order);
    let scheduled = in_order.into_iter().map(|(_, step, stage)| (step, stage)).collect();
    Ok(Pipeline { scheduled, has_parts, is_unsure })
}

/// By `order=` and `stage=`.
pub(crate) fn as_written<'p>(body: &Steps<'p>, written: &WrittenPipeline) -> Result<Pipeline<'p>, Unplannable> {
    let body = scheduled(body);
    if written.order.len() != body.len() || written.stage.len() != body.len() {
        return Err(Unplannable::WrittenOtherwise);
    }
    let mut in_order: Vec<(u64, Rc<Step>, u64)> =
        body.into_iter().enumerate().map(|(i, step)| (written.order[i], step, written.stage[i])).collect();
    in_order.sort_by_key(|(order, ..)| *order);
    let scheduled = in_order.into_iter().map(|(_, step, stage)| (step, stage)).collect();
    Ok(Pipeline { scheduled, has_parts: false, is_unsure: false })
}

/// All but names for values that nothing in the body changes: those are computed again where they are used.
fn scheduled<'p>(body: &Steps<'p>) -> Steps<'p> {
    let written: BTreeSet<BufferId> = body.iter().flat_map(|step| step.touched.writes.iter().copied()).collect();
    let is_replayed =
        |step: &Step| step.op().is_some_and(|op| op.is_binding()) && step.touched.reads.is_disjoint(&written);
    body.iter().filter(|step| !is_replayed(step)).cloned().collect()
}

/// It does nothing but copy, from global to shared memory at least once.
fn is_copy(launch: &Launch, step: &Step) -> bool {
    let mut fills_shared = false;
    for numbered in step.ops() {
        let op = numbered.op;
        let is_pure = match op.kind {
            Kind::Parallel { is_copy } | Kind::Store { is_copy } => is_copy,
            _ => op.is_copy() || op.is_binding(),
        };
        if !is_pure {
            return false;
        }
        let reads_global = match op.is_copy() {
            true => op.reads.first().is_some_and(|source| is_global(launch, source.buffer)),
            false => op.reads.iter().any(|source| is_global(launch, source.buffer)),
        };
        fills_shared |= reads_global && op.writes.iter().any(|written| is_shared(launch, written.buffer));
    }
    fills_shared
}

/// Marks the statements before a copy that write what copies read. What a copy fills counts, too: it may fill a part of it.
fn mark_producers(body: &Steps, planned: &mut [Planned]) {
    let Some(last_copy) = planned.iter().rposition(|planned| planned.is_copy) else { return };
    let copies = body.iter().zip(planned.iter()).filter(|(_, planned)| planned.is_copy);
    let mut needed: BTreeSet<BufferId> = copies.flat_map(|(step, _)| step.touched.seen.iter().copied()).collect();
    loop {
        let before = needed.len();
        for (step, planned) in body[..last_copy].iter().zip(planned.iter_mut()) {
            if !planned.is_copy && !step.touched.writes.is_disjoint(&needed) {
                planned.is_producer = true;
                needed.extend(&step.touched.seen);
            }
        }
        work::spend(body.len() as u64);
        if needed.len() == before {
            return;
        }
    }
}

/// Whether that depends on which parts of a buffer statements touch.
fn find_last_uses(launch: &Launch, body: &Steps, planned: &mut [Planned]) -> Result<bool, Unplannable> {
    let mut has_parts = false;
    for (i, first) in body.iter().enumerate() {
        if !planned[i].is_first_stage() {
            continue;
        }
        for (j, later) in body.iter().enumerate().skip(i + 1) {
            let is_whole = |buffer| covers(launch, first, buffer) || covers(launch, later, buffer);
            for &buffer in first.touched.writes.intersection(&later.touched.seen) {
                planned[i].last_use = Some(j);
                has_parts |= !is_whole(buffer);
            }
            let again = first.touched.writes.intersection(&later.touched.writes).next();
            let Some(&buffer) = again.filter(|_| planned[i].is_copy) else { continue };
            if is_whole(buffer) {
                let place = |step: &Step| step.places(buffer).map(|(first, _)| first);
                return Err(Unplannable::WrittenTwice { buffer, first: place(first), second: place(later) });
            }
            has_parts = true;
        }
    }
    Ok(has_parts)
}

/// A statement touches all of a buffer, or elements of it that depend on a loop and may be any.
fn covers(launch: &Launch, step: &Step, buffer: BufferId) -> bool {
    let shape = &launch.buffer(buffer).shape;
    step.ops().into_iter().any(|numbered| {
        let mut regions = numbered.op.reads.iter().chain(&numbered.op.writes).filter(|region| region.buffer == buffer);
        regions.any(|region| match &region.extents {
            Some(extents) => extents == shape,
            None => !matches!(numbered.op.kind, Kind::Store { .. }),
        })
    })
}

/// Gives each statement its place and stage: the others as they are written, and behind each the copies that it is the last to use.
/// False where one has none.
fn place(planned: &mut [Planned], stages: u64) -> bool {
    let mut next = 0;
    let mut take = || {
        next += 1;
        next - 1
    };
    for i in 0..planned.len() {
        if planned[i].is_first_stage() && planned[i].last_use.is_some() {
            continue;
        }
        planned[i].place = Some((take(), stages));
        for copy in planned.iter_mut().filter(|copy| copy.is_first_stage() && copy.last_use == Some(i)) {
            copy.place = Some((take(), 0));
        }
    }
    planned.iter().all(|planned| planned.place.is_some())
}

/// Where all copies are last, they go to the front, and the others lag one iteration less.
fn move_copies_to_the_front(planned: &mut [Planned], stages: u64) {
    let order = |planned: &Planned| planned.place.map_or(0, |(order, _)| order);
    let (copies, others): (Vec<&Planned>, Vec<&Planned>) = planned.iter().partition(|planned| planned.is_first_stage());
    let behind = others.iter().map(|planned| order(planned)).max().unwrap_or(0);
    let are_last = copies.iter().map(|planned| order(planned)).min().is_some_and(|first| first > behind);
    let (count, all) = (copies.len() as u64, planned.len() as u64);
    if !are_last || stages < 2 {
        return;
    }
    for planned in planned {
        let lag = u64::from(!planned.is_first_stage());
        planned.place = planned.place.map(|(order, stage)| ((order + count) % all, stage.saturating_sub(lag)));
    }
}

impl Pipeline<'_> {
    /// All statements are of one iteration: nothing is pipelined.
    pub(crate) fn is_plain(&self) -> bool {
        self.scheduled.windows(2).all(|pair| pair[0].1 == pair[1].1)
    }

    /// How many iterations the last statements lag behind the first.
    pub(crate) fn depth(&self) -> u64 {
        self.scheduled.iter().map(|(_, stage)| *stage).max().unwrap_or(0)
    }

    /// Copies of the buffers that the body writes.
    pub(crate) fn versions(&self, launch: &Launch) -> BTreeMap<BufferId, u64> {
        let written: BTreeSet<BufferId> =
            self.scheduled.iter().flat_map(|(step, _)| step.touched.writes.iter().copied()).collect();
        written.into_iter().filter(|&id| is_placed(launch, id)).map(|id| (id, self.versions_of(id))).collect()
    }

    fn versions_of(&self, buffer: BufferId) -> u64 {
        work::spend_on_pairs(self.scheduled.len());
        let uses = self.scheduled.iter().filter(|(step, _)| step.touched.seen.contains(&buffer));
        let last = uses.map(|(_, stage)| *stage).max().unwrap_or(0);
        let writers =
            || self.scheduled.iter().enumerate().filter(|(_, (step, _))| step.touched.writes.contains(&buffer));
        let first = writers().map(|(_, (_, stage))| *stage).min().unwrap_or(last);
        let is_read_later = |(place, stage): (usize, u64)| {
            let behind = self.scheduled.iter().skip(place + 1);
            behind.into_iter().any(|(step, later)| step.touched.seen.contains(&buffer) && stage < *later)
        };
        let count = last.saturating_sub(first).saturating_add(1);
        let is_needed = writers().any(|(place, (_, stage))| is_read_later((place, *stage)));
        if count >= 2 && !is_needed { count - 1 } else { count }
    }
}

//! What happens in a launch, one thing after another, once loops are pipelined: the events between which buffers live
//! (docs/reference/tilelang.md, "4. Order of events and live intervals").

use std::collections::BTreeMap;
use std::rc::Rc;

use tilefit_python::finding::{Origin, Reason};

use crate::pipeline::{self, Pipeline, Unplannable};
use crate::program::{Branch, BufferId, Extent, Launch};
use crate::steps::{Budget, Form, Guard, Repeat, Step, Steps};
use crate::target::Target;

/// The events of a launch.
#[derive(Debug, Default)]
pub(crate) struct Events<'p> {
    pub events: Steps<'p>,
    /// Copies that the planner makes of buffers, where it makes more than one.
    pub versions: BTreeMap<BufferId, u64>,
    /// Of which loops: the buffers with their copies.
    pub planned: Vec<(usize, Origin, BTreeMap<BufferId, u64>)>,
    /// Loops that the planner refuses.
    pub refused: Vec<(Origin, Unplannable)>,
    /// Rounds before a loop and after it are so many that some are left out.
    pub has_more_rounds: bool,
    /// Whether statements of a pipelined loop touch the same part of a buffer is not known.
    pub has_parts: bool,
    /// Why it is not known how often a loop runs, or a statement lags behind others.
    pub uncounted: Vec<Reason>,
    /// Statements stand behind each other under two conditions: one event if those are the same.
    pub may_be_under_one_condition: bool,
}

/// Each statement at the top is an event, with all that it contains.
///
/// `is_bulk`: whether one thread starts a bulk copy there. In kernels with any, statements directly behind each other under one condition are one.
pub(crate) fn events<'p>(
    launch: &Launch,
    steps: &[Rc<Step<'p>>],
    target: Target,
    budget: &mut Budget,
    is_bulk: impl Fn(&Step) -> bool,
) -> Events<'p> {
    let mut planning = Planning { launch, target, budget, found: Events::default() };
    let steps = planning.planned(steps);
    let mut flat = Flat { is_merging: has_bulk(&steps, &is_bulk), is_bulk, events: Vec::new(), is_unsure: false };
    flat.add(&steps);
    Events { events: flat.events, may_be_under_one_condition: flat.is_unsure, ..planning.found }
}

fn has_bulk(steps: &[Rc<Step>], is_bulk: &impl Fn(&Step) -> bool) -> bool {
    steps.iter().any(|step| is_bulk(step) || step.form.parts().into_iter().any(|part| has_bulk(part, is_bulk)))
}

/// The events so far.
struct Flat<'p, F> {
    is_merging: bool,
    is_bulk: F,
    events: Steps<'p>,
    is_unsure: bool,
}

impl<'p, F: Fn(&Step) -> bool> Flat<'p, F> {
    fn add(&mut self, steps: &[Rc<Step<'p>>]) {
        let mut rest = steps;
        while let Some((first, behind)) = rest.split_first() {
            let more = behind.iter().take_while(|next| self.are_under_one_condition(first, next)).count();
            let (together, others) = rest.split_at(more + 1);
            rest = others;
            self.is_unsure |= others.first().is_some_and(|next| self.may_be_under_one_condition(first, next));
            match &first.form {
                // What two groups of warps do counts as if one did it after the other.
                Form::Roles { producer, consumer } => {
                    self.add(producer);
                    self.add(consumer);
                }
                _ if more == 0 => self.events.push(first.clone()),
                _ => {
                    let guard = Guard { of: None, then: together.to_vec(), otherwise: Vec::new() };
                    self.events.push(Step::new(Form::If(guard)));
                }
            }
        }
    }

    fn are_under_one_condition(&self, one: &Step, other: &Step) -> bool {
        let is_same = match (guard(one), guard(other)) {
            (Some(None), Some(None)) => true,
            (Some(Some(one)), Some(Some(other))) => std::ptr::eq(one, other) && one.reads.is_empty(),
            _ => (self.is_bulk)(one) && (self.is_bulk)(other),
        };
        self.is_merging && is_same
    }

    /// Conditions of two branches that the launch does not tell apart.
    fn may_be_under_one_condition(&self, one: &Step, other: &Step) -> bool {
        let is_open = match (guard(one), guard(other)) {
            (Some(Some(one)), Some(Some(other))) => one.reads.is_empty() && other.reads.is_empty(),
            _ => false,
        };
        self.is_merging && is_open
    }
}

/// The branch of an `if` without `else`, if it is one of the source.
fn guard<'p>(step: &Step<'p>) -> Option<Option<&'p Branch>> {
    match &step.form {
        Form::If(guard) if guard.otherwise.is_empty() => Some(guard.of),
        _ => None,
    }
}

/// Statements of a pipelined loop that run together or not at all. What stands around them is no branch of the source.
fn under_condition<'p>(repeat: &Repeat<'p>, steps: Steps<'p>) -> Option<Rc<Step<'p>>> {
    if steps.is_empty() {
        return None;
    }
    let guarded = Step::new(Form::If(Guard { of: None, then: steps, otherwise: Vec::new() }));
    let around = Repeat { stages: 0, is_written: false, body: vec![guarded], ..repeat.clone() };
    Some(Step::new(Form::Loop(around)))
}

/// A statement in one iteration of the loop around it: conditions that hold there are gone, and what stands under others, too.
fn in_iteration<'p>(step: &Rc<Step<'p>>, iteration: u64, steps: &mut Steps<'p>) {
    let all = |inner: &Steps<'p>| {
        let mut steps = Vec::with_capacity(inner.len());
        inner.iter().for_each(|step| in_iteration(step, iteration, &mut steps));
        steps
    };
    match &step.form {
        Form::If(guard) => {
            let known = guard.of.and_then(|branch| branch.in_rounds.iter().find(|(round, _)| *round == iteration));
            match known {
                Some((_, true)) => steps.extend(all(&guard.then)),
                Some((_, false)) => steps.extend(all(&guard.otherwise)),
                None => {
                    let (then, otherwise) = (all(&guard.then), all(&guard.otherwise));
                    steps.push(Step::new(Form::If(Guard { of: guard.of, then, otherwise })));
                }
            }
        }
        // What is decided in a pipelined loop is of its own rounds.
        Form::Loop(repeat) if repeat.of.stages == 0 && repeat.of.written.is_none() => {
            steps.push(Step::new(Form::Loop(Repeat { body: all(&repeat.body), ..repeat.clone() })));
        }
        _ => steps.push(step.clone()),
    }
}

struct Planning<'l, 'p> {
    launch: &'l Launch,
    target: Target,
    budget: &'l mut Budget,
    found: Events<'p>,
}

impl<'p> Planning<'_, 'p> {
    /// The statements with each pipelined loop as its rounds.
    fn planned(&mut self, steps: &[Rc<Step<'p>>]) -> Steps<'p> {
        let mut planned = Vec::with_capacity(steps.len());
        for step in steps {
            let form = match &step.form {
                Form::Op(_) => {
                    planned.push(step.clone());
                    continue;
                }
                Form::Loop(repeat) => match self.pipeline(repeat) {
                    Some(pipeline) if !pipeline.is_plain() => {
                        planned.extend(self.rounds(repeat, &pipeline));
                        continue;
                    }
                    // A loop of one round is what is in it.
                    None if repeat.of.extent == Extent::Known(1) => {
                        planned.extend(self.planned(&repeat.body));
                        continue;
                    }
                    // The planner does not look into what it has planned.
                    Some(_) => Form::Loop(Repeat { stages: 0, is_written: false, ..repeat.clone() }),
                    None => Form::Loop(Repeat { body: self.planned(&repeat.body), ..repeat.clone() }),
                },
                Form::If(guard) => {
                    let (then, otherwise) = (self.planned(&guard.then), self.planned(&guard.otherwise));
                    Form::If(Guard { of: guard.of, then, otherwise })
                }
                Form::Roles { producer, consumer } => {
                    Form::Roles { producer: self.planned(producer), consumer: self.planned(consumer) }
                }
            };
            planned.push(Step::new(form));
        }
        planned
    }

    fn pipeline(&mut self, repeat: &Repeat<'p>) -> Option<Pipeline<'p>> {
        if let Extent::Unknown(reason) = &repeat.of.extent {
            self.found.uncounted.push(reason.clone());
        }
        let pipeline = match &repeat.of.written {
            Some(written) if repeat.is_written => pipeline::as_written(&repeat.body, written),
            _ if repeat.stages >= 1 && self.target.pipelines_by_stages() => {
                pipeline::by_stages(self.launch, &repeat.body, repeat.stages)
            }
            _ => return None,
        };
        match pipeline {
            Ok(pipeline) if pipeline.is_plain() => Some(pipeline),
            Ok(pipeline) => {
                self.found.has_parts |= pipeline.has_parts;
                if pipeline.is_unsure {
                    self.found.uncounted.push(Reason::new("a copy that nothing reads needs what another copies"));
                }
                let versions = pipeline.versions(self.launch);
                for (&buffer, &count) in versions.iter().filter(|(_, count)| **count > 1) {
                    // Of a buffer of two loops, the larger number.
                    let most = self.found.versions.entry(buffer).or_insert(count);
                    *most = count.max(*most);
                }
                self.found.planned.push((repeat.number, repeat.of.at, versions));
                Some(pipeline)
            }
            Err(unplannable) => {
                self.found.refused.push((repeat.of.at, unplannable));
                None
            }
        }
    }

    /// The rounds before the loop, in which not all statements run yet, the loop, and the rounds after it.
    fn rounds(&mut self, repeat: &Repeat<'p>, pipeline: &Pipeline<'p>) -> Steps<'p> {
        let extent = repeat.of.extent.known();
        let depth = self.depth(pipeline);
        // Without a number in the kernel, as if it ran often enough: the compiler knows no better.
        let runs = extent.unwrap_or(u64::MAX);
        // A statement that lags behind is in an earlier iteration.
        let in_round = |round: u64, first: u64, is_in: &dyn Fn(u64) -> bool| -> Steps<'p> {
            let running =
                pipeline.scheduled.iter().filter(|(_, stage)| is_in(*stage) && round < runs.saturating_add(*stage));
            let mut steps = Vec::new();
            for (step, stage) in running {
                in_iteration(step, first.saturating_add(round).saturating_sub(*stage), &mut steps);
            }
            steps
        };
        // A round that may not run stands under a condition of its own, as one event.
        let may_not_run = |round: u64| extent.is_none() && round >= repeat.of.least;
        let mut steps: Steps = Vec::new();
        for round in 0..depth {
            if !may_not_run(round) {
                steps.extend(in_round(round, 0, &|stage| stage <= round));
                continue;
            }
            // Those of one stage that stand together are under one condition.
            for together in pipeline.scheduled.chunk_by(|one, next| one.1 == next.1) {
                let running = together.iter().filter(|(_, stage)| *stage <= round).map(|(step, _)| step.clone());
                steps.extend(under_condition(repeat, running.collect()));
            }
        }
        let body = || pipeline.scheduled.iter().map(|(step, _)| step.clone()).collect::<Steps>();
        match runs.saturating_sub(pipeline.depth()) {
            0 => {}
            1 => steps.extend(in_round(pipeline.depth(), 0, &|_| true)),
            _ => steps.push(Step::new(Form::Loop(Repeat {
                stages: 0,
                is_written: false,
                body: body(),
                ..repeat.clone()
            }))),
        }
        if may_not_run(depth.saturating_sub(1)) {
            // Those behind the loop are a loop, too, with each statement once.
            steps.extend(under_condition(repeat, in_round(0, u64::MAX, &|stage| stage > 0)));
            return steps;
        }
        for round in 0..depth {
            let is_in = |stage: u64| stage > round && stage <= runs.saturating_add(round);
            steps.extend(in_round(0, runs.saturating_add(round), &is_in));
        }
        steps
    }

    /// Rounds that are written out on each side of a loop.
    fn depth(&mut self, pipeline: &Pipeline<'p>) -> u64 {
        let depth = pipeline.depth();
        let is_written_out = self.budget.take(depth.saturating_mul(2), pipeline.scheduled.len());
        self.found.has_more_rounds |= !is_written_out;
        if is_written_out { depth } else { depth.min(2) }
    }
}

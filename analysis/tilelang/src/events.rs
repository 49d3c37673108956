//! What happens in a launch, one thing after another, once loops are pipelined: the events between which buffers live
//! (docs/reference/tilelang.md, "4. Order of events and live intervals").

use std::collections::BTreeMap;
use std::rc::Rc;

use tilefit_python::finding::{Origin, Reason};

use crate::pipeline::{self, Pipeline, Unplannable};
use crate::program::{BufferId, Extent, Launch};
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
    /// Rounds in front of a loop and behind it are so many that some are left out.
    pub has_more_rounds: bool,
    /// Why it is not known how often a loop runs.
    pub uncounted: Vec<Reason>,
}

/// Each statement at the top is an event, with all that it contains.
pub(crate) fn events<'p>(launch: &Launch, steps: &[Rc<Step<'p>>], target: Target, budget: &mut Budget) -> Events<'p> {
    let mut planning = Planning { launch, target, budget, found: Events::default() };
    let steps = planning.planned(steps);
    let mut events = Vec::with_capacity(steps.len());
    flatten(&steps, &mut events);
    Events { events, ..planning.found }
}

/// What two groups of warps do counts as if one did it after the other.
fn flatten<'p>(steps: &[Rc<Step<'p>>], events: &mut Steps<'p>) {
    for step in steps {
        match &step.form {
            Form::Roles { producer, consumer } => {
                flatten(producer, events);
                flatten(consumer, events);
            }
            _ => events.push(step.clone()),
        }
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
                Form::Loop(repeat) => match self.counted(repeat) {
                    Some(pipeline) => {
                        planned.extend(self.rounds(repeat, &pipeline));
                        continue;
                    }
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

    fn counted(&mut self, repeat: &Repeat<'p>) -> Option<Pipeline<'p>> {
        if let Extent::Unknown(reason) = &repeat.of.extent {
            self.found.uncounted.push(reason.clone());
        }
        self.pipeline(repeat)
    }

    fn pipeline(&mut self, repeat: &Repeat<'p>) -> Option<Pipeline<'p>> {
        let pipeline = match &repeat.of.written {
            Some(written) if repeat.is_written => pipeline::as_written(&repeat.body, written),
            _ if repeat.stages >= 1 && self.target.pipelines_by_stages() => {
                pipeline::by_stages(self.launch, &repeat.body, repeat.stages)
            }
            _ => return None,
        };
        match pipeline {
            Ok(pipeline) => {
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

    /// The rounds in front of the loop, in which not all statements run yet, the loop, and the rounds behind it.
    fn rounds(&mut self, repeat: &Repeat<'p>, pipeline: &Pipeline<'p>) -> Steps<'p> {
        let extent = repeat.of.extent.known();
        let depth = self.depth(pipeline);
        // Without a number in the kernel, as if it ran often enough: the compiler knows no better.
        let runs = extent.unwrap_or(u64::MAX);
        let in_round = |round: u64, is_in: &dyn Fn(u64) -> bool| -> Steps<'p> {
            let running =
                pipeline.scheduled.iter().filter(|(_, stage)| is_in(*stage) && round < runs.saturating_add(*stage));
            running.map(|(step, _)| step.clone()).collect()
        };
        let mut steps: Steps = Vec::new();
        for round in 0..depth {
            steps.extend(in_round(round, &|stage| stage <= round));
        }
        let body = || pipeline.scheduled.iter().map(|(step, _)| step.clone()).collect::<Steps>();
        match runs.saturating_sub(pipeline.depth()) {
            0 => {}
            1 => steps.extend(body()),
            _ => steps.push(Step::new(Form::Loop(Repeat {
                stages: 0,
                is_written: false,
                body: body(),
                ..repeat.clone()
            }))),
        }
        for round in 0..depth {
            steps.extend(in_round(0, &|stage| stage > round && stage <= runs.saturating_add(round)));
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

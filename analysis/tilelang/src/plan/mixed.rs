//! Buffers that are not everywhere used with as many copies: the compiler keeps two tensors of different shapes over one memory then
//! (docs/reference/tilelang.md, "3. Versions (number of copies of a buffer)").

use std::collections::BTreeMap;
use std::rc::Rc;

use tilefit_python::finding::Origin;
use tilefit_python::work;

use super::Lowered;
use crate::bulk_copies;
use crate::finding::Finding;
use crate::program::{BufferId, Kind, Launch};
use crate::steps::{Form, Step, Steps, is_placed};
use crate::target::Target;

/// A buffer that is, and two places with different numbers of copies: the one with more, and another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mixed {
    pub buffer: BufferId,
    pub versions: u64,
    pub fewer: u64,
    pub at: Origin,
    pub elsewhere: Origin,
    /// The compiler crashes. It does where the buffer has a layout of its own; where not, what it allocates is not modelled.
    pub is_refused: bool,
}

impl Mixed {
    pub(super) fn finding(self) -> Finding {
        let Mixed { buffer, versions, fewer, at, elsewhere, is_refused } = self;
        Finding::MixedVersions { buffer, versions, fewer, at, elsewhere, is_refused }
    }
}

#[derive(Debug, Clone, Copy)]
struct Use {
    versions: u64,
    at: Origin,
    /// In a pipelined loop.
    is_inside: bool,
}

pub(super) fn mixed(launch: &Launch, source: &Steps, lowered: &Lowered, target: Target) -> Vec<Mixed> {
    let mut uses = Uses { launch, lowered, of: BTreeMap::new() };
    uses.visit(source, None, false);
    let of_roles =
        |buffer: BufferId| lowered.specialised.as_ref().and_then(|roles| roles.versions.get(&buffer).copied());
    let mut found = Vec::new();
    for (buffer, uses) in uses.of {
        let Some(most) = uses.iter().max_by_key(|each| each.versions) else { continue };
        if let Some(&versions) = lowered.tried.get(&buffer) {
            found.extend(behind_loop(&uses).map(|(at, elsewhere)| Mixed {
                buffer,
                versions,
                fewer: 1,
                at,
                elsewhere,
                is_refused: true,
            }));
            continue;
        }
        let fewer = match of_roles(buffer) {
            // What is pipelined has as many everywhere.
            Some(_) => uses.iter().enumerate().find(|(_, each)| !each.is_inside),
            None => uses.iter().enumerate().find(|(_, each)| each.versions < most.versions),
        };
        let Some((_, fewer)) = fewer else { continue };
        let has_no_number = of_roles(buffer).is_some() && behind_loop(&uses).is_some();
        let of_loop = uses.iter().find(|each| each.is_inside).map_or(most.at, |each| each.at);
        found.push(Mixed {
            buffer,
            versions: of_roles(buffer).unwrap_or(most.versions),
            fewer: if of_roles(buffer).is_some() { 1 } else { fewer.versions },
            at: if of_roles(buffer).is_some() { of_loop } else { most.at },
            elsewhere: fewer.at,
            is_refused: has_no_number || has_layout(launch, source, buffer, lowered, target),
        });
    }
    found
}

/// A use in a pipelined loop, and one behind it outside of any: which copy that means has no number.
fn behind_loop(uses: &[Use]) -> Option<(Origin, Origin)> {
    let inside = uses.iter().position(|each| each.is_inside)?;
    let outside = uses[inside..].iter().find(|each| !each.is_inside)?;
    Some((uses[inside].at, outside.at))
}

struct Uses<'l, 'p> {
    launch: &'l Launch,
    lowered: &'l Lowered<'p>,
    of: BTreeMap<BufferId, Vec<Use>>,
}

impl Uses<'_, '_> {
    fn visit(&mut self, steps: &[Rc<Step>], planned: Option<&BTreeMap<BufferId, u64>>, is_inside: bool) {
        let lowered = self.lowered;
        for step in steps {
            match &step.form {
                Form::Op(numbered) => {
                    for buffer in step.touched.all().filter(|&buffer| is_placed(self.launch, buffer)) {
                        let versions = planned.and_then(|planned| planned.get(&buffer)).copied().unwrap_or(1);
                        self.of.entry(buffer).or_default().push(Use { versions, at: numbered.op.at, is_inside });
                    }
                }
                Form::Loop(repeat) => {
                    let own = lowered.events.planned.iter().find(|(number, ..)| *number == repeat.number);
                    let planned = planned.or(own.map(|(_, _, versions)| versions));
                    self.visit(&repeat.body, planned, is_inside || repeat.stages >= 1);
                }
                form => form.parts().into_iter().for_each(|part| self.visit(part, planned, is_inside)),
            }
        }
    }
}

/// Operands of products, what a layout is written for, and what bulk copies move.
fn has_layout(launch: &Launch, source: &Steps, buffer: BufferId, lowered: &Lowered, target: Target) -> bool {
    let loads = lowered.loads();
    let mut ops = source.iter().flat_map(|step| step.ops());
    launch.buffer(buffer).is_swizzled
        || ops.any(|numbered| {
            work::spend(1);
            let op = numbered.op;
            let is_operand =
                matches!(op.kind, Kind::Gemm(_)) && op.reads.iter().take(2).any(|region| region.buffer == buffer);
            let load = bulk_copies::load(launch, op, target).filter(|_| loads.contains(&numbered.number));
            let store = bulk_copies::store(launch, op, target).filter(|_| !launch.options.is_tma_off);
            is_operand || load.or(store).is_some_and(|transfer| transfer.shared.buffer == buffer)
        })
}

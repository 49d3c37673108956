//! What is to be packed, and when it is needed.

use tilefit_packing::Interval;

use crate::ir::{Kernel, VarId};
use crate::memory::addresses::Reserved;
use crate::memory::bases::Bases;
use crate::memory::lifetimes::{Group, Lifetimes, Live};
use crate::memory::planners::background_search::Effort;
use crate::memory::planners::sequential::Constraints;
use crate::memory::repairs::RepairMove;
use crate::target::Machine;

/// What is to be packed, in a kernel whose yields were repaired.
pub(in crate::memory) struct Input<'a> {
    pub kernel: &'a Kernel,
    pub machine: Machine<'a>,
    pub bases: &'a Bases,
    pub lifetimes: &'a Lifetimes<'a>,
    pub groups: &'a [Group],
    pub(in crate::memory) constraints: &'a Constraints,
    pub moves: &'a [RepairMove],
    pub reserved: Reserved,
    pub effort: Effort<'a>,
}

/// The tiles with memory that the kernel names, those that loops and branches carry too, and when each name is needed.
pub(in crate::memory) fn tiles<'a>(
    kernel: &'a Kernel,
    bases: &'a Bases,
    lifetimes: &'a Lifetimes,
) -> impl Iterator<Item = (VarId, Live)> + 'a {
    let all = (0..kernel.vars.len() as u32).map(VarId);
    all.filter(|var| bases.of_tile(kernel, *var).is_some()).filter_map(|var| Some((var, lifetimes.seen(var)?)))
}

/// Intervals that touch may share, also where one of them is a single statement.
pub(in crate::memory) fn half_open(live: Live) -> Interval {
    let start = 2 * u64::from(live.def.0) + 1;
    Interval::new(start, (2 * u64::from(live.last.0) + 1).max(start + 1))
}

//! The memory pipeline: sizes, reuse groups, packing into addresses, limits (`reference/memory.md`).

pub mod packing;
mod plan;

pub use plan::{Buffer, BufferId, Capacity, Finding, Fit, Order, Plan, PlannedTile, Related, SpaceUse, Status};

use crate::ir::Kernel;
use crate::target::{Planner, Target};

/// Plans the memory of a kernel for which [`crate::passes::prepare`] has made every tile explicit.
pub fn plan(kernel: &Kernel, target: Target, planner: Planner) -> Plan {
    Plan::empty(kernel, target, planner)
}

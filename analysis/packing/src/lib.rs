//! Offset packing: gives every buffer of one memory space an offset, so that no two that are needed at the same time share a byte.
//!
//! It knows nothing of kernels: sizes in bytes, half-open lifetimes in any unit, alignment, fixed
//! offsets, reserved ranges and no-alias pairs go in; offsets and one of four verdicts come out. [`pack`] takes these steps:
//!
//! 1. [`liveness`]: no packing is lower than the bytes live at one instant; the instant is the proof;
//! 2. [`first_fit`] in several orders, the cheap guesses;
//! 3. the exact [`search`] for a packing of the height of the bound, then of the capacity, within a budget of nodes.
//!
//! Where it fits, [`satisfy_soft_constraints`] keeps pairs apart that should not share bytes, as far as there is room.
//!
//! The same problem and budget give the same bytes on every machine: nothing here looks at a clock, a thread or a hash seed.
//! Every answer is checked by [`validate`], which shares no code with what found it.

mod baseline;
mod conflicts;
pub mod csv;
pub mod explain;
mod first_fit;
mod free_list;
pub mod liveness;
mod lower_bound;
mod problem;
mod search;
mod soft_constraints;
mod strategy;
pub mod svg;

pub use baseline::{bump, share_then_bump};
pub use conflicts::Conflicts;
pub use first_fit::{MOST_PAIRS, Order, Placement, first_fit, first_fit_in, sweep};
pub use liveness::{Bound, Peak};
pub use problem::{Buffer, BufferIx, Interval, Lifetime, Named, Problem, ProblemError, Spec};
pub use problem::{Violation, validate};
pub use soft_constraints::{Relaxed, pack_relaxing, satisfy_soft_constraints};
pub use strategy::{Budget, Goal, Method, PackResult, Verdict, pack};

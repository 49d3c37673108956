//! The memory of a GPU kernel as Triton's compiler lays it out, whatever language the kernel is written in (`docs/reference/triton.md`).
//!
//! [`passes`] has the order of everything: [`trace`] follows a kernel under one [`scenario`] and writes down what it does to memory, as a
//! [`program`]; [`simplify`] leaves out what the compiler leaves out, [`live_ranges`] finds when each buffer is live, [`shared_memory`] and
//! [`tensor_memory`] place them, and [`plan`] adds up what the kernel takes. [`device`] has what each GPU has, [`language`] the names of the languages, [`members`] all that their
//! modules have.

pub mod argument_type;
pub mod assumed;
mod axis_info;
pub mod configuration;
pub mod device;
pub mod device_queries;
pub mod heuristics;
pub mod host;
mod interleave;
pub mod language;
pub mod layouts;
pub mod live_ranges;
pub mod liveness;
pub mod members;
pub mod occupancy;
mod overlap;
pub mod passes;
pub mod plan;
pub mod possible;
mod products;
pub mod program;
mod reorder;
pub mod scenario;
pub mod scenario_slips;
pub mod shared_layout;
pub mod shared_memory;
mod simplify;
pub mod tensor_memory;
pub mod tlx;
pub mod trace;
pub mod tuned_configurations;
pub mod vocabulary;
mod yaml;

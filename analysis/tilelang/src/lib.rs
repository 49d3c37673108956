//! The memory of TileLang's kernels as its compiler lays it out (`docs/reference/tilelang.md`).
//!
//! The front end ([`trace`]) follows a kernel under one set of arguments and writes down, as a [`program`], what each launch does to its
//! buffers. [`plan::plan`] takes that through the compiler's passes: warps are specialised, loops pipelined, and what then lives at each event
//! is packed. [`words`] says what is wrong. [`ascend`] has the rules for NPUs.

mod alignment;
pub mod ascend;
mod bulk_copies;
pub mod dtypes;
mod events;
pub mod finding;
mod lifetimes;
mod members;
mod mistakes;
mod packer;
mod pipeline;
pub mod plan;
mod products;
pub mod program;
mod specialise;
mod steps;
pub mod target;
pub mod tensor_memory;
pub mod trace;
mod versions;
pub mod vocabulary;
pub mod words;
mod workspaces;

#[cfg(test)]
mod tests;

/// The compiler whose rules these are.
pub const COMPILER: &str = "tilelang 0.1.15";

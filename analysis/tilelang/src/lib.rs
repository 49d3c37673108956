//! The memory of TileLang's kernels as its compiler lays it out (`docs/reference/tilelang.md`).
//!
//! The front end follows a kernel under one set of arguments and writes down, as a [`program`], what each launch does to its buffers.
//! [`plan::plan`] takes that through the compiler's passes: warps are specialised, loops pipelined, and what then lives at each event is packed.

mod alignment;
mod bulk_copies;
mod events;
pub mod finding;
mod lifetimes;
mod packer;
mod pipeline;
pub mod plan;
mod products;
pub mod program;
mod specialise;
mod steps;
pub mod target;
pub mod tensor_memory;
mod versions;
mod workspaces;

#[cfg(test)]
mod tests;

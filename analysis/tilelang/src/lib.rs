//! The memory of TileLang's kernels as its compiler lays it out (`docs/reference/tilelang.md`).
//!
//! The front end ([`trace`]) follows a kernel under one set of arguments and writes down, as a [`program`], what each launch does to its
//! buffers.

mod dtypes;
mod members;
mod mistakes;
pub mod program;
pub mod trace;
pub mod vocabulary;

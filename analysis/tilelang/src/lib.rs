//! The memory of TileLang's kernels as its compiler lays it out (`docs/reference/tilelang.md`).
//!
//! The front end follows a kernel under one set of arguments and writes down, as a [`program`], what each launch does to its buffers.

pub mod program;

//! The memory of a GPU kernel as Triton's compiler lays it out, whatever language the kernel is written in (`docs/reference/triton.md`).
//!
//! [`shared_memory`] places the buffers of a block, [`tensor_memory`] those in the columns of sm_100. Both know buffers as numbers only: how large, how
//! aligned, and when live.

pub mod liveness;
pub mod shared_memory;
pub mod tensor_memory;

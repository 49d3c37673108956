//! What the end-to-end tests and benchmarks share.

pub mod binary;
pub mod choices;
pub mod corpus;
pub mod differential;
pub mod fuzz;
pub mod kernels;
pub mod lsp_client;
pub mod mutation;
pub mod process;
pub mod questions;
pub mod random;
pub mod reference;
#[cfg(unix)]
pub mod scripted_python;
pub mod soak;
pub mod tensor_kernels;
pub mod tlx_kernels;
pub mod triton_kernels;
pub mod typing;

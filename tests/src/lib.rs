//! What the end-to-end tests and benchmarks share.

pub mod binary;
pub mod corpus;
pub mod differential;
pub mod kernels;
pub mod lsp_client;
pub mod reference;
pub mod tensor_kernels;
pub mod tlx_kernels;

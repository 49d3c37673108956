//! PyPTO: from the tree of a kernel to its plan and its C++.
//!
//! Data flows one way: tree, kernel IR ([`lower`], [`passes`]), plan ([`memory`]), C++ ([`codegen`]).

pub mod codegen;
pub mod coverage;
pub mod ir;
pub mod isa_rules;
pub mod lower;
pub mod memory;
pub mod ops;
pub mod pairs;
pub mod passes;
pub mod printed;
pub mod target;
pub mod typing;
pub mod vocabulary;

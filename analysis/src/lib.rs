//! Kernel IR, memory pipeline, code generation and editor features of tilefit, as plain data.
//!
//! Data flows one way: text, tree, kernel IR ([`lower`], [`passes`]), plan ([`memory`]), C++ ([`codegen`]), features.
//! Nothing here knows LSP, does I/O, reads a clock or starts a thread.

pub mod codegen;
pub mod confirm;
pub mod coverage;
mod db;
pub mod diagnostics;
mod element;
pub mod eval;
pub mod finding;
mod host;
pub mod ide;
pub mod ir;
mod isa_rules;
pub mod lower;
pub mod memory;
mod names;
pub mod ops;
mod pairs;
pub mod passes;
mod printed;
pub mod project;
pub mod spelling;
pub mod target;
pub mod tlx;
pub mod torch;
pub mod triton;
mod typing;
mod vocabulary;
mod work;

pub use db::FileId;
pub use host::{Analysis, AnalysisHost, Cancellable, Cancelled, Canceller};

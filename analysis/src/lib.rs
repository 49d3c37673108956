//! Kernels of all languages in an editor, as plain data: the incremental database, the features, and the one seam between them and the languages.
//! Each language is a crate of its own below this folder.
//!
//! Nothing here knows LSP, does I/O, reads a clock or starts a thread.

pub mod confirm;
mod db;
mod host;
pub mod ide;
pub mod launch;
mod names;
pub mod project;

pub use db::FileId;
#[cfg(any(test, feature = "fixtures"))]
pub use host::Fixture;
pub use host::{Analysis, AnalysisHost, Cancellable, Cancelled, Canceller};

//! What takes time, each on a worker: out of snapshots and files come values, for the caller that started it. Nothing here knows the main
//! loop or its events.

pub(crate) mod background_search;
pub(crate) mod confirmation;
pub(crate) mod diagnostics;
pub(crate) mod memory_map;
pub(crate) mod preview;
pub(crate) mod query;
pub(crate) mod search;
pub(crate) mod symbols;
pub(crate) mod workspace;
pub(crate) mod workspace_diagnostics;

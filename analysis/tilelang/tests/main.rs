//! The front end against what TileLang's own hands to its passes (`tests/conformance/tilelang`).

mod examples;
mod mistakes;
mod module;
mod recorded;
mod robust;
mod statements;

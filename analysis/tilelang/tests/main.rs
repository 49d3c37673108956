//! The front end against what TileLang's own hands to its passes, and plans against the answers of its compiler (`tests/conformance/tilelang`).

mod answers;
mod conditions;
mod conformance;
mod examples;
mod mistakes;
mod module;
mod recorded;
mod robust;
mod statements;

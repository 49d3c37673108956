//! The protocol's side: messages as they come in and go out. Nothing here computes, and nothing else speaks to the client.

pub(crate) mod backend;
mod delivery;
pub(crate) mod frames;
pub(crate) mod guard;
mod progress;
mod stop_on_drop;
pub(crate) mod test_hooks;
mod workspace_diagnostic;

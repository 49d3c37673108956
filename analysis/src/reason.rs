//! Why something is not known.

/// Why something is not modelled, for people: "calls `foo`, which is defined outside of the workspace".
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reason(pub String);

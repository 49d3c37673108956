//! The operation catalogue: one row per operation, read by lowering, the passes, the memory pipeline, code generation and the
//! editor features (`reference/ops.csv`).

/// An operation of the IR, by its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u16);

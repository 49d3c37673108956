//! One hint, written after or before what it is about.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlayHint {
    pub offset: usize,
    pub label: String,
    pub tooltip: String,
    /// Belongs to what follows the offset, not to what stands before it.
    pub in_front: bool,
    /// By which its details are found; those of synchronisation have none.
    pub key: Option<HintKey>,
}

/// What a hint is about, within its unit, as long as nothing is edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HintKey {
    /// Which kernel of the unit.
    pub(super) kernel: usize,
    /// Which tile or buffer of those that have a hint.
    pub(super) nth: usize,
}

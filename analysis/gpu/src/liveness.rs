//! When a buffer is live, and what runs beside it.

/// From the operation that makes a buffer to behind the last one that may use it, in the compiler's numbers of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveRange {
    pub start: u32,
    pub end: u32,
}

impl LiveRange {
    pub(super) const ALWAYS: LiveRange = LiveRange { start: 0, end: u32::MAX };

    pub(super) fn meets(self, other: LiveRange) -> bool {
        self.start < other.end && other.start < self.end
    }

    pub(super) fn common(self, other: LiveRange) -> LiveRange {
        LiveRange { start: self.start.max(other.start), end: self.end.min(other.end) }
    }
}

/// One of the regions that a warp-specialised operation runs at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// The operation.
    pub group: u32,
    pub region: u32,
}

impl Task {
    /// Whether two tasks run at the same time, so that live ranges say nothing of what is live in both.
    pub(super) fn is_beside(self, other: Task) -> bool {
        self.group == other.group && self.region != other.region
    }
}

/// Whether the things of two operations run beside each other.
pub(super) fn are_beside(one: Option<Task>, other: Option<Task>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one.is_beside(other))
}

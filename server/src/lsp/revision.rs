//! Which state of documents and settings something belongs to.

/// Counts every change of anything a result depends on (text, settings); never repeats within a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Revision(u64);

impl Revision {
    pub(crate) fn next(self) -> Revision {
        Revision(self.0 + 1)
    }
}

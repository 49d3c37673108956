//! Decisions of a random session, read from bytes: what changes a byte, changes a decision, and where the bytes end, the first of each is taken.

use arbitrary::Unstructured;

pub struct Choices<'b>(Unstructured<'b>);

impl<'b> Choices<'b> {
    pub fn new(bytes: &'b [u8]) -> Choices<'b> {
        Choices(Unstructured::new(bytes))
    }

    pub fn are_over(&self) -> bool {
        self.0.is_empty()
    }

    /// A number below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        self.0.int_in_range(0..=end.max(1) - 1).unwrap_or(0)
    }

    /// `all` has something.
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// True in so many of 100 cases.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }
}

//! Interrupting what takes long for a long text: parsing it, and making a view of its tree.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static LOOK: Cell<Option<fn()>> = const { Cell::new(None) };
}

/// Runs something, during which `look` is called now and then, which unwinds where nobody waits for the result any more. Nothing half done stays.
pub fn looking<T>(look: fn(), work: impl FnOnce() -> T) -> T {
    /// Also where the work unwinds.
    struct Before(Option<fn()>);
    impl Drop for Before {
        fn drop(&mut self) {
            LOOK.set(self.0);
        }
    }
    let _before = Before(LOOK.replace(Some(look)));
    work()
}

/// Unwinds where nobody waits any more.
pub(crate) fn look() {
    if let Some(look) = LOOK.get() {
        look();
    }
}

/// Whether nobody waits any more, for those through which nothing can unwind.
pub(crate) fn is_due() -> bool {
    LOOK.get().is_some_and(|look| catch_unwind(AssertUnwindSafe(look)).is_err())
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;

    use super::*;
    use crate::{BlockSource, ast};

    thread_local! {
        static LOOKS_LEFT: Cell<u32> = const { Cell::new(0) };
    }

    fn run_out() {
        match LOOKS_LEFT.get().checked_sub(1) {
            Some(left) => LOOKS_LEFT.set(left),
            None => resume_unwind(Box::new("nobody waits")),
        }
    }

    #[test]
    fn what_is_interrupted_leaves_nothing_half_done() {
        let text = "x = [1, f(2), {3: 4}]\n".repeat(2000);
        let whole = ast::parse(&BlockSource::of(&text));
        let source = BlockSource::of(&text);
        // In the parser, and in the view of its tree.
        let mut looks = 0;
        loop {
            LOOKS_LEFT.set(looks);
            match catch_unwind(AssertUnwindSafe(|| looking(run_out, || ast::parse(&source)))) {
                Ok(parsed) => break assert!(parsed == whole),
                Err(payload) => assert_eq!(payload.downcast_ref(), Some(&"nobody waits")),
            }
            looks = looks * 2 + 1;
        }
        assert!(looks > 3, "a text of {} bytes is looked up from {looks} times", text.len());
    }

    #[test]
    fn without_anybody_who_looks_nothing_is_interrupted() {
        assert!(!is_due());
        look();
    }
}

//! How tasks hear that no request waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops what is done for a request when that is dropped, which is how it is cancelled.
pub(super) struct StopOnDrop(pub(super) Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

//! Many files at a time, their results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use crate::STACK_BYTES;

/// More bring little: a file takes less time to analyse than a thread to start.
const THREADS: usize = 2;

/// Works on a few threads, takes the results in the order of the items.
pub(super) fn in_order<I: Sync, R: Send>(items: &[I], work: impl Fn(&I) -> R + Sync, mut take: impl FnMut(R)) {
    let next = AtomicUsize::new(0);
    let (sender, results) = channel();
    let worker = |sender: Sender<(usize, R)>| {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            if sender.send((index, work(item))).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let (sender, on_this_thread) = (sender.clone(), sender.clone());
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            if thread.spawn_scoped(scope, || worker(sender)).is_err() {
                worker(on_this_thread);
            }
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut due = 0;
        for (index, result) in results {
            early.insert(index, result);
            while let Some(result) = early.remove(&due) {
                take(result);
                due += 1;
            }
        }
    });
}

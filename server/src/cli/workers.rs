//! Many files at a time, their results in order, and a bar that says how many are done.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};

use crate::STACK_BYTES;

/// More bring little: what there is to share waits for itself.
const MOST_THREADS: usize = 8;

/// Works on a few threads, takes the results in the order of the items.
pub(super) fn in_order<I: Send, R: Send>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> R + Sync,
    mut take: impl FnMut(R),
) {
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_THREADS)).min(items.len());
    let next = AtomicUsize::new(0);
    let (sender, results) = channel();
    let worker = |sender: Sender<(usize, R)>| {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            let Some(item) = item.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
            if sender.send((index, work(item))).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
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

/// A bar on a terminal, nothing elsewhere.
pub(super) fn bar(files: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} files");
    ProgressBar::new(files as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// A bug that one file brings out does not keep the others from being checked.
pub(super) fn isolated<T>(path: &Path, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(format!("{}: tilefit failed on this file, which is a bug; please report it", path.display()))
    })
}

//! Plans by the kernel that they are of: equal kernels, such as several callers make of one scope, are planned once.
//!
//! A kernel is no key of the database. salsa drops an interned value, and all that was computed of it, only while nothing older is in use, so
//! that one kernel that stays would keep every version of those that are edited. Here a plan lives as long as a kernel of the database has
//! it, and a few edits longer.

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rustc_hash::{FxBuildHasher, FxHashMap};
use tilefit_pypto::ir::Kernel;
use tilefit_pypto::memory::Searched;

use super::outcome::Outcome;
use crate::project::Config;

/// The newest plans, which are kept for an edit that takes back the one before.
const MOST_RECENT: usize = 8;

/// Kernels below which nobody looks for those whose plans are gone.
const FEW: usize = 64;

/// What the kernels that equal one another come to.
#[derive(Debug)]
pub(crate) struct KernelPlans {
    pub(crate) outcomes: Vec<Outcome>,
    /// Where the plans leave something open: the newest search whose answer they could have taken up.
    pub(crate) newest_search: Option<Option<Arc<Searched>>>,
}

impl PartialEq for KernelPlans {
    fn eq(&self, other: &Self) -> bool {
        self.outcomes == other.outcomes
    }
}

impl Eq for KernelPlans {}

impl KernelPlans {
    fn is_up_to_date(&self, newest_search: impl FnOnce() -> Option<Arc<Searched>>) -> bool {
        let Some(then) = &self.newest_search else { return true };
        match (then, newest_search()) {
            (None, None) => true,
            (Some(then), Some(now)) => Arc::ptr_eq(then, &now),
            _ => false,
        }
    }
}

#[derive(Default)]
pub(crate) struct SharedPlans {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// The configuration that all plans are made under.
    config: Option<Config>,
    /// By hash.
    kernels: FxHashMap<u64, Vec<Arc<PlannedKernel>>>,
    /// How many there are.
    count: usize,
    /// The count at which those whose plans are gone are dropped.
    full: usize,
    recent: VecDeque<Arc<KernelPlans>>,
    /// Those of a database that is gone.
    kept: Vec<Arc<KernelPlans>>,
    #[cfg(test)]
    made: usize,
}

/// Locked while somebody plans the kernel, for whom others wait.
struct PlannedKernel {
    kernel: Arc<Kernel>,
    plans: Mutex<Weak<KernelPlans>>,
}

impl SharedPlans {
    /// The plans of a kernel, made by `make` unless those of an equal one are there. `newest_search` is asked only where they leave something open.
    pub(super) fn of(
        &self,
        kernel: &Arc<Kernel>,
        config: &Config,
        newest_search: impl FnOnce() -> Option<Arc<Searched>>,
        make: impl FnOnce() -> KernelPlans,
    ) -> Arc<KernelPlans> {
        let entry = locked(&self.known).entry(kernel, config);
        let mut plans = locked(&entry.plans);
        if let Some(plans) = plans.upgrade().filter(|plans| plans.is_up_to_date(newest_search)) {
            return plans;
        }
        let made = Arc::new(make());
        *plans = Arc::downgrade(&made);
        locked(&self.known).remember(&made);
        made
    }

    /// Keeps the plans that a database has when it is gone, for the next one; no longer those that it was handed and did not ask for.
    pub(crate) fn keep_all(&self) {
        let known = &mut *locked(&self.known);
        known.kept.clear();
        let plans = known.kernels.values().flatten().filter_map(|kernel| locked(&kernel.plans).upgrade());
        known.kept = plans.collect();
    }

    /// Ends [`keep_all`](Self::keep_all).
    pub(crate) fn keep_recent(&self) {
        let kept = std::mem::take(&mut locked(&self.known).kept);
        drop(kept);
    }

    /// How many kernels were planned so far.
    #[cfg(test)]
    pub(crate) fn made(&self) -> usize {
        locked(&self.known).made
    }

    /// How many kernels there is an entry for.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        locked(&self.known).count
    }
}

impl Known {
    fn entry(&mut self, kernel: &Arc<Kernel>, config: &Config) -> Arc<PlannedKernel> {
        if self.config.as_ref() != Some(config) {
            self.config = Some(config.clone());
            self.kernels.clear();
            self.recent.clear();
            self.kept.clear();
            self.count = 0;
        }
        if self.count >= self.full.max(FEW) {
            self.drop_unplanned();
        }
        let same_hash = self.kernels.entry(FxBuildHasher.hash_one(kernel)).or_default();
        if let Some(known) = same_hash.iter().find(|known| known.kernel == *kernel) {
            return Arc::clone(known);
        }
        let new = Arc::new(PlannedKernel { kernel: Arc::clone(kernel), plans: Mutex::default() });
        same_hash.push(Arc::clone(&new));
        self.count += 1;
        new
    }

    fn drop_unplanned(&mut self) {
        self.kernels.retain(|_, same_hash| {
            // One that somebody has in hand is about to be planned.
            same_hash.retain(|known| Arc::strong_count(known) > 1 || locked(&known.plans).strong_count() > 0);
            !same_hash.is_empty()
        });
        self.count = self.kernels.values().map(Vec::len).sum();
        self.full = 2 * self.count;
    }

    fn remember(&mut self, made: &Arc<KernelPlans>) {
        self.recent.truncate(MOST_RECENT - 1);
        self.recent.push_front(Arc::clone(made));
        #[cfg(test)]
        {
            self.made += 1;
        }
    }
}

/// A query that unwinds, which a cancelled one does, leaves everything as it was.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

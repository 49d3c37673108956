//! How long answers took, by what was asked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Where something was asked.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) name: String,
    /// From 0; bytes.
    pub(super) line: u32,
    pub(super) column: u32,
    /// JSON.
    pub(super) settings: Arc<str>,
    pub(super) text: Arc<String>,
}

#[derive(Default)]
pub(super) struct Timing {
    pub(super) cancelled: usize,
    /// Milliseconds.
    times: Vec<f32>,
    slowest: Option<(f32, Place)>,
}

#[derive(Default)]
pub(super) struct Timings(pub(super) BTreeMap<&'static str, Timing>);

impl Timings {
    pub(super) fn add(&mut self, what: &'static str, took: Duration, place: impl FnOnce() -> Place) {
        let timing = self.0.entry(what).or_default();
        let took = took.as_secs_f32() * 1e3;
        timing.times.push(took);
        if timing.slowest.as_ref().is_none_or(|(slowest, _)| took > *slowest) {
            timing.slowest = Some((took, place()));
        }
    }

    pub(super) fn cancelled(&mut self, what: &'static str) {
        self.0.entry(what).or_default().cancelled += 1;
    }

    pub(super) fn count(&self) -> usize {
        self.0.values().map(|timing| timing.times.len()).sum()
    }
}

impl Timing {
    pub(super) fn count(&self) -> usize {
        self.times.len()
    }

    /// Milliseconds, at each of these percentages.
    pub(super) fn percentiles<const N: usize>(&self, percents: [usize; N]) -> [f32; N] {
        let mut times = self.times.clone();
        times.sort_by(f32::total_cmp);
        let at = |percent: usize| (times.len() * percent).div_ceil(100).max(1) - 1;
        percents.map(|percent| times.get(at(percent)).copied().unwrap_or(f32::NAN))
    }

    /// Milliseconds, and where.
    pub(super) fn slowest(&self) -> Option<&(f32, Place)> {
        self.slowest.as_ref()
    }
}

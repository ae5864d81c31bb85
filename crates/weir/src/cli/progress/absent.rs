//! Replaces progress bars in a build without the feature `progress`: nothing is drawn.

use std::time::{Duration, Instant};

/// A bar that is not drawn.
pub(super) struct Progress(Instant);

impl Progress {
    pub(super) fn of(_: &str) -> Self {
        Self(Instant::now())
    }

    pub(super) fn begin(&mut self, _: &str, _: u64) {
        self.0 = Instant::now();
    }

    pub(super) fn show(&self, _: &str, _: u64, _: u64) {}

    pub(super) fn set_position(&self, _: u64) {}

    pub(super) fn message(&self, _: String) {}

    pub(super) fn running_time(&self) -> Duration {
        self.0.elapsed()
    }

    pub(super) fn clear(&self) {}
}

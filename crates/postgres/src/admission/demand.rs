//! Callers that wait for a session, and the streams that may give theirs back.

use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// Callers that wait for a session.
#[derive(Debug, Default)]
pub struct Demand {
    callers: AtomicUsize,
    call: Notify,
}

impl Demand {
    /// Registers a request that waits, as long as the returned value lives.
    pub fn seek(&self) -> Seeker<'_> {
        self.callers.fetch_add(1, Ordering::Relaxed);
        self.call.notify_one();
        Seeker(self)
    }

    /// True while a request waits.
    pub fn is_there(&self) -> bool {
        self.callers.load(Ordering::Relaxed) > 0
    }

    /// Waits until it is this stream's turn to help those who wait.
    pub async fn wait_for_call(&self) {
        loop {
            self.call.notified().await;
            if self.is_there() {
                return;
            }
        }
    }

    /// Lets another stream hurry, if anybody waits.
    pub fn pass_on(&self) {
        if self.is_there() {
            self.call.notify_one();
        }
    }
}

/// A caller that waits for a session.
#[derive(Debug)]
pub struct Seeker<'d>(&'d Demand);

impl Drop for Seeker<'_> {
    fn drop(&mut self) {
        self.0.callers.fetch_sub(1, Ordering::Relaxed);
    }
}

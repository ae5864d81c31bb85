//! Lanes beyond the first of each thread, which come and go with the load. They live on the sessions' account, so that the
//! server has no more connections than its bound.
//!
//! A helper is opened where requests wait though another connection would help ([`crate::admission::batch_time`]), and leaves
//!
//! - when it had nothing to do for [`REST_MAX`];
//! - when a caller waits for a session, or a connection is refused since the server or a pooler has too many: it is *recalled*.
//!
//! After a recall no helper is opened for a while. Nor is one where the server says that it has too many connections, or where
//! more than three quarters of those it takes are in use: other processes share it, whose first lanes have to get in. Each such
//! refusal doubles the pause.
//!
//! **Invariant:** a helper never costs a request: it takes requests when it is connected, and leaves between two batches.

use crate::admission::demand::{Demand, Seeker};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// A helper without work for so long leaves.
pub(crate) const REST_MAX: Duration = Duration::from_secs(10);
/// Time without new helpers after a recall, and after the first refusal.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest of such times.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// Timeout of the wait for a recalled helper.
const LEAVE_MAX: Duration = Duration::from_secs(1);
/// The server counts a connection a moment longer than we do.
pub(crate) const ROOM_PAUSE: Duration = Duration::from_millis(20);

/// The helpers of one server.
#[derive(Debug, Default)]
pub(crate) struct HelperLanes {
    count: AtomicUsize,
    /// Callers that want a connection in place of a helper.
    needs: Demand,
    left: Notify,
    pause: Mutex<Pause>,
}

#[derive(Debug, Default)]
struct Pause {
    until: Option<Instant>,
    /// Refusals without a helper that left in peace.
    refusals: u32,
}

/// A recall of a helper, as long as it lives.
pub(crate) struct Recall<'h> {
    _seeker: Seeker<'h>,
}

impl HelperLanes {
    /// One more helper is to be connected.
    pub(crate) fn enter(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// A helper's connection is closed.
    pub(crate) fn leave(&self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
        self.left.notify_waiters();
    }

    /// True if no helper may be opened now.
    pub(crate) fn is_pausing(&self) -> bool {
        self.pause().until.is_some_and(|it| Instant::now() < it)
    }

    fn pause(&self) -> MutexGuard<'_, Pause> {
        self.pause.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A helper was not let in, or is one too many.
    pub(crate) fn note_refusal(&self) {
        let mut pause = self.pause();
        let length = (PAUSE * 2_u32.saturating_pow(pause.refusals)).min(PAUSE_MAX);
        pause.refusals = pause.refusals.saturating_add(1).min(10);
        pause.until = Some(Instant::now() + length);
    }

    /// A helper leaves as it has nothing to do.
    pub(crate) fn forget_refusals(&self) {
        self.pause().refusals = 0;
    }

    /// Wants a helper to leave.
    pub(crate) fn recall(&self) -> Recall<'_> {
        if self.count.load(Ordering::Relaxed) > 0 {
            let paused_until = Some(Instant::now() + PAUSE);
            let mut pause = self.pause();
            pause.until = pause.until.max(paused_until);
        }
        Recall { _seeker: self.needs.seek() }
    }

    /// True if a helper has to leave.
    pub(crate) fn is_recalled(&self) -> bool {
        self.needs.is_there()
    }

    /// Waits until a helper has to leave.
    pub(crate) async fn await_recall(&self) {
        self.needs.wait_for_call().await;
    }

    /// A connection was refused as there are too many: waits until a helper has left; `false` if there is none.
    pub(crate) async fn make_room(&self) -> bool {
        if self.count.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let left = self.left.notified();
        let recall = self.recall();
        // Another attempt is right if it takes longer, too.
        let _ = tokio::time::timeout(LEAVE_MAX, left).await;
        drop(recall);
        tokio::time::sleep(ROOM_PAUSE).await;
        true
    }
}

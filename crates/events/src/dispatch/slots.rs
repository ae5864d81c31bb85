//! Calls in flight over all sources.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Places of calls, shared by all sources.
#[derive(Clone, Debug)]
pub struct Slots {
    free: Arc<Semaphore>,
    count: u32,
}

/// The place of one call.
pub(super) type Slot = OwnedSemaphorePermit;

impl Slots {
    /// `count` places.
    pub fn new(count: u32) -> Self {
        Self { free: Arc::new(Semaphore::new(count as usize)), count }
    }

    /// Number of free places.
    pub(super) fn free(&self) -> u32 {
        u32::try_from(self.free.available_permits()).unwrap_or(u32::MAX)
    }

    /// Largest number of places for one trigger, so that others are called beside it. One that gets no answers, or has none yet, has
    /// few.
    pub(super) fn per_trigger(&self, is_answered: bool) -> u32 {
        let most = if is_answered { self.count - self.count / 4 } else { self.count / 20 };
        most.max(1)
    }

    /// Waits for a place.
    pub(super) async fn take(&self) -> Option<Slot> {
        Arc::clone(&self.free).acquire_owned().await.ok()
    }
}

//! State shared by the fetches of one request that may make the same calls: results, and the moment at which a level's keys
//! are complete.
//!
//! Fetches of one level run concurrently in one task. Each is run up to its first wait before the level is complete, so a
//! fetch whose keys are known by then can send them together with the others', without a timer.
//!
//! **Invariant:** a memory belongs to one request, so all in it is one client's; it never spans a change of the same request.
//!
//! **Cost:** none for plans whose fetches all ask for something else, which is known when they are planned.

use std::any::Any;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::SetOnce;

/// State shared by all fetches of one source within a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestScope<'r> {
    /// Results so far.
    pub cache: &'r RequestCache,
    /// Concurrent fetches that may make the same calls; `None` if there are no others.
    pub barrier: Option<&'r BatchBarrier>,
}

/// Storage of one source for one request, or for one plan while it is prepared. The source decides the type.
#[derive(Debug, Default)]
pub struct RequestCache(OnceLock<Box<dyn Any + Send + Sync>>);

impl RequestCache {
    /// The stored value, created at its first use; `None` if the source stores another type.
    pub fn get<T: Any + Default + Send + Sync>(&self) -> Option<&T> {
        self.0.get_or_init(|| Box::new(T::default())).downcast_ref()
    }
}

/// Barrier of fetches that run concurrently on one level.
#[derive(Debug)]
pub struct BatchBarrier {
    /// Fetches that have not reached their first wait.
    remaining: AtomicU32,
    complete: SetOnce<()>,
}

impl BatchBarrier {
    pub(crate) fn new(fetches: u32) -> Self {
        Self { remaining: AtomicU32::new(fetches), complete: SetOnce::new() }
    }

    /// Registers a fetch that has reached its first wait, or its end.
    pub(crate) fn arrive(&self) {
        if self.remaining.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Each fetch arrives once, so only one of them can be the last.
            let _ = self.complete.set(());
        }
    }

    /// Waits until every fetch of the level has registered its keys. Register before any other await.
    pub async fn complete(&self) {
        self.complete.wait().await;
    }
}

/// Storages of a request, or of a plan in preparation, by source.
#[derive(Debug)]
pub(crate) struct RequestCaches(Box<[RequestCache]>);

impl RequestCaches {
    pub(crate) fn new(sources: usize) -> Self {
        Self((0..sources).map(|_| RequestCache::default()).collect())
    }

    pub(crate) fn cache_of(&self, source: u16) -> &RequestCache {
        &self.0[usize::from(source)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn a_level_is_complete_when_the_last_has_arrived_and_stays_so() {
        let barrier = BatchBarrier::new(2);
        let mut early = Box::pin(barrier.complete());
        assert!(early.as_mut().now_or_never().is_none());
        barrier.arrive();
        assert!(early.as_mut().now_or_never().is_none());
        barrier.arrive();
        assert!(early.now_or_never().is_some() && barrier.complete().now_or_never().is_some());
    }

    #[test]
    fn a_memory_is_made_once_and_holds_one_type() {
        let cache = RequestCache::default();
        let made: *const String = cache.get::<String>().unwrap();
        assert!(std::ptr::eq(made, cache.get::<String>().unwrap()));
        assert!(cache.get::<u32>().is_none());
    }
}

//! Lets statements of one key through a few at a time. Of changes of the same rows one works, and the next wait for its locks.
//!
//! More of them would wait in the database, each in a session that others need, and cost it more the more they are. Which
//! rows a change touches is not known before; equal conditions of the same statement stand for them.
//!
//! **Invariant:** waiting requests enter in their order, or leave; a key is known as long as a request is inside.
//!
//! **Cost:** a hash and a lock; no allocation without a wait.

use foldhash::{HashMap, HashMapExt};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Limits how many requests of one key run at the same time.
#[derive(Debug)]
pub(crate) struct KeyedLimiter {
    keys: Mutex<HashMap<u64, Key>>,
}

#[derive(Debug, Default)]
struct Key {
    inside: u32,
    waiting: VecDeque<oneshot::Sender<KeyPermit>>,
}

/// Lets its holder run; dropping it admits the next request of the key.
#[derive(Debug)]
pub(crate) struct KeyPermit {
    limiter: Arc<KeyedLimiter>,
    key: u64,
}

impl KeyedLimiter {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { keys: Mutex::new(HashMap::new()) })
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<u64, Key>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the caller in if fewer than `inside_max` are inside, or says by which channel he will be.
    pub(crate) fn enter(
        self: &Arc<Self>,
        key: u64,
        inside_max: u32,
    ) -> Result<KeyPermit, oneshot::Receiver<KeyPermit>> {
        let mut keys = self.keys();
        let found = keys.entry(key).or_default();
        if found.inside < inside_max {
            found.inside += 1;
            return Ok(KeyPermit { limiter: Arc::clone(self), key });
        }
        let (permit, comes) = oneshot::channel();
        found.waiting.push_back(permit);
        Err(comes)
    }

    /// True if the key has holders.
    pub(crate) fn is_entered(&self, key: u64) -> bool {
        self.keys().contains_key(&key)
    }

    /// The next waiting request; without one there is room again.
    fn next(&self, key: u64) -> Option<oneshot::Sender<KeyPermit>> {
        let mut keys = self.keys();
        let found = keys.get_mut(&key)?;
        while let Some(next) = found.waiting.pop_front() {
            if !next.is_closed() {
                return Some(next);
            }
        }
        found.inside -= 1;
        if found.inside == 0 {
            keys.remove(&key);
        }
        None
    }
}

impl Drop for KeyPermit {
    fn drop(&mut self) {
        if let Some(next) = self.limiter.next(self.key) {
            let permit = Self { limiter: Arc::clone(&self.limiter), key: self.key };
            // A request that leaves at this moment passes its permit on by dropping it.
            drop(next.send(permit));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSIDE_MAX: u32 = 8;

    /// A limiter with as many inside as may be.
    fn full(key: u64) -> (Arc<KeyedLimiter>, VecDeque<KeyPermit>) {
        let limiter = KeyedLimiter::new();
        let inside = (0..INSIDE_MAX).map(|_| limiter.enter(key, INSIDE_MAX).unwrap()).collect();
        (limiter, inside)
    }

    #[test]
    fn some_are_inside_and_others_follow_in_order() {
        let (limiter, mut inside) = full(7);
        let [mut first, second, mut third] = [(); 3].map(|()| limiter.enter(7, INSIDE_MAX).unwrap_err());
        assert!(limiter.enter(8, INSIDE_MAX).is_ok(), "other rows are free");
        assert!(first.try_recv().is_err());
        inside.pop_front();
        let first = first.try_recv().unwrap();
        drop(second);
        assert!(third.try_recv().is_err());
        inside.pop_front();
        drop((first, third.try_recv().unwrap(), inside));
        assert!(limiter.keys().is_empty(), "nothing is kept");
    }

    #[test]
    fn a_permit_that_comes_too_late_is_given_on() {
        let (limiter, mut inside) = full(7);
        let [gone, mut next] = [(); 2].map(|()| limiter.enter(7, INSIDE_MAX).unwrap_err());
        inside.pop_front();
        assert!(next.try_recv().is_err());
        // The permit is in the channel, and nobody takes it out.
        drop(gone);
        assert!(next.try_recv().is_ok());
    }
}

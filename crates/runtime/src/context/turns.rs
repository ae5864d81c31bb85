//! Turns of requests that are answered together: each may wait until all others have gone as far as they can.
//!
//! **Invariant:** a turn ends after all requests were polled, so keys that they say by then are loaded by one call.
//!
//! **Cost:** one more poll of the requests per level that loads.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// Tasks that wait for the end of the turn.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<Vec<(Arc<AtomicBool>, Waker)>>);

impl Turns {
    /// Waits until the turn ends.
    pub(crate) async fn wait(&self) {
        let is_over = Arc::new(AtomicBool::new(false));
        std::future::poll_fn(|task| {
            if is_over.load(Ordering::Acquire) {
                return Poll::Ready(());
            }
            let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match waiting.iter_mut().find(|it| Arc::ptr_eq(&it.0, &is_over)) {
                Some((_, waker)) => waker.clone_from(task.waker()),
                None => waiting.push((Arc::clone(&is_over), task.waker().clone())),
            }
            Poll::Pending
        })
        .await;
    }

    /// Ends the turn.
    fn end(&self) {
        let waiting = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for (is_over, waker) in waiting {
            is_over.store(true, Ordering::Release);
            waker.wake();
        }
    }

    /// Polls `all`, and ends a turn whenever they wait.
    pub(crate) async fn run<T>(&self, all: impl Future<Output = T>) -> T {
        let mut all = pin!(all);
        std::future::poll_fn(|task| {
            let polled = all.as_mut().poll(task);
            if polled.is_pending() {
                self.end();
            }
            polled
        })
        .await
    }
}

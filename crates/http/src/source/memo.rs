//! Results of one request: a repeated call gets the same answer, even an uncacheable one.
//!
//! One response shows one state of an object then, however often the object stands in it, and a service is asked once. A
//! failure is remembered as well.
//!
//! **Invariant:** it lives as long as its request and is seen by nobody else. Whoever asks while the same is being asked waits
//! for that; if that is given up, who waits asks by himself.
//!
//! **Cost:** a key and a cell for each call of plans that can repeat one, and none for others. It holds on to
//! [`BYTES_MAX`] of answers; what comes beyond is not remembered.

use super::loader::{CallResult, Loader};
use crate::cache::{Body, Served};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OnceCell;
use weir_engine::keys::{KeyMap, KeyRef};

/// Maximum size of answers held for a request, in bytes: the limit of one node.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// All results held for a request.
#[derive(Debug, Default)]
pub(super) struct Memo {
    known: Mutex<KnownCalls>,
}

#[derive(Debug, Default)]
struct KnownCalls {
    calls: KeyMap<Arc<OnceCell<CallResult>>>,
    loaders: KeyMap<Arc<Loader>>,
    bytes: usize,
}

impl Memo {
    fn lock_known(&self) -> MutexGuard<'_, KnownCalls> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Result of the call with this key: from `ask`, or an earlier result passed through `again`.
    pub(super) async fn call(
        &self,
        key: KeyRef<'_>,
        again: impl FnOnce(&Served) -> Served,
        ask: impl Future<Output = CallResult>,
    ) -> CallResult {
        let cell = {
            let mut known = self.lock_known();
            match known.calls.get(key) {
                Some(cell) => Arc::clone(cell),
                None => {
                    let cell = Arc::default();
                    known.calls.insert_new(key.into(), Arc::clone(&cell));
                    cell
                }
            }
        };
        let mut is_again = true;
        let asking = async {
            is_again = false;
            ask.await
        };
        let told = cell.get_or_init(|| asking).await.clone();
        if is_again {
            return told.map(|it| again(&it));
        }
        if !self.reserve_bytes(body_bytes(&told)) {
            self.lock_known().calls.remove(key);
        }
        told
    }

    /// The loader for `key`. Entities that cannot share a batch have different keys.
    pub(super) fn loader(&self, key: KeyRef<'_>, columns: usize) -> Arc<Loader> {
        let mut known = self.lock_known();
        if let Some(loader) = known.loaders.get(key) {
            return Arc::clone(loader);
        }
        let loader = Arc::new(Loader::new(columns));
        known.loaders.insert_new(key.into(), Arc::clone(&loader));
        loader
    }

    /// Counts the bytes of a loader's answers, and drops the loader if they exceed the limit.
    pub(super) fn count_loader(&self, key: KeyRef<'_>, told: &[CallResult]) {
        if !self.reserve_bytes(told.iter().map(body_bytes).sum()) {
            self.lock_known().loaders.remove(key);
        }
    }

    fn reserve_bytes(&self, bytes: usize) -> bool {
        let mut known = self.lock_known();
        let fits = known.bytes + bytes <= BYTES_MAX;
        known.bytes += if fits { bytes } else { 0 };
        fits
    }
}

fn body_bytes(told: &CallResult) -> usize {
    match told.as_ref().map(|it| &it.entry.body) {
        Ok(Body::Json(tape)) => tape.text().len(),
        Ok(Body::Absent | Body::Unreadable(_)) | Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{CallError, Cause};
    use futures_util::FutureExt;
    use std::cell::Cell;
    use std::future::{pending, ready};

    fn says(text: &str) -> CallResult {
        Err(CallError::Unavailable(Cause::Connection, text.into()).into())
    }

    fn read_failure(told: Option<CallResult>) -> String {
        told.expect("it is there at once").expect_err("it is a failure").to_string()
    }

    #[test]
    fn equal_calls_are_one_and_a_failure_is_remembered() {
        let memo = Memo::default();
        let asked = Cell::new(0);
        let call = |key: &[u8], text: &'static str| {
            let ask = async {
                asked.set(asked.get() + 1);
                says(text)
            };
            read_failure(memo.call(KeyRef::of(key), Served::clone, ask).now_or_never())
        };
        let first = call(b"a", "first");
        assert_eq!(call(b"a", "second"), first);
        assert_ne!(call(b"b", "second"), first);
        assert_eq!(asked.get(), 2);
    }

    #[test]
    fn who_waits_asks_himself_when_who_asked_goes_away() {
        let memo = Memo::default();
        let mut first = Box::pin(memo.call(KeyRef::of(b"a"), Served::clone, pending()));
        let mut second = Box::pin(memo.call(KeyRef::of(b"a"), Served::clone, ready(says("second"))));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none(), "it waits for the first");
        drop(first);
        assert!(read_failure(second.now_or_never()).contains("second"));
    }

    #[test]
    fn what_is_too_much_is_not_held() {
        let memo = Memo::default();
        assert!(memo.reserve_bytes(BYTES_MAX) && !memo.reserve_bytes(1) && memo.reserve_bytes(0));
        let [a, b] = [b"a", b"b"].map(|it| KeyRef::of(it));
        let loader = memo.loader(a, 1);
        assert!(Arc::ptr_eq(&loader, &memo.loader(a, 1)) && !Arc::ptr_eq(&loader, &memo.loader(b, 1)));
    }
}

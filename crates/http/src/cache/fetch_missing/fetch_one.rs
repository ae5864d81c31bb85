//! Fetches one answer that nobody has, by one call: what `fetch_missing` does for many keys, without its lists.
//!
//! **Invariant:** what a request sees is what it would see of `fetch_missing`, whose rules for seats and flights hold here.
//!
//! **Cost:** a key, a place where others wait, and one allocation for the call with all that becomes of its answer. An answer that
//! nobody may share needs the last one only.

use super::{Missing, OwnJob, Seated, Waited};
use crate::cache::counters::Outcome;
use crate::cache::entry::Entry;
use crate::cache::freshness::Fate;
use crate::cache::job::Asks;
use crate::cache::state::CacheState;
use crate::cache::{Failure, Served, Wanted};
use crate::call::{Answer, CallError};
use std::future::Future;
use std::sync::Arc;

impl CacheState {
    /// Joins the call in flight for the key, or makes `call`. `last` is served if the upstream fails.
    pub(in crate::cache) async fn fetch_one<C, F>(
        self: &Arc<Self>,
        wanted: Wanted<'_>,
        last: Option<Arc<Entry>>,
        call: C,
    ) -> Result<Served, Failure>
    where
        C: FnOnce() -> F + Send,
        F: Future<Output = Result<Answer, Failure>> + Send + 'static,
    {
        let missing = Missing { place: 0, key: wanted.key.into(), last };
        let (at, flight) = self.take_seat(&missing.key, wanted.deadline, self.clock.now_ms());
        let seated = Seated { missing, at };
        let mut call = Some(call);
        let led = flight.and_then(|flight| Some((flight, call.take()?)));
        if let Some((flight, call)) = led {
            let mut own = OwnJob(Some(Box::pin(self.job(wanted).run_one(call(), flight))));
            let _ = tokio::time::timeout_at(wanted.deadline.into(), &mut own).await;
        }
        let landed = match seated.known_result() {
            Some(landed) => landed,
            None => seated.await_flight(wanted.deadline).await,
        };
        let waited = self.settle(wanted, &seated, landed, self.clock.now_ms());
        let mut ask = || call.take().map(|call| Asks::One(Box::pin(call())));
        let (missing, alone) = match waited {
            Waited::Served(result) => return result,
            Waited::Alone => (Vec::new(), vec![seated.missing]),
            Waited::Again => (vec![seated.missing], Vec::new()),
        };
        // A boxed future: few requests come here, and without the box it would enlarge all of them.
        let settled = Box::pin(self.fetch_missing(wanted, missing, alone, &mut ask)).await;
        settled.into_iter().next().map_or(Err(CallError::Timeout.into()), |(_, result)| result)
    }

    /// Makes a call whose answer is for this request alone. One that may be shared is kept, which ends this mode for its key.
    pub(in crate::cache) async fn fetch_alone(
        self: &Arc<Self>,
        wanted: Wanted<'_>,
        call: impl Future<Output = Result<Answer, Failure>>,
    ) -> Result<Served, Failure> {
        let job = self.job(wanted);
        let late = |_| Err(CallError::Timeout.into());
        let made = tokio::time::timeout_at(wanted.deadline.into(), job.fetch_one(call)).await;
        let (fate, entry) =
            made.unwrap_or_else(late).inspect_err(|_| wanted.rule.counters.count_failure())?;
        if fate == Fate::Keep {
            job.keep(&wanted.key.into(), fate, &entry);
        }
        Ok(self.serve(wanted.rule, entry, Outcome::Pass))
    }
}

//! A service and its state: limits, retries and hedging of calls.

use super::addresses::{Lookup, SystemLookup};
use super::answer_rules::AnswerTaker;
use super::attempt::{CalledEndpoint, ServiceRoutes};
use super::call_error::{CallError, Cause};
use super::connection::{FailedAttempt, Stream};
use super::dial::Dialer;
use super::endpoint::Endpoint;
use super::resilience::breaker::{Breaker, Pass};
use super::resilience::budget::Budget;
use super::resilience::latency::Latency;
use super::resilience::retry;
use super::settings::{CallPolicy, SettingsError, UpstreamSettings};
use super::trace::CallGuard;
use super::{Answer, Ask, CallCounts, Failure, Went};
use futures_util::future::{Either, select};
use http::StatusCode;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use weir_engine::source::{AddressCheck, ServiceCalls, ServiceCheck};

/// One service, shared by all its callers.
pub struct Upstream {
    routes: ServiceRoutes,
    policy: CallPolicy,
    budget: Budget,
    breaker: Option<Breaker>,
    latency: Option<Latency>,
    slots: Semaphore,
    waiting: AtomicUsize,
}

/// Current load of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Attempts in flight.
    pub in_flight: u64,
    /// Calls queued because the limit of calls in flight is reached.
    pub waiting: u64,
    /// True if the breaker is open; `None` if there is no breaker.
    pub is_broken: Option<bool>,
}

impl Load {
    /// Combines this load of `service` with the counters of its callers.
    pub(crate) fn calls<'c>(
        self,
        service: Arc<str>,
        callers: impl IntoIterator<Item = &'c CallCounts>,
    ) -> ServiceCalls {
        let Self { in_flight, waiting, is_broken } = self;
        let callers = callers.into_iter().map(CallCounts::calls).collect();
        ServiceCalls { service, in_flight, waiting, is_broken, callers }
    }
}

type CallOutcome = Result<Answer, FailedAttempt>;

impl Upstream {
    /// Prepares a service; connections are opened by the first call.
    /// # Errors
    /// The base URL names no service, or certificates cannot be read.
    pub fn new(settings: &UpstreamSettings) -> Result<Self, SettingsError> {
        Self::with_lookup(settings, Arc::new(SystemLookup))
    }

    /// Like [`Upstream::new`], with `lookup` as the resolver.
    /// # Errors
    /// See [`Upstream::new`].
    pub fn with_lookup(settings: &UpstreamSettings, lookup: Arc<dyn Lookup>) -> Result<Self, SettingsError> {
        let policy = settings.policy.clone();
        Ok(Self {
            routes: ServiceRoutes::new(Dialer::new(settings)?, &policy, lookup),
            budget: Budget::new(policy.retry_budget_percent),
            breaker: policy.breaker.map(Breaker::new),
            latency: policy.hedge_percentile.map(Latency::new),
            slots: Semaphore::new(policy.calls_max.min(Semaphore::MAX_PERMITS)),
            waiting: AtomicUsize::new(0),
            policy,
        })
    }

    /// Default timeout of a call.
    pub fn timeout(&self) -> Duration {
        self.policy.timeout
    }

    /// Takes headers of answers for the client, if the policy names any.
    pub(crate) fn answer_taker(&self) -> Option<AnswerTaker> {
        AnswerTaker::new(&self.policy)
    }

    /// Current load.
    pub fn load(&self) -> Load {
        let calls_max = self.policy.calls_max.min(Semaphore::MAX_PERMITS);
        Load {
            in_flight: calls_max.saturating_sub(self.slots.available_permits()) as u64,
            waiting: self.waiting.load(Ordering::Relaxed) as u64,
            is_broken: self.breaker.as_ref().map(|it| !it.is_passable(Instant::now())),
        }
    }

    /// Opens a byte stream to the service, for what is no call.
    /// # Errors
    /// It cannot be reached.
    pub(crate) async fn open_stream(&self) -> Result<Stream, CallError> {
        self.routes.open_stream().await
    }

    /// Opens a connection to each address of the service, and says how it went.
    /// # Errors
    /// The name has no address.
    pub async fn check_addresses(&self) -> Result<Vec<AddressCheck>, CallError> {
        self.routes.check_addresses().await
    }

    /// Like [`Upstream::check_addresses`], for the service called `service`.
    pub(crate) async fn check(&self, service: Arc<str>) -> ServiceCheck {
        let addresses = self.check_addresses().await.map_err(|it| it.to_string());
        ServiceCheck { service, addresses }
    }

    /// Calls the service. Dropping the future cancels the call.
    /// # Errors
    /// There is no answer. An answer of any status is no error.
    pub async fn call(&self, ask: &Ask) -> Result<Answer, Failure> {
        let guard = CallGuard::new(ask, self.routes.service());
        let outcome = self.call_within(ask).await;
        guard.end(&outcome);
        outcome
    }

    /// Like [`Upstream::call`], without a report to the observer.
    async fn call_within(&self, ask: &Ask) -> Result<Answer, Failure> {
        let begun = Instant::now();
        let within = begun + ask.timeout.unwrap_or(self.policy.timeout);
        let deadline = within.min(Instant::from_std(ask.deadline));
        let tries = Tries::default();
        self.budget.earn();
        let mut tried = 0;
        let outcome = loop {
            let outcome = match &self.latency {
                Some(latency) if ask.idempotent => Box::pin(self.hedge(ask, latency, deadline, &tries)).await,
                Some(_) | None => self.attempt(ask, deadline, &tries).await,
            };
            let Some(again_at) = self.retry_at(ask, &outcome, tried) else { break outcome };
            if again_at >= deadline || !self.budget.spend() {
                break outcome;
            }
            sleep(again_at.saturating_duration_since(Instant::now())).await;
            tried += 1;
        };
        let went = tries.into_went(begun.elapsed());
        match outcome {
            Ok(answer) => Ok(Answer { went, ..answer }),
            Err(failed) => Err(Failure { error: failed.error, went }),
        }
    }

    /// Time of the next retry after `outcome`; `None` for no retry.
    fn retry_at(&self, ask: &Ask, outcome: &CallOutcome, tried: u32) -> Option<Instant> {
        if tried >= self.policy.retries {
            return None;
        }
        let asked_for = match outcome {
            Ok(answer) if ask.idempotent => {
                retry::wait_after(answer.status, &answer.headers, SystemTime::now())?
            }
            Err(failure) if ask.idempotent || failure.is_unsent => match failure.error {
                CallError::Unavailable(Cause::Name | Cause::Connect | Cause::Connection, _) => {
                    Default::default()
                }
                CallError::Unavailable(Cause::Encryption, _)
                | CallError::Timeout
                | CallError::Busy
                | CallError::Broken
                | CallError::TooLarge { .. }
                | CallError::Coded(_)
                | CallError::Packed(_)
                | CallError::Redirected
                | CallError::Unmade { .. } => return None,
            },
            Ok(_) | Err(_) => return None,
        };
        Instant::now().checked_add(asked_for.max(retry::backoff(tried, fastrand::f64())))
    }

    /// Calls, and starts a second attempt if the first takes longer than usual. The first usable answer wins.
    async fn hedge(&self, ask: &Ask, latency: &Latency, deadline: Instant, tries: &Tries) -> CallOutcome {
        let Some(usual) = latency.usual() else { return self.attempt(ask, deadline, tries).await };
        let begun = Instant::now();
        let mut first = pin!(self.attempt(ask, deadline, tries));
        if let Ok(outcome) = timeout(usual, &mut first).await {
            return outcome;
        }
        if self.slots.available_permits() == 0 || !self.budget.spend() {
            return first.await;
        }
        tries.hedges.fetch_add(1, Ordering::Relaxed);
        let second = pin!(self.attempt(ask, deadline, tries));
        match select(first, second).await {
            Either::Left((outcome, _)) if is_usable_answer(&outcome) => outcome,
            Either::Left((_, second)) => second.await,
            Either::Right((outcome, _)) if is_usable_answer(&outcome) => {
                // The first attempt would have taken longer still. Without its time the percentile would shrink.
                latency.record(begun.elapsed());
                outcome
            }
            Either::Right((_, first)) => first.await,
        }
    }

    /// Makes one attempt, if a slot is free in time and the breaker is closed.
    async fn attempt(&self, ask: &Ask, deadline: Instant, tries: &Tries) -> CallOutcome {
        let now = Instant::now();
        if self.breaker.as_ref().is_some_and(|it| !it.is_passable(now)) {
            return Err(CallError::Broken.into());
        }
        let _slot = self.acquire_slot(deadline).await?;
        tries.attempts.fetch_add(1, Ordering::Relaxed);
        let begun = Instant::now();
        let pass = match &self.breaker {
            Some(breaker) => breaker.pass(begun).ok_or(CallError::Broken)?,
            None => Pass::FREE,
        };
        let mut called = CalledEndpoint::None;
        let outcome = match timeout_at(deadline, self.routes.ask(ask, &mut called)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                called.iter().for_each(|it| self.routes.note_timeout(it.endpoint()));
                Err(CallError::Timeout.into())
            }
        };
        let ended = Instant::now();
        tries.note_address(called.as_ref().map(|it| it.endpoint().address));
        if let Some(called) = called {
            note_outcome(called.endpoint(), &outcome, ended, ended - begun);
        }
        if let (Some(latency), true) = (&self.latency, is_usable_answer(&outcome)) {
            latency.record(ended - begun);
        }
        pass.end(has_failed(&outcome), ended);
        outcome
    }

    /// Waits for a slot within the limit of calls in flight.
    async fn acquire_slot(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, CallError> {
        if let Ok(slot) = self.slots.try_acquire() {
            return Ok(slot);
        }
        let place = QueuePlace::take(&self.waiting, self.policy.queue_max).ok_or(CallError::Busy)?;
        let slot = timeout_at(deadline, self.slots.acquire()).await;
        drop(place);
        match slot {
            Ok(Ok(slot)) => Ok(slot),
            Ok(Err(_)) | Err(_) => Err(CallError::Busy),
        }
    }
}

/// The attempts of one call.
#[derive(Default)]
struct Tries {
    attempts: AtomicU32,
    hedges: AtomicU32,
    last: Mutex<Option<SocketAddr>>,
}

impl Tries {
    fn note_address(&self, address: Option<SocketAddr>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = address.or(*last);
    }

    fn into_went(self, took: Duration) -> Went {
        let address = self.last.into_inner().unwrap_or_else(PoisonError::into_inner);
        let attempts = self.attempts.into_inner();
        let hedges = self.hedges.into_inner();
        Went { address, attempts, hedges, took }
    }
}

/// Records what an attempt says of its address. Errors of a server may be quick, so they make no address look fast.
fn note_outcome(endpoint: &Endpoint, outcome: &CallOutcome, ended: Instant, took: Duration) {
    match outcome {
        Ok(answer) => {
            endpoint.note_answer(ended);
            if !answer.status.is_server_error() {
                endpoint.note_latency(ended, took);
            }
        }
        Err(FailedAttempt { error: CallError::Redirected, .. }) => endpoint.note_answer(ended),
        Err(FailedAttempt { error: CallError::Timeout, .. }) => endpoint.note_latency(ended, took),
        Err(_) => {}
    }
}

/// True if the result means that the service is unhealthy.
fn has_failed(outcome: &CallOutcome) -> bool {
    match outcome {
        Ok(answer) => retry::is_failure(answer.status),
        Err(failure) => match failure.error {
            CallError::Timeout | CallError::Unavailable(..) => true,
            CallError::Busy
            | CallError::Broken
            | CallError::TooLarge { .. }
            | CallError::Coded(_)
            | CallError::Packed(_)
            | CallError::Redirected
            | CallError::Unmade { .. } => false,
        },
    }
}

/// True if the answer can be used without a retry.
fn is_usable_answer(outcome: &CallOutcome) -> bool {
    outcome
        .as_ref()
        .is_ok_and(|it| !retry::is_failure(it.status) && it.status != StatusCode::TOO_MANY_REQUESTS)
}

/// A place in the queue, released on drop.
struct QueuePlace<'q>(&'q AtomicUsize);

impl<'q> QueuePlace<'q> {
    fn take(waiting: &'q AtomicUsize, most: usize) -> Option<Self> {
        let place = Self(waiting);
        (waiting.fetch_add(1, Ordering::Relaxed) < most).then_some(place)
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upstream").field("policy", &self.policy).finish_non_exhaustive()
    }
}

//! A service and what is known about it: decides when it is asked, how often, and what is made of the outcome.

use super::attempt::Line;
use super::breaker::{Breaker, Pass};
use super::budget::Budget;
use super::connection::Failure;
use super::dial::Dialer;
use super::error::{CallError, Cause};
use super::latency::Latency;
use super::retry;
use super::settings::{Policy, Settings, SettingsError};
use super::{Answer, Ask};
use futures_util::future::{Either, select};
use http::StatusCode;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// One service, shared by all that call it.
pub struct Upstream {
    line: Line,
    policy: Policy,
    budget: Budget,
    breaker: Option<Breaker>,
    latency: Option<Latency>,
    slots: Semaphore,
    waiting: AtomicUsize,
}

/// What an attempt came to.
type Outcome = Result<Answer, Failure>;

impl Upstream {
    /// Nothing is sent yet.
    /// # Errors
    /// A base URL that names no service, or certificates that cannot be read.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let policy = settings.policy.clone();
        Ok(Self {
            line: Line::new(Dialer::new(settings)?, &policy),
            budget: Budget::new(policy.retry_budget_percent),
            breaker: policy.breaker.map(Breaker::new),
            latency: policy.hedge_percentile.map(Latency::new),
            slots: Semaphore::new(policy.calls_max.min(Semaphore::MAX_PERMITS)),
            waiting: AtomicUsize::new(0),
            policy,
        })
    }

    /// How long a call may take that says nothing itself.
    pub fn timeout(&self) -> Duration {
        self.policy.timeout
    }

    /// Asks the service. Dropping the future gives up.
    /// # Errors
    /// There is no answer; an answer of any status is no error.
    pub async fn call(&self, ask: &Ask) -> Result<Answer, CallError> {
        let within = Instant::now() + ask.timeout.unwrap_or(self.policy.timeout);
        let deadline = within.min(Instant::from_std(ask.deadline));
        self.budget.earn();
        let mut tried = 0;
        loop {
            let outcome = match &self.latency {
                Some(latency) if ask.idempotent => Box::pin(self.hedge(ask, latency, deadline)).await,
                Some(_) | None => self.attempt(ask, deadline).await,
            };
            let Some(again_at) = self.again_at(ask, &outcome, tried) else {
                return outcome.map_err(|it| it.error);
            };
            if again_at >= deadline || !self.budget.spend() {
                return outcome.map_err(|it| it.error);
            }
            sleep(again_at.saturating_duration_since(Instant::now())).await;
            tried += 1;
        }
    }

    /// When what came to `outcome` may be tried again, if ever.
    fn again_at(&self, ask: &Ask, outcome: &Outcome, tried: u32) -> Option<Instant> {
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
                | CallError::Redirected => return None,
            },
            Ok(_) | Err(_) => return None,
        };
        Instant::now().checked_add(asked_for.max(retry::backoff(tried, fastrand::f64())))
    }

    /// Asks, and once more if the answer takes longer than usual; whichever is good first is the answer.
    async fn hedge(&self, ask: &Ask, latency: &Latency, deadline: Instant) -> Outcome {
        let Some(usual) = latency.usual() else { return self.attempt(ask, deadline).await };
        let begun = Instant::now();
        let mut first = pin!(self.attempt(ask, deadline));
        if let Ok(outcome) = timeout(usual, &mut first).await {
            return outcome;
        }
        if self.slots.available_permits() == 0 || !self.budget.spend() {
            return first.await;
        }
        let second = pin!(self.attempt(ask, deadline));
        match select(first, second).await {
            Either::Left((outcome, _)) if is_good(&outcome) => outcome,
            Either::Left((_, second)) => second.await,
            Either::Right((outcome, _)) if is_good(&outcome) => {
                // The first would have taken longer still: without it the usual would shrink.
                latency.record(begun.elapsed());
                outcome
            }
            Either::Right((_, first)) => first.await,
        }
    }

    /// Asks once, if a slot is free in time and the breaker lets it.
    async fn attempt(&self, ask: &Ask, deadline: Instant) -> Outcome {
        let now = Instant::now();
        if self.breaker.as_ref().is_some_and(|it| !it.is_passable(now)) {
            return Err(CallError::Broken.into());
        }
        let _slot = self.slot(deadline).await?;
        let begun = Instant::now();
        let pass = match &self.breaker {
            Some(breaker) => breaker.pass(begun).ok_or(CallError::Broken)?,
            None => Pass::FREE,
        };
        let outcome = match timeout_at(deadline, self.line.ask(ask)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                self.line.doubt();
                Err(CallError::Timeout.into())
            }
        };
        let ended = Instant::now();
        if let (Some(latency), true) = (&self.latency, is_good(&outcome)) {
            latency.record(ended - begun);
        }
        pass.end(has_failed(&outcome), ended);
        outcome
    }

    /// Waits for one of the calls under way to end, if as many as may be are.
    async fn slot(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, CallError> {
        if let Ok(slot) = self.slots.try_acquire() {
            return Ok(slot);
        }
        let place = Place::take(&self.waiting, self.policy.queue_max).ok_or(CallError::Busy)?;
        let slot = timeout_at(deadline, self.slots.acquire()).await;
        drop(place);
        match slot {
            Ok(Ok(slot)) => Ok(slot),
            Ok(Err(_)) | Err(_) => Err(CallError::Busy),
        }
    }
}

/// Whether an outcome says that the service is not well.
fn has_failed(outcome: &Outcome) -> bool {
    match outcome {
        Ok(answer) => retry::is_failure(answer.status),
        Err(failure) => match failure.error {
            CallError::Timeout | CallError::Unavailable(..) => true,
            CallError::Busy
            | CallError::Broken
            | CallError::TooLarge { .. }
            | CallError::Coded(_)
            | CallError::Redirected => false,
        },
    }
}

/// Whether an outcome is an answer that need not be compared with another.
fn is_good(outcome: &Outcome) -> bool {
    outcome
        .as_ref()
        .is_ok_and(|it| !retry::is_failure(it.status) && it.status != StatusCode::TOO_MANY_REQUESTS)
}

/// A place in the queue, as long as it lives.
struct Place<'q>(&'q AtomicUsize);

impl<'q> Place<'q> {
    fn take(waiting: &'q AtomicUsize, most: usize) -> Option<Self> {
        let place = Self(waiting);
        (waiting.fetch_add(1, Ordering::Relaxed) < most).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upstream").field("policy", &self.policy).finish_non_exhaustive()
    }
}

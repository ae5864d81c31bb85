//! One address of a service: its health, its calls in flight and how long its answers take.
//!
//! An address that takes no connections, breaks them, or lets several calls in a row time out is left out for a pause that doubles;
//! then one call finds out how it is. Once it answers again its share of the calls grows slowly.
//!
//! **Cost:** a call adds to two counters and stores two numbers; nothing is locked.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use weir_engine::source::AddressState;

/// Pause after the first failure of an address, in milliseconds; it doubles with each further failure.
const PAUSE_MIN_MS: u64 = 1000;

/// The longest pause.
const PAUSE_MAX_MS: u64 = 30_000;

/// Number of consecutive timeouts of an address that count as a failure.
pub(super) const TIMEOUTS_MAX: u32 = 3;

/// Time in which an address that answers again gets its whole share of the calls.
const WARM_UP_MS: u64 = 10_000;

/// Number of equally probable draws by which an address that warms up gets a call or not.
pub(super) const DRAWS: u64 = 1024;

/// Smallest share of the calls that an address is considered for while it warms up, in draws: a tenth.
const WARMTH_MIN: u64 = DRAWS / 10;

/// Time without an answer after which the latency of an address counts half, so that a slow one is tried again.
const LATENCY_HALVES_MS: u64 = 5000;

/// Latencies below this are alike, in microseconds.
const LATENCY_MIN_US: u64 = 1000;

/// One address of a service and its recent health.
pub(super) struct Endpoint {
    pub(super) address: SocketAddr,
    /// Failures since the last answer.
    failures: AtomicU32,
    /// Timeouts since the last answer or failure.
    timeouts: AtomicU32,
    /// When the pause after the last failure ends, in milliseconds after `begun`.
    resumes_ms: AtomicU64,
    /// Attempts under way.
    in_flight: AtomicU32,
    /// Smoothed latency of the answers, in microseconds; 0 before the first.
    latency_us: AtomicU64,
    /// When `latency_us` was measured, in milliseconds after `begun`.
    measured_ms: AtomicU64,
    /// When its share of the calls is whole, in milliseconds after `begun`; 0 for one that never failed.
    warm_ms: AtomicU64,
    begun: Instant,
}

impl Endpoint {
    pub(super) fn new(address: SocketAddr, now: Instant) -> Self {
        let zero = AtomicU64::default;
        Self {
            address,
            failures: AtomicU32::default(),
            timeouts: AtomicU32::default(),
            resumes_ms: zero(),
            in_flight: AtomicU32::default(),
            latency_us: zero(),
            measured_ms: zero(),
            warm_ms: zero(),
            begun: now,
        }
    }

    /// An address that joins others which are in use: it warms up.
    pub(super) fn joining(address: SocketAddr, now: Instant) -> Self {
        Self { warm_ms: AtomicU64::new(WARM_UP_MS), ..Self::new(address, now) }
    }

    fn ms(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.begun).as_millis()).unwrap_or(u64::MAX)
    }

    /// Records an answer: the address is healthy.
    pub(super) fn note_answer(&self, now: Instant) {
        self.timeouts.store(0, Ordering::Relaxed);
        if !self.is_healthy() && self.failures.swap(0, Ordering::Relaxed) > 0 {
            self.warm_ms.store(self.ms(now) + WARM_UP_MS, Ordering::Relaxed);
            tracing::info!(address = %self.address, "an address of a service answers again");
        }
    }

    /// Records how long a call took that ended with an answer or a timeout.
    pub(super) fn note_latency(&self, now: Instant, took: Duration) {
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1);
        let now_ms = self.ms(now);
        let earlier_ms = self.measured_ms.swap(now_ms, Ordering::Relaxed);
        let before_us = self.latency_us.load(Ordering::Relaxed);
        let is_forgotten = before_us == 0 || now_ms.saturating_sub(earlier_ms) > LATENCY_HALVES_MS;
        let latency_us = if is_forgotten { took_us } else { before_us - before_us / 8 + took_us / 8 };
        self.latency_us.store(latency_us, Ordering::Relaxed);
    }

    /// Records a refused or broken connection. Concurrent failures count once.
    pub(super) fn note_failure(&self, now: Instant, reason: &dyn std::fmt::Display) {
        if self.is_left_out(now) {
            return;
        }
        let failures = self.failures.fetch_add(1, Ordering::Relaxed);
        self.timeouts.store(0, Ordering::Relaxed);
        self.resumes_ms.store(self.ms(now) + pause_ms(failures), Ordering::Relaxed);
        tracing::warn!(address = %self.address, %reason, "an address of a service failed");
    }

    /// Records a timeout of a call.
    pub(super) fn note_timeout(&self, now: Instant) {
        if self.timeouts.fetch_add(1, Ordering::Relaxed) + 1 >= TIMEOUTS_MAX {
            self.note_failure(now, &"calls time out");
        }
    }

    /// Records that it takes connections: if it is left out, its pause ends, and the next call tries it.
    pub(super) fn note_connection(&self, now: Instant) {
        self.resumes_ms.fetch_min(self.ms(now), Ordering::Relaxed);
    }

    fn is_left_out(&self, now: Instant) -> bool {
        !self.is_healthy() && self.left_ms(now) > 0
    }

    /// Time left of the current pause, in milliseconds.
    pub(super) fn left_ms(&self, now: Instant) -> u64 {
        self.resumes_ms.load(Ordering::Relaxed).saturating_sub(self.ms(now))
    }

    pub(super) fn is_healthy(&self) -> bool {
        self.failures.load(Ordering::Relaxed) == 0
    }

    pub(super) fn state(&self, now: Instant) -> AddressState {
        if !self.is_healthy() {
            AddressState::LeftOut
        } else if self.warmth(now) < DRAWS {
            AddressState::WarmingUp
        } else {
            AddressState::Used
        }
    }

    /// Number of attempts under way.
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Latency as it counts now; `None` before the first answer.
    pub(super) fn latency(&self, now: Instant) -> Option<Duration> {
        Some(self.latency_us(now)).filter(|it| *it > 0).map(Duration::from_micros)
    }

    fn latency_us(&self, now: Instant) -> u64 {
        let silent_ms = self.ms(now).saturating_sub(self.measured_ms.load(Ordering::Relaxed));
        let halvings = (silent_ms / LATENCY_HALVES_MS).min(63);
        self.latency_us.load(Ordering::Relaxed) >> halvings
    }

    /// Draws of [`DRAWS`] by which a call that would go to it does.
    pub(super) fn warmth(&self, now: Instant) -> u64 {
        let left_ms = self.warm_ms.load(Ordering::Relaxed).saturating_sub(self.ms(now));
        (DRAWS - DRAWS * left_ms.min(WARM_UP_MS) / WARM_UP_MS).max(WARMTH_MIN)
    }

    /// True if a call should go to `self` in place of `other`: it is less busy. Calls of an address that takes more than double the time
    /// count by that time.
    pub(super) fn is_less_busy(&self, other: &Self, now: Instant) -> bool {
        let own_us = self.latency_us(now);
        let other_us = other.latency_us(now);
        let busy = |it: &Self| u64::from(it.in_flight()) + 1;
        if own_us == 0 || other_us == 0 {
            return busy(self) < busy(other);
        }
        let own_us = own_us.max(LATENCY_MIN_US);
        let other_us = other_us.max(LATENCY_MIN_US);
        let are_alike = own_us <= other_us.saturating_mul(2) && other_us <= own_us.saturating_mul(2);
        let order = if are_alike {
            busy(self).cmp(&busy(other))
        } else {
            busy(self).saturating_mul(own_us).cmp(&busy(other).saturating_mul(other_us))
        };
        order.is_lt()
    }

    /// True for the one call per pause that probes the address again.
    pub(super) fn begins_trial(&self, now: Instant) -> bool {
        let failures = self.failures.load(Ordering::Relaxed);
        if failures == 0 {
            return false;
        }
        let resumes_ms = self.resumes_ms.load(Ordering::Relaxed);
        let now_ms = self.ms(now);
        let next_ms = now_ms + pause_ms(failures);
        let stored = Ordering::Relaxed;
        let read = Ordering::Relaxed;
        let is_first = now_ms >= resumes_ms
            && self.resumes_ms.compare_exchange(resumes_ms, next_ms, stored, read).is_ok();
        if is_first {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        is_first
    }
}

/// An attempt under way at an address; it counts there until it is dropped.
pub(super) struct EndpointCall(Arc<Endpoint>);

impl EndpointCall {
    pub(super) fn begin(endpoint: Arc<Endpoint>) -> Self {
        endpoint.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(endpoint)
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        &self.0
    }
}

impl Drop for EndpointCall {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Pause after a failure that follows `earlier` others.
fn pause_ms(earlier: u32) -> u64 {
    (PAUSE_MIN_MS << earlier.min(16)).min(PAUSE_MAX_MS)
}

//! Circuit breaker: stops calls to a failing service, and probes it with one call after a pause.
//!
//! **Invariant:** while it is open nothing is sent; when the pause is over one attempt is let through, and others only when it
//! has succeeded. Who is let through and gives up without a verdict makes room for the next to find out.
//!
//! **Cost:** two locks for an attempt, held for a few additions.

use crate::call::settings::BreakerPolicy;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Number of slices of the sliding window.
const SLICES: u32 = 10;

/// Minimum number of attempts in the window before the breaker may open.
const ATTEMPTS_MIN: u32 = 10;

/// The circuit breaker of one service.
pub(crate) struct Breaker {
    policy: BreakerPolicy,
    state: Mutex<State>,
}

struct State {
    phase: Phase,
    begun: Instant,
    slices: [Slice; SLICES as usize],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// All attempts pass.
    Closed,
    /// No attempt passes before this instant.
    Open(Instant),
    /// One probe is in flight.
    Probing,
}

/// Counters of one slice.
#[derive(Clone, Copy, Default)]
struct Slice {
    /// Number of the slice since the breaker was created.
    number: u64,
    attempts: u32,
    failures: u32,
}

/// Permission for one attempt. If it is dropped without a result, the attempt does not count.
pub(crate) struct Pass<'b> {
    breaker: Option<&'b Breaker>,
    is_probe: bool,
}

impl Breaker {
    pub(crate) fn new(policy: BreakerPolicy) -> Self {
        let state = State { phase: Phase::Closed, begun: Instant::now(), slices: Default::default() };
        Self { policy, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if an attempt at `now` would be allowed.
    pub(crate) fn is_passable(&self, now: Instant) -> bool {
        match self.state().phase {
            Phase::Closed => true,
            Phase::Open(until) => now >= until,
            Phase::Probing => false,
        }
    }

    /// Returns a permission for one attempt; `None` while the breaker is open.
    pub(crate) fn pass(&self, now: Instant) -> Option<Pass<'_>> {
        let mut state = self.state();
        let is_probe = match state.phase {
            Phase::Closed => false,
            Phase::Open(until) if now >= until => true,
            Phase::Open(_) | Phase::Probing => return None,
        };
        if is_probe {
            state.phase = Phase::Probing;
        }
        Some(Pass { breaker: Some(self), is_probe })
    }

    fn slice_of(&self, state: &State, now: Instant) -> u64 {
        let slice = (self.policy.window / SLICES).max(Duration::from_nanos(1));
        let number = now.saturating_duration_since(state.begun).as_nanos() / slice.as_nanos();
        u64::try_from(number).unwrap_or(u64::MAX)
    }

    fn record(&self, has_failed: bool, now: Instant) {
        let mut state = self.state();
        if state.phase != Phase::Closed {
            return;
        }
        let number = self.slice_of(&state, now);
        let slice = &mut state.slices[(number % u64::from(SLICES)) as usize];
        if slice.number != number {
            *slice = Slice { number, ..Slice::default() };
        }
        slice.attempts += 1;
        slice.failures += u32::from(has_failed);
        let is_recent = |it: &&Slice| number.saturating_sub(it.number) < u64::from(SLICES);
        let recent = state.slices.iter().filter(is_recent);
        let (attempts, failures) =
            recent.fold((0, 0), |(all, failed), it| (all + it.attempts, failed + it.failures));
        if attempts >= ATTEMPTS_MIN && failures * 100 >= attempts * u32::from(self.policy.errors_percent) {
            tracing::warn!(attempts, failures, "a service is left alone for a while");
            state.phase = Phase::Open(now + self.policy.pause);
        }
    }

    /// Ends a probe with its result; `None` if it was dropped.
    fn conclude(&self, has_failed: Option<bool>, now: Instant) {
        let mut state = self.state();
        state.phase = match has_failed {
            Some(false) => Phase::Closed,
            Some(true) => Phase::Open(now + self.policy.pause),
            None => Phase::Open(now),
        };
        if state.phase == Phase::Closed {
            state.slices = Default::default();
        }
    }
}

impl Pass<'_> {
    /// Permission for services without a breaker.
    pub(crate) const FREE: Self = Pass { breaker: None, is_probe: false };

    /// Records the result of the attempt.
    pub(crate) fn end(mut self, has_failed: bool, now: Instant) {
        match self.breaker.take() {
            None => {}
            Some(breaker) if self.is_probe => breaker.conclude(Some(has_failed), now),
            Some(breaker) => breaker.record(has_failed, now),
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if let (Some(breaker), true) = (self.breaker, self.is_probe) {
            breaker.conclude(None, Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(10);
    const PAUSE: Duration = Duration::from_secs(1);

    /// A breaker after `failures` of ten attempts failed, and when that was.
    fn after(failures: usize) -> (Breaker, Instant) {
        let breaker = Breaker::new(BreakerPolicy { errors_percent: 50, window: WINDOW, pause: PAUSE });
        let now = Instant::now();
        (0..10).for_each(|at| breaker.pass(now).unwrap().end(at < failures, now));
        (breaker, now)
    }

    #[test]
    fn it_opens_when_half_of_ten_failed() {
        let (breaker, now) = after(4);
        assert!(breaker.is_passable(now));
        let (breaker, now) = after(5);
        assert!(!breaker.is_passable(now) && breaker.pass(now).is_none());
    }

    #[test]
    fn failures_older_than_the_window_are_forgotten() {
        let (breaker, now) = after(4);
        let later = now + WINDOW;
        (0..9).for_each(|_| breaker.pass(later).unwrap().end(true, later));
        assert!(breaker.is_passable(later), "nine failed, of nine: too few to conclude from");
        breaker.pass(later).unwrap().end(true, later);
        assert!(!breaker.is_passable(later));
    }

    #[test]
    fn one_finds_out_and_the_others_follow_when_it_is_well() {
        let (breaker, now) = after(10);
        let later = now + PAUSE;
        let probe = breaker.pass(later).expect("the pause is over");
        assert!(breaker.pass(later).is_none(), "one is enough");
        probe.end(true, later);
        assert!(breaker.pass(later).is_none(), "it is not well: another pause");
        let later = later + PAUSE;
        breaker.pass(later).unwrap().end(false, later);
        let all: Vec<_> = (0..20).map_while(|_| breaker.pass(later)).collect();
        assert_eq!(all.len(), 20);
    }

    #[test]
    fn a_probe_that_gives_up_leaves_it_to_the_next() {
        let (breaker, now) = after(10);
        drop(breaker.pass(now + PAUSE).expect("the pause is over"));
        assert!(breaker.pass(Instant::now() + PAUSE).is_some());
    }
}

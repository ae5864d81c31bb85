//! Repeats reads that lost their connection, and transactions that lost a race with others, with growing pauses, within the request's deadline.
//!
//! A transaction is repeated only if the database said that nothing of it happened (40001, 40P01). One whose commit is in doubt, as
//! its connection broke or the database lost sight of it (40003), is never sent again.
//!
//! Where the flavour has a savepoint for it, the first repetitions are made in the same transaction, so that it keeps its place
//! among others.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, Instant};
use weir_postgres::error::Error;
use weir_postgres::local_settings::LocalSettings;
use weir_postgres::session::Session;
use weir_postgres::transaction::{Isolation, Transaction};
use weir_relational::dialect::flavour::Flavour;

/// A read that lost its connection, or a race with others, is asked again so often.
const READ_TRIES_MAX: u32 = 3;

/// True if a read that failed with `error` at its try number `tries` is asked again. A database that lost one of its nodes connects
/// to it anew, once.
pub(super) fn is_repeated(error: &Error, tries: u32) -> bool {
    tries < READ_TRIES_MAX && error.is_retryable() || tries == 1 && error.is_node_lost()
}

/// Attempts at a transaction that seldom loses a race.
const TRIES_MAX: u32 = 4;
/// Attempts where races are lost as a matter of course.
const TRIES_MAX_OF_REPEATERS: u32 = 10;
/// Number of attempts after which pauses stop growing: the longest is a quarter of a second.
const GROWTHS_MAX: u32 = 6;

/// The attempts at one transaction.
#[derive(Debug)]
pub(super) struct Retry {
    flavour: Flavour,
    deadline: Instant,
    tries: u32,
}

impl Retry {
    /// The first attempt, by a request that is over at `deadline`.
    pub(super) const fn new(flavour: Flavour, deadline: Instant) -> Self {
        Self { flavour, deadline, tries: 1 }
    }

    /// True until the transaction was repeated.
    pub(super) const fn is_first(&self) -> bool {
        self.tries == 1
    }

    /// Waits until the transaction may be tried again; `false`: it was tried often enough, or there is no time for it.
    pub(super) async fn wait_for_retry(&mut self) -> bool {
        let Some(pause) = self.next_pause() else { return false };
        tokio::time::sleep(pause).await;
        true
    }

    /// The pause before the next attempt, if there is to be one.
    fn next_pause(&mut self) -> Option<Duration> {
        let repeats = self.flavour.abilities().repeats;
        let tries_max = if repeats { TRIES_MAX_OF_REPEATERS } else { TRIES_MAX };
        let pause = pause(self.tries);
        if self.tries >= tries_max || Instant::now() + pause >= self.deadline {
            return None;
        }
        self.tries += 1;
        Some(pause)
    }

    /// Appends the beginning of the transaction to `session`, with its settings: those behind a savepoint would be lost with it.
    pub(super) fn begin(
        &self,
        session: &mut Session,
        isolation: Isolation,
        settings: Option<&LocalSettings>,
    ) {
        session.begin(Transaction::ReadWrite(isolation));
        settings.into_iter().for_each(|it| session.set_local(it));
        if self.flavour.abilities().restarts_at_savepoint {
            session.savepoint();
        }
    }

    /// Goes back to the beginning of a transaction that lost a race by `error`, on its own session; `false`: it needs another one.
    pub(super) async fn restart(
        &mut self,
        session: &mut Session,
        error: Option<&Error>,
        end: Instant,
    ) -> bool {
        let has_lost = error.and_then(Error::sqlstate).as_ref() == Some(b"40001");
        let has_savepoint = self.flavour.abilities().restarts_at_savepoint;
        has_lost && has_savepoint && self.wait_for_retry().await && session.restart(end).await
    }
}

/// Pause after attempt number `tries`, with jitter.
fn pause(tries: u32) -> Duration {
    let random = RandomState::new().build_hasher().finish();
    Duration::from_micros((random % 4000) << tries.min(GROWTHS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attempts until there are no more.
    fn check(flavour: Flavour, deadline: Instant, expected: u32) {
        let mut retry = Retry::new(flavour, deadline);
        while retry.next_pause().is_some() {}
        assert_eq!(retry.tries, expected, "{flavour:?}");
    }

    #[test]
    fn attempts_are_bounded_by_flavour_and_by_the_deadline() {
        let later = Instant::now() + Duration::from_secs(3600);
        check(Flavour::Postgres, later, 4);
        check(Flavour::Cockroach, later, 10);
        check(Flavour::Yugabyte, later, 10);
        check(Flavour::Cockroach, Instant::now(), 1);
        assert!((0..100).all(|_| pause(40) < Duration::from_millis(256)));
    }
}

//! How long the server takes for a statement that it is asked alone, and whether another connection would help.
//!
//! A connection answers in order: what is asked behind a statement waits for it. By Little's law requests in flight are
//! arrivals times the time of service, so a slow answer keeps few connections busy long before the server is. More of them help
//! if two things hold:
//!
//! 1. **The statement takes long even alone**: the server waits for another (a worker, a disk, the network), or has cores to
//!    spare. One that takes less than [`WORTH`] is answered faster by a larger batch than by one more connection.
//! 2. **It does not take longer under load**: a batch takes at most [`CONTENDED`] times as long as its statements did alone. Once it takes
//!    longer, the server or a pooler is at its capacity, and more connections make it slower.
//!
//! The shortest time alone is kept with each statement, since a load mixes short and long ones. It follows a server that
//! becomes slower, but so slowly that an overload does not pass for it.
//!
//! **Cost:** for each batch two loads of the clock; for each of its statements a relaxed load.

use crate::protocol::statement::{LITTLE_MAX_US, Statement};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A statement that takes less alone is not worth another connection.
const WORTH: Duration = Duration::from_micros(LITTLE_MAX_US as u64);
/// A server that takes so many times as long as for statements alone is at its capacity.
const CONTENDED: u32 = 2;

/// The time of a batch, from when it is sent until it is answered.
#[derive(Debug)]
pub(crate) struct BatchTime {
    sent: Instant,
    count: u32,
    /// Time that the statements take alone; `None` if one did not run yet.
    alone: Option<Duration>,
    /// The statement that all of them are, if so.
    single: Option<Arc<Statement>>,
}

impl BatchTime {
    /// The batch of these statements is sent now.
    pub(crate) fn start<'s>(statements: impl Iterator<Item = &'s Arc<Statement>>) -> Self {
        let mut count = 0;
        let mut alone = Some(Duration::ZERO);
        let mut single = None;
        for statement in statements {
            count += 1;
            single = match single {
                None if count == 1 => Some(statement),
                known => known.filter(|it: &&Arc<Statement>| it.id == statement.id),
            };
            let micros = statement.alone.micros();
            alone = alone.filter(|_| micros > 0).map(|it| it + Duration::from_micros(u64::from(micros)));
        }
        Self { sent: Instant::now(), count, alone, single: single.map(Arc::clone) }
    }

    /// When it was sent.
    pub(crate) const fn start_time(&self) -> Instant {
        self.sent
    }

    /// It is answered: whether another connection would help with such batches, if that is known.
    pub(crate) fn end(self) -> Option<bool> {
        let took = self.sent.elapsed();
        if let Some(single) = self.single {
            single.alone.note(took / self.count);
        }
        self.alone.map(|alone| would_help(self.count, alone, took))
    }
}

fn would_help(statements: u32, alone: Duration, took: Duration) -> bool {
    alone >= WORTH * statements && took <= alone * CONTENDED
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn another_connection_helps_with_what_takes_long_alone_and_no_longer_under_load() {
        for (statements, alone, took, expected) in [
            (1, 100, 100, false),
            (1, 100, 5_000, false),
            (64, 6_400, 3_000, false),
            (1, 1_100, 1_200, true),
            (1, 20_000, 20_100, true),
            (1, 20_000, 41_000, false),
            (4, 20_000, 20_500, true),
            (4, 20_000, 5_100, true),
        ] {
            let found = would_help(statements, micros(alone), micros(took));
            assert_eq!(found, expected, "{statements} statements, alone {alone} us, took {took} us");
        }
    }

    #[test]
    fn a_batch_with_a_statement_that_never_ran_tells_nothing() {
        let [one, other] = [(); 2].map(|()| Statement::new("SELECT 1", [], [], [], None));
        assert_eq!(BatchTime::start([&one].into_iter()).end(), None);
        assert!(BatchTime::start([&one].into_iter()).end().is_some());
        assert_eq!(BatchTime::start([&one, &other].into_iter()).end(), None);
        assert_eq!(other.alone.micros(), 0, "its part is not known");
        assert_eq!(BatchTime::start([&other, &other].into_iter()).end(), None);
        assert!(other.alone.micros() > 0);
    }
}

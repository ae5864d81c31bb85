//! The clock of an open loop: a thread that sleeps until each scheduled instant and hands the arrival over.
//!
//! A timer of the runtime would be a millisecond late; a thread's sleep is some 60 µs late.

use crate::notation::expression::mix;
use crate::plan::{Entry, Load, Share, cumulate};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// Arrivals that are handed over at once when several are due.
const BATCH: usize = 64;

/// A scheduled run of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    pub due: Instant,
    pub number: u64,
    pub flow: usize,
    /// The entry of a log.
    pub entry: Option<usize>,
}

/// Chooses flows by weight: the same number has the same flow in every process.
#[derive(Clone, Debug)]
pub(super) struct Mix {
    cumulated: Vec<f64>,
    seed: u64,
}

impl Mix {
    pub(super) fn new(weights: impl Iterator<Item = f64>, seed: u64) -> Self {
        Self { cumulated: cumulate(weights), seed }
    }

    pub(super) fn flow(&self, number: u64) -> usize {
        let drawn = fastrand::Rng::with_seed(mix(self.seed, number)).f64();
        self.cumulated.partition_point(|it| *it <= drawn).min(self.cumulated.len() - 1)
    }
}

/// A schedule: those arrivals of a load that belong to one process.
pub(super) struct Schedule {
    pub load: Load,
    pub mix: Mix,
    pub share: Share,
    pub seed: u64,
    /// The start of the measured period.
    pub start: Instant,
    pub warmup: Duration,
}

impl Schedule {
    /// All arrivals by time; those before `start` are warm-up. None in a closed loop.
    pub(super) fn arrivals(self) -> Box<dyn Iterator<Item = Arrival> + Send> {
        let Self { load, mix, share, seed, start, warmup } = self;
        match load {
            Load::Closed { .. } => Box::new(std::iter::empty()),
            Load::Replay { entries, .. } => Box::new(replayed_arrivals(entries, share, start)),
            Load::Open { profile, arrivals, .. } => {
                let rate = profile.first_rate();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a number of requests"
                )]
                let warm = (rate * warmup.as_secs_f64()) as u64;
                let begin = start.checked_sub(warmup).unwrap_or(start);
                let warm = (0..warm).map(move |it| {
                    #[expect(clippy::cast_precision_loss, reason = "a time")]
                    let at = Duration::from_secs_f64(it as f64 / rate);
                    // Numbers of the measured period begin at 0, so warm-up counts from the other end.
                    (begin + at, u64::MAX - it)
                });
                let measured = profile.arrivals(arrivals, seed).enumerate();
                let all = warm.chain(measured.map(move |it| (start + it.1, it.0 as u64)));
                let own = all.filter(move |it| share.has(it.1));
                Box::new(own.map(move |(due, number)| Arrival {
                    due,
                    number,
                    flow: mix.flow(number),
                    entry: None,
                }))
            }
        }
    }
}

fn replayed_arrivals(
    entries: Arc<Vec<Entry>>,
    share: Share,
    start: Instant,
) -> impl Iterator<Item = Arrival> {
    let own = (0..entries.len()).filter(move |it| share.has(*it as u64));
    own.map(move |at| {
        let entry = &entries[at];
        Arrival { due: start + entry.at, number: at as u64, flow: entry.flow, entry: Some(at) }
    })
}

/// Sends arrivals when they are due, until the receiver is dropped.
pub(super) fn pace(arrivals: impl Iterator<Item = Arrival>, taker: &UnboundedSender<Vec<Arrival>>) {
    let mut batch = Vec::with_capacity(BATCH);
    for arrival in arrivals {
        loop {
            let left = arrival.due.saturating_duration_since(Instant::now());
            if left.is_zero() && batch.len() < BATCH {
                break;
            }
            if !batch.is_empty() && taker.send(std::mem::take(&mut batch)).is_err() {
                return;
            }
            if !left.is_zero() {
                std::thread::sleep(left);
            }
        }
        batch.push(arrival);
    }
    // The receiver is gone if the run was ended early.
    drop(taker.send(batch));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Arrivals, RateProfile};

    fn schedule(share: Share, kind: Arrivals) -> Vec<Arrival> {
        let profile = RateProfile::constant(1000.0, Duration::from_secs(5)).expect("a load");
        let load = Load::Open { profile, arrivals: kind, words: String::new() };
        let mix = Mix::new([3.0, 1.0].into_iter(), 7);
        let start = origin();
        Schedule { load, mix, share, seed: 7, start, warmup: Duration::from_millis(500) }.arrivals().collect()
    }

    /// One instant for all schedules of this test.
    fn origin() -> Instant {
        static ORIGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        *ORIGIN.get_or_init(|| Instant::now() + Duration::from_secs(1))
    }

    #[test]
    fn processes_divide_one_schedule() {
        for kind in [Arrivals::Constant, Arrivals::Poisson] {
            let whole = schedule(Share::WHOLE, kind);
            let mut parts: Vec<Arrival> =
                (0..3).flat_map(|index| schedule(Share { index, of: 3 }, kind)).collect();
            parts.sort_by_key(|it| it.due);
            assert_eq!(parts, whole);
        }
        let whole = schedule(Share::WHOLE, Arrivals::Constant);
        assert_eq!(whole.iter().filter(|it| it.due < origin()).count(), 500);
        assert_eq!(whole.len(), 5500);
        let first = whole.iter().filter(|it| it.flow == 0).count() as f64 / 5500.0;
        assert!((first - 0.75).abs() < 0.03, "{first}");
    }

    #[test]
    fn every_arrival_that_is_due_is_handed_over_in_order() {
        let (sender, mut taker) = tokio::sync::mpsc::unbounded_channel();
        let due = Instant::now();
        let all: Vec<Arrival> =
            (0..1000).map(|number| Arrival { due, number, flow: 0, entry: None }).collect();
        pace(all.iter().copied(), &sender);
        drop(sender);
        let found: Vec<Arrival> = std::iter::from_fn(|| taker.blocking_recv()).flatten().collect();
        assert_eq!(found, all);
    }
}

//! Outcomes of cache lookups, counted by connector.
//!
//! **Cost:** one addition to a word that other threads seldom write: counts are kept per thread and summed by the reader.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Outcomes of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Fresh, from this process.
    Hit,
    /// Fresh, from the second level.
    HitRemote,
    /// No longer fresh; a new one is being fetched.
    Stale,
    /// No longer fresh, because the upstream fails.
    StaleOnError,
    /// The upstream was asked.
    Miss,
    /// The request got the result of another's call.
    Coalesced,
    /// The upstream was asked for this caller alone, as such answers are not shared.
    Pass,
}

/// All outcomes, in the order of their counts.
pub const OUTCOMES: [Outcome; 7] = [
    Outcome::Hit,
    Outcome::HitRemote,
    Outcome::Stale,
    Outcome::StaleOnError,
    Outcome::Miss,
    Outcome::Coalesced,
    Outcome::Pass,
];

impl Outcome {
    /// True if what is served is the answer to a call of this request's own.
    pub(crate) const fn is_own_call(self) -> bool {
        match self {
            Self::Miss | Self::Pass => true,
            Self::Hit | Self::HitRemote | Self::Stale | Self::StaleOnError | Self::Coalesced => false,
        }
    }

    /// For metrics and headers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::HitRemote => "hit_remote",
            Self::Stale => "stale",
            Self::StaleOnError => "stale_on_error",
            Self::Miss => "miss",
            Self::Coalesced => "coalesced",
            Self::Pass => "pass",
        }
    }
}

/// The counts of one connector of a source.
#[derive(Debug)]
pub struct Counters {
    source: Box<str>,
    connector: Box<str>,
    stripes: Box<[Stripe]>,
}

/// Counters of the threads that share one stripe. The alignment keeps stripes on separate pairs of cache lines, which processors prefetch
/// together.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe {
    outcomes: [AtomicU64; OUTCOMES.len()],
    negative: AtomicU64,
    failed: AtomicU64,
    early: AtomicU64,
    refreshed: AtomicU64,
    revalidated: AtomicU64,
    lag_ms: AtomicU64,
}

/// Counts of a connector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceCounts {
    pub source: Box<str>,
    /// The connector; empty if the counters cover the whole source.
    pub connector: Box<str>,
    /// By outcome, in the order of [`OUTCOMES`].
    pub outcomes: [u64; OUTCOMES.len()],
    /// Answers served from a cache that said "does not exist" (404, 410). Included in `outcomes`.
    pub negative: u64,
    /// Requests that got an error.
    pub failed: u64,
    /// Refreshes started before the entry expired.
    pub early: u64,
    /// Entries replaced by a newer answer.
    pub refreshed: u64,
    /// Answers that the upstream confirmed (304) and did not send again.
    pub revalidated: u64,
    /// Total milliseconds for which replaced entries had been stale.
    pub lag_ms: u64,
}

const STRIPES: usize = 16;

thread_local! {
    static STRIPE: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % STRIPES
    };
}

impl Counters {
    pub(super) fn new(source: &str, connector: &str) -> Self {
        let source = source.into();
        let connector = connector.into();
        Self { source, connector, stripes: (0..STRIPES).map(|_| Stripe::default()).collect() }
    }

    fn stripe(&self) -> &Stripe {
        &self.stripes[STRIPE.with(|number| *number)]
    }

    pub(super) fn count_served(&self, outcome: Outcome, negative: bool) {
        let stripe = self.stripe();
        stripe.outcomes[outcome as usize].fetch_add(1, Ordering::Relaxed);
        if negative
            && matches!(outcome, Outcome::Hit | Outcome::HitRemote | Outcome::Stale | Outcome::StaleOnError)
        {
            stripe.negative.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn count_failure(&self) {
        self.stripe().failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_early_refresh(&self) {
        self.stripe().early.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_refresh(&self, lag_ms: u64) {
        self.stripe().refreshed.fetch_add(1, Ordering::Relaxed);
        self.stripe().lag_ms.fetch_add(lag_ms, Ordering::Relaxed);
    }

    pub(super) fn count_revalidation(&self) {
        self.stripe().revalidated.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts up to now.
    pub fn counts(&self) -> SourceCounts {
        let sum = |of: &dyn Fn(&Stripe) -> &AtomicU64| {
            self.stripes.iter().map(|it| of(it).load(Ordering::Relaxed)).sum()
        };
        SourceCounts {
            source: self.source.clone(),
            connector: self.connector.clone(),
            outcomes: std::array::from_fn(|place| sum(&|it| &it.outcomes[place])),
            negative: sum(&|it| &it.negative),
            failed: sum(&|it| &it.failed),
            early: sum(&|it| &it.early),
            refreshed: sum(&|it| &it.refreshed),
            revalidated: sum(&|it| &it.revalidated),
            lag_ms: sum(&|it| &it.lag_ms),
        }
    }
}

impl SourceCounts {
    /// Number of answers with this outcome.
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }
}

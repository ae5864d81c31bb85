//! Clock of everything that expires.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Sources of time.
#[derive(Clone, Debug)]
pub enum Clock {
    /// Monotonic and wall time of the machine.
    System {
        /// Origin of monotonic times.
        start: Instant,
    },
    /// A simulated time, moved by tests.
    Simulated(Arc<AtomicU64>),
}

impl Clock {
    /// The clock of the machine.
    pub fn system() -> Self {
        Self::System { start: Instant::now() }
    }

    /// A simulated clock, which stands still until [`Clock::advance_ms`].
    pub fn new_simulated() -> Self {
        Self::Simulated(Arc::new(AtomicU64::new(0)))
    }

    /// Milliseconds since the clock was created. Monotonic: changes of the machine's date have no effect.
    pub fn now_ms(&self) -> u64 {
        match self {
            Self::System { start } => u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            Self::Simulated(now) => now.load(Ordering::SeqCst),
        }
    }

    /// Milliseconds since 1970, for comparison with times of other machines.
    pub fn wall_ms(&self) -> u64 {
        /// When simulated time begins: in the year 2026.
        const EPOCH_MS: u64 = 1_767_225_600_000;
        match self {
            Self::System { .. } => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
            }
            Self::Simulated(now) => EPOCH_MS + now.load(Ordering::SeqCst),
        }
    }

    /// Moves simulated time on.
    ///
    /// # Panics
    /// The clock is the machine's.
    pub fn advance_ms(&self, by_ms: u64) {
        match self {
            Self::System { .. } => panic!("the machine's time cannot be moved"),
            Self::Simulated(now) => now.fetch_add(by_ms, Ordering::SeqCst),
        };
    }
}

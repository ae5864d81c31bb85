//! Outcomes of mirrored requests: counts, and samples of differences, for the process.
//!
//! **Invariant:** samples are bounded and have no values.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Number of samples that are kept.
const SAMPLES_MAX: usize = 100;

/// Outcome of a request that chance chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MirrorOutcome {
    /// Both answers are equal.
    Equal,
    Different,
    /// The canary did not answer in time, or not at all.
    Failed,
    /// Too much waited, or it waited too long.
    Dropped,
    /// The answer was streamed, so there is none to compare with.
    Streamed,
}

/// Outcomes with their labels, in order.
const OUTCOMES: [(MirrorOutcome, &str); 5] = [
    (MirrorOutcome::Equal, "equal"),
    (MirrorOutcome::Different, "different"),
    (MirrorOutcome::Failed, "failed"),
    (MirrorOutcome::Dropped, "dropped"),
    (MirrorOutcome::Streamed, "streamed"),
];

/// A difference of two answers.
#[derive(Clone, Debug)]
pub(crate) struct DifferenceSample {
    pub(crate) at: SystemTime,
    /// Name of the operation; empty for none.
    pub(crate) operation: Box<str>,
    pub(crate) request_id: Box<str>,
    /// JSON pointer to the first difference, or `status`.
    pub(crate) path: Box<str>,
    /// Kinds of the values there.
    pub(crate) ours: &'static str,
    pub(crate) theirs: &'static str,
}

static COUNTS: [AtomicU64; OUTCOMES.len()] = [const { AtomicU64::new(0) }; OUTCOMES.len()];
static SAMPLES: Mutex<VecDeque<DifferenceSample>> = Mutex::new(VecDeque::new());

/// Counts a request by its outcome.
pub(crate) fn count_outcome(outcome: MirrorOutcome) {
    COUNTS[outcome as usize].fetch_add(1, Ordering::Relaxed);
}

/// Counts of all outcomes, by label.
pub(crate) fn outcome_counts() -> [(&'static str, u64); OUTCOMES.len()] {
    OUTCOMES.map(|(outcome, label)| (label, COUNTS[outcome as usize].load(Ordering::Relaxed)))
}

fn lock_samples() -> MutexGuard<'static, VecDeque<DifferenceSample>> {
    SAMPLES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a sample in place of the oldest.
pub(super) fn keep_sample(sample: DifferenceSample) {
    let mut samples = lock_samples();
    if samples.len() >= SAMPLES_MAX {
        samples.pop_front();
    }
    samples.push_back(sample);
}

/// The samples, latest first.
pub(crate) fn samples() -> Vec<DifferenceSample> {
    lock_samples().iter().rev().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_samples_are_kept() {
        for number in 0..SAMPLES_MAX + 5 {
            keep_sample(DifferenceSample {
                at: SystemTime::UNIX_EPOCH,
                operation: number.to_string().into(),
                request_id: "".into(),
                path: "".into(),
                ours: "null",
                theirs: "null",
            });
        }
        let found = samples();
        assert_eq!(
            (found.len(), &*found[0].operation, &*found[SAMPLES_MAX - 1].operation),
            (100, "104", "5")
        );
    }
}

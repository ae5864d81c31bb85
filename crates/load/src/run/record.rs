//! Counts of a generator; those of several generators add up.
//!
//! **Cost:** an answer is two entries of histograms and a few sums; memory grows with seconds, not with requests.

use crate::result::{
    ErrorSample, Latency, OperationKind, OperationResult, Slice, decode, encode, new_histogram,
};
use hdrhistogram::Histogram;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::time::Duration;

/// Upper bound of error causes that are counted separately, by operation.
const LABELS_MAX: usize = 64;
/// Upper bound of failed requests that are kept, by operation and cause.
const SAMPLES_MAX: usize = 12;
const SAMPLES_BY_LABEL_MAX: usize = 3;
/// Bytes of a failed answer that are kept.
const SAMPLE_BYTES: usize = 300;

/// A histogram of microseconds.
#[derive(Clone, Debug)]
pub(crate) struct Micros(pub Histogram<u64>);

impl Default for Micros {
    fn default() -> Self {
        Self(new_histogram())
    }
}

impl Micros {
    /// One that grows as needed and has two digits: 10 KB for most services.
    fn coarse() -> Self {
        Self(Histogram::new(2).unwrap_or_else(|_| new_histogram()))
    }

    pub(crate) fn record(&mut self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).min(crate::result::LATENCY_MAX_US);
        // One that saturates does not grow.
        let recorded = self.0.record(micros);
        debug_assert!(recorded.is_ok(), "{recorded:?}");
    }

    /// Adds another of the same kind.
    pub(crate) fn add(&mut self, other: &Self) {
        // Both have the same bounds, or grow.
        let added = self.0.add(&other.0);
        debug_assert!(added.is_ok(), "{added:?}");
    }

    pub(crate) fn value_at(&self, percentile: f64) -> u64 {
        self.0.value_at_quantile(percentile / 100.0)
    }
}

impl Serialize for Micros {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Micros {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut read = decode(&String::deserialize(deserializer)?).map_err(D::Error::custom)?;
        read.auto(true);
        Ok(Self(read))
    }
}

/// Counts of one operation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub scheduled: u64,
    pub sent: u64,
    pub completed: u64,
    pub errors: BTreeMap<String, u64>,
    pub samples: Vec<ErrorSample>,
    pub bytes: u64,
    pub latency: Micros,
    pub service: Micros,
    pub push: Option<Micros>,
    pub cache: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts a failed request.
    pub(crate) fn fail(&mut self, label: &str, status: u16, body: &[u8]) {
        let is_known = self.errors.contains_key(label) || self.errors.len() < LABELS_MAX;
        let label = if is_known { label } else { "other" };
        *self.errors.entry(label.to_owned()).or_default() += 1;
        let of_label = self.samples.iter().filter(|it| it.label == label).count();
        if of_label < SAMPLES_BY_LABEL_MAX && self.samples.len() < SAMPLES_MAX {
            let body = String::from_utf8_lossy(&body[..body.len().min(SAMPLE_BYTES)]).into_owned();
            self.samples.push(ErrorSample { label: label.to_owned(), status, body });
        }
    }

    fn add(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.sent += other.sent;
        self.completed += other.completed;
        self.bytes += other.bytes;
        add_counts(&mut self.errors, &other.errors);
        add_counts(&mut self.cache, &other.cache);
        for sample in &other.samples {
            if self.samples.len() < SAMPLES_MAX {
                self.samples.push(sample.clone());
            }
        }
        self.latency.add(&other.latency);
        self.service.add(&other.service);
        if let Some(push) = &other.push {
            self.push.get_or_insert_default().add(push);
        }
    }

    pub(crate) fn result(&self, name: &str, kind: OperationKind, weight: f64) -> OperationResult {
        OperationResult {
            name: name.to_owned(),
            kind,
            weight,
            scheduled: self.scheduled,
            sent: self.sent,
            completed: self.completed,
            errors: self.errors.clone(),
            error_samples: self.samples.clone(),
            bytes_received: self.bytes,
            latency: Latency::of(&self.latency.0),
            service: Latency::of(&self.service.0),
            push: self.push.as_ref().map(|it| Latency::of(&it.0)),
            cache: self.cache.clone(),
        }
    }
}

fn add_counts(to: &mut BTreeMap<String, u64>, from: &BTreeMap<String, u64>) {
    for (label, count) in from {
        *to.entry(label.clone()).or_default() += count;
    }
}

/// Counts of one second.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Second {
    pub offered: u64,
    pub sent: u64,
    pub completed: u64,
    pub errors: u64,
    pub latency: Micros,
}

impl Default for Second {
    fn default() -> Self {
        Self { offered: 0, sent: 0, completed: 0, errors: 0, latency: Micros::coarse() }
    }
}

impl Second {
    fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.sent += other.sent;
        self.completed += other.completed;
        self.errors += other.errors;
        self.latency.add(&other.latency);
    }

    fn slice(&self, second: u64) -> Slice {
        Slice {
            second,
            offered: self.offered,
            sent: self.sent,
            completed: self.completed,
            errors: self.errors,
            p50_us: self.latency.value_at(50.0),
            p90_us: self.latency.value_at(90.0),
            p99_us: self.latency.value_at(99.0),
            max_us: self.latency.0.max(),
            heat: heat(&self.latency.0),
        }
    }
}

/// Counts by buckets of half octaves.
fn heat(histogram: &Histogram<u64>) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for it in histogram.iter_recorded() {
        let value = it.value_iterated_to().max(1);
        let octave = 1_u64 << value.ilog2();
        let bounds = [octave, octave.saturating_mul(1414) / 1000, octave.saturating_mul(2)];
        let bound = bounds.into_iter().find(|it| *it >= value).unwrap_or(value);
        match found.last_mut().filter(|it| it.0 == bound) {
            Some(last) => last.1 += it.count_since_last_iteration(),
            None => found.push((bound, it.count_since_last_iteration())),
        }
    }
    found
}

/// All counts of a generator.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Recorder {
    pub operations: Vec<Tally>,
    pub seconds: Vec<Second>,
    /// Time from a scheduled instant to its dispatch.
    pub lag: Micros,
    /// Time from the start of the measured period to the end of the last answer.
    pub last_done: Duration,
    /// Connections that were opened.
    pub connections: u32,
    /// CPU time of this generator in the measured period.
    pub cpu_s: f64,
}

impl Recorder {
    pub(crate) fn new(operations: usize) -> Self {
        Self { operations: vec![Tally::default(); operations], ..Self::default() }
    }

    /// The counts of the second that holds `at`.
    pub(crate) fn second(&mut self, at: Duration) -> &mut Second {
        let second = usize::try_from(at.as_secs()).unwrap_or(usize::MAX);
        if self.seconds.len() <= second {
            self.seconds.resize_with(second + 1, Second::default);
        }
        &mut self.seconds[second]
    }

    /// Adds those of another generator.
    pub(crate) fn add(&mut self, other: &Self) {
        for (one, other) in self.operations.iter_mut().zip(&other.operations) {
            one.add(other);
        }
        for (at, other) in other.seconds.iter().enumerate() {
            self.second(Duration::from_secs(at as u64)).add(other);
        }
        self.lag.add(&other.lag);
        self.last_done = self.last_done.max(other.last_done);
        self.connections += other.connections;
        self.cpu_s += other.cpu_s;
    }

    /// All operations together. A push is an event of a subscription and no answer.
    pub(crate) fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.operations.iter().for_each(|it| total.add(it));
        total
    }

    pub(crate) fn timeline(&self) -> Vec<Slice> {
        self.seconds.iter().enumerate().map(|(at, it)| it.slice(at as u64)).collect()
    }
}

/// Figures of a second, for the progress of a running test.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tick {
    pub second: u64,
    pub completed: u64,
    pub errors: u64,
    pub latency: Micros,
}

impl Tick {
    pub(crate) fn add(&mut self, other: &Self) {
        self.second = self.second.max(other.second);
        self.completed += other.completed;
        self.errors += other.errors;
        self.latency.add(&other.latency);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Percentiles of a histogram against those of the sorted values: 3 digits are right.
    #[test]
    fn percentiles_are_exact_to_three_digits() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut micros = Micros::default();
        let mut all: Vec<u64> = (0..200_000)
            .map(|_| {
                let normal =
                    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos();
                (5000.0 * (0.8 * normal).exp()) as u64
            })
            .collect();
        all.iter().for_each(|it| micros.record(Duration::from_micros(*it)));
        all.sort_unstable();
        let latency = Latency::of(&micros.0);
        let exact =
            |percentile: f64| all[((percentile / 100.0 * all.len() as f64).ceil() as usize).max(1) - 1];
        let figures = [
            (50.0, latency.p50_us),
            (75.0, latency.p75_us),
            (90.0, latency.p90_us),
            (95.0, latency.p95_us),
            (99.0, latency.p99_us),
            (99.9, latency.p99_9_us),
            (99.99, latency.p99_99_us),
        ];
        for (percentile, found) in figures {
            let exact = exact(percentile);
            assert!(found.abs_diff(exact) * 1000 <= exact, "p{percentile}: {found}, exactly {exact}");
        }
        assert_eq!(latency.count, 200_000);
        let read = latency.histogram().expect("it reads its own");
        assert_eq!(read.value_at_quantile(0.99), latency.p99_us);
        assert!(latency.histogram.starts_with("HISTFAAA"), "the text that tools of HdrHistogram read");
    }

    /// Percentiles of a timeline against those of the sorted values: 2 digits are right, whatever came in seconds before.
    #[test]
    fn a_slow_second_is_slow_in_the_timeline() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut recorder = Recorder::new(1);
        let typical_us = [90, 2_000, 250, 40_000, 3_000_000, 59_000_000];
        let mut all: Vec<Vec<u64>> = Vec::new();
        for (second, typical) in typical_us.into_iter().enumerate() {
            let mut times: Vec<u64> = (0..1000).map(|_| typical / 2 + random.u64(0..typical)).collect();
            let counts = recorder.second(Duration::from_secs(second as u64));
            times.iter().for_each(|it| counts.latency.record(Duration::from_micros(*it)));
            times.sort_unstable();
            all.push(times);
        }
        // As it comes from another process.
        let text = serde_json::to_string(&recorder).expect("it is written");
        let mut sum = Recorder::new(1);
        sum.add(&serde_json::from_str(&text).expect("it is read"));
        for (slice, times) in sum.timeline().iter().zip(&all) {
            let shown = [(slice.p50_us, 499), (slice.p90_us, 899), (slice.p99_us, 989), (slice.max_us, 999)];
            for (found, at) in shown {
                let exact = times[at].min(crate::result::LATENCY_MAX_US);
                assert!(found.abs_diff(exact) * 100 <= exact, "{}: {found}, exactly {exact}", slice.second);
            }
            let lowest = slice.heat[0].0;
            let highest = slice.heat[slice.heat.len() - 1].0;
            assert!(
                lowest * 2 > times[0] && highest >= times[999].min(crate::result::LATENCY_MAX_US),
                "{:?}",
                slice.heat
            );
            assert_eq!(slice.heat.iter().map(|it| it.1).sum::<u64>(), 1000);
        }
    }

    #[test]
    fn generators_add_up() {
        let fill = |offset: u64| {
            let mut it = Recorder::new(1);
            for at in 0..1000_u64 {
                let time = Duration::from_micros(offset + at);
                it.operations[0].latency.record(time);
                it.operations[0].completed += 1;
                it.second(Duration::from_millis(at * 3)).latency.record(time);
            }
            it.operations[0].fail("status 503", 503, b"no");
            it
        };
        let mut sum = fill(0);
        let other = serde_json::to_string(&fill(1000)).expect("it is written");
        sum.add(&serde_json::from_str(&other).expect("it is read"));
        let total = sum.total();
        assert_eq!((total.completed, total.errors["status 503"]), (2000, 2));
        assert!(total.latency.value_at(50.0).abs_diff(999) <= 1);
        let timeline = sum.timeline();
        assert_eq!(timeline.len(), 3);
        assert_eq!(timeline.iter().flat_map(|it| &it.heat).map(|it| it.1).sum::<u64>(), 2000);
    }

    #[test]
    fn samples_and_labels_are_bounded() {
        let mut tally = Tally::default();
        for at in 0..1000 {
            tally.fail(&format!("status {at}"), 500, &[b'x'; 1000]);
        }
        assert_eq!(tally.errors.len(), LABELS_MAX + 1);
        assert_eq!(tally.errors.values().sum::<u64>(), 1000);
        assert_eq!((tally.samples.len(), tally.samples[0].body.len()), (SAMPLES_MAX, SAMPLE_BYTES));
    }
}

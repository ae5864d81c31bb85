//! Rates over time and the arrivals they cause.
//!
//! A profile is piecewise linear; two points at one time are a step. Arrivals come from the inverse of the cumulated rate, so their
//! number is that of the profile whatever its form.
//!
//! **Invariant:** the same profile, arrivals and seed give the same instants in every process.

use crate::notation::yaml::unknown_name;
use std::time::Duration;

/// 14 million requests a minute: the traffic of a fantasy-sports platform shortly before a match.
const MATCH_RATE: f64 = 14e6 / 60.0;

/// Names of the built-in profiles.
pub(crate) const PROFILES: [&str; 6] = ["match-start", "toss", "comb", "soak", "ramp", "spike"];

/// The distances between arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Equal distances.
    #[default]
    Constant,
    /// Independent clients: exponential distances.
    Poisson,
}

/// How a built-in profile is changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfileOptions {
    /// Replaces the base rate.
    pub rate: Option<f64>,
    /// Factor of the profile's own base rate.
    pub scale: f64,
    /// Replaces the length.
    pub duration: Option<Duration>,
    /// Divisor of the profile's own length.
    pub compress: f64,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        Self { rate: None, scale: 1.0, duration: None, compress: 1.0 }
    }
}

/// Requests per second over time.
#[derive(Clone, Debug, PartialEq)]
pub struct RateProfile {
    /// Seconds and rate, by time; the first is at 0.
    points: Vec<(f64, f64)>,
    /// Arrivals before each point.
    before: Vec<f64>,
}

impl RateProfile {
    /// A profile through these points of seconds and requests per second.
    /// # Errors
    /// Points that are no profile.
    pub fn through(points: Vec<(f64, f64)>) -> Result<Self, String> {
        if points.len() < 2 || points[0].0 != 0.0 {
            return Err(
                "a profile has at least two points, the first at 0s: `[[0s, 100], [10s, 500]]`".into()
            );
        }
        if let Some(pair) = points.windows(2).find(|it| it[1].0 < it[0].0) {
            return Err(format!("the point at {}s stands behind the one at {}s", pair[1].0, pair[0].0));
        }
        if let Some(odd) = points.iter().find(|it| !it.1.is_finite() || it.1 < 0.0) {
            return Err(format!("{} is no rate; write requests per second, 0 or more", odd.1));
        }
        let mut before = vec![0.0];
        for pair in points.windows(2) {
            let area = (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0;
            before.push(before[before.len() - 1] + area);
        }
        if before[before.len() - 1] < 1.0 {
            return Err(
                "this load is less than one request; raise the rate, the scale, or the duration".into()
            );
        }
        Ok(Self { points, before })
    }

    /// A constant rate.
    /// # Errors
    /// A rate or duration that gives no request.
    pub fn constant(rate: f64, duration: Duration) -> Result<Self, String> {
        Self::through(vec![(0.0, rate), (duration.as_secs_f64(), rate)])
    }

    /// A built-in profile.
    /// # Errors
    /// An unknown name; a load without requests.
    pub fn from_name(name: &str, options: ProfileOptions) -> Result<Self, String> {
        let ProfileOptions { rate, scale, duration, compress } = options;
        let base = rate.unwrap_or(MATCH_RATE * scale);
        let own = if name == "soak" { 3600.0 } else { 120.0 };
        let end = duration.map_or(own / compress, |it| it.as_secs_f64());
        let points = match name {
            "match-start" => vec![(0.0, base), (end, base * 2.0)],
            "toss" => vec![(0.0, base), (end / 2.0, base), (end / 2.0, base * 2.0), (end, base * 2.0)],
            "soak" => vec![(0.0, base), (end, base)],
            "ramp" => vec![(0.0, 0.0), (end, base * 2.0)],
            "spike" => {
                let from = end * 0.45;
                let to = end * 0.55;
                vec![(0.0, base), (from, base), (from, base * 5.0), (to, base * 5.0), (to, base), (end, base)]
            }
            "comb" => comb(base, end, 2.0_f64.min(end)),
            _ => return Err(unknown_name("profile", name, &PROFILES)),
        };
        Self::through(points)
    }

    /// Length of the profile.
    pub fn duration(&self) -> Duration {
        Duration::from_secs_f64(self.end())
    }

    fn end(&self) -> f64 {
        self.points[self.points.len() - 1].0
    }

    /// Number of arrivals in all, before it is rounded.
    pub fn total(&self) -> f64 {
        self.before[self.before.len() - 1]
    }

    /// The rate at the start.
    pub fn first_rate(&self) -> f64 {
        self.points[0].1
    }

    pub fn mean_rate(&self) -> f64 {
        self.total() / self.end()
    }

    /// The second at which that many arrivals have come; nothing behind the last.
    fn time_of(&self, count: f64) -> Option<f64> {
        let at = self.before.partition_point(|it| *it <= count);
        if at == self.before.len() {
            return None;
        }
        let (start, rate) = self.points[at - 1];
        let (end, next) = self.points[at];
        let left = count - self.before[at - 1];
        let length = end - start;
        let slope = (next - rate) / length;
        // The root of `rate t + slope t²/2 = left` in a form that keeps its digits where the slope is near 0.
        let passed = 2.0 * left / (rate + (rate * rate + 2.0 * slope * left).max(0.0).sqrt());
        Some(start + if left > 0.0 { passed.min(length) } else { 0.0 })
    }

    /// All arrivals, as times from the start.
    pub(crate) fn arrivals(&self, kind: Arrivals, seed: u64) -> impl Iterator<Item = Duration> + use<> {
        let profile = self.clone();
        let mut random = fastrand::Rng::with_seed(seed);
        let mut reached = match kind {
            Arrivals::Constant => -1.0,
            Arrivals::Poisson => 0.0,
        };
        std::iter::from_fn(move || {
            reached += match kind {
                Arrivals::Constant => 1.0,
                // The number drawn is below 1, so its complement has a logarithm.
                Arrivals::Poisson => -(1.0 - random.f64()).ln(),
            };
            profile.time_of(reached).map(Duration::from_secs_f64)
        })
    }
}

/// All clients ask at once each `period` seconds, like clients with equal cache lifetimes: a tenth of the time has all of the
/// requests.
fn comb(base: f64, end: f64, period: f64) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let mut start = 0.0;
    while start < end {
        let tooth = (start + period / 10.0).min(end);
        let next = (start + period).min(end);
        points.extend([(start, base * 10.0), (tooth, base * 10.0), (tooth, 0.0), (next, 0.0)]);
        start += period;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(profile: &RateProfile, kind: Arrivals) -> Vec<f64> {
        profile.arrivals(kind, 7).map(|it| it.as_secs_f64()).collect()
    }

    #[test]
    fn constant_arrivals_have_equal_distances() {
        let profile = RateProfile::constant(500.0, Duration::from_secs(10)).expect("a load");
        let found = all(&profile, Arrivals::Constant);
        assert_eq!(found.len(), 5000);
        for (at, time) in found.iter().enumerate() {
            assert!((time - at as f64 / 500.0).abs() < 1e-6, "{at}: {time}");
        }
    }

    #[test]
    fn the_rate_of_each_second_is_the_profiles_within_one_percent() {
        let duration = Some(Duration::from_secs(20));
        let options = ProfileOptions { scale: 1.0 / 100.0, duration, ..ProfileOptions::default() };
        for name in PROFILES {
            let profile = RateProfile::from_name(name, options).expect(name);
            let found = all(&profile, Arrivals::Constant);
            assert!((found.len() as f64 - profile.total()).abs() <= 1.0, "{name}");
            for second in 0..20 {
                let from = f64::from(second);
                let scheduled = found.iter().filter(|it| (from..from + 1.0).contains(*it)).count() as f64;
                let expected = count_until(&profile, from + 1.0) - count_until(&profile, from);
                assert!((scheduled - expected).abs() <= expected * 0.01 + 1.0, "{name}, second {second}");
            }
        }
    }

    /// The area below the profile until `end`: whole trapezes, and a part of the one that holds `end`.
    fn count_until(profile: &RateProfile, end: f64) -> f64 {
        let part = |it: &[(f64, f64)]| {
            let (from, rate) = it[0];
            let (to, next) = it[1];
            let share = if to > from { ((end - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
            (to - from) * share * (rate + (next - rate) * share / 2.0)
        };
        profile.points.windows(2).map(part).sum()
    }

    fn rate_at(profile: &RateProfile, time: f64) -> f64 {
        let at = profile.points.windows(2).find(|it| it[0].0 <= time && time < it[1].0).expect("inside");
        at[0].1 + (at[1].1 - at[0].1) * (time - at[0].0) / (at[1].0 - at[0].0)
    }

    #[test]
    fn match_start_scaled_and_compressed_is_233_to_467_in_12_seconds() {
        let options = ProfileOptions { scale: 1e-3, compress: 10.0, ..ProfileOptions::default() };
        let profile = RateProfile::from_name("match-start", options).expect("a load");
        assert_eq!(profile.duration(), Duration::from_secs(12));
        assert!((rate_at(&profile, 0.0) - 233.3).abs() < 0.1);
        assert!((rate_at(&profile, 11.999) - 466.6).abs() < 0.1);
        assert_eq!(all(&profile, Arrivals::Constant).len(), 4200);
    }

    #[test]
    fn poisson_arrivals_are_exponential_and_independent() {
        let rate = 1000.0;
        let profile = RateProfile::constant(rate, Duration::from_secs(100)).expect("a load");
        let found = all(&profile, Arrivals::Poisson);
        let count = found.len() as f64;
        // 100,000 expected, standard deviation 316: five of them.
        assert!((count - 100_000.0).abs() < 1600.0, "{count}");
        let gaps: Vec<f64> = found.windows(2).map(|it| it[1] - it[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "the deviation is the mean");
        // Kolmogorov and Smirnov: the largest distance between the sorted gaps and the exponential distribution.
        let mut sorted = gaps.clone();
        sorted.sort_by(f64::total_cmp);
        let distance = sorted
            .iter()
            .enumerate()
            .map(|(at, gap)| ((at as f64 + 0.5) / sorted.len() as f64 - (1.0 - (-gap * rate).exp())).abs());
        let distance = distance.fold(0.0, f64::max);
        assert!(distance < 1.95 / (sorted.len() as f64).sqrt(), "{distance}");
        let lagged = gaps.windows(2).map(|it| (it[0] - mean) * (it[1] - mean)).sum::<f64>();
        let correlation = lagged / gaps.len() as f64 / variance;
        assert!(correlation.abs() < 0.016, "{correlation}");
    }

    #[test]
    fn a_step_is_exact() {
        let points = vec![(0.0, 10.0), (1.0, 10.0), (1.0, 100.0), (2.0, 100.0)];
        let found = all(&RateProfile::through(points).expect("a load"), Arrivals::Constant);
        assert_eq!(found.iter().filter(|it| **it < 1.0).count(), 10);
        assert_eq!(found.len(), 110);
    }

    #[test]
    fn what_is_no_profile_is_refused() {
        let check = |points: &[(f64, f64)], part: &str| {
            let message = RateProfile::through(points.to_vec()).expect_err(part);
            assert!(message.contains(part), "{message}");
        };
        check(&[(0.0, 1.0)], "at least two points");
        check(&[(1.0, 1.0), (2.0, 1.0)], "the first at 0s");
        check(&[(0.0, 1.0), (2.0, 1.0), (1.0, 1.0)], "stands behind");
        check(&[(0.0, -1.0), (2.0, 1.0)], "-1 is no rate");
        check(&[(0.0, 0.1), (2.0, 0.1)], "less than one request");
        let wrong = RateProfile::from_name("match", ProfileOptions::default()).expect_err("there is none");
        assert_eq!(wrong, "unknown profile `match`; known here: match-start, toss, comb, soak, ramp, spike");
    }
}

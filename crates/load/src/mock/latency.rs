//! Latencies and failure rates of a service, drawn from a seeded generator.

use crate::notation::yaml::Span;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt;
use std::time::Duration;

/// A distribution of latencies: log-normal around a median, constant where `sigma` is 0, with spikes on top.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LatencyModel {
    median: Duration,
    sigma: f64,
    max: Option<Duration>,
    spikes: Option<Spikes>,
}

/// Latency that is added now and then.
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Spikes {
    probability: Probability,
    add: Span,
}

/// Failure rate of calls.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failures {
    pub rate: Probability,
    #[serde(default = "unavailable")]
    pub statuses: Vec<Status>,
    pub retry_after: Option<Span>,
}

fn unavailable() -> Vec<Status> {
    vec![Status(http::StatusCode::SERVICE_UNAVAILABLE)]
}

/// A probability from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Probability(pub f64);

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = f64::deserialize(deserializer)?;
        Self::of(read)
            .ok_or_else(|| de::Error::custom(format!("{read} is no probability; write one from 0 to 1")))
    }
}

impl Probability {
    pub(crate) fn of(number: f64) -> Option<Self> {
        (0.0..=1.0).contains(&number).then_some(Self(number))
    }
}

/// A status of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status(pub http::StatusCode);

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = u16::deserialize(deserializer)?;
        match http::StatusCode::from_u16(read) {
            Ok(it) if (200..600).contains(&read) => Ok(Self(it)),
            Ok(_) | Err(_) => {
                Err(de::Error::custom(format!("{read} is no status of an answer; write one from 200 to 599")))
            }
        }
    }
}

/// A latency as an object.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    median: Span,
    #[serde(default)]
    sigma: f64,
    max: Option<Span>,
    spikes: Option<Spikes>,
}

impl<'de> Deserialize<'de> for LatencyModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = LatencyModel;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a latency such as `5ms` or `{median: 5ms, sigma: 0.4}`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<LatencyModel, E> {
                Span::read(text).map(|it| LatencyModel::constant(it.0)).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LatencyModel, A::Error> {
                let Whole { median, sigma, max, spikes } =
                    Whole::deserialize(MapAccessDeserializer::new(map))?;
                if !(0.0..=5.0).contains(&sigma) {
                    return Err(de::Error::custom("`sigma` is from 0 to 5; 0.4 is a usual service"));
                }
                Ok(LatencyModel { median: median.0, sigma, max: max.map(|it| it.0), spikes })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl LatencyModel {
    pub(crate) fn constant(of: Duration) -> Self {
        Self { median: of, ..Self::default() }
    }

    pub(crate) fn draw(&self, random: &mut fastrand::Rng) -> Duration {
        let mut drawn = self.median;
        if self.sigma > 0.0 {
            // Box and Muller; the first number is never 0.
            let normal =
                (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos();
            drawn = drawn.mul_f64((self.sigma * normal).exp());
        }
        if let Some(spikes) = self.spikes
            && random.f64() < spikes.probability.0
        {
            drawn += spikes.add.0;
        }
        self.max.map_or(drawn, |max| drawn.min(max))
    }
}

impl Failures {
    /// Status of a failing call; `rate` overrides the scenario's.
    pub(crate) fn draw(&self, rate: Option<f64>, random: &mut fastrand::Rng) -> Option<http::StatusCode> {
        let fails = random.f64() < rate.unwrap_or(self.rate.0);
        (fails && !self.statuses.is_empty()).then(|| self.statuses[random.usize(..self.statuses.len())].0)
    }
}

impl Default for Failures {
    fn default() -> Self {
        Self { rate: Probability(0.0), statuses: unavailable(), retry_after: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::yaml::read;

    fn draw_latencies(yaml: &str, count: usize) -> Vec<f64> {
        let latency: LatencyModel = read(yaml).expect("it is a latency");
        let mut random = fastrand::Rng::with_seed(1);
        let mut all: Vec<f64> = (0..count).map(|_| latency.draw(&mut random).as_secs_f64() * 1e3).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn a_constant_does_not_vary() {
        assert_eq!(draw_latencies("5ms", 3), [5.0, 5.0, 5.0]);
    }

    #[test]
    fn half_of_a_log_normal_is_below_the_median_and_one_sigma_is_a_factor_of_e() {
        let all = draw_latencies("{median: 10ms, sigma: 1.0}", 100_000);
        assert!((all[50_000] - 10.0).abs() < 0.2, "median {}", all[50_000]);
        let upper = all[84_134] / all[50_000];
        assert!((upper - std::f64::consts::E).abs() < 0.1, "factor {upper}");
        assert!(draw_latencies("{median: 10ms, sigma: 1.0, max: 12ms}", 1000).iter().all(|it| *it <= 12.0));
    }

    #[test]
    fn spikes_come_as_often_as_said() {
        let all = draw_latencies("{median: 1ms, spikes: {probability: 0.1, add: 80ms}}", 10_000);
        let spikes = all.iter().filter(|it| **it > 80.0).count();
        assert!((900..1100).contains(&spikes), "{spikes}");
    }

    #[test]
    fn failures_have_the_rate_and_the_statuses_they_are_told() {
        let failures: Failures = read("{rate: 0.25, statuses: [500, 429]}").expect("they are failures");
        let mut random = fastrand::Rng::with_seed(1);
        let drawn: Vec<_> = (0..10_000).filter_map(|_| failures.draw(None, &mut random)).collect();
        assert!((2300..2700).contains(&drawn.len()), "{}", drawn.len());
        assert!(drawn.iter().any(|it| it.as_u16() == 429) && drawn.iter().any(|it| it.as_u16() == 500));
        assert_eq!(failures.draw(Some(0.0), &mut random), None);
    }
}

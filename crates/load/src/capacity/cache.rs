//! Hit rate of a cache against lifetime and popularity.
//!
//! Requests of a key come as a Poisson process of rate `l`; an entry lives `ttl` from its fetch. Each fetch is followed by
//! `l * ttl` hits on average, so the key's hit rate is `1 - 1/(1 + l * ttl)`. The simulation draws single requests and
//! knows nothing of the form; a test holds the two together.

use super::zipf::Zipf;
use serde::Serialize;

/// Keys of a cache and their popularity.
#[derive(Clone, Debug, Serialize)]
pub struct Caching {
    /// Different keys.
    pub keys: usize,
    /// Popularity proportional to `1 / rank^skew`.
    pub skew: f64,
    /// Lifetime of an entry, in seconds.
    pub ttl: f64,
    /// True if all machines share one cache; else each has its own, and sees its own part of the requests only.
    pub shared: bool,
}

/// Hit rates, from 0 to 1.
#[derive(Clone, Debug, Serialize)]
pub struct CachingResult {
    /// Requests per second that one cache sees.
    pub rate: f64,
    /// By the closed form.
    pub hit_rate: f64,
    /// By simulation; none where the rate is so high that a few lifetimes are more requests than are simulated.
    pub simulated: Option<f64>,
    /// Lifetime in seconds and hit rate by the closed form.
    pub by_ttl: Vec<(f64, f64)>,
}

const REQUESTS_MAX: f64 = 6_000_000.0;
/// Lifetimes before counting begins, and those that are counted.
const WARM_UP: f64 = 1.0;
const COUNTED: f64 = 20.0;

impl Caching {
    /// Hit rate by the closed form, for a cache that sees `rate` requests per second.
    pub(super) fn hit_rate(&self, popularity: &Zipf, rate: f64, ttl: f64) -> f64 {
        popularity.shares().iter().map(|share| share * (1.0 - 1.0 / (1.0 + rate * share * ttl))).sum()
    }

    pub(super) fn popularity(&self) -> Zipf {
        Zipf::new(self.keys, self.skew)
    }

    pub(super) fn result(&self, rate: f64, seed: u64) -> CachingResult {
        let popularity = self.popularity();
        let by_ttl = (-12..=12).map(|step| {
            let ttl = self.ttl * 10f64.powf(f64::from(step) / 6.0);
            (ttl, self.hit_rate(&popularity, rate, ttl))
        });
        CachingResult {
            rate,
            hit_rate: self.hit_rate(&popularity, rate, self.ttl),
            simulated: self.simulate(&popularity, rate, seed),
            by_ttl: by_ttl.collect(),
        }
    }

    /// Draws requests one by one.
    fn simulate(&self, popularity: &Zipf, rate: f64, seed: u64) -> Option<f64> {
        if rate <= 0.0 {
            return None;
        }
        let lifetimes = (REQUESTS_MAX / (rate * self.ttl)).min(WARM_UP + COUNTED);
        if lifetimes < 2.0 * WARM_UP {
            return None;
        }
        let mut random = fastrand::Rng::with_seed(seed);
        let mut fresh_until = vec![0.0; self.keys];
        let mut now = 0.0;
        let mut requests = 0_u64;
        let mut hits = 0_u64;
        while now < lifetimes * self.ttl {
            now -= (1.0 - random.f64()).ln() / rate;
            let key = popularity.draw(&mut random);
            let is_hit = fresh_until[key] > now;
            if !is_hit {
                fresh_until[key] = now + self.ttl;
            }
            if now > WARM_UP * self.ttl {
                requests += 1;
                hits += u64::from(is_hit);
            }
        }
        (requests > 0).then(|| hits as f64 / requests as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_form_and_simulation_agree() {
        for (keys, skew, ttl, rate) in [
            (1, 0.0, 2.0, 3.0),
            (1_000, 0.0, 2.0, 2_000.0),
            (10_000, 1.0, 5.0, 3_000.0),
            (500, 1.3, 0.5, 4_000.0),
        ] {
            let caching = Caching { keys, skew, ttl, shared: false };
            // A single key is asked few times in a course; many courses are one long one.
            let courses = if keys == 1 { 300 } else { 3 };
            let popularity = caching.popularity();
            let simulated: f64 = (0..courses)
                .map(|seed| caching.simulate(&popularity, rate, seed).expect("few enough requests"))
                .sum::<f64>()
                / courses as f64;
            let expected = caching.hit_rate(&popularity, rate, ttl);
            assert!((simulated - expected).abs() < 0.01, "{keys} {skew}: {simulated} {expected}");
        }
    }

    #[test]
    fn one_key_is_hit_as_the_form_says() {
        let caching = Caching { keys: 1, skew: 1.0, ttl: 2.0, shared: true };
        let popularity = caching.popularity();
        assert!((caching.hit_rate(&popularity, 1.5, 2.0) - 0.75).abs() < 1e-12);
        assert!(caching.simulate(&popularity, 1e9, 7).is_none(), "too many requests to draw");
    }
}

//! Statistics of paired slices: the ratio of two servers with its confidence interval.

use super::Comparison;

/// Quantiles 0.995 of Student's t-distribution for 1 to 30 degrees of freedom: a two-sided interval of 99 %.
const T_995: [f64; 30] = [
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947,
    2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750,
];

/// Quantile 0.995 of the normal distribution, for more than 30 degrees of freedom.
const NORMAL_995: f64 = 2.576;

/// A ratio B/A and its interval of 99 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub a: f64,
    pub b: f64,
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
}

impl Ratio {
    /// The ratio of pairs `(a, b)`: their logarithms are compared, so A/B is the inverse of B/A. Nothing if a value is not above 0,
    /// or there are fewer than 3 pairs.
    #[expect(clippy::cast_precision_loss, reason = "a number of slices")]
    pub(crate) fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        if pairs.len() < 3 || pairs.iter().any(|it| it.0 <= 0.0 || it.1 <= 0.0) {
            return None;
        }
        let count = pairs.len() as f64;
        let mean = |all: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(all).sum::<f64>() / count;
        let log = mean(&|it| (it.1 / it.0).ln());
        let variance = pairs.iter().map(|it| ((it.1 / it.0).ln() - log).powi(2)).sum::<f64>() / (count - 1.0);
        let quantile = T_995.get(pairs.len() - 2).copied().unwrap_or(NORMAL_995);
        let half = quantile * (variance / count).sqrt();
        Some(Self {
            a: mean(&|it| it.0.ln()).exp(),
            b: mean(&|it| it.1.ln()).exp(),
            ratio: log.exp(),
            low: (log - half).exp(),
            high: (log + half).exp(),
        })
    }

    /// The verdict: a difference counts if its interval excludes 1, and if it is larger than `least`, as 0.02.
    pub(crate) fn verdict(&self, is_more_better: bool, least: f64) -> Comparison {
        let is_clear = self.low > 1.0 || self.high < 1.0;
        if !is_clear || (self.ratio - 1.0).abs() < least {
            return Comparison::CannotTell;
        }
        if (self.ratio > 1.0) == is_more_better { Comparison::Better } else { Comparison::Worse }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(random: &mut fastrand::Rng, ratio: f64, noise: f64) -> Vec<(f64, f64)> {
        let mut normal =
            || (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos();
        (0..10)
            .map(|_| (1000.0 * (noise * normal()).exp(), 1000.0 * ratio * (noise * normal()).exp()))
            .collect()
    }

    fn share(ratio: f64, noise: f64, wanted: Comparison) -> f64 {
        let mut random = fastrand::Rng::with_seed(7);
        let found = (0..2000).filter(|_| {
            let ratio = Ratio::of(&noisy(&mut random, ratio, noise)).expect("10 pairs");
            ratio.verdict(true, 0.0) == wanted
        });
        found.count() as f64 / 2000.0
    }

    #[test]
    fn equal_servers_cannot_be_told_apart_in_99_of_100_runs() {
        let right = share(1.0, 0.05, Comparison::CannotTell);
        assert!((0.985..0.995).contains(&right), "{right}");
    }

    #[test]
    fn a_difference_beyond_the_noise_is_found() {
        assert!(share(1.15, 0.05, Comparison::Better) > 0.99);
        assert!(share(0.85, 0.05, Comparison::Worse) > 0.99);
        assert!(share(0.85, 0.05, Comparison::Better) == 0.0);
    }

    #[test]
    fn small_differences_do_not_count_however_clear() {
        let pairs: Vec<(f64, f64)> = (0..10).map(|it| (100.0, 101.0 + 0.001 * f64::from(it))).collect();
        let ratio = Ratio::of(&pairs).expect("10 pairs");
        assert_eq!(ratio.verdict(true, 0.0), Comparison::Better);
        assert_eq!(ratio.verdict(false, 0.0), Comparison::Worse);
        assert_eq!(ratio.verdict(true, 0.02), Comparison::CannotTell);
        assert_eq!(Ratio::of(&pairs[..2]), None);
        assert_eq!(Ratio::of(&[(0.0, 1.0), (1.0, 1.0), (1.0, 1.0)]), None);
    }
}

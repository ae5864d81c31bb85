//! DNS with weights over several balancers, as clients see it: a resolver asks once per lifetime of the answer, and all its clients
//! use the one balancer of that answer until it asks again. Large resolvers make the shares uneven, differently in each lifetime.
//!
//! For equal weights the variance of a balancer's share is `(1/n)(1 - 1/n)` times the sum of squares of the resolvers'
//! shares; a test holds the simulation to it.

use super::zipf::Zipf;
use serde::Serialize;

/// Balancers behind one name.
#[derive(Clone, Debug, Serialize)]
pub struct Balancing {
    /// Weight per balancer; only their ratios matter.
    pub weights: Vec<f64>,
    /// Lifetime of a DNS answer, in seconds.
    pub ttl: f64,
    /// Caches of DNS answers between the clients and the name: resolvers, or clients that keep answers themselves.
    pub resolvers: usize,
    /// Unevenness of the resolvers' traffic: share proportional to `1 / rank^skew`; 0 for equal ones.
    pub skew: f64,
    /// True if each balancer has machines of its own, so that the busiest decides the size of the fleet.
    pub own_machines: bool,
}

/// Load of the busiest balancer over time, as a multiple of the load that its weight should give it.
#[derive(Clone, Debug, Serialize)]
pub struct BalancingResult {
    /// The multiple at equal distances of time.
    pub busiest: Vec<f64>,
    /// Seconds between two of them.
    pub step: f64,
    /// Mean over time.
    pub mean: f64,
    /// Load that is exceeded for one hundredth of the time.
    pub p99: f64,
    /// Largest load.
    pub max: f64,
    /// Standard deviation of the first balancer's share.
    pub deviation: f64,
    /// Standard deviation by the closed form.
    pub deviation_expected: f64,
}

/// Lifetimes that are simulated, and points per lifetime.
const LIFETIMES: usize = 120;
const POINTS: usize = 10;

impl Balancing {
    pub(super) fn simulate(&self, seed: u64) -> BalancingResult {
        let mut random = fastrand::Rng::with_seed(seed);
        let total: f64 = self.weights.iter().sum();
        let ideal: Vec<f64> = self.weights.iter().map(|it| it / total).collect();
        let resolvers = Zipf::new(self.resolvers, self.skew);
        let mut share = vec![0.0; ideal.len()];
        // A resolver asks at the same phase of each lifetime.
        let mut by_phase: Vec<Vec<(usize, f64)>> = vec![Vec::new(); POINTS];
        for rank in 0..self.resolvers {
            let balancer = draw(&ideal, &mut random);
            share[balancer] += resolvers.share(rank);
            by_phase[random.usize(..POINTS)].push((balancer, resolvers.share(rank)));
        }
        let mut busiest = Vec::with_capacity(LIFETIMES * POINTS);
        let mut first = Vec::with_capacity(LIFETIMES * POINTS);
        for _ in 0..LIFETIMES {
            for asking in &mut by_phase {
                for (balancer, traffic) in asking {
                    share[*balancer] -= *traffic;
                    *balancer = draw(&ideal, &mut random);
                    share[*balancer] += *traffic;
                }
                busiest.push(share.iter().zip(&ideal).map(|(is, due)| is / due).fold(0.0, f64::max));
                first.push(share[0]);
            }
        }
        let squares: f64 = (0..self.resolvers).map(|it| resolvers.share(it).powi(2)).sum();
        summary(busiest, &first, ideal[0], squares, self.ttl / POINTS as f64)
    }
}

fn summary(busiest: Vec<f64>, first: &[f64], due: f64, squares: f64, step: f64) -> BalancingResult {
    let mut sorted = busiest.clone();
    sorted.sort_by(f64::total_cmp);
    let count = first.len() as f64;
    BalancingResult {
        mean: busiest.iter().sum::<f64>() / count,
        p99: sorted[(sorted.len() - 1) * 99 / 100],
        max: sorted[sorted.len() - 1],
        deviation: (first.iter().map(|it| (it - due).powi(2)).sum::<f64>() / count).sqrt(),
        deviation_expected: (due * (1.0 - due) * squares).sqrt(),
        busiest,
        step,
    }
}

fn draw(ideal: &[f64], random: &mut fastrand::Rng) -> usize {
    let mut left = random.f64();
    for (index, share) in ideal.iter().enumerate() {
        left -= share;
        if left < 0.0 {
            return index;
        }
    }
    ideal.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thirteen(resolvers: usize, skew: f64) -> Balancing {
        Balancing { weights: vec![1.0; 13], ttl: 60.0, resolvers, skew, own_machines: true }
    }

    #[test]
    fn the_variance_of_a_share_is_that_of_the_closed_form() {
        for (resolvers, skew) in [(2_000, 0.0), (2_000, 0.5), (10_000, 1.0)] {
            // The first balancer's deviation over one course is itself random; many seeds are not.
            let squares = (0..40).map(|seed| {
                let result = thirteen(resolvers, skew).simulate(seed);
                (result.deviation.powi(2), result.deviation_expected.powi(2))
            });
            let (seen, expected) = squares.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
            assert!((seen / expected - 1.0).abs() < 0.1, "{resolvers} {skew}: {}", seen / expected);
        }
    }

    #[test]
    fn few_large_resolvers_make_the_busiest_balancer_busier() {
        let even = thirteen(20_000, 0.0).simulate(7);
        let uneven = thirteen(20_000, 1.0).simulate(7);
        assert!(even.p99 < 1.15, "{}", even.p99);
        assert!(uneven.p99 > 1.5, "{}", uneven.p99);
        assert!(even.mean <= even.p99 && even.p99 <= even.max);
    }

    #[test]
    fn weights_are_kept_and_the_seed_decides() {
        let mut two = thirteen(5_000, 0.2);
        two.weights = vec![3.0, 1.0];
        let once = two.simulate(7);
        let again = two.simulate(7);
        let other = two.simulate(8);
        assert!(once.max < 1.5, "both are near their weights: {}", once.max);
        assert_eq!(once.busiest, again.busiest);
        assert_ne!(once.busiest, other.busiest);
    }
}

//! Zipf's distribution over ranks: shares proportional to `1 / rank^skew`.

/// The shares of `count` ranks; they sum to 1. Memory: 16 bytes per rank.
pub(super) struct Zipf {
    shares: Vec<f64>,
    /// Sum of the shares up to and including each rank.
    below: Vec<f64>,
}

impl Zipf {
    pub(super) fn new(count: usize, skew: f64) -> Self {
        let mut shares: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-skew)).collect();
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|it| *it /= total);
        let below = shares
            .iter()
            .scan(0.0, |sum, it| {
                *sum += it;
                Some(*sum)
            })
            .collect();
        Self { shares, below }
    }

    /// The share of a rank, from 0.
    pub(super) fn share(&self, rank: usize) -> f64 {
        self.shares[rank]
    }

    pub(super) fn shares(&self) -> &[f64] {
        &self.shares
    }

    pub(super) fn draw(&self, random: &mut fastrand::Rng) -> usize {
        let at = random.f64();
        self.below.partition_point(|it| *it <= at).min(self.shares.len() - 1)
    }
}

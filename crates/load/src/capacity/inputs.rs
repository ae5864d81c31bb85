//! The inputs of the sum, each with its source.

use super::balancing::Balancing;
use super::cache::Caching;
use super::scaling::Scaling;
use super::zone_loss::ZoneLoss;
use serde::Serialize;

/// A figure and where it comes from.
#[derive(Clone, Debug, Serialize)]
pub struct Sourced<T> {
    /// The figure.
    pub value: T,
    /// `default`, `given`, or the measurement it was read from.
    pub source: String,
}

impl<T> Sourced<T> {
    /// A default, which the user did not set.
    pub fn default_of(value: T) -> Self {
        Self { value, source: "default".into() }
    }

    /// A figure that the user set.
    pub fn from_user(value: T) -> Self {
        Self { value, source: "given".into() }
    }
}

/// All that is known about the traffic and the machines.
#[derive(Clone, Debug, Serialize)]
pub struct Inputs {
    /// Seed of the simulations.
    pub seed: u64,
    /// Requests per second at the planned peak.
    pub rate: Sourced<f64>,
    /// Load above the planned peak that has to be carried before more machines serve, as a factor.
    pub burst: Sourced<f64>,
    /// The mix; shares sum to 1.
    pub operations: Vec<OperationCost>,
    /// Part of the CPU that may be in use at the peak, from 0 to 1.
    pub utilisation: Sourced<f64>,
    /// Cores of a machine.
    pub cores: Sourced<u32>,
    /// Price of a machine per hour, in any currency.
    pub price: Option<Sourced<f64>>,
    /// Zones, and how many of them may be lost at the peak.
    pub zones: Sourced<Zones>,
    /// Most machines that the fleet is wanted to have.
    pub at_most: Option<u64>,
    /// DNS over balancers; not simulated without.
    pub balancing: Option<Balancing>,
    /// A burst with autoscaling; not simulated without.
    pub scaling: Option<Scaling>,
    /// A cache; not simulated without.
    pub caching: Option<Caching>,
    /// The loss of zones; not simulated without.
    pub zone_loss: Option<ZoneLoss>,
}

/// One operation of the mix.
#[derive(Clone, Debug, Serialize)]
pub struct OperationCost {
    /// Operation name.
    pub name: String,
    /// Share of all requests, from 0 to 1.
    pub share: f64,
    /// CPU of a request, in seconds; of one that misses the cache, if it has a `hit`.
    pub cpu: Sourced<f64>,
    /// CPU cost and rate of requests that the cache answers.
    pub hit: Option<Hit>,
}

/// An operation's requests that hit the cache.
#[derive(Clone, Debug, Serialize)]
pub struct Hit {
    /// CPU of such a request, in seconds.
    pub cpu: Sourced<f64>,
    /// Share of the operation's requests that hit.
    pub rate: HitRate,
}

/// Origin of a hit rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HitRate {
    /// Set by the user, or measured.
    Given(f64),
    /// By the closed form, for `cache`.
    Computed,
}

/// Zones of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Zones {
    /// Zones with machines.
    pub count: u64,
    /// Zones that may be lost at the peak; the others carry its whole load.
    pub lost: u64,
}

impl Inputs {
    /// Inputs with defaults for all but the traffic.
    pub fn new(rate: Sourced<f64>, operations: Vec<OperationCost>) -> Self {
        Self {
            seed: 7,
            rate,
            burst: Sourced::default_of(1.0),
            operations,
            utilisation: Sourced::default_of(0.6),
            cores: Sourced::default_of(8),
            price: None,
            zones: Sourced::default_of(Zones { count: 3, lost: 1 }),
            at_most: None,
            balancing: None,
            scaling: None,
            caching: None,
            zone_loss: None,
        }
    }

    /// Part of the requests that ask the cache: those of operations that it can answer.
    pub(super) fn cached_share(&self) -> f64 {
        self.operations.iter().filter(|it| it.hit.is_some()).map(|it| it.share).sum()
    }

    /// CPU seconds per request of the mix, where operations with a computed hit rate hit at `computed`.
    pub(super) fn cpu(&self, computed: f64) -> f64 {
        self.operations.iter().map(|it| it.share * it.mean_cpu(computed)).sum()
    }
}

impl OperationCost {
    /// CPU seconds per request, over hits and misses.
    pub(super) fn mean_cpu(&self, computed: f64) -> f64 {
        let Some(hit) = &self.hit else { return self.cpu.value };
        let rate = match hit.rate {
            HitRate::Given(rate) => rate,
            HitRate::Computed => computed,
        };
        self.cpu.value * (1.0 - rate) + hit.cpu.value * rate
    }
}

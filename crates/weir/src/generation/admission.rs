//! Admission of requests: rates of weir.yaml, and Hasura's `api_limits` of the metadata.
//!
//! A request is counted by all rates that hold for it, or by none: what earlier ones took is given back when a later one refuses.
//!
//! **Invariant:** counts outlive the generation, so no reload frees anybody from a limit that stays; each rate has room of its own, so no
//! flood under one closes another.
//!
//! **Cost:** nothing where there are no limits; else a hash and the lock of a shard per rate, and the parts of `rate_policy` and
//! `operation_shape` where rates or limits read documents.

mod admitted_request;
mod api_limits;
mod key_table;
mod meter;
mod operation_shape;
mod rate_policy;
mod shared_rate;

use crate::config::{Config, Rate};
use crate::operations::SavedOperations;
use crate::operations::known_documents::KnownDocuments;
use crate::sources::{Misfit, services};
pub(crate) use admitted_request::refusal_response;
use api_limits::RoleLimits;
use key_table::{CrowdedCount, share_keys};
use meter::{MeterReading, SECOND_NS, SlidingMinute, TokenBucket};
use operation_shape::OperationShapes;
pub(crate) use rate_policy::Asker;
use rate_policy::{RatePolicy, write_key};
use shared_rate::{LocalDecisions, SharedKey, SharedRates};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;
use weir_engine::caller::ADMIN;
use weir_http::cache::Clock;
use weir_metadata::Step;

/// Tokens that one request takes.
const COST: u32 = 1;

/// State of a rate that counted a request, for its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RateState {
    pub(crate) name: Arc<str>,
    /// Requests in `window_s` seconds.
    pub(crate) requests: u32,
    pub(crate) window_s: u32,
    /// Hash of the key.
    pub(crate) partition: u64,
    /// Requests that may come at once.
    pub(crate) remaining: u32,
    /// Seconds until there are more.
    pub(crate) wait_s: u64,
}

/// A request that a rate refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RateRefusal {
    pub(crate) name: Arc<str>,
    /// Seconds until the request would be admitted.
    pub(crate) wait_s: u64,
}

/// An operation beyond a limit of `api_limits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShapeRefusal {
    /// Depth, and the limit.
    Depth(u32, u32),
    /// Nodes, and the limit.
    Nodes(u32, u32),
}

/// Counts of the process for `/metrics`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AdmissionCounts {
    /// Keys that are counted apart.
    pub(crate) keys: usize,
    /// Requests whose key had no place of its own.
    pub(crate) crowded: u64,
    /// Decisions without Redis, where processes share rates.
    pub(crate) local: u64,
}

/// Limits of one configuration, with the counts of the process.
pub(crate) struct Admission {
    policies: Vec<RatePolicy>,
    reads_documents: bool,
    limits: Option<RoleLimits>,
    shapes: OperationShapes,
    tables: Arc<Tables>,
    /// Buckets that processes share.
    shared: Option<SharedRates>,
    /// Keys of each rate of weir.yaml.
    keys_max: u32,
}

/// Counts of all rates, which outlive a generation.
struct Tables {
    crowded: CrowdedCount,
    local: Arc<LocalDecisions>,
    clock: Clock,
}

impl Admission {
    /// The limits of `config`, and the entries of rates that name an unknown operation.
    /// # Errors
    /// The Redis of rates cannot be used.
    pub(crate) fn new(
        config: &Config,
        operations: &SavedOperations,
        clock: Clock,
    ) -> Result<(Self, Vec<Misfit>), String> {
        let is_shared = config.limits.rates_in_redis;
        let processes = if is_shared { u32::from(config.limits.rate_processes) } else { 1 };
        let rates = &config.limits.rates;
        let mut misfits = Vec::new();
        let mut policies = Vec::with_capacity(rates.len());
        // A rate without `by` has a single key.
        let keys_max =
            share_keys(config.limits.rate_keys_max, rates.iter().filter(|it| !it.by.is_empty()).count());
        for (at, rate) in rates.iter().enumerate() {
            let (policy, unknown) = RatePolicy::new(rate, keys_max, processes, operations);
            policies.push(policy);
            misfits.extend(unknown.into_iter().map(|name| unknown_operation(at, name)));
        }
        let document = config.described.as_ref().map(|it| &it.loaded.document);
        let local = Arc::<LocalDecisions>::default();
        let cache = is_shared.then(|| services::keep(&config.cache)).transpose()?;
        let shared = cache.map(|it| SharedRates::new(it, Arc::clone(&local)));
        let tables = Tables { crowded: CrowdedCount::default(), local, clock };
        let admission = Self {
            policies,
            reads_documents: rates.iter().any(Rate::reads_documents),
            limits: document.and_then(|it| RoleLimits::new(&it.api_limits, config.limits.rate_keys_max)),
            shapes: OperationShapes::new(config.limits.document()),
            tables: tables.into(),
            shared,
            keys_max,
        };
        Ok((admission, misfits))
    }

    /// Takes over the counts of the configuration before.
    pub(crate) fn keep_counts_of(&mut self, before: &Self) {
        self.tables = Arc::clone(&before.tables);
        if let Some(shared) = &mut self.shared {
            shared.count_in(&self.tables.local);
        }
        for policy in &mut self.policies {
            policy.keep_counts_of(&before.policies);
        }
        if let Some((limits, known)) = self.limits.as_mut().zip(before.limits.as_ref()) {
            limits.keep_counts_of(known);
        }
    }

    /// Adjusts counts that were taken over to this configuration, once it is in force: a draft must change nothing.
    pub(crate) fn adjust_counts(&self) {
        let now_ns = self.tables.now_ns();
        self.policies.iter().for_each(|it| it.adjust_counts(self.keys_max, now_ns));
        if let Some(limits) = &self.limits {
            limits.adjust_counts();
        }
    }

    /// True if there is no limit.
    pub(crate) const fn is_idle(&self) -> bool {
        self.policies.is_empty() && self.limits.is_none()
    }

    /// Counts of the process.
    pub(crate) fn counts(&self) -> AdmissionCounts {
        let Tables { crowded, local, .. } = &*self.tables;
        let buckets: usize = self.policies.iter().map(|it| it.buckets.keys()).sum();
        AdmissionCounts {
            keys: buckets + self.limits.as_ref().map_or(0, RoleLimits::keys),
            crowded: crowded.count(),
            local: local.count(),
        }
    }

    /// Requests that a list of `role` may have by `api_limits`.
    pub(crate) fn batch_max(&self, role: &str) -> Option<u32> {
        self.limits_of(role)?.batch_max(role)
    }

    /// Duration that operations of `role` may have by `api_limits`.
    pub(crate) fn duration_max(&self, role: &str) -> Option<Duration> {
        self.limits_of(role)?.duration_max(role)
    }

    /// The limits that hold for `role`.
    fn limits_of(&self, role: &str) -> Option<&RoleLimits> {
        self.limits.as_ref().filter(|_| role != ADMIN)
    }

    /// Holds the operation of `asker` against `api_limits`.
    /// # Errors
    /// It is beyond one of them.
    pub(crate) fn check_shape(&self, asker: &Asker<'_>) -> Result<(), ShapeRefusal> {
        let role = asker.caller.role();
        let Some(limits) = self.limits_of(role) else { return Ok(()) };
        let depth_max = limits.depth_max(role);
        let nodes_max = limits.nodes_max(role);
        if depth_max.is_none() && nodes_max.is_none() {
            return Ok(());
        }
        let Some(shape) = self.shapes.find(asker.text, asker.operation_name) else { return Ok(()) };
        match (depth_max, nodes_max) {
            (Some(max), _) if shape.depth > max => Err(ShapeRefusal::Depth(shape.depth, max)),
            (_, Some(max)) if shape.nodes > max => Err(ShapeRefusal::Nodes(shape.nodes, max)),
            _ => Ok(()),
        }
    }

    /// Counts the request of `asker`, and tells in `states` what its client learns; `known` are the documents that rates read.
    /// # Errors
    /// A rate refuses it; then none counts it.
    pub(crate) async fn count(
        &self,
        asker: &Asker<'_>,
        known: &KnownDocuments,
        states: &mut Vec<RateState>,
    ) -> Result<(), RateRefusal> {
        let role = asker.caller.role();
        let document = if self.reads_documents { known.find(asker.text) } else { None };
        let form = document.map(|it| known.form(it));
        let now_ns = self.tables.now_ns();
        let mut taken = Vec::new();
        for policy in self.policies.iter().filter(|it| it.counts(role, document)) {
            let RatePolicy { name, requests, window_s, .. } = policy;
            let (reading, token) = self.take(policy, asker, form, now_ns).await;
            let quota = Quota { name, requests: *requests, window_s: *window_s };
            if let Err(refusal) = tell(states, quota, token.partition(), reading) {
                self.give_back(&taken, states, now_ns).await;
                return Err(refusal);
            }
            taken.push(token);
        }
        let counted = self.count_minute(asker, states, now_ns);
        if counted.is_err() {
            self.give_back(&taken, states, now_ns).await;
        }
        counted
    }

    /// Takes a token of `policy`, in Redis if processes share it and it answers.
    async fn take<'p>(
        &self,
        policy: &'p RatePolicy,
        asker: &Asker<'_>,
        form: Option<&[u8]>,
        now_ns: u64,
    ) -> (MeterReading, TakenToken<'p>) {
        let RatePolicy { name, keys, terms, buckets, shared, .. } = policy;
        if let Some(rates) = &self.shared {
            let key = SharedKey::new(name, |part| write_key(keys, asker, form, part));
            if let Some(reading) = rates.take(&key, *shared, COST).await {
                return (reading, TakenToken::Shared(policy, key));
            }
        }
        let key = hash_key(&buckets.keyed, name, |part| write_key(keys, asker, form, part));
        let reading = buckets.update(key, now_ns, &self.tables.crowded, |it| it.take(*terms, COST, now_ns));
        (reading, TakenToken::Local(policy, key))
    }

    /// Gives back what was `taken` for a request that is refused; `states` begin with theirs.
    async fn give_back(&self, taken: &[TakenToken<'_>], states: &mut [RateState], now_ns: u64) {
        for (token, state) in taken.iter().zip(states) {
            match token {
                TakenToken::Local(policy, key) => {
                    let give_back = |it: &mut TokenBucket| it.give_back(policy.terms, COST);
                    policy.buckets.update(*key, now_ns, &self.tables.crowded, give_back);
                }
                TakenToken::Shared(policy, key) => {
                    if let Some(rates) = &self.shared {
                        rates.give_back(key, policy.shared, COST).await;
                    }
                }
            }
            state.remaining += COST;
        }
    }

    /// Counts the request of `asker` by the rate of `api_limits`.
    fn count_minute(
        &self,
        asker: &Asker<'_>,
        states: &mut Vec<RateState>,
        now_ns: u64,
    ) -> Result<(), RateRefusal> {
        let role = asker.caller.role();
        let Some((limits, rate)) = self.limits_of(role).and_then(|it| Some((it, it.rate(role)?))) else {
            return Ok(());
        };
        let name = limits.name();
        let key = hash_key(&rate.minutes.keyed, name, |part| write_key(&rate.keys, asker, None, part));
        let take = |it: &mut SlidingMinute| it.take(rate.requests_max, now_ns);
        let reading = rate.minutes.update(key, now_ns, &self.tables.crowded, take);
        tell(states, Quota { name, requests: rate.requests_max, window_s: 60 }, key, reading)
    }
}

/// A token that was taken for a request, with its key.
enum TakenToken<'p> {
    /// A token of this process.
    Local(&'p RatePolicy, u64),
    /// A token of Redis.
    Shared(&'p RatePolicy, SharedKey),
}

impl TakenToken<'_> {
    /// Hash of the key for clients.
    fn partition(&self) -> u64 {
        match self {
            Self::Local(_, key) => *key,
            Self::Shared(_, key) => key.partition(),
        }
    }
}

impl Tables {
    /// Time of the clock.
    fn now_ns(&self) -> u64 {
        self.clock.now_ms().saturating_mul(SECOND_NS / 1000)
    }
}

/// A rate, as clients learn it.
struct Quota<'q> {
    name: &'q Arc<str>,
    requests: u32,
    window_s: u32,
}

/// Appends what the client learns of a rate; an error if it refuses.
fn tell(
    states: &mut Vec<RateState>,
    quota: Quota<'_>,
    partition: u64,
    reading: MeterReading,
) -> Result<(), RateRefusal> {
    let Quota { name, requests, window_s } = quota;
    let MeterReading { is_allowed, remaining, wait_ns } = reading;
    let wait_s = wait_ns.div_ceil(SECOND_NS);
    states.push(RateState { name: Arc::clone(name), requests, window_s, partition, remaining, wait_s });
    if is_allowed { Ok(()) } else { Err(RateRefusal { name: Arc::clone(name), wait_s }) }
}

/// The key of the rate `name` whose parts `write` gives.
fn hash_key(keyed: &RandomState, name: &str, write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> u64 {
    let mut hasher = keyed.build_hasher();
    hasher.write(name.as_bytes());
    hasher.write(&[0]);
    write(&mut |part| hasher.write(part));
    hasher.finish()
}

/// Entry of the rate at `at` that names an operation which nobody knows.
fn unknown_operation(at: usize, name: &str) -> Misfit {
    let path: Vec<Step> = vec!["limits".into(), "rates".into(), at.into(), "operations".into()];
    let reason = format!(
        "no collection and no file of documents has the operation `{name}`, so the rate does not hold for it"
    );
    Misfit { is_metadata: false, path, reason, is_served: true }
}

#[cfg(test)]
mod tests;

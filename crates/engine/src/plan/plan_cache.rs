//! Caches plans, so that a known request is neither parsed nor validated again.
//!
//! Key: text, operation name, protocol, profile of the caller and, for operations that variables steer by `@skip`/`@include`, the state of those; whether parts of the answer may come later. Such an operation has one more entry without a state, which says what to bind first.
//! Texts that are requested once are admitted to a small part of the cache only, so a flood of them does not evict frequent plans.
//!
//! **Invariant:** a plan in the cache was built from the graph the cache was made with. A new graph is a new engine
//! with a new cache; entries are never patched. What cannot be planned is not kept.
//!
//! **Cost:** a hit is one hash of the text and one lock of a shard; it allocates nothing.

use super::{Plan, PlannedOperation};
use crate::caching::CacheFill;
use crate::request::protocol::Protocol;
use quick_cache::{Equivalent, Weighter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// State of a text in the cache.
#[derive(Clone)]
pub(crate) enum CachedPlan {
    /// The plan of the operation.
    Plan(Arc<Plan>),
    /// The operation has one plan per state of its condition variables: bind the variables, then look up the state.
    Steered(Arc<PlannedOperation>),
}

/// A key as a request has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PlanKeyRef<'r> {
    /// The document.
    pub(crate) text: &'r str,
    /// Name of the operation.
    pub(crate) operation_name: Option<&'r str>,
    /// Protocol of the answer.
    pub(crate) protocol: Protocol,
    /// The number of the caller's profile.
    pub(crate) profile: u64,
    /// The state of the steering variables, if it is part of the key.
    pub(crate) state: Option<u64>,
    /// True if parts of the answer may come later.
    pub(crate) is_incremental: bool,
}

/// A key as the cache has it.
struct PlanKey {
    text: Box<str>,
    operation_name: Option<Box<str>>,
    protocol: Protocol,
    profile: u64,
    state: Option<u64>,
    is_incremental: bool,
}

impl PlanKey {
    fn as_ref(&self) -> PlanKeyRef<'_> {
        PlanKeyRef {
            text: &self.text,
            operation_name: self.operation_name.as_deref(),
            protocol: self.protocol,
            profile: self.profile,
            state: self.state,
            is_incremental: self.is_incremental,
        }
    }
}

impl Hash for PlanKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_ref().hash(state);
    }
}
impl PartialEq for PlanKey {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}
impl Eq for PlanKey {}
impl Equivalent<PlanKey> for PlanKeyRef<'_> {
    fn equivalent(&self, key: &PlanKey) -> bool {
        *self == key.as_ref()
    }
}

/// Bytes of an entry.
#[derive(Clone)]
struct Bytes;

impl Weighter<PlanKey, CachedPlan> for Bytes {
    fn weight(&self, key: &PlanKey, known: &CachedPlan) -> u64 {
        /// Overhead of the cache per entry, in bytes, estimated.
        const ENTRY_BYTES: usize = 128;
        let known = match known {
            CachedPlan::Plan(plan) => plan.weight_bytes,
            CachedPlan::Steered(operation) => operation.weight_bytes(),
        };
        (ENTRY_BYTES + key.text.len() + key.operation_name.as_ref().map_or(0, |it| it.len()) + known) as u64
    }
}

/// The plans of one engine.
pub(crate) struct PlanCache {
    entries: quick_cache::sync::Cache<PlanKey, CachedPlan, Bytes, foldhash::quality::RandomState>,
}

impl PlanCache {
    /// An empty cache whose entries may take `bytes_max` together.
    pub(crate) fn new(bytes_max: usize) -> Self {
        /// A plan of a few fields with its text.
        const PLAN_BYTES_TYPICAL: usize = 4096;
        /// Minimum size of a shard, in bytes: the folded introspection of thousands of types fits.
        const SHARD_BYTES_MIN: usize = 16 * 1024 * 1024;
        let options = quick_cache::OptionsBuilder::new()
            .estimated_items_capacity((bytes_max / PLAN_BYTES_TYPICAL).max(16))
            .weight_capacity(bytes_max as u64)
            .shards((bytes_max / SHARD_BYTES_MIN).clamp(1, 16))
            .build()
            .expect("all that has no default is given");
        let entries = quick_cache::sync::Cache::with_options(
            options,
            Bytes,
            foldhash::quality::RandomState::default(),
            quick_cache::sync::DefaultLifecycle::default(),
        );
        Self { entries }
    }

    /// Entries and bytes.
    pub(crate) fn fill(&self) -> CacheFill {
        CacheFill {
            entries: self.entries.len(),
            bytes: self.entries.weight(),
            bytes_max: self.entries.capacity(),
        }
    }

    /// The entry of `key`.
    pub(crate) fn get(&self, key: PlanKeyRef<'_>) -> Option<CachedPlan> {
        self.entries.get(&key)
    }

    /// Keeps `known` under `key`, perhaps in the place of others.
    pub(crate) fn put(&self, key: PlanKeyRef<'_>, known: CachedPlan) {
        let key = PlanKey {
            text: key.text.into(),
            operation_name: key.operation_name.map(Into::into),
            protocol: key.protocol,
            profile: key.profile,
            state: key.state,
            is_incremental: key.is_incremental,
        };
        self.entries.insert(key, known);
    }

    /// Bytes its entries take, roughly.
    pub(crate) fn bytes(&self) -> u64 {
        self.entries.weight()
    }

    /// The number of its entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

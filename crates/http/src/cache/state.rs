//! State of the cache that requests and jobs share: what is found under a key, and what is served of it.

use super::Served;
use super::clock::Clock;
use super::counters::Outcome;
use super::entry::{Entry, Lifetime};
use super::flights::Flights;
use super::level1::{CacheSlot, Level1};
use super::remote::Remote;
use super::rule::{Rule, Sharing};
use super::tags::Registry;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use weir_engine::keys::{KeyRef, SharedKey};

/// Lifetimes that end within this difference are equal: conversion between clocks loses precision.
const SAME_MS: u64 = 20;

/// State shared by all threads.
#[derive(Debug)]
pub(super) struct CacheState {
    pub(super) clock: Clock,
    pub(super) tags: Arc<Registry>,
    pub(super) level1: Level1,
    pub(super) flights: Arc<Flights>,
    pub(super) remote: Option<Remote>,
}

/// State of a key at an instant.
pub(super) enum CacheLookup {
    Fresh(Arc<Entry>),
    /// An expired entry that may be served while it is refreshed.
    Stale(Arc<Entry>),
    /// An expired entry that may be served if the upstream fails.
    OnError(Arc<Entry>),
    /// Answers under this key are private: the request makes its own call.
    Pass,
    Nothing,
}

impl CacheState {
    pub(super) fn lookup(&self, key: KeyRef<'_>, now_ms: u64) -> CacheLookup {
        match self.level1.lookup(key) {
            Some(CacheSlot::Pass { until_ms }) if now_ms < until_ms => CacheLookup::Pass,
            Some(CacheSlot::Pass { .. }) | None => CacheLookup::Nothing,
            Some(CacheSlot::Entry(entry)) if !entry.tags.are_current() => CacheLookup::Nothing,
            Some(CacheSlot::Entry(entry)) => {
                let lifetime = entry.lifetime;
                if now_ms < lifetime.fresh_until_ms {
                    CacheLookup::Fresh(entry)
                } else if now_ms < lifetime.stale_until_ms {
                    CacheLookup::Stale(entry)
                } else if now_ms < lifetime.error_until_ms {
                    CacheLookup::OnError(entry)
                } else {
                    CacheLookup::Nothing
                }
            }
        }
    }

    /// The entry under `key` that the upstream may confirm, fresh or not. Never for calls that are nobody else's.
    pub(super) fn find_validated(&self, rule: &Rule, key: KeyRef<'_>) -> Option<Arc<Entry>> {
        if !rule.revalidates || rule.sharing == Sharing::Never {
            return None;
        }
        match self.level1.lookup(key) {
            Some(CacheSlot::Entry(entry)) if entry.validators.is_some() && entry.tags.are_current() => {
                Some(entry)
            }
            Some(CacheSlot::Entry(_) | CacheSlot::Pass { .. }) | None => None,
        }
    }

    pub(super) fn serve(&self, rule: &Rule, entry: Arc<Entry>, outcome: Outcome) -> Served {
        self.serve_at(rule, entry, outcome, self.clock.now_ms())
    }

    /// Serves like [`CacheState::serve`], at an instant that holds for many entries.
    pub(super) fn serve_at(&self, rule: &Rule, entry: Arc<Entry>, outcome: Outcome, now_ms: u64) -> Served {
        rule.counters.count_served(outcome, entry.is_negative());
        Served { fresh_ms: entry.fresh_ms(now_ms), stale_ms: entry.stale_ms(now_ms), entry, outcome }
    }

    /// True if `lifetime` ends later than that of the cached entry, by more than the error between two machines' clocks.
    pub(super) fn outlives(&self, key: &SharedKey, lifetime: &Lifetime) -> bool {
        match self.level1.lookup(key.as_key_ref()) {
            Some(CacheSlot::Entry(old)) => lifetime.fresh_until_ms > old.lifetime.fresh_until_ms + SAME_MS,
            Some(CacheSlot::Pass { .. }) | None => true,
        }
    }

    /// Delays the next refresh of `key` after one failed or was left to another process.
    pub(super) fn postpone_refresh(&self, key: &SharedKey, for_ms: u64) {
        if let Some(CacheSlot::Entry(old)) = self.level1.lookup(key.as_key_ref()) {
            old.retry_at_ms.store(self.clock.now_ms() + for_ms, Ordering::Relaxed);
        }
    }
}

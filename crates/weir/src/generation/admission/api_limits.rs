//! Hasura's `api_limits`: limits by role, of the metadata.
//!
//! Source: Hasura v2, API limits of the cloud and enterprise editions.

use super::key_table::{KeyTable, share_keys};
use super::meter::SlidingMinute;
use crate::config::RateKey;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use weir_engine::caller::SESSION_PREFIX;
use weir_metadata::Json;
use weir_metadata::document::api::{self, Limit, Rate};

/// Name of the rate in answers and metrics.
const RATE_NAME: &str = "api_limits";

/// A limit of requests in a minute.
pub(super) struct MinuteRate {
    pub(super) requests_max: u32,
    /// Callers are counted apart by the role and these.
    pub(super) keys: Vec<RateKey>,
    /// Minutes of callers, which outlive a generation.
    pub(super) minutes: Arc<KeyTable<SlidingMinute>>,
}

/// Limits in force.
pub(super) struct RoleLimits {
    limits: api::ApiLimits,
    name: Arc<str>,
    rate: Option<MinuteRate>,
    rate_of_role: HashMap<String, MinuteRate>,
    /// Keys of each rate.
    keys_max: u32,
}

impl RoleLimits {
    /// The limits in force, with rates that have `keys_max` keys together; `None` if there are none.
    pub(super) fn new(limits: &api::ApiLimits, keys_max: u32) -> Option<Self> {
        let is_empty = *limits == api::ApiLimits { disabled: limits.disabled, ..api::ApiLimits::default() };
        if limits.disabled || is_empty {
            return None;
        }
        let rate = limits.rate_limit.as_ref();
        let keys_max = share_keys(keys_max, rate.map_or(0, |it| it.per_role.len() + 1));
        let of_roles = rate.into_iter().flat_map(|it| &it.per_role);
        let minute_rate = |it: &Rate| MinuteRate::new(it, keys_max);
        Some(Self {
            limits: limits.clone(),
            name: RATE_NAME.into(),
            rate: rate.map(|it| minute_rate(&it.global)),
            rate_of_role: of_roles.map(|(role, rate)| (role.clone(), minute_rate(rate))).collect(),
            keys_max,
        })
    }

    /// Takes over the minutes of the limits before: of the global rate, and of each role with a rate of its own.
    pub(super) fn keep_counts_of(&mut self, before: &Self) {
        if let Some((rate, known)) = self.rate.as_mut().zip(before.rate.as_ref()) {
            rate.minutes = Arc::clone(&known.minutes);
        }
        for (role, rate) in &mut self.rate_of_role {
            if let Some(known) = before.rate_of_role.get(role) {
                rate.minutes = Arc::clone(&known.minutes);
            }
        }
    }

    /// Gives the minutes, which may be those of other limits, room for the keys of these.
    pub(super) fn adjust_counts(&self) {
        self.rates().for_each(|it| it.minutes.set_keys_max(self.keys_max));
    }

    /// Number of keys.
    pub(super) fn keys(&self) -> usize {
        self.rates().map(|it| it.minutes.keys()).sum()
    }

    fn rates(&self) -> impl Iterator<Item = &MinuteRate> {
        self.rate.iter().chain(self.rate_of_role.values())
    }

    /// Name of its rate.
    pub(super) const fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Depth that operations of `role` may have.
    pub(super) fn depth_max(&self, role: &str) -> Option<u32> {
        of_role(self.limits.depth_limit.as_ref(), role)
    }

    /// Nodes that operations of `role` may have.
    pub(super) fn nodes_max(&self, role: &str) -> Option<u32> {
        of_role(self.limits.node_limit.as_ref(), role)
    }

    /// Duration that operations of `role` may have.
    pub(super) fn duration_max(&self, role: &str) -> Option<Duration> {
        of_role(self.limits.time_limit.as_ref(), role).map(|it| Duration::from_secs(it.into()))
    }

    /// Requests that a list of `role` may have.
    pub(super) fn batch_max(&self, role: &str) -> Option<u32> {
        of_role(self.limits.batch_limit.as_ref(), role)
    }

    /// Requests of `role` in a minute.
    pub(super) fn rate(&self, role: &str) -> Option<&MinuteRate> {
        self.rate_of_role.get(role).or(self.rate.as_ref())
    }
}

impl MinuteRate {
    fn new(rate: &Rate, keys_max: u32) -> Self {
        let params: &[Json] = match &rate.unique_params {
            None => &[],
            Some(Json::List(params)) => params,
            Some(param) => std::slice::from_ref(param),
        };
        let keys = params.iter().filter_map(|it| match it {
            Json::Text(param) => read_param(param),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::List(_) | Json::Object(_) => None,
        });
        let keys = std::iter::once(RateKey::Role).chain(keys).collect();
        Self { requests_max: rate.max_reqs_per_min, keys, minutes: KeyTable::new(keys_max).into() }
    }
}

/// The limit of `role`.
fn of_role(limit: Option<&Limit>, role: &str) -> Option<u32> {
    limit.map(|it| it.per_role.get(role).copied().unwrap_or(it.global))
}

/// The key that one of `unique_params` names.
fn read_param(param: &str) -> Option<RateKey> {
    if param.eq_ignore_ascii_case("ip") {
        return Some(RateKey::Address);
    }
    let is_variable = param.to_ascii_lowercase().starts_with(SESSION_PREFIX);
    is_variable.then(|| RateKey::of_claim(param))
}

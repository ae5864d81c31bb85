//! An answer as it is kept: its body, and the instants up to which it serves.
//!
//! **Invariant:** times are absolute; every answer gets the remaining times, so that levels never add up.

pub(crate) mod answer_headers;
pub(crate) mod body;
pub(crate) mod tape;
pub(crate) mod validators;

use super::rule::Scope;
use super::tags::Tags;
use crate::call::Went;
use answer_headers::AnswerHeaders;
use body::Body;
use http::HeaderMap;
use std::sync::atomic::{AtomicU64, Ordering};
use tape::Tape;
use validators::Validators;
use weir_language::json::Json;

/// Instants up to which an answer may be served, in milliseconds of the cache's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// When the upstream was asked for it.
    pub origin_ms: u64,
    /// End of the fresh period.
    pub fresh_until_ms: u64,
    /// End of the period in which the entry is served while it is refreshed.
    pub stale_until_ms: u64,
    /// End of the period in which the entry is served if the upstream fails.
    pub error_until_ms: u64,
}

/// An answer of an upstream, cached or not.
#[derive(Debug)]
pub struct Entry {
    /// HTTP status; 404 for an id that a batch response does not contain.
    pub status: u16,
    pub body: Body,
    /// The headers that are kept of it.
    pub headers: AnswerHeaders,
    /// By them the service confirms it once its lifetime is over.
    pub(super) validators: Option<Validators>,
    /// Up to when it serves.
    pub lifetime: Lifetime,
    /// Audience of the answer.
    pub scope: Scope,
    /// True if the answer states no lifetime. It is not cached; results built from it get their lifetime from other settings.
    pub is_silent: bool,
    /// True if `CDN-Cache-Control` allows only caches like this one: clients get `no-store`.
    pub is_inner: bool,
    /// True if it must never be served stale (`must-revalidate`, `proxy-revalidate`).
    pub must_revalidate: bool,
    /// Duration of the call, in milliseconds.
    pub took_ms: u32,
    /// Attempts and timing of the call, for logs. Empty if another process made the call.
    pub went: Went,
    /// Tags that invalidate it.
    pub(super) tags: Tags,
    /// Earliest time of the next refresh after one failed.
    pub(super) retry_at_ms: AtomicU64,
}

impl Entry {
    /// The JSON, if that is what was sent.
    pub fn json(&self) -> Option<Json<'_>> {
        self.body.tape().map(Tape::json)
    }

    /// True if it says that the object does not exist.
    pub fn is_negative(&self) -> bool {
        matches!(self.status, 404 | 410)
    }

    /// True if the upstream failed: a server error, overload, or a body that is not JSON.
    pub fn is_failure(&self) -> bool {
        self.status >= 500
            || self.status == 429
            || matches!(self.body, Body::Unreadable(_)) && !self.is_negative()
    }

    /// Fresh time left, in milliseconds.
    pub fn fresh_ms(&self, now_ms: u64) -> u64 {
        self.lifetime.fresh_until_ms.saturating_sub(now_ms)
    }

    /// Stale time left after the fresh period, in milliseconds.
    pub fn stale_ms(&self, now_ms: u64) -> u64 {
        self.lifetime.stale_until_ms.saturating_sub(now_ms.max(self.lifetime.fresh_until_ms))
    }

    /// True if a fresh entry is to be refreshed early: the closer to its end and the slower the call, the more probably, so
    /// that one of many requests does so in time. Never in the first half of its life.
    ///
    /// Source: Vattani and others, Optimal Probabilistic Cache Stampede Prevention (VLDB 2015).
    pub(super) fn is_due(&self, now_ms: u64) -> bool {
        let lifetime = self.lifetime;
        let whole_ms = lifetime.fresh_until_ms - lifetime.origin_ms;
        let left_ms = self.fresh_ms(now_ms);
        let took_ms = u64::from(self.took_ms);
        // Beyond 20 call durations the probability is below one in a billion.
        if left_ms > took_ms * 20 || left_ms * 2 > whole_ms || !self.may_retry(now_ms) {
            return false;
        }
        let ahead = -(1.0 - fastrand::f64()).ln();
        left_ms as f64 <= took_ms as f64 * ahead
    }

    /// A copy of a failure without its body, for requests other than the one that made the call.
    pub(super) fn without_body(&self) -> Self {
        let status = if self.status == 429 { 429 } else { self.status.max(502) };
        Self {
            status,
            body: Body::Absent,
            headers: AnswerHeaders::default(),
            validators: None,
            lifetime: self.lifetime,
            scope: Scope::Public,
            is_silent: false,
            is_inner: false,
            must_revalidate: false,
            took_ms: self.took_ms,
            went: self.went,
            tags: Tags::default(),
            retry_at_ms: AtomicU64::new(0),
        }
    }

    pub(super) fn may_retry(&self, now_ms: u64) -> bool {
        self.retry_at_ms.load(Ordering::Relaxed) <= now_ms
    }

    fn headers_bytes(&self) -> usize {
        let validators = self.validators.as_ref().map_or(0, |it| it.headers().bytes_held());
        self.headers.bytes_held() + validators
    }

    /// Adds to the `headers` of a 304 those of the entry that it leaves out.
    pub(super) fn complete(&self, headers: &mut HeaderMap) {
        let validators = self.validators.iter().map(Validators::headers);
        for own in validators.chain([&self.headers]) {
            own.add_absent(headers);
        }
    }

    /// Memory of the entry, in bytes, as an estimate.
    pub(super) fn bytes_held(&self) -> usize {
        size_of::<Self>() + self.body.tape().map_or(0, Tape::bytes_held) + self.headers_bytes()
    }
}

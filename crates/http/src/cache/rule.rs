//! Caching rules of a source: `@cache`, and the plan's knowledge of the calls.

use super::counters::Counters;
use http::HeaderName;
use std::sync::Arc;

/// For whom an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// For all callers with equal requests.
    Public,
    /// For the calling request only.
    Private,
}

/// Audience of a cached answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Everyone with the same key, unless the answer's headers forbid it.
    ByHeaders,
    /// As above, and declared: `scope: PUBLIC`. Answers to calls with an `Authorization` are shared as well, and those that
    /// vary on headers that are never sent.
    Declared,
    /// Those with the same key, which holds what tells one user from another: `scope: PRIVATE` with `key`.
    Keyed,
    /// Nobody, not even while in flight: `scope: PRIVATE` without `key`, and whatever is no safe method.
    Never,
}

/// Parts of `Cache-Control` and `CDN-Cache-Control` that do not count where operators know better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overruled {
    /// With it all lifetimes beside it and `Expires` do not count.
    pub no_store: bool,
    /// As `no_store`.
    pub no_cache: bool,
    /// True ignores `private`; lifetimes beside it still count.
    pub private: bool,
}

/// Caching rule for one kind of call.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Counters of the source, from [`Cache::counters`](super::Cache::counters).
    pub counters: Arc<Counters>,
    /// Headers that say how long, the first that is there decides: `Cache-Control` and `Expires` as they are defined, any
    /// other as a number of seconds. The standard ones follow those that are named.
    pub cache_control: Box<[HeaderName]>,
    /// Lifetime of answers whose headers give none: 0 is none, and `None` leaves it to other settings.
    pub default_ms: Option<u64>,
    /// Stale period while a new answer is fetched; `None`: by the answer.
    pub stale_ms: Option<u64>,
    /// Stale period if the upstream fails; `None`: by the answer.
    pub stale_on_error_ms: Option<u64>,
    /// Lifetimes are shortened by up to so many percent, so that what came together does not expire together.
    pub jitter_percent: u8,
    /// Lifetime of "does not exist" (404, 410, missing in a batch).
    pub negative_ms: u64,
    /// Audience of a cached answer.
    pub sharing: Sharing,
    /// The headers that the calls send, and that their keys therefore hold.
    pub held: Box<[HeaderName]>,
    /// Headers of answers that mappings read: they are kept beside the body.
    pub kept: Box<[HeaderName]>,
    /// True if the client sent nothing that becomes an `Authorization` in `held`: the call is public.
    pub anonymous: bool,
    /// Parts of `Cache-Control` that do not count.
    pub overruled: Overruled,
    /// How the bytes of an answer are read.
    pub reading: BodyReading,
    /// Maximum nesting of an answer's JSON.
    pub depth_max: u32,
}

/// How the bytes of a body are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyReading {
    /// JSON, whatever type it has.
    Json,
    /// Reads by `Content-Type`: JSON, a plain text as one string, and nothing of any other type.
    ByType,
}

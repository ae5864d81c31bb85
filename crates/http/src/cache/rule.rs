//! Cache rules: `@cache` of a source, combined with what the plan knows about its calls.

use super::counters::Counters;
use http::HeaderName;
use std::sync::Arc;

/// Audience of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// All callers with equal requests.
    Public,
    /// The calling request only.
    Private,
}

/// Audience of a cached answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Everyone with the same key, unless the answer's headers forbid it.
    ByHeaders,
    /// Like `ByHeaders`, but declared by `scope: PUBLIC`: answers to calls with `Authorization` are shared too, as are answers that vary
    /// on headers that are never sent.
    Declared,
    /// Everyone with the same key, which contains the user's identity: `scope: PRIVATE` with `key`.
    Keyed,
    /// Nobody, not even in flight: `scope: PRIVATE` without `key`, and every unsafe method.
    Never,
}

/// Cache directives of the upstream that the operator chose to ignore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overruled {
    /// Ignores `no-store`, and with it `Expires` and all lifetimes in that header.
    pub no_store: bool,
    /// Ignores `no-cache`, with the same effect as `no_store`.
    pub no_cache: bool,
    /// Ignores `private`; lifetimes in that header still count.
    pub private: bool,
}

/// Cache rule of one connector or server.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Counters of the source, from [`Cache::counters`](super::Cache::counters).
    pub counters: Arc<Counters>,
    /// Headers that state a lifetime; the first one present decides. `Cache-Control` and `Expires` have their standard meaning, others
    /// hold seconds. The standard headers come after the configured ones.
    pub cache_control: Box<[HeaderName]>,
    /// Lifetime of answers that state none. 0 disables caching; `None` leaves it to other settings.
    pub default_ms: Option<u64>,
    /// Length of stale-while-revalidate; `None`: as the answer states.
    pub stale_ms: Option<u64>,
    /// Length of stale-if-error; `None`: as the answer states.
    pub stale_on_error_ms: Option<u64>,
    /// Lifetimes are shortened by a random share of up to this percentage, so that entries cached together do not expire together.
    pub jitter_percent: u8,
    /// Lifetime of "does not exist" (404, 410, missing in a batch), in milliseconds.
    pub negative_ms: u64,
    /// Audience of a cached answer.
    pub sharing: Sharing,
    /// Headers that calls send, and that keys therefore contain.
    pub held: Box<[HeaderName]>,
    /// True for calls by GET whose answers, once their lifetime is over, are confirmed by their validators.
    pub revalidates: bool,
    /// Headers of answers that mappings read: they are kept beside the body.
    pub kept: Box<[HeaderName]>,
    /// True if the client sent nothing that becomes an `Authorization` in `held`: the call is public.
    pub anonymous: bool,
    /// Cache directives that are ignored.
    pub overruled: Overruled,
    /// How a body is read.
    pub reading: BodyReading,
    /// Maximum nesting of an answer's JSON.
    pub depth_max: u32,
}

/// How the bytes of a body are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyReading {
    /// JSON, whatever the `Content-Type`.
    Json,
    /// By `Content-Type`: JSON as JSON, plain text as one string, any other type as unreadable.
    ByType,
}

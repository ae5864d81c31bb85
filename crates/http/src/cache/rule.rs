//! How the answers of a source are cached: what `@cache` says, with what the plan knows of the calls.

use super::counters::Counters;
use http::HeaderName;
use std::sync::Arc;

/// For whom an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// For everyone who asks the same.
    Public,
    /// For the one who asked.
    Private,
}

/// Who may get an answer that was made for another.
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
    /// What stands beside it counts.
    pub private: bool,
}

/// How answers to one kind of call are cached.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Where it is counted; from [`Cache::counters`](super::Cache::counters).
    pub counters: Arc<Counters>,
    /// Headers that say how long, the first that is there decides: `Cache-Control` and `Expires` as they are defined, any
    /// other as a number of seconds. The standard ones follow those that are named.
    pub freshness: Box<[HeaderName]>,
    /// How long answers are fresh whose headers say nothing: 0 is never, and `None` leaves it to others.
    pub default_ms: Option<u64>,
    /// How long after that they are still served while a new one is fetched; `None`: as the answer says.
    pub stale_ms: Option<u64>,
    /// How long after that they are still served if the upstream fails; `None`: as the answer says.
    pub stale_on_error_ms: Option<u64>,
    /// Lifetimes are shortened by up to so many percent, so that what came together does not expire together.
    pub jitter_percent: u8,
    /// How long it is remembered that something does not exist (404, 410, missing in a batch).
    pub negative_ms: u64,
    /// Who may get an answer that was made for another.
    pub sharing: Sharing,
    /// The headers that the calls send, and that their keys therefore hold.
    pub held: Box<[HeaderName]>,
    /// Whether the client sent nothing of which an `Authorization` in `held` would be made: the call is everyone's.
    pub anonymous: bool,
    /// Parts of `Cache-Control` that do not count.
    pub overruled: Overruled,
    /// How deep the JSON of an answer may be nested.
    pub depth_max: u32,
}

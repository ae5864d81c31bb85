//! Cache control of an answer and cache hints of a schema, as data; [`super::lifetime`] combines them.

use super::tag_versions::TagSnapshot;
use std::sync::Arc;

/// Lifetime of an answer, counted from now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheControl {
    /// Remaining lifetime, so that levels never add up. [`CacheControl::ENDLESS_MS`] without a lifetime.
    pub remaining_ms: u64,
    /// Stale period after it: the old answer may be served while a new one is fetched.
    pub stale_ms: u64,
    /// Caches that may store the answer.
    pub scope: CacheScope,
    /// True if callers with the same values of the headers that the fetch reads may share it. An answer that is neither
    /// public nor separated by headers is for the one request only.
    pub by_headers: bool,
    /// True if a part has no lifetime: hints or the operation set one, else the answer is not cached.
    pub is_silent: bool,
    /// `must-revalidate`: never serve stale.
    pub must_revalidate: bool,
    /// Versions of the tags computed from request values, read before fetching; beside those of [`PreparedFetch::touches`](crate::source::PreparedFetch::touches).
    pub ages: TagSnapshot,
    /// Origin of the lifetime, for operators: a source and a field.
    pub set_by: Arc<str>,
}

impl CacheControl {
    /// Remaining lifetime of an answer that has none.
    pub const ENDLESS_MS: u64 = u64::MAX;
}

/// Caches that may store an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheScope {
    /// Everyone.
    #[default]
    Public,
    /// Only the client that asked.
    Private,
}

/// Cache hint of a type or field: `@cacheControl(maxAge, scope, inheritMaxAge)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    /// Seconds.
    pub max_age_s: Option<u32>,
    /// True if the field lives as long as its parent.
    pub inherits: bool,
    /// `PRIVATE` binds the whole answer.
    pub scope: CacheScope,
}

/// A [`Hint`] and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HintAt {
    /// Type name, of any source; root types are named as in the source that gives the hint.
    pub on: String,
    /// One of its fields; without, all fields that give the type.
    pub field: Option<String>,
    /// The hint.
    pub hint: Hint,
    /// Position of the hint, for messages: file, line and column.
    pub written: String,
}

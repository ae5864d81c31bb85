//! Settings of an engine beside its graph: bounds, room of its caches, and what callers may do.

use crate::request::demand::DemandControl;
use crate::telemetry::observer::Observer;
use std::sync::Arc;
use weir_language::limits::Limits;

/// Settings of an engine beside its graph.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bounds on documents.
    pub limits: Limits,
    /// Parts that one condition of an argument may have: comparisons and relationships.
    pub conditions_max: u32,
    /// Bytes all cached plans may take together.
    pub plan_cache_bytes_max: usize,
    /// True if callers may introspect.
    pub introspection: bool,
    /// Roles that may not, even so.
    pub without_introspection: Vec<Box<str>>,
    /// True if messages may suggest existing names.
    pub suggestions: bool,
    /// True if callers see `@defer` and `@stream`.
    pub incremental_delivery: bool,
    /// True for the rules of the September 2026 edition over [`Protocol::GraphqlOverHttp`](super::protocol::Protocol::GraphqlOverHttp): selection sets may be empty. Other
    /// protocols keep the rules of the server that they emulate.
    pub edition_2026: bool,
    /// True if a variable that was not sent is null over [`Protocol::Hasura`](super::protocol::Protocol::Hasura). Else it is absent, as over GraphQL's own protocol.
    pub unsent_is_null: bool,
    /// Answers up to this many bytes are held back whole; longer ones leave in chunks.
    pub hold_back_bytes: usize,
    /// Bytes all whole answers that are kept may take together; 0 keeps none.
    pub responses_bytes_max: usize,
    /// Limits on the cost of operations; `None`: no cost is estimated.
    pub demand: Option<Arc<DemandControl>>,
    /// Listens to all that happens. It numbers operations for [`Response::operation`](crate::answer::response::Response::operation).
    pub observer: Option<Arc<dyn Observer>>,
}

impl Settings {
    /// Default of the library: a server's settings, without a cache of whole answers.
    pub const STANDARD: Self = Self {
        limits: Limits::STANDARD,
        conditions_max: 1_000,
        plan_cache_bytes_max: 32 << 20,
        introspection: true,
        without_introspection: Vec::new(),
        suggestions: true,
        incremental_delivery: true,
        edition_2026: true,
        unsent_is_null: true,
        hold_back_bytes: 256 << 10,
        responses_bytes_max: 0,
        demand: None,
        observer: None,
    };
}

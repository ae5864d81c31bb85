//! `limits`: bounds on requests, documents and what waits, with their defaults.

mod cost;
mod rates;

pub use cost::{CostLimits, CostList, CostMode, CostWeight};
use hyper::header::HeaderName;
pub use rates::Rate;
pub(crate) use rates::RateKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Keys of `limits` and `sources[].postgres` that may be 0, which means: nothing allowed, no limit, or no waiting. All other limits are at
/// least 1.
pub(crate) const MAY_BE_ZERO: [&str; 15] = [
    "aliases_max",
    "directives_max",
    "directives_per_place_max",
    "drain_delay_s",
    "drain_s",
    "idle_s_max",
    "introspection_depth_max",
    "queue_ms",
    "replica_lag_ms_max",
    "stale_reads_ms_max",
    "trusted_hops",
    "variables_max",
    "wait_ms_max",
    "waiting_max",
    "wrong_secrets_per_minute",
];

/// `limits`: every bound is inclusive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a request's body, unpacked.
    pub body_bytes_max: u32,
    /// Bytes of a request's head.
    pub head_bytes_max: u32,
    /// Header lines of a request.
    pub headers_max: u16,
    /// Bytes of a request's URL.
    pub url_bytes_max: u32,
    /// Requests in one list on `/graphql` and `/v1/graphql`.
    pub batch_max: u16,
    /// Connections at once; beyond it the longest idle one is closed.
    pub connections_max: u32,
    /// Requests at once on one HTTP/2 connection.
    pub streams_max: u32,
    /// A head has to arrive within so many seconds.
    pub head_s: u16,
    /// A body has to arrive within so many seconds.
    pub body_s: u16,
    /// A connection without a request is closed after so many seconds.
    pub idle_s: u16,
    /// A client that reads nothing is cut off after so many seconds; over HTTP/2 the stream it does not read is reset.
    pub write_s: u16,
    /// Bytes of answers that wait in the process for clients to read them; beyond it requests are told to come again.
    pub unread_bytes_max: u64,
    /// Bytes of answers that wait for the client of one connection to read them.
    pub unread_connection_bytes_max: u64,
    /// The first byte of an answer has to be ready within so many seconds.
    pub request_s: u16,
    /// Header in which clients send the milliseconds that they wait for the answer: it shortens `request_s` for their request. Without it
    /// no header does.
    pub deadline_header: Option<Box<str>>,
    /// While every request waits longer than so many milliseconds for its turn, requests of clients are refused with 503 as soon as they
    /// come; 0 refuses none. Probes, metrics and the pages of operators are always answered.
    pub queue_ms: u32,
    /// One statement of a database may work so many seconds; `sources[].postgres.statement_timeout_s` overrules it.
    pub statement_s: u16,
    /// Wrong admin secrets one address may send in a minute; 0 for any number, as behind a proxy.
    pub wrong_secrets_per_minute: u32,
    /// Proxies before this server, each of which appends to `x-forwarded-for` whom it serves; 0 if clients connect themselves.
    pub trusted_hops: u8,
    /// Limits on the number of requests per time.
    pub rates: Vec<Rate>,
    /// Limits on the cost of operations; without the key no cost is estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostLimits>,
    /// Callers that all rates count apart at once, each rate with `by` an equal part of them; further ones share what is left.
    pub rate_keys_max: u32,
    /// True counts in `cache.redis`, for all processes together.
    pub rates_in_redis: bool,
    /// Number of those processes: while Redis does not answer, each allows its share.
    pub rate_processes: u16,
    /// Bytes of a message over a WebSocket.
    pub socket_message_bytes_max: u32,
    /// Messages that are read in a second over one WebSocket; what is beyond waits.
    pub socket_messages_per_second: u32,
    /// Operations that may run at once over one WebSocket.
    pub socket_operations_max: u16,
    /// `connection_init` has to arrive over a WebSocket of the protocol `graphql-transport-ws` within so many seconds.
    pub socket_init_s: u16,
    /// When the server stops, `/readyz` answers 503 for so many seconds before the listener closes; all else is served.
    pub drain_delay_s: u16,
    /// After that, requests in flight get so many seconds.
    pub drain_s: u16,
    /// Bytes of a document.
    pub document_bytes_max: u32,
    /// Tokens of a document.
    pub tokens_max: u32,
    /// Brackets open at once.
    pub nesting_max: u32,
    /// Fields on the way from the root to a leaf.
    pub depth_max: u32,
    /// Fields with an alias.
    pub aliases_max: u32,
    /// Directives in a document.
    pub directives_max: u32,
    /// Directives in one place.
    pub directives_per_place_max: u32,
    /// Fields once fragments are expanded.
    pub expanded_max: u32,
    /// Root fields once fragments are expanded.
    pub root_fields_max: u32,
    /// Variables of an operation.
    pub variables_max: u32,
    /// Items of one list of input.
    pub list_items_max: u32,
    /// Comparisons and relationships in one condition; the values of a list count as one.
    pub conditions_max: u32,
    /// Depth of introspection.
    pub introspection_depth_max: u32,
    /// Errors reported at once.
    pub errors_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        let document = weir_language::limits::Limits::STANDARD;
        Self {
            body_bytes_max: 2_000_000,
            head_bytes_max: 16 * 1024,
            headers_max: 100,
            url_bytes_max: 8 * 1024,
            batch_max: 10,
            connections_max: 10_000,
            streams_max: 100,
            head_s: 10,
            body_s: 30,
            idle_s: 60,
            write_s: 30,
            unread_bytes_max: 256 << 20,
            unread_connection_bytes_max: 64 << 20,
            request_s: 30,
            deadline_header: None,
            queue_ms: 5000,
            statement_s: 20,
            wrong_secrets_per_minute: 100,
            trusted_hops: 0,
            rates: Vec::new(),
            cost: None,
            rate_keys_max: 100_000,
            rates_in_redis: false,
            rate_processes: 1,
            socket_message_bytes_max: 256 * 1024,
            socket_messages_per_second: 100,
            socket_operations_max: 100,
            socket_init_s: 3,
            drain_delay_s: 0,
            drain_s: 30,
            document_bytes_max: document.bytes_max,
            tokens_max: document.tokens_max,
            nesting_max: document.nesting_max,
            depth_max: document.depth_max,
            aliases_max: document.aliases_max,
            directives_max: document.directives_max,
            directives_per_place_max: document.directives_per_place_max,
            expanded_max: document.expanded_max,
            root_fields_max: document.root_fields_max,
            variables_max: document.variables_max,
            list_items_max: document.list_items_max,
            conditions_max: weir_engine::engine::Settings::STANDARD.conditions_max,
            introspection_depth_max: document.introspection_depth_max,
            errors_max: document.errors_max,
        }
    }
}

impl Limits {
    /// Checks that rates and costs can be held, and that requests can have the header of deadlines.
    /// # Errors
    /// The first that cannot, and why.
    pub(super) fn check(&self, has_redis: bool) -> Result<(), String> {
        if self.rates_in_redis && !has_redis {
            return Err("`limits.rates_in_redis` needs the address of a Redis: `cache.redis`".into());
        }
        self.cost.as_ref().map_or(Ok(()), CostLimits::check)?;
        rates::check(&self.rates)?;
        self.check_deadline_header()
    }

    fn check_deadline_header(&self) -> Result<(), String> {
        let Some(name) = &self.deadline_header else { return Ok(()) };
        match HeaderName::from_bytes(name.as_bytes()) {
            Ok(_) => Ok(()),
            Err(_) => Err(format!(
                "`limits.deadline_header`: {name:?} is no name of a header; `x-deadline-ms` is one"
            )),
        }
    }

    /// Timeout of one statement of a database.
    pub fn statement_max(&self) -> Duration {
        Duration::from_secs(u64::from(self.statement_s))
    }

    /// Limits the buffers of PostgreSQL streams whose clients do not read.
    pub(crate) fn bound_streams(&self, limits: &mut weir_postgres::Limits) {
        limits.unread_bytes_max = self.unread_bytes_max;
        limits.unread_answer_bytes_max = self.unread_connection_bytes_max;
    }

    /// The bounds on documents.
    pub fn document(&self) -> weir_language::limits::Limits {
        weir_language::limits::Limits {
            bytes_max: self.document_bytes_max,
            tokens_max: self.tokens_max,
            nesting_max: self.nesting_max,
            depth_max: self.depth_max,
            aliases_max: self.aliases_max,
            directives_max: self.directives_max,
            directives_per_place_max: self.directives_per_place_max,
            expanded_max: self.expanded_max,
            root_fields_max: self.root_fields_max,
            variables_max: self.variables_max,
            list_items_max: self.list_items_max,
            introspection_depth_max: self.introspection_depth_max,
            errors_max: self.errors_max,
        }
    }
}

/// Refuses values of zero in `blocks`, each with its path, except where zero turns a feature off.
pub(super) fn refuse_zeros(
    blocks: Vec<(String, Result<serde_json::Value, serde_json::Error>)>,
) -> Result<(), String> {
    for (path, block) in blocks {
        let block = block.map_err(|cause| format!("`{path}`: {cause}"))?;
        let mut entries = block.as_object().into_iter().flatten();
        let zero =
            entries.find(|(key, value)| value.as_u64() == Some(0) && !MAY_BE_ZERO.contains(&key.as_str()));
        if let Some((key, _)) = zero {
            return Err(format!(
                "`{path}.{key}` is 0, which would refuse every request; leave it out for its default, or give a larger number"
            ));
        }
    }
    Ok(())
}

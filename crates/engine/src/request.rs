//! One request as the engine takes it, borrowed from the transport's buffer, and the settings that it runs under.

pub mod answer_notes;
pub mod consistency;
pub mod demand;
pub mod engine_settings;
pub mod protocol;
pub mod request_headers;

use demand::SpentCost;
use protocol::Protocol;
use request_headers::{Headers, NoHeaders};
use std::time::Instant;
use weir_language::json::JsonRef;

/// One request, borrowed from the transport's buffer.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// The document.
    pub query: &'r str,
    /// Name of the operation to run.
    pub operation_name: Option<&'r str>,
    /// The JSON object of variables; `None` where absent or null.
    pub variables: Option<JsonRef<'r>>,
    /// Protocol of the client.
    pub protocol: Protocol,
    /// GET: only queries may run.
    pub queries_only: bool,
    /// Shape of the parts that come later, if the client takes an answer in parts.
    pub increments: Option<IncrementForm>,
    /// True to tell the client the cost of the operation, in `extensions.cost`, if the engine estimates costs.
    pub shows_cost: bool,
    /// Cost of earlier requests of one list, which counts toward the limit.
    pub spent: Option<&'r SpentCost>,
    /// The client's headers.
    pub headers: &'r dyn Headers,
    /// When the first byte has to be out.
    pub deadline: Instant,
}

impl<'r> Request<'r> {
    /// A document with one operation, without variables and headers, over GraphQL over HTTP.
    pub const fn new(query: &'r str, deadline: Instant) -> Self {
        Self {
            query,
            operation_name: None,
            variables: None,
            protocol: Protocol::GraphqlOverHttp,
            queries_only: false,
            increments: None,
            shows_cost: false,
            spent: None,
            headers: &NoHeaders,
            deadline,
        }
    }
}

/// Shape of the parts of an answer that come after its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncrementForm {
    /// Each part has its path: the draft of 2022, `deferSpec=20220824`.
    Paths,
    /// Parts are announced under ids: today's draft, `incrementalSpec=v0.2`.
    Ids,
}

//! The answer of a handler, and what its head and body are made of.

pub(crate) mod accepted_coding;
pub(crate) mod cache_headers;
pub(crate) mod content_coding;
pub(crate) mod refusal;
pub(crate) mod response_body;

use crate::server::telemetry::metrics::{Endpoint, Verdict};
use hyper::Response;
use response_body::ResponseBody;
use weir_engine::engine::Execution;

/// An answer with data for metrics and logs.
pub(crate) struct Answer {
    pub(crate) response: Response<ResponseBody>,
    pub(crate) endpoint: Endpoint,
    pub(crate) verdict: Verdict,
    /// The executed operation, if any.
    pub(crate) execution: Option<Execution>,
}

impl Answer {
    /// An answer other than GraphQL.
    pub(crate) fn page(response: Response<ResponseBody>) -> Self {
        Self { response, endpoint: Endpoint::Other, verdict: Verdict::Executed, execution: None }
    }
}

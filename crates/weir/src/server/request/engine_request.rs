//! Converts request parameters to an engine request.

use super::client_headers::ClientHeaders;
use super::context::RequestContext;
use super::receive::Params;
use std::time::Duration;
use weir_engine::engine;
use weir_engine::source::Protocol;

/// Builds the engine request.
pub(crate) fn engine_request<'r>(
    context: &RequestContext,
    params: &'r Params<'_>,
    client: &'r ClientHeaders<'_>,
    protocol: Protocol,
    queries_only: bool,
) -> engine::Request<'r> {
    let longest = Duration::from_secs(u64::from(context.generation.config.limits.request_s));
    engine::Request {
        query: &params.query,
        // Some clients always send the key; an empty name means none.
        operation_name: params.operation_name.as_deref().filter(|it| !it.is_empty()),
        variables: params.variables,
        protocol,
        queries_only,
        increments: None,
        shows_cost: false,
        spent: None,
        headers: client,
        deadline: context.started + client.patience(longest),
    }
}

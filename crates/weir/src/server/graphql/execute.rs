//! The way of every request of a client to the engine, past the allow list.
//!
//! **Invariant:** no other module of the server asks the engine to execute; a tidy test holds it.

use crate::server::request::context::RequestContext;
use crate::server::request::refusal::error_body;
use weir_engine::caller::ADMIN;
use weir_engine::engine::{Body, Capacity, Outcome, Request, Response, Timing};
use weir_engine::source::{Caller, Protocol};

/// Executes `request`, if its document is allowed for `caller`.
pub(crate) async fn execute(context: &RequestContext, request: Request<'_>, caller: &Caller) -> Response {
    if let Some(list) = &context.generation.operations.allow_list
        && caller.role() != ADMIN
        && !list.allows(request.query, caller.role())
    {
        return refused(request.protocol);
    }
    context.engine().execute(request, caller).await
}

/// The answer to a document that is not in the list.
fn refused(protocol: Protocol) -> Response {
    let (code, path) = match protocol {
        Protocol::Hasura => ("validation-failed", Some("$")),
        Protocol::GraphqlOverHttp => ("QUERY_NOT_ALLOWED", None),
    };
    Response {
        outcome: Outcome::Refused,
        capacity: Capacity::Enough,
        lifetime: None,
        body: Body::Whole(error_body("query is not allowed", code, path)),
        timing: Timing::default(),
        position: None,
        operation: None,
    }
}

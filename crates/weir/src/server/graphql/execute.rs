//! The way of every request of a client to the engine, past the allow list.
//!
//! **Invariant:** no other module of the server asks the engine to execute; a tidy test holds it.

use crate::server::request::context::RequestContext;
use crate::server::request::refusal::error_body;
use weir_engine::bound_operation::BoundOperation;
use weir_engine::caller::ADMIN;
use weir_engine::engine::{Body, Capacity, Outcome, Request, Response, Timing};
use weir_engine::source::{Caller, Protocol};
use weir_language::ast::OperationKind;

/// Executes `request`, if its document is allowed for `caller`.
pub(crate) async fn execute(context: &RequestContext, request: Request<'_>, caller: &Caller) -> Response {
    if !is_allowed(context, &request, caller) {
        return refused(request.protocol);
    }
    context.engine().execute(request, caller).await
}

/// Beginning of an operation over a transport on which results can follow each other.
pub(crate) enum Begun {
    /// Query, mutation, or an operation that is refused.
    Answered(Response),
    /// A subscription.
    Live(BoundOperation),
}

/// Executes `request`, or binds it if it is a subscription.
pub(crate) async fn begin(context: &RequestContext, request: Request<'_>, caller: &Caller) -> Begun {
    if !is_allowed(context, &request, caller) {
        return Begun::Answered(refused(request.protocol));
    }
    match context.engine().bind(request, caller).await {
        Ok(bound) if bound.kind() == OperationKind::Subscription => Begun::Live(bound),
        Ok(_) => Begun::Answered(context.engine().execute(request, caller).await),
        Err(refused) => Begun::Answered(refused),
    }
}

/// True unless there is a list of allowed documents that lacks this one.
fn is_allowed(context: &RequestContext, request: &Request<'_>, caller: &Caller) -> bool {
    let list = context.generation.operations.allow_list.as_ref();
    list.is_none_or(|list| caller.role() == ADMIN || list.allows(request.query, caller.role()))
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

//! Admission of an operation: rates and limits of its caller, before anything reads its text for execution.
//!
//! **Invariant:** each operation is counted once, over every transport: each request of a list, each message of a socket, each request for a
//! stream; a subscription when it begins, not when a reload plans it again.

use crate::generation::admission::{Asker, RateRefusal, ShapeRefusal};
use crate::server::request::answer::refusal::error_body;
use crate::server::request::context::RequestContext;
use crate::server::request::rate_fields::RateRecord;
use std::time::Instant;
use weir_engine::engine::{Body, Capacity, Outcome, Request, Response, Timing};
use weir_engine::source::{Caller, Protocol};

/// The request, with the deadline of its caller.
/// # Errors
/// The response to a request that is not admitted.
pub(super) async fn admit<'r>(
    context: &RequestContext,
    request: Request<'r>,
    caller: &Caller,
) -> Result<Request<'r>, Box<Response>> {
    let admission = &context.generation.admission;
    let asker = Asker {
        caller,
        address: context.peer,
        is_proven: !context.generation.authenticator.is_open(),
        text: request.query,
        operation_name: request.operation_name,
    };
    if !context.rates.borrow().is_counted {
        let mut states = Vec::new();
        let counted = admission.count(&asker, &context.generation.operations.known, &mut states).await;
        if let Err(refusal) = &counted {
            context.worker.metrics.count_rate_refusal(&refusal.name);
        }
        context.rates.replace(RateRecord { is_counted: true, states, refusal: counted.err() });
    }
    if let Some(refusal) = &context.rates.borrow().refusal {
        return Err(rate_response(request.protocol, refusal));
    }
    if let Err(refusal) = admission.check_shape(&asker) {
        return Err(shape_response(request.protocol, refusal));
    }
    let latest = admission.duration_max(caller.role()).map(|it| Instant::now() + it);
    Ok(Request { deadline: latest.map_or(request.deadline, |it| it.min(request.deadline)), ..request })
}

fn rate_response(protocol: Protocol, refusal: &RateRefusal) -> Box<Response> {
    let RateRefusal { name, wait_s } = refusal;
    let message = format!("too many requests by the rate `{name}`: try again in {wait_s} s");
    let code = match protocol {
        Protocol::Hasura => "rate-limit-exceeded",
        Protocol::GraphqlOverHttp => "LIMIT_RATE",
    };
    refusal_response(protocol, &message, code)
}

fn shape_response(protocol: Protocol, refusal: ShapeRefusal) -> Box<Response> {
    let (message, codes) = match refusal {
        ShapeRefusal::Depth(depth, max) => (
            format!(
                "the operation has depth {depth}, {max} are allowed: nest fewer fields with a selection set"
            ),
            ("depth-limit-exceeded", "LIMIT_DEPTH"),
        ),
        ShapeRefusal::Nodes(nodes, max) => (
            format!(
                "the operation has {nodes} nodes, {max} are allowed: ask for fewer fields with a selection set"
            ),
            ("node-limit-exceeded", "LIMIT_NODES"),
        ),
    };
    let code = match protocol {
        Protocol::Hasura => codes.0,
        Protocol::GraphqlOverHttp => codes.1,
    };
    refusal_response(protocol, &message, code)
}

/// Response to an operation that is not executed.
pub(super) fn refusal_response(protocol: Protocol, message: &str, code: &str) -> Box<Response> {
    let path = match protocol {
        Protocol::Hasura => Some("$"),
        Protocol::GraphqlOverHttp => None,
    };
    Box::new(Response {
        outcome: Outcome::Refused,
        capacity: Capacity::Enough,
        lifetime: None,
        body: Body::Whole(error_body(message, code, path)),
        timing: Timing::default(),
        position: None,
        operation: None,
    })
}

//! Limits of one request's caller on its document and its time, and the answers to requests that are not admitted.

use super::{Admission, Asker, RateRefusal, ShapeRefusal};
use std::time::Instant;
use weir_engine::engine::{Body, Capacity, Outcome, Request, Response, Timing};
use weir_engine::errors::error_text::error_body;
use weir_engine::source::Protocol;

impl Admission {
    /// The request of `asker`, which was counted, with the deadline of its role.
    /// # Errors
    /// The response to a document beyond `api_limits`.
    pub(crate) fn limit_request<'r>(
        &self,
        asker: &Asker<'_>,
        request: Request<'r>,
    ) -> Result<Request<'r>, Box<Response>> {
        self.check_shape(asker).map_err(|refusal| shape_response(request.protocol, refusal))?;
        let latest = self.duration_max(asker.caller.role()).map(|it| Instant::now() + it);
        Ok(Request { deadline: latest.map_or(request.deadline, |it| it.min(request.deadline)), ..request })
    }
}

impl RateRefusal {
    /// Words for the client.
    pub(crate) fn words(&self) -> String {
        let Self { name, wait_s } = self;
        format!("too many requests by the rate `{name}`: try again in {wait_s} s")
    }

    /// The response to the request.
    pub(crate) fn response(&self, protocol: Protocol) -> Box<Response> {
        let code = match protocol {
            Protocol::Hasura => "rate-limit-exceeded",
            Protocol::GraphqlOverHttp => "LIMIT_RATE",
        };
        refusal_response(protocol, &self.words(), code)
    }
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
pub(crate) fn refusal_response(protocol: Protocol, message: &str, code: &str) -> Box<Response> {
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

//! Offers executed queries to the mirror.
//!
//! **Invariant:** only queries that change nothing are offered, by the plan that ran; what was mirrored to this server is not mirrored on.

use crate::generation::mirror::{MirrorJob, MirrorOutcome, ReadMirror, count_outcome};
use crate::server::request::context::RequestContext;
use bytes::Bytes;
use std::sync::Arc;
use weir_engine::engine::{Body, Outcome, Request, Response};
use weir_engine::errors::error_text::string;
use weir_engine::source::{Caller, Protocol};
use weir_language::ast::OperationKind;

/// Longest name of an operation in samples, in bytes.
const NAME_BYTES_MAX: usize = 100;

/// Offers `request`, which `response` answers, if chance chooses it. It is sent after this turn of the worker, in which its answer leaves.
pub(super) async fn offer_to_mirror(
    context: &RequestContext,
    mirror: &Arc<ReadMirror>,
    request: Request<'_>,
    caller: &Caller,
    response: &Response,
) {
    if !mirror.draws() || response.outcome != Outcome::Executed || ReadMirror::is_mirrored(request.headers) {
        return;
    }
    match context.engine().bind(request, caller).await {
        Ok(bound) if bound.kind() == OperationKind::Query && !bound.may_change_data() => {}
        Ok(_) | Err(_) => return,
    }
    let answer = match &response.body {
        Body::Whole(bytes) => Bytes::copy_from_slice(bytes),
        Body::Shared(bytes) => bytes.clone(),
        Body::Stream { .. } | Body::Increments { .. } => return count_outcome(MirrorOutcome::Streamed),
    };
    let operation = request.operation_name.unwrap_or_default();
    let job = MirrorJob {
        path: path(context, request.protocol),
        headers: mirror.headers(request.headers),
        body: request_json(request).into(),
        answer,
        operation: operation[..operation.floor_char_boundary(NAME_BYTES_MAX)].into(),
        request_id: context.id.text().into(),
    };
    let mirror = Arc::clone(mirror);
    tokio::task::spawn_local(async move { mirror.submit(job) });
}

/// Path of requests over `protocol`.
fn path(context: &RequestContext, protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::GraphqlOverHttp => "/graphql",
        Protocol::Hasura if context.is_relay() => "/v1beta1/relay",
        Protocol::Hasura => "/v1/graphql",
    }
}

/// The body of a POST with the text of the document, also if the client sent its identifier.
fn request_json(request: Request<'_>) -> Vec<u8> {
    let mut out = b"{\"query\":".to_vec();
    string(&mut out, request.query);
    if let Some(name) = request.operation_name {
        out.extend_from_slice(b",\"operationName\":");
        string(&mut out, name);
    }
    if let Some(variables) = request.variables {
        out.extend_from_slice(b",\"variables\":");
        out.extend_from_slice(variables.raw().as_bytes());
    }
    out.push(b'}');
    out
}

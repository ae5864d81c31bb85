//! The span of a request.
//!
//! **Invariant:** neither the document nor a value of a variable is in it: operations are known by name and hash.
//!
//! Source: semantic conventions of OpenTelemetry for HTTP and GraphQL servers.

use super::context::RequestContext;
use crate::observer::observer;
use crate::trace::{self, Kind, RequestSpan, SpanHead, SpanWriter};
use hyper::http::request::Parts;
use hyper::{StatusCode, Version};
use std::time::Duration;
use weir_engine::engine::Execution;
use weir_engine::span::TRACE_STATE;
use weir_engine::usage::KEPT;
use weir_language::ast::OperationKind;

/// Span name if the operation is unknown.
const UNKNOWN: &str = "GraphQL Operation";

/// The header `tracestate`, its lines joined.
fn trace_state(head: &Parts) -> Option<String> {
    let lines = head.headers.get_all(TRACE_STATE).into_iter().filter_map(|it| it.to_str().ok());
    let lines: Vec<&str> = lines.filter(|it| !it.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join(","))
}

/// Source: OpenTelemetry semantic conventions for networks.
const fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_2 => "2",
        Version::HTTP_10 => "1.0",
        _ => "1.1",
    }
}

/// Records a request that took `total`. `over` is its head and status; `None` over a socket.
pub(crate) fn record(
    context: &RequestContext,
    span: RequestSpan,
    over: Option<(&Parts, StatusCode)>,
    execution: Option<&Execution>,
    total: Duration,
) {
    let state = over.filter(|_| span.parent.is_some()).and_then(|it| trace_state(it.0));
    let head = SpanHead {
        context: span.own,
        parent: span.parent,
        trace_state: state.as_deref(),
        kind: Kind::Server,
        began: context.started,
        took: total,
    };
    trace::record(&head, |span| {
        span.text("weir.request_id", context.id.text());
        if let Some((head, status)) = over {
            let scheme = if context.generation.tls.is_some() { "https" } else { "http" };
            span.text("http.request.method", head.method.as_str());
            span.text("url.scheme", scheme);
            span.text("url.path", head.uri.path());
            span.text("network.protocol.version", version(head.version));
            span.number("http.response.status_code", status.as_u16().into());
        }
        if let Some(role) = context.noted.borrow().role() {
            span.text("weir.role", role);
        }
        match execution {
            Some(execution) => describe_execution(span, execution),
            None => span.name(&[UNKNOWN]),
        }
        // Only server errors mark the span as failed.
        let failed = over.filter(|it| it.1.is_server_error());
        match execution {
            Some(it) if it.has_errors => span.fail(it.code.as_deref().unwrap_or("errors")),
            Some(_) | None => failed.iter().for_each(|it| span.fail(it.1.as_str())),
        }
    });
}

/// Names the span by its operation, and says how that was executed.
fn describe_execution(span: &mut SpanWriter<'_>, execution: &Execution) {
    span.number("weir.fetches", execution.timing.fetches.into());
    let name = execution.operation.and_then(|number| {
        observer().operations.with_name(number, |operation| {
            let name = match operation.kind {
                OperationKind::Query => "query",
                OperationKind::Mutation => "mutation",
                OperationKind::Subscription => "subscription",
            };
            span.text("graphql.operation.type", name);
            if !operation.name.is_empty() {
                span.text("graphql.operation.name", &operation.name);
            }
            span.text("weir.operation.hash", &operation.hash);
            name
        })
    });
    span.name(&[name.unwrap_or(UNKNOWN)]);
    if let Some(kept) = execution.kept {
        span.text("weir.cache", KEPT[kept as usize].1);
    }
}

//! The span of a request.
//!
//! **Invariant:** neither the document nor a value of a variable is in it: operations are known by name and hash.
//!
//! Source: semantic conventions of OpenTelemetry for HTTP and GraphQL servers.

use super::context::RequestContext;
use crate::observer::observer;
use crate::trace::{self, Kind, RequestSpan, SpanRecord, Value};
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
    trace::record(|| {
        let mut attributes: Vec<(&'static str, Value)> = vec![("weir.request_id", context.id.text().into())];
        if let Some((head, status)) = over {
            let scheme = if context.generation.tls.is_some() { "https" } else { "http" };
            attributes.push(("http.request.method", head.method.as_str().into()));
            attributes.push(("url.scheme", scheme.into()));
            attributes.push(("url.path", head.uri.path().into()));
            attributes.push(("network.protocol.version", version(head.version).into()));
            attributes.push(("http.response.status_code", Value::Number(status.as_u16().into())));
        }
        if let Some(role) = context.noted.borrow().role() {
            attributes.push(("weir.role", role.into()));
        }
        let mut name = UNKNOWN;
        if let Some(execution) = execution {
            attributes.push(("weir.fetches", Value::Number(execution.timing.fetches.into())));
            let known = execution.operation.and_then(|it| observer().operations.name(it));
            if let Some(operation) = known {
                name = match operation.kind {
                    OperationKind::Query => "query",
                    OperationKind::Mutation => "mutation",
                    OperationKind::Subscription => "subscription",
                };
                attributes.push(("graphql.operation.type", name.into()));
                if !operation.name.is_empty() {
                    attributes.push(("graphql.operation.name", operation.name.into()));
                }
                attributes.push(("weir.operation.hash", operation.hash.into()));
            }
            let kept = execution.kept.map(|it| KEPT[it as usize].1);
            attributes.extend(kept.map(|it| ("weir.cache", it.into())));
        }
        // Only server errors mark the span as failed.
        let failed = over.filter(|it| it.1.is_server_error());
        let error = match execution {
            Some(it) if it.has_errors => Some(it.code.as_deref().unwrap_or("errors").to_owned().into()),
            Some(_) | None => failed.map(|it| it.1.as_str().to_owned().into()),
        };
        SpanRecord {
            context: span.own,
            parent: span.parent,
            trace_state: over.filter(|_| span.parent.is_some()).and_then(|it| trace_state(it.0)),
            kind: Kind::Server,
            name: name.into(),
            began: context.started,
            took: total,
            attributes,
            error,
        }
    });
}

//! The span of a request.
//!
//! **Invariant:** neither the document nor a value of a variable is in it: operations are known by name and hash.
//!
//! Source: semantic conventions of OpenTelemetry for HTTP and GraphQL servers.

use super::context::RequestContext;
use crate::observer::observer;
use crate::trace::{self, Kind, RequestSpan, SpanRecord, Value};
use hyper::StatusCode;
use hyper::http::request::Parts;
use std::time::Duration;
use weir_engine::engine::Execution;
use weir_engine::usage::KEPT;
use weir_language::ast::OperationKind;

/// Tells a request that has ended after `total`; `over` is its head and status, unless it came over a socket.
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
            attributes.push(("http.request.method", head.method.as_str().into()));
            attributes.push(("url.path", head.uri.path().into()));
            attributes.push(("http.response.status_code", Value::Number(status.as_u16().into())));
        }
        if let Some(role) = context.noted.borrow().role() {
            attributes.push(("weir.role", role.into()));
        }
        let mut name = "GraphQL".to_owned();
        if let Some(execution) = execution {
            attributes.push(("weir.fetches", Value::Number(execution.timing.fetches.into())));
            let known = execution.operation.and_then(|it| observer().operations.name(it));
            if let Some(operation) = known {
                let kind = match operation.kind {
                    OperationKind::Query => "query",
                    OperationKind::Mutation => "mutation",
                    OperationKind::Subscription => "subscription",
                };
                name = format!("{kind} {}", operation.name).trim_end().to_owned();
                attributes.push(("graphql.operation.type", kind.into()));
                attributes.push(("graphql.operation.name", operation.name.into()));
                attributes.push(("weir.operation.hash", operation.hash.into()));
            }
            let kept = execution.kept.map(|it| KEPT[it as usize].1);
            attributes.extend(kept.map(|it| ("weir.cache", it.into())));
        }
        let failed = over.filter(|it| it.1.is_server_error() || it.1.is_client_error());
        let error = match execution {
            Some(it) if it.has_errors => Some(it.code.as_deref().unwrap_or("errors").to_owned().into()),
            Some(_) | None => failed.map(|it| it.1.as_str().to_owned().into()),
        };
        SpanRecord {
            context: span.own,
            parent: span.parent,
            kind: Kind::Server,
            name: name.into(),
            began: context.started,
            took: total,
            attributes,
            error,
        }
    });
}

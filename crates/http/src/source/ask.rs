//! Turns a rendered request into a call with a cache key.
//!
//! **Cost:** a call that is answered from the cache renders its request and its key, and no more.

use super::check_response::client_error;
use super::{ConnectorRuntime, Shared};
use crate::cache::{Key, Rule, Validators};
use crate::call::answer_rules::AnswerTaker;
use crate::call::{Answer, Ask, CallError, Failure, Peer, milliseconds_left, trace};
use crate::sdl::{Connector, ConnectorId};
use crate::template::Rendered;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::source::{FetchInput, FieldError};

/// Maximum length of path and query, in bytes; few servers accept more.
const TARGET_BYTES_MAX: usize = 32 * 1024;

/// Checks that a request can be sent.
pub(super) fn check(rendered: &Rendered) -> Result<(), FieldError> {
    if rendered.target.len() > TARGET_BYTES_MAX {
        Err(client_error("BAD_USER_INPUT", "The arguments of this field are too long."))
    } else {
        Ok(())
    }
}

impl ConnectorRuntime {
    /// Cache rule for the caller of `input`.
    pub(super) fn rule_for(&self, input: &FetchInput<'_>) -> &Arc<Rule> {
        match self.key.is_whole(input) {
            true if self.personal.is_anonymous(input.headers) => &self.anonymous,
            true => &self.rule,
            false => &self.alone,
        }
    }
}

/// Cache key of a call: all that is sent, and the values that identify the caller.
pub(super) fn key(shared: &Shared, id: ConnectorId, rendered: &Rendered, input: &FetchInput<'_>) -> Key {
    let connector = shared.connector(id);
    let runtime = shared.runtime(id);
    let mut key = Key::default();
    key.begin(&runtime.service_fingerprint);
    key.part(connector.request.method.as_str().as_bytes());
    key.part(&rendered.target);
    key.part(&rendered.body);
    for (name, value) in rendered.headers() {
        key.part(name.as_str().as_bytes());
        key.part(value);
    }
    // An answer is kept with the headers that one connector reads.
    for name in &connector.answer_headers {
        key.part(name.as_bytes());
    }
    runtime.key.push(input, &mut key);
    key
}

/// Makes the call, on condition that the answer with the validators `old` is no longer valid; `taker` takes headers of the answer. The future is owned, as it may outlive the request.
pub(super) fn call(
    shared: &Shared,
    id: ConnectorId,
    rendered: &Rendered,
    input: &FetchInput<'_>,
    old: Option<&Validators>,
    taker: Option<AnswerTaker>,
) -> impl Future<Output = Result<Answer, Failure>> + Send + use<> {
    let deadline = input.deadline;
    let upstream = Arc::clone(shared.upstream(id));
    let counts = Arc::clone(&shared.runtime(id).counts);
    let mut ask = ask(shared.connector(id), rendered, deadline);
    let policy = &shared.mapping.service(shared.connector(id).service).policy;
    if let Ok(ask) = &mut ask {
        let template = || shared.connector(id).request.explain_path();
        ask.span = trace::push(input.span, input.headers, &mut ask.headers, template);
    }
    if let (Ok(ask), Some(name)) = (&mut ask, &policy.deadline_header) {
        let timeout = ask.timeout.unwrap_or(upstream.timeout());
        ask.headers.retain(|it| it.0 != name);
        ask.headers.push((name.clone(), milliseconds_left(deadline, timeout).into()));
    }
    if let (Ok(ask), Some(condition)) = (&mut ask, old.and_then(Validators::condition)) {
        ask.headers.push(condition);
    }
    async move {
        let ask = ask?;
        let answer = counts.count(upstream.call(&ask)).await?;
        taker.iter().for_each(|it| it.take(&answer));
        Ok(answer)
    }
}

fn ask(connector: &Connector, rendered: &Rendered, deadline: Instant) -> Result<Ask, CallError> {
    let target = Bytes::copy_from_slice(&rendered.target);
    let path_and_query = PathAndQuery::from_maybe_shared(target).map_err(|_| CallError::Redirected)?;
    let mut headers = Vec::new();
    for (name, value) in rendered.headers() {
        headers.extend(HeaderValue::from_bytes(value).ok().map(|value| (name.clone(), value)));
    }
    add(&mut headers, ACCEPT);
    if !rendered.body.is_empty() {
        add(&mut headers, CONTENT_TYPE);
    }
    let method = connector.request.method.clone();
    // Source: RFC 9110, section 9.2.2; QUERY is safe by definition.
    let idempotent = matches!(method.as_str(), "GET" | "QUERY" | "PUT" | "DELETE");
    Ok(Ask {
        path_and_query,
        headers,
        body: Bytes::copy_from_slice(&rendered.body),
        deadline,
        timeout: connector.timeout_ms.map(|it| Duration::from_millis(it.into())),
        idempotent,
        method,
        span: None,
        peer: Peer::Service,
    })
}

/// Adds a header for JSON, unless the mapping sets it.
fn add(headers: &mut Vec<(HeaderName, HeaderValue)>, name: HeaderName) {
    if headers.iter().all(|it| it.0 != name) {
        headers.push((name, HeaderValue::from_static("application/json")));
    }
}

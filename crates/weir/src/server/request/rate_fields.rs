//! Headers about the rates that counted a request: `RateLimit-Policy`, `RateLimit`, and `Retry-After` with 429 for a refusal.
//!
//! **Invariant:** an answer that a cache may keep has none of these fields, because they are about one request.
//!
//! Sources: draft-ietf-httpapi-ratelimit-headers-11; RFC 9651 (structured fields); RFC 6585, section 4.

use crate::generation::admission::{RateRefusal, RateState};
use crate::server::request::answer::response_body::ResponseBody;
use crate::server::telemetry::metrics::Endpoint;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Method, Response, StatusCode};

/// Field with the rates.
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
/// Field with what is left of each.
const STATE: HeaderName = HeaderName::from_static("ratelimit");

/// Names of the fields, for pages of other origins.
const NAMES: HeaderValue = HeaderValue::from_static("ratelimit, ratelimit-policy, retry-after");

/// Result of counting one request by its rates.
#[derive(Debug, Default)]
pub(crate) struct RateRecord {
    /// True once the operation was counted; then nothing counts it again.
    pub(crate) is_counted: bool,
    pub(crate) states: Vec<RateState>,
    pub(crate) refusal: Option<RateRefusal>,
}

impl RateRecord {
    /// The record of an operation that is not counted, because it was when it began.
    pub(crate) fn of_counted() -> Self {
        Self { is_counted: true, ..Self::default() }
    }
}

/// Writes what `record` says into the answer of `endpoint` to a request by `method`.
pub(crate) fn write(
    record: &RateRecord,
    endpoint: Endpoint,
    method: &Method,
    response: &mut Response<ResponseBody>,
) {
    if record.states.is_empty() {
        return;
    }
    if let Some(refusal) = &record.refusal {
        // `/v1/graphql` answers 200 to whatever it understands.
        if endpoint == Endpoint::Graphql || response.status().is_client_error() {
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        }
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(refusal.wait_s.max(1)));
    }
    let headers = response.headers_mut();
    let has_lifetime = |it: &HeaderValue| it.as_bytes().windows(8).any(|it| it == b"max-age=");
    if *method == Method::GET && headers.get(CACHE_CONTROL).is_some_and(has_lifetime) {
        return;
    }
    let policies = record.states.iter().map(policy_item).collect::<Vec<_>>().join(", ");
    let states = record.states.iter().map(state_item).collect::<Vec<_>>().join(", ");
    for (name, text) in [(POLICY, policies), (STATE, states)] {
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(name, value);
        }
    }
    if headers.contains_key(ACCESS_CONTROL_EXPOSE_HEADERS) {
        headers.append(ACCESS_CONTROL_EXPOSE_HEADERS, NAMES);
    }
}

/// `"name";q=10;w=60;pk=:AAAAAAAAAAA=:`; names need no escapes.
fn policy_item(state: &RateState) -> String {
    let RateState { name, requests, window_s, partition, .. } = state;
    let partition = STANDARD.encode(partition.to_be_bytes());
    format!("\"{name}\";q={requests};w={window_s};pk=:{partition}:")
}

/// `"name";r=3;t=1`.
fn state_item(state: &RateState) -> String {
    format!("\"{}\";r={};t={}", state.name, state.remaining, state.wait_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderMap;

    fn state(name: &str, remaining: u32) -> RateState {
        RateState { name: name.into(), requests: 10, window_s: 60, partition: 1, remaining, wait_s: 6 }
    }

    /// Status and fields of an answer that had `status` and `cache_control`.
    fn check(
        record: &RateRecord,
        before: (Endpoint, Method, u16, &'static str),
        expected: (u16, &[(HeaderName, &str)]),
    ) {
        let (endpoint, method, status, cache_control) = before;
        let mut response = Response::new(ResponseBody::empty());
        *response.status_mut() = StatusCode::from_u16(status).expect("it is a status");
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(cache_control));
        write(record, endpoint, &method, &mut response);
        let mut headers = response.headers().clone();
        headers.remove(CACHE_CONTROL);
        let fields =
            expected.1.iter().map(|it| (it.0.clone(), HeaderValue::from_str(it.1).expect("it is a value")));
        assert_eq!((response.status().as_u16(), headers), (expected.0, fields.collect::<HeaderMap>()));
    }

    #[test]
    fn fields_are_lists_of_strings_with_parameters() {
        let record = RateRecord { states: vec![state("a", 9), state("b.c", 0)], ..RateRecord::default() };
        let fields = [
            (POLICY, "\"a\";q=10;w=60;pk=:AAAAAAAAAAE=:, \"b.c\";q=10;w=60;pk=:AAAAAAAAAAE=:"),
            (STATE, "\"a\";r=9;t=6, \"b.c\";r=0;t=6"),
        ];
        check(&record, (Endpoint::Graphql, Method::POST, 200, "no-store"), (200, &fields));
        check(&record, (Endpoint::Graphql, Method::GET, 200, "no-store"), (200, &fields));
        check(&record, (Endpoint::Graphql, Method::POST, 200, "private,max-age=9"), (200, &fields));
        check(&record, (Endpoint::Graphql, Method::GET, 200, "private,max-age=9"), (200, &[]));
        check(&RateRecord::default(), (Endpoint::Graphql, Method::POST, 200, ""), (200, &[]));
    }

    #[test]
    fn a_refusal_has_a_status_where_the_endpoint_has_some() {
        let refusal = Some(RateRefusal { name: "a".into(), wait_s: 6 });
        let record = RateRecord { states: vec![state("a", 0)], refusal, is_counted: true };
        let fields =
            [(POLICY, "\"a\";q=10;w=60;pk=:AAAAAAAAAAE=:"), (STATE, "\"a\";r=0;t=6"), (RETRY_AFTER, "6")];
        check(&record, (Endpoint::Graphql, Method::POST, 200, ""), (429, &fields));
        check(&record, (Endpoint::Graphql, Method::POST, 400, ""), (429, &fields));
        check(&record, (Endpoint::Hasura, Method::POST, 200, ""), (200, &fields));
        check(&record, (Endpoint::Hasura, Method::POST, 400, ""), (429, &fields));
    }
}

//! Completes every answer: request id, server timing, CORS, counters and logs.

use super::answer::Answer;
use super::answer::response_body::ResponseBody;
use super::context::RequestContext;
use super::rate_fields;
use super::request_id::REQUEST_ID;
use super::span;
use crate::server::telemetry::access::{self, Access};
use crate::server::telemetry::log;
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use hyper::header::{CONNECTION, HeaderName, HeaderValue, SET_COOKIE};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Response, Version};
use std::time::Duration;
use weir_engine::engine::{Execution, Timing};

/// The header of the stage times. Source: W3C Server Timing.
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Completes the head of `answer`, counts and logs it. `head` is the request's.
pub(crate) fn finish(context: &RequestContext, head: &Parts, answer: Answer) -> Response<ResponseBody> {
    let id = &context.id;
    let Answer { mut response, endpoint, verdict, execution } = answer;
    let total = count(context, Some(&head.headers), Counted { endpoint, verdict }, execution.as_ref());
    if let Some(span) = context.span.filter(|it| it.own.is_sampled && endpoint != Endpoint::Other) {
        span::record(context, span, Some((head, response.status())), execution.as_ref(), total);
    }
    if let Some(execution) = execution.as_ref().filter(|_| context.generation.dev) {
        response.headers_mut().insert(SERVER_TIMING, server_timing(&execution.timing, total));
    }
    context.generation.cors.mark(head, response.headers_mut());
    rate_fields::write(&context.rates.borrow(), endpoint, &head.method, &mut response);
    if context.generation.config.log.access {
        access::write(&Access {
            request_id: id.text(),
            trace: context.trace(Some(&head.headers)),
            head,
            status: response.status().as_u16(),
            bytes: response.body().len(),
            execution: execution.as_ref(),
            noted: &context.noted.borrow(),
            total,
        });
    }
    for cookie in context.cookies.borrow_mut().drain(..) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    append_noted(context.notes.take_headers(), response.headers_mut());
    response.headers_mut().insert(REQUEST_ID, id.header().clone());
    // Otherwise the client could send its next request while the server closes the connection.
    if context.worker.ends_connections.get() && head.version < Version::HTTP_2 {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Appends headers that sources noted. A header that Weir has written itself stays as it is, but for cookies, which stand beside each other.
fn append_noted(noted: Vec<(Box<str>, Vec<u8>)>, headers: &mut HeaderMap) {
    let parse = |(name, value): (Box<str>, Vec<u8>)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_bytes(&value).ok()?))
    };
    let is_free = |name: &HeaderName| *name == SET_COOKIE || !headers.contains_key(name);
    let all: Vec<_> = noted.into_iter().filter_map(parse).filter(|it| is_free(&it.0)).collect();
    for (name, value) in all {
        headers.append(name, value);
    }
}

/// Labels that an answer is counted under.
#[derive(Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) endpoint: Endpoint,
    pub(crate) verdict: Verdict,
}

/// Counts an answer, and logs it if it was slow; returns its duration. `headers` are those of the request, if it has any.
pub(crate) fn count(
    context: &RequestContext,
    headers: Option<&HeaderMap>,
    counted: Counted,
    execution: Option<&Execution>,
) -> Duration {
    let total = context.started.elapsed();
    let metrics = &context.worker.metrics;
    metrics.request(counted.endpoint, counted.verdict);
    if let Some(execution) = execution {
        metrics.execution(execution, total);
        let slow_ms = context.generation.config.log.slow_ms;
        if total >= Duration::from_millis(u64::from(slow_ms)) {
            let id = context.id.text();
            let trace = context.trace(headers);
            log::slow(id, trace, execution, &context.noted.borrow(), total);
        }
    }
    total
}

/// Formats `parse;dur=0.012, …, total;dur=0.345`, in milliseconds; stages that did not run are omitted.
fn server_timing(timing: &Timing, total: Duration) -> HeaderValue {
    let mut out = Vec::with_capacity(128);
    let stages = [
        ("parse;dur=", timing.parse, timing.plan_hit),
        ("validate;dur=", timing.validate, timing.plan_hit),
        ("plan;dur=", timing.plan, timing.plan_hit),
        ("bind;dur=", timing.bind, false),
        ("execute;dur=", timing.execute, false),
        ("total;dur=", total, false),
    ];
    for (name, duration, skipped) in stages {
        if skipped {
            continue;
        }
        if !out.is_empty() {
            out.extend_from_slice(b", ");
        }
        out.extend_from_slice(name.as_bytes());
        milliseconds(&mut out, duration);
    }
    HeaderValue::from_maybe_shared(bytes::Bytes::from(out)).unwrap_or(HeaderValue::from_static(""))
}

/// Formats `12.345` from microseconds, without floating point.
fn milliseconds(out: &mut Vec<u8>, duration: Duration) {
    let us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    let mut digits = [0; 21];
    let mut at = digits.len();
    let mut rest = us;
    while rest > 0 || digits.len() - at < 5 {
        at -= 1;
        if digits.len() - at == 4 {
            digits[at] = b'.';
            continue;
        }
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(timing: Timing, total_us: u64, expected: &str) {
        let found = server_timing(&timing, Duration::from_micros(total_us));
        assert_eq!(found.to_str().expect("it is ASCII"), expected);
    }

    #[test]
    fn stage_times_are_milliseconds() {
        let us = Duration::from_micros;
        let miss = Timing {
            plan_hit: false,
            parse: us(12),
            validate: us(1),
            plan: us(0),
            bind: us(999),
            execute: us(1000),
            ..Timing::default()
        };
        check(
            miss,
            12_345_678,
            "parse;dur=0.012, validate;dur=0.001, plan;dur=0.000, bind;dur=0.999, execute;dur=1.000, total;dur=12345.678",
        );
    }

    #[test]
    fn a_plan_hit_has_no_planning() {
        check(
            Timing { plan_hit: true, ..Timing::default() },
            70,
            "bind;dur=0.000, execute;dur=0.000, total;dur=0.070",
        );
    }
}

//! `/admin/operations`: counts by operation, and by field and argument, as JSON.

use crate::observer::observer;
use crate::server::request::answer::Answer;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::negotiate::Media;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use std::fmt::Write;
use weir_engine::usage::{CountedOperation, KEPT, OperationCounts, Usage};
use weir_language::ast::OperationKind;
use weir_language::json::quote;

/// Answers a GET.
pub(crate) fn answer() -> Answer {
    let body = ResponseBody::whole(usage_json(&observer().operations.usage()).into_bytes());
    let mut response = json(StatusCode::OK, Media::Json, body);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Answer::page(response)
}

/// `usage` as JSON: operations by count, descending; times in microseconds.
fn usage_json(usage: &Usage) -> String {
    let mut out = String::from("{\"operations\":[");
    for (at, counted) in usage.operations.iter().enumerate() {
        let CountedOperation { operation, coordinates, counts } = counted;
        out.push_str(if at > 0 { ",{\"name\":" } else { "{\"name\":" });
        if operation.name.is_empty() {
            out.push_str("null")
        } else {
            quote(&operation.name, &mut out)
        }
        let kind = match operation.kind {
            OperationKind::Query => "query",
            OperationKind::Mutation => "mutation",
            OperationKind::Subscription => "subscription",
        };
        // `write!` to a string cannot fail.
        let _ = write!(out, ",\"hash\":\"{}\",\"kind\":\"{kind}\",", operation.hash);
        members(counts, &mut out);
        out.push_str(",\"fields\":[");
        for (at, coordinate) in coordinates.iter().enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            quote(coordinate, &mut out);
        }
        out.push_str("]}");
    }
    out.push_str("],\"rest\":{");
    members(&usage.rest, &mut out);
    out.push_str("},\"fields\":{");
    for (at, (coordinate, count)) in usage.coordinates.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        quote(coordinate, &mut out);
        let _ = write!(out, ":{count}");
    }
    out.push_str("}}");
    out
}

/// JSON members of `counts`.
fn members(counts: &OperationCounts, out: &mut String) {
    let mean = |sum: u64| sum.checked_div(counts.count).unwrap_or_default();
    let _ = write!(
        out,
        "\"count\":{},\"errors\":{},\"planned\":{},\"mean_us\":{},\"overhead_mean_us\":{},\"cpu_mean_us\":{},\"fetches\":{},\"p50_us\":{},\"p95_us\":{},\"p99_us\":{}",
        counts.count,
        counts.errors,
        counts.planned,
        mean(counts.total_us),
        mean(counts.overhead_us),
        mean(counts.busy_us),
        counts.fetches,
        counts.percentile_us(50.0),
        counts.percentile_us(95.0),
        counts.percentile_us(99.0),
    );
    for (kept, name) in KEPT {
        let _ = write!(out, ",\"answers_{name}\":{}", counts.kept[kept as usize]);
    }
}

//! `/admin/mirror`: what came of mirrored requests, and samples of answers that differ.
//!
//! **Invariant:** no value of an answer or a variable is told.

use crate::generation::mirror::{DifferenceSample, outcome_counts, samples};
use crate::server::request::answer::Answer;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::negotiate::Media;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use serde_json::{Map, Value, json as value};
use std::time::UNIX_EPOCH;

/// Answers a GET.
pub(crate) fn answer() -> Answer {
    let requests: Map<String, Value> =
        outcome_counts().into_iter().map(|(label, count)| (label.to_owned(), count.into())).collect();
    let differences: Vec<Value> = samples().iter().map(sample_json).collect();
    let page = value!({ "requests": requests, "differences": differences });
    let mut response = json(StatusCode::OK, Media::Json, ResponseBody::whole(page.to_string().into_bytes()));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Answer::page(response)
}

fn sample_json(sample: &DifferenceSample) -> Value {
    let DifferenceSample { at, operation, request_id, path, ours, theirs } = sample;
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    value!({
        "at_ms": u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        "operation": Some(&**operation).filter(|it| !it.is_empty()),
        "request_id": &**request_id,
        "path": &**path,
        "ours": ours,
        "theirs": theirs,
    })
}

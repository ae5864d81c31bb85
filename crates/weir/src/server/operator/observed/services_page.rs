//! `/admin/services`: services behind sources with all of their connectors, also those that were never called, which metrics leave out.

use crate::server::request::answer::Answer;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use serde_json::{Value, json as value};
use weir_engine::source::{ServiceCalls, Source};

/// Answers a GET.
pub(crate) fn answer(context: &RequestContext) -> Answer {
    let sources = context.generation.engine.graph().sources().iter();
    let listed: Vec<Value> = sources.filter_map(|it| source_json(&*it.0)).collect();
    let body = ResponseBody::whole(value!({ "sources": listed }).to_string().into_bytes());
    let mut response = json(StatusCode::OK, Media::Json, body);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Answer::page(response)
}

/// Nothing of a source without services.
fn source_json(source: &dyn Source) -> Option<Value> {
    let calls = source.calls();
    let services: Vec<Value> = calls.iter().map(service_json).collect();
    (!services.is_empty()).then(|| value!({ "name": source.name(), "services": services }))
}

fn service_json(calls: &ServiceCalls) -> Value {
    let ServiceCalls { service, in_flight, waiting, is_broken, callers } = calls;
    let connectors: Vec<&str> = callers.iter().map(|it| &*it.caller).collect();
    value!({
        "name": &**service,
        "in_flight": in_flight,
        "waiting": waiting,
        "breaker_open": is_broken,
        "connectors": connectors,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_engine::durations::DurationCounts;
    use weir_engine::source::CallerCalls;

    #[test]
    fn connectors_that_were_never_called_are_listed() {
        let idle = CallerCalls {
            caller: "Query.idle".into(),
            outcomes: Vec::new(),
            retries: 0,
            hedges: 0,
            took: DurationCounts::default(),
        };
        let service = "matches".into();
        let calls = ServiceCalls { service, in_flight: 2, waiting: 1, is_broken: None, callers: vec![idle] };
        let expected = value!({
            "name": "matches", "in_flight": 2, "waiting": 1, "breaker_open": null, "connectors": ["Query.idle"],
        });
        assert_eq!(service_json(&calls), expected);
    }
}

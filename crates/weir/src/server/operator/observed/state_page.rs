//! `/admin/state`: memory of the process, fill of caches, and connections, threads and queues of sources.
//!
//! **Cost:** a few locks of counters and one small file of the system, when it is asked.

use crate::server::request::answer::Answer;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use serde_json::{Value, json as value};
use weir_engine::caching::CacheFill;

/// The process's facts. Source: proc_pid_status(5).
const STATUS: &str = "/proc/self/status";

/// Answers a GET.
pub(crate) fn answer(context: &RequestContext) -> Answer {
    let generation = &context.generation;
    let (plans, answers) = generation.engine.cache_fills();
    let sources = generation.engine.graph().sources().iter().map(|it| {
        let source = &it.0;
        let gauges =
            source.gauges().into_iter().map(|(name, count)| value!({ "name": name, "value": count }));
        value!({ "name": source.name(), "product": source.product(), "gauges": gauges.collect::<Vec<_>>() })
    });
    let state = value!({
        "memory": std::fs::read_to_string(STATUS).ok().map(|it| memory_json(&it)),
        "plans": fill_json(plans),
        "answers": answers.map(fill_json),
        "sources": sources.collect::<Vec<_>>(),
    });
    let body = ResponseBody::whole(state.to_string().into_bytes());
    let mut response = json(StatusCode::OK, Media::Json, body);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Answer::page(response)
}

fn fill_json(fill: CacheFill) -> Value {
    let CacheFill { entries, bytes, bytes_max } = fill;
    value!({ "entries": entries, "bytes": bytes, "bytes_max": bytes_max })
}

/// Bytes and threads of a process with this status.
fn memory_json(status: &str) -> Value {
    let number = |key: &str| {
        let line = status.lines().find_map(|it| it.strip_prefix(key)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let bytes = |key: &str| number(key).map(|it| it * 1024);
    value!({ "resident_bytes": bytes("VmRSS"), "peak_bytes": bytes("VmHWM"), "threads": number("Threads") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_in_bytes_and_what_is_not_there_is_null() {
        let told = memory_json("Name:\tweir\nVmHWM:\t   20 kB\nVmRSS:\t   12 kB\nThreads:\t7\n");
        assert_eq!(told, value!({"resident_bytes": 12_288, "peak_bytes": 20_480, "threads": 7}));
        assert_eq!(
            memory_json("VmRSS:\tmany"),
            value!({"resident_bytes": null, "peak_bytes": null, "threads": null})
        );
    }
}

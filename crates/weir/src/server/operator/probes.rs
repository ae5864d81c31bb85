//! The probes: whether the process lives, whether it wants requests, whether it serves what it was told to.
//!
//! **Invariant:** anyone may ask, so answers name sources and the products of their servers, and nothing else of them: no files, no hosts.

use super::pages::page;
use crate::generation::Generation;
use crate::generation::event_keeper::EventKeeper;
use crate::generation::readiness::SourceState;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::string;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::http::request::Parts;

/// Liveness: always 200.
pub(crate) fn live() -> Answer {
    page(StatusCode::OK, "ok\n")
}

/// Readiness: 503 during shutdown, or while a source cannot answer.
pub(crate) async fn ready(context: &RequestContext) -> Answer {
    let (status, body) = if context.worker.is_leaving() {
        (StatusCode::SERVICE_UNAVAILABLE, br#"{"status":"draining"}"#.to_vec())
    } else {
        let generation = &context.generation;
        let states = generation.readiness.look(generation).await;
        let all = states.iter().all(|it| it.trouble.is_none());
        (
            if all { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE },
            report(&states, all, counts(generation, context.worker.live.events())),
        )
    };
    let mut response = json(status, Media::Json, ResponseBody::whole(body));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Answer::page(response)
}

/// Numbers of inconsistent and unsupported objects of the metadata; `None` without metadata.
fn counts(generation: &Generation, events: &EventKeeper) -> Option<(usize, usize)> {
    let down = generation.described_down().count() + generation.stale_remotes().count();
    let unmade = events.list_unmade(generation).len();
    let inconsistent = generation.findings.inconsistent.len() + unmade + down;
    generation.config.described.as_ref().map(|_| (inconsistent, generation.findings.unsupported.len()))
}

/// Writes `{"status": …, "sources": [{"name", "server", "ready"}]}`, with code and reason of sources that are not ready, and with the
/// state of the metadata.
fn report(states: &[SourceState], all: bool, metadata: Option<(usize, usize)>) -> Vec<u8> {
    let mut out = b"{\"status\":".to_vec();
    string(&mut out, if all { "ok" } else { "not ready" });
    out.extend_from_slice(b",\"sources\":[");
    for (place, SourceState { name, product, trouble }) in states.iter().enumerate() {
        out.extend_from_slice(if place == 0 { b"{\"name\":" } else { b",{\"name\":" });
        string(&mut out, name);
        if let Some(product) = product {
            out.extend_from_slice(b",\"server\":");
            string(&mut out, product);
        }
        match trouble {
            None => out.extend_from_slice(b",\"ready\":true}"),
            Some((code, reason)) => {
                out.extend_from_slice(b",\"ready\":false,\"code\":");
                string(&mut out, code);
                out.extend_from_slice(b",\"reason\":");
                string(&mut out, reason);
                out.push(b'}');
            }
        }
    }
    out.push(b']');
    if let Some((inconsistent, unsupported)) = metadata {
        let is_consistent = inconsistent + unsupported == 0;
        let words = format!(
            ",\"metadata\":{{\"is_consistent\":{is_consistent},\"inconsistent_objects\":{inconsistent},\"unsupported\":{unsupported}}}"
        );
        out.extend_from_slice(words.as_bytes());
    }
    out.push(b'}');
    out
}

/// SourceState of the configuration in Hasura's format. [`ready`] reports on sources.
pub(crate) fn health(context: &RequestContext, head: &Parts) -> Answer {
    if context.worker.is_leaving() {
        return page(StatusCode::INTERNAL_SERVER_ERROR, "ERROR\n");
    }
    if context.worker.live.last_failure().is_some() {
        return page(
            StatusCode::OK,
            "WARN: the configuration could not be taken over; the one before serves\n",
        );
    }
    let counts = counts(&context.generation, context.worker.live.events());
    if counts.is_some_and(|it| it != (0, 0)) {
        let is_strict = head.uri.query().is_some_and(|it| it.split('&').any(|it| it == "strict=true"));
        return if is_strict {
            page(StatusCode::INTERNAL_SERVER_ERROR, "ERROR: inconsistent objects in schema\n")
        } else {
            page(StatusCode::OK, "WARN: inconsistent objects in schema\n")
        };
    }
    if !context.generation.findings.mistakes.is_empty() {
        return page(
            StatusCode::OK,
            "WARN: entries of the configuration do not fit the database; the rest serves\n",
        );
    }
    page(StatusCode::OK, "OK\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::readiness::public_cause;
    use weir_engine::source::SourceError;

    fn check(states: &[(&str, Option<SourceError>)], all: bool, expected: &str) {
        let state = |(name, error): &(&str, Option<SourceError>)| SourceState {
            name: (*name).to_owned(),
            product: error.is_none().then(|| "Citus 13.2".to_owned()),
            trouble: error.as_ref().map(|it| (it.code(), public_cause(it))),
        };
        let states: Vec<SourceState> = states.iter().map(state).collect();
        assert_eq!(std::str::from_utf8(&report(&states, all, None)), Ok(expected));
    }

    #[test]
    fn sources_are_named_with_their_troubles_but_not_with_their_files() {
        check(
            &[("a", None)],
            true,
            r#"{"status":"ok","sources":[{"name":"a","server":"Citus 13.2","ready":true}]}"#,
        );
        let gone = SourceError::Unavailable("unable to open /secret/path".into());
        check(
            &[("a", None), ("b", Some(gone))],
            false,
            r#"{"status":"not ready","sources":[{"name":"a","server":"Citus 13.2","ready":true},{"name":"b","ready":false,"code":"SOURCE_UNAVAILABLE","reason":"it cannot be reached or read"}]}"#,
        );
    }
}

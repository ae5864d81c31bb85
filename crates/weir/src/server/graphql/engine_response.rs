//! Converts an engine response to an HTTP response: status, compression, cache headers.

use crate::server::connection::unread::STREAM_BYTES;
use crate::server::request::answer::accepted_coding::coding;
use crate::server::request::answer::cache_headers;
use crate::server::request::answer::cache_headers::mark_coding;
use crate::server::request::answer::content_coding::{Coding, Encoder};
use crate::server::request::answer::refusal::RETRY_S;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::client_headers::POSITION;
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use bytes::Bytes;
use hyper::header::{HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, Response, StatusCode};
use weir_engine::engine::{self, Body, Capacity, Outcome};

/// Builds a response from the engine's bytes, compressed if the client accepts that.
pub(crate) fn respond(
    context: &RequestContext,
    made: engine::Response,
    status: StatusCode,
    media: Media,
    headers: &HeaderMap,
) -> Response<ResponseBody> {
    let compression = &context.generation.config.compression;
    let coding = || if compression.enabled { coding(headers) } else { None };
    let (reply, coding) = match made.body {
        Body::Whole(bytes) => {
            if made.outcome == Outcome::Refused {
                context.worker.metrics.limits_in(&bytes);
            }
            whole((bytes.len() >= compression.bytes_min).then(coding).flatten(), bytes)
        }
        Body::Shared(bytes) => whole((bytes.len() >= compression.bytes_min).then(coding).flatten(), bytes),
        // Incremental parts are sent by their transport, so here they form a plain stream.
        Body::Stream { head, rest } | Body::Increments { first: head, rest } => {
            if let Err(refusal) = context.has_room(STREAM_BYTES) {
                let mut response = json(refusal.status, media, ResponseBody::whole(refusal.body()));
                response.headers_mut().insert(RETRY_AFTER, RETRY_S);
                return response;
            }
            let coding = coding();
            let encoder = coding.and_then(Encoder::new);
            let coding = coding.filter(|_| encoder.is_some());
            (ResponseBody::stream(head, rest, encoder), coding)
        }
    };
    let mut response = json(status, media, reply);
    mark_coding(&mut response, coding);
    if let Some(told) = &made.lifetime {
        context.worker.metrics.count_cached(told.kept);
        let credentials = &*context.generation.credentials;
        let dev = context.generation.dev;
        cache_headers::write_lifetime(
            response.headers_mut(),
            told,
            headers,
            cache_headers::ServerMode { credentials, dev },
        );
    }
    if let Some(position) = made.position.and_then(|it| HeaderValue::try_from(it).ok()) {
        response.headers_mut().insert(POSITION, position);
    }
    match made.capacity {
        Capacity::Enough => {}
        Capacity::Exhausted => {
            context.worker.metrics.pool_timeouts.inc();
            response.headers_mut().insert(RETRY_AFTER, RETRY_S);
        }
    }
    response
}

/// A complete body, packed if it can be, and how it is.
fn whole(coding: Option<Coding>, bytes: impl AsRef<[u8]> + Into<Bytes>) -> (ResponseBody, Option<Coding>) {
    let packed = coding.and_then(|it| Some((Encoder::whole(it, bytes.as_ref())?, it)));
    match packed {
        Some((packed, coding)) => (ResponseBody::whole(packed), Some(coding)),
        None => (ResponseBody::whole(bytes), None),
    }
}

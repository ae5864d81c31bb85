//! Web console: files of `console/dist`, embedded with Brotli compression.
//!
//! A binary built without the page says how to build it. Paths are looked up in the embedded table only, so there is
//! no file system to escape to.

use crate::server::request::answer::Answer;
use crate::server::request::answer::accepted_coding;
use crate::server::request::answer::accepted_coding::AcceptedCodings;
use crate::server::request::answer::cache_headers::mark_coding;
use crate::server::request::answer::content_coding::{Coding, Encoder, unpack};
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::ResponseBody;
use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

/// Names and bytes of the files, as the build script lists them; none where the page was not built.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/console.rs"));

/// Page of a binary that was built without the console.
const MISSING: &str = "<!doctype html><meta charset=utf-8><title>Weir</title><p>This binary was built without the \
console. Build it with <code>make console</code> and then Weir again, or send queries to <code>/graphql</code>.";

/// First parts of the addresses of views. One page answers them all and reads the address itself.
const VIEWS: [&str; 9] =
    ["data", "permissions", "schema", "api", "live", "operations", "events", "services", "settings"];

/// Icon, which browsers request for every page.
const ICON: &[u8] = include_bytes!("../../../../../console/src/weir.svg");

/// Content security policy: connections only to this server, no framing.
const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' blob:; worker-src 'self' blob:; \
style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'";

/// Answers `/console` and paths below.
pub(crate) fn answer(head: &Parts) -> Result<Answer, Refusal> {
    let path = head.uri.path().strip_prefix("/console").unwrap_or_default();
    // Relative links need the trailing slash.
    if path.is_empty() {
        let mut response = Response::new(ResponseBody::empty());
        *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
        response.headers_mut().insert(hyper::header::LOCATION, HeaderValue::from_static("/console/"));
        return Ok(Answer::page(response));
    }
    let name = path.trim_start_matches('/');
    let is_view = name.is_empty() || VIEWS.contains(&name.split('/').next().unwrap_or_default());
    let name = if is_view { "index.html" } else { name };
    let accepted = accepted_coding::codings(&head.headers);
    let (bytes, coding) = match find(name, accepted) {
        Some(found) => found,
        None if name == "index.html" => (Bytes::from_static(MISSING.as_bytes()), None),
        None => return Err(Refusal::not_found()),
    };
    let mut response = Response::new(ResponseBody::whole(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(name)));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff"));
    // Asset names contain a hash of their bytes, so they never change.
    let lifetime =
        if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(lifetime));
    mark_coding(&mut response, coding);
    Ok(Answer::page(response))
}

/// Answers `/favicon.ico`.
pub(crate) fn icon() -> Answer {
    let mut response = Response::new(ResponseBody::whole(ICON));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=86400"));
    Answer::page(response)
}

/// Bytes of a file, encoded for the client. Only the Brotli form is stored; it is decoded for clients without Brotli, once per build
/// because asset names change with their bytes.
fn find(name: &str, accepted: AcceptedCodings) -> Option<(Bytes, Option<Coding>)> {
    const PLAIN_BYTES_MAX: usize = 64 * 1024 * 1024;
    let embedded = |name: &str| FILES.iter().find(|it| it.0 == name).map(|it| it.1);
    if let Some(bytes) = embedded(name) {
        return Some((Bytes::from_static(bytes), None));
    }
    let packed = embedded(&format!("{name}.br"))?;
    if accepted.brotli {
        return Some((Bytes::from_static(packed), Some(Coding::Brotli)));
    }
    let plain = unpack(Coding::Brotli, packed, PLAIN_BYTES_MAX).ok()?;
    if accepted.gzip {
        Some((Encoder::whole(Coding::Gzip, &plain)?.into(), Some(Coding::Gzip)))
    } else {
        Some((plain.into(), None))
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("ttf") => "font/ttf",
        Some("woff2") => "font/woff2",
        Some("wasm") => "application/wasm",
        Some(_) | None => "application/octet-stream",
    }
}

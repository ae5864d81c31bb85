//! The web page: files of `console/dist`, embedded compressed by Brotli, as the build left them.
//!
//! A binary built without the page says how to build it. Paths are looked up in the embedded table only, so there is
//! no file system to escape to.

use crate::server::request::accepted_coding::{self, AcceptedCodings};
use crate::server::request::content_coding::{Coding, Encoder, mark_coding, unpack};
use crate::server::request::context::Answer;
use crate::server::request::refusal::Refusal;
use crate::server::request::response_body::ResponseBody;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use rust_embed::RustEmbed;
use std::borrow::Cow;

#[derive(RustEmbed)]
#[folder = "../../console/dist"]
#[allow_missing = true]
struct Files;

/// Page of a binary that was built without the console.
const MISSING: &str = "<!doctype html><meta charset=utf-8><title>Weir</title><p>This binary was built without the \
console. Build it with <code>make console</code> and then Weir again, or send queries to <code>/graphql</code>.";

/// The console's icon, which browsers ask for beside any page.
const ICON: &[u8] = include_bytes!("../../../../../console/src/weir.svg");

/// The page talks to its own server only and cannot be framed.
const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' blob:; worker-src 'self' blob:; \
style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'";

/// Answers `/console` and what is below.
pub(crate) fn answer(head: &Parts) -> Result<Answer, Refusal> {
    let path = head.uri.path().strip_prefix("/console").unwrap_or_default();
    // Relative links of the page begin at its directory.
    if path.is_empty() {
        let mut response = Response::new(ResponseBody::empty());
        *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
        response.headers_mut().insert(hyper::header::LOCATION, HeaderValue::from_static("/console/"));
        return Ok(Answer::page(response));
    }
    let name = if path == "/" { "index.html" } else { path.trim_start_matches('/') };
    let accepted = accepted_coding::codings(&head.headers);
    let (bytes, coding) = match find(name, accepted) {
        Some(found) => found,
        None if name == "index.html" => (Cow::Borrowed(MISSING.as_bytes()), None),
        None => return Err(Refusal::not_found()),
    };
    let mut response = Response::new(ResponseBody::whole(bytes.into_owned()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(name)));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff"));
    // Names of assets hold a hash of their bytes, so they never change.
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

/// The bytes of a file in the best form the client takes. They are kept by Brotli alone: a browser that takes it not asks once for
/// each build, as names change with their bytes.
fn find(name: &str, accepted: AcceptedCodings) -> Option<(Cow<'static, [u8]>, Option<Coding>)> {
    const PLAIN_BYTES_MAX: usize = 64 * 1024 * 1024;
    if let Some(file) = Files::get(name) {
        return Some((file.data, None));
    }
    let packed = Files::get(&format!("{name}.br"))?.data;
    if accepted.brotli {
        return Some((packed, Some(Coding::Brotli)));
    }
    let plain = unpack(Coding::Brotli, &packed, PLAIN_BYTES_MAX).ok()?;
    match accepted.gzip {
        true => Some((Cow::Owned(Encoder::whole(Coding::Gzip, &plain)), Some(Coding::Gzip))),
        false => Some((Cow::Owned(plain), None)),
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

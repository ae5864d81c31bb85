//! Writes an HTTP/1.1 request.
//!
//! **Invariant:** method, target, names and values are of types that hold no line ends, so a request is one request.
//!
//! **Cost:** one pass into memory that is used again.
//! Source: RFC 9112, 3 and 6.

use super::decode::ACCEPTED;
use super::headers::may_be_sent_to;
use crate::call::Ask;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HOST};
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue};

/// Appends the request for `path`, with its body.
pub(crate) fn write(ask: &Ask, path: &PathAndQuery, host: &HeaderValue, out: &mut Vec<u8>) {
    let target = match path.as_str() {
        "" => "/",
        target => target,
    };
    for part in [ask.method.as_str(), " ", target, " HTTP/1.1\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
    line(&HOST, host.as_bytes(), out);
    line(&ACCEPT_ENCODING, ACCEPTED.as_bytes(), out);
    for (name, value) in ask.headers.iter().filter(|it| may_be_sent_to(ask.peer, &it.0)) {
        line(name, value.as_bytes(), out);
    }
    if !ask.body.is_empty() || matches!(ask.method.as_str(), "POST" | "PUT" | "PATCH" | "QUERY") {
        let mut digits = itoa::Buffer::new();
        line(&CONTENT_LENGTH, digits.format(ask.body.len()).as_bytes(), out);
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(&ask.body);
}

fn line(name: &HeaderName, value: &[u8], out: &mut Vec<u8>) {
    for part in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
        out.extend_from_slice(part);
    }
}

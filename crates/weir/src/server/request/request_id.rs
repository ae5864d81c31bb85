//! Ids of requests: those of clients and proxies, or our own.

use super::client_headers::rare;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use std::cell::Cell;

/// The header of the request id.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum length of an id accepted from a client or proxy.
const ID_BYTES_MAX: usize = 128;

/// Generator of ids, unique in the process and, through its start time, most likely beyond.
#[derive(Debug)]
pub(crate) struct RequestIds {
    prefix: u32,
    next: Cell<u32>,
}

impl RequestIds {
    /// Generator of the worker with this number.
    pub(crate) fn new(worker: usize) -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let mixed =
            (since.as_nanos() as u64 ^ u64::from(std::process::id()) << 20).wrapping_add(worker as u64);
        Self { prefix: (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32, next: Cell::new(0) }
    }

    fn next(&self) -> HeaderValue {
        let number = self.next.get().wrapping_add(1);
        self.next.set(number);
        let both = u64::from(self.prefix) << 32 | u64::from(number);
        let mut digits = [0; 16];
        for (place, digit) in digits.iter_mut().enumerate() {
            *digit = b"0123456789abcdef"[(both >> (60 - 4 * place) & 15) as usize];
        }
        HeaderValue::from_bytes(&digits).unwrap_or(HeaderValue::from_static("0"))
    }
}

/// Id of a request, accepted or generated.
#[derive(Clone)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    /// Accepts the id of the request, or generates one.
    pub(crate) fn of(ids: &RequestIds, head: &Parts) -> Self {
        let sent = rare(&head.headers, &REQUEST_ID).filter(|it| {
            it.len() <= ID_BYTES_MAX && !it.is_empty() && it.as_bytes().iter().all(u8::is_ascii_graphic)
        });
        Self(sent.cloned().unwrap_or_else(|| ids.next()))
    }

    /// Generates an id for a request without a head.
    pub(crate) fn new_id(ids: &RequestIds) -> Self {
        Self(ids.next())
    }

    /// The header with the id.
    pub(crate) fn header(&self) -> &HeaderValue {
        &self.0
    }

    /// For logs.
    pub(crate) fn text(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_have_sixteen_digits() {
        let ids = RequestIds::new(1);
        let first = ids.next();
        let second = ids.next();
        assert_ne!(first, second);
        assert_eq!((first.len(), second.len()), (16, 16));
    }
}

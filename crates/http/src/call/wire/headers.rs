//! Headers that a plan may send to a service.
//!
//! Headers of one connection (RFC 9110, 7.6.1), of the message's framing, and of a request's origin are never forwarded.

use crate::call::Peer;
use http::HeaderName;
use http::header::{
    self, ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, FORWARDED, HOST, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

/// Headers that are never forwarded and have constants in `http`.
const NEVER: &[HeaderName] = &[
    ACCEPT_ENCODING,
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    FORWARDED,
    HOST,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    header::VIA,
];

/// Prefixes and names of further headers that are never forwarded.
const NEVER_STARTS: &[&str] = &["proxy-connection", "keep-alive", "http2-settings"];

/// Prefix of the headers that say where a request is from.
const FORWARDED_START: &str = "x-forwarded-";

/// True if a plan may send the header `name`; a mapping with any other is invalid.
pub fn may_be_sent(name: &HeaderName) -> bool {
    may_be_sent_to(Peer::Service, name)
}

/// Like [`may_be_sent`], for the server that is called.
pub(crate) fn may_be_sent_to(peer: Peer, name: &HeaderName) -> bool {
    !NEVER.contains(name)
        && !NEVER_STARTS.iter().any(|start| name.as_str().starts_with(start))
        && (peer == Peer::Webhook || !name.as_str().starts_with(FORWARDED_START))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: bool) {
        assert_eq!(may_be_sent(&name.parse().unwrap()), expected, "{name}");
    }

    #[test]
    fn what_belongs_to_a_connection_or_says_where_a_request_is_from_stays_here() {
        for name in
            ["Host", "connection", "TE", "Content-Length", "Transfer-Encoding", "Upgrade", "Keep-Alive"]
        {
            check(name, false);
        }
        for name in
            ["X-Forwarded-For", "x-forwarded-host", "Forwarded", "Proxy-Authorization", "Via", "Trailer"]
        {
            check(name, false);
        }
        assert!(may_be_sent_to(Peer::Webhook, &"X-Forwarded-Host".parse().unwrap()));
        assert!(!may_be_sent_to(Peer::Webhook, &"Host".parse().unwrap()));
        for name in ["Authorization", "Cookie", "X-User-Id", "Accept", "Content-Type", "x-forward"] {
            check(name, true);
        }
    }
}

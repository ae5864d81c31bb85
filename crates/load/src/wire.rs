//! Requests and answers on sockets: HTTP/1.1, HTTP/2, WebSocket, server-sent events.

mod connect;
mod http1;
mod http2;
mod subscribe;

pub(crate) use connect::Dialer;
pub(crate) use http1::Http1;
pub(crate) use http2::Http2;
pub(crate) use subscribe::{Subscription, sse, websocket};

use http::{HeaderName, HeaderValue, Method};

/// The server that is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub is_tls: bool,
    pub host: String,
    pub port: u16,
    /// Path and query.
    pub path: String,
}

impl Target {
    pub(crate) fn read(url: &str) -> Result<Self, String> {
        let wrong = || format!("`{url}` is no URL of a server; write `http://127.0.0.1:8080/graphql`");
        let uri: http::Uri = url.parse().map_err(|_| wrong())?;
        let is_tls = match uri.scheme_str() {
            Some("http" | "ws") => false,
            Some("https" | "wss") => true,
            _ => return Err(wrong()),
        };
        let authority = uri.authority().ok_or_else(wrong)?;
        if authority.as_str().contains('@') {
            return Err("a target has no user or password; send a header `authorization`".into());
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str).to_owned();
        Ok(Self { is_tls, host, port, path })
    }

    /// Host and port as URLs and the header `host` have them.
    pub(crate) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (self.is_tls, self.port) {
            (true, 443) | (false, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }

    /// The URL without its path.
    pub(crate) fn origin(&self) -> String {
        format!("{}://{}", if self.is_tls { "https" } else { "http" }, self.authority())
    }
}

#[derive(Debug)]
pub(crate) struct HttpRequest {
    pub method: Method,
    pub path: String,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Appends it as HTTP/1.1.
    pub(crate) fn write_http1(&self, target: &Target, out: &mut Vec<u8>) {
        out.extend_from_slice(self.method.as_str().as_bytes());
        out.push(b' ');
        out.extend_from_slice(self.path.as_bytes());
        out.extend_from_slice(b" HTTP/1.1\r\n");
        if !self.headers.iter().any(|it| it.0 == http::header::HOST) {
            out.extend_from_slice(b"host: ");
            out.extend_from_slice(target.authority().as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        for (name, value) in &self.headers {
            out.extend_from_slice(name.as_str().as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value.as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        if !self.body.is_empty() || !matches!(self.method, Method::GET | Method::DELETE) {
            out.extend_from_slice(b"content-length: ");
            out.extend_from_slice(itoa::Buffer::new().format(self.body.len()).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&self.body);
    }
}

#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
    /// Bytes that were received for it.
    pub bytes: u64,
    pub cache: CacheOutcome,
}

/// Outcome of a cache according to the headers; a later variant is more precise and wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum CacheOutcome {
    /// No header of a cache.
    #[default]
    Unknown,
    /// `Age` above 0.
    Aged,
    /// The first word of a header such as `X-Cache`.
    Named(String),
}

/// Longest label of an outcome.
const OUTCOME_BYTES_MAX: usize = 24;

impl CacheOutcome {
    /// Looks at a header.
    pub(crate) fn note(&mut self, name: &[u8], value: &[u8]) {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match name.len() {
            3 if is("age") && *self == Self::Unknown && value != b"0" => *self = Self::Aged,
            7 if is("x-cache") => self.read_cache_header(value),
            12 if is("x-weir-cache") || is("cache-status") => self.read_cache_header(value),
            15 if is("cf-cache-status") => self.read_cache_header(value),
            _ => {}
        }
    }

    /// Reads `hit` from `hit from 10.0.0.1`, `TCP_HIT` or `"edge"; hit; ttl=3`.
    fn read_cache_header(&mut self, value: &[u8]) {
        let text = String::from_utf8_lossy(value).to_ascii_lowercase();
        let known = ["hit", "miss", "joined", "stale", "expired", "bypass", "revalidated", "fwd"];
        let words: Vec<&str> = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '-').collect();
        let found = words.iter().find(|it| known.contains(it)).or(words.first());
        let label = match found {
            Some(&"fwd") => "miss",
            Some(it) => it,
            None => return,
        };
        *self = Self::Named(label.chars().take(OUTCOME_BYTES_MAX).collect());
    }

    pub(crate) fn label(&self) -> Option<&str> {
        match self {
            Self::Unknown => None,
            Self::Aged => Some("hit"),
            Self::Named(it) => Some(it),
        }
    }
}

/// The cause of a request that got no answer.
#[derive(Debug)]
pub(crate) struct WireError {
    /// `connect`, `closed`, `timeout`, `protocol`.
    pub label: &'static str,
    pub cause: String,
}

impl WireError {
    pub(crate) fn new(label: &'static str, cause: impl ToString) -> Self {
        Self { label, cause: cause.to_string() }
    }
}

/// Longest answer that is read.
pub(crate) const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_url() {
        let check = |url: &str, expected: Result<(&str, &str), &str>| {
            let found = Target::read(url);
            let found = found.as_ref().map(|it| (it.origin(), it.path.as_str()));
            match (&found, expected) {
                (Ok((origin, path)), Ok(wanted)) => assert_eq!((origin.as_str(), *path), wanted),
                (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
                (found, expected) => panic!("{url}: {found:?}, expected {expected:?}"),
            }
        };
        check("http://127.0.0.1:8080/graphql", Ok(("http://127.0.0.1:8080", "/graphql")));
        check("https://a.example", Ok(("https://a.example", "/")));
        check("ws://[::1]:9/x?y=1", Ok(("http://[::1]:9", "/x?y=1")));
        check("127.0.0.1:8080", Err("is no URL"));
        check("http://u:p@a.example/", Err("authorization"));
    }

    #[test]
    fn the_outcome_of_a_cache_is_read_from_headers() {
        let check = |headers: &[(&str, &str)], expected: Option<&str>| {
            let mut outcome = CacheOutcome::default();
            headers.iter().for_each(|it| outcome.note(it.0.as_bytes(), it.1.as_bytes()));
            assert_eq!(outcome.label(), expected, "{headers:?}");
        };
        check(&[("content-type", "x")], None);
        check(&[("Age", "0")], None);
        check(&[("Age", "12")], Some("hit"));
        check(&[("Age", "12"), ("X-Cache", "Miss from cloudfront")], Some("miss"));
        check(&[("X-Weir-Cache", "joined; 2 s; matches.score"), ("Age", "3")], Some("joined"));
        check(&[("cache-status", "\"edge\"; fwd=stale; stored")], Some("miss"));
        check(&[("x-cache", "TCP_HIT")], Some("hit"));
    }
}

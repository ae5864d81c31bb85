//! HTTP calls of authentication: key sets and the webhook, with the lifetime of answers.

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use hyper::header::{CACHE_CONTROL, EXPIRES, HeaderName, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::{HeaderMap, Method, Uri};
use std::future::Future;
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;
use weir_http::call::{Answer, Ask, CallPolicy, Peer, Protocol, TlsFiles, Upstream, UpstreamSettings};

/// Maximum size of a body, in bytes.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// A service at one URL.
#[derive(Debug)]
pub(super) struct RemoteUrl {
    upstream: Upstream,
    path_and_query: PathAndQuery,
    timeout: Duration,
}

impl RemoteUrl {
    /// Prepares calls without making one.
    /// # Errors
    /// The text is not a URL.
    pub(super) fn new(url: &str, timeout: Duration) -> Result<Self, String> {
        let base: Uri = url.parse().map_err(|cause| format!("`{url}` is no address: {cause}"))?;
        if !matches!(base.scheme_str(), Some("http" | "https")) {
            return Err(format!("`{url}` is no address; it begins with `https://` or `http://`"));
        }
        let path_and_query = base.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        let policy = CallPolicy { timeout, body_bytes_max: BODY_BYTES_MAX, ..CallPolicy::USUAL };
        let settings =
            UpstreamSettings { base, tls: TlsFiles::default(), protocol: Protocol::Negotiated, policy };
        let upstream = Upstream::new(&settings).map_err(|cause| format!("`{url}`: {cause}"))?;
        Ok(Self { upstream, path_and_query, timeout })
    }

    /// Calls the service.
    /// # Errors
    /// A message for the log.
    pub(super) async fn call(
        &self,
        method: Method,
        headers: Vec<(HeaderName, HeaderValue)>,
        body: Bytes,
    ) -> Result<Answer, String> {
        let ask = Ask {
            idempotent: method == Method::GET,
            method,
            path_and_query: self.path_and_query.clone(),
            headers,
            body,
            deadline: Instant::now() + self.timeout,
            timeout: None,
            span: None,
            peer: Peer::Service,
        };
        self.upstream.call(&ask).await.map_err(|failure| failure.error.to_string())
    }
}

/// A shared call in flight, which continues if its waiters are dropped.
#[derive(Clone)]
pub(super) struct Flight<T: Clone> {
    result: Shared<BoxFuture<'static, Option<T>>>,
    task: AbortHandle,
}

impl<T: Clone + Send + Sync + 'static> Flight<T> {
    /// Starts `work` as a task.
    pub(super) fn begin(work: impl Future<Output = T> + Send + 'static) -> Self {
        let task = tokio::spawn(work);
        Self { task: task.abort_handle(), result: task.map(Result::ok).boxed().shared() }
    }

    /// True if it has ended.
    pub(super) fn is_over(&self) -> bool {
        self.task.is_finished()
    }

    /// Waits for the result; `None` if the task panicked.
    pub(super) async fn wait(self) -> Option<T> {
        self.result.await
    }
}

/// Lifetime stated by an answer, in milliseconds: 0 if it must not be stored, `None` if it states none.
pub(super) fn lifetime_ms(headers: &HeaderMap, wall_ms: u64) -> Option<u64> {
    let lines = headers.get_all(CACHE_CONTROL).iter().filter_map(|it| it.to_str().ok());
    let mut stated = None;
    for line in lines {
        match cache_control_ms(line) {
            Some(0) => return Some(0),
            it => stated = stated.or(it),
        }
    }
    let expires = || headers.get(EXPIRES).map(|it| it.to_str().map_or(0, |it| until_ms(it, wall_ms)));
    stated.or_else(expires)
}

/// Lifetime in a `Cache-Control` value.
pub(super) fn cache_control_ms(text: &str) -> Option<u64> {
    let mut stated = None;
    for directive in text.split(',') {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match &*name.trim().to_ascii_lowercase() {
            "no-store" | "no-cache" => return Some(0),
            // An unreadable number means 0.
            "max-age" => {
                let seconds: u64 = value.trim().trim_matches('"').parse().unwrap_or(0);
                stated = Some(seconds.saturating_mul(1000));
            }
            _ => {}
        }
    }
    stated
}

/// Milliseconds until the date `text`; 0 if it is past or invalid.
pub(super) fn until_ms(text: &str, wall_ms: u64) -> u64 {
    let at = httpdate::parse_http_date(text).ok();
    let since = at.and_then(|it| it.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX).saturating_sub(wall_ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::headers;

    fn check(lines: &[(&'static str, &str)], expected: Option<u64>) {
        // 2026-01-01 00:00:00
        assert_eq!(lifetime_ms(&headers(lines), 1_767_225_600_000), expected, "{lines:?}");
    }

    #[test]
    fn an_answer_lives_as_long_as_it_says() {
        check(&[], None);
        check(&[("cache-control", "private, Max-Age=60")], Some(60_000));
        check(&[("cache-control", "max-age=60, no-store")], Some(0));
        check(&[("cache-control", "max-age=60"), ("cache-control", "no-cache")], Some(0));
        check(&[("cache-control", "max-age=soon")], Some(0));
        check(&[("cache-control", "max-age=99999999999999999999")], Some(0));
        check(&[("cache-control", "must-revalidate")], None);
        check(&[("expires", "Thu, 01 Jan 2026 00:01:00 GMT")], Some(60_000));
        check(&[("expires", "Thu, 01 Jan 2020 00:01:00 GMT")], Some(0));
        check(&[("expires", "0")], Some(0));
        check(&[("expires", "Thu, 01 Jan 2026 00:01:00 GMT"), ("cache-control", "max-age=1")], Some(1000));
    }

    #[test]
    fn an_address_has_a_scheme_and_a_host() {
        for url in ["", "a", "a.example/keys", "ftp://a/", "file:///etc/keys", "https://"] {
            assert!(RemoteUrl::new(url, Duration::from_secs(1)).is_err(), "{url}");
        }
        assert!(RemoteUrl::new("http://127.0.0.1:1/keys?a=b", Duration::from_secs(1)).is_ok());
    }
}

//! Calls of webhooks by the machinery of services: pools, deadlines, limits of answers.
//!
//! One client serves the process. It keeps connections for each scheme, host and port; as addresses may come from templates, only so
//! many are kept.
//!
//! **Invariant:** a webhook is called once for each [`WebhookClient::send`]: neither repeated nor redirected. An answer counts when its
//! body was read to the end.

use crate::address::WebhookUrl;
use crate::answer::WebhookAnswer;
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue, Method};
use quick_cache::sync::Cache;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::call_span::{CallSpan, FetchSpan};
use weir_engine::request::request_headers::NoHeaders;
use weir_http::call::{
    Ask, CallError, CallPolicy, Cause, Peer, Protocol, SettingsError, TlsFiles, Upstream, UpstreamSettings,
    push_trace_headers,
};
use weir_language::json::quote;

/// Maximum number of schemes, hosts and ports whose connections are kept.
const ORIGINS_MAX: usize = 256;

/// Limits of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookLimits {
    /// Maximum size of an answer's body, in bytes.
    pub body_bytes_max: usize,
    /// Maximum number of calls of one host in flight.
    pub calls_max: usize,
    /// Number of calls that wait once `calls_max` are in flight.
    pub queue_max: usize,
}

impl WebhookLimits {
    /// Defaults, those of services.
    pub const USUAL: Self = Self {
        body_bytes_max: CallPolicy::USUAL.body_bytes_max,
        calls_max: CallPolicy::USUAL.calls_max,
        queue_max: CallPolicy::USUAL.queue_max,
    };
}

/// A call to make.
#[derive(Clone, Debug)]
pub struct WebhookRequest {
    pub method: Method,
    /// Address.
    pub url: WebhookUrl,
    /// Headers; none is added but those of the connection, and `Authorization` of an address with a user.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Body; empty for none.
    pub body: Bytes,
    /// Maximum time until the answer was read.
    pub timeout: Duration,
    /// Span of the call, if the trace is recorded.
    pub span: Option<CallSpan>,
}

impl WebhookRequest {
    /// Makes the call one within `span`, whose trace the webhook is told; `template` is the address without values.
    pub fn trace(&mut self, span: &FetchSpan<'_>, template: impl FnOnce() -> String) {
        self.span = push_trace_headers(Some(span), &NoHeaders, &mut self.headers, template);
    }
}

/// A call without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookError {
    /// The time is over.
    Timeout,
    /// Nobody answers, the connection broke, or the answer cannot be read.
    Unanswered(CallError),
    /// Certificates cannot be read.
    Settings(Box<str>),
}

impl WebhookError {
    /// Hasura's word for the failure, without hosts.
    pub fn for_log_row(&self) -> &'static str {
        match self {
            Self::Timeout => "Response timeout",
            Self::Unanswered(CallError::Unavailable(Cause::Connection, _)) => "Connection closed",
            Self::Unanswered(CallError::Unavailable(Cause::Encryption, _)) => "TLS failure",
            Self::Unanswered(CallError::TooLarge { .. }) => "Response too large",
            Self::Unanswered(CallError::Busy) => "Too many calls",
            Self::Unanswered(CallError::Coded(_) | CallError::Packed(_)) => "Response cannot be decoded",
            Self::Unanswered(_) | Self::Settings(_) => "Connection failure",
        }
    }

    /// The failure as JSON text: `{"type":"http_exception","message":"…"}`.
    pub fn to_json(&self) -> String {
        let mut out = "{\"type\":\"http_exception\",\"message\":".to_owned();
        quote(self.for_log_row(), &mut out);
        out.push('}');
        out
    }
}

/// Words for operators; logs only.
impl fmt::Display for WebhookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("the webhook did not answer in time"),
            Self::Unanswered(error) => error.fmt(f),
            Self::Settings(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for WebhookError {}

impl From<CallError> for WebhookError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Timeout => Self::Timeout,
            error => Self::Unanswered(error),
        }
    }
}

/// Calls webhooks. Made once for a process.
pub struct WebhookClient {
    limits: WebhookLimits,
    upstreams: Cache<String, Arc<Upstream>>,
}

impl fmt::Debug for WebhookClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookClient").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl WebhookClient {
    /// A client without connections.
    pub fn new(limits: WebhookLimits) -> Self {
        Self { limits, upstreams: Cache::new(ORIGINS_MAX) }
    }

    /// Makes one call, which ends by `deadline`. Dropping the future cancels it.
    /// # Errors
    /// There is no answer, or not all of it. An answer of any status is no error.
    pub async fn send(
        &self,
        request: &WebhookRequest,
        deadline: Instant,
    ) -> Result<WebhookAnswer, WebhookError> {
        let url = &request.url;
        let upstream = self.upstream(url).map_err(|it| WebhookError::Settings(it.0))?;
        let mut headers = request.headers.clone();
        if let Some(authorization) = url.authorization()
            && headers.iter().all(|it| it.0 != AUTHORIZATION)
        {
            headers.push((AUTHORIZATION, authorization.clone()));
        }
        let ask = Ask {
            method: request.method.clone(),
            path_and_query: url.path_and_query().clone(),
            headers,
            body: request.body.clone(),
            deadline,
            timeout: Some(request.timeout),
            idempotent: false,
            span: request.span.clone(),
            peer: Peer::Webhook,
        };
        let answer = upstream.call(&ask).await.map_err(|it| WebhookError::from(it.error))?;
        Ok(WebhookAnswer { status: answer.status, headers: answer.headers, body: answer.body })
    }

    /// The connections to the host of `url`.
    fn upstream(&self, url: &WebhookUrl) -> Result<Arc<Upstream>, SettingsError> {
        let origin = url.origin();
        self.upstreams.get_or_insert_with(origin.as_str(), || {
            let base = origin.parse().map_err(|_| SettingsError("the address names no host".into()))?;
            let WebhookLimits { body_bytes_max, calls_max, queue_max } = self.limits;
            let policy = CallPolicy { body_bytes_max, calls_max, queue_max, retries: 0, ..CallPolicy::USUAL };
            let settings =
                UpstreamSettings { base, tls: TlsFiles::default(), protocol: Protocol::Negotiated, policy };
            Upstream::new(&settings).map(Arc::new)
        })
    }
}

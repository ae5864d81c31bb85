//! Calls one service: connection pool, deadlines, retries, circuit breaker, hedging and limits.
//!
//! A service is asked through its [`Upstream`], which every thread shares. What a caller may not do to a service is not
//! possible here: the host comes from the settings alone, headers that belong to a connection are never sent, and a
//! redirect to anywhere else is not followed.
//!
//! **Invariant:** a connection is used only by the runtime that opened it, so a runtime that ends takes nothing from
//! others. A request that may change something is sent once, unless it is certain that it was not sent.
//!
//! **Cost:** a call over a kept connection is one write and one read in the task that asks: there is no task per connection.

mod addresses;
pub(crate) mod answer_rules;
mod attempt;
mod call_error;
mod connection;
mod counts;
mod dial;
mod endpoint;
mod pool;
mod resilience;
mod settings;
mod tls;
pub(crate) mod trace;
mod upstream;
mod wire;

pub use addresses::{Found, Lookup};
pub use answer_rules::AnswerRule;
pub use call_error::{CallError, Cause, Failure, Went};
pub(crate) use connection::Stream as ServiceStream;
pub use counts::CallCounts;
pub use settings::{
    BreakerPolicy, CallPolicy, ClientCertificate, Protocol, SettingsError, TlsFiles, UpstreamSettings,
};
pub use trace::push as push_trace_headers;
pub use upstream::{Load, Upstream};
#[cfg(feature = "grpc")]
pub(crate) use wire::decode::{Coding, unpack};
pub use wire::headers::may_be_sent;
pub(crate) use wire::headers::may_be_sent_to;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use std::time::{Duration, Instant};
use weir_engine::call_span::CallSpan;

/// A call of a service.
#[derive(Clone, Debug)]
pub struct Ask {
    /// HTTP method.
    pub method: Method,
    /// Path from the root of the host, including the path of the base URL.
    pub path_and_query: PathAndQuery,
    /// Headers that the plan forwards or sets. Those that [`may_be_sent`] refuses are dropped; webhooks get `X-Forwarded-` ones.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Request body; empty for none.
    pub body: Bytes,
    /// Deadline of the caller, which overrides the policy's timeout.
    pub deadline: Instant,
    /// Overrides [`CallPolicy::timeout`].
    pub timeout: Option<Duration>,
    /// True if the call may be repeated, so retries and hedging are allowed.
    pub idempotent: bool,
    /// Span of the call, if the trace is recorded.
    pub span: Option<CallSpan>,
    /// The kind of server that is called.
    pub peer: Peer,
}

/// Kinds of servers, which differ in redirects and headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A service of the graph: redirects of safe requests are followed within its host.
    Service,
    /// A webhook: a redirect is its answer, and it may be told by `X-Forwarded-` headers who asked.
    Webhook,
}

/// Time left of a call that ends by `deadline` and takes at most `timeout`, in milliseconds, for the service. At least 1, because some
/// services read 0 as "no limit".
pub fn milliseconds_left(deadline: Instant, timeout: Duration) -> u64 {
    let left = deadline.saturating_duration_since(Instant::now()).min(timeout);
    u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// The service's answer, whatever its status.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Status of the answer, after allowed redirects.
    pub status: StatusCode,
    /// Headers of the answer.
    pub headers: HeaderMap,
    /// The whole body, in memory of its own.
    pub body: Bytes,
    /// HTTP/2 trailers, needed for gRPC.
    pub trailers: HeaderMap,
    /// Attempts and timing.
    pub went: Went,
}

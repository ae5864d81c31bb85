//! Calls one service: connections kept open, deadlines, retries, a breaker, hedging, bounds.
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
mod attempt;
mod body;
mod breaker;
mod budget;
mod connection;
mod counts;
mod decode;
mod dial;
mod error;
mod headers;
mod latency;
mod pool;
mod redirect;
mod request;
mod response;
mod retry;
mod settings;
mod tls;
pub(crate) mod trace;
mod upstream;

pub use addresses::{Found, Lookup};
pub use counts::CallCounts;
#[cfg(feature = "grpc")]
pub(crate) use decode::unpack;
pub use error::{CallError, Cause, Failure, Went};
pub use headers::may_be_sent;
pub use settings::{BreakerPolicy, CallPolicy, Protocol, SettingsError, UpstreamSettings};
pub use upstream::{Load, Upstream};

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use std::time::{Duration, Instant};
use weir_engine::call_span::CallSpan;

/// A call of a service.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The method.
    pub method: Method,
    /// From the root of the host, with what the base URL has of it.
    pub path_and_query: PathAndQuery,
    /// Those the plan forwards or sets. Which [`may_be_sent`] does not let through are left out.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Empty for none.
    pub body: Bytes,
    /// Deadline of the caller, whatever the policy says.
    pub deadline: Instant,
    /// In place of [`CallPolicy::timeout`].
    pub timeout: Option<Duration>,
    /// True if the call may be repeated: it may be retried and hedged.
    pub idempotent: bool,
    /// Its span, if the trace is recorded.
    pub span: Option<CallSpan>,
}

/// Remaining time of a call that ends by `deadline` and takes no longer than `timeout`, in milliseconds, as sent to the
/// service. Never 0, which some read as no limit.
#[must_use]
pub fn milliseconds_left(deadline: Instant, timeout: Duration) -> u64 {
    let left = deadline.saturating_duration_since(Instant::now()).min(timeout);
    u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// The service's answer, whatever its status.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status; redirects that may be followed were.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// All of its body, in memory of its own.
    pub body: Bytes,
    /// Trailers; only from HTTP/2, for gRPC.
    pub trailers: HeaderMap,
    /// Attempts and timing.
    pub went: Went,
}

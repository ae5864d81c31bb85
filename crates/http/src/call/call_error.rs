//! Errors of calls without an answer.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Reason why there is no answer. Cheap to clone, since many requests may wait for one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The deadline passed.
    Timeout,
    /// The limits of calls in flight and queued calls are reached.
    Busy,
    /// The circuit breaker is open: too many recent calls failed.
    Broken,
    /// The service is unreachable, or the connection broke.
    Unavailable(Cause, Arc<str>),
    /// The body exceeds the limit.
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// The body has a coding that is not asked for, or several.
    Coded(Arc<str>),
    /// The body cannot be decompressed by its declared coding.
    Packed(Arc<str>),
    /// The service redirects to another host, or too often.
    Redirected,
    /// The call was not made, because its values form no valid request.
    Unmade {
        /// Message for clients.
        told: Arc<str>,
        /// Message for operators.
        why: Arc<str>,
    },
}

/// Causes of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The host name has no address.
    Name,
    /// No address accepts connections.
    Connect,
    /// The TLS handshake failed.
    Encryption,
    /// The connection broke, or the response is not HTTP.
    Connection,
}

impl CallError {
    /// The stable code in `extensions.code`. Listed in `docs/errors.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Timeout => "SOURCE_TIMEOUT",
            Self::Busy => "POOL_TIMEOUT",
            Self::Broken | Self::Unavailable(..) => "SOURCE_UNAVAILABLE",
            Self::TooLarge { .. } => "SOURCE_TOO_LARGE",
            Self::Coded(_) | Self::Packed(_) => "SOURCE_ANSWER",
            Self::Redirected => "SOURCE_REDIRECTED",
            Self::Unmade { .. } => "BAD_USER_INPUT",
        }
    }

    /// Message for clients, without host names.
    pub fn for_client(&self) -> &str {
        match self {
            Self::Timeout => "The source did not answer in time.",
            Self::Busy => "The source has no capacity left.",
            Self::Broken | Self::Unavailable(..) => "The source is unavailable.",
            Self::TooLarge { .. } => "The source's answer is too large.",
            Self::Coded(_) | Self::Packed(_) => "The source's answer cannot be read.",
            Self::Redirected => "The source redirects to where it must not.",
            Self::Unmade { told, .. } => told,
        }
    }

    /// Builds the error of a broken or refused connection.
    pub(super) fn unavailable(cause: Cause, words: &dyn fmt::Display) -> Self {
        Self::Unavailable(cause, words.to_string().into())
    }
}

impl fmt::Display for CallError {
    /// Message for operators; logs only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("the service did not answer before the deadline"),
            Self::Busy => f.write_str("as many calls wait for the service as may"),
            Self::Broken => f.write_str("the service is left alone: too many calls failed"),
            Self::Unavailable(Cause::Name, words) => write!(f, "the service's name has no address: {words}"),
            Self::Unavailable(Cause::Connect, words) => write!(f, "the service cannot be reached: {words}"),
            Self::Unavailable(Cause::Encryption, words) => write!(f, "the service is not trusted: {words}"),
            Self::Unavailable(Cause::Connection, words) => write!(f, "the service went away: {words}"),
            Self::TooLarge { bytes_max } => write!(f, "the answer has more than {bytes_max} bytes"),
            Self::Coded(coding) => write!(
                f,
                "the answer is coded (`Content-Encoding: {coding}`), though it was asked for with `Accept-Encoding: zstd, br, gzip`"
            ),
            Self::Packed(words) => write!(f, "the answer cannot be unpacked: {words}"),
            Self::Redirected => f.write_str("the service redirects to where must not be followed"),
            Self::Unmade { why, .. } => write!(f, "the service was not called: {why}"),
        }
    }
}

impl std::error::Error for CallError {}

/// Attempts and timing of a call, for logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Went {
    /// The address called last; `None` if none was found or tried.
    pub address: Option<SocketAddr>,
    /// Number of attempts, retries and hedges included.
    pub attempts: u32,
    /// Number of hedged attempts: second ones started because the first was slow.
    pub hedges: u32,
    /// Total time.
    pub took: Duration,
}

/// A call without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The reason.
    pub error: CallError,
    /// Attempts and timing.
    pub went: Went,
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self { error, went: Went::default() }
    }
}

impl fmt::Display for Failure {
    /// Message for operators; logs only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Failure {}

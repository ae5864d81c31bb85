//! Settings of calls: address, protocol, trust and limits of a service.

use super::answer_rules::AnswerRule;
use http::Uri;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Settings of one service.
#[derive(Clone, Debug)]
pub struct UpstreamSettings {
    /// Scheme, host and port, without a path.
    pub base: Uri,
    /// Files of certificates.
    pub tls: TlsFiles,
    pub protocol: Protocol,
    /// Limits and retries.
    pub policy: CallPolicy,
}

/// Files of certificates, in PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates that are trusted in addition to the system's.
    pub ca: Option<PathBuf>,
    /// The certificate that is shown to the service.
    pub client: Option<ClientCertificate>,
}

impl TlsFiles {
    /// The certificate that is shown to the service, by which it may choose its answers; empty without one, or if it cannot be read.
    pub(crate) fn shown_certificate(&self) -> Vec<u8> {
        self.client.as_ref().and_then(|it| std::fs::read(&it.certificate).ok()).unwrap_or_default()
    }
}

/// A client certificate and its private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// File of the certificate, followed by those of its issuers.
    pub certificate: PathBuf,
    /// File of the private key.
    pub key: PathBuf,
}

impl UpstreamSettings {
    /// True if `address` is an `http` or `https` URL with a host.
    pub fn is_base(address: &str) -> bool {
        address.parse::<Uri>().is_ok_and(|it| {
            matches!(it.scheme_str(), Some("http" | "https")) && it.host().is_some_and(|it| !it.is_empty())
        })
    }
}

/// Protocol of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1. With TLS, HTTP/2 or HTTP/1.1 as the service prefers.
    Negotiated,
    /// HTTP/2 with prior knowledge, also without TLS.
    Http2,
    /// HTTP/1.1 alone, which WebSockets begin with.
    Http1,
}

/// Limits and retries of calls. [`CallPolicy::USUAL`] holds the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPolicy {
    /// Timeout of a call, including its retries.
    pub timeout: Duration,
    /// Maximum size of an answer's body, in bytes.
    pub body_bytes_max: usize,
    /// Maximum number of retries of an idempotent call.
    pub retries: u32,
    /// Retry budget: further attempts, retries and hedges, per 100 calls. It starts with ten attempts.
    pub retry_budget_percent: u32,
    /// Starts a second attempt if the first takes longer than this percentile of latencies; the first answer wins.
    pub hedge_percentile: Option<u8>,
    /// Circuit breaker; `None` for none.
    pub breaker: Option<BreakerPolicy>,
    /// Maximum number of calls in flight.
    pub calls_max: usize,
    /// Queue length once `calls_max` calls are in flight.
    pub queue_max: usize,
    /// Maximum age of a connection, plus or minus a tenth. New connections reach new servers behind an address.
    pub connection_age: Duration,
    /// Headers of answers that reach the client; `None` for none.
    pub answer_rules: Option<Arc<[AnswerRule]>>,
}

impl CallPolicy {
    /// Defaults.
    pub const USUAL: Self = Self {
        timeout: Duration::from_secs(10),
        body_bytes_max: 10 * 1024 * 1024,
        retries: 1,
        retry_budget_percent: 20,
        hedge_percentile: None,
        breaker: None,
        calls_max: 256,
        queue_max: 1024,
        connection_age: Duration::from_secs(60),
        answer_rules: None,
    };
}

/// Circuit breaker: it opens if too many attempts within a window failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerPolicy {
    /// Percentage of failed attempts that opens the breaker, given at least ten attempts.
    pub errors_percent: u8,
    /// Length of the window.
    pub window: Duration,
    /// Pause before a call probes the service.
    pub pause: Duration,
}

impl BreakerPolicy {
    /// Default pause.
    pub const PAUSE: Duration = Duration::from_secs(1);
}

/// Reason why settings are invalid, for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError(pub Box<str>);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

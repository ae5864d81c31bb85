//! How a service is called: where it is, what is trusted, and what is put up with.

use http::Uri;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A service.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `http` or `https`, host and port. A path is the business of who asks.
    pub base: Uri,
    /// A file of certificates in PEM, trusted besides the system's.
    pub ca: Option<PathBuf>,
    /// What is spoken.
    pub protocol: Protocol,
    /// What is put up with.
    pub policy: Policy,
}

/// What is spoken with a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1; with TLS whichever of HTTP/2 and HTTP/1.1 the service prefers.
    Negotiated,
    /// HTTP/2 from the first byte, without TLS too.
    Http2,
}

/// What is put up with. [`Policy::USUAL`] holds what goes without saying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long a call may take, its retries included.
    pub timeout: Duration,
    /// How long an answer's body may be.
    pub body_bytes_max: usize,
    /// How many times an idempotent call is tried again.
    pub retries: u32,
    /// How many further attempts, retries and hedges, may be made for 100 calls. Ten are in hand at first.
    pub retry_budget_percent: u32,
    /// Asks a second time what takes longer than this percentile of the answers, and takes whichever comes first.
    pub hedge_percentile: Option<u8>,
    /// When the service is left alone.
    pub breaker: Option<Breaker>,
    /// How many calls may be under way at once.
    pub calls_max: usize,
    /// How many more may wait for one of those to end.
    pub queue_max: usize,
    /// How long a connection takes calls, a tenth more or less: new ones reach what came to be behind an address.
    pub connection_age: Duration,
}

impl Policy {
    /// What applies where nothing is said.
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
    };
}

/// When a service is left alone: of the attempts within a window too many failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    /// This many of 100 failed, of at least ten.
    pub errors_percent: u8,
    /// How long is looked back.
    pub window: Duration,
    /// How long nothing is sent, until one call finds out how it is.
    pub pause: Duration,
}

impl Breaker {
    /// The pause where none is named.
    pub const PAUSE: Duration = Duration::from_secs(1);
}

/// Why a service cannot be called as the settings say, in words for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError(pub Box<str>);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

//! Origins whose pages may call: on loopback local pages, else those of the configuration.
//!
//! The first refused request is logged with the setting that would allow it.

use crate::config;
use hyper::header::HeaderValue;
use std::sync::{Mutex, PoisonError};

/// Maximum number of refused origins that are logged, so that invented ones cannot fill the log.
pub(crate) const REFUSED_MAX: usize = 64;
/// Longer origins are cut in the log.
const REFUSED_BYTES_MAX: usize = 200;

/// The rules of one generation.
#[derive(Debug)]
pub(crate) struct CorsRules {
    allowed: Allowed,
    pub(crate) credentials: bool,
    pub(crate) max_age_s: HeaderValue,
    /// Origins that were refused and logged.
    pub(crate) refused: Mutex<Vec<HeaderValue>>,
}

/// Origins that may call.
#[derive(Debug)]
enum Allowed {
    Any,
    /// `localhost`, `127.0.0.1` and `[::1]` on any port.
    Loopback,
    /// These origins, compared as a whole.
    Listed(Vec<HeaderValue>),
}

impl CorsRules {
    /// Rules of `config`. Without `origins` they depend on `is_local`: only processes of this machine can connect.
    pub(crate) fn new(config: &config::Cors, is_local: bool) -> Self {
        let allowed = match &config.origins {
            None if is_local => Allowed::Loopback,
            Some(_) if config.is_open() => Allowed::Any,
            listed => {
                let origins = listed.iter().flatten();
                Allowed::Listed(origins.filter_map(|it| HeaderValue::from_str(it).ok()).collect())
            }
        };
        Self {
            allowed,
            credentials: config.credentials,
            max_age_s: HeaderValue::from(config.max_age_s),
            refused: Mutex::new(Vec::new()),
        }
    }

    /// Value of `Access-Control-Allow-Origin` for `origin`; `None` if it may not read the answer.
    pub(crate) fn allowed_origin(&self, origin: &HeaderValue) -> Option<HeaderValue> {
        match &self.allowed {
            Allowed::Any => Some(HeaderValue::from_static("*")),
            Allowed::Loopback => is_loopback(origin).then(|| origin.clone()),
            Allowed::Listed(origins) => origins.contains(origin).then(|| origin.clone()),
        }
    }

    /// True if the answer depends on the origin.
    pub(crate) fn differs(&self) -> bool {
        match &self.allowed {
            Allowed::Any => false,
            Allowed::Loopback => true,
            Allowed::Listed(origins) => !origins.is_empty(),
        }
    }

    /// True if pages of any origin may call.
    pub(crate) fn allows_any(&self) -> bool {
        matches!(self.allowed, Allowed::Any)
    }

    /// Logs once that pages of `origin` may not call.
    pub(crate) fn log_refused_origin(&self, origin: &HeaderValue) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() >= REFUSED_MAX || refused.contains(origin) {
            return;
        }
        refused.push(origin.clone());
        drop(refused);
        let text = origin.to_str().unwrap_or("null");
        let origin = text.get(..REFUSED_BYTES_MAX).unwrap_or(text);
        if !text.contains("://") {
            tracing::warn!(
                "a web page without an origin (a file, or a frame in a sandbox) may not call: serve it from an address, or \
                 let any page call by `cors: {{origins: [\"*\"]}}` in weir.yaml or `--cors '*'`"
            );
        } else {
            tracing::warn!(
                "web pages of {origin} may not call: let them by `cors: {{origins: [\"{origin}\"]}}` in weir.yaml or \
                 `--cors {origin}`"
            );
        }
    }
}

/// True for a local page: `localhost` or a loopback address.
fn is_loopback(origin: &HeaderValue) -> bool {
    let text = origin.to_str().unwrap_or_default();
    let Some(authority) = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://")) else {
        return false;
    };
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| {
        authority.strip_prefix(name).is_some_and(|rest| match rest.strip_prefix(':') {
            Some(port) => port.parse::<u16>().is_ok(),
            None => rest.is_empty(),
        })
    })
}
